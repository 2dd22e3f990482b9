/* SPDX-License-Identifier: MIT */
/* The operations of lane_scalar.h on the 16 floats of a 512-bit register, and the loads and byte shuffles that
 * cpu_vector_loops.h needs besides. AVX-512 F, BW, DQ. */
#ifndef SOFTQAM_LANE_AVX512_H
#define SOFTQAM_LANE_AVX512_H

#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "columns.h"

#define LANE        static inline __attribute__((always_inline))
#define LANE_UNROLL _Pragma("GCC unroll 4")

enum { LANES = 16 };

typedef __m512 lane_f32;
typedef __m512i lane_u32;
typedef __mmask16 lane_mask;

/* What a row holds besides is looked up where it is needed: registers are few. */
typedef struct lane_row {
    lane_f32 level;
    lane_f32 level_last;
    lane_f32 level_other;
    lane_u32 number;
} lane_row;

/* A register holds the 16 rows' values of one kind, and a permutation by row number looks 16 of them up. */
typedef struct lane_table {
    lane_f32 level;
    lane_f32 level_last;
    lane_f32 level_other;
    lane_f32 gain_last; /* with their signs */
    lane_f32 gain_other;
    lane_u32 marks; /* four bytes, the axis's first bit lowest */
    lane_f32 steps[AXIS_BITS];
    lane_f32 rows_per_unit;
} lane_table;

typedef __m512i lane_whole; /* 32-bit integers */

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
    lane_llr_row rows; /* rows from LLR_ROWS on repeat the last one */
    lane_f32 rows_per_unit;
} lane_llr_table;

LANE lane_f32 lane_splat(float a)
{
    return _mm512_set1_ps(a);
}

LANE lane_u32 lane_splat_bits(uint32_t a)
{
    return _mm512_set1_epi32((int)a);
}

LANE lane_f32 lane_add(lane_f32 a, lane_f32 b)
{
    return _mm512_add_ps(a, b);
}

LANE lane_f32 lane_sub(lane_f32 a, lane_f32 b)
{
    return _mm512_sub_ps(a, b);
}

LANE lane_f32 lane_mul(lane_f32 a, lane_f32 b)
{
    return _mm512_mul_ps(a, b);
}

LANE lane_f32 lane_fma(lane_f32 a, lane_f32 b, lane_f32 c)
{
    return _mm512_fmadd_ps(a, b, c);
}

LANE lane_f32 lane_div(lane_f32 a, lane_f32 b)
{
    return _mm512_div_ps(a, b);
}

LANE lane_f32 lane_min(lane_f32 a, lane_f32 b)
{
    return _mm512_min_ps(a, b);
}

LANE lane_u32 lane_bits(lane_f32 a)
{
    return _mm512_castps_si512(a);
}

LANE lane_f32 lane_float(lane_u32 bits)
{
    return _mm512_castsi512_ps(bits);
}

LANE lane_f32 lane_abs(lane_f32 a)
{
    return _mm512_andnot_ps(_mm512_set1_ps(-0.0f), a);
}

LANE lane_f32 lane_flip(lane_f32 a, lane_u32 signs)
{
    enum { A_XOR_B_AND_C = 0x78 };
    return lane_float(_mm512_ternarylogic_epi32(lane_bits(a), signs, lane_splat_bits(0x80000000u), A_XOR_B_AND_C));
}

LANE lane_f32 lane_limit(lane_f32 a, lane_f32 limit)
{
    enum { SMALLER_MAGNITUDE = 2, SIGN_OF_FIRST = 0 };
    return _mm512_range_ps(a, limit, SIGN_OF_FIRST << 2 | SMALLER_MAGNITUDE);
}

LANE lane_mask lane_both(lane_mask a, lane_mask b)
{
    return _mm512_kand(a, b);
}

LANE bool lane_all(lane_mask a)
{
    return _mm512_kortestc(a, a);
}

LANE lane_mask lane_is_finite(lane_f32 a)
{
    return _mm512_cmplt_ps_mask(lane_abs(a), lane_splat(INFINITY));
}

LANE lane_mask lane_is_positive(lane_f32 a)
{
    enum { NAN_ZERO_INFINITE_OR_NEGATIVE = 0xdf };
    return _mm512_knot(_mm512_fpclass_ps_mask(a, NAN_ZERO_INFINITE_OR_NEGATIVE));
}

/* a < b; false for NaN. */
LANE lane_mask lane_is_less(lane_f32 a, lane_f32 b)
{
    return _mm512_cmplt_ps_mask(a, b);
}

/* Neither is a NaN. */
LANE lane_mask lane_are_numbers(lane_f32 a, lane_f32 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_ORD_Q);
}

LANE lane_f32 lane_keep(lane_mask mask, lane_f32 a)
{
    return _mm512_maskz_mov_ps(mask, a);
}

