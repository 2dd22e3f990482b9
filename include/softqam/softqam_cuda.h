/* SPDX-License-Identifier: MIT */
/**
 * @file softqam_cuda.h
 * Calls on device memory, in the caller's stream. Only a build with CUDA has them. They need CUDA's headers; streams
 * and pointers may come from any CUDA runtime of the program, or from the driver in the device's primary context.
 */
#ifndef SOFTQAM_SOFTQAM_CUDA_H
#define SOFTQAM_SOFTQAM_CUDA_H

#include <cuda_runtime_api.h>
#include <softqam/softqam.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Demodulates symbols in device memory as softqam_demodulate() does: enqueues one kernel in the caller's stream, and
 * returns.
 *
 * The kernel runs on the context's device, whichever is current in the calling thread; the current one stays. After
 * softqam_context_prepare() with SOFTQAM_PREPARE_KERNELS the call neither allocates nor synchronises, and can be
 * captured in a CUDA graph; before, the first call loads kernels and may do both. The memory must be valid until the
 * kernel has run, in a graph at each launch; demodulator and context may be destroyed once the call has returned. From
 * compute capability 9.0 on the launch is a programmatic dependent one: a following kernel that is launched so must
 * call cudaGridDependencySynchronize() before it reads d_out or writes to the inputs.
 *
 * All pointers are to memory that the device reaches: its own, a peer's, managed or mapped host memory. Symbols are
 * aligned to a symbol, values to a value, noise values to 4 bytes; 16 bytes is fastest.
 *
 * @param demodulator  one whose context is SOFTQAM_BACKEND_CUDA
 * @param d_symbols    n_symbols symbols in the input format
 * @param d_noise_var  n_symbols noise values, or one, as config.noise says, which the kernel reads. NULL for u8
 * @param n_symbols    any number; with 0 nothing is enqueued and the pointers may be NULL
 * @param d_out        receives softqam_output_nbytes() bytes; must not overlap the inputs
 * @param stream       a stream of that device; 0: the legacy default stream
 * @return SOFTQAM_OK: enqueued; errors of the execution appear in the caller's next synchronisation.
 *         SOFTQAM_ERROR_INVALID_ARGUMENT also if a pointer is misaligned, d_out overlaps an input, or a byte count is
 *         over PTRDIFF_MAX; nothing was enqueued. SOFTQAM_ERROR_BACKEND_UNAVAILABLE also if the context is the CPU.
 *         Also SOFTQAM_ERROR_CUDA, SOFTQAM_ERROR_OUT_OF_MEMORY
 */
SOFTQAM_API softqam_status softqam_cuda_demodulate(const softqam_demodulator *demodulator, const void *d_symbols,
                                                   const float *d_noise_var, size_t n_symbols, void *d_out,
                                                   cudaStream_t stream);

/**
 * Demodulates segments in device memory as softqam_demodulate_segments() does, in the caller's stream as
 * softqam_cuda_demodulate() does. A kernel takes up to 11 segments, and finds code blocks itself: a slot's codeword is
 * one segment.
 *
 * @param demodulator  as for softqam_cuda_demodulate()
 * @param segments     n_segments segments in host memory, read during the call only. Their pointers are as for
 *                     softqam_cuda_demodulate(), those to separate I and Q aligned to a component; only the kernel
 *                     reads the array codeword.block_buffers, and nobody checks its elements
 * @param n_segments   any number; 0 enqueues nothing
 * @param stream       as for softqam_cuda_demodulate()
 * @return as softqam_cuda_demodulate() and, for what it refuses, softqam_demodulate_segments(). After
 *         SOFTQAM_ERROR_CUDA or SOFTQAM_ERROR_OUT_OF_MEMORY some of several kernels may be enqueued, and write outputs
 *         or add to soft buffers
 */
SOFTQAM_API softqam_status softqam_cuda_demodulate_segments(const softqam_demodulator *demodulator,
                                                            const softqam_segment *segments, size_t n_segments,
                                                            cudaStream_t stream);

/**
 * Demodulates segments whose descriptors the kernel reads when it runs: a graph that is captured once serves every
 * slot, whatever its segments are. Enqueues one kernel and returns.
 *
 * The host cannot check these descriptors. Invalid pointers, strides and alignments are undefined behaviour. A segment
 * with an unknown modulation, or one that does not suit the output format, is left out; n_layers is limited to
 * SOFTQAM_MAX_LAYERS; symbols beyond a codeword's end, and beyond 2^31 of one segment, are left out; with u8
 * `descramble` and gains are ignored, and n_layers must be 0 or 1, plane_stride and the codeword 0.
 *
 * @param demodulator   as for softqam_cuda_demodulate()
 * @param d_segments    max_segments descriptors as for softqam_cuda_demodulate_segments(), in memory that the device
 *                      reaches, aligned to 8 bytes: written by an earlier kernel or copy of the stream, or by the host
 *                      before the graph is launched. Fields that must be 0 must be 0 here; layers from n_layers on, and
 *                      descriptors after the last segment, do not matter
 * @param d_n_segments  the number of segments, one unsigned in such memory, aligned to 4 bytes, read when the kernel
 *                      runs; segments from index max_segments on are ignored
 * @param max_segments  largest number of segments; 0 enqueues nothing, but the pointers are checked all the same
 * @param max_symbols   largest number of symbols of all segments together; 0 enqueues nothing. It fixes the grid: if
 *                      the segments have more, symbols at the end of the list may be left out, without a report
 * @param stream        as for softqam_cuda_demodulate()
 * @return as softqam_cuda_demodulate(); SOFTQAM_ERROR_INVALID_ARGUMENT also if d_segments or d_n_segments is NULL or
 *         misaligned; SOFTQAM_ERROR_CUDA also if max_symbols needs a larger grid than CUDA has
 */
SOFTQAM_API softqam_status softqam_cuda_demodulate_device_segments(const softqam_demodulator *demodulator,
                                                                   const softqam_segment *d_segments,
                                                                   const unsigned *d_n_segments, unsigned max_segments,
                                                                   size_t max_symbols, cudaStream_t stream);

/** A codeword as the device functions of softqam_device.cuh know it. Plain data, to be copied to where a kernel reads
 * it; valid on the device that was current when it was made, for as long as the library is loaded. */
typedef struct softqam_device_codeword {
    uint64_t words[26]; /**< no program reads or changes these */
} softqam_device_codeword;

/**
 * Makes the description of a codeword for the device functions of softqam_device.cuh. They do what
 * softqam_cuda_demodulate_segments() does with a segment of all the codeword's symbols.
 *
 * @param description  receives it
 * @param demodulator  output format, llr_scale, llr_limit, sign, noise_floor; one whose context is
 *                     SOFTQAM_BACKEND_CUDA. Its input format and input_scale do not matter
 * @param segment      modulation, n_layers, noise_form, llr_scale, descramble, c_init, scrambling_offset, and the
 *                     codeword with n_cb > 0. Leave the others 0: the kernel has symbols, noise values, gains and cross
 *                     gains in registers
 * @return SOFTQAM_OK; SOFTQAM_ERROR_INVALID_ARGUMENT also for what device functions do not do: u8, pi/2-BPSK, a segment
 *         without soft buffers, repetition (a code block with more LLRs than positions), statistics;
 *         SOFTQAM_ERROR_BACKEND_UNAVAILABLE, SOFTQAM_ERROR_CUDA
 */
SOFTQAM_API softqam_status softqam_device_codeword_init(softqam_device_codeword *description,
                                                        const softqam_demodulator *demodulator,
                                                        const softqam_segment *segment);

#ifdef __cplusplus
}
#endif

#endif
