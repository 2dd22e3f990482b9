/* SPDX-License-Identifier: MIT */
/* Tests of test_bad_calls for the settings of demodulators and contexts. */
#include <string.h>

#include "api_fixture.h"

/* Numbers that a setting must not have. Of the limit of f16, some are no binary16. */
#define WRONG(kind, name, ...)                                                                                         \
    {                                                                                                                  \
        &(const harness_setup){.demodulator.output_format = SOFTQAM_OUTPUT_##kind},                                    \
            offsetof(harness_setup, demodulator.name), "config." #name, __VA_ARGS__                                    \
    }
#define WRONG_CONTEXT(name, ...)                                                                                       \
    {                                                                                                                  \
        &(const harness_setup){.context.device = -1}, offsetof(harness_setup, context.name), "config." #name,          \
            __VA_ARGS__                                                                                                \
    }
static const api_numbers numbers[] = {
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
    WRONG(S8, reserved, 'r', "0 1 2 3 4 5 6 7", ""),
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
    WRONG_CONTEXT(reserved, 'r', "0 1 2 3 4 5 6 7", ""),
};

static const unsigned too_far[] = {0, 1, 1024}, no_cpu = UINT32_MAX;
static const int twice[] = {5, 3, 5}, negative[] = {0, -1};
static char long_name[2000];

/* What is wrong beside another setting, or is no number; of what is wrong beside a reserved word, the word is told. */
#define CONTEXT(text, ...)                                                                                             \
    {                                                                                                                  \
        {.context = {.device = -1, __VA_ARGS__}}, text                                                                 \
    }
static const struct {
    harness_setup setup;
    const char *message;
} rows[] = {
    {{.demodulator = {.output_format = SOFTQAM_OUTPUT_U8, .modulation = 1}},
     "config.modulation is BPSK: u8 soft bits are those of 256QAM alone"},
    {{.demodulator = {.output_format = SOFTQAM_OUTPUT_U8, .modulation = 7}},
     "config.modulation is 1024QAM: u8 soft bits are those of 256QAM alone"},
    {{.demodulator = {.reserved = {1}, .modulation = 8}}, "config.reserved is not 0"},
    CONTEXT("config.n_cpus is 0, but config.cpus is not NULL", .cpus = too_far),
    CONTEXT("config.n_cpus is 1025, more than 1024", .cpus = too_far, .n_cpus = 1025),
    CONTEXT("config.n_cpus is 4294967295, more than 1024", .cpus = too_far, .n_cpus = UINT32_MAX),
    CONTEXT("config.cpus[2] is 1024, not 0 to 1023", .cpus = too_far, .n_cpus = 3),
    CONTEXT("config.cpus[0] is 4294967295, not 0 to 1023", .cpus = &no_cpu, .n_cpus = 1),
    {{.context = {.devices = twice, .n_devices = 2}}, "config.device and config.n_devices exclude each other"},
    CONTEXT("config.devices needs config.n_devices", .devices = twice),
    CONTEXT("config.n_devices is 65, more than 64", .devices = twice, .n_devices = 65),
    CONTEXT("config.devices is given, but config.n_devices means all devices", .devices = twice,
            .n_devices = SOFTQAM_ALL_DEVICES),
    CONTEXT("config.devices names device 5 twice", .devices = twice, .n_devices = 3),
    CONTEXT("config.devices[1] is -1", .devices = negative, .n_devices = 2),
    CONTEXT("config.cpu_variant is \"sse9\", not one of ..", .cpu_variant = "sse9"),
    CONTEXT("config.cpu_variant is \"%s%n%n\", not one of ..", .cpu_variant = "%s%n%n"),
    CONTEXT("config.cpu_variant is \"portable \", not one of ..", .cpu_variant = "portable "),
    CONTEXT("config.cpu_variant is \"PORTABLE\", not one of ..", .cpu_variant = "PORTABLE"),
    CONTEXT("config.cpu_variant is \"a?b?[2J\", not one of ..", .cpu_variant = "a\nb\x1b[2J"),
    CONTEXT("config.cpu_variant is \"xxxxxxxx..", .cpu_variant = long_name),
    CONTEXT("config.reserved is not 0", .reserved = {1}, .backend = 3),
};

static void check(harness_setup setup, const char *message, const char *what, size_t row)
{
    softqam_demodulator *demodulator;
    if (setup.context.backend == SOFTQAM_BACKEND_CPU)
        setup.context.backend = harness_backend();
    api_check_refusal(harness_try_create(&demodulator, &setup), message, what, row);
}

HARNESS_TEST(test_settings)
{
    harness_setup setup;
    memset(long_name, 'x', sizeof long_name - 1);
    for (api_wrong wrong = {.rows = numbers, .n_rows = HARNESS_COUNT(numbers)};
         api_next_wrong(&wrong, &setup, sizeof setup);)
        check(setup, wrong.message, "number", wrong.row);
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++)
        check(rows[k].setup, rows[k].message, "setting", k);
}
