/* SPDX-License-Identifier: MIT */
#include "check.h"

#include "error.h"

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
