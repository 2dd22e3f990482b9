/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* sched_getaffinity */
#include "context.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "error.h"
#include "host_memory.h"
#include "signals.h"

/* Guards every context's n_holders, and the one that is shared by demodulators without a context of their own. */
static pthread_mutex_t holders_mutex = PTHREAD_MUTEX_INITIALIZER;
static softqam_context *default_context;

/* Making and freeing. */

/* A copy of n > 0 items, or NULL. */
static void *copy_of(const void *items, size_t n, size_t nbytes)
{
    void *copy = malloc(n * nbytes);
    if (copy)
        memcpy(copy, items, n * nbytes);
    return copy;
}

/* The CPUs that the calling thread may run on, as numbers, or NULL; where the system does not tell, there are none. */
static unsigned *cpus_of_this_thread(unsigned *n_cpus)
{
    cpu_set_t set;
    const bool is_told = sched_getaffinity(0, sizeof set, &set) == 0;
    *n_cpus = is_told ? (unsigned)CPU_COUNT(&set) : 0;
    unsigned *cpus = is_told ? malloc(*n_cpus * sizeof *cpus) : NULL;
    for (unsigned cpu = 0, n = 0; cpus && n < *n_cpus; cpu++)
        if (CPU_ISSET(cpu, &set))
            cpus[n++] = cpu;
    return cpus;
}

/* Makes the configuration the context's own. */
static softqam_status own_config(softqam_context *context, const softqam_context_config *config)
{
    context->config = *config;
    if (config->cpus)
        context->config.cpus = copy_of(config->cpus, config->n_cpus, sizeof *config->cpus);
    else
        context->config.cpus = cpus_of_this_thread(&context->config.n_cpus);
    if (config->devices)
        context->config.devices = copy_of(config->devices, config->n_devices, sizeof *config->devices);
    if ((context->config.n_cpus > 0 && !context->config.cpus) || (config->devices && !context->config.devices))
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a context");
    if (context->config.n_threads == 0)
        context->config.n_threads = context->config.n_cpus ? context->config.n_cpus : 1;
    return SOFTQAM_OK;
}

static void free_context(softqam_context *context)
{
    softqam_threads_destroy(&context->threads);
    if (atomic_load(&context->gpu))
        softqam_gpu_backend.destroy(atomic_load(&context->gpu));
    pthread_mutex_destroy(&context->mutex);
    free((void *)(uintptr_t)context->config.cpus);
    free((void *)(uintptr_t)context->config.devices);
    free(context);
}

static softqam_status create_gpu(softqam_context *context, softqam_gpu **gpu)
{
    const sigset_t before = softqam_signals_block();
    const softqam_status status = softqam_gpu_backend.create(gpu, &context->config);
    softqam_signals_restore(&before);
    if (status == SOFTQAM_OK)
        atomic_store(&context->gpu, *gpu);
    return status;
}

static softqam_status fill_context(softqam_context *context, const softqam_context_config *config)
{
    softqam_gpu *gpu = NULL;
    softqam_status status = own_config(context, config);
    const softqam_pool_scheduling scheduling = {context->config.cpus, context->config.n_cpus,
                                                context->config.thread_priority};
    softqam_threads_init(&context->threads, context->config.n_threads, &scheduling);
    if (status == SOFTQAM_OK)
        status = softqam_cpu_backend.create(&context->cpu, config->cpu_variant, &context->threads);
    context->config.cpu_variant = NULL; /* the caller's */
    if (status == SOFTQAM_OK && config->backend == SOFTQAM_BACKEND_CUDA)
        status = create_gpu(context, &gpu);
    return status;
}

softqam_status softqam_context_make(softqam_context **out, const softqam_context_config *from)
{
    softqam_context_config config;
    *out = NULL;
    softqam_status status = softqam_context_config_resolve(&config, from);
    if (status != SOFTQAM_OK)
        return status;
    softqam_context *context = calloc(1, sizeof *context);
    if (!context)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a context");
    pthread_mutex_init(&context->mutex, NULL);
    context->n_holders = 1;
    status = fill_context(context, &config);
    if (status == SOFTQAM_OK)
        *out = context;
    else
        free_context(context);
    return status;
}

