/* SPDX-License-Identifier: MIT */
/* A host-memory call: which way it takes through the pipeline, and that way. */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "error.h"
#include "float_environment.h"
#include "gpu_parts.h"
#include "kernels.h"
#include "ranges.h"
#include "soft_buffer.h"
#include "streaming.h"

/* A call of up to so many bytes in and out is one kernel that reads and writes host memory itself across the bus.
 * Longer ones are faster as copies (PERFORMANCE.md has both ways' times). */
enum { MAPPED_NBYTES = 1 << 22 };

/* A call is cut into several chunks for each slot even if they get short, down to this, so that both directions of the
 * bus are busy at once. */
enum { CHUNKS_PER_SLOT = 2, MIN_CHUNK_SYMBOLS = 1 << 16 };

/* One of a call's streams of data: symbols, noise, gains and values. */
typedef enum route {
    ROUTE_NONE,   /* no noise or gains, or none that a symbol has of its own */
    ROUTE_DIRECT, /* memory of the caller that the devices reach, in one piece */
    ROUTE_STAGED  /* gathered to or scattered from a slot's pinned memory */
} route;

/* A call under way. */
typedef struct run {
    const softqam_gpu *gpu;
    softqam_pool *pool;
    const softqam_segment_list *list;
    size_t value_nbytes; /* most that a symbol's values take */
    route in;
    route noise;
    route gain;
    route out;
} run;

/* A chunk's memory, on the device, mapped, or of the host: symbols, noise, gains and values, each side by side. A gain
 * lies where its symbol's noise value does. */
typedef struct chunk_memory {
    unsigned char *in;
    unsigned char *noise;
    unsigned char *gain;
    unsigned char *out;
} chunk_memory;

enum { PART_ALIGNMENT = 256 };

