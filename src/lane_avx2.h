/* SPDX-License-Identifier: MIT */
/* The operations of lane_scalar.h on the 8 floats of a 256-bit register, and the loads and byte shuffles that
 * cpu_vector_loops.h needs besides. AVX2, FMA, F16C. */
#ifndef SOFTQAM_LANE_AVX2_H
#define SOFTQAM_LANE_AVX2_H

#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "columns.h"

#define LANE        static inline __attribute__((always_inline))
#define LANE_UNROLL _Pragma("GCC unroll 4")

enum { LANES = 8 };

typedef __m256 lane_f32;
typedef __m256i lane_u32;
typedef __m256 lane_mask; /* all ones or zero */

/* What a row holds besides is looked up where it is needed: registers are few. */
typedef struct lane_row {
    lane_f32 level;
    lane_f32 level_last;
    lane_f32 level_other;
    lane_u32 number;
    lane_f32 sign; /* as the level's */
} lane_row;

/* A register holds eight rows, those of the positive levels, and a permutation by row number looks eight of them up.
 * The negative levels mirror them but for the marks and the gain of the other bit, of which there are eight more. */
typedef struct lane_table {
    lane_f32 level;
    lane_f32 level_last;
    lane_f32 level_other;
    lane_f32 gain_last; /* with their signs */
    lane_f32 gain_other;
    lane_f32 negative_gain_other;
    lane_u32 marks; /* four bytes, the axis's first bit lowest */
    lane_u32 negative_marks;
    lane_f32 steps[AXIS_BITS];
    lane_f32 rows_per_unit;
} lane_table;

typedef __m256i lane_whole; /* 32-bit integers */

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
    lane_llr_row rows;
    lane_f32 last_slope; /* of the last bit where its intercept is positive */
    lane_f32 rows_per_unit;
} lane_llr_table;

LANE lane_f32 lane_splat(float a)
{
    return _mm256_set1_ps(a);
}

LANE lane_u32 lane_splat_bits(uint32_t a)
{
    return _mm256_set1_epi32((int)a);
}

LANE lane_f32 lane_add(lane_f32 a, lane_f32 b)
{
    return _mm256_add_ps(a, b);
}

LANE lane_f32 lane_sub(lane_f32 a, lane_f32 b)
{
    return _mm256_sub_ps(a, b);
}

LANE lane_f32 lane_mul(lane_f32 a, lane_f32 b)
{
    return _mm256_mul_ps(a, b);
}

LANE lane_f32 lane_fma(lane_f32 a, lane_f32 b, lane_f32 c)
{
    return _mm256_fmadd_ps(a, b, c);
}

LANE lane_f32 lane_div(lane_f32 a, lane_f32 b)
{
    return _mm256_div_ps(a, b);
}

LANE lane_f32 lane_min(lane_f32 a, lane_f32 b)
{
    return _mm256_min_ps(a, b);
}

LANE lane_u32 lane_bits(lane_f32 a)
{
    return _mm256_castps_si256(a);
}

LANE lane_f32 lane_float(lane_u32 bits)
{
    return _mm256_castsi256_ps(bits);
}

LANE lane_f32 lane_abs(lane_f32 a)
{
    return _mm256_andnot_ps(lane_splat(-0.0f), a);
}

LANE lane_f32 lane_flip(lane_f32 a, lane_u32 signs)
{
    return _mm256_xor_ps(a, _mm256_and_ps(lane_float(signs), lane_splat(-0.0f)));
}

/* Of a NaN and a number the first operation takes the second, which is the limit. */
LANE lane_f32 lane_limit(lane_f32 a, lane_f32 limit)
{
    return _mm256_max_ps(_mm256_min_ps(a, limit), _mm256_xor_ps(limit, lane_splat(-0.0f)));
}

LANE lane_mask lane_both(lane_mask a, lane_mask b)
{
    return _mm256_and_ps(a, b);
}

LANE bool lane_all(lane_mask a)
{
    return _mm256_movemask_ps(a) == 0xff;
}

/* a < b; false for NaN. */
LANE lane_mask lane_is_less(lane_f32 a, lane_f32 b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
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
    return _mm256_cmp_ps(a, b, _CMP_ORD_Q);
}

LANE lane_f32 lane_keep(lane_mask mask, lane_f32 a)
{
    return _mm256_and_ps(mask, a);
}

LANE lane_f32 lane_choose(lane_mask mask, lane_f32 where_true, lane_f32 where_false)
{
    return _mm256_blendv_ps(where_false, where_true, mask);
}

LANE lane_u32 lane_to_index(lane_f32 a)
{
    return _mm256_cvttps_epi32(a);
}

/* Rounded to nearest even. What does not fit, NaN with it, gives -2^31. */
LANE lane_whole lane_round(lane_f32 a)
{
    return _mm256_cvtps_epi32(a);
}

