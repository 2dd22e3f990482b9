/* SPDX-License-Identifier: MIT */
/* The kernels: symbols in device memory in, soft bits or LLRs in device memory out. README.md beside this says why they
 * look so. In stages, each written once: load and convert, values of a symbol, place and store. */
#include <limits.h>

#include <cuda_fp16.h>
#include <softqam/softqam_cuda.h>

#include "kernels.h"
#include "simd_cuda.cuh"

#include "arithmetic.h"

enum { BLOCK_THREADS = 128 };

/* Bits an axis of 256QAM, the modulation that there is. */
enum { AXIS_BITS = 4 };

/* Input formats. Thread blocks take TILES tiles of neighbouring memory one after the other: enough work to pay for
 * the table, little enough that the device as a whole reads and writes one narrow window of memory. A thread takes
 * GROUPS groups of symbols of a tile: that many loads are in flight before the first is used. */
template <typename Component, bool IS_SCALED> struct input {
    typedef Component component;
    enum { GROUPS = sizeof(Component) < 4 ? 4 : 2 };
    enum { TILES = sizeof(Component) < 4 ? 6 : 3 };

    /* Times one is the same value, so it need not be computed. */
    static __device__ __forceinline__ float convert(Component sample, float scale)
    {
        return IS_SCALED ? __fmul_rn(static_cast<float>(sample), scale) : static_cast<float>(sample);
    }
};

/* N symbols side by side, as one memory access. */
template <typename Component, int N> struct alignas(2 * N * sizeof(Component)) symbol_group {
    Component components[2 * N];
};

/* Tables in shared memory. */

/* Shared memory's address of what a thread block has written there, and an offset; after the barrier. The asm keeps the
 * sum from being taken apart again for every row. */
static __device__ __forceinline__ uint32_t shared_address(const void *memory, uint32_t offset)
{
    uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(memory)) + offset;
    asm volatile("" : "+r"(address)::"memory");
    return address;
}

/* A table of soft bits on its way to shared memory: each thread writes one copy of a row. */
struct soft_table_memory {
    unsigned char rows[SOFT_LEVELS][SOFT_ROW_NBYTES];

    __device__ __forceinline__ void write(const softqam_soft_table &table)
    {
        static_assert(BLOCK_THREADS == SOFT_LEVELS * TABLE_COPIES, "a thread for each copy of a row");
        const unsigned row = threadIdx.x / TABLE_COPIES;
        const unsigned copy = threadIdx.x % TABLE_COPIES * COPY_NBYTES;
        *reinterpret_cast<uint4 *>(rows[row] + copy) =
            make_uint4(__float_as_uint(table.level[row]), __float_as_uint(table.level_low[row]),
                       __float_as_uint(table.level_high[row]), byte_selector_of(table.byte_select[row]));
        *reinterpret_cast<float2 *>(rows[row] + copy + GAINS_OFFSET) =
            make_float2(table.gain_low[row], table.gain_high[row]);
    }

    /* After the barrier. */
    __device__ __forceinline__ vec_soft_table read(const softqam_soft_table &table) const
    {
        const unsigned copy = threadIdx.x % TABLE_COPIES * COPY_NBYTES;
        vec_soft_table shared;
        shared.middle_address = __uint_as_float(shared_address(rows, copy + (SOFT_LEVELS - 1) * SOFT_ROW_NBYTES / 2));
        /* Rounded to a byte, which over all 16 rows adds up to a tenth of one: an address still rounds to that of a
         * row. */
        shared.address_per_unit = __uint_as_float(__float2uint_rn(table.levels_per_unit * SOFT_ROW_NBYTES));
#pragma unroll
        for (int k = 0; k < SOFT_AXIS_BITS; k++)
            shared.steps[k] = table.steps[k];
        return shared;
    }
};

/* A table of LLRs on its way there: a warp writes the slopes, another the intercepts. */
struct llr_table_memory {
    float rows[2][LLR_ROWS][LLR_ROW_VALUES];

