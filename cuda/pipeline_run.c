/* SPDX-License-Identifier: MIT */
/* A call through a pipeline: which way it takes, and that way. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "block.h"
#include "check.h"
#include "error.h"
#include "pipeline_parts.h"
#include "ranges.h"
#include "streaming.h"

/* A call of up to so many bytes in and out is one kernel that reads and writes host memory itself across the bus.
 * Longer ones are faster as copies (README.md has both ways' times). */
enum { MAPPED_NBYTES = 1 << 22 };

/* A call is cut into several chunks for each slot even if they get short, down to this, so that both directions of the
 * bus are busy at once. */
enum { CHUNKS_PER_SLOT = 2, MIN_CHUNK_SYMBOLS = 1 << 16 };

/* One of a call's three streams of data. */
typedef enum route {
    ROUTE_NONE,   /* none, or one noise variance as a kernel's argument */
    ROUTE_DIRECT, /* memory of the caller that the device reaches, in one piece */
    ROUTE_STAGED  /* gathered to or scattered from a slot's pinned memory */
} route;

/* A call under way. */
typedef struct run {
    softqam_pipeline *pipeline;
    const softqam_block *blocks;
    size_t n_blocks;
    size_t n_symbols;
    route in;
    route noise;
    route out;
    float noise_var; /* of all symbols, with ROUTE_NONE */
} run;

/* Gathers what a slot's chunk takes of pageable memory. */
static void gather(const run *r, const slot *s)
{
    const softqam_plan *plan = r->pipeline->plan;
    if (r->in != ROUTE_STAGED && r->noise != ROUTE_STAGED)
        return;
    softqam_cursor cursor = softqam_cursor_at(plan, r->blocks, r->n_blocks, s->first);
    for (size_t offset = 0; offset < s->n_symbols;) {
        const softqam_block piece = softqam_cursor_take(&cursor, s->n_symbols - offset);
        if (r->in == ROUTE_STAGED)
            softqam_block_gather_symbols(plan, &piece, (unsigned char *)s->staged_in + offset * plan->input_nbytes);
        if (r->noise == ROUTE_STAGED)
            softqam_block_gather_noise(&piece, s->staged_noise + offset);
        offset += piece.n_symbols;
    }
}

static void scatter(const run *r, const slot *s)
{
    const size_t nbytes = r->pipeline->plan->output_nbytes;
    const bool streaming = r->n_symbols * nbytes >= r->pipeline->streaming_nbytes;
    if (r->out != ROUTE_STAGED)
        return;
    softqam_cursor cursor = softqam_cursor_at(r->pipeline->plan, r->blocks, r->n_blocks, s->first);
    for (size_t offset = 0; offset < s->n_symbols;) {
        const softqam_block piece = softqam_cursor_take(&cursor, s->n_symbols - offset);
        const unsigned char *staged = (const unsigned char *)s->staged_out + offset * nbytes;
        if (streaming)
            softqam_copy_streaming(piece.out, staged, piece.n_symbols * nbytes);
        else
            memcpy(piece.out, staged, piece.n_symbols * nbytes);
        offset += piece.n_symbols;
    }
}

/* The host memory of a slot's chunk, the caller's or the slot's own. */
typedef struct host_chunk {
    const void *in;
    const float *noise;
    void *out;
} host_chunk;

static host_chunk slot_host_chunk(const run *r, const slot *s)
{
    softqam_cursor cursor = softqam_cursor_at(r->pipeline->plan, r->blocks, r->n_blocks, s->first);
    const softqam_block piece = softqam_cursor_take(&cursor, s->n_symbols);
    return (host_chunk){.in = r->in == ROUTE_STAGED ? s->staged_in : piece.symbols,
                        .noise = r->noise == ROUTE_STAGED ? s->staged_noise : piece.noise_var,
                        .out = r->out == ROUTE_STAGED ? s->staged_out : piece.out};
}

/* Waits until a slot is idle and hands its result over. */
static softqam_status slot_finish(const run *r, slot *s)
{
    if (s->n_symbols == 0)
        return SOFTQAM_OK;
    TRY_CUDA(cudaStreamSynchronize, s->stream);
    scatter(r, s);
    s->n_symbols = 0;
    return SOFTQAM_OK;
}

