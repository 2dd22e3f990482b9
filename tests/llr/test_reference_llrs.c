/* SPDX-License-Identifier: MIT */
/* The references of LLRs and soft bits are right themselves, for every constellation: the specified arithmetic,
 * contract.h, lies within a bound of max-log that is no wider than it must be, and has published values. The oracle
 * differs from liquid-dsp only by the defects that reference/oracle.h describes. ../vectors/llr proves that the points
 * are those of TS 38.211, and which zeros are negative; ../python searches all points, and has gains, floors of N0 and
 * pairs of layers: what the library, which equals the references, makes of them. binary16 is the processor's: vector
 * loops convert by its instructions. */
#include <float.h>
#include <math.h>

#include "contract.h"
#include "half.h"
#include "harness.h"
#include "max_log.h"
#include "oracle.h"

/* The specified arithmetic. */

/* The error of f32 as a share of the bound, which it must keep. */
static double share_of_bound(const max_log_llr *exact, float got)
{
    if (!((double)got >= exact->low && (double)got <= exact->high))
        fail_msg("%a is not within %a to %a", (double)got, exact->low, exact->high);
    const bool is_limited = exact->low <= -(double)FLT_MAX || exact->high >= (double)FLT_MAX;
    return is_limited || (double)got == exact->value ? 0
                                                     : fabs((double)got - exact->value) / (exact->high - exact->value);
}

/* f32 is within the bound of brute force, f16 and s8 are that rounded; with the opposite sign every LLR but an
 * erasure's is the opposite; and a gain of 1 changes nothing, but that N0 has no limits. */
static double check_symbol(harness_random *random, const nr_constellation *c, const float symbol[2], nr_noise noise)
{
    static const float scales[] = {6, 6, 1, 0x1p-10F, 0x1p20F, 20, 0.37F};
    static const int limits[] = {127, 127, 120, 31, 1, 90, 2};
    const uint64_t position = harness_random_u32(random);
    const uint32_t flips = harness_random_u32(random);
    const float scale = scales[harness_random_below(random, HARNESS_COUNT(scales))];
    const int limit = limits[harness_random_below(random, HARNESS_COUNT(limits))];
    const bool erased = !isfinite(symbol[0]) || !isfinite(symbol[1]) || !isfinite(noise.value) || !(noise.value > 0);
    float f32[NR_MAX_BITS], flipped[NR_MAX_BITS];
    uint16_t f16[NR_MAX_BITS];
    int8_t s8[NR_MAX_BITS];
    max_log_llr exact[NR_MAX_BITS], scaled[NR_MAX_BITS];
    double worst = 0;
    contract_f32(c, symbol, noise, position, 0, f32);
    contract_f16(c, symbol, noise, position, 0, 65504, f16);
    contract_s8(c, symbol, noise, position, 0, scale, limit, s8);
    max_log_llrs(c, symbol, noise, 1, position, exact);
    max_log_llrs(c, symbol, noise, scale, position, scaled);
    noise.has_gain = noise.value >= 0x1p-40F && noise.value <= 0x1p40F; /* beside a gain N0 has no limits */
    noise.gain = 1;
    contract_f32(c, symbol, noise, position, flips, flipped);
    for (int b = 0; b < c->n_bits; b++) {
        const int low = max_log_to_s8(scaled[b].low, limit), high = max_log_to_s8(scaled[b].high, limit);
        const float opposite = flips >> b & 1 && !erased ? -f32[b] : f32[b];
        worst = fmax(worst, share_of_bound(&exact[b], f32[b]));
        assert_int_equal(f16[b], half_from_double((double)f32[b]));
        assert_in_range(s8[b] + 128, low + 128, high + 128);
        assert_memory_equal(&flipped[b], &opposite, sizeof opposite);
        if (erased)
            assert_true(f32[b] == 0 && !signbit(f32[b]));
    }
    return worst;
}

