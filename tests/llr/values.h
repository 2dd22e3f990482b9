/* SPDX-License-Identifier: MIT */
/* Kinds of symbols, noise values and gains for the calls of trial.h: each is for a place where the LLRs' arithmetic, or
 * the way in which loops and kernels compute it, changes. */
#ifndef SOFTQAM_TESTS_LLR_VALUES_H
#define SOFTQAM_TESTS_LLR_VALUES_H

#include "llr_fixture.h"

/* Symbols with a noise value and a gain each. */
typedef struct llr_input {
    size_t n;
    float *symbols, *noise, *gains;
} llr_input;

llr_input llr_input_open(size_t n);
void llr_input_close(llr_input *self);

typedef struct llr_values {
    const char *name;
    size_t max_symbols; /* of a call for which this kind is meant */
    void (*fill)(harness_random *random, const llr_setting *setting, const llr_input *to);
    bool is_scaled; /* the input scale must be the default, or the values are others */
    bool is_u8;     /* meant for u8 */
    bool is_llr;    /* meant for LLRs */
} llr_values;

extern const llr_values llr_value_kinds[];
extern const size_t llr_n_value_kinds;

/* Everything next to each other; but mostly usual noise. */
extern const llr_values *const llr_mixture;

#endif
