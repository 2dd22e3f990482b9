/* SPDX-License-Identifier: MIT */
/* What the LLRs are worth, through the public API, on the backend that SOFTQAM_TEST_BACKEND names: brute force in
 * double within the bound of reference/, what special values give, symmetries, signs, scales and limits. How calls are
 * made is test_llr_calls.c's. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"
#include "harness.h"
#include "max_log.h"

/* Streams of random numbers, one a test, so that a test gives the same alone as among the others. */
enum {
    STREAM_BRUTE_FORCE = 1,
    STREAM_SCALES,
    STREAM_RARE,
    STREAM_BITS,
    STREAM_SPECIAL,
    STREAM_SIGN,
    STREAM_SYMMETRY,
    STREAM_POWERS,
    STREAM_SPECIFIED,
};

enum { N_BITS = HARNESS_SYMBOL_BITS, N_LABELS = 16 };

static const softqam_output_format llr_formats[] = {SOFTQAM_OUTPUT_S8, SOFTQAM_OUTPUT_F16, SOFTQAM_OUTPUT_F32};
static const char *const format_names[] = {"u8", "s8", "f16", "f32"};

static const float default_s8_scale = 6;
static const int default_s8_limit = 127;

/* Symbols and a noise variance for each. */
typedef struct input {
    float *symbols;
    float *noise_var;
    size_t n_symbols;
} input;

static input open_input(size_t n_symbols)
{
    return (input){harness_alloc(2 * n_symbols * sizeof(float)), harness_alloc(n_symbols * sizeof(float)), n_symbols};
}

static input open_mixture(uint32_t stream, harness_noise noise, size_t n_symbols)
{
    input self = open_input(n_symbols);
    harness_random random = harness_random_stream(stream);
    harness_fill_mixture(&random, n_symbols, self.symbols);
    harness_fill_noise(&random, noise, n_symbols, self.noise_var);
    return self;
}

static void close_input(input *self)
{
    free(self->noise_var);
    free(self->symbols);
}

static uint8_t *answer_per_symbol(softqam_output_format format, const input *in)
{
    softqam_config config = harness_plan(format, SOFTQAM_NOISE_PER_SYMBOL);
    return harness_answer(&config, in->symbols, in->noise_var, in->n_symbols);
}

/* LLR i, counted in values. */
static double value_at(softqam_output_format format, const uint8_t *out, size_t i)
{
    uint16_t half;
    float llr;
    switch (format) {
    case SOFTQAM_OUTPUT_U8:
        return out[i];
    case SOFTQAM_OUTPUT_S8:
        return (int8_t)out[i];
    case SOFTQAM_OUTPUT_F16:
        memcpy(&half, out + i * sizeof(half), sizeof(half));
        return half_to_double(half);
    case SOFTQAM_OUTPUT_F32:
        break;
    }
    memcpy(&llr, out + i * sizeof(llr), sizeof(llr));
    return (double)llr;
}

/* What a format makes of an LLR that is exact. */
static double quantise(softqam_output_format format, double llr, int limit)
{
    switch (format) {
    case SOFTQAM_OUTPUT_S8:
        return max_log_to_s8(llr, limit);
    case SOFTQAM_OUTPUT_F16:
        return half_to_double(half_from_double(llr));
    case SOFTQAM_OUTPUT_U8:
    case SOFTQAM_OUTPUT_F32:
        break;
    }
    return llr;
}

/* The arithmetic of the LLRs as it is specified, to the last bit: src/README.md. The bound would not notice a table
 * that is one unit in the last place off, or a product that is rounded before it is added to. */
typedef struct specification {
    max_log_segment segments[8][4];
    float scale;
    float limit;
} specification;

static specification specify(float scale, float limit)
{
    specification self = {.scale = scale, .limit = limit};
    for (int i = 0; i < 32; i++)
        self.segments[i / 4][i % 4] = max_log_segment_at(i / 4, i % 4);
    return self;
}

static float specified_llr(const specification *self, const float *symbol, float noise_var, size_t b)
{
    const float v = symbol[b % 2], u = fabsf(v), rows_per_unit = (float)(sqrt(170) / 2);
    if (!isfinite(symbol[0]) || !isfinite(symbol[1]) || !isfinite(noise_var) || !(noise_var > 0))
        return 0;
    const max_log_segment *segment = &self->segments[(int)fminf(u * rows_per_unit, 7)][b / 2];
    float distance = fmaf((float)segment->slope, u, (float)segment->intercept);
    distance = b < 2 && signbit(v) ? -distance : distance;
    const float weight = fminf(self->scale / noise_var, FLT_MAX);
    return fmaxf(-self->limit, fminf(distance * weight, self->limit));
}

