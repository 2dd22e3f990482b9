/* SPDX-License-Identifier: MIT */
/* Checks of the tools' parts that no command line reaches: that a wrong byte or LLR is caught wherever it is, that the
 * statistics add up, and how good the arithmetic of the noise is. With an argument, only the test of that name. */
#include "check.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* needs setjmp.h, stdarg.h, stddef.h and stdint.h */

#include "common/normal.h"
#include "common/sample_format.h"
#include "common/statistics.h"
#include "half.h"

/* Beside the reference's, which is somebody else's: every binary16, and what lies on, between and beside them. */
static void test_binary16(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= 0xffff; bits++) {
        const uint16_t half = (uint16_t)bits;
        const double value = half_to_double(half);
        const float widened = binary16_to_float(half);
        assert_true(isnan(value) ? isnan(widened) : (double)widened == value && !signbit(widened) == !signbit(value));
        if (!isfinite(value))
            continue;
        assert_int_equal(binary16_from_double(value), half);
        const double up = half_to_double((uint16_t)(half + 1)), middle = isfinite(up) ? (value + up) / 2 : 65520;
        const double beside[3] = {middle, nextafter(middle, -INFINITY), nextafter(middle, INFINITY)};
        for (int k = 0; k < 3; k++)
            assert_int_equal(binary16_from_double(beside[k]), half_from_double(beside[k]));
    }
    assert_int_equal(binary16_from_double((double)-INFINITY), 0xfbff);
    assert_int_equal(binary16_from_double(0x1p-1074), 0);
    assert_int_equal(binary16_from_double(-0.0), 0x8000);
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
    uint16_t halves[4];
    const double floats[4] = {0.1, -65519.99, 65520, -1e300};
    assert_int_equal(sample_format_quantise(SOFTQAM_INPUT_CF16, floats, 2, 1, halves), 2);
    const uint16_t expected_halves[4] = {0x2e66, 0xfbff, 0x7bff, 0xfbff};
    assert_memory_equal(halves, expected_halves, sizeof halves);
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

int main(int argc, char *argv[])
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verify_finds_wrong_value),
        cmocka_unit_test(test_verify_samples_every_run),
        cmocka_unit_test(test_verify_opposite_sign),
        cmocka_unit_test(test_verify_ends_of_the_bound),
        cmocka_unit_test(test_verify_erased_llrs),
        cmocka_unit_test(test_verify_modulations),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_expected_error),
        cmocka_unit_test(test_noise_estimate),
        cmocka_unit_test(test_binary16),
        cmocka_unit_test(test_quantise),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_power_ratio),
        cmocka_unit_test(test_quantile),
    };
    int n_chosen = argc == 1;
    for (size_t t = 0; argc > 1 && t < sizeof tests / sizeof tests[0]; t++)
        n_chosen += !strcmp(tests[t].name, argv[1]);
    if (n_chosen == 0) {
        fprintf(stderr, "%s: no such test\n", argv[1]);
        return 1;
    }
    cmocka_set_test_filter(argv[1]); /* NULL for all */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
