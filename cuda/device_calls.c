/* SPDX-License-Identifier: MIT */
/* Calls on device memory, in the caller's stream. They use neither the context's streams nor its memory. */
#include <stdint.h>

#include <softqam/softqam_cuda.h>

#include "context.h"
#include "cuda_calls.h"
#include "gpu_object.h"
#include "launch.h"

/* Refuses misaligned symbols, or components if I and Q lie apart, and values. */
static softqam_status check_alignment(const softqam_params *params, const softqam_segment *segment)
{
    if (segment->n_symbols == 0)
        return SOFTQAM_OK;
    for (unsigned k = 0; k < softqam_segment_layers_read(segment); k++) {
        const softqam_layer *layer = &segment->layers[k];
        const unsigned nbytes = params->defaults.symbol_nbytes / (layer->symbols_q ? 2u : 1u);
        REFUSE_IF((uintptr_t)layer->symbols % nbytes != 0 || (uintptr_t)layer->symbols_q % nbytes != 0,
                  "device memory of symbols must be aligned to %u bytes", nbytes);
    }
    REFUSE_IF(((uintptr_t)segment->out | (uintptr_t)segment->codeword.buffers) % params->defaults.value_nbytes != 0,
              "device memory of the output must be aligned to %u bytes", params->defaults.value_nbytes);
    return SOFTQAM_OK;
}

/* Checks a call's segments. */
static softqam_status check_segments(softqam_segment_list *list)
{
    TRY(softqam_segment_list_check(list));
    for (size_t k = 0; k < list->n_segments; k++)
        TRY(check_alignment(list->params, &list->segments[k]));
    return SOFTQAM_OK;
}

softqam_status softqam_cuda_demodulate_segments(const softqam_demodulator *demodulator, const softqam_segment *segments,
                                                size_t n_segments, cudaStream_t stream)
{
    REFUSE_IF(!demodulator, "demodulator is NULL");
    softqam_segment_list list = softqam_segment_list_of(&demodulator->params, segments, n_segments);
    softqam_gpu *gpu;
    TRY(softqam_context_gpu(demodulator->context, &gpu));
    TRY(check_segments(&list));
    const softqam_params *params = &demodulator->params;
    if (list.n_symbols == 0)
        return SOFTQAM_OK;
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    TRY(softqam_device_enter(&scope, gpu->device));
    softqam_launch launch;
    softqam_launch_begin(&launch, params, stream);
    for (size_t k = 0; k < n_segments; k++) {
        softqam_resolved_segment segment;
        softqam_extras extras;
        softqam_segment_resolve(&segment, &segments[k], &params->defaults);
        softqam_extras_resolve(&extras, &segments[k]);
        TRY(softqam_launch_add(&launch, &segment, &extras));
    }
    return softqam_launch_flush(&launch);
}

softqam_status softqam_cuda_demodulate(const softqam_demodulator *demodulator, const void *d_symbols,
                                       const float *d_noise_var, size_t n_symbols, void *d_out, cudaStream_t stream)
{
    REFUSE_IF(!demodulator, "demodulator is NULL");
    const softqam_segment segment =
        softqam_segment_of_call(&demodulator->params, d_symbols, d_noise_var, n_symbols, d_out);
    return softqam_cuda_demodulate_segments(demodulator, &segment, 1, stream);
}

/* Enqueues the kernel for segments in device memory. */
static softqam_status demodulate_memory(const softqam_demodulator *demodulator, const softqam_memory_segments *segments,
                                        cudaStream_t stream)
{
    REFUSE_IF(!demodulator, "demodulator is NULL");
    softqam_gpu *gpu;
    TRY(softqam_context_gpu(demodulator->context, &gpu));
    const void *array = segments->prepared ? (const void *)segments->prepared : segments->descriptors;
    REFUSE_IF(!array || !segments->n_present, "%s is NULL", array ? "d_n_segments" : "the array of segments");
    REFUSE_IF(
        (uintptr_t)array % _Alignof(softqam_segment) != 0 || (uintptr_t)segments->n_present % sizeof(unsigned) != 0,
        "segments must be aligned to %zu bytes and d_n_segments to %zu", _Alignof(softqam_segment), sizeof(unsigned));
    if (segments->max_segments == 0 || segments->max_symbols == 0)
        return SOFTQAM_OK;
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    TRY(softqam_device_enter(&scope, gpu->device));
    return softqam_launch_memory(&demodulator->params, segments, stream);
}

softqam_status softqam_cuda_demodulate_device_segments(const softqam_demodulator *demodulator,
                                                       const softqam_segment *d_segments, const unsigned *d_n_segments,
                                                       unsigned max_segments, size_t max_symbols, cudaStream_t stream)
{
    const softqam_memory_segments segments = {NULL, d_segments, d_n_segments, max_segments, max_symbols};
    return demodulate_memory(demodulator, &segments, stream);
}

softqam_status softqam_cuda_demodulate_prepared_segments(const softqam_demodulator *demodulator,
                                                         const softqam_cuda_prepared_segment *d_prepared,
                                                         const unsigned *d_n_segments, unsigned max_segments,
                                                         size_t max_symbols, cudaStream_t stream)
{
    const softqam_memory_segments segments = {d_prepared, NULL, d_n_segments, max_segments, max_symbols};
    return demodulate_memory(demodulator, &segments, stream);
}

softqam_status softqam_cuda_prepare_segments(const softqam_demodulator *demodulator, const softqam_segment *segments,
                                             size_t n_segments, softqam_cuda_prepared_segment *prepared)
{
    REFUSE_IF(!demodulator, "demodulator is NULL");
    softqam_segment_list list = softqam_segment_list_of(&demodulator->params, segments, n_segments);
    softqam_gpu *gpu;
    TRY(softqam_context_gpu(demodulator->context, &gpu));
    TRY(check_segments(&list));
    REFUSE_IF(!prepared && n_segments > 0, "prepared is NULL");
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    TRY(softqam_device_enter(&scope, gpu->device));
    return softqam_launch_prepare(&demodulator->params, segments, n_segments, prepared);
}
