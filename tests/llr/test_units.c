/* SPDX-License-Identifier: MIT */
/* Units of symbols with gains do not matter: multiplying symbols and gains by 2^k and N0 by 4^k changes no byte,
 * however small or large a receiver's channel and samples are. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "llr_fixture.h"

enum { MAX_SYMBOLS = 1100, MAX_K = 60 };

/* Symbols with their gains and noise values. */
typedef struct input {
    size_t n;
    float symbols[2 * MAX_SYMBOLS], gains[MAX_SYMBOLS], noise[MAX_SYMBOLS];
} input;

static float random_of_exponent(harness_random *random, int exponent)
{
    return ldexpf(1 + (float)harness_random_below(random, 1 << 23) * 0x1p-23F, exponent);
}

/* Fills in symbols of gains near 2^gain, at an Es/N0 near 2^snr. Some components are zero. */
static void fill(harness_random *random, bool is_inverse, int gain, int snr, input *to)
{
    for (size_t i = 0; i < to->n; i++) {
        const int exponent = gain + (int)harness_random_below(random, 7) - 3;
        to->gains[i] = random_of_exponent(random, exponent);
        for (size_t axis = 0; axis < 2; axis++) {
            const float magnitude = random_of_exponent(random, exponent - (int)harness_random_below(random, 6));
            to->symbols[2 * i + axis] = harness_random_below(random, 40) == 0 ? 0
                                        : harness_random_below(random, 2)     ? magnitude
                                                                              : -magnitude;
        }
        const int n0 = 2 * exponent - snr + (int)harness_random_below(random, 4);
        to->noise[i] = random_of_exponent(random, is_inverse ? -n0 : n0);
    }
}

/* Multiplies by a power of two. Returns false if a number does not stay normal. */
static bool scale(const float *from, size_t n, int exponent, float *to)
{
    bool are_normal = true;
    for (size_t i = 0; i < n; i++) {
        to[i] = ldexpf(from[i], exponent);
        are_normal = are_normal && (from[i] == 0 || isnormal(to[i]));
    }
    return are_normal;
}

static size_t demodulate(const softqam_demodulator *demodulator, const softqam_demodulator_config *config,
                         const input *in, uint8_t *out)
{
    const softqam_segment segment = {
        .n_symbols = in->n,
        .out = out,
        .noise_stride = 1,
        .layers = {{.symbols = in->symbols, .noise_var = in->noise, .gain = in->gains}},
    };
    harness_demodulate_segments(demodulator, &segment, 1);
    return softqam_output_nbytes(config->output_format, config->modulation, in->n);
}

static softqam_demodulator_config any_config(harness_random *random)
{
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.output_format = harness_llr_formats[harness_random_below(random, HARNESS_N_LLR_FORMATS)];
    config.modulation = (softqam_modulation)(1 + harness_random_below(random, HARNESS_N_MODULATIONS));
    config.sign = (softqam_sign)harness_random_below(random, 2);
    config.noise_form = (softqam_noise_form)(1 + harness_random_below(random, 2));
    if (config.output_format == SOFTQAM_OUTPUT_S8 || config.output_format == SOFTQAM_OUTPUT_S16)
        config.llr_scale =
            harness_random_below(random, 2) ? 0 : ldexpf(1.3F, (int)harness_random_below(random, 23) - 9);
    return config;
}

/* Demodulates the same symbols in units that are 2^-k of the first, k from first_k to last_k. Returns how many k
 * there were. */
static size_t check_units(const softqam_demodulator_config *config, softqam_context *context, const input *in,
                          int first_k, int last_k)
{
    static input scaled;
    static uint8_t expected[MAX_SYMBOLS * HARNESS_MAX_SYMBOL_BITS * sizeof(float)], got[sizeof expected];
    const int of_noise = config->noise_form == SOFTQAM_NOISE_FORM_INVERSE ? -2 : 2;
    scoped_demodulator *demodulator = llr_create(config, context);
    const size_t nbytes = demodulate(demodulator, config, in, expected);
    size_t n = 0;
    for (int k = first_k; k <= last_k; k++) {
        scaled.n = in->n;
        if (!scale(in->symbols, 2 * in->n, k, scaled.symbols) || !scale(in->gains, in->n, k, scaled.gains) ||
            !scale(in->noise, in->n, of_noise * k, scaled.noise))
            continue;
        memset(got, 0x55, nbytes);
        demodulate(demodulator, config, &scaled, got);
        if (memcmp(expected, got, nbytes) != 0)
            fail_msg("%s, modulation %d, noise form %d, scale %a: 2^%d times the units gives other bytes; gain %a, "
                     "noise %a",
                     harness_output_names[config->output_format], (int)config->modulation, (int)config->noise_form,
                     (double)config->llr_scale, k, (double)in->gains[0], (double)in->noise[0]);
        n++;
    }
    return n;
}

