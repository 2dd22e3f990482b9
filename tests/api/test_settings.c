/* SPDX-License-Identifier: MIT */
/* Settings of demodulators and contexts: those that are refused, each with its message, and some that are just not
 * refused, in rows without one; what the defaults are; that a context copies what it is given; which variant of the
 * CPU's loops runs. */
#define _GNU_SOURCE /* setenv */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api_fixture.h"

#pragma GCC diagnostic ignored "-Woverride-init" /* rows override what all have */

KEEPS(softqam_context_config, reserved, 64);
KEEPS(softqam_context_config, reserved_words, 12);
KEEPS(softqam_demodulator_config, reserved, 64);

typedef struct settings {
    const char *message;
    softqam_demodulator_config config;
} settings;

#define CONFIG(format, message, ...)                                                                                   \
    {                                                                                                                  \
        message, { .output_format = SOFTQAM_OUTPUT_##format, __VA_ARGS__ }                                             \
    }
#define ONLY_SCALE ", not 1, the only scale of this output format"
#define NO_LIMIT   ", not 0, as this output format has none"
/* clang-format off */
static const settings demodulator_rows[] = {
    CONFIG(S8, "config.modulation is 8, not 1 to 7", .modulation = (softqam_modulation)8),
    CONFIG(S8, "config.input_format is 4", .input_format = (softqam_input_format)4),
    CONFIG(S8, "config.output_format is 5", .output_format = (softqam_output_format)5),
    CONFIG(S8, "config.sign is 2", .sign = (softqam_sign)2),
    CONFIG(S8, "config.noise is 65536", .noise = (softqam_noise)65536),
    CONFIG(S8, "config.noise_form is 3, not 0 to 2", .noise_form = (softqam_noise_form)3),
    CONFIG(S8, "config.input_scale is -1.4013e-45" POSITIVE, .input_scale = -0x1p-149F),
    CONFIG(S8, "config.input_scale is inf" POSITIVE, .input_scale = INFINITY),
    CONFIG(S8, "config.input_scale is ..", .input_scale = NAN),
    CONFIG(S8, "config.llr_scale is -6" S8_SCALE, .llr_scale = -6),
    CONFIG(S8, "config.llr_scale is 1.04858e+06" S8_SCALE, .llr_scale = 0x1.000002p20F),
    CONFIG(S8, "config.llr_scale is 0.000976562" S8_SCALE, .llr_scale = 0x1.fffffep-11F),
    CONFIG(S8, "config.llr_scale is ..", .llr_scale = NAN),
    CONFIG(S8, NULL, .llr_scale = 0x1p20F),
    CONFIG(S8, NULL, .llr_scale = 0x1p-10F),
    CONFIG(S16, "config.llr_scale is 32768, not 2^-10 to 2^14", .llr_scale = 0x1p15F),
    CONFIG(S16, NULL, .llr_scale = 0x1p14F),
    CONFIG(F16, "config.llr_scale is 6" ONLY_SCALE, .llr_scale = 6),
    CONFIG(F32, "config.llr_scale is 1" ONLY_SCALE, .llr_scale = 0x1.000002p0F),
    CONFIG(U8, "config.llr_scale is 0.5" ONLY_SCALE, .llr_scale = 0.5F),
    CONFIG(S8, "config.llr_limit is 128, not 1 to 127", .llr_limit = 128),
    CONFIG(S8, "config.llr_limit is -1, not 1 to 127", .llr_limit = -1),
    CONFIG(S8, NULL, .llr_limit = 127),
    CONFIG(S16, "config.llr_limit is 32768, not 1 to 32767", .llr_limit = 32768),
    CONFIG(S16, NULL, .llr_limit = 32767),
    CONFIG(F16, "config.llr_limit is 65505, not 1 to 65504", .llr_limit = 65505),
    CONFIG(F16, "config.llr_limit is 2049, which is no binary16 number", .llr_limit = 2049),
    CONFIG(F16, NULL, .llr_limit = 2048),
    CONFIG(F16, NULL, .llr_limit = 65504),
    CONFIG(F32, "config.llr_limit is 1" NO_LIMIT, .llr_limit = 1),
    CONFIG(U8, "config.llr_limit is 127" NO_LIMIT, .llr_limit = 127),
    CONFIG(U8, "config.modulation is BPSK" OF_256QAM, .modulation = SOFTQAM_MODULATION_BPSK),
    CONFIG(U8, "config.modulation is 1024QAM" OF_256QAM, .modulation = SOFTQAM_MODULATION_1024QAM),
    CONFIG(S8, "config.noise_floor is -1, not 0 to 2^40", .noise_floor = -1),
    CONFIG(S8, "config.noise_floor is -1.4013e-45, not 0 to 2^40", .noise_floor = -0x1p-149F),
    CONFIG(S16, "config.noise_floor is nan, not 0 to 2^40", .noise_floor = NAN),
    CONFIG(F16, "config.noise_floor is inf, not 0 to 2^40", .noise_floor = INFINITY),
    CONFIG(F32, "config.noise_floor is 1.1e+12, not 0 to 2^40", .noise_floor = 1.1e12F),
    CONFIG(F32, NULL, .noise_floor = 0x1p40F),
    CONFIG(S8, NULL, .noise_floor = 0x1p-149F),
    CONFIG(U8, "config.noise_floor is 1, but u8 soft bits take no noise variance", .noise_floor = 1),
};
/* clang-format on */

HARNESS_TEST(test_demodulator_settings)
{
    for (size_t k = 0; k < HARNESS_COUNT(demodulator_rows); k++) {
        const settings *row = &demodulator_rows[k];
        softqam_demodulator_config config = row->config;
        softqam_demodulator *demodulator = (softqam_demodulator *)(void *)&config;
        config.context = api_shared_context();
        const softqam_status status = softqam_demodulator_create(&demodulator, &config);
        if (row->message)
            api_check_refusal(status, row->message, "demodulator", k);
        assert_int_equal(status == SOFTQAM_OK, !row->message);
        assert_int_equal(demodulator != NULL, !row->message);
        softqam_demodulator_destroy(demodulator);
    }
}

static const unsigned some_cpus[] = {0, 1, 1024};
#define FORTY "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static const struct {
    const char *message;
    softqam_context_config config;
} context_rows[] = {
    {"config.backend is 2", {.backend = (softqam_backend)2}},
    {"config.backend is -1", {.backend = (softqam_backend)-1}},
    {"config.n_threads is 1025, more than 1024", {.n_threads = 1025}},
    {"config.n_cpus is 2, but config.cpus is NULL", {.n_cpus = 2}},
    {"config.n_cpus is 0, but config.cpus is not NULL", {.cpus = some_cpus}},
    {"config.n_cpus is 1025, more than 1024", {.cpus = some_cpus, .n_cpus = 1025}},
    {"config.cpus[2] is 1024, not 0 to 1023", {.cpus = some_cpus, .n_cpus = 3}},
    {"config.thread_priority is -1, not 0 to 99", {.thread_priority = -1}},
    {"config.thread_priority is 100, not 0 to 99", {.thread_priority = 100}},
    {"config.device is -2", {.device = -2}},
    {"config.n_streams is 65, more than 64", {.n_streams = 65}},
    {"config.chunk_symbols is 268435457, more than 268435456", {.chunk_symbols = 268435457}},
    {"config.chunk_symbols is 18446744073709551615, more than 268435456", {.chunk_symbols = SIZE_MAX}},
    {"config.cpu_variant is \"sse9\", not one of ..", {.cpu_variant = "sse9"}},
    {"config.cpu_variant is \"%s%n%n\", not one of ..", {.cpu_variant = "%s%n%n"}},
    {"config.cpu_variant is \"a?b?[2J\", not one of ..", {.cpu_variant = "a\nb\x1b[2J"}},
    {"config.cpu_variant is \"xxxxxxxx..", {.cpu_variant = FORTY FORTY}},
    {"config.reserved_word is 1, not 0", {.reserved_word = 1}},
    {"config.reserved_words[0] is 4294967295, not 0", {.reserved_words = {UINT32_MAX}}},
    {"config.reserved_words[2] is 2147483648, not 0", {.reserved_words = {0, 0, 0x80000000U}}},
};

