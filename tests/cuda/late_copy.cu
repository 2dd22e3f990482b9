/* SPDX-License-Identifier: MIT */
/* late_copy() of device_fixture.h. */
#include <cuda_runtime.h>

static __global__ void copy_late(unsigned *to, const unsigned *from, size_t n_words)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
    for (int k = 0; k < 40; k++)
        __nanosleep(500);
    for (size_t word = threadIdx.x; word < n_words; word += blockDim.x)
        to[word] = from[word];
}

extern "C" cudaError_t late_copy(unsigned *to, const unsigned *from, size_t n_words, cudaStream_t stream)
{
    copy_late<<<1, 256, 0, stream>>>(to, from, n_words);
    return cudaGetLastError();
}
