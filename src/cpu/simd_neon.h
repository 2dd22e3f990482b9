/* SPDX-License-Identifier: MIT */
/* The operations of simd_operations.h on the 4 floats of a 128-bit register, and the loads and byte shuffles that the
 * loops also need. AArch64's Advanced SIMD, which every such processor has.
 *
 * Each instruction set is one file, which is therefore long. */
#ifndef SOFTQAM_SIMD_NEON_H
#define SOFTQAM_SIMD_NEON_H

#include <arm_neon.h>

#include "tables.h"

enum { LANES = 4, LIMITS_ARE_CHEAP = 0 /* vec_limit() */, LOADS_AHEAD = 0 /* llr_batch() */ };

typedef float32x4_t vec_f32;
typedef uint32x4_t vec_u32;
typedef int32x4_t vec_s32;
typedef uint32x4_t vec_mask; /* all ones or zero */
typedef uint8x16_t vec_bytes;

#define LANE_NUMBERS 0, 1, 2, 3
#include "simd_vectors.h"

typedef vec_bytes vec_llr_row; /* where a row's values lie in an array of 16 */

typedef struct vec_llr_table {
    const softqam_llr_table *source;
    vec_f32 row_scale;
    vec_f32 last_row;
} vec_llr_table;

VEC vec_f32 vec_splat(float a) { return vdupq_n_f32(a); }
VEC vec_f32 vec_fma(vec_f32 a, vec_f32 b, vec_f32 c) { return vfmaq_f32(c, a, b); }
VEC vec_f32 vec_min(vec_f32 a, vec_f32 b) { return vminnmq_f32(a, b); }
VEC vec_f32 vec_max(vec_f32 a, vec_f32 b) { return vmaxnmq_f32(a, b); }
VEC vec_f32 vec_at_least(vec_f32 a, vec_f32 least) { return vmaxq_f32(a, least); }
VEC vec_f32 vec_at_most(vec_f32 a, vec_f32 most) { return vminq_f32(a, most); }
VEC vec_f32 vec_abs(vec_f32 a) { return vabsq_f32(a); }

VEC vec_f32 vec_flip(vec_f32 a, vec_u32 signs)
{
    return vec_from_bits(vec_bits(a) ^ (signs & vec_splat_u32(0x80000000u)));
}

/* minnm and maxnm return the number if the other operand is a NaN. */
VEC vec_f32 vec_limit(vec_f32 a, vec_f32 limit) { return vmaxnmq_f32(vminnmq_f32(a, limit), vnegq_f32(limit)); }
VEC vec_mask vec_both(vec_mask a, vec_mask b) { return vandq_u32(a, b); }
VEC vec_mask vec_is_less(vec_f32 a, vec_f32 b) { return vcltq_f32(a, b); }

VEC vec_mask vec_is_positive(vec_f32 a)
{
    return vcltq_u32(vsubq_u32(vec_bits(a), vec_splat_u32(1)), vec_splat_u32(0x7f7fffff));
}

VEC vec_f32 vec_flush(vec_f32 magnitude, vec_f32 least)
{
    return vec_from_bits(vbicq_u32(vec_bits(magnitude), vcltq_f32(magnitude, least)));
}

VEC vec_mask vec_are_numbers(vec_f32 a, vec_f32 b) { return vec_both(vceqq_f32(a, a), vceqq_f32(b, b)); }
VEC vec_f32 vec_keep(vec_mask mask, vec_f32 a) { return vec_from_bits(vandq_u32(mask, vec_bits(a))); }

VEC vec_f32 vec_choose(vec_mask mask, vec_f32 where_set, vec_f32 where_not)
{
    return vbslq_f32(mask, where_set, where_not);
}

VEC vec_u32 vec_to_index(vec_f32 a) { return (vec_u32)vcvtq_s32_f32(a); }

/* Rounds to nearest even. NaN gives 0, what does not fit the nearest that does. */
VEC vec_s32 vec_round_s32(vec_f32 a) { return vcvtnq_s32_f32(a); }

/* Saturates: -2^31 gives the largest integer. */
VEC vec_s32 vec_abs_s32(vec_s32 a) { return vqabsq_s32(a); }
VEC vec_s32 vec_sub_s32(vec_s32 a, vec_s32 b) { return vqsubq_s32(a, b); }

VEC vec_u32 vec_words_ahead(vec_u32 first, vec_u32 second, vec_u32 third, int n)
{
    return n == 2 ? vextq_u32(first, second, 2) : n == 4 ? second : n == 6 ? vextq_u32(second, third, 2) : third;
}

