/* SPDX-License-Identifier: MIT */
/* The public calls on a demodulator. */
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "context.h"
#include "error.h"
#include "float_environment.h"

#define TEXT_OF(number)                   #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *softqam_version(void)
{
    return VERSION_TEXT(SOFTQAM_VERSION_MAJOR, SOFTQAM_VERSION_MINOR, SOFTQAM_VERSION_PATCH);
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
    const softqam_status status = softqam_context_hold(&demodulator->context);
    if (status != SOFTQAM_OK) {
        free(demodulator);
        return status;
    }
    softqam_gold_prepare(); /* not in a call, which may be a real-time thread's */
    softqam_params_make(&demodulator->params, &config);
    softqam_cpu_backend.choose_loops(&demodulator->context->cpu, &demodulator->loops, &demodulator->params);
    softqam_context_add(demodulator);
    *out = demodulator;
    return SOFTQAM_OK;
}

void softqam_demodulator_destroy(softqam_demodulator *demodulator)
{
    if (!demodulator)
        return;
    softqam_context_remove(demodulator);
    softqam_context_destroy(demodulator->context);
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
        gpu = softqam_context_gpu_of_auto(context);
    if (gpu && !softqam_gpu_backend.is_busy(gpu)) {
        const softqam_error_note note = softqam_error_note_take();
        const softqam_status status =
            softqam_gpu_backend.demodulate(gpu, softqam_pool_for_call(context->pool), list, &n_done);
        if (status == SOFTQAM_OK || status == SOFTQAM_ERROR_INVALID_ARGUMENT)
            return status;
        softqam_context_give_up_gpu(context);
        softqam_error_note_restore(&note);
    }
    if (n_done < list->n_symbols)
        softqam_cpu_backend.demodulate(&context->cpu, &demodulator->loops, list, n_done);
    return SOFTQAM_OK;
}

/* A checked list of at least one symbol. */
static inline __attribute__((always_inline)) softqam_status run(const softqam_demodulator *demodulator,
                                                                const softqam_segment_list *list)
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
    softqam_segment segment;
    softqam_segment_list list;
    if (demodulator->context->config.backend != SOFTQAM_BACKEND_CPU)
        memset(&segment, 0, sizeof segment);
    TRY(softqam_segment_list_check_call(&list, &segment, &demodulator->params, symbols, noise_var, n_symbols, out));
    return n_symbols == 0 ? SOFTQAM_OK : run(demodulator, &list);
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
