/* SPDX-License-Identifier: MIT */
/* Tests of test_bad_calls for the settings of demodulators and contexts. */
#include <math.h>
#include <string.h>

#include "api_fixture.h"

/* A demodulator's configuration that is wrong, and a context's. */
typedef struct config_row {
    softqam_demodulator_config config;
    const char *message; /* what it starts with */
} config_row;

typedef struct context_row {
    softqam_context_config config;
    const char *message;
} context_row;

#define WRONG(text, ...)                                                                                               \
    {                                                                                                                  \
        {__VA_ARGS__}, text                                                                                            \
    }
#define WRONG_CONTEXT(text, ...)                                                                                       \
    {                                                                                                                  \
        {.device = -1, __VA_ARGS__}, text                                                                              \
    }
#define S8  .output_format = SOFTQAM_OUTPUT_S8
#define S16 .output_format = SOFTQAM_OUTPUT_S16
#define F16 .output_format = SOFTQAM_OUTPUT_F16
#define F32 .output_format = SOFTQAM_OUTPUT_F32
#define U8  .output_format = SOFTQAM_OUTPUT_U8

static const config_row config_rows[] = {
    WRONG("config.modulation is 8", .modulation = 8),
    WRONG("config.modulation is -2147483648", .modulation = (softqam_modulation)INT32_MIN),
    WRONG("config.modulation is BPSK: u8 soft bits are those of 256QAM alone", U8, .modulation = 1),
    WRONG("config.modulation is 1024QAM: u8 soft bits are those of 256QAM alone", U8, .modulation = 7),
    WRONG("config.input_format is 4", .input_format = 4),
    WRONG("config.input_format is -1", .input_format = (softqam_input_format)-1),
    WRONG("config.output_format is -1", .output_format = (softqam_output_format)-1),
    WRONG("config.output_format is 256", .output_format = 256),
    WRONG("config.output_format is 5", .output_format = HARNESS_N_OUTPUT_FORMATS),
    WRONG("config.sign is 2", .sign = 2),
    WRONG("config.sign is -1", .sign = (softqam_sign)-1),
    WRONG("config.noise is 2", .noise = 2),
    WRONG("config.noise is 65536", .noise = 65536),
    WRONG("config.noise_form is 3", .noise_form = 3),
    WRONG("config.noise_form is -1", S8, .noise_form = (softqam_noise_form)-1),
    WRONG("config.input_scale is -1, not finite and positive", .input_scale = -1),
    WRONG("config.input_scale is -1.4013e-45, not finite and positive", .input_scale = -0x1p-149F),
    WRONG("config.input_scale is inf, not finite and positive", .input_scale = INFINITY),
    WRONG("config.input_scale is -inf, not finite and positive", .input_scale = -INFINITY),
    WRONG("config.input_scale is nan, not finite and positive", .input_scale = NAN),
    WRONG("config.llr_scale is -6, not 2^-10 to 2^20", S8, .llr_scale = -6),
    WRONG("config.llr_scale is 2.09715e+06, not 2^-10 to 2^20", S8, .llr_scale = 0x1p21F),
    WRONG("config.llr_scale is 0.000488281, not 2^-10 to 2^20", S8, .llr_scale = 0x1p-11F),
    WRONG("config.llr_scale is nan, not 2^-10 to 2^20", S8, .llr_scale = NAN),
    WRONG("config.llr_scale is inf, not 2^-10 to 2^20", S8, .llr_scale = INFINITY),
    WRONG("config.llr_scale is 1.4013e-45, not 2^-10 to 2^20", S8, .llr_scale = 0x1p-149F),
    WRONG("config.llr_scale is 0.000976562, not 2^-10 to 2^20", S8, .llr_scale = 0x1.fffffep-11F),
    WRONG("config.llr_scale is 1.04858e+06, not 2^-10 to 2^20", S8, .llr_scale = 0x1.000002p20F),
    WRONG("config.llr_scale is -inf, not 2^-10 to 2^20", S8, .llr_scale = -INFINITY),
    WRONG("config.llr_scale is 0.5, not 1", U8, .llr_scale = 0.5F),
    WRONG("config.llr_scale is 1, not 1", F32, .llr_scale = 0x1.000002p0F),
    WRONG("config.llr_scale is -1, not 1", F16, .llr_scale = -1),
    WRONG("config.llr_scale is inf, not 1", F32, .llr_scale = INFINITY),
    WRONG("config.llr_scale is 6, not 1, the only scale of this output format", U8, .llr_scale = 6),
    WRONG("config.llr_scale is 6, not 1", F16, .llr_scale = 6),
    WRONG("config.llr_scale is nan, not 1", F32, .llr_scale = NAN),
    WRONG("config.llr_scale is 32768, not 2^-10 to 2^14", S16, .llr_scale = 0x1p15F),
    WRONG("config.llr_scale is 0.000488281, not 2^-10 to 2^14", S16, .llr_scale = 0x1p-11F),
    WRONG("config.llr_scale is nan, not 2^-10 to 2^14", S16, .llr_scale = NAN),
    WRONG("config.llr_limit is 32768, not 1 to 32767", S16, .llr_limit = 32768),
    WRONG("config.llr_limit is -1, not 1 to 32767", S16, .llr_limit = -1),
    WRONG("config.llr_limit is 128, not 1 to 127", S8, .llr_limit = 128),
    WRONG("config.llr_limit is -1, not 1 to 127", S8, .llr_limit = -1),
    WRONG("config.llr_limit is -2147483648, not 1 to 127", S8, .llr_limit = INT32_MIN),
    WRONG("config.llr_limit is 127, not 0, as this output format has none", U8, .llr_limit = 127),
    WRONG("config.llr_limit is 1, not 0", F32, .llr_limit = 1),
    WRONG("config.llr_limit is -1, not 0", F32, .llr_limit = -1),
    WRONG("config.llr_limit is 255, not 1 to 127", S8, .llr_limit = 255),
    WRONG("config.llr_limit is 2147483647, not 1 to 127", S8, .llr_limit = INT32_MAX),
    WRONG("config.llr_limit is -1,", F16, .llr_limit = -1),
    WRONG("config.llr_limit is 2049,", F16, .llr_limit = 2049), /* of sums in soft buffers: no binary16 */
    WRONG("config.llr_limit is 10001,", F16, .llr_limit = 10001),
    WRONG("config.llr_limit is 65503,", F16, .llr_limit = 65503),
    WRONG("config.llr_limit is 65505,", F16, .llr_limit = 65505),
    WRONG("config.llr_limit is 65536,", F16, .llr_limit = 65536),
    WRONG("config.llr_limit is 2147483647,", F16, .llr_limit = INT32_MAX),
    WRONG("config.reserved_word is 4294967295, not 0", .reserved_word = UINT32_MAX, .modulation = 8),
    WRONG("config.reserved is not 0", .reserved = {[7] = (uint64_t)1 << 63}, .modulation = 8),
};

