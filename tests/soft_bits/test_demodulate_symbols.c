/* SPDX-License-Identifier: MIT */
/* Soft bits of all kinds of cf32 symbols through the public API, on the backend that SOFTQAM_TEST_BACKEND names: no
 * byte may differ from the oracle's. llr/test_llr_calls.c proves that other input formats and scales give the bytes of
 * cf32.
 */
#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "oracle.h"

enum { STREAM_SETS = 1, STREAM_SIGN };

/* reference/README.md: with fused multiply-add, which other processors have by default, liquid-dsp's last bits differ.
 */
static void require_exact_oracle(void)
{
#if !defined(__x86_64__)
    print_message("the oracle is exact on x86-64 alone\n");
    skip();
#endif
}

HARNESS_TEST(test_symbol_sets)
{
    require_exact_oracle();
    const size_t max_chunk = (size_t)1 << 19;
    harness_setup setup = harness_soft_bits_setup();
    scoped_demodulator *demodulator = harness_create(&setup);
    scoped_memory float *symbols = harness_alloc(max_chunk * 2 * sizeof(float));
    scoped_memory uint8_t *expected = harness_alloc(max_chunk * HARNESS_SYMBOL_BITS),
                          *out = harness_alloc(max_chunk * HARNESS_SYMBOL_BITS);
    oracle *reference = oracle_create();
    assert_non_null(reference);
    for (size_t i = 0; i < harness_n_symbol_sets; i++) {
        const harness_symbol_set *set = &harness_symbol_sets[i];
        const size_t n_symbols = set->n_fixed ? set->n_fixed : harness_symbol_count(max_chunk);
        harness_random random = harness_random_stream(((uint32_t)i << 8) | STREAM_SETS);
        for (size_t first = 0; first < n_symbols; first += max_chunk) {
            const size_t n = n_symbols - first < max_chunk ? n_symbols - first : max_chunk;
            set->fill(&random, set->parameter, first, n, symbols);
            oracle_soft_bits(reference, symbols, n, expected);
            harness_poison(out, expected, n * HARNESS_SYMBOL_BITS);
            harness_demodulate(demodulator, symbols, n, out);
            assert_true(harness_soft_bits_equal(set->name, symbols, expected, out, n));
        }
        print_message("%zu symbols: %s\n", n_symbols, set->name);
    }
    oracle_destroy(reference);
}

/* Of the sets that are always the same, the oracle's soft bits on x86-64, as a sum (FNV-1a): what this processor must
 * give too. */
HARNESS_TEST(test_sums)
{
    static const uint64_t expected[] = {0x844842268306ef21U, 0x2fbe771bd9ad036dU, 0x90d6b2ca0b4c2985U};
    harness_setup setup = harness_soft_bits_setup();
    size_t n_sums = 0;
    setup.context.n_threads = 1;
    for (size_t i = 0; i < harness_n_symbol_sets; i++) {
        const harness_symbol_set *set = &harness_symbol_sets[i];
        const size_t n = set->n_fixed;
        if (n == 0)
            continue;
        scoped_memory float *symbols = harness_alloc(n * 2 * sizeof(float));
        set->fill(NULL, set->parameter, 0, n, symbols);
        scoped_memory uint8_t *out = harness_answer(&setup, symbols, NULL, n);
        uint64_t sum = 0xcbf29ce484222325U;
        for (size_t k = 0; k < n * HARNESS_SYMBOL_BITS; k++)
            sum = (sum ^ out[k]) * 0x100000001b3U;
        if (n_sums == HARNESS_COUNT(expected) || sum != expected[n_sums])
            fail_msg("%s: the sum is 0x%llx", set->name, (unsigned long long)sum);
        n_sums++;
    }
    assert_int_equal(n_sums, HARNESS_COUNT(expected));
}

/* A soft byte is trunc(127 + x), so with the opposite sign it is trunc(127 - x): 254 less the byte, or one less than
 * that unless x is whole; and where one of them is clamped at one end, so is the other, or almost. */
static void check_opposite_byte(uint8_t plain, uint8_t opposite, bool erased)
{
    if (erased) {
        assert_int_equal(plain, 127);
        assert_int_equal(opposite, 127);
    } else if (plain == 0) {
        assert_in_range(opposite, 253, 255);
    } else {
        assert_in_range(opposite, plain < 253 ? 253 - plain : 0, plain < 254 ? 254 - plain : 0);
    }
}

HARNESS_TEST(test_opposite_sign)
{
    const size_t n_symbols = harness_symbol_count(50021);
    scoped_memory float *symbols = harness_alloc(n_symbols * 2 * sizeof(float));
    harness_random random = harness_random_stream(STREAM_SIGN);
    harness_fill_mixture(&random, n_symbols, symbols);
    harness_setup setup = harness_soft_bits_setup();
    scoped_memory uint8_t *plain = harness_answer(&setup, symbols, NULL, n_symbols);
    setup.demodulator.sign = SOFTQAM_SIGN_POSITIVE_IS_1;
    scoped_memory uint8_t *opposite = harness_answer(&setup, symbols, NULL, n_symbols);
    size_t n_asymmetric = 0;
    for (size_t i = 0; i < n_symbols * HARNESS_SYMBOL_BITS; i++) {
        const float *symbol = symbols + i / HARNESS_SYMBOL_BITS * 2;
        check_opposite_byte(plain[i], opposite[i], !isfinite(symbol[0]) || !isfinite(symbol[1]));
        n_asymmetric += (plain[i] == 0 && opposite[i] != 255) || (plain[i] == 255 && opposite[i] != 0);
    }
    assert_true(n_asymmetric < n_symbols / 50);
}
