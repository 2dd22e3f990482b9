/* SPDX-License-Identifier: MIT */
/* The operations that simd_avx2.h and simd_avx512.h share. They include this after their types and MM(operation), which
 * is _mm256_operation or _mm512_operation. */
#ifndef SOFTQAM_SIMD_X86_H
#define SOFTQAM_SIMD_X86_H

#include <immintrin.h>

#include "gold.h"
#include "gold_polynomials.h"
#include "simd_vectors.h"

typedef vec_u32 vec_llr_row; /* numbers */

/* Hides from clang that a mask is a comparison: it would turn comparison and choice into a minimum or maximum, which
 * gives zero for a subnormal number while these are flushed. */
#if defined(__clang__)
#define HIDE_MASK(registers, mask) __asm__("" : "+" registers(mask))
#else
#define HIDE_MASK(registers, mask) ((void)0)
#endif

VEC vec_f32 vec_splat(float a) { return MM(set1_ps)(a); }
VEC vec_f32 vec_fma(vec_f32 a, vec_f32 b, vec_f32 c) { return MM(fmadd_ps)(a, b, c); }
VEC vec_f32 vec_min(vec_f32 a, vec_f32 b) { return MM(min_ps)(a, b); }
VEC vec_f32 vec_max(vec_f32 a, vec_f32 b) { return MM(max_ps)(a, b); }
VEC vec_f32 vec_at_least(vec_f32 a, vec_f32 least) { return MM(max_ps)(least, a); }
VEC vec_f32 vec_at_most(vec_f32 a, vec_f32 most) { return MM(min_ps)(most, a); }
VEC vec_f32 vec_abs(vec_f32 a) { return MM(andnot_ps)(vec_splat(-0.0f), a); }
VEC vec_u32 vec_to_index(vec_f32 a) { return MM(cvttps_epi32)(a); }

/* Rounds to nearest even. Numbers that do not fit, and NaN, give -2^31. */
VEC vec_s32 vec_round_s32(vec_f32 a) { return MM(cvtps_epi32)(a); }

/* Computes modulo 2^32, so that -2^31 stays what it is. */
VEC vec_s32 vec_abs_s32(vec_s32 a) { return MM(abs_epi32)(a); }
VEC vec_s32 vec_sub_s32(vec_s32 a, vec_s32 b) { return MM(sub_epi32)(a, b); }
VEC vec_s32 vec_max_s32(vec_s32 a, vec_s32 b) { return MM(max_epi32)(a, b); }
VEC vec_u32 vec_max_u32(vec_u32 a, vec_u32 b) { return MM(max_epu32)(a, b); }
VEC vec_u32 vec_min_u32(vec_u32 a, vec_u32 b) { return MM(min_epu32)(a, b); }

/* These are intrinsics, because with operators gcc makes loops that take up to 9 % longer. */
VEC vec_u32 vec_shift_left(vec_u32 a, int n) { return MM(slli_epi32)(a, (unsigned)n); }
VEC vec_u32 vec_shift_right_each(vec_u32 a, vec_u32 counts) { return MM(srlv_epi32)(a, counts); }
VEC vec_bytes vec_abs_s16(vec_bytes a) { return MM(abs_epi16)(a); }
VEC vec_bytes vec_abs_s8(vec_bytes a) { return MM(abs_epi8)(a); }
VEC vec_bytes vec_max_s8(vec_bytes a, vec_bytes b) { return MM(max_epi8)(a, b); }
VEC vec_bytes vec_min_s8(vec_bytes a, vec_bytes b) { return MM(min_epi8)(a, b); }
VEC vec_bytes vec_max_s16(vec_bytes a, vec_bytes b) { return MM(max_epi16)(a, b); }
VEC vec_bytes vec_min_s16(vec_bytes a, vec_bytes b) { return MM(min_epi16)(a, b); }
VEC vec_bytes vec_add_saturated_s8(vec_bytes a, vec_bytes b) { return MM(adds_epi8)(a, b); }
VEC vec_bytes vec_add_saturated_s16(vec_bytes a, vec_bytes b) { return MM(adds_epi16)(a, b); }

/* Returns whether all rows have the same line for a bit. */
VEC bool has_one_line(int m, int k) { return m == 1 || (m == 2 && k == 1); }

VEC vec_llr_row vec_llr_row_at(int m, const vec_llr_table *table, vec_f32 place)
{
    return (void)m, (void)table, vec_to_index(place);
}

VEC vec_f32 vec_only_slope(const vec_llr_table *table) { return table->slopes[0]; }

/* The following operations of simd_operations.h are for vector loops alone. The shuffles of the loops stay within
 * quads. */

VEC vec_f32 vec_firsts(vec_f32 a, vec_f32 b) { return MM(shuffle_ps)(a, b, _MM_SHUFFLE(2, 0, 2, 0)); }
VEC vec_f32 vec_seconds(vec_f32 a, vec_f32 b) { return MM(shuffle_ps)(a, b, _MM_SHUFFLE(3, 1, 3, 1)); }
VEC vec_f32 vec_swap_pairs(vec_f32 a) { return MM(permute_ps)(a, _MM_SHUFFLE(2, 3, 0, 1)); }
VEC vec_f32 vec_firsts_twice(vec_f32 a) { return MM(moveldup_ps)(a); }
VEC vec_f32 vec_seconds_twice(vec_f32 a) { return MM(movehdup_ps)(a); }
VEC vec_bytes vec_pack_s16(vec_s32 a, vec_s32 b) { return MM(packs_epi32)(a, b); }
VEC vec_bytes vec_pack_s8(vec_bytes a, vec_bytes b) { return MM(packs_epi16)(a, b); }
VEC vec_bytes vec_pack_u8(vec_bytes a, vec_bytes b) { return MM(packus_epi16)(a, b); }
VEC vec_bytes vec_interleave_bytes_lower(vec_bytes a, vec_bytes b) { return MM(unpacklo_epi8)(a, b); }
VEC vec_bytes vec_interleave_bytes_upper(vec_bytes a, vec_bytes b) { return MM(unpackhi_epi8)(a, b); }
VEC vec_bytes vec_shuffle_bytes(vec_bytes a, vec_bytes from) { return MM(shuffle_epi8)(a, from); }
VEC vec_bytes vec_table_bytes(vec_bytes table, vec_bytes from) { return vec_shuffle_bytes(table, from); }

