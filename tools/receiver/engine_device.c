/* SPDX-License-Identifier: MIT */
/* The receiver's use of the library on the GPU: device memory and a stream of its own. */
#include <stdlib.h>

#include <softqam/softqam_cuda.h>

#include "common/message.h"
#include "engine.h"

struct device {
    cudaStream_t stream;
    float *d_noise_var;
    float *d_symbols; /* of all slots, one behind the other */
    int8_t *d_llrs;
};

enum { SLOT_FLOATS = 2 * SLOT_SYMBOLS, SLOT_LLRS = SYMBOL_BITS * SLOT_SYMBOLS };

static bool good(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return true;
    message_print(what, "%s", cudaGetErrorString(error));
    return false;
}

#define GOOD(call) good(call, #call)

static bool demodulate_on_device(struct engine *engine, size_t slot)
{
    struct device *device = engine->device;
    softqam_segment segments[SEGMENTS];
    engine_lay_out(segments, device->d_symbols + slot * SLOT_FLOATS, device->d_noise_var,
                   device->d_llrs + slot * SLOT_LLRS);
    if (softqam_cuda_demodulate_segments(engine->demodulator, segments, SEGMENTS, device->stream) != SOFTQAM_OK) {
        message_print(NULL, "%s", softqam_error_message());
        return false;
    }
    /* A receiver whose decoder is on the GPU would go on enqueuing; here the LLRs have to be there to be counted. */
    return GOOD(cudaStreamSynchronize(device->stream));
}

bool engine_open_device(struct engine *engine, size_t n_slots)
{
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CUDA;
    /* No streams, threads or staging memory: all that calls on device memory need of the library is its kernels. */
    if (!engine_open_host(engine, &config, SOFTQAM_PREPARE_KERNELS, n_slots))
        return false;
    engine->counted =
        "softqam_cuda_demodulate_segments() of 56 OFDM symbols and cudaStreamSynchronize(), on the device";
    engine->demodulate = demodulate_on_device;
    struct device *device = engine->device = calloc(1, sizeof *device);
    if (!device) {
        message_print(NULL, "no memory for a device");
        return false;
    }
    return GOOD(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking)) &&
           GOOD(cudaMalloc((void **)&device->d_noise_var, LAYERS * SUBCARRIERS * sizeof(float))) &&
           GOOD(cudaMalloc((void **)&device->d_symbols, n_slots * SLOT_FLOATS * sizeof(float))) &&
           GOOD(cudaMalloc((void **)&device->d_llrs, n_slots * SLOT_LLRS));
}

bool engine_upload(struct engine *engine)
{
    struct device *device = engine->device;
    if (!device)
        return true;
    bool done = GOOD(cudaMemsetAsync(device->d_llrs, -128, engine->n_slots * SLOT_LLRS, device->stream)) &&
                GOOD(cudaMemcpyAsync(device->d_noise_var, engine->noise_var, LAYERS * SUBCARRIERS * sizeof(float),
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
        done = GOOD(cudaMemcpyAsync(engine->slots[k].llrs, device->d_llrs + k * SLOT_LLRS, SLOT_LLRS,
                                    cudaMemcpyDeviceToHost, device->stream));
    return GOOD(cudaStreamSynchronize(device->stream)) && done;
}

void engine_close_device(struct engine *engine)
{
    struct device *device = engine->device;
    cudaFree(device->d_llrs);
    cudaFree(device->d_symbols);
    cudaFree(device->d_noise_var);
    if (device->stream)
        cudaStreamDestroy(device->stream);
    free(device);
    engine->device = NULL;
}
