/* SPDX-License-Identifier: MIT */
/* The public API: the object that holds a plan, its threads and its backends together. */
#define _GNU_SOURCE /* pthread_sigmask */
#include "demodulator.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "block.h"
#include "call.h"
#include "config.h"
#include "crossover.h"
#include "error.h"
#include "float_environment.h"
#include "host_memory.h"

struct softqam_demodulator {
    softqam_plan plan;
    pthread_mutex_t mutex; /* held while a call is under way */
    softqam_pool *pool;
    softqam_engine cuda;
    softqam_engine cpu;
    softqam_crossover worth_a_gpu; /* of a demodulator with both */
    atomic_bool cuda_failed;       /* of a demodulator with both: the CPU has taken over */
    char failure[512];             /* what runs then, and why; written before cuda_failed is set */
};

const char *softqam_version(void)
{
    return SOFTQAM_VERSION;
}

static softqam_status start_engine(softqam_engine *engine, const softqam_backend_ops *ops,
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
    const softqam_status status = start_engine(&demodulator->cpu, &softqam_backend_cpu, demodulator, config);
    if (status == SOFTQAM_OK && demodulator->cuda.ops)
        demodulator->worth_a_gpu =
            softqam_crossover_find(&demodulator->plan, config, &demodulator->cpu, &demodulator->cuda);
    return status;
}

/* With all signals blocked, which the threads started here inherit, the CUDA driver's among them: a process's signals
 * are for the caller's threads, which know what to do with them. */
static softqam_status start_threads_and_engines(softqam_demodulator *demodulator, const softqam_config *config)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    softqam_status status = softqam_pool_create(&demodulator->pool, config->n_threads);
    if (status == SOFTQAM_OK)
        status = start_engines(demodulator, config);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

softqam_status softqam_create(softqam_demodulator **out, const softqam_config *config_in)
{
    if (!out)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "demodulator is NULL");
    *out = NULL;
    softqam_config config;
    softqam_status status = softqam_config_resolve(&config, config_in);
    if (status != SOFTQAM_OK)
        return status;

    softqam_demodulator *demodulator = calloc(1, sizeof *demodulator);
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a demodulator");
    pthread_mutex_init(&demodulator->mutex, NULL);
    const softqam_float_environment environment = softqam_float_enter();
    softqam_plan_make(&demodulator->plan, &config);
    softqam_float_leave(environment);
    status = start_threads_and_engines(demodulator, &config);
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
static const softqam_engine *main_engine(const softqam_demodulator *demodulator)
{
    const bool cuda = demodulator->cuda.ops && !atomic_load(&demodulator->cuda_failed);
    return cuda ? &demodulator->cuda : &demodulator->cpu;
}

void *softqam_demodulator_state(const softqam_demodulator *demodulator, const softqam_backend_ops *backend)
{
    if (demodulator->cuda.ops == backend)
        return demodulator->cuda.state;
    return demodulator->cpu.ops == backend ? demodulator->cpu.state : NULL;
}

/* CUDA has failed, as the thread's message tells: from here on the CPU does all, and the message is what it was. */
static void give_up_cuda(softqam_demodulator *demodulator, const softqam_error_note *before)
{
    const softqam_engine *cpu = &demodulator->cpu;
    snprintf(demodulator->failure, sizeof demodulator->failure, "%s, after CUDA failed: %s",
             cpu->ops->detail(cpu->state), softqam_error_message());
    atomic_store(&demodulator->cuda_failed, true);
    softqam_error_note_restore(before);
}

/* The engine for a call: of a demodulator with both, the faster one. */
static softqam_status choose_engine(const softqam_engine **engine, softqam_demodulator *demodulator,
                                    const softqam_block *blocks, size_t n_blocks, size_t n_symbols)
{
    const softqam_crossover *worth = &demodulator->worth_a_gpu;
    *engine = main_engine(demodulator);
    if (*engine == &demodulator->cpu || !demodulator->cpu.ops)
        return SOFTQAM_OK;
    if (n_symbols < worth->smallest) {
        *engine = &demodulator->cpu;
        return SOFTQAM_OK;
    }
    bool reached = false;
    const softqam_error_note note = softqam_error_note_take();
    const softqam_status status = (*engine)->ops->reaches((*engine)->state, blocks, n_blocks, &reached);
    if (status == SOFTQAM_ERROR_INVALID_ARGUMENT)
        return status;
    if (status != SOFTQAM_OK)
        give_up_cuda(demodulator, &note);
    if (status != SOFTQAM_OK || !softqam_crossover_is_gpu_faster(reached ? &worth->reached : &worth->staged, n_symbols))
        *engine = &demodulator->cpu;
    return SOFTQAM_OK;
}

