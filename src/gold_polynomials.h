/* SPDX-License-Identifier: MIT */
/* Places in the shift registers of the Gold sequence. With polynomials over two elements modulo those of the registers,
 * x^31 + x^3 + 1 and x^31 + x^3 + x^2 + x + 1, bit n of a register's sequence is the constant term of f x^n, where the
 * register's first 31 bits say what f is: 1 for x1. So a place is a product of powers of x from tables.
 *
 * Polynomials have the constant term in bit 30 and x^30 in bit 0: then f and 31 bits of a sequence differ by a rotation
 * and by two bits. */
#ifndef SOFTQAM_GOLD_POLYNOMIALS_H
#define SOFTQAM_GOLD_POLYNOMIALS_H

#include <stdint.h>

/* Kernels have these functions too, and their tables are made of them when they are compiled. */
#ifdef __CUDACC__
#define GOLD_FUNCTION static __host__ __device__ __forceinline__ constexpr
#else
#define GOLD_FUNCTION static inline
#endif

typedef enum gold_register { GOLD_X1, GOLD_X2 } gold_register;

/* The sequence begins at this bit of x1 and x2, whose period is GOLD_PERIOD. */
enum { GOLD_OFFSET = 1600 };
#define GOLD_PERIOD 0x7fffffffu

/* x^(d + GOLD_OFFSET), x^(d 2^11) and x^(d 2^21) modulo either polynomial, for the digits of a place. */
enum { GOLD_DIGITS = 3, GOLD_POWERS = 4096 };
extern uint32_t softqam_gold_powers[GOLD_POWERS][2];

/* The first digit's bits, and where the powers of the second and third begin. */
enum { GOLD_BITS_1 = 11, GOLD_BITS_2 = 10, GOLD_BEGIN_2 = 2048, GOLD_BEGIN_3 = 3072 };

/* Returns a position modulo the period, by 2^31 = 1. Folding twice leaves up to GOLD_PERIOD. */
GOLD_FUNCTION uint32_t gold_index(uint64_t position)
{
    uint64_t n = (position & GOLD_PERIOD) + (position >> 31 & GOLD_PERIOD) + (position >> 62);
    n = (n & GOLD_PERIOD) + (n >> 31);
    return (uint32_t)((n & GOLD_PERIOD) + (n >> 31));
}

/* Returns the product before it is taken modulo a polynomial, four bits of b at a time. */
GOLD_FUNCTION uint64_t gold_product(uint32_t a, uint32_t b)
{
    uint64_t multiples[16] = {0, a};
    for (unsigned k = 2; k < 16; k += 2) {
        multiples[k] = multiples[k / 2] << 1;
        multiples[k + 1] = multiples[k] ^ a;
    }
    uint64_t product = 0;
    for (int shift = 28; shift >= 0; shift -= 4)
        product = product << 4 ^ multiples[b >> shift & 15];
    return product;
}

/* Replaces the terms x^31 and higher, the lowest 30 bits, by lower ones; two of these may again be higher than x^30. */
GOLD_FUNCTION uint64_t gold_folded(gold_register which, uint64_t a)
{
    const uint64_t high = a & 0x3fffffffu;
    return which == GOLD_X1 ? high << 31 ^ high << 28 : high << 31 ^ high << 30 ^ high << 29 ^ high << 28;
}

GOLD_FUNCTION uint32_t gold_modulo(gold_register which, uint64_t product)
{
    const uint64_t once = gold_folded(which, product);
    return (uint32_t)((product ^ once ^ gold_folded(which, once)) >> 30);
}

/* Returns the bits that a rotation leaves wrong: the constant terms of x^59 and, x2, of x^60. */
GOLD_FUNCTION uint32_t gold_correction(gold_register which, uint32_t rotated)
{
    return which == GOLD_X1 ? (rotated & 3) << 28 : (rotated & 3) << 28 ^ (rotated & 1) << 29;
}

GOLD_FUNCTION uint32_t gold_polynomial_of(gold_register which, uint32_t bits)
{
    const uint32_t rotated = bits >> 1 | (bits & 1) << 30;
    return rotated ^ gold_correction(which, rotated);
}

GOLD_FUNCTION uint32_t gold_bits_of(gold_register which, uint32_t polynomial)
{
    return (polynomial << 1 & GOLD_PERIOD) ^ gold_correction(which, polynomial) << 1 ^ polynomial >> 30;
}

/* Returns bits 0 to 63 of a sequence whose first 31 are given. The next 28 depend on these alone, the last five on
 * those 28 too. */
GOLD_FUNCTION uint64_t gold_lengthened(gold_register which, uint64_t bits)
{
    for (int have = 31; have < 64; have += 28) {
        const uint64_t window = bits >> (have - 31);
        const uint64_t next = window ^ window >> 3 ^ (which == GOLD_X1 ? 0 : window >> 1 ^ window >> 2);
        bits |= (next & 0xfffffffu) << have;
    }
    return bits;
}

/* Returns the 64 bits after 64 bits, by the squared polynomials. The first 56 depend on these alone, the last 8 also on
 * the first 8 of them. */
GOLD_FUNCTION uint64_t gold_next_64(gold_register which, uint64_t bits)
{
    if (which == GOLD_X1) {
        const uint64_t most = bits >> 2 ^ bits >> 8;
        return most ^ most << 62 ^ most << 56;
    }
    const uint64_t most = bits >> 2 ^ bits >> 4 ^ bits >> 6 ^ bits >> 8;
    return most ^ most << 62 ^ most << 60 ^ most << 58 ^ most << 56;
}

#endif
