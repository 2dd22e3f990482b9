/* SPDX-License-Identifier: MIT */
/* The kernels: symbols in device memory in, soft bits in device memory out. README.md beside this says why they look
 * so. */
#include "kernels.h"

#include "lane_cuda.cuh"

#include "arithmetic.h"

enum {
    BLOCK_THREADS = 256
};

/* Groups of symbols that a thread has under way at once: that many loads are in flight before the first is used. */
enum {
    GROUPS_PER_THREAD = 4
};

/* N symbols side by side, as one memory access. */
template <typename Component, int N> struct alignas(2 * N * sizeof(Component)) symbol_group {
    Component components[2 * N];
};

template <int N> struct alignas(8 * N) soft_bits_group {
    uint2 symbols[N];
};

static __device__ __forceinline__ uint2 demodulate_symbol(const lane_table *table, float scale, float i, float q)
{
    const soft_bits bits = demodulate_soft_bits(table, __fmul_rn(i, scale), __fmul_rn(q, scale));
    return make_uint2(__byte_perm(bits.i, bits.q, 0x5140), __byte_perm(bits.i, bits.q, 0x7362));
}

template <typename Component, int N>
static __device__ __forceinline__ soft_bits_group<N> demodulate_group(const lane_table *table, float scale,
                                                                      const symbol_group<Component, N> &in)
{
    soft_bits_group<N> out;
#pragma unroll
    for (int k = 0; k < N; k++)
        out.symbols[k] = demodulate_symbol(table, scale, static_cast<float>(in.components[2 * k]),
                                           static_cast<float>(in.components[2 * k + 1]));
    return out;
}

/* Spreads the table over the banks; returns the address of the calling thread's copy. */
static __device__ __forceinline__ uint32_t share_rows(const softqam_axis_table &table)
{
    __shared__ uint4 rows[AXIS_LEVELS * TABLE_COPIES];
    for (unsigned k = threadIdx.x; k < AXIS_LEVELS * TABLE_COPIES; k += BLOCK_THREADS) {
        const softqam_axis_row &row = table.rows[k / TABLE_COPIES];
        rows[k] = make_uint4(__float_as_uint(row.level_below), __float_as_uint(row.level),
                             __float_as_uint(row.level_above), row.marks);
    }
    __syncthreads();
    uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(rows + threadIdx.x % TABLE_COPIES));
    /* The rows are read through this address, which must not be formed before they are written; opaque, so that it is
     * not taken apart again for every row. */
    asm volatile("" : "+r"(address)::"memory");
    return address;
}

/* A grid of any size walks over the symbols tile by tile; a thread takes groups of N symbols, one block apart, so that
 * a warp's accesses lie side by side. The last group may be cut short: its symbols go one by one. */
template <typename Component, int N>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    demodulate_kernel(const __grid_constant__ softqam_plan plan, const void *__restrict__ d_symbols, size_t n_symbols,
                      void *__restrict__ d_out)
{
    lane_table table;
    table.rows = share_rows(plan.table);
#pragma unroll
    for (int k = 0; k < AXIS_BITS; k++)
        table.steps[k] = plan.table.steps[k];
    table.gain = plan.table.gain;

    const symbol_group<Component, N> *in = static_cast<const symbol_group<Component, N> *>(d_symbols);
    soft_bits_group<N> *out = static_cast<soft_bits_group<N> *>(d_out);
    const size_t n_groups = n_symbols / N;
    const size_t tile = static_cast<size_t>(BLOCK_THREADS) * GROUPS_PER_THREAD;

    for (size_t first = blockIdx.x * tile + threadIdx.x; first < n_groups; first += gridDim.x * tile) {
        symbol_group<Component, N> groups[GROUPS_PER_THREAD];
#pragma unroll
        for (int k = 0; k < GROUPS_PER_THREAD; k++) {
            if (first + k * BLOCK_THREADS < n_groups)
                groups[k] = in[first + k * BLOCK_THREADS];
        }
#pragma unroll
        for (int k = 0; k < GROUPS_PER_THREAD; k++) {
            if (first + k * BLOCK_THREADS < n_groups)
                out[first + k * BLOCK_THREADS] = demodulate_group<Component, N>(&table, plan.input_scale, groups[k]);
        }
    }

    const size_t odd = n_groups * N + threadIdx.x;
    if (N > 1 && blockIdx.x == 0 && odd < n_symbols) {
        const symbol_group<Component, 1> one = static_cast<const symbol_group<Component, 1> *>(d_symbols)[odd];
        static_cast<soft_bits_group<1> *>(d_out)[odd] = demodulate_group<Component, 1>(&table, plan.input_scale, one);
    }
}

enum access {
    ONE_SYMBOL,
    TWO_SYMBOLS
};

template <typename Component> static const void *kernel_of_access(enum access access)
{
    return access == TWO_SYMBOLS ? reinterpret_cast<const void *>(demodulate_kernel<Component, 2>)
                                 : reinterpret_cast<const void *>(demodulate_kernel<Component, 1>);
}

static const void *kernel_of(const softqam_plan *plan, enum access access)
{
    switch (plan->input_format) {
    case SOFTQAM_INPUT_CF32:
        return kernel_of_access<float>(access);
    case SOFTQAM_INPUT_CS16:
        return kernel_of_access<int16_t>(access);
    case SOFTQAM_INPUT_CS8:
        return kernel_of_access<int8_t>(access);
    }
    return nullptr;
}

static bool aligned(const void *pointer, size_t nbytes)
{
    return reinterpret_cast<uintptr_t>(pointer) % nbytes == 0;
}

cudaError_t softqam_kernel_prepare(softqam_kernel_grid *grid, const softqam_plan *plan)
{
    int device = 0;
    int n_multiprocessors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, device);
    for (int access = ONE_SYMBOL; error == cudaSuccess && access <= TWO_SYMBOLS; access++) {
        int n_blocks = 0;
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &n_blocks, kernel_of(plan, static_cast<enum access>(access)), BLOCK_THREADS, 0);
        grid->max_blocks[access] = static_cast<unsigned>(n_multiprocessors * n_blocks);
    }
    return error;
}

cudaError_t softqam_kernel_launch(const softqam_kernel_grid *grid, const softqam_plan *plan, const void *d_symbols,
                                  size_t n_symbols, void *d_out, cudaStream_t stream)
{
    const size_t pair_nbytes = 2 * softqam_input_symbol_nbytes(plan->input_format);
    const enum access access = aligned(d_symbols, pair_nbytes) && aligned(d_out, 16) ? TWO_SYMBOLS : ONE_SYMBOL;
    const size_t tile = static_cast<size_t>(BLOCK_THREADS) * GROUPS_PER_THREAD * (access == TWO_SYMBOLS ? 2 : 1);
    const size_t n_tiles = (n_symbols - 1) / tile + 1;
    const unsigned n_blocks =
        n_tiles < grid->max_blocks[access] ? static_cast<unsigned>(n_tiles) : grid->max_blocks[access];
    softqam_plan by_value = *plan;
    void *arguments[] = {&by_value, &d_symbols, &n_symbols, &d_out};
    return cudaLaunchKernel(kernel_of(plan, access), dim3(n_blocks), dim3(BLOCK_THREADS), arguments, 0, stream);
}
