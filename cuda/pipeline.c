/* SPDX-License-Identifier: MIT */
/* Making the pipeline: its slots, their streams and their memory. */
#include <stdlib.h>

#include "gpu_parts.h"
#include "ranges.h"
#include "streaming.h"

/* A slot of the ring has room for 20 bytes of each of a chunk's symbols, in, out and for noise: what softqam.h
 * promises, and u8 and s8 of cf32 with a noise value for each symbol need. */
enum { RING_SYMBOL_NBYTES = 20 };

/* A staged slot: bytes, in, out and for noise, but no more than for a chunk of the longest symbols, 1024QAM from cf32
 * to f32. */
enum { STAGED_NBYTES = 1 << 22, LONGEST_SYMBOL_NBYTES = 8 + 4 + MAX_SYMBOL_BITS * sizeof(float) };

/* For aligning a chunk's parts, and so that one symbol always fits. */
enum { SLOT_SPARE_NBYTES = 1024 };

/* No more threads than this stage: each has streams and memory of its own. */
enum { MAX_WORKERS = 32 };

/* A multiple of what a kernel's widest access, and a line of memory, must be aligned to. */
static size_t aligned(size_t nbytes) { return (nbytes + 255) / 256 * 256; }

/* The ring's slots device by device, the others with the devices in turns. */
static void place_slots(softqam_pipeline *pipeline, const softqam_gpu *gpu)
{
    const size_t longest = gpu->chunk_symbols * LONGEST_SYMBOL_NBYTES + SLOT_SPARE_NBYTES;
    for (unsigned k = 0; k < pipeline->n_slots; k++) {
        slot *s = &pipeline->slots[k];
        if (s < pipeline->staged) {
            s->device = gpu->devices[k / gpu->n_streams];
            s->nbytes = aligned(gpu->chunk_symbols * RING_SYMBOL_NBYTES + SLOT_SPARE_NBYTES);
        } else {
            s->device = gpu->devices[(k - pipeline->n_ring_slots) / SLOTS_PER_WORKER % gpu->n_devices];
            s->nbytes = aligned(longest < STAGED_NBYTES ? longest : STAGED_NBYTES);
        }
    }
}

/* One allocation of all the memory of a device's slots: they cost more by number than by size. */
static softqam_status allocate_on_device(softqam_pipeline *pipeline, int device)
{
    size_t nbytes = 0;
    void *memory = NULL;
    for (unsigned k = 0; k < pipeline->n_slots; k++)
        if (pipeline->slots[k].device == device)
            nbytes += pipeline->slots[k].nbytes;
    TRY_CUDA(cudaSetDevice, device);
    TRY_CUDA(cudaMalloc, &memory, nbytes);
    unsigned char *next = memory;
    for (unsigned k = 0; k < pipeline->n_slots; k++) {
        slot *s = &pipeline->slots[k];
        if (s->device == device) {
            s->on_device = next;
            next += s->nbytes;
            TRY_CUDA(cudaStreamCreateWithFlags, &s->stream, cudaStreamNonBlocking);
        }
    }
    return SOFTQAM_OK;
}

static softqam_status allocate(softqam_pipeline *pipeline, const softqam_gpu *gpu)
{
    const unsigned n_staged = pipeline->n_slots - pipeline->n_ring_slots;
    const size_t nbytes = pipeline->staged[0].nbytes;
    void *memory = NULL;
    for (unsigned k = 0; k < gpu->n_devices; k++)
        TRY(allocate_on_device(pipeline, gpu->devices[k]));
    TRY_CUDA(cudaHostAlloc, &memory, n_staged * nbytes, cudaHostAllocMapped | cudaHostAllocPortable);
    for (unsigned k = 0; k < n_staged; k++)
        pipeline->staged[k].staging = (unsigned char *)memory + k * nbytes;
    if (gpu->n_devices == 1)
        return SOFTQAM_OK;
    TRY(softqam_pool_create(&pipeline->feeders, gpu->n_devices, &gpu->scheduling));
    return softqam_pool_start(pipeline->feeders);
}

softqam_status softqam_pipeline_prepare(softqam_gpu *gpu, unsigned n_workers)
{
    if (gpu->pipeline)
        return SOFTQAM_OK;
    n_workers = n_workers < MAX_WORKERS ? n_workers : MAX_WORKERS;
    const unsigned n_ring_slots = gpu->n_devices * gpu->n_streams;
    const unsigned n = n_ring_slots + n_workers * SLOTS_PER_WORKER;
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    TRY(softqam_device_enter(&scope, gpu->devices, 1));
    softqam_pipeline *pipeline = calloc(1, sizeof *pipeline + n * sizeof pipeline->slots[0]);
    if (!pipeline)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a pipeline of %u streams", n);
    pipeline->ring = pipeline->slots;
    pipeline->n_ring_slots = n_ring_slots;
    pipeline->staged = pipeline->slots + n_ring_slots;
    pipeline->n_workers = n_workers;
    pipeline->streaming_nbytes = softqam_streaming_nbytes();
    pipeline->n_slots = n;
    place_slots(pipeline, gpu);
    softqam_ranges_prepare();
    const softqam_status status = allocate(pipeline, gpu);
    if (status == SOFTQAM_OK)
        gpu->pipeline = pipeline;
    else
        softqam_pipeline_destroy(gpu, pipeline);
    return status;
}

void softqam_pipeline_destroy(softqam_gpu *gpu, softqam_pipeline *pipeline)
{
    for (unsigned k = 0; k < pipeline->n_slots; k++) {
        slot *s = &pipeline->slots[k];
        if (s->stream) {
            (void)cudaSetDevice(s->device);
            (void)cudaStreamDestroy(s->stream);
        }
    }
    for (unsigned k = 0; k < gpu->n_devices; k++) {
        (void)cudaSetDevice(gpu->devices[k]);
        (void)cudaFree(pipeline->ring[k * gpu->n_streams].on_device);
    }
    (void)cudaFreeHost(pipeline->staged[0].staging);
    softqam_pool_destroy(pipeline->feeders);
    free(pipeline);
}
