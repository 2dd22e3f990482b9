/* SPDX-License-Identifier: MIT */
/* Host memory to host memory through one device: chunks go round a ring of slots, each with a stream of its own. */
#ifndef SOFTQAM_PIPELINE_H
#define SOFTQAM_PIPELINE_H

#include "kernels.h"
#include "thread_pool.h"

typedef struct softqam_pipeline softqam_pipeline;

/* On the current device, which must be current again in each later call. All memory and all streams are allocated here.
 * plan, grid and pool outlive the pipeline. */
softqam_status softqam_pipeline_create(softqam_pipeline **pipeline, const softqam_plan *plan,
                                       const softqam_kernel_grid *grid, softqam_pool *pool, unsigned n_streams,
                                       size_t chunk_symbols);

/* Demodulates blocks with at least one symbol. When it returns, with or without an error, nothing reads or writes the
 * caller's memory any more. */
softqam_status softqam_pipeline_run(softqam_pipeline *pipeline, const softqam_block *blocks, size_t n_blocks);

/* NULL is ignored. */
void softqam_pipeline_destroy(softqam_pipeline *pipeline);

#endif
