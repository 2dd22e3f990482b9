/* SPDX-License-Identifier: MIT */
/* The code blocks of a codeword and the soft buffers of an LDPC decoder, by arithmetic for hosts and kernels: 3GPP TS
 * 38.212 clause 5.4.2.1 says how many bits a code block has and where they go, 38.214 clauses 5.1.7.1 and 6.1.5.1 which
 * groups of code blocks are transmitted. The end of the file declares the loops that add LLRs on a host. */
#ifndef SOFTQAM_SOFT_BUFFER_H
#define SOFTQAM_SOFT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "params.h"

enum { MAX_CODE_BLOCKS = 65535, MAX_CBG = 32 };

/* Says how a codeword's symbols are divided among its code blocks. The first n_short transmitted ones have
 * short_symbols symbols, the others one resource element more. */
typedef struct softqam_code_blocks {
    uint32_t n_code_blocks; /* C */
    uint32_t n_transmitted; /* C' */
    uint32_t n_short;
    uint32_t short_symbols;
    uint32_t cbgti;
    uint8_t n_groups; /* code block groups; 0: all code blocks are transmitted */
    uint8_t n_layers; /* symbols of a resource element */
} softqam_code_blocks;

/* A code block, in symbols of the codeword. */
typedef struct softqam_code_block {
    uint32_t j;     /* its number among those transmitted */
    uint32_t r;     /* its number; n_code_blocks: the symbol lies after the codeword's end */
    uint32_t first; /* symbol of the codeword */
    uint32_t n_symbols;
} softqam_code_block;

