/* SPDX-License-Identifier: MIT */
#include "cuda_devices.h"

#include <cuda_runtime_api.h>

int cuda_devices_count(void)
{
    int n_devices = 0;
    return cudaGetDeviceCount(&n_devices) == cudaSuccess ? n_devices : 0;
}
