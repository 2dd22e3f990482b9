/* SPDX-License-Identifier: MIT */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef RECEIVER_CUDA
#include <softqam/softqam_cuda.h>
#endif

#include "common/message.h"

static bool is_ok(softqam_status status)
{
    if (status != SOFTQAM_OK)
        message_print(NULL, "%s", softqam_error_message());
    return status == SOFTQAM_OK;
}

/* The segments of a slot whose symbols, noise and soft buffers begin at these addresses. */
static void fill_segments(struct engine *engine, size_t slot, const float complex *symbols, const float *noise_var,
                          int8_t *values)
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
            segment->layers[layer].symbols = symbols + codeword->first_symbol + layer;
            segment->layers[layer].noise_var = noise_var + codeword->first_symbol + layer;
        }
        segment->codeword.buffers = values + codeword->first_value;
    }
}

static bool demodulate_on_host(struct engine *engine, size_t slot)
{
    const struct slot_memory *memory = &engine->slots[slot];
    fill_segments(engine, slot, memory->symbols, engine->noise_var, memory->values);
    return is_ok(softqam_demodulate_segments(engine->demodulator, engine->segments, engine->layout->n_codewords));
}

static bool allocate(struct engine *engine, size_t nbytes, void *pointer)
{
    void *memory;
    const bool done = is_ok(softqam_host_alloc(engine->context, nbytes, &memory));
    *(void **)pointer = memory;
    return done;
}

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

static bool allocate_slots(struct engine *engine, size_t n_slots)
{
    const struct layout *layout = engine->layout;
    engine->slots = calloc(n_slots, sizeof *engine->slots);
    engine->segments = calloc(layout->n_codewords, sizeof *engine->segments);
    if (!engine->slots || !engine->segments) {
        message_print(NULL, "no memory for %zu slots", n_slots);
        return false;
    }
    bool done = allocate(engine, SLOT_SYMBOLS * sizeof(float), &engine->noise_var);
    for (size_t k = 0; done && k < n_slots; k++) {
        struct slot_memory *slot = &engine->slots[k];
        engine->n_slots = k + 1;
        done = allocate(engine, SLOT_SYMBOLS * sizeof(float complex), &slot->symbols);
        if (slot_is_again(k))
            slot->values = slot[-1].values;
        else
            done = done && allocate(engine, layout->n_values, &slot->values);
    }
    return done;
}

bool engine_open_host(struct engine *engine, const struct layout *layout, const softqam_context_config *config,
                      unsigned prepare, size_t n_slots)
{
    *engine = (struct engine){.layout = layout};
    snprintf(engine->counted, sizeof engine->counted,
             "softqam_demodulate_segments() of %zu segment%s, host memory to host memory", layout->n_codewords,
             PLURAL(layout->n_codewords));
    return create_demodulator(engine, config, prepare) && allocate_slots(engine, n_slots);
}

#ifdef RECEIVER_CUDA

struct device {
    cudaStream_t stream;
    float *d_noise_var;
    float complex *d_symbols; /* of all slots, contiguous */
    int8_t *d_values;
};

static bool is_good(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        message_print(what, "%s", cudaGetErrorString(error));
    return error == cudaSuccess;
}

#define GOOD(call) is_good(call, #call)

/* Soft buffers of successive slots are aligned. */
static size_t slot_nbytes(const struct engine *engine) { return (engine->layout->n_values + 15) / 16 * 16; }

static int8_t *d_values(const struct engine *engine, size_t slot)
{
    return engine->device->d_values + (slot - slot_is_again(slot)) * slot_nbytes(engine);
}

/* A receiver whose decoder is on the GPU would enqueue that next; here the LLRs must be complete to be timed. */
static bool demodulate_on_device(struct engine *engine, size_t slot)
{
    const struct device *device = engine->device;
    fill_segments(engine, slot, device->d_symbols + slot * SLOT_SYMBOLS, device->d_noise_var, d_values(engine, slot));
    return is_ok(softqam_cuda_demodulate_segments(engine->demodulator, engine->segments, engine->layout->n_codewords,
                                                  device->stream)) &&
           GOOD(cudaStreamSynchronize(device->stream));
}

