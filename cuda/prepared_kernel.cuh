/* SPDX-License-Identifier: MIT */
/* The kernels of prepared segments, which lie in device memory. A thread block takes the path that its segment needs:
 * element_kernel.cuh's or soft_kernel.cuh's. Several .cu files share them, which compile at the same time. */
#ifndef SOFTQAM_PREPARED_KERNEL_CUH
#define SOFTQAM_PREPARED_KERNEL_CUH

#include "element_kernel.cuh"
#include "prepared_segment.h"
#include "soft_kernel.cuh"

/* Threads from `thread` on copy a structure from device memory to shared memory, a word each. */
template <typename Structure>
static __device__ __forceinline__ void copy_from_memory(Structure &to, const Structure &from, unsigned thread)
{
    if (threadIdx.x - thread < sizeof to / sizeof(unsigned long long))
        reinterpret_cast<unsigned long long *>(&to)[threadIdx.x - thread] =
            __ldcg(reinterpret_cast<const unsigned long long *>(&from) + threadIdx.x - thread);
}

/* A kernel's arguments, for demodulate_repeated(). */
struct prepared_arguments : prepared_launch {
    __device__ __forceinline__ bool are_in_memory() const { return false; } /* as callers describe segments */

    __device__ __forceinline__ unsigned n_segments() const { return min(__ldcg(n_prepared), launch.n_segments); }

    __device__ __forceinline__ void load(soft_block &block, unsigned k) const
    {
        copy_from_memory(block.segment, prepared[k].segment, 0);
    }

    template <typename Function>
    __device__ __forceinline__ bool with_codeword(unsigned k, const Function &function) const
    {
        return with_codeword_of(prepared[k].segment, function);
    }
};

/* Shared memory of a thread block. */
struct prepared_block : soft_block {
    unsigned number; /* the segment's, among all */
    alignas(8) prepared_layout layout;
    prepared_arguments arguments; /* with the segment's block_iterations */
};

/* Finds segments in device memory, by a warp. Each round narrows them to a 32nd. */
struct prepared_search {
    unsigned apart;        /* segments from a thread's to the next thread's */
    uint32_t first_blocks; /* the first block of this thread's segment */

    /* All that there is room for may be read, so no load waits for the number of segments. */
    __device__ __forceinline__ void open(const prepared_launch &arguments)
    {
        const unsigned room = arguments.launch.n_segments, lane = threadIdx.x % WARP_THREADS;
        apart = (room + WARP_THREADS - 1) / WARP_THREADS;
        first_blocks = first_block_of(arguments, min(lane * apart, room - 1));
    }

    static __device__ __forceinline__ uint32_t first_block_of(const prepared_launch &arguments, unsigned k)
    {
        return __ldcg(&arguments.prepared[k].layout.first_block);
    }

    /* Returns the last of n > 0 segments that begins at a block or before. */
    __device__ __forceinline__ unsigned find(const prepared_launch &arguments, unsigned n, uint32_t number) const
    {
        const unsigned lane = threadIdx.x % WARP_THREADS;
        unsigned first = 0, left = min(n, arguments.launch.n_segments), step = apart;
        uint32_t begins = first_blocks;
#pragma unroll 1
        for (;;) {
            const unsigned begun = __ballot_sync(0xffffffffu, lane * step < left && begins <= number);
            const unsigned before = (__popc(begun) - 1) * step;
            first += before;
            if (step == 1)
                return first;
            left = min(step, left - before);
            step = (left + WARP_THREADS - 1) / WARP_THREADS;
            begins = first_block_of(arguments, first + min(lane * step, left - 1));
        }
    }
};

/* Makes segment k the block's; a barrier must follow. The thread that has copied the launch's block_iterations writes
 * the segment's. */
static __device__ __forceinline__ void load_prepared(prepared_block &block, const prepared_launch &arguments,
                                                     unsigned k)
{
    enum { LAYOUT_THREADS = sizeof(prepared_layout) / sizeof(unsigned long long) };
    static_assert(sizeof(prepared_segment) / sizeof(unsigned long long) < BLOCK_THREADS, "a thread for each word");
    const prepared_segment &segment = arguments.prepared[k];
    copy_from_memory(block.layout, segment.layout, 0);
    copy_from_memory(block.segment, segment.segment, LAYOUT_THREADS);
    if (threadIdx.x == offsetof(softqam_segment_launch, block_iterations) / sizeof(uint32_t)) {
        block.arguments.launch.block_iterations = __ldcg(&segment.layout.block_iterations);
        block.number = k;
    }
}

/* Each of the next functions demodulates a thread block's part of its segment, number `number` of these. They are not
 * inlined: the compiler would compute in advance what each of them needs, and run out of registers. */

template <softqam_output_format FORMAT, int M, int N>
static __device__ __noinline__ void demodulate_by_elements(prepared_block &block, uint32_t number)
{
    __builtin_assume(__isShared(&block) != 0);
    auto &memory = reinterpret_cast<llr_table_memory<M> &>(block.tables);
    if (block.segment.placement.combines)
        demodulate_elements<FORMAT, M, N, true, false>(memory, block.arguments.launch, block.segment, number, nullptr);
    else
        demodulate_elements<FORMAT, M, N, false, false>(memory, block.arguments.launch, block.segment, number, nullptr);
}

