/* SPDX-License-Identifier: MIT */
#include "block.h"

#include <string.h>

size_t softqam_blocks_count(const softqam_block *blocks, size_t n_blocks)
{
    size_t n_symbols = 0;
    for (size_t k = 0; k < n_blocks; k++)
        n_symbols += blocks[k].n_symbols;
    return n_symbols;
}

/* Leaves blocks that are used up. */
static void settle(softqam_cursor *cursor)
{
    while (cursor->n_blocks > 0 && cursor->offset >= cursor->blocks->n_symbols) {
        cursor->offset -= cursor->blocks->n_symbols;
        cursor->blocks++;
        cursor->n_blocks--;
    }
}

softqam_cursor softqam_cursor_at(const softqam_plan *plan, const softqam_block *blocks, size_t n_blocks, size_t first)
{
    softqam_cursor cursor = {plan, blocks, n_blocks, first};
    settle(&cursor);
    return cursor;
}

softqam_block softqam_cursor_take(softqam_cursor *cursor, size_t n_symbols)
{
    const softqam_plan *plan = cursor->plan;
    const size_t first = cursor->offset;
    softqam_block piece = *cursor->blocks;
    const size_t left = piece.n_symbols - first;
    piece.n_symbols = n_symbols < left ? n_symbols : left;
    if (piece.symbol_stride == 0)
        piece.symbol_stride = 1;
    const size_t step = piece.symbol_stride * (piece.symbols_q ? plan->input_nbytes / 2 : plan->input_nbytes);
    piece.symbols = (const unsigned char *)piece.symbols + first * step;
    if (piece.symbols_q)
        piece.symbols_q = (const unsigned char *)piece.symbols_q + first * step;
    if (piece.noise_var)
        piece.noise_var += first * piece.noise_stride;
    else
        piece.noise_stride = 0;
    piece.out = (unsigned char *)piece.out + first * plan->output_nbytes;
    cursor->offset += piece.n_symbols;
    settle(cursor);
    return piece;
}

bool softqam_block_is_contiguous(const softqam_block *piece)
{
    return !piece->symbols_q && (piece->symbol_stride == 1 || piece->n_symbols == 1);
}

void softqam_block_gather_symbols(const softqam_plan *plan, const softqam_block *piece, void *symbols)
{
    const size_t nbytes = plan->input_nbytes;
    const size_t half = nbytes / 2;
    unsigned char *to = symbols;
    const unsigned char *i = piece->symbols;
    const unsigned char *q = piece->symbols_q;
    if (softqam_block_is_contiguous(piece)) {
        memcpy(to, i, piece->n_symbols * nbytes);
        return;
    }
    const size_t step = piece->symbol_stride * (q ? half : nbytes);
    for (size_t k = 0; k < piece->n_symbols; k++, to += nbytes, i += step) {
        memcpy(to, i, half);
        memcpy(to + half, q ? q + k * step : i + half, half);
    }
}

void softqam_block_gather_noise(const softqam_block *piece, float *noise_var)
{
    for (size_t k = 0; k < piece->n_symbols; k++)
        noise_var[k] = piece->noise_var[k * piece->noise_stride];
}
