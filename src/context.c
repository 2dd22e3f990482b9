/* SPDX-License-Identifier: MIT */
/* The public calls on contexts and demodulators. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "context.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "float_environment.h"
#include "signals.h"

/* Guards every context's n_holders, and the one that is shared by demodulators without a context of their own. */
static pthread_mutex_t holders_mutex = PTHREAD_MUTEX_INITIALIZER;
static softqam_context *default_context;

#define TEXT_OF(number)                   #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *softqam_version(void)
{
    return VERSION_TEXT(SOFTQAM_VERSION_MAJOR, SOFTQAM_VERSION_MINOR, SOFTQAM_VERSION_PATCH);
}

/* The GPU, which calls find without a lock once it is made. */

/* With SOFTQAM_BACKEND_AUTO: CUDA has failed, as the thread's message tells. From here on the CPU does all. */
static void give_up_gpu(softqam_context *context)
{
    static pthread_mutex_t failure_mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&failure_mutex);
    if (!atomic_load(&context->gpu_failed)) {
        snprintf(context->failure, sizeof context->failure, "%s, after CUDA failed: %s", context->cpu.detail,
                 softqam_error_message());
        atomic_store(&context->gpu_failed, true);
    }
    pthread_mutex_unlock(&failure_mutex);
}

/* Makes the context's part of CUDA, and what of SOFTQAM_PREPARE_.. it is to be ready for. The mutex is held and, as
 * threads are started, signals are blocked. */
static softqam_status make_gpu(softqam_context *context, unsigned what)
{
    softqam_gpu *gpu = atomic_load(&context->gpu);
    if (context->config.backend == SOFTQAM_BACKEND_CPU)
        return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "this context's backend is the CPU");
    if (!gpu) {
        const softqam_status status = softqam_gpu_backend.create(&gpu, &context->config, &context->scheduling);
        atomic_store(&context->gpu, gpu);
        atomic_store(&context->gpu_looked_for, true);
        TRY(status);
    }
    for (const softqam_demodulator *d = context->demodulators; d && (what & SOFTQAM_PREPARE_KERNELS); d = d->next)
        TRY(softqam_gpu_backend.prepare_kernels(gpu, &d->params));
    if ((what & SOFTQAM_PREPARE_HOST_CALLS) && !atomic_load(&context->host_calls_ready)) {
        TRY(softqam_gpu_backend.prepare_host_calls(gpu, context->config.n_threads));
        atomic_store(&context->host_calls_ready, true);
    }
    return SOFTQAM_OK;
}

/* The same with SOFTQAM_BACKEND_AUTO; false where there is no GPU, or none any more. */
static bool make_gpu_of_auto(softqam_context *context, unsigned what)
{
    if (atomic_load(&context->gpu_failed))
        return false;
    const softqam_error_note note = softqam_error_note_take();
    const bool is_made = make_gpu(context, what) == SOFTQAM_OK;
    if (!is_made && atomic_load(&context->gpu))
        give_up_gpu(context);
    softqam_error_note_restore(&note);
    return is_made;
}

softqam_status softqam_context_gpu(softqam_context *context, unsigned what, softqam_gpu **gpu)
{
    *gpu = atomic_load(&context->gpu);
    if (*gpu && (what == 0 || atomic_load(&context->host_calls_ready)))
        return SOFTQAM_OK;
    ENDED_BY(softqam_signals_restore) const sigset_t before = softqam_signals_block();
    pthread_mutex_lock(&context->mutex);
    const softqam_status status = make_gpu(context, what);
    *gpu = atomic_load(&context->gpu);
    pthread_mutex_unlock(&context->mutex);
    return status;
}

/* With SOFTQAM_BACKEND_AUTO: the same for host-memory calls, or NULL where there is no GPU, where it has failed, or
 * while another thread makes something in this context. */
static softqam_gpu *gpu_of_auto(softqam_context *context)
{
    softqam_gpu *gpu = atomic_load(&context->gpu);
    if (atomic_load(&context->gpu_failed) || (!gpu && atomic_load(&context->gpu_looked_for)))
        return NULL;
    if (gpu && atomic_load(&context->host_calls_ready))
        return gpu;
    ENDED_BY(softqam_signals_restore) const sigset_t before = softqam_signals_block();
    gpu = NULL;
    if (pthread_mutex_trylock(&context->mutex) == 0) {
        if (make_gpu_of_auto(context, SOFTQAM_PREPARE_HOST_CALLS))
            gpu = atomic_load(&context->gpu);
        pthread_mutex_unlock(&context->mutex);
    }
    return gpu;
}

/* Contexts. */

static void free_context(softqam_context *context)
{
    softqam_pool_destroy(context->pool);
    if (atomic_load(&context->gpu))
        softqam_gpu_backend.destroy(atomic_load(&context->gpu));
    pthread_mutex_destroy(&context->mutex);
    free(context);
}

/* The CPUs of a configuration, or those that the calling thread may run on; where the system does not tell, there are
 * none. Returns how many. */
