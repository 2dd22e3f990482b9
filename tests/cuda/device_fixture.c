/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* setenv() */
#include "device_fixture.h"

#include <stdlib.h>
#include <string.h>

/* Bytes with canaries beside memory: a multiple of every alignment that matters. */
enum { MARGIN = 256 };

__attribute__((constructor)) static void require_cuda(void)
{
    setenv("SOFTQAM_TEST_BACKEND", "cuda", 1);
    harness_require_cuda();
}

void device_assert_cuda(cudaError_t error, const char *call)
{
    if (error != cudaSuccess)
        fail_msg("%s: %s", call, cudaGetErrorString(error));
}

/* The size stands before the memory that is handed out. */
void *device_alloc(size_t nbytes)
{
    uint8_t *memory;
    CUDA(cudaMallocManaged((void **)&memory, nbytes + 2 * MARGIN, cudaMemAttachGlobal));
    memset(memory, DEVICE_CANARY, nbytes + 2 * MARGIN);
    memcpy(memory, &nbytes, sizeof nbytes);
    return memory + MARGIN;
}

void device_free(void *handed_out)
{
    uint8_t *memory = (uint8_t *)handed_out - MARGIN;
    size_t nbytes;
    memcpy(&nbytes, memory, sizeof nbytes);
    for (size_t i = sizeof nbytes; i < MARGIN; i++)
        if (memory[i] != DEVICE_CANARY || memory[nbytes + 2 * MARGIN - 1 - i] != DEVICE_CANARY)
            fail_msg("bytes beside %zu were overwritten", nbytes);
    CUDA(cudaFree(memory));
}

cudaStream_t device_open_stream(void)
{
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

void device_begin_capture(const softqam_demodulator *demodulator, cudaStream_t stream)
{
    softqam_status status = softqam_context_prepare(softqam_demodulator_context(demodulator), SOFTQAM_PREPARE_KERNELS);
    if (status != SOFTQAM_OK)
        fail_msg("softqam_context_prepare: %s: %s", softqam_status_string(status), softqam_error_message());
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
}

cudaGraphExec_t device_end_capture(cudaStream_t stream, size_t *n_nodes)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphGetNodes(graph, NULL, n_nodes));
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    return executable;
}