/* Issues copy in, kernel and copy out of a chunk on the slot's stream. */
static softqam_status slot_start(const run *r, slot *s, size_t first, size_t n_symbols)
{
    const softqam_plan *plan = r->pipeline->plan;
    s->first = first;
    s->n_symbols = n_symbols;
    gather(r, s);
    const host_chunk host = slot_host_chunk(r, s);
    const softqam_block on_device = {.n_symbols = n_symbols,
                                     .symbols = s->d_in,
                                     .noise_var = r->noise == ROUTE_NONE ? NULL : s->d_noise,
                                     .noise_stride = r->noise == ROUTE_NONE ? 0 : 1,
                                     .out = s->d_out};
    TRY_CUDA(cudaMemcpyAsync, s->d_in, host.in, n_symbols * plan->input_nbytes, cudaMemcpyHostToDevice, s->stream);
    if (r->noise != ROUTE_NONE)
        TRY_CUDA(cudaMemcpyAsync, s->d_noise, host.noise, n_symbols * sizeof(float), cudaMemcpyHostToDevice, s->stream);
    TRY_CUDA(softqam_kernel_launch, plan, &on_device, 1, r->noise_var, s->stream);
    TRY_CUDA(cudaMemcpyAsync, host.out, s->d_out, n_symbols * plan->output_nbytes, cudaMemcpyDeviceToHost, s->stream);
    return SOFTQAM_OK;
}

/* A large call's chunks, dealt to workers as they ask for more. Each worker is a thread with slots of its own. */
typedef struct chunk_job {
    const run *run;
    slot *slots;
    unsigned slots_per_worker;
    size_t chunk_symbols;
    atomic_size_t next; /* first symbol that no worker has taken */

    atomic_bool failed;
    pthread_mutex_t mutex; /* guards what follows */
    softqam_status status; /* of the first failure */
    softqam_error_note note;
    size_t n_done; /* symbols before the first that a worker took and could not finish */
} chunk_job;

/* After a worker's failure, which left the chunk from symbol `first` on unfinished. */
static void give_up(chunk_job *job, softqam_status status, size_t first)
{
    pthread_mutex_lock(&job->mutex);
    if (job->status == SOFTQAM_OK) {
        job->status = status;
        job->note = softqam_error_note_take();
    }
    if (first < job->n_done)
        job->n_done = first;
    pthread_mutex_unlock(&job->mutex);
    atomic_store(&job->failed, true);
}

/* Slot by slot, so that one chunk's copy in, another's kernel and a third's copy out overlap. */
static void work_through_chunks(void *context, size_t worker)
{
    chunk_job *job = context;
    const run *r = job->run;
    slot *slots = job->slots + worker * job->slots_per_worker;
    softqam_status status = softqam_cuda_status(cudaSetDevice(slots[0].device), "cudaSetDevice");
    if (status != SOFTQAM_OK)
        give_up(job, status, atomic_load(&job->next));
    unsigned turn = 0;
    while (!atomic_load(&job->failed)) {
        const size_t first = atomic_fetch_add(&job->next, job->chunk_symbols);
        if (first >= r->n_symbols)
            break;
        const size_t left = r->n_symbols - first;
        slot *s = &slots[turn++ % job->slots_per_worker];
        const size_t previous = s->n_symbols ? s->first : first;
        softqam_range_begin("softqam: chunk from symbol", first);
        status = slot_finish(r, s);
        if (status == SOFTQAM_OK)
            status = slot_start(r, s, first, left < job->chunk_symbols ? left : job->chunk_symbols);
        softqam_range_end();
        if (status != SOFTQAM_OK)
            give_up(job, status, s->first == first ? first : previous);
    }
    for (unsigned k = 0; k < job->slots_per_worker; k++) {
        slot *s = &slots[turn++ % job->slots_per_worker];
        const size_t first = s->first;
        status = slot_finish(r, s);
        if (status != SOFTQAM_OK)
            give_up(job, status, first);
    }
}

