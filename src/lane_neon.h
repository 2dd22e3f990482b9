/* SPDX-License-Identifier: MIT */
/* The operations of lane_scalar.h on the 4 floats of a 128-bit register, and the loads and byte shuffles that
 * cpu_vector_loops.h needs besides. AArch64's Advanced SIMD, which every such processor has. */
#ifndef SOFTQAM_LANE_NEON_H
#define SOFTQAM_LANE_NEON_H

#include <arm_neon.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "columns.h"

#define LANE        static inline __attribute__((always_inline))
#define LANE_UNROLL _Pragma("GCC unroll 4")

enum { LANES = 4 };

typedef float32x4_t lane_f32;
typedef uint32x4_t lane_u32;
typedef uint32x4_t lane_mask; /* all ones or zero */
typedef int32x4_t lane_whole; /* 32-bit integers */
typedef uint8x16_t lane_bytes;
typedef uint64x2_t lane_pairs; /* one of each two components that lie side by side: all ones or zero */

/* One value of 16 rows, to be looked up by bytes. */
typedef uint8x16x4_t lane_column;

/* What a row holds besides is looked up where it is needed: registers are few. */
typedef struct lane_row {
    lane_f32 level;
    lane_f32 level_last;
    lane_f32 level_other;
    lane_bytes bytes; /* where its values lie in a column */
} lane_row;

/* There are registers for two or three columns; the others are read from memory. */
typedef struct lane_table {
    const softqam_axis_columns *columns;
    lane_f32 steps[AXIS_BITS];
    lane_f32 rows_per_unit;
} lane_table;

/* For demodulate_linear(). */
typedef struct lane_linear {
    lane_f32 units; /* of fixed point, to a component of 1 */
    lane_whole turns[AXIS_BITS - 1];
} lane_linear;

typedef struct lane_llr_row {
    lane_f32 slopes[AXIS_BITS];
    lane_f32 intercepts[AXIS_BITS];
} lane_llr_row;

typedef struct lane_llr_line {
    lane_f32 slope;
    lane_f32 intercept;
} lane_llr_line;

typedef struct lane_llr_table {
    const softqam_llr_columns *columns;
    lane_f32 rows_per_unit;
} lane_llr_table;

LANE lane_f32 lane_splat(float a)
{
    return vdupq_n_f32(a);
}

LANE lane_u32 lane_splat_bits(uint32_t a)
{
    return vdupq_n_u32(a);
}

LANE lane_f32 lane_add(lane_f32 a, lane_f32 b)
{
    return vaddq_f32(a, b);
}

LANE lane_f32 lane_sub(lane_f32 a, lane_f32 b)
{
    return vsubq_f32(a, b);
}

LANE lane_f32 lane_mul(lane_f32 a, lane_f32 b)
{
    return vmulq_f32(a, b);
}

LANE lane_f32 lane_fma(lane_f32 a, lane_f32 b, lane_f32 c)
{
    return vfmaq_f32(c, a, b);
}

LANE lane_f32 lane_div(lane_f32 a, lane_f32 b)
{
    return vdivq_f32(a, b);
}

LANE lane_f32 lane_min(lane_f32 a, lane_f32 b)
{
    return vminq_f32(a, b);
}

LANE lane_u32 lane_bits(lane_f32 a)
{
    return vreinterpretq_u32_f32(a);
}

LANE lane_f32 lane_float(lane_u32 bits)
{
    return vreinterpretq_f32_u32(bits);
}

LANE lane_f32 lane_abs(lane_f32 a)
{
    return vabsq_f32(a);
}

LANE lane_f32 lane_flip(lane_f32 a, lane_u32 signs)
{
    return lane_float(veorq_u32(lane_bits(a), vandq_u32(signs, lane_splat_bits(0x80000000u))));
}

/* minnm and maxnm take the number of a number and a NaN. */
LANE lane_f32 lane_limit(lane_f32 a, lane_f32 limit)
{
    return vmaxnmq_f32(vminnmq_f32(a, limit), vnegq_f32(limit));
}

LANE lane_mask lane_both(lane_mask a, lane_mask b)
{
    return vandq_u32(a, b);
}

LANE bool lane_all(lane_mask a)
{
    return vminvq_u32(a) != 0;
}

/* a < b; false for NaN. */
LANE lane_mask lane_is_less(lane_f32 a, lane_f32 b)
{
    return vcltq_f32(a, b);
}

LANE lane_mask lane_is_finite(lane_f32 a)
{
    return lane_is_less(lane_abs(a), lane_splat(INFINITY));
}

LANE lane_mask lane_is_positive(lane_f32 a)
{
    return lane_both(lane_is_less(lane_splat(0.0f), a), lane_is_less(a, lane_splat(INFINITY)));
}

