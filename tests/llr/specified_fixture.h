/* SPDX-License-Identifier: MIT */
/* What the parts of test_llr_specified share: settings, the LLRs that reference/contract.h specifies for them, a
 * demodulator of them on every context, a comparison to the last bit; usual values, and those that are special. */
#ifndef SOFTQAM_TESTS_SPECIFIED_FIXTURE_H
#define SOFTQAM_TESTS_SPECIFIED_FIXTURE_H

#include "llr_fixture.h"

/* A test whose *state are the contexts, of type llr_contexts. */
#define TEST(name) HARNESS_TEST_WITH(name, specified_open_contexts, specified_close_contexts)
int specified_open_contexts(void **state);
int specified_close_contexts(void **state);

/* Streams of random numbers, one a test, so that a test gives the same alone as among the others. */
enum {
    STREAM_USUAL = 1,
    STREAM_MIXTURE,
    STREAM_SPECIAL,
    STREAM_SCALES,
    STREAM_TIES,
    STREAM_POSITIONS,
    STREAM_TILES,
    STREAM_BORDERS,
};

/* The loops' tile and their largest step, in symbols. */
enum { TILE = 1024, STEP = 16 };

/* What is computed: a demodulator's settings in full. */
typedef struct specified_settings {
    softqam_modulation modulation;
    softqam_output_format format;
    softqam_noise_form form;
    softqam_sign sign;
    float scale; /* 1 but for s8 */
    int limit;
    float input_scale; /* of the demodulator; symbols that are specified are scaled already */
    bool is_descrambled;
    uint32_t c_init;
} specified_settings;

/* Formats, forms and signs, each with each, and s8 at several scales. */
extern const size_t specified_n_settings;
specified_settings specified_settings_at(size_t k);
/* The first of each format and form: s8 with its default scale, f16, f32. */
specified_settings specified_plain_settings(softqam_output_format format, softqam_noise_form form);
harness_setup specified_setup(const specified_settings *of, softqam_noise noise);

/* What a symbol at this position of its codeword must give, of y = g x + n with this gain unless it is NULL; and
 * symbols from the first on. noise_stride 0: one value for all. */
void specify_symbol(const specified_settings *of, const float *symbol, float noise, const float *gain,
                    uint64_t position, uint8_t *to);
void specify(const specified_settings *of, const float *symbols, const float *noise, size_t noise_stride, size_t n,
             uint8_t *to);

/* A demodulator on every context. */
typedef struct specified_demodulators {
    specified_settings of;
    size_t n;
    size_t nbytes; /* of a symbol's LLRs */
    const char *names[LLR_MAX_CONTEXTS];
    softqam_demodulator *items[LLR_MAX_CONTEXTS];
} specified_demodulators;

specified_demodulators specified_open(const llr_contexts *on, const specified_settings *of, softqam_noise noise);
void specified_close(specified_demodulators *self);

/* What demodulator number k gave. Prints what differs, and of the first symbol that does its noise. */
void specified_compare(const specified_demodulators *self, size_t k, const char *what, const float *symbols,
                       const float *noise, size_t noise_stride, const uint8_t *expected, const uint8_t *got, size_t n);
/* A call on every context. */
void specified_check(const specified_demodulators *self, const char *what, const float *symbols, const float *noise,
                     size_t noise_stride, size_t n, const uint8_t *expected, uint8_t *got);
/* The same with a noise value for each symbol, and with demodulators and memory of its own. */
void specified_check_settings(const llr_contexts *on, const char *what, const specified_settings *of,
                              const llr_input *in);

/* Usual values: what a receiver sees, and what the short way is taken for. */
void specified_fill_usual(harness_random *random, softqam_noise_form form, llr_input *to);

/* Special values: where the arithmetic or the short way changes, and the floats beside. */
enum { MAX_SPECIAL = 512 };

typedef struct special_values {
    size_t n;
    float values[MAX_SPECIAL];
} special_values;

/* Of both signs. */
special_values special_components(void);
/* For N0 and for 1/N0 alike. */
special_values special_noise(float scale);
float special_random(harness_random *random, const special_values *from);

#endif
