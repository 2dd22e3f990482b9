/* SPDX-License-Identifier: MIT */
/* A warp's work on a segment without soft buffers, with a symbol in each thread at a time. It handles any modulation,
 * layers, strides, noise, scrambling and output layout, in memory aligned to components and values. */
#ifndef SOFTQAM_SEGMENT_WARP_CUH
#define SOFTQAM_SEGMENT_WARP_CUH

#include <limits.h>
#include <stddef.h>

#include "thread_symbols.cuh"

/* The symbols of the block's segment that a warp demodulates. */
struct warp_span {
    size_t first;
    unsigned n_before; /* symbols of the block before the first one */
    int n;             /* symbols up to the end of the last iteration; 0 or less: none */
    unsigned stride;   /* from an iteration to the warp's next one, in iterations */
};

/* The place of the values of a codeword's symbol, and of the symbols after it up to the end of its code block. */
struct code_block_values {
    unsigned char *out; /* NULL: nowhere */
    size_t bit_nbytes;  /* from one bit's value to the next one's */
    uint32_t end;       /* the code block's end, counted in symbols of the codeword */
};

/* Finds the place of a symbol's values. A thread seldom reaches another code block, so the function is not inlined. */
static __device__ __noinline__ code_block_values find_code_block_values(const softqam_placement &placement,
                                                                        uint32_t symbol, unsigned bits,
                                                                        unsigned value_nbytes)
{
    const softqam_code_block found = softqam_code_block_at(&placement.blocks, symbol);
    const size_t values_before = size_t{symbol - found.first} * (placement.is_deinterleaved ? 1 : bits);
    code_block_values values = {};
    values.out = softqam_code_block_values(&placement, &found);
    values.bit_nbytes = size_t{placement.is_deinterleaved ? found.n_symbols : 1} * value_nbytes;
    values.end = found.first + found.n_symbols;
    if (values.out)
        values.out += values_before * value_nbytes;
    return values;
}

/* A warp copies its staged values to memory that is aligned to values only: whole words, each from the two staged words
 * that it spans, and single values at both ends. The staged values are passed by their shared-memory address, because a
 * pointer would take two registers, which the caller lacks. */
template <int VALUE_NBYTES>
static __device__ __noinline__ void copy_to_values(unsigned char *out, uint32_t staged_address, unsigned nbytes)
{
    const uint32_t *staged = static_cast<const uint32_t *>(__cvta_shared_to_generic(staged_address));
    const unsigned past = VALUE_NBYTES == 4 ? 0 : reinterpret_cast<uintptr_t>(out) % 4; /* bytes after a word's begin */
    const unsigned back = past > 0 ? 1 : 0;
    for (unsigned word = threadIdx.x % WARP_THREADS; 4 * word < nbytes + past; word += WARP_THREADS) {
        const int offset = static_cast<int>(4 * word - past);
        const uint32_t *from = staged + word - back;
        const uint32_t bytes = VALUE_NBYTES == 4 ? from[0] : __funnelshift_r(from[0], from[1], 8 * (4 - past) % 32);
        if (offset >= 0 && offset + 4 <= static_cast<int>(nbytes)) {
            *reinterpret_cast<uint32_t *>(out + offset) = bytes;
            continue;
        }
        for (int k = 0; k < 4; k += VALUE_NBYTES)
            if (offset + k >= 0 && offset + k < static_cast<int>(nbytes))
                store_value<VALUE_NBYTES>(out + offset + k, bytes >> 8 * k);
    }
}

