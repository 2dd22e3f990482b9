/* SPDX-License-Identifier: MIT */
/* Calls of CUDA: the status of an error, and the thread's state that a call changes and restores. */
#ifndef SOFTQAM_CUDA_CALLS_H
#define SOFTQAM_CUDA_CALLS_H

#include <cuda_runtime_api.h>

#include "error.h"
#include "float_environment.h"

/* Returns the status for a CUDA error, with the call's name and CUDA's own text as the message; SOFTQAM_OK for
 * cudaSuccess. Every CUDA call's result goes through here. */
softqam_status softqam_cuda_status(cudaError_t error, const char *call);

/* Returns from the calling function with the status if the call fails. */
#define TRY_CUDA(function, ...) TRY(softqam_cuda_status(function(__VA_ARGS__), #function))

/* The state that softqam_device_leave() restores. */
typedef struct softqam_device_scope {
    int device; /* the caller's current one; -1: unknown */
    softqam_float_environment environment;
} softqam_device_scope;

/* Makes a device current, and lets CUDA run in the library's own floating-point environment. softqam_device_leave()
 * restores both, even if this fails: ENDED_BY() calls it. */
softqam_status softqam_device_enter(softqam_device_scope *scope, int device);
void softqam_device_leave(const softqam_device_scope *scope);

#endif
