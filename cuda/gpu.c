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
    softqam_pipeline *pipeline;
    char detail[320];
    unsigned n_devices;
    int devices[];
} cuda_backend;

/* Makes a device current; leave_device() makes the one current again that was, whatever happened in between. */
static softqam_status enter_device(int device, int *previous)
{
    TRY_CUDA(cudaGetDevice, previous);
    if (*previous != device)
        TRY_CUDA(cudaSetDevice, device);
    return SOFTQAM_OK;
}

static void leave_device(int previous)
{
    int device = -1;
    if (cudaGetDevice(&device) != cudaSuccess || device != previous)
        (void)cudaSetDevice(previous);
}

static softqam_status unavailable(cudaError_t error, const char *what)
{
    (void)cudaGetLastError();
    return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "%s: %s", what, cudaGetErrorString(error));
}

/* How many devices a configuration names, of those that there are. */
static softqam_status count_devices(unsigned *n, const softqam_config *config)
{
    int n_devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&n_devices);
    if (error != cudaSuccess)
        return unavailable(error, "no usable CUDA device");
    for (unsigned k = 0; k == 0 || (config->devices && k < config->n_devices); k++) {
        const int wanted = config->devices ? config->devices[k] : config->device;
        if (wanted >= n_devices)
            return softqam_fail(SOFTQAM_ERROR_BACKEND_UNAVAILABLE, "there is no CUDA device %d, only %d device%s",
                                wanted, n_devices, n_devices == 1 ? "" : "s");
    }
    *n = config->n_devices == SOFTQAM_ALL_DEVICES ? (unsigned)n_devices : config->n_devices ? config->n_devices : 1;
    return SOFTQAM_OK;
}

static softqam_status list_devices(cuda_backend *backend, const softqam_config *config)
{
    for (unsigned k = 0; k < backend->n_devices; k++)
        backend->devices[k] = config->devices ? config->devices[k] : (int)k;
    if (config->n_devices > 0)
        return SOFTQAM_OK;
    backend->devices[0] = config->device;
    const cudaError_t error = config->device < 0 ? cudaGetDevice(&backend->devices[0]) : cudaSuccess;
    return error == cudaSuccess ? SOFTQAM_OK : unavailable(error, "no usable CUDA device");
}

static softqam_status check_devices(const cuda_backend *backend)
{
    for (unsigned k = 0; k < backend->n_devices; k++) {
        TRY_CUDA(cudaSetDevice, backend->devices[k]);
        const cudaError_t error = softqam_kernel_check(backend->plan);
        if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction ||
            error == cudaErrorUnsupportedPtxVersion)
            return unavailable(error, "this build has no code for the CUDA device");
        TRY(softqam_cuda_status(error, "preparing the kernel"));
    }
    return SOFTQAM_OK;
}

/* "2 x NVIDIA H200, 4 streams of 1048576 symbols each" */
static softqam_status describe(cuda_backend *backend, const softqam_config *config)
{
    struct cudaDeviceProp properties;
    char count[16] = "";
    TRY_CUDA(cudaGetDeviceProperties, &properties, backend->devices[0]);
    if (backend->n_devices > 1)
        snprintf(count, sizeof count, "%u x ", backend->n_devices);
    snprintf(backend->detail, sizeof backend->detail, "%s%s, %u stream%s of %zu symbols%s", count, properties.name,
             config->n_streams, config->n_streams == 1 ? "" : "s", config->chunk_symbols,
             backend->n_devices > 1 ? " each" : "");
    return SOFTQAM_OK;
}

static softqam_status create_on_devices(cuda_backend *backend, const softqam_config *config, softqam_pool *pool)
{
    int previous = 0;
    TRY_CUDA(cudaGetDevice, &previous);
    softqam_status status = list_devices(backend, config);
    if (status == SOFTQAM_OK)
        status = check_devices(backend);
    if (status == SOFTQAM_OK)
        status = describe(backend, config);
    if (status == SOFTQAM_OK)
        status = softqam_pipeline_create(&backend->pipeline, backend->plan, pool, backend->devices, backend->n_devices,
                                         config->n_streams, config->chunk_symbols);
    leave_device(previous);
    return status;
}

static softqam_status cuda_create(void **state, const softqam_plan *plan, const softqam_config *config,
                                  softqam_pool *pool)
{
    *state = NULL;
    unsigned n_devices = 0;
    TRY(count_devices(&n_devices, config));
    cuda_backend *backend = calloc(1, sizeof *backend + n_devices * sizeof backend->devices[0]);
    if (!backend)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for the CUDA backend");
    backend->plan = plan;
    backend->n_devices = n_devices;
    const softqam_status status = create_on_devices(backend, config, pool);
    if (status != SOFTQAM_OK) {
        free(backend);
        return status;
    }
    *state = backend;
    return SOFTQAM_OK;
}

static softqam_status cuda_demodulate(void *state, const softqam_block *blocks, size_t n_blocks, size_t *n_done)
{
    const cuda_backend *backend = state;
    int previous = 0;
    *n_done = 0;
    TRY(enter_device(backend->devices[0], &previous));
    const softqam_status status = softqam_pipeline_run(backend->pipeline, blocks, n_blocks, n_done);
    leave_device(previous);
    return status;
}

static softqam_status cuda_reaches(void *state, const softqam_block *blocks, size_t n_blocks, bool *reached)
{
    const cuda_backend *backend = state;
    return softqam_pipeline_reaches(backend->pipeline, blocks, n_blocks, reached);
}

static softqam_status cuda_host_alloc(void *state, size_t nbytes, void **memory)
{
    const cuda_backend *backend = state;
    int previous = 0;
    *memory = NULL;
    TRY(enter_device(backend->devices[0], &previous));
    const softqam_status status = softqam_cuda_status(
        cudaHostAlloc(memory, nbytes, cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
    leave_device(previous);
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
    const cudaError_t error = cudaGetDevice(&previous);
    softqam_pipeline_destroy(backend->pipeline);
    if (error == cudaSuccess)
        leave_device(previous);
    free(backend);
}

const softqam_backend_ops softqam_backend_cuda = {
    .name = "cuda",
    .create = cuda_create,
    .demodulate = cuda_demodulate,
    .reaches = cuda_reaches,
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

/* Of a demodulator's devices the current one, if it is one of them, else the first. */
static int device_of_call(const cuda_backend *backend)
{
    int current = 0;
    (void)cudaGetDevice(&current);
    for (unsigned k = 0; k < backend->n_devices; k++)
        if (backend->devices[k] == current)
            return current;
    return backend->devices[0];
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
    TRY(enter_device(device_of_call(backend), &previous));
    const softqam_status status = softqam_cuda_status(
        softqam_kernel_launch(backend->plan, blocks, n_blocks, 0.0f, stream), "launching the kernel");
    leave_device(previous);
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
