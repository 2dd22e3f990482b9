/* SPDX-License-Identifier: MIT */
/* A host-memory call: one kernel on mapped memory, or chunks. */
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "cuda_calls.h"
#include "launch.h"
#include "pipeline.h"
#include "soft_block.h"

/* Calls of up to this many bytes in and out are one kernel that reads and writes host memory itself, across the bus.
 * Longer ones are faster as copies. */
enum { MAPPED_NBYTES = 1 << 22 };

/* A call is cut into several chunks for each buffer, of at least MIN_CHUNK_SYMBOLS, so that both directions of the bus
 * are busy. */
enum { CHUNKS_PER_BUFFER = 2, MIN_CHUNK_SYMBOLS = 1 << 16 };

/* The arrays of a chunk. Gains have the layout of noise values. */
enum { SYMBOLS, NOISE, GAINS, VALUES, N_ARRAYS };

/* A call under way. Its chunks are dealt to workers as they ask for more; each is a thread with buffers of its own. */
typedef struct host_call {
    const softqam_pipeline *pipeline;
    const softqam_segment_list *list;
    const softqam_cpu_loops *loops; /* loops for staging on the host */
    size_t nbytes[N_ARRAYS];        /* the most that a symbol takes; 0: the array is not used */
    bool is_staged;  /* through the buffers' pinned memory; else the device reads and writes the caller's */
    bool is_aligned; /* the caller's memory is aligned as kernels need it */

    chunk_buffer *buffers;
    unsigned buffers_per_worker;
    size_t chunk_symbols;
    atomic_size_t next;      /* first symbol that no worker has taken */
    atomic_uint status;      /* status of the first worker that failed */
    softqam_error_note note; /* its message */
} host_call;

/* A chunk's memory: the device's, mapped or the host's. Each array's values lie side by side. */
typedef struct chunk_memory {
    unsigned char *arrays[N_ARRAYS];
} chunk_memory;

enum { ARRAY_ALIGNMENT = 256 };

/* Lays a chunk of n_symbols symbols out in a buffer's memory. */
static chunk_memory divide(const host_call *call, unsigned char *memory, size_t n_symbols)
{
    chunk_memory chunk;
    for (int k = 0; k < N_ARRAYS; k++) {
        chunk.arrays[k] = memory;
        memory += (n_symbols * call->nbytes[k] + ARRAY_ALIGNMENT - 1) / ARRAY_ALIGNMENT * ARRAY_ALIGNMENT;
    }
    return chunk;
}

/* Returns how many symbols fit into a buffer, but no more than a chunk has. */
static size_t buffer_symbols(const host_call *call, const chunk_buffer *buffer)
{
    size_t nbytes = 0;
    for (int k = 0; k < N_ARRAYS; k++)
        nbytes += call->nbytes[k];
    const size_t n = (buffer->nbytes - (N_ARRAYS - 1) * ARRAY_ALIGNMENT) / nbytes;
    return n < call->pipeline->chunk_symbols ? n : call->pipeline->chunk_symbols;
}

/* A walk through a chunk's pieces. A piece belongs to one segment and one code block, and has its own range of each
 * array of the chunk. */
typedef struct piece_walk {
    softqam_cursor cursor;
    size_t n_left;
    softqam_resolved_segment piece;
    softqam_destination to;   /* where its values go */
    size_t offsets[N_ARRAYS]; /* in bytes */
    size_t nbytes[N_ARRAYS];  /* 0: the piece has one noise value, or none, or no gains */
} piece_walk;

static piece_walk walk_begin(const host_call *call, const chunk_buffer *buffer)
{
    return (piece_walk){.cursor = softqam_cursor_at(call->list, buffer->first), .n_left = buffer->n_symbols};
}

/* Goes to the next piece; returns false at the end, where the offsets are the chunk's sizes. */
static bool walk_next(piece_walk *walk)
{
    const softqam_params *params = walk->cursor.list->params;
    for (int k = 0; k < N_ARRAYS; k++)
        walk->offsets[k] += walk->nbytes[k];
    if (walk->n_left == 0)
        return false;
    softqam_cursor_next_code_block(&walk->cursor, walk->n_left, &walk->piece, &walk->to);
    const softqam_source *source = &walk->piece.source;
    const size_t n = walk->piece.n_symbols;
    const bool noise_each =
        source->layers[0].noise_var && (source->noise_stride != 0 || source->n_layers > 1 || source->has_gains);
    walk->n_left -= n;
    walk->nbytes[SYMBOLS] = n * source->symbol_nbytes;
    walk->nbytes[NOISE] = noise_each ? n * sizeof(float) : 0;
    walk->nbytes[GAINS] = walk->cursor.list->has_gains ? walk->nbytes[NOISE] : 0;
    walk->nbytes[VALUES] =
        n * softqam_params_output_nbytes(params, (softqam_modulation)walk->piece.placement.modulation);
    return true;
}

