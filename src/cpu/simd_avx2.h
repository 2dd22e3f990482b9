/* SPDX-License-Identifier: MIT */
/* The operations of simd_operations.h on the 8 floats of a 256-bit register, and the loads and byte shuffles that
 * the loops also need. AVX2, FMA, F16C, PCLMULQDQ. */
#ifndef SOFTQAM_SIMD_AVX2_H
#define SOFTQAM_SIMD_AVX2_H

#include <immintrin.h>

#include "tables.h"

enum { LANES = 8, LIMITS_ARE_CHEAP = 0 /* vec_limit() */, LOADS_AHEAD = 0 /* llr_batch() */ };

typedef __m256 vec_f32;
typedef __m256i vec_u32;
typedef __m256i vec_s32;
typedef __m256i vec_bytes;
typedef __m128i vec_half;
typedef __m256 vec_mask; /* all ones or zero */

/* A register holds 8 rows' values of one bit, as many as 256QAM has; 1024QAM has two of each. */
typedef struct vec_llr_table {
    vec_f32 slopes[VECTOR_MAX_AXIS_BITS];
    vec_f32 intercepts[VECTOR_MAX_AXIS_BITS];
    vec_f32 upper_slopes[VECTOR_MAX_AXIS_BITS];
    vec_f32 upper_intercepts[VECTOR_MAX_AXIS_BITS];
    vec_f32 last_slopes[2]; /* the last bit's, where its intercept is positive, and where it is negative */
    vec_f32 row_scale;
    vec_f32 last_row;
} vec_llr_table;

#define LANE_NUMBERS  0, 1, 2, 3, 4, 5, 6, 7
#define MM(operation) _mm256_##operation
#include "simd_x86.h"

VEC vec_f32 vec_flip(vec_f32 a, vec_u32 signs)
{
    return _mm256_xor_ps(a, _mm256_and_ps(vec_from_bits(signs), vec_splat(-0.0f)));
}

/* If a is a NaN, the first operation returns its second operand, the limit. */
VEC vec_f32 vec_limit(vec_f32 a, vec_f32 limit)
{
    return _mm256_max_ps(_mm256_min_ps(a, limit), _mm256_xor_ps(limit, vec_splat(-0.0f)));
}

VEC vec_mask vec_both(vec_mask a, vec_mask b) { return _mm256_and_ps(a, b); }
VEC vec_mask vec_is_less(vec_f32 a, vec_f32 b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }

VEC vec_mask vec_is_positive(vec_f32 a)
{
    const vec_u32 above_zero = _mm256_cmpgt_epi32(vec_bits(a), vec_splat_u32(0));
    return vec_from_bits(above_zero & _mm256_cmpgt_epi32(vec_splat_u32(0x7f800000), vec_bits(a)));
}

VEC vec_f32 vec_flush(vec_f32 magnitude, vec_f32 least)
{
    return _mm256_and_ps(_mm256_cmp_ps(magnitude, least, _CMP_NLT_UQ), magnitude);
}

VEC vec_mask vec_are_numbers(vec_f32 a, vec_f32 b) { return _mm256_cmp_ps(a, b, _CMP_ORD_Q); }
VEC vec_f32 vec_keep(vec_mask mask, vec_f32 a) { return _mm256_and_ps(mask, a); }

VEC vec_f32 vec_choose(vec_mask mask, vec_f32 where_set, vec_f32 where_not)
{
    HIDE_MASK("x", mask);
    return _mm256_blendv_ps(where_not, where_set, mask);
}

/* Loads by a separate instruction: on a Zen 3 the permutation takes twice as long with an operand in memory. */
VEC vec_f32 vec_row_value(vec_u32 row, vec_f32 values)
{
    __asm__("" : "+x"(values) : "x"(row));
    return _mm256_permutevar8x32_ps(values, row);
}

/* A permutation looks at the lowest three bits of a row's number; the fourth chooses between two. */
VEC vec_f32 vec_row_of_16(vec_u32 row, vec_f32 lower, vec_f32 upper)
{
    const vec_f32 is_upper = vec_from_bits(vec_shift_left(row, 28));
    return _mm256_blendv_ps(vec_row_value(row, lower), vec_row_value(row, upper), is_upper);
}

