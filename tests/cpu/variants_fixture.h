/* SPDX-License-Identifier: MIT */
/* What the tests of the CPU's inner loops share: the variants that this machine runs, called
 * directly or through the API, parameters for them, buffers for their data, and a comparison to the last bit. */
#ifndef SOFTQAM_TESTS_VARIANTS_FIXTURE_H
#define SOFTQAM_TESTS_VARIANTS_FIXTURE_H

#include "config.h"
#include "cpu/variant.h"
#include "harness.h"

_Static_assert(HARNESS_N_MODULATIONS == N_MODULATIONS && HARNESS_N_INPUT_FORMATS == N_INPUT_FORMATS &&
                   HARNESS_N_OUTPUT_FORMATS == N_OUTPUT_FORMATS,
               "harness.h counts as formats.h does");

/* Streams of random numbers: one a test, so that a test gives the same alone as among the others. */
enum {
    STREAM_INTEGERS = 1,
    STREAM_LARGE,
    STREAM_COPY,
    STREAM_ZEROS,
    STREAM_FAR,
    STREAM_GAIN_RANGE,
};

enum { MAX_OUT_NBYTES = MAX_SYMBOL_BITS * sizeof(float), VARIANTS_MAX = 8 };

/* Those that run here, but for the portable one. Returns how many. */
size_t variants_list(const softqam_cpu_variant *variants[VARIANTS_MAX]);

/* What a loop is called with. */
typedef struct variants_call {
    softqam_params params;
    softqam_noise_kind noise; /* of LLRs */
    const float *gains;       /* with noise that has gains; NULL: some */
    size_t nbytes;            /* of a symbol's values */
} variants_call;

variants_call variants_call_of(const softqam_demodulator_config *config, softqam_noise_kind noise);
/* The same with the defaults for a modulation and an output format. */
variants_call variants_default_call(softqam_modulation modulation, softqam_output_format output,
                                    softqam_noise_kind noise);

/* One of these: soft bits; LLRs of 256QAM by format and kind of noise; those of the others by format, with each kind in
 * turn. */
enum {
    N_KINDS = HARNESS_N_LLR_FORMATS * SOFTQAM_NOISE_KINDS,
    N_OTHERS = (N_MODULATIONS - 1) * HARNESS_N_LLR_FORMATS,
    VARIANTS_CALLS = 1 + N_KINDS + N_OTHERS
};
variants_call variants_call_at(int k);

typedef enum variants_way {
    VARIANTS_PLAIN,
    VARIANTS_FLUSHED, /* as the library does it: with subnormal numbers as zeros, where the variant wants that */
    N_VARIANTS_WAYS
} variants_way;

/* The values of n symbols by a variant's loop: `noise` is a value a symbol, or one, of which the weight is made. At
 * least variant->min_symbols of them. */
void variants_run(const softqam_cpu_variant *variant, variants_way way, const variants_call *call,
                  const float *components, const float *noise, size_t n, void *out);

/* Symbols in memory of malloc, their noise values, and room for what comes out, of the widest format, aligned to
 * lines. */
typedef struct variants_data {
    float *components;
    float *noise;
    uint8_t *expected;
    uint8_t *got;
    size_t n_symbols;
} variants_data;

variants_data variants_open_data(size_t n_symbols);
void variants_close_data(variants_data *self);

/* Prints what differs, and returns false, where a byte does. Any thread. */
bool variants_equal(const char *what, const variants_call *call, const float *components, const uint8_t *expected,
                    const uint8_t *got, size_t n_symbols);

/* A demodulator for LLRs with a noise value for each symbol, or soft bits, on a variant, through the API. */
softqam_demodulator *variants_create(const softqam_cpu_variant *variant, softqam_modulation modulation,
                                     softqam_input_format input, softqam_output_format output, unsigned n_threads);

#endif
