/* SPDX-License-Identifier: MIT */
/* The references for LLRs themselves: the constellations against the formulas of TS 38.211, the bound's derivation on
 * every row, the search of an axis against that of all points, and binary16. */
#include <math.h>

#include "half.h"
#include "harness.h"
#include "max_log.h"

/* Bit b of a symbol whose bits are the number's, b0 highest: 1 - 2 b. */
static double signed_bit(const nr_constellation *c, int bits, int b)
{
    return 1 - 2 * (bits >> (c->n_bits - 1 - b) & 1);
}

/* I, with first = 0, or Q, with first = 1, as 38.211 writes it. */
static double written_out(const nr_constellation *c, int bits, int first)
{
    double x[NR_MAX_AXIS_BITS] = {0};
    for (int k = 0; k < c->axis_bits; k++)
        x[k] = signed_bit(c, bits, 2 * k + first);
    switch (c->n_bits) {
    case 2:
        return x[0] / sqrt(2);
    case 4:
        return x[0] * (2 - x[1]) / sqrt(10);
    case 6:
        return x[0] * (4 - x[1] * (2 - x[2])) / sqrt(42);
    case 8:
        return x[0] * (8 - x[1] * (4 - x[2] * (2 - x[3]))) / sqrt(170);
    default:
        return x[0] * (16 - x[1] * (8 - x[2] * (4 - x[3] * (2 - x[4])))) / sqrt(682);
    }
}

HARNESS_TEST(test_points)
{
    for (int n = 0; n < NR_CONSTELLATIONS; n++) {
        const nr_constellation *c = nr_constellations[n];
        double energy = 0;
        for (int bits = 0; bits < 1 << c->n_bits; bits++) {
            for (uint64_t position = 6; position < 8; position++) {
                double point[2], expected[2];
                nr_point(c, bits, position, point);
                if (c->n_bits == 1) {
                    expected[1] = signed_bit(c, bits, 0) / sqrt(2);
                    expected[0] = c->rotates && position == 7 ? -expected[1] : expected[1];
                } else {
                    expected[0] = written_out(c, bits, 0);
                    expected[1] = written_out(c, bits, 1);
                }
                assert_true(point[0] == expected[0] && point[1] == expected[1]);
                energy += (point[0] * point[0] + point[1] * point[1]) / (2 << c->n_bits);
            }
        }
        assert_true(fabs(energy - 1) < 1e-14);
    }
}

/* Slopes and intercepts are so far from half-way between two floats that whatever order they are evaluated in in
 * double, the same float comes out. */
static bool is_far_from_tie(double exact)
{
    return (float)(exact * (1 + 0x1p-48)) == (float)exact && (float)(exact * (1 - 0x1p-48)) == (float)exact;
}

HARNESS_TEST(test_tables_are_certain)
{
    for (int n = 2; n < NR_CONSTELLATIONS; n++) {
        const nr_constellation *c = nr_constellations[n];
        assert_true(is_far_from_tie(sqrt(c->energy) / 2));
        for (int row = 0; row < max_log_rows(c); row++) {
            for (int place = 0; place < c->axis_bits; place++) {
                max_log_line line = max_log_line_at(c, row, place);
                assert_true(is_far_from_tie(line.slope) && is_far_from_tie(line.intercept));
            }
        }
    }
}

/* What table and fma err by, e (|S| u + |C| + |T|), and beside a boundary a neighbouring row, 2 e u |S' - S|, as a
 * share of what max_log.c says that both together stay below. In units of e. */
static double share_of_bound(const nr_constellation *c, int row, int place, double u, const max_log_line *beside)
{
    max_log_line line = max_log_line_at(c, row, place);
    double error = fabs(line.slope) * u + fabs(line.intercept) + fabs(line.slope * u + line.intercept);
    if (beside)
        error += 2 * u * fabs(beside->slope - line.slope);
    max_log_error most = max_log_error_of(c);
    return error == 0 ? 0 : error / (most.constant + most.slope * u);
}

