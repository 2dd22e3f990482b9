/* SPDX-License-Identifier: MIT */
/* The operations that arithmetic.h is written in, for one symbol at a time in portable C. An instruction set that works
 * on several symbols at once brings a header of its own with the same names. Every operation on floats is one IEEE-754
 * binary32 operation, rounded to nearest even. */
#ifndef SOFTQAM_SIMD_SCALAR_H
#define SOFTQAM_SIMD_SCALAR_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tables.h"

#if defined(__FAST_MATH__)
#error "softqam needs IEEE-754 arithmetic: build without -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "softqam needs float arithmetic without excess precision: build with SSE or NEON");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "eight soft bits leave as one little-endian 64-bit store");

#define VEC static inline
/* Before a loop over the bits of an axis: for vectors whose registers the loop would otherwise index. */
#define VEC_UNROLL

typedef float vec_f32;
typedef uint32_t vec_u32;
typedef uint32_t vec_mask;    /* all ones or zero */
typedef uint32_t vec_llr_row; /* its number */
typedef softqam_u8_table vec_u8_table;
typedef softqam_llr_table vec_llr_table;

VEC vec_f32 vec_splat(float a) { return a; }
VEC vec_f32 vec_add(vec_f32 a, vec_f32 b) { return a + b; }
VEC vec_f32 vec_sub(vec_f32 a, vec_f32 b) { return a - b; }
VEC vec_f32 vec_mul(vec_f32 a, vec_f32 b) { return a * b; }
VEC vec_f32 vec_fma(vec_f32 a, vec_f32 b, vec_f32 c) { return fmaf(a, b, c); }
VEC vec_f32 vec_div(vec_f32 a, vec_f32 b) { return a / b; }
VEC vec_f32 vec_div_any(vec_f32 a, vec_f32 b) { return a / b; }
VEC vec_f32 vec_min(vec_f32 a, vec_f32 b) { return a < b ? a : b; }
VEC vec_f32 vec_max(vec_f32 a, vec_f32 b) { return a > b ? a : b; }

