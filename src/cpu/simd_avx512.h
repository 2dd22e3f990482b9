/* SPDX-License-Identifier: MIT */
/* The operations of simd_operations.h on the 16 floats of a 512-bit register, and the loads and byte shuffles that
 * the loops also need. AVX-512 F, BW, DQ, VL; BMI2; PCLMULQDQ. */
#ifndef SOFTQAM_SIMD_AVX512_H
#define SOFTQAM_SIMD_AVX512_H

#include <immintrin.h>

#include "tables.h"

enum { LANES = 16, LIMITS_ARE_CHEAP = 1 /* vec_limit() */, LOADS_AHEAD = 1 /* llr_batch() */ };

typedef __m512 vec_f32;
typedef __m512i vec_u32;
typedef __m512i vec_s32;
typedef __m512i vec_bytes;
typedef __m256i vec_half;
typedef __mmask16 vec_mask;

/* A register holds 16 rows' values of one bit. */
typedef struct vec_llr_table {
    vec_f32 slopes[VECTOR_MAX_AXIS_BITS];
    vec_f32 intercepts[VECTOR_MAX_AXIS_BITS];
    vec_f32 row_scale;
    vec_f32 last_row;
} vec_llr_table;

#define LANE_NUMBERS  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define MM(operation) _mm512_##operation
#include "simd_x86.h"

VEC vec_f32 vec_flip(vec_f32 a, vec_u32 signs)
{
    enum { A_XOR_B_AND_C = 0x78 };
    return vec_from_bits(_mm512_ternarylogic_epi32(vec_bits(a), signs, vec_splat_u32(0x80000000u), A_XOR_B_AND_C));
}

VEC vec_f32 vec_limit(vec_f32 a, vec_f32 limit)
{
    enum { SMALLER_MAGNITUDE = 2, SIGN_OF_FIRST = 0 };
    return _mm512_range_ps(a, limit, SIGN_OF_FIRST << 2 | SMALLER_MAGNITUDE);
}

VEC vec_mask vec_both(vec_mask a, vec_mask b) { return _mm512_kand(a, b); }

/* With the bits of the least normal number added, infinities and NaNs are negative as integers, and negative numbers
 * stay negative or wrap around to less than those bits. (Subtracting 1 instead would let gcc make all ones in the loop,
 * by an instruction that on Intel waits for its register's last result, that of the iteration before.) */
VEC vec_mask vec_is_positive(vec_f32 a)
{
    const __m512i least_normal = _mm512_set1_epi32(0x00800000);
    return _mm512_cmpgt_epi32_mask(_mm512_add_epi32(vec_bits(a), least_normal), least_normal);
}

VEC vec_f32 vec_flush(vec_f32 magnitude, vec_f32 least)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(magnitude, least, _CMP_NLT_UQ), magnitude);
}

VEC vec_mask vec_is_less(vec_f32 a, vec_f32 b) { return _mm512_cmplt_ps_mask(a, b); }
VEC vec_mask vec_are_numbers(vec_f32 a, vec_f32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_ORD_Q); }
VEC vec_f32 vec_keep(vec_mask mask, vec_f32 a) { return _mm512_maskz_mov_ps(mask, a); }

VEC vec_f32 vec_choose(vec_mask mask, vec_f32 where_set, vec_f32 where_not)
{
    HIDE_MASK("Yk", mask);
    return _mm512_mask_mov_ps(where_not, mask, where_set);
}

VEC vec_f32 vec_row_value(vec_u32 row, vec_f32 values) { return _mm512_permutexvar_ps(row, values); }
VEC vec_f32 vec_column_value(const void *column, vec_u32 row) { return vec_row_value(row, vec_load_f32(column)); }

/* A permutation looks at the lowest four bits of a row's number, so row -r is in lane LANES - r, if there is room. */
VEC bool vec_has_signed_rows(int m) { return m > 2 && 2 << (m - 1) <= LANES; }

