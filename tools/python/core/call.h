/* SPDX-License-Identifier: MIT */
/* softqam.Demodulator's core: a configuration, and the library's demodulators of it, one for each input format. And the
 * codewords of calls: the library's structure without its buffers, and soft buffers that are a list of arrays. */
#ifndef SOFTQAM_PYTHON_CALL_H
#define SOFTQAM_PYTHON_CALL_H

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <softqam/softqam.h>

#include "array_library.h"
#include "layout.h"

/* Raises what stands for a status that is not SOFTQAM_OK. */
void check(softqam_status status);

/* What a float does not hold counts as the nearest value that it does: a valid noise variance stays valid. */
float nearest_float(double value);

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

/* softqam.Codeword's core: checked fields, with n_cb > 0. */
struct codeword {
    unsigned bits_per_symbol, n_layers;
    bool has_filler_value;
    softqam_codeword fields{}; /* without buffers */

    /* Raises where the library refuses the fields. Without filler_value it is a certain 0 of the output. The numbers:
     * n_bits, n_code_blocks, n_cb, k0, first_filler, n_fillers, n_cbg, cbgti. */
    codeword(unsigned of_symbol, unsigned of_codeword, std::optional<float> filler_value,
             const std::array<uint32_t, 8> &numbers);
    /* (first_bit, n_bits) of code block r. */
    nb::tuple block(size_t r) const;
};

/* softqam_codeword_init_ldpc(): what softqam_codeword and softqam_ldpc have, as two tuples in the order of
 * softqam._codeword. */
nb::tuple ldpc_codeword(uint64_t n_bits, uint32_t tb_size, uint32_t base_graph, float code_rate, uint32_t rv,
                        uint32_t bits_per_symbol, uint32_t n_layers, uint32_t tbs_lbrm, uint32_t n_ref);

/* What receives the values: one array, or soft buffers as a list, an array for each code block, NULL where its LLRs
 * are dropped. */
struct call_output {
    array whole;
    std::vector<std::unique_ptr<array>> blocks;
    std::vector<std::string> names; /* of the blocks */
    std::vector<void *> pointers;   /* to their values */
};

/* The list. Raises where an array is not what the values fit in, or shares memory with another one. */
void read_soft_buffers(nb::handle arrays, const softqam_codeword &fields, element type, call_output *out);

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
    void run(call_inputs &given, const nb::tuple &of_call, uintptr_t stream, ReadOut read_out);
};

/* In a build with CUDA: the library's context of a GPU, and its call on device memory. Raise without it. */
softqam_context *cuda_context(int device);
softqam_status cuda_demodulate(const softqam_demodulator *demodulator, const softqam_segment *segments,
                               size_t n_segments, uintptr_t stream);
extern const bool built_with_cuda;

#endif
