/* SPDX-License-Identifier: MIT */
/* A context's part of CUDA: the choice of devices, and the table of functions; what all calls of CUDA share. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_parts.h"
#include "kernels.h"

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

softqam_status softqam_device_enter(softqam_device_scope *scope, const int *devices, unsigned n_devices)
{
    int before = -1;
    bool is_one = false;
    *scope = (softqam_device_scope){-1, softqam_float_enter(false)};
    TRY_CUDA(cudaGetDevice, &before);
    for (unsigned k = 0; k < n_devices; k++)
        is_one |= devices[k] == before;
    if (!is_one)
        TRY_CUDA(cudaSetDevice, devices[0]);
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

/* How many devices a configuration names, of those that there are. */
static softqam_status count_devices(unsigned *n, const softqam_context_config *config)
{
    int n_devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&n_devices);
    if (error != cudaSuccess)
        return unavailable(error);
    for (unsigned k = 0; k == 0 || (config->devices && k < config->n_devices); k++) {
        const int wanted = config->devices ? config->devices[k] : config->device;
        if (wanted >= n_devices)
            return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "there is no CUDA device %d, only %d device%s",
                                wanted, n_devices, n_devices == 1 ? "" : "s");
    }
    *n = config->n_devices == SOFTQAM_ALL_DEVICES ? (unsigned)n_devices : config->n_devices ? config->n_devices : 1;
    return SOFTQAM_OK;
}

/* The devices, and in words: "2 x NVIDIA H200, 4 streams of 1048576 symbols each". */
static softqam_status choose_devices(softqam_gpu *gpu, const softqam_context_config *config)
{
    struct cudaDeviceProp properties;
    char count[16] = "";
    for (unsigned k = 0; k < gpu->n_devices; k++)
        gpu->devices[k] = config->devices ? config->devices[k] : (int)k;
    if (config->n_devices == 0) {
        gpu->devices[0] = config->device;
        const cudaError_t error = config->device < 0 ? cudaGetDevice(&gpu->devices[0]) : cudaSuccess;
        if (error != cudaSuccess)
            return unavailable(error);
    }
    TRY_CUDA(cudaGetDeviceProperties, &properties, gpu->devices[0]);
    if (gpu->n_devices > 1)
        snprintf(count, sizeof count, "%u x ", gpu->n_devices);
    snprintf(gpu->detail, sizeof gpu->detail, "%s%s, %u stream%s of %zu symbols%s", count, properties.name,
             gpu->n_streams, gpu->n_streams == 1 ? "" : "s", gpu->chunk_symbols, gpu->n_devices > 1 ? " each" : "");
    return SOFTQAM_OK;
}

static softqam_status gpu_create(softqam_gpu **out, const softqam_context_config *config,
                                 const softqam_pool_scheduling *scheduling)
{
    unsigned n_devices = 0;
    ENDED_BY(softqam_float_end) const softqam_float_environment environment = softqam_float_enter(false);
    *out = NULL;
    TRY(count_devices(&n_devices, config));
    softqam_gpu *gpu = calloc(1, sizeof *gpu + n_devices * sizeof gpu->devices[0]);
    if (!gpu)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for %u devices", n_devices);
    gpu->n_devices = n_devices;
    gpu->n_streams = config->n_streams;
    gpu->chunk_symbols = config->chunk_symbols;
    gpu->scheduling = *scheduling;
    const softqam_status status = choose_devices(gpu, config);
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
    if (!gpu)
        return;
    if (gpu->pipeline) {
        /* On a device that is lost, what the host holds is freed all the same. */
        ENDED_BY(softqam_device_leave) softqam_device_scope scope = {-1, softqam_float_enter(false)};
        (void)cudaGetDevice(&scope.device);
        softqam_pipeline_destroy(gpu->pipeline);
    }
    pthread_mutex_destroy(&gpu->mutex);
    free(gpu);
}

static softqam_status gpu_prepare_kernels(softqam_gpu *gpu, const softqam_params *params)
{
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    TRY(softqam_device_enter(&scope, gpu->devices, 1));
    for (unsigned k = 0; k < gpu->n_devices; k++) {
        TRY_CUDA(cudaSetDevice, gpu->devices[k]);
        TRY(softqam_kernels_prepare(params));
    }
    return SOFTQAM_OK;
}

static bool gpu_is_busy(const softqam_gpu *gpu) { return atomic_load(&gpu->busy); }

static softqam_status gpu_host_alloc(softqam_gpu *gpu, size_t nbytes, void **memory)
{
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    *memory = NULL;
    TRY(softqam_device_enter(&scope, gpu->devices, 1));
    TRY_CUDA(cudaHostAlloc, memory, nbytes, cudaHostAllocPortable | cudaHostAllocMapped);
    return SOFTQAM_OK;
}

static void gpu_host_free(void *memory)
{
    ENDED_BY(softqam_float_end) const softqam_float_environment environment = softqam_float_enter(false);
    (void)cudaFreeHost(memory);
}

static const char *gpu_detail(const softqam_gpu *gpu) { return gpu->detail; }

const softqam_gpu_ops softqam_gpu_backend = {
    .create = gpu_create,
    .prepare_kernels = gpu_prepare_kernels,
    .prepare_host_calls = softqam_pipeline_prepare,
    .demodulate = softqam_pipeline_demodulate,
    .is_busy = gpu_is_busy,
    .host_alloc = gpu_host_alloc,
    .host_free = gpu_host_free,
    .detail = gpu_detail,
    .destroy = gpu_destroy,
};
