/* SPDX-License-Identifier: MIT */
#include "device_scope.h"

#include <cuda_runtime_api.h>

#include "check.h"

static softqam_status make_one_current(int *before, const int *devices, unsigned n_devices)
{
    TRY_CUDA(cudaGetDevice, before);
    for (unsigned k = 0; k < n_devices; k++)
        if (devices[k] == *before)
            return SOFTQAM_OK;
    TRY_CUDA(cudaSetDevice, devices[0]);
    return SOFTQAM_OK;
}

softqam_status softqam_device_enter(softqam_device_scope *scope, const int *devices, unsigned n_devices)
{
    scope->environment = softqam_float_enter(false);
    const softqam_status status = make_one_current(&scope->device, devices, n_devices);
    if (status != SOFTQAM_OK)
        softqam_float_leave(scope->environment);
    return status;
}

void softqam_device_leave(const softqam_device_scope *scope)
{
    int device = -1;
    if (cudaGetDevice(&device) != cudaSuccess || device != scope->device)
        (void)cudaSetDevice(scope->device);
    softqam_float_leave(scope->environment);
}
