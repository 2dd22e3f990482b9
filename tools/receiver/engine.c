/* SPDX-License-Identifier: MIT */
/* The library in a receiver: the part to copy. */
#include <stdio.h>
#include <stdlib.h>

#ifdef RECEIVER_CUDA
#include <softqam/softqam_cuda.h>
#endif

#include "common/message.h"
#include "receiver.h"

static bool is_ok(softqam_status status)
{
    if (status != SOFTQAM_OK)
        message_print(NULL, "%s", softqam_error_message());
    return status == SOFTQAM_OK;
}

/* Soft buffers of successive slots are aligned. */
static size_t slot_nbytes(const struct engine *engine) { return (engine->layout->n_values + 63) / 64 * 64; }

static int8_t *values_of(const struct engine *engine, const struct memory *memory, size_t slot)
{
    return memory->values + (slot - slot_is_again(slot)) * slot_nbytes(engine);
}

int8_t *engine_values(const struct engine *engine, size_t slot) { return values_of(engine, &engine->host, slot); }

/* One for each codeword of a slot. */
static void fill_segments(struct engine *engine, size_t slot, const struct memory *memory)
{
    for (size_t k = 0; k < engine->layout->n_codewords; k++) {
        const struct codeword *codeword = &engine->layout->codewords[k];
        softqam_segment *segment = &engine->segments[k];
        *segment = (softqam_segment){.n_symbols = codeword->n_symbols,
                                     .n_layers = codeword->n_layers,
                                     .symbol_stride = codeword->n_layers,
                                     .noise_stride = codeword->n_layers,
                                     .modulation = codeword->modulation,
                                     .descramble = 1,
                                     .c_init = codeword->c_init,
                                     .codeword = codeword->transmissions[slot_is_again(slot)]};
        for (size_t layer = 0; layer < codeword->n_layers; layer++) {
            segment->layers[layer].symbols = memory->symbols + slot * SLOT_SYMBOLS + codeword->first_symbol + layer;
            segment->layers[layer].noise_var = memory->noise_var + codeword->first_symbol + layer;
        }
        segment->codeword.buffers = values_of(engine, memory, slot) + codeword->first_value;
    }
}

#ifdef RECEIVER_CUDA

static bool is_good(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        message_print(what, "%s", cudaGetErrorString(error));
    return error == cudaSuccess;
}

#define GOOD(call) is_good(call, #call)

static bool open_device(struct engine *engine, size_t n_slots)
{
    struct memory *device = &engine->device;
    engine->on_device = GOOD(cudaStreamCreateWithFlags(&engine->stream, cudaStreamNonBlocking));
    return engine->on_device && GOOD(cudaMalloc((void **)&device->noise_var, SLOT_SYMBOLS * sizeof(float))) &&
           GOOD(cudaMalloc((void **)&device->symbols, n_slots * SLOT_SYMBOLS * sizeof(float complex))) &&
           GOOD(cudaMalloc((void **)&device->values, n_slots * slot_nbytes(engine)));
}

bool engine_upload(struct engine *engine)
{
    const struct memory *host = &engine->host, *device = &engine->device;
    const size_t n = engine->n_slots;
    return !engine->on_device ||
           (GOOD(cudaMemsetAsync(device->values, -128, n * slot_nbytes(engine), engine->stream)) &&
            GOOD(cudaMemcpyAsync(device->noise_var, host->noise_var, SLOT_SYMBOLS * sizeof(float),
                                 cudaMemcpyHostToDevice, engine->stream)) &&
            GOOD(cudaMemcpyAsync(device->symbols, host->symbols, n * SLOT_SYMBOLS * sizeof(float complex),
                                 cudaMemcpyHostToDevice, engine->stream)) &&
            GOOD(cudaStreamSynchronize(engine->stream)));
}

bool engine_download(struct engine *engine)
{
    const size_t nbytes = engine->n_slots * slot_nbytes(engine);
    return !engine->on_device || (GOOD(cudaMemcpyAsync(engine->host.values, engine->device.values, nbytes,
                                                       cudaMemcpyDeviceToHost, engine->stream)) &&
                                  GOOD(cudaStreamSynchronize(engine->stream)));
}

