/* SPDX-License-Identifier: MIT */
/* What test_variants.c and measure_variants.c share: the inner loops that this machine runs, plans for them, buffers
 * for their data, and a comparison to the last bit. */
#ifndef SOFTQAM_TESTS_VARIANTS_FIXTURE_H
#define SOFTQAM_TESTS_VARIANTS_FIXTURE_H

#include "config.h"
#include "cpu_variant.h"
#include "harness.h"

enum { N_INPUT_FORMATS = 4, N_OUTPUT_FORMATS = 4, N_NOISES = 2, MAX_IN_NBYTES = 8, MAX_OUT_NBYTES = 32 };

/* A loop that is compared with the portable one. */
typedef struct variants_loop {
    const char *variant;
    const char *stores;
    softqam_cpu_loop *run;
} variants_loop;

enum { VARIANTS_MAX_LOOPS = 16 };

/* All that run here: each variant's two. Returns how many. */
size_t variants_list(variants_loop loops[VARIANTS_MAX_LOOPS]);

softqam_plan variants_plan(const softqam_config *from);
/* The default plan of formats, and of one noise variance (0) or one a symbol (1). */
softqam_plan variants_plan_of(int input, int output, int noise);

/* Symbols in memory of malloc, their noise variances, and room for what comes out, of the widest formats. */
typedef struct variants_data {
    uint8_t *symbols;
    float *noise_var;
    uint8_t *expected;
    uint8_t *got;
    size_t n_symbols;
} variants_data;

variants_data variants_open_data(size_t n_symbols);
void variants_close_data(variants_data *self);

/* Fails the test where a byte differs. */
void variants_compare(const variants_loop *loop, const softqam_plan *plan, const uint8_t *symbols,
                      const uint8_t *expected, const uint8_t *got, size_t n_symbols);

#endif