static size_t aligned_part(size_t nbytes) { return (nbytes + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT; }

/* How n_symbols symbols lie in a slot's memory. */
static chunk_memory divide(const run *r, unsigned char *memory, size_t n_symbols)
{
    chunk_memory parts;
    parts.in = memory;
    parts.noise = parts.in + aligned_part(n_symbols * r->list->params->input_nbytes);
    parts.gain = parts.noise + (r->noise == ROUTE_NONE ? 0 : aligned_part(n_symbols * sizeof(float)));
    parts.out = parts.gain + (r->gain == ROUTE_NONE ? 0 : aligned_part(n_symbols * sizeof(float)));
    return parts;
}

/* How many symbols fit into a slot, and no more than a chunk has. */
static size_t slot_symbols(const run *r, const slot *s)
{
    const unsigned n_floats = (r->noise == ROUTE_NONE ? 0 : 1) + (r->gain == ROUTE_NONE ? 0 : 1);
    const size_t nbytes = r->list->params->input_nbytes + n_floats * sizeof(float) + r->value_nbytes;
    const size_t n = (s->nbytes - (r->gain == ROUTE_NONE ? 2 : 3) * PART_ALIGNMENT) / nbytes;
    return n < r->gpu->chunk_symbols ? n : r->gpu->chunk_symbols;
}

static bool is_staged(const run *r)
{
    return r->in == ROUTE_STAGED || r->noise == ROUTE_STAGED || r->gain == ROUTE_STAGED || r->out == ROUTE_STAGED;
}

/* A chunk's spans, one after the other: each is of one segment, and has its range of the chunk's symbols, noise
 * values and outputs. */
typedef struct span_walk {
    softqam_cursor cursor;
    size_t n_left;
    softqam_segment span;
    size_t in; /* offsets in bytes */
    size_t noise;
    size_t out;
    size_t in_nbytes;
    size_t noise_nbytes; /* 0: the span has one noise value, or none */
    size_t out_nbytes;
} span_walk;

static span_walk walk_begin(const run *r, const slot *s)
{
    return (span_walk){.cursor = softqam_cursor_at(r->list, s->first), .n_left = s->n_symbols};
}

static bool walk_next(span_walk *walk)
{
    const softqam_params *params = walk->cursor.list->params;
    walk->in += walk->in_nbytes;
    walk->noise += walk->noise_nbytes;
    walk->out += walk->out_nbytes;
    if (walk->n_left == 0)
        return false;
    walk->span = softqam_cursor_take(&walk->cursor, walk->n_left);
    const size_t n = walk->span.n_symbols;
    const softqam_layer *layer = &walk->span.layers[0];
    const bool noise_each =
        layer->noise_var && (walk->span.noise_stride != 0 || walk->span.n_layers > 1 || layer->gain);
    walk->n_left -= n;
    walk->in_nbytes = n * params->input_nbytes;
    walk->noise_nbytes = noise_each ? n * sizeof(float) : 0;
    walk->out_nbytes = n * softqam_params_output_nbytes(params, walk->span.modulation);
    return true;
}

/* Gathers what a slot's chunk takes of pageable memory. Returns the end of its walk: how many bytes it has. */
static span_walk gather(const run *r, const slot *s, chunk_memory host)
{
    span_walk walk = walk_begin(r, s);
    while (walk_next(&walk)) {
        if (r->in == ROUTE_STAGED)
            softqam_segment_gather_symbols(r->list->params, &walk.span, 0, walk.span.n_symbols, host.in + walk.in);
        if (r->noise == ROUTE_STAGED && walk.noise_nbytes > 0)
            softqam_segment_gather_noise(&walk.span, 0, walk.span.n_symbols,
                                         (float *)(void *)(host.noise + walk.noise));
        if (r->gain == ROUTE_STAGED && walk.span.layers[0].gain)
            softqam_segment_gather_gains(&walk.span, 0, walk.span.n_symbols, (float *)(void *)(host.gain + walk.noise));
    }
    return walk;
}

/* A span's bit planes, one behind the other in a slot. */
static void scatter_planes(const span_walk *walk, size_t value_nbytes, const unsigned char *from)
{
    const size_t plane_nbytes = walk->span.n_symbols * value_nbytes;
    unsigned char *to = walk->span.out;
    for (size_t left = walk->out_nbytes; left > 0; left -= plane_nbytes) {
        memcpy(to, from, plane_nbytes);
        from += plane_nbytes;
        to += walk->span.plane_stride * value_nbytes;
    }
}

/* A span's bit planes to the soft buffer of its code block, or added to what is there. */
static void scatter_to_soft_buffer(const span_walk *walk, const unsigned char *from)
{
    const softqam_params *params = walk->cursor.list->params;
    const softqam_segment *span = &walk->span;
    const softqam_codeword *codeword = &span->codeword;
    softqam_blocks blocks;
    softqam_segment_blocks(&blocks, params, span);
    const softqam_block block = softqam_segment_block_at(&blocks, span, 0);
    const softqam_soft_block soft =
        softqam_soft_block_of(params, codeword, &block, softqam_symbol_bits(span->modulation), span->out);
    const uint32_t first = (uint32_t)span->first_symbol - block.first;
    const softqam_float_environment environment = softqam_float_enter(false);
    if (first == 0 && !codeword->combine)
        softqam_soft_block_begin(&soft, params, codeword);
    softqam_soft_block_store(&soft, first, span->n_symbols, from, span->n_symbols * params->value_nbytes);
    softqam_float_leave(environment);
}

static void scatter(const run *r, const slot *s)
{
    const bool streaming = r->list->n_symbols * r->value_nbytes >= r->gpu->pipeline->streaming_nbytes;
    if (r->out != ROUTE_STAGED)
        return;
    const chunk_memory staged = divide(r, s->staging, s->n_symbols);
    for (span_walk walk = walk_begin(r, s); walk_next(&walk);)
        if (!walk.span.out) /* of a code block that is dropped */
            continue;
        else if (softqam_segment_has_soft_buffers(&walk.span))
            scatter_to_soft_buffer(&walk, staged.out + walk.out);
        else if (walk.span.plane_stride != 0)
            scatter_planes(&walk, r->list->params->value_nbytes, staged.out + walk.out);
        else if (streaming)
            softqam_copy_streaming(walk.span.out, staged.out + walk.out, walk.out_nbytes);
        else
            memcpy(walk.span.out, staged.out + walk.out, walk.out_nbytes);
}

/* The host memory of a slot's chunk: the slot's own, but the caller's where that is used as it lies. */
static chunk_memory host_memory(const run *r, const slot *s)
{
    chunk_memory host = {NULL, NULL, NULL, NULL};
    softqam_cursor cursor = softqam_cursor_at(r->list, s->first);
    const softqam_segment span = softqam_cursor_take(&cursor, s->n_symbols);
    if (is_staged(r))
        host = divide(r, s->staging, s->n_symbols);
    if (r->in == ROUTE_DIRECT)
        host.in = (unsigned char *)(uintptr_t)span.layers[0].symbols;
    if (r->noise == ROUTE_DIRECT)
        host.noise = (unsigned char *)(uintptr_t)span.layers[0].noise_var;
    if (r->gain == ROUTE_DIRECT)
        host.gain = (unsigned char *)(uintptr_t)span.layers[0].gain;
    if (r->out == ROUTE_DIRECT)
        host.out = span.out;
    return host;
}

/* Launches the kernel for a slot's chunk: each span is a segment of its own in the device's memory, with its own scale,
 * noise and modulation. A noise value that is a whole segment's is read here, and goes as an argument. */
static_assert(SEGMENT_RESERVED == 764, "a chunk has the new field as its kernel sees it");
static softqam_status launch_chunk(const run *r, const slot *s, chunk_memory device)
{
    softqam_launch launch;
    cudaError_t error = cudaSuccess;
    softqam_launch_begin(&launch, r->list->params, r->gpu->launch_capacity, s->stream);
    for (span_walk walk = walk_begin(r, s); error == cudaSuccess && walk_next(&walk);) {
        softqam_segment segment = walk.span;
        const float *caller_noise = segment.layers[0].noise_var;
        const float *noise = walk.noise_nbytes > 0 ? (const float *)(const void *)(device.noise + walk.noise) : NULL;
        const float *gain = segment.layers[0].gain ? (const float *)(const void *)(device.gain + walk.noise) : NULL;
        segment.n_layers = 1;
        segment.symbol_stride = 1;
        segment.noise_stride = 1;
        segment.plane_stride = walk.span.plane_stride != 0 ? walk.span.n_symbols : 0;
        segment.codeword = (softqam_codeword){0}; /* the host takes the values to soft buffers */
        segment.layers[0] = (softqam_layer){.symbols = device.in + walk.in, .noise_var = noise, .gain = gain};
        segment.out = device.out + walk.out;
        error = softqam_launch_add(&launch, &segment, caller_noise ? *caller_noise : 0.0f);
    }
    if (error == cudaSuccess)
        error = softqam_launch_flush(&launch);
    return softqam_cuda_status(error, "launching the kernel");
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
    s->first = first;
    s->n_symbols = n_symbols;
    const chunk_memory host = host_memory(r, s);
    const chunk_memory device = divide(r, s->on_device, n_symbols);
    const span_walk end = gather(r, s, host);
    TRY_CUDA(cudaMemcpyAsync, device.in, host.in, end.in, cudaMemcpyHostToDevice, s->stream);
    if (end.noise > 0)
        TRY_CUDA(cudaMemcpyAsync, device.noise, host.noise, end.noise, cudaMemcpyHostToDevice, s->stream);
    if (r->gain != ROUTE_NONE && end.noise > 0)
        TRY_CUDA(cudaMemcpyAsync, device.gain, host.gain, end.noise, cudaMemcpyHostToDevice, s->stream);
    TRY(launch_chunk(r, s, device));
    TRY_CUDA(cudaMemcpyAsync, host.out, device.out, end.out, cudaMemcpyDeviceToHost, s->stream);
    return SOFTQAM_OK;
}

/* A large call's chunks, dealt to workers as they ask for more. Each worker is a thread with slots of its own. */
typedef struct chunk_job {
    const run *run;
    slot *slots;
    unsigned slots_per_worker;
    size_t chunk_symbols;
    bool is_ordered;    /* one worker, and nothing is handed over behind a chunk that failed */
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
    const size_t n_symbols = r->list->n_symbols;
    slot *slots = job->slots + worker * job->slots_per_worker;
    softqam_status status = softqam_cuda_status(cudaSetDevice(slots[0].device), "cudaSetDevice");
    if (status != SOFTQAM_OK)
        give_up(job, status, atomic_load(&job->next));
    unsigned turn = 0;
    while (!atomic_load(&job->failed)) {
        const size_t first = atomic_fetch_add(&job->next, job->chunk_symbols);
        if (first >= n_symbols)
            break;
        const size_t left = n_symbols - first;
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
        if (job->is_ordered && s->n_symbols > 0 && atomic_load(&job->failed)) {
            give_up(job, status, first);
            continue;
        }
        status = slot_finish(r, s);
        if (status != SOFTQAM_OK)
            give_up(job, status, first);
    }
}

static softqam_status run_chunks(chunk_job *job, softqam_pool *pool, unsigned n_workers, size_t *n_done)
{
    job->n_done = job->run->list->n_symbols;
    pthread_mutex_init(&job->mutex, NULL);
    softqam_pool_run(pool, work_through_chunks, job, n_workers);
    pthread_mutex_destroy(&job->mutex);
    if (job->status != SOFTQAM_OK) {
        const size_t untaken = atomic_load(&job->next);
        *n_done = untaken < job->n_done ? untaken : job->n_done;
        softqam_error_note_restore(&job->note);
    }
    return job->status;
}

/* One device is fed by the calling thread alone. */
static softqam_status run_ring(const run *r, size_t *n_done)
{
    const softqam_pipeline *pipeline = r->gpu->pipeline;
    const size_t most = slot_symbols(r, &pipeline->ring[0]);
    size_t chunk = r->list->n_symbols / (CHUNKS_PER_SLOT * pipeline->n_ring_slots) + 1;
    if (chunk < MIN_CHUNK_SYMBOLS)
        chunk = MIN_CHUNK_SYMBOLS;
    chunk_job job = {.run = r,
                     .slots = pipeline->ring,
                     .slots_per_worker = r->gpu->n_streams,
                     .chunk_symbols = chunk < most ? chunk : most};
    return run_chunks(&job, pipeline->feeders, r->gpu->n_devices, n_done);
}

static softqam_status run_staged(const run *r, size_t *n_done)
{
    const softqam_pipeline *pipeline = r->gpu->pipeline;
    const unsigned n_threads = softqam_pool_n_threads(r->pool);
    chunk_job job = {.run = r,
                     .slots = pipeline->staged,
                     .slots_per_worker = SLOTS_PER_WORKER,
                     .chunk_symbols = slot_symbols(r, &pipeline->staged[0]),
                     .is_ordered = r->list->adds};
    const unsigned n_workers = n_threads < pipeline->n_workers ? n_threads : pipeline->n_workers;
    return run_chunks(&job, r->pool, job.is_ordered ? 1 : n_workers, n_done);
}

/* The device's address of host memory that it can reach. */
static softqam_status device_address(const softqam_gpu *gpu, unsigned char **memory)
{
    void *address = *memory;
    if (!gpu->coherent)
        TRY_CUDA(cudaHostGetDevicePointer, &address, *memory, 0);
    *memory = address;
    return SOFTQAM_OK;
}

/* A small call: one kernel straight on host memory, the caller's where the device can use it as it lies. */
static softqam_status run_mapped(const run *r)
{
    slot *s = &r->gpu->pipeline->staged[0];
    s->first = 0;
    s->n_symbols = r->list->n_symbols;
    chunk_memory memory = host_memory(r, s);
    (void)gather(r, s, memory);
    TRY_CUDA(cudaSetDevice, s->device);
    TRY(device_address(r->gpu, &memory.in));
    if (r->noise != ROUTE_NONE)
        TRY(device_address(r->gpu, &memory.noise));
    if (r->gain != ROUTE_NONE)
        TRY(device_address(r->gpu, &memory.gain));
    TRY(device_address(r->gpu, &memory.out));
    TRY(launch_chunk(r, s, memory));
    return slot_finish(r, s);
}

/* Whether a buffer may be used as it lies; found == NULL: it may not. Device memory is refused. */
static softqam_status find_route(const softqam_gpu *gpu, route *found, const void *memory, size_t nbytes,
                                 const char *name)
{
    struct cudaPointerAttributes first;
    struct cudaPointerAttributes last;
    TRY_CUDA(cudaPointerGetAttributes, &first, memory);
    if (first.type == cudaMemoryTypeDevice)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is device memory: softqam_cuda_demodulate() takes that",
                            name);
    if (!found)
        return SOFTQAM_OK;
    TRY_CUDA(cudaPointerGetAttributes, &last, (const unsigned char *)memory + nbytes - 1);
    const bool pinned = first.type == cudaMemoryTypeHost && last.type == cudaMemoryTypeHost;
    *found = pinned || gpu->coherent ? ROUTE_DIRECT : ROUTE_STAGED;
    return SOFTQAM_OK;
}

