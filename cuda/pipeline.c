/* SPDX-License-Identifier: MIT */
/* Makes the pipeline: its chunk buffers, their streams and their memory. */
#define _GNU_SOURCE /* sigset_t */
#include "pipeline.h"

#include <stdlib.h>

#include "cuda_calls.h"
#include "signals.h"

/* Bytes of a ring buffer for each of a chunk's symbols: enough for cf32, a noise value and the 8 bytes of u8 or of
 * 256QAM's s8. */
enum { RING_SYMBOL_NBYTES = 20 };

/* Bytes of a staged buffer, but no more than a chunk of the longest symbols needs, 1024QAM from cf32 to f32. */
enum { STAGED_NBYTES = 1 << 22, LONGEST_SYMBOL_NBYTES = 8 + 4 + MAX_SYMBOL_BITS * sizeof(float) };

/* Room to align a chunk's parts; one symbol always fits. */
enum { SPARE_NBYTES = 1024 };

/* The most threads that stage; each has streams and memory of its own. */
enum { MAX_WORKERS = 32 };

void softqam_pipeline_open(softqam_pipeline *pipeline, int device, const softqam_context_config *config)
{
    *pipeline = (softqam_pipeline){
        .device = device,
        .n_streams = config->n_streams,
        .n_workers = config->n_threads < MAX_WORKERS ? config->n_threads : MAX_WORKERS,
        .chunk_symbols = config->chunk_symbols,
    };
    pthread_mutex_init(&pipeline->mutex, NULL);
}

static softqam_status open_buffer(chunk_buffer *buffer, size_t nbytes, bool is_staged)
{
    buffer->nbytes = nbytes;
    TRY_CUDA(cudaStreamCreateWithFlags, &buffer->stream, cudaStreamNonBlocking);
    TRY_CUDA(cudaMalloc, &buffer->on_device, nbytes);
    if (is_staged)
        TRY_CUDA(cudaHostAlloc, &buffer->staging, nbytes, cudaHostAllocMapped | cudaHostAllocPortable);
    return SOFTQAM_OK;
}

static softqam_status open_buffers(softqam_pipeline *pipeline)
{
    const size_t ring_nbytes = pipeline->chunk_symbols * RING_SYMBOL_NBYTES + SPARE_NBYTES;
    const size_t longest = pipeline->chunk_symbols * LONGEST_SYMBOL_NBYTES + SPARE_NBYTES;
    const size_t staged_nbytes = longest < STAGED_NBYTES ? longest : STAGED_NBYTES;
    for (unsigned k = 0; k < pipeline->n_streams; k++)
        TRY(open_buffer(&pipeline->ring[k], ring_nbytes, false));
    for (unsigned k = 0; k < pipeline->n_workers * BUFFERS_PER_WORKER; k++)
        TRY(open_buffer(&pipeline->staged[k], staged_nbytes, true));
    return SOFTQAM_OK;
}

/* Frees the buffers. Their device must be the current one. */
static void close_buffers(softqam_pipeline *pipeline)
{
    for (unsigned k = 0; k < softqam_pipeline_n_buffers(pipeline) && pipeline->ring[k].stream; k++) {
        (void)cudaStreamDestroy(pipeline->ring[k].stream);
        (void)cudaFree(pipeline->ring[k].on_device);
        (void)cudaFreeHost(pipeline->ring[k].staging);
    }
    free(pipeline->ring);
    pipeline->ring = NULL;
}

static softqam_status make_buffers(softqam_pipeline *pipeline)
{
    const unsigned n = softqam_pipeline_n_buffers(pipeline);
    ENDED_BY(softqam_signals_restore) const sigset_t caller_mask = softqam_signals_block();
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    TRY(softqam_device_enter(&scope, pipeline->device));
    pipeline->ring = calloc(n, sizeof *pipeline->ring);
    if (!pipeline->ring)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a pipeline of %u streams", n);
    pipeline->staged = pipeline->ring + pipeline->n_streams;
    const softqam_status status = open_buffers(pipeline);
    if (status != SOFTQAM_OK)
        close_buffers(pipeline);
    return status;
}

softqam_status softqam_pipeline_prepare(softqam_pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->mutex);
    const softqam_status status = pipeline->ring ? SOFTQAM_OK : make_buffers(pipeline);
    pthread_mutex_unlock(&pipeline->mutex);
    return status;
}

void softqam_pipeline_close(softqam_pipeline *pipeline)
{
    if (pipeline->ring) {
        /* Even if the device is lost, the host's memory is freed. */
        ENDED_BY(softqam_device_leave) softqam_device_scope scope = {-1, softqam_float_enter()};
        (void)cudaGetDevice(&scope.device);
        (void)cudaSetDevice(pipeline->device);
        close_buffers(pipeline);
    }
    pthread_mutex_destroy(&pipeline->mutex);
}
