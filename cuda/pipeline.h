/* SPDX-License-Identifier: MIT */
/* Host memory to host memory through one or several devices: chunks go through slots, each with a stream of its own. */
#ifndef SOFTQAM_PIPELINE_H
#define SOFTQAM_PIPELINE_H

#include <stdbool.h>

#include "kernels.h"
#include "thread_pool.h"

typedef struct softqam_pipeline softqam_pipeline;

/* All memory and all streams are allocated here. Plan, pool and list of devices outlive the pipeline. This and the
 * calls below change the calling thread's current device. */
softqam_status softqam_pipeline_create(softqam_pipeline **pipeline, const softqam_plan *plan, softqam_pool *pool,
                                       const int *devices, unsigned n_devices, unsigned n_streams,
                                       size_t chunk_symbols);

/* Demodulates blocks with at least one symbol. When it returns, with or without an error, nothing reads or writes the
 * caller's memory any more. *n_done receives how many symbols from the first on are complete, all but after an error.
 */
softqam_status softqam_pipeline_run(softqam_pipeline *pipeline, const softqam_block *blocks, size_t n_blocks,
                                    size_t *n_done);

/* Whether the devices reach the blocks' memory as it lies, without staging; device memory is refused. */
softqam_status softqam_pipeline_reaches(softqam_pipeline *pipeline, const softqam_block *blocks, size_t n_blocks,
                                        bool *reached);

/* NULL is ignored. */
void softqam_pipeline_destroy(softqam_pipeline *pipeline);

#endif
