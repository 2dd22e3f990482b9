/* SPDX-License-Identifier: MIT */
/* A thread block demodulates symbols of one code block to its soft buffer. It collects their LLRs in shared memory, a
 * tile of symbols in bit planes, and stores them from there, each plane in one run of positions or in a few. */
#ifndef SOFTQAM_SOFT_TILE_CUH
#define SOFTQAM_SOFT_TILE_CUH

#include "joint.cuh"
#include "soft_values.cuh"
#include "thread_symbols.cuh"

/* The part of a code block with a soft buffer that a thread block demodulates. */
struct soft_work {
    softqam_soft_buffer buffer;
    unsigned char *values; /* the soft buffer; NULL: LLRs go nowhere */
    uint32_t n_symbols;    /* symbols of the code block */
    uint32_t first;        /* the part's first symbol, counted in the code block */
    soft_fill fill;
    fill_share share; /* this thread block's zeros and fillers */
    bool combines;
};

/* Shared memory of a thread block that works on soft buffers. */
struct soft_memory : segment_memory {
    soft_work work;
    uint32_t plane_starts[2 * MAX_AXIS_BITS]; /* with repetition: the data position of each plane's first value */
};

/* Writes this thread block's zeros and fillers; each warp writes a share. */
template <softqam_output_format FORMAT> static __device__ __forceinline__ void fill_soft_buffer(const soft_work &work)
{
    const fill_share share = work.share;
    const uint32_t of_warp = (share.end - share.begin + BLOCK_WARPS - 1) / BLOCK_WARPS;
    const uint32_t begin = share.begin + threadIdx.x / WARP_THREADS * of_warp;
    const uint32_t end = min(begin + of_warp, share.end);
    if (begin < end)
        fill_positions<FORMAT>(work.buffer, work.values, work.fill, {begin, end});
}

/* Symbols in shared memory: a bit plane every `pitch` bytes, each with the alignment of its destination, modulo a
 * vector. */
struct soft_stage {
    uint32_t address;
    uint32_t pitch;
    uint32_t first; /* the first one, counted in the code block */
    uint32_t n_symbols;
};

/* Prefetches the values that a tile is added to, a line a thread. */
template <int BITS, int VALUE>
static __device__ __forceinline__ void prefetch_tile(const soft_work &work, const soft_stage &stage)
{
    enum { LINE_NBYTES = 128, THREADS = BLOCK_THREADS / BITS };
    /* The compiler would divide threadIdx.x in advance for every modulation. */
    const unsigned thread = own_thread();
    const unsigned plane = thread / THREADS;
    const softqam_soft_run run = softqam_soft_run_at(&work.buffer, plane * work.n_symbols + stage.first);
    const uint32_t last = (min(run.n, stage.n_symbols) - 1) * VALUE;
    const uint32_t offset = thread % THREADS * LINE_NBYTES;
    if (plane < BITS && offset < last + LINE_NBYTES)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(work.values + size_t{run.first} * VALUE + min(offset, last)));
}