HARNESS_TEST(test_bound_on_every_row)
{
    for (int n = 2; n < NR_CONSTELLATIONS; n++) {
        const nr_constellation *c = nr_constellations[n];
        const int last = max_log_rows(c) - 1, n_lines = (last + 1) * c->axis_bits;
        double worst_inside = 0, worst_outside = 0;
        for (int k = 0; k < n_lines; k++) {
            int row = k / c->axis_bits, place = k % c->axis_bits;
            max_log_line below = max_log_line_at(c, row > 0 ? row - 1 : row, place);
            max_log_line above = max_log_line_at(c, row < last ? row + 1 : row, place);
            for (int step = 0; step <= 1000; step++) {
                double u = (2 * row + (row == last ? 1e3 : 2) * step / 1000) / sqrt(c->energy);
                const max_log_line *beside = step == 0 ? &below : step == 1000 ? &above : NULL;
                double *worst = row == last ? &worst_outside : &worst_inside;
                *worst = fmax(*worst, share_of_bound(c, row, place, u, beside));
            }
        }
        max_log_error most = max_log_error_of(c);
        print_message("%s: (%.4f + %.4f |v|) / 2^24, at most %.3f of it inside, %.3f outside\n", c->name, most.constant,
                      most.slope, worst_inside, worst_outside);
        assert_true(fmax(worst_inside, worst_outside) < 1 + 1e-12);
        /* Neither constant is larger than it must be. */
        assert_true(c->n_bits == 2 || worst_inside > 0.999);
        assert_true(worst_outside > 0.99);
    }
}

/* The definition as it stands, of all points. */
static void plain_metrics(const nr_constellation *c, const float symbol[2], uint64_t position, double metrics[])
{
    double least[NR_MAX_BITS][2];
    for (int b = 0; b < c->n_bits; b++)
        least[b][0] = least[b][1] = INFINITY;
    for (int bits = 0; bits < 1 << c->n_bits; bits++) {
        double point[2];
        nr_point(c, bits, position, point);
        double distance = hypot((double)symbol[0] - point[0], (double)symbol[1] - point[1]);
        for (int b = 0; b < c->n_bits; b++) {
            double *best = &least[b][bits >> (c->n_bits - 1 - b) & 1];
            *best = fmin(*best, distance * distance);
        }
    }
    for (int b = 0; b < c->n_bits; b++)
        metrics[b] = least[b][1] - least[b][0];
}

/* What the line of a component's row has for a bit. */
static double line_metric(const nr_constellation *c, double v, int place)
{
    const int row = (int)(fabs(v) * sqrt(c->energy) / 2), last = max_log_rows(c) - 1;
    const max_log_line line = max_log_line_at(c, row < last ? row : last, place);
    return (line.slope * fabs(v) + line.intercept) * (place == 0 && v < 0 ? -1 : 1);
}

/* The search of I and Q apart, which max_log_llrs() uses, that of all points, and the lines of the rows are one. */
HARNESS_TEST(test_whole_search)
{
    harness_random random = harness_random_named(__func__);
    for (size_t n = 0; n < NR_CONSTELLATIONS * harness_symbol_count(3000); n++) {
        const nr_constellation *c = nr_constellations[n % NR_CONSTELLATIONS];
        float symbol[2];
        double apart[NR_MAX_BITS], plain[NR_MAX_BITS];
        max_log_llr llrs[NR_MAX_BITS];
        uint64_t position = n / NR_CONSTELLATIONS;
        harness_fill_uniform(&random, 1.5F, 1, symbol); /* in and around the constellations */
        max_log_metrics(c, symbol, position, apart);
        plain_metrics(c, symbol, position, plain);
        max_log_llrs(c, symbol, nr_noise_var(0.01F), 6, position, llrs);
        for (int b = 0; b < c->n_bits; b++) {
            assert_true(fabs(apart[b] - plain[b]) < 1e-13);
            assert_true(c->n_bits == 1 || fabs(apart[b] - line_metric(c, (double)symbol[b % 2], b / 2)) < 1e-13);
            assert_true(fabs(llrs[b].value - apart[b] * 6 / (double)0.01F) < 1e-11);
            assert_true(llrs[b].low <= llrs[b].value && llrs[b].value <= llrs[b].high);
        }
    }
}

/* A binary16 of either sign from itself, half-way between neighbours to the even one, a little off it to the nearer. */
HARNESS_TEST(test_half_rounding)
{
    for (unsigned bits = 0; bits < 0x7bff; bits++) {
        const double low = half_to_double((uint16_t)bits), high = half_to_double((uint16_t)(bits + 1));
        const double negative = half_to_double((uint16_t)(bits | 0x8000)), middle = (low + high) / 2;
        const unsigned even = bits % 2 ? bits + 1 : bits;
        assert_true(negative == -low && signbit(negative) && !signbit(low));
        assert_int_equal(half_from_double(low), bits);
        assert_int_equal(half_from_double(negative), bits | 0x8000);
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
    assert_true(half_to_double(0x3c00) == 1 && half_to_double(0x0001) == 0x1p-24 && half_to_double(0x7bff) == 65504);
    for (unsigned bits = 0x7c00; bits < 0x8000; bits++)
        for (unsigned sign = 0; sign < 2; sign++) {
            const double value = half_to_double((uint16_t)(bits | sign << 15));
            assert_true(bits == 0x7c00 ? value == (sign ? -INFINITY : INFINITY) : isnan(value));
        }
}
