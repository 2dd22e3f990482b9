/* SPDX-License-Identifier: MIT */
/* Making the pipeline: its slots, their streams and their memory. */
#define _POSIX_C_SOURCE 200809L /* sigset_t */
#include <stdlib.h>

#include "gpu_parts.h"
#include "signals.h"
#include "streaming.h"

/* A slot of the ring has room for 20 bytes of each of a chunk's symbols, in, out and for noise: what softqam.h
 * promises, and u8 and s8 of cf32 with a noise value for each symbol need. */
enum { RING_SYMBOL_NBYTES = 20 };

/* A staged slot: bytes, in, out and for noise, but no more than for a chunk of the longest symbols, 1024QAM from cf32
 * to f32. */
enum { STAGED_NBYTES = 1 << 22, LONGEST_SYMBOL_NBYTES = 8 + 4 + MAX_SYMBOL_BITS * sizeof(float) };

/* For aligning a chunk's parts, and so that one symbol always fits. */
enum { SPARE_NBYTES = 1024 };

/* No more threads than this stage: each has streams and memory of its own. */
enum { MAX_WORKERS = 32 };

static softqam_status open_slot(slot *s, size_t nbytes, bool is_staged)
{
    s->nbytes = nbytes;
    TRY_CUDA(cudaStreamCreateWithFlags, &s->stream, cudaStreamNonBlocking);
    TRY_CUDA(cudaMalloc, &s->on_device, s->nbytes);
    if (is_staged)
        TRY_CUDA(cudaHostAlloc, &s->staging, s->nbytes, cudaHostAllocMapped | cudaHostAllocPortable);
    return SOFTQAM_OK;
}

static softqam_status open_slots(softqam_pipeline *pipeline, const softqam_gpu *gpu)
{
    const size_t ring_nbytes = gpu->chunk_symbols * RING_SYMBOL_NBYTES + SPARE_NBYTES;
    const size_t longest = gpu->chunk_symbols * LONGEST_SYMBOL_NBYTES + SPARE_NBYTES;
    const size_t staged_nbytes = longest < STAGED_NBYTES ? longest : STAGED_NBYTES;
    for (unsigned k = 0; k < gpu->n_streams; k++)
        TRY(open_slot(&pipeline->ring[k], ring_nbytes, false));
    for (unsigned k = 0; k < pipeline->n_workers * SLOTS_PER_WORKER; k++)
        TRY(open_slot(&pipeline->staged[k], staged_nbytes, true));
    return SOFTQAM_OK;
}

static softqam_status make_pipeline(softqam_gpu *gpu)
{
    const unsigned n_workers = gpu->n_threads < MAX_WORKERS ? gpu->n_threads : MAX_WORKERS;
    const unsigned n = gpu->n_streams + n_workers * SLOTS_PER_WORKER;
    ENDED_BY(softqam_signals_restore) const sigset_t before = softqam_signals_block();
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    TRY(softqam_device_enter(&scope, gpu->device));
    softqam_pipeline *pipeline = calloc(1, sizeof *pipeline + n * sizeof pipeline->slots[0]);
    if (!pipeline)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a pipeline of %u streams", n);
    pipeline->ring = pipeline->slots;
    pipeline->staged = pipeline->slots + gpu->n_streams;
    pipeline->n_workers = n_workers;
    pipeline->streaming_nbytes = softqam_streaming_nbytes();
    pipeline->n_slots = n;
    const softqam_status status = open_slots(pipeline, gpu);
    if (status == SOFTQAM_OK)
        gpu->pipeline = pipeline;
    else
        softqam_pipeline_destroy(pipeline);
    return status;
}

softqam_status softqam_pipeline_prepare(softqam_gpu *gpu)
{
    pthread_mutex_lock(&gpu->mutex);
    const softqam_status status = gpu->pipeline ? SOFTQAM_OK : make_pipeline(gpu);
    pthread_mutex_unlock(&gpu->mutex);
    return status;
}

void softqam_pipeline_destroy(softqam_pipeline *pipeline)
{
    for (unsigned k = 0; k < pipeline->n_slots; k++) {
        slot *s = &pipeline->slots[k];
        if (!s->stream)
            break;
        (void)cudaStreamDestroy(s->stream);
        (void)cudaFree(s->on_device);
        (void)cudaFreeHost(s->staging);
    }
    free(pipeline);
}
