/* SPDX-License-Identifier: MIT */
/* A host-memory call: one kernel on mapped memory, or chunks. */
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "gpu_parts.h"
#include "kernels.h"
#include "soft_buffer.h"
#include "streaming.h"

/* A call of up to so many bytes in and out is one kernel that reads and writes host memory itself across the bus.
 * Longer ones are faster as copies (PERFORMANCE.md has both ways' times). */
enum { MAPPED_NBYTES = 1 << 22 };

/* A call is cut into several chunks a slot, however short down to this, so that both directions of the bus are busy. */
enum { CHUNKS_PER_SLOT = 2, MIN_CHUNK_SYMBOLS = 1 << 16 };

/* What symbols have, each in memory of its own: a gain lies where its symbol's noise value does. */
enum { SYMBOLS, NOISE, GAINS, VALUES, N_PARTS };

/* A call under way. A large one's chunks are dealt to workers as they ask for more; each is a thread with slots of its
 * own. */
typedef struct run {
    const softqam_gpu *gpu;
    const softqam_segment_list *list;
    size_t nbytes[N_PARTS]; /* most of a symbol's; 0: no symbol has a value of its own */
    bool is_staged; /* gathered to and scattered from slots' pinned memory; else the device reaches the caller's */

    slot *slots;
    unsigned slots_per_worker;
    size_t chunk_symbols;
    atomic_size_t next; /* first symbol that no worker has taken */
    atomic_bool failed;
    pthread_mutex_t mutex; /* guards what follows */
    softqam_status status; /* of the first failure */
    softqam_error_note note;
} run;

/* A chunk's memory, on the device, mapped, or of the host: each part's values side by side. */
typedef struct chunk_memory {
    unsigned char *parts[N_PARTS];
} chunk_memory;

enum { PART_ALIGNMENT = 256 };

