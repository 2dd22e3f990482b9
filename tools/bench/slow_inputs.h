/* SPDX-License-Identifier: MIT */
/* Inputs on which shortcuts fail, after the usual one: what the section "slow" measures on CPU and GPU. */
#ifndef SOFTQAM_TOOLS_BENCH_SLOW_INPUTS_H
#define SOFTQAM_TOOLS_BENCH_SLOW_INPUTS_H

#include <stddef.h>

#include <softqam/softqam.h>

#include "report.h"

enum slow_input {
    SLOW_NONE, /* 28 dB */
    SLOW_0_DB,
    SLOW_ZEROS,
    SLOW_SUBNORMALS,
    SLOW_SMALLEST_NORMALS,
    SLOW_BOUNDARIES,
    SLOW_FAR, /* components of 2.5 to 8 */
    SLOW_1E30,
    SLOW_INFINITIES,
    SLOW_NANS,
    SLOW_A_NAN, /* one component of 61 symbols */
    N_SLOW_SYMBOLS,
    /* The usual symbols with noise variances that are not usual; soft bits have none. */
    SLOW_NOISE_SUBNORMAL = N_SLOW_SYMBOLS,
    SLOW_NOISE_INFINITE,
    SLOW_NOISE_ZERO,
    N_SLOW_INPUTS
};

extern const char *const slow_input_names[N_SLOW_INPUTS];

/* Symbols of one of the first N_SLOW_SYMBOLS inputs, cf32. */
void slow_input_fill(enum slow_input input, softqam_modulation modulation, float *symbols, size_t n_symbols);

/* A noise variance for each symbol. */
void slow_input_fill_noise(enum slow_input input, float *noise_var, size_t n_symbols);

enum { SLOW_OUTPUTS = SOFTQAM_OUTPUT_F32 + 1 };

/* How many inputs, from the first on, are measured of an output format: none of soft bits that the modulation has not.
 */
int slow_input_count(softqam_output_format output, softqam_modulation modulation);

/* Measures the first n inputs in turns. The ratios are their rates relative to the usual one's; of it, of the other
 * inputs and after a failure, NAN. */
void slow_input_measure(struct report *report, const struct contender *contenders, int n, double ratios[N_SLOW_INPUTS]);

/* The rows of all inputs beside their goals: rates relative to the usual input's, NAN where there is none. No
 * table where nothing was measured. */
void slow_input_report(struct report *report, const char *title, double ratios[SLOW_OUTPUTS][N_SLOW_INPUTS]);

#endif
