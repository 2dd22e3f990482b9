/* SPDX-License-Identifier: MIT */
/* The operations of simd_scalar.h on the 4 floats of a 128-bit register, and the loads and byte shuffles that
 * the loops need besides. AArch64's Advanced SIMD, which every such processor has.
 *
 * Long, since a set of instructions is one file: who adds one writes one. */
#ifndef SOFTQAM_SIMD_NEON_H
#define SOFTQAM_SIMD_NEON_H

#include <arm_neon.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tables.h"

#define VEC        static inline __attribute__((always_inline))
#define VEC_UNROLL _Pragma("GCC unroll 8")

enum { LANES = 4, LIMITS_ARE_CHEAP = 0 /* vec_limit() */, LOADS_AHEAD = 0 /* llr_tile() */ };
_Static_assert(MAX_AXIS_BITS == 5, "registers hold rows, negative ones too, and symbols of up to five bits an axis");

typedef float32x4_t vec_f32;
typedef uint32x4_t vec_u32;
typedef uint32x4_t vec_mask; /* all ones or zero */
typedef int32x4_t vec_s32;   /* 32-bit integers */
typedef uint8x16_t vec_bytes;

/* One value of 16 rows, to be looked up by bytes. */
typedef uint8x16x4_t vec_column;

/* What a row holds besides is looked up where it is needed: registers are few. */
typedef struct vec_soft_row {
    vec_f32 level;
    vec_f32 level_low;
    vec_f32 level_high;
    vec_bytes bytes; /* where its values lie in a column */
} vec_soft_row;

/* There are registers for two or three columns; the others are read from memory. */
typedef struct vec_soft_table {
    const softqam_soft_table *from;
    vec_f32 steps[SOFT_AXIS_BITS];
    vec_f32 levels_per_unit;
} vec_soft_table;

/* For linear_bits_of(). */
typedef struct vec_soft_linear {
    vec_f32 units_per_component; /* of fixed point */
    vec_s32 fold_points[SOFT_AXIS_BITS - 1];
} vec_soft_linear;

typedef vec_bytes vec_llr_row; /* where a row's values lie in an array of 16 */

typedef struct vec_llr_table {
    const softqam_llr_table *from;
    vec_f32 rows_per_unit;
    vec_f32 last_row;
} vec_llr_table;

VEC vec_f32 vec_splat(float a) { return vdupq_n_f32(a); }
VEC vec_u32 vec_splat_u32(uint32_t a) { return vdupq_n_u32(a); }

/* In turns. */
VEC vec_u32 vec_splat_pair(uint32_t first, uint32_t second)
{
    return vreinterpretq_u32_u64(vdupq_n_u64((uint64_t)second << 32 | first));
}

VEC vec_f32 vec_add(vec_f32 a, vec_f32 b) { return vaddq_f32(a, b); }
VEC vec_f32 vec_sub(vec_f32 a, vec_f32 b) { return vsubq_f32(a, b); }
VEC vec_f32 vec_mul(vec_f32 a, vec_f32 b) { return vmulq_f32(a, b); }
VEC vec_f32 vec_fma(vec_f32 a, vec_f32 b, vec_f32 c) { return vfmaq_f32(c, a, b); }
VEC vec_f32 vec_div(vec_f32 a, vec_f32 b) { return vdivq_f32(a, b); }

/* b where a is a NaN. */
VEC vec_f32 vec_min(vec_f32 a, vec_f32 b) { return vminnmq_f32(a, b); }
VEC vec_f32 vec_max(vec_f32 a, vec_f32 b) { return vmaxnmq_f32(a, b); }
VEC vec_u32 vec_bits(vec_f32 a) { return vreinterpretq_u32_f32(a); }
VEC vec_f32 vec_from_bits(vec_u32 bits) { return vreinterpretq_f32_u32(bits); }
VEC vec_f32 vec_abs(vec_f32 a) { return vabsq_f32(a); }

VEC vec_f32 vec_flip(vec_f32 a, vec_u32 signs)
{
    return vec_from_bits(veorq_u32(vec_bits(a), vandq_u32(signs, vec_splat_u32(0x80000000u))));
}

/* One of two constants of opposite signs. */
VEC vec_f32 vec_choose_by_sign(vec_f32 a, const vec_f32 values[2]) { return vec_flip(values[0], vec_bits(a)); }

