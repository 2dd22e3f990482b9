/* SPDX-License-Identifier: MIT */
/* The passes of passes.h on the device. */
#ifndef SOFTQAM_TOOLS_RECEIVER_PASSES_DEVICE_H
#define SOFTQAM_TOOLS_RECEIVER_PASSES_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "code_block.h"

#ifdef __cplusplus
extern "C" {
#endif

/* n_llrs is a multiple of 8, the LLRs are aligned to as many bytes. */
cudaError_t passes_descramble_device(const uint8_t *d_sequence, int8_t *d_llrs, size_t n_llrs, cudaStream_t stream);

/* most_symbols: of the longest code block. */
cudaError_t passes_deinterleave_device(const struct code_block *d_code_blocks, size_t n_code_blocks,
                                       size_t most_symbols, const int8_t *d_from, int8_t *d_to, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