VEC vec_f32 vec_slope(int m, const vec_llr_table *table, vec_llr_row row, int k)
{
    return has_one_line(m, k) ? table->slopes[k] : vec_row_value(row, table->slopes[k]);
}

VEC vec_f32 vec_intercept(int m, const vec_llr_table *table, vec_llr_row row, int k)
{
    return has_one_line(m, k) ? table->intercepts[k] : vec_row_value(row, table->intercepts[k]);
}

#define VEC_HAS_MASKS
VEC __mmask64 first_bytes(size_t n) { return _bzhi_u64(UINT64_MAX, (unsigned)n); }

VEC vec_bytes vec_load_first(const void *from, size_t n, vec_bytes rest)
{
    return _mm512_mask_loadu_epi8(rest, first_bytes(n), from);
}

VEC void vec_store_first(void *to, vec_bytes a, size_t n) { _mm512_mask_storeu_epi8(to, first_bytes(n), a); }

#define VEC_HAS_BYTE_MASKS
VEC void vec_copy_first(size_t nbytes, unsigned char *to, const unsigned char *from, size_t n)
{
    const __mmask64 mask = first_bytes(n);
    if (__builtin_expect(crosses_page(to, sizeof(vec_bytes)), 0))
        memcpy(to, from, n);
    else if (nbytes == 64)
        _mm512_mask_storeu_epi8(to, mask, vec_load_bytes(from));
    else if (nbytes == 32)
        _mm256_mask_storeu_epi8(to, (__mmask32)mask, vec_load_half(from));
    else
        _mm_mask_storeu_epi8(to, (__mmask16)mask, _mm_loadu_si128((const void *)from));
}

VEC vec_f32 vec_load_s8(const void *from) { return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(from))); }

/* Loads one bit's values of the rows, and those of the rows of negative components if these have room. */
VEC vec_f32 load_rows(int m, const float *rows)
{
    const __m512i magnitudes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 7, 6, 5, 4, 3, 2, 1);
    return vec_has_signed_rows(m) ? _mm512_permutexvar_ps(magnitudes, vec_load_f32(rows)) : vec_load_f32(rows);
}

VEC vec_llr_table vec_load_llr_table(int m, const softqam_llr_table *from)
{
    enum { ROW_0_AND_NEGATIVE_ROWS = 0xff01 };
    vec_llr_table table;
    VEC_UNROLL
    for (int k = 0; k < m; k++) {
        table.slopes[k] = load_rows(m, from->slopes[k]);
        table.intercepts[k] = load_rows(m, from->intercepts[k]);
    }
    /* The first bit is odd in v; row 0's intercept of -0 keeps the sign of a zero. */
    if (vec_has_signed_rows(m))
        table.intercepts[0] =
            _mm512_mask_xor_ps(table.intercepts[0], ROW_0_AND_NEGATIVE_ROWS, table.intercepts[0], vec_splat(-0.0f));
    table.row_scale = vec_splat(from->row_scale);
    table.last_row = vec_splat(from->last_row);
    return table;
}

VEC vec_f32 vec_evens(vec_f32 a, vec_f32 b)
{
    return _mm512_permutex2var_ps(a, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), b);
}

VEC vec_f32 vec_odds(vec_f32 a, vec_f32 b)
{
    return _mm512_permutex2var_ps(a, _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31), b);
}

VEC vec_f32 vec_in_turns_lower(vec_f32 a, vec_f32 b)
{
    return _mm512_permutex2var_ps(a, _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), b);
}

VEC vec_f32 vec_in_turns_upper(vec_f32 a, vec_f32 b)
{
    return _mm512_permutex2var_ps(a, _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31),
                                  b);
}

VEC vec_f32 vec_duplicate_lower(vec_f32 a)
{
    return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7), a);
}

VEC vec_f32 vec_duplicate_upper(vec_f32 a)
{
    return _mm512_permutexvar_ps(_mm512_setr_epi32(8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15), a);
}

