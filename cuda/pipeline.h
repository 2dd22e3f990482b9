/* SPDX-License-Identifier: MIT */
/* Calls on host memory: a call's symbols pass in chunks through chunk buffers, each with a stream of its own. */
#ifndef SOFTQAM_PIPELINE_H
#define SOFTQAM_PIPELINE_H

#include <pthread.h>

#include <cuda_runtime_api.h>

#include "cpu/loops.h"
#include "segment.h"
#include "thread_pool.h"

/* A thread that stages fills one chunk while the device works on another. */
enum { BUFFERS_PER_WORKER = 2 };

/* Memory for a chunk: some of a call's symbols, of all its segments in order. */
typedef struct chunk_buffer {
    cudaStream_t stream;
    void *on_device; /* `nbytes` of the device's memory */
    void *staging;   /* `nbytes` of pinned and mapped host memory; NULL in the ring */
    size_t nbytes;
    size_t first;     /* the chunk's first symbol in the call */
    size_t n_symbols; /* symbols of the chunk; 0: the buffer is idle */
} chunk_buffer;

/* Sizes are in bytes, so calls of any formats use the same buffers. */
typedef struct softqam_pipeline {
    int device;
    unsigned n_streams;
    unsigned n_workers; /* threads that stage at most */
    size_t chunk_symbols;
    pthread_mutex_t mutex; /* calls take turns; guards what follows */
    chunk_buffer *ring;    /* n_streams buffers, for pinned memory; NULL: no buffer is made yet */
    chunk_buffer *staged;  /* BUFFERS_PER_WORKER buffers for each worker, for other memory */
} softqam_pipeline;

static inline unsigned softqam_pipeline_n_buffers(const softqam_pipeline *pipeline)
{
    return pipeline->n_streams + pipeline->n_workers * BUFFERS_PER_WORKER;
}

/* Fills in a pipeline without buffers, from a complete configuration. */
void softqam_pipeline_open(softqam_pipeline *pipeline, int device, const softqam_context_config *config);
void softqam_pipeline_close(softqam_pipeline *pipeline);

/* Makes the buffers, unless they are there. */
softqam_status softqam_pipeline_prepare(softqam_pipeline *pipeline);

/* Checks a list as softqam_gpu_ops.check_memory does. */
softqam_status softqam_pipeline_check_memory(const softqam_segment_list *list);

/* Demodulates as softqam_gpu_ops.demodulate does. */
softqam_status softqam_pipeline_demodulate(softqam_pipeline *pipeline, softqam_pool *pool,
                                           const softqam_cpu_loops *loops, const softqam_segment_list *list);

#endif
