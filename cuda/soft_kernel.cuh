/* SPDX-License-Identifier: MIT */
/* The kernels of segments of which some have soft buffers, and of segments in device memory. Two .cu files share them,
 * which compile at the same time. */
#ifndef SOFTQAM_SOFT_KERNEL_CUH
#define SOFTQAM_SOFT_KERNEL_CUH

#include "segment_find.cuh"
#include "soft_run.cuh"

/* That a multiprocessor holds at once: one fewer than of the other kernels. With 64 registers a thread would keep many
 * values in memory. */
enum { SOFT_BLOCKS = 7 };

/* What a block of this kernel is given. */
struct soft_arguments {
    const softqam_segment_launch &launch;
    const segment_arguments &segments;
    const array_of<softqam_kernel_soft> &softs;
};

/* The code block that is the j-th transmitted one; its number r is not looked for. */
static __device__ __forceinline__ softqam_code_block code_block_of(const softqam_code_blocks &blocks, uint32_t j)
{
    const uint32_t n_longer = j > blocks.n_shorter ? j - blocks.n_shorter : 0;
    softqam_code_block found = {};
    found.j = j;
    found.first = j * blocks.shorter + n_longer * blocks.n_layers;
    found.n_symbols = blocks.shorter + (j < blocks.n_shorter ? 0 : blocks.n_layers);
    return found;
}

/* Where the soft buffer of a code block begins; NULL: nowhere. */
static __device__ __forceinline__ unsigned char *soft_buffer_at(const softqam_code_block &found, unsigned value_nbytes)
{
    const softqam_kernel_segment &segment = block.segment;
    const uint32_t r = softqam_code_block_number(&segment.blocks, found.j);
    if (r >= segment.blocks.n_code_blocks || block.soft.buffer.n_data == 0)
        return nullptr;
    if (segment.block_buffers)
        return static_cast<unsigned char *>(segment.block_buffers[r]);
    const uint64_t first = segment.block_stride != 0 ? r * segment.block_stride
                                                     : uint64_t{found.j} * softqam_soft_buffer_size(&block.soft.buffer);
    return static_cast<unsigned char *>(segment.out) + first * value_nbytes;
}

/* By a thread: the block's work, a span of a code block. The zeros and fillers are shared by all symbols that the
 * segment has of the code block, if it has the first one; with repetition they are written before anything is added. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void open_piece(const softqam_code_block &found, const soft_span &span)
{
    const softqam_kernel_segment &segment = block.segment;
    const uint32_t first = segment.codeword_symbol + static_cast<uint32_t>(span.first) - found.first;
    if (span.waits && segment.block_buffers) /* pointers in memory */
        wait_for_previous_kernel();
    const softqam_soft_buffer &buffer = block.soft.buffer;
    const unsigned bits = softqam_symbol_bits(static_cast<softqam_modulation>(segment.modulation));
    soft_work &work = block.work;
    work.positions.open(buffer);
    work.values = soft_buffer_at(found, symbol_size<FORMAT, 1>::VALUE_NBYTES);
    work.n_symbols = found.n_symbols;
    work.first = first;
    work.is_repeated = softqam_soft_is_repeated(&buffer, uint64_t{found.n_symbols} * bits);
    work.adds = block.soft.combines || work.is_repeated;
    work.fill_first = work.fill_end = 0;
    work.first_zero = work.is_repeated ? 0 : found.n_symbols * bits;
    work.n_zeros = buffer.n_data - work.first_zero;
    if (block.soft.combines || segment.codeword_symbol > found.first)
        return;
    if (work.is_repeated) {
        work.fill_end = first == 0 ? buffer.n_data + buffer.n_fillers : 0;
        return;
    }
    const uint32_t n_shared = static_cast<uint32_t>(
        min(uint64_t{found.n_symbols}, segment.codeword_symbol + segment.n_symbols - found.first));
    const uint32_t n_values = work.n_zeros + buffer.n_fillers;
    const uint64_t each = n_values / n_shared + 1;
    work.fill_first = static_cast<uint32_t>(min(first * each, uint64_t{n_values}));
    work.fill_end =
        static_cast<uint32_t>(min((first + uint64_t{static_cast<uint32_t>(span.n)}) * each, uint64_t{n_values}));
}

