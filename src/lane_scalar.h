/* SPDX-License-Identifier: MIT */
/* The operations that arithmetic.h is written in, for one symbol at a time in portable C. An instruction set that works
 * on several symbols at once brings a header of its own with the same names; README.md says how. Every operation on
 * floats is one IEEE-754 binary32 operation, rounded to nearest even. */
#ifndef SOFTQAM_LANE_SCALAR_H
#define SOFTQAM_LANE_SCALAR_H

#include <float.h>
#include <stdint.h>
#include <string.h>

#include "axis_table.h"

#if defined(__FAST_MATH__)
#error "softqam needs IEEE-754 arithmetic: build without -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "softqam needs float arithmetic without excess precision: build with SSE or NEON");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "eight soft bits leave as one little-endian 64-bit store");

#define LANE static inline

typedef float lane_f32;
typedef uint32_t lane_u32;
typedef uint32_t lane_mask; /* all ones or zero */
typedef softqam_axis_row lane_row;
typedef softqam_axis_table lane_table;

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

/* a with its sign bit exclusive-ored with bit 31 of signs. */
LANE lane_f32 lane_flip(lane_f32 a, lane_u32 signs)
{
    const lane_u32 bits = lane_bits(a) ^ (signs & 0x80000000u);
    memcpy(&a, &bits, sizeof a);
    return a;
}

/* a limited to [-limit, +limit]; a NaN gives anything within. On the bits, where compilers see no reason to branch. */
LANE lane_f32 lane_limit(lane_f32 a, float limit)
{
    const lane_u32 bits = lane_bits(a);
    const lane_u32 most = lane_bits(limit);
    lane_u32 magnitude = bits & 0x7fffffffu;
    magnitude = magnitude < most ? magnitude : most;
    magnitude |= bits & 0x80000000u;
    memcpy(&a, &magnitude, sizeof a);
    return a;
}

/* Neither a NaN nor an infinity. */
LANE lane_mask lane_is_finite(lane_f32 a)
{
    return (lane_bits(a) & 0x7fffffffu) < 0x7f800000u ? 0xffffffffu : 0;
}

LANE lane_u32 lane_select(lane_mask mask, lane_u32 where_true, lane_u32 where_false)
{
    return (where_true & mask) | (where_false & ~mask);
}

/* trunc(a) limited to 0 .. 255, for |a| < 2^31. */
LANE lane_u32 lane_to_byte(lane_f32 a)
{
    int32_t whole = (int32_t)a;
    whole &= ~(whole >> 31);                     /* negative: 0 */
    return (whole | (255 - whole) >> 31) & 0xff; /* over 255: 255 */
}

/* Row `level` of the table. */
LANE lane_row lane_lookup(const lane_table *table, lane_u32 level)
{
    return table->rows[level];
}

/* The axis's four bytes as axis_table.h's BYTE_* digits in `marks` say. */
LANE lane_u32 lane_place_bytes(lane_u32 above, lane_u32 below, lane_u32 marks)
{
    const uint64_t source = (uint64_t)(below | (0xffu << 8)) << 32 | above;
    lane_u32 bytes = 0;
    for (unsigned place = 0; place < AXIS_BITS; place++)
        bytes |= (lane_u32)(source >> (8 * (marks >> (4 * place) & 0xf)) & 0xff) << (8 * place);
    return bytes;
}

#endif
