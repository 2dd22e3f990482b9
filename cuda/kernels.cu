/* SPDX-License-Identifier: MIT */
/* The kernels: symbols in device memory in, soft bits or LLRs in device memory out. README.md beside this says why they
 * look so. */
#include <cuda_fp16.h>
#include <softqam/softqam_cuda.h>

#include "kernels.h"
#include "lane_cuda.cuh"

#include "arithmetic.h"

enum { BLOCK_THREADS = 128 };

/* Small calls are spread over as many thread blocks as there are tiles; with so many of them, a thread block takes
 * several. */
enum { MANY_TILES = 4096 };

/* The input formats. Thread blocks take TILES tiles of neighbouring memory one after the other: enough work to pay for
 * the table, little enough that the device as a whole reads and writes one narrow window of memory. A thread takes
 * GROUPS groups of symbols of a tile: that many loads are in flight before the first is used. */
template <typename Component, bool IS_SCALED> struct input {
    typedef Component component;
    enum { SCALED = IS_SCALED };
    enum { GROUPS = sizeof(Component) < 4 ? 4 : 2 };
    enum { TILES = sizeof(Component) < 4 ? 6 : 3 };
};

/* Times one is the same value, so it need not be computed. */
typedef input<float, false> input_cf32_unscaled;
typedef input<float, true> input_cf32;
typedef input<int16_t, true> input_cs16;
typedef input<int8_t, true> input_cs8;
typedef input<__half, true> input_cf16;

/* N symbols side by side, as one memory access. */
template <typename Component, int N> struct alignas(2 * N * sizeof(Component)) symbol_group {
    Component components[2 * N];
};

/* Shared memory's address of what a thread block has just written there. The asm keeps the address from being formed
 * before that, and from being taken apart again for every row. */
static __device__ __forceinline__ uint32_t shared_address(const void *memory)
{
    __syncthreads();
    uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
    asm volatile("" : "+r"(address)::"memory");
    return address;
}

/* The table of soft bits: each thread writes one copy of a row. */
static __device__ __forceinline__ lane_table share_table(const softqam_axis_table &table)
{
    __shared__ alignas(LANE_ROW_NBYTES) unsigned char rows[AXIS_LEVELS][LANE_ROW_NBYTES];
    static_assert(BLOCK_THREADS == AXIS_LEVELS * TABLE_COPIES, "a thread for each copy of a row");
    const unsigned copy = threadIdx.x % TABLE_COPIES * LANE_COPY_NBYTES;
    unsigned char *to = rows[threadIdx.x / TABLE_COPIES] + copy;
    const softqam_axis_row row = table.rows[threadIdx.x / TABLE_COPIES];
    *reinterpret_cast<uint4 *>(to) = make_uint4(__float_as_uint(row.level), __float_as_uint(row.level_last),
                                                __float_as_uint(row.level_other), row.marks);
    *reinterpret_cast<float2 *>(to + LANE_GAINS_OFFSET) =
        make_float2(lane_flip(table.gain, row.marks), lane_flip(table.gain, row.marks << 1));

    lane_table shared;
    shared.middle_address = __uint_as_float(shared_address(rows) + copy + (AXIS_LEVELS - 1) * LANE_ROW_NBYTES / 2);
    /* Rounded to a byte, which over all 16 rows adds up to a tenth of one: an address still rounds to that of a row. */
    shared.address_per_unit = __uint_as_float(__float2uint_rn(table.rows_per_unit * LANE_ROW_NBYTES));
#pragma unroll
    for (int k = 0; k < AXIS_BITS; k++)
        shared.steps[k] = table.steps[k];
    return shared;
}

/* The table of LLRs: slopes, then intercepts. */
static __device__ __forceinline__ lane_llr_table share_table(const softqam_llr_table &table)
{
    __shared__ alignas(16) float rows[2][LLR_ROWS][AXIS_BITS];
    if (threadIdx.x < LLR_ROWS * AXIS_BITS) {
        const unsigned row = threadIdx.x / AXIS_BITS;
        const unsigned k = threadIdx.x % AXIS_BITS;
        rows[0][row][k] = table.rows[row].slopes[k];
        rows[1][row][k] = table.rows[row].intercepts[k];
    }
    lane_llr_table shared;
    shared.rows = shared_address(rows);
    shared.rows_per_unit = table.rows_per_unit;
    return shared;
}

