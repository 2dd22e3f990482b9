/* SPDX-License-Identifier: MIT */
/* From arrays to segments: shapes, broadcasting, layers, code blocks, and copies of what the library takes slowly or
 * not. */
#ifndef SOFTQAM_PYTHON_LAYOUT_H
#define SOFTQAM_PYTHON_LAYOUT_H

#include <memory>
#include <vector>

#include <softqam/softqam.h>

#include "array.h"
#include "elements.h"

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

/* Noise values or gains: an array, one number, or none. */
struct float_values {
    array values;
    bool is_array = false;
    float number = 0;
    const float *one = nullptr; /* NULL, or &number */

    /* To be read. */
    array *of_array()
    {
        is_array = true;
        return &values;
    }
};

/* A call's arrays that are read. */
struct call_inputs {
    array symbols;
    float_values noise_var, gain;
};

/* Where the symbols, the noise and the gains of all codewords lie, in the order of their values. */
class layout
{
  public:
    softqam_input_format format = SOFTQAM_INPUT_CF32;
    int n_out_axes = 0;
    int64_t out_shape[MAX_AXES];

    layout(const call_options &of_call, softqam_modulation modulation);
    /* Raise where shape or dtype is wrong. */
    void read_symbols(const array &symbols);
    void read_floats(const float_values &noise_var, const float_values &gains);
    /* Raises unless `array` is what the values fit in. */
    void check_out(const array &out, element type);
    nb::object shape() const { return shape_tuple(out_shape, n_out_axes); }
    /* Of the argument that receives the values. */
    const char *out_name() const { return options.has_soft_buffers ? "soft_buffers" : "out"; }
    /* The batch's shape. */
    int n_batch_axes() const { return n_batch; }

    /* Once all are read and there are symbols. In host memory, arrays that are not contiguous are copied,
     * part by part. On a device nothing is: raises where the library does not take the strides. */
    void plan_host();
    void plan_device(const call_inputs &given);

    /* The next segments, of what begins at `out`; none: that was all. What they refer to is there until the next
     * call. */
    void next(std::vector<softqam_segment> *segments, char *out, size_t value_nbytes);
    /* Symbols that next() has given. */
    int64_t n_done() const { return done * width; }

  private:
    /* An argument's steps in bytes along the symbols' axes. */
    struct argument {
        const char *data = nullptr;
        int64_t batch_step[MAX_AXES], step = 0, layer_step = 0;
        int64_t nbytes = 0;                        /* of an element, as the library gets it */
        elements::conversion how = elements::SAME; /* to that */
        bool aligned = true;
        elements order;
        std::unique_ptr<char[]> copied; /* NULL, or the part that next() has given */
    };

    const call_options &options;
    softqam_modulation modulation;
    int64_t bits;
    int n_batch = 0;
    int64_t batch[MAX_AXES];
    int64_t n_layers = 1;
    int64_t n = 0; /* symbols of a layer */
    argument symbols, noise, gain;
    bool apart = false; /* Q lies q_offset from I, in a plane of its own */
    int64_t q_offset = 0;

    /* Counted are symbols in their order, or those of one layer where a segment has all layers: its width. */
    int64_t width = 1;
    int64_t total = 0, codeword = 0, done = 0;
    int64_t part = 0, part_begin = 0; /* what next() gives at most; where the last began */
    /* Soft buffers: bytes from one codeword's to the next along the batch's axes; values between code blocks. */
    int64_t buffers_step[MAX_AXES];
    uint64_t block_stride = 0;

    void read_floats(const float_values &given, argument *of);
    void check_within(const array &array) const;
    void check_soft_buffers(const array &out);
    void place_in_codeword(softqam_segment *segment, int64_t row, char *out) const;
    void arrange(bool in_layers);
    void arrange_for_library();
    int64_t stride_unit() const { return apart ? symbols.nbytes / 2 : symbols.nbytes; }
    bool is_direct(const argument &of) const;
    bool has_noise_strides() const;
    const char *place(const argument &of, int64_t first, int64_t *count) const;
    void fill(softqam_segment *segment, int64_t first, int64_t *count, char *out, size_t value_nbytes) const;
    void copy(int64_t count);
};

#endif