LANE lane_whole lane_splat_whole(int32_t a)
{
    return _mm256_set1_epi32(a);
}

/* Modulo 2^32, so that -2^31 stays what it is. */
LANE lane_whole lane_abs_s32(lane_whole a)
{
    return _mm256_abs_epi32(a);
}

LANE lane_whole lane_sub_s32(lane_whole a, lane_whole b)
{
    return _mm256_sub_epi32(a, b);
}

LANE lane_f32 lane_row_value(lane_u32 row, lane_f32 values)
{
    return _mm256_permutevar8x32_ps(values, row);
}

/* |level| * rows_per_unit, truncated, is the row's number. Any float is a row's: a permutation looks at the lowest
 * three bits alone. */
LANE lane_row lane_lookup(const lane_table *table, lane_f32 level)
{
    const lane_u32 index = lane_to_index(lane_mul(lane_abs(level), table->rows_per_unit));
    const lane_u32 sign = lane_bits(level);
    lane_row row;
    row.level = lane_flip(lane_row_value(index, table->level), sign);
    row.level_last = lane_flip(lane_row_value(index, table->level_last), sign);
    row.level_other = lane_flip(lane_row_value(index, table->level_other), sign);
    row.number = index;
    row.sign = level;
    return row;
}

LANE lane_f32 lane_gain_last(const lane_table *table, lane_row row)
{
    return lane_row_value(row.number, table->gain_last);
}

LANE lane_f32 lane_gain_other(const lane_table *table, lane_row row)
{
    return _mm256_blendv_ps(lane_row_value(row.number, table->gain_other),
                            lane_row_value(row.number, table->negative_gain_other), row.sign);
}

LANE lane_u32 lane_marks(const lane_table *table, lane_row row)
{
    return lane_bits(_mm256_blendv_ps(lane_row_value(row.number, lane_float(table->marks)),
                                      lane_row_value(row.number, lane_float(table->negative_marks)), row.sign));
}

/* What a row holds for bit k. */
LANE lane_llr_line lane_llr_lookup_line(const lane_llr_table *table, lane_u32 row, int k)
{
    lane_llr_line line;
    line.intercept = lane_row_value(row, table->rows.intercepts[k]);
    /* Every line of the last bit is equally steep and, right of zero, falls to a boundary or rises to one: its slope
     * has the sign that its intercept has not. One port has all permutations to do, others have time for this. */
    line.slope = k == AXIS_BITS - 1 ? lane_flip(table->last_slope, lane_bits(line.intercept))
                                    : lane_row_value(row, table->rows.slopes[k]);
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

/* The number of the row at `place`. */
LANE lane_u32 lane_to_row_small(lane_f32 place)
{
    return lane_to_index(lane_min(place, lane_splat(LLR_ROWS - 1)));
}

/* What follows has no counterpart in lane_scalar.h. Registers are two 128-bit parts, within which the shuffles of
 * cpu_vector_loops.h stay. */

typedef __m256i lane_bytes;
typedef __m256i lane_pairs; /* one of each two components that lie side by side: all ones or zero */

LANE lane_f32 lane_load_f32(const void *from)
{
    return _mm256_loadu_ps(from);
}

LANE lane_f32 lane_load_s16(const void *from)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128(from)));
}

LANE lane_f32 lane_load_s8(const void *from)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(from)));
}

LANE lane_f32 lane_load_f16(const void *from)
{
    return _mm256_cvtph_ps(_mm_loadu_si128(from));
}

/* Streaming: past the caches, to memory that is aligned to 32 bytes. */
LANE void lane_store(void *to, lane_bytes a, bool streaming)
{
    if (streaming)
        _mm256_stream_si256(to, a);
    else
        _mm256_storeu_si256(to, a);
}

/* After streaming: other threads see what was stored before they see what is stored from here on. */
LANE void lane_fence(void)
{
    _mm_sfence();
}

LANE lane_table lane_load_table(const softqam_axis_columns *columns)
{
    const __m256i backwards = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    lane_table table;
    table.level = lane_load_f32(columns->level + LANES);
    table.level_last = lane_load_f32(columns->level_last + LANES);
    table.level_other = lane_load_f32(columns->level_other + LANES);
    table.gain_last = lane_load_f32(columns->gain_last + LANES);
    table.gain_other = lane_load_f32(columns->gain_other + LANES);
    table.marks = _mm256_loadu_si256((const void *)(columns->marks + LANES));
    table.negative_gain_other = lane_row_value(backwards, lane_load_f32(columns->gain_other));
    table.negative_marks = lane_bits(lane_row_value(backwards, lane_load_f32(columns->marks)));
    return table;
}