/* Returns where a piece has its range of an array; NULL if it has none. */
static void *walk_memory(const piece_walk *walk, const chunk_memory *chunk, int array)
{
    return walk->nbytes[array] > 0 ? chunk->arrays[array] + walk->offsets[array] : NULL;
}

/* Gathers a chunk, if the call is staged. Returns the end of its walk, which says how many bytes it has. */
static piece_walk gather(const host_call *call, const chunk_buffer *buffer, const chunk_memory *host)
{
    piece_walk walk = walk_begin(call, buffer);
    while (walk_next(&walk)) {
        const softqam_source *source = &walk.piece.source;
        const size_t n = walk.piece.n_symbols;
        if (!call->is_staged)
            continue;
        softqam_source_gather_symbols(source, call->loops->gather, 0, n, walk_memory(&walk, host, SYMBOLS));
        if (walk.nbytes[NOISE] > 0)
            softqam_source_gather_noise(source, call->loops->gather, 0, n, walk_memory(&walk, host, NOISE));
        if (source->has_gains)
            softqam_source_gather_gains(source, call->loops->gather, 0, n, walk_memory(&walk, host, GAINS));
    }
    return walk;
}

/* Copies a piece's values, whose bit planes lie one after the other. */
static void scatter_planes(const piece_walk *walk, size_t value_nbytes, const unsigned char *from)
{
    const size_t plane_nbytes = walk->to.plane_stride ? walk->piece.n_symbols * value_nbytes : walk->nbytes[VALUES];
    unsigned char *to = walk->to.out;
    for (size_t left = walk->nbytes[VALUES]; left > 0; left -= plane_nbytes) {
        memcpy(to, from, plane_nbytes);
        from += plane_nbytes;
        to += walk->to.plane_stride * value_nbytes;
    }
}

/* Stores a piece's bit planes in the soft buffer of its code block, or adds them to what is there. */
static void scatter_to_soft_buffer(const host_call *call, const piece_walk *walk, const unsigned char *from)
{
    const softqam_params *params = call->list->params;
    const softqam_placement *placement = &walk->piece.placement;
    const size_t n = walk->piece.n_symbols;
    const uint32_t first = placement->codeword_symbol - walk->to.block.first;
    softqam_soft_block soft;
    softqam_soft_block_open(&soft, placement, &walk->to, call->loops->add, params->llr_limit);
    ENDED_BY(softqam_float_leave) const softqam_float_environment environment = softqam_float_enter();
    if (first == 0 && !placement->combines)
        softqam_soft_block_begin(&soft, params->output_format, placement->filler_value);
    softqam_soft_block_store(&soft, first, n, from, n * params->defaults.value_nbytes);
}

/* Copies a chunk's values to the caller's memory, if the call is staged. */
static void scatter(const host_call *call, const chunk_buffer *buffer)
{
    if (!call->is_staged)
        return;
    const chunk_memory staged = divide(call, buffer->staging, buffer->n_symbols);
    for (piece_walk walk = walk_begin(call, buffer); walk_next(&walk);) {
        const unsigned char *from = walk_memory(&walk, &staged, VALUES);
        if (!walk.to.out) /* its code block is dropped */
            continue;
        if (walk.piece.placement.has_soft_buffers)
            scatter_to_soft_buffer(call, &walk, from);
        else
            scatter_planes(&walk, call->list->params->defaults.value_nbytes, from);
    }
}

/* Returns the host memory of a chunk: the buffer's own, or the caller's. */
static chunk_memory host_memory(const host_call *call, const chunk_buffer *buffer)
{
    if (call->is_staged)
        return divide(call, buffer->staging, buffer->n_symbols);
    piece_walk walk = walk_begin(call, buffer);
    (void)walk_next(&walk);
    const softqam_source_layer *layer = &walk.piece.source.layers[0];
    const void *const arrays[N_ARRAYS] = {layer->symbols, layer->noise_var, layer->gain, walk.to.out};
    chunk_memory host;
    for (int k = 0; k < N_ARRAYS; k++)
        host.arrays[k] = (unsigned char *)(uintptr_t)arrays[k];
    return host;
}