VEC vec_u32 vec_bits(vec_f32 a)
{
    vec_u32 bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

VEC vec_f32 vec_from_bits(vec_u32 bits)
{
    vec_f32 a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

VEC vec_u32 vec_or_u32(vec_u32 a, vec_u32 b) { return a | b; }
VEC vec_u32 vec_shift_left(vec_u32 a, int n) { return a << n; }
VEC vec_u32 vec_shift_right(vec_u32 a, int n) { return a >> n; }
VEC vec_f32 vec_abs(vec_f32 a) { return vec_from_bits(vec_bits(a) & 0x7fffffffu); }
VEC vec_f32 vec_flip(vec_f32 a, vec_u32 signs) { return vec_from_bits(vec_bits(a) ^ (signs & 0x80000000u)); }

/* Limits a to [-limit, +limit]; a NaN gives anything within. It works on the bits, so that compilers do not branch. */
VEC vec_f32 vec_limit(vec_f32 a, vec_f32 limit)
{
    const vec_u32 bits = vec_bits(a);
    const vec_u32 most = vec_bits(limit);
    vec_u32 magnitude = bits & 0x7fffffffu;
    magnitude = magnitude < most ? magnitude : most;
    return vec_from_bits(magnitude | (bits & 0x80000000u));
}

VEC vec_mask vec_is_finite(vec_f32 a) { return (vec_bits(a) & 0x7fffffffu) < 0x7f800000u ? 0xffffffffu : 0; }
VEC vec_mask vec_is_less(vec_f32 a, vec_f32 b) { return 0u - (vec_mask)(a < b); }
VEC vec_mask vec_both(vec_mask a, vec_mask b) { return a & b; }
VEC vec_f32 vec_keep(vec_mask mask, vec_f32 a) { return vec_from_bits(vec_bits(a) & mask); }

VEC vec_f32 vec_choose(vec_mask mask, vec_f32 where_set, vec_f32 where_not)
{
    return vec_from_bits((vec_bits(where_set) & mask) | (vec_bits(where_not) & ~mask));
}

VEC vec_f32 vec_flush(vec_f32 magnitude, vec_f32 least) { return magnitude < least ? 0.0f : magnitude; }
VEC vec_mask vec_is_positive(vec_f32 a) { return vec_bits(a) - 1 < 0x7f800000u - 1 ? 0xffffffffu : 0; }
VEC vec_u32 vec_to_index(vec_f32 a) { return (vec_u32)(int32_t)a; }

/* Returns trunc(a) limited to 0 .. 255, for |a| < 2^31. */
VEC vec_u32 vec_to_byte(vec_f32 a)
{
    int32_t whole = (int32_t)a;
    whole &= ~(whole >> 31);                     /* negative: 0 */
    return (whole | (255 - whole) >> 31) & 0xff; /* over 255: 255 */
}

typedef struct vec_u8_row {
    vec_f32 level;
    vec_f32 level_low;
    vec_f32 level_high;
    vec_u32 number;
} vec_u8_row;

VEC vec_u8_row vec_u8_lookup(const vec_u8_table *table, vec_f32 level)
{
    enum { MIDDLE = U8_LEVELS / 2 };
    const vec_u32 number = vec_to_index(level * table->level_scale + (float)MIDDLE);
    return (vec_u8_row){table->level[number], table->level_low[number], table->level_high[number], number};
}

VEC vec_f32 vec_gain_low(const vec_u8_table *table, vec_u8_row row) { return table->gain_low[row.number]; }
VEC vec_f32 vec_gain_high(const vec_u8_table *table, vec_u8_row row) { return table->gain_high[row.number]; }

VEC vec_llr_row vec_llr_row_at(int m, const vec_llr_table *table, vec_f32 place)
{
    (void)m;
    (void)table;
    return vec_to_index(place);
}

VEC bool vec_has_signed_rows(int m)
{
    (void)m;
    return 0;
}

VEC vec_f32 vec_slope(int m, const vec_llr_table *table, vec_llr_row row, int k)
{
    (void)m;
    return table->slopes[k][row];
}

VEC vec_f32 vec_intercept(int m, const vec_llr_table *table, vec_llr_row row, int k)
{
    (void)m;
    return table->intercepts[k][row];
}

VEC vec_f32 vec_only_slope(const vec_llr_table *table) { return table->slopes[0][0]; }

/* linear_bits_of() also needs these. */

typedef int32_t vec_s32;

typedef struct vec_u8_linear {
    vec_f32 units_per_component;
    vec_s32 fold_points[U8_AXIS_BITS - 1];
} vec_u8_linear;

VEC vec_s32 vec_round_s32(vec_f32 a) { return (vec_s32)rintf(a); } /* for |a| < 2^31 */
VEC vec_s32 vec_abs_s32(vec_s32 a) { return a < 0 ? -a : a; }
VEC vec_s32 vec_sub_s32(vec_s32 a, vec_s32 b) { return a - b; }

/* Returns the bits of a rounded to binary16, to nearest even, for |a| <= 65504. */
VEC vec_u32 vec_to_f16(vec_f32 a)
{
    /* Adding 2^(e+13), e the exponent but at least that of the smallest normal binary16, leaves binary16's ten bits (a
     * subnormal's fewer) at the end of the sum's significand, rounded by the addition. */
    const vec_u32 bits = vec_bits(a);
    vec_u32 exponent = bits & 0x7f800000u;
    exponent = exponent > (113u << 23) ? exponent : 113u << 23;
    const vec_u32 magic = exponent + (13u << 23);
    const vec_u32 significand = vec_bits(vec_add(vec_abs(a), vec_from_bits(magic))) - magic;
    /* A significand with its leading 1 carries it into the exponent field, hence 113. */
    return (bits >> 16 & 0x8000u) | (((exponent - (113u << 23)) >> 13) + significand);
}

/* These follow arithmetic.h in a loop and arrange its results as they lie in memory. A header for several symbols at
 * once packs them in its own way. */

/* Returns the axis's four bytes, the axis's first bit in the lowest, from the soft values of its row. */
VEC vec_u32 vec_u8_bytes(const vec_u8_table *table, vec_f32 low, vec_f32 high, vec_u8_row row, vec_mask valid)
{
    const vec_u32 select = table->byte_select[row.number];
    const vec_u32 low_byte = vec_to_byte(low), high_byte = vec_to_byte(high);
    vec_u32 bytes = 0;
    for (unsigned shift = 0; shift < 8 * U8_AXIS_BITS; shift += 8) {
        const vec_u32 choice = select >> shift & 0xff;
        const vec_u32 byte = choice == FROM_LOW      ? low_byte
                             : choice == FROM_HIGH   ? high_byte
                             : choice == SATURATED_0 ? 0
                                                     : 255;
        bytes |= byte << shift;
    }
    return (bytes & valid) | (0x7f7f7f7fu & ~valid);
}

#define SIMD_FAST
#include "simd_check.h"

#endif
