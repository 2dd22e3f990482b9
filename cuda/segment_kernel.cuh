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

template <typename Item, int N> struct array_of {
    Item at[N];
};

/* The symbols of the block's segment that a warp takes, in steps of a symbol a thread. */
struct warp_share {
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

    template <source_kind KIND, bool IS_DESCRAMBLED, typename Table>
    __device__ __forceinline__ void demodulate(const Table &table, const softqam_llr_limit &limit,
                                               const warp_share &share)
    {
        const unsigned lane = threadIdx.x % WARP_THREADS;
        const int step = static_cast<int>(softqam_step_symbols(block.segment.n_layers));
        const int stride = static_cast<int>(share.stride) * step;
        const int place = lane < step ? static_cast<int>(lane) : INT_MAX;
        const unsigned input_format = block.input_format;
        const bool has_noise_each =
            FORMAT != SOFTQAM_OUTPUT_U8 && (KIND != ANY_SOURCE || block.segment.noise_stride != 0);
        const bool noise_is_inverse = block.segment.noise_is_inverse;
        const float steps_per_nat = block.segment.steps_per_nat;
        const float input_scale = block.segment.input_scale;
        symbol_scale scale = {};
        unsigned bit = (share.before + lane) * BITS; /* of the block's sequence */
        /* A stride is even, so a thread's symbols all turn or none does. */
        if (M == 0 && block.segment.modulation == SOFTQAM_MODULATION_PI2_BPSK)
            scale.turn = static_cast<uint32_t>(block.segment.first_symbol + share.first + lane) << 31;
        thread_source<KIND> source;
        source.open(block.segment, input_format, share.first + min(lane, step - 1), share.stride);
        open(share.first);
        const float *noise_of_all = source.noise;
        if (share.waits)
            wait_for_previous_kernel();
        raw_symbol next = {};
        if (place < share.n)
            next = source.load(input_format, has_noise_each);
        if (IS_DESCRAMBLED)
            __syncthreads(); /* the block's sequence is written */
        if (FORMAT != SOFTQAM_OUTPUT_U8 && !has_noise_each)
            scale.take_noise(steps_per_nat, noise_of_all ? *noise_of_all : block.segment.noise_value, noise_is_inverse);
#pragma unroll 1
        for (int left = share.n; left > 0; left -= stride) {
            const raw_symbol raw = next;
            source.advance();
            if (place < left - stride)
                next = source.load(input_format, has_noise_each);
            if (has_noise_each)
                scale.take_noise(steps_per_nat, raw.noise, noise_is_inverse);
            if (IS_DESCRAMBLED) {
                gold_bits<BITS> signs;
                signs.open(block.sequence, bit);
                scale.signs = signs.read(0);
                bit += stride * BITS;
            }
            const float2 components = convert<KIND>(raw, input_format, input_scale);
            store(static_cast<unsigned>(min(left, step)), place < left,
                  values_of<FORMAT, M, IS_DESCRAMBLED>(table, components.x, components.y, scale, limit));
            advance(static_cast<unsigned>(stride));
        }
    }

    template <source_kind KIND, typename Table>
    __device__ __forceinline__ void run_from(const Table &table, const softqam_llr_limit &limit,
                                             const warp_share &share)
    {
        if (FORMAT != SOFTQAM_OUTPUT_U8 && block.segment.is_descrambled)
            demodulate<KIND, FORMAT != SOFTQAM_OUTPUT_U8>(table, limit, share);
        else
            demodulate<KIND, false>(table, limit, share);
    }

    template <typename Table>
    static __device__ __forceinline__ void run(const Table &table, const softqam_llr_limit &limit,
                                               const warp_share &share)
    {
        segment_run self;
        const unsigned lane = threadIdx.x % WARP_THREADS;
        const bool is_apart = lane < block.segment.n_layers && block.segment.layers[lane].symbols_q;
        const bool is_usual =
            FORMAT != SOFTQAM_OUTPUT_U8 && block.segment.noise_stride != 0 && !__any_sync(0xffffffffu, is_apart);
        if (is_usual && block.input_format == SOFTQAM_INPUT_CF32)
            self.template run_from<CF32_SOURCE>(table, limit, share);
        else if (is_usual && block.input_format == SOFTQAM_INPUT_CF16)
            self.template run_from<CF16_SOURCE>(table, limit, share);
        else
            self.template run_from<ANY_SOURCE>(table, limit, share);
    }
};

/* A warp's share of the block's segment. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void demodulate_share(const softqam_llr_limit &limit, const warp_share &share)
{
    if constexpr (FORMAT == SOFTQAM_OUTPUT_U8) {
        const auto *memory = reinterpret_cast<const table_memory<softqam_soft_table> *>(block.tables.soft);
        return segment_run<FORMAT, 4>::run(memory->read(block.of_soft), limit, share);
    } else {
        typedef const table_memory<softqam_llr_rows> rows_memory;
        const auto &rows = block.tables.llrs.rows;
        const auto *long_rows =
            reinterpret_cast<const table_memory<softqam_llr_long_rows> *>(block.tables.llrs.long_rows);
        const table_memory<softqam_llr_lines> lines;
        static_assert(N_MODULATIONS == 7, "a case for each");
        switch (block.segment.modulation) {
        case SOFTQAM_MODULATION_BPSK:
        case SOFTQAM_MODULATION_PI2_BPSK:
            return segment_run<FORMAT, 0>::run(lines.read(block.lines[0]), limit, share);
        case SOFTQAM_MODULATION_QPSK:
            return segment_run<FORMAT, 1>::run(lines.read(block.lines[0]), limit, share);
        case SOFTQAM_MODULATION_16QAM:
            return segment_run<FORMAT, 2>::run(lines.read(block.lines[1]), limit, share);
        case SOFTQAM_MODULATION_64QAM:
            return segment_run<FORMAT, 3>::run(reinterpret_cast<rows_memory *>(rows[0])->read(block.of_rows[0]), limit,
                                               share);
        case SOFTQAM_MODULATION_256QAM:
            return segment_run<FORMAT, 4>::run(reinterpret_cast<rows_memory *>(rows[1])->read(block.of_rows[1]), limit,
                                               share);
        case SOFTQAM_MODULATION_1024QAM:
            return segment_run<FORMAT, 5>::run(long_rows->read(block.of_rows[2]), limit, share);
        }
    }
}

/* Kernels' arguments lie in constant memory, which serves a warp one word at a time. Read at their generic address,
 * other memory's way, each thread gets its own word at once; the first access takes longer. */
