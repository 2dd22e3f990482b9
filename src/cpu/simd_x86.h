/* SPDX-License-Identifier: MIT */
/* What simd_avx2.h and simd_avx512.h have in common: operations on 128 bits and on words. */
#ifndef SOFTQAM_SIMD_X86_H
#define SOFTQAM_SIMD_X86_H

#include <immintrin.h>
#include <stdint.h>

#define VEC        static inline __attribute__((always_inline))
#define VEC_UNROLL _Pragma("GCC unroll 8")

/* 16 bytes. */
typedef __m128i vec_part;

VEC vec_part vec_part_of(uint64_t low, uint64_t high)
{
    return _mm_set_epi64x((long long)high, (long long)low);
}

/* The bytes from n on, 1 to 4, of two that follow on one another. */
VEC vec_part vec_part_ahead(vec_part first, vec_part second, int n)
{
    return n == 1   ? _mm_alignr_epi8(second, first, 1)
           : n == 2 ? _mm_alignr_epi8(second, first, 2)
           : n == 3 ? _mm_alignr_epi8(second, first, 3)
                    : _mm_alignr_epi8(second, first, 4);
}

VEC vec_part vec_part_xor(vec_part a, vec_part b)
{
    return _mm_xor_si128(a, b);
}

/* Aligned. */
VEC void vec_part_store(uint32_t *to, vec_part a)
{
    _mm_store_si128((void *)to, a);
}

/* Of polynomials over two elements. */
VEC uint64_t carryless_product(uint32_t a, uint32_t b)
{
    return (uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(_mm_cvtsi64_si128(a), _mm_cvtsi64_si128(b), 0));
}

#endif