VEC vec_u32 vec_shift_left(vec_u32 a, int n) { return vshlq_u32(a, vdupq_n_s32(n)); }
VEC vec_u32 vec_shift_right_each(vec_u32 a, vec_u32 counts) { return vshlq_u32(a, vnegq_s32((vec_s32)counts)); }
VEC vec_u32 vec_max_u32(vec_u32 a, vec_u32 b) { return vmaxq_u32(a, b); }
VEC vec_u32 vec_min_u32(vec_u32 a, vec_u32 b) { return vminq_u32(a, b); }
VEC vec_mask vec_are_different(vec_u32 a, vec_u32 b) { return vmvnq_u32(vceqq_u32(a, b)); }
VEC bool vec_any_from(vec_u32 a, vec_u32 end) { return vmaxvq_u32(vcgeq_u32(a, end)) != 0; }
VEC uint32_t vec_largest_u32(vec_u32 a) { return vmaxvq_u32(a); }
VEC vec_s32 vec_max_s32(vec_s32 a, vec_s32 b) { return vmaxq_s32(a, b); }

/* Returns the places of the bytes of a row's value in a column of 16 bytes; places beyond it give 0. */
VEC vec_bytes vec_row_bytes(vec_u32 row)
{
    return (vec_bytes)vmlaq_u32(vec_splat_u32(0x03020100u), row, vec_splat_u32(0x04040404u));
}

VEC vec_f32 vec_row_value(vec_bytes row, const void *column) { return (vec_f32)vqtbl4q_u8(vld1q_u8_x4(column), row); }
VEC vec_f32 vec_column_value(const void *column, vec_u32 row) { return vec_row_value(vec_row_bytes(row), column); }

VEC vec_llr_row vec_llr_row_at(int m, const vec_llr_table *table, vec_f32 place)
{
    return (void)m, (void)table, vec_row_bytes(vec_to_index(place));
}

VEC bool vec_has_signed_rows(int m) { return (void)m, false; }

VEC vec_f32 vec_slope(int m, const vec_llr_table *table, vec_llr_row row, int k)
{
    return (void)m, vec_row_value(row, table->source->slopes[k]);
}

VEC vec_f32 vec_intercept(int m, const vec_llr_table *table, vec_llr_row row, int k)
{
    return (void)m, vec_row_value(row, table->source->intercepts[k]);
}

VEC vec_f32 vec_only_slope(const vec_llr_table *table) { return vec_splat(table->source->slopes[0][0]); }

/* The following operations of simd_operations.h are for vector loops alone. Where other headers speak of quads,
 * a register is one. */

VEC vec_f32 vec_load_s16(const void *from) { return vcvtq_f32_s32(vmovl_s16((int16x4_t)vld1_u8(from))); }

VEC vec_f32 vec_load_s8(const void *from)
{
    uint32_t four;
    memcpy(&four, from, sizeof four);
    const int16x8_t words = vmovl_s8((int8x8_t)vdup_n_u32(four));
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(words)));
}

VEC vec_f32 vec_load_f16(const void *from) { return vcvt_f32_f16((float16x4_t)vld1_u8(from)); }

VEC vec_llr_table vec_load_llr_table(int m, const softqam_llr_table *from)
{
    return (void)m, (vec_llr_table){from, vec_splat(from->row_scale), vec_splat(from->last_row)};
}

VEC vec_f32 vec_firsts(vec_f32 a, vec_f32 b) { return vuzp1q_f32(a, b); }
VEC vec_f32 vec_seconds(vec_f32 a, vec_f32 b) { return vuzp2q_f32(a, b); }
VEC vec_f32 vec_evens(vec_f32 a, vec_f32 b) { return vec_firsts(a, b); }
VEC vec_f32 vec_odds(vec_f32 a, vec_f32 b) { return vec_seconds(a, b); }
VEC vec_f32 vec_duplicate_lower(vec_f32 a) { return vzip1q_f32(a, a); }
VEC vec_f32 vec_duplicate_upper(vec_f32 a) { return vzip2q_f32(a, a); }
VEC vec_f32 vec_in_turns_lower(vec_f32 a, vec_f32 b) { return vzip1q_f32(a, b); }
VEC vec_f32 vec_in_turns_upper(vec_f32 a, vec_f32 b) { return vzip2q_f32(a, b); }
VEC vec_f32 vec_firsts_twice(vec_f32 a) { return vtrn1q_f32(a, a); }
VEC vec_f32 vec_seconds_twice(vec_f32 a) { return vtrn2q_f32(a, a); }
VEC vec_f32 vec_swap_pairs(vec_f32 a) { return vrev64q_f32(a); }
VEC vec_bytes vec_pack_s16(vec_s32 a, vec_s32 b) { return (vec_bytes)vqmovn_high_s32(vqmovn_s32(a), b); }

