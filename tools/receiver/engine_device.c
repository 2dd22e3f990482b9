/* SPDX-License-Identifier: MIT */
/* The receiver's use of the library on the GPU: device memory and a stream of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam_cuda.h>

#include "common/message.h"
#include "engine.h"
#include "passes_device.h"

struct device {
    cudaStream_t stream;
    float *d_noise_var;
    float *d_symbols; /* of all slots, one behind the other */
    int8_t *d_llrs;
    /* For the passes. The sequence does not change from slot to slot, so it is made beforehand. */
    int8_t *d_symbol_order;
    uint8_t *d_sequence;
    struct code_block *code_blocks; /* in host memory that the device copies from */
    struct code_block *d_code_blocks;
    size_t most_symbols; /* of a code block */
};

enum { SLOT_FLOATS = 2 * SLOT_SYMBOLS };

/* Slots are aligned as any LLRs want it. */
static size_t slot_nbytes(const struct engine *engine)
{
    return (engine->layout->n_llrs + 15) / 16 * 16;
}

static int8_t *d_llrs(const struct engine *engine, size_t slot)
{
    return engine->device->d_llrs + slot * slot_nbytes(engine);
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
static bool wait_for(struct device *device)
{
    return GOOD(cudaStreamSynchronize(device->stream));
}

static bool enqueue(struct engine *engine, size_t slot, enum llr_order order, int8_t *to)
{
    struct device *device = engine->device;
    const struct slot_places places = {device->d_symbols + slot * SLOT_FLOATS, device->d_noise_var, to};
    const size_t n = engine->layout->n_codewords;
    layout_lay_out(engine->layout, order, &places, engine->segments);
    if (softqam_cuda_demodulate_segments(engine->demodulator, engine->segments, n, device->stream) == SOFTQAM_OK)
        return true;
    message_print(NULL, "%s", softqam_error_message());
    return false;
}

static bool demodulate_on_device(struct engine *engine, size_t slot)
{
    return enqueue(engine, slot, CODEWORD_ORDER, d_llrs(engine, slot)) && wait_for(engine->device);
}

static bool demodulate_in_passes_on_device(struct engine *engine, size_t slot, enum pass last)
{
    const struct layout *layout = engine->layout;
    struct device *device = engine->device;
    bool done = enqueue(engine, slot, SYMBOL_ORDER, device->d_symbol_order);
    if (done && last >= PASS_DESCRAMBLE)
        done =
            GOOD(passes_descramble_device(device->d_sequence, device->d_symbol_order, layout->n_llrs, device->stream));
    if (done && last >= PASS_DEINTERLEAVE)
        done = GOOD(passes_deinterleave_device(device->d_code_blocks, layout->n_code_blocks, device->most_symbols,
                                               device->d_symbol_order, d_llrs(engine, slot), device->stream));
    return wait_for(device) && done;
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
    engine->demodulate_in_passes = demodulate_in_passes_on_device;
    struct device *device = engine->device = calloc(1, sizeof *device);
    if (!device) {
        message_print(NULL, "no memory for a device");
        return false;
    }
    void *code_blocks;
    if (!engine_allocate(engine, sizeof layout->code_blocks, &code_blocks))
        return false;
    device->code_blocks = code_blocks;
    memcpy(code_blocks, layout->code_blocks, sizeof layout->code_blocks);
    for (size_t r = 0; r < layout->n_code_blocks; r++)
        if (layout->code_blocks[r].n_symbols > device->most_symbols)
            device->most_symbols = layout->code_blocks[r].n_symbols;
    return GOOD(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking)) &&
           GOOD(cudaMalloc((void **)&device->d_noise_var, SLOT_SYMBOLS * sizeof(float))) &&
           GOOD(cudaMalloc((void **)&device->d_symbols, n_slots * SLOT_FLOATS * sizeof(float))) &&
           GOOD(cudaMalloc((void **)&device->d_llrs, n_slots * slot_nbytes(engine))) &&
           GOOD(cudaMalloc((void **)&device->d_symbol_order, slot_nbytes(engine))) &&
           GOOD(cudaMalloc((void **)&device->d_sequence, layout->n_llrs / 8)) &&
           GOOD(cudaMalloc((void **)&device->d_code_blocks, sizeof layout->code_blocks));
}

bool engine_upload(struct engine *engine)
{
    struct device *device = engine->device;
    if (!device)
        return true;
    const struct layout *layout = engine->layout;
    bool done = passes_make_sequence(layout, engine->sequence) &&
                GOOD(cudaMemcpyAsync(device->d_sequence, engine->sequence, layout->n_llrs / 8, cudaMemcpyHostToDevice,
                                     device->stream)) &&
                GOOD(cudaMemcpyAsync(device->d_code_blocks, device->code_blocks, sizeof layout->code_blocks,
                                     cudaMemcpyHostToDevice, device->stream)) &&
                GOOD(cudaMemsetAsync(device->d_llrs, -128, engine->n_slots * slot_nbytes(engine), device->stream)) &&
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
        done = GOOD(cudaMemcpyAsync(engine->slots[k].llrs, d_llrs(engine, k), engine->layout->n_llrs,
                                    cudaMemcpyDeviceToHost, device->stream));
    return GOOD(cudaStreamSynchronize(device->stream)) && done;
}

void engine_close_device(struct engine *engine)
{
    struct device *device = engine->device;
    softqam_host_free(device->code_blocks);
    cudaFree(device->d_code_blocks);
    cudaFree(device->d_sequence);
    cudaFree(device->d_symbol_order);
    cudaFree(device->d_llrs);
    cudaFree(device->d_symbols);
    cudaFree(device->d_noise_var);
    if (device->stream)
        cudaStreamDestroy(device->stream);
    free(device);
    engine->device = NULL;
}
