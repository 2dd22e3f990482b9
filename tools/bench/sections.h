/* SPDX-License-Identifier: MIT */
/* The parts of softqam-bench. Each measures its limits and the work, and verifies bytes: before, or those that were
 * measured. */
#ifndef SOFTQAM_TOOLS_BENCH_SECTIONS_H
#define SOFTQAM_TOOLS_BENCH_SECTIONS_H

#include <stdint.h>

#include <softqam/softqam.h>

#include "report.h"

/* Bits of bench_options.sections. */
enum {
    BENCH_VARIANTS,
    BENCH_MODULATIONS,
    BENCH_SLOW,
    BENCH_FORMATS,
    BENCH_THREADS,
    BENCH_SIZES,
    BENCH_CALLS,
    BENCH_OBJECTS,
    BENCH_DEVICE,
    BENCH_GRAPH,
    BENCH_SEGMENTS,
    BENCH_CHAIN,
    BENCH_HOST,
    BENCH_STREAMS,
    BENCH_CHOICE,
    BENCH_DEVICES,
    N_BENCH_SECTIONS
};
enum {
    BENCH_OF_ALL = (1 << N_BENCH_SECTIONS) - 1,
    BENCH_OF_CPU = (1 << BENCH_DEVICE) - 1,
    BENCH_OF_CUDA = (BENCH_OF_ALL & ~BENCH_OF_CPU) | 1 << BENCH_MODULATIONS | 1 << BENCH_SLOW | 1 << BENCH_CALLS |
                    1 << BENCH_OBJECTS,
    /* What `modulation` changes; all else is 256QAM's. */
    BENCH_OF_MODULATION = 1 << BENCH_VARIANTS | 1 << BENCH_SLOW | 1 << BENCH_FORMATS | 1 << BENCH_THREADS |
                          1 << BENCH_SIZES | 1 << BENCH_CALLS | 1 << BENCH_DEVICE | 1 << BENCH_GRAPH |
                          1 << BENCH_SEGMENTS | 1 << BENCH_CHAIN
};

struct bench_options {
    unsigned sections;
    softqam_modulation modulation;
    uint64_t n_symbols;        /* of the large CPU runs */
    uint64_t n_largest;        /* of the curve over sizes, and at least n_symbols of CUDA's runs from host memory */
    uint64_t n_device_symbols; /* of the runs on device memory */
};

/* The CPU backend from host memory. */
void bench_cpu(struct report *report, const struct bench_options *options);

/* The CUDA backend: host to host, 256QAM, and in a build with CUDA on device memory. Says so and measures nothing where
 * there is no usable device. */
void bench_cuda(struct report *report, const struct bench_options *options);

#endif
