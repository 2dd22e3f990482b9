/* SPDX-License-Identifier: MIT */
/* The receiver's use of the library on the GPU: device memory and a stream of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam_cuda.h>

#include "common/message.h"
#include "engine.h"

struct device {
    cudaStream_t stream;
    float *d_noise_var;
    float *d_symbols; /* of all slots, one behind the other */
    int8_t *d_values;
};

enum { SLOT_FLOATS = 2 * SLOT_SYMBOLS };

/* Slots are aligned as any LLRs want it. */
static size_t slot_nbytes(const struct engine *engine)
{
    return (engine->layout->n_values + 15) / 16 * 16;
}

static int8_t *d_values(const struct engine *engine, size_t slot)
{
    return engine->device->d_values + (slot - slot_is_again(slot)) * slot_nbytes(engine);
}

static bool good(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return true;
    message_print(what, "%s", cudaGetErrorString(error));
    return false;
}

#define GOOD(call) good(call, #call)

/* A receiver whose decoder is on the GPU would go on enqueuing; here the LLRs have to be there to be counted. */
static bool demodulate_on_device(struct engine *engine, size_t slot)
{
    struct device *device = engine->device;
    const struct slot_places places = {device->d_symbols + slot * SLOT_FLOATS, device->d_noise_var,
                                       d_values(engine, slot)};
    const size_t n = engine->layout->n_codewords;
    layout_lay_out(engine->layout, slot_is_again(slot), &places, engine->segments);
    if (softqam_cuda_demodulate_segments(engine->demodulator, engine->segments, n, device->stream) == SOFTQAM_OK)
        return GOOD(cudaStreamSynchronize(device->stream));
    message_print(NULL, "%s", softqam_error_message());
    return false;
}

bool engine_open_device(struct engine *engine, const struct layout *layout, size_t n_slots)
{
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CUDA;
    /* No streams, threads or staging memory: all that calls on device memory need of the library is its kernels. */
    if (!engine_open_host(engine, layout, &config, SOFTQAM_PREPARE_KERNELS, n_slots))
        return false;
    snprintf(engine->counted, sizeof engine->counted,
             "softqam_cuda_demodulate_segments() of %zu segment%s and cudaStreamSynchronize(), on the device",
             layout->n_codewords, PLURAL(layout->n_codewords));
    engine->demodulate = demodulate_on_device;
    struct device *device = engine->device = calloc(1, sizeof *device);
    if (!device) {
        message_print(NULL, "no memory for a device");
        return false;
    }
    return GOOD(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking)) &&
           GOOD(cudaMalloc((void **)&device->d_noise_var, SLOT_SYMBOLS * sizeof(float))) &&
           GOOD(cudaMalloc((void **)&device->d_symbols, n_slots * SLOT_FLOATS * sizeof(float))) &&
           GOOD(cudaMalloc((void **)&device->d_values, n_slots * slot_nbytes(engine)));
}

bool engine_upload(struct engine *engine)
{
    struct device *device = engine->device;
    if (!device)
        return true;
    bool done = GOOD(cudaMemsetAsync(device->d_values, -128, engine->n_slots * slot_nbytes(engine), device->stream)) &&
                GOOD(cudaMemcpyAsync(device->d_noise_var, engine->noise_var, SLOT_SYMBOLS * sizeof(float),
                                     cudaMemcpyHostToDevice, device->stream));
    for (size_t k = 0; done && k < engine->n_slots; k++)
        done = GOOD(cudaMemcpyAsync(device->d_symbols + k * SLOT_FLOATS, engine->slots[k].symbols,
                                    SLOT_FLOATS * sizeof(float), cudaMemcpyHostToDevice, device->stream));
    return done && GOOD(cudaStreamSynchronize(device->stream));
}

bool engine_download(struct engine *engine)
{
    struct device *device = engine->device;
    if (!device)
        return true;
    bool done = true;
    for (size_t k = 0; done && k < engine->n_slots; k++)
        done = GOOD(cudaMemcpyAsync(engine->slots[k].values, d_values(engine, k), engine->layout->n_values,
                                    cudaMemcpyDeviceToHost, device->stream));
    return GOOD(cudaStreamSynchronize(device->stream)) && done;
}

void engine_close_device(struct engine *engine)
{
    struct device *device = engine->device;
    cudaFree(device->d_values);
    cudaFree(device->d_symbols);
    cudaFree(device->d_noise_var);
    if (device->stream)
        cudaStreamDestroy(device->stream);
    free(device);
    engine->device = NULL;
}