/* minnm and maxnm take the number of a number and a NaN. */
VEC vec_f32 vec_limit(vec_f32 a, vec_f32 limit) { return vmaxnmq_f32(vminnmq_f32(a, limit), vnegq_f32(limit)); }
VEC vec_mask vec_both(vec_mask a, vec_mask b) { return vandq_u32(a, b); }

/* a < b; false for NaN. */
VEC vec_mask vec_is_less(vec_f32 a, vec_f32 b) { return vcltq_f32(a, b); }
VEC vec_mask vec_is_finite(vec_f32 a) { return vec_is_less(vec_abs(a), vec_splat(INFINITY)); }

/* Greater than zero and finite. */
VEC vec_mask vec_is_positive(vec_f32 a)
{
    return vcltq_u32(vsubq_u32(vec_bits(a), vec_splat_u32(1)), vec_splat_u32(0x7f7fffff));
}

/* A magnitude, or +0 for one less than `least`; a NaN stays one. */
VEC vec_f32 vec_flush(vec_f32 magnitude, vec_f32 least)
{
    return vec_from_bits(vbicq_u32(vec_bits(magnitude), vcltq_f32(magnitude, least)));
}

/* Neither is a NaN. */
VEC vec_mask vec_are_numbers(vec_f32 a, vec_f32 b) { return vec_both(vceqq_f32(a, a), vceqq_f32(b, b)); }
VEC vec_f32 vec_keep(vec_mask mask, vec_f32 a) { return vec_from_bits(vandq_u32(mask, vec_bits(a))); }

VEC vec_f32 vec_choose(vec_mask mask, vec_f32 where_true, vec_f32 where_false)
{
    return vbslq_f32(mask, where_true, where_false);
}

VEC vec_u32 vec_to_index(vec_f32 a) { return vreinterpretq_u32_s32(vcvtq_s32_f32(a)); }

/* Rounded to nearest even. NaN gives 0, what does not fit the nearest that does. */
VEC vec_s32 vec_round_s32(vec_f32 a) { return vcvtnq_s32_f32(a); }
VEC vec_s32 vec_splat_s32(int32_t a) { return vdupq_n_s32(a); }
VEC vec_s32 vec_bits_s32(vec_f32 a) { return vreinterpretq_s32_f32(a); }

/* Saturated: the largest integer for -2^31. */
VEC vec_s32 vec_abs_s32(vec_s32 a) { return vqabsq_s32(a); }
VEC vec_s32 vec_sub_s32(vec_s32 a, vec_s32 b) { return vqsubq_s32(a, b); }
VEC vec_u32 vec_sub_u32(vec_u32 a, vec_u32 b) { return vsubq_u32(a, b); }
VEC vec_u32 vec_xor_u32(vec_u32 a, vec_u32 b) { return veorq_u32(a, b); }
VEC vec_u32 vec_or_u32(vec_u32 a, vec_u32 b) { return vorrq_u32(a, b); }
VEC vec_u32 vec_load_u32(const uint32_t *from) { return vld1q_u32(from); }
VEC void vec_store_u32(uint32_t *to, vec_u32 a) { vst1q_u32(to, a); }

/* The words from n on, 2, 4, 6 or 8, of registers that follow on one another. */
VEC vec_u32 vec_words_ahead(vec_u32 first, vec_u32 second, vec_u32 third, int n)
{
    return n == 2 ? vextq_u32(first, second, 2) : n == 4 ? second : n == 6 ? vextq_u32(second, third, 2) : third;
}

/* 16 bytes. */
typedef uint8x16_t vec_part;

VEC vec_part vec_part_of(uint64_t low, uint64_t high)
{
    return vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high)));
}

/* The bytes from n on, 1 to 4, of two that follow on one another. */
VEC vec_part vec_part_ahead(vec_part first, vec_part second, int n)
{
    return n == 1   ? vextq_u8(first, second, 1)
           : n == 2 ? vextq_u8(first, second, 2)
           : n == 3 ? vextq_u8(first, second, 3)
                    : vextq_u8(first, second, 4);
}