/* The next two do both steps at once by a shuffle of bytes under a mask that spares the other half. */
static const uint8_t halves_exchanged[16] = {2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13};

VEC vec_bytes vec_upper_words(vec_s32 a, vec_s32 b)
{
    const __m512i exchange = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)halves_exchanged));
    return _mm512_mask_shuffle_epi8(b, 0x3333333333333333, a, exchange);
}

VEC vec_bytes vec_lower_words(vec_s32 a, vec_s32 b)
{
    const __m512i exchange = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)halves_exchanged));
    return _mm512_mask_shuffle_epi8(a, 0xcccccccccccccccc, b, exchange);
}

#define VEC_HAS_WORD_TABLES

/* Returns the words of a table of 128 that the lower bytes of words name. */
VEC __m512i words_at(const int16_t *table, __m512i indices)
{
    const __m512i lower = _mm512_permutex2var_epi16(vec_load_bytes(table), indices, vec_load_bytes(table + 32));
    const __m512i upper = _mm512_permutex2var_epi16(vec_load_bytes(table + 64), indices, vec_load_bytes(table + 96));
    return _mm512_mask_mov_epi16(lower, _mm512_test_epi16_mask(indices, _mm512_set1_epi16(64)), upper);
}

VEC vec_lanes_u32 vec_add_words_at(vec_lanes_u32 sums, bool is_short, const int16_t *table, vec_bytes bytes)
{
    VEC_UNROLL
    for (int odd = 0; odd < 2; odd++) {
        const __m512i indices = odd ? _mm512_srli_epi16(bytes, 8) : _mm512_and_si512(bytes, _mm512_set1_epi16(255));
        __m512i words = words_at(table, indices);
        if (!is_short)
            words = _mm512_mask_mov_epi16(words, _mm512_test_epi16_mask(indices, _mm512_set1_epi16(128)),
                                          words_at(table + 128, indices));
        sums += (vec_lanes_u32)_mm512_madd_epi16(words, _mm512_set1_epi16(1));
    }
    return sums;
}

VEC unsigned vec_count_less(vec_bytes a, int n)
{
    return (unsigned)__builtin_popcountll(_mm512_cmplt_epu8_mask(a, vec_splat_u8(n)));
}

VEC bool vec_any_less_or_more(vec_bytes a, vec_bytes low, vec_s32 b, vec_s32 high)
{
    return _mm512_cmplt_epi16_mask(a, low) | _mm512_cmpgt_epi32_mask(b, high);
}

VEC vec_u32 vec_words_ahead(vec_u32 first, vec_u32 second, vec_u32 third, int n)
{
    (void)third;
    return n == 2   ? _mm512_alignr_epi32(second, first, 2)
           : n == 4 ? _mm512_alignr_epi32(second, first, 4)
           : n == 6 ? _mm512_alignr_epi32(second, first, 6)
                    : _mm512_alignr_epi32(second, first, 8);
}

VEC vec_mask vec_are_different(vec_u32 a, vec_u32 b) { return _mm512_cmpneq_epi32_mask(a, b); }
VEC bool vec_any_from(vec_u32 a, vec_u32 end) { return _mm512_cmpge_epu32_mask(a, end) != 0; }
VEC uint32_t vec_largest_u32(vec_u32 a) { return _mm512_reduce_max_epu32(a); }

VEC vec_bytes vec_splat_bytes(const uint8_t bytes[16])
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)bytes));
}

/* LLRs to memory, gathered from registers 32 bits at a time, by permutations whose indices the compiler computes. */

/* The register, and the place in it, that 32 bits of a register of memory come from. */
typedef struct origin {
    vec_lanes_u32 number;
    vec_lanes_u32 place;
} origin;

/* Returns a / b, for a < 204 and b <= 20: compilers take such vectors apart to divide them. */
VEC vec_lanes_u32 quotient(vec_lanes_u32 a, uint32_t b) { return a * (4096 / b + 1) >> 12; }
VEC vec_lanes_u32 remainder_of(vec_lanes_u32 a, uint32_t b) { return a - b * quotient(a, b); }

