/* SPDX-License-Identifier: MIT */
/* The public calls on contexts and demodulators. */
#include "context.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "float_environment.h"

/* Guards every context's n_holders, and default_context, which demodulators without a context of their own share. */
static pthread_mutex_t holders_mutex = PTHREAD_MUTEX_INITIALIZER;
static softqam_context *default_context;

#define TEXT_OF(number)                   #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *softqam_version(void)
{
    return VERSION_TEXT(SOFTQAM_VERSION_MAJOR, SOFTQAM_VERSION_MINOR, SOFTQAM_VERSION_PATCH);
}

/* Contexts. */

static void free_context(softqam_context *context)
{
    softqam_pool_destroy(context->pool);
    if (context->gpu)
        softqam_gpu_backend.destroy(context->gpu);
    pthread_mutex_destroy(&context->mutex);
    free(context);
}

static softqam_status fill_context(softqam_context *context, softqam_context_config *config)
{
    TRY(softqam_pool_create(&context->pool, config));
    config->n_threads = softqam_pool_n_threads(context->pool);
    TRY(softqam_cpu_create(&context->cpu, config->cpu_variant, context->pool));
    return config->backend == SOFTQAM_BACKEND_CUDA ? softqam_gpu_backend.create(&context->gpu, config) : SOFTQAM_OK;
}

softqam_status softqam_context_create(softqam_context **out, const softqam_context_config *settings)
{
    softqam_context_config config;
    REFUSE_IF(!out, "context is NULL");
    *out = NULL;
    TRY(softqam_context_config_resolve(&config, settings));
    softqam_context *context = calloc(1, sizeof *context);
    if (!context)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a context");
    pthread_mutex_init(&context->mutex, NULL);
    context->n_holders = 1;
    const softqam_status status = fill_context(context, &config);
    if (status == SOFTQAM_OK)
        *out = context;
    else
        free_context(context);
    return status;
}

void softqam_context_destroy(softqam_context *context)
{
    if (!context)
        return;
    pthread_mutex_lock(&holders_mutex);
    const bool was_last = --context->n_holders == 0;
    if (was_last && context == default_context)
        default_context = NULL;
    pthread_mutex_unlock(&holders_mutex);
    if (was_last)
        free_context(context);
}

static softqam_status prepare_kernels(softqam_context *context)
{
    softqam_status status = SOFTQAM_OK;
    pthread_mutex_lock(&context->mutex);
    for (const softqam_demodulator *d = context->demodulators; d && status == SOFTQAM_OK; d = d->next)
        status = softqam_gpu_backend.prepare_kernels(context->gpu, &d->params);
    pthread_mutex_unlock(&context->mutex);
    return status;
}

softqam_status softqam_context_prepare(softqam_context *context, unsigned what)
{
    const unsigned unknown = what & ~(unsigned)SOFTQAM_PREPARE_ALL;
    REFUSE_IF(!context, "context is NULL");
    REFUSE_IF(unknown, "what is %#x, of which %#x is unknown", what, unknown);
    if (what & SOFTQAM_PREPARE_THREADS)
        TRY(softqam_pool_start(context->pool));
    if (context->gpu && (what & SOFTQAM_PREPARE_KERNELS))
        TRY(prepare_kernels(context));
    if (context->gpu && (what & SOFTQAM_PREPARE_HOST_CALLS))
        TRY(softqam_gpu_backend.prepare_host_calls(context->gpu));
    return SOFTQAM_OK;
}

softqam_status softqam_context_gpu(const softqam_context *context, softqam_gpu **gpu)
{
    *gpu = context->gpu;
    if (!*gpu)
        return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "this context's backend is the CPU");
    return SOFTQAM_OK;
}

/* Demodulators. */

/* Takes a reference to a context, or to the default one if it is NULL; softqam_context_destroy() gives it up. */
static softqam_status hold(softqam_context **context)
{
    softqam_status status = SOFTQAM_OK;
    pthread_mutex_lock(&holders_mutex);
    if (!*context)
        *context = default_context;
    if (*context)
        (*context)->n_holders++;
    else {
        status = softqam_context_create(&default_context, NULL);
        *context = default_context;
    }
    pthread_mutex_unlock(&holders_mutex);
    return status;
}

softqam_status softqam_demodulator_create(softqam_demodulator **out, const softqam_demodulator_config *settings)
{
    REFUSE_IF(!out, "demodulator is NULL");
    *out = NULL;
    softqam_demodulator_config config;
    /* In this environment a subnormal scale is not 0. */
    ENDED_BY(softqam_float_leave) const softqam_float_environment environment = softqam_float_enter();
    TRY(softqam_demodulator_config_resolve(&config, settings));
    softqam_demodulator *demodulator = calloc(1, sizeof *demodulator);
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a demodulator");
    demodulator->context = config.context;
    const softqam_status status = hold(&demodulator->context);
    if (status != SOFTQAM_OK) {
        free(demodulator);
        return status;
    }
    softqam_gold_prepare(); /* here, because a real-time thread's call must not wait for it */
    softqam_params_make(&demodulator->params, &config);
    softqam_cpu_loops_choose(&demodulator->loops, demodulator->context->cpu.variant, &demodulator->params);
    pthread_mutex_lock(&demodulator->context->mutex);
    demodulator->next = demodulator->context->demodulators;
    demodulator->context->demodulators = demodulator;
    pthread_mutex_unlock(&demodulator->context->mutex);
    *out = demodulator;
    return SOFTQAM_OK;
}