VEC vec_part vec_part_xor(vec_part a, vec_part b) { return veorq_u8(a, b); }
VEC void vec_part_store(uint32_t *to, vec_part a) { vst1q_u32(to, vreinterpretq_u32_u8(a)); }
VEC vec_u32 vec_max_u32(vec_u32 a, vec_u32 b) { return vmaxq_u32(a, b); }
VEC vec_u32 vec_min_u32(vec_u32 a, vec_u32 b) { return vminq_u32(a, b); }

/* Those that differ. */
VEC vec_mask vec_are_different(vec_u32 a, vec_u32 b) { return vmvnq_u32(vceqq_u32(a, b)); }

/* Whether any is `end` or more. */
VEC bool vec_any_from(vec_u32 a, vec_u32 end) { return vmaxvq_u32(vcgeq_u32(a, end)) != 0; }
VEC uint32_t vec_largest_u32(vec_u32 a) { return vmaxvq_u32(a); }
VEC uint32_t vec_smallest_u32(vec_u32 a) { return vminvq_u32(a); }
VEC vec_s32 vec_max_s32(vec_s32 a, vec_s32 b) { return vmaxq_s32(a, b); }

/* The bytes of a row's four-byte value in a column of 16: bytes beyond it give 0. */
VEC vec_bytes vec_row_bytes(vec_u32 row)
{
    return vreinterpretq_u8_u32(vmlaq_u32(vec_splat_u32(0x03020100u), row, vec_splat_u32(0x04040404u)));
}

VEC vec_column vec_load_column(const void *column) { return vld1q_u8_x4(column); }

VEC vec_u32 vec_row_value(vec_bytes row, const void *column)
{
    return vreinterpretq_u32_u8(vqtbl4q_u8(vec_load_column(column), row));
}

/* level * levels_per_unit, rounded down and limited to 0 .. 15, is the row's number: limited, because a NaN's or an
 * outlier's would be no row's. */
VEC vec_soft_row vec_soft_lookup(const vec_soft_table *table, vec_f32 level)
{
    const int32x4_t down = vcvtmq_s32_f32(vec_mul(level, table->levels_per_unit));
    const int32x4_t number = vaddq_s32(vmaxq_s32(vminq_s32(down, vdupq_n_s32(7)), vdupq_n_s32(-8)), vdupq_n_s32(8));
    const vec_bytes bytes = vec_row_bytes(vreinterpretq_u32_s32(number));
    const softqam_soft_table *from = table->from;
    vec_soft_row row;
    row.level = vec_from_bits(vec_row_value(bytes, from->level));
    row.level_low = vec_from_bits(vec_row_value(bytes, from->level_low));
    row.level_high = vec_from_bits(vec_row_value(bytes, from->level_high));
    row.bytes = bytes;
    return row;
}

VEC vec_f32 vec_gain_low(const vec_soft_table *table, vec_soft_row row)
{
    return vec_from_bits(vec_row_value(row.bytes, table->from->gain_low));
}

VEC vec_f32 vec_gain_high(const vec_soft_table *table, vec_soft_row row)
{
    return vec_from_bits(vec_row_value(row.bytes, table->from->gain_high));
}

VEC vec_u32 vec_byte_select(const vec_soft_table *table, vec_soft_row row)
{
    return vec_row_value(row.bytes, table->from->byte_select);
}

/* Rows of LLRs at `place`, 0 to the number of rows. */
VEC vec_llr_row vec_llr_row_at(int m, const vec_llr_table *table, vec_f32 place)
{
    (void)m;
    (void)table;
    return vec_row_bytes(vec_to_index(place));
}

VEC bool vec_has_signed_rows(int m)
{
    (void)m;
    return false;
}

VEC vec_f32 vec_slope(int m, const vec_llr_table *table, vec_llr_row row, int k)
{
    (void)m;
    return vec_from_bits(vec_row_value(row, table->from->slopes[k]));
}

VEC vec_f32 vec_intercept(int m, const vec_llr_table *table, vec_llr_row row, int k)
{
    (void)m;
    return vec_from_bits(vec_row_value(row, table->from->intercepts[k]));
}

/* Of a table of one row and one bit. */
VEC vec_f32 vec_only_slope(const vec_llr_table *table) { return vec_splat(table->from->slopes[0][0]); }

/* What follows has no counterpart in simd_scalar.h. Where other headers speak of 128-bit parts, a register is one. */

VEC vec_bytes vec_as_bytes(vec_f32 a) { return vreinterpretq_u8_f32(a); }

