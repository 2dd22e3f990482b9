/* SPDX-License-Identifier: MIT */
/* The arithmetic of the LLRs as it is specified, contract.h, for every constellation: within the bound of brute force
 * for all kinds of symbols and noise, the opposite sign, published values, and the special values in
 * numbers. test_llr_specified.c proves that the library gives these LLRs to the last bit. */
#include <float.h>
#include <math.h>

#include "contract.h"
#include "half.h"
#include "harness.h"
#include "max_log.h"

/* The largest error of f32, as a share of the bound: within it. */
static double share_of_bound(const max_log_llr *exact, float got)
{
    if (!((double)got >= exact->low && (double)got <= exact->high))
        fail_msg("%a is not within %a to %a", (double)got, exact->low, exact->high);
    const bool is_limited = exact->low <= -(double)FLT_MAX || exact->high >= (double)FLT_MAX;
    return is_limited || (double)got == exact->value ? 0
                                                     : fabs((double)got - exact->value) / (exact->high - exact->value);
}

/* Within the bound of brute force in f32, in f16 and s8 that rounded; with the opposite sign every LLR but an erasure's
 * is the opposite; and a gain of 1 changes nothing. */
static double check_symbol(harness_random *random, const nr_constellation *c, const float symbol[2], nr_noise noise)
{
    static const float scales[] = {6, 6, 1, 0x1p-10F, 0x1p20F, 20, 0.37F};
    static const int limits[] = {127, 127, 120, 31, 1, 90, 2};
    const uint64_t position = harness_random_u32(random);
    const uint32_t all_flips[2] = {0, harness_random_u32(random)};
    const float scale = scales[harness_random_below(random, HARNESS_COUNT(scales))];
    const int limit = limits[harness_random_below(random, HARNESS_COUNT(limits))];
    const bool erased = !isfinite(symbol[0]) || !isfinite(symbol[1]) || !isfinite(noise.value) || !(noise.value > 0);
    float f32[2][NR_MAX_BITS], with_gain[NR_MAX_BITS];
    uint16_t f16[2][NR_MAX_BITS];
    int8_t s8[2][NR_MAX_BITS];
    max_log_llr exact[NR_MAX_BITS], scaled[NR_MAX_BITS];
    double worst = 0;
    for (int k = 0; k < 2; k++) {
        contract_f32(c, symbol, noise, position, all_flips[k], f32[k]);
        contract_f16(c, symbol, noise, position, all_flips[k], f16[k]);
        contract_s8(c, symbol, noise, position, all_flips[k], scale, limit, s8[k]);
    }
    max_log_llrs(c, symbol, noise, 1, position, exact);
    max_log_llrs(c, symbol, noise, scale, position, scaled);
    noise.has_gain = true;
    noise.gain = 1;
    contract_f32(c, symbol, noise, position, 0, with_gain);
    assert_memory_equal(with_gain, f32[0], (size_t)c->n_bits * sizeof with_gain[0]);
    for (int b = 0; b < c->n_bits; b++) {
        const int low = max_log_to_s8(scaled[b].low, limit), high = max_log_to_s8(scaled[b].high, limit);
        const bool flip = all_flips[1] >> b & 1 && !erased;
        const float flipped = flip ? -f32[0][b] : f32[0][b];
        worst = fmax(worst, share_of_bound(&exact[b], f32[0][b]));
        assert_int_equal(f16[0][b], half_from_double((double)f32[0][b]));
        assert_in_range(s8[0][b] + 128, low + 128, high + 128);
        assert_memory_equal(&f32[1][b], &flipped, sizeof flipped);
        assert_int_equal(f16[1][b], f16[0][b] ^ (flip ? 0x8000 : 0));
        assert_int_equal(s8[1][b], flip ? -s8[0][b] : s8[0][b]);
        if (erased)
            assert_true(f32[0][b] == 0 && !signbit(f32[0][b]) && f16[0][b] == 0 && s8[0][b] == 0);
    }
    return worst;
}