static softqam_status run_chunks(const run *r, softqam_pool *pool, slot *slots, unsigned n_workers,
                                 unsigned slots_per_worker, size_t chunk_symbols, size_t *n_done)
{
    chunk_job job = {.run = r,
                     .slots = slots,
                     .slots_per_worker = slots_per_worker,
                     .chunk_symbols = chunk_symbols,
                     .status = SOFTQAM_OK,
                     .n_done = r->n_symbols};
    pthread_mutex_init(&job.mutex, NULL);
    softqam_pool_run(pool, work_through_chunks, &job, n_workers);
    pthread_mutex_destroy(&job.mutex);
    if (job.status != SOFTQAM_OK) {
        const size_t untaken = atomic_load(&job.next);
        *n_done = untaken < job.n_done ? untaken : job.n_done;
        softqam_error_note_restore(&job.note);
    }
    return job.status;
}

static softqam_status run_ring(const run *r, size_t *n_done)
{
    softqam_pipeline *pipeline = r->pipeline;
    size_t chunk = r->n_symbols / (CHUNKS_PER_SLOT * n_ring_slots(pipeline)) + 1;
    if (chunk < MIN_CHUNK_SYMBOLS)
        chunk = MIN_CHUNK_SYMBOLS;
    if (chunk > pipeline->chunk_symbols)
        chunk = pipeline->chunk_symbols;
    /* One device is fed by the calling thread. */
    softqam_pool *pool = pipeline->feeders ? pipeline->feeders : pipeline->pool;
    return run_chunks(r, pool, pipeline->ring, pipeline->n_devices, pipeline->n_streams, chunk, n_done);
}

static softqam_status run_staged(const run *r, size_t *n_done)
{
    softqam_pipeline *pipeline = r->pipeline;
    return run_chunks(r, pipeline->pool, pipeline->staged, pipeline->n_workers, SLOTS_PER_WORKER,
                      pipeline->staged_symbols, n_done);
}

/* The device's address of host memory that it can reach. */
static softqam_status device_address(const softqam_pipeline *pipeline, void **address, const void *host)
{
    *address = (void *)(uintptr_t)host;
    if (!pipeline->coherent)
        TRY_CUDA(cudaHostGetDevicePointer, address, (void *)(uintptr_t)host, 0);
    return SOFTQAM_OK;
}

/* A small call: one kernel straight on host memory, the caller's where the device can use it as it lies. */
static softqam_status run_mapped(const run *r)
{
    const softqam_pipeline *pipeline = r->pipeline;
    const softqam_plan *plan = pipeline->plan;
    slot *s = &pipeline->staged[0];
    s->first = 0;
    s->n_symbols = r->n_symbols;
    gather(r, s);
    const host_chunk host = slot_host_chunk(r, s);
    softqam_block mapped = {.n_symbols = r->n_symbols, .noise_stride = r->noise == ROUTE_NONE ? 0 : 1};
    void *address;
    TRY_CUDA(cudaSetDevice, s->device);
    TRY(device_address(pipeline, &address, host.in));
    mapped.symbols = address;
    if (r->noise != ROUTE_NONE) {
        TRY(device_address(pipeline, &address, host.noise));
        mapped.noise_var = address;
    }
    TRY(device_address(pipeline, &address, host.out));
    mapped.out = address;
    TRY_CUDA(softqam_kernel_launch, plan, &mapped, 1, r->noise_var, s->stream);
    return slot_finish(r, s);
}

/* Whether a buffer may be used as it lies; device memory is refused. */
static softqam_status find_route(const softqam_pipeline *pipeline, route *found, const void *memory, size_t nbytes,
                                 const char *name)
{
    struct cudaPointerAttributes first;
    struct cudaPointerAttributes last;
    TRY_CUDA(cudaPointerGetAttributes, &first, memory);
    TRY_CUDA(cudaPointerGetAttributes, &last, (const unsigned char *)memory + nbytes - 1);
    if (first.type == cudaMemoryTypeDevice)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is device memory: softqam_cuda_demodulate() takes that",
                            name);
    const bool pinned = first.type == cudaMemoryTypeHost && last.type == cudaMemoryTypeHost;
    *found = pinned || pipeline->coherent ? ROUTE_DIRECT : ROUTE_STAGED;
    return SOFTQAM_OK;
}

