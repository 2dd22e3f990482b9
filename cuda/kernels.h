/* SPDX-License-Identifier: MIT */
/* The kernels' launcher, for C. */
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

/* A segment as a kernel takes it, complete: no field stands for a default. */
typedef struct softqam_kernel_segment {
    const void *symbols;
    const void *symbols_q; /* NULL: I and Q lie together */
    const float *noise;    /* NULL: noise_value, of the whole segment */
    void *out;
    size_t n_symbols;
    size_t symbol_stride;
    size_t noise_stride;
    float input_scale;
    float steps_per_nat;
    float noise_value;
    bool noise_is_inverse;
    bool is_grouped; /* its symbols lie side by side and aligned, so that a thread takes several by one access */
} softqam_kernel_segment;

/* How many segments a launch has at most: a kernel's arguments are limited to 4 KiB, and to 32,764 bytes where toolkit
 * and driver are of CUDA 12.1 or later. */
enum { FEW_SEGMENTS = 44, MANY_SEGMENTS = 400 };

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
    size_t group_nbytes; /* of the symbols that a thread takes by one access */
    unsigned capacity;
    unsigned n_segments;
    softqam_kernel_segment segments[MANY_SEGMENTS];
    unsigned first_blocks[MANY_SEGMENTS]; /* in the grid, of each segment */
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

/* Makes the kernels for a demodulator's formats ready on the current device. */
cudaError_t softqam_kernels_prepare(const softqam_params *params, unsigned capacity);

/* What a segment's symbols (or planes), and its output, must be aligned to. */
size_t softqam_kernel_input_alignment(const softqam_params *params, const softqam_segment *segment);
size_t softqam_kernel_output_alignment(const softqam_params *params, const softqam_segment *segment);

#ifdef __cplusplus
}
#endif

#endif
