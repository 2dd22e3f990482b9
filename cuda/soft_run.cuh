/* SPDX-License-Identifier: MIT */
/* A block's work on a code block whose LLRs go to a soft buffer. They are collected in shared memory, a tile of symbols
 * in bit planes, and go from there to their positions, each plane a run or a few. */
#ifndef SOFTQAM_SOFT_RUN_CUH
#define SOFTQAM_SOFT_RUN_CUH

#include "segment_run.cuh"
#include "soft_stores.cuh"

/* Symbols of the block's segment, all of one code block; block.work is written before the next barrier. */
struct soft_span {
    size_t first;
    int n;
    unsigned before; /* symbols of the block's sequence before the first one */
    bool waits;      /* for the kernel before, which it has not yet */
};

/* A block's zeros and fillers of its code block. */
template <softqam_output_format FORMAT> static __device__ __forceinline__ void fill_soft_buffer(const soft_work &work)
{
    enum { VALUE = symbol_size<FORMAT, 1>::VALUE_NBYTES };
    const uint32_t fill_end = work.fill_end, n_zeros = work.n_zeros;
    const uint32_t of_warp = (fill_end - work.fill_first + BLOCK_WARPS - 1) / BLOCK_WARPS;
    uint32_t at = work.fill_first + threadIdx.x / WARP_THREADS * of_warp;
    const uint32_t end = min(at + of_warp, fill_end);
    if (at >= end)
        return;
    unsigned char *values = work.values;
    const uint32_t first_zero = work.first_zero, zeros_end = min(end, n_zeros);
#pragma unroll 1
    while (at < zeros_end) {
        const softqam_soft_run run = work.positions.run_at(first_zero + at);
        const uint32_t n = min(run.n, zeros_end - at);
        fill_run<VALUE>(values + size_t{run.first} * VALUE, 0, n * VALUE);
        at += n;
    }
    if (at < end) {
        const uint32_t position = work.positions.break_at + (at - n_zeros);
        const uint32_t value = soft_value_of<FORMAT>(block.soft.filler_value);
        const uint32_t word = VALUE == 4 ? value : __byte_perm(value, 0, VALUE == 2 ? 0x1010 : 0);
        fill_run<VALUE>(values + size_t{position} * VALUE, word, (end - at) * VALUE);
    }
}

/* Tells memory that a tile's values will be asked for: a line a thread; `first` is the tile's in the code block. */
template <int BITS, int VALUE>
static __device__ __forceinline__ void prefetch_tile(const soft_work &work, uint32_t first, uint32_t n_symbols)
{
    enum { LINE_NBYTES = 128, THREADS = BLOCK_THREADS / BITS };
    unsigned thread; /* threadIdx.x, from which the compiler would divide in advance for every modulation */
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    const unsigned plane = thread / THREADS;
    const softqam_soft_run run = work.positions.run_at(plane * work.n_symbols + first);
    const uint32_t last = (min(run.n, n_symbols) - 1) * VALUE;
    const uint32_t at = thread % THREADS * LINE_NBYTES;
    if (plane < BITS && at < last + LINE_NBYTES)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(work.values + size_t{run.first} * VALUE + min(at, last)));
}

/* A tile's values to their positions, none of which is visited twice. Half a warp at a time has a plane, or a part of
 * one. A plane begins in shared memory as far behind 16 bytes as its destination does in memory. */
template <softqam_output_format FORMAT, int BITS, bool ADDS>
static __device__ __forceinline__ void store_tile(const soft_work &work, uint32_t first, uint32_t n_symbols,
                                                  uint32_t stage, uint32_t pitch, const soft_sum<FORMAT> &sum)
{
    enum {
        VALUE = symbol_size<FORMAT, 1>::VALUE_NBYTES,
        HALF_WARPS = BLOCK_THREADS / HALF_WARP,
        PARTS = HALF_WARPS / BITS > 1 ? HALF_WARPS / BITS : 1,
        STEP = HALF_WARPS / PARTS
    };
    const unsigned number = threadIdx.x / HALF_WARP;
    const unsigned part = number / STEP;
    const uint32_t begin = PARTS == 1 ? 0 : n_symbols * part / PARTS; /* symbols of the tile */
    const uint32_t end = PARTS == 1 ? n_symbols : n_symbols * (part + 1) / PARTS;
    const soft_positions positions = work.positions;
    unsigned char *const values = work.values;
#pragma unroll 1
    for (unsigned plane = number % STEP; plane < BITS; plane += STEP) {
        const uint32_t of_plane = plane * work.n_symbols + first;
        softqam_soft_run run = positions.run_at(of_plane);
        const uint32_t misaligned =
            (static_cast<uint32_t>(reinterpret_cast<uintptr_t>(values)) + run.first * VALUE) % UNIT_NBYTES;
        const uint32_t from = stage + plane * pitch + misaligned;
        uint32_t at = begin;
        if (at > 0)
            run = positions.run_at(of_plane + at);
        for (;;) {
            const uint32_t n = min(run.n, end - at);
            place_run<FORMAT, ADDS>(values + size_t{run.first} * VALUE, from + at * VALUE, n * VALUE,
                                    threadIdx.x % HALF_WARP, sum);
            at += n;
            if (at >= end)
                break;
            run = positions.run_at(of_plane + at);
        }
    }
}

