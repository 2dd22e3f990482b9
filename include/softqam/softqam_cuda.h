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
 * The call's device is the plan's. Of a plan with several it is the one that is current in the calling thread, and the
 * first where none of them is.
 *
 * @param demodulator  a plan that uses CUDA, as softqam_backend_name() tells
 * @param d_symbols    n_symbols symbols in the plan's input format, in memory that the call's device reaches (its own,
 *                     a peer's, managed or mapped host memory), aligned to the size of a symbol; 16 bytes are fastest
 * @param d_noise_var  the noise variance N0 in such memory: one value, or n_symbols values, as the plan's `noise` says;
 *                     aligned to 4 bytes; read by the kernel, not during the call. For SOFTQAM_OUTPUT_U8 NULL and
 *                     nothing else
 * @param n_symbols    any number; 0 enqueues nothing, and then the pointers may be NULL
 * @param d_out        receives n_symbols * softqam_output_symbol_nbytes() bytes, those of softqam_demodulate(), in such
 *                     memory; aligned to 8 bytes for u8 and s8 (16 are fastest), to 16 for f16 and f32; must not
 *                     overlap the inputs
 * @param stream       a stream of the call's device, 0 for its default stream
 *
 * Formats, sign, special values and erasures are those of softqam_demodulate(). Allocates nothing, synchronises
 * nothing, and can be captured in a CUDA graph. The memory must stay valid until the stream has passed the kernel; the
 * demodulator may be destroyed before that. The device current in the calling thread is left as it was.
 *
 * @return SOFTQAM_OK: enqueued, and errors of the execution itself appear in the caller's next synchronisation;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  a pointer is NULL that must not be, or misaligned; d_noise_var is given where
 *         none is taken; d_out overlaps an input; or a byte count is over PTRDIFF_MAX. Nothing was enqueued;
 *         SOFTQAM_ERROR_BACKEND_UNAVAILABLE  the plan has no CUDA device;
 *         SOFTQAM_ERROR_CUDA, SOFTQAM_ERROR_OUT_OF_MEMORY  a CUDA call failed, the latter for lack of memory.
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
 * @param demodulator  a plan that uses CUDA
 * @param blocks       n_blocks blocks, an array in host memory, read during the call only; the pointers in it are to
 *                     device memory, aligned as for softqam_cuda_demodulate(), planes to a component
 * @param n_blocks     any number; 0 enqueues nothing
 * @param stream       a stream of the call's device, which is chosen as by softqam_cuda_demodulate(); 0 for its default
 *                     stream
 *
 * Can be captured in a CUDA graph; allocates and synchronises nothing.
 *
 * @return as softqam_cuda_demodulate(), and SOFTQAM_ERROR_INVALID_ARGUMENT too where `blocks` is NULL and n_blocks is
 *         not 0. After SOFTQAM_ERROR_CUDA the first kernels of a batch of several may have been enqueued.
 *
 * Thread safety: any thread, any number at once, on one demodulator too.
 */
SOFTQAM_API softqam_status softqam_cuda_demodulate_batch(softqam_demodulator *demodulator, const softqam_block *blocks,
                                                         size_t n_blocks, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
