/* SPDX-License-Identifier: MIT */
/* Segments that the kernels of prepared_kernel.cuh read: the contents of softqam_cuda_prepared_segment. launch.c makes
 * them, or a thread of a kernel. */
#ifndef SOFTQAM_PREPARED_SEGMENT_H
#define SOFTQAM_PREPARED_SEGMENT_H

#include <softqam/softqam_cuda.h>

#include "segment_layout.h"

/* Says how thread blocks share a segment. A part is what a block takes at a time; the parts of all segments are
 * numbered together. */
typedef struct prepared_layout {
    uint32_t first_part;
    uint32_t end_part;
    uint32_t n_all_parts;      /* parts of all segments that were prepared together */
    uint32_t neighbours;       /* symbols that a thread of demodulate_elements() takes; 0: other functions demodulate */
    uint32_t fill_parts;       /* the last parts of a group, which write zeros and fillers for the others; 0: none do */
    uint32_t block_iterations; /* softqam_common_argument's, for this segment */
    softqam_code_block_parts parts; /* for segments with soft buffers, if neighbours is 0 */
} prepared_layout;

typedef struct prepared_segment {
    prepared_layout layout;
    softqam_extras extras;
    softqam_resolved_segment segment;
} prepared_segment;

static_assert(sizeof(prepared_segment) <= sizeof(softqam_cuda_prepared_segment) && sizeof(prepared_layout) % 8 == 0,
              "softqam_cuda_prepared_segment has room for it, and kernels copy words of 8 bytes");

/* Resolves a segment that has been checked, or lies in device memory. A segment there whose modulation does not suit
 * the output format gets no symbols. */
HOST_AND_DEVICE static inline void softqam_prepare_segment(prepared_segment *__restrict to,
                                                           const softqam_segment *__restrict from,
                                                           const softqam_segment_defaults *__restrict defaults,
                                                           unsigned input_format, unsigned output_format)
{
    softqam_segment_resolve(&to->segment, from, defaults);
    softqam_extras_resolve(&to->extras, from);
    if (output_format == SOFTQAM_OUTPUT_U8 && to->segment.placement.modulation != SOFTQAM_MODULATION_256QAM)
        to->segment.n_symbols = 0;
    to->layout.neighbours = softqam_element_neighbours(&to->segment, input_format, output_format);
}

/* Returns for how many parts one part writes zeros and fillers. So the 480 parts of a slot of 45,864 resource elements
 * in 2 or 4 layers of s8 begin at once on an H200, where 528 thread blocks run (prepared_grid_of()). If a part filled
 * for only two, there would be 540, which take two rounds. */
HOST_AND_DEVICE static inline uint32_t softqam_parts_of_fill(const prepared_layout *layout)
{
    return layout->neighbours > 1 ? 3 : 4;
}

/* Lays out a segment; returns how many parts it has. */
HOST_AND_DEVICE static inline size_t softqam_lay_out_any(prepared_segment *to, unsigned block_iterations)
{
    enum { FEW_PARTS = 1024 };
    prepared_layout *layout = &to->layout;
    layout->block_iterations = block_iterations;
    layout->fill_parts = 0;
    if (to->segment.n_symbols == 0)
        return 0;
    if (layout->neighbours == 0)
        return softqam_lay_out_segment(&layout->parts, &to->segment, block_iterations);
    const uint32_t n_symbols = (uint32_t)to->segment.n_symbols, of_part = BLOCK_THREADS * layout->neighbours;
    const uint32_t n_parts = softqam_quotient_above(n_symbols, of_part);
    if (to->segment.placement.combines)
        return n_parts;
    /* Parts that fill come last if there are so few parts that a thread block takes one. Else they come among the
     * others, so that all blocks have equally much to do. */
    const uint32_t of_fill = softqam_parts_of_fill(layout);
    layout->fill_parts = n_parts > FEW_PARTS ? 1 : softqam_quotient_above(n_parts, of_fill);
    return (size_t)softqam_quotient_above(n_parts, layout->fill_parts * of_fill) * layout->fill_parts * (of_fill + 1);
}

/* The argument of the kernels of any segments. */
typedef struct prepared_argument {
    softqam_common_argument common;                /* n_segments: the most */
    const softqam_cuda_prepared_segment *prepared; /* NULL: the descriptors, or the segments of argument_segments */
    const softqam_segment *descriptors;            /* segments that are not prepared */
    const unsigned *n_present;                     /* NULL with argument_segments: common.n_segments are present */
    softqam_segment_defaults defaults;             /* for the descriptors */
} prepared_argument;

/* The argument of the kernel of segments that are arguments. */
typedef struct argument_segments {
    prepared_argument head;
    prepared_segment segments[MAX_SEGMENTS];
} argument_segments;

static_assert(sizeof(argument_segments) + 16 <= 4096, "A kernel's arguments take at most 4 KiB");

#endif
