/* SPDX-License-Identifier: MIT */
#include "pipeline.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "check.h"
#include "error.h"

/* Up to this many symbols a kernel that reads and writes mapped host memory is done before two copies have started. */
enum { MAPPED_SYMBOLS = 65536 };

/* Symbols that one thread copies at a time between pageable memory and a slot. */
enum { COPY_PART_SYMBOLS = 32768 };

/* A chunk on its way: part of the run of symbols that a call's blocks make together. */
typedef struct slot {
    cudaStream_t stream;
    void *d_in;
    float *d_noise;
    void *d_out;
    void *staged_in; /* pinned and mapped host memory of the same sizes */
    float *staged_noise;
    void *staged_out;
    size_t first;
    size_t n_symbols; /* 0: idle */
} slot;

struct softqam_pipeline {
    const softqam_plan *plan;
    const softqam_kernel_grid *grid;
    softqam_pool *pool;
    size_t chunk_symbols;
    unsigned n_slots;
    slot slots[];
};

/* One of a call's three streams of data. */
typedef enum route {
    ROUTE_NONE,   /* none, or one noise variance as a kernel's argument */
    ROUTE_DIRECT, /* pinned memory of the caller, in one piece */
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

static softqam_status slot_create(slot *s, const softqam_plan *plan, size_t n_symbols)
{
    TRY_CUDA(cudaStreamCreateWithFlags, &s->stream, cudaStreamNonBlocking);
    TRY_CUDA(cudaMalloc, &s->d_in, n_symbols * plan->input_nbytes);
    TRY_CUDA(cudaMalloc, &s->d_out, n_symbols * plan->output_nbytes);
    TRY_CUDA(cudaHostAlloc, &s->staged_in, n_symbols * plan->input_nbytes, cudaHostAllocMapped);
    TRY_CUDA(cudaHostAlloc, &s->staged_out, n_symbols * plan->output_nbytes, cudaHostAllocMapped);
    if (softqam_plan_takes_noise(plan)) {
        TRY_CUDA(cudaMalloc, (void **)&s->d_noise, n_symbols * sizeof(float));
        TRY_CUDA(cudaHostAlloc, (void **)&s->staged_noise, n_symbols * sizeof(float), cudaHostAllocMapped);
    }
    return SOFTQAM_OK;
}

softqam_status softqam_pipeline_create(softqam_pipeline **out, const softqam_plan *plan,
                                       const softqam_kernel_grid *grid, softqam_pool *pool, unsigned n_streams,
                                       size_t chunk_symbols)
{
    softqam_pipeline *pipeline = calloc(1, sizeof *pipeline + n_streams * sizeof pipeline->slots[0]);
    if (!pipeline)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a pipeline of %u streams", n_streams);
    pipeline->plan = plan;
    pipeline->grid = grid;
    pipeline->pool = pool;
    pipeline->chunk_symbols = chunk_symbols;
    pipeline->n_slots = n_streams;
    for (unsigned k = 0; k < n_streams; k++) {
        const softqam_status status = slot_create(&pipeline->slots[k], plan, chunk_symbols);
        if (status != SOFTQAM_OK) {
            softqam_pipeline_destroy(pipeline);
            return status;
        }
    }
    *out = pipeline;
    return SOFTQAM_OK;
}

void softqam_pipeline_destroy(softqam_pipeline *pipeline)
{
    if (!pipeline)
        return;
    for (unsigned k = 0; k < pipeline->n_slots; k++) {
        slot *s = &pipeline->slots[k];
        if (s->stream)
            (void)cudaStreamDestroy(s->stream);
        (void)cudaFree(s->d_in);
        (void)cudaFree(s->d_noise);
        (void)cudaFree(s->d_out);
        (void)cudaFreeHost(s->staged_in);
        (void)cudaFreeHost(s->staged_noise);
        (void)cudaFreeHost(s->staged_out);
    }
    free(pipeline);
}

/* A copy between a slot's staging memory and the blocks, by all the threads. */
typedef struct staging_job {
    const run *run;
    const slot *slot;
} staging_job;

static softqam_cursor part_cursor(const staging_job *job, size_t part, size_t *offset, size_t *left)
{
    *offset = part * COPY_PART_SYMBOLS;
    *left = job->slot->n_symbols - *offset;
    if (*left > COPY_PART_SYMBOLS)
        *left = COPY_PART_SYMBOLS;
    return softqam_cursor_at(job->run->pipeline->plan, job->run->blocks, job->run->n_blocks,
                             job->slot->first + *offset);
}

static void gather_part(void *context, size_t part)
{
    const staging_job *job = context;
    const softqam_plan *plan = job->run->pipeline->plan;
    size_t offset;
    size_t left;
    softqam_cursor cursor = part_cursor(job, part, &offset, &left);
    while (left > 0) {
        const softqam_block piece = softqam_cursor_take(&cursor, left);
        if (job->run->in == ROUTE_STAGED)
            softqam_block_gather_symbols(plan, &piece,
                                         (unsigned char *)job->slot->staged_in + offset * plan->input_nbytes);
        if (job->run->noise == ROUTE_STAGED)
            softqam_block_gather_noise(&piece, job->slot->staged_noise + offset);
        offset += piece.n_symbols;
        left -= piece.n_symbols;
    }
}

static void scatter_part(void *context, size_t part)
{
    const staging_job *job = context;
    const size_t nbytes = job->run->pipeline->plan->output_nbytes;
    size_t offset;
    size_t left;
    softqam_cursor cursor = part_cursor(job, part, &offset, &left);
    while (left > 0) {
        const softqam_block piece = softqam_cursor_take(&cursor, left);
        memcpy(piece.out, (const unsigned char *)job->slot->staged_out + offset * nbytes, piece.n_symbols * nbytes);
        offset += piece.n_symbols;
        left -= piece.n_symbols;
    }
}

static void stage(const run *r, const slot *s, softqam_pool_task *task)
{
    staging_job job = {r, s};
    softqam_pool_run(r->pipeline->pool, task, &job, (s->n_symbols - 1) / COPY_PART_SYMBOLS + 1);
}

static void stage_inputs(const run *r, const slot *s)
{
    if (r->in == ROUTE_STAGED || r->noise == ROUTE_STAGED)
        stage(r, s, gather_part);
}

static void unstage_output(const run *r, const slot *s)
{
    if (r->out == ROUTE_STAGED)
        stage(r, s, scatter_part);
}

/* The caller's memory for a slot's chunk, where the call has one block. */
static softqam_block direct_piece(const run *r, const slot *s)
{
    softqam_cursor cursor = softqam_cursor_at(r->pipeline->plan, r->blocks, r->n_blocks, s->first);
    return softqam_cursor_take(&cursor, s->n_symbols);
}

/* Waits until a slot is idle and hands its result over. */
static softqam_status slot_finish(const run *r, slot *s)
{
    if (s->n_symbols == 0)
        return SOFTQAM_OK;
    TRY_CUDA(cudaStreamSynchronize, s->stream);
    unstage_output(r, s);
    s->n_symbols = 0;
    return SOFTQAM_OK;
}

/* Issues copy in, kernel and copy out of a chunk on the slot's stream. */
static softqam_status slot_start(const run *r, slot *s, size_t first, size_t n_symbols)
{
    const softqam_plan *plan = r->pipeline->plan;
    s->first = first;
    s->n_symbols = n_symbols;
    stage_inputs(r, s);
    const softqam_block piece = direct_piece(r, s);
    const softqam_block on_device = {.n_symbols = n_symbols,
                                     .symbols = s->d_in,
                                     .noise_var = r->noise == ROUTE_NONE ? NULL : s->d_noise,
                                     .noise_stride = r->noise == ROUTE_NONE ? 0 : 1,
                                     .out = s->d_out};
    TRY_CUDA(cudaMemcpyAsync, s->d_in, r->in == ROUTE_STAGED ? s->staged_in : piece.symbols,
             n_symbols * plan->input_nbytes, cudaMemcpyHostToDevice, s->stream);
    if (r->noise != ROUTE_NONE)
        TRY_CUDA(cudaMemcpyAsync, s->d_noise, r->noise == ROUTE_STAGED ? s->staged_noise : piece.noise_var,
                 n_symbols * sizeof(float), cudaMemcpyHostToDevice, s->stream);
    TRY_CUDA(softqam_kernel_launch, r->pipeline->grid, plan, &on_device, 1, r->noise_var, s->stream);
    TRY_CUDA(cudaMemcpyAsync, r->out == ROUTE_STAGED ? s->staged_out : piece.out, s->d_out,
             n_symbols * plan->output_nbytes, cudaMemcpyDeviceToHost, s->stream);
    return SOFTQAM_OK;
}

/* A large call: slot by slot, so that one chunk's copy in, another's kernel and a third's copy out overlap. */
static softqam_status run_ring(const run *r)
{
    softqam_pipeline *pipeline = r->pipeline;
    size_t next = 0;
    for (size_t first = 0; first < r->n_symbols; first += pipeline->chunk_symbols) {
        slot *s = &pipeline->slots[next++ % pipeline->n_slots];
        const size_t left = r->n_symbols - first;
        TRY(slot_finish(r, s));
        TRY(slot_start(r, s, first, left < pipeline->chunk_symbols ? left : pipeline->chunk_symbols));
    }
    for (unsigned k = 0; k < pipeline->n_slots; k++)
        TRY(slot_finish(r, &pipeline->slots[next++ % pipeline->n_slots]));
    return SOFTQAM_OK;
}

/* The device's address of host memory that it can reach. */
static softqam_status device_address(void **address, const void *host)
{
    TRY_CUDA(cudaHostGetDevicePointer, address, (void *)(uintptr_t)host, 0);
    return SOFTQAM_OK;
}

/* A small call: one kernel straight on host memory, the caller's where the device can use it as it lies. */
static softqam_status run_mapped(run *r)
{
    const softqam_plan *plan = r->pipeline->plan;
    slot *s = &r->pipeline->slots[0];
    const softqam_block *caller = &r->blocks[0];
    if ((uintptr_t)caller->symbols % softqam_kernel_input_alignment(plan, caller) != 0)
        r->in = ROUTE_STAGED;
    if ((uintptr_t)caller->out % softqam_kernel_output_alignment(plan) != 0)
        r->out = ROUTE_STAGED;
    s->first = 0;
    s->n_symbols = r->n_symbols;
    stage_inputs(r, s);
    const softqam_block piece = direct_piece(r, s);
    void *d_in;
    void *d_noise = NULL;
    void *d_out;
    TRY(device_address(&d_in, r->in == ROUTE_STAGED ? s->staged_in : piece.symbols));
    if (r->noise != ROUTE_NONE)
        TRY(device_address(&d_noise, r->noise == ROUTE_STAGED ? s->staged_noise : piece.noise_var));
    TRY(device_address(&d_out, r->out == ROUTE_STAGED ? s->staged_out : piece.out));
    const softqam_block mapped = {.n_symbols = r->n_symbols,
                                  .symbols = d_in,
                                  .noise_var = d_noise,
                                  .noise_stride = d_noise ? 1 : 0,
                                  .out = d_out};
    TRY_CUDA(softqam_kernel_launch, r->pipeline->grid, plan, &mapped, 1, r->noise_var, s->stream);
    return slot_finish(r, s);
}

/* Whether a buffer may be copied from or to as it lies; device memory is refused. */
static softqam_status find_route(route *found, const void *memory, size_t nbytes, const char *name)
{
    struct cudaPointerAttributes first;
    struct cudaPointerAttributes last;
    TRY_CUDA(cudaPointerGetAttributes, &first, memory);
    TRY_CUDA(cudaPointerGetAttributes, &last, (const unsigned char *)memory + nbytes - 1);
    if (first.type == cudaMemoryTypeDevice)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is device memory: softqam_cuda_demodulate() takes that",
                            name);
    const bool pinned = first.type == cudaMemoryTypeHost && last.type == cudaMemoryTypeHost;
    *found = pinned ? ROUTE_DIRECT : ROUTE_STAGED;
    return SOFTQAM_OK;
}

