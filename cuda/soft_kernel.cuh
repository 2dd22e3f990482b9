/* SPDX-License-Identifier: MIT */
/* The kernels of segments of which some have soft buffers, statistics or layers that are demapped jointly. Each takes
 * one modulation, or any. Several .cu files share them, which compile at the same time. */
#ifndef SOFTQAM_SOFT_KERNEL_CUH
#define SOFTQAM_SOFT_KERNEL_CUH

#include "kernel_list.h"
#include "segment_warp.cuh"
#include "soft_tile.cuh"

/* Thread blocks that a multiprocessor holds at once, one fewer than with the other kernels: with their 64 registers a
 * thread would spill many values. */
enum { SOFT_BLOCKS = 7 };

/* Thread blocks likewise, for the kernels that demap layers jointly, which keep columns of points in registers. */
enum { JOINT_BLOCKS = 5 };

/* Code blocks. */

/* Writes shared.work for a span of a code block, by one thread. The zeros and fillers are shared by all symbols that
 * the segment has of the code block, if it has the first one. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void open_work(soft_memory &shared, const softqam_code_block &found,
                                                 const block_span &span)
{
    const softqam_placement &placement = shared.segment.placement;
    const uint32_t first = placement.codeword_symbol + static_cast<uint32_t>(span.first) - found.first;
    if (placement.block_buffers) /* the pointers lie in memory */
        wait_for_previous_kernel();
    const softqam_soft_buffer &buffer = placement.buffer;
    const unsigned bits = softqam_symbol_bits(static_cast<softqam_modulation>(placement.modulation));
    soft_work &work = shared.work;
    work.buffer = buffer;
    work.values = softqam_code_block_values(&placement, &found);
    work.n_symbols = found.n_symbols;
    work.first = first;
    work.combines = placement.combines;
    work.share = {0, 0};
    work.fill.first_zero = found.n_symbols * bits;
    work.fill.n_zeros = buffer.n_data - work.fill.first_zero;
    work.fill.zeros_below = buffer.n_fill;
    work.fill.filler_value = placement.filler_value;
    if (placement.combines || placement.codeword_symbol > found.first)
        return;
    const uint32_t n_shared = static_cast<uint32_t>(
        min(uint64_t{found.n_symbols}, placement.codeword_symbol + shared.segment.n_symbols - found.first));
    work.share = fill_share_of(buffer, work.fill, first, first + span.n_symbols, n_shared);
}

/* A thread block's share of its segment. */
struct soft_task {
    block_index index; /* the segment */
    block_span span;
    softqam_code_block found; /* the code block, with soft buffers */
    bool has_soft;
};

/* Demodulates a thread block's symbols of a segment with soft buffers. */
template <softqam_output_format FORMAT, segment_set SEGMENTS, int ONLY, count_mode COUNTING>
static __device__ __forceinline__ void
demodulate_code_blocks(soft_memory &shared, const softqam_common_argument &common, const soft_task &task)
{
    if (threadIdx.x == 0)
        open_work<FORMAT>(shared, task.found, task.span);
    demodulate_soft_span<FORMAT, SEGMENTS, ONLY, COUNTING>(shared, common, task.span);
}

/* Demodulates a thread block's symbols of a segment, whose table and sequence are written, and counts them if COUNTING
 * says so. */
template <softqam_output_format FORMAT, segment_set SEGMENTS, int ONLY, count_mode COUNTING>
static __device__ __forceinline__ void demodulate_task(soft_memory &shared, const softqam_common_argument &common,
                                                       const soft_task &task, const u8_table_argument<FORMAT> &u8_table)
{
    if (!task.has_soft) {
        demodulate_block<FORMAT, SEGMENTS, ONLY, COUNTING>(shared, common, task.span, u8_table);
        if constexpr (COUNTING != NO_COUNTS) {
            wait_for_symbol_threads();
            add_counts_to(shared.extras.statistics);
        }
    } else if constexpr (FORMAT != SOFTQAM_OUTPUT_U8) {
        demodulate_code_blocks<FORMAT, SEGMENTS, ONLY, COUNTING>(shared, common, task);
    }
}

/* The kernel. */

/* Returns number / divisor; `reciprocal` is 2^32 / divisor, rounded up, or 0 for a divisor of 1. The product's upper
 * word is the quotient or one more. */
static __device__ __forceinline__ uint32_t quotient_of(uint32_t number, uint32_t divisor, uint32_t reciprocal)
{
    const uint32_t quotient = __umulhi(number, reciprocal);
    return reciprocal == 0 ? number : quotient - (quotient * divisor > number ? 1 : 0);
}