/* What of a codeword's output is looked at. */
static const void *codeword_memory(const softqam_codeword *codeword)
{
    return codeword->block_buffers ? (const void *)codeword->block_buffers : codeword->buffers;
}

/* A call of several segments, of which the first one's memory is looked at, is staged as a whole; one segment may be
 * memory that the devices reach. */
static softqam_status find_routes(run *r)
{
    const softqam_params *params = r->list->params;
    softqam_segment segment = softqam_segment_at(r->list, 0);
    for (size_t k = 1; segment.n_symbols == 0; k++)
        segment = softqam_segment_at(r->list, k);
    const size_t n = segment.n_symbols;
    const bool is_alone = r->list->n_segments == 1;
    const bool has_noise = softqam_params_have_llrs(params);
    const bool has_noise_each = segment.noise_stride == 1 && segment.n_layers == 1;
    const bool has_one_noise = segment.noise_stride == 0 && segment.n_layers == 1;
    r->in = ROUTE_STAGED;
    r->out = ROUTE_STAGED;
    r->noise = has_noise && !(is_alone && has_one_noise && !r->list->has_gains) ? ROUTE_STAGED : ROUTE_NONE;
    r->gain = r->list->has_gains ? ROUTE_STAGED : ROUTE_NONE;
    for (unsigned k = 0; k < segment.n_layers; k++) {
        const softqam_layer *layer = &segment.layers[k];
        TRY(find_route(r->gpu, is_alone && softqam_segment_is_contiguous(&segment) ? &r->in : NULL, layer->symbols,
                       n * params->input_nbytes, "symbols"));
        if (layer->symbols_q)
            TRY(find_route(r->gpu, NULL, layer->symbols_q, 1, "symbols_q"));
        if (has_noise)
            TRY(find_route(r->gpu, is_alone && has_noise_each ? &r->noise : NULL, layer->noise_var, n * sizeof(float),
                           "noise_var"));
        if (layer->gain)
            TRY(find_route(r->gpu, is_alone && has_noise_each ? &r->gain : NULL, layer->gain, n * sizeof(float),
                           "gain"));
    }
    if (segment.codeword.n_code_blocks != 0)
        return find_route(r->gpu, NULL, codeword_memory(&segment.codeword), 1, "codeword.buffers");
    return find_route(r->gpu, is_alone && segment.plane_stride == 0 ? &r->out : NULL, segment.out,
                      n * softqam_params_output_nbytes(params, segment.modulation), "out");
}