/* What a kernel needs of a plan for one kind of table. */
template <typename Table> struct kernel_plan {
    Table table;
    softqam_llr_scale llr_scale;
    float input_scale;
    float noise_var; /* where a block has none */
    unsigned tiles_per_thread_block;
};

static __device__ __forceinline__ uint2 interleave_bytes(uint32_t i, uint32_t q)
{
    return make_uint2(__byte_perm(i, q, 0x5140), __byte_perm(i, q, 0x7362));
}

/* The output formats: the table, what a symbol becomes, and how many symbols make the widest access. */
struct output_u8 {
    typedef softqam_axis_table table;
    typedef uint2 symbol;
    enum { GROUP_SYMBOLS = 2, TAKES_NOISE = 0 };

    static __device__ __forceinline__ symbol demodulate(const lane_table &shared, const softqam_llr_scale &, float i,
                                                        float q, llr_weight)
    {
        const soft_bits bits = demodulate_soft_bits(&shared, i, q);
        return interleave_bytes(lane_soft_bytes(bits.i.last, bits.i.other, bits.i.row, bits.known),
                                lane_soft_bytes(bits.q.last, bits.q.other, bits.q.row, bits.known));
    }
};

struct output_s8 {
    typedef softqam_llr_table table;
    typedef uint2 symbol;
    enum { GROUP_SYMBOLS = 2, TAKES_NOISE = 1 };

    static __device__ __forceinline__ symbol demodulate(const lane_llr_table &shared, const softqam_llr_scale &scale,
                                                        float i, float q, llr_weight weight)
    {
        const symbol_llrs llrs = demodulate_llrs(&shared, i, q, weight, scale.signs, scale.limit);
        return interleave_bytes(lane_llr_bytes(llrs.i, llrs.known), lane_llr_bytes(llrs.q, llrs.known));
    }
};

struct output_f16 {
    typedef softqam_llr_table table;
    typedef uint4 symbol;
    enum { GROUP_SYMBOLS = 1, TAKES_NOISE = 1 };

    static __device__ __forceinline__ symbol demodulate(const lane_llr_table &shared, const softqam_llr_scale &scale,
                                                        float i, float q, llr_weight weight)
    {
        const symbol_llrs llrs = demodulate_llrs(&shared, i, q, weight, scale.signs, scale.limit);
        uint32_t pairs[AXIS_BITS];
#pragma unroll
        for (int k = 0; k < AXIS_BITS; k++)
            pairs[k] = lane_llr_halves(llrs.i[k], llrs.q[k], llrs.known);
        return make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
    }
};

struct alignas(16) eight_floats {
    float4 halves[2];
};

struct output_f32 {
    typedef softqam_llr_table table;
    typedef eight_floats symbol;
    enum { GROUP_SYMBOLS = 1, TAKES_NOISE = 1 };

    static __device__ __forceinline__ symbol demodulate(const lane_llr_table &shared, const softqam_llr_scale &scale,
                                                        float i, float q, llr_weight weight)
    {
        const symbol_llrs llrs = demodulate_llrs(&shared, i, q, weight, scale.signs, scale.limit);
        float at[2 * AXIS_BITS];
#pragma unroll
        for (int k = 0; k < AXIS_BITS; k++) {
            at[2 * k] = lane_keep(llrs.known, llrs.i[k]);
            at[2 * k + 1] = lane_keep(llrs.known, llrs.q[k]);
        }
        symbol out;
        out.halves[0] = make_float4(at[0], at[1], at[2], at[3]);
        out.halves[1] = make_float4(at[4], at[5], at[6], at[7]);
        return out;
    }
};

template <typename Output, int N> struct alignas(N * sizeof(typename Output::symbol) < 16 ? 8 : 16) output_group {
    typename Output::symbol symbols[N];
};

/* Stores a thread's group, if it is one of the block's. */
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
static __device__ __forceinline__ void store(output_group<output_f32, 1> *out, size_t group, size_t n_groups,
                                             const output_group<output_f32, 1> &result)
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

