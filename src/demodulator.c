/* SPDX-License-Identifier: MIT */
/* The public calls on a demodulator. */
#include "demodulator.h"

#include <stdlib.h>

#include "config.h"
#include "cpu/cpu_demodulate.h"
#include "cpu/float_environment.h"
#include "error.h"
#include "gold_sequence.h"

const char *softqam_version(void)
{
    return SOFTQAM_VERSION;
}

/* Links the demodulator into its context's list, which softqam_context_prepare() goes through. */
static void join_context(softqam_demodulator *demodulator)
{
    softqam_context *context = demodulator->context;
    pthread_mutex_lock(&context->mutex);
    demodulator->next = context->demodulators;
    if (demodulator->next)
        demodulator->next->previous = demodulator;
    context->demodulators = demodulator;
    pthread_mutex_unlock(&context->mutex);
}

static void leave_context(softqam_demodulator *demodulator)
{
    softqam_context *context = demodulator->context;
    pthread_mutex_lock(&context->mutex);
    if (demodulator->previous)
        demodulator->previous->next = demodulator->next;
    else
        context->demodulators = demodulator->next;
    if (demodulator->next)
        demodulator->next->previous = demodulator->previous;
    pthread_mutex_unlock(&context->mutex);
    softqam_context_release(context);
}

softqam_status softqam_create(softqam_demodulator **out, const softqam_config *from)
{
    if (!out)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "demodulator is NULL");
    *out = NULL;
    softqam_config config;
    softqam_float_environment environment = softqam_float_enter(false); /* a subnormal scale is not 0 */
    softqam_status status = softqam_config_resolve(&config, from);
    softqam_float_leave(environment);
    if (status != SOFTQAM_OK)
        return status;
    softqam_demodulator *demodulator = calloc(1, sizeof *demodulator);
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a demodulator");
    demodulator->context = config.context;
    if (config.context)
        softqam_context_hold(config.context);
    else
        status = softqam_context_hold_default(&demodulator->context);
    if (status != SOFTQAM_OK) {
        free(demodulator);
        return status;
    }
    softqam_gold_prepare(); /* not in a call, which may be a real-time thread's */
    environment = softqam_float_enter(false);
    softqam_params_make(&demodulator->params, &config);
    softqam_cpu_loops_choose(&demodulator->loops, demodulator->context->variant, &demodulator->params);
    softqam_float_leave(environment);
    demodulator->params.kernels = softqam_gpu_backend.choose_kernels(&demodulator->params);
    demodulator->crossover = &demodulator->context->crossovers[config.input_format][config.output_format];
    join_context(demodulator);
    *out = demodulator;
    return SOFTQAM_OK;
}

void softqam_destroy(softqam_demodulator *demodulator)
{
    if (!demodulator)
        return;
    leave_context(demodulator);
    free(demodulator);
}

softqam_context *softqam_demodulator_context(const softqam_demodulator *demodulator)
{
    return demodulator ? demodulator->context : NULL;
}

static softqam_status run_on_gpu(softqam_demodulator *demodulator, const softqam_segment_list *list, size_t *n_done)
{
    softqam_gpu *gpu = NULL;
    *n_done = 0;
    const softqam_status status = softqam_context_gpu_for_host_calls(demodulator->context, &gpu);
    if (status != SOFTQAM_OK)
        return status;
    return softqam_gpu_backend.demodulate(gpu, softqam_context_pool(demodulator->context), list, n_done);
}

