/* SPDX-License-Identifier: MIT */
/* From arrays to segments: shapes, broadcasting, layers, code blocks. */
#ifndef SOFTQAM_PYTHON_LAYOUT_H
#define SOFTQAM_PYTHON_LAYOUT_H

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
};

/* Where the symbols and the noise of all codewords lie: one codeword for each index of the batch, steps in bytes. */
class layout
{
  public:
    softqam_input_format format = SOFTQAM_INPUT_CF32;
    int n_out_axes = 0;
    int64_t out_shape[MAX_AXES] = {};

    layout(const call_options &of_call, softqam_modulation modulation);
    /* False where the library cannot take these strides; raise where shape or dtype is wrong. */
    bool read_symbols(const array &symbols);
    bool read_noise(const array &noise);
    /* One value for all. */
    void one_noise(const float *value)
    {
        noise = reinterpret_cast<const char *>(value);
    }
    /* Raises unless `array` is what the values fit in. */
    void check_out(const array &out, element type) const;
    /* The batch's shape. */
    int n_batch_axes() const
    {
        return n_batch;
    }
    size_t n_segments() const;

    /* Writes the next segments, at most `capacity`, to what begins at `out`; returns how many. 0: that was all. */
    size_t next(softqam_segment *segments, size_t capacity, char *out, size_t value_nbytes);
    /* Makes one run of what lies in one row. Once symbols and noise are read. */
    void merge();

  private:
    const call_options &options;
    softqam_modulation modulation;
    int64_t bits;
    int n_batch = 0;
    int64_t batch[MAX_AXES] = {}, symbol_step[MAX_AXES] = {}, noise_step[MAX_AXES] = {};
    int64_t n_layers = 1, layer_step = 0, noise_layer_step = 0;
    int64_t n = 0; /* symbols of a layer */
    const char *symbols = nullptr;
    bool planes = false; /* Q lies q_offset from I, in a plane of its own */
    int64_t q_offset = 0;
    int64_t stride_unit = 1; /* bytes that symbol_stride counts */
    int64_t symbol_stride = 1;
    const char *noise = nullptr;
    int64_t noise_stride = 0;

    /* Of the next segment. */
    int64_t index[MAX_AXES] = {};
    size_t codeword = 0;
    int64_t symbols_done = 0; /* of this codeword */
    size_t values_done = 0;   /* of all */
    int64_t symbol_offset = 0, noise_offset = 0;

    int64_t block_size() const;
    bool read_strides(const array &symbols, int axes);
    softqam_segment segment_at(int64_t first, int64_t count) const;
    bool next_codeword();
};

#endif
