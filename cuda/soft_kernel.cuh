/* SPDX-License-Identifier: MIT */
/* The kernels of segments of which some have soft buffers, and of segments in device memory. Two .cu files share them,
 * which compile at the same time. */
#ifndef SOFTQAM_SOFT_KERNEL_CUH
#define SOFTQAM_SOFT_KERNEL_CUH

#include "count.cuh"
#include "segment_warp.cuh"
#include "soft_tile.cuh"

/* Thread blocks that a multiprocessor holds at once: one fewer than of the other kernels. With 64 registers a thread
 * would keep many values in memory. */
enum { SOFT_BLOCKS = 7 };

/* Thread blocks likewise, for the kernels that demap layers in pairs, which keep columns of points. */
enum { PAIR_BLOCKS = 5 };

/* A kernel's arguments. */
template <softqam_output_format FORMAT> struct soft_arguments {
    const softqam_segment_launch &launch;
    const segment_arguments &segments;
    const pair_arguments &pairs;
    const u8_table_argument<FORMAT> &u8_table;

    __device__ __forceinline__ bool are_in_memory() const { return launch.device_segments != nullptr; }
};

/* The block's threads copy a segment's cross gains from the arguments to shared memory. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void copy_pairs(soft_block &block, const soft_arguments<FORMAT> &arguments,
                                                  unsigned k)
{
    copy_words(block.pairs, arguments.pairs.at[k]);
}

/* Segments in device memory. */

/* Thread blocks that n symbols of such a segment take. They are limited to what a segment that fits in memory takes, so
 * that sums do not overflow. */
