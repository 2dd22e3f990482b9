/* SPDX-License-Identifier: MIT */
#include "gold.h"

#include <pthread.h>
#include <string.h>

#include "gold_polynomials.h"

uint32_t softqam_gold_powers[GOLD_POWERS][2];
uint64_t softqam_gold_ones[2][GOLD_ONES];

static uint32_t multiply(gold_register which, uint32_t a, uint32_t b) { return gold_modulo(which, gold_product(a, b)); }

static uint32_t power_of(gold_register which, uint32_t base, unsigned n)
{
    uint32_t power = 1u << 30;
    for (; n > 0; n /= 2, base = multiply(which, base, base))
        if (n % 2)
            power = multiply(which, power, base);
    return power;
}

static void build_powers(void)
{
    static const unsigned begins[GOLD_DIGITS + 1] = {0, GOLD_BEGIN_2, GOLD_BEGIN_3, GOLD_POWERS};
    for (int k = GOLD_X1; k <= GOLD_X2; k++) {
        const gold_register which = (gold_register)k;
        uint32_t base = 1u << 29; /* x */
        uint64_t bits = gold_lengthened(which, 1), previous = 0;
        for (int word = 0; word < GOLD_ONES; word++, previous = bits, bits = gold_next_64(which, bits))
            softqam_gold_ones[which][word] = bits << 2 | previous >> 62;
        for (int digit = 0; digit < GOLD_DIGITS; digit++) {
            uint32_t power = power_of(which, base, digit == 0 ? GOLD_OFFSET : 0);
            for (unsigned d = begins[digit]; d < begins[digit + 1]; d++) {
                softqam_gold_powers[d][which] = power;
                power = multiply(which, power, base);
            }
            base = power_of(which, base, begins[digit + 1] - begins[digit]);
        }
    }
}

void softqam_gold_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, build_powers);
}

static void fill_window(gold_register which, uint32_t polynomial, size_t n_bits, uint32_t *window)
{
    uint64_t bits = gold_lengthened(which, gold_bits_of(which, polynomial));
    for (size_t k = 0; 32 * k < n_bits; k += 2, bits = gold_next_64(which, bits))
        memcpy(window + k, &bits, sizeof bits);
}

void softqam_gold_jump(softqam_gold_windows *windows, uint32_t c_init, uint64_t position, size_t n_bits)
{
    const uint32_t n = gold_index(position);
    const uint32_t *first = softqam_gold_powers[n % (1 << GOLD_BITS_1)];
    const uint32_t *second = softqam_gold_powers[GOLD_BEGIN_2 + (n >> GOLD_BITS_1) % (1 << GOLD_BITS_2)];
    const uint32_t *third = softqam_gold_powers[GOLD_BEGIN_3 + (n >> (GOLD_BITS_1 + GOLD_BITS_2))];
    const uint32_t x1 = multiply(GOLD_X1, first[GOLD_X1], second[GOLD_X1]);
    const uint32_t x2 = multiply(GOLD_X2, first[GOLD_X2], second[GOLD_X2]);
    const uint32_t c = multiply(GOLD_X2, gold_polynomial_of(GOLD_X2, c_init), third[GOLD_X2]);
    fill_window(GOLD_X1, multiply(GOLD_X1, x1, third[GOLD_X1]), n_bits, windows->x1);
    fill_window(GOLD_X2, multiply(GOLD_X2, x2, c), n_bits, windows->x2);
}

void softqam_gold_open(softqam_gold *self, softqam_gold_loops loops)
{
    self->loops = loops;
    self->has_windows = false;
}

typedef uint32_t four_words __attribute__((vector_size(16)));

void softqam_gold_front(const softqam_gold_windows *windows, size_t first, size_t end, uint32_t *words)
{
    enum { BLOCK = 16 };
    for (size_t k = first / (32 * BLOCK) * (32 * BLOCK); k < end; k += 32 * BLOCK)
        /* By four words: a later load of several words would wait for stores of single ones. */
        for (size_t j = k / 32; j < k / 32 + BLOCK; j += 4) {
            four_words x1, x2;
            memcpy(&x1, windows->x1 + j, sizeof x1);
            memcpy(&x2, windows->x2 + j, sizeof x2);
            x1 ^= x2;
            memcpy(words + j, &x1, sizeof x1);
        }
}

const unsigned char *softqam_gold_bits(softqam_gold *self, uint32_t c_init, uint64_t position, size_t n_bits,
                                       uint32_t *words)
{
    uint64_t ahead = position - self->position;
    const bool follows = self->has_windows && self->c_init == c_init && position >= self->position &&
                         ahead < GOLD_WINDOW_BITS && ahead % 8 == 0;
    if (!follows || (ahead + n_bits > self->n_bits && self->n_bits < GOLD_WINDOW_BITS)) {
        /* A short call needs few bits. If a call continues where the last one ended, the next one probably will too. */
        self->n_bits = follows || n_bits > GOLD_WINDOW_BITS ? GOLD_WINDOW_BITS : n_bits;
        self->loops.jump(&self->windows, c_init, position, self->n_bits);
        self->has_windows = true;
        self->c_init = c_init;
        self->position = position;
        ahead = 0;
    }
    const size_t n_windows = (ahead + n_bits) / GOLD_WINDOW_BITS;
    if (n_windows > 0)
        self->loops.take(&self->windows, n_windows, words);
    self->position += n_windows * GOLD_WINDOW_BITS;
    self->has_windows = self->position >= n_windows * GOLD_WINDOW_BITS; /* false if the position has wrapped around */
    softqam_gold_front(&self->windows, n_windows > 0 ? 0 : ahead, (ahead + n_bits) % GOLD_WINDOW_BITS,
                       words + n_windows * GOLD_WINDOW);
    return (const unsigned char *)words + ahead / 8;
}
