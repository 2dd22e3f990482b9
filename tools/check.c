/* SPDX-License-Identifier: MIT */
/* Checks of the tools' parts that no command line reaches: that a wrong byte is caught wherever it is, that the
 * statistics add up, and how good the arithmetic of the noise is. With arguments, only the tests of those names. */
#include "normal.h"
#include "sample_format.h"
#include "statistics.h"
#include "verify.h"

#include <oracle.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* needs the four above */
#include <cmocka.h>
#include <math.h>

enum {
    N_SYMBOLS = 3000
};

/* Symbols on a coarse grid, and what liquid-dsp makes of them. */
struct capture {
    int16_t samples[2 * N_SYMBOLS];
    uint8_t soft_bits[8 * N_SYMBOLS];
};

static const float capture_scale = 1.0f / 8192;

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

static void test_verify_accepts_right_bytes(void **state)
{
    (void)state;
    static struct capture capture;
    struct verifier verifier;
    struct verify_difference difference;
    make_capture(&capture);
    assert_true(verify_start(&verifier, SOFTQAM_INPUT_CS16, capture_scale));
    assert_true(verify_next(&verifier, capture.samples, capture.soft_bits, 1000, &difference));
    assert_true(
        verify_next(&verifier, capture.samples + 2000, capture.soft_bits + 8000, N_SYMBOLS - 1000, &difference));
    assert_true(verify_next(&verifier, capture.samples, capture.soft_bits, 0, &difference));
    assert_int_equal(verifier.n_seen, N_SYMBOLS);
    assert_int_equal(verifier.n_checked, N_SYMBOLS);
    verify_end(&verifier);
}