    __device__ __forceinline__ void write(const softqam_llr_table &table)
    {
        enum { VALUES = LLR_ROWS * LLR_ROW_VALUES };
        static_assert(2 * VALUES <= BLOCK_THREADS, "a thread for each value");
        if (threadIdx.x < 2 * VALUES) {
            const bool is_intercept = threadIdx.x >= VALUES;
            const unsigned row = threadIdx.x % VALUES / LLR_ROW_VALUES;
            const unsigned k = threadIdx.x % LLR_ROW_VALUES;
            rows[is_intercept][row][k] = is_intercept ? table.intercepts[k][row] : table.slopes[k][row];
        }
    }

    /* After the barrier. */
    __device__ __forceinline__ vec_llr_table read(const softqam_llr_table &table) const
    {
        vec_llr_table shared;
        shared.rows = shared_address(rows, 0);
        shared.rows_per_unit = table.rows_per_unit;
        shared.last_row = table.last_row;
        shared.only_slope = table.slopes[0][0];
        return shared;
    }
};

/* Values of a symbol. */

/* Before the weight; b0 first, even bits on I. */
template <int M> struct symbol_metrics {
    float at[2 * M];
    vec_mask valid; /* no erasure */
};

template <int M>
static __device__ __forceinline__ symbol_metrics<M> metrics_of(const vec_llr_table &table, float i, float q,
                                                               float weight)
{
    static_assert(M <= LLR_ROW_VALUES && 1 << (M - 1) <= LLR_ROWS, "the table in shared memory holds as many bits");
    float of_i[M];
    float of_q[M];
    symbol_metrics<M> metrics;
    axis_metrics(M, &table, i, of_i);
    axis_metrics(M, &table, q, of_q);
#pragma unroll
    for (int k = 0; k < M; k++) {
        metrics.at[2 * k] = of_i[k];
        metrics.at[2 * k + 1] = of_q[k];
    }
    /* An infinite weight there is not: the weight is NaN or a number. */
    metrics.valid = vec_both(vec_both(vec_is_finite(i), vec_is_finite(q)), vec_is_finite(weight));
    return metrics;
}

/* The output formats: the table, what a symbol becomes, and how many symbols make the widest access. */
struct output_u8 {
    typedef softqam_soft_table table;
    typedef soft_table_memory table_memory;
    typedef uint2 symbol;
    enum { GROUP_SYMBOLS = 2, TAKES_NOISE = 0 };

    static __device__ __forceinline__ symbol demodulate(const vec_soft_table &shared, float, float i, float q, float)
    {
        const symbol_distances distances = symbol_distances_of(&shared, i, q);
        const soft_bits bits = soft_bits_from_distances(&shared, &distances);
        const uint32_t of_i = vec_soft_bytes(bits.i.low, bits.i.high, bits.i.row, bits.valid);
        const uint32_t of_q = vec_soft_bytes(bits.q.low, bits.q.high, bits.q.row, bits.valid);
        return make_uint2(__byte_perm(of_i, of_q, 0x5140), __byte_perm(of_i, of_q, 0x7362));
    }
};

template <int M> struct output_s8;

template <> struct output_s8<4> {
    typedef softqam_llr_table table;
    typedef llr_table_memory table_memory;
    typedef uint2 symbol;
    enum { GROUP_SYMBOLS = 2, TAKES_NOISE = 1 };

    static __device__ __forceinline__ symbol demodulate(const vec_llr_table &shared, float limit, float i, float q,
                                                        float weight)
    {
        const symbol_metrics<4> metrics = metrics_of<4>(shared, i, q, weight);
        const float least = __fsub_rn(ROUNDING_CONSTANT, limit);
        const float most = __fadd_rn(ROUNDING_CONSTANT, limit);
        uint32_t llrs[8];
#pragma unroll
        for (int k = 0; k < 8; k++)
            llrs[k] = vec_bits(llr_rounded(metrics.at[k], weight, least, most));
        return make_uint2(metrics.valid & vec_lowest_bytes(llrs[0], llrs[1], llrs[2], llrs[3]),
                          metrics.valid & vec_lowest_bytes(llrs[4], llrs[5], llrs[6], llrs[7]));
    }
};

template <int M> struct output_f16;

