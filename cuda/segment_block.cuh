/* SPDX-License-Identifier: MIT */
/* What the threads of a block of segment_kernel.cuh share: tables, the block's segment, room for values on their way.
 */
#ifndef SOFTQAM_SEGMENT_BLOCK_CUH
#define SOFTQAM_SEGMENT_BLOCK_CUH

#include "kernel_addresses.h"
#include "symbol.cuh"

/* A block's place among the segments. */
struct block_place {
    unsigned segment;
    size_t number; /* of the segment's blocks */
};

/* Of a warp's symbols of any modulation and output format. */
enum { MOST_STAGED_WORDS = WARP_THREADS * symbol_size<SOFTQAM_OUTPUT_F32, MAX_AXIS_BITS>::WORDS };

/* Of the scrambling sequence for a block's symbols, of any modulation. */
enum { MOST_SEQUENCE_WORDS = BLOCK_WARPS * MOST_WARP_STEPS * 2 * MAX_AXIS_BITS };

/* What all threads of a block share. */
struct segment_block {
    /* A kernel_table, of the modulation of the block's segment. */
    alignas(llr_table_memory<MAX_AXIS_BITS>) unsigned char tables[sizeof(llr_table_memory<MAX_AXIS_BITS>)];
    union {
        uint32_t staged[BLOCK_WARPS][MOST_STAGED_WORDS + 2];             /* a word before and one behind */
        uint64_t descriptor[sizeof(softqam_segment) / sizeof(uint64_t)]; /* of a segment in device memory */
    };
    uint32_t sequence[MOST_SEQUENCE_WORDS + 1]; /* for the block's symbols, from the first on; a word behind */
    softqam_kernel_segment segment;
    unsigned input_format;
    /* Of segments in device memory. */
    unsigned n_blocks[BLOCK_WARPS]; /* of those that a warp's threads have counted */
    block_place place;
};

static __shared__ segment_block block;

template <softqam_output_format FORMAT, int M>
static __device__ __forceinline__ kernel_table<FORMAT, M> &table_of_block()
{
    static_assert(sizeof(kernel_table<FORMAT, M>) <= sizeof block.tables, "of any modulation");
    return *reinterpret_cast<kernel_table<FORMAT, M> *>(block.tables);
}

#endif
