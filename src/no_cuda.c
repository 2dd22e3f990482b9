/* SPDX-License-Identifier: MIT */
/* The CUDA part of a build without CUDA. */
#include "error.h"
#include "gpu.h"

static softqam_status no_create(softqam_gpu **gpu, const softqam_context_config *config,
                                const softqam_pool_scheduling *scheduling)
{
    (void)config;
    (void)scheduling;
    *gpu = NULL;
    return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "this build of softqam has no CUDA backend");
}

static const softqam_kernels *no_kernels(const softqam_params *params)
{
    (void)params;
    return NULL;
}

const softqam_gpu_ops softqam_gpu_backend = {.choose_kernels = no_kernels, .create = no_create};
