/* SPDX-License-Identifier: MIT */
/* What a softqam_gpu is made of, for the files that share it: the device (gpu.c), calls on device memory
 * (device_calls.c), and the pipeline for host memory, which is made in pipeline.c and runs in pipeline_run.c. */
#ifndef SOFTQAM_GPU_PARTS_H
#define SOFTQAM_GPU_PARTS_H

#include <pthread.h>

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

/* Makes a device current, and CUDA's calls run in the library's own floating-point environment.
 * softqam_device_leave() restores both, even if this fails: ENDED_BY() calls it. */
softqam_status softqam_device_enter(softqam_device_scope *scope, int device);
void softqam_device_leave(const softqam_device_scope *scope);

/* A thread that stages fills one chunk while the device works on another. */
enum { SLOTS_PER_WORKER = 2 };

/* A chunk on its way: part of the run of symbols that a call's segments make together. */
typedef struct slot {
    cudaStream_t stream;
    void *on_device; /* `nbytes` of its memory */
    void *staging;   /* the same of pinned and mapped host memory; NULL in the ring's slots */
    size_t nbytes;
    size_t first;
    size_t n_symbols; /* 0: idle */
} slot;

/* All sizes are in bytes, so that calls of any formats use it. */
typedef struct softqam_pipeline {
    slot *ring; /* n_streams slots, for pinned memory */

    /* For other memory: SLOTS_PER_WORKER slots for each thread that copies. */
    slot *staged;
    unsigned n_workers;
    size_t streaming_nbytes; /* of a call's output, which is copied past the caches from there on */

    unsigned n_slots;
    slot slots[]; /* all of them: the ring, then the others */
} softqam_pipeline;

struct softqam_gpu {
    int device;
    unsigned n_threads; /* of the context, which stage pageable memory */
    unsigned n_streams;
    size_t chunk_symbols;
    char detail[320];

    pthread_mutex_t mutex;      /* host-memory calls take turns */
    softqam_pipeline *pipeline; /* NULL: not made yet */
};

/* softqam_gpu_ops.prepare_host_calls and .demodulate. */
softqam_status softqam_pipeline_prepare(softqam_gpu *gpu);
softqam_status softqam_pipeline_demodulate(softqam_gpu *gpu, softqam_pool *pool, const softqam_segment_list *list);

/* The device is current. */
void softqam_pipeline_destroy(softqam_pipeline *pipeline);

#endif
