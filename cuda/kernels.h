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

/* Blocks that fill a device, found once per plan: a launch itself asks the device nothing. */
typedef struct softqam_kernel_grid {
    unsigned max_blocks[2]; /* by access: one symbol at a time, two at a time */
} softqam_kernel_grid;

/* For the current device. Fails when this build has no code that it can run. */
cudaError_t softqam_kernel_prepare(softqam_kernel_grid *grid, const softqam_plan *plan);

/* Enqueues the demodulation of n_symbols > 0 symbols on a stream of the current device. d_symbols is aligned to a
 * symbol, d_out to 8 bytes. */
cudaError_t softqam_kernel_launch(const softqam_kernel_grid *grid, const softqam_plan *plan, const void *d_symbols,
                                  size_t n_symbols, void *d_out, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
