/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include <cuda_runtime.h>

#include "gpu_kernels.h"

/* What a kernel that was launched programmatically must do before it reads what the one in front of it wrote; after
 * that the next one may begin, if it was launched in that way too. */
static __device__ void wait_for_producer(bool overlaps)
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
    if (overlaps)
        cudaTriggerProgrammaticLaunchCompletion();
#endif
}

static __device__ uint4 operator^(uint4 a, uint4 b) { return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w); }

/* Words of 16 bytes of a thread block's symbols: thread t has words t, t + THREADS, ... */
template <int THREADS, int WORDS> struct tile {
    static constexpr int PER_THREAD = (WORDS + THREADS - 1) / THREADS;

    /* Of the thread's k-th word: whether there is one. */
    static __device__ bool has(int k, size_t n_words)
    {
        return k * THREADS + threadIdx.x < WORDS && place(k) < n_words;
    }

    static __device__ size_t place(int k)
    {
        return blockIdx.x * static_cast<size_t>(WORDS) + k * THREADS + threadIdx.x;
    }
};

/* Counts are of words. All are loaded before the first is stored. */
struct copy_arguments {
    const uint4 *in;
    const uint4 *noise;
    uint4 *out;
    size_t n_in;
    size_t n_noise;
    size_t n_out;
    bool overlaps;
    bool adds;
};

/* SYMBOLS a thread, of so many bytes. */
template <int THREADS, int SYMBOLS, int IN, int OUT>
static __global__ void __launch_bounds__(THREADS) copy_kernel(const copy_arguments copy)
{
    using in_tile = tile<THREADS, THREADS * SYMBOLS * IN / 16>;
    using noise_tile = tile<THREADS, THREADS * SYMBOLS * 4 / 16>;
    using out_tile = tile<THREADS, THREADS * SYMBOLS * OUT / 16>;
    uint4 from[in_tile::PER_THREAD] = {};
    uint4 noise[noise_tile::PER_THREAD] = {};
    wait_for_producer(copy.overlaps);
#pragma unroll
    for (int k = 0; k < in_tile::PER_THREAD; k++)
        if (in_tile::has(k, copy.n_in))
            from[k] = copy.in[in_tile::place(k)];
#pragma unroll
    for (int k = 0; k < noise_tile::PER_THREAD; k++)
        if (noise_tile::has(k, copy.n_noise))
            noise[k] = copy.noise[noise_tile::place(k)];
    uint4 all = {};
#pragma unroll
    for (int k = 1; k < in_tile::PER_THREAD; k++)
        all = all ^ from[k];
#pragma unroll
    for (int k = 0; k < noise_tile::PER_THREAD; k++)
        all = all ^ noise[k];
#pragma unroll
    for (int k = 0; k < out_tile::PER_THREAD; k++)
        if (out_tile::has(k, copy.n_out))
            copy.out[out_tile::place(k)] = all ^ from[0];
}

/* For soft buffers, whose bytes are no whole number a symbol: THREADS * WORDS words of output a thread block, and as
 * much of each input as is its proportion. */
template <int THREADS, int WORDS>
static __global__ void __launch_bounds__(THREADS) move_kernel(const copy_arguments copy)
{
    const size_t step = static_cast<size_t>(gridDim.x) * THREADS;
    const size_t thread = blockIdx.x * static_cast<size_t>(THREADS) + threadIdx.x;
    uint4 all = {};
    uint4 old[WORDS] = {};
    wait_for_producer(copy.overlaps);
    for (size_t k = thread; k < copy.n_in; k += step)
        all = all ^ copy.in[k];
    for (size_t k = thread; k < copy.n_noise; k += step)
        all = all ^ copy.noise[k];
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        if (copy.adds && thread + k * step < copy.n_out)
            old[k] = copy.out[thread + k * step];
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        if (thread + k * step < copy.n_out)
            copy.out[thread + k * step] = all ^ old[k];
}

/* Devices before compute capability 9.0 have no programmatic launches: there they are ordinary ones. */
template <typename... T, typename... U>
static cudaError_t launch(void (*kernel)(T...), size_t n_blocks, int n_threads, bool programmatic, cudaStream_t stream,
                          U... arguments)
{
    int device = 0;
    int major = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess)
        return error;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = static_cast<unsigned>(n_blocks);
    config.blockDim = n_threads;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = programmatic && major >= 9 ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

static copy_arguments arguments_of(const bench_copy &copy)
{
    return {static_cast<const uint4 *>(copy.in),
            reinterpret_cast<const uint4 *>(copy.noise_var),
            static_cast<uint4 *>(copy.out),
            copy.n_symbols * copy.in_nbytes / 16,
            copy.noise_var ? copy.n_symbols * 4 / 16 : 0,
            (copy.n_symbols * copy.out_nbytes + copy.n_more) / 16,
            copy.overlaps,
            copy.adds};
}