void softqam_demodulator_destroy(softqam_demodulator *demodulator)
{
    if (!demodulator)
        return;
    softqam_context *context = demodulator->context;
    pthread_mutex_lock(&context->mutex);
    softqam_demodulator **link = &context->demodulators;
    while (*link != demodulator)
        link = &(*link)->next;
    *link = demodulator->next;
    pthread_mutex_unlock(&context->mutex);
    softqam_context_destroy(context);
    free(demodulator);
}

softqam_context *softqam_demodulator_context(const softqam_demodulator *demodulator)
{
    return demodulator ? demodulator->context : NULL;
}

/* Runs a checked list of at least one symbol. */
static softqam_status dispatch(const softqam_demodulator *demodulator, const softqam_segment_list *list)
{
    const softqam_context *context = demodulator->context;
    /* The GPU's staging can neither keep pairs of layers together nor copy statistics. */
    if (context->gpu && !list->is_joint && !list->has_statistics)
        return softqam_gpu_backend.demodulate(context->gpu, softqam_pool_for_call(context->pool), &demodulator->loops,
                                              list);
    if (context->gpu)
        TRY(softqam_gpu_backend.check_memory(context->gpu, list));
    softqam_cpu_demodulate(&context->cpu, &demodulator->loops, list);
    return SOFTQAM_OK;
}

softqam_status softqam_demodulate_segments(const softqam_demodulator *demodulator, const softqam_segment *segments,
                                           size_t n_segments)
{
    REFUSE_IF(!demodulator, "demodulator is NULL");
    softqam_segment_list list = softqam_segment_list_of(&demodulator->params, segments, n_segments);
    TRY(softqam_segment_list_check(&list));
    if (list.has_block_buffers)
        TRY(softqam_segment_list_check_block_buffers(&list));
    return list.n_symbols == 0 ? SOFTQAM_OK : dispatch(demodulator, &list);
}

softqam_status softqam_demodulate(const softqam_demodulator *demodulator, const void *symbols, const float *noise_var,
                                  size_t n_symbols, void *out)
{
    REFUSE_IF(!demodulator, "demodulator is NULL");
    const softqam_segment segment = softqam_segment_of_call(&demodulator->params, symbols, noise_var, n_symbols, out);
    return softqam_demodulate_segments(demodulator, &segment, 1);
}

const char *softqam_backend_name(const softqam_demodulator *demodulator)
{
    if (!demodulator)
        return "none";
    return demodulator->context->gpu ? "cuda" : "cpu";
}

const char *softqam_backend_detail(const softqam_demodulator *demodulator)
{
    if (!demodulator)
        return "";
    const softqam_context *context = demodulator->context;
    return context->gpu ? softqam_gpu_backend.detail(context->gpu) : context->cpu.detail;
}

/* Precedes memory of softqam_host_alloc(), and says how to free it. */
typedef struct host_memory {
    void *base;
    void (*release)(void *base);
} host_memory;

enum { ALIGNMENT = 4096 };

softqam_status softqam_host_alloc(softqam_context *context, size_t nbytes, void **memory)
{
    REFUSE_IF(!memory, "memory is NULL");
    *memory = NULL;
    REFUSE_IF(!context, "context is NULL");
    host_memory note = {.release = context->gpu ? softqam_gpu_backend.host_free : free};
    const bool fits = nbytes <= (size_t)PTRDIFF_MAX - 2 * ALIGNMENT;
    if (fits && context->gpu)
        TRY(softqam_gpu_backend.host_alloc(context->gpu, nbytes + 2 * ALIGNMENT, &note.base));
    else if (fits)
        note.base = malloc(nbytes + 2 * ALIGNMENT);
    if (!note.base)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes", nbytes);
    const uintptr_t start = (uintptr_t)note.base + sizeof note;
    unsigned char *aligned = (unsigned char *)note.base + sizeof note + (-start & (ALIGNMENT - 1));
    memcpy(aligned - sizeof note, &note, sizeof note);
    *memory = aligned;
    return SOFTQAM_OK;
}

void softqam_host_free(void *memory)
{
    if (!memory)
        return;
    host_memory note;
    memcpy(&note, (unsigned char *)memory - sizeof note, sizeof note);
    note.release(note.base);
}