/* The destination of a warp's values. */
template <softqam_output_format FORMAT, int M> struct warp_output {
    typedef symbol_size<FORMAT, M> size;
    enum {
        BITS = size::BITS,
        VALUE = size::VALUE_NBYTES,
        NBYTES = size::NBYTES,
        WIDTH = NBYTES % 16 == 0  ? 16 /* the widest accesses that a symbol allows */
                : NBYTES % 8 == 0 ? 8
                : NBYTES % 4 == 0 ? 4
                : NBYTES % 2 == 0 ? 2
                                  : 1
    };

    segment_memory &shared;
    /* The destination of the warp's next symbol, if values go in symbol order without a codeword. Else each thread has
     * its own destination, that of its next symbol's first value; NULL if the code block is dropped. */
    unsigned char *out;
    size_t bit_nbytes; /* from one bit's value to the next one's; 0: symbol order without a codeword */
    bool is_stored_at_once;
    uint32_t symbol; /* this thread's next symbol in the codeword, and the end of its code block */
    uint32_t code_block_end;

    __device__ __forceinline__ void open(size_t first)
    {
        const softqam_placement &placement = shared.segment.placement;
        const unsigned lane = threadIdx.x % WARP_THREADS;
        symbol = placement.codeword_symbol + static_cast<uint32_t>(first) + lane;
        code_block_end = UINT32_MAX;
        if (placement.has_code_blocks) {
            is_stored_at_once = false;
            open_code_block();
            return;
        }
        out = placement.out;
        is_in_global_memory(out);
        bit_nbytes = placement.plane_stride * VALUE;
        is_stored_at_once = NBYTES == WIDTH && reinterpret_cast<uintptr_t>(out) % NBYTES == 0;
        out += bit_nbytes != 0 ? (first + lane) * VALUE : first * NBYTES;
        symbol = 0;
    }

    /* Finds the code block of this thread's next symbol. */
    __device__ __forceinline__ void open_code_block()
    {
        const code_block_values found = find_code_block_values(shared.segment.placement, symbol, BITS, VALUE);
        out = found.out;
        bit_nbytes = found.bit_nbytes;
        code_block_end = found.end;
    }

    /* Stores the next n symbols, a symbol a thread; is_mine: this thread's is one of them. */
    __device__ __forceinline__ void store(unsigned n, bool is_mine, const packed_values<size::WORDS> &values) const
    {
        const unsigned lane = threadIdx.x % WARP_THREADS;
        if (bit_nbytes != 0) {
            unsigned char *to = out;
            if (is_mine && to)
#pragma unroll
                for (int k = 0; k < BITS; k++, to += bit_nbytes)
                    store_value<VALUE>(to, value_at<VALUE>(values, k));
        } else if (is_stored_at_once) {
            if (is_mine)
                store_symbol<NBYTES, WIDTH>(out + lane * NBYTES, values);
        } else {
            unsigned char *staged = reinterpret_cast<unsigned char *>(shared.staged[threadIdx.x / WARP_THREADS] + 1);
            __syncwarp();
            store_symbol<NBYTES, (WIDTH < 4 ? WIDTH : 4)>(staged + lane * NBYTES, values);
            __syncwarp();
            copy_to_values<VALUE>(out, shared_address(shared.staged[threadIdx.x / WARP_THREADS] + 1, 0), n * NBYTES);
        }
    }

    __device__ __forceinline__ void advance(unsigned n)
    {
        const bool is_symbol_order = bit_nbytes == 0 || bit_nbytes == VALUE;
        if (out)
            out += n * (is_symbol_order ? NBYTES + 0 : VALUE + 0);
        symbol += n;
        if (symbol >= code_block_end)
            open_code_block();
    }
};

/* A warp demodulates its symbols of the block's segment, or counts their statistics, or both. */
template <softqam_output_format FORMAT, int M, source_kind KIND, bool IS_DESCRAMBLED, count_mode COUNTING>
static __device__ __forceinline__ void demodulate_warp(segment_memory &shared, const softqam_llr_limit &limit,
                                                       const warp_span &span, const u8_table_argument<FORMAT> &u8_table)
{
    const int lane = static_cast<int>(threadIdx.x % WARP_THREADS);
    const int n_symbols = static_cast<int>(softqam_warp_symbols(shared.segment.source.n_layers));
    const int stride = static_cast<int>(span.stride) * n_symbols;
    const int lane_symbol = lane < n_symbols ? lane : INT_MAX;
    thread_symbols<FORMAT, M, KIND, IS_DESCRAMBLED> symbols = {shared};
    symbols.open(span.first + min(lane, n_symbols - 1), span.n_before + lane, span.stride);
    if (IS_DESCRAMBLED && KIND != GAIN_SOURCE && KIND != JOINT_SOURCE && COUNTING == NO_COUNTS)
        symbols.is_descrambled = true;
    if (shared.segment.placement.block_buffers) /* the pointers lie in memory */
        wait_for_previous_kernel();
    warp_output<FORMAT, M> output = {shared};
    output.open(span.first);
    const float *noise_of_all = symbols.source.noise;
    wait_for_previous_kernel();
    symbols.load(lane_symbol < span.n);
    __syncthreads(); /* table and sequence are written */
    const auto table = shared.table<FORMAT, M>().read(u8_table);
    symbols.set_noise(noise_of_all, limit);
    symbol_counter<FORMAT, M, KIND != JOINT_SOURCE, true> counter = {limit, shared.segment.placement.steps_per_nat};
    uint32_t of_codeword = shared.segment.placement.codeword_symbol + static_cast<uint32_t>(span.first) + lane;
#pragma unroll 1
    for (int left = span.n; left > 0; left -= stride) {
        const auto values = symbols.demodulate(table, limit, lane_symbol < left - stride, stride);
        if constexpr (COUNTING != NO_COUNTS) {
            counter.count_next(symbols, values, lane_symbol < left && output.out, of_codeword);
            of_codeword += stride;
        }
        if (COUNTING != ONLY_COUNTS)
            output.store(static_cast<unsigned>(min(left, n_symbols)), lane_symbol < left, values);
        output.advance(static_cast<unsigned>(stride));
    }
    if constexpr (COUNTING != NO_COUNTS)
        counter.close();
}