VEC vec_lanes_u64 vec_add_bytes(vec_lanes_u64 sums, vec_bytes a)
{
    return sums + (vec_lanes_u64)MM(sad_epu8)(a, vec_splat_u8(0));
}

/* Half a register, at any address. */
typedef vec_half __attribute__((aligned(1), may_alias)) vec_half_anywhere;

VEC vec_half vec_load_half(const void *from) { return *(const vec_half_anywhere *)from; }
VEC void vec_store_half(void *to, vec_half a) { *(vec_half_anywhere *)to = a; }
VEC vec_f32 vec_load_s16(const void *from) { return MM(cvtepi32_ps)(MM(cvtepi16_epi32)(vec_load_half(from))); }
VEC vec_f32 vec_load_f16(const void *from) { return MM(cvtph_ps)(vec_load_half(from)); }

/* Returns the flips after those of the first n bytes of memory. */
VEC const unsigned char *flips_after(const unsigned char *flips, int n) { return flips ? flips + n / 8 : NULL; }

/* 16 bytes. */
typedef __m128i vec_quad;

VEC vec_quad vec_quad_ahead(vec_quad first, vec_quad second, int n)
{
    return n == 1   ? _mm_alignr_epi8(second, first, 1)
           : n == 2 ? _mm_alignr_epi8(second, first, 2)
           : n == 3 ? _mm_alignr_epi8(second, first, 3)
                    : _mm_alignr_epi8(second, first, 4);
}

VEC void vec_quad_store(uint32_t *to, vec_quad a) { _mm_store_si128((void *)to, a); }

/* Stores a double word to any address. */
VEC void store_dword(unsigned char *to, __m128i a)
{
    const int dword = _mm_cvtsi128_si32(a);
    memcpy(to, &dword, sizeof dword);
}

/* The first bits from any place in the Gold sequence on, as softqam_gold_jump() computes them, by the product of
 * polynomials over two elements. */
#define VEC_HAS_GOLD_QUADS

/* Returns the lower words' product, and that of a's lower word with b's upper one. */
VEC __m128i product_of(__m128i a, __m128i b) { return _mm_clmulepi64_si128(a, b, 0x00); }

VEC __m128i product_of_upper(__m128i a, __m128i b) { return _mm_clmulepi64_si128(a, b, 0x10); }

VEC __m128i polynomial(uint64_t a) { return _mm_cvtsi64_si128((long long)a); }

/* Returns a product without its terms of x^31 and higher, the lowest 30 bits, in whose place it has lower ones: up to
 * x^32. The constant term is in bit 60. */
VEC __m128i folded(gold_register which, __m128i product)
{
    const __m128i high = _mm_and_si128(product, polynomial(0x3fffffff));
    return _mm_xor_si128(product, product_of(high, polynomial(which == GOLD_X1 ? 0x90000001 : 0xf0000001)));
}

/* Returns 128 bits, from 64 `word` on, of the sequence of a polynomial f up to x^62, its constant term in bit 62: the
 * products of its terms with the sequence of 1, which is the sum of the sequences of the terms. */
VEC vec_quad quad_of(const uint64_t ones[GOLD_ONES], __m128i f, int word)
{
    const __m128i first = _mm_loadu_si128((const void *)(ones + word)), last = polynomial(ones[word + 2]);
    const __m128i low = product_of(f, first), middle = product_of_upper(f, first), high = product_of(f, last);
    return _mm_xor_si128(_mm_unpackhi_epi64(low, middle), _mm_unpacklo_epi64(middle, high));
}

/* Makes of each register's sequence the first 256 bits, or 128 if these are enough. */
VEC void gold_quads_at(uint32_t c_init, uint64_t position, size_t n_bits, vec_quad x1[2], vec_quad x2[2])
{
    const uint32_t n = gold_index(position);
    const uint32_t *first = softqam_gold_powers[n % (1 << GOLD_BITS_1)];
    const uint32_t *second = softqam_gold_powers[GOLD_BEGIN_2 + (n >> GOLD_BITS_1) % (1 << GOLD_BITS_2)];
    const uint32_t *third = softqam_gold_powers[GOLD_BEGIN_3 + (n >> (GOLD_BITS_1 + GOLD_BITS_2))];
    __m128i f[2];
    for (int k = GOLD_X1; k <= GOLD_X2; k++) {
        const gold_register which = (gold_register)k;
        __m128i last = polynomial(third[k]);
        if (which == GOLD_X2) {
            last = product_of(last, polynomial(gold_polynomial_of(which, c_init)));
            last = _mm_srli_epi64(folded(which, folded(which, last)), 30);
        }
        const __m128i product = folded(which, product_of(polynomial(first[k]), polynomial(second[k])));
        f[k] = product_of(_mm_srli_epi64(product, 28), last);
    }
    for (int quad = 0; quad < 2 && (quad == 0 || n_bits > 128); quad++) {
        x1[quad] = quad_of(softqam_gold_ones[GOLD_X1], f[GOLD_X1], 2 * quad);
        x2[quad] = quad_of(softqam_gold_ones[GOLD_X2], f[GOLD_X2], 2 * quad);
    }
}

#endif