/* Any alignment: unlike a pointer to float, these bytes have none. */
VEC vec_f32 vec_load_f32(const void *from) { return vreinterpretq_f32_u8(vld1q_u8(from)); }
VEC void vec_store_f32(void *to, vec_f32 a) { vst1q_u8(to, vreinterpretq_u8_f32(a)); }
VEC vec_f32 vec_load_s16(const void *from) { return vcvtq_f32_s32(vmovl_s16(vreinterpret_s16_u8(vld1_u8(from)))); }

VEC vec_f32 vec_load_s8(const void *from)
{
    uint32_t four;
    memcpy(&four, from, sizeof four);
    const int16x8_t words = vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(four)));
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(words)));
}

VEC vec_f32 vec_load_f16(const void *from) { return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(from))); }

VEC void vec_store(void *to, vec_bytes a) { vst1q_u8(to, a); }

VEC vec_soft_table vec_load_soft_table(const softqam_soft_table *from)
{
    vec_soft_table table = {.from = from};
    VEC_UNROLL
    for (int k = 0; k < SOFT_AXIS_BITS; k++)
        table.steps[k] = vec_splat(from->steps[k]);
    table.levels_per_unit = vec_splat(from->levels_per_unit);
    return table;
}

VEC vec_llr_table vec_load_llr_table(int m, const softqam_llr_table *from)
{
    (void)m;
    vec_llr_table table = {from, vec_splat(from->rows_per_unit), vec_splat(from->last_row)};
    return table;
}

/* Pairs of components to two registers of first and of second ones. */
VEC vec_f32 vec_firsts(vec_f32 a, vec_f32 b) { return vuzp1q_f32(a, b); }
VEC vec_f32 vec_seconds(vec_f32 a, vec_f32 b) { return vuzp2q_f32(a, b); }

/* All first ones in their order, all second ones. */
VEC vec_f32 vec_evens(vec_f32 a, vec_f32 b) { return vec_firsts(a, b); }
VEC vec_f32 vec_odds(vec_f32 a, vec_f32 b) { return vec_seconds(a, b); }

/* LANES values as vec_duplicate_lower() and vec_duplicate_upper() want them. */
VEC vec_f32 vec_load_for_duplicate(const float *from) { return vec_load_f32(from); }

/* Each of the lower, or upper, half's values twice. */
VEC vec_f32 vec_duplicate_lower(vec_f32 a) { return vzip1q_f32(a, a); }
VEC vec_f32 vec_duplicate_upper(vec_f32 a) { return vzip2q_f32(a, a); }

/* Neighbours exchanged. */
VEC vec_f32 vec_swap_pairs(vec_f32 a) { return vrev64q_f32(a); }

/* To integers, truncated, for values that fit. */
VEC vec_s32 vec_truncate(vec_f32 a) { return vcvtq_s32_f32(a); }

/* Integers to narrower ones, limited to what these hold: those of a, then those of b. */
VEC vec_bytes vec_pack_s16(vec_s32 a, vec_s32 b) { return vreinterpretq_u8_s16(vqmovn_high_s32(vqmovn_s32(a), b)); }

VEC vec_bytes vec_pack_s8(vec_bytes a, vec_bytes b)
{
    return vreinterpretq_u8_s8(vqmovn_high_s16(vqmovn_s16(vreinterpretq_s16_u8(a)), vreinterpretq_s16_u8(b)));
}

VEC vec_bytes vec_pack_u8(vec_bytes a, vec_bytes b)
{
    return vqmovun_high_s16(vqmovun_s16(vreinterpretq_s16_u8(a)), vreinterpretq_s16_u8(b));
}

/* Of each 32-bit integer of a and of b the upper, or lower, half: a's in the lower half of the result, b's in the upper
 * one. */
VEC vec_bytes vec_upper_words(vec_s32 a, vec_s32 b)
{
    return vreinterpretq_u8_s16(vtrn2q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b)));
}

VEC vec_bytes vec_lower_words(vec_s32 a, vec_s32 b)
{
    return vreinterpretq_u8_s16(vtrn1q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b)));
}

