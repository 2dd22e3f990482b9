/* SPDX-License-Identifier: MIT */
/* What a softqam_gpu is made of, for the files that share it: devices (gpu.c), calls on device memory (device_calls.c),
 * and the pipeline for host memory, which is made in pipeline.c and runs in pipeline_run.c. */
#ifndef SOFTQAM_GPU_PARTS_H
#define SOFTQAM_GPU_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include <cuda_runtime_api.h>

#include "error.h"
#include "float_environment.h"
#include "gpu.h"

/* Every CUDA call's result goes through here: the status for a CUDA error, with the call's name and CUDA's own text as
 * the message; SOFTQAM_OK for cudaSuccess. */
softqam_status softqam_cuda_status(cudaError_t error, const char *call);

/* Returns from the calling function with the status if the call fails. */
#define TRY_CUDA(function, ...) TRY(softqam_cuda_status(function(__VA_ARGS__), #function))

/* What a call changes of its thread while it calls CUDA. */
typedef struct softqam_device_scope {
    int device; /* that was current before; -1: not known */
    softqam_float_environment environment;
} softqam_device_scope;

/* Makes one of these devices current: that which is so already, else the first. CUDA is called in the library's own
 * floating-point environment. softqam_device_leave() restores both, whatever happened in between: ENDED_BY() calls it.
 */
softqam_status softqam_device_enter(softqam_device_scope *scope, const int *devices, unsigned n_devices);
void softqam_device_leave(const softqam_device_scope *scope);

/* A thread that stages fills one chunk while the device works on another. */
enum { SLOTS_PER_WORKER = 2 };

/* A chunk on its way: part of the run of symbols that a call's segments make together. */
typedef struct slot {
    int device;
    cudaStream_t stream;
    void *on_device; /* `nbytes` of its memory */
    void *staging;   /* the same of pinned and mapped host memory; NULL in the ring's slots */
    size_t nbytes;
    size_t first;
    size_t n_symbols; /* 0: idle */
} slot;

/* All sizes are in bytes, so that calls of any formats use it. */
typedef struct softqam_pipeline {
    /* For pinned memory: a ring of n_streams slots for each device. */
    slot *ring;
    unsigned n_ring_slots;
    softqam_pool *feeders; /* a thread for each of several devices, else NULL */

    /* For other memory: SLOTS_PER_WORKER slots for each thread that copies, the devices in turns. */
    slot *staged;
    unsigned n_workers;
    size_t streaming_nbytes; /* of a call's output, which is copied past the caches from there on */

    unsigned n_slots;
    slot slots[]; /* all of them: the ring device by device, then the others */
} softqam_pipeline;

struct softqam_gpu {
    unsigned n_streams;
    size_t chunk_symbols;
    softqam_pool_scheduling scheduling; /* of threads */
    char detail[320];

    /* Host-memory calls take turns. */
    pthread_mutex_t mutex;
    atomic_bool busy;
    softqam_pipeline *pipeline; /* NULL: not made yet */

    unsigned n_devices;
    int devices[];
};

/* What softqam_gpu_ops says of them. */
softqam_status softqam_pipeline_prepare(softqam_gpu *gpu, unsigned n_workers);
softqam_status softqam_pipeline_demodulate(softqam_gpu *gpu, softqam_pool *pool, const softqam_segment_list *list,
                                           size_t *n_done);

/* Changes the current device. */
void softqam_pipeline_destroy(softqam_pipeline *pipeline);

#endif
