/* SPDX-License-Identifier: MIT */
/* Checks of the tools' parts that no command line reaches: that --verify finds a wrong byte or LLR wherever it is, the
 * ends of the noise estimate, binary16 and how good the arithmetic of the noise is. */
#include <math.h>
#include <string.h>

#include "common/modulation.h"
#include "common/normal.h"
#include "common/sample_format.h"
#include "demod/demod.h"
#include "half.h"
#include "harness.h"

/* Max-log by brute force takes its time. */
enum { N_SYMBOLS = 400, N_VALUES = 8 * N_SYMBOLS /* 256QAM has 8 a symbol */ };

/* Random symbols of 256QAM with a noise variance each, and what the library makes of them. */
struct capture {
    softqam_demodulator_config config;
    float symbols[2 * N_SYMBOLS];
    float noise_var[N_SYMBOLS];
    union {
        uint8_t u8[N_VALUES];
        int8_t s8[N_VALUES];
        int16_t s16[N_VALUES];
        uint16_t f16[N_VALUES];
        float f32[N_SYMBOLS * MODULATION_MAX_BITS];
    } out;
};

static struct capture capture;
static struct verify_difference difference;

static void demodulate(const softqam_segment *segment)
{
    harness_setup setup = harness_default_setup();
    setup.demodulator = capture.config;
    scoped_demodulator *demodulator = harness_create(&setup);
    harness_demodulate_segments(demodulator, segment, 1);
}

static void make_capture(softqam_output_format format, softqam_sign sign)
{
    const bool is_u8 = format == SOFTQAM_OUTPUT_U8;
    softqam_demodulator_config_init(&capture.config);
    capture.config.output_format = format;
    capture.config.sign = sign;
    capture.config.input_scale = 1;
    capture.config.llr_scale = harness_llr_defaults_of[format].scale;
    capture.config.llr_limit = format == SOFTQAM_OUTPUT_S16 ? 20000 : harness_llr_defaults_of[format].limit;
    for (size_t i = 0; i < N_SYMBOLS; i++) {
        capture.symbols[2 * i] = (float)((double)(i * 7919 % 20011) / 8192 - 1.2);
        capture.symbols[2 * i + 1] = (float)((double)(i * 104729 % 20021) / 8192 - 1.2);
        capture.noise_var[i] = (float)((double)(i * 31 % 1009 + 10) / 4096);
    }
    const float *noise_var = is_u8 ? NULL : capture.noise_var;
    const softqam_segment segment = harness_segment(capture.symbols, noise_var, !is_u8, N_SYMBOLS, &capture.out);
    demodulate(&segment);
}

/* Changes one value by little more than shows: a bit of a soft bit, one step in s8 and s16, a few units in the last
 * place in f16, and in f32 more than the bound, or NaN. */
static void spoil(size_t k)
{
    const double step = 1e-5 / (double)capture.noise_var[k / 8];
    const double value = sample_format_value(capture.config.output_format, &capture.out, k);
    switch (capture.config.output_format) {
    case SOFTQAM_OUTPUT_U8:
        capture.out.u8[k] ^= (uint8_t)(1u << k % 7);
        break;
    case SOFTQAM_OUTPUT_S8:
        capture.out.s8[k] = (int8_t)(value + (value > 0 ? -1 : 1));
        break;
    case SOFTQAM_OUTPUT_S16:
        capture.out.s16[k] = (int16_t)(value + (value > 0 ? -1 : 1));
        break;
    case SOFTQAM_OUTPUT_F16:
        capture.out.f16[k] = half_from_double(value + step + 1.5e-3 * fabs(value));
        break;
    case SOFTQAM_OUTPUT_F32:
        capture.out.f32[k] = k % 2 ? NAN : (float)(value + step + 1e-6 * fabs(value));
        break;
    }
}

/* Verifies the symbols in two calls, which meet at symbol `split`. */
static bool verify(size_t split)
{
    const softqam_demodulator_config *config = &capture.config;
    const size_t out_nbytes = softqam_output_nbytes(config->output_format, config->modulation, 1);
    struct verifier verifier;
    assert_true(verification->start(&verifier, config, NULL));
    const bool right =
        verification->next(&verifier, capture.symbols, capture.noise_var, &capture.out, split, &difference) &&
        verification->next(&verifier, capture.symbols + 2 * split, capture.noise_var + split,
                           (const char *)&capture.out + split * out_nbytes, N_SYMBOLS - split, &difference);
    if (right)
        assert_true(verifier.n_checked == N_SYMBOLS && verifier.n_seen == N_SYMBOLS);
    verification->end(&verifier);
    return right;
}

