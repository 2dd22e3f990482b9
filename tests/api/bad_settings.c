/* SPDX-License-Identifier: MIT */
/* Tests of test_bad_calls for the settings of demodulators and contexts: what is refused, and what just is not. */
#include <string.h>

#include "api_fixture.h"

#define DEMODULATOR(kind, name, ...)                                                                                   \
    {                                                                                                                  \
        &(const harness_setup){.demodulator.output_format = SOFTQAM_OUTPUT_##kind},                                    \
            offsetof(harness_setup, demodulator.name), "config." #name, __VA_ARGS__                                    \
    }
#define CONTEXT(name, ...)                                                                                             \
    {                                                                                                                  \
        &(const harness_setup){.context.device = -1}, offsetof(harness_setup, context.name), "config." #name,          \
            __VA_ARGS__                                                                                                \
    }
/* Of the limit of f16, some are no binary16. */
static const api_numbers wrong_numbers[] = {
    DEMODULATOR(S8, modulation, 'u', "8 -2147483648", ""),
    DEMODULATOR(S8, input_format, 'u', "4 -1", ""),
    DEMODULATOR(S8, output_format, 'u', "5 -1 256", ""),
    DEMODULATOR(S8, sign, 'u', "2 -1", ""),
    DEMODULATOR(S8, noise, 'u', "2 65536", ""),
    DEMODULATOR(S8, noise_form, 'u', "3 -1", ""),
    DEMODULATOR(S8, input_scale, 'f', "-1 -0x1p-149 inf -inf nan", ", not finite and positive"),
    DEMODULATOR(S8, llr_scale, 'f', "-6 0x1p21 0x1.000002p20 0x1p-11 0x1.fffffep-11 0x1p-149 nan inf -inf",
                ", not 2^-10 to 2^20"),
    DEMODULATOR(S16, llr_scale, 'f', "0x1p15 0x1p-11 nan", ", not 2^-10 to 2^14"),
    DEMODULATOR(F16, llr_scale, 'f', "-1 6", ", not 1, the only scale of this output format"),
    DEMODULATOR(F32, llr_scale, 'f', "0x1.000002p0 inf nan", ", not 1, the only scale of this output format"),
    DEMODULATOR(U8, llr_scale, 'f', "0.5 6", ", not 1, the only scale of this output format"),
    DEMODULATOR(S8, llr_limit, 'u', "128 255 2147483647 -1 -2147483648", ", not 1 to 127"),
    DEMODULATOR(S16, llr_limit, 'u', "32768 -1", ", not 1 to 32767"),
    DEMODULATOR(F16, llr_limit, 'u', "65505 65536 2147483647 -1", ", not 1 to 65504"),
    DEMODULATOR(F16, llr_limit, 'u', "2049 10001 65503", ", which is no binary16 number"),
    DEMODULATOR(F32, llr_limit, 'u', "1 -1", ", not 0, as this output format has none"),
    DEMODULATOR(U8, llr_limit, 'u', "127", ", not 0, as this output format has none"),
    DEMODULATOR(S8, reserved_word, 'u', "1 4294967295", ", not 0"),
    DEMODULATOR(S8, reserved, 'r', "0 1 2 3 4 5 6 7", ""),
    CONTEXT(backend, 'u', "2 3 -1 2147483647", ""),
    CONTEXT(n_threads, 'u', "1025 4294967295 2147483648", ", more than 1024"),
    CONTEXT(n_cpus, 'u', "2", ", but config.cpus is NULL"),
    CONTEXT(thread_priority, 'u', "-1 100 -2147483648", ", not 0 to 99"),
    CONTEXT(device, 'u', "-2 -2147483648", ""),
    CONTEXT(reserved_words[0], 'u', "1 4294967295", ", not 0"),
    CONTEXT(reserved_words[1], 'u', "1", ", not 0"),
    CONTEXT(reserved_words[2], 'u', "2147483648", ", not 0"),
    CONTEXT(n_streams, 'u', "65 4294967295", ", more than 64"),
    CONTEXT(chunk_symbols, 'z', "268435457 4294967296 2305843009213693952 18446744073709551615",
            ", more than 268435456"),
    CONTEXT(reserved_word, 'u', "1", ", not 0"),
    CONTEXT(reserved, 'r', "0 1 2 3 4 5 6 7", ""),
};

static const api_numbers right_numbers[] = {
    DEMODULATOR(S8, input_scale, 'f', "0 1", ""),
    DEMODULATOR(S8, llr_scale, 'f', "0 0x1p-10 1 6 20 0x1p20", ""),
    DEMODULATOR(S16, llr_scale, 'f', "0x1p-10 0x1p14", ""),
    DEMODULATOR(F16, llr_scale, 'f', "1", ""),
    DEMODULATOR(F32, llr_scale, 'f', "1", ""),
    DEMODULATOR(U8, llr_scale, 'f', "1", ""),
    DEMODULATOR(S8, llr_limit, 'u', "0 1 64 127", ""),
    DEMODULATOR(S16, llr_limit, 'u', "1 32767", ""),
    DEMODULATOR(F16, llr_limit, 'u', "2048 10000 65504", ""),
};

static const unsigned too_far[] = {0, 1, 1024}, no_cpu = UINT32_MAX;
static char long_name[2000];

/* What is wrong beside another setting, or is no number; of what is wrong beside a reserved word, the word is told. */
static const struct {
    harness_setup setup;
    const char *message;
} rows[] = {
    {{.demodulator = {.output_format = SOFTQAM_OUTPUT_U8, .modulation = 1}},
     "config.modulation is BPSK: u8 soft bits are those of 256QAM alone"},
    {{.demodulator = {.output_format = SOFTQAM_OUTPUT_U8, .modulation = 7}},
     "config.modulation is 1024QAM: u8 soft bits are those of 256QAM alone"},
    {{.demodulator = {.reserved = {1}, .modulation = 8}}, "config.reserved is not 0"},
    {{.context = {.device = -1, .cpus = too_far}}, "config.n_cpus is 0, but config.cpus is not NULL"},
    {{.context = {.device = -1, .cpus = too_far, .n_cpus = 1025}}, "config.n_cpus is 1025, more than 1024"},
    {{.context = {.device = -1, .cpus = too_far, .n_cpus = UINT32_MAX}}, "config.n_cpus is 4294967295, more than 1024"},
    {{.context = {.device = -1, .cpus = too_far, .n_cpus = 3}}, "config.cpus[2] is 1024, not 0 to 1023"},
    {{.context = {.device = -1, .cpus = &no_cpu, .n_cpus = 1}}, "config.cpus[0] is 4294967295, not 0 to 1023"},
    {{.context = {.device = -1, .cpu_variant = "sse9"}}, "config.cpu_variant is \"sse9\", not one of .."},
    {{.context = {.device = -1, .cpu_variant = "%s%n%n"}}, "config.cpu_variant is \"%s%n%n\", not one of .."},
    {{.context = {.device = -1, .cpu_variant = "portable "}}, "config.cpu_variant is \"portable \", not one of .."},
    {{.context = {.device = -1, .cpu_variant = "PORTABLE"}}, "config.cpu_variant is \"PORTABLE\", not one of .."},
    {{.context = {.device = -1, .cpu_variant = "a\nb\x1b[2J"}}, "config.cpu_variant is \"a?b?[2J\", not one of .."},
    {{.context = {.device = -1, .cpu_variant = long_name}}, "config.cpu_variant is \"xxxxxxxx.."},
    {{.context = {.device = -1, .reserved = {1}, .backend = 3}}, "config.reserved is not 0"},
};

static void check(harness_setup setup, const char *message, const char *what, size_t row)
{
    softqam_demodulator *demodulator;
    if (setup.context.backend == SOFTQAM_BACKEND_CPU)
        setup.context.backend = harness_backend();
    api_check_refusal(harness_try_create(&demodulator, &setup), message, what, row);
}

HARNESS_TEST(test_wrong_settings)
{
    api_number number = {.rows = wrong_numbers, .n_rows = HARNESS_COUNT(wrong_numbers)};
    memset(long_name, 'x', sizeof long_name - 1);
    for (harness_setup setup; api_next_number(&number, &setup, sizeof setup);)
        check(setup, number.message, "number", number.row);
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++)
        check(rows[k].setup, rows[k].message, "setting", k);
}

HARNESS_TEST(test_right_settings)
{
    api_number number = {.rows = right_numbers, .n_rows = HARNESS_COUNT(right_numbers)};
    for (harness_setup setup; api_next_number(&number, &setup, sizeof setup);) {
        setup.context.backend = harness_backend();
        scoped_demodulator *demodulator = harness_create(&setup);
    }
}
