/* SPDX-License-Identifier: MIT */
/* The values of the LLRs, through the public API, on the backend that SOFTQAM_TEST_BACKEND names: brute force in
 * double within the bound of reference/, scales and limits, published values. test_llr_specified.c has the
 * specification to the last bit. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"
#include "llr_fixture.h"
#include "max_log.h"

/* Streams of random numbers, one a test, so that a test gives the same alone as among the others. */
enum {
    STREAM_BRUTE_FORCE = 1,
    STREAM_SCALES,
    STREAM_RARE,
};

enum { N_LABELS = 16 };

/* What a format makes of an LLR that is exact. */
static double quantise(softqam_output_format format, double llr, int limit)
{
    switch (format) {
    case SOFTQAM_OUTPUT_S8:
    case SOFTQAM_OUTPUT_S16:
        return max_log_to_s8(llr, limit);
    case SOFTQAM_OUTPUT_F16:
        return half_to_double(half_from_double(llr));
    case SOFTQAM_OUTPUT_U8:
    case SOFTQAM_OUTPUT_F32:
        break;
    }
    return llr;
}

typedef struct tally {
    size_t n_llrs;
    size_t n_undecided;   /* the bound spans a rounding boundary */
    size_t n_not_nearest; /* the format does not hold the exact LLR, rounded */
    double worst;         /* largest error, as a share of the bound */
} tally;

static void check_symbol(softqam_output_format format, int limit, const float *symbol, float noise_var,
                         const max_log_llr *llrs, const uint8_t *out, tally *seen)
{
    for (size_t b = 0; b < HARNESS_SYMBOL_BITS; b++) {
        double got = llr_at(format, out, b);
        double low = quantise(format, llrs[b].low, limit), high = quantise(format, llrs[b].high, limit);
        if (!(got >= low && got <= high)) {
            fail_msg("(%a, %a), N0 %a: b%zu is %a in %s, not %a to %a", (double)symbol[0], (double)symbol[1],
                     (double)noise_var, b, got, harness_output_names[format], low, high);
        }
        seen->n_llrs++;
        seen->n_undecided += low < high;
        seen->n_not_nearest += got != quantise(format, llrs[b].value, limit);
        if (llrs[b].low > -(double)FLT_MAX && llrs[b].high < (double)FLT_MAX && got != llrs[b].value) {
            double room = got > llrs[b].value ? llrs[b].high - llrs[b].value : llrs[b].value - llrs[b].low;
            seen->worst = fmax(seen->worst, fabs(got - llrs[b].value) / room);
        }
    }
}

/* The LLRs with this scale and limit against brute force. */
static void check_reference(const harness_setup *setup, const llr_input *in, tally *seen)
{
    const harness_llr_defaults defaults = harness_llr_defaults_of[setup->demodulator.output_format];
    float scale = setup->demodulator.llr_scale != 0 ? setup->demodulator.llr_scale : defaults.scale;
    int limit = setup->demodulator.llr_limit ? setup->demodulator.llr_limit : defaults.limit;
    size_t nbytes = harness_output_nbytes(setup->demodulator.output_format, 1);
    scoped_memory uint8_t *out = harness_answer(setup, in->symbols, in->noise_var, in->n_symbols);
    for (size_t i = 0; i < in->n_symbols; i++) {
        float noise_var = in->noise_var[setup->demodulator.noise == SOFTQAM_NOISE_PER_SYMBOL ? i : 0];
        max_log_llr llrs[HARNESS_SYMBOL_BITS];
        max_log_llrs(&nr_256qam, in->symbols + 2 * i, nr_noise_var(noise_var), scale, 0, llrs);
        check_symbol(setup->demodulator.output_format, limit, in->symbols + 2 * i, noise_var, llrs, out + i * nbytes,
                     seen);
    }
}

/* binary16 is the binary32 output, rounded: to the last bit, since both come from one number. */
static void check_halves(const llr_input *in)
{
    scoped_memory uint8_t *floats = llr_answer(SOFTQAM_OUTPUT_F32, in), *halves = llr_answer(SOFTQAM_OUTPUT_F16, in);
    for (size_t i = 0; i < in->n_symbols * HARNESS_SYMBOL_BITS; i++) {
        uint16_t expected = half_from_double(llr_at(SOFTQAM_OUTPUT_F32, floats, i)), got;
        memcpy(&got, halves + i * sizeof got, sizeof got);
        assert_int_equal(got, expected);
    }
}

