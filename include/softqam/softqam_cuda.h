/* SPDX-License-Identifier: MIT */
/**
 * @file softqam_cuda.h
 * Calls on device memory.
 *
 * A call enqueues kernels in the caller's stream, on the demodulator's GPU, and returns; the current device does not
 * matter. After SOFTQAM_PREPARE_KERNELS a call neither allocates nor synchronises, and can be captured in a CUDA graph.
 * Failures of kernels appear in the caller's next synchronisation.
 *
 * Pointers named d_.., and those in segments, are to memory that the device reaches: its own, a peer's, managed or
 * mapped host memory. Symbols are aligned to a symbol, separate I and Q to a component, values to a value, floats to 4
 * bytes; 16 bytes is fastest. The memory must be valid until the kernel has run, in a graph at each launch; demodulator
 * and context may be destroyed once the call has returned.
 *
 * From compute capability 9.0 on, launches are programmatic dependent: a following kernel that is launched so, too,
 * must call cudaGridDependencySynchronize() before it reads outputs or writes inputs.
 */
#ifndef SOFTQAM_SOFTQAM_CUDA_H
#define SOFTQAM_SOFTQAM_CUDA_H

#include <cuda_runtime_api.h>
#include <softqam/softqam.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Demodulates symbols with the demodulator's modulation, by one kernel.
 * @param demodulator  the demodulator
 * @param d_symbols    n_symbols symbols in the input format
 * @param d_noise_var  noise values, as config.noise says; NULL for u8
 * @param n_symbols    any number
 * @param d_out        receives softqam_output_nbytes() bytes
 * @param stream       a stream of the demodulator's GPU; 0: the legacy default stream
 * @return a status
 */
SOFTQAM_API softqam_status softqam_cuda_demodulate(const softqam_demodulator *demodulator, const void *d_symbols,
                                                   const float *d_noise_var, size_t n_symbols, void *d_out,
                                                   cudaStream_t stream);

/**
 * Demodulates segments, several by a kernel.
 * @param demodulator  the demodulator
 * @param segments     n_segments segments in host memory, read during the call only. codeword.block_buffers is an array
 *                     in device memory, which nobody checks
 * @param n_segments   any number
 * @param stream       as for softqam_cuda_demodulate()
 * @return as softqam_demodulate_segments(). After a failure some of several kernels may be enqueued
 */
SOFTQAM_API softqam_status softqam_cuda_demodulate_segments(const softqam_demodulator *demodulator,
                                                            const softqam_segment *segments, size_t n_segments,
                                                            cudaStream_t stream);

/**
 * Demodulates segments whose descriptors the kernel reads when it runs, so that one captured graph serves every slot.
 *
 * Nobody checks descriptors: invalid pointers, strides and alignments are undefined behaviour. A segment whose
 * modulation does not suit the output format is left out, as are symbols beyond a codeword's end and a segment's
 * symbols after the first 2^31.
 *
 * @param demodulator   the demodulator
 * @param d_segments    the descriptors, not NULL, aligned to 8 bytes, written by earlier work of the stream, or by the
 *                      host before the graph is launched
 * @param d_n_segments  the number of segments, not NULL; those from index max_segments on are ignored
 * @param max_segments  largest number of segments
 * @param max_symbols   an estimate of all segments' symbols together, for speed alone; with 0 nothing is enqueued
 * @param stream        as for softqam_cuda_demodulate()
 * @return a status
 */
SOFTQAM_API softqam_status softqam_cuda_demodulate_device_segments(const softqam_demodulator *demodulator,
                                                                   const softqam_segment *d_segments,
                                                                   const unsigned *d_n_segments, unsigned max_segments,
                                                                   size_t max_symbols, cudaStream_t stream);

/** A prepared segment: plain data to copy to device memory. */
typedef struct softqam_cuda_prepared_segment {
    uint64_t words[64]; /**< private */
} softqam_cuda_prepared_segment;

/**
 * Prepares segments on the host for softqam_cuda_demodulate_prepared_segments().
 * @param demodulator  the demodulator
 * @param segments     as for softqam_cuda_demodulate_segments()
 * @param n_segments   any number
 * @param prepared     receives n_segments prepared segments, in host memory. They must stay together and in order. The
 *                     first n of them are valid for any n; those of two calls cannot be joined
 * @return as softqam_cuda_demodulate_segments()
 */
SOFTQAM_API softqam_status softqam_cuda_prepare_segments(const softqam_demodulator *demodulator,
                                                         const softqam_segment *segments, size_t n_segments,
                                                         softqam_cuda_prepared_segment *prepared);

/**
 * Demodulates prepared segments by one kernel.
 *
 * The kernel reads them and their number before it waits for the kernel before it, so a kernel that may still be
 * running must not write them.
 *
 * @param demodulator   the one that prepared them
 * @param d_prepared    prepared segments, with room for max_segments, not NULL, aligned to 8 bytes
 * @param d_n_segments  as for softqam_cuda_demodulate_device_segments()
 * @param max_segments  largest number of segments; 1 is fastest
 * @param max_symbols   as for softqam_cuda_demodulate_device_segments()
 * @param stream        as for softqam_cuda_demodulate()
 * @return a status
 */
SOFTQAM_API softqam_status softqam_cuda_demodulate_prepared_segments(const softqam_demodulator *demodulator,
                                                                     const softqam_cuda_prepared_segment *d_prepared,
                                                                     const unsigned *d_n_segments,
                                                                     unsigned max_segments, size_t max_symbols,
                                                                     cudaStream_t stream);

/** The description of a codeword for softqam_device.cuh: plain data, valid on the context's device while the library is
 * loaded. */
typedef struct softqam_device_codeword {
    uint64_t words[26]; /**< private */
} softqam_device_codeword;

/**
 * Makes the description of a codeword.
 * @param description  receives it
 * @param demodulator  gives output format, llr_limit, sign, noise_floor and the segment's defaults
 * @param segment      as for softqam_cuda_demodulate_segments(), with n_cb > 0, without statistics. Inputs, input_scale
 *                     and first_symbol are ignored
 * @return SOFTQAM_ERROR_INVALID_ARGUMENT also for what device functions lack: u8, pi/2-BPSK, repetition
 */
SOFTQAM_API softqam_status softqam_device_codeword_init(softqam_device_codeword *description,
                                                        const softqam_demodulator *demodulator,
                                                        const softqam_segment *segment);

#ifdef __cplusplus
}
#endif

#endif