static const unsigned too_far[] = {0, 1, 1024}, no_cpu = UINT32_MAX;
static const int twice[] = {5, 3, 5}, negative[] = {0, -1};

static const context_row context_rows[] = {
    WRONG_CONTEXT("config.backend is 3", .backend = 3),
    WRONG_CONTEXT("config.backend is -1", .backend = (softqam_backend)-1),
    WRONG_CONTEXT("config.backend is 2147483647", .backend = INT32_MAX),
    WRONG_CONTEXT("config.n_threads is 1025, more than 1024", .n_threads = 1025),
    WRONG_CONTEXT("config.n_threads is 4294967295, more than 1024", .n_threads = UINT32_MAX),
    WRONG_CONTEXT("config.n_threads is 2147483648, more than 1024", .n_threads = 0x80000000U),
    WRONG_CONTEXT("config.n_cpus is 0, but config.cpus is not NULL", .cpus = too_far),
    WRONG_CONTEXT("config.n_cpus is 2, but config.cpus is NULL", .n_cpus = 2),
    WRONG_CONTEXT("config.n_cpus is 1025, more than 1024", .cpus = too_far, .n_cpus = 1025),
    WRONG_CONTEXT("config.n_cpus is 4294967295, more than 1024", .cpus = too_far, .n_cpus = UINT32_MAX),
    WRONG_CONTEXT("config.cpus[2] is 1024, not 0 to 1023", .cpus = too_far, .n_cpus = 3),
    WRONG_CONTEXT("config.cpus[0] is 4294967295, not 0 to 1023", .cpus = &no_cpu, .n_cpus = 1),
    WRONG_CONTEXT("config.thread_priority is -1, not 0 to 99", .thread_priority = -1),
    WRONG_CONTEXT("config.thread_priority is 100, not 0 to 99", .thread_priority = 100),
    WRONG_CONTEXT("config.thread_priority is -2147483648, not 0 to 99", .thread_priority = INT32_MIN),
    {{.device = -2}, "config.device is -2"},
    {{.device = INT32_MIN}, "config.device is -2147483648"},
    {{.devices = twice, .n_devices = 2}, "config.device and config.n_devices exclude each other"},
    WRONG_CONTEXT("config.devices needs config.n_devices", .devices = twice),
    WRONG_CONTEXT("config.n_devices is 1, but config.devices is NULL", .n_devices = 1),
    WRONG_CONTEXT("config.n_devices is 65, more than 64", .devices = twice, .n_devices = 65),
    WRONG_CONTEXT("config.devices is given, but config.n_devices means all devices", .devices = twice,
                  .n_devices = SOFTQAM_ALL_DEVICES),
    WRONG_CONTEXT("config.devices names device 5 twice", .devices = twice, .n_devices = 3),
    WRONG_CONTEXT("config.devices[1] is -1", .devices = negative, .n_devices = 2),
    WRONG_CONTEXT("config.n_streams is 65, more than 64", .n_streams = 65),
    WRONG_CONTEXT("config.n_streams is 4294967295, more than 64", .n_streams = UINT32_MAX),
    WRONG_CONTEXT("config.chunk_symbols is 268435457, more than 268435456", .chunk_symbols = ((size_t)1 << 28) + 1),
    WRONG_CONTEXT("config.chunk_symbols is 18446744073709551615, more than 268435456", .chunk_symbols = SIZE_MAX),
    WRONG_CONTEXT("config.chunk_symbols is 4294967296, more than 268435456", .chunk_symbols = (size_t)1 << 32),
    WRONG_CONTEXT("config.chunk_symbols is 2305843009213693952, more", .chunk_symbols = SIZE_MAX / 8 + 1),
    WRONG_CONTEXT("config.cpu_variant is \"sse9\", not one of ", .cpu_variant = "sse9"),
    WRONG_CONTEXT("config.cpu_variant is \"%s%n%n\", not one of ", .cpu_variant = "%s%n%n"),
    WRONG_CONTEXT("config.cpu_variant is \"portable \", not one of ", .cpu_variant = "portable "),
    WRONG_CONTEXT("config.cpu_variant is \"PORTABLE\", not one of ", .cpu_variant = "PORTABLE"),
    WRONG_CONTEXT("config.reserved_word is 1, not 0", .reserved_word = 1),
    WRONG_CONTEXT("config.reserved is not 0", .reserved = {[7] = (uint64_t)1 << 63}, .backend = 3),
};