LANE lane_f32 lane_choose(lane_mask mask, lane_f32 where_true, lane_f32 where_false)
{
    return _mm512_mask_mov_ps(where_false, mask, where_true);
}

LANE lane_u32 lane_to_index(lane_f32 a)
{
    return _mm512_cvttps_epi32(a);
}

/* Rounded to nearest even. What does not fit, NaN with it, gives -2^31. */
LANE lane_whole lane_round(lane_f32 a)
{
    return _mm512_cvtps_epi32(a);
}

LANE lane_whole lane_splat_whole(int32_t a)
{
    return _mm512_set1_epi32(a);
}

/* Modulo 2^32, so that -2^31 stays what it is. */
LANE lane_whole lane_abs_s32(lane_whole a)
{
    return _mm512_abs_epi32(a);
}

LANE lane_whole lane_sub_s32(lane_whole a, lane_whole b)
{
    return _mm512_sub_epi32(a, b);
}

LANE lane_f32 lane_row_value(lane_u32 row, lane_f32 values)
{
    return _mm512_permutexvar_ps(row, values);
}

/* Rounded down, level * rows_per_unit + 1.5 * 2^23 + 8 has the row's number in its lowest four bits, which are all that
 * a permutation looks at. Any float is a row's: what lies outside 0 .. 15 wraps around. */
LANE lane_row lane_lookup(const lane_table *table, lane_f32 level)
{
    const lane_u32 index = lane_bits(_mm512_fmadd_round_ps(level, table->rows_per_unit, lane_splat(0x1.8p23f + 8.0f),
                                                           _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
    lane_row row;
    row.level = lane_row_value(index, table->level);
    row.level_last = lane_row_value(index, table->level_last);
    row.level_other = lane_row_value(index, table->level_other);
    row.number = index;
    return row;
}

LANE lane_f32 lane_gain_last(const lane_table *table, lane_row row)
{
    return lane_row_value(row.number, table->gain_last);
}

LANE lane_f32 lane_gain_other(const lane_table *table, lane_row row)
{
    return lane_row_value(row.number, table->gain_other);
}

/* What a row holds for bit k. */
LANE lane_llr_line lane_llr_lookup_line(const lane_llr_table *table, lane_u32 row, int k)
{
    lane_llr_line line;
    line.slope = lane_row_value(row, table->rows.slopes[k]);
    line.intercept = lane_row_value(row, table->rows.intercepts[k]);
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

/* What follows has no counterpart in lane_scalar.h. Registers are four 128-bit parts, within which the shuffles of
 * cpu_vector_loops.h stay. */

typedef __m512i lane_bytes;
typedef __mmask8 lane_pairs; /* one of each two components that lie side by side */

LANE lane_f32 lane_load_f32(const void *from)
{
    return _mm512_loadu_ps(from);
}

LANE lane_f32 lane_load_s16(const void *from)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256(from)));
}

LANE lane_f32 lane_load_s8(const void *from)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(from)));
}

LANE lane_f32 lane_load_f16(const void *from)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256(from));
}

/* Streaming: past the caches, to memory that is aligned to 64 bytes. */
LANE void lane_store(void *to, lane_bytes a, bool streaming)
{
    if (streaming)
        _mm512_stream_si512(to, a);
    else
        _mm512_storeu_si512(to, a);
}

/* After streaming: other threads see what was stored before they see what is stored from here on. */
LANE void lane_fence(void)
{
    _mm_sfence();
}

LANE lane_llr_table lane_load_llr_table(const softqam_llr_columns *columns)
{
    lane_llr_table table;
    LANE_UNROLL
    for (int k = 0; k < AXIS_BITS; k++) {
        table.rows.slopes[k] = lane_load_f32(columns->slopes[k]);
        table.rows.intercepts[k] = lane_load_f32(columns->intercepts[k]);
    }
    return table;
}

/* Pairs of components to two registers of first and of second ones: in each 128-bit part two of a, then two of b. */
LANE lane_f32 lane_firsts(lane_f32 a, lane_f32 b)
{
    return _mm512_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0));
}

LANE lane_f32 lane_seconds(lane_f32 a, lane_f32 b)
{
    return _mm512_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1));
}

/* Each of the lower, or upper, half's values twice. */
LANE lane_f32 lane_twice_lower(lane_f32 a)
{
    return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7), a);
}

LANE lane_f32 lane_twice_upper(lane_f32 a)
{
    return _mm512_permutexvar_ps(_mm512_setr_epi32(8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15), a);
}

/* Neighbours exchanged. */
LANE lane_f32 lane_swap_pairs(lane_f32 a)
{
    return _mm512_permute_ps(a, _MM_SHUFFLE(2, 3, 0, 1));
}

