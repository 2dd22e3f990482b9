/* SPDX-License-Identifier: MIT */
/* A code block's soft buffer, and how the host's values get there. */
#ifndef SOFTQAM_SOFT_BLOCK_H
#define SOFTQAM_SOFT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment.h"

typedef struct softqam_soft_block {
    const softqam_soft_buffer *buffer;
    unsigned char *values; /* the buffer's first one */
    uint32_t n_symbols;    /* symbols of the code block */
    unsigned n_bits;       /* bits of a symbol */
    size_t value_nbytes;
    bool adds;   /* else values are stored */
    float limit; /* largest sum */
    softqam_soft_add *add;
} softqam_soft_block;

/* Opens the soft buffer of a code block. `add` is the loop that adds values of the output format. */
void softqam_soft_block_open(softqam_soft_block *block, const softqam_placement *placement,
                             const softqam_destination *to, softqam_soft_add *add, float limit);

/* Writes fillers, and zeros where no LLR is stored, for new data. If LLRs are added, this comes before the first of
 * them. Runs in the library's floating-point environment. */
void softqam_soft_block_begin(const softqam_soft_block *block, softqam_output_format format, float filler_value);

/* Finds where symbol `first` of the code block goes: positions[k] in plane k. Returns how many symbols from there on
 * lie at consecutive positions in every plane. */
uint32_t softqam_soft_block_runs(const softqam_soft_block *block, uint32_t first, uint32_t positions[MAX_SYMBOL_BITS]);

/* Stores or adds the LLRs of n symbols from the code block's symbol `first` on, which lie in bit planes plane_nbytes
 * apart. */
void softqam_soft_block_store(const softqam_soft_block *block, uint32_t first, size_t n, const unsigned char *planes,
                              size_t plane_nbytes);

#endif
