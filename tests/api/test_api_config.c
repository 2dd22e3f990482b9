/* SPDX-License-Identifier: MIT */
/* The settings of demodulators and contexts: defaults, and what is accepted. bad_settings.c has what is refused. */
#include <string.h>

#include "api_fixture.h"

/* To the last bit: no zero is negative, and no byte is left as it was. */
HARNESS_TEST(test_defaults)
{
    const softqam_demodulator_config expected = {.modulation = SOFTQAM_MODULATION_256QAM,
                                                 .input_format = SOFTQAM_INPUT_CF32,
                                                 .output_format = SOFTQAM_OUTPUT_S8,
                                                 .sign = SOFTQAM_SIGN_POSITIVE_IS_0,
                                                 .noise = SOFTQAM_NOISE_PER_SYMBOL,
                                                 .noise_form = SOFTQAM_NOISE_FORM_N0};
    const softqam_context_config expected_context = {.backend = SOFTQAM_BACKEND_CPU, .device = -1};
    softqam_demodulator_config config;
    softqam_context_config context_config;
    memset(&config, 0xff, sizeof config);
    memset(&context_config, 0xff, sizeof context_config);
    softqam_demodulator_config_init(&config);
    softqam_context_config_init(&context_config);
    assert_memory_equal(&config, &expected, sizeof config);
    assert_memory_equal(&context_config, &expected_context, sizeof context_config);
    softqam_demodulator_config_init(NULL);
    softqam_context_config_init(NULL);
}

/* LLRs of the symbols have the signs of their soft bits. */
static void assert_llrs_work(const softqam_demodulator *demodulator, softqam_output_format format)
{
    uint8_t out[sizeof api_soft_bits * sizeof(float)];
    size_t nbytes = softqam_output_nbytes(format, SOFTQAM_MODULATION_256QAM, 1) / HARNESS_SYMBOL_BITS;
    static const float noise_vars[API_SYMBOLS] = {1e-6F, 1e-6F, 1e-6F, 1e-6F};
    harness_demodulate_llrs(demodulator, api_symbols, noise_vars, API_SYMBOLS, out);
    for (size_t i = 0; i < sizeof api_soft_bits; i++) {
        /* The sign is the last byte's highest bit in every format. */
        assert_int_equal(out[(i + 1) * nbytes - 1] >> 7, api_soft_bits[i] == 0);
    }
}

HARNESS_TEST(test_null_config)
{
    scoped_demodulator *by_default = api_create(NULL);
    assert_llrs_work(by_default, SOFTQAM_OUTPUT_S8);
    scoped_context *context = NULL;
    assert_int_equal(softqam_context_create(&context, NULL), SOFTQAM_OK);
    scoped_demodulator *demodulator = api_create_in(context);
    api_assert_works(demodulator);
}

/* Scales and limits up to the ends of their ranges. */
HARNESS_TEST(test_accepted)
{
    static const struct {
        softqam_output_format format;
        float llr_scale;
        int llr_limit;
        float input_scale;
    } rows[] = {
        {SOFTQAM_OUTPUT_S8, 0, 0, 1},         {SOFTQAM_OUTPUT_S8, 1, 1, 0},
        {SOFTQAM_OUTPUT_S8, 6, 64, 0},        {SOFTQAM_OUTPUT_S8, 20, 127, 0},
        {SOFTQAM_OUTPUT_S8, 0x1p-10F, 0, 0},  {SOFTQAM_OUTPUT_S8, 0x1p20F, 0, 0},
        {SOFTQAM_OUTPUT_S16, 0x1p-10F, 1, 0}, {SOFTQAM_OUTPUT_S16, 0x1p14F, 32767, 0},
        {SOFTQAM_OUTPUT_F16, 1, 10000, 0},    {SOFTQAM_OUTPUT_F16, 1, 2048, 1},
        {SOFTQAM_OUTPUT_F32, 1, 0, 1},        {SOFTQAM_OUTPUT_U8, 1, 0, 1},
    };
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        softqam_demodulator_config config = api_llr_config(rows[k].format);
        config.llr_scale = rows[k].llr_scale;
        config.llr_limit = rows[k].llr_limit;
        config.input_scale = rows[k].input_scale;
        scoped_demodulator *demodulator = api_create(&config);
        if (rows[k].format == SOFTQAM_OUTPUT_U8)
            api_assert_works(demodulator);
        else
            assert_llrs_work(demodulator, rows[k].format);
    }
}

/* As many threads as CPUs in the list, which may have one twice, unless their number is given. */
HARNESS_TEST(test_accepted_contexts)
{
    static const unsigned cpus[3] = {0};
    softqam_context_config config = api_context_config();
    config.cpus = cpus;
    config.n_cpus = HARNESS_COUNT(cpus);
    config.n_threads = 1;
    config.n_streams = 64;
    config.chunk_symbols = 1;
    for (int k = 0; k < 2; k++) {
        scoped_context *context = api_create_context(&config);
        scoped_demodulator *demodulator = api_create_in(context);
        api_assert_works(demodulator);
        if (k == 1)
            assert_non_null(strstr(softqam_backend_detail(demodulator), ", 3 threads"));
        config.n_threads = 0;
        config.backend = SOFTQAM_BACKEND_CPU;
    }
}

/* Zeros are every default of a demodulator: such a one gives the bytes of one with the defaults. */
HARNESS_TEST(test_zeros_are_the_defaults)
{
    enum { STREAM = 1, N = 1000 };
    harness_random random = harness_random_stream(STREAM);
    static float symbols[2 * N], noise_var[N];
    harness_fill_mixture(&random, N, symbols);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, N, noise_var);
    harness_setup setup = harness_default_setup();
    scoped_memory uint8_t *expected = harness_answer(&setup, symbols, noise_var, N);
    setup.demodulator = (softqam_demodulator_config){0};
    scoped_memory uint8_t *got = harness_answer(&setup, symbols, noise_var, N);
    assert_memory_equal(got, expected, N * HARNESS_SYMBOL_BITS);
}
