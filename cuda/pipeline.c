/* SPDX-License-Identifier: MIT */
#include "pipeline.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "error.h"

/* Up to this many symbols a kernel that reads and writes mapped host memory is done before two copies have started. */
enum {
    MAPPED_SYMBOLS = 65536
};

/* Bytes that one thread copies at a time between pageable memory and a slot. */
enum {
    COPY_PART_NBYTES = 256 << 10
};

/* A chunk on its way. */
typedef struct slot {
    cudaStream_t stream;
    void *d_in;
    void *d_out;
    void *staged_in; /* pinned and mapped host memory of the same sizes */
    void *staged_out;
    unsigned char *unstage_to; /* where staged_out goes when the stream is done; NULL: nowhere */
    size_t n_symbols;          /* under way; 0: idle */
} slot;

struct softqam_pipeline {
    const softqam_plan *plan;
    const softqam_kernel_grid *grid;
    softqam_pool *pool;
    size_t chunk_symbols;
    size_t in_nbytes; /* of a symbol */
    size_t out_nbytes;
    unsigned n_slots;
    slot slots[];
};

/* What CUDA knows of a caller's buffer. */
typedef struct host_buffer {
    bool pinned;
    void *d_pointer; /* the device's address of pinned memory */
} host_buffer;

static softqam_status slot_create(slot *s, size_t in_nbytes, size_t out_nbytes)
{
    TRY_CUDA(cudaStreamCreateWithFlags, &s->stream, cudaStreamNonBlocking);
    TRY_CUDA(cudaMalloc, &s->d_in, in_nbytes);
    TRY_CUDA(cudaMalloc, &s->d_out, out_nbytes);
    TRY_CUDA(cudaHostAlloc, &s->staged_in, in_nbytes, cudaHostAllocMapped);
    TRY_CUDA(cudaHostAlloc, &s->staged_out, out_nbytes, cudaHostAllocMapped);
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
    pipeline->in_nbytes = softqam_input_symbol_nbytes(plan->input_format);
    pipeline->out_nbytes = softqam_output_symbol_nbytes(plan->output_format);
    pipeline->n_slots = n_streams;
    for (unsigned k = 0; k < n_streams; k++) {
        const softqam_status status =
            slot_create(&pipeline->slots[k], chunk_symbols * pipeline->in_nbytes, chunk_symbols * pipeline->out_nbytes);
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
        (void)cudaFree(s->d_out);
        (void)cudaFreeHost(s->staged_in);
        (void)cudaFreeHost(s->staged_out);
    }
    free(pipeline);
}

typedef struct copy_job {
    unsigned char *to;
    const unsigned char *from;
    size_t nbytes;
} copy_job;

static void copy_part(void *context, size_t part)
{
    const copy_job *job = context;
    const size_t first = part * COPY_PART_NBYTES;
    const size_t left = job->nbytes - first;
    memcpy(job->to + first, job->from + first, left < COPY_PART_NBYTES ? left : COPY_PART_NBYTES);
}

/* memcpy by all the threads. */
static void copy_staged(softqam_pipeline *pipeline, void *to, const void *from, size_t nbytes)
{
    copy_job job = {to, from, nbytes};
    softqam_pool_run(pipeline->pool, copy_part, &job, (nbytes - 1) / COPY_PART_NBYTES + 1);
}

static softqam_status look_at_buffer(host_buffer *buffer, const void *memory, size_t nbytes, const char *name)
{
    struct cudaPointerAttributes first;
    struct cudaPointerAttributes last;
    TRY_CUDA(cudaPointerGetAttributes, &first, memory);
    TRY_CUDA(cudaPointerGetAttributes, &last, (const unsigned char *)memory + nbytes - 1);
    if (first.type == cudaMemoryTypeDevice)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is device memory: softqam_cuda_demodulate() takes that",
                            name);
    buffer->pinned = first.type == cudaMemoryTypeHost && last.type == cudaMemoryTypeHost;
    buffer->d_pointer = first.devicePointer;
    return SOFTQAM_OK;
}

/* Waits until a slot is idle and hands its result over. */
static softqam_status slot_finish(softqam_pipeline *pipeline, slot *s)
{
    if (s->n_symbols == 0)
        return SOFTQAM_OK;
    const size_t n_symbols = s->n_symbols;
    s->n_symbols = 0;
    TRY_CUDA(cudaStreamSynchronize, s->stream);
    if (s->unstage_to)
        copy_staged(pipeline, s->unstage_to, s->staged_out, n_symbols * pipeline->out_nbytes);
    return SOFTQAM_OK;
}