/* Stores or adds a tile's values. Half a warp at a time has a plane, or a part of one. */
template <softqam_output_format FORMAT, int BITS, bool COMBINES>
static __device__ __forceinline__ void store_tile(const soft_work &work, const soft_stage &stage,
                                                  const soft_sum<FORMAT> &sum)
{
    enum {
        VALUE = symbol_size<FORMAT, 1>::VALUE_NBYTES,
        HALF_WARPS = BLOCK_THREADS / HALF_WARP,
        PARTS = HALF_WARPS / BITS > 1 ? HALF_WARPS / BITS : 1,
        STRIDE = HALF_WARPS / PARTS
    };
    const unsigned number = threadIdx.x / HALF_WARP;
    const unsigned part = number / STRIDE;
    const uint32_t begin = PARTS == 1 ? 0 : stage.n_symbols * part / PARTS; /* symbols of the tile */
    const uint32_t end = PARTS == 1 ? stage.n_symbols : stage.n_symbols * (part + 1) / PARTS;
    const softqam_soft_buffer buffer = work.buffer;
    unsigned char *const values = work.values;
#pragma unroll 1
    for (unsigned plane = number % STRIDE; plane < BITS; plane += STRIDE) {
        const uint32_t of_plane = plane * work.n_symbols + stage.first;
        softqam_soft_run run = softqam_soft_run_at(&buffer, of_plane);
        const uint32_t misaligned =
            (static_cast<uint32_t>(reinterpret_cast<uintptr_t>(values)) + run.first * VALUE) % VECTOR_NBYTES;
        const uint32_t from = stage.address + plane * stage.pitch + misaligned;
        uint32_t n_done = begin;
        if (n_done > 0)
            run = softqam_soft_run_at(&buffer, of_plane + n_done);
        for (;;) {
            const uint32_t n = min(run.n, end - n_done);
            place_run<FORMAT, COMBINES>(values + size_t{run.first} * VALUE, from + n_done * VALUE, n * VALUE,
                                        threadIdx.x % HALF_WARP, sum);
            n_done += n;
            if (n_done >= end)
                break;
            run = softqam_soft_run_at(&buffer, of_plane + n_done);
        }
    }
}

/* Sizes of a tile. */
template <softqam_output_format FORMAT, int M> struct tile_size {
    enum {
        BITS = symbol_size<FORMAT, M>::BITS,
        VALUE = symbol_size<FORMAT, M>::VALUE_NBYTES,
        MAX_ROWS = (SOFT_STAGE_NBYTES - 16 - 16 * BITS) / (BITS * VALUE * BLOCK_THREADS),
        /* A row is a symbol of each thread. */
        ROWS = MAX_ROWS < MAX_WARP_ITERATIONS ? MAX_ROWS + 0 : MAX_WARP_ITERATIONS + 0,
        PITCH = ROWS * BLOCK_THREADS * VALUE + 16
    };
    static_assert(ROWS >= 1 && BITS * PITCH + 16 <= SOFT_STAGE_NBYTES, "A tile of one row must fit in the stage");
};

/* Finds where a thread's values of each plane go in shared memory, `address` being that of an aligned plane: thread k
 * of a warp finds it for plane k. */
template <softqam_output_format FORMAT, int M, int BITS>
static __device__ __forceinline__ void open_planes(uint32_t (&plane_at)[BITS], const soft_work &work, uint32_t first,
                                                   uint32_t address)
{
    typedef tile_size<FORMAT, M> size;
    const unsigned lane = threadIdx.x % WARP_THREADS;
    const uint32_t values = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(work.values));
    const uint32_t misaligned =
        (values + softqam_soft_run_at(&work.buffer, lane * work.n_symbols + first).first * size::VALUE) % VECTOR_NBYTES;
#pragma unroll
    for (int k = 0; k < BITS; k++)
        plane_at[k] = address + k * size::PITCH + __shfl_sync(0xffffffffu, misaligned, k);
}

/* Demodulates a span's symbols, all of one code block, to their soft buffer; a thread has written shared.work. After a
 * barrier the next span's shared.work, sequence and segment may be written. */
