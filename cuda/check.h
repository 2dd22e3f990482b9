/* SPDX-License-Identifier: MIT */
/* CUDA's errors as ours: every CUDA call's result goes through here. */
#ifndef SOFTQAM_CHECK_H
#define SOFTQAM_CHECK_H

#include <cuda_runtime_api.h>
#include <softqam/softqam.h>

/* The status for a CUDA error, with the call's name and CUDA's own text as the message; SOFTQAM_OK for cudaSuccess. */
softqam_status softqam_cuda_status(cudaError_t error, const char *call);

/* Returns from the calling function with the status if the call fails. */
#define TRY_CUDA(function, ...)                                                                                        \
    do {                                                                                                               \
        const softqam_status try_status = softqam_cuda_status(function(__VA_ARGS__), #function);                       \
        if (try_status != SOFTQAM_OK)                                                                                  \
            return try_status;                                                                                         \
    } while (0)

/* The same for a call that gives a status of ours. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const softqam_status try_status = (call);                                                                      \
        if (try_status != SOFTQAM_OK)                                                                                  \
            return try_status;                                                                                         \
    } while (0)

#endif