/* Right values are accepted; one that is wrong, anywhere, in the first call or in a later one, is found and described.
 */
HARNESS_TEST(test_verify_finds_wrong_value)
{
    for (int f = 0; f < 2 * SOFTQAM_OUTPUT_U8 + 1; f++) { /* u8 with the opposite sign is another thing */
        const softqam_output_format format = (softqam_output_format)(f / 2);
        make_capture(format, (softqam_sign)(f % 2));
        const struct capture right = capture;
        assert_true(verify(0) && verify(234) && verify(N_SYMBOLS));
        for (size_t k = 0; k < N_VALUES; k += 61) {
            const size_t symbol = k / 8;
            spoil(k);
            assert_false(verify(symbol / 2));
            assert_int_equal(difference.symbol, symbol);
            assert_int_equal(difference.bit, k % 8);
            const double got = sample_format_value(format, &capture.out, k);
            assert_true(isnan(got) || (difference.got == got && (got < difference.low || got > difference.high)));
            assert_true(difference.expected >= difference.low && difference.expected <= difference.high);
            assert_true(difference.i == capture.symbols[2 * symbol] && difference.q == capture.symbols[2 * symbol + 1]);
            assert_true(format == SOFTQAM_OUTPUT_U8 || difference.noise_var == capture.noise_var[symbol]);
            capture.out = right.out;
        }
    }
}

/* Beyond the first symbols one of VERIFY_STEP is checked. */
HARNESS_TEST(test_verify_samples)
{
    struct verifier verifier;
    make_capture(SOFTQAM_OUTPUT_U8, SOFTQAM_SIGN_POSITIVE_IS_0);
    assert_true(verification->start(&verifier, &capture.config, NULL));
    for (size_t i = 0; i < N_SYMBOLS; i++) {
        verifier.n_seen = VERIFY_ALL_SYMBOLS;
        capture.out.u8[8 * i] ^= 1;
        const bool right = verification->next(&verifier, capture.symbols, NULL, &capture.out, N_SYMBOLS, &difference);
        assert_int_equal(right, (VERIFY_ALL_SYMBOLS + i) % VERIFY_STEP != 0);
        capture.out.u8[8 * i] ^= 1;
    }
    verification->end(&verifier);
}

/* The expected error gives the noise variance back, over more than all of the range that a float has a use for; it
 * grows with it and stays inside the bracket of the search. */
HARNESS_TEST(test_noise_estimate)
{
    for (int m = SOFTQAM_MODULATION_BPSK; m <= MODULATION_COUNT; m++) {
        const softqam_modulation modulation = (softqam_modulation)m;
        double previous = 0;
        for (double db = 300; db >= -60; db -= 0.1) {
            const double noise_var = pow(10, -db / 10), error = noise_expected_error(modulation, noise_var);
            const struct noise_estimate estimate = {1000, 1000, 1000 * error, 0};
            assert_true(error > previous && error <= noise_var * (1 + 1e-12) && error > noise_var / 15);
            assert_true(fabs(noise_estimate_variance(&estimate, modulation) - noise_var) < 1e-9 * noise_var);
            previous = error;
        }
        const struct noise_estimate none = {10, 10, 0, 0}, zeros = {10, 0, 1, 0};
        assert_true(noise_estimate_variance(&none, modulation) == 0);
        assert_true(isnan(noise_estimate_variance(&zeros, modulation)) && isnan(noise_estimate_evm(&zeros)));
        assert_true(noise_estimate_energy(&zeros) == 0 && noise_estimate_energy(&none) == 1);
    }
}

/* The distribution function, libm's, brings each quantile back to its probability, from the smallest to the largest. */
HARNESS_TEST(test_normal)
{
    for (uint64_t i = 0; i < 52 * 4096; i++) {
        const double p = normal_uniform((i * UINT64_C(0x9e3779b97f4a7c15)) >> i % 52), x = normal_quantile(p);
        /* A relative error of x of 1e-16 is one of x^2 1e-16 in a tail probability. */
        assert_true(fabs(0.5 * erfc(-x / sqrt(2)) - p) / p / (1 + x * x) < 1e-15);
        assert_true(p < 0x1p-53 || normal_quantile(1 - p) == -x);
    }
    for (int i = -30000; i <= 30000; i++)
        assert_true(fabs(normal_power_ratio(i / 100.0) / pow(10, i / 1000.0) - 1) < 3e-14);
}
