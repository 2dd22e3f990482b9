/* SPDX-License-Identifier: MIT */
#include "cuda_calls.h"

softqam_status softqam_cuda_status(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return SOFTQAM_OK;
    /* The library reports this error, so the caller's next cudaGetLastError() must not find it. Errors that break the
     * CUDA context stay. */
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
    int caller_device = -1;
    *scope = (softqam_device_scope){-1, softqam_float_enter()};
    TRY_CUDA(cudaGetDevice, &caller_device);
    if (device != caller_device)
        TRY_CUDA(cudaSetDevice, device);
    scope->device = caller_device;
    return SOFTQAM_OK;
}

void softqam_device_leave(const softqam_device_scope *scope)
{
    int device = -1;
    if (scope->device >= 0 && (cudaGetDevice(&device) != cudaSuccess || device != scope->device))
        (void)cudaSetDevice(scope->device);
    softqam_float_leave(&scope->environment);
}