/* Usual symbols, in units of 2^-60 to 2^60: every modulation, format and noise form. */
LLR_TEST(test_all_units)
{
    const llr_contexts *on = *state;
    harness_random random = harness_random_named(__func__);
    static input in;
    for (int m = 1; m <= HARNESS_N_MODULATIONS; m++)
        for (int f = 0; f < HARNESS_N_LLR_FORMATS; f++)
            for (int form = 1; form <= 2; form++) {
                softqam_demodulator_config config = any_config(&random);
                config.modulation = (softqam_modulation)m;
                config.output_format = harness_llr_formats[f];
                config.noise_form = (softqam_noise_form)form;
                config.llr_scale = 0;
                in.n = 20 + harness_random_below(&random, 60);
                fill(&random, form == 2, 0, 7, &in);
                for (size_t k = 0; k < on->n; k++)
                    assert_int_equal(check_units(&config, on->items[k], &in, -MAX_K, MAX_K) >= 100, 1);
            }
}

/* Any gains and noise values. */
LLR_TEST(test_any_units)
{
    const llr_contexts *on = *state;
    harness_random random = harness_random_named(__func__);
    static input in;
    size_t n = 0;
    for (size_t call = harness_symbol_count(400000) / 1000; call > 0; call--) {
        const softqam_demodulator_config config = any_config(&random);
        const int gain = (int)harness_random_below(&random, 120) - 60;
        const int snr = harness_random_below(&random, 2) ? 7 : (int)harness_random_below(&random, 240) - 120;
        in.n = harness_random_below(&random, 3) ? 1 + harness_random_below(&random, 80) : MAX_SYMBOLS;
        fill(&random, config.noise_form == SOFTQAM_NOISE_FORM_INVERSE, gain, snr, &in);
        for (int part = 0; part < 4; part++) {
            const int k = (int)harness_random_below(&random, 2 * MAX_K + 1) - MAX_K;
            for (size_t c = 0; c < on->n; c++)
                n += check_units(&config, on->items[c], &in, k, k);
        }
    }
    assert_true(n > 100);
}

/* A matched filter's output where the channel is weak, and where samples have int16's size. */
LLR_TEST(test_receivers_units)
{
    static const struct {
        float symbol[2], gain, n0, expected[2];
    } rows[] = {
        {{0.3F, -0.2F}, 4e-14F, 0.501187F, {1.693036F, -1.128691F}},         /* h of 2e-7 */
        {{0.3F, -0.2F}, 1e-12F, 0.501187F, {1.693036F, -1.128691F}},         /* 1e-6 */
        {{-0.0146484375F, 0.5F}, 0x1p30F, 0x1p-8F, {-10.606602F, 362.0387F}} /* N0 is 2^52 */
    };
    const llr_contexts *on = *state;
    static input in;
    for (size_t r = 0; r < HARNESS_COUNT(rows); r++)
        for (size_t k = 0; k < 4 * on->n; k++) {
            softqam_demodulator_config config;
            float llrs[2 * 40];
            softqam_demodulator_config_init(&config);
            config.modulation = SOFTQAM_MODULATION_QPSK;
            config.output_format = SOFTQAM_OUTPUT_F32;
            scoped_demodulator *demodulator = llr_create(&config, on->items[k / 4]);
            in.n = k % 2 ? 40 : 1; /* for a loop of vectors, or too few */
            for (size_t i = 0; i < in.n; i++) {
                in.gains[i] = rows[r].gain;
                in.symbols[2 * i] = rows[r].symbol[0] * rows[r].gain;
                in.symbols[2 * i + 1] = rows[r].symbol[1] * rows[r].gain;
                in.noise[i] = rows[r].n0 * rows[r].gain * rows[r].gain;
            }
            demodulate(demodulator, &config, &in, (uint8_t *)llrs);
            for (size_t i = 0; i < 2 * in.n; i++)
                assert_true(fabsf(llrs[i] - rows[r].expected[i % 2]) < 1e-5F * fabsf(rows[r].expected[i % 2]));
        }
}

/* A noise floor where a linear MMSE equaliser in single precision gives an N0 of 0 or less: the element counts as one
 * at the floor. What is no noise value stays an erasure. */
