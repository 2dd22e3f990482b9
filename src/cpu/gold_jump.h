/* SPDX-License-Identifier: MIT */
/* The first bits from any place in the Gold sequence on, in plain C. */
#ifndef SOFTQAM_CPU_GOLD_JUMP_H
#define SOFTQAM_CPU_GOLD_JUMP_H

#include "gold_polynomials.h"

/* Makes 256 bits of each register's sequence. */
typedef struct gold_first_bits {
    uint64_t x1[4];
    uint64_t x2[4];
} gold_first_bits;

static inline __attribute__((always_inline)) uint32_t multiply_modulo(gold_register which, uint32_t a, uint32_t b)
{
    return gold_modulo(which, gold_product(a, b));
}

static inline __attribute__((always_inline)) void continue_bits(gold_register which, uint32_t polynomial,
                                                                uint64_t bits[4])
{
    bits[0] = gold_lengthened(which, gold_bits_of(which, polynomial));
    for (int k = 0; k < 3; k++)
        bits[k + 1] = gold_next_64(which, bits[k]);
}

/* Jumps with both registers step by step together, so that one computes while the other waits for its results. */
static inline __attribute__((always_inline)) gold_first_bits first_bits_at(uint32_t c_init, uint64_t position)
{
    const uint32_t n = gold_index(position);
    const uint32_t *first = softqam_gold_powers[n % (1 << GOLD_BITS_1)];
    const uint32_t *second = softqam_gold_powers[GOLD_BEGIN_2 + (n >> GOLD_BITS_1) % (1 << GOLD_BITS_2)];
    const uint32_t *third = softqam_gold_powers[GOLD_BEGIN_3 + (n >> (GOLD_BITS_1 + GOLD_BITS_2))];
    const uint32_t x1 = multiply_modulo(GOLD_X1, first[GOLD_X1], second[GOLD_X1]);
    const uint32_t x2 = multiply_modulo(GOLD_X2, first[GOLD_X2], second[GOLD_X2]);
    const uint32_t c = multiply_modulo(GOLD_X2, gold_polynomial_of(GOLD_X2, c_init), third[GOLD_X2]);
    gold_first_bits bits;
    continue_bits(GOLD_X1, multiply_modulo(GOLD_X1, x1, third[GOLD_X1]), bits.x1);
    continue_bits(GOLD_X2, multiply_modulo(GOLD_X2, x2, c), bits.x2);
    return bits;
}

#endif