/* Neither is a NaN. */
LANE lane_mask lane_are_numbers(lane_f32 a, lane_f32 b)
{
    return lane_both(vceqq_f32(a, a), vceqq_f32(b, b));
}

LANE lane_f32 lane_keep(lane_mask mask, lane_f32 a)
{
    return lane_float(vandq_u32(mask, lane_bits(a)));
}

LANE lane_f32 lane_choose(lane_mask mask, lane_f32 where_true, lane_f32 where_false)
{
    return vbslq_f32(mask, where_true, where_false);
}

LANE lane_u32 lane_to_index(lane_f32 a)
{
    return vreinterpretq_u32_s32(vcvtq_s32_f32(a));
}

/* Rounded to nearest even. NaN gives 0, what does not fit the nearest that does. */
LANE lane_whole lane_round(lane_f32 a)
{
    return vcvtnq_s32_f32(a);
}

LANE lane_whole lane_splat_whole(int32_t a)
{
    return vdupq_n_s32(a);
}

/* Saturated: the largest integer for -2^31. */
LANE lane_whole lane_abs_s32(lane_whole a)
{
    return vqabsq_s32(a);
}

LANE lane_whole lane_sub_s32(lane_whole a, lane_whole b)
{
    return vqsubq_s32(a, b);
}

LANE lane_u32 lane_max_u32(lane_u32 a, lane_u32 b)
{
    return vmaxq_u32(a, b);
}

LANE lane_whole lane_max_s32(lane_whole a, lane_whole b)
{
    return vmaxq_s32(a, b);
}

/* The bytes of a row's four-byte value in a column of 16: bytes beyond it give 0. */
LANE lane_bytes lane_row_bytes(lane_u32 row)
{
    return vreinterpretq_u8_u32(vmlaq_u32(lane_splat_bits(0x03020100u), row, lane_splat_bits(0x04040404u)));
}

LANE lane_column lane_load_column(const void *column)
{
    return vld1q_u8_x4(column);
}

LANE lane_u32 lane_row_value(lane_bytes row, const void *column)
{
    return vreinterpretq_u32_u8(vqtbl4q_u8(lane_load_column(column), row));
}

/* level * rows_per_unit, rounded down and limited to 0 .. 15, is the row's number: limited, because a NaN's or an
 * outlier's would be no row's. */
LANE lane_row lane_lookup(const lane_table *table, lane_f32 level)
{
    const int32x4_t down = vcvtmq_s32_f32(lane_mul(level, table->rows_per_unit));
    const int32x4_t number = vaddq_s32(vmaxq_s32(vminq_s32(down, vdupq_n_s32(7)), vdupq_n_s32(-8)), vdupq_n_s32(8));
    const lane_bytes bytes = lane_row_bytes(vreinterpretq_u32_s32(number));
    const softqam_axis_columns *columns = table->columns;
    lane_row row;
    row.level = lane_float(lane_row_value(bytes, columns->level));
    row.level_last = lane_float(lane_row_value(bytes, columns->level_last));
    row.level_other = lane_float(lane_row_value(bytes, columns->level_other));
    row.bytes = bytes;
    return row;
}

LANE lane_f32 lane_gain_last(const lane_table *table, lane_row row)
{
    return lane_float(lane_row_value(row.bytes, table->columns->gain_last));
}

LANE lane_f32 lane_gain_other(const lane_table *table, lane_row row)
{
    return lane_float(lane_row_value(row.bytes, table->columns->gain_other));
}

LANE lane_u32 lane_marks(const lane_table *table, lane_row row)
{
    return lane_row_value(row.bytes, table->columns->marks);
}

/* What a row holds for bit k. */
LANE lane_llr_line lane_llr_lookup_line(const lane_llr_table *table, lane_u32 row, int k)
{
    const lane_bytes bytes = lane_row_bytes(row);
    lane_llr_line line;
    line.slope = lane_float(lane_row_value(bytes, table->columns->slopes[k]));
    line.intercept = lane_float(lane_row_value(bytes, table->columns->intercepts[k]));
    return line;
}

LANE lane_llr_row lane_llr_lookup(const lane_llr_table *table, lane_u32 row)
{
    lane_llr_row found;
    LANE_UNROLL
    for (int k = 0; k < AXIS_BITS; k++) {
        const lane_llr_line line = lane_llr_lookup_line(table, row, k);
        found.slopes[k] = line.slope;
        found.intercepts[k] = line.intercept;
    }
    return found;
}

/* The number of the row at `place` of |v| < SMALL_COMPONENT: the repeated rows make up for a minimum. */
LANE lane_u32 lane_to_row_small(lane_f32 place)
{
    return lane_to_index(place);
}

