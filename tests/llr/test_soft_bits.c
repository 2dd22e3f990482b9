/* SPDX-License-Identifier: MIT */
/* Soft bits of all kinds of cf32 symbols through the public API, on the backend that SOFTQAM_TEST_BACKEND names, on the
 * CPU by every variant of the loops that runs here: no byte may differ from the oracle's. test_llr_calls.c proves that
 * other input formats and scales give the bytes of cf32. */
#include <math.h>
#include <stdlib.h>

#include "llr_fixture.h"
#include "oracle.h"

/* On other processors, which fuse multiply-add by default, liquid-dsp's last bits differ (reference/README.md). There
 * hashes say what is right of the sets that are always the same. */
#if defined(__x86_64__)
enum { ORACLE_IS_EXACT = true };
#else
enum { ORACLE_IS_EXACT = false };
#endif

LLR_TEST(test_symbol_sets)
{
    static const uint64_t hashes[] = {0x844842268306ef21U, 0x2fbe771bd9ad036dU, 0x90d6b2ca0b4c2985U};
    const harness_setup setup = harness_soft_bits_setup();
    oracle *reference = oracle_create();
    assert_non_null(reference);
    size_t n_hashes = 0;
    for (size_t i = 0; i < harness_n_symbol_sets; i++) {
        const harness_symbol_set *set = &harness_symbol_sets[i];
        const size_t n = set->n_fixed ? set->n_fixed : harness_symbol_count((size_t)1 << 19);
        const size_t nbytes = n * HARNESS_SYMBOL_BITS;
        scoped_memory float *symbols = harness_alloc(n * 2 * sizeof(float));
        scoped_memory uint8_t *expected = harness_alloc(nbytes);
        harness_random random = harness_random_named(set->name);
        set->fill(&random, set->parameter, 0, n, symbols);
        oracle_soft_bits(reference, symbols, n, expected);
        if (set->n_fixed && !ORACLE_IS_EXACT) {
            free(expected);
            expected = harness_answer(&setup, symbols, NULL, n);
        }
        if (set->n_fixed && harness_hash(expected, nbytes) != hashes[n_hashes++])
            fail_msg("%s: the hash is 0x%llx", set->name, (unsigned long long)harness_hash(expected, nbytes));
        const softqam_segment segment = harness_segment(symbols, NULL, 0, n, NULL);
        if (ORACLE_IS_EXACT || set->n_fixed)
            llr_check(*state, &setup.demodulator, &segment, expected, set->name);
        print_message("%zu symbols: %s\n", n, set->name);
    }
    assert_int_equal(n_hashes, HARNESS_COUNT(hashes));
    oracle_destroy(reference);
}

/* A soft byte is trunc(127 + x), so with the opposite sign it is trunc(127 - x): 254 less the byte, or one less than
 * that unless x is whole; and where one of them is clamped at one end, so is the other, or almost. */
HARNESS_TEST(test_opposite_sign)
{
    const size_t n_symbols = harness_symbol_count(50021);
    scoped_memory float *symbols = harness_alloc(n_symbols * 2 * sizeof(float));
    harness_random random = harness_random_named(__func__);
    harness_fill_mixture(&random, n_symbols, symbols);
    harness_setup setup = harness_soft_bits_setup();
    scoped_memory uint8_t *plain = harness_answer(&setup, symbols, NULL, n_symbols);
    setup.demodulator.sign = SOFTQAM_SIGN_POSITIVE_IS_1;
    scoped_memory uint8_t *opposite = harness_answer(&setup, symbols, NULL, n_symbols);
    size_t n_asymmetric = 0;
    for (size_t i = 0; i < n_symbols * HARNESS_SYMBOL_BITS; i++) {
        const float *symbol = symbols + i / HARNESS_SYMBOL_BITS * 2;
        if (!isfinite(symbol[0]) || !isfinite(symbol[1]))
            assert_true(plain[i] == 127 && opposite[i] == 127);
        else if (plain[i] == 0)
            assert_in_range(opposite[i], 253, 255);
        else
            assert_in_range(opposite[i], plain[i] < 253 ? 253 - plain[i] : 0, plain[i] < 254 ? 254 - plain[i] : 0);
        n_asymmetric += (plain[i] == 0 && opposite[i] != 255) || (plain[i] == 255 && opposite[i] != 0);
    }
    assert_true(n_asymmetric < n_symbols / 50);
}
