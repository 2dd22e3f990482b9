/* SPDX-License-Identifier: MIT */
/* The kernels of soft_kernel.cuh that also count statistics, for segments that are arguments, without repetition. */
#ifndef SOFTQAM_COUNT_KERNEL_CUH
#define SOFTQAM_COUNT_KERNEL_CUH

#include "soft_kernel.cuh"

template <softqam_output_format FORMAT, segment_set PAIRS>
static __global__ void __launch_bounds__(BLOCK_THREADS, PAIRS == ONLY_PAIRS ? PAIR_BLOCKS : SOFT_BLOCKS)
    count_kernel(const __grid_constant__ softqam_segment_launch launch,
                 const __grid_constant__ segment_arguments segments,
                 const __grid_constant__ part_arguments<FORMAT> parts, const __grid_constant__ pair_arguments pairs,
                 const __grid_constant__ array_of<unsigned> first_blocks,
                 const __grid_constant__ u8_table_argument<FORMAT> u8_table)
{
    __shared__ soft_block block;
    soft_task task = {};
    let_next_kernel_begin();
    open_counts<FORMAT>(segments.at[find_segment(first_blocks, launch).segment].placement.steps_per_nat);
    if (!open_task<FORMAT>(task, block, {launch, segments, parts, pairs, first_blocks}, u8_table))
        return;
    if (!task.has_soft) {
        demodulate_block<FORMAT, PAIRS, COUNTS>(block, launch, task.span, u8_table);
        wait_for_symbol_threads();
        add_counts_to(block.pairs.statistics);
    } else if constexpr (FORMAT != SOFTQAM_OUTPUT_U8) {
        demodulate_code_blocks<FORMAT, PAIRS, COUNTS>(block, launch, task);
    }
}

template <softqam_output_format FORMAT, segment_set PAIRS> static const void *count_kernel_of()
{
    return reinterpret_cast<const void *>(count_kernel<FORMAT, PAIRS>);
}

#endif