VEC vec_f32 vec_column_value(const void *column, vec_u32 row)
{
    return vec_row_of_16(row, vec_load_f32(column), vec_load_f32((const float *)column + LANES));
}

/* Signed rows would cost an operation more than a change of sign. */
VEC bool vec_has_signed_rows(int m) { return (void)m, false; }

/* Up to four rows are in each quad, within which a permutation takes a third of the time. */
VEC vec_f32 vec_llr_value(int m, vec_llr_row row, vec_f32 lower, vec_f32 upper)
{
    if (m < 4)
        return _mm256_permutevar_ps(lower, row);
    return m < 5 ? vec_row_value(row, lower) : vec_row_of_16(row, lower, upper);
}

/* Two adjacent rows share the last bit's line. */
VEC vec_f32 vec_intercept(int m, const vec_llr_table *table, vec_llr_row row, int k)
{
    const vec_f32 lower = table->intercepts[k];
    if (k == m - 1 && m > 3)
        return vec_llr_value(m - 1, _mm256_srli_epi32(row, 1), lower, lower);
    return has_one_line(m, k) ? lower : vec_llr_value(m, row, lower, table->upper_intercepts[k]);
}

/* All lines of the last bit are equally steep, and each slope has the opposite sign of its intercept. */
VEC vec_f32 vec_slope(int m, const vec_llr_table *table, vec_llr_row row, int k)
{
    if (has_one_line(m, k))
        return table->slopes[k];
    return k == m - 1 && m > 3
               ? _mm256_blendv_ps(table->last_slopes[0], table->last_slopes[1], vec_intercept(m, table, row, k))
               : vec_llr_value(m, row, table->slopes[k], table->upper_slopes[k]);
}

#define VEC_HAS_MASKS

/* Returns a mask of the first n lanes. */
VEC __m256i first_lanes(size_t n) { return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), (__m256i)vec_lane_numbers()); }

VEC vec_bytes vec_load_first(const void *from, size_t n, vec_bytes rest)
{
    const size_t whole = n / 4 < LANES ? n / 4 : LANES, n_last = whole < LANES ? n % 4 : 0;
    const unsigned char *last = (const unsigned char *)from + 4 * whole;
    const __m256i mask = first_lanes(whole);
    const __m256i a = _mm256_blendv_epi8(rest, _mm256_maskload_epi32(from, mask), mask);
    if (n_last == 0)
        return a;
    const int bytes = last[0] | (n_last > 1 ? last[1] << 8 : 0) | (n_last > 2 ? last[2] << 16 : 0);
    return _mm256_blendv_epi8(a, _mm256_set1_epi32(bytes), _mm256_xor_si256(first_lanes(whole + 1), mask));
}

VEC void vec_store_first(void *to, vec_bytes a, size_t n)
{
    const size_t whole = n / 4 < LANES ? n / 4 : LANES, n_last = whole < LANES ? n % 4 : 0;
    unsigned char *last = (unsigned char *)to + 4 * whole;
    _mm256_maskstore_epi32(to, first_lanes(whole), a);
    if (n_last == 0)
        return;
    const int bytes = _mm256_cvtsi256_si32(_mm256_permutevar8x32_epi32(a, _mm256_set1_epi32((int)whole)));
    last[0] = (unsigned char)bytes;
    if (n_last > 1)
        last[1] = (unsigned char)(bytes >> 8);
    if (n_last > 2)
        last[2] = (unsigned char)(bytes >> 16);
}

#define VEC_HAS_LANE_MASKS
VEC vec_f32 vec_load_few(const float *from, size_t n, size_t first, float rest)
{
    const __m256i mask = first_lanes(n - first); /* none if that is negative */
    const vec_f32 others = _mm256_andnot_ps(_mm256_castsi256_ps(mask), vec_splat(rest));
    return _mm256_or_ps(_mm256_maskload_ps(from + first, mask), others);
}

VEC vec_f32 vec_load_s8(const void *from) { return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(from))); }