/* Both of the pair are zeros, of any sign. */
LANE lane_pairs lane_are_zeros(lane_f32 a)
{
    return _mm512_testn_epi64_mask(lane_bits(a), _mm512_set1_epi32(0x7fffffff));
}

LANE lane_f32 lane_keep_pairs(lane_pairs mask, lane_f32 a)
{
    return _mm512_castpd_ps(_mm512_maskz_mov_pd(mask, _mm512_castps_pd(a)));
}

LANE lane_f32 lane_choose_pairs(lane_pairs mask, lane_f32 where_true, lane_f32 where_false)
{
    return _mm512_castpd_ps(_mm512_mask_mov_pd(_mm512_castps_pd(where_false), mask, _mm512_castps_pd(where_true)));
}

/* The eight bytes of each pair. */
LANE lane_bytes lane_choose_pair_bytes(lane_pairs mask, lane_bytes where_true, lane_bytes where_false)
{
    return _mm512_mask_mov_epi64(where_false, mask, where_true);
}

/* To integers, truncated, for values that fit. */
LANE lane_bytes lane_truncate(lane_f32 a)
{
    return _mm512_cvttps_epi32(a);
}

/* Integers to narrower ones, limited to what these hold: in each 128-bit part those of a, then those of b. */
LANE lane_bytes lane_pack_s16(lane_bytes a, lane_bytes b)
{
    return _mm512_packs_epi32(a, b);
}

LANE lane_bytes lane_pack_s8(lane_bytes a, lane_bytes b)
{
    return _mm512_packs_epi16(a, b);
}

LANE lane_bytes lane_pack_u8(lane_bytes a, lane_bytes b)
{
    return _mm512_packus_epi16(a, b);
}

/* Of each 32-bit integer of a and of b the upper, or lower, half: a's in the lower half of the result, b's in the upper
 * one. A shuffle of bytes, under a mask that spares the other half, does both steps at once. */
static const uint8_t halves_exchanged[16] = {2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13};

LANE lane_bytes lane_upper_words(lane_whole a, lane_whole b)
{
    const __m512i exchange = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)halves_exchanged));
    return _mm512_mask_shuffle_epi8(b, 0x3333333333333333, a, exchange);
}

LANE lane_bytes lane_lower_words(lane_whole a, lane_whole b)
{
    const __m512i exchange = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)halves_exchanged));
    return _mm512_mask_shuffle_epi8(a, 0xcccccccccccccccc, b, exchange);
}

/* Whether any 16-bit integer of a is less than low's, or a 32-bit one of b more than high's. */
LANE bool lane_any_less_or_more(lane_bytes a, lane_bytes low, lane_whole b, lane_whole high)
{
    return _mm512_cmplt_epi16_mask(a, low) | _mm512_cmpgt_epi32_mask(b, high);
}

LANE bool lane_any_less(lane_bytes a, lane_bytes low)
{
    return _mm512_cmplt_epi16_mask(a, low);
}

LANE lane_bytes lane_swap_pair_words(lane_bytes a)
{
    return _mm512_shuffle_epi32(a, _MM_PERM_CDAB);
}

LANE lane_u32 lane_max_u32(lane_u32 a, lane_u32 b)
{
    return _mm512_max_epu32(a, b);
}

LANE lane_whole lane_max_s32(lane_whole a, lane_whole b)
{
    return _mm512_max_epi32(a, b);
}

/* On 16-bit integers, modulo 2^16. */
LANE lane_bytes lane_add_s16(lane_bytes a, lane_bytes b)
{
    return _mm512_add_epi16(a, b);
}

LANE lane_bytes lane_sub_s16(lane_bytes a, lane_bytes b)
{
    return _mm512_sub_epi16(a, b);
}

LANE lane_bytes lane_abs_s16(lane_bytes a)
{
    return _mm512_abs_epi16(a);
}

/* a - b, but 0 where b is more; neither negative. */
LANE lane_bytes lane_excess_u16(lane_bytes a, lane_bytes b)
{
    return _mm512_subs_epu16(a, b);
}

LANE lane_bytes lane_shift_right_s16(lane_bytes a, int n)
{
    return _mm512_srai_epi16(a, (unsigned)n);
}

LANE lane_bytes lane_splat_word(int a)
{
    return _mm512_set1_epi16((int16_t)a);
}

LANE lane_bytes lane_max_s8(lane_bytes a, lane_bytes b)
{
    return _mm512_max_epi8(a, b);
}

LANE lane_bytes lane_min_s8(lane_bytes a, lane_bytes b)
{
    return _mm512_min_epi8(a, b);
}

LANE lane_bytes lane_splat_byte(int a)
{
    return _mm512_set1_epi8((char)a);
}

/* The same 16 bytes in every 128-bit part. */
LANE lane_bytes lane_splat_bytes(const uint8_t bytes[16])
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)bytes));
}

