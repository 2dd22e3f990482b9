/* SPDX-License-Identifier: MIT */
/* The parts of softqam-bench. Each measures its limits and the work, and verifies bytes: before, or those that were
 * measured. */
#ifndef SOFTQAM_TOOLS_BENCH_SECTIONS_H
#define SOFTQAM_TOOLS_BENCH_SECTIONS_H

#include <softqam/softqam.h>

#include "report.h"

/* One 5G slot: 273 resource blocks of 12 subcarriers, 14 OFDM symbols, one layer. */
enum { SLOT_SYMBOLS = 273 * 12 * 14 };

/* What is measured on. */
struct bench_input {
    float *symbols; /* cf32, at 28 dB */
    size_t n_symbols;
    unsigned char *expected; /* their soft bits by the CPU backend */
};

/* The sections, bits of bench_options.sections: the CPU's, then those of CUDA; BENCH_OBJECTS is of both. */
enum {
    BENCH_VARIANTS,
    BENCH_WORST,
    BENCH_FORMATS,
    BENCH_THREADS,
    BENCH_SIZES,
    BENCH_OVERHEAD,
    BENCH_OBJECTS,
    BENCH_DEVICE,
    BENCH_GRAPH,
    BENCH_HOST,
    BENCH_STREAMS,
    BENCH_CHOICE,
    BENCH_DEVICES,
    N_BENCH_SECTIONS
};
enum {
    BENCH_OF_ALL = (1 << N_BENCH_SECTIONS) - 1,
    BENCH_OF_CPU = (1 << BENCH_DEVICE) - 1,
    BENCH_OF_CUDA = BENCH_OF_ALL & ~((1 << BENCH_OBJECTS) - 1)
};

struct bench_options {
    unsigned sections;
    size_t n_largest;        /* symbols, of the curve over sizes */
    size_t n_device_symbols; /* symbols of the runs on device memory */
};

/* The CPU backend from host memory. */
void bench_cpu(struct report *report, const struct bench_input *input, const struct bench_options *options);

/* Symbols with noise, the same ones in every format. */
void bench_fill(void *symbols, size_t n_symbols, double snr_db, softqam_input_format format, float scale);

/* The CUDA backend: host to host, and in a build with CUDA on device memory. Says so and measures nothing where there
 * is no usable device. */
void bench_cuda(struct report *report, const struct bench_input *input, const struct bench_options *options);

#endif