/* Symbols side by side, as many to an access as make a group of the output. */
template <typename Input, typename Output> struct side_by_side {
    enum { N = Output::GROUP_SYMBOLS, HAS_UNBOUNDED = 1 };
    typedef symbol_group<typename Input::component, N> group;

    static __device__ __forceinline__ group load(const softqam_block &block, size_t index)
    {
        return static_cast<const group *>(block.symbols)[index];
    }
};

/* Symbols some way apart, in two planes or not aligned to a group, one to an access. */
template <typename Input, typename Output> struct apart {
    enum { N = 1, HAS_UNBOUNDED = 0 };
    typedef typename Input::component component;
    typedef symbol_group<component, N> group;

    static __device__ __forceinline__ group load(const softqam_block &block, size_t symbol)
    {
        const size_t at = symbol * (block.symbol_stride ? block.symbol_stride : 1);
        if (!block.symbols_q)
            return static_cast<const group *>(block.symbols)[at];
        group one;
        one.components[0] = static_cast<const component *>(block.symbols)[at];
        one.components[1] = static_cast<const component *>(block.symbols_q)[at];
        return one;
    }
};

/* A thread's part of a tile: G groups, one thread block apart so that a warp's accesses lie side by side, all loaded
 * before the first is used. Groups past the end are zeros, and are not stored, so that a warp stays together. */
template <int G, bool BOUNDED, bool NOISE_PER_SYMBOL, typename Input, typename Output, typename Access, typename Shared>
static __device__ __forceinline__ void
demodulate_groups(const Shared &shared, const kernel_plan<typename Output::table> &plan, const softqam_block &block,
                  size_t first, size_t n_groups, llr_weight weight)
{
    enum { N = Access::N };
    output_group<Output, N> *out = static_cast<output_group<Output, N> *>(block.out);
    typename Access::group in[G] = {};
    float noise_var[G][N] = {};
#pragma unroll
    for (int g = 0; g < G; g++) {
        const size_t group = first + g * BLOCK_THREADS;
        if (!BOUNDED || group < n_groups) {
            in[g] = Access::load(block, group);
#pragma unroll
            for (int k = 0; k < N && NOISE_PER_SYMBOL; k++)
                noise_var[g][k] = block.noise_var[(group * N + k) * block.noise_stride];
        }
    }
#pragma unroll
    for (int g = 0; g < G; g++) {
        output_group<Output, N> result;
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (NOISE_PER_SYMBOL)
                weight = weigh_llrs(plan.llr_scale.steps_per_nat, noise_var[g][k]);
            float i = static_cast<float>(in[g].components[2 * k]);
            float q = static_cast<float>(in[g].components[2 * k + 1]);
            if (Input::SCALED) {
                i = __fmul_rn(i, plan.input_scale);
                q = __fmul_rn(q, plan.input_scale);
            }
            result.symbols[k] = Output::demodulate(shared, plan.llr_scale, i, q, weight);
        }
        store<BOUNDED>(out, first + g * BLOCK_THREADS, n_groups, result);
    }
}

/* A thread block's share of a block's groups: neighbouring tiles, of which only the last of all may be short. */
template <typename Input> static __host__ __device__ __forceinline__ size_t share_groups(unsigned tiles)
{
    return static_cast<size_t>(BLOCK_THREADS) * Input::GROUPS * tiles;
}

template <bool NOISE_PER_SYMBOL, typename Input, typename Output, typename Access, typename Shared>
static __device__ __forceinline__ void demodulate_share(const Shared &shared,
                                                        const kernel_plan<typename Output::table> &plan,
                                                        const softqam_block &block, size_t n_groups, llr_weight weight)
{
    const size_t share = share_groups<Input>(plan.tiles_per_thread_block);
    const size_t tile = share_groups<Input>(1);
    size_t start = blockIdx.x * share;
    const size_t end = start + share < n_groups ? start + share : n_groups;
    for (; Access::HAS_UNBOUNDED && start + tile <= end; start += tile)
        demodulate_groups<Input::GROUPS, false, NOISE_PER_SYMBOL, Input, Output, Access>(
            shared, plan, block, start + threadIdx.x, n_groups, weight);
#pragma unroll 1
    for (; start < end; start += BLOCK_THREADS)
        demodulate_groups<1, true, NOISE_PER_SYMBOL, Input, Output, Access>(shared, plan, block, start + threadIdx.x,
                                                                            n_groups, weight);
}

