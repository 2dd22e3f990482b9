/* SPDX-License-Identifier: MIT */
/* The Gold sequence of 3GPP TS 38.211 clause 5.2.1, c(n) = x1(n + 1600) + x2(n + 1600), from any position on, in words
 * of 32 bits, the first one lowest.
 *
 * Both sequences come from shift registers of 31 bits: x1(n+31) = x1(n+3) + x1(n) and x2(n+31) = x2(n+3) + x2(n+2) +
 * x2(n+1) + x2(n), modulo 2. The squares of their polynomials, x^62 + x^6 + 1 and x^62 + x^6 + x^4 + x^2 + 1, hold for
 * the sequences too, and for words of them, which is the same with 32 bits at once: so a window of 64 words gives the
 * next ones, w(i+64) = w(i+8) + w(i+2) and w(i+8) + w(i+6) + w(i+4) + w(i+2), as many at a time as a register holds. */
#ifndef SOFTQAM_GOLD_SEQUENCE_H
#define SOFTQAM_GOLD_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words, of which GOLD_BLOCK are made at a time. */
enum { GOLD_WINDOW = 64, GOLD_BLOCK = 16, GOLD_MAX_BLOCKS = 80 };

/* From x1 and x2, windows with room for n_blocks blocks behind them, which it fills, the first n_blocks blocks of the
 * sequence; all aligned to 64 bytes. Every instruction set has one (cpu/gold_loops.h). */
typedef void softqam_gold_loop(uint32_t *x1, uint32_t *x2, size_t n_blocks, uint32_t *words);

/* A place in a sequence, which moves on. */
typedef struct softqam_gold {
    softqam_gold_loop *loop;
    bool is_placed;
    uint32_t c_init;
    uint64_t position; /* of the windows' first bit */
    _Alignas(64) uint32_t x1[GOLD_WINDOW + GOLD_MAX_BLOCKS * GOLD_BLOCK];
    _Alignas(64) uint32_t x2[GOLD_WINDOW + GOLD_MAX_BLOCKS * GOLD_BLOCK];
} softqam_gold;

/* Makes the tables that places are found with, once in a process: before a call that must not wait. */
void softqam_gold_prepare(void);

/* In memory of any contents; softqam_gold_prepare() has been called. */
void softqam_gold_open(softqam_gold *self, softqam_gold_loop *loop);

/* Goes to bit `position` of c_init's sequence: by a shift where the last one ended just before it, else by a jump,
 * which takes as long to any place. */
void softqam_gold_seek(softqam_gold *self, uint32_t c_init, uint64_t position);

/* The next n_bits, at most GOLD_MAX_BLOCKS * GOLD_BLOCK * 32, at the front of whole blocks of words in memory that is
 * aligned to 64 bytes. Moves on by whole
 * words; softqam_gold_seek() finds the rest. */
void softqam_gold_take(softqam_gold *self, size_t n_bits, uint32_t *words);

#endif
