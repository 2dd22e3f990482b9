/* SPDX-License-Identifier: MIT */
/* What simd_avx2.h and simd_avx512.h have in common: operations on 128 bits and on words, and what is of no instruction
 * set. */
#ifndef SOFTQAM_SIMD_X86_H
#define SOFTQAM_SIMD_X86_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tables.h"

_Static_assert(MAX_AXIS_BITS == 5, "registers hold rows, negative ones too, and symbols of up to five bits an axis");

#define VEC        static inline __attribute__((always_inline))
#define VEC_UNROLL _Pragma("GCC unroll 8")

/* Registers of words and of bytes have one type. */
#define vec_or_u32 vec_or

/* 16 bytes. */
typedef __m128i vec_part;

/* The bytes from n on, 1 to 4, of two that follow on one another. */
VEC vec_part vec_part_ahead(vec_part first, vec_part second, int n)
{
    return n == 1   ? _mm_alignr_epi8(second, first, 1)
           : n == 2 ? _mm_alignr_epi8(second, first, 2)
           : n == 3 ? _mm_alignr_epi8(second, first, 3)
                    : _mm_alignr_epi8(second, first, 4);
}

VEC vec_part vec_part_xor(vec_part a, vec_part b) { return _mm_xor_si128(a, b); }

/* To any address. */
VEC void store_dword(unsigned char *to, __m128i a)
{
    const int dword = _mm_cvtsi128_si32(a);
    memcpy(to, &dword, sizeof dword);
}

/* Whether all rows have the same line for a bit. */
VEC bool has_one_line(int m, int k) { return m == 1 || (m == 2 && k == 1); }

/* Those behind the first n bytes of memory. */
VEC const unsigned char *flips_behind(const unsigned char *flips, int n) { return flips ? flips + n / 8 : NULL; }

/* Aligned. */
VEC void vec_part_store(uint32_t *to, vec_part a) { _mm_store_si128((void *)to, a); }

#endif
