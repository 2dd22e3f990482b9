/* SPDX-License-Identifier: MIT */
/* The library in a receiver: the part to copy. */
#include <string.h>

#ifdef RECEIVER_CUDA
#include <softqam/softqam_cuda.h>
#endif

#include "common/message.h"
#include "receiver.h"

static bool is_ok(softqam_status status)
{
    return status == SOFTQAM_OK || message_print(NULL, "%s", softqam_error_message());
}

/* One allocation holds symbols, cross gains, gains, noise variances and soft buffers, in this order. */
enum {
    ELEMENTS = SLOT_SYMBOLS / LAYERS,
    INPUTS_NBYTES = (SLOTS * SLOT_SYMBOLS + ELEMENTS) * sizeof(float complex) + 2 * SLOT_SYMBOLS * sizeof(float)
};

static size_t all_nbytes(const struct engine *engine) { return INPUTS_NBYTES + SLOTS * engine->layout->n_values; }

void engine_copy_inputs(struct engine *destination, const struct engine *source)
{
    memcpy(destination->host.symbols, source->host.symbols, INPUTS_NBYTES);
}

static int8_t *values_of(const struct engine *engine, const struct memory *memory, size_t slot)
{
    return memory->values + (slot - slot_is_again(slot)) * engine->layout->n_values;
}

int8_t *engine_values(const struct engine *engine, size_t slot) { return values_of(engine, &engine->host, slot); }

/* Fills a segment for each codeword of a slot. */
static void fill_segments(struct engine *engine, size_t slot, const struct memory *memory)
{
    for (size_t k = 0; k < engine->layout->n_codewords; k++) {
        const struct codeword *codeword = &engine->layout->codewords[k];
        softqam_segment *segment = &engine->segments[k];
        *segment = (softqam_segment){.n_symbols = codeword->n_symbols,
                                     .n_layers = LAYERS,
                                     .symbol_stride = LAYERS,
                                     .noise_stride = LAYERS,
                                     .modulation = engine->layout->modulation,
                                     .descramble = 1,
                                     .c_init = codeword->c_init,
                                     .codeword = codeword->transmissions[slot_is_again(slot)]};
        for (size_t layer = 0; layer < LAYERS; layer++) {
            segment->layers[layer].symbols = memory->symbols + slot * SLOT_SYMBOLS + codeword->first_symbol + layer;
            segment->layers[layer].noise_var = memory->noise_var + codeword->first_symbol + layer;
            if (engine->layout->is_coupled)
                segment->layers[layer].gain = memory->gain + codeword->first_symbol + layer;
        }
        if (engine->is_joint) /* layers 0 and 1; layers 2 and 3 have no cross gain, so they are demapped alone */
            segment->cross_gain[0] = (const float *)(memory->cross_gain + codeword->first_symbol / LAYERS);
        segment->codeword.buffers = values_of(engine, memory, slot) + codeword->first_value;
    }
}

static bool demodulate_on_host(struct engine *engine, size_t slot)
{
    fill_segments(engine, slot, &engine->host);
    return is_ok(softqam_demodulate_segments(engine->demodulator, engine->segments, engine->layout->n_codewords));
}

static struct memory divide(unsigned char *memory)
{
    float complex *symbols = (void *)memory, *cross_gain = symbols + (size_t)SLOTS * SLOT_SYMBOLS;
    float *gain = (void *)(cross_gain + ELEMENTS);
    return (struct memory){.symbols = symbols,
                           .cross_gain = cross_gain,
                           .gain = gain,
                           .noise_var = gain + SLOT_SYMBOLS,
                           .values = (int8_t *)memory + INPUTS_NBYTES};
}

#ifdef RECEIVER_CUDA

static bool is_good(cudaError_t error, const char *what)
{
    return error == cudaSuccess || message_print(what, "%s", cudaGetErrorString(error));
}

#define GOOD(call) is_good(call, #call)

static bool open_device(struct engine *engine)
{
    void *memory = NULL;
    if (!GOOD(cudaMalloc(&memory, all_nbytes(engine))))
        return false;
    engine->device = divide(memory);
    return GOOD(cudaStreamCreateWithFlags(&engine->stream, cudaStreamNonBlocking));
}

bool engine_upload(struct engine *engine)
{
    memset(engine->host.values, -128, SLOTS * engine->layout->n_values);
    return !engine->on_device ||
           GOOD(cudaMemcpy(engine->device.symbols, engine->host.symbols, all_nbytes(engine), cudaMemcpyHostToDevice));
}

bool engine_download(struct engine *engine)
{
    return !engine->on_device ||
           GOOD(cudaMemcpy(engine->host.symbols, engine->device.symbols, all_nbytes(engine), cudaMemcpyDeviceToHost));
}

/* A receiver with its decoder on the GPU would enqueue the decoder next. This one synchronises, to time the LLRs. */
bool engine_demodulate(struct engine *engine, size_t slot)
{
    if (!engine->on_device)
        return demodulate_on_host(engine, slot);
    fill_segments(engine, slot, &engine->device);
    return is_ok(softqam_cuda_demodulate_segments(engine->demodulator, engine->segments, engine->layout->n_codewords,
                                                  engine->stream)) &&
           GOOD(cudaStreamSynchronize(engine->stream));
}

static void close_device(struct engine *engine)
{
    (void)cudaFree(engine->device.symbols);
    if (engine->stream)
        (void)cudaStreamDestroy(engine->stream);
}

#else

static bool open_device(struct engine *engine)
{
    engine->on_device = false;
    return message_print("--backend", "device: this build has no CUDA");
}

bool engine_upload(struct engine *engine)
{
    return memset(engine->host.values, -128, SLOTS * engine->layout->n_values);
}
bool engine_download(struct engine *engine) { return !engine->on_device; }
bool engine_demodulate(struct engine *engine, size_t slot) { return demodulate_on_host(engine, slot); }
static void close_device(struct engine *engine) { engine->on_device = false; }

#endif

bool engine_open(struct engine *engine, const struct layout *layout, const softqam_context_config *context_config,
                 bool on_device)
{
    void *memory = NULL;
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    *engine = (struct engine){.layout = layout, .is_joint = layout->is_coupled, .on_device = on_device};
    if (!is_ok(softqam_context_create(&engine->context, context_config)))
        return false;
    config.context = engine->context;
    /* Calls on device memory need kernels only: no streams, threads or staging memory. */
    const bool good =
        is_ok(softqam_demodulator_create(&engine->demodulator, &config)) &&
        is_ok(softqam_context_prepare(engine->context, on_device ? SOFTQAM_PREPARE_KERNELS : SOFTQAM_PREPARE_ALL)) &&
        is_ok(softqam_host_alloc(engine->context, all_nbytes(engine), &memory)) && (!on_device || open_device(engine));
    if (memory)
        engine->host = divide(memory);
    return good;
}

void engine_close(struct engine *engine)
{
    if (engine->on_device)
        close_device(engine);
    softqam_host_free(engine->host.symbols);
    softqam_demodulator_destroy(engine->demodulator);
    softqam_context_destroy(engine->context);
}