/* A call of several blocks is staged as a whole; one block may be pinned memory. */
static softqam_status find_routes(run *r)
{
    const softqam_plan *plan = r->pipeline->plan;
    const softqam_block *block = &r->blocks[0];
    const size_t n = block->n_symbols;
    r->in = ROUTE_STAGED;
    r->out = ROUTE_STAGED;
    r->noise = softqam_plan_takes_noise(plan) ? ROUTE_STAGED : ROUTE_NONE;
    if (r->n_blocks != 1)
        return SOFTQAM_OK;
    if (!block->symbols_q && block->symbol_stride <= 1)
        TRY(find_route(&r->in, block->symbols, n * plan->input_nbytes, "symbols"));
    TRY(find_route(&r->out, block->out, n * plan->output_nbytes, "out"));
    if (r->noise == ROUTE_STAGED && block->noise_stride == 0) {
        r->noise = ROUTE_NONE;
        r->noise_var = block->noise_var[0];
    } else if (r->noise == ROUTE_STAGED && block->noise_stride == 1) {
        TRY(find_route(&r->noise, block->noise_var, n * sizeof(float), "noise_var"));
    }
    return SOFTQAM_OK;
}

/* After a failure: lets what is under way run out, whatever becomes of it. */
static void abandon(softqam_pipeline *pipeline)
{
    for (unsigned k = 0; k < pipeline->n_slots; k++) {
        (void)cudaStreamSynchronize(pipeline->slots[k].stream);
        pipeline->slots[k].n_symbols = 0;
    }
    (void)cudaGetLastError();
}

softqam_status softqam_pipeline_run(softqam_pipeline *pipeline, const softqam_block *blocks, size_t n_blocks)
{
    run r = {.pipeline = pipeline,
             .blocks = blocks,
             .n_blocks = n_blocks,
             .n_symbols = softqam_blocks_count(blocks, n_blocks)};
    TRY(find_routes(&r));
    const bool mapped = r.n_symbols <= MAPPED_SYMBOLS && r.n_symbols <= pipeline->chunk_symbols;
    const softqam_status status = mapped ? run_mapped(&r) : run_ring(&r);
    if (status != SOFTQAM_OK)
        abandon(pipeline);
    return status;
}
