/* SPDX-License-Identifier: MIT */
/* The CUDA backend: the choice of the device, the host-to-host calls, and the call on device memory. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <softqam/softqam_cuda.h>

#include "backend.h"
#include "block.h"
#include "call.h"
#include "check.h"
#include "demodulator.h"
#include "error.h"
#include "pipeline.h"

typedef struct cuda_backend {
    const softqam_plan *plan;
    int device;
    softqam_kernel_grid grid;
    softqam_pipeline *pipeline;
    char detail[320];
} cuda_backend;

softqam_status softqam_cuda_status(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return SOFTQAM_OK;
    /* Ours to report: the caller's next cudaGetLastError() must not find it. Errors that break the context stay. */
    (void)cudaGetLastError();
    return softqam_fail(error == cudaErrorMemoryAllocation ? SOFTQAM_ERROR_OUT_OF_MEMORY : SOFTQAM_ERROR_CUDA, "%s: %s",
                        call, cudaGetErrorString(error));
}

/* Makes a device current, and the one that was current again. */
static softqam_status enter_device(int device, int *previous)
{
    TRY_CUDA(cudaGetDevice, previous);
    if (*previous != device)
        TRY_CUDA(cudaSetDevice, device);
    return SOFTQAM_OK;
}

static void leave_device(int device, int previous)
{
    if (previous != device)
        (void)cudaSetDevice(previous);
}

static softqam_status unavailable(cudaError_t error, const char *what)
{
    (void)cudaGetLastError();
    return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "%s: %s", what, cudaGetErrorString(error));
}

static softqam_status choose_device(int *device, int wanted)
{
    int n_devices = 0;
    cudaError_t error = cudaGetDeviceCount(&n_devices);
    if (error == cudaSuccess && wanted < 0)
        error = cudaGetDevice(device);
    if (error != cudaSuccess)
        return unavailable(error, "no usable CUDA device");
    if (wanted >= n_devices)
        return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "there is no CUDA device %d, only %d device%s", wanted,
                            n_devices, n_devices == 1 ? "" : "s");
    if (wanted >= 0)
        *device = wanted;
    return SOFTQAM_OK;
}

/* The part of create that needs the device to be current. */
static softqam_status create_on_device(cuda_backend *backend, const softqam_config *config, softqam_pool *pool)
{
    const cudaError_t error = softqam_kernel_prepare(&backend->grid, backend->plan);
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction ||
        error == cudaErrorUnsupportedPtxVersion)
        return unavailable(error, "this build has no code for the CUDA device");
    TRY(softqam_cuda_status(error, "preparing the kernel"));

    struct cudaDeviceProp properties;
    TRY_CUDA(cudaGetDeviceProperties, &properties, backend->device);
    snprintf(backend->detail, sizeof backend->detail, "%s, %u stream%s of %zu symbols", properties.name,
             config->n_streams, config->n_streams == 1 ? "" : "s", config->chunk_symbols);
    return softqam_pipeline_create(&backend->pipeline, backend->plan, &backend->grid, pool, config->n_streams,
                                   config->chunk_symbols);
}

static softqam_status cuda_create(void **state, const softqam_plan *plan, const softqam_config *config,
                                  softqam_pool *pool)
{
    *state = NULL;
    int device = 0;
    int previous = 0;
    TRY(choose_device(&device, config->device));
    cuda_backend *backend = calloc(1, sizeof *backend);
    if (!backend)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for the CUDA backend");
    backend->plan = plan;
    backend->device = device;
    softqam_status status = enter_device(device, &previous);
    if (status == SOFTQAM_OK) {
        status = create_on_device(backend, config, pool);
        leave_device(device, previous);
    }
    if (status != SOFTQAM_OK) {
        free(backend);
        return status;
    }
    *state = backend;
    return SOFTQAM_OK;
}

static softqam_status cuda_demodulate(void *state, const softqam_block *blocks, size_t n_blocks)
{
    const cuda_backend *backend = state;
    int previous = 0;
    TRY(enter_device(backend->device, &previous));
    const softqam_status status = softqam_pipeline_run(backend->pipeline, blocks, n_blocks);
    leave_device(backend->device, previous);
    return status;
}

static softqam_status cuda_host_alloc(void *state, size_t nbytes, void **memory)
{
    const cuda_backend *backend = state;
    int previous = 0;
    *memory = NULL;
    TRY(enter_device(backend->device, &previous));
    const softqam_status status = softqam_cuda_status(
        cudaHostAlloc(memory, nbytes, cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
    leave_device(backend->device, previous);
    return status;
}

static void cuda_host_free(void *memory)
{
    (void)cudaFreeHost(memory);
}

static const char *cuda_detail(const void *state)
{
    return ((const cuda_backend *)state)->detail;
}

static void cuda_destroy(void *state)
{
    cuda_backend *backend = state;
    int previous = 0;
    if (!backend)
        return;
    /* On a device that is lost, what the host holds is freed all the same. */
    const softqam_status status = enter_device(backend->device, &previous);
    softqam_pipeline_destroy(backend->pipeline);
    if (status == SOFTQAM_OK)
        leave_device(backend->device, previous);
    free(backend);
}

const softqam_backend_ops softqam_backend_cuda = {
    .name = "cuda",
    .create = cuda_create,
    .demodulate = cuda_demodulate,
    .host_alloc = cuda_host_alloc,
    .host_free = cuda_host_free,
    .detail = cuda_detail,
    .destroy = cuda_destroy,
};

static softqam_status check_alignment(const softqam_plan *plan, const softqam_block *block)
{
    const size_t in = softqam_kernel_input_alignment(plan, block);
    const size_t out = softqam_kernel_output_alignment(plan);
    if (block->n_symbols > 0 && ((uintptr_t)block->symbols % in != 0 || (uintptr_t)block->symbols_q % in != 0 ||
                                 (uintptr_t)block->out % out != 0))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                            "device memory of symbols must be aligned to %zu bytes, and of the output to %zu", in, out);
    return SOFTQAM_OK;
}

softqam_status softqam_cuda_demodulate_batch(softqam_demodulator *demodulator, const softqam_block *blocks,
                                             size_t n_blocks, cudaStream_t stream)
{
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "demodulator is NULL");
    const cuda_backend *backend = softqam_demodulator_state(demodulator, &softqam_backend_cuda);
    if (!backend)
        return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "this demodulator has no CUDA device");
    TRY(softqam_call_check(backend->plan, blocks, n_blocks));
    for (size_t k = 0; k < n_blocks; k++)
        TRY(check_alignment(backend->plan, &blocks[k]));
    if (n_blocks == 0 || softqam_blocks_count(blocks, n_blocks) == 0)
        return SOFTQAM_OK;
    int previous = 0;
    TRY(enter_device(backend->device, &previous));
    const softqam_status status = softqam_cuda_status(
        softqam_kernel_launch(&backend->grid, backend->plan, blocks, n_blocks, 0.0f, stream), "launching the kernel");
    leave_device(backend->device, previous);
    return status;
}

softqam_status softqam_cuda_demodulate(softqam_demodulator *demodulator, const void *d_symbols,
                                       const float *d_noise_var, size_t n_symbols, void *d_out, cudaStream_t stream)
{
    if (!demodulator)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "demodulator is NULL");
    const cuda_backend *backend = softqam_demodulator_state(demodulator, &softqam_backend_cuda);
    if (!backend)
        return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "this demodulator has no CUDA device");
    const softqam_block block = softqam_plan_block(backend->plan, d_symbols, d_noise_var, n_symbols, d_out);
    return softqam_cuda_demodulate_batch(demodulator, &block, 1, stream);
}
