/* SPDX-License-Identifier: MIT */
/* From arrays to segments: shapes, broadcasting, layers, code blocks. */
#ifndef SOFTQAM_PYTHON_LAYOUT_H
#define SOFTQAM_PYTHON_LAYOUT_H

#include <vector>

#include <softqam/softqam.h>

#include "array.h"

/* What a call asks for beside its arrays. */
struct call_options {
    int64_t n_layers = 0; /* axis -2 of the symbols; 0: there is no such axis */
    uint64_t first_symbol = 0;
    int64_t block_symbols = 0; /* symbols of a code block, whose values lie in bit planes; 0: none */
    bool descramble = false;
    uint32_t c_init = 0;
    const uint32_t *c_inits = nullptr; /* NULL, or one for each codeword */
    bool has_soft_buffers = false;
    softqam_codeword codeword = {}; /* without buffers, or with block_buffers */
};

/* An argument that is read: an array, or noise and gain as one number, or none. */
struct call_input {
    nb::object object; /* the array, in host memory */
    array values;
    bool is_array = false;
    bool is_number = false;
    float number = 0;
};

struct call_inputs {
    call_input symbols, noise_var, gain;
};

/* Whether the library reads symbols, or noise, of this type. */
bool are_symbols(element type);
bool are_floats(element type);

/* Where the symbols, the noise and the gains of all codewords lie, in the order of their values. */
class layout
{
  public:
    softqam_input_format format = SOFTQAM_INPUT_CF32;
    int n_out_axes = 0;
    int64_t out_shape[MAX_AXES] = {};

    layout(const call_options &of_call, softqam_modulation of_symbols)
        : options(of_call), modulation(of_symbols), bits(softqam_bits_per_symbol(of_symbols))
    {
    }
    /* Raise where shape or dtype is wrong. */
    void read_symbols(const array &array);
    void read_floats(const call_inputs &given);
    /* Raises unless `out` is what the values fit in. */
    void check_out(const array &out, element type);
    nb::object shape() const { return shape_tuple(out_shape, n_out_axes); }
    /* The batch's shape. */
    nb::object batch_shape() const { return shape_tuple(batch, n_batch); }
    /* Of the argument that receives the values. */
    const char *out_name() const { return options.has_soft_buffers ? "soft_buffers" : "out"; }

    /* Once all are read and there are symbols. In host memory, what the library cannot read in long runs is replaced
     * by a copy; on a device that raises. */
    void plan_host(call_inputs *given);
    void plan_device(const call_inputs &given);

    /* The next segments, of what begins at `out`. False: there are no more. */
    bool next(std::vector<softqam_segment> *segments, char *out, size_t value_nbytes);

  private:
    /* An argument's steps in bytes along the symbols' axes. */
    struct argument {
        const char *data = nullptr;
        int64_t nbytes = sizeof(float); /* of an element */
        int64_t batch_step[MAX_AXES] = {}, step = 0, layer_step = 0;
        bool aligned = true;
    };

    const call_options &options;
    softqam_modulation modulation;
    int64_t bits;
    int n_batch = 0;
    int64_t batch[MAX_AXES] = {};
    int64_t n_layers = 1;
    int64_t n = 0; /* symbols of a layer */
    argument symbols, noise, gain;
    bool apart = false; /* Q is not next to I */

    /* Rows, which are codewords, or one of all symbols; how long they are; and what next() gives next. */
    int64_t n_rows = 1, row_length = 0, row = 0, first = 0;
    /* Soft buffers: bytes from one codeword's to the next along the batch's axes; values between code blocks. */
    int64_t buffers_step[MAX_AXES] = {};
    uint64_t block_stride = 0;

    void read_floats(const call_input &given, argument *of);
    nb::object symbols_shape() const;
    void check_within(const array &array) const;
    void check_soft_buffers(const array &out);
    void make_rows();
    bool is_one_run(const argument &of) const;
    bool is_by_rows() const;
    bool is_direct(const argument &of) const;
    bool has_noise_strides() const { return !gain.data || row_length == 1 || noise.step == gain.step; }
    int64_t offset_of_row(const int64_t *steps) const;
    void fill(softqam_segment *segment, int64_t *count, char *out, size_t value_nbytes) const;
};

#endif