template <typename Input, typename Output, typename Access, typename Shared>
static __device__ __forceinline__ void demodulate_share(const Shared &shared,
                                                        const kernel_plan<typename Output::table> &plan,
                                                        const softqam_block &block, size_t n_groups)
{
    const llr_weight none = {};
    if (!Output::TAKES_NOISE)
        demodulate_share<false, Input, Output, Access>(shared, plan, block, n_groups, none);
    else if (block.noise_stride == 0)
        demodulate_share<false, Input, Output, Access>(
            shared, plan, block, n_groups,
            weigh_llrs(plan.llr_scale.steps_per_nat, block.noise_var ? *block.noise_var : plan.noise_var));
    else
        demodulate_share<Output::TAKES_NOISE, Input, Output, Access>(shared, plan, block, n_groups, none);
}

template <int N> struct block_list {
    softqam_block blocks[N];
};

static __host__ __device__ __forceinline__ bool is_aligned(const void *pointer, size_t nbytes)
{
    return reinterpret_cast<uintptr_t>(pointer) % nbytes == 0;
}

/* Whether a block's symbols can go in groups: they lie side by side and aligned. */
template <typename Input, typename Output> static __host__ __device__ bool goes_in_groups(const softqam_block &block)
{
    return !block.symbols_q && block.symbol_stride <= 1 &&
           is_aligned(block.symbols, sizeof(typename side_by_side<Input, Output>::group)) && is_aligned(block.out, 16);
}

/* A row of the grid for each block of the batch. */
template <typename Input, typename Output, int MAX_BLOCKS>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    demodulate_kernel(const __grid_constant__ kernel_plan<typename Output::table> plan,
                      const __grid_constant__ block_list<MAX_BLOCKS> list)
{
    const softqam_block &block = list.blocks[MAX_BLOCKS == 1 ? 0 : blockIdx.y];
    enum { N = Output::GROUP_SYMBOLS };
    const bool grouped = goes_in_groups<Input, Output>(block);
    const size_t n_groups = grouped ? block.n_symbols / N : block.n_symbols;
    if (blockIdx.x > 0 && blockIdx.x * share_groups<Input>(plan.tiles_per_thread_block) >= n_groups)
        return;

    const auto shared = share_table(plan.table);
    softqam_block rest = block;
    if (grouped) {
        demodulate_share<Input, Output, side_by_side<Input, Output>>(shared, plan, block, n_groups);
        /* Nothing, or an odd last symbol. */
        rest.n_symbols -= n_groups * N;
        rest.symbols = static_cast<const typename side_by_side<Input, Output>::group *>(block.symbols) + n_groups;
        rest.noise_var += n_groups * N * block.noise_stride;
        rest.out = static_cast<output_group<Output, N> *>(block.out) + n_groups;
    }
    demodulate_share<Input, Output, apart<Input, Output>>(shared, plan, rest, rest.n_symbols);
}

/* What the launcher needs to know of the kernels for a plan's formats. */
struct kernel_choice {
    const void *one_block;
    const void *many_blocks;
    bool (*goes_in_groups)(const softqam_block &block);
    unsigned group_symbols;
    size_t tile_groups;
    unsigned tiles; /* that a thread block takes of large calls */
};

template <typename Input, typename Output> static kernel_choice choose()
{
    return {reinterpret_cast<const void *>(demodulate_kernel<Input, Output, 1>),
            reinterpret_cast<const void *>(demodulate_kernel<Input, Output, SOFTQAM_CUDA_BLOCKS_PER_LAUNCH>),
            goes_in_groups<Input, Output>,
            Output::GROUP_SYMBOLS,
            share_groups<Input>(1),
            Input::TILES};
}