/* A block's way through its symbols, span by span, each of one code block, where these are several. All threads have
 * the same; between spans it lies in shared memory.
 *
 * Without repetition a block of a segment in device memory has symbols of several code blocks. With repetition it has
 * code blocks of its own: all that the launch's segments have of one, in the order of the segments. The block is that
 * of the first segment with symbols of it. */
struct soft_walk {
    softqam_code_block found; /* the code block */
    size_t next;              /* symbol of the block's segment */
    size_t end;               /* of what the block has of it */
    size_t first;             /* of the symbols whose scrambling sequence is written */
    /* With repetition. */
    unsigned home; /* the block's segment, and the one that it is at */
    unsigned segment;
    uint32_t last_j;
    uint32_t stride_j; /* from a code block to the block's next one */
    bool is_open;      /* the code block is this block's */
};

static __shared__ soft_walk walk_of_block;

template <softqam_output_format FORMAT> struct soft_walker : soft_walk {
    const soft_arguments &arguments;
    const soft_table_argument<FORMAT> &soft_table;

    __device__ __forceinline__ soft_walker(const soft_arguments &all, const soft_table_argument<FORMAT> &table)
        : soft_walk(walk_of_block), arguments(all), soft_table(table)
    {
    }

    __device__ __forceinline__ bool is_in_memory() const { return arguments.launch.device_segments != nullptr; }

    __device__ __forceinline__ soft_span take(uint32_t n)
    {
        const soft_span span = {next, static_cast<int>(n), static_cast<unsigned>(next - first), !is_in_memory()};
        if (threadIdx.x == 0)
            open_piece<FORMAT>(found, span);
        next += n;
        return span;
    }

    /* Of the block's range of symbols, those up to the end of a code block. */
    __device__ __forceinline__ void advance_in_range(soft_span &span)
    {
        if (next >= end)
            return;
        const uint32_t symbol = block.segment.codeword_symbol + static_cast<uint32_t>(next);
        found = softqam_code_block_at(&block.segment.blocks, symbol);
        const size_t n_left = size_t{found.first} + found.n_symbols - symbol;
        span = take(static_cast<uint32_t>(min(end - next, n_left)));
    }

    /* Whether segment k has symbols of the code block, and of the same codeword. */
    __device__ __forceinline__ bool has_part(unsigned k) const
    {
        const softqam_kernel_segment &here = block.segment;
        const auto is_part = [&](uint64_t begin, size_t n, bool has_soft, const void *buffers,
                                 void *const *block_buffers, uint64_t block_stride) {
            return has_soft && buffers == here.out && block_buffers == here.block_buffers &&
                   block_stride == here.block_stride && n > 0 && begin < uint64_t{found.first} + found.n_symbols &&
                   begin + n > found.first;
        };
        if (is_in_memory()) {
            const softqam_segment &other = arguments.launch.device_segments[k];
            const softqam_codeword &codeword = other.codeword;
            return is_part(other.first_symbol, other.n_symbols, softqam_segment_has_soft_buffers(&other),
                           codeword.buffers, codeword.block_buffers, codeword.block_stride);
        }
        const softqam_kernel_segment &other = arguments.segments.at[k];
        return is_part(other.codeword_symbol, other.n_symbols, arguments.softs.at[k].is_used, other.out,
                       other.block_buffers, other.block_stride);
    }

    /* The first of some segments that has symbols of the code block; `behind`: none has. */
    __device__ __forceinline__ unsigned find_part(unsigned k, unsigned behind) const
    {
        while (k < behind && !has_part(k))
            k++;
        return k;
    }

    /* Makes segment k the block's, and its symbols of the code block the next ones. */
    __device__ __forceinline__ void load(unsigned k)
    {
        __syncthreads();
        if (k != segment) {
            if (is_in_memory()) {
                if (threadIdx.x < WARP_THREADS)
                    load_segment<FORMAT>(arguments.launch.device_segments[k], arguments.launch);
            } else {
                copy_words(block.segment, arguments.segments.at[k]);
                copy_words(block.soft, arguments.softs.at[k]);
            }
            segment = k;
            __syncthreads();
            if (is_in_memory())
                open_soft_buffers();
            write_table<FORMAT>(block.segment.modulation, soft_table);
        }
        const softqam_kernel_segment &of = block.segment;
        const uint64_t begin = max(uint64_t{of.codeword_symbol}, uint64_t{found.first});
        const uint64_t behind = min(of.codeword_symbol + of.n_symbols, uint64_t{found.first} + found.n_symbols);
        next = begin - of.codeword_symbol;
        end = behind > begin ? behind - of.codeword_symbol : next;
    }

    /* To a code block of the home segment, which is at hand, unless another block has it. */
    __device__ __forceinline__ void open_code_block(uint32_t j)
    {
        found = code_block_of(block.segment.blocks, j);
        is_open = find_part(0, home) == home;
        load(home);
        if (!is_open)
            next = end;
    }

    __device__ __forceinline__ void advance_repeated(soft_span &span)
    {
        while (next >= end) {
            const unsigned n_segments = is_in_memory()
                                            ? min(*arguments.launch.n_device_segments, arguments.launch.n_segments)
                                            : arguments.launch.n_segments;
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
        const unsigned most = softqam_block_symbols(BLOCK_WARPS * MOST_WARP_STEPS, block.segment.n_layers, false);
        const auto n = static_cast<uint32_t>(min(end - next, size_t{most}));
        __syncthreads();
        first = next;
        write_sequence(block.segment, {next, n, block.segment.is_descrambled != 0, false});
        span = take(n);
    }
};

/* The block's next span; of no symbols if there is none. */
template <softqam_output_format FORMAT>
static __device__ __noinline__ soft_span advance_walk(const soft_arguments &arguments,
                                                      const soft_table_argument<FORMAT> &soft_table)
{
    soft_span span = {};
    __syncthreads(); /* threads may still read what belongs to the span before */
    soft_walker<FORMAT> walker(arguments, soft_table);
    __syncthreads();
    if (block.soft.is_repeated)
        walker.advance_repeated(span);
    else
        walker.advance_in_range(span);
    if (threadIdx.x == 0)
        walk_of_block = walker;
    return span;
}

/* The walk's code blocks with repetition, those of a segment in device memory divided among its blocks; the one before
 * the first, of which nothing is left. False: this block has none. */
static __device__ __forceinline__ bool begin_repeated(const block_index &index, const softqam_segment_launch &launch,
                                                      soft_walk &walk)
{
    const softqam_kernel_segment &of = block.segment;
    walk.last_j = walk.found.j;
    walk.stride_j = 1;
    if (launch.device_segments) {
        const auto last = static_cast<uint32_t>(of.codeword_symbol + of.n_symbols - 1);
        walk.found.j = softqam_code_block_at(&of.blocks, of.codeword_symbol).j + static_cast<uint32_t>(index.number);
        walk.last_j = softqam_code_block_at(&of.blocks, last).j;
        walk.stride_j = blocks_of(of.n_symbols, launch);
    }
    const bool has_any = walk.found.j <= walk.last_j;
    walk.found.j -= walk.stride_j;
    walk.is_open = false;
    walk.next = walk.end;
    return has_any;
}

/* number / divisor; `reciprocal` is 2^32 / divisor, rounded up, or 0 for a divisor of 1. The product's upper word is
 * the quotient or one more. */
static __device__ __forceinline__ uint32_t quotient_of(uint32_t number, uint32_t divisor, uint32_t reciprocal)
{
    const uint32_t quotient = __umulhi(number, reciprocal);
    return reciprocal == 0 ? number : quotient - (quotient * divisor > number ? 1 : 0);
}

/* A block's part of a code block of a segment that is an argument. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ block_span soft_part_of(const softqam_kernel_segment &segment,
                                                          const softqam_kernel_soft &soft,
                                                          const softqam_segment_launch &launch, unsigned part,
                                                          const softqam_code_block &found)
{
    const uint64_t before = uint64_t{part} * soft.part_symbols;
    const uint32_t begin = found.first + static_cast<uint32_t>(before);
    const uint32_t n =
        before < found.n_symbols ? min(soft.part_symbols, found.n_symbols - static_cast<uint32_t>(before)) : 0;
    /* A codeword has less than 2^32 symbols. */
    const uint32_t first = max(segment.codeword_symbol, begin);
    const uint32_t end = min(segment.codeword_symbol + static_cast<uint32_t>(segment.n_symbols), begin + n);
    block_span span = block_span_of<FORMAT>(segment, launch, 0);
    span.first = first - segment.codeword_symbol;
    span.n_symbols = end > first ? static_cast<unsigned>(end - first) : 0;
    return span;
}

