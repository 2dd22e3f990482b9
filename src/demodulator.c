/* SPDX-License-Identifier: MIT */
/* The public API: validation, the choice of the backend, and the object that holds it all together. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "demodulator.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

enum {
    MAX_THREADS = 1024,
    MAX_STREAMS = 64,
    MAX_CHUNK_SYMBOLS = 1 << 28
};
enum {
    DEFAULT_STREAMS = 4,
    DEFAULT_CHUNK_SYMBOLS = 1 << 20
};

/* Of a demodulator with both backends, calls of fewer symbols than this run on the CPU, which is done before a GPU
 * across a bus has answered. */
enum {
    WORTH_A_GPU_SYMBOLS = 8192
};

/* Size of the first version's structure: what every caller has. */
#define MIN_CONFIG_NBYTES (offsetof(softqam_config, chunk_symbols) + sizeof(size_t))

/* A backend at work for one demodulator. */
struct engine {
    const softqam_backend_ops *ops; /* NULL: not in use */
    void *state;
};

struct softqam_demodulator {
    softqam_plan plan;
    pthread_mutex_t mutex; /* held while a call is under way */
    softqam_pool *pool;
    struct engine cuda;
    struct engine cpu;
};

const char *softqam_version(void)
{
    return SOFTQAM_VERSION;
}

size_t softqam_input_symbol_nbytes(softqam_input_format format)
{
    switch (format) {
    case SOFTQAM_INPUT_CF32:
        return 8;
    case SOFTQAM_INPUT_CS16:
        return 4;
    case SOFTQAM_INPUT_CS8:
        return 2;
    }
    return 0;
}

size_t softqam_output_symbol_nbytes(softqam_output_format format)
{
    return format == SOFTQAM_OUTPUT_U8 ? 8 : 0;
}

float softqam_input_default_scale(softqam_input_format format)
{
    switch (format) {
    case SOFTQAM_INPUT_CF32:
        return 1.0f;
    case SOFTQAM_INPUT_CS16:
        return 1.0f / 32768.0f;
    case SOFTQAM_INPUT_CS8:
        return 1.0f / 128.0f;
    }
    return 0.0f;
}

void softqam_config_init_nbytes(softqam_config *config, size_t struct_nbytes)
{
    if (!config)
        return;
    softqam_config defaults = {
        .struct_nbytes = struct_nbytes,
        .backend = SOFTQAM_BACKEND_AUTO,
        .constellation = SOFTQAM_CONSTELLATION_256QAM,
        .input_format = SOFTQAM_INPUT_CF32,
        .output_format = SOFTQAM_OUTPUT_U8,
        .device = -1,
    };
    /* A newer caller's structure may be larger; fields unknown here default to zero. */
    memset(config, 0, struct_nbytes);
    memcpy(config, &defaults, struct_nbytes < sizeof defaults ? struct_nbytes : sizeof defaults);
}

static unsigned cpus_of_this_thread(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    const int n = CPU_COUNT(&set);
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

/* Takes over the caller's configuration, whose structure may be an older or a newer version's. */
static softqam_status read_config(softqam_config *config, const softqam_config *from)
{
    softqam_config_init(config);
    if (!from)
        return SOFTQAM_OK;
    if (from->struct_nbytes < MIN_CONFIG_NBYTES)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                            "config.struct_nbytes is %zu: use softqam_config_init() to fill a configuration",
                            from->struct_nbytes);
    const unsigned char *bytes = (const unsigned char *)from;
    for (size_t k = sizeof *config; k < from->struct_nbytes; k++) {
        if (bytes[k] != 0)
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                                "the configuration sets a field that version " SOFTQAM_VERSION " does not know");
    }
    memcpy(config, from, from->struct_nbytes < sizeof *config ? from->struct_nbytes : sizeof *config);
    config->struct_nbytes = sizeof *config;
    return SOFTQAM_OK;
}