static __device__ __forceinline__ unsigned blocks_of(size_t n_symbols, const softqam_segment_launch &launch)
{
    enum : unsigned { MOST_SYMBOLS = 1u << 31, MOST_BLOCKS = (1u << 23) - 1 };
    const unsigned of_block = softqam_block_symbols(launch.block_iterations, 1, true);
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
    unsigned before = 0;
    for (unsigned first = 0; first < launch.n_segments; first += BLOCK_THREADS) {
        /* Segments after the last one are read too, so that all loads are on their way at once. */
        const unsigned segment = first + threadIdx.x;
        const size_t n_symbols = segment < launch.n_segments ? launch.device_segments[segment].n_symbols : 0;
        const unsigned mine = segment < n_segments ? blocks_of(n_symbols, launch) : 0;
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

/* Code blocks. */

/* A thread writes the block's work for a span of a code block. The zeros and fillers are shared by all symbols that the
 * segment has of the code block, if it has the first one; with repetition they are written before anything is added. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void open_work(soft_block &block, const softqam_code_block &found,
                                                 const soft_span &span)
{
    const softqam_placement &placement = block.segment.placement;
    const uint32_t first = placement.codeword_symbol + static_cast<uint32_t>(span.first) - found.first;
    if (span.waits && placement.block_buffers) /* pointers in memory */
        wait_for_previous_kernel();
    const softqam_soft_buffer &buffer = placement.buffer;
    const unsigned bits = softqam_symbol_bits(static_cast<softqam_modulation>(placement.modulation));
    soft_work &work = block.work;
    work.buffer = buffer;
    work.values = softqam_code_block_values(&placement, &found);
    work.n_symbols = found.n_symbols;
    work.first = first;
    work.is_repeated = softqam_soft_is_repeated(&buffer, uint64_t{found.n_symbols} * bits);
    work.adds = placement.combines || work.is_repeated;
    work.fill_first = work.fill_end = 0;
    work.fill.first_zero = work.is_repeated ? 0 : found.n_symbols * bits;
    work.fill.n_zeros = buffer.n_data - work.fill.first_zero;
    work.fill.zeros_below = work.is_repeated ? UINT32_MAX : buffer.n_fill;
    work.fill.filler_value = placement.filler_value;
    if (placement.combines || placement.codeword_symbol > found.first)
        return;
    if (work.is_repeated) {
        work.fill_end = first == 0 ? softqam_soft_buffer_size(&buffer) : 0;
        return;
    }
    const uint32_t n_shared = static_cast<uint32_t>(
        min(uint64_t{found.n_symbols}, placement.codeword_symbol + block.segment.n_symbols - found.first));
    const uint32_t n_values = work.fill.n_zeros + softqam_soft_buffer_size(&buffer) - buffer.n_data;
    const uint64_t each = n_values / n_shared + 1;
    work.fill_first = static_cast<uint32_t>(min(first * each, uint64_t{n_values}));
    work.fill_end =
        static_cast<uint32_t>(min((first + uint64_t{static_cast<uint32_t>(span.n)}) * each, uint64_t{n_values}));
}

/* Moves a thread block along its walk. All threads have the same. */
template <softqam_output_format FORMAT> struct soft_walker : soft_walk {
    soft_block &block;
    const soft_arguments<FORMAT> &arguments;

    __device__ __forceinline__ soft_walker(soft_block &shared, const soft_arguments<FORMAT> &all)
        : soft_walk(shared.walk), block(shared), arguments(all)
    {
    }

    __device__ __forceinline__ soft_span take(uint32_t n)
    {
        const soft_span span = {next, static_cast<int>(n), static_cast<unsigned>(next - first),
                                !arguments.are_in_memory()};
        if (threadIdx.x == 0)
            open_work<FORMAT>(block, found, span);
        next += n;
        return span;
    }

    /* Takes of the block's range the symbols up to the end of a code block. */
    __device__ __forceinline__ void advance_in_range(soft_span &span)
    {
        if (next >= end)
            return;
        const softqam_placement &placement = block.segment.placement;
        const uint32_t symbol = placement.codeword_symbol + static_cast<uint32_t>(next);
        found = softqam_code_block_at(&placement.blocks, symbol);
        const size_t n_left = size_t{found.first} + found.n_symbols - symbol;
        span = take(static_cast<uint32_t>(min(end - next, n_left)));
    }

    /* True if segment k has symbols of the code block, and of the same codeword. */
    __device__ __forceinline__ bool has_part(unsigned k) const
    {
        const softqam_placement &here = block.segment.placement;
        const auto is_part = [&](uint64_t begin, size_t n, bool has_soft, const void *buffers,
                                 void *const *block_buffers, uint64_t block_stride) {
            return has_soft && buffers == here.out && block_buffers == here.block_buffers &&
                   block_stride == here.block_stride && n > 0 && begin < uint64_t{found.first} + found.n_symbols &&
                   begin + n > found.first;
        };
        if (arguments.are_in_memory()) {
            const softqam_segment &other = arguments.launch.device_segments[k];
            const softqam_codeword &codeword = other.codeword;
            return is_part(other.first_symbol, other.n_symbols, codeword.n_code_blocks != 0 && codeword.n_cb != 0,
                           codeword.buffers, codeword.block_buffers, codeword.block_stride);
        }
        const softqam_placement &other = arguments.segments.at[k].placement;
        return is_part(other.codeword_symbol, arguments.segments.at[k].n_symbols, other.has_soft_buffers, other.out,
                       other.block_buffers, other.block_stride);
    }

    /* Finds the first segment, from k up to `last`, that has symbols of the code block; `last`: none has. */
    __device__ __forceinline__ unsigned find_part(unsigned k, unsigned last) const
    {
        while (k < last && !has_part(k))
            k++;
        return k;
    }

    /* Makes segment k the block's, and its symbols of the code block the next ones. */
    __device__ __forceinline__ void load(unsigned k)
    {
        __syncthreads();
        if (k != segment) {
            if (arguments.are_in_memory())
                load_segment<FORMAT>(block, k, arguments.launch);
            else {
                copy_words(block.segment, arguments.segments.at[k]);
                copy_pairs(block, arguments, k);
            }
            segment = k;
            __syncthreads();
            write_table<FORMAT>(block, block.segment.placement.modulation, arguments.u8_table);
        }
        const uint64_t of_segment = block.segment.placement.codeword_symbol;
        const uint64_t begin = max(of_segment, uint64_t{found.first});
        const uint64_t last = min(of_segment + block.segment.n_symbols, uint64_t{found.first} + found.n_symbols);
        next = begin - of_segment;
        end = last > begin ? last - of_segment : next;
    }

    /* Goes to a code block of the home segment, which is at hand, unless another thread block has it. */
    __device__ __forceinline__ void open_code_block(uint32_t j)
    {
        found = softqam_code_block_nth(&block.segment.placement.blocks, j);
        is_open = find_part(0, home) == home;
        load(home);
        if (!is_open)
            next = end;
    }

    __device__ __forceinline__ void advance_repeated(soft_span &span)
    {
        const softqam_segment_launch &launch = arguments.launch;
        while (next >= end) {
            const unsigned n_segments =
                arguments.are_in_memory() ? min(*launch.n_device_segments, launch.n_segments) : launch.n_segments;
            const unsigned other = is_open ? find_part(segment + 1, n_segments) : n_segments;
            if (other < n_segments) {
                load(other);
                continue;
            }
            if (last_j - found.j < stride_j)
                return;
            load(home);
            open_code_block(found.j + stride_j);
        }
        const unsigned most =
            softqam_block_symbols(BLOCK_WARPS * MOST_WARP_ITERATIONS, block.segment.source.n_layers, false);
        const auto n = static_cast<uint32_t>(min(end - next, size_t{most}));
        __syncthreads();
        first = next;
        write_sequence(block, block.segment.placement, {next, n, block.segment.placement.is_descrambled != 0, false});
        span = take(n);
    }
};

/* Returns the block's next span; one of no symbols if there is none. */
template <softqam_output_format FORMAT>
static __device__ __noinline__ soft_span advance_walk(soft_block &block, const soft_arguments<FORMAT> &arguments)
{
    __builtin_assume(__isShared(&block) != 0);
    soft_span span = {};
    __syncthreads(); /* threads may still read what belongs to the span before */
    soft_walker<FORMAT> walker(block, arguments);
    __syncthreads();
    if (block.segment.placement.is_repeated)
        walker.advance_repeated(span);
    else
        walker.advance_in_range(span);
    if (threadIdx.x == 0)
        block.walk = walker;
    return span;
}

/* The first span of a thread block, and whose it is. */
struct soft_task {
    block_index index; /* the segment */
    block_span span;
    softqam_code_block found; /* the code block, of an argument */
    bool has_soft;
};

/* Prepares the walk's code blocks with repetition, of a segment in device memory divided among its thread blocks; it
 * begins before the first of them. Returns false if this thread block has none. */
static __device__ __forceinline__ bool begin_repeated(const soft_block &block, const block_index &index,
                                                      const softqam_segment_launch &launch, soft_walk &walk)
{
    const softqam_placement &of = block.segment.placement;
    walk.last_j = walk.found.j;
    walk.stride_j = 1;
    if (launch.device_segments) {
        const auto last = static_cast<uint32_t>(of.codeword_symbol + block.segment.n_symbols - 1);
        walk.found.j = softqam_code_block_at(&of.blocks, of.codeword_symbol).j + static_cast<uint32_t>(index.number);
        walk.last_j = softqam_code_block_at(&of.blocks, last).j;
        walk.stride_j = blocks_of(block.segment.n_symbols, launch);
    }
    const bool has_any = walk.found.j <= walk.last_j;
    walk.found.j -= walk.stride_j;
    walk.is_open = false;
    walk.next = walk.end;
    return has_any;
}

/* Demodulates a thread block's symbols of a segment with soft buffers. */
template <softqam_output_format FORMAT, pair_mode PAIRS>
static __device__ __forceinline__ void
demodulate_code_blocks(soft_block &block, const soft_arguments<FORMAT> &arguments, const soft_task &task)
{
    const block_span &span = task.span;
    /* The thread block has no more than this span. */
    const bool is_alone = !arguments.are_in_memory() && !block.segment.placement.is_repeated;
    soft_span next = {span.first, static_cast<int>(span.n_symbols), 0, true};
    if (is_alone) {
        if (threadIdx.x == 0)
            open_work<FORMAT>(block, task.found, next);
    } else {
        soft_walk walk = {task.found, span.first,         span.first + span.n_symbols,
                          span.first, task.index.segment, task.index.segment};
        if (block.segment.placement.is_repeated && !begin_repeated(block, task.index, arguments.launch, walk))
            return;
        if (threadIdx.x == 0)
            block.walk = walk;
        next = advance_walk<FORMAT>(block, arguments);
    }
#pragma unroll 1
    while (next.n > 0) {
        demodulate_soft_span<FORMAT, PAIRS>(block, arguments.launch, next);
        if (is_alone)
            return;
        next = advance_walk<FORMAT>(block, arguments);
    }
}

/* The kernel. */

/* Finds and prepares what a thread block does of the segments in device memory. Returns false if it has nothing to do.
 */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ bool open_device_task(soft_task &task, soft_block &block,
                                                        const soft_arguments<FORMAT> &arguments)
{
    const softqam_segment_launch &launch = arguments.launch;
    wait_for_previous_kernel();
    task.index = {0, blockIdx.x};
    if (launch.n_segments > 1) {
        if (!find_device_segment(block, launch))
            return false;
        task.index = block.index;
    }
    load_segment<FORMAT>(block, task.index.segment, launch);
    __syncthreads();
    const softqam_placement &placement = block.segment.placement;
    task.has_soft = FORMAT != SOFTQAM_OUTPUT_U8 && placement.has_soft_buffers;
    task.span = block_span_of<FORMAT>(block.segment, launch, task.index.number);
    if (task.span.n_symbols == 0)
        return false;
    write_table<FORMAT>(block, placement.modulation, arguments.u8_table);
    if (!task.has_soft || !placement.is_repeated)
        write_sequence(block, placement, task.span);
    return true;
}

/* number / divisor; `reciprocal` is 2^32 / divisor, rounded up, or 0 for a divisor of 1. The product's upper word is
 * the quotient or one more. */
static __device__ __forceinline__ uint32_t quotient_of(uint32_t number, uint32_t divisor, uint32_t reciprocal)
{
    const uint32_t quotient = __umulhi(number, reciprocal);
    return reciprocal == 0 ? number : quotient - (quotient * divisor > number ? 1 : 0);
}

/* Finds what a thread block does of a segment with soft buffers that is an argument: a part of one code block. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void find_part_of_code_block(soft_task &task, const softqam_resolved_segment &segment,
                                                               const softqam_code_block_parts &parts,
                                                               const softqam_segment_launch &launch)
{
    const softqam_placement &placement = segment.placement;
    const auto number = static_cast<uint32_t>(task.index.number);
    const uint32_t of_segment = quotient_of(number, parts.n_parts, parts.reciprocal);
    task.found = softqam_code_block_nth(&placement.blocks, parts.first + of_segment);
    const softqam_code_block &found = task.found;
    const uint64_t before = uint64_t{number - of_segment * parts.n_parts} * parts.n_symbols;
    const uint32_t begin = found.first + static_cast<uint32_t>(before);
    const uint32_t n =
        before < found.n_symbols ? min(parts.n_symbols, found.n_symbols - static_cast<uint32_t>(before)) : 0;
    /* A codeword has less than 2^32 symbols. */
    const uint32_t first = max(placement.codeword_symbol, begin);
    const uint32_t end = min(placement.codeword_symbol + static_cast<uint32_t>(segment.n_symbols), begin + n);
    task.span = block_span_of<FORMAT>(segment, launch, 0);
    task.span.first = first - placement.codeword_symbol;
    task.span.n_symbols = end > first ? static_cast<unsigned>(end - first) : 0;
    if (placement.is_repeated) /* the sequence is written span by span */
        task.span.is_descrambled = task.span.is_written_by_one = false;
}

