/* SPDX-License-Identifier: MIT */
/* softqam_gold_sequence() against the reference, which goes by the recurrences of 3GPP TS 38.211 clause 5.2.1, and
 * against its own period, far from where the reference comes. */
#include <string.h>

#include "harness.h"
#include "nr_symbol.h"

#define PERIOD 0x7fffffffU

/* Fails unless n bits from a position on are these, one a byte, and nothing beside them is written. */
static void check(uint32_t c_init, uint64_t position, size_t n, const uint8_t *expected)
{
    const size_t nbytes = (n + 7) / 8;
    SCOPED(harness_buffer_close) harness_buffer out;
    harness_buffer_open(&out, nbytes + 1);
    harness_buffer_place_at_end(&out, nbytes, 0);
    memset(out.data, 0xa5, nbytes);
    assert_int_equal(softqam_gold_sequence(c_init, position, n, out.data), SOFTQAM_OK);
    for (size_t k = 0; k < 8 * nbytes; k++)
        assert_int_equal(out.data[k / 8] >> k % 8 & 1, k < n ? expected[k] : 0);
    harness_buffer_check(&out);
}

/* Written out in the specification of the arithmetic. */
HARNESS_TEST(test_published)
{
    static const char text[] = "11010110010101110111101001111011";
    uint8_t bits[sizeof text - 1];
    for (size_t k = 0; k < sizeof bits; k++)
        bits[k] = text[k] == '1';
    check(0x12345, 0, sizeof bits, bits);
}

/* Pieces of the beginnings of sequences: every length about words and blocks of them, from any bit on. */
HARNESS_TEST(test_pieces)
{
    enum { N_BITS = 60000, N_SEQUENCES = 25, N_PIECES = 40 };
    static uint8_t bits[N_BITS];
    harness_random random = harness_random_named(__func__);
    for (int i = 0; i < N_SEQUENCES; i++) {
        const uint32_t c_init = i == 0 ? 0 : i == 1 ? PERIOD : harness_random_u32(&random) >> 1;
        nr_scrambling sequence;
        nr_scrambling_start(&sequence, c_init);
        for (size_t k = 0; k < N_BITS; k++)
            bits[k] = (uint8_t)nr_scrambling_bits(&sequence, k, 1);
        for (int k = 0; k < N_PIECES; k++) {
            const size_t n = harness_random_below(&random, k % 8 ? 1200 : N_BITS);
            const size_t first = harness_random_below(&random, N_BITS - n + 1);
            check(c_init, first, n, bits + first);
        }
    }
}

/* Pieces from anywhere on: they agree where they overlap, and with those a period before, near the beginning. */
HARNESS_TEST(test_far)
{
    enum { N_FAR = 1000, N = 200 };
    harness_random random = harness_random_named(__func__);
    for (int i = 0; i < N_FAR; i++) {
        const uint32_t c_init = harness_random_u32(&random) >> 1;
        uint64_t at = (uint64_t)harness_random_u32(&random) << 32 >> harness_random_below(&random, 34);
        if (i % 4 == 0) /* the sum of its parts of 31 bits is about a multiple of the period */
            at = ((uint64_t)harness_random_below(&random, 3) << 62) +
                 ((PERIOD - (uint64_t)harness_random_below(&random, 2000)) << 31) + PERIOD -
                 harness_random_below(&random, 2000);
        uint8_t bytes[2 * N / 8], again[N / 8];
        assert_int_equal(softqam_gold_sequence(c_init, at, (size_t)2 * N, bytes), SOFTQAM_OK);
        assert_int_equal(softqam_gold_sequence(c_init, at + N, N, again), SOFTQAM_OK);
        assert_memory_equal(again, bytes + N / 8, sizeof again);
        assert_int_equal(softqam_gold_sequence(c_init, at % PERIOD, N, again), SOFTQAM_OK);
        assert_memory_equal(again, bytes, sizeof again);
    }
}