LANE lane_bytes lane_or(lane_bytes a, lane_bytes b)
{
    return _mm512_or_si512(a, b);
}

LANE lane_bytes lane_interleave_bytes_lower(lane_bytes a, lane_bytes b)
{
    return _mm512_unpacklo_epi8(a, b);
}

LANE lane_bytes lane_interleave_bytes_upper(lane_bytes a, lane_bytes b)
{
    return _mm512_unpackhi_epi8(a, b);
}

LANE lane_bytes lane_shuffle_bytes(lane_bytes a, lane_bytes from)
{
    return _mm512_shuffle_epi8(a, from);
}

/* As lane_shuffle_bytes(): `from` with its highest bit set gives 0, but 0xff gives 0xff. */
LANE lane_bytes lane_place_bytes(lane_bytes a, lane_bytes from)
{
    const lane_bytes ones = lane_splat_byte(0xff);
    return _mm512_mask_shuffle_epi8(ones, _mm512_cmpneq_epi8_mask(from, ones), a, from);
}

/* A symbol's four pairs of LLRs lie in four registers, one a bit of the axis; they leave as they lie in memory,
 * LANES / 2 symbols. */
LANE void lane_store_llrs_f32(void *to, const lane_f32 llrs[AXIS_BITS], bool streaming)
{
    const __m512d p0 = _mm512_castps_pd(llrs[0]), p1 = _mm512_castps_pd(llrs[1]);
    const __m512d p2 = _mm512_castps_pd(llrs[2]), p3 = _mm512_castps_pd(llrs[3]);
    /* Within the 128-bit parts: the first two and the last two pairs of the part's first symbol and of its second. */
    const __m512d first_01 = _mm512_unpacklo_pd(p0, p1), second_01 = _mm512_unpackhi_pd(p0, p1);
    const __m512d first_23 = _mm512_unpacklo_pd(p2, p3), second_23 = _mm512_unpackhi_pd(p2, p3);
    /* Two parts make a symbol: parts 0 and 1 of four such registers, then parts 2 and 3. */
    const __m512i lower = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i upper = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const __m512d s02 = _mm512_permutex2var_pd(first_01, lower, first_23);
    const __m512d s13 = _mm512_permutex2var_pd(second_01, lower, second_23);
    const __m512d s46 = _mm512_permutex2var_pd(first_01, upper, first_23);
    const __m512d s57 = _mm512_permutex2var_pd(second_01, upper, second_23);
    unsigned char *out = to;
    const __m512d s01 = _mm512_shuffle_f64x2(s02, s13, _MM_SHUFFLE(1, 0, 1, 0));
    const __m512d s23 = _mm512_shuffle_f64x2(s02, s13, _MM_SHUFFLE(3, 2, 3, 2));
    const __m512d s45 = _mm512_shuffle_f64x2(s46, s57, _MM_SHUFFLE(1, 0, 1, 0));
    const __m512d s67 = _mm512_shuffle_f64x2(s46, s57, _MM_SHUFFLE(3, 2, 3, 2));
    lane_store(out, _mm512_castpd_si512(s01), streaming);
    lane_store(out + 64, _mm512_castpd_si512(s23), streaming);
    lane_store(out + 128, _mm512_castpd_si512(s45), streaming);
    lane_store(out + 192, _mm512_castpd_si512(s67), streaming);
}

/* Pairs of binary16 of two bits of the axis side by side: those of a lower, b upper. */
LANE __m512i lane_halves(lane_f32 a, lane_f32 b)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)),
                              _mm512_cvtps_ph(b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), 1);
}

LANE void lane_store_llrs_f16(void *to, const lane_f32 llrs[AXIS_BITS], bool streaming)
{
    const __m512i p01 = lane_halves(llrs[0], llrs[1]), p23 = lane_halves(llrs[2], llrs[3]);
    const __m512i lower = _mm512_setr_epi32(0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27);
    const __m512i upper = _mm512_setr_epi32(4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31);
    unsigned char *out = to;
    lane_store(out, _mm512_permutex2var_epi32(p01, lower, p23), streaming);
    lane_store(out + 64, _mm512_permutex2var_epi32(p01, upper, p23), streaming);
}

LANE lane_table lane_load_table(const softqam_axis_columns *columns)
{
    lane_table table;
    table.level = lane_load_f32(columns->level);
    table.level_last = lane_load_f32(columns->level_last);
    table.level_other = lane_load_f32(columns->level_other);
    table.gain_last = lane_load_f32(columns->gain_last);
    table.gain_other = lane_load_f32(columns->gain_other);
    table.marks = _mm512_loadu_si512(columns->marks);
    return table;
}

LANE lane_u32 lane_marks(const lane_table *table, lane_row row)
{
    return _mm512_permutexvar_epi32(row.number, table->marks);
}

#endif