/* Of every constellation, all kinds of symbols and noise. */
HARNESS_TEST(test_all_kinds)
{
    harness_random random = harness_random_named(__func__);
    const size_t n = harness_symbol_count(200000);
    scoped_memory float *symbols = harness_alloc(2 * n * sizeof *symbols), *noise = harness_alloc(n * sizeof *noise);
    for (int m = 0; m < NR_CONSTELLATIONS; m++) {
        double worst = 0;
        harness_set_modulation((softqam_modulation)(1 + m)); /* with as many levels */
        harness_fill_mixture(&random, n, symbols);
        harness_fill_noise(&random, HARNESS_NOISE_ANY, n, noise);
        for (size_t i = 0; i < n; i++) {
            if (i % 16 == 0) /* BPSK's sum cancels */
                symbols[2 * i + 1] = nextafterf(i % 32 ? symbols[2 * i] : -symbols[2 * i], i % 64 < 32 ? 0 : 3);
            const nr_noise of = i % 2 ? nr_noise_var(noise[i]) : nr_inverse_noise_var(noise[i]);
            worst = fmax(worst, check_symbol(&random, nr_constellations[m], symbols + 2 * i, of));
        }
        print_message("%s: error up to %.3f of the bound\n", nr_constellations[m]->name, worst);
        assert_true(worst > 0.5); /* the bound is no wider than it must be */
    }
}

/* With a gain: max-log of y = g x + n. */
HARNESS_TEST(test_gains)
{
    harness_random random = harness_random_named(__func__);
    for (size_t n = 0; n < NR_CONSTELLATIONS * 3000; n++) {
        const nr_constellation *c = nr_constellations[n % NR_CONSTELLATIONS];
        float x[2], y[2], llrs[NR_MAX_BITS];
        double metrics[NR_MAX_BITS];
        harness_fill_uniform(&random, 2, 1, x);
        const float gain = ldexpf(1 + (float)harness_random_below(&random, 1 << 20) * 0x1p-20F,
                                  (int)harness_random_below(&random, 20) - 10);
        y[0] = gain * x[0];
        y[1] = gain * x[1];
        contract_f32(c, y, (nr_noise){.value = 0.01F * gain * gain, .has_gain = true, .gain = gain}, n, 0, llrs);
        max_log_metrics(c, x, n, metrics);
        for (int b = 0; b < c->n_bits; b++)
            assert_true(fabs((double)llrs[b] - metrics[b] / 0.01) <= 1e-3); /* of up to some 2,000 */
    }
}

/* Four values of MATLAB's nrSymbolDemodulate, published: the definition is the field's. */
HARNESS_TEST(test_published)
{
    static const double expected[] = {-2.352941, -0.988235, -0.447059, -0.211765};
    const float symbol[] = {-2.454288F, -2.454288F};
    float llrs[NR_MAX_BITS];
    contract_f32(&nr_256qam, symbol, nr_noise_var(2), 0, 0, llrs);
    for (int b = 0; b < nr_256qam.n_bits; b++)
        assert_true(fabs((double)llrs[b] - expected[b / 2]) < 5e-7);
}

static void assert_f32(const nr_constellation *c, float i, float q, nr_noise noise, uint64_t position, int b,
                       float expected)
{
    const float symbol[] = {i, q};
    float llrs[NR_MAX_BITS];
    contract_f32(c, symbol, noise, position, 0, llrs);
    assert_memory_equal(&llrs[b], &expected, sizeof expected);
}

static int s8_at(const nr_constellation *c, float i, float q, nr_noise noise, float scale, int limit, int b)
{
    const float symbol[] = {i, q};
    int8_t llrs[NR_MAX_BITS];
    contract_s8(c, symbol, noise, 0, 0, scale, limit, llrs);
    return llrs[b];
}