/* Issues copy in, kernel and copy out of a chunk on the slot's stream. */
static softqam_status slot_start(softqam_pipeline *pipeline, slot *s, const void *symbols, bool stage_in,
                                 size_t n_symbols, void *out, bool stage_out)
{
    const size_t in_nbytes = n_symbols * pipeline->in_nbytes;
    const size_t out_nbytes = n_symbols * pipeline->out_nbytes;
    if (stage_in)
        copy_staged(pipeline, s->staged_in, symbols, in_nbytes);
    s->n_symbols = n_symbols;
    s->unstage_to = stage_out ? out : NULL;
    TRY_CUDA(cudaMemcpyAsync, s->d_in, stage_in ? s->staged_in : symbols, in_nbytes, cudaMemcpyHostToDevice, s->stream);
    TRY_CUDA(softqam_kernel_launch, pipeline->grid, pipeline->plan, s->d_in, n_symbols, s->d_out, s->stream);
    TRY_CUDA(cudaMemcpyAsync, stage_out ? s->staged_out : out, s->d_out, out_nbytes, cudaMemcpyDeviceToHost, s->stream);
    return SOFTQAM_OK;
}

/* A small call: one kernel straight on host memory, the caller's where the device can use it as it lies. */
static softqam_status run_mapped(softqam_pipeline *pipeline, const host_buffer *in, const void *symbols,
                                 size_t n_symbols, const host_buffer *to, void *out)
{
    slot *s = &pipeline->slots[0];
    const bool stage_in = !in->pinned || (uintptr_t)in->d_pointer % pipeline->in_nbytes != 0;
    const bool stage_out = !to->pinned || (uintptr_t)to->d_pointer % 8 != 0;
    void *d_in = in->d_pointer;
    void *d_out = to->d_pointer;
    if (stage_in) {
        memcpy(s->staged_in, symbols, n_symbols * pipeline->in_nbytes);
        TRY_CUDA(cudaHostGetDevicePointer, &d_in, s->staged_in, 0);
    }
    if (stage_out)
        TRY_CUDA(cudaHostGetDevicePointer, &d_out, s->staged_out, 0);
    TRY_CUDA(softqam_kernel_launch, pipeline->grid, pipeline->plan, d_in, n_symbols, d_out, s->stream);
    TRY_CUDA(cudaStreamSynchronize, s->stream);
    if (stage_out)
        memcpy(out, s->staged_out, n_symbols * pipeline->out_nbytes);
    return SOFTQAM_OK;
}

/* A large call: slot by slot, so that one chunk's copy in, another's kernel and a third's copy out overlap. */
static softqam_status run_ring(softqam_pipeline *pipeline, bool stage_in, const unsigned char *symbols,
                               size_t n_symbols, bool stage_out, unsigned char *out)
{
    size_t next = 0;
    for (size_t first = 0; first < n_symbols; first += pipeline->chunk_symbols) {
        slot *s = &pipeline->slots[next++ % pipeline->n_slots];
        const size_t left = n_symbols - first;
        TRY(slot_finish(pipeline, s));
        TRY(slot_start(pipeline, s, symbols + first * pipeline->in_nbytes, stage_in,
                       left < pipeline->chunk_symbols ? left : pipeline->chunk_symbols,
                       out + first * pipeline->out_nbytes, stage_out));
    }
    for (unsigned k = 0; k < pipeline->n_slots; k++)
        TRY(slot_finish(pipeline, &pipeline->slots[next++ % pipeline->n_slots]));
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

softqam_status softqam_pipeline_run(softqam_pipeline *pipeline, const void *symbols, size_t n_symbols, void *out)
{
    host_buffer in;
    host_buffer to;
    TRY(look_at_buffer(&in, symbols, n_symbols * pipeline->in_nbytes, "symbols"));
    TRY(look_at_buffer(&to, out, n_symbols * pipeline->out_nbytes, "out"));
    const bool mapped = n_symbols <= MAPPED_SYMBOLS && n_symbols <= pipeline->chunk_symbols;
    const softqam_status status = mapped ? run_mapped(pipeline, &in, symbols, n_symbols, &to, out)
                                         : run_ring(pipeline, !in.pinned, symbols, n_symbols, !to.pinned, out);
    if (status != SOFTQAM_OK)
        abandon(pipeline);
    return status;
}
