/* SPDX-License-Identifier: MIT */
/* The launcher: collects segments in device memory, and launches the kernel that suits them. */
#ifndef SOFTQAM_LAUNCH_H
#define SOFTQAM_LAUNCH_H

#include <softqam/softqam_cuda.h>

#include "kernels.h"

/* Segments collected for a launch: softqam_launch_begin(), any number of softqam_launch_add(), softqam_launch_flush().
 */
typedef struct softqam_launch {
    const softqam_params *params;
    cudaStream_t stream;
    unsigned n_segments;
    bool has_statistics; /* some segment is counted */
    softqam_resolved_segment segments[MAX_SEGMENTS];
    softqam_code_block_parts parts[MAX_SEGMENTS]; /* for segments with soft buffers */
    softqam_extras extras[MAX_SEGMENTS];
} softqam_launch;

/* Starts to collect for a stream of the current device. Params and launch must outlive the flush. */
void softqam_launch_begin(softqam_launch *launch, const softqam_params *params, cudaStream_t stream);

/* Adds a segment in device memory; `extras` may be NULL if no layers are demapped jointly and nothing is counted. If
 * the launch is full, launches first what it has. */
softqam_status softqam_launch_add(softqam_launch *launch, const softqam_resolved_segment *segment,
                                  const softqam_extras *extras);

/* Launches what has been collected since softqam_launch_begin() or the last launch. */
softqam_status softqam_launch_flush(softqam_launch *launch);

/* Prepares checked segments. */
softqam_status softqam_launch_prepare(const softqam_params *params, const softqam_segment *segments, size_t n,
                                      softqam_cuda_prepared_segment *prepared);

/* Segments that lie in device memory, as does their number. */
typedef struct softqam_memory_segments {
    const softqam_cuda_prepared_segment *prepared; /* NULL: `descriptors` has the segments */
    const softqam_segment *descriptors;
    const unsigned *n_present;
    unsigned max_segments;
    size_t max_symbols; /* about as many as there are */
} softqam_memory_segments;

/* Launches the kernel for such segments. */
softqam_status softqam_launch_memory(const softqam_params *params, const softqam_memory_segments *segments,
                                     cudaStream_t stream);

/* Returns the limits of a demodulator's LLRs, as kernels need them. */
softqam_llr_limit softqam_llr_limit_of(const softqam_params *params);

#endif
