/* SPDX-License-Identifier: MIT */
#include "fake_cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda_parts.h"
#include "fault.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local cudaError_t last_error;
_Thread_local int fake_device;
static size_t n_calls; /* under the mutex */

void fake_lock(void)
{
    pthread_mutex_lock(&mutex);
    n_calls++;
}

cudaError_t fake_unlock(cudaError_t error)
{
    pthread_mutex_unlock(&mutex);
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last_error = error;
    return error;
}

int fault_current_device(void) { return fake_device; }

size_t fake_cuda_live(void)
{
    pthread_mutex_lock(&mutex);
    const size_t n = fake_live_streams() + fake_live_blocks();
    pthread_mutex_unlock(&mutex);
    return n;
}

size_t fake_cuda_calls(void)
{
    pthread_mutex_lock(&mutex);
    const size_t n = n_calls;
    pthread_mutex_unlock(&mutex);
    return n;
}

/* A number in the environment. */
static int setting(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? (int)strtol(text, NULL, 10) : otherwise;
}

/* Devices. */

static int count_devices(void)
{
    const int n = setting("FAKE_CUDA_DEVICES", 1);
    return n < 0 ? 0 : n > FAKE_MAX_DEVICES ? FAKE_MAX_DEVICES : n;
}

cudaError_t cudaGetDeviceCount(int *n)
{
    fake_lock();
    *n = count_devices();
    return fake_unlock(*n > 0 ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int *device)
{
    fake_lock();
    *device = fake_device;
    return fake_unlock(count_devices() > 0 ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int device)
{
    fake_lock();
    if (device < 0 || device >= count_devices())
        return fake_unlock(cudaErrorInvalidDevice);
    fake_device = device;
    return fake_unlock(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    fake_lock();
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "no GPU, number %d", device);
    properties->multiProcessorCount = 4;
    properties->major = 9;
    properties->integrated = 0;
    return fake_unlock(device >= 0 && device < count_devices() ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    fake_lock();
    *value = attribute == cudaDevAttrMultiProcessorCount ? 4 : 0;
    return fake_unlock(device >= 0 && device < count_devices() ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    fake_lock();
    *version = setting("FAKE_CUDA_DRIVER", CUDART_VERSION);
    return fake_unlock(cudaSuccess);
}

/* Errors. */

cudaError_t cudaGetLastError(void)
{
    fake_lock();
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    fake_unlock(cudaSuccess);
    return error;
}

const char *cudaGetErrorString(cudaError_t error)
{
    static _Thread_local char text[32];
    snprintf(text, sizeof text, "CUDA error %d", (int)error);
    return text;
}