template <typename Argument> static __device__ __forceinline__ const Argument &as_memory(const Argument &argument)
{
    const Argument *pointer = &argument;
    asm volatile("" : "+l"(pointer));
    return *pointer;
}

/* Tables: that of a modulation, or of all. */

template <softqam_output_format FORMAT> struct segment_tables {
    typedef softqam_kernel_tables type;
};
template <> struct segment_tables<SOFTQAM_OUTPUT_U8> {
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

/* Blocks that n symbols of a segment in device memory take: the quotient, rounded up, by a product that may be one too
 * much. No more than of any segment that fits in memory, so that sums fit. */
static __device__ __forceinline__ unsigned blocks_of(size_t n_symbols, const softqam_segment_launch &launch)
{
    enum : unsigned { MOST_SYMBOLS = 1u << 31, MOST_BLOCKS = (1u << 23) - 1 };
    const unsigned share = softqam_block_share(launch.block_steps, 1, true);
    const unsigned n = static_cast<unsigned>(min(n_symbols, size_t{MOST_SYMBOLS})) + share - 1;
    const unsigned quotient = __umulhi(n, launch.per_share);
    return min(quotient * share > n ? quotient - 1 : quotient, MOST_BLOCKS + 0u);
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
static __device__ __forceinline__ void load_segment(const softqam_segment &from,
                                                    const softqam_kernel_defaults &defaults)
{
    enum { WORDS = sizeof block.descriptor / sizeof(uint64_t) };
    const unsigned lane = threadIdx.x % WARP_THREADS;
    const uint64_t *words = reinterpret_cast<const uint64_t *>(&from);
#pragma unroll
    for (unsigned k = 0; k < WORDS; k += WARP_THREADS)
        if (k + lane < WORDS)
            block.descriptor[k + lane] = words[k + lane];
    __syncwarp();
    if (lane > 0)
        return;
    softqam_kernel_segment_make(&block.segment, reinterpret_cast<const softqam_segment *>(block.descriptor), &defaults);
    const unsigned modulation = block.segment.modulation;
    if (FORMAT == SOFTQAM_OUTPUT_U8 ? modulation != SOFTQAM_MODULATION_256QAM : modulation == 0)
        block.segment.n_symbols = 0;
}

/* The scrambling sequence for n symbols from `first` on of the block's segment. */
static __device__ __forceinline__ void write_sequence(size_t first, unsigned n, unsigned steps_of_warp)
{
    enum { MANY_STEPS = 4 };
    const unsigned bits = softqam_symbol_bits(static_cast<softqam_modulation>(block.segment.modulation));
    write_block_gold(block.sequence, (n * bits + 31) / 32, steps_of_warp >= MANY_STEPS, block.segment.c_init,
                     (block.segment.first_symbol + first) * bits);
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
        if (!find_place(launch))
            return;
        place = block.place;
        if (threadIdx.x < WARP_THREADS)
            load_segment<FORMAT>(launch.device_segments[place.segment], launch.defaults);
    } else {
        place = find_place(first_blocks, launch);
        const softqam_kernel_segment &segment = as_memory(segments.at[place.segment]);
        if (threadIdx.x < sizeof segment / sizeof(uint32_t))
            reinterpret_cast<uint32_t *>(&block.segment)[threadIdx.x] =
                reinterpret_cast<const uint32_t *>(&segment)[threadIdx.x];
        write_tables(as_memory(tables), segments.at[place.segment].modulation);
    }
    __syncthreads();
    const unsigned of_block = softqam_block_share(launch.block_steps, block.segment.n_layers, launch.device_segments);
    const size_t first = place.number * of_block;
    if (first >= block.segment.n_symbols)
        return;
    const unsigned n = static_cast<unsigned>(min(block.segment.n_symbols - first, of_block + size_t{0}));
    const bool is_descrambled = FORMAT != SOFTQAM_OUTPUT_U8 && block.segment.is_descrambled;
    if (is_descrambled)
        write_sequence(first, n, launch.block_steps / BLOCK_WARPS);
    const unsigned stride = step_stride(block.segment.n_layers);
    const unsigned apart = stride == 1 ? of_block / BLOCK_WARPS : softqam_step_symbols(block.segment.n_layers);
    const unsigned before = threadIdx.x / WARP_THREADS * apart;
    const int n_left = static_cast<int>(n - before);
    const int n_warp = stride == 1 ? min(n_left, static_cast<int>(apart)) : n_left;
    if (n_warp > 0 || is_descrambled)
        demodulate_share<FORMAT>(launch.limit, {first + before, before, n_warp, stride, waits});
}

#endif
