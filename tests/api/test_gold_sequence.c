/* SPDX-License-Identifier: MIT */
/* softqam_gold_sequence() against the reference, which goes by the recurrences of 3GPP TS 38.211 clause 5.2.1: random
 * c_init, positions and lengths; that it is where it should be after a period. */
#include <string.h>

#include "harness.h"
#include "nr_symbol.h"

enum { STREAM_RANDOM = 1, STREAM_LONG };

enum { REGISTER_BITS = 31 };
#define PERIOD 0x7fffffffU

/* n bits of the sequence from `first` on, one a byte. */
static uint8_t *make_bits(uint32_t c_init, uint64_t first, size_t n)
{
    uint8_t *bits = harness_alloc(n);
    nr_scrambling sequence;
    nr_scrambling_start(&sequence, c_init);
    for (size_t k = 0; k < n; k++)
        bits[k] = (uint8_t)nr_scrambling_bits(&sequence, first + k, 1);
    return bits;
}

static void check(uint32_t c_init, uint64_t position, size_t n, const uint8_t *expected)
{
    const size_t nbytes = (n + 7) / 8;
    SCOPED(harness_buffer_close) harness_buffer out;
    harness_buffer_open(&out, nbytes + 1);
    harness_buffer_place_at_end(&out, nbytes, 0);
    memset(out.data, 0xa5, nbytes);
    assert_int_equal(softqam_gold_sequence(c_init, position, n, out.data), SOFTQAM_OK);
    for (size_t k = 0; k < 8 * nbytes; k++) {
        const int got = out.data[k / 8] >> k % 8 & 1;
        if (got != (k < n ? expected[k] : 0))
            fail_msg("c_init 0x%x: bit %zu of %zu from %llu on is %d", c_init, k, n, (unsigned long long)position, got);
    }
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
    harness_random random = harness_random_stream(STREAM_RANDOM);
    for (int i = 0; i < N_SEQUENCES; i++) {
        const uint32_t c_init = i == 0 ? 0 : i == 1 ? PERIOD : harness_random_u32(&random) >> 1;
        scoped_memory uint8_t *bits = make_bits(c_init, 0, N_BITS);
        for (int k = 0; k < N_PIECES; k++) {
            const size_t n = k % 8 ? harness_random_below(&random, 1200) : harness_random_below(&random, N_BITS);
            const size_t first = harness_random_below(&random, N_BITS - n + 1);
            check(c_init, first, n, bits + first);
        }
    }
}

/* Anywhere: pieces that overlap agree, a period further it is the same, and what comes is a sum of both registers'. */
HARNESS_TEST(test_far)
{
    enum { N_FAR = 1000, N = 200 };
    harness_random random = harness_random_stream(STREAM_LONG);
    for (int i = 0; i < N_FAR; i++) {
        const uint32_t c_init = harness_random_u32(&random) >> 1;
        uint64_t at = (uint64_t)harness_random_u32(&random) << 32 >> harness_random_below(&random, 34);
        if (i % 4 == 0) { /* the sum of its parts of 31 bits is about a multiple of the period */
            const unsigned below = i % 8 == 0 ? 3 : 2000;
            at = ((uint64_t)harness_random_below(&random, 3) << 62) +
                 ((PERIOD - (uint64_t)harness_random_below(&random, below)) << 31) + PERIOD -
                 harness_random_below(&random, below);
        }
        uint8_t bytes[2 * N / 8], again[N / 8];
        assert_int_equal(softqam_gold_sequence(c_init, at, (size_t)2 * N, bytes), SOFTQAM_OK);
        assert_int_equal(softqam_gold_sequence(c_init, at + N, N, again), SOFTQAM_OK);
        assert_memory_equal(again, bytes + N / 8, sizeof again);
        /* The period. */
        assert_int_equal(softqam_gold_sequence(c_init, at % PERIOD, N, again), SOFTQAM_OK);
        assert_memory_equal(again, bytes, sizeof again);
        /* The recurrence of the first register leaves nothing of its part; of the second's it leaves a sum of shifted
         * bits, for which that one's own recurrence holds. */
        uint8_t c[2 * N] = {0}, d[2 * N - REGISTER_BITS];
        for (size_t k = 0; k < sizeof c; k++)
            c[k] = bytes[k / 8] >> k % 8 & 1;
        for (size_t k = 0; k < sizeof d; k++)
            d[k] = c[k + 31] ^ c[k + 3] ^ c[k];
        for (size_t k = 0; k + 31 < sizeof d; k++)
            assert_int_equal(d[k + 31] ^ d[k + 3] ^ d[k + 2] ^ d[k + 1] ^ d[k], 0);
    }
}