/* All kinds of symbols and noise. */
HARNESS_TEST(test_bound_is_kept)
{
    harness_random random = harness_random_named(__func__);
    const size_t n = harness_symbol_count(100000);
    scoped_memory float *symbols = harness_alloc(2 * n * sizeof *symbols), *noise = harness_alloc(n * sizeof *noise);
    for (int m = 0; m < NR_CONSTELLATIONS; m++) {
        const max_log_error error = max_log_error_of(nr_constellations[m]);
        double worst = 0;
        /* softqam.h has one bound for all but BPSK, whose metric is 3 * 2^-24 of itself off. */
        assert_true(nr_is_bpsk(nr_constellations[m]) || (error.constant < 2 && error.slope < 6));
        harness_set_modulation((softqam_modulation)(1 + m)); /* with as many levels */
        harness_fill_mixture(&random, n, symbols);
        harness_fill_noise(&random, HARNESS_NOISE_ANY, n, noise);
        for (size_t i = 0; i < n; i++) {
            if (i % 16 == 0) /* BPSK's sum cancels */
                symbols[2 * i + 1] = nextafterf(i % 32 ? symbols[2 * i] : -symbols[2 * i], i % 64 < 32 ? 0 : 3);
            const nr_noise one_noise = i % 2 ? nr_noise_var(noise[i]) : nr_inverse_noise_var(noise[i]);
            worst = fmax(worst, check_symbol(&random, nr_constellations[m], symbols + 2 * i, one_noise));
        }
        print_message("%s: error up to %.3f of the bound\n", nr_constellations[m]->name, worst);
        assert_true(worst > 0.5); /* the bound is no wider than it must be */
    }
}

/* softqam.h's bound with gains. Symbols and gains have so few bits that a symbol multiplied by its gain is exact; in
 * every second one of BPSK I and Q cancel each other. */
HARNESS_TEST(test_bound_with_gains)
{
    harness_random random = harness_random_named(__func__);
    const double e = 0x1p-24;
    for (int m = 0; m < NR_CONSTELLATIONS; m++) {
        const nr_constellation *c = nr_constellations[m];
        double worst = 0;
        for (size_t i = 0; i < harness_symbol_count(100000); i++) {
            nr_noise noise = nr_noise_var((float)(1 + harness_random_below(&random, 1 << 20)) * 0x1p-20F);
            noise.has_gain = true;
            noise.gain = (float)(1 + harness_random_below(&random, 4096)) * 0x1p-6F;
            float symbol[2], product[2], llrs[NR_MAX_BITS];
            double metrics[NR_MAX_BITS];
            for (int axis = 0; axis < 2; axis++)
                symbol[axis] = (float)((int)harness_random_below(&random, 4095) - 2047) * 0x1p-10F;
            if (nr_is_bpsk(c) && i % 2)
                symbol[1] = (float)((int)harness_random_below(&random, 5) - 2) * 0x1p-10F - symbol[0];
            for (int axis = 0; axis < 2; axis++)
                product[axis] = symbol[axis] * noise.gain;
            contract_f32(c, product, noise, 0, 0, llrs);
            max_log_metrics(c, symbol, 0, metrics);
            for (int b = 0; b < c->n_bits; b++) {
                const double n0 = (double)noise.value / ((double)noise.gain * (double)noise.gain);
                const double exact = metrics[b] / n0, i_and_q = fabs((double)symbol[0]) + fabs((double)symbol[1]);
                const double bound = nr_is_bpsk(c)
                                         ? e * (10 * fabs(exact) + 6 * i_and_q / n0)
                                         : e * (4 + 12 * fabs((double)symbol[b % 2])) / n0 + 4 * e * fabs(exact);
                const double error = fabs((double)llrs[b] - exact);
                assert_true(error <= bound);
                worst = fmax(worst, error > 0 ? error / bound : 0);
            }
        }
        print_message("%s: error with gains up to %.3f of the bound\n", c->name, worst);
        assert_true(worst > 0.25);
    }
}

/* Four values of MATLAB's nrSymbolDemodulate, published: the definition is the field's. */
HARNESS_TEST(test_published)
{
    static const float symbol[2] = {-2.454288F, -2.454288F};
    static const double published[] = {-2.352941, -0.988235, -0.447059, -0.211765};
    float llrs[NR_MAX_BITS];
    contract_f32(&nr_256qam, symbol, nr_noise_var(2), 0, 0, llrs);
    for (int b = 0; b < nr_256qam.n_bits; b++)
        assert_true(fabs((double)llrs[b] - published[b / 2]) < 5e-7);
}