LANE lane_llr_table lane_load_llr_table(const softqam_llr_columns *columns)
{
    lane_llr_table table;
    LANE_UNROLL
    for (int k = 0; k < AXIS_BITS; k++) {
        table.rows.slopes[k] = lane_load_f32(columns->slopes[k]);
        table.rows.intercepts[k] = lane_load_f32(columns->intercepts[k]);
    }
    table.last_slope = lane_flip(lane_splat(columns->slopes[AXIS_BITS - 1][0]),
                                 lane_bits(lane_splat(columns->intercepts[AXIS_BITS - 1][0])));
    return table;
}

/* Pairs of components to two registers of first and of second ones: in each 128-bit part two of a, then two of b. */
LANE lane_f32 lane_firsts(lane_f32 a, lane_f32 b)
{
    return _mm256_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0));
}

LANE lane_f32 lane_seconds(lane_f32 a, lane_f32 b)
{
    return _mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1));
}

/* Each of the lower, or upper, half's values twice. */
LANE lane_f32 lane_twice_lower(lane_f32 a)
{
    return _mm256_permutevar8x32_ps(a, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
}

LANE lane_f32 lane_twice_upper(lane_f32 a)
{
    return _mm256_permutevar8x32_ps(a, _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7));
}

/* Neighbours exchanged. */
LANE lane_f32 lane_swap_pairs(lane_f32 a)
{
    return _mm256_permute_ps(a, _MM_SHUFFLE(2, 3, 0, 1));
}

/* Both of the pair are zeros, of any sign. */
LANE lane_pairs lane_are_zeros(lane_f32 a)
{
    return _mm256_cmpeq_epi64(lane_bits(lane_abs(a)), _mm256_setzero_si256());
}

LANE lane_f32 lane_keep_pairs(lane_pairs mask, lane_f32 a)
{
    return _mm256_and_ps(_mm256_castsi256_ps(mask), a);
}

LANE lane_f32 lane_choose_pairs(lane_pairs mask, lane_f32 where_true, lane_f32 where_false)
{
    return _mm256_blendv_ps(where_false, where_true, _mm256_castsi256_ps(mask));
}

/* The eight bytes of each pair. */
LANE lane_bytes lane_choose_pair_bytes(lane_pairs mask, lane_bytes where_true, lane_bytes where_false)
{
    return _mm256_blendv_epi8(where_false, where_true, mask);
}

/* To integers, truncated, for values that fit. */
LANE lane_bytes lane_truncate(lane_f32 a)
{
    return _mm256_cvttps_epi32(a);
}

/* Integers to narrower ones, limited to what these hold: in each 128-bit part those of a, then those of b. */
LANE lane_bytes lane_pack_s16(lane_bytes a, lane_bytes b)
{
    return _mm256_packs_epi32(a, b);
}

LANE lane_bytes lane_pack_s8(lane_bytes a, lane_bytes b)
{
    return _mm256_packs_epi16(a, b);
}

LANE lane_bytes lane_pack_u8(lane_bytes a, lane_bytes b)
{
    return _mm256_packus_epi16(a, b);
}

/* Of each 32-bit integer of a and of b the upper, or lower, half: a's in the lower half of the result, b's in the upper
 * one. */
LANE lane_bytes lane_upper_words(lane_whole a, lane_whole b)
{
    return _mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xaa);
}

LANE lane_bytes lane_lower_words(lane_whole a, lane_whole b)
{
    return _mm256_blend_epi16(a, _mm256_slli_epi32(b, 16), 0xaa);
}

/* Whether any 16-bit integer of a is less than low's, or a 32-bit one of b more than high's. */
LANE bool lane_any_less_or_more(lane_bytes a, lane_bytes low, lane_whole b, lane_whole high)
{
    return _mm256_movemask_epi8(_mm256_or_si256(_mm256_cmpgt_epi16(low, a), _mm256_cmpgt_epi32(b, high)));
}

LANE bool lane_any_less(lane_bytes a, lane_bytes low)
{
    return _mm256_movemask_epi8(_mm256_cmpgt_epi16(low, a));
}

LANE lane_bytes lane_swap_pair_words(lane_bytes a)
{
    return _mm256_shuffle_epi32(a, _MM_SHUFFLE(2, 3, 0, 1));
}

LANE lane_u32 lane_max_u32(lane_u32 a, lane_u32 b)
{
    return _mm256_max_epu32(a, b);
}

LANE lane_whole lane_max_s32(lane_whole a, lane_whole b)
{
    return _mm256_max_epi32(a, b);
}

/* On 16-bit integers, modulo 2^16. */
LANE lane_bytes lane_add_s16(lane_bytes a, lane_bytes b)
{
    return _mm256_add_epi16(a, b);
}

LANE lane_bytes lane_sub_s16(lane_bytes a, lane_bytes b)
{
    return _mm256_sub_epi16(a, b);
}