VEC vec_f32 vec_evens(vec_f32 a, vec_f32 b)
{
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(vec_firsts(a, b)), _MM_SHUFFLE(3, 1, 2, 0)));
}

VEC vec_f32 vec_odds(vec_f32 a, vec_f32 b)
{
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(vec_seconds(a, b)), _MM_SHUFFLE(3, 1, 2, 0)));
}

VEC vec_f32 vec_in_turns_lower(vec_f32 a, vec_f32 b)
{
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x20);
}

VEC vec_f32 vec_in_turns_upper(vec_f32 a, vec_f32 b)
{
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x31);
}

VEC vec_f32 vec_load_rows(int m, const float *rows)
{
    return m < 4 ? _mm256_broadcast_ps((const __m128 *)(const void *)rows) : vec_load_f32(rows);
}

VEC vec_llr_table vec_load_llr_table(int m, const softqam_llr_table *from)
{
    vec_llr_table table;
    VEC_UNROLL
    for (int k = 0; k < m; k++) {
        table.slopes[k] = vec_load_rows(m, from->slopes[k]);
        table.intercepts[k] = vec_load_rows(m, from->intercepts[k]);
        table.upper_slopes[k] = vec_load_f32(from->slopes[k] + LANES);
        table.upper_intercepts[k] = vec_load_f32(from->intercepts[k] + LANES);
    }
    const float *last = from->intercepts[m - 1];
    const vec_f32 lines = vec_evens(vec_load_f32(last), vec_load_f32(last + LANES));
    if (m > 3)
        table.intercepts[m - 1] = m == 4 ? _mm256_permute2f128_ps(lines, lines, 0) : lines;
    table.last_slopes[0] = vec_flip(vec_splat(from->slopes[m - 1][0]), vec_bits(vec_splat(last[0])));
    table.last_slopes[1] = vec_flip(table.last_slopes[0], vec_splat_u32(0x80000000u));
    table.row_scale = vec_splat(from->row_scale);
    table.last_row = vec_splat(from->last_row);
    return table;
}

VEC vec_f32 vec_duplicate_lower(vec_f32 a)
{
    return _mm256_permutevar8x32_ps(a, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
}

VEC vec_f32 vec_duplicate_upper(vec_f32 a)
{
    return _mm256_permutevar8x32_ps(a, _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7));
}

VEC vec_bytes vec_upper_words(vec_s32 a, vec_s32 b) { return _mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xaa); }
VEC vec_bytes vec_lower_words(vec_s32 a, vec_s32 b) { return _mm256_blend_epi16(a, _mm256_slli_epi32(b, 16), 0xaa); }

VEC bool vec_any_less_or_more(vec_bytes a, vec_bytes low, vec_s32 b, vec_s32 high)
{
    return _mm256_movemask_epi8(_mm256_or_si256(_mm256_cmpgt_epi16(low, a), _mm256_cmpgt_epi32(b, high)));
}

VEC vec_u32 vec_words_ahead(vec_u32 first, vec_u32 second, vec_u32 third, int n)
{
    (void)third;
    const vec_u32 middle = _mm256_permute2x128_si256(first, second, 0x21);
    return n == 2   ? _mm256_alignr_epi8(middle, first, 8)
           : n == 4 ? middle
           : n == 6 ? _mm256_alignr_epi8(second, middle, 8)
                    : second;
}

VEC vec_mask vec_are_different(vec_u32 a, vec_u32 b)
{
    return _mm256_castsi256_ps(_mm256_xor_si256(_mm256_cmpeq_epi32(a, b), vec_splat_u32(0xffffffffu)));
}

VEC bool vec_any_from(vec_u32 a, vec_u32 end)
{
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(a, end), a)) != 0;
}

VEC uint32_t vec_largest_u32(vec_u32 a)
{
    __m128i half = _mm_max_epu32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    half = _mm_max_epu32(half, _mm_unpackhi_epi64(half, half));
    return (uint32_t)_mm_cvtsi128_si32(_mm_max_epu32(half, _mm_shuffle_epi32(half, 1)));
}

