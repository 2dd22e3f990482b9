/* SPDX-License-Identifier: MIT */
/* Blocks of a batch seen as one long run of symbols, to be cut anywhere. */
#ifndef SOFTQAM_BLOCK_H
#define SOFTQAM_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include <softqam/softqam.h>

#include "plan.h"

/* A place in the run. */
typedef struct softqam_cursor {
    const softqam_plan *plan;
    const softqam_block *blocks;
    size_t n_blocks;
    size_t offset; /* into blocks[0] */
} softqam_cursor;

/* Symbols of all blocks together. */
size_t softqam_blocks_count(const softqam_block *blocks, size_t n_blocks);

/* The cursor at symbol `first` of the run. */
softqam_cursor softqam_cursor_at(const softqam_plan *plan, const softqam_block *blocks, size_t n_blocks, size_t first);

/* Takes the next symbols, all of one block and at most n_symbols > 0 of them; the run must have some left. The piece's
 * symbol_stride is never 0, and its noise_stride is 0 where it has no noise variance. */
softqam_block softqam_cursor_take(softqam_cursor *cursor, size_t n_symbols);

/* Whether a piece's symbols lie side by side, I and Q together. */
bool softqam_block_is_contiguous(const softqam_block *piece);

/* Copies a piece's symbols side by side. */
void softqam_block_gather_symbols(const softqam_plan *plan, const softqam_block *piece, void *symbols);

/* Writes a piece's noise variances, one a symbol. */
void softqam_block_gather_noise(const softqam_block *piece, float *noise_var);

#endif
