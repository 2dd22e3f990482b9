/* SPDX-License-Identifier: MIT */
/* The kernels' launcher, for C. */
#ifndef SOFTQAM_KERNELS_H
#define SOFTQAM_KERNELS_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether this build has code for a plan that the current device can run; prepares it there. */
cudaError_t softqam_kernel_check(const softqam_plan *plan);

/* What a pointer to symbols (or to a plane), and one to the output, must be aligned to. */
size_t softqam_kernel_input_alignment(const softqam_plan *plan, const softqam_block *block);
size_t softqam_kernel_output_alignment(const softqam_plan *plan);

/* Enqueues the demodulation of blocks in device memory on a stream of the current device; the array itself is only read
 * during the call. A block's symbol_stride of 0 is taken as 1. For LLRs, a noise_var of NULL stands for `noise_var`. */
cudaError_t softqam_kernel_launch(const softqam_plan *plan, const softqam_block *blocks, size_t n_blocks,
                                  float noise_var, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
