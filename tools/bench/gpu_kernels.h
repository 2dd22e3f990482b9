/* SPDX-License-Identifier: MIT */
/* Kernels that softqam-bench holds the library's against: plain copies, and two demodulators of others' design. */
#ifndef SOFTQAM_TOOLS_BENCH_GPU_KERNELS_H
#define SOFTQAM_TOOLS_BENCH_GPU_KERNELS_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For each symbol reads in_nbytes (2, 4 or 8), and four more from `noise_var` unless it is NULL, and writes out_nbytes
 * (8, or for in_nbytes of 8 also 16) that depend on them, in 16-byte stores. */
cudaError_t bench_copy_kernel(const void *in, size_t in_nbytes, const float *noise_var, void *out, size_t out_nbytes,
                              size_t n_symbols, cudaStream_t stream);

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