/* Tiny components, noise at the ends of what counts, overflow, and int8's rounding, in numbers. */
HARNESS_TEST(test_special_values)
{
    const nr_noise one = nr_noise_var(1);
    const float four_a = (float)(4 / sqrt(2)), below = nextafterf(0x1p-63F, 0);
    assert_f32(&nr_qpsk, 0x1p-63F, -0x1p-63F, one, 0, 0, 0x1p-63F * four_a);
    assert_f32(&nr_qpsk, below, 0, one, 0, 0, 0);
    assert_f32(&nr_qpsk, -below, 0, one, 0, 0, -0.0F);
    assert_f32(&nr_qpsk, -0.0F, 0, one, 0, 0, -0.0F);
    assert_f32(&nr_1024qam, 1, below, one, 0, 3, (float)(288.0 / 682));

    assert_f32(&nr_qpsk, 1, 0, nr_noise_var(0x1p-149F), 0, 0, four_a * 0x1p100F);
    assert_f32(&nr_qpsk, 1, 0, nr_noise_var(0x1p-101F), 0, 0, four_a * 0x1p100F);
    assert_f32(&nr_qpsk, 1, 0, nr_noise_var(FLT_MAX), 0, 0, four_a * 0x1p-40F);
    assert_f32(&nr_qpsk, 1, 0, nr_inverse_noise_var(FLT_MAX), 0, 0, four_a * 0x1p100F);
    assert_f32(&nr_qpsk, 1, 0, nr_inverse_noise_var(0x1p-149F), 0, 0, four_a * 0x1p-40F);
    assert_f32(&nr_qpsk, 1, 0, nr_inverse_noise_var(3), 0, 0, four_a * 3);

    /* N0 * LLR overflows, and the LLR with it, however large N0. */
    assert_f32(&nr_qpsk, 3e38F, 0, nr_noise_var(0x1p40F), 0, 0, FLT_MAX);
    assert_f32(&nr_256qam, -3e38F, 0, nr_noise_var(0x1p40F), 0, 0, -FLT_MAX);
    assert_f32(&nr_bpsk, 3e38F, 3e38F, nr_noise_var(0x1p40F), 0, 0, FLT_MAX);
    assert_int_equal(s8_at(&nr_bpsk, -3e38F, -3e38F, nr_noise_var(0x1p40F), 0x1p-10F, 93, 0), -93);

    /* Half a step: to the even number, from both sides of it. */
    float v = 1 / four_a;
    while (v * four_a < 1)
        v = nextafterf(v, 1);
    assert_f32(&nr_qpsk, v, 0, one, 0, 0, 1);
    assert_int_equal(s8_at(&nr_qpsk, v, -v, one, 0.5F, 127, 0), 0);
    assert_int_equal(s8_at(&nr_qpsk, v, -v, one, nextafterf(0.5F, 1), 127, 0), 1);
    assert_int_equal(s8_at(&nr_qpsk, v, -v, one, 1.5F, 127, 0), 2);
    assert_int_equal(s8_at(&nr_qpsk, v, -v, one, 2.5F, 127, 1), -2);
    assert_int_equal(s8_at(&nr_qpsk, v, -v, one, 126.5F, 127, 1), -126);
    assert_int_equal(s8_at(&nr_qpsk, v, -v, one, 127.5F, 127, 1), -127);
    assert_int_equal(s8_at(&nr_qpsk, v, -v, one, 128, 127, 0), 127);
}

/* BPSK's point for bit 0 is (1 + j) / sqrt(2); of pi/2-BPSK, at odd positions, (-1 + j) / sqrt(2). */
HARNESS_TEST(test_bpsk)
{
    const nr_noise one = nr_noise_var(1);
    const float s = (float)(2 * sqrt(2));
    for (uint64_t position = 0; position < 4; position++)
        assert_f32(&nr_bpsk, 0.75F, -0.25F, one, position, 0, 0.5F * s);
    assert_f32(&nr_pi_2_bpsk, 0.75F, -0.25F, one, UINT64_MAX - 1, 0, 0.5F * s);
    assert_f32(&nr_pi_2_bpsk, 0.75F, -0.25F, one, UINT64_MAX, 0, -1.0F * s);
    assert_f32(&nr_pi_2_bpsk, 0.75F, 0.75F, one, 1, 0, 0);
    /* Zeros: -0 only where both are. */
    assert_f32(&nr_bpsk, -0.0F, -0.0F, one, 0, 0, -0.0F);
    assert_f32(&nr_bpsk, -0.0F, 0, one, 0, 0, 0);
    assert_f32(&nr_pi_2_bpsk, 0, -0.0F, one, 1, 0, -0.0F);
}
