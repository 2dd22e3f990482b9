/* SPDX-License-Identifier: MIT */
/* Soft bits of all kinds of cf32 symbols through the public API, on the backend that SOFTQAM_TEST_BACKEND names: no
 * byte may differ from the oracle's. llr/test_llr_calls.c proves that the other input formats give the bytes of cf32.
 */
#include <stdlib.h>

#include "harness.h"
#include "oracle.h"

enum { STREAM_SETS = 1, STREAM_SCALES };

/* `values` is what the symbols stand for. */
static void check(const softqam_demodulator *demodulator, const char *what, const float *symbols, const float *values,
                  size_t n_symbols)
{
    scoped_memory uint8_t *expected = harness_alloc(n_symbols * HARNESS_SYMBOL_BITS);
    scoped_memory uint8_t *out = harness_alloc(n_symbols * HARNESS_SYMBOL_BITS);
    oracle *reference = oracle_create();
    assert_non_null(reference);
    oracle_soft_bits(reference, values, n_symbols, expected);
    oracle_destroy(reference);
    harness_poison(out, expected, n_symbols * HARNESS_SYMBOL_BITS);
    harness_demodulate(demodulator, symbols, n_symbols, out);
    assert_true(harness_soft_bits_equal(what, values, expected, out, n_symbols));
}

HARNESS_TEST(test_symbol_sets)
{
    const size_t max_chunk = (size_t)1 << 19;
    harness_setup setup = harness_soft_bits_setup();
    scoped_demodulator *demodulator = harness_create(&setup);
    scoped_memory float *symbols = harness_alloc(max_chunk * 2 * sizeof(float));
    for (size_t i = 0; i < harness_n_symbol_sets; i++) {
        const harness_symbol_set *set = &harness_symbol_sets[i];
        const size_t n_symbols = set->n_fixed ? set->n_fixed : harness_symbol_count(max_chunk);
        harness_random random = harness_random_stream(((uint32_t)i << 8) | STREAM_SETS);
        for (size_t first = 0; first < n_symbols; first += max_chunk) {
            const size_t n = n_symbols - first < max_chunk ? n_symbols - first : max_chunk;
            set->fill(&random, set->parameter, first, n, symbols);
            check(demodulator, set->name, symbols, symbols, n);
        }
        print_message("%zu symbols: %s\n", n_symbols, set->name);
    }
}

/* Symbols of all sets next to each other, at many scales. */
HARNESS_TEST(test_scales)
{
    static const float scales[] = {1, 0.37F, 1.0F / 3, 2, 1e30F, 1e-30F, 1e-42F};
    const size_t n_symbols = 200003;
    scoped_memory float *symbols = harness_alloc(n_symbols * 2 * sizeof(float));
    scoped_memory float *values = harness_alloc(n_symbols * 2 * sizeof(float));
    harness_random random = harness_random_stream(STREAM_SCALES);
    harness_fill_mixture(&random, n_symbols, symbols);
    for (size_t k = 0; k < HARNESS_COUNT(scales); k++) {
        harness_widen(SOFTQAM_INPUT_CF32, scales[k], symbols, n_symbols, values);
        harness_setup setup = harness_soft_bits_setup();
        setup.demodulator.input_scale = scales[k];
        scoped_demodulator *demodulator = harness_create(&setup);
        check(demodulator, "cf32 with a scale", symbols, values, n_symbols);
    }
}