/* Whether any 16-bit integer of a is less than low's, or a 32-bit one of b more than high's. */
VEC bool vec_any_less_or_more(vec_bytes a, vec_bytes low, vec_s32 b, vec_s32 high)
{
    const uint16x8_t less = vcltq_s16(vreinterpretq_s16_u8(a), vreinterpretq_s16_u8(low));
    return vmaxvq_u32(vorrq_u32(vreinterpretq_u32_u16(less), vcgtq_s32(b, high))) != 0;
}

/* On 16-bit integers, modulo 2^16. */
VEC vec_bytes vec_add_s16(vec_bytes a, vec_bytes b)
{
    return vreinterpretq_u8_u16(vaddq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
}

VEC vec_bytes vec_sub_s16(vec_bytes a, vec_bytes b)
{
    return vreinterpretq_u8_u16(vsubq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
}

VEC vec_bytes vec_abs_s16(vec_bytes a) { return vreinterpretq_u8_s16(vabsq_s16(vreinterpretq_s16_u8(a))); }
VEC vec_bytes vec_splat_s16(int a) { return vreinterpretq_u8_s16(vdupq_n_s16((int16_t)a)); }

VEC vec_bytes vec_max_s8(vec_bytes a, vec_bytes b)
{
    return vreinterpretq_u8_s8(vmaxq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b)));
}

VEC vec_bytes vec_min_s8(vec_bytes a, vec_bytes b)
{
    return vreinterpretq_u8_s8(vminq_s8(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b)));
}

/* llr_combined() on whole numbers. */
VEC vec_bytes vec_combined_s8(vec_bytes values, vec_bytes llrs, vec_bytes min, vec_bytes max)
{
    const int8x16_t before = vreinterpretq_s8_u8(values), least = vreinterpretq_s8_u8(min);
    const int8x16_t most = vreinterpretq_s8_u8(max), added = vqaddq_s8(before, vreinterpretq_s8_u8(llrs));
    const int8x16_t sum = vminq_s8(vmaxq_s8(added, least), most);
    return vreinterpretq_u8_s8(vbslq_s8(vceqq_s8(vminq_s8(vmaxq_s8(before, least), most), before), sum, before));
}

VEC vec_bytes vec_combined_s16(vec_bytes values, vec_bytes llrs, vec_bytes min, vec_bytes max)
{
    const int16x8_t before = vreinterpretq_s16_u8(values), least = vreinterpretq_s16_u8(min);
    const int16x8_t most = vreinterpretq_s16_u8(max), added = vqaddq_s16(before, vreinterpretq_s16_u8(llrs));
    const int16x8_t sum = vminq_s16(vmaxq_s16(added, least), most);
    return vreinterpretq_u8_s16(vbslq_s16(vceqq_s16(vminq_s16(vmaxq_s16(before, least), most), before), sum, before));
}

VEC vec_bytes vec_splat_u8(int a) { return vdupq_n_u8((uint8_t)a); }
VEC vec_bytes vec_splat_bytes(const uint8_t bytes[16]) { return vld1q_u8(bytes); }
VEC vec_bytes vec_or(vec_bytes a, vec_bytes b) { return vorrq_u8(a, b); }
VEC vec_bytes vec_xor(vec_bytes a, vec_bytes b) { return veorq_u8(a, b); }

VEC vec_bytes vec_interleave_bytes_lower(vec_u32 a, vec_u32 b)
{
    return vzip1q_u8(vreinterpretq_u8_u32(a), vreinterpretq_u8_u32(b));
}

VEC vec_bytes vec_interleave_bytes_upper(vec_u32 a, vec_u32 b)
{
    return vzip2q_u8(vreinterpretq_u8_u32(a), vreinterpretq_u8_u32(b));
}

VEC vec_bytes vec_shuffle_bytes(vec_bytes a, vec_bytes from) { return vqtbl1q_u8(a, from); }

/* As vec_shuffle_bytes(): `from` with its highest bit set gives 0, but 0xff gives 0xff. */
VEC vec_bytes vec_place_bytes(vec_bytes a, vec_bytes from)
{
    return vec_or(vec_shuffle_bytes(a, from), vceqq_u8(from, vec_splat_u8(0xff)));
}

/* LLRs to memory. In registers they lie by bit of the axis; they leave by symbol. */

/* 32 bits to any address. */
#define STORE_DWORD(to, dwords, lane)                                                                                  \
    do {                                                                                                               \
        const uint32_t dword = vgetq_lane_u32((dwords), (lane));                                                       \
        memcpy((to), &dword, sizeof dword);                                                                            \
    } while (0)

