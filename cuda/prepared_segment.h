/* SPDX-License-Identifier: MIT */
/* The contents of softqam_cuda_prepared_segment: launch.c makes them, prepared_kernel.cuh reads them. */
#ifndef SOFTQAM_PREPARED_SEGMENT_H
#define SOFTQAM_PREPARED_SEGMENT_H

#include <softqam/softqam_cuda.h>

#include "kernels.h"

/* Says how thread blocks share a segment. Their numbers count the blocks of all segments before it too. */
typedef struct prepared_layout {
    uint32_t first_block;
    uint32_t end_block;
    uint32_t n_blocks;              /* which all segments have that were prepared together */
    uint32_t n_element_blocks;      /* the first ones, for demodulate_elements(); those after them fill */
    uint32_t neighbours;            /* which a thread of the first ones takes; 0: the segment has no such blocks */
    uint32_t fill_symbols;          /* which a warp of those that fill takes */
    uint32_t block_iterations;      /* as softqam_segment_launch has them */
    softqam_code_block_parts parts; /* with soft buffers, without these blocks */
    uint32_t unused;
} prepared_layout;

typedef struct prepared_segment {
    prepared_layout layout;
    softqam_resolved_segment segment;
    uint64_t unused[6];
} prepared_segment;

static_assert(sizeof(prepared_segment) == sizeof(softqam_cuda_prepared_segment) && sizeof(prepared_layout) % 8 == 0,
              "softqam_cuda_prepared_segment has room for it, and kernels copy words of 8 bytes");

/* The argument of the kernels, before the table of soft bits. */
typedef struct prepared_launch {
    softqam_segment_launch launch; /* n_segments is the most */
    const prepared_segment *prepared;
    const unsigned *n_prepared;
} prepared_launch;

#endif