/* Returns the distance from a warp's iteration to its next one, in iterations. The block's warps alternate, so that
 * they read and write side by side. But a warp takes consecutive iterations if one reads less of a layer than the 64
 * bytes that memory transfers at a time. It also does so to count, so that the warps share the sampled symbols. */
template <count_mode COUNTING>
static __device__ __forceinline__ unsigned iteration_stride(unsigned n_layers, unsigned input_format)
{
    return COUNTING != NO_COUNTS || (n_layers > 2 && input_format != SOFTQAM_INPUT_CF32) ? 1 : BLOCK_WARPS;
}

/* Returns a warp's part of a block's symbols. */
template <count_mode COUNTING>
static __device__ __forceinline__ warp_span warp_span_of(const segment_memory &shared,
                                                         const softqam_common_argument &common, const block_span &span)
{
    const unsigned n_layers = shared.segment.source.n_layers;
    const unsigned stride = iteration_stride<COUNTING>(n_layers, shared.input_format);
    const unsigned apart = stride == 1 ? softqam_block_symbols(common.block_iterations, n_layers) / BLOCK_WARPS
                                       : softqam_warp_symbols(n_layers);
    const unsigned n_before = threadIdx.x / WARP_THREADS * apart;
    const int n_left = static_cast<int>(span.n_symbols - n_before);
    const int n_warp = stride == 1 ? min(n_left, static_cast<int>(apart)) : n_left;
    return {span.first + n_before, n_before, n_warp, stride};
}

/* Demodulates a block's symbols of its segment, which has no soft buffers; or only counts those of any segment. */
template <softqam_output_format FORMAT, segment_set SEGMENTS, int ONLY = ANY_AXIS_BITS, count_mode COUNTING = NO_COUNTS>
static __device__ __forceinline__ void demodulate_block(segment_memory &shared, const softqam_common_argument &common,
                                                        const block_span &span,
                                                        const u8_table_argument<FORMAT> &u8_table)
{
    const warp_span own = warp_span_of<COUNTING>(shared, common, span);
    const auto demodulate = [&](auto axis_bits, auto source) {
        constexpr bool HAS_LLRS = FORMAT != SOFTQAM_OUTPUT_U8 && COUNTING != ONLY_COUNTS;
        constexpr int M = decltype(axis_bits)::value;
        constexpr source_kind KIND = decltype(source)::value;
        if constexpr (COUNTING != NO_COUNTS) /* one instance is enough */
            demodulate_warp<FORMAT, M, KIND, HAS_LLRS, COUNTING>(shared, common.limit, own, u8_table);
        else if (HAS_LLRS && (KIND == GAIN_SOURCE || KIND == JOINT_SOURCE || shared.segment.placement.is_descrambled))
            demodulate_warp<FORMAT, M, KIND, HAS_LLRS, COUNTING>(shared, common.limit, own, u8_table);
        else
            demodulate_warp<FORMAT, M, KIND, false, COUNTING>(shared, common.limit, own, u8_table);
    };
    with_axis_bits<FORMAT, ONLY>(shared.segment.placement.modulation, [&](auto axis_bits) {
        with_source<FORMAT, SEGMENTS>(shared, [&](auto source) { demodulate(axis_bits, source); });
    });
}

#endif
