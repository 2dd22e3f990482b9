/* SPDX-License-Identifier: MIT */
/* softqam.Demodulator's core: a configuration, and the library's demodulators of it, one for each input format. */
#ifndef SOFTQAM_PYTHON_CALL_H
#define SOFTQAM_PYTHON_CALL_H

#include <map>
#include <memory>

#include <softqam/softqam.h>

#include "array_library.h"
#include "codeword.h"
#include "layout.h"

/* Raises what stands for a status that is not SOFTQAM_OK. */
void check(softqam_status status);

/* Once, before any call. */
void find_numpy();

/* Whether an argument's memory is all there is to it. A masked array has a buffer, too, in which its mask is not:
 * _arrays refuses it. */
bool is_buffer(nb::handle argument);

softqam_context *new_context(softqam_backend backend, unsigned n_threads, int device);

struct context {
    softqam_context *handle;

    context(int backend, unsigned n_threads, int device)
        : handle(new_context(static_cast<softqam_backend>(backend), n_threads, device))
    {
    }
    context(const context &) = delete;
    context &operator=(const context &) = delete;
    ~context() { softqam_context_destroy(handle); }
};

class demodulator
{
  public:
    /* Raises where the library refuses the settings. `where` is a context, or None for the one that is shared; dtype
     * is NumPy's, of the output, and certain_zero the LLR of a bit that is known to be 0. */
    demodulator(nb::object where, int modulation, int output, int sign, double llr_scale, int llr_limit,
                double input_scale, int noise_form, nb::object dtype, float certain_zero);
    demodulator(const demodulator &) = delete;
    demodulator &operator=(const demodulator &) = delete;

    /* In all three `options` are softqam._gpu.Options; with a codeword `out` are its soft buffers. NumPy arrays:
     * returns `out`, or a new array for None; soft buffers may be a list of arrays. */
    nb::object host(nb::handle symbols, nb::handle noise_var, nb::handle gain, const nb::tuple &options,
                    nb::handle out);
    /* DLPack capsules of arrays on one GPU. make_out(shape) gives the output's. */
    void device(nb::handle symbols, nb::handle noise_var, nb::handle gain, const nb::tuple &options,
                nb::handle make_out, uintptr_t stream);
    /* The library's arrays on one GPU, on its current stream: returns `out`, or a new array for None. Returns None, and
     * has done nothing, where the library has not all of them; without gain noise_var may be a number. */
    nb::object device_of_library(const array_library &library, nb::handle symbols, nb::handle noise_var,
                                 nb::handle gain, const nb::tuple &options, nb::handle out);
    const char *backend_name() const { return softqam_backend_name(host_handle()); }
    const char *backend_detail() const { return softqam_backend_detail(host_handle()); }

  private:
    softqam_demodulator_config config;
    nb::object where, out_dtype;
    element out_element;
    float certain_zero;
    struct destroy {
        void operator()(softqam_demodulator *handle) const { softqam_demodulator_destroy(handle); }
    };
    /* By device and input format, made when first needed. */
    std::map<std::pair<int, softqam_input_format>, std::unique_ptr<softqam_demodulator, destroy>> handles;

    softqam_demodulator *handle_for(softqam_input_format format, int device);
    softqam_demodulator *host_handle() const { return handles.at({array::HOST, SOFTQAM_INPUT_CF32}).get(); }
    void check_noise_wanted(nb::handle noise_var, nb::handle gain) const;
    void read_codeword(nb::handle of_call, nb::handle layers, bool combine, call_options *options) const;
    call_options read_options(const nb::tuple &of_call) const;
    template <typename ReadOut>
    void run(const call_inputs &given, const nb::tuple &of_call, uintptr_t stream, ReadOut read_out);
};

/* In a build with CUDA: the library's context of a GPU, and its call on device memory. Raise without it. */
softqam_context *cuda_context(int device);
softqam_status cuda_demodulate(const softqam_demodulator *demodulator, const softqam_segment *segments,
                               size_t n_segments, uintptr_t stream);
extern const bool built_with_cuda;

#endif
