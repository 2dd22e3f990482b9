/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cstdint>

#include <cuda_runtime.h>

#include "gpu_kernels.h"

static __device__ uint4 operator^(uint4 a, uint4 b) { return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w); }

/* Words of 16 bytes, of which each thread block has as many next to each other, a multiple of 128 bytes: of a block
 * thread t has words t, t + THREADS, .. */
struct words {
    uint4 *all;
    size_t n;
    unsigned n_of_block;
};

template <int THREADS> static __device__ bool has_word(const words &w, int k)
{
    const unsigned place = k * THREADS + threadIdx.x;
    return place < w.n_of_block && blockIdx.x * static_cast<size_t>(w.n_of_block) + place < w.n;
}

template <int THREADS> static __device__ uint4 &word(const words &w, int k)
{
    return w.all[blockIdx.x * static_cast<size_t>(w.n_of_block) + k * THREADS + threadIdx.x];
}

/* Copies WORDS a thread at most, all of them loaded before the first is stored. */
template <int THREADS, int WORDS, bool ADDS>
static __global__ void __launch_bounds__(THREADS) copy_kernel(const words in, const words noise, const words out)
{
    uint4 loaded[3][WORDS] = {};
    uint4 all = {};
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        if (has_word<THREADS>(in, k))
            loaded[0][k] = word<THREADS>(in, k);
        if (has_word<THREADS>(noise, k))
            loaded[1][k] = word<THREADS>(noise, k);
        if (ADDS && has_word<THREADS>(out, k))
            loaded[2][k] = word<THREADS>(out, k);
    }
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        all = all ^ loaded[0][k] ^ loaded[1][k];
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        if (has_word<THREADS>(out, k))
            word<THREADS>(out, k) = all ^ loaded[2][k];
}

/* Launches enough thread blocks that no thread has more than WORDS. */
template <int THREADS, int WORDS> static cudaError_t launch_copy(const bench_copy &copy, cudaStream_t stream)
{
    const size_t n_in = copy.n_symbols * copy.in_nbytes / sizeof(uint4);
    const size_t n_noise = copy.noise_var ? copy.n_symbols * sizeof(float) / sizeof(uint4) : 0;
    const size_t n_out = (copy.n_symbols * copy.out_nbytes + copy.n_more) / sizeof(uint4);
    const size_t n_blocks = std::max({n_in, n_noise, n_out, size_t{1}}) / (THREADS * WORDS) + 1;
    const auto words_of = [&](const void *all, size_t n) {
        return words{static_cast<uint4 *>(const_cast<void *>(all)), n,
                     static_cast<unsigned>((n / n_blocks / 8 + 1) * 8)};
    };
    const auto kernel = copy.adds ? copy_kernel<THREADS, WORDS, true> : copy_kernel<THREADS, WORDS, false>;
    kernel<<<static_cast<unsigned>(n_blocks), THREADS, 0, stream>>>(
        words_of(copy.in, n_in), words_of(copy.noise_var, n_noise), words_of(copy.out, n_out));
    return cudaGetLastError();
}

cudaError_t bench_copy_kernel(const struct bench_copy *copy, cudaStream_t stream)
{
    return copy->is_long ? launch_copy<256, 4>(*copy, stream) : launch_copy<128, 1>(*copy, stream);
}

static __global__ void empty_kernel() {}

cudaError_t bench_empty_kernel(cudaStream_t stream)
{
    empty_kernel<<<1, 32, 0, stream>>>();
    return cudaGetLastError();
}