/* A call of several blocks is staged as a whole; one block may be memory that the devices reach. */
static softqam_status find_routes(run *r)
{
    const softqam_pipeline *pipeline = r->pipeline;
    const softqam_plan *plan = pipeline->plan;
    const softqam_block *block = &r->blocks[0];
    const size_t n = block->n_symbols;
    r->in = ROUTE_STAGED;
    r->out = ROUTE_STAGED;
    r->noise = softqam_plan_takes_noise(plan) ? ROUTE_STAGED : ROUTE_NONE;
    if (r->n_blocks != 1)
        return SOFTQAM_OK;
    if (!block->symbols_q && block->symbol_stride <= 1)
        TRY(find_route(pipeline, &r->in, block->symbols, n * plan->input_nbytes, "symbols"));
    TRY(find_route(pipeline, &r->out, block->out, n * plan->output_nbytes, "out"));
    if (r->noise == ROUTE_STAGED && block->noise_stride == 0) {
        r->noise = ROUTE_NONE;
        r->noise_var = block->noise_var[0];
    } else if (r->noise == ROUTE_STAGED && block->noise_stride == 1) {
        TRY(find_route(pipeline, &r->noise, block->noise_var, n * sizeof(float), "noise_var"));
    }
    return SOFTQAM_OK;
}

static bool is_staged(const run *r)
{
    return r->in == ROUTE_STAGED || r->noise == ROUTE_STAGED || r->out == ROUTE_STAGED;
}

softqam_status softqam_pipeline_reaches(softqam_pipeline *pipeline, const softqam_block *blocks, size_t n_blocks,
                                        bool *reached)
{
    run r = {.pipeline = pipeline, .blocks = blocks, .n_blocks = n_blocks};
    TRY(find_routes(&r));
    *reached = !is_staged(&r);
    return SOFTQAM_OK;
}

/* After a failure: lets what is under way run out, whatever becomes of it. */
static void abandon(softqam_pipeline *pipeline)
{
    for (unsigned k = 0; k < n_slots(pipeline); k++) {
        (void)cudaStreamSynchronize(pipeline->slots[k].stream);
        pipeline->slots[k].n_symbols = 0;
    }
    (void)cudaGetLastError();
}

/* Whether a call is one kernel on host memory. Kernels take only what is aligned for them: the rest is staged. */
static bool goes_mapped(run *r)
{
    const softqam_pipeline *pipeline = r->pipeline;
    const softqam_plan *plan = pipeline->plan;
    const softqam_block *caller = &r->blocks[0];
    const bool in_aligned = (uintptr_t)caller->symbols % softqam_kernel_input_alignment(plan, caller) == 0;
    const bool out_aligned = (uintptr_t)caller->out % softqam_kernel_output_alignment(plan) == 0;
    if (pipeline->coherent && !is_staged(r) && in_aligned && out_aligned)
        return true;
    if (r->n_symbols > MAPPED_NBYTES / (plan->input_nbytes + plan->output_nbytes) ||
        r->n_symbols > pipeline->staged_symbols)
        return false;
    r->in = in_aligned ? r->in : ROUTE_STAGED;
    r->out = out_aligned ? r->out : ROUTE_STAGED;
    return true;
}

softqam_status softqam_pipeline_run(softqam_pipeline *pipeline, const softqam_block *blocks, size_t n_blocks,
                                    size_t *n_done)
{
    run r = {.pipeline = pipeline,
             .blocks = blocks,
             .n_blocks = n_blocks,
             .n_symbols = softqam_blocks_count(blocks, n_blocks)};
    *n_done = 0;
    TRY(find_routes(&r));
    softqam_status status;
    if (goes_mapped(&r))
        status = run_mapped(&r);
    else
        status = is_staged(&r) ? run_staged(&r, n_done) : run_ring(&r, n_done);
    if (status == SOFTQAM_OK)
        *n_done = r.n_symbols;
    else
        abandon(pipeline);
    return status;
}