/* The same where positions may be visited twice: a position's values are added by one thread, in the order of symbols,
 * then of bits. Each round of n_data values visits every position once, in the same order of planes. Slow, and rare. */
template <softqam_output_format FORMAT>
static __device__ __noinline__ void place_repeated(unsigned bits, uint32_t first, uint32_t n_symbols, uint32_t stage,
                                                   uint32_t pitch, float limit)
{
    enum { VALUE_NBYTES = symbol_size<FORMAT, 1>::VALUE_NBYTES };
    const soft_work &work = block.work;
    const soft_positions &buffer = work.positions;
    soft_sum<FORMAT> sum;
    sum.open(limit);
    if (threadIdx.x < bits)
        block.plane_starts[threadIdx.x] =
            static_cast<uint32_t>((buffer.start + uint64_t{threadIdx.x} * work.n_symbols + first) % buffer.n_data);
    __syncthreads();
    const uint32_t n_first = min(n_symbols, buffer.n_data);
    /* The symbol of the tile at which a plane comes to a data position. */
    const auto visit = [&](uint32_t data_position, unsigned plane) {
        const uint32_t begin = block.plane_starts[plane];
        return data_position >= begin ? data_position - begin : buffer.n_data - begin + data_position;
    };
    for (unsigned plane = 0; plane < bits; plane++)
        for (uint32_t symbol = threadIdx.x; symbol < n_first; symbol += BLOCK_THREADS) {
            const uint32_t to_end = buffer.n_data - block.plane_starts[plane];
            const uint32_t data_position = symbol < to_end ? block.plane_starts[plane] + symbol : symbol - to_end;
            bool is_first = true;
            for (unsigned other = 0; other < bits; other++) {
                const uint32_t at = visit(data_position, other);
                is_first &= at > symbol || (at == symbol && other >= plane);
            }
            if (!is_first)
                continue;
            const uint32_t position = data_position + (data_position < buffer.break_at ? 0 : buffer.n_fillers);
            unsigned char *to = work.values + size_t{position} * VALUE_NBYTES;
            uint32_t value = work.adds ? load_value<VALUE_NBYTES>(to) : 0;
            for (uint64_t round = 0; round < n_symbols; round += buffer.n_data) {
                const uint32_t n_left = n_symbols - static_cast<uint32_t>(round);
                uint64_t last = 0; /* symbol and plane of the one before, and one more */
                for (;;) {
                    uint64_t next = UINT64_MAX;
                    for (unsigned other = 0; other < bits; other++) {
                        const uint32_t at = visit(data_position, other);
                        const uint64_t key = uint64_t{at} * 16 + other;
                        if (at < n_left && key >= last && key < next)
                            next = key;
                    }
                    if (next == UINT64_MAX)
                        break;
                    const uint32_t llr =
                        load_shared<VALUE_NBYTES>(stage + static_cast<uint32_t>(next % 16) * pitch +
                                                  static_cast<uint32_t>(round + next / 16) * VALUE_NBYTES);
                    value = work.adds ? sum.of(value, llr) : llr;
                    last = next + 1;
                }
            }
            store_value<VALUE_NBYTES>(to, value);
        }
}