/* Returns the numbers of the 32 bits of memory's r-th register. */
VEC vec_lanes_u32 memory_numbers(int r) { return vec_lane_numbers() + 16 * (uint32_t)r; }

/* Returns the origin of doublets of s8, n dwords each; a quad has one of a, then one of b. */
VEC origin doublets_in_quads(uint32_t n, int r)
{
    const vec_lanes_u32 q = memory_numbers(r), doublet = quotient(q, n);
    return (origin){0 * q, doublet % 4 * 4 + doublet / 4 * n + remainder_of(q, n)};
}

/* Returns their origin if a's are in one register and b's in another; the fifth dwords lie in a third register's quads,
 * a's, then b's. */
VEC origin doublets_in_registers(uint32_t n, int r)
{
    const vec_lanes_u32 q = memory_numbers(r), doublet = quotient(q, n), dword = remainder_of(q, n);
    const vec_lanes_u32 is_fifth = (vec_lanes_u32)(dword == 4);
    const vec_lanes_u32 number = doublet / 4, place = doublet % 4 * 4 + dword;
    return (origin){(is_fifth & 2) | (~is_fifth & number),
                    (is_fifth & (doublet % 4 * 4 + number)) | (~is_fifth & place)};
}

/* Returns the origin of pairs of binary16, by bit: those of bits 0 and 1 of a, and so on, then those of b, and those of
 * the last bit, if m is odd, of a and b. */
VEC origin halves(uint32_t m, int r)
{
    const vec_lanes_u32 q = memory_numbers(r), symbols = quotient(q, m), bit = remainder_of(q, m);
    const vec_lanes_u32 is_last = (vec_lanes_u32)(bit / 2 == m / 2);
    const vec_lanes_u32 number = symbols / 8 * (m / 2) + bit / 2, place = bit % 2 * 8 + symbols % 8;
    return (origin){(is_last & (m - 1)) | (~is_last & number), (is_last & symbols) | (~is_last & place)};
}

/* Returns the origin of pairs of binary32 of one register's symbols, by bit. */
VEC origin floats(uint32_t m, int r)
{
    const vec_lanes_u32 q = memory_numbers(r), symbols = quotient(q, 2 * m), bit = remainder_of(q, 2 * m) / 2;
    return (origin){bit, symbols * 2 + q % 2};
}

/* Makes a register of memory from the registers of `from` whose bits of `which` are 1. */
VEC __m512i gathered_dwords(origin origins, const __m512i from[], unsigned which)
{
    const int first = __builtin_ctz(which);
    __m512i gathered = from[first];
    vec_lanes_u32 has = (vec_lanes_u32)(origins.number == (uint32_t)first), index = origins.place;
    if (which == 1u << first)
        return _mm512_permutexvar_epi32((__m512i)index, gathered);
    VEC_UNROLL
    for (int y = 1; y < VECTOR_MAX_AXIS_BITS; y++)
        if (y > first && which >> y & 1) { /* elements of other registers stay */
            const vec_lanes_u32 is_y = (vec_lanes_u32)(origins.number == (uint32_t)y);
            index = (is_y & (16 + origins.place)) | (has & index) | (~is_y & ~has & vec_lane_numbers());
            gathered = _mm512_permutex2var_epi32(gathered, (__m512i)index, from[y]);
            index = vec_lane_numbers();
            has = 0 * has;
        }
    return gathered;
}

VEC void store_lower_half(void *to, __m512i a) { _mm256_storeu_si256(to, _mm512_castsi512_si256(a)); }

VEC vec_bytes vec_flip_in_order(vec_bytes a, const unsigned char *flips)
{
    uint64_t mask;
    if (!flips)
        return a;
    memcpy(&mask, flips, sizeof mask);
    return _mm512_mask_sub_epi8(a, mask, _mm512_setzero_si512(), a);
}

