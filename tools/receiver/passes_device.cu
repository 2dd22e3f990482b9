/* SPDX-License-Identifier: MIT */
#include <cuda_runtime.h>

#include "passes_device.h"

enum { THREADS = 256 };

static unsigned count_blocks(size_t n)
{
    return static_cast<unsigned>((n + THREADS - 1) / THREADS);
}

/* 0xff in byte k where bit k is 1, for the four lowest bits. */
static __device__ unsigned spread(unsigned bits)
{
    return (bits * 0x00204081u & 0x01010101u) * 0xffu;
}

/* Eight LLRs a thread: the bits of a byte. */
static __global__ void __launch_bounds__(THREADS) descramble(const uint8_t *sequence, uint2 *llrs, size_t n)
{
    const size_t i = blockIdx.x * static_cast<size_t>(THREADS) + threadIdx.x;
    if (i >= n)
        return;
    const unsigned low = spread(sequence[i] & 15), high = spread(sequence[i] >> 4);
    const uint2 eight = llrs[i];
    llrs[i] = make_uint2(__vsub4(eight.x ^ low, low), __vsub4(eight.y ^ high, high));
}

/* A symbol a thread, a code block a row of thread blocks: what is stored lies side by side. */
static __global__ void __launch_bounds__(THREADS)
    deinterleave(const code_block *code_blocks, const int8_t *from, int8_t *to)
{
    const code_block block = code_blocks[blockIdx.y];
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= block.n_symbols)
        return;
    for (unsigned k = 0; k < block.n_bits; k++)
        to[block.first_llr + k * block.n_symbols + i] = from[block.first_llr + i * block.n_bits + k];
}

cudaError_t passes_descramble_device(const uint8_t *d_sequence, int8_t *d_llrs, size_t n_llrs, cudaStream_t stream)
{
    const size_t n = n_llrs / 8;
    descramble<<<count_blocks(n), THREADS, 0, stream>>>(d_sequence, reinterpret_cast<uint2 *>(d_llrs), n);
    return cudaGetLastError();
}

cudaError_t passes_deinterleave_device(const struct code_block *d_code_blocks, size_t n_code_blocks,
                                       size_t most_symbols, const int8_t *d_from, int8_t *d_to, cudaStream_t stream)
{
    const dim3 grid(count_blocks(most_symbols), static_cast<unsigned>(n_code_blocks));
    deinterleave<<<grid, THREADS, 0, stream>>>(d_code_blocks, d_from, d_to);
    return cudaGetLastError();
}
