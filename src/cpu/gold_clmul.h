/* SPDX-License-Identifier: MIT */
/* The first bits from any place in the Gold sequence on, by x86's product of polynomials over two elements: what
 * gold_jump.h computes. */
#ifndef SOFTQAM_CPU_GOLD_CLMUL_H
#define SOFTQAM_CPU_GOLD_CLMUL_H

#include "gold.h"
#include "gold_polynomials.h"

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