/* Memory's first 4 m dwords are of a's doublets, the others of b's. */
VEC void vec_store_doublets(int m, void *to, const vec_bytes doublets[3], const unsigned char *flips)
{
    VEC_UNROLL
    for (int r = 0; 2 * r < m; r++) {
        const unsigned of_a = 4 * r<m, of_b = 4 * r + 4> m, which = m < 3 ? 1 : of_a | of_b << 1 | (m == 5) << 2;
        const origin origins = m < 3 ? doublets_in_quads((uint32_t)m, r) : doublets_in_registers((uint32_t)m, r);
        const vec_bytes bytes =
            vec_flip_in_order(gathered_dwords(origins, doublets, which), flips_after(flips, 64 * r));
        if (2 * r + 2 <= m)
            vec_store((unsigned char *)to + 64 * r, bytes);
        else
            store_lower_half((unsigned char *)to + 64 * r, bytes);
    }
}

VEC __m256i vec_to_16(bool sums, vec_f32 a)
{
    return sums ? _mm512_cvtepi32_epi16(_mm512_castps_si512(a))
                : _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* Returns the 16-bit values of a, then those of b. */
VEC __m512i vec_both_to_16(bool sums, vec_f32 a, vec_f32 b)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(vec_to_16(sums, a)), vec_to_16(sums, b), 1);
}

VEC void vec_store_256qam_16(bool sums, void *to, const vec_f32 llrs[])
{
    const __m512i from[] = {vec_both_to_16(sums, llrs[0], llrs[1]), vec_both_to_16(sums, llrs[2], llrs[3])};
    unsigned char *out = to;
    vec_store(out, gathered_dwords(halves(4, 0), from, 0x3));
    vec_store(out + 64, gathered_dwords(halves(4, 1), from, 0x3));
}

/* Stores an iteration's two registers of another modulation. Each register of memory comes from a's, from b's or from
 * both, and from the last bit's. */
VEC void vec_store_both_16(bool sums, int m, void *to, const vec_f32 a[], const vec_f32 b[])
{
    const int n = m / 2;
    const unsigned all_a = (1u << n) - 1, last = m % 2 ? 1u << (m - 1) : 0;
    unsigned char *out = to;
    __m512i from[VECTOR_MAX_AXIS_BITS];
    VEC_UNROLL
    for (int k = 0; k < n; k++) {
        from[k] = vec_both_to_16(sums, a[2 * k], a[2 * k + 1]);
        from[n + k] = vec_both_to_16(sums, b[2 * k], b[2 * k + 1]);
    }
    if (m % 2) /* m is 1: all of memory's register */
        from[m - 1] = vec_both_to_16(sums, a[m - 1], b[m - 1]);
    VEC_UNROLL
    for (int r = 0; r < m; r++) {
        const unsigned of_a = 16 * r / m < 8 ? all_a : 0, of_b = (16 * r + 15) / m >= 8 ? all_a << n : 0;
        vec_store(out + 64 * r, m == 1 ? from[0] : gathered_dwords(halves((uint32_t)m, r), from, of_a | of_b | last));
    }
}

