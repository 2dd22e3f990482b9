/* SPDX-License-Identifier: MIT */
/* The kernel of segments: any number in a launch, each with its modulation, layers, strides, noise, scrambling and
 * layout of the output, from memory that need be aligned to components and values alone. A warp takes a symbol a thread
 * at a time. */
#ifndef SOFTQAM_SEGMENT_KERNEL_CUH
#define SOFTQAM_SEGMENT_KERNEL_CUH

#include <limits.h>
#include <stddef.h>

#include "gold.cuh"
#include "segment_loads.cuh"
#include "segment_stores.cuh"

/* The table that comes with a kernel's arguments. */
template <softqam_output_format FORMAT> using soft_table_argument = typename kernel_table<FORMAT, 4>::argument;

template <typename Item, int N> struct array_of {
    Item at[N];
};

/* The symbols of the block's segment that a warp demodulates, in steps of a symbol a thread. */
struct warp_span {
    size_t first;
    unsigned before; /* symbols of the block before the first one */
    int n;           /* to the end of the last step; the warp takes none where this is not above 0 */
    unsigned stride; /* from a step to the next one, in steps */
    bool waits;      /* for the kernel before, which it has not yet */
};

/* Where the values of a codeword's symbol go, and of those behind it to the end of its code block. */
struct block_values {
    unsigned char *out; /* NULL: nowhere */
    size_t bit_nbytes;  /* from one bit's value to the next one's */
    uint32_t end;       /* symbol of the codeword */
};

/* Of the codeword of the block's segment. Not inlined: a thread seldom comes to another code block. */
static __device__ __noinline__ block_values find_block_values(uint32_t symbol, unsigned bits, unsigned value_nbytes)
{
    const softqam_kernel_segment &segment = block.segment;
    const softqam_block found = softqam_block_at(&segment.blocks, symbol);
    const size_t values_before = size_t{symbol - found.first} * (segment.is_deinterleaved ? 1 : bits);
    const uint64_t first = segment.block_stride != 0 ? found.r * segment.block_stride : uint64_t{found.first} * bits;
    block_values values = {};
    values.bit_nbytes = size_t{segment.is_deinterleaved ? found.n_symbols : 1} * value_nbytes;
    values.end = found.first + found.n_symbols;
    if (found.r >= segment.blocks.n_code_blocks)
        return values;
    if (segment.block_buffers)
        values.out = static_cast<unsigned char *>(segment.block_buffers[found.r]);
    else
        values.out = static_cast<unsigned char *>(segment.out) + first * value_nbytes;
    if (values.out)
        values.out += values_before * value_nbytes;
    return values;
}

