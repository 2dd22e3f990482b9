/* SPDX-License-Identifier: MIT */
/* Finds how thread blocks share a segment, on the host or in a kernel whose segments lie in device memory. */
#ifndef SOFTQAM_SEGMENT_LAYOUT_H
#define SOFTQAM_SEGMENT_LAYOUT_H

#include "kernels.h"

/* Returns n / divisor, rounded up; requires n > 0. */
HOST_AND_DEVICE static inline uint32_t softqam_quotient_above(uint32_t n, uint32_t divisor)
{
    return (n - 1) / divisor + 1;
}

/* Returns how many symbols of a resource element a thread of element_kernel.cuh stores at once, or 0 if these kernels
 * cannot take the segment. */
HOST_AND_DEVICE static inline unsigned softqam_element_neighbours(const softqam_resolved_segment *segment,
                                                                  unsigned input_format, unsigned output_format)
{
    const softqam_source *source = &segment->source;
    const softqam_placement *placement = &segment->placement;
    if (!placement->has_soft_buffers || placement->is_repeated || placement->block_buffers || !source->is_contiguous ||
        source->noise_stride != 1 || source->has_gains || segment->n_symbols == 0 || segment->n_symbols > INT32_MAX ||
        (input_format != SOFTQAM_INPUT_CF32 && input_format != SOFTQAM_INPUT_CF16) ||
        (output_format != SOFTQAM_OUTPUT_S8 && output_format != SOFTQAM_OUTPUT_F16) ||
        placement->modulation < SOFTQAM_MODULATION_QPSK || placement->modulation > SOFTQAM_MODULATION_256QAM)
        return 0;
    const unsigned neighbours = softqam_neighbours(placement);
    const uintptr_t places = (uintptr_t)source->layers[0].symbols | (uintptr_t)source->layers[0].noise_var;
    /* Nobody has checked a descriptor in device memory: it may begin or end within a resource element. */
    const size_t within_element = (segment->n_symbols | placement->codeword_symbol) & (neighbours - 1);
    return neighbours == placement->blocks.n_layers && within_element == 0 && (neighbours == 1 || places % 16 == 0)
               ? neighbours
               : 0;
}

/* Divides the code blocks that a segment has symbols of among thread blocks of at most `most` symbols; returns how many
 * thread blocks these are. */
HOST_AND_DEVICE static inline uint32_t
softqam_lay_out_code_blocks(softqam_code_block_parts *parts, const softqam_resolved_segment *segment, unsigned most)
{
    enum { SIDE_BY_SIDE = 8 }; /* symbols of 8 bytes that lie in 64 bytes, which memory gives at a time */
    const softqam_placement *placement = &segment->placement;
    const uint32_t last = placement->codeword_symbol + (uint32_t)segment->n_symbols - 1;
    const uint32_t longest = softqam_code_blocks_longest(&placement->blocks);
    if (longest == 0)
        return 0; /* the codeword has no bits */
    parts->first = softqam_code_block_at(&placement->blocks, placement->codeword_symbol).j;
    parts->n_parts = softqam_quotient_above(longest, most);
    parts->reciprocal = parts->n_parts > 1 ? UINT32_MAX / parts->n_parts + 1 : 0;
    parts->n_symbols = softqam_quotient_above(longest, parts->n_parts);
    if (parts->n_symbols <= most - SIDE_BY_SIDE)
        parts->n_symbols = (parts->n_symbols + SIDE_BY_SIDE - 1) / SIDE_BY_SIDE * SIDE_BY_SIDE;
    return (softqam_code_block_at(&placement->blocks, last).j - parts->first + 1) * parts->n_parts;
}

/* Divides a segment of n_symbols > 0 among thread blocks of block_iterations iterations; returns how many thread blocks
 * these are. With repetition the thread blocks share the positions of the code blocks: demodulate_repeated(). */
HOST_AND_DEVICE static inline size_t softqam_lay_out_segment(softqam_code_block_parts *parts,
                                                             const softqam_resolved_segment *segment,
                                                             unsigned block_iterations)
{
    const unsigned most = softqam_block_symbols(block_iterations, segment->source.n_layers);
    if (segment->placement.has_soft_buffers && !segment->placement.is_repeated)
        return softqam_lay_out_code_blocks(parts, segment, most);
    return segment->n_symbols <= UINT32_MAX ? softqam_quotient_above((uint32_t)segment->n_symbols, most)
                                            : (segment->n_symbols - 1) / most + 1;
}

#endif
