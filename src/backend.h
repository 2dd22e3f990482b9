/* SPDX-License-Identifier: MIT */
/* What a backend is to the API: a table of functions. */
#ifndef SOFTQAM_BACKEND_H
#define SOFTQAM_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include <softqam/softqam.h>

#include "plan.h"
#include "thread_pool.h"

typedef struct softqam_backend_ops {
    const char *name;

    /* Makes the backend's state for a plan. `config` is complete (no field stands for a default, except device -1);
     * plan and pool outlive the state. *state is NULL on failure. */
    softqam_status (*create)(void **state, const softqam_plan *plan, const softqam_config *config, softqam_pool *pool);

    /* softqam_demodulate_batch() with its arguments checked and at least one symbol; one call at a time. *n_done
     * receives how many symbols from the first on are complete: all, or fewer after an error. */
    softqam_status (*demodulate)(void *state, const softqam_block *blocks, size_t n_blocks, size_t *n_done);

    /* Whether the backend reaches the blocks' memory at its full speed. NULL: it always does. */
    softqam_status (*reaches)(void *state, const softqam_block *blocks, size_t n_blocks, bool *reached);

    /* Host memory that this backend reaches fastest, and its end, which needs no state. */
    softqam_status (*host_alloc)(void *state, size_t nbytes, void **memory);
    void (*host_free)(void *memory);

    /* One line on what runs, which lives as long as the state. */
    const char *(*detail)(const void *state);

    /* NULL is ignored. */
    void (*destroy)(void *state);
} softqam_backend_ops;

extern const softqam_backend_ops softqam_backend_cpu;

/* In a build without CUDA its create says that it is unavailable. */
extern const softqam_backend_ops softqam_backend_cuda;

#endif
