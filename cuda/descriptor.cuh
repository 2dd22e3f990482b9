/* SPDX-License-Identifier: MIT */
/* The arguments of kernels that take segments as arguments or from device memory; a thread block finds its segment
 * there and resolves it. */
#ifndef SOFTQAM_DESCRIPTOR_CUH
#define SOFTQAM_DESCRIPTOR_CUH

#include "soft_tile.cuh"

/* Calls a function with what says which symbols of which codeword a segment has. */
template <typename Function>
static __device__ __forceinline__ bool with_codeword_of(const softqam_resolved_segment &segment,
                                                        const Function &function)
{
    const softqam_placement &placement = segment.placement;
    return function(placement.codeword_symbol, segment.n_symbols, placement.has_soft_buffers, placement.out,
                    placement.block_buffers, placement.block_stride);
}

/* A kernel's arguments. */
template <softqam_output_format FORMAT> struct soft_arguments {
    const softqam_segment_launch &launch;
    const segment_arguments &segments;
    const pair_arguments &pairs;
    const u8_table_argument<FORMAT> &u8_table;

    __device__ __forceinline__ bool are_in_memory() const { return launch.device_segments != nullptr; }

    __device__ __forceinline__ unsigned n_segments() const
    {
        return are_in_memory() ? min(*launch.n_device_segments, launch.n_segments) : launch.n_segments;
    }

    /* Makes segment k the block's. */
    __device__ __forceinline__ void load(soft_block &block, unsigned k) const;

    template <typename Function>
    __device__ __forceinline__ bool with_codeword(unsigned k, const Function &function) const
    {
        if (are_in_memory()) {
            const softqam_segment &segment = launch.device_segments[k];
            const softqam_codeword &codeword = segment.codeword;
            return function(segment.first_symbol, segment.n_symbols, codeword.n_code_blocks != 0 && codeword.n_cb != 0,
                            codeword.buffers, codeword.block_buffers, codeword.block_stride);
        }
        return with_codeword_of(segments.at[k], function);
    }
};

/* The block's threads copy a segment's cross gains from the arguments to shared memory. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void copy_pairs(soft_block &block, const soft_arguments<FORMAT> &arguments,
                                                  unsigned k)
{
    copy_words(block.pairs, arguments.pairs.at[k]);
}

/* Returns the thread blocks that n symbols take, of_block symbols each. It is limited to what a segment that fits in
 * memory takes, so that sums do not overflow. */
static __device__ __forceinline__ unsigned blocks_of(size_t n_symbols, unsigned of_block)
{
    enum : unsigned { MOST_SYMBOLS = 1u << 31, MOST_BLOCKS = (1u << 23) - 1 };
    const unsigned n = static_cast<unsigned>(min(n_symbols, size_t{MOST_SYMBOLS})) + of_block - 1;
    return min(n / of_block, MOST_BLOCKS + 0u);
}

/* A thread block finds its segment: each thread counts the blocks of one segment. Returns false, to all threads, if the
 * block is not needed. */
static __device__ __forceinline__ bool find_device_segment(soft_block &block, const softqam_segment_launch &launch)
{
    const unsigned all = 0xffffffffu;
    const unsigned lane = threadIdx.x % WARP_THREADS;
    const unsigned n_segments = min(*launch.n_device_segments, launch.n_segments);
    const unsigned of_block = softqam_block_symbols(launch.block_iterations, 1, true);
    unsigned before = 0;
    for (unsigned first = 0; first < launch.n_segments; first += BLOCK_THREADS) {
        /* Segments after the last one are read too, so that all loads are issued at once. */
        const unsigned segment = first + threadIdx.x;
        const size_t n_symbols = segment < launch.n_segments ? launch.device_segments[segment].n_symbols : 0;
        const unsigned mine = segment < n_segments ? blocks_of(n_symbols, of_block) : 0;
        unsigned sum = mine; /* sum of the warp's threads up to this one */
#pragma unroll
        for (unsigned distance = 1; distance < WARP_THREADS; distance *= 2) {
            const unsigned other = __shfl_up_sync(all, sum, distance);
            sum += lane >= distance ? other : 0;
        }
        if (lane == WARP_THREADS - 1)
            block.warp_sums[threadIdx.x / WARP_THREADS] = sum;
        __syncthreads();
        unsigned number = blockIdx.x - (before + sum - mine); /* among this thread's */
#pragma unroll
        for (unsigned warp = 0; warp < BLOCK_WARPS; warp++) {
            number -= warp < threadIdx.x / WARP_THREADS ? block.warp_sums[warp] : 0;
            before += block.warp_sums[warp];
        }
        if (number < mine)
            block.index = {segment, number};
        __syncthreads();
        if (blockIdx.x < before)
            return true;
        if (first + BLOCK_THREADS >= n_segments)
            return false;
    }
    return false;
}

/* The first warp makes a segment in device memory the block's. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void load_segment(soft_block &block, unsigned number,
                                                    const softqam_segment_launch &launch)
{
    enum { WORDS = sizeof block.descriptor / sizeof(uint64_t) };
    if (threadIdx.x >= WARP_THREADS)
        return;
    const unsigned lane = threadIdx.x;
    const uint64_t *words = reinterpret_cast<const uint64_t *>(&launch.device_segments[number]);
    const unsigned n_segments = *launch.n_device_segments;
#pragma unroll
    for (unsigned k = 0; k < WORDS; k += WARP_THREADS)
        if (k + lane < WORDS)
            block.descriptor[k + lane] = words[k + lane];
    __syncwarp();
    if (lane > 0)
        return;
    const softqam_segment *descriptor = reinterpret_cast<const softqam_segment *>(block.descriptor);
    softqam_segment_resolve(&block.segment, descriptor, &launch.defaults);
    softqam_pairs_resolve(&block.pairs, descriptor);
    if (n_segments == 0 ||
        (FORMAT == SOFTQAM_OUTPUT_U8 && block.segment.placement.modulation != SOFTQAM_MODULATION_256QAM))
        block.segment.n_symbols = 0;
}

template <softqam_output_format FORMAT>
__device__ __forceinline__ void soft_arguments<FORMAT>::load(soft_block &block, unsigned k) const
{
    if (are_in_memory())
        return load_segment<FORMAT>(block, k, launch);
    copy_words(block.segment, segments.at[k]);
    copy_pairs(block, *this, k);
}

#endif
