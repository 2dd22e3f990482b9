/* SPDX-License-Identifier: MIT */
/* The kernel of segments: any number in a launch, each with its modulation, layers, strides, noise, scrambling and
 * layout of the output, from memory that need be aligned to components and values alone. A warp takes a run of a
 * segment's symbols, a symbol a thread at a time. */
#ifndef SOFTQAM_SEGMENT_KERNEL_CUH
#define SOFTQAM_SEGMENT_KERNEL_CUH

#include <stddef.h>

#include "gold.cuh"
#include "segment_loads.cuh"
#include "segment_stores.cuh"

template <typename Item, int N> struct array_of {
    Item at[N];
};

/* A warp's work on the block's segment. */
template <output_format FORMAT, int M> struct segment_run {
    typedef symbol_size<FORMAT, M> size;
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

    /* Where a warp's values go. */
    unsigned char *out; /* of its next symbol; with planes, this thread's first value */
    size_t plane_nbytes;
    bool is_stored_at_once;

    __device__ __forceinline__ void open(size_t first)
    {
        out = static_cast<unsigned char *>(block.segment.out);
        is_in_global_memory(out);
        plane_nbytes = block.segment.plane_stride * VALUE;
        is_stored_at_once = IS_STORED_AT_ONCE && reinterpret_cast<uintptr_t>(out) % NBYTES == 0;
        out += plane_nbytes != 0 ? (first + threadIdx.x % WARP_THREADS) * VALUE : first * NBYTES;
    }

    /* The next n symbols, a symbol a thread. */
    __device__ __forceinline__ void store(unsigned n, const values &symbol)
    {
        const unsigned lane = threadIdx.x % WARP_THREADS;
        if (plane_nbytes != 0) {
            unsigned char *to = out;
            if (lane < n)
#pragma unroll
                for (int k = 0; k < BITS; k++, to += plane_nbytes)
                    store_value<VALUE>(to, symbol, k);
            out += n * VALUE;
            return;
        }
        if (is_stored_at_once) {
            if (lane < n)
                store_symbol<NBYTES, UNIT>(out + lane * NBYTES, symbol);
        } else {
            unsigned char *staged = reinterpret_cast<unsigned char *>(block.staged[threadIdx.x / WARP_THREADS] + 1);
            __syncwarp();
            store_symbol<NBYTES, (UNIT < 4 ? UNIT : 4)>(staged + lane * NBYTES, symbol);
            __syncwarp();
            copy_to_values<VALUE>(out, n * NBYTES);
        }
        out += n * NBYTES;
    }

    /* n symbols from `first` on, by a warp. */
    template <bool IS_DESCRAMBLED, typename Table>
    __device__ __forceinline__ void demodulate(const Table &table, const softqam_llr_limit &limit, size_t first,
                                               unsigned n, bool waits)
    {
        const unsigned lane = threadIdx.x % WARP_THREADS;
        const unsigned step = softqam_step_symbols(block.segment.n_layers);
        const unsigned input_format = block.input_format;
        const bool has_noise_each = FORMAT != OUTPUT_U8 && block.segment.noise_stride != 0;
        const bool noise_is_inverse = block.segment.noise_is_inverse;
        const uint64_t position = block.segment.first_symbol + first; /* in the codeword */
        const float steps_per_nat = block.segment.steps_per_nat;
        const float input_scale = block.segment.input_scale;
        symbol_scale scale = {};
        uint32_t turn = 0;
        uint32_t turn_of_step = 0;
        if (M == 0 && block.segment.modulation == SOFTQAM_MODULATION_PI2_BPSK) {
            turn = static_cast<uint32_t>(position + lane) << 31;
            turn_of_step = step << 31;
        }
        thread_source source;
        warp_gold sequence;
        source.open(block.segment, input_format, first + min(lane, step - 1));
        open(first);
        if (IS_DESCRAMBLED)
            sequence = gold_at(block.segment.c_init, position * BITS);
        if (waits)
            wait_for_previous_kernel();
        raw_symbol next = {};
        if (lane < min(n, step))
            next = source.load(input_format, has_noise_each);
        if (FORMAT != OUTPUT_U8 && !has_noise_each)
            scale.take_noise(steps_per_nat, source.noise ? *source.noise : block.segment.noise_value, noise_is_inverse);
#pragma unroll 1
        for (unsigned left = n; left > 0;) {
            const unsigned n_now = min(left, step);
            const raw_symbol raw = next;
            left -= n_now;
            source.advance();
            if (lane < min(left, step))
                next = source.load(input_format, has_noise_each);
            if (has_noise_each)
                scale.take_noise(steps_per_nat, raw.noise, noise_is_inverse);
            if (M == 0) {
                scale.turn = turn;
                turn ^= turn_of_step;
            }
            if (IS_DESCRAMBLED)
                scale.signs = sequence.template take<BITS>(n_now);
            const float2 components = convert(raw, input_format, input_scale);
            store(n_now, values_of<FORMAT, M, IS_DESCRAMBLED>(table, components.x, components.y, scale, limit));
        }
    }

    template <typename Table>
    static __device__ __forceinline__ void run(const Table &table, const softqam_llr_limit &limit, size_t first,
                                               unsigned n, bool waits)
    {
        segment_run self;
        if (FORMAT != OUTPUT_U8 && block.segment.is_descrambled)
            self.template demodulate<FORMAT != OUTPUT_U8>(table, limit, first, n, waits);
        else
            self.template demodulate<false>(table, limit, first, n, waits);
    }
};