/* What follows has no counterpart in lane_scalar.h. Where other headers speak of 128-bit parts, a register is one. */

/* Any alignment: unlike a pointer to float, these bytes have none. */
LANE lane_f32 lane_load_f32(const void *from)
{
    return vreinterpretq_f32_u8(vld1q_u8(from));
}

LANE lane_f32 lane_load_s16(const void *from)
{
    return vcvtq_f32_s32(vmovl_s16(vreinterpret_s16_u8(vld1_u8(from))));
}

LANE lane_f32 lane_load_s8(const void *from)
{
    uint32_t four;
    memcpy(&four, from, sizeof four);
    const int16x8_t words = vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(four)));
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(words)));
}

LANE lane_f32 lane_load_f16(const void *from)
{
    return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(from)));
}

/* There are no stores past the caches among the intrinsics: `streaming` is never set. */
LANE void lane_store(void *to, lane_bytes a, bool streaming)
{
    (void)streaming;
    vst1q_u8(to, a);
}

LANE void lane_fence(void)
{
}

LANE lane_table lane_load_table(const softqam_axis_columns *columns)
{
    lane_table table = {.columns = columns};
    return table;
}

LANE lane_llr_table lane_load_llr_table(const softqam_llr_columns *columns)
{
    lane_llr_table table = {.columns = columns};
    return table;
}

/* Pairs of components to two registers of first and of second ones. */
LANE lane_f32 lane_firsts(lane_f32 a, lane_f32 b)
{
    return vuzp1q_f32(a, b);
}

LANE lane_f32 lane_seconds(lane_f32 a, lane_f32 b)
{
    return vuzp2q_f32(a, b);
}

/* Each of the lower, or upper, half's values twice. */
LANE lane_f32 lane_twice_lower(lane_f32 a)
{
    return vzip1q_f32(a, a);
}

LANE lane_f32 lane_twice_upper(lane_f32 a)
{
    return vzip2q_f32(a, a);
}

/* Neighbours exchanged. */
LANE lane_f32 lane_swap_pairs(lane_f32 a)
{
    return vrev64q_f32(a);
}

/* Both of the pair are zeros, of any sign. */
LANE lane_pairs lane_are_zeros(lane_f32 a)
{
    return vceqzq_u64(vreinterpretq_u64_f32(lane_abs(a)));
}

LANE lane_f32 lane_keep_pairs(lane_pairs mask, lane_f32 a)
{
    return lane_float(vandq_u32(vreinterpretq_u32_u64(mask), lane_bits(a)));
}

LANE lane_f32 lane_choose_pairs(lane_pairs mask, lane_f32 where_true, lane_f32 where_false)
{
    return vbslq_f32(vreinterpretq_u32_u64(mask), where_true, where_false);
}

/* The eight bytes of each pair. */
LANE lane_bytes lane_choose_pair_bytes(lane_pairs mask, lane_bytes where_true, lane_bytes where_false)
{
    return vbslq_u8(vreinterpretq_u8_u64(mask), where_true, where_false);
}

/* To integers, truncated, for values that fit. */
LANE lane_whole lane_truncate(lane_f32 a)
{
    return vcvtq_s32_f32(a);
}

/* Integers to narrower ones, limited to what these hold: those of a, then those of b. */
LANE lane_bytes lane_pack_s16(lane_whole a, lane_whole b)
{
    return vreinterpretq_u8_s16(vqmovn_high_s32(vqmovn_s32(a), b));
}

LANE lane_bytes lane_pack_s8(lane_bytes a, lane_bytes b)
{
    return vreinterpretq_u8_s8(vqmovn_high_s16(vqmovn_s16(vreinterpretq_s16_u8(a)), vreinterpretq_s16_u8(b)));
}

LANE lane_bytes lane_pack_u8(lane_bytes a, lane_bytes b)
{
    return vqmovun_high_s16(vqmovun_s16(vreinterpretq_s16_u8(a)), vreinterpretq_s16_u8(b));
}

/* Of each 32-bit integer of a and of b the upper, or lower, half: a's in the lower half of the result, b's in the upper
 * one. */
LANE lane_bytes lane_upper_words(lane_whole a, lane_whole b)
{
    return vreinterpretq_u8_s16(vtrn2q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b)));
}

LANE lane_bytes lane_lower_words(lane_whole a, lane_whole b)
{
    return vreinterpretq_u8_s16(vtrn1q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b)));
}

/* Whether any 16-bit integer of a is less than low's, or a 32-bit one of b more than high's. */
LANE bool lane_any_less_or_more(lane_bytes a, lane_bytes low, lane_whole b, lane_whole high)
{
    const uint16x8_t less = vcltq_s16(vreinterpretq_s16_u8(a), vreinterpretq_s16_u8(low));
    return vmaxvq_u32(vorrq_u32(vreinterpretq_u32_u16(less), vcgtq_s32(b, high))) != 0;
}

