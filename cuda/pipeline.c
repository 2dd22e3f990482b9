/* SPDX-License-Identifier: MIT */
/* Making a pipeline: its slots, their streams and their memory. */
#include <stdlib.h>

#include "check.h"
#include "error.h"
#include "pipeline_parts.h"
#include "ranges.h"
#include "streaming.h"

/* Bytes of a staged chunk, in and out. */
enum { STAGED_NBYTES = 1 << 22 };

/* No more threads than this stage: each has streams and memory of its own. */
enum { MAX_WORKERS = 32 };

/* Memory handed out piece by piece. Without a base it only counts. */
typedef struct arena {
    unsigned char *base;
    size_t used;
} arena;

static void *arena_take(arena *a, size_t nbytes)
{
    const size_t alignment = 256;
    unsigned char *piece = a->base ? a->base + a->used : NULL;
    a->used += (nbytes + alignment - 1) / alignment * alignment;
    return piece;
}

/* Gives a slot its memory for n_symbols. */
static void slot_place(slot *s, const softqam_plan *plan, size_t n_symbols, arena *device)
{
    s->d_in = arena_take(device, n_symbols * plan->input_nbytes);
    s->d_out = arena_take(device, n_symbols * plan->output_nbytes);
    if (softqam_plan_takes_noise(plan))
        s->d_noise = arena_take(device, n_symbols * sizeof(float));
}

static void slot_place_staging(slot *s, const softqam_plan *plan, size_t n_symbols, arena *host)
{
    s->staged_in = arena_take(host, n_symbols * plan->input_nbytes);
    s->staged_out = arena_take(host, n_symbols * plan->output_nbytes);
    if (softqam_plan_takes_noise(plan))
        s->staged_noise = arena_take(host, n_symbols * sizeof(float));
}

/* Gives all slots of a device their memory on it. */
static void place_on_device(softqam_pipeline *pipeline, int device, arena *a)
{
    for (unsigned k = 0; k < n_slots(pipeline); k++) {
        slot *s = &pipeline->slots[k];
        if (s->device == device)
            slot_place(s, pipeline->plan,
                       k < n_ring_slots(pipeline) ? pipeline->chunk_symbols : pipeline->staged_symbols, a);
    }
}

static void place_on_host(softqam_pipeline *pipeline, arena *a)
{
    for (unsigned k = n_ring_slots(pipeline); k < n_slots(pipeline); k++)
        slot_place_staging(&pipeline->slots[k], pipeline->plan, pipeline->staged_symbols, a);
}

/* One allocation on each device and one of pinned memory: they cost more by number than by size. */
static softqam_status allocate(softqam_pipeline *pipeline, const int *devices)
{
    for (unsigned k = 0; k < pipeline->n_devices; k++) {
        arena a = {0};
        place_on_device(pipeline, devices[k], &a);
        TRY_CUDA(cudaSetDevice, devices[k]);
        TRY_CUDA(cudaMalloc, &pipeline->device_memory[k], a.used);
        a = (arena){pipeline->device_memory[k], 0};
        place_on_device(pipeline, devices[k], &a);
    }
    arena a = {0};
    place_on_host(pipeline, &a);
    TRY_CUDA(cudaHostAlloc, &pipeline->host_memory, a.used, cudaHostAllocMapped | cudaHostAllocPortable);
    a = (arena){pipeline->host_memory, 0};
    place_on_host(pipeline, &a);
    return SOFTQAM_OK;
}

static softqam_status create_streams(softqam_pipeline *pipeline)
{
    for (unsigned k = 0; k < n_slots(pipeline); k++) {
        slot *s = &pipeline->slots[k];
        TRY_CUDA(cudaSetDevice, s->device);
        TRY_CUDA(cudaStreamCreateWithFlags, &s->stream, cudaStreamNonBlocking);
    }
    return SOFTQAM_OK;
}

