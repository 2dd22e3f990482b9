/* SPDX-License-Identifier: MIT */
/* The kernels' arguments, and their launcher, for C. */
#ifndef SOFTQAM_KERNELS_H
#define SOFTQAM_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" { /* src/'s headers too are of C */
#endif

#include "params.h"
#include "segment.h"

/* A segment as a kernel takes it, complete: no field stands for a default. Begins as softqam_segment does. */
typedef struct softqam_kernel_segment {
    size_t n_symbols;
    uint64_t first_symbol;
    void *out;
    size_t plane_stride;
    size_t symbol_stride;
    size_t noise_stride;
    softqam_layer layers[SOFTQAM_MAX_LAYERS]; /* noise_var NULL: noise_value, of the whole segment */
    float input_scale;
    float steps_per_nat;
    float noise_value;
    uint32_t c_init;
    uint8_t modulation;
    uint8_t n_layers;
    uint8_t noise_is_inverse;
    uint8_t is_descrambled;
} softqam_kernel_segment;

/* From a completed segment in device memory. */
static inline void softqam_kernel_segment_make(softqam_kernel_segment *to, const softqam_params *params,
                                               const softqam_segment *segment, float noise_value)
{
    to->out = segment->out;
    to->n_symbols = segment->n_symbols;
    to->first_symbol = segment->first_symbol;
    to->plane_stride = segment->plane_stride;
    to->symbol_stride = segment->symbol_stride;
    to->noise_stride = segment->layers[0].noise_var ? segment->noise_stride : 0;
    to->input_scale = segment->input_scale;
    to->steps_per_nat = softqam_params_llr_scale(params, segment).steps_per_nat;
    to->noise_value = noise_value;
    to->c_init = segment->c_init;
    to->modulation = (uint8_t)segment->modulation;
    to->n_layers = (uint8_t)segment->n_layers;
    to->noise_is_inverse = segment->noise_form == SOFTQAM_NOISE_FORM_INVERSE;
    to->is_descrambled = segment->descramble != 0;
    for (unsigned k = 0; k < segment->n_layers; k++)
        to->layers[k] = segment->layers[k];
}

/* How many segments a launch has at most: a kernel's arguments are limited to 4 KiB, and to 32,764 bytes where toolkit
 * and driver are of CUDA 12.1 or later. */
enum { FEW_SEGMENTS = 14, MANY_SEGMENTS = 176 };

/* `driver_version` as cudaDriverGetVersion() has it. That devices before compute capability 7.0 take no more than 4 KiB
 * does not matter: the kernels need 7.2 for other reasons. */
static inline unsigned softqam_launch_capacity(int driver_version)
{
    return CUDART_VERSION >= 12010 && driver_version >= 12010 ? MANY_SEGMENTS : FEW_SEGMENTS;
}

/* Segments collected for a launch: a launcher's begin, any number of adds, and end. */
typedef struct softqam_launch {
    const softqam_params *params;
    cudaStream_t stream;
    unsigned capacity;
    unsigned n_segments;
    softqam_kernel_segment segments[MANY_SEGMENTS];
} softqam_launch;

/* The kernels for a demodulator's formats; asks nothing of CUDA. */
const softqam_kernels *softqam_kernels_choose(const softqam_params *params);

/* Starts to collect for a stream of the current device. Params and launch outlive the end. */
void softqam_launch_begin(softqam_launch *launch, const softqam_params *params, unsigned capacity, cudaStream_t stream);

/* Adds a completed segment in device memory; launches first what the launch has, if it is full. A segment of LLRs whose
 * noise_var is NULL has noise_value for all its symbols. */
cudaError_t softqam_launch_add(softqam_launch *launch, const softqam_segment *segment, float noise_value);

/* Launches what has been collected since the begin or the last launch. */
cudaError_t softqam_launch_end(softqam_launch *launch);

/* Launches for segments that lie in device memory, as does their number: at most max_segments of max_symbols symbols
 * together; what is more is left out. */
cudaError_t softqam_launch_device_segments(const softqam_params *params, const softqam_segment *segments,
                                           const unsigned *n_segments, unsigned max_segments, size_t max_symbols,
                                           cudaStream_t stream);

/* Makes the kernels for a demodulator's formats ready on the current device. */
cudaError_t softqam_kernels_prepare(const softqam_params *params, unsigned capacity);

#ifdef __cplusplus
}
#endif

#endif
