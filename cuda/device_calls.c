/* SPDX-License-Identifier: MIT */
/* Calls on device memory, in the caller's stream. They use neither streams nor memory of ours. */
#include <stdint.h>

#include <softqam/softqam_cuda.h>

#include "check.h"
#include "context.h"
#include "demodulator.h"
#include "error.h"
#include "gpu_parts.h"
#include "kernels.h"

static softqam_status check_alignment(const softqam_params *params, const softqam_segment *segment)
{
    const softqam_layer *layer = &segment->layers[0];
    const size_t in = softqam_kernel_input_alignment(params, segment);
    const size_t out = softqam_kernel_output_alignment(params, segment);
    if (segment->n_symbols > 0 && ((uintptr_t)layer->symbols % in != 0 || (uintptr_t)layer->symbols_q % in != 0 ||
                                   (uintptr_t)segment->out % out != 0))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                            "device memory of symbols must be aligned to %zu bytes, and of the output to %zu", in, out);
    return SOFTQAM_OK;
}

/* Of a context's devices the current one, if it is one of them, else the first. */
static int device_of_call(const softqam_gpu *gpu)
{
    int current = 0;
    (void)cudaGetDevice(&current);
    for (unsigned k = 0; k < gpu->n_devices; k++)
        if (gpu->devices[k] == current)
            return current;
    return gpu->devices[0];
}

softqam_status softqam_cuda_demodulate_segments_nbytes(softqam_demodulator *demodulator,
                                                       const softqam_segment *segments, size_t n_segments,
                                                       size_t segment_nbytes, cudaStream_t stream)
{
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "demodulator is NULL");
    const softqam_params *params = &demodulator->params;
    softqam_segment_list list = softqam_segment_list_of(params, segments, n_segments, segment_nbytes);
    softqam_gpu *gpu;
    TRY(softqam_context_gpu(demodulator->context, &gpu));
    TRY(softqam_segment_list_check(&list));
    TRY(softqam_segment_list_check_for_gpu(&list));
    for (size_t k = 0; k < n_segments; k++) {
        const softqam_segment segment = softqam_segment_at(&list, k);
        TRY(check_alignment(params, &segment));
    }
    if (list.n_symbols == 0)
        return SOFTQAM_OK;
    int previous = 0;
    TRY(softqam_device_enter(device_of_call(gpu), &previous));
    softqam_launch launch;
    cudaError_t error = cudaSuccess;
    softqam_launch_begin(&launch, params, gpu->launch_capacity, stream);
    for (size_t k = 0; k < n_segments && error == cudaSuccess; k++) {
        const softqam_segment segment = softqam_segment_at(&list, k);
        error = softqam_launch_add(&launch, &segment, 0.0f);
    }
    if (error == cudaSuccess)
        error = softqam_launch_end(&launch);
    const softqam_status status = softqam_cuda_status(error, "launching the kernel");
    softqam_device_leave(previous);
    return status;
}

softqam_status softqam_cuda_demodulate(softqam_demodulator *demodulator, const void *d_symbols,
                                       const float *d_noise_var, size_t n_symbols, void *d_out, cudaStream_t stream)
{
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "demodulator is NULL");
    const softqam_segment segment =
        softqam_segment_of_call(&demodulator->params, d_symbols, d_noise_var, n_symbols, d_out);
    return softqam_cuda_demodulate_segments(demodulator, &segment, 1, stream);
}
