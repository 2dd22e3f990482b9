/* SPDX-License-Identifier: MIT */
/* Counting the statistics of a tile whose LLRs lie in the L1 cache. */
#ifndef SOFTQAM_CPU_STATISTICS_H
#define SOFTQAM_CPU_STATISTICS_H

#include "loops.h"

/* A tile, and what a loop has made of it. */
typedef struct softqam_counted_tile {
    const softqam_loop_call *call;
    const softqam_count_loops *loops;
    softqam_information information;
    const uint64_t
        *erased; /* NULL or, after joint demapping, a bit for each symbol, set for erasures, and one more word */
    int axis_bits;
    uint32_t codeword_symbol; /* the first symbol's number in the codeword, modulo 2^32 */
    bool is_fast;             /* all on the fast path: no erasures but by infinite noise values and vanishing weights */
} softqam_counted_tile;

/* Sets the bits of erasures among `layers` of n_layers: bit k says that layer k is one. */
void softqam_find_erasures(const softqam_loop_call *call, unsigned layers, unsigned n_layers, uint64_t *erased);

/* Adds the statistics of a tile's symbols, noise values and LLRs to `to`. */
void softqam_count_tile(const softqam_counted_tile *tile, softqam_statistics *to);

#endif