/* One bit of one byte wrong, anywhere, in the first call or in a later one, is found and described. */
static void test_verify_finds_wrong_byte(void **state)
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
        assert_true(verify_start(&verifier, SOFTQAM_INPUT_CS16, capture_scale));
        assert_true(verify_next(&verifier, capture.samples, capture.soft_bits, split, &difference));
        assert_false(verify_next(&verifier, capture.samples + 2 * split, capture.soft_bits + 8 * split,
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
static void test_verify_samples_every_run(void **state)
{
    (void)state;
    enum {
        N = 64 * VERIFY_RUN_SYMBOLS
    };
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
    assert_true(verify_start(&verifier, SOFTQAM_INPUT_CS16, 1));
    static const size_t blocks[] = {N, 1, 77, 256, 1000};
    for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++) {
        verifier.n_seen = VERIFY_ALL_SYMBOLS;
        verifier.n_checked = 0;
        for (size_t first = 0; first < N; first += blocks[b]) {
            const size_t n = N - first < blocks[b] ? N - first : blocks[b];
            assert_true(verify_next(&verifier, samples, soft_bits, n, &difference));
        }
        assert_int_equal(verifier.n_checked, 64);
    }
    for (size_t run = 0; run < 64; run++) {
        uint8_t *bad = soft_bits + 8 * run * VERIFY_RUN_SYMBOLS;
        for (size_t i = 0; i < 8 * VERIFY_RUN_SYMBOLS; i++)
            bad[i] ^= 1;
        verifier.n_seen = VERIFY_ALL_SYMBOLS;
        assert_false(verify_next(&verifier, samples, soft_bits, N, &difference));
        assert_int_equal((difference.symbol - VERIFY_ALL_SYMBOLS) / VERIFY_RUN_SYMBOLS, run);
        for (size_t i = 0; i < 8 * VERIFY_RUN_SYMBOLS; i++)
            bad[i] ^= 1;
    }
    verify_end(&verifier);
}

/* The last symbol of the part that is checked completely, and a block that reaches beyond it. */
static void test_verify_boundary(void **state)
{
    (void)state;
    static struct capture capture;
    struct verifier verifier;
    struct verify_difference difference;
    make_capture(&capture);
    assert_true(verify_start(&verifier, SOFTQAM_INPUT_CS16, capture_scale));
    verifier.n_seen = VERIFY_ALL_SYMBOLS - 1000;
    assert_true(verify_next(&verifier, capture.samples, capture.soft_bits, 1000 + 4 * VERIFY_RUN_SYMBOLS, &difference));
    assert_int_equal(verifier.n_checked, 1004);
    verifier.n_seen = VERIFY_ALL_SYMBOLS - 1000;
    capture.soft_bits[8 * 999 + 7] ^= 128;
    assert_false(verify_next(&verifier, capture.samples, capture.soft_bits, N_SYMBOLS, &difference));
    assert_int_equal(difference.symbol, VERIFY_ALL_SYMBOLS - 1);
    assert_int_equal(difference.bit, 7);
    verify_end(&verifier);
}

static void test_statistics(void **state)
{
    (void)state;
    const float a = (float)(1 / sqrt(170));
    /* 0.1, 0.2 and -0.3, 0.4 of a level spacing off; an erased one; one beyond the outermost point. */
    const float symbols[8] = {1.2f * a, 3.4f * a, -5.6f * a, 7.8f * a, (float)NAN, 0, -17 * a, 15 * a};
    const uint8_t soft_bits[32] = {0,   255, 1,   254, 100, 0,   127, 255, 127, 127, 127, 127, 127, 127, 127, 126,
                                   127, 127, 127, 127, 127, 127, 127, 127, 0,   0,   0,   0,   255, 255, 255, 255};
    struct statistics statistics = {0};
    statistics_add(&statistics, SOFTQAM_INPUT_CF32, 1, symbols, soft_bits, 4);
    assert_int_equal(statistics.n_symbols, 4);
    assert_int_equal(statistics.n_erased, 1);
    assert_int_equal(statistics.n_saturated, 12);
    const double energy = (0.04 + 0.16 + 0.36 + 0.64 + 4) / 170;
    assert_true(fabs(statistics_evm(&statistics) - sqrt(energy / 3)) < 1e-7);
    assert_true(statistics_saturated_share(&statistics) == 12.0 / 32);
    memset(&statistics, 0, sizeof statistics);
    assert_true(isnan(statistics_evm(&statistics)));
    assert_true(statistics_saturated_share(&statistics) == 0);
}

static void test_widen(void **state)
{
    (void)state;
    float components[2];
    const int8_t bytes[2] = {-128, 127};
    sample_format_widen(SOFTQAM_INPUT_CS8, bytes, 1, 1.0f / 128, components);
    assert_true(components[0] == -1 && components[1] == 0.9921875f);
    const int16_t words[2] = {-32768, 3};
    sample_format_widen(SOFTQAM_INPUT_CS16, words, 1, 0.1f, components);
    assert_true(components[0] == -32768.0f * 0.1f && components[1] == 3.0f * 0.1f);
    const float floats[2] = {-0.7f, 1e30f};
    sample_format_widen(SOFTQAM_INPUT_CF32, floats, 1, 0.3f, components);
    assert_true(components[0] == -0.7f * 0.3f && components[1] == 1e30f * 0.3f);
}

static void test_quantise(void **state)
{
    (void)state;
    /* Ties go to even; exactly the ends of the range are not clipped. */
    const double components[8] = {0.5, 1.5, -2.5, 127.4, -128.4, 127.6, -1e9, 1e9};
    int8_t bytes[8];
    const int8_t expected[8] = {0, 2, -2, 127, -128, 127, -128, 127};
    assert_int_equal(sample_format_quantise(SOFTQAM_INPUT_CS8, components, 4, 1, bytes), 3);
    assert_memory_equal(bytes, expected, sizeof bytes);
    int16_t words[2];
    const double outer[2] = {4, -4};
    assert_int_equal(sample_format_quantise(SOFTQAM_INPUT_CS16, outer, 1, 1.0 / 8192, words), 1);
    assert_int_equal(words[0], 32767);
    assert_int_equal(words[1], -32768);
}

static void test_log(void **state)
{
    (void)state;
    double worst = 0;
    uint64_t random = 1;
    for (int i = 0; i < 2000000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        /* Every octave down to the smallest p, and the neighbourhood of 1, where cancellation shows. */
        const double p = i % 2 ? ldexp(normal_uniform(random), -(i / 2 % 53)) : 1 + (normal_uniform(random) - 0.5) / 8;
        const double expected = log(p);
        worst = fmax(worst, fabs(normal_log(p) - expected) / fabs(expected));
    }
    print_message("    log: largest relative difference to libm %.2g\n", worst);
    assert_true(worst < 1e-15);
    assert_true(normal_log(1) == 0);
}

static void test_power_ratio(void **state)
{
    (void)state;
    double worst = 0;
    for (int i = -30000; i <= 30000; i++) {
        const double expected = pow(10, i / 1000.0);
        worst = fmax(worst, fabs(normal_power_ratio(i / 100.0) - expected) / expected);
    }
    print_message("    10^(dB/10): largest relative difference to libm %.2g\n", worst);
    assert_true(worst < 3e-14);
    assert_true(normal_power_ratio(0) == 1);
}

/* The distribution function brings each quantile back to its probability, from the smallest to the largest. */
static void test_quantile(void **state)
{
    (void)state;
    double worst = 0;
    for (uint64_t shift = 0; shift < 52; shift++) {
        for (uint64_t i = 0; i < 4096; i++) {
            const uint64_t random = (i * UINT64_C(0x9e3779b97f4a7c15)) >> shift;
            const double p = normal_uniform(random), x = normal_quantile(p);
            const double back = 0.5 * erfc(-x / sqrt(2));
            /* A relative error of x of 1e-16 is one of x^2 1e-16 in a tail probability. */
            worst = fmax(worst, fabs(back - p) / p / (1 + x * x));
            if (p >= 0x1p-53)
                assert_true(normal_quantile(1 - p) == -x);
        }
    }
    print_message("    quantile: largest relative difference of a probability %.2g (1 + x^2)\n", worst);
    assert_true(worst < 1e-15);
    assert_true(normal_quantile(0.5) == 0);
    assert_true(normal_uniform(0) == 0x1p-53);
    assert_true(normal_uniform(UINT64_MAX) == 1 - 0x1p-53);
    assert_true(fabs(normal_quantile(0x1p-53) + 8.209536151601387) < 1e-14);
}

/* Midpoints of equal shares of probability: their moments are the normal distribution's up to the share cut off. */
static void test_moments(void **state)
{
    (void)state;
    enum {
        N = 1 << 22
    };
    double sum2 = 0, sum4 = 0, beyond3 = 0;
    for (uint64_t i = 0; i < N; i++) {
        const double x = normal_quantile(normal_uniform(i << 42 | UINT64_C(1) << 41));
        sum2 += x * x;
        sum4 += x * x * x * x;
        beyond3 += fabs(x) > 3;
    }
    print_message("    variance %.8f, fourth moment %.6f, share beyond 3 sigma %.8f\n", sum2 / N, sum4 / N,
                  beyond3 / N);
    assert_true(fabs(sum2 / N - 1) < 3e-6);
    assert_true(fabs(sum4 / N - 3) < 3e-4);
    assert_true(fabs(beyond3 / N - erfc(3 / sqrt(2))) < 1e-6);
}

int main(int argc, char *argv[])
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verify_accepts_right_bytes),
        cmocka_unit_test(test_verify_finds_wrong_byte),
        cmocka_unit_test(test_verify_samples_every_run),
        cmocka_unit_test(test_verify_boundary),
        cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_widen),
        cmocka_unit_test(test_quantise),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_power_ratio),
        cmocka_unit_test(test_quantile),
        cmocka_unit_test(test_moments),
    };
    enum {
        N_TESTS = sizeof tests / sizeof tests[0]
    };
    if (argc == 1)
        return cmocka_run_group_tests(tests, NULL, NULL);
    int n_failed = 0;
    for (int i = 1; i < argc; i++) {
        int t = 0;
        while (t < N_TESTS && strcmp(tests[t].name, argv[i]) != 0)
            t++;
        if (t == N_TESTS) {
            fprintf(stderr, "%s: no such test\n", argv[i]);
            return 1;
        }
        const struct CMUnitTest one[] = {tests[t]};
        n_failed += cmocka_run_group_tests(one, NULL, NULL);
    }
    return n_failed;
}