template <softqam_output_format FORMAT, int M, source_kind KIND, count_mode COUNTING>
static __device__ __forceinline__ void demodulate_tiles(soft_memory &shared, const softqam_common_argument &common,
                                                        const block_span &span)
{
    typedef tile_size<FORMAT, M> size;
    enum { BITS = size::BITS, VALUE = size::VALUE };
    const unsigned lane = threadIdx.x % WARP_THREADS;
    const int n_symbols = static_cast<int>(span.n_symbols);
    const int n_warp = static_cast<int>(softqam_warp_symbols(shared.segment.source.n_layers));
    const int row = BLOCK_WARPS * n_warp;
    /* Sampled symbols fall to two of a block's warps. Blocks that count number their warps differently, so that it is
     * not the same two in all blocks. */
    const unsigned turn = COUNTING == NO_COUNTS ? 0 : blockIdx.x + blockIdx.x / 128;
    const unsigned warp =
        COUNTING == NO_COUNTS ? threadIdx.x / WARP_THREADS : (threadIdx.x / WARP_THREADS + turn) % BLOCK_WARPS;
    const unsigned of_thread = warp * n_warp + min(static_cast<int>(lane), n_warp - 1);
    const int lane_symbol = static_cast<int>(lane) < n_warp ? static_cast<int>(of_thread) : INT_MAX;
    thread_symbols<FORMAT, M, KIND, true> symbols = {shared};
    symbols.open(span.first + of_thread, of_thread, BLOCK_WARPS);
    const float *noise_of_all = symbols.source.noise;
    wait_for_previous_kernel();
    symbols.load(lane_symbol < n_symbols);
    __syncthreads(); /* table, sequence and work are written */
    const soft_work &work = shared.work;
    if (!work.values)
        return;
    fill_soft_buffer<FORMAT>(work);
    const auto table = shared.table<FORMAT, M>().read({});
    symbols.set_noise(noise_of_all, common.limit);
    soft_stage stage = {shared_address(shared.soft_stage, 0), size::PITCH};
    symbol_counter<FORMAT, M, KIND != JOINT_SOURCE, true> counter = {common.limit,
                                                                     shared.segment.placement.steps_per_nat};
    uint32_t of_codeword = shared.segment.placement.codeword_symbol + static_cast<uint32_t>(span.first) + of_thread;
#pragma unroll 1
    for (int done = 0; done < n_symbols; done += size::ROWS * row) {
        const int n = min(n_symbols - done, size::ROWS * row);
        uint32_t plane_at[BITS];
        stage.first = work.first + done;
        stage.n_symbols = n;
        if (KIND != JOINT_SOURCE)
            open_planes<FORMAT, M>(plane_at, work, stage.first, stage.address + of_thread * VALUE);
        if (work.combines)
            prefetch_tile<BITS, VALUE>(work, stage);
#pragma unroll 1
        for (int row_begin = 0; row_begin < n; row_begin += row) {
            const auto values =
                symbols.demodulate(table, common.limit, lane_symbol < n_symbols - done - row_begin - row, row);
            if (KIND == JOINT_SOURCE) /* registers are few: no addresses are kept meanwhile */
                open_planes<FORMAT, M>(plane_at, work, stage.first, stage.address + (of_thread + row_begin) * VALUE);
            if constexpr (COUNTING != NO_COUNTS) {
                counter.count_next(symbols, values, lane_symbol < n - row_begin, of_codeword);
                of_codeword += row;
            }
            if (lane_symbol < n - row_begin)
#pragma unroll
                for (int k = 0; k < BITS; k++)
                    store_shared_value<VALUE>(plane_at[k], value_at<VALUE>(values, k));
#pragma unroll
            for (int k = 0; k < BITS; k++)
                plane_at[k] += row * VALUE; /* unused by JOINT_SOURCE */
        }
        const bool is_last = done + n >= n_symbols;
        if (COUNTING != NO_COUNTS && is_last)
            counter.close();
        __syncthreads();
        if (COUNTING != NO_COUNTS && is_last)
            add_counts_to(shared.extras.statistics);
        soft_sum<FORMAT> sum;
        sum.open(common.limit.llr);
        if (work.combines)
            store_tile<FORMAT, BITS, true>(work, stage, sum);
        else
            store_tile<FORMAT, BITS, false>(work, stage, sum);
        if (!is_last)
            __syncthreads();
    }
}

template <softqam_output_format FORMAT, segment_set SEGMENTS, int ONLY, count_mode COUNTING>
static __device__ __forceinline__ void demodulate_soft_span(soft_memory &shared, const softqam_common_argument &common,
                                                            const block_span &span)
{
    with_axis_bits<FORMAT, ONLY>(
        shared.segment.placement.modulation,
        [&](auto axis_bits) {
            with_source<FORMAT, SEGMENTS>(
                shared,
                [&](auto source) {
                    demodulate_tiles<FORMAT, decltype(axis_bits)::value, decltype(source)::value, COUNTING>(
                        shared, common, span);
                });
        });
}

#endif