/* Launches the kernel for a chunk: each piece is a segment of its own in the device's memory, with its own scale, noise
 * and modulation. A noise value for a whole segment is read here, and passed as an argument. */
static_assert(sizeof(softqam_source) == 168, "Give launch_chunk() the new member as a kernel needs it");
static softqam_status launch_chunk(const host_call *call, const chunk_buffer *buffer, const chunk_memory *device)
{
    softqam_launch launch;
    softqam_launch_begin(&launch, call->list->params, buffer->stream);
    for (piece_walk walk = walk_begin(call, buffer); walk_next(&walk);) {
        softqam_resolved_segment segment = walk.piece;
        softqam_source *source = &segment.source;
        softqam_placement *placement = &segment.placement;
        const float *caller_noise = source->layers[0].noise_var;
        source->layers[0] = (softqam_source_layer){
            .symbols = walk_memory(&walk, device, SYMBOLS),
            .noise_var = walk_memory(&walk, device, NOISE),
            .gain = source->has_gains ? walk_memory(&walk, device, GAINS) : NULL,
        };
        source->n_layers = 1;
        source->symbol_stride = 1;
        source->noise_stride = source->layers[0].noise_var ? 1 : 0;
        source->gain_stride = source->has_gains;
        source->noise_value = caller_noise ? *caller_noise : 0.0f;
        source->is_split = 0;
        source->is_contiguous = 1;
        placement->out = walk_memory(&walk, device, VALUES);
        placement->plane_stride = walk.to.plane_stride != 0 ? segment.n_symbols : 0;
        /* The host moves the values to code blocks. */
        placement->has_code_blocks = placement->has_soft_buffers = placement->is_deinterleaved = 0;
        placement->combines = placement->is_repeated = 0;
        TRY(softqam_launch_add(&launch, &segment, NULL));
    }
    return softqam_launch_flush(&launch);
}

/* Waits until a buffer is idle, and copies its chunk's values to the caller's memory. */
static softqam_status finish_chunk(const host_call *call, chunk_buffer *buffer)
{
    if (buffer->n_symbols == 0)
        return SOFTQAM_OK;
    TRY_CUDA(cudaStreamSynchronize, buffer->stream);
    scatter(call, buffer);
    buffer->n_symbols = 0;
    return SOFTQAM_OK;
}

/* Issues a chunk's copy in, kernel and copy out on the buffer's stream. */
static softqam_status start_chunk(const host_call *call, chunk_buffer *buffer, size_t first, size_t n_symbols)
{
    buffer->first = first;
    buffer->n_symbols = n_symbols;
    const chunk_memory host = host_memory(call, buffer);
    const chunk_memory device = divide(call, buffer->on_device, n_symbols);
    const piece_walk end = gather(call, buffer, &host);
    for (int k = 0; k < VALUES; k++)
        if (end.offsets[k] > 0)
            TRY_CUDA(cudaMemcpyAsync, device.arrays[k], host.arrays[k], end.offsets[k], cudaMemcpyHostToDevice,
                     buffer->stream);
    TRY(launch_chunk(call, buffer, &device));
    TRY_CUDA(cudaMemcpyAsync, host.arrays[VALUES], device.arrays[VALUES], end.offsets[VALUES], cudaMemcpyDeviceToHost,
             buffer->stream);
    return SOFTQAM_OK;
}

/* Works through chunks until none is left or a worker has failed. The worker's buffers take turns, so that one chunk's
 * copy in, another's kernel and a third's copy out overlap. */
static void work_through_chunks(void *context, size_t worker)
{
    host_call *call = context;
    const size_t n_symbols = call->list->n_symbols;
    const unsigned n_buffers = call->buffers_per_worker;
    chunk_buffer *buffers = call->buffers + worker * n_buffers;
    unsigned none = SOFTQAM_OK;
    softqam_status status = softqam_cuda_status(cudaSetDevice(call->pipeline->device), "cudaSetDevice");
    for (unsigned turn = 0, n_idle = 0; n_idle < n_buffers; turn++) {
        if (status != SOFTQAM_OK || atomic_load(&call->status) != SOFTQAM_OK)
            break;
        chunk_buffer *buffer = &buffers[turn % n_buffers];
        const size_t first = atomic_fetch_add(&call->next, call->chunk_symbols);
        const size_t left = first < n_symbols ? n_symbols - first : 0;
        n_idle = left > 0 ? 0 : n_idle + 1;
        status = finish_chunk(call, buffer);
        if (status == SOFTQAM_OK && left > 0)
            status = start_chunk(call, buffer, first, left < call->chunk_symbols ? left : call->chunk_symbols);
    }
    if (status != SOFTQAM_OK && atomic_compare_exchange_strong(&call->status, &none, status))
        call->note = softqam_error_note_take();
}