static void check_set(const harness_symbol_set *set, harness_noise noise, harness_random *random,
                      tally seen[HARNESS_N_LLR_FORMATS])
{
    size_t n_symbols = harness_symbol_count(3000);
    n_symbols = set->n_fixed && set->n_fixed < n_symbols ? set->n_fixed : n_symbols;
    SCOPED(llr_close_input) llr_input in = llr_open_input(n_symbols);
    size_t start = set->n_fixed ? harness_random_below(random, set->n_fixed - n_symbols + 1) : 0;
    set->fill(random, set->parameter, start, n_symbols, in.symbols);
    harness_fill_noise(random, noise, n_symbols, in.noise_var);
    for (size_t k = 0; k < HARNESS_N_LLR_FORMATS; k++) {
        harness_setup setup = harness_format_setup(harness_llr_formats[k], SOFTQAM_NOISE_PER_SYMBOL);
        check_reference(&setup, &in, &seen[k]);
    }
    check_halves(&in);
}

static void print_tally(const char *what, softqam_output_format format, const tally *seen)
{
    print_message("%s, %s: %zu LLRs, %zu could be two values, %zu not the exact one rounded", what,
                  harness_output_names[format], seen->n_llrs, seen->n_undecided, seen->n_not_nearest);
    if (format == SOFTQAM_OUTPUT_F32)
        print_message(", error up to %.3f of the bound", seen->worst);
    print_message("\n");
}

static void check_brute_force(harness_noise noise, const char *what)
{
    harness_random random = harness_random_stream((uint32_t)noise << 8 | STREAM_BRUTE_FORCE);
    tally seen[HARNESS_N_LLR_FORMATS] = {{0}};
    for (size_t i = 0; i < harness_n_symbol_sets; i++)
        check_set(&harness_symbol_sets[i], noise, &random, seen);
    for (size_t k = 0; k < HARNESS_N_LLR_FORMATS; k++)
        print_tally(what, harness_llr_formats[k], &seen[k]);
}

HARNESS_TEST(test_usual_noise)
{
    check_brute_force(HARNESS_NOISE_USUAL, "usual noise");
}

HARNESS_TEST(test_positive_noise)
{
    check_brute_force(HARNESS_NOISE_POSITIVE, "any positive noise");
}

HARNESS_TEST(test_any_noise)
{
    check_brute_force(HARNESS_NOISE_ANY, "any bits as noise");
}

HARNESS_TEST(test_scales_and_limits)
{
    static const struct {
        float scale;
        int limit;
    } scales[] = {{0, 0},   {0, 1},      {0, 2},        {6, 120},      {1, 63},        {0x1p-10F, 127},
                  {20, 31}, {0.37F, 10}, {1000.0F, 90}, {0x1p20F, 64}, {0x1.fp-10F, 3}};
    SCOPED(llr_close_input) llr_input in = llr_open_mixture(STREAM_SCALES, HARNESS_NOISE_ANY, 3001);
    for (size_t i = 0; i < HARNESS_COUNT(scales); i++) {
        for (int noise = SOFTQAM_NOISE_PER_SYMBOL; noise <= SOFTQAM_NOISE_PER_CALL; noise++) {
            harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_S8, (softqam_noise)noise);
            setup.demodulator.llr_scale = scales[i].scale;
            setup.demodulator.llr_limit = scales[i].limit;
            tally seen = {0};
            check_reference(&setup, &in, &seen);
        }
    }
}

/* With a scale of 2^k, s8 is the f32 output times 2^k, rounded: the weight differs by its exponent only. But s8 rounds
 * the product once, so where f32's own rounding has just brought it to a half, the next integer may be right. */
HARNESS_TEST(test_s8_is_f32_rounded)
{
    SCOPED(llr_close_input) llr_input in = llr_open_mixture(STREAM_SCALES, HARNESS_NOISE_USUAL, 20011);
    scoped_memory uint8_t *floats = llr_answer(SOFTQAM_OUTPUT_F32, &in);
    for (int k = -10; k <= 20; k++) {
        harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL);
        setup.demodulator.llr_scale = ldexpf(1, k);
        setup.demodulator.llr_limit = 100 + k;
        scoped_memory uint8_t *steps = harness_answer(&setup, in.symbols, in.noise_var, in.n_symbols);
        for (size_t i = 0; i < in.n_symbols * HARNESS_SYMBOL_BITS; i++) {
            double llr = ldexp(llr_at(SOFTQAM_OUTPUT_F32, floats, i), k);
            const int rounded = max_log_to_s8(llr, setup.demodulator.llr_limit);
            if ((int8_t)steps[i] != rounded)
                assert_true(fabs((int8_t)steps[i] - llr) == 0.5);
        }
    }
}

