/* SPDX-License-Identifier: MIT */
/* How a block finds its segment of a launch, and prepares it. */
#ifndef SOFTQAM_SEGMENT_FIND_CUH
#define SOFTQAM_SEGMENT_FIND_CUH

#include "segment_run.cuh"

/* The segments of a kernel's arguments. */
typedef array_of<softqam_kernel_segment> segment_arguments;
static_assert(sizeof(softqam_u8_table) + sizeof(softqam_segment_launch) + 16 +
                      MAX_SEGMENTS *
                          (sizeof(softqam_kernel_segment) + sizeof(softqam_kernel_soft) + sizeof(unsigned)) <=
                  4096,
              "a kernel's arguments are limited");

/* Kernels' arguments lie in constant memory, which serves a warp one word at a time. Read at their generic address,
 * other memory's way, each thread gets its own word at once; the first access takes longer. */
template <typename Argument> static __device__ __forceinline__ const Argument &as_memory(const Argument &argument)
{
    const Argument *pointer = &argument;
    asm volatile("" : "+l"(pointer));
    return *pointer;
}

/* A structure of whole words from a kernel's arguments to shared memory, by the block's first threads. */
template <typename Structure>
static __device__ __forceinline__ void copy_words(Structure &to, const Structure &argument)
{
    enum { WORDS = sizeof to / sizeof(uint32_t) };
    static_assert(sizeof to % sizeof(uint32_t) == 0 && WORDS + 0 <= BLOCK_THREADS + 0, "a thread for each word");
    if (threadIdx.x < WORDS)
        reinterpret_cast<uint32_t *>(&to)[threadIdx.x] =
            reinterpret_cast<const uint32_t *>(&as_memory(argument))[threadIdx.x];
}

/* The segment of a block among those that are arguments: the last one that begins at this block or before. */
static __device__ __forceinline__ block_index find_segment(const array_of<unsigned> &first_blocks,
                                                           const softqam_segment_launch &launch)
{
    unsigned low = 0;
    unsigned high = launch.n_segments;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (first_blocks.at[middle] <= blockIdx.x)
            low = middle;
        else
            high = middle;
    }
    return {low, static_cast<size_t>(blockIdx.x - first_blocks.at[low])};
}

/* Blocks that n symbols of a segment in device memory take. No more than of any segment that fits in memory, so that
 * sums fit. */
static __device__ __forceinline__ unsigned blocks_of(size_t n_symbols, const softqam_segment_launch &launch)
{
    enum : unsigned { MOST_SYMBOLS = 1u << 31, MOST_BLOCKS = (1u << 23) - 1 };
    const unsigned of_block = softqam_block_symbols(launch.block_steps, 1, true);
    const unsigned n = static_cast<unsigned>(min(n_symbols, size_t{MOST_SYMBOLS})) + of_block - 1;
    return min(n / of_block, MOST_BLOCKS + 0u);
}

/* The same among segments in device memory, by a block: each thread counts the blocks of one. False for a block that is
 * not needed. All threads return the same. */
