/* SPDX-License-Identifier: MIT */
/* The kernels: symbols in device memory in, soft bits or LLRs in device memory out. README.md beside this says why they
 * look so. */
#include <cuda_fp16.h>

#include <softqam/softqam_cuda.h>

#include "kernels.h"
#include "lane_cuda.cuh"

#include "arithmetic.h"

enum { BLOCK_THREADS = 256 };

/* A grid has at most so many times the thread blocks that the device holds at once: those handed out last even out what
 * the first took longer for, and each still has enough work to pay for its table. */
enum { WAVES = 32 };

/* Groups of symbols that a thread has under way at once: that many loads are in flight before the first is used. */
enum { GROUPS_PER_THREAD = 4 };

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

/* Spreads the table of soft bits over the banks. */
static __device__ __forceinline__ lane_table share_table(const softqam_axis_table &table)
{
    __shared__ uint4 rows[AXIS_LEVELS * TABLE_COPIES];
    for (unsigned k = threadIdx.x; k < AXIS_LEVELS * TABLE_COPIES; k += BLOCK_THREADS) {
        const softqam_axis_row &row = table.rows[k / TABLE_COPIES];
        rows[k] = make_uint4(__float_as_uint(row.level), __float_as_uint(row.level_last),
                             __float_as_uint(row.level_other), row.marks);
    }
    lane_table shared;
    shared.rows = shared_address(rows + threadIdx.x % TABLE_COPIES);
#pragma unroll
    for (int k = 0; k < AXIS_BITS; k++)
        shared.steps[k] = table.steps[k];
    shared.gain = table.gain;
    shared.places_per_unit = table.rows_per_unit / LANE_PLACES_PER_ROW;
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
        return interleave_bytes(lane_llr_bytes(llrs.i), lane_llr_bytes(llrs.q));
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
            pairs[k] = lane_to_f16(llrs.i[k]) | lane_to_f16(llrs.q[k]) << 16;
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
        symbol out;
        out.halves[0] = make_float4(llrs.i[0], llrs.q[0], llrs.i[1], llrs.q[1]);
        out.halves[1] = make_float4(llrs.i[2], llrs.q[2], llrs.i[3], llrs.q[3]);
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

/* Symbols side by side, N to an access. */
template <typename Component, int N> struct side_by_side {
    static __device__ __forceinline__ symbol_group<Component, N> load(const softqam_block &block, size_t group)
    {
        return static_cast<const symbol_group<Component, N> *>(block.symbols)[group];
    }
};

/* Symbols some way apart, or in two planes, one to an access. */
template <typename Component> struct apart {
    static __device__ __forceinline__ symbol_group<Component, 1> load(const softqam_block &block, size_t symbol)
    {
        const size_t at = symbol * (block.symbol_stride ? block.symbol_stride : 1);
        if (!block.symbols_q)
            return static_cast<const symbol_group<Component, 1> *>(block.symbols)[at];
        symbol_group<Component, 1> one;
        one.components[0] = static_cast<const Component *>(block.symbols)[at];
        one.components[1] = static_cast<const Component *>(block.symbols_q)[at];
        return one;
    }
};

/* A thread's part of a tile: G groups, one thread block apart so that a warp's accesses lie side by side, all loaded
 * before the first is used. Groups past the end are zeros, and are not stored, so that a warp stays together. */
template <int G, bool BOUNDED, typename Component, typename Output, int N, typename Access, typename Shared>
static __device__ __forceinline__ void
demodulate_groups(const Shared &shared, const kernel_plan<typename Output::table> &plan, const softqam_block &block,
                  size_t first, size_t n_groups, llr_weight weight)
{
    output_group<Output, N> *out = static_cast<output_group<Output, N> *>(block.out);
    const bool noise_per_symbol = Output::TAKES_NOISE && block.noise_stride != 0;
    symbol_group<Component, N> in[G] = {};
    float noise_var[G][N] = {};
#pragma unroll
    for (int g = 0; g < G; g++) {
        const size_t group = first + g * BLOCK_THREADS;
        if (!BOUNDED || group < n_groups) {
            in[g] = Access::load(block, group);
#pragma unroll
            for (int k = 0; k < N && noise_per_symbol; k++)
                noise_var[g][k] = block.noise_var[(group * N + k) * block.noise_stride];
        }
    }
#pragma unroll
    for (int g = 0; g < G; g++) {
        output_group<Output, N> result;
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (noise_per_symbol)
                weight = weigh_llrs(plan.llr_scale.steps_per_nat, noise_var[g][k]);
            result.symbols[k] = Output::demodulate(
                shared, plan.llr_scale, __fmul_rn(static_cast<float>(in[g].components[2 * k]), plan.input_scale),
                __fmul_rn(static_cast<float>(in[g].components[2 * k + 1]), plan.input_scale), weight);
        }
        store<BOUNDED>(out, first + g * BLOCK_THREADS, n_groups, result);
    }
}

