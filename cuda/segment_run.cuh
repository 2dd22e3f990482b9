/* SPDX-License-Identifier: MIT */
/* A warp's work on a segment, a symbol a thread at a time: of any modulation, layers, strides, noise, scrambling and
 * layout of the output but soft buffers, from memory that need be aligned to components and values alone. */
#ifndef SOFTQAM_SEGMENT_RUN_CUH
#define SOFTQAM_SEGMENT_RUN_CUH

#include <limits.h>
#include <stddef.h>

#include "gold.cuh"
#include "segment_loads.cuh"

/* The table that comes with a kernel's arguments. */
template <softqam_output_format FORMAT> using soft_table_argument = typename kernel_table<FORMAT, 4>::argument;

template <typename Item> struct array_of {
    Item at[MAX_SEGMENTS];
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
    const softqam_code_block found = softqam_code_block_at(&segment.blocks, symbol);
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

template <source_kind KIND> using source_of = std::integral_constant<source_kind, KIND>;

/* Calls what there is for the input of the block's segment. */
template <softqam_output_format FORMAT, typename Function>
static __device__ __forceinline__ void with_source(const Function &function)
{
    const bool is_simple = FORMAT != SOFTQAM_OUTPUT_U8 && block.segment.is_simple;
    if (is_simple && block.input_format == SOFTQAM_INPUT_CF32)
        function(source_of<CF32_SOURCE>());
    else if (is_simple && block.input_format == SOFTQAM_INPUT_CF16)
        function(source_of<CF16_SOURCE>());
    else if (FORMAT != SOFTQAM_OUTPUT_U8 && !is_simple && block.segment.gains[0])
        function(source_of<GAIN_SOURCE>());
    else
        function(source_of<ANY_SOURCE>());
}

/* A thread's symbols of the block's segment, from memory to values. IS_DESCRAMBLED: some may be. */
template <softqam_output_format FORMAT, int M, source_kind KIND, bool IS_DESCRAMBLED> struct thread_symbols {
    typedef symbol_size<FORMAT, M> size;
    enum { BITS = size::BITS };
    typedef packed_values<size::WORDS> values;

    thread_source<KIND> source;
    raw_symbol next;
    symbol_scale scale;
    float weights;
    float input_scale;
    unsigned input_format;
    bool has_noise_each;
    bool noise_is_inverse;
    bool is_descrambled;
    unsigned bit; /* the next symbol's first of the block's sequence */

    /* From a symbol of the segment on, which is `before` symbols into the block's sequence. */
    __device__ __forceinline__ void open(size_t symbol, unsigned before, unsigned stride)
    {
        const softqam_kernel_segment &segment = block.segment;
        input_format = block.input_format;
        has_noise_each = FORMAT != SOFTQAM_OUTPUT_U8 && (KIND != ANY_SOURCE || segment.noise_stride != 0);
        noise_is_inverse = segment.noise_is_inverse;
        is_descrambled = IS_DESCRAMBLED && segment.is_descrambled;
        weights = weight_scale(FORMAT, segment.steps_per_nat);
        input_scale = segment.input_scale;
        bit = before * BITS;
        scale = {};
        /* A stride is even, so a thread's symbols all change the sign of I or none does. */
        if (M == 0 && segment.modulation == SOFTQAM_MODULATION_PI2_BPSK)
            scale.pi2_sign = static_cast<uint32_t>(segment.first_symbol + symbol) << 31;
        source.open(segment, input_format, symbol, stride);
    }

    __device__ __forceinline__ void load(bool has_symbol)
    {
        if (has_symbol)
            next = source.load(input_format, has_noise_each);
    }

    /* The scale of a segment's one noise value. */
    __device__ __forceinline__ void set_noise(const float *noise)
    {
        if (FORMAT != SOFTQAM_OUTPUT_U8 && !has_noise_each)
            scale.set_noise(weights, noise ? *noise : block.segment.noise_value, noise_is_inverse);
    }

    /* The values of the symbol that has been loaded; loads the next one, `step` symbols of the sequence behind. */
    template <typename Table>
    __device__ __forceinline__ values demodulate(const Table &table, const softqam_llr_limit &limit, bool has_next,
                                                 unsigned step)
    {
        const raw_symbol raw = next;
        source.advance();
        load(has_next);
        std::conditional_t<KIND == GAIN_SOURCE, gain_scale, symbol_scale> scales[] = {{scale}};
        float inverse_gain = 1.0f;
        if constexpr (KIND == GAIN_SOURCE)
            inverse_gain = scales[0].set_gain(FORMAT, weights, raw.noise, noise_is_inverse, raw.gain);
        else if (has_noise_each)
            scales[0].set_noise(weights, raw.noise, noise_is_inverse);
        if (is_descrambled) {
            gold_bits<BITS> sequence;
            sequence.open(block.sequence, bit);
            scales[0].descramble = sequence.read(0);
            bit += step * BITS;
        }
        const float2 symbol = convert<KIND>(raw, input_format, input_scale);
        float components[] = {symbol.x, symbol.y};
        if (KIND == GAIN_SOURCE)
            for (float &component : components)
                component = vec_mul(component, inverse_gain);
        values packed[1];
        values_of<FORMAT, M, IS_DESCRAMBLED, 1>(packed, table, components, scales, limit);
        return packed[0];
    }
};

/* A warp copies its staged values to memory that is aligned to values alone: whole words of it, each from two that lie
 * across it, and values at both ends. */
template <int VALUE_NBYTES> static __device__ __noinline__ void copy_to_values(unsigned char *out, unsigned nbytes)
{
    const uint32_t *staged = block.staged[threadIdx.x / WARP_THREADS] + 1;
    const unsigned beyond = VALUE_NBYTES == 4 ? 0 : reinterpret_cast<uintptr_t>(out) % 4; /* a word's begin */
    const unsigned back = beyond > 0 ? 1 : 0;
    for (unsigned word = threadIdx.x % WARP_THREADS; 4 * word < nbytes + beyond; word += WARP_THREADS) {
        const int at = static_cast<int>(4 * word - beyond);
        const uint32_t *from = staged + word - back;
        const uint32_t bytes = VALUE_NBYTES == 4 ? from[0] : __funnelshift_r(from[0], from[1], 8 * (4 - beyond) % 32);
        if (at >= 0 && at + 4 <= static_cast<int>(nbytes)) {
            *reinterpret_cast<uint32_t *>(out + at) = bytes;
            continue;
        }
        for (int k = 0; k < 4; k += VALUE_NBYTES)
            if (at + k >= 0 && at + k < static_cast<int>(nbytes))
                store_value<VALUE_NBYTES>(out + at + k, bytes >> 8 * k);
    }
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
     * destination, its next symbol's first value, which is NULL where its code block is dropped. */
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
                    store_value<VALUE>(to, value_at<VALUE>(symbol_values, k));
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
        const int lane = static_cast<int>(threadIdx.x % WARP_THREADS);
        const int step = static_cast<int>(softqam_step_symbols(block.segment.n_layers));
        const int stride = static_cast<int>(span.stride) * step;
        const int position = lane < step ? lane : INT_MAX;
        thread_symbols<FORMAT, M, KIND, IS_DESCRAMBLED> symbols;
        symbols.open(span.first + min(lane, step - 1), span.before + lane, span.stride);
        if (IS_DESCRAMBLED && KIND != GAIN_SOURCE)
            symbols.is_descrambled = true;
        if (span.waits && block.segment.block_buffers) /* pointers in memory */
            wait_for_previous_kernel();
        open(span.first);
        const float *noise_of_all = symbols.source.noise;
        if (span.waits)
            wait_for_previous_kernel();
        symbols.next = {};
        symbols.load(position < span.n);
        __syncthreads(); /* table and sequence are written */
        const auto table = table_of_block<FORMAT, M>().read(soft_table);
        symbols.set_noise(noise_of_all);
#pragma unroll 1
        for (int left = span.n; left > 0; left -= stride) {
            const values symbol_values = symbols.demodulate(table, limit, position < left - stride, stride);
            store(static_cast<unsigned>(min(left, step)), position < left, symbol_values);
            advance(static_cast<unsigned>(stride));
        }
    }

    template <source_kind KIND>
    __device__ __forceinline__ void run(const soft_table &soft_table, const softqam_llr_limit &limit,
                                        const warp_span &span)
    {
        if (FORMAT != SOFTQAM_OUTPUT_U8 && (KIND == GAIN_SOURCE || block.segment.is_descrambled))
            demodulate<KIND, FORMAT != SOFTQAM_OUTPUT_U8>(soft_table, limit, span);
        else
            demodulate<KIND, false>(soft_table, limit, span);
    }
};

template <int M> using axis_bits_of = std::integral_constant<int, M>;

/* Calls what there is for a modulation. */
template <softqam_output_format FORMAT, typename Function>
static __device__ __forceinline__ void with_axis_bits(unsigned modulation, const Function &function)
{
    static_assert(N_MODULATIONS == 7, "a case for each");
    if constexpr (FORMAT == SOFTQAM_OUTPUT_U8)
        return function(axis_bits_of<4>());
    else
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
            segment_run<FORMAT, decltype(axis_bits)::value> run;
            with_source<FORMAT>([&](auto kind) { run.template run<decltype(kind)::value>(soft_table, limit, span); });
        });
}

#endif