static void test_specified_f32(void **state)
{
    (void)state;
    input in = open_mixture(STREAM_SPECIFIED, HARNESS_NOISE_ANY, 200003);
    const specification specified = specify(1, FLT_MAX);
    float *expected = harness_alloc(in.n_symbols * N_BITS * sizeof(float));
    for (size_t i = 0; i < in.n_symbols * N_BITS; i++) {
        size_t n = i / N_BITS;
        expected[i] = specified_llr(&specified, in.symbols + 2 * n, in.noise_var[n], i % N_BITS);
    }
    uint8_t *got = answer_per_symbol(SOFTQAM_OUTPUT_F32, &in);
    assert_true(harness_outputs_equal("f32", SOFTQAM_OUTPUT_F32, in.symbols, expected, got, in.n_symbols));
    free(got);
    free(expected);
    close_input(&in);
}

/* Of a weight that is one unit in the last place off only one byte in a million tells. */
static void test_specified_s8(void **state)
{
    (void)state;
    input in = open_input((size_t)1 << 21);
    harness_random random = harness_random_stream(STREAM_SPECIFIED);
    harness_symbol_sets[0].fill(&random, harness_symbol_sets[0].parameter, 0, in.n_symbols, in.symbols);
    harness_fill_noise(&random, HARNESS_NOISE_USUAL, in.n_symbols, in.noise_var);
    const specification specified = specify(default_s8_scale, (float)default_s8_limit);
    int8_t *expected = harness_alloc(in.n_symbols * N_BITS);
    for (size_t i = 0; i < in.n_symbols * N_BITS; i++) {
        size_t n = i / N_BITS;
        expected[i] = (int8_t)rintf(specified_llr(&specified, in.symbols + 2 * n, in.noise_var[n], i % N_BITS));
    }
    uint8_t *got = answer_per_symbol(SOFTQAM_OUTPUT_S8, &in);
    assert_true(harness_outputs_equal("s8", SOFTQAM_OUTPUT_S8, in.symbols, expected, got, in.n_symbols));
    free(got);
    free(expected);
    close_input(&in);
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
    for (size_t b = 0; b < N_BITS; b++) {
        double got = value_at(format, out, b);
        double low = quantise(format, llrs[b].low, limit), high = quantise(format, llrs[b].high, limit);
        if (!(got >= low && got <= high)) {
            fail_msg("(%a, %a), N0 %a: b%zu is %a in %s, not %a to %a", (double)symbol[0], (double)symbol[1],
                     (double)noise_var, b, got, format_names[format], low, high);
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

/* The LLRs of a plan with this scale and limit against brute force. */
static void check_reference(const softqam_config *config, const input *in, tally *seen)
{
    bool is_s8 = config->output_format == SOFTQAM_OUTPUT_S8;
    float scale = config->llr_scale != 0 ? config->llr_scale : is_s8 ? default_s8_scale : 1;
    int limit = config->llr_limit ? config->llr_limit : default_s8_limit;
    size_t nbytes = softqam_output_symbol_nbytes(config->output_format);
    uint8_t *out = harness_answer(config, in->symbols, in->noise_var, in->n_symbols);
    for (size_t i = 0; i < in->n_symbols; i++) {
        float noise_var = in->noise_var[config->noise == SOFTQAM_NOISE_PER_SYMBOL ? i : 0];
        max_log_llr llrs[N_BITS];
        max_log_llrs(in->symbols + 2 * i, noise_var, scale, llrs);
        check_symbol(config->output_format, limit, in->symbols + 2 * i, noise_var, llrs, out + i * nbytes, seen);
    }
    free(out);
}

/* binary16 is the binary32 output, rounded: to the last bit, since both come from one number. */
static void check_halves(const input *in)
{
    uint8_t *floats = answer_per_symbol(SOFTQAM_OUTPUT_F32, in), *halves = answer_per_symbol(SOFTQAM_OUTPUT_F16, in);
    for (size_t i = 0; i < in->n_symbols * N_BITS; i++) {
        uint16_t expected = half_from_double(value_at(SOFTQAM_OUTPUT_F32, floats, i)), got;
        memcpy(&got, halves + i * sizeof(got), sizeof(got));
        assert_int_equal(got, expected);
    }
    free(halves);
    free(floats);
}

static void check_set(const harness_symbol_set *set, harness_noise noise, harness_random *random, tally seen[3])
{
    size_t n_symbols = harness_symbol_count(3000);
    n_symbols = set->n_fixed && set->n_fixed < n_symbols ? set->n_fixed : n_symbols;
    input in = open_input(n_symbols);
    size_t start = set->n_fixed ? harness_random_below(random, set->n_fixed - n_symbols + 1) : 0;
    set->fill(random, set->parameter, start, n_symbols, in.symbols);
    harness_fill_noise(random, noise, n_symbols, in.noise_var);
    for (size_t k = 0; k < HARNESS_COUNT(llr_formats); k++) {
        softqam_config config = harness_plan(llr_formats[k], SOFTQAM_NOISE_PER_SYMBOL);
        check_reference(&config, &in, &seen[k]);
    }
    check_halves(&in);
    close_input(&in);
}

static void print_tally(const char *what, softqam_output_format format, const tally *seen)
{
    print_message("%s, %s: %zu LLRs, %zu could be two values, %zu not the exact one rounded", what,
                  format_names[format], seen->n_llrs, seen->n_undecided, seen->n_not_nearest);
    if (format == SOFTQAM_OUTPUT_F32)
        print_message(", error up to %.3f of the bound", seen->worst);
    print_message("\n");
}

static void check_brute_force(harness_noise noise, const char *what)
{
    harness_random random = harness_random_stream((uint32_t)noise << 8 | STREAM_BRUTE_FORCE);
    tally seen[HARNESS_COUNT(llr_formats)] = {{0}};
    for (size_t i = 0; i < harness_n_symbol_sets; i++)
        check_set(&harness_symbol_sets[i], noise, &random, seen);
    for (size_t k = 0; k < HARNESS_COUNT(llr_formats); k++)
        print_tally(what, llr_formats[k], &seen[k]);
}

static void test_usual_noise(void **state)
{
    (void)state;
    check_brute_force(HARNESS_NOISE_USUAL, "usual noise");
}

static void test_positive_noise(void **state)
{
    (void)state;
    check_brute_force(HARNESS_NOISE_POSITIVE, "any positive noise");
}

static void test_any_noise(void **state)
{
    (void)state;
    check_brute_force(HARNESS_NOISE_ANY, "any bits as noise");
}

static void test_scales_and_limits(void **state)
{
    (void)state;
    static const struct {
        float scale;
        int limit;
    } plans[] = {{0, 0},   {0, 1},      {0, 2},        {6, 120},      {1, 63},        {0x1p-10F, 127},
                 {20, 31}, {0.37F, 10}, {1000.0F, 90}, {0x1p20F, 64}, {0x1.fp-10F, 3}};
    input in = open_mixture(STREAM_SCALES, HARNESS_NOISE_ANY, 3001);
    for (size_t i = 0; i < HARNESS_COUNT(plans); i++) {
        for (int noise = SOFTQAM_NOISE_PER_CALL; noise <= SOFTQAM_NOISE_PER_SYMBOL; noise++) {
            softqam_config config = harness_plan(SOFTQAM_OUTPUT_S8, (softqam_noise)noise);
            config.llr_scale = plans[i].scale;
            config.llr_limit = plans[i].limit;
            tally seen = {0};
            check_reference(&config, &in, &seen);
        }
    }
    close_input(&in);
}

/* With a scale of 2^k, s8 is the f32 output times 2^k: the weight differs by its exponent only. */
static void test_s8_is_f32_rounded(void **state)
{
    (void)state;
    input in = open_mixture(STREAM_SCALES, HARNESS_NOISE_USUAL, 20011);
    uint8_t *floats = answer_per_symbol(SOFTQAM_OUTPUT_F32, &in);
    for (int k = -10; k <= 20; k++) {
        softqam_config config = harness_plan(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL);
        config.llr_scale = ldexpf(1, k);
        config.llr_limit = 100 + k;
        uint8_t *steps = harness_answer(&config, in.symbols, in.noise_var, in.n_symbols);
        for (size_t i = 0; i < in.n_symbols * N_BITS; i++) {
            double llr = ldexp(value_at(SOFTQAM_OUTPUT_F32, floats, i), k);
            assert_int_equal((int8_t)steps[i], max_log_to_s8(llr, config.llr_limit));
        }
        free(steps);
    }
    free(floats);
    close_input(&in);
}

/* On symbols as a receiver has them s8 is the exact LLR, rounded, but for one in thousands. Without this, a bound that
 * is far too wide would pass for exactness. */
static void test_s8_rarely_undecided(void **state)
{
    (void)state;
    for (size_t i = 0; i < harness_n_symbol_sets; i++) {
        const harness_symbol_set *set = &harness_symbol_sets[i];
        if (strcmp(set->name, "constellation at 20 dB") != 0 && strcmp(set->name, "constellation at 28 dB") != 0)
            continue;
        input in = open_input(20000);
        harness_random random = harness_random_stream(STREAM_RARE);
        set->fill(&random, set->parameter, 0, in.n_symbols, in.symbols);
        in.noise_var[0] = powf(10, -set->parameter / 10);
        softqam_config config = harness_plan(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_CALL);
        tally seen = {0};
        check_reference(&config, &in, &seen);
        print_tally(set->name, SOFTQAM_OUTPUT_S8, &seen);
        assert_true(seen.n_llrs == in.n_symbols * N_BITS);
        assert_true((double)seen.n_undecided < 2e-3 * (double)seen.n_llrs);
        assert_true((double)seen.n_not_nearest < 2e-4 * (double)seen.n_llrs);
        close_input(&in);
    }
}

/* Four values of MATLAB's nrSymbolDemodulate, published: the definition is the field's. */
static void test_fixed_point(void **state)
{
    (void)state;
    static const double expected[] = {-2.352941, -0.988235, -0.447059, -0.211765};
    const float symbols[] = {-2.454288F, -2.454288F}, noise_var = 2;
    float llrs[N_BITS];
    softqam_config config = harness_plan(SOFTQAM_OUTPUT_F32, SOFTQAM_NOISE_PER_CALL);
    uint8_t *out = harness_answer(&config, symbols, &noise_var, 1);
    memcpy(llrs, out, sizeof(llrs));
    for (int b = 0; b < N_BITS; b++)
        assert_true(fabs((double)llrs[b] - expected[b / 2]) < 5e-7);
    free(out);
}

/* Without noise in the symbol the signs are the transmitted bits, as long as the least LLR, 4 alpha^2 / N0, does not
 * round to 0: it is 2.35 nats, 14 steps of s8, at the first of these noise variances. */
static void test_points_have_their_bits(void **state)
{
    (void)state;
    static const float noise_vars[] = {0.01F, 1e-3F, 1e-6F, 1e-38F, 1e-45F};
    float symbols[2 * N_LABELS * N_LABELS];
    for (size_t i = 0; i < (size_t)N_LABELS * N_LABELS; i++) {
        symbols[2 * i] = (float)max_log_coordinate((int)(i / N_LABELS));
        symbols[2 * i + 1] = (float)max_log_coordinate((int)(i % N_LABELS));
    }
    for (size_t n = 0; n < HARNESS_COUNT(noise_vars) * HARNESS_COUNT(llr_formats); n++) {
        softqam_output_format format = llr_formats[n % HARNESS_COUNT(llr_formats)];
        softqam_config config = harness_plan(format, SOFTQAM_NOISE_PER_CALL);
        uint8_t *out =
            harness_answer(&config, symbols, &noise_vars[n / HARNESS_COUNT(llr_formats)], (size_t)N_LABELS * N_LABELS);
        for (size_t i = 0; i < HARNESS_COUNT(symbols) / 2 * N_BITS; i++) {
            size_t point = i / N_BITS, b = i % N_BITS;
            size_t label = b % 2 == 0 ? point / N_LABELS : point % N_LABELS;
            bool bit = label >> (3 - b / 2) & 1;
            double llr = value_at(format, out, i);
            assert_true(bit ? llr < 0 : llr > 0);
        }
        free(out);
    }
}

static const uint32_t not_a_variance[] = {
    0x00000000, 0x80000000, 0x80000001, 0xbf800000, 0xff7fffff,
    0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001,
};
static const uint32_t not_finite[] = {0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff};

/* Every third symbol is spoilt, in turn by its noise variance, its I and its Q. */
static void spoil(input *in, size_t round)
{
    for (size_t i = 0; i < in->n_symbols; i += 3) {
        size_t kind = (i / 3) % 3;
        if (kind == 0) {
            memcpy(&in->noise_var[i], &not_a_variance[(i / 9 + round) % HARNESS_COUNT(not_a_variance)], sizeof(float));
        } else {
            memcpy(&in->symbols[2 * i + kind - 1], &not_finite[(i / 9 + round) % HARNESS_COUNT(not_finite)],
                   sizeof(float));
        }
    }
}

static void check_spoilt(const softqam_config *config, const input *whole, const input *spoilt)
{
    size_t nbytes = softqam_output_symbol_nbytes(config->output_format);
    const uint8_t zeros[sizeof(float) * N_BITS] = {0};
    uint8_t *before = harness_answer(config, whole->symbols, whole->noise_var, whole->n_symbols);
    uint8_t *after = harness_answer(config, spoilt->symbols, spoilt->noise_var, spoilt->n_symbols);
    for (size_t i = 0; i < whole->n_symbols; i++)
        assert_memory_equal(after + i * nbytes, i % 3 ? before + i * nbytes : zeros, nbytes);
    free(after);
    free(before);
}

/* What is no number gives eight zeros and leaves its neighbours alone. */
static void test_erasures_per_symbol(void **state)
{
    (void)state;
    for (size_t round = 0; round < HARNESS_COUNT(not_a_variance); round++) {
        input whole = open_mixture(STREAM_SPECIAL, HARNESS_NOISE_ANY, 701);
        input spoilt = open_mixture(STREAM_SPECIAL, HARNESS_NOISE_ANY, 701);
        spoil(&spoilt, round);
        for (size_t k = 0; k < 2 * HARNESS_COUNT(llr_formats); k++) {
            softqam_config config = harness_plan(llr_formats[k / 2], SOFTQAM_NOISE_PER_SYMBOL);
            config.sign = k % 2 ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0;
            check_spoilt(&config, &whole, &spoilt);
        }
        close_input(&spoilt);
        close_input(&whole);
    }
}

static void test_erasures_per_call(void **state)
{
    (void)state;
    input in = open_mixture(STREAM_SPECIAL, HARNESS_NOISE_USUAL, 333);
    for (size_t i = 0; i < HARNESS_COUNT(not_a_variance); i++) {
        float noise_var;
        memcpy(&noise_var, &not_a_variance[i], sizeof(noise_var));
        for (size_t k = 0; k < 2 * HARNESS_COUNT(llr_formats); k++) {
            softqam_config config = harness_plan(llr_formats[k / 2], SOFTQAM_NOISE_PER_CALL);
            config.sign = k % 2 ? SOFTQAM_SIGN_POSITIVE_IS_1 : SOFTQAM_SIGN_POSITIVE_IS_0;
            uint8_t *out = harness_answer(&config, in.symbols, &noise_var, in.n_symbols);
            for (size_t byte = 0; byte < in.n_symbols * softqam_output_symbol_nbytes(llr_formats[k / 2]); byte++)
                assert_int_equal(out[byte], 0);
            free(out);
        }
    }
    close_input(&in);
}

/* A noise variance of which 1 / N0 overflows: what is not on a decision boundary saturates. */
static void test_subnormal_noise(void **state)
{
    (void)state;
    static const float noise_vars[] = {0x1p-149F, 0x1p-140F, 0x1p-128F};
    const float symbols[] = {0.25F, -1.1F};
    for (size_t i = 0; i < HARNESS_COUNT(noise_vars); i++) {
        for (size_t k = 0; k < HARNESS_COUNT(llr_formats); k++) {
            softqam_config config = harness_plan(llr_formats[k], SOFTQAM_NOISE_PER_CALL);
            uint8_t *out = harness_answer(&config, symbols, &noise_vars[i], 1);
            for (size_t b = 0; b < N_BITS; b++) {
                static const double least[] = {0, 127, 65504, 1e36};
                double llr = fabs(value_at(llr_formats[k], out, b));
                assert_true(llr >= least[llr_formats[k]] && llr <= (double)FLT_MAX);
            }
            free(out);
        }
    }
}

static void check_all_finite(softqam_output_format format, const input *in)
{
    uint8_t *out = answer_per_symbol(format, in);
    for (size_t i = 0; i < in->n_symbols * N_BITS; i++) {
        double llr = value_at(format, out, i);
        if (!isfinite(llr) || (format == SOFTQAM_OUTPUT_S8 && llr < -default_s8_limit)) {
            const float *symbol = in->symbols + i / N_BITS * 2;
            fail_msg("(%a, %a), N0 %a: %s has %a", (double)symbol[0], (double)symbol[1],
                     (double)in->noise_var[i / N_BITS], format_names[format], llr);
        }
    }
    free(out);
}

/* Whatever the bits of symbols and noise variances: neither NaN, nor infinity, nor -128. */
static void test_random_bits(void **state)
{
    (void)state;
    input in = open_input((size_t)1 << 20);
    harness_random random = harness_random_stream(STREAM_BITS);
    harness_random_fill(&random, in.symbols, in.n_symbols * 2 * sizeof(float));
    harness_random_fill(&random, in.noise_var, in.n_symbols * sizeof(float));
    for (size_t k = 0; k < HARNESS_COUNT(llr_formats); k++)
        check_all_finite(llr_formats[k], &in);
    /* Symbols that a receiver has, over every noise variance; then the reverse. */
    const harness_symbol_set *uniform = &harness_symbol_sets[0];
    uniform->fill(&random, uniform->parameter, 0, in.n_symbols, in.symbols);
    check_all_finite(SOFTQAM_OUTPUT_F32, &in);
    harness_random_fill(&random, in.symbols, in.n_symbols * 2 * sizeof(float));
    harness_fill_noise(&random, HARNESS_NOISE_USUAL, in.n_symbols, in.noise_var);
    check_all_finite(SOFTQAM_OUTPUT_F32, &in);
    close_input(&in);
}

/* The opposite sign negates every LLR exactly, and erasures stay what they are. */
static void test_opposite_sign_of_llrs(void **state)
{
    (void)state;
    input in = open_mixture(STREAM_SIGN, HARNESS_NOISE_ANY, 50021);
    for (size_t k = 0; k < HARNESS_COUNT(llr_formats); k++) {
        softqam_config config = harness_plan(llr_formats[k], SOFTQAM_NOISE_PER_SYMBOL);
        uint8_t *plain = harness_answer(&config, in.symbols, in.noise_var, in.n_symbols);
        config.sign = SOFTQAM_SIGN_POSITIVE_IS_1;
        uint8_t *opposite = harness_answer(&config, in.symbols, in.noise_var, in.n_symbols);
        for (size_t i = 0; i < in.n_symbols * N_BITS; i++)
            assert_true(value_at(llr_formats[k], opposite, i) == -value_at(llr_formats[k], plain, i));
        free(opposite);
        free(plain);
    }
    close_input(&in);
}

/* A soft byte is trunc(127 + x), so with the opposite sign it is trunc(127 - x): 254 less the byte, or one less than
 * that unless x is whole; and where one of them is clamped at one end, so is the other, or almost. */
static void check_opposite_byte(uint8_t plain, uint8_t opposite, bool erased)
{
    if (erased) {
        assert_int_equal(plain, 127);
        assert_int_equal(opposite, 127);
    } else if (plain == 0) {
        assert_in_range(opposite, 253, 255);
    } else {
        assert_in_range(opposite, plain < 253 ? 253 - plain : 0, plain < 254 ? 254 - plain : 0);
    }
}

static void test_opposite_sign_of_soft_bits(void **state)
{
    (void)state;
    size_t n_asymmetric = 0;
    input in = open_mixture(STREAM_SIGN, HARNESS_NOISE_USUAL, 50021);
    softqam_config config = harness_config();
    uint8_t *plain = harness_answer(&config, in.symbols, NULL, in.n_symbols);
    config.sign = SOFTQAM_SIGN_POSITIVE_IS_1;
    uint8_t *opposite = harness_answer(&config, in.symbols, NULL, in.n_symbols);
    for (size_t i = 0; i < in.n_symbols * N_BITS; i++) {
        const float *symbol = in.symbols + i / N_BITS * 2;
        check_opposite_byte(plain[i], opposite[i], !isfinite(symbol[0]) || !isfinite(symbol[1]));
        n_asymmetric += (plain[i] == 0 && opposite[i] != 255) || (plain[i] == 255 && opposite[i] != 0);
    }
    assert_true(n_asymmetric < in.n_symbols / 50);
    free(opposite);
    free(plain);
    close_input(&in);
}

/* What a symmetry does to a symbol, and to its LLRs: bit b comes from bit source(b), negated where told. */
typedef struct symmetry {
    const char *name;
    float i_factor;
    float q_factor;
    bool swap;
} symmetry;

static void check_symmetry(softqam_output_format format, const input *in, const symmetry *kind)
{
    input image = open_input(in->n_symbols);
    memcpy(image.noise_var, in->noise_var, in->n_symbols * sizeof(float));
    for (size_t i = 0; i < in->n_symbols; i++) {
        image.symbols[2 * i + kind->swap] = kind->i_factor * in->symbols[2 * i];
        image.symbols[2 * i + 1 - kind->swap] = kind->q_factor * in->symbols[2 * i + 1];
    }
    uint8_t *before = answer_per_symbol(format, in), *after = answer_per_symbol(format, &image);
    for (size_t i = 0; i < in->n_symbols * N_BITS; i++) {
        size_t b = i % N_BITS;
        double factor = (double)(b == 0 ? kind->i_factor : b == 1 ? kind->q_factor : 1);
        double expected = factor * value_at(format, before, i);
        if (value_at(format, after, kind->swap ? i ^ 1 : i) != expected) {
            fail_msg("%s: b%zu of (%a, %a) in %s", kind->name, b, (double)in->symbols[i / N_BITS * 2],
                     (double)in->symbols[i / N_BITS * 2 + 1], format_names[format]);
        }
    }
    free(after);
    free(before);
    close_input(&image);
}

static void test_symmetries(void **state)
{
    (void)state;
    static const symmetry symmetries[] = {
        {"b0 is odd in I, all others even", -1, 1, false},
        {"b1 is odd in Q, all others even", 1, -1, false},
        {"I and Q exchanged", 1, 1, true},
        {"I and Q exchanged and negated", -1, -1, true},
    };
    input in = open_mixture(STREAM_SYMMETRY, HARNESS_NOISE_ANY, 50021);
    for (size_t k = 0; k < HARNESS_COUNT(llr_formats); k++)
        for (size_t i = 0; i < HARNESS_COUNT(symmetries); i++)
            check_symmetry(llr_formats[k], &in, &symmetries[i]);
    close_input(&in);
}

/* Twice the noise variance is half the LLR, exactly, as long as no exponent runs out. */
static void test_powers_of_two(void **state)
{
    (void)state;
    input in = open_mixture(STREAM_POWERS, HARNESS_NOISE_USUAL, 10007);
    float *usual = harness_alloc(in.n_symbols * sizeof(float));
    memcpy(usual, in.noise_var, in.n_symbols * sizeof(float));
    uint8_t *before = answer_per_symbol(SOFTQAM_OUTPUT_F32, &in);
    for (int k = -60; k <= 60; k += 12) {
        for (size_t i = 0; i < in.n_symbols; i++)
            in.noise_var[i] = ldexpf(usual[i], k);
        uint8_t *after = answer_per_symbol(SOFTQAM_OUTPUT_F32, &in);
        for (size_t i = 0; i < in.n_symbols * N_BITS; i++) {
            double llr = value_at(SOFTQAM_OUTPUT_F32, before, i), expected = ldexp(llr, -k);
            double least = fmin(fabs(llr), fabs(expected)), most = fmax(fabs(llr), fabs(expected));
            if (least == 0 || (least >= (double)FLT_MIN && most < (double)FLT_MAX))
                assert_true(value_at(SOFTQAM_OUTPUT_F32, after, i) == expected);
        }
        free(after);
    }
    free(before);
    free(usual);
    close_input(&in);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usual_noise),
        cmocka_unit_test(test_positive_noise),
        cmocka_unit_test(test_any_noise),
        cmocka_unit_test(test_specified_f32),
        cmocka_unit_test(test_specified_s8),
        cmocka_unit_test(test_scales_and_limits),
        cmocka_unit_test(test_s8_is_f32_rounded),
        cmocka_unit_test(test_s8_rarely_undecided),
        cmocka_unit_test(test_fixed_point),
        cmocka_unit_test(test_points_have_their_bits),
        cmocka_unit_test(test_erasures_per_symbol),
        cmocka_unit_test(test_erasures_per_call),
        cmocka_unit_test(test_subnormal_noise),
        cmocka_unit_test(test_random_bits),
        cmocka_unit_test(test_opposite_sign_of_llrs),
        cmocka_unit_test(test_opposite_sign_of_soft_bits),
        cmocka_unit_test(test_symmetries),
        cmocka_unit_test(test_powers_of_two),
    };
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