static softqam_status check_formats(const softqam_config *config)
{
    if ((unsigned)config->backend > SOFTQAM_BACKEND_CUDA)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.backend is %d", (int)config->backend);
    if (config->constellation != SOFTQAM_CONSTELLATION_256QAM)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.constellation is %d", (int)config->constellation);
    if (softqam_input_symbol_nbytes(config->input_format) == 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.input_format is %d", (int)config->input_format);
    if (softqam_output_symbol_nbytes(config->output_format) == 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.output_format is %d", (int)config->output_format);
    if (!(config->input_scale >= 0.0f && isfinite(config->input_scale)))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.input_scale is %g, not finite and positive",
                            (double)config->input_scale);
    return SOFTQAM_OK;
}

static softqam_status check_resources(const softqam_config *config)
{
    if (config->n_threads > MAX_THREADS)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.n_threads is %u, more than %d", config->n_threads,
                            MAX_THREADS);
    if (config->device < -1)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.device is %d", config->device);
    if (config->n_streams > MAX_STREAMS)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.n_streams is %u, more than %d", config->n_streams,
                            MAX_STREAMS);
    if (config->chunk_symbols > MAX_CHUNK_SYMBOLS)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.chunk_symbols is %zu, more than %d",
                            config->chunk_symbols, MAX_CHUNK_SYMBOLS);
    return SOFTQAM_OK;
}

/* Puts numbers for the zeros that stand for a default. */
static void complete_config(softqam_config *config)
{
    if (config->input_scale == 0.0f)
        config->input_scale = softqam_input_default_scale(config->input_format);
    if (config->n_threads == 0)
        config->n_threads = cpus_of_this_thread();
    if (config->n_streams == 0)
        config->n_streams = DEFAULT_STREAMS;
    if (config->chunk_symbols == 0)
        config->chunk_symbols = DEFAULT_CHUNK_SYMBOLS;
}

static softqam_status start_engine(struct engine *engine, const softqam_backend_ops *ops,
                                   softqam_demodulator *demodulator, const softqam_config *config)
{
    const softqam_status status = ops->create(&engine->state, &demodulator->plan, config, demodulator->pool);
    if (status == SOFTQAM_OK)
        engine->ops = ops;
    return status;
}

static softqam_status start_engines(softqam_demodulator *demodulator, const softqam_config *config)
{
    if (config->backend == SOFTQAM_BACKEND_CUDA)
        return start_engine(&demodulator->cuda, &softqam_backend_cuda, demodulator, config);
    if (config->backend == SOFTQAM_BACKEND_AUTO) {
        const softqam_error_note note = softqam_error_note_take();
        if (start_engine(&demodulator->cuda, &softqam_backend_cuda, demodulator, config) != SOFTQAM_OK)
            softqam_error_note_restore(&note);
    }
    return start_engine(&demodulator->cpu, &softqam_backend_cpu, demodulator, config);
}

softqam_status softqam_create(softqam_demodulator **out, const softqam_config *config_in)
{
    if (!out)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "demodulator is NULL");
    *out = NULL;
    softqam_config config;
    softqam_status status = read_config(&config, config_in);
    if (status == SOFTQAM_OK)
        status = check_formats(&config);
    if (status == SOFTQAM_OK)
        status = check_resources(&config);
    if (status != SOFTQAM_OK)
        return status;
    complete_config(&config);

    softqam_demodulator *demodulator = calloc(1, sizeof *demodulator);
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a demodulator");
    pthread_mutex_init(&demodulator->mutex, NULL);
    demodulator->plan.input_format = config.input_format;
    demodulator->plan.output_format = config.output_format;
    demodulator->plan.input_scale = config.input_scale;
    softqam_axis_table_build(&demodulator->plan.table);
    status = softqam_pool_create(&demodulator->pool, config.n_threads);
    if (status == SOFTQAM_OK)
        status = start_engines(demodulator, &config);
    if (status != SOFTQAM_OK) {
        softqam_destroy(demodulator);
        return status;
    }
    *out = demodulator;
    return SOFTQAM_OK;
}

void softqam_destroy(softqam_demodulator *demodulator)
{
    if (!demodulator)
        return;
    if (demodulator->cuda.ops)
        demodulator->cuda.ops->destroy(demodulator->cuda.state);
    if (demodulator->cpu.ops)
        demodulator->cpu.ops->destroy(demodulator->cpu.state);
    softqam_pool_destroy(demodulator->pool);
    pthread_mutex_destroy(&demodulator->mutex);
    free(demodulator);
}

