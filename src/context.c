/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* sched_getaffinity */
#include "context.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "signals.h"

/* Guards every context's n_holders, and the one that is shared by demodulators without a context of their own. */
static pthread_mutex_t holders_mutex = PTHREAD_MUTEX_INITIALIZER;
static softqam_context *default_context;

/* Making and freeing. */

static void free_context(softqam_context *context)
{
    softqam_pool_destroy(context->pool);
    if (atomic_load(&context->gpu))
        softqam_gpu_backend.destroy(atomic_load(&context->gpu));
    pthread_mutex_destroy(&context->mutex);
    free(context);
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
        softqam_context_give_up_gpu(context);
    softqam_error_note_restore(&note);
    return is_made;
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

softqam_status softqam_context_hold(softqam_context **context)
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

void softqam_context_add(softqam_demodulator *demodulator)
{
    softqam_context *context = demodulator->context;
    pthread_mutex_lock(&context->mutex);
    demodulator->next = context->demodulators;
    context->demodulators = demodulator;
    pthread_mutex_unlock(&context->mutex);
}

void softqam_context_remove(const softqam_demodulator *demodulator)
{
    softqam_context *context = demodulator->context;
    pthread_mutex_lock(&context->mutex);
    softqam_demodulator **link = &context->demodulators;
    while (*link != demodulator)
        link = &(*link)->next;
    *link = demodulator->next;
    pthread_mutex_unlock(&context->mutex);
}

/* For calls, which find what is made without a lock. */

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

softqam_gpu *softqam_context_gpu_of_auto(softqam_context *context)
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

void softqam_context_give_up_gpu(softqam_context *context)
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
