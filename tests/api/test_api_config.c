/* SPDX-License-Identifier: MIT */
/* The settings of demodulators and contexts: defaults, every value out of range, what is reserved. */
#include <math.h>
#include <string.h>

#include "api_fixture.h"

HARNESS_TEST(test_defaults)
{
    softqam_demodulator_config config;
    memset(&config, 0xff, sizeof config);
    softqam_demodulator_config_init(&config);
    assert_null(config.context);
    assert_int_equal(config.modulation, SOFTQAM_MODULATION_256QAM);
    assert_int_equal(config.input_format, SOFTQAM_INPUT_CF32);
    assert_int_equal(config.output_format, SOFTQAM_OUTPUT_S8);
    assert_int_equal(config.sign, SOFTQAM_SIGN_POSITIVE_IS_0);
    assert_int_equal(config.noise, SOFTQAM_NOISE_PER_SYMBOL);
    assert_int_equal(config.noise_form, SOFTQAM_NOISE_FORM_N0);
    assert_true(config.input_scale == 0 && !signbit(config.input_scale));
    assert_true(config.llr_scale == 0 && !signbit(config.llr_scale));
    assert_int_equal(config.llr_limit, 0);
    assert_int_equal(config.reserved_word, 0);
    for (size_t k = 0; k < HARNESS_COUNT(config.reserved); k++)
        assert_int_equal(config.reserved[k], 0);
    softqam_demodulator_config_init(NULL);
}

HARNESS_TEST(test_context_defaults)
{
    softqam_context_config config;
    memset(&config, 0xff, sizeof config);
    softqam_context_config_init(&config);
    assert_int_equal(config.backend, SOFTQAM_BACKEND_CPU);
    assert_int_equal(config.n_threads, 0);
    assert_null(config.cpus);
    assert_int_equal(config.n_cpus, 0);
    assert_int_equal(config.thread_priority, 0);
    assert_int_equal(config.device, -1);
    assert_null(config.devices);
    assert_int_equal(config.n_devices, 0);
    assert_int_equal(config.n_streams, 0);
    assert_int_equal(config.chunk_symbols, 0);
    assert_null(config.cpu_variant);
    assert_int_equal(config.reserved_word, 0);
    for (size_t k = 0; k < HARNESS_COUNT(config.reserved); k++)
        assert_int_equal(config.reserved[k], 0);
    softqam_context_config_init(NULL);
}

HARNESS_TEST(test_null_config)
{
    softqam_demodulator *demodulator;
    assert_int_equal(softqam_demodulator_create(&demodulator, NULL), SOFTQAM_OK);
    api_assert_llrs_work(demodulator, SOFTQAM_OUTPUT_S8);
    softqam_demodulator_destroy(demodulator);
    scoped_context *context;
    assert_int_equal(softqam_context_create(&context, NULL), SOFTQAM_OK);
    demodulator = api_create_in(context);
    api_assert_works(demodulator);
    softqam_demodulator_destroy(demodulator);
}

/* One past each end of every enumeration, and far away. */
HARNESS_TEST(test_enumerations)
{
    static const int far[] = {0, -1, 99, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < HARNESS_COUNT(far); i++) {
        softqam_context_config context_config = api_context_config();
        context_config.backend = (softqam_backend)(far[i] ? far[i] : 3);
        api_assert_context_invalid(&context_config, "backend");
        softqam_demodulator_config config = api_config();
        config.modulation = (softqam_modulation)(far[i] ? far[i] : 8);
        api_assert_invalid(&config, "modulation");
        config = api_config();
        config.input_format = (softqam_input_format)(far[i] ? far[i] : HARNESS_N_INPUT_FORMATS);
        api_assert_invalid(&config, "input_format");
        config = api_config();
        config.output_format = (softqam_output_format)(far[i] ? far[i] : HARNESS_N_OUTPUT_FORMATS);
        api_assert_invalid(&config, "output_format");
        config = api_config();
        config.sign = (softqam_sign)(far[i] ? far[i] : 2);
        api_assert_invalid(&config, "sign");
        config = api_config();
        config.noise = (softqam_noise)(far[i] ? far[i] : 2);
        api_assert_invalid(&config, "noise");
        config = api_config();
        config.noise_form = (softqam_noise_form)(far[i] ? far[i] : 3);
        api_assert_invalid(&config, "noise_form");
    }
}

/* 256QAM by name and by zero; the others, but not to u8. */
HARNESS_TEST(test_modulations)
{
    for (int modulation = SOFTQAM_MODULATION_DEFAULT; modulation <= SOFTQAM_MODULATION_1024QAM; modulation++) {
        const bool is_256qam = modulation == SOFTQAM_MODULATION_DEFAULT || modulation == SOFTQAM_MODULATION_256QAM;
        for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++) {
            softqam_demodulator_config config = api_llr_config((softqam_output_format)format);
            config.modulation = (softqam_modulation)modulation;
            if (is_256qam || format != SOFTQAM_OUTPUT_U8) {
                softqam_demodulator_destroy(api_create(&config));
                continue;
            }
            api_assert_invalid(&config, "modulation");
            assert_non_null(strstr(softqam_error_message(), "u8 soft bits are those of 256QAM alone"));
        }
    }
}