VEC vec_bytes vec_pack_s8(vec_bytes a, vec_bytes b)
{
    return (vec_bytes)vqmovn_high_s16(vqmovn_s16((int16x8_t)a), (int16x8_t)b);
}

VEC vec_bytes vec_pack_u8(vec_bytes a, vec_bytes b)
{
    return vqmovun_high_s16(vqmovun_s16((int16x8_t)a), (int16x8_t)b);
}

VEC vec_bytes vec_upper_words(vec_s32 a, vec_s32 b) { return (vec_bytes)vtrn2q_s16((int16x8_t)a, (int16x8_t)b); }
VEC vec_bytes vec_lower_words(vec_s32 a, vec_s32 b) { return (vec_bytes)vtrn1q_s16((int16x8_t)a, (int16x8_t)b); }

VEC bool vec_any_less_or_more(vec_bytes a, vec_bytes low, vec_s32 b, vec_s32 high)
{
    const uint16x8_t less = vcltq_s16((int16x8_t)a, (int16x8_t)low);
    return vmaxvq_u32(vorrq_u32((vec_u32)less, vcgtq_s32(b, high))) != 0;
}

VEC vec_bytes vec_abs_s16(vec_bytes a) { return (vec_bytes)vabsq_s16((int16x8_t)a); }
VEC vec_bytes vec_abs_s8(vec_bytes a) { return (vec_bytes)vabsq_s8((int8x16_t)a); }
VEC vec_bytes vec_max_s8(vec_bytes a, vec_bytes b) { return (vec_bytes)vmaxq_s8((int8x16_t)a, (int8x16_t)b); }
VEC vec_bytes vec_min_s8(vec_bytes a, vec_bytes b) { return (vec_bytes)vminq_s8((int8x16_t)a, (int8x16_t)b); }
VEC vec_bytes vec_max_s16(vec_bytes a, vec_bytes b) { return (vec_bytes)vmaxq_s16((int16x8_t)a, (int16x8_t)b); }
VEC vec_bytes vec_min_s16(vec_bytes a, vec_bytes b) { return (vec_bytes)vminq_s16((int16x8_t)a, (int16x8_t)b); }

VEC vec_bytes vec_add_saturated_s8(vec_bytes a, vec_bytes b)
{
    return (vec_bytes)vqaddq_s8((int8x16_t)a, (int8x16_t)b);
}

VEC vec_bytes vec_add_saturated_s16(vec_bytes a, vec_bytes b)
{
    return (vec_bytes)vqaddq_s16((int16x8_t)a, (int16x8_t)b);
}

VEC vec_bytes vec_splat_bytes(const uint8_t bytes[16]) { return vld1q_u8(bytes); }
VEC vec_bytes vec_interleave_bytes_lower(vec_bytes a, vec_bytes b) { return vzip1q_u8(a, b); }
VEC vec_bytes vec_interleave_bytes_upper(vec_bytes a, vec_bytes b) { return vzip2q_u8(a, b); }
VEC vec_bytes vec_shuffle_bytes(vec_bytes a, vec_bytes from) { return vqtbl1q_u8(a, from); }
VEC vec_bytes vec_table_bytes(vec_bytes table, vec_bytes from) { return vqtbl1q_u8(table, from & vdupq_n_u8(0x8f)); }

VEC vec_lanes_u64 vec_add_bytes(vec_lanes_u64 sums, vec_bytes a)
{
    return (vec_lanes_u64)vpadalq_u32((uint64x2_t)sums, vpaddlq_u16(vpaddlq_u8(a)));
}

/* 32 bits to any address. */
#define STORE_DWORD(to, dwords, lane)                                                                                  \
    do {                                                                                                               \
        const uint32_t dword = vgetq_lane_u32((dwords), (lane));                                                       \
        memcpy((to), &dword, sizeof dword);                                                                            \
    } while (0)

VEC vec_bytes vec_flip_bytes(vec_bytes a, vec_bytes bits, vec_bytes masks)
{
    const uint8x16_t are_flipped = vtstq_u8(bits, masks);
    return vsubq_u8(veorq_u8(a, are_flipped), are_flipped);
}

/* Flips bytes by the lowest 16 bits, one each. */
VEC vec_bytes flip_16(vec_bytes a, uint32_t bits)
{
    const uint8x16_t both = vcombine_u8(vdup_n_u8((uint8_t)bits), vdup_n_u8((uint8_t)(bits >> 8)));
    return vec_flip_bytes(a, both, (vec_bytes)vdupq_n_u64(0x8040201008040201));
}

VEC uint64_t load_bits(const unsigned char *flips)
{
    uint64_t bits;
    memcpy(&bits, flips, sizeof bits);
    return bits;
}