template <softqam_output_format FORMAT, int N>
static __device__ __forceinline__ void demodulate_by_elements(prepared_block &block, uint32_t number)
{
    switch (block.segment.placement.modulation) {
    case SOFTQAM_MODULATION_QPSK:
        return demodulate_by_elements<FORMAT, 1, N>(block, number);
    case SOFTQAM_MODULATION_16QAM:
        return demodulate_by_elements<FORMAT, 2, N>(block, number);
    case SOFTQAM_MODULATION_64QAM:
        return demodulate_by_elements<FORMAT, 3, N>(block, number);
    case SOFTQAM_MODULATION_256QAM:
        return demodulate_by_elements<FORMAT, 4, N>(block, number);
    }
}

/* Writes zeros and fillers. */
template <softqam_output_format FORMAT>
static __device__ __noinline__ void fill_part(prepared_block &block, uint32_t number)
{
    __builtin_assume(__isShared(&block) != 0);
    const uint32_t warp = number * BLOCK_WARPS + threadIdx.x / WARP_THREADS;
    if (size_t{warp} * block.layout.fill_symbols < block.segment.n_symbols)
        fill_for_elements<FORMAT>(block.segment, warp, block.layout.fill_symbols);
}

/* Takes any other segment. */
template <softqam_output_format FORMAT>
static __device__ __noinline__ void demodulate_part(prepared_block &block, uint32_t number,
                                                    const u8_table_argument<FORMAT> &u8_table)
{
    __builtin_assume(__isShared(&block) != 0);
    soft_task task = {};
    task.index = {block.number, number};
    if (!find_task<FORMAT>(task, block.segment, &block.layout.parts, block.arguments.launch))
        return;
    if constexpr (FORMAT != SOFTQAM_OUTPUT_U8)
        if (task.has_soft && block.segment.placement.is_repeated) {
            demodulate_repeated<FORMAT, NO_PAIRS>(block, block.arguments, task.index);
            __syncthreads();
            if (threadIdx.x == 0 && block.arguments.launch.n_segments > 1)
                block.layout.end_block = 0; /* the block may have another segment now */
            return;
        }
    write_table<FORMAT>(block, block.segment.placement.modulation, u8_table);
    write_sequence(block, block.segment.placement, task.span);
    if (!task.has_soft)
        return demodulate_block<FORMAT, NO_PAIRS>(block, block.arguments.launch, task.span, u8_table);
    if constexpr (FORMAT != SOFTQAM_OUTPUT_U8)
        demodulate_code_blocks<FORMAT, NO_PAIRS>(block, block.arguments.launch, task);
}

template <softqam_output_format FORMAT>
static __device__ __forceinline__ void demodulate_prepared(prepared_block &block, uint32_t number,
                                                           const u8_table_argument<FORMAT> &u8_table)
{
    if constexpr (FORMAT == SOFTQAM_OUTPUT_S8 || FORMAT == SOFTQAM_OUTPUT_F16) {
        const prepared_layout &layout = block.layout;
        if (layout.neighbours > 0 && number >= layout.n_element_blocks)
            return fill_part<FORMAT>(block, number - layout.n_element_blocks);
        if (layout.neighbours == 4)
            return demodulate_by_elements<FORMAT, 4>(block, number);
        if (layout.neighbours == 2)
            return demodulate_by_elements<FORMAT, 2>(block, number);
        if (layout.neighbours == 1)
            return demodulate_by_elements<FORMAT, 1>(block, number);
    }
    demodulate_part<FORMAT>(block, number, u8_table);
}

/* A thread block takes parts that follow each other, since their number is not known when the grid is. What a kernel
 * reads of prepared segments, it reads before it waits for the kernel before, all at once if there is room for only
 * one.
 */
template <softqam_output_format FORMAT>
static __global__ void __launch_bounds__(BLOCK_THREADS, SOFT_BLOCKS)
    prepared_kernel(const __grid_constant__ prepared_launch arguments,
                    const __grid_constant__ u8_table_argument<FORMAT> u8_table)
{
    __shared__ prepared_block block;
    let_next_kernel_begin();
    const bool has_one = arguments.launch.n_segments == 1;
    const unsigned n = __ldcg(arguments.n_prepared);
    const uint32_t n_all = __ldcg(&arguments.prepared->layout.n_blocks);
    prepared_search search;
    search.open(arguments);
    copy_words<prepared_launch>(block.arguments, arguments);
    if (has_one)
        load_prepared(block, arguments, 0);
    else if (threadIdx.x == 0)
        block.layout.end_block = 0;
    if (threadIdx.x == 0)
        block.input_format = arguments.launch.input_format;
    const uint32_t each = n_all / gridDim.x, rest = n_all - each * gridDim.x;
    const uint32_t first = blockIdx.x * each + min(blockIdx.x, rest);
    const uint32_t end = n == 0 ? first : first + each + (blockIdx.x < rest ? 1 : 0);
#pragma unroll 1
    for (uint32_t number = first; number < end; number++) {
        __syncthreads(); /* threads may still work on the part before */
        if (number >= block.layout.end_block) {
            if (has_one)
                break;
            const unsigned k = search.find(arguments, n, number);
            __syncthreads(); /* all threads have read the layout before */
            load_prepared(block, arguments, k);
            __syncthreads();
            if (number >= block.layout.end_block)
                break;
        }
        demodulate_prepared<FORMAT>(block, number - block.layout.first_block, u8_table);
    }
    if (blockIdx.x == 0)
        wait_for_previous_kernel(); /* so that this kernel does not end before that one */
}

template <softqam_output_format FORMAT> static const void *prepared_kernel_of()
{
    return reinterpret_cast<const void *>(prepared_kernel<FORMAT>);
}

#endif