LLR_TEST(test_noise_floor)
{
    enum { N = 40 };
    static const struct {
        float noise_var, inverse, n0; /* n0: what they count as; 0: an erasure */
    } rows[] = {
        {0, INFINITY, 0.01F}, {-0.0F, FLT_MAX, 0.01F}, {-1e-9F, 101, 0.01F},     {-INFINITY, 1e30F, 0.01F},
        {0.02F, 50, 0.02F},   {NAN, NAN, 0},           {INFINITY, -INFINITY, 0}, {-NAN, -1, 0},
        {INFINITY, 0, 0},     {0.009F, 120, 0.01F},
    };
    const llr_contexts *on = *state;
    for (size_t k = 0; k < 16 * on->n * HARNESS_COUNT(rows); k++) {
        const size_t r = k % HARNESS_COUNT(rows), kind = k / HARNESS_COUNT(rows) % 16;
        const bool is_inverse = kind & 1, has_gains = kind & 2, has_one_value = kind & 4;
        float symbols[2 * N], noise[N], gains[N];
        int8_t llrs[2 * N];
        softqam_demodulator_config config;
        softqam_demodulator_config_init(&config);
        config.modulation = SOFTQAM_MODULATION_QPSK;
        config.noise_floor = 0.01F;
        config.noise_form = is_inverse ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
        scoped_demodulator *demodulator = llr_create(&config, on->items[k / HARNESS_COUNT(rows) / 16]);
        for (size_t i = 0; i < N; i++) {
            symbols[2 * i] = symbols[2 * i + 1] = has_gains ? 0.002F : 0.001F;
            noise[i] = is_inverse ? rows[r].inverse : rows[r].noise_var;
            gains[i] = 2;
        }
        const softqam_segment segment = {
            .n_symbols = kind & 8 ? N : 3,
            .out = llrs,
            .noise_stride = !has_one_value,
            .gain_stride = has_gains,
            .layers = {{.symbols = symbols, .noise_var = noise, .gain = has_gains ? gains : NULL}},
        };
        harness_demodulate_segments(demodulator, &segment, 1);
        const float g = has_gains ? 2 : 1, llr = rows[r].n0 > 0 ? 6 * 2.828427F * 0.001F * g * g / rows[r].n0 : 0;
        for (size_t i = 0; i < 2 * segment.n_symbols; i++)
            assert_int_equal(llrs[i], (int)rintf(llr));
    }
}

/* f16's limit holds for the LLRs of new data, so that retransmissions can still move them; an erasure leaves a -0 that
 * a soft buffer holds. */
LLR_TEST(test_limits_of_halves)
{
    enum { N = 48, LIMIT = 32, HALF_32 = 0x5000, HALF_MINUS_32 = 0xd000, HALF_MINUS_0 = 0x8000 };
    const llr_contexts *on = *state;
    for (size_t k = 0; k < on->n; k++) {
        float symbols[2 * N], noise = 0.001F, erased = 0;
        uint16_t llrs[2 * N] = {0};
        softqam_demodulator_config config;
        softqam_demodulator_config_init(&config);
        config.modulation = SOFTQAM_MODULATION_QPSK;
        config.output_format = SOFTQAM_OUTPUT_F16;
        config.llr_limit = LIMIT;
        scoped_demodulator *demodulator = llr_create(&config, on->items[k]);
        for (size_t i = 0; i < N; i++)
            symbols[2 * i] = 0.7F, symbols[2 * i + 1] = -0.7F;
        softqam_segment segment = {.n_symbols = N, .layers = {{.symbols = symbols, .noise_var = &noise}}};
        segment.codeword =
            (softqam_codeword){.n_bits = 2 * N, .n_code_blocks = 1, .buffers = llrs, .deinterleave = 1, .n_cb = 2 * N};
        harness_demodulate_segments(demodulator, &segment, 1);
        for (size_t i = 0; i < N; i++)
            assert_true(llrs[i] == HALF_32 && llrs[N + i] == HALF_MINUS_32);
        for (size_t i = 0; i < N; i++)
            llrs[i] = HALF_MINUS_0;
        segment.layers[0].noise_var = &erased;
        segment.codeword.combine = 1;
        harness_demodulate_segments(demodulator, &segment, 1);
        for (size_t i = 0; i < N; i++)
            assert_true(llrs[i] == HALF_MINUS_0 && llrs[N + i] == HALF_MINUS_32);
    }
}