template <typename Input> static kernel_choice choose_output(softqam_output_format format)
{
    switch (format) {
    case SOFTQAM_OUTPUT_S8:
        return choose<Input, output_s8>();
    case SOFTQAM_OUTPUT_F16:
        return choose<Input, output_f16>();
    case SOFTQAM_OUTPUT_F32:
        return choose<Input, output_f32>();
    default:
        return choose<Input, output_u8>();
    }
}

static kernel_choice choose_kernel(const softqam_plan *plan)
{
    switch (plan->input_format) {
    case SOFTQAM_INPUT_CS16:
        return choose_output<input_cs16>(plan->output_format);
    case SOFTQAM_INPUT_CS8:
        return choose_output<input_cs8>(plan->output_format);
    case SOFTQAM_INPUT_CF16:
        return choose_output<input_cf16>(plan->output_format);
    default:
        return plan->input_scale == 1.0f ? choose_output<input_cf32_unscaled>(plan->output_format)
                                         : choose_output<input_cf32>(plan->output_format);
    }
}

cudaError_t softqam_kernel_check(const softqam_plan *plan)
{
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, choose_kernel(plan).one_block);
}

size_t softqam_kernel_input_alignment(const softqam_plan *plan, const softqam_block *block)
{
    return block->symbols_q ? plan->input_nbytes / 2 : plan->input_nbytes;
}

size_t softqam_kernel_output_alignment(const softqam_plan *plan)
{
    return plan->output_nbytes < 16 ? plan->output_nbytes : 16;
}

/* One launch, of up to SOFTQAM_CUDA_BLOCKS_PER_LAUNCH blocks. */
template <typename Table>
static cudaError_t launch(const kernel_choice &choice, kernel_plan<Table> plan, const softqam_block *blocks,
                          unsigned n_blocks, cudaStream_t stream)
{
    static_assert(sizeof plan + sizeof(block_list<SOFTQAM_CUDA_BLOCKS_PER_LAUNCH>) <= 4096,
                  "a kernel's arguments are limited to 4 KiB");
    block_list<SOFTQAM_CUDA_BLOCKS_PER_LAUNCH> list;
    size_t n_tiles = 0;
    size_t longest = 0; /* in tiles */
    for (unsigned k = 0; k < n_blocks; k++) {
        list.blocks[k] = blocks[k];
        const size_t group_symbols = choice.goes_in_groups(blocks[k]) ? choice.group_symbols : 1;
        const size_t tiles = blocks[k].n_symbols / group_symbols / choice.tile_groups + 1;
        n_tiles += tiles;
        longest = tiles > longest ? tiles : longest;
    }
    plan.tiles_per_thread_block = n_tiles < MANY_TILES ? 1 : choice.tiles;
    const unsigned width = static_cast<unsigned>((longest - 1) / plan.tiles_per_thread_block + 1);
    void *arguments[] = {&plan, &list};
    return cudaLaunchKernel(n_blocks == 1 ? choice.one_block : choice.many_blocks, dim3(width, n_blocks),
                            dim3(BLOCK_THREADS), arguments, 0, stream);
}

template <typename Table>
static cudaError_t launch_all(const softqam_plan *plan, const Table &table, const softqam_block *blocks,
                              size_t n_blocks, float noise_var, cudaStream_t stream)
{
    const kernel_choice choice = choose_kernel(plan);
    const kernel_plan<Table> of_kernel = {table, plan->llr_scale, plan->input_scale, noise_var, 1};
    cudaError_t error = cudaSuccess;
    while (n_blocks > 0 && error == cudaSuccess) {
        const size_t n = n_blocks < SOFTQAM_CUDA_BLOCKS_PER_LAUNCH ? n_blocks : SOFTQAM_CUDA_BLOCKS_PER_LAUNCH;
        error = launch(choice, of_kernel, blocks, static_cast<unsigned>(n), stream);
        blocks += n;
        n_blocks -= n;
    }
    return error;
}

cudaError_t softqam_kernel_launch(const softqam_plan *plan, const softqam_block *blocks, size_t n_blocks,
                                  float noise_var, cudaStream_t stream)
{
    if (softqam_plan_takes_noise(plan))
        return launch_all(plan, plan->llrs, blocks, n_blocks, noise_var, stream);
    return launch_all(plan, plan->soft_bits, blocks, n_blocks, noise_var, stream);
}