template <int IN, int OUT> static cudaError_t launch_copy(const bench_copy &copy, cudaStream_t stream)
{
    enum { LONG_THREADS = 256, LONG_SYMBOLS = 8, SHORT_THREADS = 128, SHORT_SYMBOLS = 2 };
    const int n_threads = copy.is_short ? SHORT_THREADS : LONG_THREADS;
    const size_t n_symbols = n_threads * (copy.is_short ? SHORT_SYMBOLS : LONG_SYMBOLS);
    return launch(copy.is_short ? copy_kernel<SHORT_THREADS, SHORT_SYMBOLS, IN, OUT>
                                : copy_kernel<LONG_THREADS, LONG_SYMBOLS, IN, OUT>,
                  (copy.n_symbols + n_symbols - 1) / n_symbols, n_threads, copy.overlaps, stream, arguments_of(copy));
}

static cudaError_t launch_move(const bench_copy &copy, cudaStream_t stream)
{
    enum { THREADS = 256, LONG_WORDS = 8, SHORT_WORDS = 2 };
    const size_t n_words = THREADS * (copy.is_short ? SHORT_WORDS : LONG_WORDS);
    return launch(copy.is_short ? move_kernel<THREADS, SHORT_WORDS> : move_kernel<THREADS, LONG_WORDS>,
                  (arguments_of(copy).n_out + n_words - 1) / n_words, THREADS, copy.overlaps, stream,
                  arguments_of(copy));
}

template <int IN> static cudaError_t choose_copy(const bench_copy &copy, cudaStream_t stream)
{
    static constexpr struct {
        size_t out_nbytes;
        cudaError_t (*launch)(const bench_copy &, cudaStream_t);
    } copies[] = {{1, launch_copy<IN, 1>},   {2, launch_copy<IN, 2>},   {4, launch_copy<IN, 4>},
                  {6, launch_copy<IN, 6>},   {8, launch_copy<IN, 8>},   {10, launch_copy<IN, 10>},
                  {12, launch_copy<IN, 12>}, {16, launch_copy<IN, 16>}, {20, launch_copy<IN, 20>},
                  {24, launch_copy<IN, 24>}, {32, launch_copy<IN, 32>}, {40, launch_copy<IN, 40>}};
    for (const auto &c : copies)
        if (c.out_nbytes == copy.out_nbytes)
            return c.launch(copy, stream);
    return cudaErrorInvalidValue;
}

cudaError_t bench_copy_kernel(const struct bench_copy *copy, cudaStream_t stream)
{
    return copy->n_more > 0 || copy->adds ? launch_move(*copy, stream)
           : copy->in_nbytes == 2         ? choose_copy<2>(*copy, stream)
           : copy->in_nbytes == 4         ? choose_copy<4>(*copy, stream)
           : copy->in_nbytes == 8         ? choose_copy<8>(*copy, stream)
                                          : cudaErrorInvalidValue;
}

static __global__ void empty_kernel() {}

cudaError_t bench_empty_kernel(cudaStream_t stream)
{
    empty_kernel<<<1, 32, 0, stream>>>();
    return cudaGetLastError();
}

enum { CHAIN_THREADS = 256 };

static __global__ void __launch_bounds__(CHAIN_THREADS)
    producer_kernel(const uint4 *from, uint4 *to, size_t n_words, bool overlaps)
{
    const size_t k = blockIdx.x * static_cast<size_t>(CHAIN_THREADS) + threadIdx.x;
    wait_for_producer(overlaps);
    if (k < n_words)
        to[k] = from[k];
}

cudaError_t bench_producer_kernel(const void *from, void *to, size_t n_words, bool overlaps, cudaStream_t stream)
{
    return launch(producer_kernel, (n_words - 1) / CHAIN_THREADS + 1, CHAIN_THREADS, overlaps, stream,
                  static_cast<const uint4 *>(from), static_cast<uint4 *>(to), n_words, overlaps);
}

static __global__ void __launch_bounds__(CHAIN_THREADS)
    consumer_kernel(const uint4 *in, size_t n_words, unsigned *sums, bool overlaps)
{
    __shared__ unsigned of_warp[CHAIN_THREADS / 32];
    unsigned all = 0;
    wait_for_producer(overlaps);
    for (size_t k = blockIdx.x * static_cast<size_t>(CHAIN_THREADS) + threadIdx.x; k < n_words;
         k += static_cast<size_t>(CHAIN_THREADS) * BENCH_CONSUMER_BLOCKS) {
        const uint4 word = in[k];
        all ^= word.x ^ word.y ^ word.z ^ word.w;
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        all ^= __shfl_xor_sync(0xffffffff, all, distance);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = all;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < CHAIN_THREADS / 32; warp++)
            all ^= of_warp[warp];
        sums[blockIdx.x] = all;
    }
}

cudaError_t bench_consumer_kernel(const void *in, size_t n_words, unsigned sums[BENCH_CONSUMER_BLOCKS], bool overlaps,
                                  cudaStream_t stream)
{
    return launch(consumer_kernel, BENCH_CONSUMER_BLOCKS, CHAIN_THREADS, overlaps, stream,
                  static_cast<const uint4 *>(in), n_words, sums, overlaps);
}
