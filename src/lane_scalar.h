/* SPDX-License-Identifier: MIT */
/* The operations that arithmetic.h is written in, for one symbol at a time in portable C. An instruction set that works
 * on several symbols at once brings a header of its own with the same names; README.md says how. Every operation on
 * floats is one IEEE-754 binary32 operation, rounded to nearest even. */
#ifndef SOFTQAM_LANE_SCALAR_H
#define SOFTQAM_LANE_SCALAR_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "axis_table.h"

#if defined(__FAST_MATH__)
#error "softqam needs IEEE-754 arithmetic: build without -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "softqam needs float arithmetic without excess precision: build with SSE or NEON");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "eight soft bits leave as one little-endian 64-bit store");

#define LANE static inline
/* Before a loop over the bits of an axis: for lanes whose registers the loop would otherwise index. */
#define LANE_UNROLL

typedef float lane_f32;
typedef uint32_t lane_u32;
typedef uint32_t lane_mask; /* all ones or zero */
typedef softqam_axis_row lane_row;
typedef softqam_axis_table lane_table;
typedef softqam_llr_row lane_llr_row;
typedef softqam_llr_table lane_llr_table;

/* The same number in every symbol of a lane. */
LANE lane_f32 lane_splat(float a)
{
    return a;
}

LANE lane_f32 lane_add(lane_f32 a, lane_f32 b)
{
    return a + b;
}

LANE lane_f32 lane_sub(lane_f32 a, lane_f32 b)
{
    return a - b;
}

LANE lane_f32 lane_mul(lane_f32 a, lane_f32 b)
{
    return a * b;
}

/* a * b + c, rounded once. */
LANE lane_f32 lane_fma(lane_f32 a, lane_f32 b, lane_f32 c)
{
    return fmaf(a, b, c);
}

LANE lane_f32 lane_div(lane_f32 a, lane_f32 b)
{
    return a / b;
}

/* Neither operand a NaN. */
LANE lane_f32 lane_min(lane_f32 a, lane_f32 b)
{
    return a < b ? a : b;
}

