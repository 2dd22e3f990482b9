/* SPDX-License-Identifier: MIT */
/* A CUDA runtime without a GPU, in host memory, for tests of the code around the kernels on any machine and under any
 * sanitizer. It is stricter than a GPU: work on a stream is put off until something waits for it, so what is read too
 * early is seen; memory of another device, or not known to it, is refused.
 *
 * FAKE_CUDA_DEVICES says how many devices there are, 1 without it. fake_kernels.c replaces the kernels. */
#ifndef SOFTQAM_TESTS_FAKE_CUDA_H
#define SOFTQAM_TESTS_FAKE_CUDA_H

#include <stddef.h>

#include <cuda_runtime_api.h>

/* The memory and objects that the runtime holds now. */
typedef struct fake_cuda_holdings {
    size_t streams, device_nbytes, pinned_nbytes;
} fake_cuda_holdings;

fake_cuda_holdings fake_cuda_holds(void);

/* The numbers of calls of the runtime and of launched kernels. */
size_t fake_cuda_calls(void);
size_t fake_cuda_launches(void);

/* Stands for a kernel: its address is a pointer to one. A launch copies the arguments and puts off run(). */
enum { FAKE_KERNEL_ARGUMENTS = 6 };
typedef struct fake_kernel {
    void (*run)(const struct fake_kernel *self, void *const arguments[]);
    size_t nbytes[FAKE_KERNEL_ARGUMENTS]; /* bytes of each argument; 0: there is none */
    int input_format, output_format;
} fake_kernel;

#endif
