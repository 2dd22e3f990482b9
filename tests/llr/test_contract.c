/* SPDX-License-Identifier: MIT */
/* The arithmetic of the LLRs as it is specified, contract.h, for every constellation: within the bound of brute force
 * for all kinds of symbols and noise, the opposite sign, published values, and the special values in
 * numbers. test_llr_specified.c proves that the library gives these LLRs to the last bit. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "contract.h"
#include "half.h"
#include "harness.h"
#include "max_log.h"

enum { STREAM_BOUND = 1, STREAM_FLIPPED, STREAM_GAINS };

/* -1 to 1, evenly. */
static float random_unit(harness_random *random) { return (float)((double)harness_random_u32(random) * 0x1p-31 - 1); }

static float random_float(harness_random *random)
{
    float value;
    harness_random_fill(random, &value, sizeof value);
    return value;
}

/* A few floats away from v. */
static float step_aside(harness_random *random, float v)
{
    int n = (int)harness_random_below(random, 17) - 8;
    for (; n > 0; n--)
        v = nextafterf(v, INFINITY);
    for (; n < 0; n++)
        v = nextafterf(v, -INFINITY);
    return v;
}

/* A component as a receiver may have it, and as it should not. */
static float random_component(harness_random *random, const nr_constellation *c)
{
    static const float special[] = {0, 0x1p-63F, FLT_MAX, FLT_MAX / 3, FLT_MIN, 0x1p-149F, 1, 3e38F};
    int most = 2 << c->axis_bits;
    float v;
    switch (harness_random_below(random, 8)) {
    case 0:
        return random_float(random);
    case 1:
        v = step_aside(random, special[harness_random_below(random, HARNESS_COUNT(special))]);
        return harness_random_u32(random) % 2 ? -v : v;
    case 2:
    case 3:
        v = (float)((int)harness_random_below(random, (size_t)(2 * most + 1)) - most);
        return step_aside(random, v / (float)sqrt(c->energy));
    case 4:
        return 6 * random_unit(random);
    case 5:
        return ldexpf(random_unit(random), (int)harness_random_below(random, 180) - 70);
    default:
        return 1.5F * random_unit(random);
    }
}

static void random_symbol(harness_random *random, const nr_constellation *c, float symbol[2])
{
    symbol[0] = random_component(random, c);
    symbol[1] = random_component(random, c);
    /* BPSK's sum cancels. */
    if (harness_random_below(random, 16) == 0)
        symbol[1] = step_aside(random, harness_random_below(random, 2) ? -symbol[0] : symbol[0]);
}

static nr_noise random_noise(harness_random *random)
{
    static const float special[] = {0,     -1,      0x1p-100F, 0x1p40F,  0x1p-40F, 0x1p100F, 0x1p-149F,
                                    1e-3F, FLT_MIN, FLT_MAX,   INFINITY, NAN,      1};
    float value;
    switch (harness_random_below(random, 4)) {
    case 0:
        value = random_float(random);
        break;
    case 1:
        value = special[harness_random_below(random, HARNESS_COUNT(special))];
        value = isfinite(value) ? step_aside(random, value) : value;
        break;
    default:
        value = ldexpf(1.5F + random_unit(random) / 2, -(int)harness_random_below(random, 15));
        break;
    }
    return harness_random_below(random, 2) ? nr_noise_var(value) : nr_inverse_noise_var(value);
}

typedef struct tally {
    size_t n_llrs;
    double worst; /* f32: largest error, as a share of the bound */
} tally;

static void check_f32(const max_log_llr *exact, float got, tally *seen)
{
    if (!((double)got >= exact->low && (double)got <= exact->high))
        fail_msg("%a is not within %a to %a", (double)got, exact->low, exact->high);
    seen->n_llrs++;
    if (exact->low > -(double)FLT_MAX && exact->high < (double)FLT_MAX && (double)got != exact->value) {
        double share = fabs((double)got - exact->value) / (exact->high - exact->value);
        seen->worst = fmax(seen->worst, share);
    }
}

static void check_contract(harness_random *random, const nr_constellation *c, tally *seen)
{
    static const float scales[] = {6, 6, 1, 0x1p-10F, 0x1p20F, 20, 0.37F};
    static const int limits[] = {127, 127, 120, 31, 1, 90, 2};
    float symbol[2], f32[NR_MAX_BITS];
    uint16_t f16[NR_MAX_BITS];
    int8_t s8[NR_MAX_BITS];
    max_log_llr exact[NR_MAX_BITS];
    random_symbol(random, c, symbol);
    nr_noise noise = random_noise(random);
    uint64_t position = harness_random_u32(random);
    float scale = scales[harness_random_below(random, HARNESS_COUNT(scales))];
    int limit = limits[harness_random_below(random, HARNESS_COUNT(limits))];
    contract_f32(c, symbol, noise, position, 0, f32);
    contract_f16(c, symbol, noise, position, 0, f16);
    contract_s8(c, symbol, noise, position, 0, scale, limit, s8);
    max_log_llrs(c, symbol, noise, 1, position, exact);
    for (int b = 0; b < c->n_bits; b++) {
        check_f32(&exact[b], f32[b], seen);
        assert_int_equal(f16[b], half_from_double((double)f32[b]));
    }
    max_log_llrs(c, symbol, noise, scale, position, exact);
    for (int b = 0; b < c->n_bits; b++) {
        int low = max_log_to_s8(exact[b].low, limit), high = max_log_to_s8(exact[b].high, limit);
        assert_in_range(s8[b] + 128, low + 128, high + 128);
    }
}

