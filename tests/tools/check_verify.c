/* SPDX-License-Identifier: MIT */
/* --verify on soft bits, which must be liquid-dsp's. */
#include "check_verify.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* needs setjmp.h, stdarg.h, stddef.h and stdint.h */

#include "common/sample_format.h"
#include "common/verify.h"
#include "oracle.h"

enum { N_SYMBOLS = 3000 };

/* Symbols on a coarse grid, and what liquid-dsp makes of them. */
struct capture {
    int16_t samples[2 * N_SYMBOLS];
    uint8_t soft_bits[8 * N_SYMBOLS];
};

static const float capture_scale = 1.0f / 8192;

/* How the captures are demodulated. */
static const softqam_demodulator_config soft_bit_config = {
    .input_format = SOFTQAM_INPUT_CS16, .output_format = SOFTQAM_OUTPUT_U8, .input_scale = 1.0f / 8192};

static void make_capture(struct capture *capture)
{
    float components[2 * N_SYMBOLS];
    for (int i = 0; i < 2 * N_SYMBOLS; i++)
        capture->samples[i] = (int16_t)(i * 7919 % 20011 - 10005);
    sample_format_widen(SOFTQAM_INPUT_CS16, capture->samples, N_SYMBOLS, capture_scale, components);
    oracle *liquid = oracle_create();
    assert_non_null(liquid);
    oracle_soft_bits(liquid, components, N_SYMBOLS, capture->soft_bits);
    oracle_destroy(liquid);
}

void test_verify_accepts_right_bytes(void **state)
{
    (void)state;
    static struct capture capture;
    struct verifier verifier;
    struct verify_difference difference;
    make_capture(&capture);
    assert_true(verify_start(&verifier, &soft_bit_config));
    assert_true(verify_next(&verifier, capture.samples, NULL, capture.soft_bits, 1000, &difference));
    assert_true(
        verify_next(&verifier, capture.samples + 2000, NULL, capture.soft_bits + 8000, N_SYMBOLS - 1000, &difference));
    assert_true(verify_next(&verifier, capture.samples, NULL, capture.soft_bits, 0, &difference));
    assert_int_equal(verifier.n_seen, N_SYMBOLS);
    assert_int_equal(verifier.n_checked, N_SYMBOLS);
    verify_end(&verifier);
}

/* One bit of one byte wrong, anywhere, in the first call or in a later one, is found and described. */
void test_verify_finds_wrong_byte(void **state)
{
    (void)state;
    static struct capture capture;
    make_capture(&capture);
    for (size_t place = 0; place < sizeof capture.soft_bits; place += 61) {
        const size_t symbol = place / 8, split = symbol / 2;
        const uint8_t expected = capture.soft_bits[place];
        struct verifier verifier;
        struct verify_difference difference;
        capture.soft_bits[place] ^= (uint8_t)(1u << place % 7);
        assert_true(verify_start(&verifier, &soft_bit_config));
        assert_true(verify_next(&verifier, capture.samples, NULL, capture.soft_bits, split, &difference));
        assert_false(verify_next(&verifier, capture.samples + 2 * split, NULL, capture.soft_bits + 8 * split,
                                 N_SYMBOLS - split, &difference));
        verify_end(&verifier);
        assert_int_equal(difference.symbol, symbol);
        assert_int_equal(difference.bit, place % 8);
        assert_int_equal(difference.got, capture.soft_bits[place]);
        assert_int_equal(difference.expected, expected);
        assert_true(difference.i == (float)capture.samples[2 * symbol] * capture_scale);
        assert_true(difference.q == (float)capture.samples[2 * symbol + 1] * capture_scale);
        capture.soft_bits[place] = expected;
    }
}

/* Beyond VERIFY_ALL_SYMBOLS one symbol of each run is checked, whatever the blocks are: corrupting all the soft bits of
 * a run is always found, and the number of symbols checked does not depend on where blocks end. */
