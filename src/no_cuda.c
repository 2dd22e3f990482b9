/* SPDX-License-Identifier: MIT */
/* The CUDA backend of a build without CUDA. */
#include "backend.h"
#include "error.h"

static softqam_status no_create(void **state, const softqam_plan *plan, const softqam_config *config,
                                softqam_pool *pool)
{
    (void)plan;
    (void)config;
    (void)pool;
    *state = NULL;
    return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "this build of softqam has no CUDA backend");
}

const softqam_backend_ops softqam_backend_cuda = {.name = "cuda", .create = no_create};