/* The engine of large calls. */
static const struct engine *main_engine(const softqam_demodulator *demodulator)
{
    return demodulator->cuda.ops ? &demodulator->cuda : &demodulator->cpu;
}

void *softqam_demodulator_state(const softqam_demodulator *demodulator, const softqam_backend_ops *backend)
{
    if (demodulator->cuda.ops == backend)
        return demodulator->cuda.state;
    return demodulator->cpu.ops == backend ? demodulator->cpu.state : NULL;
}

softqam_status softqam_demodulator_check_call(const softqam_demodulator *demodulator, const void *symbols,
                                              const float *noise_var, size_t n_symbols, const void *out)
{
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "demodulator is NULL");
    if (noise_var)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "noise_var is given, which u8 soft bits do not take");
    if (n_symbols == 0)
        return SOFTQAM_OK;
    if (!symbols || !out)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is NULL", symbols ? "out" : "symbols");
    const size_t in_nbytes = softqam_input_symbol_nbytes(demodulator->plan.input_format);
    const size_t out_nbytes = softqam_output_symbol_nbytes(demodulator->plan.output_format);
    if (n_symbols > (size_t)PTRDIFF_MAX / (in_nbytes > out_nbytes ? in_nbytes : out_nbytes))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%zu symbols are more than memory can hold", n_symbols);
    const uintptr_t in = (uintptr_t)symbols;
    const uintptr_t to = (uintptr_t)out;
    if (in > UINTPTR_MAX - n_symbols * in_nbytes || to > UINTPTR_MAX - n_symbols * out_nbytes)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%zu symbols reach past the end of memory", n_symbols);
    if (in < to + n_symbols * out_nbytes && to < in + n_symbols * in_nbytes)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "symbols and out overlap");
    return SOFTQAM_OK;
}

softqam_status softqam_demodulate(softqam_demodulator *demodulator, const void *symbols, const float *noise_var,
                                  size_t n_symbols, void *out)
{
    softqam_status status = softqam_demodulator_check_call(demodulator, symbols, noise_var, n_symbols, out);
    if (status != SOFTQAM_OK || n_symbols == 0)
        return status;
    const bool small = demodulator->cpu.ops && n_symbols < WORTH_A_GPU_SYMBOLS;
    const struct engine *engine = small ? &demodulator->cpu : main_engine(demodulator);
    pthread_mutex_lock(&demodulator->mutex);
    status = engine->ops->demodulate(engine->state, symbols, n_symbols, out);
    pthread_mutex_unlock(&demodulator->mutex);
    return status;
}

const char *softqam_backend_name(const softqam_demodulator *demodulator)
{
    return demodulator ? main_engine(demodulator)->ops->name : "none";
}

const char *softqam_backend_detail(const softqam_demodulator *demodulator)
{
    if (!demodulator)
        return "";
    const struct engine *engine = main_engine(demodulator);
    return engine->ops->detail(engine->state);
}

/* Memory of softqam_host_alloc() lies behind a note of where it came from. */
typedef struct host_block {
    void *base;
    void (*release)(void *base);
} host_block;

enum {
    HOST_ALIGNMENT = 4096
};

softqam_status softqam_host_alloc(softqam_demodulator *demodulator, size_t nbytes, void **memory)
{
    if (!memory)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "memory is NULL");
    *memory = NULL;
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "demodulator is NULL");
    if (nbytes > (size_t)PTRDIFF_MAX - 2 * HOST_ALIGNMENT)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes", nbytes);
    const struct engine *engine = main_engine(demodulator);
    host_block block = {.release = engine->ops->host_free};
    const softqam_status status = engine->ops->host_alloc(engine->state, nbytes + 2 * HOST_ALIGNMENT, &block.base);
    if (status != SOFTQAM_OK)
        return status;
    const uintptr_t start = (uintptr_t)block.base + sizeof block;
    unsigned char *aligned = (unsigned char *)block.base + sizeof block + (-start & (HOST_ALIGNMENT - 1));
    memcpy(aligned - sizeof block, &block, sizeof block);
    *memory = aligned;
    return SOFTQAM_OK;
}

void softqam_host_free(void *memory)
{
    if (!memory)
        return;
    host_block block;
    memcpy(&block, (unsigned char *)memory - sizeof block, sizeof block);
    block.release(block.base);
}
