/* SPDX-License-Identifier: MIT */
#include "check.h"

#include "error.h"

softqam_status softqam_cuda_status(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return SOFTQAM_OK;
    /* Ours to report: the caller's next cudaGetLastError() must not find it. Errors that break the context stay. */
    (void)cudaGetLastError();
    return softqam_fail(error == cudaErrorMemoryAllocation ? SOFTQAM_ERROR_OUT_OF_MEMORY : SOFTQAM_ERROR_CUDA, "%s: %s",
                        call, cudaGetErrorString(error));
}