softqam_status softqam_context_hold_default(softqam_context **context)
{
    softqam_status status = SOFTQAM_OK;
    pthread_mutex_lock(&holders_mutex);
    if (default_context)
        default_context->n_holders++;
    else
        status = softqam_context_make(&default_context, NULL);
    *context = default_context;
    pthread_mutex_unlock(&holders_mutex);
    return status;
}

void softqam_context_hold(softqam_context *context)
{
    pthread_mutex_lock(&holders_mutex);
    context->n_holders++;
    pthread_mutex_unlock(&holders_mutex);
}

void softqam_context_release(softqam_context *context)
{
    pthread_mutex_lock(&holders_mutex);
    const bool was_last = --context->n_holders == 0;
    if (was_last && context == default_context)
        default_context = NULL;
    pthread_mutex_unlock(&holders_mutex);
    if (was_last)
        free_context(context);
}

void softqam_context_add_demodulator(softqam_context *context, softqam_context_entry *member)
{
    pthread_mutex_lock(&context->mutex);
    member->previous = NULL;
    member->next = context->members;
    if (member->next)
        member->next->previous = member;
    context->members = member;
    pthread_mutex_unlock(&context->mutex);
}

void softqam_context_remove_demodulator(softqam_context *context, softqam_context_entry *member)
{
    pthread_mutex_lock(&context->mutex);
    if (member->previous)
        member->previous->next = member->next;
    else
        context->members = member->next;
    if (member->next)
        member->next->previous = member->previous;
    pthread_mutex_unlock(&context->mutex);
}

softqam_status softqam_context_create(softqam_context **context, const softqam_context_config *config)
{
    if (!context)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "context is NULL");
    return softqam_context_make(context, config);
}

void softqam_context_destroy(softqam_context *context)
{
    if (context)
        softqam_context_release(context);
}

/* What is made when it is first needed, the mutex being held. */

static softqam_status make_gpu(softqam_context *context, softqam_gpu **gpu)
{
    if (context->config.backend == SOFTQAM_BACKEND_CPU)
        return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "this context's backend is the CPU");
    *gpu = atomic_load(&context->gpu);
    if (*gpu)
        return SOFTQAM_OK;
    const softqam_status status = create_gpu(context, gpu);
    atomic_store(&context->gpu_looked_for, true);
    return status;
}

static softqam_status make_gpu_for_host_calls(softqam_context *context, softqam_gpu **gpu)
{
    softqam_status status = make_gpu(context, gpu);
    if (status != SOFTQAM_OK || atomic_load(&context->host_calls_ready))
        return status;
    const sigset_t before = softqam_signals_block();
    status = softqam_gpu_backend.prepare_host_calls(*gpu, context->config.n_threads);
    softqam_signals_restore(&before);
    if (status == SOFTQAM_OK)
        atomic_store(&context->host_calls_ready, true);
    return status;
}

/* The same for calls, which find what is made without a lock. */

softqam_status softqam_context_gpu(softqam_context *context, softqam_gpu **gpu)
{
    *gpu = atomic_load(&context->gpu);
    if (*gpu)
        return SOFTQAM_OK;
    pthread_mutex_lock(&context->mutex);
    const softqam_status status = make_gpu(context, gpu);
    pthread_mutex_unlock(&context->mutex);
    return status;
}