/* Runs a large call. Pinned memory needs only the calling thread, which feeds the ring. The pool's threads stage other
 * memory; if the call adds to soft buffers, one thread does, in order. */
static softqam_status demodulate_chunks(host_call *call, softqam_pool *pool)
{
    const softqam_pipeline *pipeline = call->pipeline;
    const size_t n_symbols = call->list->n_symbols;
    unsigned n_workers = 1;
    if (call->is_staged) {
        const unsigned n_threads = call->list->adds ? 1 : softqam_pool_n_threads(pool);
        n_workers = n_threads < pipeline->n_workers ? n_threads : pipeline->n_workers;
        call->buffers = pipeline->staged;
        call->buffers_per_worker = BUFFERS_PER_WORKER;
        call->chunk_symbols = n_symbols;
    } else {
        const size_t chunk = n_symbols / (CHUNKS_PER_BUFFER * pipeline->n_streams) + 1;
        call->buffers = pipeline->ring;
        call->buffers_per_worker = pipeline->n_streams;
        call->chunk_symbols = chunk > MIN_CHUNK_SYMBOLS ? chunk : MIN_CHUNK_SYMBOLS;
    }
    const size_t most = buffer_symbols(call, &call->buffers[0]);
    call->chunk_symbols = call->chunk_symbols < most ? call->chunk_symbols : most;
    softqam_pool_run(pool, work_through_chunks, call, n_workers);
    const softqam_status status = (softqam_status)atomic_load(&call->status);
    if (status != SOFTQAM_OK)
        softqam_error_note_restore(&call->note);
    return status;
}

/* Runs a small call: one kernel on host memory, the caller's own if the device can use it as it is. */
static softqam_status demodulate_mapped(host_call *call)
{
    chunk_buffer *buffer = &call->pipeline->staged[0];
    call->is_staged |= !call->is_aligned;
    buffer->first = 0;
    buffer->n_symbols = call->list->n_symbols;
    chunk_memory memory = host_memory(call, buffer);
    (void)gather(call, buffer, &memory);
    for (int k = 0; k < N_ARRAYS; k++) {
        void *address = NULL;
        if (call->nbytes[k] > 0)
            TRY_CUDA(cudaHostGetDevicePointer, &address, memory.arrays[k], 0);
        memory.arrays[k] = address;
    }
    TRY(launch_chunk(call, buffer, &memory));
    return finish_chunk(call, buffer);
}

/* Refuses device memory, and stages the call unless the buffer is pinned. With nbytes 0 it need not be pinned. */
static softqam_status check_buffer(host_call *call, const void *memory, size_t nbytes, const char *name)
{
    struct cudaPointerAttributes first;
    struct cudaPointerAttributes last;
    TRY_CUDA(cudaPointerGetAttributes, &first, memory);
    REFUSE_IF(first.type == cudaMemoryTypeDevice, "%s is device memory: softqam_cuda_demodulate() takes that", name);
    if (call->is_staged || nbytes == 0)
        return SOFTQAM_OK;
    TRY_CUDA(cudaPointerGetAttributes, &last, (const unsigned char *)memory + nbytes - 1);
    call->is_staged = first.type != cudaMemoryTypeHost || last.type != cudaMemoryTypeHost;
    return SOFTQAM_OK;
}

/* Finds which arrays the call has, and whether it is staged. Every call is, except a single segment whose symbols and
 * values each lie side by side in pinned memory. If there are several segments, only the first one's memory is checked.
 */
