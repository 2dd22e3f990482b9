/* SPDX-License-Identifier: MIT */
/* The parts of softqam-bench. Each measures its limits and the work, and verifies bytes: before, or those that were
 * measured. */
#ifndef SOFTQAM_TOOLS_BENCH_SECTIONS_H
#define SOFTQAM_TOOLS_BENCH_SECTIONS_H

#include <stdint.h>

#include <softqam/softqam.h>

#include "report.h"

/* Bits of bench_options.sections; the first ones are what a receiver has. */
enum bench_section {
    BENCH_FADING,
    BENCH_LAYERS,
    BENCH_CALLS,
    BENCH_BUFFERS,
    BENCH_IN_CHAIN,
    BENCH_ERASURES,
    BENCH_FORMATS,
    BENCH_HOST,
    BENCH_CHOICE,
    N_BENCH_SECTIONS
};
enum {
    BENCH_OF_ALL = (1 << N_BENCH_SECTIONS) - 1,
    BENCH_OF_RECEIVERS = (1 << BENCH_FORMATS) - 1,
    BENCH_OF_CPU = ((1 << BENCH_HOST) - 1) & ~(1 << BENCH_IN_CHAIN),
    BENCH_OF_CUDA = BENCH_OF_ALL
};

struct bench_options {
    unsigned sections;
    softqam_modulation modulation;
    uint64_t n_symbols;        /* of the large CPU runs */
    uint64_t n_largest;        /* of CUDA's runs from host memory, where that is more than n_symbols */
    uint64_t n_device_symbols; /* of the runs on device memory */
};

/* The CPU backend from host memory. */
void bench_cpu(struct report *report, const struct bench_options *options);

/* The CUDA backend: on device memory, and from host memory. Says so and measures nothing where there is no usable
 * device. */
void bench_cuda(struct report *report, const struct bench_options *options);

#endif
