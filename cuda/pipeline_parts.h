/* SPDX-License-Identifier: MIT */
/* What a pipeline is made of, for the two files that make it (pipeline.c) and run it (pipeline_run.c). */
#ifndef SOFTQAM_PIPELINE_PARTS_H
#define SOFTQAM_PIPELINE_PARTS_H

#include "pipeline.h"

/* A thread that stages fills one chunk while the device works on another. */
enum { SLOTS_PER_WORKER = 2 };

/* A chunk on its way: part of the run of symbols that a call's blocks make together. */
typedef struct slot {
    int device;
    cudaStream_t stream;
    void *d_in;
    float *d_noise;
    void *d_out;
    void *staged_in; /* pinned and mapped host memory of the same sizes; NULL in the ring's slots */
    float *staged_noise;
    void *staged_out;
    size_t first;
    size_t n_symbols; /* 0: idle */
} slot;

struct softqam_pipeline {
    const softqam_plan *plan;
    softqam_pool *pool;
    unsigned n_devices;
    bool coherent; /* the devices reach all host memory as it lies */

    /* For memory that the devices reach: a ring of n_streams slots for each device. */
    size_t chunk_symbols;
    unsigned n_streams;
    slot *ring;
    softqam_pool *feeders; /* a thread for each of several devices, else NULL */

    /* For other memory: SLOTS_PER_WORKER slots for each thread that copies, the devices in turns. */
    size_t staged_symbols;
    unsigned n_workers;
    slot *staged;
    size_t streaming_nbytes; /* of a call's output, which is copied past the caches from there on */

    void *host_memory; /* of the slots, pinned */
    void **device_memory;
    slot slots[]; /* all of them; behind them, device_memory */
};

static inline unsigned n_ring_slots(const softqam_pipeline *pipeline)
{
    return pipeline->n_devices * pipeline->n_streams;
}

static inline unsigned n_slots(const softqam_pipeline *pipeline)
{
    return n_ring_slots(pipeline) + pipeline->n_workers * SLOTS_PER_WORKER;
}

#endif