/* s8: half a step goes to the even number, from both sides of it. The LLRs of the symbol are +-1. */
HARNESS_TEST(test_half_steps)
{
    static const float scales[] = {0.5F, 0x1.000002p-1F, 1.5F, 2.5F, 126.5F, 127.5F, 128};
    static const int8_t expected[] = {0, 1, 2, 2, 126, 127, 127};
    const float four_a = (float)(4 / sqrt(2));
    int8_t llrs[NR_MAX_BITS];
    float v = 1 / four_a;
    while (v * four_a < 1)
        v = nextafterf(v, 1);
    for (size_t k = 0; k < HARNESS_COUNT(scales); k++) {
        contract_s8(&nr_qpsk, (float[]){v, -v}, nr_noise_var(1), 0, 0, scales[k], 127, llrs);
        assert_true(llrs[0] == expected[k] && llrs[1] == -expected[k]);
    }
}

/* The oracle. */

enum { N_BITS = HARNESS_SYMBOL_BITS };

/* Half the distance of neighbouring levels. */
static float alpha(void) { return (float)(1.0 / sqrt(170.0)); }

/* True in the outermost cell of the negative side (0), or in the one next to it (1). A few ulp count as both. */
static bool in_cell(float v, int cell)
{
    const float slack = 1e-6f, outer = -14 * alpha(), inner = -12 * alpha();
    return cell == 0 ? v <= outer + slack : v >= outer - slack && v <= inner + slack;
}

/* The oracle differs from liquid at its symbols 1 and 16 alone, the two neighbours of symbol 0, in the 3GPP bit that
 * each has damaged: in the constellation, out to the clamp, and in the corner of symbols 0, 1, 16, 17. */
HARNESS_TEST(test_oracle_and_raw_liquid)
{
    enum { N = 1 << 18 };
    static const float centre_and_reach[][2] = {{0.0f, 3.0f}, {0.0f, 1.4f}, {-1.0f, 0.4f}};
    harness_random random = harness_random_named(__func__);
    oracle *self = oracle_create();
    size_t n_symbol_1 = 0, n_symbol_16 = 0;
    assert_non_null(self);
    for (size_t n = 0; n < 3 * N; n++) {
        uint8_t soft_bits[N_BITS], raw[N_BITS];
        float symbol[2];
        harness_fill_uniform(&random, centre_and_reach[n % 3][1], 1, symbol);
        for (int axis = 0; axis < 2; axis++) {
            const float near = (float)((int)harness_random_below(&random, 33) - 16) * alpha();
            symbol[axis] = n % 16 ? symbol[axis] + centre_and_reach[n % 3][0] : nextafterf(near, symbol[axis]);
        }
        oracle_soft_bits(self, symbol, 1, soft_bits);
        oracle_raw_soft_bits(self, symbol, 1, raw);
        for (size_t b = 0; b < N_BITS; b++) {
            const bool is_1 = b == 7 && in_cell(symbol[0], 0) && in_cell(symbol[1], 1);
            const bool is_16 = b == 6 && in_cell(symbol[0], 1) && in_cell(symbol[1], 0);
            if (soft_bits[b] != raw[b] && !is_1 && !is_16)
                fail_msg("b%zu of (%a, %a): oracle %d, liquid %d, and no documented defect is there", b,
                         (double)symbol[0], (double)symbol[1], soft_bits[b], raw[b]);
            n_symbol_1 += is_1 && soft_bits[b] != raw[b];
            n_symbol_16 += is_16 && soft_bits[b] != raw[b];
        }
    }
    if (n_symbol_1 == 0 || n_symbol_16 == 0)
        fail_msg("the oracle and liquid-dsp %s are equal at symbol 1 or 16: liquid has mended its table of neighbours, "
                 "and the detour in reference/oracle.c can go, or the oracle has lost its detour",
                 oracle_version());
    oracle_destroy(self);
}