/* The ring's slots device by device, the others with the devices in turns. */
static softqam_status create_slots(softqam_pipeline *pipeline, const int *devices)
{
    for (unsigned k = 0; k < n_ring_slots(pipeline); k++)
        pipeline->ring[k].device = devices[k / pipeline->n_streams];
    for (unsigned k = 0; k < pipeline->n_workers * SLOTS_PER_WORKER; k++)
        pipeline->staged[k].device = devices[k / SLOTS_PER_WORKER % pipeline->n_devices];
    TRY(create_streams(pipeline));
    return allocate(pipeline, devices);
}

/* Whether all devices share the host's memory: integrated ones, and those that use the host's page tables. */
static softqam_status find_coherence(bool *coherent, const int *devices, unsigned n_devices)
{
    *coherent = true;
    for (unsigned k = 0; k < n_devices; k++) {
        int integrated = 0;
        int host_tables = 0;
        TRY_CUDA(cudaDeviceGetAttribute, &integrated, cudaDevAttrIntegrated, devices[k]);
        TRY_CUDA(cudaDeviceGetAttribute, &host_tables, cudaDevAttrPageableMemoryAccessUsesHostPageTables, devices[k]);
        if (!integrated && !host_tables)
            *coherent = false;
    }
    return SOFTQAM_OK;
}

static size_t staged_symbols(const softqam_plan *plan, size_t chunk_symbols)
{
    const size_t most = STAGED_NBYTES / (plan->input_nbytes + plan->output_nbytes);
    return chunk_symbols < most ? chunk_symbols : most;
}

softqam_status softqam_pipeline_create(softqam_pipeline **out, const softqam_plan *plan, softqam_pool *pool,
                                       const int *devices, unsigned n_devices, unsigned n_streams, size_t chunk_symbols)
{
    const unsigned n_threads = softqam_pool_n_threads(pool);
    const unsigned n_workers = n_threads < MAX_WORKERS ? n_threads : MAX_WORKERS;
    const size_t n = (size_t)n_devices * n_streams + n_workers * SLOTS_PER_WORKER;
    softqam_pipeline *pipeline =
        calloc(1, sizeof *pipeline + n * sizeof pipeline->slots[0] + n_devices * sizeof pipeline->device_memory[0]);
    if (!pipeline)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a pipeline of %zu streams", n);
    pipeline->plan = plan;
    pipeline->streaming_nbytes = softqam_streaming_nbytes();
    pipeline->pool = pool;
    pipeline->n_devices = n_devices;
    pipeline->chunk_symbols = chunk_symbols;
    pipeline->n_streams = n_streams;
    pipeline->ring = pipeline->slots;
    pipeline->staged_symbols = staged_symbols(plan, chunk_symbols);
    pipeline->n_workers = n_workers;
    pipeline->staged = pipeline->slots + n_devices * n_streams;
    pipeline->device_memory = (void **)(pipeline->slots + n);
    softqam_ranges_prepare();
    softqam_status status = find_coherence(&pipeline->coherent, devices, n_devices);
    if (status == SOFTQAM_OK && n_devices > 1)
        status = softqam_pool_create(&pipeline->feeders, n_devices);
    if (status == SOFTQAM_OK)
        status = create_slots(pipeline, devices);
    if (status != SOFTQAM_OK) {
        softqam_pipeline_destroy(pipeline);
        return status;
    }
    *out = pipeline;
    return SOFTQAM_OK;
}

void softqam_pipeline_destroy(softqam_pipeline *pipeline)
{
    if (!pipeline)
        return;
    for (unsigned k = 0; k < n_slots(pipeline); k++) {
        slot *s = &pipeline->slots[k];
        (void)cudaSetDevice(s->device);
        if (s->stream)
            (void)cudaStreamDestroy(s->stream);
    }
    for (unsigned k = 0; k < pipeline->n_devices; k++)
        (void)cudaFree(pipeline->device_memory[k]);
    (void)cudaFreeHost(pipeline->host_memory);
    softqam_pool_destroy(pipeline->feeders);
    free(pipeline);
}