bool engine_open_device(struct engine *engine, const struct layout *layout, size_t n_slots)
{
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CUDA;
    /* Calls on device memory need kernels only: no streams, threads or staging memory. */
    if (!engine_open_host(engine, layout, &config, SOFTQAM_PREPARE_KERNELS, n_slots))
        return false;
    snprintf(engine->counted, sizeof engine->counted,
             "softqam_cuda_demodulate_segments() of %zu segment%s and cudaStreamSynchronize(), on the device",
             layout->n_codewords, PLURAL(layout->n_codewords));
    struct device *device = engine->device = calloc(1, sizeof *device);
    if (!device) {
        message_print(NULL, "no memory for a device");
        return false;
    }
    return GOOD(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking)) &&
           GOOD(cudaMalloc((void **)&device->d_noise_var, SLOT_SYMBOLS * sizeof(float))) &&
           GOOD(cudaMalloc((void **)&device->d_symbols, n_slots * SLOT_SYMBOLS * sizeof(float complex))) &&
           GOOD(cudaMalloc((void **)&device->d_values, n_slots * slot_nbytes(engine)));
}

bool engine_upload(struct engine *engine)
{
    const struct device *device = engine->device;
    if (!device)
        return true;
    bool done = GOOD(cudaMemsetAsync(device->d_values, -128, engine->n_slots * slot_nbytes(engine), device->stream)) &&
                GOOD(cudaMemcpyAsync(device->d_noise_var, engine->noise_var, SLOT_SYMBOLS * sizeof(float),
                                     cudaMemcpyHostToDevice, device->stream));
    for (size_t k = 0; done && k < engine->n_slots; k++)
        done = GOOD(cudaMemcpyAsync(device->d_symbols + k * SLOT_SYMBOLS, engine->slots[k].symbols,
                                    SLOT_SYMBOLS * sizeof(float complex), cudaMemcpyHostToDevice, device->stream));
    return done && GOOD(cudaStreamSynchronize(device->stream));
}

bool engine_download(struct engine *engine)
{
    const struct device *device = engine->device;
    bool done = true;
    for (size_t k = 0; device && done && k < engine->n_slots; k++)
        done = GOOD(cudaMemcpyAsync(engine->slots[k].values, d_values(engine, k), engine->layout->n_values,
                                    cudaMemcpyDeviceToHost, device->stream));
    return !device || (GOOD(cudaStreamSynchronize(device->stream)) && done);
}

static void close_device(struct device *device)
{
    cudaFree(device->d_values);
    cudaFree(device->d_symbols);
    cudaFree(device->d_noise_var);
    if (device->stream)
        cudaStreamDestroy(device->stream);
    free(device);
}

#else

static bool demodulate_on_device(struct engine *engine, size_t slot)
{
    (void)engine;
    (void)slot;
    return false;
}

bool engine_open_device(struct engine *engine, const struct layout *layout, size_t n_slots)
{
    (void)layout;
    (void)n_slots;
    *engine = (struct engine){0};
    message_print("--backend", "device: this build has no CUDA");
    return false;
}

bool engine_upload(struct engine *engine) { return !engine->device; }

bool engine_download(struct engine *engine) { return !engine->device; }

static void close_device(struct device *device) { (void)device; }

#endif

bool engine_demodulate(struct engine *engine, size_t slot)
{
    size_t *n_received = &engine->slots[slot - slot_is_again(slot)].n_received;
    *n_received = !slot_is_again(slot) ? 1 : *n_received == 1 ? 2 : 0;
    return engine->device ? demodulate_on_device(engine, slot) : demodulate_on_host(engine, slot);
}

void engine_close(struct engine *engine)
{
    if (engine->device)
        close_device(engine->device);
    for (size_t k = 0; k < engine->n_slots; k++) {
        softqam_host_free(engine->slots[k].symbols);
        if (!slot_is_again(k))
            softqam_host_free(engine->slots[k].values);
    }
    softqam_host_free(engine->noise_var);
    free(engine->slots);
    free(engine->segments);
    softqam_demodulator_destroy(engine->demodulator);
    softqam_context_destroy(engine->context);
}