/* A warp's work on the block's segment. */
template <softqam_output_format FORMAT, int M> struct segment_run {
    typedef symbol_size<FORMAT, M> size;
    typedef soft_table_argument<FORMAT> soft_table;
    enum {
        BITS = size::BITS,
        VALUE = size::VALUE_NBYTES,
        NBYTES = size::NBYTES,
        UNIT = NBYTES % 16 == 0  ? 16
               : NBYTES % 8 == 0 ? 8
               : NBYTES % 4 == 0 ? 4
               : NBYTES % 2 == 0 ? 2
                                 : 1,
        IS_STORED_AT_ONCE = NBYTES == UNIT
    };
    typedef packed_values<size::WORDS> values;

    /* Where the values go. In symbol order without a codeword: of the warp's next symbol. Else each thread has its own
     * place, its next symbol's first value, which is NULL where its code block is dropped. */
    unsigned char *out;
    size_t bit_nbytes; /* from one bit's value to the next one's; 0: the former */
    bool is_stored_at_once;
    uint32_t symbol; /* of the codeword: this thread's next one, and where its code block ends */
    uint32_t block_end;

    __device__ __forceinline__ void open(size_t first)
    {
        const unsigned lane = threadIdx.x % WARP_THREADS;
        symbol = block.segment.codeword_symbol + static_cast<uint32_t>(first) + lane;
        block_end = UINT32_MAX;
        if (block.segment.has_codeword) {
            is_stored_at_once = false;
            open_code_block();
            return;
        }
        out = static_cast<unsigned char *>(block.segment.out);
        is_in_global_memory(out);
        bit_nbytes = block.segment.plane_stride * VALUE;
        is_stored_at_once = IS_STORED_AT_ONCE && reinterpret_cast<uintptr_t>(out) % NBYTES == 0;
        out += bit_nbytes != 0 ? (first + lane) * VALUE : first * NBYTES;
        symbol = 0;
    }

    /* The code block of this thread's next symbol. */
    __device__ __forceinline__ void open_code_block()
    {
        const block_values found = find_block_values(symbol, BITS, VALUE);
        out = found.out;
        bit_nbytes = found.bit_nbytes;
        block_end = found.end;
    }

    /* The next n symbols, a symbol a thread; is_mine: this thread's is one of them. */
    __device__ __forceinline__ void store(unsigned n, bool is_mine, const values &symbol_values) const
    {
        const unsigned lane = threadIdx.x % WARP_THREADS;
        if (bit_nbytes != 0) {
            unsigned char *to = out;
            if (is_mine && to)
#pragma unroll
                for (int k = 0; k < BITS; k++, to += bit_nbytes)
                    store_value<VALUE>(to, symbol_values, k);
        } else if (is_stored_at_once) {
            if (is_mine)
                store_symbol<NBYTES, UNIT>(out + lane * NBYTES, symbol_values);
        } else {
            unsigned char *staged = reinterpret_cast<unsigned char *>(block.staged[threadIdx.x / WARP_THREADS] + 1);
            __syncwarp();
            store_symbol<NBYTES, (UNIT < 4 ? UNIT : 4)>(staged + lane * NBYTES, symbol_values);
            __syncwarp();
            copy_to_values<VALUE>(out, n * NBYTES);
        }
    }

    __device__ __forceinline__ void advance(unsigned n)
    {
        const bool is_symbol_order = bit_nbytes == 0 || bit_nbytes == VALUE;
        if (out)
            out += n * (is_symbol_order ? NBYTES + 0 : VALUE + 0);
        symbol += n;
        if (symbol >= block_end)
            open_code_block();
    }

    template <source_kind KIND, bool IS_DESCRAMBLED>
    __device__ __forceinline__ void demodulate(const soft_table &soft_table, const softqam_llr_limit &limit,
                                               const warp_span &span)
    {
        const unsigned lane = threadIdx.x % WARP_THREADS;
        const int step = static_cast<int>(softqam_step_symbols(block.segment.n_layers));
        const int stride = static_cast<int>(span.stride) * step;
        const int place = lane < step ? static_cast<int>(lane) : INT_MAX;
        const unsigned input_format = block.input_format;
        const bool has_noise_each =
            FORMAT != SOFTQAM_OUTPUT_U8 && (KIND != ANY_SOURCE || block.segment.noise_stride != 0);
        const bool noise_is_inverse = block.segment.noise_is_inverse;
        const float weights = weight_scale(FORMAT, block.segment.steps_per_nat);
        const float input_scale = block.segment.input_scale;
        symbol_scale scale = {};
        unsigned bit = (span.before + lane) * BITS; /* of the block's sequence */
        /* A stride is even, so a thread's symbols all change the sign of I or none does. */
        if (M == 0 && block.segment.modulation == SOFTQAM_MODULATION_PI2_BPSK)
            scale.pi2_sign = static_cast<uint32_t>(block.segment.first_symbol + span.first + lane) << 31;
        thread_source<KIND> source;
        source.open(block.segment, input_format, span.first + min(lane, step - 1), span.stride);
        if (span.waits && block.segment.block_buffers) /* pointers in memory */
            wait_for_previous_kernel();
        open(span.first);
        const float *noise_of_all = source.noise;
        if (span.waits)
            wait_for_previous_kernel();
        raw_symbol next = {};
        if (place < span.n)
            next = source.load(input_format, has_noise_each);
        __syncthreads(); /* table and sequence are written */
        const auto table = table_of_block<FORMAT, M>().read(soft_table);
        if (FORMAT != SOFTQAM_OUTPUT_U8 && !has_noise_each)
            scale.set_noise(weights, noise_of_all ? *noise_of_all : block.segment.noise_value, noise_is_inverse);
#pragma unroll 1
        for (int left = span.n; left > 0; left -= stride) {
            const raw_symbol raw = next;
            source.advance();
            if (place < left - stride)
                next = source.load(input_format, has_noise_each);
            symbol_scale scales[] = {scale};
            if (has_noise_each)
                scales[0].set_noise(weights, raw.noise, noise_is_inverse);
            if (IS_DESCRAMBLED) {
                gold_bits<BITS> sequence;
                sequence.open(block.sequence, bit);
                scales[0].descramble = sequence.read(0);
                bit += stride * BITS;
            }
            const float2 symbol = convert<KIND>(raw, input_format, input_scale);
            float components[] = {symbol.x, symbol.y};
            values packed[1];
            values_of<FORMAT, M, IS_DESCRAMBLED, 1>(packed, table, components, scales, limit);
            store(static_cast<unsigned>(min(left, step)), place < left, packed[0]);
            advance(static_cast<unsigned>(stride));
        }
    }

    template <source_kind KIND>
    __device__ __forceinline__ void run_from(const soft_table &soft_table, const softqam_llr_limit &limit,
                                             const warp_span &span)
    {
        if (FORMAT != SOFTQAM_OUTPUT_U8 && block.segment.is_descrambled)
            demodulate<KIND, FORMAT != SOFTQAM_OUTPUT_U8>(soft_table, limit, span);
        else
            demodulate<KIND, false>(soft_table, limit, span);
    }

    static __device__ __forceinline__ void run(const soft_table &soft_table, const softqam_llr_limit &limit,
                                               const warp_span &span)
    {
        segment_run self;
        const unsigned lane = threadIdx.x % WARP_THREADS;
        const bool is_apart = lane < block.segment.n_layers && block.segment.layers[lane].symbols_q;
        const bool is_simple =
            FORMAT != SOFTQAM_OUTPUT_U8 && block.segment.noise_stride != 0 && !__any_sync(0xffffffffu, is_apart);
        if (is_simple && block.input_format == SOFTQAM_INPUT_CF32)
            self.template run_from<CF32_SOURCE>(soft_table, limit, span);
        else if (is_simple && block.input_format == SOFTQAM_INPUT_CF16)
            self.template run_from<CF16_SOURCE>(soft_table, limit, span);
        else
            self.template run_from<ANY_SOURCE>(soft_table, limit, span);
    }
};

