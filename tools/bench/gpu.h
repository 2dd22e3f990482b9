/* SPDX-License-Identifier: MIT */
/* What the CUDA sections share: streams, samples on the device, how a case is launched, verified and timed. */
#ifndef SOFTQAM_TOOLS_BENCH_GPU_H
#define SOFTQAM_TOOLS_BENCH_GPU_H

#include <stdbool.h>

#include <softqam/softqam_cuda.h>

#include "cases.h"
#include "gpu_kernels.h"

struct gpu_bench {
    struct report *report;
    const struct bench_options *options;
    softqam_context *context; /* of SOFTQAM_BACKEND_CUDA */
    struct bench_pool pool;
    cudaStream_t stream;
    cudaEvent_t start;
    cudaEvent_t stop;
};

/* Whether a CUDA call succeeded; if not, says so and marks the report as failed. */
bool gpu_good(struct gpu_bench *bench, cudaError_t error, const char *what);
#define GOOD(bench, call) gpu_good(bench, call, #call)

/* Likewise for a call of the library. */
bool gpu_softqam_good(struct gpu_bench *bench, softqam_status status, const char *what);

bool gpu_synchronise(struct gpu_bench *bench);

/* Copies a case's samples to device memory, which the caller frees: so many of them, which come again after a period.
 */
bool gpu_copy_samples(struct gpu_bench *bench, const struct bench_case *c, size_t n_symbols, size_t period,
                      unsigned char **d_symbols, float **d_noise_var);

/* A bench_backend's: the library's kernel, one that moves the same bytes, or neither. */
void gpu_add(void *bench, struct turns *turns, const struct bench_case *c, enum bench_run run);

/* The same of a case from host memory. */
void gpu_host_add(struct gpu_bench *bench, struct turns *turns, const struct bench_case *c, enum bench_run run);

#endif