template <softqam_output_format FORMAT, int M> struct soft_run {
    typedef symbol_size<FORMAT, M> size;
    typedef packed_values<size::WORDS> values;
    enum {
        BITS = size::BITS,
        VALUE = size::VALUE_NBYTES,
        MOST_ROWS = (SOFT_STAGE_NBYTES - 16 - 16 * BITS) / (BITS * VALUE * BLOCK_THREADS),
        ROWS = MOST_ROWS < MOST_WARP_STEPS ? MOST_ROWS + 0 : MOST_WARP_STEPS + 0, /* of a symbol a thread, in a tile */
        PITCH = ROWS * BLOCK_THREADS * VALUE + 16
    };
    static_assert(ROWS >= 1 && BITS * PITCH + 16 <= SOFT_STAGE_NBYTES, "a tile is staged");

    template <source_kind KIND>
    static __device__ __forceinline__ void demodulate(const softqam_llr_limit &limit, float sum_limit,
                                                      const soft_span &span)
    {
        const unsigned lane = threadIdx.x % WARP_THREADS;
        const int step = static_cast<int>(softqam_step_symbols(block.segment.n_layers));
        const int row = BLOCK_WARPS * step;
        const unsigned of_thread = threadIdx.x / WARP_THREADS * step + min(static_cast<int>(lane), step - 1);
        const int position = static_cast<int>(lane) < step ? static_cast<int>(of_thread) : INT_MAX;
        thread_symbols<FORMAT, M, KIND, true> symbols;
        symbols.open(span.first + of_thread, span.before + of_thread, BLOCK_WARPS);
        const float *noise_of_all = symbols.source.noise;
        if (span.waits)
            wait_for_previous_kernel();
        symbols.next = {};
        symbols.load(position < span.n);
        __syncthreads(); /* table, sequence and work are written */
        const soft_work &work = block.work;
        if (!work.values)
            return;
        fill_soft_buffer<FORMAT>(work);
        const auto table = table_of_block<FORMAT, M>().read({});
        symbols.set_noise(noise_of_all);
        soft_sum<FORMAT> sum;
        sum.open(sum_limit);
        const uint32_t stage = shared_address(block.soft_stage, 0);
#pragma unroll 1
        for (int done = 0; done < span.n; done += ROWS * row) {
            const int n = min(span.n - done, ROWS * row);
            const uint32_t first = work.first + done;
            uint32_t plane_at[BITS];
            open_planes(plane_at, work, first, stage + of_thread * VALUE);
            if (work.adds && !work.is_repeated)
                prefetch_tile<BITS, VALUE>(work, first, n);
#pragma unroll 1
            for (int at = 0; at < n; at += row) {
                const values symbol_values = symbols.demodulate(table, limit, position < span.n - done - at - row, row);
                if (position < n - at)
#pragma unroll
                    for (int k = 0; k < BITS; k++)
                        store_shared_value<VALUE>(plane_at[k], value_at<VALUE>(symbol_values, k));
#pragma unroll
                for (int k = 0; k < BITS; k++)
                    plane_at[k] += row * VALUE;
            }
            __syncthreads();
            if (work.is_repeated)
                place_repeated<FORMAT>(BITS, first, n, stage, PITCH, sum_limit);
            else if (work.adds)
                store_tile<FORMAT, BITS, true>(work, first, n, stage, PITCH, sum);
            else
                store_tile<FORMAT, BITS, false>(work, first, n, stage, PITCH, sum);
            if (done + n < span.n)
                __syncthreads();
        }
    }

    /* Where a thread's values of each plane go in shared memory, `at` being that of a plane that is aligned: thread k
     * of a warp finds out for plane k. */
    static __device__ __forceinline__ void open_planes(uint32_t (&plane_at)[BITS], const soft_work &work,
                                                       uint32_t first, uint32_t at)
    {
        const unsigned lane = threadIdx.x % WARP_THREADS;
        uint32_t misaligned = 0;
        if (!work.is_repeated) {
            const uint32_t values = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(work.values));
            misaligned = (values + work.positions.run_at(lane * work.n_symbols + first).first * VALUE) % UNIT_NBYTES;
        }
#pragma unroll
        for (int k = 0; k < BITS; k++)
            plane_at[k] = at + k * PITCH + __shfl_sync(0xffffffffu, misaligned, k);
    }
};

/* A span's symbols to their soft buffer. The next one's block.work, sequence and segment may be written behind a
 * barrier. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void demodulate_soft_span(const softqam_segment_launch &launch, const soft_span &span)
{
    if constexpr (FORMAT != SOFTQAM_OUTPUT_U8)
        with_axis_bits<FORMAT>(
            block.segment.modulation,
            [&](auto axis_bits) {
                typedef soft_run<FORMAT, decltype(axis_bits)::value> run;
                with_source<FORMAT>([&](auto kind) {
                    run::template demodulate<decltype(kind)::value>(launch.limit, launch.sum_limit, span);
                });
            });
}

#endif
