/* SPDX-License-Identifier: MIT */
/* The Gold sequence for vectors: included by the file of each instruction set after its SIMD header. Registers are read
 * as they were written, and what lies between two of them is taken from both: a processor does not pass on what it has
 * just stored to a load of parts of two stores. */
#ifndef SOFTQAM_CPU_GOLD_LOOPS_H
#define SOFTQAM_CPU_GOLD_LOOPS_H

#include "gold_sequence.h"

static void gold_words(uint32_t *x1, uint32_t *x2, size_t n_blocks, uint32_t *words)
{
    for (size_t k = 0; k < n_blocks * GOLD_BLOCK; k += LANES) {
        const vec_u32 next1 = vec_xor_u32(vec_words_ahead(x1 + k, 2), vec_words_ahead(x1 + k, 8));
        const vec_u32 next2 = vec_xor_u32(vec_xor_u32(vec_words_ahead(x2 + k, 2), vec_words_ahead(x2 + k, 4)),
                                          vec_xor_u32(vec_words_ahead(x2 + k, 6), vec_words_ahead(x2 + k, 8)));
        vec_store_u32(words + k, vec_xor_u32(vec_load_u32(x1 + k), vec_load_u32(x2 + k)));
        vec_store_u32(x1 + k + GOLD_WINDOW, next1);
        vec_store_u32(x2 + k + GOLD_WINDOW, next2);
    }
}

#endif
