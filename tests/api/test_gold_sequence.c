/* SPDX-License-Identifier: MIT */
/* softqam_gold_sequence() against the reference, which goes by the recurrences of 3GPP TS 38.211 clause 5.2.1, through
 * a whole period; and periods later. Python's test has published bits. */
#include <string.h>

#include "harness.h"
#include "nr_symbol.h"

#define PERIOD 0x7fffffffU

/* Fails unless n bits from a position on are the reference's, also some periods later, and nothing else is written. */
static void check(nr_scrambling *sequence, uint32_t c_init, uint64_t position, size_t n, uint64_t n_periods)
{
    const size_t nbytes = (n + 7) / 8;
    SCOPED(harness_buffer_close) harness_buffer out;
    scoped_memory uint8_t *expected = harness_alloc(nbytes);
    memset(expected, 0, nbytes);
    for (size_t k = 0; k < n; k++)
        expected[k / 8] |= (uint8_t)(nr_scrambling_bits(sequence, position + k, 1) << k % 8);
    harness_buffer_open(&out, nbytes + 1);
    for (int is_later = 0; is_later < 2; is_later++) {
        harness_buffer_place_at_end(&out, nbytes, 0);
        harness_poison(out.data, expected, nbytes);
        assert_int_equal(softqam_gold_sequence(c_init, position + is_later * n_periods * PERIOD, n, out.data),
                         SOFTQAM_OK);
        assert_memory_equal(out.data, expected, nbytes);
        harness_buffer_check(&out);
    }
}

/* A segment may be descrambled by the sequence's last bit; one at the first bit after it begins anew. */
HARNESS_TEST(test_last_bit)
{
    enum { N_SYMBOLS = 1280, N_BITS = HARNESS_SYMBOL_BITS * N_SYMBOLS };
    static float symbols[2 * N_SYMBOLS];
    static int8_t plain[N_BITS], llrs[2][N_BITS];
    static const float noise_var = 1;
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_CALL);
    setup.context.n_threads = 1; /* it has both segments */
    scoped_demodulator *demodulator = harness_create(&setup);
    harness_random random = harness_random_named(__func__);
    softqam_segment segments[2];
    uint8_t bits[N_BITS / 8];
    harness_fill_uniform(&random, 1, N_SYMBOLS, symbols);
    harness_demodulate(demodulator, symbols, &noise_var, N_SYMBOLS, plain);
    for (int k = 0; k < 2; k++) {
        segments[k] = harness_segment(symbols, &noise_var, 0, N_SYMBOLS, llrs[k]);
        segments[k].first_symbol = k == 0 ? UINT64_MAX / HARNESS_SYMBOL_BITS - (N_SYMBOLS - 1) : 0;
        segments[k].descramble = 1;
    }
    harness_demodulate_segments(demodulator, segments, 2);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(softqam_gold_sequence(0, HARNESS_SYMBOL_BITS * segments[k].first_symbol, N_BITS, bits), 0);
        for (int bit = 0; bit < N_BITS; bit++)
            assert_int_equal(llrs[k][bit], bits[bit / 8] >> bit % 8 & 1 ? -plain[bit] : plain[bit]);
    }
}

/* Every length about words and blocks of them, from any bit on; near the beginning and through a period. */
HARNESS_TEST(test_pieces)
{
    enum { N_SEQUENCES = 25, N_PIECES = 50, MAX_BITS = 60000 };
    harness_random random = harness_random_named(__func__);
    for (int i = 0; i < N_SEQUENCES; i++) {
        const uint32_t c_init = i == 0 ? 0 : i == 1 ? PERIOD : harness_random_u32(&random) >> 1;
        const uint32_t most_left_out = i % 8 == 2 && !HARNESS_SANITIZED ? 2 * (PERIOD / N_PIECES) : 100;
        uint64_t position = harness_random_below(&random, 100);
        nr_scrambling sequence;
        nr_scrambling_start(&sequence, c_init);
        for (int k = 0; k < N_PIECES; k++) {
            const size_t n = harness_random_below(&random, k % 16 ? 1200 : MAX_BITS);
            check(&sequence, c_init, position, n, harness_random_u32(&random) >> harness_random_below(&random, 32));
            position += n + harness_random_below(&random, most_left_out);
        }
    }
}
