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
enum { MOST_STAGED_WORDS = WARP_THREADS * symbol_size<OUTPUT_F32, MAX_AXIS_BITS>::WORDS };

/* Of the tables of soft bits. */
struct soft_scalars {
    float levels_per_unit;
    float steps[SOFT_AXIS_BITS];
};

/* What all threads of a block share. */
struct alignas(SOFT_ROW_NBYTES) segment_block {
    union {
        unsigned char soft[sizeof(table_memory<softqam_soft_table>)];
        struct {
            unsigned char long_rows[sizeof(table_memory<softqam_llr_long_rows>)];
            alignas(LLR_OTHERS_OFFSET) unsigned char rows[2][sizeof(table_memory<softqam_llr_rows>)];
        } llrs;
    } tables;
    uint32_t staged[BLOCK_WARPS][MOST_STAGED_WORDS + 2]; /* a word before and one behind */
    softqam_kernel_segment segment;
    softqam_llr_lines lines[2];
    softqam_row_scalars of_rows[3];
    soft_scalars of_soft;
    unsigned input_format;
    block_place place;
    bool is_needed;
};

static __shared__ segment_block block;

#endif
