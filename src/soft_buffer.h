/* SPDX-License-Identifier: MIT */
/* The soft buffers of an LDPC decoder: 3GPP TS 38.212 clause 5.4.2.1's bit selection undone, by arithmetic that hosts
 * and kernels share, and what places LLRs there on a host. */
#ifndef SOFTQAM_SOFT_BUFFER_H
#define SOFTQAM_SOFT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "codeword.h"
#include "params.h"

/* A circular buffer of n_cb values. Its data positions are those that are no fillers: n_data of them, numbered without
 * the fillers. The codeword's LLRs visit them one after the other from `start` on, round and round. */
typedef struct softqam_soft_buffer {
    uint32_t n_cb;
    uint32_t n_data;
    uint32_t first_filler;
    uint32_t n_fillers;
    uint32_t start; /* k0's number; that of the first position behind the fillers where k0 lies in them */
} softqam_soft_buffer;

/* Positions of a soft buffer that follow each other. */
typedef struct softqam_soft_run {
    uint32_t first;
    uint32_t n;
} softqam_soft_run;

/* Of a checked codeword with n_cb > 0. n_data may be 0, if the codeword has no bits. */
HOST_AND_DEVICE static inline softqam_soft_buffer softqam_soft_buffer_of(const softqam_codeword *codeword)
{
    softqam_soft_buffer buffer;
    buffer.n_cb = codeword->n_cb;
    buffer.n_data = codeword->n_cb - codeword->n_fillers;
    buffer.first_filler = codeword->first_filler;
    buffer.n_fillers = codeword->n_fillers;
    buffer.start = codeword->k0;
    if (codeword->k0 >= codeword->first_filler) {
        const uint32_t beyond = codeword->k0 - codeword->first_filler;
        buffer.start = codeword->first_filler + (beyond < codeword->n_fillers ? 0 : beyond - codeword->n_fillers);
    }
    if (buffer.start == buffer.n_data)
        buffer.start = 0;
    return buffer;
}

/* The position of value n of a code block, and how many values from it on follow each other in the buffer. */
HOST_AND_DEVICE static inline softqam_soft_run softqam_soft_run_at(const softqam_soft_buffer *buffer, uint32_t n)
{
    uint64_t number = (uint64_t)buffer->start + n;
    if (number >= buffer->n_data)
        number -= buffer->n_data;
    if (number >= buffer->n_data) /* repetition: rarely divided */
        number %= buffer->n_data;
    softqam_soft_run run;
    const bool is_before = number < buffer->first_filler;
    run.first = (uint32_t)number + (is_before ? 0 : buffer->n_fillers);
    run.n = (is_before && buffer->n_fillers > 0 ? buffer->first_filler : buffer->n_data) - (uint32_t)number;
    return run;
}

/* Whether a code block of so many values visits a position twice. */
HOST_AND_DEVICE static inline bool softqam_soft_is_repeated(const softqam_soft_buffer *buffer, uint64_t n_values)
{
    return n_values > buffer->n_data;
}

/* Adds n LLRs to values, each limited to +-limit; a value beyond the limit, or a NaN, stays. */
typedef void softqam_soft_add(void *values, const void *llrs, float limit, size_t n);

/* A code block's soft buffer, and how values get there. */
typedef struct softqam_soft_block {
    softqam_soft_buffer buffer;
    unsigned char *values; /* the buffer's first one */
    uint32_t n_symbols;    /* of the code block */
    unsigned n_bits;       /* of a symbol */
    size_t value_nbytes;
    bool adds;             /* else values are stored */
    float limit;           /* of sums */
    softqam_soft_add *add; /* of the output format */
} softqam_soft_block;

/* The portable one of an output format. */
softqam_soft_add *softqam_soft_add_of(softqam_output_format format);

/* The soft buffer at `values` of a code block of a checked segment. */
softqam_soft_block softqam_soft_block_of(const softqam_params *params, const softqam_codeword *codeword,
                                         const softqam_block *block, unsigned bits_per_symbol, void *values);

/* Writes fillers and the zeros that nothing else writes, of new data; where LLRs are added, before the first of them.
 * In the library's floating-point environment. */
void softqam_soft_block_begin(const softqam_soft_block *block, const softqam_params *params,
                              const softqam_codeword *codeword);

/* How many symbols from symbol `first` on follow each other in all bit planes; positions[k] of plane k's first. */
uint32_t softqam_soft_block_runs(const softqam_soft_block *block, uint32_t first, uint32_t positions[MAX_SYMBOL_BITS]);

/* Places the LLRs of n symbols from the block's symbol `first` on, which lie in bit planes plane_nbytes apart. */
void softqam_soft_block_store(const softqam_soft_block *block, uint32_t first, size_t n, const unsigned char *planes,
                              size_t plane_nbytes);

#endif