static softqam_status check_memory(host_call *call)
{
    const softqam_segment_list *list = call->list;
    const softqam_params *params = list->params;
    softqam_cursor cursor = softqam_cursor_at(list, 0);
    softqam_resolved_segment segment;
    softqam_cursor_next(&cursor, list->n_symbols, &segment);
    const softqam_source *source = &segment.source;
    const softqam_placement *placement = &segment.placement;
    const size_t n = segment.n_symbols;
    const bool has_noise = softqam_params_have_llrs(params), is_alone = list->n_segments == 1;
    const bool has_one_noise = is_alone && source->noise_stride == 0 && source->n_layers == 1 && !list->has_gains;
    call->nbytes[SYMBOLS] = params->defaults.symbol_nbytes;
    call->nbytes[NOISE] = has_noise && !has_one_noise ? sizeof(float) : 0;
    call->nbytes[GAINS] = list->has_gains ? sizeof(float) : 0;
    call->nbytes[VALUES] = list->most_symbol_nbytes;
    call->is_staged = !is_alone || !source->is_contiguous || placement->plane_stride != 0 || placement->has_code_blocks;
    call->is_aligned = (uintptr_t)source->layers[0].symbols % source->symbol_nbytes == 0 &&
                       (uintptr_t)placement->out % placement->value_nbytes == 0;
    for (unsigned k = 0; k < source->n_layers; k++) {
        const softqam_source_layer *layer = &source->layers[k];
        TRY(check_buffer(call, layer->symbols, n * params->defaults.symbol_nbytes, "symbols"));
        if (layer->symbols_q)
            TRY(check_buffer(call, layer->symbols_q, 0, "symbols_q"));
        if (has_noise)
            TRY(check_buffer(call, layer->noise_var, n * call->nbytes[NOISE], "noise_var"));
        if (layer->gain)
            TRY(check_buffer(call, layer->gain, n * sizeof(float), "gain"));
    }
    if (placement->has_code_blocks)
        return check_buffer(call, placement->block_buffers ? (const void *)placement->block_buffers : placement->out, 0,
                            "codeword.buffers");
    return check_buffer(call, placement->out,
                        n * softqam_params_output_nbytes(params, (softqam_modulation)placement->modulation), "out");
}

softqam_status softqam_pipeline_check_memory(const softqam_segment_list *list)
{
    host_call call = {.list = list};
    softqam_cursor cursor = softqam_cursor_at(list, 0);
    const softqam_segment *segment = softqam_cursor_segment(&cursor);
    const unsigned n_layers = softqam_segment_layers(segment);
    TRY(check_memory(&call));
    if (softqam_segment_layers_read(segment) > n_layers) {
        const softqam_layer *partner = &segment->layers[n_layers];
        TRY(check_buffer(&call, partner->symbols, 0, "symbols"));
        TRY(check_buffer(&call, partner->symbols_q ? partner->symbols_q : partner->symbols, 0, "symbols_q"));
        TRY(check_buffer(&call, partner->gain, 0, "gain"));
    }
    for (unsigned j = 0; j < SOFTQAM_MAX_LAYERS / 2; j++)
        if (segment->cross_gain[j])
            TRY(check_buffer(&call, segment->cross_gain[j], 0, "cross_gain"));
    return segment->statistics ? check_buffer(&call, segment->statistics, 0, "statistics") : SOFTQAM_OK;
}

/* Returns whether a call is one kernel on host memory. */
static bool is_mapped(const host_call *call)
{
    return call->list->n_symbols <= MAPPED_NBYTES / (call->nbytes[SYMBOLS] + call->nbytes[VALUES]) &&
           call->list->n_symbols <= buffer_symbols(call, &call->pipeline->staged[0]);
}

/* Waits, after a failure, until nothing is under way, and ignores further errors. */
static void abandon(const softqam_pipeline *pipeline)
{
    for (unsigned k = 0; k < softqam_pipeline_n_buffers(pipeline); k++) {
        (void)cudaStreamSynchronize(pipeline->ring[k].stream);
        pipeline->ring[k].n_symbols = 0;
    }
    (void)cudaGetLastError();
}

static softqam_status demodulate(host_call *call, softqam_pool *pool)
{
    TRY(check_memory(call));
    const softqam_status status = is_mapped(call) ? demodulate_mapped(call) : demodulate_chunks(call, pool);
    if (status != SOFTQAM_OK)
        abandon(call->pipeline);
    return status;
}

softqam_status softqam_pipeline_demodulate(softqam_pipeline *pipeline, softqam_pool *pool,
                                           const softqam_cpu_loops *loops, const softqam_segment_list *list)
{
    host_call call = {.pipeline = pipeline, .list = list, .loops = loops};
    TRY(softqam_pipeline_prepare(pipeline));
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    TRY(softqam_device_enter(&scope, pipeline->device));
    pthread_mutex_lock(&pipeline->mutex);
    const softqam_status status = demodulate(&call, pool);
    pthread_mutex_unlock(&pipeline->mutex);
    return status;
}