/* n symbols from `first` on of the block's segment, by a warp, which waits for the kernel before if it has not yet. */
template <output_format FORMAT>
static __device__ __forceinline__ void demodulate_run(const softqam_llr_limit &limit, size_t first, unsigned n,
                                                      bool waits)
{
    if constexpr (FORMAT == OUTPUT_U8) {
        const auto *memory = reinterpret_cast<const table_memory<softqam_soft_table> *>(block.tables.soft);
        return segment_run<FORMAT, 4>::run(memory->read(block.of_soft), limit, first, n, waits);
    } else {
        typedef const table_memory<softqam_llr_rows> rows_memory;
        const auto &rows = block.tables.llrs.rows;
        const auto *long_rows =
            reinterpret_cast<const table_memory<softqam_llr_long_rows> *>(block.tables.llrs.long_rows);
        const table_memory<softqam_llr_lines> lines;
        switch (block.segment.modulation) {
        case SOFTQAM_MODULATION_BPSK:
        case SOFTQAM_MODULATION_PI2_BPSK:
            return segment_run<FORMAT, 0>::run(lines.read(block.lines[0]), limit, first, n, waits);
        case SOFTQAM_MODULATION_QPSK:
            return segment_run<FORMAT, 1>::run(lines.read(block.lines[0]), limit, first, n, waits);
        case SOFTQAM_MODULATION_16QAM:
            return segment_run<FORMAT, 2>::run(lines.read(block.lines[1]), limit, first, n, waits);
        case SOFTQAM_MODULATION_64QAM:
            return segment_run<FORMAT, 3>::run(reinterpret_cast<rows_memory *>(rows[0])->read(block.of_rows[0]), limit,
                                               first, n, waits);
        case SOFTQAM_MODULATION_256QAM:
            return segment_run<FORMAT, 4>::run(reinterpret_cast<rows_memory *>(rows[1])->read(block.of_rows[1]), limit,
                                               first, n, waits);
        default:
            return segment_run<FORMAT, 5>::run(long_rows->read(block.of_rows[2]), limit, first, n, waits);
        }
    }
}

/* Tables: that of a modulation, or of all. */

template <output_format FORMAT> struct segment_tables {
    typedef softqam_kernel_tables type;
};
template <> struct segment_tables<OUTPUT_U8> {
    typedef softqam_soft_table type;
};

enum { ALL_MODULATIONS = 0 };

static __device__ __forceinline__ void write_tables(const softqam_soft_table &table, unsigned)
{
    reinterpret_cast<table_memory<softqam_soft_table> *>(block.tables.soft)->write(table);
    if (threadIdx.x == 0) {
        block.of_soft.levels_per_unit = table.levels_per_unit;
#pragma unroll
        for (int k = 0; k < SOFT_AXIS_BITS; k++)
            block.of_soft.steps[k] = table.steps[k];
    }
}