/* Bytes with the opposite sign of which a bit in `of` is 1. */
VEC vec_bytes vec_flip_bytes(vec_bytes a, vec_bytes bits, vec_bytes of)
{
    const uint8x16_t are_flipped = vtstq_u8(bits, of);
    return vsubq_u8(veorq_u8(a, are_flipped), are_flipped);
}

/* The lowest 16 bits flip a byte each. */
VEC vec_bytes flip_16(vec_bytes a, uint32_t bits)
{
    const uint8x16_t both = vcombine_u8(vdup_n_u8((uint8_t)bits), vdup_n_u8((uint8_t)(bits >> 8)));
    return vec_flip_bytes(a, both, vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201)));
}

VEC uint64_t load_bits(const unsigned char *flips)
{
    uint64_t bits;
    memcpy(&bits, flips, sizeof bits);
    return bits;
}

/* Bytes in the order of the bits that flip them, one a byte; NULL: none. */
VEC vec_bytes vec_flip_in_order(vec_bytes a, const unsigned char *flips)
{
    return flips ? flip_16(a, (uint32_t)load_bits(flips)) : a;
}

/* s8, in units of two symbols' LLRs: a register of the smallest has one of the step's first two symbols and one of the
 * other two. */
VEC void vec_store_units_of_4(void *to, vec_bytes units, const unsigned char *flips)
{
    vst1_u8(to, vget_low_u8(vec_flip_in_order(units, flips)));
}

VEC void vec_store_units_of_8(void *to, vec_bytes units, const unsigned char *flips)
{
    vec_store(to, vec_flip_in_order(units, flips));
}

VEC void vec_store_units_of_12(void *to, vec_bytes units_a, vec_bytes units_b, const unsigned char *flips)
{
    unsigned char *out = to;
    if (flips) {
        const uint32_t bits = (uint32_t)load_bits(flips);
        units_a = flip_16(units_a, bits);
        units_b = flip_16(units_b, bits >> 12);
    }
    vst1_u8(out, vget_low_u8(units_a));
    STORE_DWORD(out + 8, vreinterpretq_u32_u8(units_a), 2);
    vst1_u8(out + 12, vget_low_u8(units_b));
    STORE_DWORD(out + 20, vreinterpretq_u32_u8(units_b), 2);
}

/* Their first 16 bytes, and the last 4 of a's unit and of b's. */
VEC void vec_store_units_of_20(void *to, vec_bytes units_a, vec_bytes units_b, vec_bytes ends,
                               const unsigned char *flips)
{
    unsigned char *out = to;
    if (flips) {
        const uint64_t bits = load_bits(flips);
        units_a = flip_16(units_a, (uint32_t)bits);
        units_b = flip_16(units_b, (uint32_t)(bits >> 20));
        ends = flip_16(ends, (uint32_t)(bits >> 16 & 0xf) | (uint32_t)(bits >> 32 & 0xf0));
    }
    vec_store(out, units_a);
    STORE_DWORD(out + 16, vreinterpretq_u32_u8(ends), 0);
    vec_store(out + 20, units_b);
    STORE_DWORD(out + 36, vreinterpretq_u32_u8(ends), 1);
}

/* A register's m bits an axis, LANES / 2 symbols. */
VEC void vec_store_f32_pairs(int m, void *to, const vec_f32 llrs[])
{
    unsigned char *out = to;
    for (int half = 0; half < 2; half++) {
        VEC_UNROLL
        for (int k = 0; k < m; k++) {
            const uint8x16_t pairs = vreinterpretq_u8_f32(llrs[k]);
            vst1_u8(out + 8 * (m * half + k), half ? vget_high_u8(pairs) : vget_low_u8(pairs));
        }
    }
}

/* LLRs to binary16, or, of sums, their lower 16 bits: those of a, then those of b. */
VEC uint32x4_t vec_both_to_16(bool sums, vec_f32 a, vec_f32 b)
{
    if (!sums)
        return vreinterpretq_u32_f16(vcvt_high_f16_f32(vcvt_f16_f32(a), b));
    return vreinterpretq_u32_u16(vmovn_high_u32(vmovn_u32(vreinterpretq_u32_f32(a)), vreinterpretq_u32_f32(b)));
}

