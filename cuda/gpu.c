/* SPDX-License-Identifier: MIT */
/* The GPU of a context: the choice of the device, and the table of functions; what all calls of CUDA share. */
#define _POSIX_C_SOURCE 200809L /* sigset_t */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_parts.h"
#include "kernels.h"
#include "signals.h"

/* CUDA calls. */

softqam_status softqam_cuda_status(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return SOFTQAM_OK;
    /* Ours to report: the caller's next cudaGetLastError() must not find it. Errors that break the context stay. */
    (void)cudaGetLastError();
    switch (error) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
        return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "this build has no code for the CUDA device: %s",
                            cudaGetErrorString(error));
    case cudaErrorMemoryAllocation:
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "%s: %s", call, cudaGetErrorString(error));
    default:
        return softqam_fail(SOFTQAM_ERROR_CUDA, "%s: %s", call, cudaGetErrorString(error));
    }
}

softqam_status softqam_device_enter(softqam_device_scope *scope, int device)
{
    int before = -1;
    *scope = (softqam_device_scope){-1, softqam_float_enter()};
    TRY_CUDA(cudaGetDevice, &before);
    if (device != before)
        TRY_CUDA(cudaSetDevice, device);
    scope->device = before;
    return SOFTQAM_OK;
}

void softqam_device_leave(const softqam_device_scope *scope)
{
    int device = -1;
    if (scope->device >= 0 && (cudaGetDevice(&device) != cudaSuccess || device != scope->device))
        (void)cudaSetDevice(scope->device);
    softqam_float_leave(scope->environment);
}

void softqam_launch_begin(softqam_launch *launch, const softqam_params *params, cudaStream_t stream)
{
    launch->params = params;
    launch->defaults = softqam_kernel_defaults_of(params);
    launch->stream = stream;
    launch->n_segments = 0;
    launch->has_soft = false;
}

softqam_status softqam_launch_add(softqam_launch *launch, const softqam_segment *segment, float noise_value)
{
    if (segment->n_symbols == 0)
        return SOFTQAM_OK;
    if (launch->n_segments == MAX_SEGMENTS)
        TRY(softqam_launch_flush(launch));
    const unsigned k = launch->n_segments++;
    softqam_kernel_segment_make(&launch->segments[k], segment, &launch->defaults);
    launch->segments[k].noise_value = noise_value;
    softqam_kernel_soft_make(&launch->soft[k], segment, &launch->segments[k]);
    launch->has_soft |= softqam_segment_has_soft_buffers(segment);
    return SOFTQAM_OK;
}

/* Creation. Only questions that CUDA answers without making a context on a device. */

static softqam_status unavailable(cudaError_t error)
{
    (void)cudaGetLastError();
    return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "no usable CUDA device: %s", cudaGetErrorString(error));
}

/* Finds the device, and describes it: "NVIDIA H200, 4 streams of 1048576 symbols". */
static softqam_status choose_device(softqam_gpu *gpu, const softqam_context_config *config)
{
    struct cudaDeviceProp properties;
    int n_devices = 0;
    gpu->device = config->device;
    cudaError_t error = cudaGetDeviceCount(&n_devices);
    if (error == cudaSuccess && config->device < 0)
        error = cudaGetDevice(&gpu->device);
    if (error != cudaSuccess)
        return unavailable(error);
    if (gpu->device >= n_devices)
        return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "there is no CUDA device %d, only %d device%s",
                            gpu->device, n_devices, n_devices == 1 ? "" : "s");
    TRY_CUDA(cudaGetDeviceProperties, &properties, gpu->device);
    snprintf(gpu->detail, sizeof gpu->detail, "%s, %u stream%s of %zu symbols", properties.name, gpu->n_streams,
             gpu->n_streams == 1 ? "" : "s", gpu->chunk_symbols);
    return SOFTQAM_OK;
}

static softqam_status gpu_create(softqam_gpu **out, const softqam_context_config *config)
{
    ENDED_BY(softqam_signals_restore) const sigset_t before = softqam_signals_block();
    ENDED_BY(softqam_float_end) const softqam_float_environment environment = softqam_float_enter();
    *out = NULL;
    softqam_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a GPU's object");
    gpu->n_threads = config->n_threads;
    gpu->n_streams = config->n_streams;
    gpu->chunk_symbols = config->chunk_symbols;
    const softqam_status status = choose_device(gpu, config);
    if (status != SOFTQAM_OK) {
        free(gpu);
        return status;
    }
    pthread_mutex_init(&gpu->mutex, NULL);
    *out = gpu;
    return SOFTQAM_OK;
}

static void gpu_destroy(softqam_gpu *gpu)
{
    if (gpu->pipeline) {
        /* On a device that is lost, what the host holds is freed all the same. */
        ENDED_BY(softqam_device_leave) softqam_device_scope scope = {-1, softqam_float_enter()};
        (void)cudaGetDevice(&scope.device);
        (void)cudaSetDevice(gpu->device);
        softqam_pipeline_destroy(gpu->pipeline);
    }
    pthread_mutex_destroy(&gpu->mutex);
    free(gpu);
}

static softqam_status gpu_prepare_kernels(softqam_gpu *gpu, const softqam_params *params)
{
    ENDED_BY(softqam_signals_restore) const sigset_t before = softqam_signals_block();
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    TRY(softqam_device_enter(&scope, gpu->device));
    return softqam_kernels_prepare(params);
}

static softqam_status gpu_host_alloc(softqam_gpu *gpu, size_t nbytes, void **memory)
{
    ENDED_BY(softqam_signals_restore) const sigset_t before = softqam_signals_block();
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    *memory = NULL;
    TRY(softqam_device_enter(&scope, gpu->device));
    TRY_CUDA(cudaHostAlloc, memory, nbytes, cudaHostAllocPortable | cudaHostAllocMapped);
    return SOFTQAM_OK;
}

static void gpu_host_free(void *memory)
{
    ENDED_BY(softqam_float_end) const softqam_float_environment environment = softqam_float_enter();
    (void)cudaFreeHost(memory);
}

static const char *gpu_detail(const softqam_gpu *gpu) { return gpu->detail; }

const softqam_gpu_ops softqam_gpu_backend = {
    .create = gpu_create,
    .prepare_kernels = gpu_prepare_kernels,
    .prepare_host_calls = softqam_pipeline_prepare,
    .demodulate = softqam_pipeline_demodulate,
    .host_alloc = gpu_host_alloc,
    .host_free = gpu_host_free,
    .detail = gpu_detail,
    .destroy = gpu_destroy,
};