/* A receiver whose decoder is on the GPU would enqueue that next; here the LLRs must be complete to be timed. */
static bool demodulate_on_device(struct engine *engine, size_t slot)
{
    fill_segments(engine, slot, &engine->device);
    return is_ok(softqam_cuda_demodulate_segments(engine->demodulator, engine->segments, engine->layout->n_codewords,
                                                  engine->stream)) &&
           GOOD(cudaStreamSynchronize(engine->stream));
}

static void close_device(struct engine *engine)
{
    cudaFree(engine->device.noise_var);
    cudaFree(engine->device.symbols);
    cudaFree(engine->device.values);
    cudaStreamDestroy(engine->stream);
}

#else

/* Never called: engine_open() says so. */
static bool open_device(struct engine *engine, size_t n_slots) { return engine->n_slots != n_slots; }
static bool demodulate_on_device(struct engine *engine, size_t slot) { return engine->n_slots < slot; }
static void close_device(struct engine *engine) { engine->on_device = false; }

bool engine_upload(struct engine *engine) { return !engine->on_device; }
bool engine_download(struct engine *engine) { return !engine->on_device; }

#endif

static bool create_demodulator(struct engine *engine, const softqam_context_config *context_config, unsigned prepare)
{
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    if (!is_ok(softqam_context_create(&engine->context, context_config)))
        return false;
    config.context = engine->context;
    return is_ok(softqam_demodulator_create(&engine->demodulator, &config)) &&
           is_ok(softqam_context_prepare(engine->context, prepare));
}

static bool allocate(struct engine *engine, size_t nbytes, void *pointer)
{
    void *memory;
    const bool done = is_ok(softqam_host_alloc(engine->context, nbytes, &memory));
    *(void **)pointer = memory;
    return done;
}

bool engine_open(struct engine *engine, const struct layout *layout, const softqam_context_config *config,
                 bool on_device, size_t n_slots)
{
    struct memory *host = &engine->host;
    *engine = (struct engine){.layout = layout, .n_slots = n_slots};
#ifndef RECEIVER_CUDA
    if (on_device) {
        message_print("--backend", "device: this build has no CUDA");
        return false;
    }
#endif
    engine->n_received = calloc(n_slots, sizeof *engine->n_received);
    engine->segments = calloc(layout->n_codewords, sizeof *engine->segments);
    if (!engine->n_received || !engine->segments) {
        message_print(NULL, "no memory for %zu slots", n_slots);
        return false;
    }
    /* Calls on device memory need kernels only: no streams, threads or staging memory. */
    return create_demodulator(engine, config, on_device ? SOFTQAM_PREPARE_KERNELS : SOFTQAM_PREPARE_ALL) &&
           allocate(engine, SLOT_SYMBOLS * sizeof(float), &host->noise_var) &&
           allocate(engine, n_slots * SLOT_SYMBOLS * sizeof(float complex), &host->symbols) &&
           allocate(engine, n_slots * slot_nbytes(engine), &host->values) &&
           (!on_device || open_device(engine, n_slots));
}

bool engine_demodulate(struct engine *engine, size_t slot)
{
    size_t *n_received = &engine->n_received[slot - slot_is_again(slot)];
    *n_received = !slot_is_again(slot) ? 1 : *n_received == 1 ? 2 : 0;
    if (engine->on_device)
        return demodulate_on_device(engine, slot);
    fill_segments(engine, slot, &engine->host);
    return is_ok(softqam_demodulate_segments(engine->demodulator, engine->segments, engine->layout->n_codewords));
}

void engine_close(struct engine *engine)
{
    if (engine->on_device)
        close_device(engine);
    softqam_host_free(engine->host.noise_var);
    softqam_host_free(engine->host.symbols);
    softqam_host_free(engine->host.values);
    free(engine->n_received);
    free(engine->segments);
    softqam_demodulator_destroy(engine->demodulator);
    softqam_context_destroy(engine->context);
}
