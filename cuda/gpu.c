/* SPDX-License-Identifier: MIT */
/* The GPU of a context: the choice of the device, and the table of functions. */
#define _GNU_SOURCE /* sigset_t */
#include <stdio.h>
#include <stdlib.h>

#include "cuda_calls.h"
#include "gpu_object.h"
#include "kernel_list.h"
#include "signals.h"

static softqam_status unavailable(cudaError_t error)
{
    (void)cudaGetLastError();
    return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "no usable CUDA device: %s", cudaGetErrorString(error));
}

/* Finds the device, and describes it: "NVIDIA H200, 4 streams of 1048576 symbols". Asks only what CUDA answers without
 * making a context on a device. */
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
    snprintf(gpu->detail, sizeof gpu->detail, "%s, %u stream%s of %zu symbols", properties.name, config->n_streams,
             config->n_streams == 1 ? "" : "s", config->chunk_symbols);
    return SOFTQAM_OK;
}

static softqam_status gpu_create(softqam_gpu **out, const softqam_context_config *config)
{
    ENDED_BY(softqam_signals_restore) const sigset_t caller_mask = softqam_signals_block();
    ENDED_BY(softqam_float_leave) const softqam_float_environment environment = softqam_float_enter();
    *out = NULL;
    softqam_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a GPU's object");
    const softqam_status status = choose_device(gpu, config);
    if (status != SOFTQAM_OK) {
        free(gpu);
        return status;
    }
    softqam_pipeline_open(&gpu->pipeline, gpu->device, config);
    *out = gpu;
    return SOFTQAM_OK;
}

static void gpu_destroy(softqam_gpu *gpu)
{
    softqam_pipeline_close(&gpu->pipeline);
    free(gpu);
}

static softqam_status gpu_prepare_kernels(softqam_gpu *gpu, const softqam_params *params)
{
    ENDED_BY(softqam_signals_restore) const sigset_t caller_mask = softqam_signals_block();
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    TRY(softqam_device_enter(&scope, gpu->device));
    return softqam_kernels_prepare(params);
}

static softqam_status gpu_prepare_host_calls(softqam_gpu *gpu) { return softqam_pipeline_prepare(&gpu->pipeline); }

static softqam_status gpu_check_memory(const softqam_gpu *gpu, const softqam_segment_list *list)
{
    ENDED_BY(softqam_signals_restore) const sigset_t caller_mask = softqam_signals_block();
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    TRY(softqam_device_enter(&scope, gpu->device));
    return softqam_pipeline_check_memory(list);
}

static softqam_status gpu_demodulate(softqam_gpu *gpu, softqam_pool *pool, const softqam_cpu_loops *loops,
                                     const softqam_segment_list *list)
{
    return softqam_pipeline_demodulate(&gpu->pipeline, pool, loops, list);
}

static softqam_status gpu_host_alloc(softqam_gpu *gpu, size_t nbytes, void **memory)
{
    ENDED_BY(softqam_signals_restore) const sigset_t caller_mask = softqam_signals_block();
    ENDED_BY(softqam_device_leave) softqam_device_scope scope;
    *memory = NULL;
    TRY(softqam_device_enter(&scope, gpu->device));
    TRY_CUDA(cudaHostAlloc, memory, nbytes, cudaHostAllocPortable | cudaHostAllocMapped);
    return SOFTQAM_OK;
}

static void gpu_host_free(void *memory)
{
    ENDED_BY(softqam_float_leave) const softqam_float_environment environment = softqam_float_enter();
    (void)cudaFreeHost(memory);
}

static const char *gpu_detail(const softqam_gpu *gpu) { return gpu->detail; }

const softqam_gpu_ops softqam_gpu_backend = {
    .create = gpu_create,
    .prepare_kernels = gpu_prepare_kernels,
    .prepare_host_calls = gpu_prepare_host_calls,
    .check_memory = gpu_check_memory,
    .demodulate = gpu_demodulate,
    .host_alloc = gpu_host_alloc,
    .host_free = gpu_host_free,
    .detail = gpu_detail,
    .destroy = gpu_destroy,
};
