/* SPDX-License-Identifier: MIT */
/* The parts of softqam-bench. Each verifies the bytes first, measures its limits, then the work. */
#ifndef SOFTQAM_TOOLS_BENCH_SECTIONS_H
#define SOFTQAM_TOOLS_BENCH_SECTIONS_H

#include "bench_report.h"

/* One 5G slot: 273 resource blocks of 12 subcarriers, 14 OFDM symbols, one layer. */
enum { SLOT_SYMBOLS = 273 * 12 * 14 };

/* What is measured on. */
struct bench_input {
    float *symbols; /* cf32, at 28 dB */
    size_t n_symbols;
    unsigned char *expected; /* their soft bits by the CPU backend */
};

/* The CPU backend from host memory. */
void bench_cpu(struct report *report, const struct bench_input *input);

/* The CUDA backend: host to host, and in a build with CUDA on device memory. Says so and measures nothing where there
 * is no usable device. */
void bench_cuda(struct report *report, const struct bench_input *input, size_t n_device_symbols);

#endif