static void assert_llrs_accepted(const softqam_demodulator_config *config)
{
    scoped_demodulator *demodulator = api_create(config);
    api_assert_llrs_work(demodulator, config->output_format);
}

HARNESS_TEST(test_llr_scales)
{
    static const float refused[] = {-1, -6, 0x1.fffffep-11F, 0x1.000002p20F, 1e-45F, NAN, -NAN, INFINITY, -INFINITY};
    static const float accepted[] = {0, 1, 6, 20, 0x1p-10F, 0x1p20F};
    softqam_demodulator_config config = api_llr_config(SOFTQAM_OUTPUT_S8);
    for (size_t i = 0; i < HARNESS_COUNT(refused); i++) {
        config.llr_scale = refused[i];
        api_assert_invalid(&config, "llr_scale");
    }
    for (size_t i = 0; i < HARNESS_COUNT(accepted); i++) {
        config.llr_scale = accepted[i];
        assert_llrs_accepted(&config);
    }
}

HARNESS_TEST(test_llr_limits)
{
    static const int refused[] = {-1, -127, 128, 255, INT32_MIN, INT32_MAX};
    static const int accepted[] = {0, 1, 64, 127};
    softqam_demodulator_config config = api_llr_config(SOFTQAM_OUTPUT_S8);
    for (size_t i = 0; i < HARNESS_COUNT(refused); i++) {
        config.llr_limit = refused[i];
        api_assert_invalid(&config, "llr_limit");
    }
    for (size_t i = 0; i < HARNESS_COUNT(accepted); i++) {
        config.llr_limit = accepted[i];
        assert_llrs_accepted(&config);
    }
}

/* Only s8 has steps. */
HARNESS_TEST(test_formats_without_steps)
{
    static const softqam_output_format formats[] = {SOFTQAM_OUTPUT_U8, SOFTQAM_OUTPUT_F16, SOFTQAM_OUTPUT_F32};
    static const float scales[] = {6, 0.5F, 0x1.000002p0F, -1, NAN, INFINITY};
    static const int limits[] = {-1, 1, 127, 128};
    static const int half_limits[] = {-1, 2049, 10001, 65503, 65505, 65536, 0x7fffffff}; /* of sums in soft buffers */
    for (size_t k = 0; k < HARNESS_COUNT(formats); k++) { /* api.library fails when there are others */
        for (size_t i = 0; i < HARNESS_COUNT(scales); i++) {
            softqam_demodulator_config config = api_llr_config(formats[k]);
            config.llr_scale = scales[i];
            api_assert_invalid(&config, "llr_scale of a format in nats");
        }
        const bool is_half = formats[k] == SOFTQAM_OUTPUT_F16;
        for (size_t i = 0; i < (is_half ? HARNESS_COUNT(half_limits) : HARNESS_COUNT(limits)); i++) {
            softqam_demodulator_config config = api_llr_config(formats[k]);
            config.llr_limit = is_half ? half_limits[i] : limits[i];
            api_assert_invalid(&config, "llr_limit of a format in nats");
        }
        softqam_demodulator_config config = api_llr_config(formats[k]);
        config.llr_scale = 1;
        config.llr_limit = is_half ? 10000 : 0;
        if (formats[k] == SOFTQAM_OUTPUT_U8)
            api_assert_accepted(&config);
        else
            assert_llrs_accepted(&config);
    }
}

HARNESS_TEST(test_input_scales)
{
    static const float refused[] = {-1, -1e-45F, NAN, -NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < HARNESS_COUNT(refused); i++) {
        softqam_demodulator_config config = api_config();
        config.input_scale = refused[i];
        api_assert_invalid(&config, "input_scale");
    }
    softqam_demodulator_config config = api_config();
    config.input_scale = 1;
    api_assert_accepted(&config);
}

HARNESS_TEST(test_counts)
{
    softqam_context_config config = api_context_config();
    config.n_threads = 1025;
    api_assert_context_invalid(&config, "n_threads");
    config.n_threads = UINT32_MAX;
    api_assert_context_invalid(&config, "n_threads");
    config = api_context_config();
    config.thread_priority = -1;
    api_assert_context_invalid(&config, "thread_priority");
    config.thread_priority = 100;
    api_assert_context_invalid(&config, "thread_priority");
    config = api_context_config();
    config.n_streams = 65;
    api_assert_context_invalid(&config, "n_streams");
    config.n_streams = UINT32_MAX;
    api_assert_context_invalid(&config, "n_streams");
    config = api_context_config();
    config.chunk_symbols = ((size_t)1 << 28) + 1;
    api_assert_context_invalid(&config, "chunk_symbols");
    config.chunk_symbols = SIZE_MAX;
    api_assert_context_invalid(&config, "chunk_symbols");
    config = api_context_config();
    config.n_threads = 1;
    config.n_streams = 64;
    config.chunk_symbols = 1;
    api_assert_context_accepted(&config);
}