/* The symbols of the blocks from the first that the GPU has not done. */
static softqam_status continue_on_cpu(softqam_demodulator *demodulator, const softqam_block *blocks, size_t n_blocks,
                                      size_t first, size_t n_symbols)
{
    const softqam_engine *cpu = &demodulator->cpu;
    softqam_cursor cursor = softqam_cursor_at(&demodulator->plan, blocks, n_blocks, first);
    while (first < n_symbols) {
        size_t n_done;
        const softqam_block piece = softqam_cursor_take(&cursor, n_symbols - first);
        const softqam_status status = cpu->ops->demodulate(cpu->state, &piece, 1, &n_done);
        if (status != SOFTQAM_OK)
            return status;
        first += piece.n_symbols;
    }
    return SOFTQAM_OK;
}

static softqam_status run_engine(softqam_demodulator *demodulator, const softqam_engine *engine,
                                 const softqam_block *blocks, size_t n_blocks, size_t n_symbols)
{
    const softqam_engine *cpu = &demodulator->cpu;
    size_t n_done;
    if (engine == cpu || !cpu->ops)
        return engine->ops->demodulate(engine->state, blocks, n_blocks, &n_done);
    const softqam_error_note note = softqam_error_note_take();
    const softqam_status status = engine->ops->demodulate(engine->state, blocks, n_blocks, &n_done);
    if (status == SOFTQAM_OK || status == SOFTQAM_ERROR_INVALID_ARGUMENT)
        return status;
    give_up_cuda(demodulator, &note);
    return continue_on_cpu(demodulator, blocks, n_blocks, n_done, n_symbols);
}

softqam_status softqam_demodulate_batch(softqam_demodulator *demodulator, const softqam_block *blocks, size_t n_blocks)
{
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "demodulator is NULL");
    softqam_status status = softqam_call_check(&demodulator->plan, blocks, n_blocks);
    const size_t n_symbols = status == SOFTQAM_OK ? softqam_blocks_count(blocks, n_blocks) : 0;
    if (n_symbols == 0)
        return status;
    pthread_mutex_lock(&demodulator->mutex);
    const softqam_engine *engine;
    status = choose_engine(&engine, demodulator, blocks, n_blocks, n_symbols);
    if (status == SOFTQAM_OK)
        status = run_engine(demodulator, engine, blocks, n_blocks, n_symbols);
    pthread_mutex_unlock(&demodulator->mutex);
    return status;
}

softqam_status softqam_demodulate(softqam_demodulator *demodulator, const void *symbols, const float *noise_var,
                                  size_t n_symbols, void *out)
{
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "demodulator is NULL");
    const softqam_block block = softqam_plan_block(&demodulator->plan, symbols, noise_var, n_symbols, out);
    return softqam_demodulate_batch(demodulator, &block, 1);
}

const char *softqam_backend_name(const softqam_demodulator *demodulator)
{
    return demodulator ? main_engine(demodulator)->ops->name : "none";
}

const char *softqam_backend_detail(const softqam_demodulator *demodulator)
{
    if (!demodulator)
        return "";
    if (atomic_load(&demodulator->cuda_failed))
        return demodulator->failure;
    const softqam_engine *engine = main_engine(demodulator);
    return engine->ops->detail(engine->state);
}

softqam_status softqam_host_alloc(softqam_demodulator *demodulator, size_t nbytes, void **memory)
{
    if (!memory)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "memory is NULL");
    *memory = NULL;
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "demodulator is NULL");
    const softqam_engine *engine = main_engine(demodulator), *cpu = &demodulator->cpu;
    const softqam_error_note note = softqam_error_note_take();
    const softqam_status status = softqam_host_memory_alloc(engine->ops, engine->state, nbytes, memory);
    if (status == SOFTQAM_OK || engine == cpu || !cpu->ops)
        return status;
    softqam_error_note_restore(&note);
    return softqam_host_memory_alloc(cpu->ops, cpu->state, nbytes, memory);
}
