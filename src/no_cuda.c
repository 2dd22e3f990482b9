/* SPDX-License-Identifier: MIT */
/* The CUDA part of a build without CUDA. */
#include "error.h"
#include "gpu.h"

static softqam_status no_create(softqam_gpu **gpu, const softqam_context_config *config)
{
    (void)config;
    *gpu = NULL;
    return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "this build of softqam has no CUDA backend");
}

const softqam_gpu_ops softqam_gpu_backend = {.create = no_create};
