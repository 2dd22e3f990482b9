/* SPDX-License-Identifier: MIT */
/* Soft bits for processors without vector loops: the linear functions of arithmetic_fast.h in plain C that compilers
 * turn into vectors of whatever instruction set they know of, and the portable loop for what these do not decide. */
#include "generic.h"

#include <stdint.h>
#include <string.h>

#include "simd_scalar.h"
#include "variant.h"

#include "arithmetic_fast.h"

/* Symbols are taken in tiles, which stay in the nearest cache from one loop to the next. */
enum { GENERIC_TILE_SYMBOLS = 256, GENERIC_TILE_COMPONENTS = 2 * GENERIC_TILE_SYMBOLS };

/* An axis's four bytes in the places that they have in a symbol's eight, and whether they are undecided. */
typedef struct linear_tile {
    uint32_t first[GENERIC_TILE_COMPONENTS]; /* its first two bytes, in a word each */
    uint32_t last[GENERIC_TILE_COMPONENTS];
    uint32_t undecided[GENERIC_TILE_COMPONENTS];
} linear_tile;

/* Of a value in fixed point the soft byte. Away from integers, trunc(127 - x) is 127 + ~floor(x). */
static inline uint32_t linear_byte(int32_t x, int32_t flip)
{
    const int32_t value = 127 + ((x >> LINEAR_FRACTION_BITS) ^ flip);
    const int32_t positive = value < 0 ? 0 : value;
    return (uint32_t)(positive > 255 ? 255 : positive);
}

/* Whether a distance's fraction is within `bound` units of that of `to`. */
static inline uint32_t is_near(uint32_t distance, uint32_t to, uint32_t bound)
{
    const uint32_t fraction_mask = ((uint32_t)1 << LINEAR_FRACTION_BITS) - 1;
    return ((distance - to + bound) & fraction_mask) <= 2 * bound;
}

static void compute_tile(const softqam_params *params, const float *components, size_t n_components, linear_tile *tile)
{
    const softqam_soft_linear *from = &params->soft_linear;
    const vec_soft_linear linear = {from->units_per_component,
                                    {from->fold_points[0], from->fold_points[1], from->fold_points[2]}};
    const uint32_t between = (uint32_t)from->fold_points[SOFT_AXIS_BITS - 2], bound = (uint32_t)from->error_bound;
    const int32_t flip = params->sign == SOFTQAM_SIGN_POSITIVE_IS_1 ? -1 : 0;
    for (size_t k = 0; k < n_components; k++) {
        const float component = vec_limit(components[k], LIMIT_COMPONENT);
        const linear_bits bits = linear_bits_of(&linear, component);
        tile->first[k] = linear_byte(bits.x[0], flip) | linear_byte(bits.x[1], flip) << 16;
        tile->last[k] = linear_byte(bits.x[2], flip) | linear_byte(bits.x[3], flip) << 16;
        /* As in soft_bit_loops.h: near an integer is what is so near a boundary of the last bit or 2 alpha from it. */
        const int32_t distance = vec_abs_s32(bits.x[3]);
        tile->undecided[k] = is_near((uint32_t)distance, 0, bound) | is_near((uint32_t)distance, between, bound) |
                             (uint32_t)(distance > from->largest);
    }
}

/* The axes' bytes in turns, of the two words of I in the lower half and the two of Q in the upper one. */
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

/* Returns how many symbols are undecided, and which. */
static size_t store_tile(const linear_tile *tile, size_t n_symbols, unsigned char *out, uint16_t *undecided)
{
    size_t n_undecided = 0;
    for (size_t k = 0; k < n_symbols; k++) {
        const uint64_t last = merge_axes(both_axes(tile->last, k));
        const uint64_t bytes = merge_axes(both_axes(tile->first, k)) | last << 32;
        memcpy(out + 8 * k, &bytes, sizeof bytes);
        undecided[n_undecided] = (uint16_t)k;
        n_undecided += both_axes(tile->undecided, k) != 0;
    }
    return n_undecided;
}

void softqam_generic_soft_bits(const softqam_loop_call *call)
{
    const float *components = call->components;
    unsigned char *out = call->out;
    size_t n_symbols = call->n_symbols;
    softqam_loop_call one = {.params = call->params, .n_symbols = 1};
    float aligned[GENERIC_TILE_COMPONENTS];
    linear_tile tile;
    uint16_t undecided[GENERIC_TILE_SYMBOLS + 1];
    while (n_symbols > 0) {
        const size_t n = n_symbols < GENERIC_TILE_SYMBOLS ? n_symbols : GENERIC_TILE_SYMBOLS;
        memcpy(aligned, components, n * 2 * sizeof aligned[0]);
        compute_tile(call->params, aligned, 2 * n, &tile);
        const size_t n_undecided = store_tile(&tile, n, out, undecided);
        for (size_t k = 0; k < n_undecided; k++) {
            one.components = aligned + 2 * undecided[k];
            one.out = out + 8 * undecided[k];
            softqam_cpu_portable.soft_bits[0](&one);
        }
        components += 2 * n;
        out += 8 * n;
        n_symbols -= n;
    }
}
