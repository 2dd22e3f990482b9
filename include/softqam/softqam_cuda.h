/* SPDX-License-Identifier: MIT */
/**
 * @file softqam_cuda.h
 * softqam for callers whose symbols are on the GPU already. Needs CUDA's headers; softqam.h does not.
 */
#ifndef SOFTQAM_SOFTQAM_CUDA_H
#define SOFTQAM_SOFTQAM_CUDA_H

#include <cuda_runtime_api.h>

#include <softqam/softqam.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Demodulates symbols in device memory, in the caller's stream: enqueues one kernel and returns.
 *
 * @param demodulator  a plan whose backend is CUDA (softqam_backend_name() says "cuda")
 * @param d_symbols    n_symbols symbols in the plan's input format, in memory that the plan's device reaches (its own,
 * a peer's, managed or mapped host memory), aligned to the size of a symbol; alignment to 16 bytes is fastest
 * @param d_noise_var  for output formats that are scaled by a noise variance; SOFTQAM_OUTPUT_U8 takes NULL and nothing
 * else
 * @param n_symbols    any number; 0 enqueues nothing
 * @param d_out        receives what softqam_demodulate() would give, n_symbols * softqam_output_symbol_nbytes() bytes
 * in memory that the plan's device reaches, aligned to 8 bytes, 16 is fastest; must not overlap d_symbols
 * @param stream       a stream of the plan's device, 0 for its default stream
 *
 * Allocates nothing, synchronises nothing, and can be captured in a CUDA graph. The memory must stay valid until the
 * stream has passed the kernel; the demodulator may be destroyed before that. The device current in the calling thread
 * is left as it was.
 *
 * @return SOFTQAM_OK: enqueued, and errors of the execution itself appear in the caller's next synchronisation;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  NULL, misaligned or overlapping pointers, a byte count over PTRDIFF_MAX;
 *         SOFTQAM_ERROR_BACKEND_UNAVAILABLE  the plan has no CUDA device;
 *         SOFTQAM_ERROR_CUDA  the launch failed.
 *
 * Thread safety: any thread, any number at once, on one demodulator too.
 */
SOFTQAM_API softqam_status softqam_cuda_demodulate(softqam_demodulator *demodulator, const void *d_symbols,
                                                   const float *d_noise_var, size_t n_symbols, void *d_out,
                                                   cudaStream_t stream);

/** Blocks that one kernel takes. A batch of more is enqueued as several. */
#define SOFTQAM_CUDA_BLOCKS_PER_LAUNCH 64

/**
 * Demodulates many blocks of symbols in device memory, in the caller's stream: softqam_demodulate_batch() for device
 * pointers. Enqueues one kernel for each SOFTQAM_CUDA_BLOCKS_PER_LAUNCH blocks and returns.
 *
 * @param demodulator  a plan whose backend is CUDA
 * @param blocks       n_blocks blocks, an array in host memory, read during the call only; the pointers in it are to
 * device memory, aligned as for softqam_cuda_demodulate(), planes to a component
 * @param n_blocks     any number; 0 enqueues nothing
 * @param stream       a stream of the plan's device, 0 for its default stream
 *
 * Can be captured in a CUDA graph; allocates and synchronises nothing.
 *
 * @return as softqam_cuda_demodulate().
 *
 * Thread safety: any thread, any number at once, on one demodulator too.
 */
SOFTQAM_API softqam_status softqam_cuda_demodulate_batch(softqam_demodulator *demodulator, const softqam_block *blocks,
                                                         size_t n_blocks, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