VEC vec_bytes vec_splat_bytes(const uint8_t bytes[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)bytes));
}

/* Bytes with the opposite sign whose bit in `of`, which is one, is 1: with 127 it is negative. */
VEC vec_bytes vec_flip_bytes(vec_bytes a, vec_bytes bits, vec_bytes masks)
{
    return _mm256_sign_epi8(a, _mm256_add_epi8(_mm256_and_si256(bits, masks), vec_splat_u8(127)));
}

VEC vec_bytes vec_flip_in_order(vec_bytes a, const unsigned char *flips)
{
    int bits;
    if (!flips)
        return a;
    memcpy(&bits, flips, sizeof bits);
    const __m256i byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    return vec_flip_bytes(a, _mm256_shuffle_epi8(_mm256_set1_epi32(bits), byte),
                          _mm256_set1_epi64x((long long)0x8040201008040201));
}

VEC void store_doublets_of_12(unsigned char *out, const vec_bytes doublets[], const unsigned char *flips)
{
    const __m256i a = _mm256_permutevar8x32_epi32(doublets[0], _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 0, 0));
    const __m256i b = _mm256_permutevar8x32_epi32(doublets[1], _mm256_setr_epi32(2, 4, 5, 6, 0, 0, 0, 1));
    vec_store(out, vec_flip_in_order(_mm256_blend_epi32(a, b, 0xc0), flips));
    vec_store_half(out + 32, _mm256_castsi256_si128(vec_flip_in_order(b, flips_after(flips, 32))));
}

VEC void store_doublets_of_20(unsigned char *out, const vec_bytes doublets[], const unsigned char *flips)
{
    const __m256i end = _mm256_permutevar8x32_epi32(doublets[2], _mm256_setr_epi32(0, 4, 0, 5, 0, 0, 1, 0));
    const __m256i first = _mm256_permutevar8x32_epi32(doublets[0], _mm256_setr_epi32(0, 1, 2, 3, 0, 4, 5, 6));
    const __m256i a = _mm256_permutevar8x32_epi32(doublets[0], _mm256_setr_epi32(7, 0, 0, 0, 0, 0, 0, 0));
    const __m256i b = _mm256_permutevar8x32_epi32(doublets[1], _mm256_setr_epi32(0, 0, 0, 1, 2, 3, 0, 4));
    const __m256i last = _mm256_permutevar8x32_epi32(doublets[1], _mm256_setr_epi32(5, 6, 7, 0, 0, 0, 0, 0));
    const __m256i middle = _mm256_blend_epi32(_mm256_blend_epi32(a, b, 0xbc), end, 0x42);
    const __m256i rest = vec_flip_in_order(_mm256_blend_epi32(last, end, 0x08), flips_after(flips, 64));
    vec_store(out, vec_flip_in_order(_mm256_blend_epi32(first, end, 0x10), flips));
    vec_store(out + 32, vec_flip_in_order(middle, flips_after(flips, 32)));
    vec_store_half(out + 64, _mm256_castsi256_si128(rest));
}

VEC void vec_store_doublets(int m, void *to, const vec_bytes doublets[3], const unsigned char *flips)
{
    const __m128i first = _mm256_castsi256_si128(doublets[0]);
    if (m == 1)
        vec_store_half(
            to,
            _mm256_castsi256_si128(vec_flip_in_order(
                _mm256_castsi128_si256(_mm_unpacklo_epi32(first, _mm256_extracti128_si256(doublets[0], 1))), flips)));
    else if (m == 2)
        vec_store(to, vec_flip_in_order(_mm256_permute4x64_epi64(doublets[0], _MM_SHUFFLE(3, 1, 2, 0)), flips));
    else if (m == 3)
        store_doublets_of_12(to, doublets, flips);
    else
        store_doublets_of_20(to, doublets, flips);
}

/* Returns 128 bits of each quad's two symbols, beginning with pair number n: bit n % m of the first symbol, or of the
 * second one. */