LANE bool lane_any_less(lane_bytes a, lane_bytes low)
{
    return vmaxvq_u16(vcltq_s16(vreinterpretq_s16_u8(a), vreinterpretq_s16_u8(low))) != 0;
}

LANE lane_bytes lane_swap_pair_words(lane_bytes a)
{
    return vreinterpretq_u8_u32(vrev64q_u32(vreinterpretq_u32_u8(a)));
}

/* On 16-bit integers, modulo 2^16. */
LANE lane_bytes lane_add_s16(lane_bytes a, lane_bytes b)
{
    return vreinterpretq_u8_u16(vaddq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
}

LANE lane_bytes lane_sub_s16(lane_bytes a, lane_bytes b)
{
    return vreinterpretq_u8_u16(vsubq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
}

LANE lane_bytes lane_abs_s16(lane_bytes a)
{
    return vreinterpretq_u8_s16(vabsq_s16(vreinterpretq_s16_u8(a)));
}

/* a - b, but 0 where b is more; neither negative. */
LANE lane_bytes lane_excess_u16(lane_bytes a, lane_bytes b)
{
    return vreinterpretq_u8_u16(vqsubq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
}

LANE lane_bytes lane_shift_right_s16(lane_bytes a, int n)
{
    return vreinterpretq_u8_s16(vshlq_s16(vreinterpretq_s16_u8(a), vdupq_n_s16((int16_t)-n)));
}

LANE lane_bytes lane_splat_word(int a)
{
    return vreinterpretq_u8_s16(vdupq_n_s16((int16_t)a));
}

LANE lane_bytes lane_max_s8(lane_bytes a, lane_bytes b)
{
    return vreinterpretq_u8_s8(vmaxq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b)));
}

LANE lane_bytes lane_min_s8(lane_bytes a, lane_bytes b)
{
    return vreinterpretq_u8_s8(vminq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b)));
}

LANE lane_bytes lane_splat_byte(int a)
{
    return vdupq_n_u8((uint8_t)a);
}

LANE lane_bytes lane_splat_bytes(const uint8_t bytes[16])
{
    return vld1q_u8(bytes);
}

LANE lane_bytes lane_or(lane_bytes a, lane_bytes b)
{
    return vorrq_u8(a, b);
}

LANE lane_bytes lane_interleave_bytes_lower(lane_u32 a, lane_u32 b)
{
    return vzip1q_u8(vreinterpretq_u8_u32(a), vreinterpretq_u8_u32(b));
}

LANE lane_bytes lane_interleave_bytes_upper(lane_u32 a, lane_u32 b)
{
    return vzip2q_u8(vreinterpretq_u8_u32(a), vreinterpretq_u8_u32(b));
}

LANE lane_bytes lane_shuffle_bytes(lane_bytes a, lane_bytes from)
{
    return vqtbl1q_u8(a, from);
}

/* As lane_shuffle_bytes(): `from` with its highest bit set gives 0, but 0xff gives 0xff. */
LANE lane_bytes lane_place_bytes(lane_bytes a, lane_bytes from)
{
    return lane_or(lane_shuffle_bytes(a, from), vceqq_u8(from, lane_splat_byte(0xff)));
}

/* A symbol's four pairs of LLRs lie in four registers, one a bit of the axis; they leave as they lie in memory,
 * LANES / 2 symbols. */
LANE void lane_store_llrs_f32(void *to, const lane_f32 llrs[AXIS_BITS], bool streaming)
{
    (void)streaming;
    unsigned char *out = to;
    for (int half = 0; half < 2; half++) {
        LANE_UNROLL
        for (int k = 0; k < AXIS_BITS; k++) {
            const uint8x16_t pairs = vreinterpretq_u8_f32(llrs[k]);
            vst1_u8(out + 8 * (4 * half + k), half ? vget_high_u8(pairs) : vget_low_u8(pairs));
        }
    }
}

LANE void lane_store_llrs_f16(void *to, const lane_f32 llrs[AXIS_BITS], bool streaming)
{
    const uint32x4_t p01 = vreinterpretq_u32_f16(vcvt_high_f16_f32(vcvt_f16_f32(llrs[0]), llrs[1]));
    const uint32x4_t p23 = vreinterpretq_u32_f16(vcvt_high_f16_f32(vcvt_f16_f32(llrs[2]), llrs[3]));
    unsigned char *out = to;
    lane_store(out, vreinterpretq_u8_u32(vuzp1q_u32(p01, p23)), streaming);
    lane_store(out + 16, vreinterpretq_u8_u32(vuzp2q_u32(p01, p23)), streaming);
}

#endif
