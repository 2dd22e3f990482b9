/* SPDX-License-Identifier: MIT */
/* From how many symbols on a GPU is faster than the CPU, by trying: for SOFTQAM_BACKEND_AUTO. */
#ifndef SOFTQAM_CROSSOVER_H
#define SOFTQAM_CROSSOVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <softqam/softqam.h>

#include "gpu.h"

/* Sizes that are tried, in steps of four: 2^12 to 2^20 symbols. */
enum { CROSSOVER_SIZES = 5 };

/* What was measured for one kind of memory. */
typedef struct softqam_crossover_line {
    int n_known;                  /* sizes that were tried; 0: the CPU is always the faster one */
    double lead[CROSSOVER_SIZES]; /* GPU seconds less CPU seconds at each size */
    double gpu_latency;           /* seconds of the GPU's smallest call */
} softqam_crossover_line;

/* For one pair of formats. */
typedef struct softqam_crossover {
    atomic_bool known;
    softqam_crossover_line reached; /* memory that the GPU reaches as it lies */
    softqam_crossover_line staged;  /* other memory */
    size_t smallest;                /* no smaller call is faster on the GPU */
} softqam_crossover;

/* Times both on a demodulator's formats, some tens of milliseconds. Where the GPU could not be tried it counts as
 * slower. */
void softqam_crossover_measure(softqam_crossover *found, const softqam_demodulator *demodulator, softqam_gpu *gpu);

/* Whether the GPU is expected to be faster for a call of n symbols. */
bool softqam_crossover_is_gpu_faster(const softqam_crossover_line *line, size_t n);

#endif