static unsigned list_cpus(cpu_set_t *cpus, const softqam_context_config *config)
{
    CPU_ZERO(cpus);
    if (!config->cpus)
        return sched_getaffinity(0, sizeof *cpus, cpus) == 0 ? (unsigned)CPU_COUNT(cpus) : 0;
    for (unsigned k = 0; k < config->n_cpus; k++)
        CPU_SET(config->cpus[k], cpus);
    return config->n_cpus;
}

/* The configuration's arrays and strings are the caller's. */
static softqam_status fill_context(softqam_context *context, const softqam_context_config *config)
{
    softqam_gpu *gpu;
    const unsigned n_cpus = list_cpus(&context->scheduling.cpus, config);
    context->scheduling.priority = config->thread_priority;
    context->config = *config;
    context->config.cpus = NULL;
    context->config.cpu_variant = NULL;
    if (config->devices)
        context->config.devices =
            memcpy(context->devices, config->devices, config->n_devices * sizeof *config->devices);
    if (config->n_threads == 0)
        context->config.n_threads = n_cpus ? n_cpus : 1;
    TRY(softqam_pool_create(&context->pool, context->config.n_threads, &context->scheduling));
    TRY(softqam_cpu_backend.create(&context->cpu, config->cpu_variant, context->pool));
    return config->backend == SOFTQAM_BACKEND_CUDA ? softqam_context_gpu(context, 0, &gpu) : SOFTQAM_OK;
}