softqam_status softqam_context_gpu_for_host_calls(softqam_context *context, softqam_gpu **gpu)
{
    *gpu = atomic_load(&context->gpu);
    if (*gpu && atomic_load(&context->host_calls_ready))
        return SOFTQAM_OK;
    pthread_mutex_lock(&context->mutex);
    const softqam_status status = make_gpu_for_host_calls(context, gpu);
    pthread_mutex_unlock(&context->mutex);
    return status;
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

/* AUTO, the mutex being held: whether host-memory calls have a GPU, ready for them. A GPU that fails is given up. */
static bool auto_has_gpu(softqam_context *context, softqam_gpu **gpu)
{
    if (atomic_load(&context->gpu_failed))
        return false;
    const softqam_error_note note = softqam_error_note_take();
    softqam_status status = make_gpu(context, gpu);
    const bool found = status == SOFTQAM_OK;
    if (found)
        status = make_gpu_for_host_calls(context, gpu);
    if (found && status != SOFTQAM_OK)
        softqam_context_give_up_gpu(context);
    softqam_error_note_restore(&note);
    return status == SOFTQAM_OK;
}

softqam_gpu *softqam_context_gpu_of_auto(softqam_context *context)
{
    softqam_gpu *gpu = NULL;
    if (atomic_load(&context->gpu_failed))
        return NULL;
    if (atomic_load(&context->gpu) && atomic_load(&context->host_calls_ready))
        return atomic_load(&context->gpu);
    if (atomic_load(&context->gpu_looked_for) && !atomic_load(&context->gpu))
        return NULL;
    if (pthread_mutex_trylock(&context->mutex) != 0)
        return NULL;
    const bool has_gpu = auto_has_gpu(context, &gpu);
    pthread_mutex_unlock(&context->mutex);
    return has_gpu ? gpu : NULL;
}

/* Preparing, the mutex being held. */

static softqam_status prepare_kernels(softqam_gpu *gpu, const softqam_params *params)
{
    const sigset_t before = softqam_signals_block();
    const softqam_status status = softqam_gpu_backend.prepare_kernels(gpu, params);
    softqam_signals_restore(&before);
    return status;
}

static softqam_status prepare_cuda(softqam_context *context, unsigned what)
{
    softqam_gpu *gpu = NULL;
    softqam_status status = make_gpu(context, &gpu);
    for (const softqam_context_entry *m = context->members; m && (what & SOFTQAM_PREPARE_KERNELS); m = m->next)
        if (status == SOFTQAM_OK)
            status = prepare_kernels(gpu, m->params);
    if (status == SOFTQAM_OK && (what & SOFTQAM_PREPARE_HOST_CALLS))
        status = make_gpu_for_host_calls(context, &gpu);
    return status;
}

static void prepare_auto(softqam_context *context, unsigned what)
{
    const softqam_error_note note = softqam_error_note_take();
    softqam_gpu *gpu = NULL;
    /* Where there is no GPU nothing has failed. */
    if (make_gpu(context, &gpu) == SOFTQAM_OK && !atomic_load(&context->gpu_failed) &&
        prepare_cuda(context, what) != SOFTQAM_OK)
        softqam_context_give_up_gpu(context);
    softqam_error_note_restore(&note);
}

softqam_status softqam_context_prepare(softqam_context *context, unsigned what)
{
    if (!context)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "context is NULL");
    if (what & ~(unsigned)SOFTQAM_PREPARE_ALL)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "what is %#x, of which %#x is unknown", what,
                            what & ~(unsigned)SOFTQAM_PREPARE_ALL);
    softqam_status status = SOFTQAM_OK;
    const bool for_gpu = what & ~(unsigned)SOFTQAM_PREPARE_THREADS;
    if (what & SOFTQAM_PREPARE_THREADS)
        status = softqam_threads_start(&context->threads);
    pthread_mutex_lock(&context->mutex);
    if (status == SOFTQAM_OK && for_gpu && context->config.backend == SOFTQAM_BACKEND_CUDA)
        status = prepare_cuda(context, what);
    if (status == SOFTQAM_OK && for_gpu && context->config.backend == SOFTQAM_BACKEND_AUTO)
        prepare_auto(context, what);
    pthread_mutex_unlock(&context->mutex);
    return status;
}

/* Host memory. */

softqam_status softqam_host_alloc(softqam_context *context, size_t nbytes, void **memory)
{
    softqam_gpu *gpu = NULL;
    if (!memory)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "memory is NULL");
    *memory = NULL;
    if (!context)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "context is NULL");
    if (context->config.backend == SOFTQAM_BACKEND_CPU || atomic_load(&context->gpu_failed))
        return softqam_host_memory_alloc(NULL, nbytes, memory);
    const softqam_error_note note = softqam_error_note_take();
    softqam_status status = softqam_context_gpu(context, &gpu);
    if (status == SOFTQAM_OK) {
        const sigset_t before = softqam_signals_block();
        status = softqam_host_memory_alloc(gpu, nbytes, memory);
        softqam_signals_restore(&before);
    }
    if (status == SOFTQAM_OK || context->config.backend == SOFTQAM_BACKEND_CUDA)
        return status;
    softqam_error_note_restore(&note);
    return softqam_host_memory_alloc(NULL, nbytes, memory);
}
