/* SPDX-License-Identifier: MIT */
#include "demodulate_fixture.h"

#include <stdlib.h>

#include "oracle.h"

void demodulate_ask_oracle(const float *symbols, size_t n_symbols, uint8_t *expected)
{
    oracle *reference = oracle_create();
    assert_non_null(reference);
    oracle_soft_bits(reference, symbols, n_symbols, expected);
    oracle_destroy(reference);
}

void demodulate_check_call(softqam_demodulator *demodulator, const char *what, const void *symbols, const float *values,
                           const uint8_t *expected, size_t n_symbols)
{
    uint8_t *out = harness_alloc(n_symbols * HARNESS_SYMBOL_BITS);
    harness_poison(out, expected, n_symbols * HARNESS_SYMBOL_BITS);
    harness_demodulate(demodulator, symbols, n_symbols, out);
    assert_true(harness_soft_bits_equal(what, values, expected, out, n_symbols));
    free(out);
}