LANE lane_u32 lane_bits(lane_f32 a)
{
    lane_u32 bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

LANE lane_f32 lane_float(lane_u32 bits)
{
    lane_f32 a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

LANE lane_f32 lane_abs(lane_f32 a)
{
    return lane_float(lane_bits(a) & 0x7fffffffu);
}

/* a with its sign bit exclusive-ored with bit 31 of signs. */
LANE lane_f32 lane_flip(lane_f32 a, lane_u32 signs)
{
    return lane_float(lane_bits(a) ^ (signs & 0x80000000u));
}

/* a limited to [-limit, +limit]; a NaN gives anything within. On the bits, where compilers see no reason to branch. */
LANE lane_f32 lane_limit(lane_f32 a, lane_f32 limit)
{
    const lane_u32 bits = lane_bits(a);
    const lane_u32 most = lane_bits(limit);
    lane_u32 magnitude = bits & 0x7fffffffu;
    magnitude = magnitude < most ? magnitude : most;
    return lane_float(magnitude | (bits & 0x80000000u));
}

/* Neither a NaN nor an infinity. */
LANE lane_mask lane_is_finite(lane_f32 a)
{
    return (lane_bits(a) & 0x7fffffffu) < 0x7f800000u ? 0xffffffffu : 0;
}

LANE lane_mask lane_both(lane_mask a, lane_mask b)
{
    return a & b;
}

/* a where the mask is set, else +0. */
LANE lane_f32 lane_keep(lane_mask mask, lane_f32 a)
{
    return lane_float(lane_bits(a) & mask);
}

/* Greater than zero and finite. */
LANE lane_mask lane_is_positive(lane_f32 a)
{
    return lane_bits(a) - 1 < 0x7f800000u - 1 ? 0xffffffffu : 0;
}

/* trunc(a), for 0 <= a < 2^31. */
LANE lane_u32 lane_to_index(lane_f32 a)
{
    return (lane_u32)(int32_t)a;
}

/* trunc(a) limited to 0 .. 255, for |a| < 2^31. */
LANE lane_u32 lane_to_byte(lane_f32 a)
{
    int32_t whole = (int32_t)a;
    whole &= ~(whole >> 31);                     /* negative: 0 */
    return (whole | (255 - whole) >> 31) & 0xff; /* over 255: 255 */
}

/* The row of the level that lies within a few ulp of `level`. */
LANE lane_row lane_lookup(const lane_table *table, lane_f32 level)
{
    enum { MIDDLE = AXIS_LEVELS / 2 };
    return table->rows[lane_to_index(level * table->rows_per_unit + (float)MIDDLE)];
}

/* The gain with the signs of the row's two soft bits. */
LANE lane_f32 lane_gain_last(const lane_table *table, lane_row row)
{
    return lane_flip(table->gain, row.marks);
}

LANE lane_f32 lane_gain_other(const lane_table *table, lane_row row)
{
    return lane_flip(table->gain, row.marks << 1);
}

/* Row `row` of the table. */
LANE lane_llr_row lane_llr_lookup(const lane_llr_table *table, lane_u32 row)
{
    return table->rows[row];
}

/* What arithmetic_shortcuts.h needs besides. */

typedef int32_t lane_whole;

/* For demodulate_linear(). */
typedef struct lane_linear {
    lane_f32 units; /* of fixed point, to a component of 1 */
    lane_whole turns[AXIS_BITS - 1];
} lane_linear;

typedef struct lane_llr_line {
    lane_f32 slope;
    lane_f32 intercept;
} lane_llr_line;

/* Truncated, not rounded, which compilers can do on vectors: where it differs, below 2^23, it is off by less than
 * products beyond are anyway. |a| < 2^31. */
LANE lane_whole lane_round(lane_f32 a)
{
    return (lane_whole)a;
}

LANE lane_whole lane_abs_s32(lane_whole a)
{
    return a < 0 ? -a : a;
}

LANE lane_whole lane_sub_s32(lane_whole a, lane_whole b)
{
    return a - b;
}

/* What row `row` holds for bit k. */
LANE lane_llr_line lane_llr_lookup_line(const lane_llr_table *table, lane_u32 row, int k)
{
    return (lane_llr_line){table->rows[row].slopes[k], table->rows[row].intercepts[k]};
}

LANE lane_u32 lane_to_row_small(lane_f32 place)
{
    return lane_to_index(lane_min(place, (lane_f32)(LLR_ROWS - 1)));
}

/* The bits of a rounded to binary16, to nearest even, for |a| <= 65504. */
LANE lane_u32 lane_to_f16(lane_f32 a)
{
    /* Adding 2^(e+13), e the exponent but at least that of the smallest normal binary16, leaves binary16's ten bits (a
     * subnormal's fewer) at the end of the sum's significand, rounded by the addition. */
    const lane_u32 bits = lane_bits(a);
    lane_u32 exponent = bits & 0x7f800000u;
    exponent = exponent > (113u << 23) ? exponent : 113u << 23;
    const lane_u32 magic = exponent + (13u << 23);
    const lane_u32 significand = lane_bits(lane_add(lane_abs(a), lane_float(magic))) - magic;
    /* A significand with its leading 1 carries it into the exponent field, hence 113. */
    return (bits >> 16 & 0x8000u) | (((exponent - (113u << 23)) >> 13) + significand);
}

/* What follows arithmetic.h in a loop: its results as they lie in memory. A header for several symbols at once packs
 * them in its own way. */

/* The axis's four bytes, the axis's first bit in the lowest, from the soft values of its row. */
LANE lane_u32 lane_soft_bytes(lane_f32 last, lane_f32 other, lane_row row, lane_mask known)
{
    const uint64_t source = (uint64_t)0xff00 << 32 | lane_to_byte(other) << 8 | lane_to_byte(last);
    lane_u32 bytes = 0;
    for (unsigned place = 0; place < AXIS_BITS; place++)
        bytes |= (lane_u32)(source >> (8 * (row.marks >> (4 * place) & 0xf)) & 0xff) << (8 * place);
    return (bytes & known) | (0x7f7f7f7fu & ~known);
}

/* Four LLRs as bytes in two's complement, rounded to nearest even, the first in the lowest byte. |llr| <= 127. */
LANE lane_u32 lane_llr_bytes(const lane_f32 llrs[AXIS_BITS])
{
    lane_u32 bytes = 0;
    /* Around 1.5 * 2^23 the floats are the integers, so the addition rounds, and its low bits are the result's. */
    for (unsigned place = 0; place < AXIS_BITS; place++)
        bytes |= (lane_bits(llrs[place] + 12582912.0f) & 0xff) << (8 * place);
    return bytes;
}

#endif