template <int M> using axis_bits_of = std::integral_constant<int, M>;

/* Calls what there is for a modulation. */
template <softqam_output_format FORMAT, typename Function>
static __device__ __forceinline__ void with_axis_bits(unsigned modulation, const Function &function)
{
    if (FORMAT == SOFTQAM_OUTPUT_U8)
        return function(axis_bits_of<4>());
    static_assert(N_MODULATIONS == 7, "a case for each");
    switch (modulation) {
    case SOFTQAM_MODULATION_BPSK:
    case SOFTQAM_MODULATION_PI2_BPSK:
        return function(axis_bits_of<0>());
    case SOFTQAM_MODULATION_QPSK:
        return function(axis_bits_of<1>());
    case SOFTQAM_MODULATION_16QAM:
        return function(axis_bits_of<2>());
    case SOFTQAM_MODULATION_64QAM:
        return function(axis_bits_of<3>());
    case SOFTQAM_MODULATION_256QAM:
        return function(axis_bits_of<4>());
    case SOFTQAM_MODULATION_1024QAM:
        return function(axis_bits_of<5>());
    }
}

template <softqam_output_format FORMAT>
static __device__ __forceinline__ void write_table(unsigned modulation, const soft_table_argument<FORMAT> &soft_table)
{
    with_axis_bits<FORMAT>(
        modulation,
        [&](auto axis_bits) {
            constexpr int M = decltype(axis_bits)::value;
            if constexpr (FORMAT != SOFTQAM_OUTPUT_U8 || M == 4)
                table_of_block<FORMAT, M>().store(kernel_table<FORMAT, M>::template load<BLOCK_THREADS>(soft_table));
        });
}

/* A warp's symbols of the block's segment. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void demodulate_span(const soft_table_argument<FORMAT> &soft_table,
                                                       const softqam_llr_limit &limit, const warp_span &span)
{
    with_axis_bits<FORMAT>(
        block.segment.modulation,
        [&](auto axis_bits) {
            constexpr int M = decltype(axis_bits)::value;
            if constexpr (FORMAT != SOFTQAM_OUTPUT_U8 || M == 4)
                segment_run<FORMAT, M>::run(soft_table, limit, span);
        });
}

/* Kernels' arguments lie in constant memory, which serves a warp one word at a time. Read at their generic address,
 * other memory's way, each thread gets its own word at once; the first access takes longer. */
template <typename Argument> static __device__ __forceinline__ const Argument &as_memory(const Argument &argument)
{
    const Argument *pointer = &argument;
    asm volatile("" : "+l"(pointer));
    return *pointer;
}

