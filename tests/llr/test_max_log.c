/* SPDX-License-Identifier: MIT */
/* The references for LLRs themselves: the bound's derivation on every segment, brute force against the plain formula
 * and on outliers, log-MAP's limits, and binary16. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"
#include "harness.h"
#include "max_log.h"

enum { STREAM_PLAIN = 1, STREAM_OUTLIERS, STREAM_LOG_MAP };

enum { N_BITS = HARNESS_SYMBOL_BITS, N_LABELS = 16, N_SEGMENTS = 8 };

/* max_log.c says that table and fma err by e (|S| u + |C| + |T|), a wrong segment by 2 e u |S' - S| at its ends, and
 * that both together stay below e (1 + 5 u). */
static void test_bound_on_every_segment(void **state)
{
    (void)state;
    double worst = 0;
    for (int n = 0; n < N_SEGMENTS * 4; n++) {
        int number = n / 4, place = n % 4;
        max_log_segment here = max_log_segment_at(number, place);
        for (int step = 0; step <= 1000; step++) {
            double width = number == N_SEGMENTS - 1 ? 1e3 : 2, u = (2 * number + width * step / 1000) / sqrt(170);
            double error = fabs(here.slope) * u + fabs(here.intercept) + fabs(here.slope * u + here.intercept);
            if (step == 0 && number > 0)
                error += 2 * u * fabs(max_log_segment_at(number - 1, place).slope - here.slope);
            if (step == 1000 && number < N_SEGMENTS - 1)
                error += 2 * u * fabs(max_log_segment_at(number + 1, place).slope - here.slope);
            worst = fmax(worst, error / (1 + 5 * u));
        }
    }
    print_message("at most %.3f of what the bound allows\n", worst);
    assert_true(worst < 1);
    assert_true(worst > 0.9);
}

/* Where nothing cancels, the definition as it stands. */
static void test_plain_formula(void **state)
{
    (void)state;
    harness_random random = harness_random_stream(STREAM_PLAIN);
    for (int n = 0; n < 2000; n++) {
        float symbol[2];
        max_log_llr llrs[N_BITS];
        harness_symbol_sets[0].fill(&random, harness_symbol_sets[0].parameter, 0, 1, symbol);
        max_log_llrs(symbol, 0.01F, 1, llrs);
        double least[N_BITS][2];
        for (int b = 0; b < N_BITS; b++)
            least[b][0] = least[b][1] = INFINITY;
        for (int point = 0; point < N_LABELS * N_LABELS; point++) {
            int labels[2] = {point / N_LABELS, point % N_LABELS};
            double distance = hypot((double)symbol[0] - max_log_coordinate(labels[0]),
                                    (double)symbol[1] - max_log_coordinate(labels[1]));
            for (int b = 0; b < N_BITS; b++) {
                double *best = &least[b][labels[b % 2] >> (3 - b / 2) & 1];
                *best = fmin(*best, distance * distance);
            }
        }
        for (int b = 0; b < N_BITS; b++)
            assert_true(fabs(llrs[b].value - (least[b][1] - least[b][0]) / (double)0.01F) < 1e-11);
    }
}

/* An axis's LLRs do not depend on the other axis, however far out that is: none of the 256 sums may swallow them. */
static void test_outliers(void **state)
{
    (void)state;
    static const float others[] = {0.3F, 50, 1e5F, 1e10F, 1e20F, 1e30F, FLT_MAX, -FLT_MAX};
    harness_random random = harness_random_stream(STREAM_OUTLIERS);
    for (int n = 0; n < 1000; n++) {
        float symbol[2];
        max_log_llr alone[N_BITS], beside[N_BITS];
        harness_symbol_sets[0].fill(&random, harness_symbol_sets[0].parameter, 0, 1, symbol);
        size_t axis = (size_t)n % 2;
        symbol[1 - axis] = 0;
        max_log_llrs(symbol, 0.01F, 6, alone);
        symbol[1 - axis] = others[(size_t)n / 2 % HARNESS_COUNT(others)];
        max_log_llrs(symbol, 0.01F, 6, beside);
        for (size_t b = axis; b < N_BITS; b += 2)
            assert_true(fabs(beside[b].value - alone[b].value) < 1e-10);
    }
}

/* log-MAP differs from max-log by less than the log of the number of points on a side, with little noise by nothing. */
static void test_log_map(void **state)
{
    (void)state;
    harness_random random = harness_random_stream(STREAM_LOG_MAP);
    for (int n = 0; n < 600; n++) {
        static const float noise_vars[] = {10, 0.1F, 1e-6F};
        float noise_var = noise_vars[n % 3], symbol[2];
        double exact[N_BITS];
        max_log_llr llrs[N_BITS];
        harness_symbol_sets[0].fill(&random, harness_symbol_sets[0].parameter, 0, 1, symbol);
        max_log_llrs(symbol, noise_var, 1, llrs);
        log_map_llrs(symbol, (double)noise_var, exact);
        for (int b = 0; b < N_BITS; b++) {
            double most = noise_var < 1e-5F ? log(2.0) + 1e-9 : log(N_LABELS * N_LABELS / 2);
            assert_true(fabs(exact[b] - llrs[b].value) <= most);
        }
    }
}

static void test_half_round_trip(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= UINT16_MAX; bits++) {
        double value = half_to_double((uint16_t)bits);
        if (isfinite(value)) {
            assert_int_equal(half_from_double(value), bits);
            assert_true(!signbit(value) == !(bits >> 15));
        } else {
            assert_true((bits & 0x7c00) == 0x7c00 && !isnan(value) == !(bits & 0x3ff));
        }
    }
    assert_true(half_to_double(0x3c00) == 1 && half_to_double(0x0001) == 0x1p-24 && half_to_double(0x7bff) == 65504);
}

/* Half-way between neighbours to the even one, a little off it to the nearer. */
static void test_half_rounding(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 0x7bff; bits++) {
        double low = half_to_double((uint16_t)bits), high = half_to_double((uint16_t)(bits + 1));
        double middle = (low + high) / 2;
        unsigned even = bits % 2 ? bits + 1 : bits;
        assert_int_equal(half_from_double(middle), even);
        assert_int_equal(half_from_double(-middle), even | 0x8000);
        assert_int_equal(half_from_double(nextafter(middle, 0)), bits);
        assert_int_equal(half_from_double(nextafter(middle, INFINITY)), bits + 1);
    }
    static const double large[] = {65504, 65519, 65520, 1e6, 1e300, INFINITY};
    for (size_t i = 0; i < HARNESS_COUNT(large); i++) {
        assert_int_equal(half_from_double(large[i]), 0x7bff);
        assert_int_equal(half_from_double(-large[i]), 0xfbff);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_on_every_segment),
        cmocka_unit_test(test_plain_formula),
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_log_map),
        cmocka_unit_test(test_half_round_trip),
        cmocka_unit_test(test_half_rounding),
    };
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
