/* SPDX-License-Identifier: MIT */
/* Shared by the tests of softqam_cuda.h: CUDA calls that fail the test, memory that host and device reach, graphs. */
#ifndef SOFTQAM_TESTS_DEVICE_FIXTURE_H
#define SOFTQAM_TESTS_DEVICE_FIXTURE_H

#include <softqam/softqam_cuda.h>

#include "harness.h"

#define DEVICE_CANARY 0xC5

/* Copies words from device memory to device memory by a kernel that lets the next one in its stream begin at once, and
 * writes only some 20 us after it began. */
cudaError_t late_copy(unsigned *to, const unsigned *from, size_t n_words, cudaStream_t stream);

#define CUDA(call) device_assert_cuda(call, #call)
void device_assert_cuda(cudaError_t error, const char *call);

/* Managed memory full of canaries, more of which lie on both sides; device_free() fails the test if those changed. */
void *device_alloc(size_t nbytes);
void device_free(void *memory);

cudaStream_t device_open_stream(void);

/* Makes a graph of the calls on a stream since device_begin_capture(), and says how many nodes it has. */
void device_begin_capture(const softqam_demodulator *demodulator, cudaStream_t stream);
cudaGraphExec_t device_end_capture(cudaStream_t stream, size_t *n_nodes);

#endif
