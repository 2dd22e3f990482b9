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
 * The call's device is the context's. Of a context with several it is the one that is current in the calling thread,
 * and the first where none of them is. A program that makes only such calls has no threads of the library's, no pinned
 * memory and no device memory beside the kernels.
 *
 * @param demodulator  one whose context is not SOFTQAM_BACKEND_CPU
 * @param d_symbols    n_symbols symbols in the input format, in memory that the call's device reaches (its own, a
 *                     peer's, managed or mapped host memory), aligned to the size of a symbol; 16 bytes are fastest
 * @param d_noise_var  the noise in such memory: one value, or n_symbols values, as config.noise says; aligned to 4
 *                     bytes; read by the kernel, not during the call. For SOFTQAM_OUTPUT_U8 NULL and nothing else
 * @param n_symbols    any number; 0 enqueues nothing, and then the pointers may be NULL
 * @param d_out        receives softqam_output_nbytes() bytes, those of softqam_demodulate(), in such memory; aligned to
 *                     the size of a value; 16 bytes are fastest; must not overlap the inputs
 * @param stream       a stream of the call's device, 0 for its default stream
 *
 * Formats, sign, special values and erasures are those of softqam_demodulate(). Allocates nothing, synchronises
 * nothing, and can be captured in a CUDA graph once softqam_context_prepare() has made the kernels ready. The memory
 * must stay valid until the stream has passed the kernel; the demodulator may be destroyed before that. The device
 * current in the calling thread is left as it was.
 *
 * @return SOFTQAM_OK: enqueued, and errors of the execution itself appear in the caller's next synchronisation;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  a pointer is NULL that must not be, or misaligned; d_noise_var is given where
 *         none is taken; d_out overlaps an input; or a byte count is over PTRDIFF_MAX. Nothing was enqueued;
 *         SOFTQAM_ERROR_BACKEND_UNAVAILABLE  the context has no usable CUDA device, or this build has no code for it;
 *         SOFTQAM_ERROR_CUDA, SOFTQAM_ERROR_OUT_OF_MEMORY  a CUDA call failed, the latter for lack of memory.
 *
 * Thread safety: any thread, any number at once, on one demodulator too.
 */
SOFTQAM_API softqam_status softqam_cuda_demodulate(softqam_demodulator *demodulator, const void *d_symbols,
                                                   const float *d_noise_var, size_t n_symbols, void *d_out,
                                                   cudaStream_t stream);

/**
 * Demodulates many segments in device memory. Call softqam_cuda_demodulate_segments() instead, which passes the size.
 *
 * @param demodulator     as for softqam_cuda_demodulate()
 * @param segments        n_segments segments in host memory, segment_nbytes bytes apart
 * @param n_segments      any number; 0 enqueues nothing
 * @param segment_nbytes  sizeof(softqam_segment) where the caller was compiled
 * @param stream          as for softqam_cuda_demodulate()
 *
 * @return as softqam_cuda_demodulate_segments(), and SOFTQAM_ERROR_INVALID_ARGUMENT too for a size that no version has.
 *
 * Thread safety: as softqam_cuda_demodulate().
 */
SOFTQAM_API softqam_status softqam_cuda_demodulate_segments_nbytes(softqam_demodulator *demodulator,
                                                                   const softqam_segment *segments, size_t n_segments,
                                                                   size_t segment_nbytes, cudaStream_t stream);

/**
 * Demodulates many segments in device memory, in the caller's stream: softqam_demodulate_segments() for device
 * pointers. Enqueues one kernel for as many segments as the driver lets a kernel take as arguments, and returns.
 *
 * @param demodulator  as for softqam_cuda_demodulate()
 * @param segments     n_segments segments, an array in host memory, read during the call only; the pointers in it are
 *                     to device memory, aligned as for softqam_cuda_demodulate(), planes to a component
 * @param n_segments   any number; 0 enqueues nothing
 * @param stream       a stream of the call's device, which is chosen as by softqam_cuda_demodulate(); 0 for its default
 *                     stream
 *
 * Can be captured in a CUDA graph as softqam_cuda_demodulate() can; allocates and synchronises nothing.
 *
 * @return as softqam_cuda_demodulate(), and SOFTQAM_ERROR_INVALID_ARGUMENT too where `segments` is NULL and n_segments
 *         is not 0. After SOFTQAM_ERROR_CUDA the first of several kernels may have been enqueued.
 *
 * Thread safety: as softqam_cuda_demodulate().
 */