/* Finds a thread block's share of a segment with soft buffers: a part of one code block. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void find_part_of_code_block(soft_task &task, const softqam_resolved_segment &segment,
                                                               const softqam_code_block_parts &parts,
                                                               const softqam_common_argument &common)
{
    const softqam_placement &placement = segment.placement;
    const auto number = static_cast<uint32_t>(task.index.number);
    const uint32_t of_segment = quotient_of(number, parts.n_parts, parts.reciprocal);
    task.found = softqam_code_block_nth(&placement.blocks, parts.first + of_segment);
    const softqam_code_block &found = task.found;
    const uint64_t n_before = uint64_t{number - of_segment * parts.n_parts} * parts.n_symbols;
    const uint32_t begin = found.first + static_cast<uint32_t>(n_before);
    const uint32_t n =
        n_before < found.n_symbols ? min(parts.n_symbols, found.n_symbols - static_cast<uint32_t>(n_before)) : 0;
    /* A codeword has fewer than 2^32 symbols. */
    const uint32_t first = max(placement.codeword_symbol, begin);
    const uint32_t end = min(placement.codeword_symbol + static_cast<uint32_t>(segment.n_symbols), begin + n);
    task.span = block_span_of<FORMAT>(segment, common, 0);
    task.span.first = first - placement.codeword_symbol;
    task.span.n_symbols = end > first ? static_cast<unsigned>(end - first) : 0;
}

/* Finds the symbols of a thread block's segment that are the block's. Returns false if there are none. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ bool find_task(soft_task &task, const softqam_resolved_segment &segment,
                                                 const softqam_code_block_parts *parts,
                                                 const softqam_common_argument &common)
{
    task.has_soft = FORMAT != SOFTQAM_OUTPUT_U8 && segment.placement.has_soft_buffers;
    task.span = block_span_of<FORMAT>(segment, common, task.index.number);
    if constexpr (FORMAT != SOFTQAM_OUTPUT_U8)
        if (task.has_soft && !segment.placement.is_repeated)
            find_part_of_code_block<FORMAT>(task, segment, *parts, common);
    return task.span.n_symbols > 0;
}

/* A kernel's segments. */
template <softqam_output_format FORMAT> struct soft_arguments {
    const softqam_common_argument &common;
    const segment_arguments &segments;
    const part_arguments<FORMAT> &parts;
    const extras_arguments &extras;
    const array_of<unsigned> &first_blocks;
};

/* Finds and prepares a thread block's share of a kernel's segments. Returns false if it has none. */
template <softqam_output_format FORMAT, int ONLY>
static __device__ __forceinline__ bool open_task(soft_task &task, soft_memory &shared,
                                                 const soft_arguments<FORMAT> &arguments,
                                                 const u8_table_argument<FORMAT> &u8_table)
{
    task.index = find_segment(arguments.first_blocks, arguments.common);
    const softqam_resolved_segment &segment = arguments.segments.item[task.index.segment];
    const softqam_code_block_parts *parts = nullptr;
    if constexpr (FORMAT != SOFTQAM_OUTPUT_U8)
        parts = &arguments.parts.item[task.index.segment];
    if (threadIdx.x == 0)
        shared.input_format = arguments.common.input_format;
    if (!find_task<FORMAT>(task, segment, parts, arguments.common))
        return false;
    copy_words(shared.extras, arguments.extras.item[task.index.segment]);
    open_segment<FORMAT, ONLY>(shared, segment, task.span, u8_table);
    return true;
}

/* Demodulates segments without repetition. */
template <softqam_output_format FORMAT, segment_set SEGMENTS, int ONLY, count_mode COUNTING>
static __global__ void __launch_bounds__(BLOCK_THREADS, SEGMENTS == ONLY_JOINT ? JOINT_BLOCKS : SOFT_BLOCKS)
    soft_kernel(const __grid_constant__ softqam_common_argument common,
                const __grid_constant__ segment_arguments segments,
                const __grid_constant__ part_arguments<FORMAT> parts, const __grid_constant__ extras_arguments extras,
                const __grid_constant__ array_of<unsigned> first_blocks,
                const __grid_constant__ u8_table_argument<FORMAT> u8_table)
{
    __shared__ soft_memory shared;
    soft_task task = {};
    let_next_kernel_begin();
    if constexpr (COUNTING != NO_COUNTS)
        open_counts<FORMAT>(segments.item[find_segment(first_blocks, common).segment].placement.steps_per_nat);
    if (!open_task<FORMAT, ONLY>(task, shared, {common, segments, parts, extras, first_blocks}, u8_table))
        return;
    demodulate_task<FORMAT, SEGMENTS, ONLY, COUNTING>(shared, common, task, u8_table);
}

/* Returns a kernel of an output format; u8 has one, which counts. */
template <softqam_output_format FORMAT> static softqam_kernel soft_kernel_of(softqam_kernel_key key)
{
    return find_kernel<FORMAT, SOFT_KERNEL, ELEMENT_KERNEL>(
        key,
        [](auto number, auto axis_bits) -> softqam_kernel {
            constexpr int M = axis_bits();
            constexpr bool IS_JOINT = number() / 2, HAS_COUNTS = number() % 2;
            constexpr auto SEGMENTS = IS_JOINT ? ONLY_JOINT : NO_JOINT;
            constexpr auto COUNTING = HAS_COUNTS ? COUNTS : NO_COUNTS;
            if constexpr (FORMAT == SOFTQAM_OUTPUT_U8 ? M == 4 && HAS_COUNTS && !IS_JOINT : M > 0 || !IS_JOINT)
                return {reinterpret_cast<const void *>(soft_kernel<FORMAT, SEGMENTS, M, COUNTING>), BLOCK_THREADS};
            else
                return {};
        });
}

#endif
