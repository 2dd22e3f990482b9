/* SPDX-License-Identifier: MIT */
/* Which of two backends is faster for a call, found out by trying. */
#ifndef SOFTQAM_CROSSOVER_H
#define SOFTQAM_CROSSOVER_H

#include "backend.h"

/* Sizes that are tried: 2^12, 2^14 .. 2^20 symbols. The largest is more than one chunk for each stream. */
enum { CROSSOVER_SIZES = 5 };

/* By how many seconds the CPU is ahead of the GPU in calls of those sizes; between them, and beyond, along straight
 * lines. */
typedef struct softqam_crossover_line {
    double lead[CROSSOVER_SIZES];
    int n_known;        /* sizes tried; 0: the GPU is never faster */
    double gpu_latency; /* seconds of the smallest call */
} softqam_crossover_line;

typedef struct softqam_crossover {
    softqam_crossover_line reached; /* in memory that the GPU reaches as it lies */
    softqam_crossover_line staged;  /* in any other */
    size_t smallest;                /* calls of fewer symbols are the CPU's, wherever they lie */
} softqam_crossover;

/* A backend at work for one demodulator. */
typedef struct softqam_engine {
    const softqam_backend_ops *ops; /* NULL: not in use */
    void *state;
} softqam_engine;

/* Times both engines on the plan's formats, which takes some milliseconds the first time; a process remembers the
 * result for each configuration. Where the GPU could not be tried it counts as slower. `config` is complete. */
softqam_crossover softqam_crossover_find(const softqam_plan *plan, const softqam_config *config,
                                         const softqam_engine *cpu, const softqam_engine *gpu);

/* Whether the GPU is expected to be faster for a call of n symbols. */
bool softqam_crossover_is_gpu_faster(const softqam_crossover_line *line, size_t n);

#endif