/* How n_symbols symbols lie in a slot's memory. */
static chunk_memory divide(const run *r, unsigned char *memory, size_t n_symbols)
{
    chunk_memory chunk;
    for (int k = 0; k < N_PARTS; k++) {
        chunk.parts[k] = memory;
        memory += (n_symbols * r->nbytes[k] + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
    }
    return chunk;
}

/* How many symbols fit into a slot, and no more than a chunk has. */
static size_t slot_symbols(const run *r, const slot *s)
{
    size_t nbytes = 0;
    for (int k = 0; k < N_PARTS; k++)
        nbytes += r->nbytes[k];
    const size_t n = (s->nbytes - (N_PARTS - 1) * PART_ALIGNMENT) / nbytes;
    return n < r->gpu->chunk_symbols ? n : r->gpu->chunk_symbols;
}

/* A chunk's spans, one after the other: each is of one segment, and has its range of each of the chunk's parts. */
typedef struct span_walk {
    softqam_cursor cursor;
    size_t n_left;
    softqam_segment span;
    size_t offsets[N_PARTS]; /* in bytes */
    size_t nbytes[N_PARTS];  /* 0: the span has one noise value, or none, or no gains */
} span_walk;

static span_walk walk_begin(const run *r, const slot *s)
{
    return (span_walk){.cursor = softqam_cursor_at(r->list, s->first), .n_left = s->n_symbols};
}

static bool walk_next(span_walk *walk)
{
    const softqam_params *params = walk->cursor.list->params;
    for (int k = 0; k < N_PARTS; k++)
        walk->offsets[k] += walk->nbytes[k];
    if (walk->n_left == 0)
        return false;
    walk->span = softqam_cursor_take(&walk->cursor, walk->n_left);
    const size_t n = walk->span.n_symbols;
    const softqam_layer *layer = &walk->span.layers[0];
    const bool noise_each =
        layer->noise_var && (walk->span.noise_stride != 0 || walk->span.n_layers > 1 || layer->gain);
    walk->n_left -= n;
    walk->nbytes[SYMBOLS] = n * params->input_nbytes;
    walk->nbytes[NOISE] = noise_each ? n * sizeof(float) : 0;
    walk->nbytes[GAINS] = walk->cursor.list->has_gains ? walk->nbytes[NOISE] : 0;
    walk->nbytes[VALUES] = n * softqam_params_output_nbytes(params, walk->span.modulation);
    return true;
}

/* Where a span has its range of a part; NULL where it has none. */
static void *walk_memory(const span_walk *walk, const chunk_memory *chunk, int part)
{
    return walk->nbytes[part] > 0 ? chunk->parts[part] + walk->offsets[part] : NULL;
}

/* Gathers a slot's chunk, if the call is staged. Returns the end of its walk: how many bytes it has. */
static span_walk gather(const run *r, const slot *s, const chunk_memory *host)
{
    span_walk walk = walk_begin(r, s);
    while (walk_next(&walk)) {
        const softqam_segment *span = &walk.span;
        if (!r->is_staged)
            continue;
        softqam_segment_gather_symbols(r->list->params, span, 0, span->n_symbols, walk_memory(&walk, host, SYMBOLS));
        if (walk.nbytes[NOISE] > 0)
            softqam_segment_gather_floats(span, false, 0, span->n_symbols, walk_memory(&walk, host, NOISE));
        if (span->layers[0].gain)
            softqam_segment_gather_floats(span, true, 0, span->n_symbols, walk_memory(&walk, host, GAINS));
    }
    return walk;
}

/* A span's values, its bit planes one behind the other in a slot. */
static void scatter_planes(const span_walk *walk, size_t value_nbytes, const unsigned char *from)
{
    const size_t plane_nbytes = walk->span.plane_stride ? walk->span.n_symbols * value_nbytes : walk->nbytes[VALUES];
    unsigned char *to = walk->span.out;
    for (size_t left = walk->nbytes[VALUES]; left > 0; left -= plane_nbytes) {
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
    softqam_code_blocks blocks;
    softqam_segment_blocks(&blocks, params, span);
    const softqam_code_block block = softqam_segment_block_at(&blocks, span, 0);
    const softqam_soft_block soft =
        softqam_soft_block_of(params, codeword, &block, softqam_symbol_bits(span->modulation), span->out);
    const uint32_t first = (uint32_t)span->first_symbol - block.first;
    ENDED_BY(softqam_float_end) const softqam_float_environment environment = softqam_float_enter();
    if (first == 0 && !codeword->combine)
        softqam_soft_block_begin(&soft, params, codeword);
    softqam_soft_block_store(&soft, first, span->n_symbols, from, span->n_symbols * params->value_nbytes);
}

static void scatter(const run *r, const slot *s)
{
    const bool streaming = r->list->n_symbols * r->nbytes[VALUES] >= r->gpu->pipeline->streaming_nbytes;
    if (!r->is_staged)
        return;
    const chunk_memory staged = divide(r, s->staging, s->n_symbols);
    for (span_walk walk = walk_begin(r, s); walk_next(&walk);) {
        const unsigned char *from = walk_memory(&walk, &staged, VALUES);
        if (!walk.span.out) /* of a code block that is dropped */
            continue;
        if (softqam_segment_has_soft_buffers(&walk.span))
            scatter_to_soft_buffer(&walk, from);
        else if (streaming && walk.span.plane_stride == 0)
            softqam_copy_streaming(walk.span.out, from, walk.nbytes[VALUES]);
        else
            scatter_planes(&walk, r->list->params->value_nbytes, from);
    }
}

/* The host memory of a slot's chunk: the slot's own, or the caller's. */
static chunk_memory host_memory(const run *r, const slot *s)
{
    if (r->is_staged)
        return divide(r, s->staging, s->n_symbols);
    softqam_cursor cursor = softqam_cursor_at(r->list, s->first);
    const softqam_segment span = softqam_cursor_take(&cursor, s->n_symbols);
    const softqam_layer *layer = &span.layers[0];
    const void *const parts[N_PARTS] = {layer->symbols, layer->noise_var, layer->gain, span.out};
    chunk_memory host;
    for (int k = 0; k < N_PARTS; k++)
        host.parts[k] = (unsigned char *)(uintptr_t)parts[k];
    return host;
}

/* Launches the kernel for a slot's chunk: each span is a segment of its own in the device's memory, with its own scale,
 * noise and modulation. A noise value that is a whole segment's is read here, and goes as an argument. */
static_assert(SEGMENT_RESERVED == 764, "a chunk has the new field as its kernel sees it");
static softqam_status launch_chunk(const run *r, const slot *s, const chunk_memory *device)
{
    softqam_launch launch;
    softqam_launch_begin(&launch, r->list->params, s->stream);
    for (span_walk walk = walk_begin(r, s); walk_next(&walk);) {
        softqam_segment segment = walk.span;
        const float *caller_noise = segment.layers[0].noise_var;
        segment.n_layers = 1;
        segment.symbol_stride = 1;
        segment.noise_stride = 1;
        segment.plane_stride = walk.span.plane_stride != 0 ? walk.span.n_symbols : 0;
        segment.codeword = (softqam_codeword){0}; /* the host takes the values to soft buffers */
        segment.layers[0] = (softqam_layer){
            .symbols = walk_memory(&walk, device, SYMBOLS),
            .noise_var = walk_memory(&walk, device, NOISE),
            .gain = walk.span.layers[0].gain ? walk_memory(&walk, device, GAINS) : NULL,
        };
        segment.out = walk_memory(&walk, device, VALUES);
        TRY(softqam_launch_add(&launch, &segment, caller_noise ? *caller_noise : 0.0f));
    }
    return softqam_launch_flush(&launch);
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
    const span_walk end = gather(r, s, &host);
    for (int k = 0; k < VALUES; k++)
        if (end.offsets[k] > 0)
            TRY_CUDA(cudaMemcpyAsync, device.parts[k], host.parts[k], end.offsets[k], cudaMemcpyHostToDevice,
                     s->stream);
    TRY(launch_chunk(r, s, &device));
    TRY_CUDA(cudaMemcpyAsync, host.parts[VALUES], device.parts[VALUES], end.offsets[VALUES], cudaMemcpyDeviceToHost,
             s->stream);
    return SOFTQAM_OK;
}

/* Notes the first failure of a worker, so that the others take no more chunks. */
static void give_up(run *r, softqam_status status)
{
    pthread_mutex_lock(&r->mutex);
    if (r->status == SOFTQAM_OK) {
        r->status = status;
        r->note = softqam_error_note_take();
    }
    pthread_mutex_unlock(&r->mutex);
    atomic_store(&r->failed, true);
}

/* Slot by slot, so that one chunk's copy in, another's kernel and a third's copy out overlap, until none is left. */
static void work_through_chunks(void *context, size_t worker)
{
    run *r = context;
    const size_t n_symbols = r->list->n_symbols;
    const unsigned n_slots = r->slots_per_worker;
    slot *slots = r->slots + worker * n_slots;
    softqam_status status = softqam_cuda_status(cudaSetDevice(r->gpu->device), "cudaSetDevice");
    for (unsigned turn = 0, n_idle = 0; status == SOFTQAM_OK && n_idle < n_slots && !atomic_load(&r->failed); turn++) {
        slot *s = &slots[turn % n_slots];
        const size_t first = atomic_fetch_add(&r->next, r->chunk_symbols);
        const size_t left = first < n_symbols ? n_symbols - first : 0;
        n_idle = left > 0 ? 0 : n_idle + 1;
        status = slot_finish(r, s);
        if (status == SOFTQAM_OK && left > 0)
            status = slot_start(r, s, first, left < r->chunk_symbols ? left : r->chunk_symbols);
    }
    if (status != SOFTQAM_OK)
        give_up(r, status);
}

/* A large call. The calling thread alone feeds the ring; the pool's threads stage. */
static softqam_status run_chunks(run *r, softqam_pool *pool)
{
    const softqam_pipeline *pipeline = r->gpu->pipeline;
    const size_t n_symbols = r->list->n_symbols;
    unsigned n_workers = 1;
    if (r->is_staged) {
        const unsigned n_threads = r->list->adds ? 1 : softqam_pool_n_threads(pool);
        n_workers = n_threads < pipeline->n_workers ? n_threads : pipeline->n_workers;
        r->slots = pipeline->staged;
        r->slots_per_worker = SLOTS_PER_WORKER;
        r->chunk_symbols = n_symbols;
    } else {
        const size_t chunk = n_symbols / (CHUNKS_PER_SLOT * r->gpu->n_streams) + 1;
        r->slots = pipeline->ring;
        r->slots_per_worker = r->gpu->n_streams;
        r->chunk_symbols = chunk > MIN_CHUNK_SYMBOLS ? chunk : MIN_CHUNK_SYMBOLS;
    }
    const size_t most = slot_symbols(r, &r->slots[0]);
    r->chunk_symbols = r->chunk_symbols < most ? r->chunk_symbols : most;
    pthread_mutex_init(&r->mutex, NULL);
    softqam_pool_run(pool, work_through_chunks, r, n_workers);
    pthread_mutex_destroy(&r->mutex);
    if (r->status != SOFTQAM_OK)
        softqam_error_note_restore(&r->note);
    return r->status;
}

/* A small call: one kernel straight on host memory, the caller's where the device can use it as it lies. */
static softqam_status run_mapped(const run *r)
{
    slot *s = &r->gpu->pipeline->staged[0];
    s->first = 0;
    s->n_symbols = r->list->n_symbols;
    chunk_memory memory = host_memory(r, s);
    (void)gather(r, s, &memory);
    for (int k = 0; k < N_PARTS; k++) {
        void *address = NULL;
        if (r->nbytes[k] > 0)
            TRY_CUDA(cudaHostGetDevicePointer, &address, memory.parts[k], 0);
        memory.parts[k] = address;
    }
    TRY(launch_chunk(r, s, &memory));
    return slot_finish(r, s);
}

/* Refuses device memory, and stages the call unless the buffer is pinned; nbytes 0: it need not be. */
static softqam_status check_buffer(run *r, const void *memory, size_t nbytes, const char *name)
{
    struct cudaPointerAttributes first;
    struct cudaPointerAttributes last;
    TRY_CUDA(cudaPointerGetAttributes, &first, memory);
    REFUSE_IF(first.type == cudaMemoryTypeDevice, "%s is device memory: softqam_cuda_demodulate() takes that", name);
    if (r->is_staged || nbytes == 0)
        return SOFTQAM_OK;
    TRY_CUDA(cudaPointerGetAttributes, &last, (const unsigned char *)memory + nbytes - 1);
    r->is_staged = first.type != cudaMemoryTypeHost || last.type != cudaMemoryTypeHost;
    return SOFTQAM_OK;
}

/* What the call's symbols have, and whether it is staged: all but one segment whose parts lie side by side in pinned
 * memory. Of several segments the first one's memory is looked at. */
static softqam_status check_memory(run *r)
{
    const softqam_segment_list *list = r->list;
    const softqam_params *params = list->params;
    softqam_segment segment = {0};
    for (size_t k = list->n_segments; k-- > 0;) {
        const softqam_segment other = softqam_segment_at(list, k);
        const size_t nbytes = softqam_params_output_nbytes(params, other.modulation);
        r->nbytes[VALUES] = nbytes > r->nbytes[VALUES] ? nbytes : r->nbytes[VALUES];
        if (other.n_symbols > 0)
            segment = other;
    }
    const size_t n = segment.n_symbols;
    const softqam_codeword *codeword = &segment.codeword;
    const bool has_noise = softqam_params_have_llrs(params), is_alone = list->n_segments == 1;
    const bool has_one_noise = is_alone && segment.noise_stride == 0 && segment.n_layers == 1 && !list->has_gains;
    r->nbytes[SYMBOLS] = params->input_nbytes;
    r->nbytes[NOISE] = has_noise && !has_one_noise ? sizeof(float) : 0;
    r->nbytes[GAINS] = list->has_gains ? sizeof(float) : 0;
    r->is_staged = !is_alone || segment.n_layers > 1 || segment.layers[0].symbols_q || segment.plane_stride != 0 ||
                   softqam_segment_has_codeword(&segment) || (segment.symbol_stride != 1 && n > 1) ||
                   (r->nbytes[NOISE] > 0 && segment.noise_stride != 1);
    for (unsigned k = 0; k < segment.n_layers; k++) {
        const softqam_layer *layer = &segment.layers[k];
        TRY(check_buffer(r, layer->symbols, n * params->input_nbytes, "symbols"));
        if (layer->symbols_q)
            TRY(check_buffer(r, layer->symbols_q, 0, "symbols_q"));
        if (has_noise)
            TRY(check_buffer(r, layer->noise_var, n * r->nbytes[NOISE], "noise_var"));
        if (layer->gain)
            TRY(check_buffer(r, layer->gain, n * sizeof(float), "gain"));
    }
    if (!softqam_segment_has_codeword(&segment))
        return check_buffer(r, segment.out, n * softqam_params_output_nbytes(params, segment.modulation), "out");
    return check_buffer(r, codeword->block_buffers ? (const void *)codeword->block_buffers : codeword->buffers, 0,
                        "codeword.buffers");
}

/* Whether a call is one kernel on host memory. Kernels take only what is aligned for them: the rest is staged. */
static bool goes_mapped(run *r)
{
    const softqam_params *params = r->list->params;
    const softqam_segment caller = softqam_segment_at(r->list, 0);
    if (r->list->n_symbols > MAPPED_NBYTES / (r->nbytes[SYMBOLS] + r->nbytes[VALUES]) ||
        r->list->n_symbols > slot_symbols(r, &r->gpu->pipeline->staged[0]))
        return false;
    r->is_staged |= (uintptr_t)caller.layers[0].symbols % params->input_nbytes != 0 ||
                    (uintptr_t)caller.out % params->value_nbytes != 0;
    return true;
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

static softqam_status run_call(run *r, softqam_pool *pool)
{
    TRY(check_memory(r));
    const softqam_status status = goes_mapped(r) ? run_mapped(r) : run_chunks(r, pool);
    if (status != SOFTQAM_OK)
        abandon(r->gpu->pipeline);
    return status;
}

softqam_status softqam_pipeline_demodulate(softqam_gpu *gpu, softqam_pool *pool, const softqam_segment_list *list)
{
    run r = {.gpu = gpu, .list = list};
    TRY(softqam_pipeline_prepare(gpu));
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    TRY(softqam_device_enter(&scope, gpu->device));
    pthread_mutex_lock(&gpu->mutex);
    const softqam_status status = run_call(&r, pool);
    pthread_mutex_unlock(&gpu->mutex);
    return status;
}