/* Returns the number of code blocks of group m: the first C mod M groups have one more. */
HOST_AND_DEVICE static inline uint32_t softqam_group_code_blocks(const softqam_code_blocks *blocks, uint32_t m)
{
    /* There is a group. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
    const uint32_t floor = blocks->n_code_blocks / blocks->n_groups;
    return floor + (m < blocks->n_code_blocks % blocks->n_groups ? 1 : 0);
}

/* Divides a codeword among its code blocks. Requires n_layers > 0 and n_bits < 2^32. */
HOST_AND_DEVICE static inline void softqam_code_blocks_make(softqam_code_blocks *blocks,
                                                            const softqam_codeword *codeword, unsigned bits_per_symbol,
                                                            unsigned n_layers)
{
    const uint32_t n_elements = (uint32_t)codeword->n_bits / (bits_per_symbol * n_layers);
    const uint32_t n_code_blocks = codeword->n_code_blocks;
    blocks->n_code_blocks = n_code_blocks;
    const uint32_t most_groups = MAX_CBG;
    const uint32_t n_groups = codeword->n_cbg < most_groups ? codeword->n_cbg : most_groups;
    blocks->n_groups = (uint8_t)(n_groups < n_code_blocks ? n_groups : n_code_blocks);
    blocks->cbgti = codeword->cbgti;
    blocks->n_transmitted = blocks->n_groups == 0 ? n_code_blocks : 0;
    for (uint32_t m = 0; m < blocks->n_groups; m++)
        if (codeword->cbgti >> m & 1)
            blocks->n_transmitted += softqam_group_code_blocks(blocks, m);
    blocks->n_layers = (uint8_t)n_layers;
    blocks->n_short = 0;
    blocks->short_symbols = 0;
    if (blocks->n_transmitted > 0) {
        const uint32_t floor = n_elements / blocks->n_transmitted;
        blocks->n_short = blocks->n_transmitted - (n_elements - floor * blocks->n_transmitted);
        blocks->short_symbols = floor * n_layers;
    }
}

/* Returns the number of the code block that is the j-th transmitted one; n_code_blocks if there is none. */
HOST_AND_DEVICE static inline uint32_t softqam_code_block_number(const softqam_code_blocks *blocks, uint32_t j)
{
    uint32_t begin = 0;
    if (j >= blocks->n_transmitted)
        return blocks->n_code_blocks;
    if (blocks->n_groups == 0)
        return j;
    for (uint32_t m = 0; m < blocks->n_groups; m++) {
        const uint32_t n = softqam_group_code_blocks(blocks, m);
        const bool is_transmitted = (blocks->cbgti >> m & 1) != 0;
        if (is_transmitted && j < n)
            break;
        j -= is_transmitted ? n : 0;
        begin += n;
    }
    return begin + j;
}

/* Returns how many transmitted code blocks have a number below r. */
static inline uint32_t softqam_code_blocks_before(const softqam_code_blocks *blocks, uint32_t r)
{
    uint32_t n_before = 0, begin = 0;
    if (blocks->n_groups == 0)
        return r;
    for (uint32_t m = 0; m < blocks->n_groups && begin < r; m++) {
        const uint32_t n = softqam_group_code_blocks(blocks, m);
        if (blocks->cbgti >> m & 1)
            n_before += n < r - begin ? n : r - begin;
        begin += n;
    }
    return n_before;
}

/* Returns the code block that a symbol of the codeword lies in. */
HOST_AND_DEVICE static inline softqam_code_block softqam_code_block_at(const softqam_code_blocks *blocks,
                                                                       uint32_t symbol)
{
    const uint32_t n_in_short = blocks->n_short * blocks->short_symbols;
    const bool is_short = symbol < n_in_short;
    softqam_code_block block;
    block.n_symbols = blocks->short_symbols + (is_short ? 0 : blocks->n_layers);
    const uint32_t begin = is_short ? 0 : n_in_short;
    const uint32_t n_before = (symbol - begin) / block.n_symbols;
    block.first = begin + n_before * block.n_symbols;
    block.j = n_before + (is_short ? 0 : blocks->n_short);
    block.r = softqam_code_block_number(blocks, block.j);
    return block;
}

/* Returns the code block that is the j-th transmitted one. */
HOST_AND_DEVICE static inline softqam_code_block softqam_code_block_nth(const softqam_code_blocks *blocks, uint32_t j)
{
    const uint32_t n_longer = j > blocks->n_short ? j - blocks->n_short : 0;
    softqam_code_block block;
    block.j = j;
    block.r = softqam_code_block_number(blocks, j);
    block.first = j * blocks->short_symbols + n_longer * blocks->n_layers;
    block.n_symbols = blocks->short_symbols + (j < blocks->n_short ? 0 : blocks->n_layers);
    return block;
}

/* Returns the symbols of the longest code block. */
HOST_AND_DEVICE static inline uint32_t softqam_code_blocks_longest(const softqam_code_blocks *blocks)
{
    return blocks->short_symbols + (blocks->n_short < blocks->n_transmitted ? blocks->n_layers : 0);
}

/* A circular buffer. Its n_data data positions, those that are no fillers, have consecutive numbers. A code block's
 * LLRs visit them one after the other from number `start` on, cyclically. */
typedef struct softqam_soft_buffer {
    uint32_t n_data;
    uint32_t first_filler; /* n_data without fillers */
    uint32_t n_fillers;
    uint32_t start;  /* number of position k0, or of the first one after the fillers if k0 lies in them */
    uint32_t n_fill; /* new data defines the positions below this; N_cb if the codeword says 0 or combines */
} softqam_soft_buffer;

/* Positions of a soft buffer that follow each other. */
typedef struct softqam_soft_run {
    uint32_t first;
    uint32_t n;
} softqam_soft_run;

/* Returns the soft buffer of a checked codeword with n_cb > 0. n_data is 0 only if the codeword has no bits. */
HOST_AND_DEVICE static inline softqam_soft_buffer softqam_soft_buffer_of(const softqam_codeword *codeword)
{
    softqam_soft_buffer buffer;
    buffer.n_data = codeword->n_cb - codeword->n_fillers;
    buffer.first_filler = codeword->n_fillers > 0 ? codeword->first_filler : buffer.n_data;
    buffer.n_fillers = codeword->n_fillers;
    buffer.start = codeword->k0;
    if (codeword->k0 >= codeword->first_filler) {
        const uint32_t past = codeword->k0 - codeword->first_filler;
        buffer.start = codeword->first_filler + (past < codeword->n_fillers ? 0 : past - codeword->n_fillers);
    }
    if (buffer.start == buffer.n_data)
        buffer.start = 0;
    buffer.n_fill = codeword->n_fill == 0 || codeword->combine != 0 ? codeword->n_cb : codeword->n_fill;
    return buffer;
}

/* Returns how many values a soft buffer occupies: N_cb, or n_fill if that is more. */
HOST_AND_DEVICE static inline uint32_t softqam_soft_buffer_size(const softqam_soft_buffer *buffer)
{
    const uint32_t n_cb = buffer->n_data + buffer->n_fillers;
    return buffer->n_fill > n_cb ? buffer->n_fill : n_cb;
}

/* Returns the same of a checked codeword; 0 without soft buffers. */
static inline uint32_t softqam_codeword_buffer_size(const softqam_codeword *codeword)
{
    return codeword->n_fill > codeword->n_cb ? codeword->n_fill : codeword->n_cb;
}

/* Returns how many of n positions from `first` on are less than `end`. */
HOST_AND_DEVICE static inline uint32_t softqam_positions_below(uint32_t end, uint32_t first, uint32_t n)
{
    const uint32_t most = end > first ? end - first : 0;
    return n < most ? n : most;
}

/* Returns the position of a code block's value n < n_data, and how many values from n on lie at consecutive positions.
 * With repetition the caller passes n modulo n_data. */
HOST_AND_DEVICE static inline softqam_soft_run softqam_soft_run_at(const softqam_soft_buffer *buffer, uint32_t n)
{
    const uint32_t to_end = buffer->n_data - buffer->start;
    const uint32_t number = n < to_end ? buffer->start + n : n - to_end;
    const bool is_before = number < buffer->first_filler;
    const softqam_soft_run run = {number + (is_before ? 0 : buffer->n_fillers),
                                  (is_before ? buffer->first_filler : buffer->n_data) - number};
    return run;
}

/* Returns whether a code block of n_values values visits a position twice. */
HOST_AND_DEVICE static inline bool softqam_soft_is_repeated(const softqam_soft_buffer *buffer, uint64_t n_values)
{
    return n_values > buffer->n_data;
}

/* Adds n LLRs to values, each limited to +-limit; a value beyond the limit, or a NaN, stays. */
typedef void softqam_soft_add(void *values, const void *llrs, float limit, size_t n);

/* Returns the portable loop that adds values of an output format; NULL for u8. */
softqam_soft_add *softqam_soft_add_of(softqam_output_format format);

#endif
