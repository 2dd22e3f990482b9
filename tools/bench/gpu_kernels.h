/* SPDX-License-Identifier: MIT */
/* Kernels that softqam-bench holds the library's against: copies, and the neighbours in a chain. */
#ifndef SOFTQAM_TOOLS_BENCH_GPU_KERNELS_H
#define SOFTQAM_TOOLS_BENCH_GPU_KERNELS_H

#include <cuda_runtime_api.h>

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads and writes the bytes of a demodulation, in accesses of 16 bytes; what is written depends on all that is read.
 * Less than 16 bytes are left over at the end of each. */
cudaError_t bench_copy_kernel(const struct bench_copy *copy, cudaStream_t stream);

/* Nothing. */
cudaError_t bench_empty_kernel(cudaStream_t stream);

/* What comes before softqam in a chain: writes n_words words of 16 bytes. Where it overlaps with its neighbours, it may
 * begin before the kernel in front of it ends, waits for that, and lets the next one begin. */
cudaError_t bench_producer_kernel(const void *from, void *to, size_t n_words, bool overlaps, cudaStream_t stream);

/* What comes after it, likewise: reads as many words. What `out` gets means nothing. */
cudaError_t bench_consumer_kernel(const void *in, size_t n_words, void *out, bool overlaps, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