/* Demodulates the symbols of a block, in groups of N. A grid of any size walks over them tile by tile. */
template <typename Component, typename Output, int N, typename Access, typename Shared>
static __device__ __forceinline__ void walk(const Shared &shared, const kernel_plan<typename Output::table> &plan,
                                            const softqam_block &block, size_t n_groups, llr_weight weight)
{
    const size_t tile = static_cast<size_t>(BLOCK_THREADS) * GROUPS_PER_THREAD;
    size_t start = blockIdx.x * tile;
    for (; start + tile <= n_groups; start += gridDim.x * tile)
        demodulate_groups<GROUPS_PER_THREAD, false, Component, Output, N, Access>(
            shared, plan, block, start + threadIdx.x, n_groups, weight);
#pragma unroll 1
    for (; start < n_groups; start += BLOCK_THREADS)
        demodulate_groups<1, true, Component, Output, N, Access>(shared, plan, block, start + threadIdx.x, n_groups,
                                                                 weight);
}

template <int N> struct block_list {
    softqam_block blocks[N];
};

static __device__ __forceinline__ bool is_aligned(const void *pointer, size_t nbytes)
{
    return reinterpret_cast<uintptr_t>(pointer) % nbytes == 0;
}

/* A row of the grid for each block of the batch. */
template <typename Component, typename Output, int MAX_BLOCKS>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    demodulate_kernel(const __grid_constant__ kernel_plan<typename Output::table> plan,
                      const __grid_constant__ block_list<MAX_BLOCKS> list)
{
    const auto shared = share_table(plan.table);
    const softqam_block &block = list.blocks[MAX_BLOCKS == 1 ? 0 : blockIdx.y];
    llr_weight weight = {};
    if (Output::TAKES_NOISE && block.noise_stride == 0 && block.n_symbols > 0)
        weight = weigh_llrs(plan.llr_scale.steps_per_nat, block.noise_var ? *block.noise_var : plan.noise_var);

    /* What lies side by side and aligned goes in groups; the rest, if only an odd last symbol, one by one. */
    enum { N = Output::GROUP_SYMBOLS };
    softqam_block rest = block;
    if (!block.symbols_q && block.symbol_stride <= 1 && is_aligned(block.symbols, 2 * N * sizeof(Component)) &&
        is_aligned(block.out, 16)) {
        const size_t n_groups = block.n_symbols / N;
        walk<Component, Output, N, side_by_side<Component, N>>(shared, plan, block, n_groups, weight);
        rest.n_symbols -= n_groups * N;
        rest.symbols = static_cast<const symbol_group<Component, N> *>(block.symbols) + n_groups;
        rest.noise_var += n_groups * N * block.noise_stride;
        rest.out = static_cast<output_group<Output, N> *>(block.out) + n_groups;
    }
    walk<Component, Output, 1, apart<Component>>(shared, plan, rest, rest.n_symbols, weight);
}

/* The kernels for a plan's formats. */
struct kernel_choice {
    const void *one_block;
    const void *many_blocks;
};

template <typename Component, typename Output> static kernel_choice choose()
{
    return {reinterpret_cast<const void *>(demodulate_kernel<Component, Output, 1>),
            reinterpret_cast<const void *>(demodulate_kernel<Component, Output, SOFTQAM_CUDA_BLOCKS_PER_LAUNCH>)};
}

