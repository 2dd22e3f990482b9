/* SPDX-License-Identifier: MIT */
/* What a softqam_gpu is made of, for the files that share it: devices (gpu.c), calls on device memory (device_calls.c),
 * and the pipeline for host memory, which is made in pipeline.c and runs in pipeline_run.c. */
#ifndef SOFTQAM_GPU_PARTS_H
#define SOFTQAM_GPU_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include <cuda_runtime_api.h>

#include "device_scope.h"
#include "gpu.h"

/* A thread that stages fills one chunk while the device works on another. */
enum { SLOTS_PER_WORKER = 2 };

/* A chunk on its way: part of the run of symbols that a call's segments make together. */
typedef struct slot {
    int device;
    cudaStream_t stream;
    unsigned char *on_device; /* `nbytes` of its memory */
    unsigned char *staging;   /* the same of pinned and mapped host memory; NULL in the ring's slots */
    size_t nbytes;
    size_t first;
    size_t n_symbols; /* 0: idle */
} slot;

/* All sizes are in bytes, so that calls of any formats use it. */
typedef struct softqam_pipeline {
    /* For memory that the devices reach: a ring of n_streams slots for each device. */
    slot *ring;
    unsigned n_ring_slots;
    softqam_pool *feeders; /* a thread for each of several devices, else NULL */

    /* For other memory: SLOTS_PER_WORKER slots for each thread that copies, the devices in turns. */
    slot *staged;
    unsigned n_workers;
    size_t streaming_nbytes; /* of a call's output, which is copied past the caches from there on */

    void *host_memory; /* of the slots, pinned */
    void **device_memory;
    unsigned n_slots;
    slot slots[]; /* all of them; behind them, device_memory */
} softqam_pipeline;

struct softqam_gpu {
    unsigned launch_capacity; /* segments */
    unsigned n_streams;
    size_t chunk_symbols;
    softqam_pool_scheduling scheduling; /* of threads; its CPUs are this object's own */
    bool coherent;                      /* the devices reach all host memory as it lies */
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
void softqam_pipeline_destroy(softqam_gpu *gpu, softqam_pipeline *pipeline);

#endif