/* Finds and prepares what a thread block does of the segments that are arguments. Returns false if it has nothing to
 * do. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ bool
open_argument_task(soft_task &task, soft_block &block, const soft_arguments<FORMAT> &arguments,
                   const part_arguments<FORMAT> &parts, const array_of<unsigned> &first_blocks)
{
    task.index = find_segment(first_blocks, arguments.launch);
    const softqam_resolved_segment &segment = arguments.segments.at[task.index.segment];
    task.has_soft = FORMAT != SOFTQAM_OUTPUT_U8 && segment.placement.has_soft_buffers;
    if constexpr (FORMAT != SOFTQAM_OUTPUT_U8)
        if (task.has_soft)
            find_part_of_code_block<FORMAT>(task, segment, parts.at[task.index.segment], arguments.launch);
    if (!task.has_soft)
        task.span = block_span_of<FORMAT>(segment, arguments.launch, task.index.number);
    if (task.span.n_symbols == 0)
        return false;
    copy_pairs(block, arguments, task.index.segment);
    open_segment<FORMAT>(block, segment, task.span, arguments.u8_table);
    return true;
}

template <softqam_output_format FORMAT, pair_mode PAIRS>
static __global__ void __launch_bounds__(BLOCK_THREADS, PAIRS == ONLY_PAIRS ? PAIR_BLOCKS : SOFT_BLOCKS)
    soft_kernel(const __grid_constant__ softqam_segment_launch launch,
                const __grid_constant__ segment_arguments segments,
                const __grid_constant__ part_arguments<FORMAT> parts, const __grid_constant__ pair_arguments pairs,
                const __grid_constant__ array_of<unsigned> first_blocks,
                const __grid_constant__ u8_table_argument<FORMAT> u8_table)
{
    __shared__ soft_block block;
    const soft_arguments<FORMAT> arguments = {launch, segments, pairs, u8_table};
    soft_task task = {};
    let_next_kernel_begin();
    if (threadIdx.x == 0)
        block.input_format = launch.input_format;
    if (!(arguments.are_in_memory() ? open_device_task<FORMAT>(task, block, arguments)
                                    : open_argument_task<FORMAT>(task, block, arguments, parts, first_blocks)))
        return;
    if constexpr (PAIRS != ONLY_PAIRS) {
        softqam_statistics *statistics = arguments.are_in_memory() ? block.pairs.statistics
                                         : launch.only_counts      ? pairs.at[task.index.segment].statistics
                                                                   : nullptr;
        if (statistics)
            count_block<FORMAT>(block, launch.limit, task.span, u8_table, statistics);
        if (launch.only_counts)
            return;
    }
    if (!task.has_soft)
        return demodulate_block<FORMAT, PAIRS>(block, launch, task.span, u8_table);
    if constexpr (FORMAT != SOFTQAM_OUTPUT_U8)
        demodulate_code_blocks<FORMAT, PAIRS>(block, arguments, task);
}

template <softqam_output_format FORMAT, pair_mode PAIRS = WITH_PAIRS> static const void *soft_kernel_of()
{
    return reinterpret_cast<const void *>(soft_kernel<FORMAT, PAIRS>);
}

#endif