/* The place of a block among segments that are arguments: in the last one that begins at this block or before. */
template <int N>
static __device__ __forceinline__ block_place find_place(const array_of<unsigned, N> &first_blocks,
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

/* Blocks that n symbols of a segment in device memory take: the quotient, rounded up, by a product that may be one too
 * much. No more than of any segment that fits in memory, so that sums fit. */
static __device__ __forceinline__ unsigned blocks_of(size_t n_symbols, const softqam_segment_launch &launch)
{
    enum : unsigned { MOST_SYMBOLS = 1u << 31, MOST_BLOCKS = (1u << 23) - 1 };
    const unsigned of_block = softqam_block_symbols(launch.block_steps, 1, true);
    const unsigned n = static_cast<unsigned>(min(n_symbols, size_t{MOST_SYMBOLS})) + of_block - 1;
    const unsigned quotient = __umulhi(n, launch.per_block);
    return min(quotient * of_block > n ? quotient - 1 : quotient, MOST_BLOCKS + 0u);
}

/* The same among segments in device memory, by a block: each thread counts the blocks of two segments. False for a
 * block that is not needed. All threads return the same. */
static __device__ __forceinline__ bool find_place(const softqam_segment_launch &launch)
{
    enum : unsigned { EACH = 2, AT_ONCE = EACH * BLOCK_THREADS };
    const unsigned all = 0xffffffffu;
    const unsigned lane = threadIdx.x % WARP_THREADS;
    const unsigned n_segments = min(*launch.n_device_segments, launch.n_segments);
    unsigned before = 0;
    for (unsigned first = 0; first < launch.n_segments; first += AT_ONCE) {
        size_t n_symbols[EACH] = {};
        /* What lies behind the segments that there are is read too: all loads are on their way at once. */
#pragma unroll
        for (unsigned k = 0; k < EACH; k++)
            if (first + threadIdx.x * EACH + k < launch.n_segments)
                n_symbols[k] = launch.device_segments[first + threadIdx.x * EACH + k].n_symbols;
        unsigned n_blocks[EACH];
        unsigned mine = 0;
#pragma unroll
        for (unsigned k = 0; k < EACH; k++) {
            n_blocks[k] = first + threadIdx.x * EACH + k < n_segments ? blocks_of(n_symbols[k], launch) : 0;
            mine += n_blocks[k];
        }
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
        if (number < mine) {
            const bool is_first = number < n_blocks[0];
            block.place.segment = first + threadIdx.x * EACH + (is_first ? 0 : 1);
            block.place.number = is_first ? number : number - n_blocks[0];
        }
        __syncthreads();
        if (blockIdx.x < before)
            return true;
        if (first + AT_ONCE >= n_segments)
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
    softqam_kernel_segment_make(&block.segment, reinterpret_cast<const softqam_segment *>(block.descriptor),
                                &launch.defaults);
    const unsigned modulation = block.segment.modulation;
    if (n_segments == 0 || (FORMAT == SOFTQAM_OUTPUT_U8 ? modulation != SOFTQAM_MODULATION_256QAM : modulation == 0))
        block.segment.n_symbols = 0;
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

template <softqam_output_format FORMAT, int N>
static __global__ void __launch_bounds__(BLOCK_THREADS, 8)
    segment_kernel(const __grid_constant__ softqam_segment_launch launch,
                   const __grid_constant__ array_of<softqam_kernel_segment, N> segments,
                   const __grid_constant__ array_of<unsigned, N> first_blocks,
                   const __grid_constant__ soft_table_argument<FORMAT> soft_table)
{
    const bool is_in_memory = launch.device_segments;
    block_span span;
    let_next_kernel_begin();
    if (threadIdx.x == 0)
        block.input_format = launch.input_format;
    if (is_in_memory) {
        block_place place = {0, blockIdx.x};
        wait_for_previous_kernel();
        if (launch.n_segments > 1) {
            if (!find_place(launch))
                return;
            place = block.place;
        }
        if (threadIdx.x < WARP_THREADS)
            load_segment<FORMAT>(launch.device_segments[place.segment], launch);
        __syncthreads();
        span = block_span_of<FORMAT>(block.segment, launch, place.number);
        if (span.n_symbols == 0)
            return;
        write_table<FORMAT>(block.segment.modulation, soft_table);
        write_sequence(block.segment, span);
    } else {
        const block_place place = find_place(first_blocks, launch);
        const softqam_kernel_segment &segment = segments.at[place.segment];
        span = block_span_of<FORMAT>(segment, launch, place.number);
        open_segment<FORMAT>(segment, span, soft_table);
    }
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
