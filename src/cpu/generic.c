/* SPDX-License-Identifier: MIT */
/* For processors without a variant of their own: soft bits by the linear functions of arithmetic_shortcuts.h, in plain
 * C that compilers turn into vectors of whatever instruction set they know of, and the portable loop for all else. */
#include <stdint.h>
#include <string.h>

#include "cpu_variant.h"
#include "vec_scalar.h"
#include "load_symbol.h"

#include "arithmetic_shortcuts.h"

/* Symbols are taken in blocks, which stay in the nearest cache from one loop to the next. */
enum { BLOCK_SYMBOLS = 256, BLOCK_COMPONENTS = 2 * BLOCK_SYMBOLS };

/* An axis's four bytes in the places that they have in a symbol's eight, and whether they may be wrong. */
typedef struct linear_block {
    float components[BLOCK_COMPONENTS];
    uint32_t first[BLOCK_COMPONENTS]; /* its first two bytes, in a word each */
    uint32_t last[BLOCK_COMPONENTS];
    uint32_t doubt[BLOCK_COMPONENTS];
} linear_block;

static void load_block(softqam_input_format format, const softqam_plan *plan, const unsigned char *symbols,
                       size_t n_symbols, float *to)
{
    for (size_t k = 0; k < n_symbols; k++) {
        const loaded_symbol in = load_symbol(format, symbols + k * plan->input_nbytes);
        to[2 * k] = in.i * plan->input_scale;
        to[2 * k + 1] = in.q * plan->input_scale;
    }
}

static void load_block_of_plan(const softqam_plan *plan, const unsigned char *symbols, size_t n_symbols, float *to)
{
    switch (plan->input_format) {
    case SOFTQAM_INPUT_CF32:
        load_block(SOFTQAM_INPUT_CF32, plan, symbols, n_symbols, to);
        break;
    case SOFTQAM_INPUT_CS16:
        load_block(SOFTQAM_INPUT_CS16, plan, symbols, n_symbols, to);
        break;
    case SOFTQAM_INPUT_CS8:
        load_block(SOFTQAM_INPUT_CS8, plan, symbols, n_symbols, to);
        break;
    case SOFTQAM_INPUT_CF16:
        load_block(SOFTQAM_INPUT_CF16, plan, symbols, n_symbols, to);
        break;
    }
}

/* Of a value in fixed point the soft byte. Away from integers, trunc(127 - x) is 127 + ~floor(x). */
static inline uint32_t linear_byte(int32_t x, int32_t flip)
{
    const int32_t value = 127 + ((x >> LINEAR_FRACTION_BITS) ^ flip);
    const int32_t positive = value < 0 ? 0 : value;
    return (uint32_t)(positive > 255 ? 255 : positive);
}

/* Whether a distance's fraction is within `doubt` units of that of `to`. */
static inline uint32_t is_near(uint32_t distance, uint32_t to, uint32_t doubt)
{
    const uint32_t fraction_mask = ((uint32_t)1 << LINEAR_FRACTION_BITS) - 1;
    return ((distance - to + doubt) & fraction_mask) <= 2 * doubt;
}

static void compute_block(const softqam_plan *plan, size_t n_components, linear_block *block)
{
    const softqam_linear *from = &plan->columns.linear;
    const vec_linear linear = {from->units, {from->fold_points[0], from->fold_points[1], from->fold_points[2]}};
    const uint32_t between = (uint32_t)from->fold_points[AXIS_BITS - 2], doubt = (uint32_t)from->doubt;
    const int32_t flip = plan->llr_scale.signs ? -1 : 0;
    for (size_t k = 0; k < n_components; k++) {
        const float component = vec_limit(block->components[k], LIMIT_COMPONENT);
        const linear_bits bits = demodulate_linear(&linear, component);
        block->first[k] = linear_byte(bits.x[0], flip) | linear_byte(bits.x[1], flip) << 16;
        block->last[k] = linear_byte(bits.x[2], flip) | linear_byte(bits.x[3], flip) << 16;
        /* As in the loops: near an integer is what is so near a boundary of the last bit or 2 alpha from it.
         */
        const int32_t distance = vec_abs_s32(bits.x[3]);
        block->doubt[k] = is_near((uint32_t)distance, 0, doubt) | is_near((uint32_t)distance, between, doubt) |
                          (uint32_t)(distance > from->largest);
    }
}

/* The axes' bytes in fold_points, of the two words of I in the lower half and the two of Q in the upper one. */
static inline uint32_t merge_axes(uint64_t axes)
{
    return (uint32_t)(axes | axes >> 24);
}

/* The values of a symbol's two components. */
static inline uint64_t both_axes(const uint32_t *values, size_t symbol)
{
    uint64_t both;
    memcpy(&both, values + 2 * symbol, sizeof both);
    return both;
}

/* Returns how many symbols are in doubt, and which. */
static size_t store_block(const linear_block *block, size_t n_symbols, unsigned char *out, uint16_t *doubtful)
{
    size_t n_doubtful = 0;
    for (size_t k = 0; k < n_symbols; k++) {
        const uint64_t bytes = merge_axes(both_axes(block->first, k)) | (uint64_t)merge_axes(both_axes(block->last, k))
                                                                            << 32;
        memcpy(out + 8 * k, &bytes, sizeof bytes);
        doubtful[n_doubtful] = (uint16_t)k;
        n_doubtful += both_axes(block->doubt, k) != 0;
    }
    return n_doubtful;
}

void softqam_cpu_loop_generic(const softqam_plan *plan, const void *symbols, const float *noise_var,
                              size_t noise_stride, size_t n_symbols, void *out)
{
    const unsigned char *in = symbols;
    unsigned char *to = out;
    linear_block block;
    uint16_t doubtful[BLOCK_SYMBOLS + 1];
    if (plan->output_format != SOFTQAM_OUTPUT_U8) {
        softqam_cpu_loop_portable(plan, symbols, noise_var, noise_stride, n_symbols, out);
        return;
    }
    for (size_t left = n_symbols; left > 0;) {
        const size_t n = left < BLOCK_SYMBOLS ? left : BLOCK_SYMBOLS;
        load_block_of_plan(plan, in, n, block.components);
        compute_block(plan, 2 * n, &block);
        const size_t n_doubtful = store_block(&block, n, to, doubtful);
        for (size_t k = 0; k < n_doubtful; k++)
            softqam_cpu_loop_portable(plan, in + doubtful[k] * plan->input_nbytes, NULL, 0, 1, to + 8 * doubtful[k]);
        in += n * plan->input_nbytes;
        to += n * 8;
        left -= n;
    }
}