template <softqam_output_format FORMAT>
static __global__ void __launch_bounds__(BLOCK_THREADS, SOFT_BLOCKS)
    soft_kernel(const __grid_constant__ softqam_segment_launch launch,
                const __grid_constant__ segment_arguments segments,
                const __grid_constant__ array_of<softqam_kernel_soft> softs,
                const __grid_constant__ array_of<unsigned> first_blocks,
                const __grid_constant__ soft_table_argument<FORMAT> soft_table)
{
    const bool is_in_memory = launch.device_segments;
    block_index index = {0, blockIdx.x};
    block_span span;
    softqam_code_block found = {}; /* the code block, of an argument */
    bool has_soft;
    let_next_kernel_begin();
    if (threadIdx.x == 0)
        block.input_format = launch.input_format;
    if (is_in_memory) {
        wait_for_previous_kernel();
        if (launch.n_segments > 1) {
            if (!find_segment(launch))
                return;
            index = block.index;
        }
        if (threadIdx.x < WARP_THREADS)
            load_segment<FORMAT>(launch.device_segments[index.segment], launch);
        __syncthreads();
        has_soft = FORMAT != SOFTQAM_OUTPUT_U8 && has_soft_buffers();
        if (has_soft)
            open_soft_buffers();
        span = block_span_of<FORMAT>(block.segment, launch, index.number);
        if (span.n_symbols == 0)
            return;
        write_table<FORMAT>(block.segment.modulation, soft_table);
        if (!has_soft || !block.soft.is_repeated)
            write_sequence(block.segment, span);
    } else {
        index = find_segment(first_blocks, launch);
        const softqam_kernel_segment &segment = segments.at[index.segment];
        const softqam_kernel_soft &soft = softs.at[index.segment];
        has_soft = FORMAT != SOFTQAM_OUTPUT_U8 && soft.is_used;
        if (has_soft) {
            const auto number = static_cast<uint32_t>(index.number);
            const uint32_t of_segment = quotient_of(number, soft.block_parts, soft.per_part);
            found = code_block_of(segment.blocks, soft.first_block + of_segment);
            span = soft_part_of<FORMAT>(segment, soft, launch, number - of_segment * soft.block_parts, found);
            if (span.n_symbols == 0)
                return;
            if (soft.is_repeated) /* the sequence is written span by span */
                span.is_descrambled = span.is_written_by_one = false;
            copy_words(block.soft, soft);
        } else {
            span = block_span_of<FORMAT>(segment, launch, index.number);
        }
        open_segment<FORMAT>(segment, span, soft_table);
    }
    if (!has_soft)
        return demodulate_block<FORMAT>(launch, span, soft_table);
    if constexpr (FORMAT != SOFTQAM_OUTPUT_U8) {
        const soft_arguments arguments = {launch, segments, softs};
        const bool is_alone = !is_in_memory && !block.soft.is_repeated; /* a span is all that the block has */
        soft_span own = {span.first, static_cast<int>(span.n_symbols), 0, !is_in_memory};
        if (is_alone) {
            if (threadIdx.x == 0)
                open_piece<FORMAT>(found, own);
        } else {
            soft_walk walk = {found, span.first, span.first + span.n_symbols, span.first, index.segment, index.segment};
            if (block.soft.is_repeated && !begin_repeated(index, launch, walk))
                return;
            if (threadIdx.x == 0)
                walk_of_block = walk;
            own = advance_walk<FORMAT>(arguments, soft_table);
        }
#pragma unroll 1
        while (own.n > 0) {
            demodulate_soft_span<FORMAT>(launch, own);
            if (is_alone)
                return;
            own = advance_walk<FORMAT>(arguments, soft_table);
        }
    }
}

template <softqam_output_format FORMAT> static const void *soft_kernel_of()
{
    return reinterpret_cast<const void *>(soft_kernel<FORMAT>);
}

#endif
