/* SPDX-License-Identifier: MIT */
/* A kernel that lets the next one in its stream begin at once, and writes only later. */
#ifndef SOFTQAM_TESTS_LATE_COPY_H
#define SOFTQAM_TESTS_LATE_COPY_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies words from device memory to device memory, some 20 us after it began. */
cudaError_t late_copy(unsigned *to, const unsigned *from, size_t n_words, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