LANE lane_bytes lane_abs_s16(lane_bytes a)
{
    return _mm256_abs_epi16(a);
}

/* a - b, but 0 where b is more; neither negative. */
LANE lane_bytes lane_excess_u16(lane_bytes a, lane_bytes b)
{
    return _mm256_subs_epu16(a, b);
}

LANE lane_bytes lane_shift_right_s16(lane_bytes a, int n)
{
    return _mm256_srai_epi16(a, n);
}

LANE lane_bytes lane_splat_word(int a)
{
    return _mm256_set1_epi16((int16_t)a);
}

LANE lane_bytes lane_max_s8(lane_bytes a, lane_bytes b)
{
    return _mm256_max_epi8(a, b);
}

LANE lane_bytes lane_min_s8(lane_bytes a, lane_bytes b)
{
    return _mm256_min_epi8(a, b);
}

LANE lane_bytes lane_splat_byte(int a)
{
    return _mm256_set1_epi8((char)a);
}

/* The same 16 bytes in every 128-bit part. */
LANE lane_bytes lane_splat_bytes(const uint8_t bytes[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)bytes));
}

LANE lane_bytes lane_or(lane_bytes a, lane_bytes b)
{
    return _mm256_or_si256(a, b);
}

LANE lane_bytes lane_interleave_bytes_lower(lane_bytes a, lane_bytes b)
{
    return _mm256_unpacklo_epi8(a, b);
}

LANE lane_bytes lane_interleave_bytes_upper(lane_bytes a, lane_bytes b)
{
    return _mm256_unpackhi_epi8(a, b);
}

LANE lane_bytes lane_shuffle_bytes(lane_bytes a, lane_bytes from)
{
    return _mm256_shuffle_epi8(a, from);
}

/* As lane_shuffle_bytes(): `from` with its highest bit set gives 0, but 0xff gives 0xff. */
LANE lane_bytes lane_place_bytes(lane_bytes a, lane_bytes from)
{
    return lane_or(lane_shuffle_bytes(a, from), _mm256_cmpeq_epi8(from, lane_splat_byte(0xff)));
}

/* A symbol's four pairs of LLRs lie in four registers, one a bit of the axis; they leave as they lie in memory,
 * LANES / 2 symbols. */
LANE void lane_store_llrs_f32(void *to, const lane_f32 llrs[AXIS_BITS], bool streaming)
{
    const __m256d p0 = _mm256_castps_pd(llrs[0]), p1 = _mm256_castps_pd(llrs[1]);
    const __m256d p2 = _mm256_castps_pd(llrs[2]), p3 = _mm256_castps_pd(llrs[3]);
    const __m256d s02_01 = _mm256_unpacklo_pd(p0, p1), s13_01 = _mm256_unpackhi_pd(p0, p1);
    const __m256d s02_23 = _mm256_unpacklo_pd(p2, p3), s13_23 = _mm256_unpackhi_pd(p2, p3);
    unsigned char *out = to;
    lane_store(out, _mm256_castpd_si256(_mm256_permute2f128_pd(s02_01, s02_23, 0x20)), streaming);
    lane_store(out + 32, _mm256_castpd_si256(_mm256_permute2f128_pd(s13_01, s13_23, 0x20)), streaming);
    lane_store(out + 64, _mm256_castpd_si256(_mm256_permute2f128_pd(s02_01, s02_23, 0x31)), streaming);
    lane_store(out + 96, _mm256_castpd_si256(_mm256_permute2f128_pd(s13_01, s13_23, 0x31)), streaming);
}

LANE void lane_store_llrs_f16(void *to, const lane_f32 llrs[AXIS_BITS], bool streaming)
{
    __m128i pairs[AXIS_BITS];
    LANE_UNROLL
    for (int k = 0; k < AXIS_BITS; k++)
        pairs[k] = _mm256_cvtps_ph(llrs[k], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m128i s01_01 = _mm_unpacklo_epi32(pairs[0], pairs[1]), s23_01 = _mm_unpackhi_epi32(pairs[0], pairs[1]);
    const __m128i s01_23 = _mm_unpacklo_epi32(pairs[2], pairs[3]), s23_23 = _mm_unpackhi_epi32(pairs[2], pairs[3]);
    const __m128i s0 = _mm_unpacklo_epi64(s01_01, s01_23), s1 = _mm_unpackhi_epi64(s01_01, s01_23);
    const __m128i s2 = _mm_unpacklo_epi64(s23_01, s23_23), s3 = _mm_unpackhi_epi64(s23_01, s23_23);
    unsigned char *out = to;
    lane_store(out, _mm256_set_m128i(s1, s0), streaming);
    lane_store(out + 32, _mm256_set_m128i(s3, s2), streaming);
}

#endif
