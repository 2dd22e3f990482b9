/* SPDX-License-Identifier: MIT */
/* Tests of test_bad_calls for the settings of demodulators and contexts. */
#include <string.h>

#include "api_fixture.h"

/* Numbers that a setting must not have. Of the limit of f16, some are no binary16. */
#define WRONG(kind, ...)                                                                                               \
    {                                                                                                                  \
        SOFTQAM_OUTPUT_##kind, API_NUMBERS(softqam_demodulator_config, __VA_ARGS__)                                    \
    }
static const struct {
    softqam_output_format format;
    api_numbers wrong;
} config_numbers[] = {
    WRONG(S8, modulation, 'u', "8 -2147483648", ""),
    WRONG(S8, input_format, 'u', "4 -1", ""),
    WRONG(S8, output_format, 'u', "5 -1 256", ""),
    WRONG(S8, sign, 'u', "2 -1", ""),
    WRONG(S8, noise, 'u', "2 65536", ""),
    WRONG(S8, noise_form, 'u', "3 -1", ""),
    WRONG(S8, input_scale, 'f', "-1 -0x1p-149 inf -inf nan", ", not finite and positive"),
    WRONG(S8, llr_scale, 'f', "-6 0x1p21 0x1.000002p20 0x1p-11 0x1.fffffep-11 0x1p-149 nan inf -inf",
          ", not 2^-10 to 2^20"),
    WRONG(S16, llr_scale, 'f', "0x1p15 0x1p-11 nan", ", not 2^-10 to 2^14"),
    WRONG(F16, llr_scale, 'f', "-1 6", ", not 1, the only scale of this output format"),
    WRONG(F32, llr_scale, 'f', "0x1.000002p0 inf nan", ", not 1, the only scale of this output format"),
    WRONG(U8, llr_scale, 'f', "0.5 6", ", not 1, the only scale of this output format"),
    WRONG(S8, llr_limit, 'u', "128 255 2147483647 -1 -2147483648", ", not 1 to 127"),
    WRONG(S16, llr_limit, 'u', "32768 -1", ", not 1 to 32767"),
    WRONG(F16, llr_limit, 'u', "65505 65536 2147483647 -1", ", not 1 to 65504"),
    WRONG(F16, llr_limit, 'u', "2049 10001 65503", ", which is no binary16 number"),
    WRONG(F32, llr_limit, 'u', "1 -1", ", not 0, as this output format has none"),
    WRONG(U8, llr_limit, 'u', "127", ", not 0, as this output format has none"),
    WRONG(S8, reserved_word, 'u', "1 4294967295", ", not 0"),
};

#define WRONG_CONTEXT(...) API_NUMBERS(softqam_context_config, __VA_ARGS__)
static const api_numbers context_numbers[] = {
    WRONG_CONTEXT(backend, 'u', "3 -1 2147483647", ""),
    WRONG_CONTEXT(n_threads, 'u', "1025 4294967295 2147483648", ", more than 1024"),
    WRONG_CONTEXT(n_cpus, 'u', "2", ", but config.cpus is NULL"),
    WRONG_CONTEXT(thread_priority, 'u', "-1 100 -2147483648", ", not 0 to 99"),
    WRONG_CONTEXT(device, 'u', "-2 -2147483648", ""),
    WRONG_CONTEXT(n_devices, 'u', "1", ", but config.devices is NULL"),
    WRONG_CONTEXT(n_streams, 'u', "65 4294967295", ", more than 64"),
    WRONG_CONTEXT(chunk_symbols, 'z', "268435457 4294967296 2305843009213693952 18446744073709551615",
                  ", more than 268435456"),
    WRONG_CONTEXT(reserved_word, 'u', "1", ", not 0"),
};

/* What is wrong in its context, or is no number; of what is wrong beside a reserved word, the word is told. */
static const struct {
    softqam_demodulator_config config;
    const char *message;
} config_rows[] = {
    {{.output_format = SOFTQAM_OUTPUT_U8, .modulation = 1},
     "config.modulation is BPSK: u8 soft bits are those of 256QAM alone"},
    {{.output_format = SOFTQAM_OUTPUT_U8, .modulation = 7},
     "config.modulation is 1024QAM: u8 soft bits are those of 256QAM alone"},
    {{.reserved = {[7] = (uint64_t)1 << 63}, .modulation = 8}, "config.reserved is not 0"},
};

static const unsigned too_far[] = {0, 1, 1024}, no_cpu = UINT32_MAX;
static const int twice[] = {5, 3, 5}, negative[] = {0, -1};
static char long_name[2000];