static __device__ __forceinline__ void write_tables(const softqam_kernel_tables &tables, unsigned modulation)
{
    auto *long_rows = reinterpret_cast<table_memory<softqam_llr_long_rows> *>(block.tables.llrs.long_rows);
    if (threadIdx.x < sizeof block.lines / sizeof(float))
        (&block.lines[0].slopes[0])[threadIdx.x] = (&tables.lines[0].slopes[0])[threadIdx.x];
#pragma unroll
    for (int k = 0; k < 2; k++)
        if (modulation == ALL_MODULATIONS || modulation == static_cast<unsigned>(SOFTQAM_MODULATION_64QAM + k)) {
            reinterpret_cast<table_memory<softqam_llr_rows> *>(block.tables.llrs.rows[k])->write(tables.rows[k]);
            if (threadIdx.x == 0)
                block.of_rows[k] = tables.rows[k].of_rows;
        }
    if (modulation == ALL_MODULATIONS || modulation == SOFTQAM_MODULATION_1024QAM) {
        long_rows->write(tables.long_rows);
        if (threadIdx.x == 0)
            block.of_rows[2] = tables.long_rows.of_rows;
    }
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

/* The same among segments in device memory, by a warp: a thread counts segments' blocks. False for a block that is not
 * needed. */
static __device__ __forceinline__ bool find_place(block_place &place, const softqam_segment_launch &launch)
{
    enum : unsigned {
        AT_ONCE = 8,
        MOST_SYMBOLS = 1u << 31 /* of a segment, so that the sum of a warp's blocks fits */
    };
    const unsigned all = 0xffffffffu;
    const unsigned lane = threadIdx.x % WARP_THREADS;
    const unsigned share = softqam_block_share(launch.block_steps, 1, true);
    const unsigned n_segments = *launch.n_device_segments;
    unsigned before = 0;
    for (unsigned first = 0; first < launch.n_segments; first += AT_ONCE * WARP_THREADS) {
        size_t n_symbols[AT_ONCE] = {};
        /* What lies behind the segments that there are is read too: all loads are on their way at once. */
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (first + k * WARP_THREADS + lane < launch.n_segments)
                n_symbols[k] = launch.device_segments[first + k * WARP_THREADS + lane].n_symbols;
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            const unsigned number = first + k * WARP_THREADS + lane;
            const unsigned n = static_cast<unsigned>(min(n_symbols[k], size_t{MOST_SYMBOLS}));
            const unsigned mine = number < n_segments ? (n + share - 1) / share : 0;
            unsigned sum = mine; /* of the warp's up to this one */
#pragma unroll
            for (int distance = 1; distance < WARP_THREADS; distance *= 2) {
                const unsigned other = __shfl_up_sync(all, sum, distance);
                sum += lane >= distance ? other : 0;
            }
            const unsigned from = before + sum - mine;
            const unsigned found = __ballot_sync(all, from <= blockIdx.x && blockIdx.x - from < mine);
            if (found != 0) {
                const int owner = __ffs(static_cast<int>(found)) - 1;
                place.segment = first + k * WARP_THREADS + owner;
                place.number = blockIdx.x - __shfl_sync(all, from, owner);
                return true;
            }
            before += __shfl_sync(all, sum, WARP_THREADS - 1);
            if (first + (k + 1) * WARP_THREADS >= n_segments)
                return false;
        }
    }
    return false;
}

/* A segment of device memory to the block's, with what its zeros stand for. What no host could check is made harmless
 * as far as it can be: a modulation that is none has no symbols. */
