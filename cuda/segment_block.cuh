/* SPDX-License-Identifier: MIT */
/* What the threads of a block share that works on segments: tables, the block's segment, room for values on their way.
 */
#ifndef SOFTQAM_SEGMENT_BLOCK_CUH
#define SOFTQAM_SEGMENT_BLOCK_CUH

#include "kernels.h"
#include "symbol.cuh"

/* Which segment a block works on, and which of its blocks it is. */
struct block_index {
    unsigned segment;
    size_t number; /* of the segment's blocks */
};

/* softqam_soft_buffer for threads: the same positions by fewer instructions, of values below n_data. */
struct soft_positions {
    uint32_t start;
    uint32_t to_end; /* from there */
    uint32_t n_data;
    uint32_t break_at; /* data positions before the fillers; all of them if there are none */
    uint32_t n_fillers;

    __device__ __forceinline__ void open(const softqam_soft_buffer &buffer)
    {
        start = buffer.start;
        to_end = buffer.n_data - buffer.start;
        n_data = buffer.n_data;
        break_at = buffer.n_fillers > 0 ? buffer.first_filler : buffer.n_data;
        n_fillers = buffer.n_fillers;
    }

    __device__ __forceinline__ softqam_soft_run run_at(uint32_t n) const
    {
        const uint32_t number = n < to_end ? start + n : n - to_end;
        const bool is_before = number < break_at;
        return {number + (is_before ? 0 : n_fillers), (is_before ? break_at : n_data) - number};
    }
};

/* What a block does of a code block with a soft buffer. */
struct soft_work {
    soft_positions positions;
    unsigned char *values; /* the soft buffer; NULL: LLRs go nowhere */
    uint32_t n_symbols;    /* of the code block */
    uint32_t first;        /* symbol of the code block */
    /* Of the zeros and fillers that no LLR goes to, zeros first, those that are this block's. */
    uint32_t fill_first;
    uint32_t fill_end;
    uint32_t first_zero; /* as a value of the code block */
    uint32_t n_zeros;
    bool adds;
    bool is_repeated; /* values are visited twice, in an order */
};

/* Of a warp's symbols of any modulation and output format. */
enum { MOST_STAGED_WORDS = WARP_THREADS * symbol_size<SOFTQAM_OUTPUT_F32, MAX_AXIS_BITS>::WORDS };

/* Of the scrambling sequence for a block's symbols, of any modulation. */
enum { MOST_SEQUENCE_WORDS = BLOCK_WARPS * MOST_WARP_STEPS * 2 * MAX_AXIS_BITS };

/* A tile's values on their way to soft buffers, as bit planes, each aligned as its destination is: of any modulation
 * and output format at least one symbol a thread; a word behind. */
enum { SOFT_STAGE_NBYTES = 2 * MAX_AXIS_BITS * (4 * BLOCK_THREADS + 16) + 16 };

/* What all threads of a block share. */
struct segment_block {
    /* A kernel_table, of the modulation of the block's segment. */
    alignas(llr_table_memory<MAX_AXIS_BITS>) unsigned char tables[sizeof(llr_table_memory<MAX_AXIS_BITS>)];
    union {
        uint32_t staged[BLOCK_WARPS][MOST_STAGED_WORDS + 2]; /* a word before and one behind */
        alignas(16) unsigned char soft_stage[SOFT_STAGE_NBYTES];
        uint64_t descriptor[sizeof(softqam_segment) / sizeof(uint64_t)]; /* of a segment in device memory */
    };
    uint32_t sequence[MOST_SEQUENCE_WORDS + 1]; /* for the block's symbols, from the first on; a word behind */
    softqam_kernel_segment segment;
    unsigned input_format;
    /* Of segments in device memory. */
    unsigned n_blocks[BLOCK_WARPS]; /* of those that a warp's threads have counted */
    block_index index;
    /* Of soft buffers. */
    softqam_kernel_soft soft;
    soft_work work;
    uint32_t plane_starts[2 * MAX_AXIS_BITS]; /* with repetition: of each plane the data position of a tile's first */
};

static __shared__ segment_block block;

template <softqam_output_format FORMAT, int M>
static __device__ __forceinline__ kernel_table<FORMAT, M> &table_of_block()
{
    static_assert(sizeof(kernel_table<FORMAT, M>) <= sizeof block.tables, "of any modulation");
    return *reinterpret_cast<kernel_table<FORMAT, M> *>(block.tables);
}

#endif