HARNESS_TEST(test_devices)
{
    softqam_context_config config = api_context_config();
    config.device = -2;
    api_assert_context_invalid(&config, "device");
    config.device = INT32_MIN;
    api_assert_context_invalid(&config, "device");
    static const int some[] = {0, 1, -1, 1};
    config = api_context_config();
    config.devices = some;
    api_assert_context_invalid(&config, "a list without a length");
    config.n_devices = SOFTQAM_ALL_DEVICES;
    api_assert_context_invalid(&config, "a list and all devices");
    config.n_devices = 65;
    api_assert_context_invalid(&config, "n_devices");
    config.n_devices = 3;
    api_assert_context_invalid(&config, "a negative device in a list");
    config.devices = some + 1;
    api_assert_context_invalid(&config, "a negative device in a list");
    const int twice[] = {1, 0, 1};
    config.devices = twice;
    api_assert_context_invalid(&config, "a device twice");
    config.n_devices = 2;
    config.device = 0;
    api_assert_context_invalid(&config, "a list and a device");
    config = api_context_config();
    config.n_devices = 1;
    api_assert_context_invalid(&config, "a length without a list");
}

/* Of CPUs: both or neither, numbers that there may be, and as many as there may be. */
HARNESS_TEST(test_cpus)
{
    unsigned cpus[1025] = {0};
    softqam_context_config config = api_context_config();
    config.n_cpus = 1;
    api_assert_context_invalid(&config, "a length without CPUs");
    config.cpus = cpus;
    config.n_cpus = 0;
    api_assert_context_invalid(&config, "CPUs without a length");
    config.n_cpus = 1025;
    api_assert_context_invalid(&config, "n_cpus");
    config.n_cpus = UINT32_MAX;
    api_assert_context_invalid(&config, "n_cpus");
    config.n_cpus = 3;
    cpus[2] = 1024;
    api_assert_context_invalid(&config, "a CPU past 1023");
    cpus[2] = UINT32_MAX;
    api_assert_context_invalid(&config, "a CPU past 1023");
    cpus[2] = 0;
    config.n_threads = 1;
    api_assert_context_accepted(&config);
    /* As many threads as CPUs in the list, which may have one twice. */
    config.n_threads = 0;
    config.backend = SOFTQAM_BACKEND_CPU;
    scoped_context *context = api_create_context(&config);
    scoped_demodulator *demodulator = api_create_in(context);
    assert_non_null(strstr(softqam_backend_detail(demodulator), ", 3 threads"));
}

/* Zeros are every default of a demodulator: such a one gives the bytes of one with the defaults. */
HARNESS_TEST(test_zeros_are_the_defaults)
{
    enum { STREAM = 1, N = 1000 };
    harness_random random = harness_random_stream(STREAM);
    static float symbols[2 * N], noise_var[N];
    static uint8_t out[2][N * HARNESS_SYMBOL_BITS];
    harness_fill_mixture(&random, N, symbols);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, N, noise_var);
    softqam_demodulator_config configs[2] = {{0}};
    softqam_demodulator_config_init(&configs[1]);
    for (int k = 0; k < 2; k++) {
        configs[k].context = api_shared_context();
        scoped_demodulator *demodulator = api_create(&configs[k]);
        memset(out[k], k ? 0x7f : 0x80, sizeof out[k]); /* -128 never appears */
        harness_demodulate_llrs(demodulator, symbols, noise_var, N, out[k]);
    }
    assert_memory_equal(out[0], out[1], sizeof out[0]);
}

/* Each of the words that later versions may give a meaning. */
HARNESS_TEST(test_reserved_fields)
{
    static const uint64_t values[] = {1, (uint64_t)1 << 32, (uint64_t)1 << 63, UINT64_MAX};
    for (size_t i = 0; i < 8 * HARNESS_COUNT(values); i++) {
        softqam_demodulator_config config = api_config();
        config.reserved[i / HARNESS_COUNT(values)] = values[i % HARNESS_COUNT(values)];
        api_assert_invalid(&config, "reserved");
        assert_string_equal(softqam_error_message(), "config.reserved is not 0");
        softqam_context_config context_config = api_context_config();
        context_config.reserved[i / HARNESS_COUNT(values)] = values[i % HARNESS_COUNT(values)];
        api_assert_context_invalid(&context_config, "reserved");
        assert_string_equal(softqam_error_message(), "config.reserved is not 0");
    }
    softqam_demodulator_config config = api_config();
    assert_int_equal(HARNESS_COUNT(config.reserved), 8);
    config.reserved_word = 7;
    api_assert_invalid(&config, "reserved_word");
    assert_string_equal(softqam_error_message(), "config.reserved_word is 7, not 0");
    softqam_context_config context_config = api_context_config();
    assert_int_equal(HARNESS_COUNT(context_config.reserved), 8);
    context_config.reserved_word = 0x80000000U;
    api_assert_context_invalid(&context_config, "reserved_word");
    assert_string_equal(softqam_error_message(), "config.reserved_word is 2147483648, not 0");
}