template <> struct output_f16<4> {
    typedef softqam_llr_table table;
    typedef llr_table_memory table_memory;
    typedef uint4 symbol;
    enum { GROUP_SYMBOLS = 1, TAKES_NOISE = 1 };

    static __device__ __forceinline__ symbol demodulate(const vec_llr_table &shared, float limit, float i, float q,
                                                        float weight)
    {
        const symbol_metrics<4> metrics = metrics_of<4>(shared, i, q, weight);
        uint32_t pairs[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            pairs[k] = metrics.valid & vec_halves(llr_scaled(metrics.at[2 * k], weight, limit),
                                                  llr_scaled(metrics.at[2 * k + 1], weight, limit));
        return make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
    }
};

struct alignas(16) eight_floats {
    float4 halves[2];
};

template <int M> struct output_f32;

template <> struct output_f32<4> {
    typedef softqam_llr_table table;
    typedef llr_table_memory table_memory;
    typedef eight_floats symbol;
    enum { GROUP_SYMBOLS = 1, TAKES_NOISE = 1 };

    static __device__ __forceinline__ symbol demodulate(const vec_llr_table &shared, float limit, float i, float q,
                                                        float weight)
    {
        const symbol_metrics<4> metrics = metrics_of<4>(shared, i, q, weight);
        float at[8];
#pragma unroll
        for (int k = 0; k < 8; k++)
            at[k] = vec_keep(metrics.valid, llr_scaled(metrics.at[k], weight, limit));
        symbol out;
        out.halves[0] = make_float4(at[0], at[1], at[2], at[3]);
        out.halves[1] = make_float4(at[4], at[5], at[6], at[7]);
        return out;
    }
};

/* Store. */

template <typename Output, int N> struct alignas(N * sizeof(typename Output::symbol) < 16 ? 8 : 16) output_group {
    typename Output::symbol symbols[N];
};

/* Stores a thread's group, if it is one of the segment's. */
template <bool BOUNDED, typename Output, int N>
static __device__ __forceinline__ void store(output_group<Output, N> *out, size_t group, size_t n_groups,
                                             const output_group<Output, N> &result)
{
    if (!BOUNDED || group < n_groups)
        out[group] = result;
}

/* Two 16-byte stores of neighbouring threads fill a 32-byte sector of memory at once, where two by one thread would
 * fill it in halves: so each pair of threads first exchanges halves, and stores first the one's symbol, then the
 * other's. */
template <bool BOUNDED>
static __device__ __forceinline__ void store(output_group<output_f32<4>, 1> *out, size_t group, size_t n_groups,
                                             const output_group<output_f32<4>, 1> &result)
{
    const bool odd = threadIdx.x % 2 != 0;
    const float4 lower = result.symbols[0].halves[0];
    const float4 upper = result.symbols[0].halves[1];
    const float4 given = odd ? lower : upper;
    const unsigned all = 0xffffffffu;
    const float4 taken = make_float4(__shfl_xor_sync(all, given.x, 1), __shfl_xor_sync(all, given.y, 1),
                                     __shfl_xor_sync(all, given.z, 1), __shfl_xor_sync(all, given.w, 1));
    const size_t even_group = group - odd;
    if (!BOUNDED || even_group < n_groups)
        out[even_group].symbols[0].halves[odd] = odd ? taken : lower;
    if (!BOUNDED || even_group + 1 < n_groups)
        out[even_group + 1].symbols[0].halves[odd] = odd ? upper : taken;
}

/* Load. */

/* Symbols side by side, as many to an access as make a group of the output. */
template <typename Input, typename Output> struct side_by_side {
    enum { N = Output::GROUP_SYMBOLS, HAS_UNBOUNDED = 1 };
    typedef symbol_group<typename Input::component, N> group;

    static __device__ __forceinline__ group load(const softqam_kernel_segment &segment, size_t index)
    {
        return static_cast<const group *>(segment.symbols)[index];
    }
};

/* Symbols some way apart, in two planes or not aligned to a group, one to an access. */
template <typename Input> struct apart {
    enum { N = 1, HAS_UNBOUNDED = 0 };
    typedef typename Input::component component;
    typedef symbol_group<component, N> group;

    static __device__ __forceinline__ group load(const softqam_kernel_segment &segment, size_t symbol)
    {
        const size_t at = symbol * segment.symbol_stride;
        if (!segment.symbols_q)
            return static_cast<const group *>(segment.symbols)[at];
        group one;
        one.components[0] = static_cast<const component *>(segment.symbols)[at];
        one.components[1] = static_cast<const component *>(segment.symbols_q)[at];
        return one;
    }
};

/* Whether each symbol has a noise value of its own: known to the compiler in the loop over whole tiles alone. */
enum noise_layout { NOISE_ONE, NOISE_EACH, NOISE_EITHER };

/* A thread's part of a tile: G groups of symbols and their noise, one thread block apart so that a warp's accesses lie
 * side by side. Groups past the end are zeros, and are not stored, so that a warp stays together. */
template <int G, bool BOUNDED, noise_layout NOISE, typename Access> struct tile_input {
    typename Access::group symbols[G];
    float noise[G][Access::N];

    static __device__ __forceinline__ bool has_noise_each(const softqam_kernel_segment &segment)
    {
        return NOISE == NOISE_EACH || (NOISE == NOISE_EITHER && segment.noise_stride != 0);
    }

    __device__ __forceinline__ void load(const softqam_kernel_segment &segment, size_t first, size_t n_groups)
    {
#pragma unroll
        for (int g = 0; g < G; g++) {
            const size_t group = first + g * BLOCK_THREADS;
            if (!BOUNDED || group < n_groups) {
                symbols[g] = Access::load(segment, group);
#pragma unroll
                for (int k = 0; k < Access::N && has_noise_each(segment); k++)
                    noise[g][k] = segment.noise[(group * Access::N + k) * segment.noise_stride];
            } else {
                symbols[g] = {};
            }
        }
    }
};

/* A thread block's work on one segment. */
template <typename Input, typename Output> struct segment_work {
    const typename Output::table &table;
    const softqam_kernel_segment &segment;
    typename Output::table_memory &memory; /* written before the first tile is loaded */
    bool table_is_ready;                   /* for all threads */
    float limit;
    float noise;  /* of all symbols, if it is one */
    float weight; /* of that */
    decltype(memory.read(table)) shared;

    /* Waits for the other threads' rows, once, when this thread's first symbols are on their way. */
    __device__ __forceinline__ void ready_table()
    {
        if (table_is_ready)
            return;
        __syncthreads();
        shared = memory.read(table);
        if (Output::TAKES_NOISE)
            weight = llr_weight(segment.steps_per_nat, noise, segment.noise_is_inverse);
        table_is_ready = true;
    }

    template <int G, bool BOUNDED, noise_layout NOISE, typename Access>
    __device__ __forceinline__ void demodulate_groups(size_t first, size_t n_groups)
    {
        enum { N = Access::N };
        typedef tile_input<G, BOUNDED, NOISE, Access> tile;
        tile in;
        in.load(segment, first, n_groups);
        ready_table();
#pragma unroll
        for (int g = 0; g < G; g++) {
            output_group<Output, N> result;
#pragma unroll
            for (int k = 0; k < N; k++) {
                float w = weight;
                if (tile::has_noise_each(segment))
                    w = llr_weight(segment.steps_per_nat, in.noise[g][k], segment.noise_is_inverse);
                result.symbols[k] = Output::demodulate(
                    shared, limit, Input::convert(in.symbols[g].components[2 * k], segment.input_scale),
                    Input::convert(in.symbols[g].components[2 * k + 1], segment.input_scale), w);
            }
            store<BOUNDED>(static_cast<output_group<Output, N> *>(segment.out), first + g * BLOCK_THREADS, n_groups,
                           result);
        }
    }

    /* Groups from `start` to before `end`: whole tiles while there are any, then one group a thread. */
    template <noise_layout NOISE, typename Access>
    __device__ __forceinline__ void demodulate_groups_between(size_t start, size_t end)
    {
        const size_t tile = static_cast<size_t>(BLOCK_THREADS) * Input::GROUPS;
        for (; Access::HAS_UNBOUNDED && start + tile <= end; start += tile)
            demodulate_groups<Input::GROUPS, false, NOISE, Access>(start + threadIdx.x, end);
        constexpr noise_layout tail_noise = Output::TAKES_NOISE ? NOISE_EITHER : NOISE_ONE;
#pragma unroll 1
        for (; start < end; start += BLOCK_THREADS)
            demodulate_groups<1, true, tail_noise, Access>(start + threadIdx.x, end);
    }
};

/* The kernel. */

/* What the table is not, and all segments share. */
struct launch_shape {
    float limit; /* of LLRs */
    unsigned groups_per_block;
    unsigned n_segments;
};

template <typename Item, int N> struct array_of {
    Item at[N];
};

/* The segment that a thread block belongs to: the last one that begins at this block or before. */
template <int N>
static __device__ __forceinline__ unsigned find_segment(const array_of<unsigned, N> &first_blocks, unsigned n_segments)
{
    unsigned low = 0;
    unsigned high = n_segments;
    while (N > 1 && high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (first_blocks.at[middle] <= blockIdx.x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

template <typename Input, typename Output, int N>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    demodulate_kernel(const __grid_constant__ typename Output::table table, const __grid_constant__ launch_shape shape,
                      const __grid_constant__ array_of<softqam_kernel_segment, N> segments,
                      const __grid_constant__ array_of<unsigned, N> first_blocks)
{
    typedef side_by_side<Input, Output> grouped;
    __shared__ alignas(SOFT_ROW_NBYTES) typename Output::table_memory memory;
    const unsigned number = find_segment(first_blocks, shape.n_segments);
    const softqam_kernel_segment &segment = segments.at[number];
    const size_t block = N == 1 ? blockIdx.x : blockIdx.x - first_blocks.at[number];
    const size_t start = block * shape.groups_per_block;
    memory.write(table);
    segment_work<Input, Output> work = {table, segment, memory, false, shape.limit};
    if (Output::TAKES_NOISE)
        work.noise = segment.noise && segment.noise_stride == 0 ? *segment.noise : segment.noise_value;

    if (!segment.is_grouped) {
        const size_t end = min(start + shape.groups_per_block, segment.n_symbols);
        work.template demodulate_groups_between<NOISE_EITHER, apart<Input>>(start, end);
        return;
    }
    const size_t n_groups = segment.n_symbols / grouped::N;
    const size_t end = min(start + shape.groups_per_block, n_groups);
    if (Output::TAKES_NOISE && segment.noise_stride != 0)
        work.template demodulate_groups_between<NOISE_EACH, grouped>(start, end);
    else
        work.template demodulate_groups_between<NOISE_ONE, grouped>(start, end);
    /* An odd last symbol. */
    if (block == 0 && n_groups * grouped::N < segment.n_symbols)
        work.template demodulate_groups<1, true, NOISE_EITHER, apart<Input>>(n_groups * grouped::N + threadIdx.x,
                                                                             segment.n_symbols);
}

/* The launcher. */

/* Kernels for a pair of formats, and devices whose resident blocks are remembered. */
enum { KERNELS = 4, REMEMBERED_DEVICES = 64 };

/* A kernel's address, which is no constant to a compiler where a function that returns it is. */
typedef const void *kernel_address();

/* The kernels for a pair of formats, and what the launcher needs to know of them. */
struct softqam_kernels {
    /* One segment; one whose input scale is 1; few; many. */
    kernel_address *kernels[KERNELS];
    unsigned group_symbols;
    unsigned tile_groups;
    unsigned tiles; /* that a thread block takes of large launches */
    /* Thread blocks that a device holds at once, by its number and the kernel's place above; 0: not asked yet. */
    unsigned (*resident_blocks)[KERNELS];
};

template <typename Input, typename Output, int N> static const void *kernel_of()
{
    static_assert(sizeof(typename Output::table) + sizeof(launch_shape) + 16 +
                          N * (sizeof(softqam_kernel_segment) + sizeof(unsigned)) <=
                      (N <= FEW_SEGMENTS ? 4096 : 32764),
                  "a kernel's arguments are limited");
    return reinterpret_cast<const void *>(demodulate_kernel<Input, Output, N>);
}

template <typename Component, bool CAN_BE_UNSCALED, typename Output> static const softqam_kernels *kernels_of()
{
    typedef input<Component, true> scaled;
    enum { MANY = CUDART_VERSION >= 12010 ? MANY_SEGMENTS : FEW_SEGMENTS };
    static unsigned resident_blocks[REMEMBERED_DEVICES][KERNELS];
    static constexpr softqam_kernels kernels = {
        {kernel_of<scaled, Output, 1>, kernel_of<input<Component, !CAN_BE_UNSCALED>, Output, 1>,
         kernel_of<scaled, Output, FEW_SEGMENTS>, kernel_of<scaled, Output, MANY>},
        Output::GROUP_SYMBOLS,
        BLOCK_THREADS * scaled::GROUPS,
        scaled::TILES,
        resident_blocks};
    return &kernels;
}

template <typename Component, bool CAN_BE_UNSCALED>
static const softqam_kernels *choose_output(softqam_output_format format)
{
    switch (format) {
    case SOFTQAM_OUTPUT_S8:
        return kernels_of<Component, CAN_BE_UNSCALED, output_s8<AXIS_BITS>>();
    case SOFTQAM_OUTPUT_F16:
        return kernels_of<Component, CAN_BE_UNSCALED, output_f16<AXIS_BITS>>();
    case SOFTQAM_OUTPUT_F32:
        return kernels_of<Component, CAN_BE_UNSCALED, output_f32<AXIS_BITS>>();
    default:
        return kernels_of<Component, CAN_BE_UNSCALED, output_u8>();
    }
}

const softqam_kernels *softqam_kernels_choose(const softqam_params *params)
{
    switch (params->input_format) {
    case SOFTQAM_INPUT_CS16:
        return choose_output<int16_t, false>(params->output_format);
    case SOFTQAM_INPUT_CS8:
        return choose_output<int8_t, false>(params->output_format);
    case SOFTQAM_INPUT_CF16:
        return choose_output<__half, true>(params->output_format);
    default:
        return choose_output<float, true>(params->output_format);
    }
}

cudaError_t softqam_kernels_prepare(const softqam_params *params, unsigned capacity)
{
    cudaError_t error = cudaSuccess;
    for (int k = 0; k < KERNELS && error == cudaSuccess; k++) {
        struct cudaFuncAttributes attributes;
        if (k < KERNELS - 1 || capacity > FEW_SEGMENTS)
            error = cudaFuncGetAttributes(&attributes, params->kernels->kernels[k]());
    }
    return error;
}

size_t softqam_kernel_input_alignment(const softqam_params *params, const softqam_segment *segment)
{
    return segment->layers[0].symbols_q ? params->input_nbytes / 2 : params->input_nbytes;
}

size_t softqam_kernel_output_alignment(const softqam_params *params, const softqam_segment *segment)
{
    const size_t nbytes = softqam_params_output_nbytes(params, segment->modulation);
    return nbytes < 16 ? nbytes : 16;
}

static bool is_aligned(const void *pointer, size_t nbytes)
{
    return reinterpret_cast<uintptr_t>(pointer) % nbytes == 0;
}

static size_t count_groups(const softqam_kernels *kernels, const softqam_kernel_segment &segment)
{
    return segment.is_grouped ? segment.n_symbols / kernels->group_symbols : segment.n_symbols;
}

/* How many thread blocks a segment takes: one at least, which does what is left over of its groups too. */
static size_t count_blocks(const softqam_kernels *kernels, const softqam_kernel_segment &segment,
                           unsigned groups_per_block)
{
    const size_t n_groups = count_groups(kernels, segment);
    return n_groups == 0 ? 1 : (n_groups - 1) / groups_per_block + 1;
}

/* The place of the kernel for what has been collected. */
static int choose_kernel(const softqam_launch *launch)
{
    if (launch->n_segments > 1)
        return launch->n_segments > FEW_SEGMENTS ? 3 : 2;
    return launch->segments[0].input_scale == 1.0f ? 1 : 0;
}

/* How many thread blocks of a kernel the current device holds at once. */
static cudaError_t count_resident_blocks(unsigned *n_blocks, const softqam_kernels *kernels, int kernel)
{
    int device = 0, per_multiprocessor = 0, multiprocessors = 0;
    cudaError_t error = cudaGetDevice(&device);
    unsigned *remembered = device < REMEMBERED_DEVICES ? &kernels->resident_blocks[device][kernel] : nullptr;
    *n_blocks = remembered ? __atomic_load_n(remembered, __ATOMIC_RELAXED) : 0;
    if (error != cudaSuccess || *n_blocks > 0)
        return error;
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernels->kernels[kernel](),
                                                              BLOCK_THREADS, 0);
    *n_blocks = static_cast<unsigned>(multiprocessors * per_multiprocessor);
    if (error == cudaSuccess && remembered)
        __atomic_store_n(remembered, *n_blocks, __ATOMIC_RELAXED);
    return error;
}

/* Small launches are spread over the whole device: a group a thread while it holds all thread blocks at once, then so
 * many tiles that it does. Large ones take a few tiles a thread block, so that the device as a whole reads and writes
 * one narrow window of memory. */
static unsigned choose_groups_per_block(const softqam_kernels *kernels, size_t n_groups, unsigned resident_blocks)
{
    const size_t evenly = (n_groups - 1) / (resident_blocks ? resident_blocks : 1) + 1;
    if (evenly <= BLOCK_THREADS)
        return BLOCK_THREADS;
    const size_t tiles = (evenly - 1) / kernels->tile_groups + 1;
    return kernels->tile_groups * static_cast<unsigned>(tiles < kernels->tiles ? tiles : kernels->tiles);
}

void softqam_launch_begin(softqam_launch *launch, const softqam_params *params, unsigned capacity, cudaStream_t stream)
{
    launch->params = params;
    launch->stream = stream;
    launch->group_nbytes = params->kernels->group_symbols * params->input_nbytes;
    launch->capacity = capacity;
    launch->n_segments = 0;
}

cudaError_t softqam_launch_end(softqam_launch *launch)
{
    const softqam_params *params = launch->params;
    const softqam_kernels *kernels = params->kernels;
    const unsigned n_segments = launch->n_segments;
    size_t n_groups = 1;
    size_t n_blocks = 0;
    unsigned resident_blocks;
    if (n_segments == 0)
        return cudaSuccess;
    const int kernel = choose_kernel(launch);
    launch->n_segments = 0;
    const cudaError_t error = count_resident_blocks(&resident_blocks, kernels, kernel);
    if (error != cudaSuccess)
        return error;
    for (unsigned k = 0; k < n_segments; k++)
        n_groups += count_groups(kernels, launch->segments[k]);
    launch_shape shape = {params->llr_limit, choose_groups_per_block(kernels, n_groups, resident_blocks), n_segments};
    for (unsigned k = 0; k < n_segments; k++) {
        launch->first_blocks[k] = static_cast<unsigned>(n_blocks);
        n_blocks += count_blocks(kernels, launch->segments[k], shape.groups_per_block);
    }
    if (n_blocks > INT_MAX)
        return cudaErrorInvalidConfiguration;
    const void *table = softqam_params_take_noise(params) ? static_cast<const void *>(params->llrs[AXIS_BITS])
                                                          : static_cast<const void *>(&params->soft_bits);
    void *arguments[] = {const_cast<void *>(table), &shape, launch->segments, launch->first_blocks};
    return cudaLaunchKernel(kernels->kernels[kernel](), dim3(static_cast<unsigned>(n_blocks)), dim3(BLOCK_THREADS),
                            arguments, 0, launch->stream);
}

cudaError_t softqam_launch_add(softqam_launch *launch, const softqam_segment *segment, float noise_value)
{
    const softqam_params *params = launch->params;
    const softqam_layer *layer = &segment->layers[0];
    cudaError_t error = cudaSuccess;
    if (segment->n_symbols == 0)
        return cudaSuccess;
    if (launch->n_segments == launch->capacity)
        error = softqam_launch_end(launch);
    softqam_kernel_segment *added = &launch->segments[launch->n_segments++];
    added->symbols = layer->symbols;
    added->symbols_q = layer->symbols_q;
    added->noise = layer->noise_var;
    added->out = segment->out;
    added->n_symbols = segment->n_symbols;
    added->symbol_stride = segment->symbol_stride;
    added->noise_stride = layer->noise_var ? segment->noise_stride : 0;
    added->input_scale = segment->input_scale;
    added->steps_per_nat = softqam_params_llr_scale(params, segment).steps_per_nat;
    added->noise_value = noise_value;
    added->noise_is_inverse = segment->noise_form == SOFTQAM_NOISE_FORM_INVERSE;
    added->is_grouped = softqam_segment_is_contiguous(segment) && is_aligned(layer->symbols, launch->group_nbytes) &&
                        is_aligned(segment->out, 16);
    return error;
}
