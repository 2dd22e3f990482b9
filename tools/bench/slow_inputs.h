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

/* Whose symbols an input has. */
static inline enum slow_input slow_input_symbols(enum slow_input input)
{
    return input < N_SLOW_SYMBOLS ? input : SLOW_NONE;
}

/* Adds an input, demodulated to an output format, to what is measured in turns. */
typedef void slow_input_add(void *context, struct turns *turns, softqam_output_format output, enum slow_input input);

/* Measures all inputs in turns, to each output format that the modulation has. The table has their rates relative to
 * the usual input's, beside their goals. */
void slow_input_measure(struct report *report, const char *title, softqam_modulation modulation, slow_input_add *add,
                        void *context);

#endif
