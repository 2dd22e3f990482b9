/* SPDX-License-Identifier: MIT */
/* The interface to CUDA: a table of functions, which a build without CUDA has too (no_cuda.c). A softqam_gpu is the GPU
 * of one context. */
#ifndef SOFTQAM_GPU_H
#define SOFTQAM_GPU_H

#include <stddef.h>

#include <softqam/softqam.h>

#include "cpu/loops.h"
#include "params.h"
#include "segment.h"
#include "thread_pool.h"

typedef struct softqam_gpu softqam_gpu;

typedef struct softqam_gpu_ops {
    /* Finds the device of a complete context configuration. Allocates nothing on it, and makes no CUDA context if the
     * configuration names the device. Reads the configuration during the call only. */
    softqam_status (*create)(softqam_gpu **gpu, const softqam_context_config *config);

    /* Makes the kernels for a demodulator's formats ready. */
    softqam_status (*prepare_kernels)(softqam_gpu *gpu, const softqam_params *params);

    /* Makes what host-memory calls need, unless it is there already: streams, device memory, pinned memory. */
    softqam_status (*prepare_host_calls)(softqam_gpu *gpu);

    /* Refuses a checked list of at least one symbol if the first segment's memory is a device's. */
    softqam_status (*check_memory)(const softqam_gpu *gpu, const softqam_segment_list *list);

    /* Demodulates a checked list of at least one symbol in host memory, or refuses it like check_memory(). The
     * calling thread does all the staging if the pool is NULL, with these loops. Calls take turns. After any error
     * nothing reads or writes the caller's memory any more. */
    softqam_status (*demodulate)(softqam_gpu *gpu, softqam_pool *pool, const softqam_cpu_loops *loops,
                                 const softqam_segment_list *list);

    /* Allocates page-locked host memory; frees it, which needs no softqam_gpu. */
    softqam_status (*host_alloc)(softqam_gpu *gpu, size_t nbytes, void **memory);
    void (*host_free)(void *memory);

    /* Returns one line on what runs, which lives as long as the softqam_gpu. */
    const char *(*detail)(const softqam_gpu *gpu);

    void (*destroy)(softqam_gpu *gpu);
} softqam_gpu_ops;

/* In a build without CUDA, create() fails and the other functions are NULL: nothing calls them. */
extern const softqam_gpu_ops softqam_gpu_backend;

#endif