VEC vec_bytes vec_flip_in_order(vec_bytes a, const unsigned char *flips)
{
    return flips ? flip_16(a, (uint32_t)load_bits(flips)) : a;
}

VEC void vec_store_doublets(int m, void *to, const vec_bytes doublets[3], const unsigned char *flips)
{
    const uint64_t bits = flips ? load_bits(flips) : 0;
    unsigned char *out = to;
    if (m == 1)
        vst1_u8(to, vget_low_u8(vec_flip_in_order(doublets[0], flips)));
    else if (m == 2)
        vec_store(to, vec_flip_in_order(doublets[0], flips));
    VEC_UNROLL
    for (int k = 0; m > 2 && k < 2; k++) {
        const vec_bytes of_k = flips ? flip_16(doublets[k], (uint32_t)(bits >> 4 * m * k)) : doublets[k];
        if (m == 5) {
            vec_store(out + 20 * k, of_k);
        } else {
            vst1_u8(out + 12 * k, vget_low_u8(of_k));
            STORE_DWORD(out + 12 * k + 8, (vec_u32)of_k, 2);
        }
    }
    if (m < 5)
        return;
    const uint32_t of_ends = (uint32_t)(bits >> 16 & 0xf) | (uint32_t)(bits >> 32 & 0xf0);
    const vec_bytes ends = flips ? flip_16(doublets[2], of_ends) : doublets[2];
    STORE_DWORD(out + 16, (vec_u32)ends, 0);
    STORE_DWORD(out + 36, (vec_u32)ends, 1);
}

VEC void vec_store_f32_pairs(int m, void *to, const vec_f32 llrs[])
{
    unsigned char *out = to;
    for (int half = 0; half < 2; half++) {
        VEC_UNROLL
        for (int k = 0; k < m; k++) {
            const uint8x16_t pairs = (vec_bytes)llrs[k];
            vst1_u8(out + 8 * (m * half + k), half ? vget_high_u8(pairs) : vget_low_u8(pairs));
        }
    }
}

/* Returns the 16-bit values of a, then those of b. */
VEC uint32x4_t vec_both_to_16(bool sums, vec_f32 a, vec_f32 b)
{
    if (!sums)
        return (vec_u32)vcvt_high_f16_f32(vcvt_f16_f32(a), b);
    return (vec_u32)vmovn_high_u32(vmovn_u32((vec_u32)a), (vec_u32)b);
}

VEC void vec_store_256qam_16(bool sums, void *to, const vec_f32 llrs[])
{
    const uint32x4_t p01 = vec_both_to_16(sums, llrs[0], llrs[1]);
    const uint32x4_t p23 = vec_both_to_16(sums, llrs[2], llrs[3]);
    unsigned char *out = to;
    vec_store(out, (vec_bytes)vuzp1q_u32(p01, p23));
    vec_store(out + 16, (vec_bytes)vuzp2q_u32(p01, p23));
}

/* Stores an iteration's two registers of another modulation, which hold for each bit the pairs of two symbols each. */
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

VEC void vec_store_16(bool sums, void *to, vec_f32 llrs)
{
    vst1_u8(to, sums ? (uint8x8_t)vmovn_u32((vec_u32)llrs) : (uint8x8_t)vcvt_f16_f32(llrs));
}

VEC void vec_store_s8(void *to, vec_s32 steps, vec_bytes min, vec_bytes max)
{
    const int16x4_t words = vqmovn_s32(steps);
    const int8x8_t bytes = vqmovn_s16(vcombine_s16(words, words));
    const int8x8_t limited = vmin_s8(vmax_s8(bytes, vget_low_s8((int8x16_t)min)), vget_low_s8((int8x16_t)max));
    const uint32_t four = vget_lane_u32((uint32x2_t)limited, 0);
    memcpy(to, &four, sizeof four);
}

VEC vec_f32 vec_plane_components(const vec_f32 from[4], int q)
{
    const vec_f32 a = from[q % 2 * 2], b = from[q % 2 * 2 + 1];
    return q < 2 ? vec_evens(a, b) : vec_odds(a, b);
}

VEC vec_f32 vec_plane_weights(bool load, const vec_f32 weights[2], int q) { return (void)load, weights[q % 2]; }
VEC vec_f32 vec_other_plane(const vec_f32 values[4], int q) { return values[q ^ 2]; }
VEC vec_bytes vec_planes_apart(vec_bytes packed) { return packed; }

VEC void vec_store_two_planes(unsigned char *first, unsigned char *second, vec_bytes planes)
{
    vst1_u8(first, vget_low_u8(planes));
    vst1_u8(second, vget_high_u8(planes));
}

VEC vec_bytes vec_load_plane_bits(const unsigned char *from, int nbytes) { return (void)nbytes, vld1q_u8(from); }

#endif
