/* SPDX-License-Identifier: MIT */
/* What the tests of soft bits share: the oracle's bytes, and a call that must give them. */
#ifndef SOFTQAM_TESTS_DEMODULATE_FIXTURE_H
#define SOFTQAM_TESTS_DEMODULATE_FIXTURE_H

#include "harness.h"

#define CF32_NBYTES (2 * sizeof(float))

/* The soft bits of cf32 symbols. */
void demodulate_ask_oracle(const float *symbols, size_t n_symbols, uint8_t *expected);

/* One call on memory of malloc. `symbols` is the input in its format; `values` what it stands for. */
void demodulate_check_call(softqam_demodulator *demodulator, const char *what, const void *symbols, const float *values,
                           const uint8_t *expected, size_t n_symbols);

#endif