static __device__ __forceinline__ bool find_segment(const softqam_segment_launch &launch)
{
    const unsigned all = 0xffffffffu;
    const unsigned lane = threadIdx.x % WARP_THREADS;
    const unsigned n_segments = min(*launch.n_device_segments, launch.n_segments);
    unsigned before = 0;
    for (unsigned first = 0; first < launch.n_segments; first += BLOCK_THREADS) {
        /* What lies behind the segments that there are is read too: all loads are on their way at once. */
        const unsigned segment = first + threadIdx.x;
        const size_t n_symbols = segment < launch.n_segments ? launch.device_segments[segment].n_symbols : 0;
        const unsigned mine = segment < n_segments ? blocks_of(n_symbols, launch) : 0;
        unsigned sum = mine; /* of the warp's up to this thread's */
#pragma unroll
        for (unsigned distance = 1; distance < WARP_THREADS; distance *= 2) {
            const unsigned other = __shfl_up_sync(all, sum, distance);
            sum += lane >= distance ? other : 0;
        }
        if (lane == WARP_THREADS - 1)
            block.n_blocks[threadIdx.x / WARP_THREADS] = sum;
        __syncthreads();
        unsigned number = blockIdx.x - (before + sum - mine); /* among this thread's */
#pragma unroll
        for (unsigned warp = 0; warp < BLOCK_WARPS; warp++) {
            number -= warp < threadIdx.x / WARP_THREADS ? block.n_blocks[warp] : 0;
            before += block.n_blocks[warp];
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

/* A segment of device memory to the block's, by a warp. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void load_segment(const softqam_segment &from, const softqam_segment_launch &launch)
{
    enum { WORDS = sizeof block.descriptor / sizeof(uint64_t) };
    const unsigned lane = threadIdx.x % WARP_THREADS;
    const uint64_t *words = reinterpret_cast<const uint64_t *>(&from);
    const unsigned n_segments = *launch.n_device_segments;
#pragma unroll
    for (unsigned k = 0; k < WORDS; k += WARP_THREADS)
        if (k + lane < WORDS)
            block.descriptor[k + lane] = words[k + lane];
    __syncwarp();
    if (lane > 0)
        return;
    const softqam_segment *descriptor = reinterpret_cast<const softqam_segment *>(block.descriptor);
    softqam_kernel_segment_make(&block.segment, descriptor, &launch.defaults);
    const unsigned modulation = block.segment.modulation;
    if (n_segments == 0 || (FORMAT == SOFTQAM_OUTPUT_U8 ? modulation != SOFTQAM_MODULATION_256QAM : modulation == 0))
        block.segment.n_symbols = 0;
}

/* The soft buffers of a segment that has been loaded: whether it has any; by the block, before anything is staged. */
static __device__ __forceinline__ bool has_soft_buffers()
{
    return softqam_segment_has_soft_buffers(reinterpret_cast<const softqam_segment *>(block.descriptor));
}

static __device__ __forceinline__ void open_soft_buffers()
{
    if (threadIdx.x == 0)
        softqam_kernel_soft_make(&block.soft, reinterpret_cast<const softqam_segment *>(block.descriptor),
                                 &block.segment);
    __syncthreads();
}

/* What a block does of its segment. */
struct block_span {
    size_t first;
    unsigned n_symbols;
    bool is_descrambled;
    bool is_written_by_one; /* the scrambling sequence, by the last warp */
};

template <softqam_output_format FORMAT>
static __device__ __forceinline__ block_span block_span_of(const softqam_kernel_segment &segment,
                                                           const softqam_segment_launch &launch, size_t number)
{
    enum { MANY_STEPS = 4 };
    const unsigned of_block =
        softqam_block_symbols(launch.block_steps, segment.n_layers, launch.device_segments != nullptr);
    block_span span;
    span.first = number * of_block;
    span.n_symbols = span.first < segment.n_symbols
                         ? static_cast<unsigned>(min(segment.n_symbols - span.first, of_block + size_t{0}))
                         : 0;
    span.is_descrambled = FORMAT != SOFTQAM_OUTPUT_U8 && segment.is_descrambled;
    span.is_written_by_one = span.is_descrambled && launch.block_steps < MANY_STEPS * BLOCK_WARPS;
    return span;
}

/* The scrambling sequence for a block's symbols. */
static __device__ __forceinline__ void write_sequence(const softqam_kernel_segment &segment, const block_span &span)
{
    const unsigned bits = softqam_symbol_bits(static_cast<softqam_modulation>(segment.modulation));
    if (span.is_descrambled)
        write_block_gold(block.sequence, (span.n_symbols * bits + 31) / 32, !span.is_written_by_one, segment.c_init,
                         (segment.first_symbol + span.first) * bits);
}

/* Barriers of less than a block's warps: those but the last one, which arrives at the second alone. */
enum { OTHER_WARPS_BARRIER = 1, LAST_WARP_BARRIER };

/* A segment of a kernel's arguments to the block's, its table and its scrambling sequence. Where one warp writes that
 * sequence, it needs the arguments alone, and so does not wait for what the others do. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void open_segment(const softqam_kernel_segment &segment, const block_span &span,
                                                    const soft_table_argument<FORMAT> &soft_table)
{
    enum { OTHERS = BLOCK_THREADS - WARP_THREADS, WORDS = sizeof segment / sizeof(uint32_t) };
    static_assert(sizeof segment % sizeof(uint32_t) == 0 && WORDS + 0 <= OTHERS + 0, "a thread for each word");
    if (span.is_written_by_one && threadIdx.x >= OTHERS) {
        write_table<FORMAT>(segment.modulation, soft_table);
        write_sequence(segment, span);
        asm volatile("bar.sync %0, %1;" ::"n"(LAST_WARP_BARRIER + 0), "n"(BLOCK_THREADS + 0) : "memory");
        return;
    }
    const uint32_t word =
        threadIdx.x < WORDS ? reinterpret_cast<const uint32_t *>(&as_memory(segment))[threadIdx.x] : 0;
    write_table<FORMAT>(segment.modulation, soft_table);
    if (threadIdx.x < WORDS)
        reinterpret_cast<uint32_t *>(&block.segment)[threadIdx.x] = word;
    if (span.is_written_by_one) {
        asm volatile("bar.sync %0, %1;" ::"n"(OTHER_WARPS_BARRIER + 0), "n"(OTHERS + 0) : "memory");
        asm volatile("bar.arrive %0, %1;" ::"n"(LAST_WARP_BARRIER + 0), "n"(BLOCK_THREADS + 0) : "memory");
        return;
    }
    write_sequence(segment, span);
    __syncthreads();
}

/* From a step of a warp to its next one, in steps: the block's warps take steps in turns, so that they read and write
 * side by side; but where a step reads less than 64 bytes of a layer, which memory gives at a time, a warp takes what
 * follows too. */
static __device__ __forceinline__ unsigned step_stride(unsigned n_layers)
{
    return n_layers > 2 && block.input_format != SOFTQAM_INPUT_CF32 ? 1 : BLOCK_WARPS;
}

/* A block's symbols of its segment, which has no soft buffers. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void demodulate_block(const softqam_segment_launch &launch, const block_span &span,
                                                        const soft_table_argument<FORMAT> &soft_table)
{
    const bool is_in_memory = launch.device_segments;
    const unsigned n_layers = block.segment.n_layers;
    const unsigned stride = step_stride(n_layers);
    const unsigned apart = stride == 1 ? softqam_block_symbols(launch.block_steps, n_layers, is_in_memory) / BLOCK_WARPS
                                       : softqam_step_symbols(n_layers);
    const unsigned before = threadIdx.x / WARP_THREADS * apart;
    const int n_left = static_cast<int>(span.n_symbols - before);
    const int n_warp = stride == 1 ? min(n_left, static_cast<int>(apart)) : n_left;
    demodulate_span<FORMAT>(soft_table, launch.limit, {span.first + before, before, n_warp, stride, !is_in_memory});
}

#endif
