/* SPDX-License-Identifier: MIT */
/* Kernels that softqam-bench holds the library's against. */
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

/* Launches a kernel that does nothing. */
cudaError_t bench_empty_kernel(cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
