/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include <cuda_fp16.h>

#include "gpu_kernels.h"

enum { COPY_THREADS = 256, COPY_LOADS = 4, TEXTURE_THREADS = 256, BRANCHY_THREADS = 1024 };

template <int N> struct alignas(N < 16 ? N : 16) words {
    uint32_t word[(N + 3) / 4];
};

/* COPY_LOADS groups of symbols a thread, all loaded before the first is stored. */
template <int IN, int OUT>
static __global__ void __launch_bounds__(COPY_THREADS)
    copy_kernel(const words<IN> *in, const float2 *noise_var, words<OUT> *out, size_t n_groups)
{
    const size_t first = blockIdx.x * static_cast<size_t>(COPY_THREADS * COPY_LOADS) + threadIdx.x;
    words<IN> from[COPY_LOADS] = {};
    float2 noise[COPY_LOADS] = {};
#pragma unroll
    for (int k = 0; k < COPY_LOADS; k++) {
        const size_t group = first + k * COPY_THREADS;
        if (group < n_groups) {
            from[k] = in[group];
            noise[k] = noise_var ? noise_var[group] : float2{};
        }
    }
#pragma unroll
    for (int k = 0; k < COPY_LOADS; k++) {
        const size_t group = first + k * COPY_THREADS;
        words<OUT> to;
#pragma unroll
        for (int w = 0; w < OUT / 4; w++)
            to.word[w] =
                from[k].word[w % (sizeof from[k].word / 4)] ^ __float_as_uint(noise[k].x) ^ __float_as_uint(noise[k].y);
        if (group < n_groups)
            out[group] = to;
    }
}

/* As many symbols to a group as make a 16-byte store. */
template <int IN, int OUT>
static cudaError_t launch_copy(const void *in, const float *noise_var, void *out, size_t n_symbols, cudaStream_t stream)
{
    enum { N = 16 / OUT };
    const size_t n_groups = n_symbols / N;
    const unsigned grid = static_cast<unsigned>((n_groups - 1) / (COPY_THREADS * COPY_LOADS) + 1);
    copy_kernel<N * IN, N * OUT><<<grid, COPY_THREADS, 0, stream>>>(static_cast<const words<N * IN> *>(in),
                                                                    reinterpret_cast<const float2 *>(noise_var),
                                                                    static_cast<words<N * OUT> *>(out), n_groups);
    return cudaGetLastError();
}

cudaError_t bench_copy_kernel(const void *in, size_t in_nbytes, const float *noise_var, void *out, size_t out_nbytes,
                              size_t n_symbols, cudaStream_t stream)
{
    if (in_nbytes == 2)
        return launch_copy<2, 8>(in, noise_var, out, n_symbols, stream);
    if (in_nbytes == 4)
        return launch_copy<4, 8>(in, noise_var, out, n_symbols, stream);
    return out_nbytes == 8 ? launch_copy<8, 8>(in, noise_var, out, n_symbols, stream)
                           : launch_copy<8, 16>(in, noise_var, out, n_symbols, stream);
}

static __device__ __half2 weighed(float i, float q, float weight)
{
    return __floats2half2_rn(i * weight, q * weight);
}

static __global__ void __launch_bounds__(TEXTURE_THREADS)
    texture_kernel(cudaTextureObject_t table, float points_per_unit, float weight, const float2 *symbols, uint4 *out,
                   size_t n_symbols)
{
    const size_t k = blockIdx.x * static_cast<size_t>(TEXTURE_THREADS) + threadIdx.x;
    if (k >= n_symbols)
        return;
    const float2 symbol = symbols[k];
    const float middle = 0.5f * BENCH_TABLE_POINTS; /* a texel's value is at its middle */
    const float4 i = tex1D<float4>(table, symbol.x * points_per_unit + middle);
    const float4 q = tex1D<float4>(table, symbol.y * points_per_unit + middle);
    const __half2 llrs[4] = {weighed(i.x, q.x, weight), weighed(i.y, q.y, weight), weighed(i.z, q.z, weight),
                             weighed(i.w, q.w, weight)};
    out[k] = *reinterpret_cast<const uint4 *>(llrs);
}

cudaError_t bench_texture_kernel(cudaTextureObject_t table, float end, float weight, const void *symbols, void *out,
                                 size_t n_symbols, cudaStream_t stream)
{
    const float points_per_unit = 0.5f * (BENCH_TABLE_POINTS - 1) / end;
    const unsigned grid = static_cast<unsigned>((n_symbols - 1) / TEXTURE_THREADS + 1);
    texture_kernel<<<grid, TEXTURE_THREADS, 0, stream>>>(
        table, points_per_unit, weight, static_cast<const float2 *>(symbols), static_cast<uint4 *>(out), n_symbols);
    return cudaGetLastError();
}

static __device__ float squared(float a)
{
    return a * a;
}

static __device__ unsigned char soften(float margin)
{
    const float value = margin * 4915.2f + 127.0f;
    if (value <= 0.0f)
        return 0;
    if (value >= 255.0f)
        return 255;
    return static_cast<unsigned char>(value);
}

/* The axis's four soft bits, every second byte. The axis is folded, upper side up, at each edge where a bit flips: what
 * is left is one level and the next edge. */
static __device__ void branchy_axis(float v, unsigned char *out)
{
    const float alpha = 0.0766965f;
    const float edges[4] = {0.0f, 8.0f * alpha, 12.0f * alpha, 14.0f * alpha};
    float level = -15.0f * alpha;
    for (int k = 0; k < 15; k++)
        if (v > level + alpha)
            level += 2.0f * alpha;
        else
            break;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const float other = level > edges[k] ? edges[k] - alpha : edges[k] + alpha;
        const float margin = squared(v - other) - squared(v - level);
        const bool is_0 = (level > edges[k]) == (k == 0);
        out[2 * k] = soften(is_0 ? margin : -margin);
        if (level < edges[k]) {
            v = 2.0f * edges[k] - v;
            level = 2.0f * edges[k] - level;
        }
    }
}

static __global__ void __launch_bounds__(BRANCHY_THREADS)
    branchy_kernel(const float *symbols, unsigned char *out, size_t n_symbols)
{
    const size_t k = blockIdx.x * static_cast<size_t>(BRANCHY_THREADS) + threadIdx.x;
    if (k < n_symbols) {
        branchy_axis(symbols[2 * k], out + 8 * k);
        branchy_axis(symbols[2 * k + 1], out + 8 * k + 1);
    }
}

cudaError_t bench_branchy_kernel(const void *symbols, unsigned char *out, size_t n_symbols, cudaStream_t stream)
{
    const unsigned grid = static_cast<unsigned>((n_symbols - 1) / BRANCHY_THREADS + 1);
    branchy_kernel<<<grid, BRANCHY_THREADS, 0, stream>>>(static_cast<const float *>(symbols), out, n_symbols);
    return cudaGetLastError();
}