template <typename Component> static kernel_choice choose_output(softqam_output_format format)
{
    switch (format) {
    case SOFTQAM_OUTPUT_S8:
        return choose<Component, output_s8>();
    case SOFTQAM_OUTPUT_F16:
        return choose<Component, output_f16>();
    case SOFTQAM_OUTPUT_F32:
        return choose<Component, output_f32>();
    default:
        return choose<Component, output_u8>();
    }
}

static kernel_choice choose_kernel(const softqam_plan *plan)
{
    switch (plan->input_format) {
    case SOFTQAM_INPUT_CS16:
        return choose_output<int16_t>(plan->output_format);
    case SOFTQAM_INPUT_CS8:
        return choose_output<int8_t>(plan->output_format);
    case SOFTQAM_INPUT_CF16:
        return choose_output<__half>(plan->output_format);
    default:
        return choose_output<float>(plan->output_format);
    }
}

cudaError_t softqam_kernel_prepare(softqam_kernel_grid *grid, const softqam_plan *plan)
{
    int device = 0;
    int n_multiprocessors = 0;
    int n_resident = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n_resident, choose_kernel(plan).one_block, BLOCK_THREADS, 0);
    grid->max_thread_blocks = static_cast<unsigned>(n_multiprocessors * n_resident) * WAVES;
    return error;
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
static cudaError_t launch(const softqam_kernel_grid *grid, const kernel_choice &choice, const kernel_plan<Table> &plan,
                          const softqam_block *blocks, unsigned n_blocks, cudaStream_t stream)
{
    static_assert(sizeof plan + sizeof(block_list<SOFTQAM_CUDA_BLOCKS_PER_LAUNCH>) <= 4096,
                  "a kernel's arguments are limited to 4 KiB");
    block_list<SOFTQAM_CUDA_BLOCKS_PER_LAUNCH> list;
    size_t longest = 1;
    for (unsigned k = 0; k < n_blocks; k++) {
        list.blocks[k] = blocks[k];
        longest = blocks[k].n_symbols > longest ? blocks[k].n_symbols : longest;
    }
    /* As many thread blocks as there are tiles of single symbols, at most as many as the device holds. */
    const size_t n_tiles = (longest - 1) / (BLOCK_THREADS * GROUPS_PER_THREAD) + 1;
    const unsigned fair_share = (grid->max_thread_blocks - 1) / n_blocks + 1;
    const unsigned width = n_tiles < fair_share ? static_cast<unsigned>(n_tiles) : fair_share;
    void *arguments[] = {const_cast<kernel_plan<Table> *>(&plan), &list};
    return cudaLaunchKernel(n_blocks == 1 ? choice.one_block : choice.many_blocks, dim3(width, n_blocks),
                            dim3(BLOCK_THREADS), arguments, 0, stream);
}

template <typename Table>
static cudaError_t launch_all(const softqam_kernel_grid *grid, const softqam_plan *plan, const Table &table,
                              const softqam_block *blocks, size_t n_blocks, float noise_var, cudaStream_t stream)
{
    const kernel_choice choice = choose_kernel(plan);
    const kernel_plan<Table> of_kernel = {table, plan->llr_scale, plan->input_scale, noise_var};
    cudaError_t error = cudaSuccess;
    while (n_blocks > 0 && error == cudaSuccess) {
        const size_t n = n_blocks < SOFTQAM_CUDA_BLOCKS_PER_LAUNCH ? n_blocks : SOFTQAM_CUDA_BLOCKS_PER_LAUNCH;
        error = launch(grid, choice, of_kernel, blocks, static_cast<unsigned>(n), stream);
        blocks += n;
        n_blocks -= n;
    }
    return error;
}

cudaError_t softqam_kernel_launch(const softqam_kernel_grid *grid, const softqam_plan *plan,
                                  const softqam_block *blocks, size_t n_blocks, float noise_var, cudaStream_t stream)
{
    if (softqam_plan_takes_noise(plan))
        return launch_all(grid, plan, plan->llrs, blocks, n_blocks, noise_var, stream);
    return launch_all(grid, plan, plan->soft_bits, blocks, n_blocks, noise_var, stream);
}