/* 256QAM's register. */
VEC void vec_store_256qam_16(bool sums, void *to, const vec_f32 llrs[4])
{
    const uint32x4_t p01 = vec_both_to_16(sums, llrs[0], llrs[1]);
    const uint32x4_t p23 = vec_both_to_16(sums, llrs[2], llrs[3]);
    unsigned char *out = to;
    vec_store(out, vreinterpretq_u8_u32(vuzp1q_u32(p01, p23)));
    vec_store(out + 16, vreinterpretq_u8_u32(vuzp2q_u32(p01, p23)));
}

/* A step's two registers of another modulation: of each bit the pairs of two symbols, and of the other two. */
VEC void vec_store_both_16(bool sums, int m, void *to, const vec_f32 a[], const vec_f32 b[])
{
    unsigned char *out = to;
    VEC_UNROLL
    for (int k = 0; k < m; k++) {
        const uint32x4_t pairs = vec_both_to_16(sums, a[k], b[k]);
        STORE_DWORD(out + 4 * k, pairs, 0);
        STORE_DWORD(out + 4 * (m + k), pairs, 1);
        STORE_DWORD(out + 4 * (2 * m + k), pairs, 2);
        STORE_DWORD(out + 4 * (3 * m + k), pairs, 3);
    }
}

/* BPSK: one LLR a symbol. */
VEC void vec_store_16(bool sums, void *to, vec_f32 llrs)
{
    vst1_u8(to, sums ? vreinterpret_u8_u16(vmovn_u32(vreinterpretq_u32_f32(llrs)))
                     : vreinterpret_u8_f16(vcvt_f16_f32(llrs)));
}

VEC void vec_store_s8(void *to, vec_s32 steps, vec_bytes min, vec_bytes max)
{
    const int16x4_t words = vqmovn_s32(steps);
    const int8x8_t bytes = vqmovn_s16(vcombine_s16(words, words));
    const int8x8_t limited =
        vmin_s8(vmax_s8(bytes, vget_low_s8(vreinterpretq_s8_u8(min))), vget_low_s8(vreinterpretq_s8_u8(max)));
    const uint32_t four = vget_lane_u32(vreinterpret_u32_s8(limited), 0);
    memcpy(to, &four, sizeof four);
}

VEC vec_bytes vec_load_bytes(const unsigned char *from) { return vld1q_u8(from); }

/* De-interleaved s8: four registers of components as they lie in memory to I of their first half, I of the second, then
 * Q. */
VEC vec_f32 vec_plane_components(const vec_f32 from[4], int q)
{
    const vec_f32 a = from[q % 2 * 2], b = from[q % 2 * 2 + 1];
    return q < 2 ? vec_evens(a, b) : vec_odds(a, b);
}

/* Those symbols' values. */
VEC vec_f32 vec_plane_weights(bool load, const vec_f32 weights[2], int q)
{
    (void)load;
    return weights[q % 2];
}

/* From such registers, what register q's symbols have on the other axis. */
VEC vec_f32 vec_other_plane(const vec_f32 values[4], int q) { return values[q ^ 2]; }

/* Packed bytes to those of a plane of I, then those of Q. */
VEC vec_bytes vec_planes_apart(vec_bytes packed) { return packed; }

VEC void vec_store_two_planes(unsigned char *first, unsigned char *second, vec_bytes planes)
{
    vst1_u8(first, vget_low_u8(planes));
    vst1_u8(second, vget_high_u8(planes));
}

VEC vec_bytes vec_load_plane_bits(const unsigned char *from, int nbytes)
{
    (void)nbytes;
    return vld1q_u8(from);
}

/* In each value four of 16 bytes, shifted right. */
VEC vec_u32 vec_spread_bits(const unsigned char *bits, vec_u32 bytes, vec_u32 counts)
{
    const vec_u32 spread = vreinterpretq_u32_u8(vqtbl1q_u8(vld1q_u8(bits), vreinterpretq_u8_u32(bytes)));
    return vshlq_u32(spread, vnegq_s32(vreinterpretq_s32_u32(counts)));
}

VEC vec_u32 vec_shift_left(vec_u32 a, int n) { return vshlq_u32(a, vdupq_n_s32(n)); }

#endif
