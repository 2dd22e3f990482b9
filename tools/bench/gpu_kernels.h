/* SPDX-License-Identifier: MIT */
/* Kernels that softqam-bench holds the library's against: plain copies, the neighbours in a chain, and two demodulators
 * of others' design. */
#ifndef SOFTQAM_TOOLS_BENCH_GPU_KERNELS_H
#define SOFTQAM_TOOLS_BENCH_GPU_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a copy is divided: the tiles of a thread block are long, for long runs, or short, for as many blocks as may be.
 */
enum bench_copy_shape { BENCH_COPY_LONG, BENCH_COPY_SHORT, BENCH_N_COPY_SHAPES };

struct bench_copy {
    const void *in;
    size_t in_nbytes;       /* of a symbol: 2, 4 or 8 */
    const float *noise_var; /* four bytes more for each symbol; NULL: none */
    void *out;
    size_t out_nbytes; /* of a symbol: those of a modulation and an output format */
    size_t n_symbols;
    enum bench_copy_shape shape;
    bool programmatic; /* may begin before the kernel in front of it ends, and then waits for that */
};

/* Reads and writes the bytes of a demodulation, in accesses of 16 bytes; what is written depends on all that is read.
 * Less than 16 bytes are left over at the end of each. */
cudaError_t bench_copy_kernel(const struct bench_copy *copy, cudaStream_t stream);

/* Nothing. */
cudaError_t bench_empty_kernel(cudaStream_t stream);

/* What comes before softqam in a chain: writes n_words words of 16 bytes. */
cudaError_t bench_producer_kernel(const void *from, void *to, size_t n_words, cudaStream_t stream);

/* What comes after it: reads as many words; each thread block's exclusive or goes to a number of its own. */
enum { BENCH_CONSUMER_BLOCKS = 264 };
cudaError_t bench_consumer_kernel(const void *in, size_t n_words, unsigned sums[BENCH_CONSUMER_BLOCKS],
                                  cudaStream_t stream);

/* Points of a table of the LLRs of one axis, from -1 to 1 times its end: four LLRs a point. */
enum { BENCH_TABLE_POINTS = 17, BENCH_TABLE_BITS = 4 };

/* cf32 to half LLRs by a table in texture memory with linear interpolation, one symbol a thread, the way of NVIDIA's
 * cuPHY. A component v is looked up at point (v / end + 1) * (BENCH_TABLE_POINTS - 1) / 2. */
cudaError_t bench_texture_kernel(cudaTextureObject_t table, float end, float weight, const void *symbols, void *out,
                                 size_t n_symbols, cudaStream_t stream);

/* cf32 to soft bits by nested decisions, one symbol a thread, one store a byte, thread blocks of 1024: where many
 * demodulators start. Gives the library's bytes but for an ulp at boundaries. */
cudaError_t bench_branchy_kernel(const void *symbols, unsigned char *out, size_t n_symbols, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