/* SOFTQAM_BACKEND_AUTO: whether a GPU is expected to be faster for this call, and is idle. */
static softqam_status choose_gpu(bool *chosen, softqam_demodulator *demodulator, const softqam_segment_list *list)
{
    softqam_context *context = demodulator->context;
    const softqam_crossover *crossover = demodulator->crossover;
    *chosen = false;
    if (list->n_symbols < SOFTQAM_AUTO_MIN_SYMBOLS && !atomic_load(&crossover->known))
        return SOFTQAM_OK;
    if (atomic_load(&context->gpu_failed) || !softqam_context_knows_crossover(demodulator))
        return SOFTQAM_OK;
    softqam_gpu *gpu = atomic_load(&context->gpu);
    if (!gpu || list->n_symbols < crossover->smallest || softqam_gpu_backend.is_busy(gpu))
        return SOFTQAM_OK;
    bool reached = false;
    const softqam_error_note note = softqam_error_note_take();
    const softqam_status status = softqam_gpu_backend.reaches(gpu, list, &reached);
    if (status == SOFTQAM_ERROR_INVALID_ARGUMENT)
        return status;
    if (status == SOFTQAM_OK) {
        *chosen = softqam_crossover_is_gpu_faster(reached ? &crossover->reached : &crossover->staged, list->n_symbols);
    } else {
        softqam_context_give_up_gpu(context);
        softqam_error_note_restore(&note);
    }
    return SOFTQAM_OK;
}

/* On the GPU where that is faster; the CPU does what a GPU that fails leaves undone. */
static softqam_status run_auto(softqam_demodulator *demodulator, const softqam_segment_list *list)
{
    bool on_gpu;
    size_t n_done = 0;
    softqam_status status = choose_gpu(&on_gpu, demodulator, list);
    if (status != SOFTQAM_OK)
        return status;
    if (on_gpu) {
        const softqam_error_note note = softqam_error_note_take();
        status = run_on_gpu(demodulator, list, &n_done);
        if (status == SOFTQAM_OK || status == SOFTQAM_ERROR_INVALID_ARGUMENT)
            return status;
        softqam_context_give_up_gpu(demodulator->context);
        softqam_error_note_restore(&note);
    }
    if (n_done < list->n_symbols)
        softqam_cpu_demodulate(demodulator, list, n_done);
    return SOFTQAM_OK;
}

/* A checked list, in a context that may use GPUs. */
static softqam_status run_with_gpu(softqam_demodulator *demodulator, const softqam_segment_list *list)
{
    size_t n_done;
    if (demodulator->context->config.backend == SOFTQAM_BACKEND_AUTO)
        return run_auto(demodulator, list);
    return run_on_gpu(demodulator, list, &n_done);
}

softqam_status softqam_demodulate_segments_nbytes(softqam_demodulator *demodulator, const softqam_segment *segments,
                                                  size_t n_segments, size_t segment_nbytes)
{
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "demodulator is NULL");
    softqam_segment_list list = softqam_segment_list_of(&demodulator->params, segments, n_segments, segment_nbytes);
    const softqam_status status = softqam_segment_list_check(&list);
    if (status != SOFTQAM_OK || list.n_symbols == 0)
        return status;
    if (demodulator->context->config.backend != SOFTQAM_BACKEND_CPU)
        return run_with_gpu(demodulator, &list);
    softqam_cpu_demodulate(demodulator, &list, 0);
    return SOFTQAM_OK;
}

softqam_status softqam_demodulate(softqam_demodulator *demodulator, const void *symbols, const float *noise_var,
                                  size_t n_symbols, void *out)
{
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "demodulator is NULL");
    const softqam_segment segment = softqam_segment_of_call(&demodulator->params, symbols, noise_var, n_symbols, out);
    softqam_segment_list list = softqam_segment_list_of(&demodulator->params, &segment, 1, sizeof segment);
    const softqam_status status = softqam_segment_list_check_call(&list, &segment);
    if (status != SOFTQAM_OK || list.n_symbols == 0)
        return status;
    if (demodulator->context->config.backend != SOFTQAM_BACKEND_CPU)
        return run_with_gpu(demodulator, &list);
    softqam_cpu_demodulate(demodulator, &list, 0);
    return SOFTQAM_OK;
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
    return uses_gpu(context) ? softqam_gpu_backend.detail(atomic_load(&context->gpu)) : context->cpu_detail;
}
