/* SPDX-License-Identifier: MIT */
/* What CUDA is to the rest: a table of functions, which a build without CUDA has too (no_cuda.c). A softqam_gpu is a
 * context's part of CUDA. */
#ifndef SOFTQAM_GPU_H
#define SOFTQAM_GPU_H

#include <stdbool.h>
#include <stddef.h>

#include <softqam/softqam.h>

#include "params.h"
#include "segment.h"
#include "thread_pool.h"

typedef struct softqam_gpu softqam_gpu;

typedef struct softqam_gpu_ops {
    /* Finds the devices of a complete context configuration. Allocates nothing on them, and makes no CUDA context where
     * the devices are named. Threads of its own are scheduled so. Neither need outlive the call. */
    softqam_status (*create)(softqam_gpu **gpu, const softqam_context_config *config,
                             const softqam_pool_scheduling *scheduling);

    /* Makes the kernels for a demodulator's formats ready on all devices. */
    softqam_status (*prepare_kernels)(softqam_gpu *gpu, const softqam_params *params);

    /* Makes what host-memory calls need: streams, device memory, pinned memory. `n_workers` threads at most will stage
     * pageable memory at once. Once is enough; any thread. */
    softqam_status (*prepare_host_calls)(softqam_gpu *gpu, unsigned n_workers);

    /* Demodulates a checked list of at least one symbol in host memory; pool is NULL where the calling thread is to do
     * all the staging itself. Calls take turns. *n_done receives how many symbols from the first on are complete: all,
     * or fewer after an error. After any error nothing reads or writes the caller's memory any more. */
    softqam_status (*demodulate)(softqam_gpu *gpu, softqam_pool *pool, const softqam_segment_list *list,
                                 size_t *n_done);

    /* Whether a host-memory call is under way, so that another would have to wait. */
    bool (*is_busy)(const softqam_gpu *gpu);

    /* Page-locked host memory, and its end, which needs no softqam_gpu. */
    softqam_status (*host_alloc)(softqam_gpu *gpu, size_t nbytes, void **memory);
    void (*host_free)(void *memory);

    /* One line on what runs, which lives as long as the softqam_gpu. */
    const char *(*detail)(const softqam_gpu *gpu);

    /* NULL is ignored. */
    void (*destroy)(softqam_gpu *gpu);
} softqam_gpu_ops;

/* In a build without CUDA its create says that it is unavailable, and nothing else is called. */
extern const softqam_gpu_ops softqam_gpu_backend;

#endif