template <output_format FORMAT>
static __device__ __forceinline__ void take_segment(const softqam_segment &from, const softqam_segment_launch &launch)
{
    enum { SAME_WORDS = offsetof(softqam_kernel_segment, input_scale) / sizeof(uint32_t) };
    static_assert(offsetof(softqam_segment, n_layers) == offsetof(softqam_kernel_segment, input_scale) &&
                      offsetof(softqam_segment, layers) == offsetof(softqam_kernel_segment, layers) &&
                      offsetof(softqam_segment, symbol_stride) == offsetof(softqam_kernel_segment, symbol_stride),
                  "both begin with the same fields");
    softqam_kernel_segment &to = block.segment;
    if (threadIdx.x >= WARP_THREADS) {
        const unsigned word = threadIdx.x - WARP_THREADS;
        if (word < SAME_WORDS && word / 2 != offsetof(softqam_segment, symbol_stride) / 8 && word / 2 != 0)
            reinterpret_cast<uint32_t *>(&to)[word] = reinterpret_cast<const uint32_t *>(&from)[word];
        return;
    }
    if (threadIdx.x > 0)
        return;
    const unsigned modulation = from.modulation != 0 ? static_cast<unsigned>(from.modulation) : launch.modulation;
    const unsigned noise_form = from.noise_form != 0 ? static_cast<unsigned>(from.noise_form) : launch.noise_form;
    const float llr_scale = from.llr_scale != 0.0f ? from.llr_scale : launch.llr_scale;
    const bool is_known =
        FORMAT == OUTPUT_U8 ? modulation == SOFTQAM_MODULATION_256QAM : modulation <= SOFTQAM_MODULATION_1024QAM;
    to.n_symbols = is_known ? from.n_symbols : 0;
    to.symbol_stride = from.symbol_stride != 0 ? from.symbol_stride : 1;
    to.input_scale = from.input_scale != 0.0f ? from.input_scale : launch.input_scale;
    to.steps_per_nat = launch.is_negative ? -llr_scale : llr_scale;
    to.noise_value = 0.0f;
    to.c_init = from.c_init & 0x7fffffff;
    to.modulation = static_cast<uint8_t>(modulation);
    to.n_layers = static_cast<uint8_t>(min(max(from.n_layers, 1u), SOFTQAM_MAX_LAYERS + 0u));
    to.noise_is_inverse = noise_form == SOFTQAM_NOISE_FORM_INVERSE;
    to.is_descrambled = from.descramble != 0;
}

template <output_format FORMAT, int N>
static __global__ void __launch_bounds__(BLOCK_THREADS, 7)
    segment_kernel(const __grid_constant__ typename segment_tables<FORMAT>::type tables,
                   const __grid_constant__ softqam_segment_launch launch,
                   const __grid_constant__ array_of<softqam_kernel_segment, N> segments,
                   const __grid_constant__ array_of<unsigned, N> first_blocks)
{
    const bool waits = !launch.device_segments;
    block_place place = {};
    let_next_kernel_begin();
    if (threadIdx.x == 0)
        block.input_format = launch.input_format;
    if (launch.device_segments) {
        write_tables(tables, ALL_MODULATIONS);
        wait_for_previous_kernel();
        if (threadIdx.x < WARP_THREADS) {
            const bool is_needed = find_place(place, launch);
            if (threadIdx.x == 0) {
                block.place = place;
                block.is_needed = is_needed;
            }
        }
        __syncthreads();
        if (!block.is_needed)
            return;
        place = block.place;
        take_segment<FORMAT>(launch.device_segments[place.segment], launch);
    } else {
        place = find_place(first_blocks, launch);
        const softqam_kernel_segment &segment = segments.at[place.segment];
        if (threadIdx.x < sizeof segment / sizeof(uint32_t))
            reinterpret_cast<uint32_t *>(&block.segment)[threadIdx.x] =
                reinterpret_cast<const uint32_t *>(&segment)[threadIdx.x];
        write_tables(tables, segment.modulation);
    }
    __syncthreads();
    const unsigned share =
        softqam_block_share(launch.block_steps, block.segment.n_layers, launch.device_segments) / BLOCK_WARPS;
    const size_t first = (place.number * BLOCK_WARPS + threadIdx.x / WARP_THREADS) * share;
    if (first < block.segment.n_symbols)
        demodulate_run<FORMAT>(launch.limit, first,
                               static_cast<unsigned>(min(block.segment.n_symbols - first, share + size_t{0})), waits);
}

#endif