HARNESS_TEST(test_context_settings)
{
    for (size_t k = 0; k < HARNESS_COUNT(context_rows); k++) {
        softqam_context_config config = context_rows[k].config;
        softqam_context *context = (softqam_context *)(void *)&config;
        if (config.backend == SOFTQAM_BACKEND_CPU)
            config.backend = harness_backend();
        api_check_refusal(softqam_context_create(&context, &config), context_rows[k].message, "context", k);
        assert_null(context);
    }
}

HARNESS_TEST(test_reserved)
{
    softqam_context *context;
    softqam_demodulator *demodulator;
    for (size_t i = 0; i < 64; i++) {
        softqam_context_config context_config = {.device = -1, .backend = (softqam_backend)2};
        softqam_demodulator_config config = {.modulation = (softqam_modulation)8};
        ((uint8_t *)context_config.reserved)[i] = 1;
        ((uint8_t *)config.reserved)[i] = 1;
        api_check_refusal(softqam_context_create(&context, &context_config), "config.reserved is not 0", "context", i);
        api_check_refusal(softqam_demodulator_create(&demodulator, &config), "config.reserved is not 0", "config", i);
    }
}

/* Defaults are right to the last bit: no zero is negative, and no byte is left as it was. */
HARNESS_TEST(test_defaults)
{
    const harness_setup expected = {.context = {.backend = SOFTQAM_BACKEND_CPU, .device = -1},
                                    .demodulator = {.modulation = SOFTQAM_MODULATION_256QAM,
                                                    .input_format = SOFTQAM_INPUT_CF32,
                                                    .output_format = SOFTQAM_OUTPUT_S8,
                                                    .sign = SOFTQAM_SIGN_POSITIVE_IS_0,
                                                    .noise = SOFTQAM_NOISE_PER_SYMBOL,
                                                    .noise_form = SOFTQAM_NOISE_FORM_N0}};
    harness_setup setup;
    memset(&setup, 0xff, sizeof setup);
    softqam_demodulator_config_init(&setup.demodulator);
    softqam_context_config_init(&setup.context);
    assert_memory_equal(&setup, &expected, sizeof setup);
    softqam_demodulator_config_init(NULL);
    softqam_context_config_init(NULL);
}