HARNESS_TEST(test_configurations)
{
    for (size_t k = 0; k < HARNESS_COUNT(config_rows); k++) {
        softqam_demodulator_config config = config_rows[k].config;
        config.context = api_shared_context();
        const softqam_demodulator_config before = config;
        softqam_demodulator *demodulator = (softqam_demodulator *)(void *)&config;
        api_check_refusal(softqam_demodulator_create(&demodulator, &config), config_rows[k].message, "configuration",
                          k);
        assert_null(demodulator);
        assert_memory_equal(&config, &before, sizeof config);
    }
    print_message("%zu rows\n", HARNESS_COUNT(config_rows));
}

HARNESS_TEST(test_context_configurations)
{
    for (size_t k = 0; k < HARNESS_COUNT(context_rows); k++) {
        softqam_context_config config = context_rows[k].config;
        if (config.backend == 0)
            config.backend = harness_backend();
        const softqam_context_config before = config;
        softqam_context *context = (softqam_context *)(void *)&config;
        api_check_refusal(softqam_context_create(&context, &config), context_rows[k].message, "context", k);
        assert_null(context);
        assert_memory_equal(&config, &before, sizeof config);
    }
    print_message("%zu rows\n", HARNESS_COUNT(context_rows));
}

/* Each of the words that later versions may give a meaning. */
HARNESS_TEST(test_reserved_words)
{
    static const uint64_t values[] = {1, (uint64_t)1 << 32, (uint64_t)1 << 63, UINT64_MAX};
    softqam_demodulator_config config = api_config();
    softqam_context_config context_config = api_context_config();
    assert_true(HARNESS_COUNT(config.reserved) == 8 && HARNESS_COUNT(context_config.reserved) == 8);
    for (size_t k = 0; k < 8 * HARNESS_COUNT(values); k++) {
        uint64_t *word = &config.reserved[k % 8], *context_word = &context_config.reserved[k % 8];
        *word = *context_word = values[k / 8];
        api_assert_invalid(&config, "reserved");
        assert_string_equal(softqam_error_message(), "config.reserved is not 0");
        api_assert_context_invalid(&context_config, "reserved");
        assert_string_equal(softqam_error_message(), "config.reserved is not 0");
        *word = *context_word = 0;
    }
}

/* A name that is no text of one line. */
HARNESS_TEST(test_variant_with_control_characters)
{
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = harness_backend();
    softqam_context *context;
    char name[2000];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    config.cpu_variant = name;
    api_check_refusal(softqam_context_create(&context, &config), "config.cpu_variant is \"xxxxxxxx", "long variant", 0);
    config.cpu_variant = "a\nb\x1b[2J";
    api_check_refusal(softqam_context_create(&context, &config), "config.cpu_variant is \"a?b?[2J\", not one of ",
                      "variant with controls", 0);
}