/* On symbols as a receiver has them s8 is the exact LLR, rounded, but for one in thousands. Without this, a bound that
 * is far too wide would pass for exactness. */
HARNESS_TEST(test_s8_rarely_undecided)
{
    for (size_t i = 0; i < harness_n_symbol_sets; i++) {
        const harness_symbol_set *set = &harness_symbol_sets[i];
        if (strcmp(set->name, "constellation at 20 dB") != 0 && strcmp(set->name, "constellation at 28 dB") != 0)
            continue;
        SCOPED(llr_close_input) llr_input in = llr_open_input(20000);
        harness_random random = harness_random_stream(STREAM_RARE);
        set->fill(&random, set->parameter, 0, in.n_symbols, in.symbols);
        in.noise_var[0] = powf(10, -set->parameter / 10);
        harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_CALL);
        tally seen = {0};
        check_reference(&setup, &in, &seen);
        print_tally(set->name, SOFTQAM_OUTPUT_S8, &seen);
        assert_true(seen.n_llrs == in.n_symbols * HARNESS_SYMBOL_BITS);
        assert_true((double)seen.n_undecided < 2e-3 * (double)seen.n_llrs);
        assert_true((double)seen.n_not_nearest < 2e-4 * (double)seen.n_llrs);
    }
}

/* Four values of MATLAB's nrSymbolDemodulate, published: the definition is the field's. */
HARNESS_TEST(test_fixed_point)
{
    static const double expected[] = {-2.352941, -0.988235, -0.447059, -0.211765};
    const float symbols[] = {-2.454288F, -2.454288F}, noise_var = 2;
    float llrs[HARNESS_SYMBOL_BITS];
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_F32, SOFTQAM_NOISE_PER_CALL);
    scoped_memory uint8_t *out = harness_answer(&setup, symbols, &noise_var, 1);
    memcpy(llrs, out, sizeof llrs);
    for (int b = 0; b < HARNESS_SYMBOL_BITS; b++)
        assert_true(fabs((double)llrs[b] - expected[b / 2]) < 5e-7);
}

/* Without noise in the symbol the signs are the transmitted bits, as long as the least LLR, 4 alpha^2 / N0, does not
 * round to 0: it is 2.35 nats, 14 steps of s8, at the first of these noise variances. */
HARNESS_TEST(test_points_have_their_bits)
{
    static const float noise_vars[] = {0.01F, 1e-3F, 1e-6F, 1e-38F, 1e-45F};
    float symbols[2 * N_LABELS * N_LABELS];
    for (size_t i = 0; i < (size_t)N_LABELS * N_LABELS; i++) {
        symbols[2 * i] = (float)nr_coordinate(&nr_256qam, (int)(i / N_LABELS));
        symbols[2 * i + 1] = (float)nr_coordinate(&nr_256qam, (int)(i % N_LABELS));
    }
    for (size_t n = 0; n < HARNESS_COUNT(noise_vars) * HARNESS_N_LLR_FORMATS; n++) {
        softqam_output_format format = harness_llr_formats[n % HARNESS_N_LLR_FORMATS];
        harness_setup setup = harness_format_setup(format, SOFTQAM_NOISE_PER_CALL);
        scoped_memory uint8_t *out =
            harness_answer(&setup, symbols, &noise_vars[n / HARNESS_N_LLR_FORMATS], (size_t)N_LABELS * N_LABELS);
        for (size_t i = 0; i < HARNESS_COUNT(symbols) / 2 * HARNESS_SYMBOL_BITS; i++) {
            size_t point = i / HARNESS_SYMBOL_BITS, b = i % HARNESS_SYMBOL_BITS;
            size_t label = b % 2 == 0 ? point / N_LABELS : point % N_LABELS;
            bool bit = label >> (3 - b / 2) & 1;
            double llr = llr_at(format, out, i);
            assert_true(bit ? llr < 0 : llr > 0);
        }
    }
}
