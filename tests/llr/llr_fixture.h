/* SPDX-License-Identifier: MIT */
/* What the tests of LLRs share: inputs of symbols with a noise variance for each, what a demodulator makes of them, an
 * LLR of any format as a number, and contexts of all variants. */
#ifndef SOFTQAM_TESTS_LLR_FIXTURE_H
#define SOFTQAM_TESTS_LLR_FIXTURE_H

#include "harness.h"
#include "nr_symbol.h"

typedef struct llr_input {
    float *symbols;
    float *noise_var;
    size_t n_symbols;
} llr_input;

llr_input llr_open_input(size_t n_symbols);
/* Some of every set of symbols. */
llr_input llr_open_mixture(uint32_t stream, harness_noise noise, size_t n_symbols);
void llr_close_input(llr_input *self);

const nr_constellation *llr_constellation(softqam_modulation modulation);

/* LLR i, counted in values. */
double llr_at(softqam_output_format format, const uint8_t *out, size_t i);

/* Contexts of all that is to be compared: on the CPU every variant of the loops that runs here, unless
 * SOFTQAM_CPU_VARIANT says which; else the backend under test, in chunks of so many symbols, 0 for its default. */
enum { LLR_MAX_CONTEXTS = 4 };

typedef struct llr_contexts {
    size_t n;
    const char *names[LLR_MAX_CONTEXTS];
    softqam_context *items[LLR_MAX_CONTEXTS];
} llr_contexts;

llr_contexts llr_open_contexts(unsigned n_threads, size_t chunk_symbols);
void llr_close_contexts(llr_contexts *self);

#endif