/* Whether a call is one kernel on host memory. Kernels take only what is aligned for them: the rest is staged. */
static bool goes_mapped(run *r)
{
    const softqam_params *params = r->list->params;
    const softqam_segment caller = softqam_segment_at(r->list, 0);
    const bool in_aligned = (uintptr_t)caller.layers[0].symbols % params->input_nbytes == 0;
    const bool out_aligned = (uintptr_t)caller.out % params->value_nbytes == 0;
    if (r->gpu->coherent && !is_staged(r) && in_aligned && out_aligned)
        return true;
    if (r->list->n_symbols > MAPPED_NBYTES / (params->input_nbytes + r->value_nbytes) ||
        r->list->n_symbols > slot_symbols(r, &r->gpu->pipeline->staged[0]))
        return false;
    r->in = in_aligned ? r->in : ROUTE_STAGED;
    r->out = out_aligned ? r->out : ROUTE_STAGED;
    return true;
}

/* Most bytes that a symbol of the call becomes. */
static size_t largest_value_nbytes(const softqam_segment_list *list)
{
    size_t most = 0;
    for (size_t k = 0; k < list->n_segments; k++) {
        const size_t nbytes = softqam_params_output_nbytes(list->params, softqam_segment_at(list, k).modulation);
        most = nbytes > most ? nbytes : most;
    }
    return most;
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

static softqam_status run_call(run *r, size_t *n_done)
{
    softqam_status status;
    TRY(find_routes(r));
    if (goes_mapped(r))
        status = run_mapped(r);
    else
        status = is_staged(r) ? run_staged(r, n_done) : run_ring(r, n_done);
    if (status == SOFTQAM_OK)
        *n_done = r->list->n_symbols;
    else
        abandon(r->gpu->pipeline);
    return status;
}

softqam_status softqam_pipeline_demodulate(softqam_gpu *gpu, softqam_pool *pool, const softqam_segment_list *list,
                                           size_t *n_done)
{
    run r = {.gpu = gpu, .pool = pool, .list = list, .value_nbytes = largest_value_nbytes(list)};
    softqam_device_scope scope;
    *n_done = 0;
    TRY(softqam_device_enter(&scope, gpu->devices, 1));
    pthread_mutex_lock(&gpu->mutex);
    atomic_store(&gpu->busy, true);
    const softqam_status status = run_call(&r, n_done);
    atomic_store(&gpu->busy, false);
    pthread_mutex_unlock(&gpu->mutex);
    softqam_device_leave(&scope);
    return status;
}