VEC __m256d two_pairs(int m, const vec_f32 llrs[], int n)
{
    const __m256d first = _mm256_castps_pd(llrs[n % m]), second = _mm256_castps_pd(llrs[(n + 1) % m]);
    if (n + 1 < m)
        return _mm256_unpacklo_pd(first, second);
    return n < m ? _mm256_shuffle_pd(first, second, 0xa) : _mm256_unpackhi_pd(first, second);
}

/* Returns quads n and n + 1 of memory: quad n % m of the symbols in the lower half of a register, then of those in the
 * upper.
 */
VEC __m256i two_quads(int m, const vec_f32 llrs[], int n)
{
    const __m256d first = two_pairs(m, llrs, 2 * (n % m)), second = two_pairs(m, llrs, 2 * ((n + 1) % m));
    if (n + 1 < m)
        return _mm256_castpd_si256(_mm256_permute2f128_pd(first, second, 0x20));
    return _mm256_castpd_si256(n < m ? _mm256_permute2f128_pd(first, second, 0x30)
                                     : _mm256_permute2f128_pd(first, second, 0x31));
}

VEC void vec_store_f32_pairs(int m, void *to, const vec_f32 llrs[])
{
    unsigned char *out = to;
    VEC_UNROLL
    for (int n = 0; n < m; n++)
        vec_store(out + 32 * n, two_quads(m, llrs, 2 * n));
}

VEC __m128i vec_to_16(bool sums, vec_f32 a)
{
    const __m256i lower = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 4, 5, 8, 9,
                                           12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
    if (!sums)
        return _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return _mm256_castsi256_si128(
        _mm256_permute4x64_epi64(_mm256_shuffle_epi8(_mm256_castps_si256(a), lower), _MM_SHUFFLE(3, 1, 2, 0)));
}

/* Four symbols' first four bits an axis: 16 bytes each. */
typedef struct four_symbols {
    __m128i symbol[4];
} four_symbols;

VEC four_symbols bits_by_symbol(bool sums, const vec_f32 llrs[])
{
    __m128i pairs[4];
    VEC_UNROLL
    for (int k = 0; k < 4; k++)
        pairs[k] = vec_to_16(sums, llrs[k]);
    const __m128i s01_01 = _mm_unpacklo_epi32(pairs[0], pairs[1]), s23_01 = _mm_unpackhi_epi32(pairs[0], pairs[1]);
    const __m128i s01_23 = _mm_unpacklo_epi32(pairs[2], pairs[3]), s23_23 = _mm_unpackhi_epi32(pairs[2], pairs[3]);
    return (four_symbols){{_mm_unpacklo_epi64(s01_01, s01_23), _mm_unpackhi_epi64(s01_01, s01_23),
                           _mm_unpacklo_epi64(s23_01, s23_23), _mm_unpackhi_epi64(s23_01, s23_23)}};
}

VEC void vec_store_256qam_16(bool sums, void *to, const vec_f32 llrs[])
{
    const four_symbols symbols = bits_by_symbol(sums, llrs);
    unsigned char *out = to;
    VEC_UNROLL
    for (int k = 0; k < 4; k++)
        vec_store_half(out + 16 * k, symbols.symbol[k]);
}

VEC void store_16qam_16(bool sums, unsigned char *out, const vec_f32 llrs[])
{
    const __m128i first = vec_to_16(sums, llrs[0]), second = vec_to_16(sums, llrs[1]);
    vec_store_half(out, _mm_unpacklo_epi32(first, second));
    vec_store_half(out + 16, _mm_unpackhi_epi32(first, second));
}