softqam_status softqam_context_create(softqam_context **out, const softqam_context_config *from)
{
    softqam_context_config config;
    REFUSE_IF(!out, "context is NULL");
    *out = NULL;
    TRY(softqam_context_config_resolve(&config, from));
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

softqam_status softqam_context_prepare(softqam_context *context, unsigned what)
{
    const unsigned unknown = what & ~(unsigned)SOFTQAM_PREPARE_ALL;
    REFUSE_IF(!context, "context is NULL");
    REFUSE_IF(unknown, "what is %#x, of which %#x is unknown", what, unknown);
    softqam_status status = SOFTQAM_OK;
    if (what & SOFTQAM_PREPARE_THREADS)
        TRY(softqam_pool_start(context->pool));
    what &= ~(unsigned)SOFTQAM_PREPARE_THREADS;
    if (what == 0 || context->config.backend == SOFTQAM_BACKEND_CPU)
        return SOFTQAM_OK;
    ENDED_BY(softqam_signals_restore) const sigset_t before = softqam_signals_block();
    pthread_mutex_lock(&context->mutex);
    if (context->config.backend == SOFTQAM_BACKEND_CUDA)
        status = make_gpu(context, what);
    else
        (void)make_gpu_of_auto(context, what);
    pthread_mutex_unlock(&context->mutex);
    return status;
}

/* Demodulators. */

/* Makes a demodulator a holder of a context: of the one that all without one of their own share, if it is NULL. It ends
 * with softqam_context_destroy(). */
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

softqam_status softqam_demodulator_create(softqam_demodulator **out, const softqam_demodulator_config *from)
{
    REFUSE_IF(!out, "demodulator is NULL");
    *out = NULL;
    softqam_demodulator_config config;
    /* A subnormal scale is not 0. */
    ENDED_BY(softqam_float_end) const softqam_float_environment environment = softqam_float_enter(false);
    TRY(softqam_demodulator_config_resolve(&config, from));
    softqam_demodulator *demodulator = calloc(1, sizeof *demodulator);
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a demodulator");
    demodulator->context = config.context;
    const softqam_status status = hold(&demodulator->context);
    if (status != SOFTQAM_OK) {
        free(demodulator);
        return status;
    }
    softqam_gold_prepare(); /* not in a call, which may be a real-time thread's */
    softqam_params_make(&demodulator->params, &config);
    softqam_cpu_backend.choose_loops(&demodulator->context->cpu, &demodulator->loops, &demodulator->params);
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

/* SOFTQAM_BACKEND_CUDA. */
static softqam_status run_on_gpu(const softqam_demodulator *demodulator, const softqam_segment_list *list)
{
    softqam_gpu *gpu;
    size_t n_done;
    TRY(softqam_context_gpu(demodulator->context, SOFTQAM_PREPARE_HOST_CALLS, &gpu));
    return softqam_gpu_backend.demodulate(gpu, softqam_pool_for_call(demodulator->context->pool), list, &n_done);
}

/* SOFTQAM_BACKEND_AUTO: large calls on a GPU that is idle; the CPU does what a GPU that fails leaves undone. */
static softqam_status run_auto(const softqam_demodulator *demodulator, const softqam_segment_list *list)
{
    softqam_context *context = demodulator->context;
    softqam_gpu *gpu = NULL;
    size_t n_done = 0;
    if (list->n_symbols >= SOFTQAM_AUTO_MIN_SYMBOLS)
        gpu = gpu_of_auto(context);
    if (gpu && !softqam_gpu_backend.is_busy(gpu)) {
        const softqam_error_note note = softqam_error_note_take();
        const softqam_status status =
            softqam_gpu_backend.demodulate(gpu, softqam_pool_for_call(context->pool), list, &n_done);
        if (status == SOFTQAM_OK || status == SOFTQAM_ERROR_INVALID_ARGUMENT)
            return status;
        give_up_gpu(context);
        softqam_error_note_restore(&note);
    }
    if (n_done < list->n_symbols)
        softqam_cpu_backend.demodulate(&context->cpu, &demodulator->loops, list, n_done);
    return SOFTQAM_OK;
}

/* A checked list of at least one symbol. */
static softqam_status run(const softqam_demodulator *demodulator, const softqam_segment_list *list)
{
    switch (demodulator->context->config.backend) {
    case SOFTQAM_BACKEND_CPU:
        softqam_cpu_backend.demodulate(&demodulator->context->cpu, &demodulator->loops, list, 0);
        return SOFTQAM_OK;
    case SOFTQAM_BACKEND_CUDA:
        return run_on_gpu(demodulator, list);
    case SOFTQAM_BACKEND_AUTO:
        return run_auto(demodulator, list);
    }
    return SOFTQAM_ERROR_INVALID_ARGUMENT;
}

softqam_status softqam_demodulate_segments(const softqam_demodulator *demodulator, const softqam_segment *segments,
                                           size_t n_segments)
{
    REFUSE_IF(!demodulator, "demodulator is NULL");
    softqam_segment_list list = softqam_segment_list_of(&demodulator->params, segments, n_segments);
    TRY(softqam_segment_list_check(&list));
    if (list.has_block_buffers)
        TRY(softqam_segment_list_check_block_buffers(&list));
    return list.n_symbols == 0 ? SOFTQAM_OK : run(demodulator, &list);
}

softqam_status softqam_demodulate(const softqam_demodulator *demodulator, const void *symbols, const float *noise_var,
                                  size_t n_symbols, void *out)
{
    REFUSE_IF(!demodulator, "demodulator is NULL");
    const softqam_segment segment = softqam_segment_of_call(&demodulator->params, symbols, noise_var, n_symbols, out);
    return softqam_demodulate_segments(demodulator, &segment, 1);
}

/* Whether host-memory calls may go to a GPU, as far as is known. */
static bool uses_gpu(const softqam_context *context)
{
    return context->config.backend != SOFTQAM_BACKEND_CPU && atomic_load(&context->gpu) &&
           !atomic_load(&context->gpu_failed);
}

const char *softqam_backend_name(const softqam_demodulator *demodulator)
{
    if (!demodulator)
        return "none";
    const softqam_context *context = demodulator->context;
    if (context->config.backend == SOFTQAM_BACKEND_AUTO && !atomic_load(&context->gpu_looked_for))
        return "auto";
    return uses_gpu(context) ? "cuda" : "cpu";
}

const char *softqam_backend_detail(const softqam_demodulator *demodulator)
{
    if (!demodulator)
        return "";
    const softqam_context *context = demodulator->context;
    if (atomic_load(&context->gpu_failed))
        return context->failure;
    return uses_gpu(context) ? softqam_gpu_backend.detail(atomic_load(&context->gpu)) : context->cpu.detail;
}

/* softqam_host_alloc(): memory that is page-locked or plain, behind a note of how to free it. */
typedef struct host_memory {
    void *base;
    void (*release)(void *base);
} host_memory;

enum { ALIGNMENT = 4096 };

/* Page-locked by a gpu that is not NULL. */
static softqam_status allocate(softqam_gpu *gpu, size_t nbytes, void **memory)
{
    host_memory note = {.release = gpu ? softqam_gpu_backend.host_free : free};
    const bool fits = nbytes <= (size_t)PTRDIFF_MAX - 2 * ALIGNMENT;
    if (fits && gpu)
        TRY(softqam_gpu_backend.host_alloc(gpu, nbytes + 2 * ALIGNMENT, &note.base));
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

softqam_status softqam_host_alloc(softqam_context *context, size_t nbytes, void **memory)
{
    softqam_gpu *gpu;
    REFUSE_IF(!memory, "memory is NULL");
    *memory = NULL;
    REFUSE_IF(!context, "context is NULL");
    if (context->config.backend == SOFTQAM_BACKEND_CPU || atomic_load(&context->gpu_failed))
        return allocate(NULL, nbytes, memory);
    const softqam_error_note note = softqam_error_note_take();
    softqam_status status = softqam_context_gpu(context, 0, &gpu);
    if (status == SOFTQAM_OK) {
        ENDED_BY(softqam_signals_restore) const sigset_t before = softqam_signals_block();
        status = allocate(gpu, nbytes, memory);
    }
    if (status == SOFTQAM_OK || context->config.backend == SOFTQAM_BACKEND_CUDA)
        return status;
    softqam_error_note_restore(&note);
    return allocate(NULL, nbytes, memory);
}

void softqam_host_free(void *memory)
{
    if (!memory)
        return;
    host_memory note;
    memcpy(&note, (unsigned char *)memory - sizeof note, sizeof note);
    note.release(note.base);
}