static inline softqam_status softqam_cuda_demodulate_segments(softqam_demodulator *demodulator,
                                                              const softqam_segment *segments, size_t n_segments,
                                                              cudaStream_t stream)
{
    return softqam_cuda_demodulate_segments_nbytes(demodulator, segments, n_segments, sizeof(softqam_segment), stream);
}

/**
 * Demodulates segments whose descriptors lie in device memory. Call softqam_cuda_demodulate_device_segments() instead,
 * which passes the size.
 *
 * @param demodulator     as for softqam_cuda_demodulate()
 * @param d_segments      as for softqam_cuda_demodulate_device_segments(), as are the next three
 * @param d_n_segments    how many there are
 * @param max_segments    the most there will be
 * @param max_symbols     the most symbols that they will have together
 * @param segment_nbytes  sizeof(softqam_segment) where the caller was compiled: the library's own
 * @param stream          as for softqam_cuda_demodulate()
 *
 * @return as softqam_cuda_demodulate_device_segments().
 *
 * Thread safety: as softqam_cuda_demodulate().
 */
SOFTQAM_API softqam_status softqam_cuda_demodulate_device_segments_nbytes(softqam_demodulator *demodulator,
                                                                          const softqam_segment *d_segments,
                                                                          const unsigned *d_n_segments,
                                                                          unsigned max_segments, size_t max_symbols,
                                                                          size_t segment_nbytes, cudaStream_t stream);

/**
 * Demodulates segments whose descriptors the kernel reads when it runs: a graph that is captured once serves every
 * slot, whatever its segments' number, sizes, modulations, layers, pointers, noise and scrambling are then. Enqueues
 * one kernel and returns.
 *
 * @param demodulator   as for softqam_cuda_demodulate()
 * @param d_segments    descriptors as for softqam_cuda_demodulate_segments(), in memory that the call's device reaches,
 *                      aligned to 8 bytes: written by an earlier kernel or copy of the stream, or by the host before
 *                      the graph is launched. All fields that are not named must be 0, as on the host. There is room
 *                      for max_segments; what lies behind the last one may be anything
 * @param d_n_segments  how many there are, likewise; what is over max_segments is left out
 * @param max_segments  the most there will be; 0 enqueues nothing
 * @param max_symbols   the most symbols that all segments will have together; 0 enqueues nothing. The kernel is made
 *                      as large as this: symbols beyond it may be left out, those of the last segments first
 * @param stream        as for softqam_cuda_demodulate()
 *
 * Nothing on the host can check these descriptors. A wrong pointer, stride or alignment is what it is in any kernel. A
 * segment whose modulation is none, or not for the output format, is left out; more than SOFTQAM_MAX_LAYERS layers
 * count as SOFTQAM_MAX_LAYERS; with u8 `descramble` is ignored, and layers and planes must not be set. Never are more
 * symbols demodulated than the segments have, nor much more than max_symbols, nor more than 2^31 of one segment.
 *
 * @return SOFTQAM_OK: enqueued;
 *         SOFTQAM_ERROR_INVALID_ARGUMENT  a pointer is NULL or misaligned, or the structure's size is another one;
 *         SOFTQAM_ERROR_BACKEND_UNAVAILABLE, SOFTQAM_ERROR_CUDA, SOFTQAM_ERROR_OUT_OF_MEMORY  as for
 *         softqam_cuda_demodulate().
 *
 * Thread safety: as softqam_cuda_demodulate().
 */
static inline softqam_status softqam_cuda_demodulate_device_segments(softqam_demodulator *demodulator,
                                                                     const softqam_segment *d_segments,
                                                                     const unsigned *d_n_segments,
                                                                     unsigned max_segments, size_t max_symbols,
                                                                     cudaStream_t stream)
{
    return softqam_cuda_demodulate_device_segments_nbytes(demodulator, d_segments, d_n_segments, max_segments,
                                                          max_symbols, sizeof(softqam_segment), stream);
}

#ifdef __cplusplus
}
#endif

#endif
