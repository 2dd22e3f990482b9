/* SPDX-License-Identifier: MIT */
/* The oracle itself: its constellation against the formula of the standard, its soft bits against liquid's raw ones.
 * The table of neighbours, the first defect of liquid-dsp that reference/README.md describes, must show, and no other.
 * What is clamped and what is an erasure test_soft_bits.c compares with the library. */
#include <math.h>
#include <string.h>

#include "harness.h"
#include "nr_symbol.h"
#include "oracle.h"

enum { N_BITS = HARNESS_SYMBOL_BITS, N_POINTS = 256, MIDPOINT = 127 };

static int open_oracle(void **state)
{
    *state = oracle_create();
    return *state ? 0 : -1;
}

static int close_oracle(void **state)
{
    oracle_destroy(*state);
    return 0;
}

#define TEST(name) HARNESS_TEST_WITH(name, open_oracle, close_oracle)

/* Half the distance of neighbouring levels. */
static float alpha(void) { return (float)(1.0 / sqrt(170.0)); }

static void bits_of(unsigned int number, uint8_t bits[N_BITS])
{
    for (unsigned int b = 0; b < N_BITS; b++)
        bits[b] = (uint8_t)(number >> (N_BITS - 1 - b) & 1u);
}

/* 3GPP TS 38.211 clause 5.1.6, by nr_symbol.h. */
TEST(modulates_by_the_standard)
{
    for (unsigned int n = 0; n < N_POINTS; n++) {
        uint8_t bits[N_BITS];
        float point[2];
        double expected[2];
        bits_of(n, bits);
        nr_point(&nr_256qam, (int)n, 0, expected);
        oracle_modulate(*state, bits, point);
        for (int axis = 0; axis < 2; axis++)
            assert_true(fabs((double)point[axis] - expected[axis]) < 1e-6);
    }
}

TEST(round_trip_survives_noise_within_the_cell)
{
    /* A sure step of one byte needs 0.009 alpha from the boundary: a bit 0 closer to it is 127 too. */
    const float reach = 0.98f * alpha();
    harness_random random = harness_random_named(__func__);
    for (unsigned int n = 0; n < 64 * N_POINTS; n++) {
        uint8_t bits[N_BITS], soft_bits[N_BITS];
        float symbol[2], noise[2];
        bits_of(n % N_POINTS, bits);
        oracle_modulate(*state, bits, symbol);
        harness_fill_uniform(&random, reach, 1, noise);
        symbol[0] += noise[0];
        symbol[1] += noise[1];
        oracle_soft_bits(*state, symbol, 1, soft_bits);
        for (size_t b = 0; b < N_BITS; b++)
            assert_int_equal(soft_bits[b] > MIDPOINT, bits[b] == 0);
    }
}

/* Is v in the outermost cell of the negative side (0) or in the one next to it (1)? A few ulp count as both. */
static int in_cell(float v, int cell)
{
    const float slack = 1e-6f, outer = -14 * alpha(), inner = -12 * alpha();
    return cell == 0 ? v <= outer + slack : v >= outer - slack && v <= inner + slack;
}

/* They differ at liquid's symbols 1 and 16, the two neighbours of symbol 0, in the 3GPP bit that each has damaged. */
static void compare_with_raw(oracle *self, const float *symbols, size_t n_symbols)
{
    scoped_memory uint8_t *soft_bits = harness_alloc(2 * N_BITS * n_symbols);
    uint8_t *raw = soft_bits + N_BITS * n_symbols;
    size_t n_symbol_1 = 0, n_symbol_16 = 0;
    oracle_soft_bits(self, symbols, n_symbols, soft_bits);
    oracle_raw_soft_bits(self, symbols, n_symbols, raw);
    for (size_t k = 0; k < N_BITS * n_symbols; k++) {
        const float i = symbols[k / N_BITS * 2], q = symbols[k / N_BITS * 2 + 1];
        const size_t b = k % N_BITS;
        if (soft_bits[k] == raw[k])
            continue;
        if (b == 7 && in_cell(i, 0) && in_cell(q, 1))
            n_symbol_1++;
        else if (b == 6 && in_cell(i, 1) && in_cell(q, 0))
            n_symbol_16++;
        else
            fail_msg("b%zu of (%a, %a): oracle %d, liquid %d, and no documented defect is there", b, (double)i,
                     (double)q, soft_bits[k], raw[k]);
    }
    if (n_symbol_1 == 0 || n_symbol_16 == 0)
        fail_msg("the oracle differs from liquid-dsp %s %zu times at symbol 1 and %zu times at symbol 16, and should "
                 "at both: either this liquid has mended its table of neighbours, and the detour in "
                 "reference/oracle.c can go, or the oracle has lost its detour",
                 oracle_version(), n_symbol_1, n_symbol_16);
}

TEST(raw_differs_only_next_to_symbol_0)
{
    enum { N = 1 << 19 };
    /* Centre and reach of uniform squares: the clamp, the constellation, and the corner of symbols 0, 1, 16, 17. */
    static const float squares[][2] = {{0.0f, 3.0f}, {0.0f, 1.4f}, {-1.0f, 0.4f}};
    harness_random random = harness_random_named(__func__);
    scoped_memory float *symbols = harness_alloc(N * 2 * sizeof *symbols);
    for (size_t s = 0; s < HARNESS_COUNT(squares); s++) {
        harness_fill_uniform(&random, squares[s][1], N, symbols);
        for (size_t c = 0; c < (size_t)2 * N; c++)
            symbols[c] += squares[s][0];
        compare_with_raw(*state, symbols, N);
    }
    /* Within 4 ulp of all levels and boundaries. */
    const harness_symbol_set *grid = harness_symbol_sets;
    while (!strstr(grid->name, "both axes within"))
        grid++;
    scoped_memory float *near = harness_alloc(grid->n_fixed * 2 * sizeof *near);
    grid->fill(NULL, grid->parameter, 0, grid->n_fixed, near);
    for (size_t c = 0; c < 2 * grid->n_fixed; c++)
        near[c] = fminf(fmaxf(near[c], -3), 3);
    compare_with_raw(*state, near, grid->n_fixed);
}