void test_verify_samples_every_run(void **state)
{
    (void)state;
    enum { N = 64 * VERIFY_RUN_SYMBOLS };
    static const int16_t samples[2 * N];
    static uint8_t soft_bits[8 * N];
    const float zero[2] = {0, 0};
    uint8_t expected[8];
    oracle *liquid = oracle_create();
    assert_non_null(liquid);
    oracle_soft_bits(liquid, zero, 1, expected);
    oracle_destroy(liquid);
    for (size_t i = 0; i < N; i++)
        memcpy(soft_bits + 8 * i, expected, 8);
    struct verifier verifier;
    struct verify_difference difference;
    assert_true(verify_start(&verifier, &soft_bit_config));
    static const size_t blocks[] = {N, 1, 77, 256, 1000};
    for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++) {
        verifier.n_seen = VERIFY_ALL_SYMBOLS;
        verifier.n_checked = 0;
        for (size_t first = 0; first < N; first += blocks[b]) {
            const size_t n = N - first < blocks[b] ? N - first : blocks[b];
            assert_true(verify_next(&verifier, samples, NULL, soft_bits, n, &difference));
        }
        assert_int_equal(verifier.n_checked, 64);
    }
    for (size_t run = 0; run < 64; run++) {
        uint8_t *bad = soft_bits + 8 * run * VERIFY_RUN_SYMBOLS;
        for (size_t i = 0; i < 8 * VERIFY_RUN_SYMBOLS; i++)
            bad[i] ^= 1;
        verifier.n_seen = VERIFY_ALL_SYMBOLS;
        assert_false(verify_next(&verifier, samples, NULL, soft_bits, N, &difference));
        assert_int_equal((difference.symbol - VERIFY_ALL_SYMBOLS) / VERIFY_RUN_SYMBOLS, run);
        for (size_t i = 0; i < 8 * VERIFY_RUN_SYMBOLS; i++)
            bad[i] ^= 1;
    }
    verify_end(&verifier);
}

/* The last symbol of the part that is checked completely, and a block that reaches beyond it. */
void test_verify_boundary(void **state)
{
    (void)state;
    static struct capture capture;
    struct verifier verifier;
    struct verify_difference difference;
    make_capture(&capture);
    assert_true(verify_start(&verifier, &soft_bit_config));
    verifier.n_seen = VERIFY_ALL_SYMBOLS - 1000;
    assert_true(
        verify_next(&verifier, capture.samples, NULL, capture.soft_bits, 1000 + 4 * VERIFY_RUN_SYMBOLS, &difference));
    assert_int_equal(verifier.n_checked, 1004);
    verifier.n_seen = VERIFY_ALL_SYMBOLS - 1000;
    capture.soft_bits[8 * 999 + 7] ^= 128;
    assert_false(verify_next(&verifier, capture.samples, NULL, capture.soft_bits, N_SYMBOLS, &difference));
    assert_int_equal(difference.symbol, VERIFY_ALL_SYMBOLS - 1);
    assert_int_equal(difference.bit, 7);
    verify_end(&verifier);
}

/* With the opposite sign 127 + x becomes 127 - x, truncated and limited: 254 less the byte, or one less, and anything
 * from 253 on for 0; but an erasure stays. */
void test_verify_opposite_sign(void **state)
{
    (void)state;
    static struct capture capture;
    softqam_demodulator_config opposite = soft_bit_config;
    struct verifier verifier;
    struct verify_difference difference;
    make_capture(&capture);
    opposite.sign = SOFTQAM_SIGN_POSITIVE_IS_1;
    assert_true(verify_start(&verifier, &opposite));
    assert_false(verify_next(&verifier, capture.samples, NULL, capture.soft_bits, N_SYMBOLS, &difference));
    for (int delta = -4; delta <= 2; delta++) {
        for (size_t place = 0; place < sizeof capture.soft_bits; place += 331) {
            const int byte = capture.soft_bits[place], got = 254 - byte + delta;
            if (got < 0 || got > 255)
                continue;
            const bool right = (delta == 0 || delta == -1 || (byte == 0 && delta == 1) || (byte >= 254 && got == 0));
            uint8_t out[8];
            for (size_t b = 0; b < 8; b++)
                out[b] =
                    (uint8_t)(capture.soft_bits[place / 8 * 8 + b] == 255 ? 0
                                                                          : 254 - capture.soft_bits[place / 8 * 8 + b]);
            out[place % 8] = (uint8_t)got;
            assert_int_equal(verify_next(&verifier, capture.samples + place / 8 * 2, NULL, out, 1, &difference), right);
        }
    }
    verify_end(&verifier);
    const float erased[2] = {NAN, 0};
    uint8_t out[8] = {127, 127, 127, 127, 127, 127, 127, 127};
    opposite.input_format = SOFTQAM_INPUT_CF32;
    assert_true(verify_start(&verifier, &opposite));
    assert_true(verify_next(&verifier, erased, NULL, out, 1, &difference));
    out[5] = 126;
    assert_false(verify_next(&verifier, erased, NULL, out, 1, &difference));
    verify_end(&verifier);
}
