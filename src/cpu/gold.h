/* SPDX-License-Identifier: MIT */
/* The Gold sequence of 3GPP TS 38.211 clause 5.2.1, c(n) = x1(n + 1600) + x2(n + 1600), from any position on, in words
 * of 32 bits, the first one lowest.
 *
 * Both sequences come from shift registers of 31 bits: x1(n+31) = x1(n+3) + x1(n) and x2(n+31) = x2(n+3) + x2(n+2) +
 * x2(n+1) + x2(n), modulo 2. The squares of their polynomials, x^62 + x^6 + 1 and x^62 + x^6 + x^4 + x^2 + 1, hold for
 * the sequences too, and for words of them, which is the same with 32 bits at once: so a window of 64 words gives the
 * next one, w(i+64) = w(i+8) + w(i+2) and w(i+8) + w(i+6) + w(i+4) + w(i+2), as many words at a time as a register
 * holds. */
#ifndef SOFTQAM_CPU_GOLD_H
#define SOFTQAM_CPU_GOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GOLD_WINDOW = 64, /* words */ GOLD_WINDOW_BITS = 32 * GOLD_WINDOW };

typedef struct softqam_gold_windows {
    _Alignas(64) uint32_t x1[GOLD_WINDOW];
    _Alignas(64) uint32_t x2[GOLD_WINDOW];
} softqam_gold_windows;

/* Each instruction set has these (gold_loops.c, portable.c). */
typedef struct softqam_gold_loops {
    /* Makes the windows at bit `position` of c_init's sequence, in the same time for any position: their first n_bits,
     * and some more. Call softqam_gold_prepare() before. */
    void (*jump)(softqam_gold_windows *windows, uint32_t c_init, uint64_t position, size_t n_bits);
    /* Writes the next n windows of the sequence to any address, and moves on by n windows. */
    void (*take)(softqam_gold_windows *windows, size_t n, void *words);
} softqam_gold_loops;

/* A position in a sequence. */
typedef struct softqam_gold {
    softqam_gold_windows windows;
    softqam_gold_loops loops;
    bool has_windows;
    uint32_t c_init;
    uint64_t position; /* the windows' first bit */
    size_t n_bits;     /* bits that the windows have */
} softqam_gold;

/* Both registers' sequences of the polynomial 1, moved up by two bits, so that bit 62 of a polynomial times these bits
 * is bit 64 of the product. */
enum { GOLD_ONES = 5 };
extern uint64_t softqam_gold_ones[2][GOLD_ONES];

/* Makes the tables for jumps, once in a process. Called early, so that no call has to wait for it. */
void softqam_gold_prepare(void);

/* softqam_gold_loops.jump in plain C. */
void softqam_gold_jump(softqam_gold_windows *windows, uint32_t c_init, uint64_t position, size_t n_bits);

/* Initialises *self. Call softqam_gold_prepare() before. */
void softqam_gold_open(softqam_gold *self, softqam_gold_loops loops);

/* Makes n_bits of c_init's sequence, from bit `position` on, and returns where they begin in `words`, which has room
 * for them, a window and a word. A call that continues the last one needs no jump. */
const unsigned char *softqam_gold_bits(softqam_gold *self, uint32_t c_init, uint64_t position, size_t n_bits,
                                       uint32_t *words);

/* Writes the windows' bits from `first` to `end` to where they belong in `words`, and some more: whole blocks of
 * words. */
void softqam_gold_front(const softqam_gold_windows *windows, size_t first, size_t end, uint32_t *words);

#endif
