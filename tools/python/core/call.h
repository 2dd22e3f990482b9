/* SPDX-License-Identifier: MIT */
/* softqam.Demodulator's core: a configuration, and the library's demodulators of it, one for each input format. */
#ifndef SOFTQAM_PYTHON_CALL_H
#define SOFTQAM_PYTHON_CALL_H

#include <map>
#include <memory>
#include <vector>

#include <softqam/softqam.h>

#include "array_library.h"
#include "codeword.h"
#include "interpreter.h"
#include "layout.h"

/* Raises what stands for a status that is not SOFTQAM_OK. */
void check(softqam_status status);

/* A noise value: what a float does not hold counts as the nearest that it does. */
float nearest_noise(double number);

/* Once, before any call. */
void find_numpy();

/* Whether an argument's memory is all there is to it. A masked array has a buffer, too, in which its mask is not:
 * _arrays refuses it. */
bool is_buffer(nb::handle argument);

class context
{
  public:
    softqam_context *handle = nullptr;

    context(int backend, unsigned n_threads, int device);
    context(const context &) = delete;
    context &operator=(const context &) = delete;
    ~context() { softqam_context_destroy(handle); }
};

/* The rest of a call, as Python has it: noise variance, gain, and softqam._gpu.Options. With a codeword that is not
 * None `out` are its soft buffers, an array or a list. */
struct call_arguments {
    nb::handle noise_var, gain, c_init, first_symbol, layers, planes, codeword;
    bool combine;

    call_arguments(nb::handle noise, nb::handle gains, const nb::tuple &options);
};

class demodulator
{
  public:
    /* Raises where the library refuses the settings. `where` is a context, or None for the one that is shared. */
    demodulator(nb::object where, int modulation, int output, int sign, double llr_scale, int llr_limit,
                double input_scale, int noise_form);
    demodulator(const demodulator &) = delete;
    demodulator &operator=(const demodulator &) = delete;

    /* NumPy arrays: returns `out`, or a new array for None; soft buffers may be a list of arrays. */
    nb::object host(nb::handle symbols, const call_arguments &arguments, nb::handle out);
    /* DLPack capsules of arrays on one GPU. make_out(shape) gives the output's. */
    void device(nb::handle symbols, const call_arguments &arguments, nb::handle make_out, uintptr_t stream);
    /* The library's arrays on one GPU, on its current stream: returns `out`, or a new array for None. Returns None, and
     * has done nothing, where the library has not all of them; without gain noise_var may be a number. */
    nb::object device_of_library(const array_library &library, nb::handle symbols, const call_arguments &arguments,
                                 nb::handle out);
    const char *backend_name() const;
    const char *backend_detail() const;

  private:
    softqam_demodulator_config config;
    nb::object where;
    struct destroy {
        void operator()(softqam_demodulator *handle) const { softqam_demodulator_destroy(handle); }
    };
    /* By device and input format, made when first needed. */
    std::map<std::pair<int, softqam_input_format>, std::unique_ptr<softqam_demodulator, destroy>> handles;

    softqam_demodulator *handle_for(softqam_input_format format, int device);
    call_options read_options(const call_arguments &arguments) const;
    void read_codeword(const call_arguments &arguments, call_options *options) const;
    element output_element() const;
    nb::object output_array(layout &codewords, nb::handle out, host_array *view) const;
    std::unique_ptr<soft_buffer_list> read_list(nb::handle out, const layout &codewords, call_options *options) const;
    void check_noise_wanted(const call_arguments &arguments) const;
    template <typename ReadOut>
    void on_device(const device_array &symbols, const device_array *noise, const device_array *gain,
                   const call_arguments &arguments, ReadOut read_out, uintptr_t stream);
};

/* In a build with CUDA: the library's context of a GPU, and its call on device memory. Raise without it. */
softqam_context *cuda_context(int device);
softqam_status cuda_demodulate(const softqam_demodulator *demodulator, const softqam_segment *segments,
                               size_t n_segments, uintptr_t stream);
extern const bool built_with_cuda;

#endif