static const struct {
    softqam_context_config config;
    const char *message;
} context_rows[] = {
    {{.device = -1, .cpus = too_far}, "config.n_cpus is 0, but config.cpus is not NULL"},
    {{.device = -1, .cpus = too_far, .n_cpus = 1025}, "config.n_cpus is 1025, more than 1024"},
    {{.device = -1, .cpus = too_far, .n_cpus = UINT32_MAX}, "config.n_cpus is 4294967295, more than 1024"},
    {{.device = -1, .cpus = too_far, .n_cpus = 3}, "config.cpus[2] is 1024, not 0 to 1023"},
    {{.device = -1, .cpus = &no_cpu, .n_cpus = 1}, "config.cpus[0] is 4294967295, not 0 to 1023"},
    {{.devices = twice, .n_devices = 2}, "config.device and config.n_devices exclude each other"},
    {{.device = -1, .devices = twice}, "config.devices needs config.n_devices"},
    {{.device = -1, .devices = twice, .n_devices = 65}, "config.n_devices is 65, more than 64"},
    {{.device = -1, .devices = twice, .n_devices = SOFTQAM_ALL_DEVICES},
     "config.devices is given, but config.n_devices means all devices"},
    {{.device = -1, .devices = twice, .n_devices = 3}, "config.devices names device 5 twice"},
    {{.device = -1, .devices = negative, .n_devices = 2}, "config.devices[1] is -1"},
    {{.device = -1, .cpu_variant = "sse9"}, "config.cpu_variant is \"sse9\", not one of .."},
    {{.device = -1, .cpu_variant = "%s%n%n"}, "config.cpu_variant is \"%s%n%n\", not one of .."},
    {{.device = -1, .cpu_variant = "portable "}, "config.cpu_variant is \"portable \", not one of .."},
    {{.device = -1, .cpu_variant = "PORTABLE"}, "config.cpu_variant is \"PORTABLE\", not one of .."},
    {{.device = -1, .cpu_variant = "a\nb\x1b[2J"}, "config.cpu_variant is \"a?b?[2J\", not one of .."},
    {{.device = -1, .cpu_variant = long_name}, "config.cpu_variant is \"xxxxxxxx.."},
    {{.device = -1, .reserved = {[7] = (uint64_t)1 << 63}, .backend = 3}, "config.reserved is not 0"},
};

static void check(const softqam_demodulator_config *config, const char *message, size_t row)
{
    const softqam_demodulator_config before = *config;
    softqam_demodulator *demodulator = (softqam_demodulator *)(void *)&demodulator;
    api_check_refusal(softqam_demodulator_create(&demodulator, config), message, "configuration", row);
    assert_null(demodulator);
    assert_memory_equal(config, &before, sizeof before);
}

static void check_context(const softqam_context_config *config, const char *message, size_t row)
{
    const softqam_context_config before = *config;
    softqam_context *context = (softqam_context *)(void *)&context;
    api_check_refusal(softqam_context_create(&context, config), message, "context", row);
    assert_null(context);
    assert_memory_equal(config, &before, sizeof before);
}

HARNESS_TEST(test_configurations)
{
    char message[API_MESSAGE];
    for (size_t k = 0; k < HARNESS_COUNT(config_numbers); k++) {
        softqam_demodulator_config config = api_config(config_numbers[k].format);
        for (const char *at = config_numbers[k].wrong.numbers;
             api_next_number(&config_numbers[k].wrong, &at, "config", &config, message);)
            check(&config, message, k);
    }
    for (size_t k = 0; k < HARNESS_COUNT(config_rows); k++)
        check(&config_rows[k].config, config_rows[k].message, k);
}

HARNESS_TEST(test_context_configurations)
{
    char message[API_MESSAGE];
    for (size_t k = 0; k < HARNESS_COUNT(context_numbers); k++) {
        softqam_context_config config = harness_default_setup().context;
        for (const char *at = context_numbers[k].numbers;
             api_next_number(&context_numbers[k], &at, "config", &config, message);)
            check_context(&config, message, k);
    }
    memset(long_name, 'x', sizeof long_name - 1);
    for (size_t k = 0; k < HARNESS_COUNT(context_rows); k++) {
        softqam_context_config config = context_rows[k].config;
        if (config.backend == 0)
            config.backend = harness_backend();
        check_context(&config, context_rows[k].message, k);
    }
}

/* Each of the words that later versions may give a meaning. */
HARNESS_TEST(test_reserved_words)
{
    static const uint64_t values[] = {1, (uint64_t)1 << 32, (uint64_t)1 << 63, UINT64_MAX};
    softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_U8);
    softqam_context_config context_config = harness_default_setup().context;
    assert_true(HARNESS_COUNT(config.reserved) == 8 && HARNESS_COUNT(context_config.reserved) == 8);
    for (size_t k = 0; k < 8 * HARNESS_COUNT(values); k++) {
        config.reserved[k % 8] = context_config.reserved[k % 8] = values[k / 8];
        check(&config, "config.reserved is not 0", k);
        check_context(&context_config, "config.reserved is not 0", k);
        config.reserved[k % 8] = context_config.reserved[k % 8] = 0;
    }
}