/* By default there are as many threads as CPUs in the list, which may name one CPU twice. The caller may free its
 * arrays as soon as the context exists. */
HARNESS_TEST(test_config_is_copied)
{
    unsigned cpus[3] = {0};
    char variant[] = "portable";
    harness_setup setup = {.context = {.backend = SOFTQAM_BACKEND_CPU,
                                       .device = -1,
                                       .cpus = cpus,
                                       .n_cpus = 3,
                                       .cpu_variant = variant,
                                       .n_streams = 64,
                                       .chunk_symbols = 1}};
    scoped_context *context = harness_create_context(&setup);
    memset(cpus, 0xff, sizeof cpus);
    memset(variant, 'x', strlen(variant));
    memset(&setup, 0xff, sizeof setup);
    scoped_demodulator *demodulator = api_create_in(context);
    assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_THREADS), SOFTQAM_OK);
    api_assert_works(demodulator, 60000); /* enough for the context's threads */
    assert_string_equal(softqam_backend_detail(demodulator), "portable, 3 threads");
}

/* An unknown variant in the environment is ignored, and backend_detail says so; a name in the configuration wins. */
HARNESS_TEST(test_variants)
{
    static char large[5000];
    memset(large, 'x', sizeof large - 1);
    static const char *const unknown[] = {"sse9", "PORTABLE", "portable ", "%s%n", "a\nb\x1b[2J", large};
    harness_setup setup = {.context = {.device = -1, .n_threads = 1}};
    for (size_t k = 0; k < HARNESS_COUNT(unknown); k++) {
        setenv("SOFTQAM_CPU_VARIANT", "", 1);
        scoped_demodulator *usual = harness_create(&setup);
        setenv("SOFTQAM_CPU_VARIANT", unknown[k], 1);
        scoped_demodulator *demodulator = harness_create(&setup);
        const char *detail = softqam_backend_detail(demodulator), *usual_detail = softqam_backend_detail(usual);
        api_assert_one_line(detail);
        assert_true(strlen(detail) < 200 && strncmp(detail, usual_detail, strlen(usual_detail)) == 0);
        assert_non_null(strstr(detail, " (SOFTQAM_CPU_VARIANT ignored: no variant \""));
        assert_null(strchr(detail, '\x1b'));
    }
    for (int k = 0; k < 2; k++) {
        setenv("SOFTQAM_CPU_VARIANT", k ? "sse9" : "portable", 1);
        setup.context.cpu_variant = k ? "portable" : NULL;
        scoped_demodulator *demodulator = harness_create(&setup);
        assert_string_equal(softqam_backend_detail(demodulator), "portable, 1 thread");
    }
    unsetenv("SOFTQAM_CPU_VARIANT");
}