/* The specified arithmetic lies within the bound of brute force, for every constellation, and all kinds of symbols and
 * noise. */
HARNESS_TEST(test_within_bound)
{
    harness_random random = harness_random_stream(STREAM_BOUND);
    for (int n = 0; n < NR_CONSTELLATIONS; n++) {
        const nr_constellation *c = nr_constellations[n];
        tally seen = {0};
        for (size_t i = 0; i < harness_symbol_count(200000); i++)
            check_contract(&random, c, &seen);
        print_message("%s: %zu LLRs, error up to %.3f of the bound\n", c->name, seen.n_llrs, seen.worst);
        /* The bound is no wider than it must be. */
        assert_true(seen.worst > 0.5);
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

/* The opposite sign changes the sign of every LLR, and no erasure. */
HARNESS_TEST(test_flipped)
{
    harness_random random = harness_random_stream(STREAM_FLIPPED);
    for (size_t n = 0; n < NR_CONSTELLATIONS * 3000; n++) {
        const nr_constellation *c = nr_constellations[n % NR_CONSTELLATIONS];
        float symbol[2], plain[NR_MAX_BITS], flipped[NR_MAX_BITS];
        uint16_t plain_f16[NR_MAX_BITS], flipped_f16[NR_MAX_BITS];
        int8_t plain_s8[NR_MAX_BITS], flipped_s8[NR_MAX_BITS];
        random_symbol(&random, c, symbol);
        nr_noise noise = random_noise(&random);
        uint32_t flips = harness_random_u32(&random);
        bool erased = !isfinite(symbol[0]) || !isfinite(symbol[1]) || !isfinite(noise.value) || !(noise.value > 0);
        contract_f32(c, symbol, noise, n, 0, plain);
        contract_f32(c, symbol, noise, n, flips, flipped);
        contract_f16(c, symbol, noise, n, 0, plain_f16);
        contract_f16(c, symbol, noise, n, flips, flipped_f16);
        contract_s8(c, symbol, noise, n, 0, 6, 127, plain_s8);
        contract_s8(c, symbol, noise, n, flips, 6, 127, flipped_s8);
        for (int b = 0; b < c->n_bits; b++) {
            bool flip = flips >> b & 1 && !erased;
            float expected = flip ? -plain[b] : plain[b];
            assert_memory_equal(&flipped[b], &expected, sizeof expected);
            assert_int_equal(flipped_f16[b], plain_f16[b] ^ (flip ? 0x8000 : 0));
            assert_int_equal(flipped_s8[b], flip ? -plain_s8[b] : plain_s8[b]);
            if (erased)
                assert_true(plain[b] == 0 && !signbit(plain[b]) && plain_f16[b] == 0 && plain_s8[b] == 0);
        }
    }
}

/* With a gain: max-log of y = g x + n, which a gain of 1 leaves to the last bit. */
HARNESS_TEST(test_gains)
{
    harness_random random = harness_random_stream(STREAM_GAINS);
    for (size_t n = 0; n < NR_CONSTELLATIONS * 3000; n++) {
        const nr_constellation *c = nr_constellations[n % NR_CONSTELLATIONS];
        float symbol[2], plain[NR_MAX_BITS], llrs[NR_MAX_BITS];
        double metrics[NR_MAX_BITS];
        random_symbol(&random, c, symbol);
        nr_noise noise = random_noise(&random);
        contract_f32(c, symbol, noise, n, 0, plain);
        noise.has_gain = true;
        noise.gain = 1;
        contract_f32(c, symbol, noise, n, 0, llrs);
        assert_memory_equal(llrs, plain, (size_t)c->n_bits * sizeof llrs[0]);
        const float gain = ldexpf(1.5F + random_unit(&random) / 2, (int)harness_random_below(&random, 20) - 10);
        const float x[2] = {2 * random_unit(&random), 2 * random_unit(&random)};
        const float y[2] = {gain * x[0], gain * x[1]};
        noise = (nr_noise){.value = 0.01F * gain * gain, .has_gain = true, .gain = gain};
        contract_f32(c, y, noise, n, 0, llrs);
        max_log_metrics(c, x, n, metrics);
        for (int b = 0; b < c->n_bits; b++)
            assert_true(fabs((double)llrs[b] - metrics[b] / 0.01) <= 1e-3); /* of up to some 2,000 */
    }
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