/* Stores 256QAM's register as two quads a symbol, which takes as many operations as permutations, but fewer indices. */
VEC void store_256qam_f32(unsigned char *out, const vec_f32 llrs[])
{
    const __m512d p0 = _mm512_castps_pd(llrs[0]), p1 = _mm512_castps_pd(llrs[1]);
    const __m512d p2 = _mm512_castps_pd(llrs[2]), p3 = _mm512_castps_pd(llrs[3]);
    /* Within the quads: the first two and the last two pairs of the quad's first symbol and of its second. */
    const __m512d first_01 = _mm512_unpacklo_pd(p0, p1), second_01 = _mm512_unpackhi_pd(p0, p1);
    const __m512d first_23 = _mm512_unpacklo_pd(p2, p3), second_23 = _mm512_unpackhi_pd(p2, p3);
    const __m512i lower = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i upper = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const __m512d s02 = _mm512_permutex2var_pd(first_01, lower, first_23);
    const __m512d s13 = _mm512_permutex2var_pd(second_01, lower, second_23);
    const __m512d s46 = _mm512_permutex2var_pd(first_01, upper, first_23);
    const __m512d s57 = _mm512_permutex2var_pd(second_01, upper, second_23);
    const __m512d s01 = _mm512_shuffle_f64x2(s02, s13, _MM_SHUFFLE(1, 0, 1, 0));
    const __m512d s23 = _mm512_shuffle_f64x2(s02, s13, _MM_SHUFFLE(3, 2, 3, 2));
    const __m512d s45 = _mm512_shuffle_f64x2(s46, s57, _MM_SHUFFLE(1, 0, 1, 0));
    const __m512d s67 = _mm512_shuffle_f64x2(s46, s57, _MM_SHUFFLE(3, 2, 3, 2));
    vec_store(out, _mm512_castpd_si512(s01));
    vec_store(out + 64, _mm512_castpd_si512(s23));
    vec_store(out + 128, _mm512_castpd_si512(s45));
    vec_store(out + 192, _mm512_castpd_si512(s67));
}

VEC void vec_store_f32_pairs(int m, void *to, const vec_f32 llrs[])
{
    unsigned char *out = to;
    __m512i from[VECTOR_MAX_AXIS_BITS];
    const int n = m == 4 ? 0 : m;
    VEC_UNROLL
    for (int k = 0; k < m; k++)
        from[k] = vec_bits(llrs[k]);
    VEC_UNROLL
    for (int r = 0; r < n; r++)
        vec_store(out + 64 * r, m == 1 ? from[0] : gathered_dwords(floats((uint32_t)m, r), from, (1u << m) - 1));
    if (m == 4)
        store_256qam_f32(out, llrs);
}

VEC void vec_store_16(bool sums, void *to, vec_f32 llrs) { _mm256_storeu_si256(to, vec_to_16(sums, llrs)); }

VEC void vec_store_s8(void *to, vec_s32 steps, vec_bytes min, vec_bytes max)
{
    _mm_storeu_si128(to, _mm_min_epi8(_mm_max_epi8(_mm512_cvtsepi32_epi8(steps), _mm512_castsi512_si128(min)),
                                      _mm512_castsi512_si128(max)));
}

VEC vec_bytes vec_flip_bytes(vec_bytes a, vec_bytes bits, vec_bytes masks)
{
    return _mm512_mask_sub_epi8(a, _mm512_test_epi8_mask(bits, masks), _mm512_setzero_si512(), a);
}

VEC vec_f32 vec_plane_components(const vec_f32 from[4], int q)
{
    const vec_f32 a = from[q % 2 * 2], b = from[q % 2 * 2 + 1];
    return q < 2 ? vec_evens(a, b) : vec_odds(a, b);
}

VEC vec_f32 vec_plane_weights(bool load, const vec_f32 weights[2], int q) { return (void)load, weights[q % 2]; }
VEC vec_f32 vec_other_plane(const vec_f32 values[4], int q) { return values[q ^ 2]; }

VEC vec_bytes vec_planes_apart(vec_bytes packed)
{
    return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), packed);
}

VEC void vec_store_two_planes(unsigned char *first, unsigned char *second, vec_bytes planes)
{
    _mm256_storeu_si256((void *)first, _mm512_castsi512_si256(planes));
    _mm256_storeu_si256((void *)second, _mm512_extracti64x4_epi64(planes, 1));
}

VEC vec_bytes vec_load_plane_bits(const unsigned char *from, int nbytes)
{
    if (nbytes == 16)
        return _mm512_broadcast_i64x4(_mm256_loadu_si256((const void *)from));
    return _mm512_broadcast_i64x4(_mm256_loadu2_m128i((const void *)(from + nbytes), (const void *)from));
}

#endif
