/* SPDX-License-Identifier: MIT */
/* A warp's work on a segment, a symbol a thread at a time: of any modulation, layers, strides, noise, scrambling and
 * layout of the output but soft buffers, from memory that need be aligned to components and values alone. */
#ifndef SOFTQAM_SEGMENT_RUN_CUH
#define SOFTQAM_SEGMENT_RUN_CUH

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

/* What is known of the input of the block's segment. */
static __device__ __forceinline__ source_kind kind_of_segment()
{
    if (!block.segment.is_simple)
        return block.segment.gains[0] ? GAIN_SOURCE : ANY_SOURCE;
    return block.input_format == SOFTQAM_INPUT_CF32   ? CF32_SOURCE
           : block.input_format == SOFTQAM_INPUT_CF16 ? CF16_SOURCE
                                                      : ANY_SOURCE;
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
        const int position = lane < step ? static_cast<int>(lane) : INT_MAX;
        const unsigned input_format = block.input_format;
        const bool has_noise_each =
            FORMAT != SOFTQAM_OUTPUT_U8 && (KIND != ANY_SOURCE || block.segment.noise_stride != 0);
        const bool is_descrambled = IS_DESCRAMBLED && (KIND != GAIN_SOURCE || block.segment.is_descrambled);
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
        if (position < span.n)
            next = source.load(input_format, has_noise_each);
        __syncthreads(); /* table and sequence are written */
        const auto table = table_of_block<FORMAT, M>().read(soft_table);
        if (FORMAT != SOFTQAM_OUTPUT_U8 && !has_noise_each)
            scale.set_noise(weights, noise_of_all ? *noise_of_all : block.segment.noise_value, noise_is_inverse);
#pragma unroll 1
        for (int left = span.n; left > 0; left -= stride) {
            const raw_symbol raw = next;
            source.advance();
            if (position < left - stride)
                next = source.load(input_format, has_noise_each);
            scale_of<KIND> scales[] = {{scale}};
            float inverse_gain = 1.0f;
            if (has_noise_each)
                inverse_gain = set_scale<FORMAT, KIND>(scales[0], weights, raw, noise_is_inverse);
            if (is_descrambled) {
                gold_bits<BITS> sequence;
                sequence.open(block.sequence, bit);
                scales[0].descramble = sequence.read(0);
                bit += stride * BITS;
            }
            const float2 symbol = convert<KIND>(raw, input_format, input_scale, inverse_gain);
            float components[] = {symbol.x, symbol.y};
            values packed[1];
            values_of<FORMAT, M, IS_DESCRAMBLED, 1>(packed, table, components, scales, limit);
            store(static_cast<unsigned>(min(left, step)), position < left, packed[0]);
            advance(static_cast<unsigned>(stride));
        }
    }

    template <source_kind KIND>
    __device__ __forceinline__ void run_from(const soft_table &soft_table, const softqam_llr_limit &limit,
                                             const warp_span &span)
    {
        if (FORMAT != SOFTQAM_OUTPUT_U8 && (KIND == GAIN_SOURCE || block.segment.is_descrambled))
            demodulate<KIND, FORMAT != SOFTQAM_OUTPUT_U8>(soft_table, limit, span);
        else
            demodulate<KIND, false>(soft_table, limit, span);
    }

    static __device__ __forceinline__ void run(const soft_table &soft_table, const softqam_llr_limit &limit,
                                               const warp_span &span)
    {
        segment_run self;
        const source_kind kind = FORMAT == SOFTQAM_OUTPUT_U8 ? ANY_SOURCE : kind_of_segment();
        if (kind == CF32_SOURCE)
            self.template run_from<CF32_SOURCE>(soft_table, limit, span);
        else if (kind == CF16_SOURCE)
            self.template run_from<CF16_SOURCE>(soft_table, limit, span);
        else if (kind == GAIN_SOURCE)
            self.template run_from<GAIN_SOURCE>(soft_table, limit, span);
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

#endif