/* Stores twelve times 32 bits: bit k of symbol s is number 3 s + k. */
VEC void store_64qam_16(bool sums, unsigned char *out, const vec_f32 llrs[])
{
    const __m128i p0 = vec_to_16(sums, llrs[0]), p1 = vec_to_16(sums, llrs[1]), p2 = vec_to_16(sums, llrs[2]);
    const __m128i s01 = _mm_unpacklo_epi32(p0, p1), s23 = _mm_unpackhi_epi32(p0, p1);
    const __m128i first = _mm_blend_epi32(_mm_shuffle_epi32(s01, _MM_SHUFFLE(2, 2, 1, 0)),
                                          _mm_shuffle_epi32(p2, _MM_SHUFFLE(0, 0, 0, 0)), 0x4);
    const __m128i second =
        _mm_blend_epi32(_mm_shuffle_epi32(s23, _MM_SHUFFLE(1, 0, 0, 0)),
                        _mm_blend_epi32(_mm_shuffle_epi32(s01, _MM_SHUFFLE(3, 3, 3, 3)), p2, 0x2), 0x3);
    const __m128i third = _mm_blend_epi32(_mm_shuffle_epi32(s23, _MM_SHUFFLE(3, 3, 2, 2)),
                                          _mm_shuffle_epi32(p2, _MM_SHUFFLE(3, 3, 3, 2)), 0x9);
    vec_store_half(out, first);
    vec_store_half(out + 16, second);
    vec_store_half(out + 32, third);
}

/* Stores 20 bytes a symbol. */
VEC void store_1024qam_16(bool sums, unsigned char *out, const vec_f32 llrs[])
{
    const four_symbols symbols = bits_by_symbol(sums, llrs);
    const __m128i last = vec_to_16(sums, llrs[4]);
    VEC_UNROLL
    for (int k = 0; k < 4; k++)
        _mm_storeu_si128((__m128i *)(void *)(out + 20 * k), symbols.symbol[k]);
    store_dword(out + 16, last);
    store_dword(out + 36, _mm_srli_si128(last, 4));
    store_dword(out + 56, _mm_srli_si128(last, 8));
    store_dword(out + 76, _mm_srli_si128(last, 12));
}

VEC void store_register_16(bool sums, int m, unsigned char *out, const vec_f32 llrs[])
{
    if (m == 1)
        vec_store_half(out, vec_to_16(sums, llrs[0]));
    else if (m == 2)
        store_16qam_16(sums, out, llrs);
    else if (m == 3)
        store_64qam_16(sums, out, llrs);
    else
        store_1024qam_16(sums, out, llrs);
}

VEC void vec_store_both_16(bool sums, int m, void *to, const vec_f32 a[], const vec_f32 b[])
{
    unsigned char *out = to;
    store_register_16(sums, m, out, a);
    store_register_16(sums, m, out + LANES / 2 * 4 * m, b);
}

VEC void vec_store_16(bool sums, void *to, vec_f32 llrs) { vec_store_half(to, vec_to_16(sums, llrs)); }

VEC void vec_store_s8(void *to, vec_s32 steps, vec_bytes min, vec_bytes max)
{
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(steps), _mm256_extracti128_si256(steps, 1));
    const __m128i limited = _mm_min_epi8(_mm_max_epi8(_mm_packs_epi16(words, words), _mm256_castsi256_si128(min)),
                                         _mm256_castsi256_si128(max));
    _mm_storel_epi64(to, limited);
}

/* Register q of four has I of symbols 4 q to 4 q + 3, then their Q: packing brings all 16 in order. */
VEC vec_f32 vec_plane_components(const vec_f32 from[4], int q)
{
    return vec_row_value(_mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7), from[q]);
}

VEC vec_f32 vec_plane_weights(bool load, const vec_f32 weights[2], int q)
{
    const vec_f32 both = weights[q / 2];
    return load         ? _mm256_broadcast_ps((const __m128 *)weights + q)
           : q % 2 == 0 ? _mm256_permute2f128_ps(both, both, 0x00)
                        : _mm256_permute2f128_ps(both, both, 0x11);
}

VEC vec_f32 vec_other_plane(const vec_f32 values[4], int q) { return _mm256_permute2f128_ps(values[q], values[q], 1); }
VEC vec_bytes vec_planes_apart(vec_bytes packed) { return packed; }

VEC void vec_store_two_planes(unsigned char *first, unsigned char *second, vec_bytes planes)
{
    _mm_storeu_si128((void *)first, _mm256_castsi256_si128(planes));
    _mm_storeu_si128((void *)second, _mm256_extracti128_si256(planes, 1));
}

VEC vec_bytes vec_load_plane_bits(const unsigned char *from, int nbytes)
{
    return (void)nbytes, _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)from));
}

#endif
