/* SPDX-License-Identifier: MIT */
/* softqam.h around the calls: host memory, sizes, statuses, messages, backends, version; the defaults of
 * settings (test_refusals.c has what is refused); the default context, and which variant of the CPU's loops runs.
 * test_load.c prepares any part of contexts; it and faults/test_faults.c end them before and after their demodulators.
 */
#define _GNU_SOURCE /* setenv */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_fixture.h"

/* Memory may have any size and outlive its context. */
HARNESS_TEST(test_host_memory)
{
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 1 << 20};
    void *memory[HARNESS_COUNT(sizes)];
    const harness_setup setup = harness_default_setup();
    softqam_context *first = harness_create_context(&setup);
    for (size_t i = 0; i < HARNESS_COUNT(sizes); i++) {
        assert_int_equal(softqam_host_alloc(first, sizes[i], &memory[i]), SOFTQAM_OK);
        assert_non_null(memory[i]);
        assert_int_equal((uintptr_t)memory[i] % 4096, 0);
    }
    softqam_context_destroy(first);
    for (size_t i = 0; i < HARNESS_COUNT(sizes); i++)
        memset(memory[i], API_OUT_BYTE, sizes[i] ? sizes[i] : 1);
    scoped_context *second = harness_create_context(&setup);
    scoped_demodulator *demodulator = api_create_in(second);
    harness_demodulate(demodulator, memcpy(memory[3], api_symbols, sizeof api_symbols), API_SYMBOLS, memory[4]);
    assert_memory_equal(memory[4], api_soft_bits, sizeof api_soft_bits);
    for (size_t i = 0; i < HARNESS_COUNT(sizes); i++)
        softqam_host_free(memory[i]);
    softqam_host_free(NULL);
}

HARNESS_TEST(test_values)
{
    static const size_t nbytes[HARNESS_N_INPUT_FORMATS + 1] = {8, 4, 2, 4, 0};
    static const float scales[HARNESS_N_INPUT_FORMATS + 1] = {1, 1.0F / 8192, 1.0F / 64, 1, 0};
    static const unsigned bits[HARNESS_N_MODULATIONS + 2] = {8, 1, 1, 2, 4, 6, 8, HARNESS_MAX_SYMBOL_BITS, 0};
    static const int unknown[] = {-1, 99, INT32_MIN, INT32_MAX};
    assert_true(SOFTQAM_INPUT_CS16 == 1 && SOFTQAM_INPUT_CS8 == 2 && SOFTQAM_INPUT_CF16 == 3);
    for (size_t k = 0; k < HARNESS_COUNT(nbytes); k++) {
        assert_int_equal(softqam_input_symbol_nbytes((softqam_input_format)k), nbytes[k]);
        assert_true(softqam_input_default_scale((softqam_input_format)k) == scales[k]);
    }
    for (size_t k = 0; k < HARNESS_COUNT(bits); k++)
        assert_int_equal(softqam_bits_per_symbol((softqam_modulation)k), bits[k]);
    for (size_t k = 0; k < HARNESS_COUNT(unknown); k++) {
        assert_int_equal(softqam_input_symbol_nbytes((softqam_input_format)unknown[k]), 0);
        assert_true(softqam_input_default_scale((softqam_input_format)unknown[k]) == 0);
        assert_int_equal(softqam_bits_per_symbol((softqam_modulation)unknown[k]), 0);
        assert_int_equal(softqam_output_nbytes((softqam_output_format)unknown[k], SOFTQAM_MODULATION_256QAM, 1), 0);
        assert_string_equal(softqam_status_string((softqam_status)unknown[k]), "unknown status");
    }
}

/* The product, or 0 where a size_t does not hold it: the largest count that it does, and one more. */
HARNESS_TEST(test_output_sizes)
{
    _Static_assert(HARNESS_N_OUTPUT_FORMATS == 5, "each has a size");
    static const size_t value_nbytes[HARNESS_N_OUTPUT_FORMATS] = {[SOFTQAM_OUTPUT_S8] = 1,
                                                                  [SOFTQAM_OUTPUT_S16] = 2,
                                                                  [SOFTQAM_OUTPUT_F16] = 2,
                                                                  [SOFTQAM_OUTPUT_F32] = 4,
                                                                  [SOFTQAM_OUTPUT_U8] = 1};
    for (int k = 0; k < HARNESS_N_OUTPUT_FORMATS * (HARNESS_N_MODULATIONS + 1); k++) {
        const softqam_output_format format = (softqam_output_format)(k % HARNESS_N_OUTPUT_FORMATS);
        const softqam_modulation modulation = (softqam_modulation)(k / HARNESS_N_OUTPUT_FORMATS);
        const size_t nbytes = softqam_bits_per_symbol(modulation) * value_nbytes[format], most = SIZE_MAX / nbytes;
        const size_t counts[] = {0,       1, 3, 257, most - 1, most, most + 1, most + 2, SIZE_MAX / 2 + 1, SIZE_MAX - 1,
                                 SIZE_MAX};
        for (size_t i = 0; i < HARNESS_COUNT(counts); i++)
            assert_int_equal(softqam_output_nbytes(format, modulation, counts[i]),
                             counts[i] <= most ? counts[i] * nbytes : 0);
        assert_int_equal(softqam_output_nbytes(format, (softqam_modulation)(HARNESS_N_MODULATIONS + 1), 1), 0);
    }
    assert_int_equal(
        softqam_output_nbytes((softqam_output_format)HARNESS_N_OUTPUT_FORMATS, SOFTQAM_MODULATION_256QAM, 1), 0);
}

HARNESS_TEST(test_status_strings)
{
    enum { N_STATUSES = SOFTQAM_ERROR_CUDA + 1 };
    for (int i = 0; i < N_STATUSES; i++) {
        const char *text = softqam_status_string((softqam_status)i);
        api_assert_one_line(text);
        assert_string_not_equal(text, "unknown status");
        for (int k = 0; k < i; k++)
            assert_string_not_equal(text, softqam_status_string((softqam_status)k));
    }
    assert_string_equal(softqam_status_string((softqam_status)N_STATUSES), "unknown status");
}

/* Fails in a way of its own and notes its message before and after. */
static void *fail_elsewhere(void *argument)
{
    char *messages = argument;
    strncpy(messages, softqam_error_message(), 255);
    softqam_demodulator_create(NULL, NULL);
    strncpy(messages + 256, softqam_error_message(), 255);
    return NULL;
}

HARNESS_TEST(test_messages_belong_to_threads)
{
    softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_U8);
    config.llr_limit = 128;
    softqam_demodulator *refused = (softqam_demodulator *)(void *)&refused;
    assert_int_equal(softqam_demodulator_create(&refused, &config), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_null(refused);
    char mine[256] = {0}, theirs[2][256] = {{0}};
    strncpy(mine, softqam_error_message(), sizeof mine - 1);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, theirs), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(theirs[0], "");
    api_assert_one_line(theirs[1]);
    assert_string_not_equal(theirs[1], mine);
    assert_string_equal(softqam_error_message(), mine);
    /* It is the last failure's, so a success leaves it alone. */
    scoped_demodulator *demodulator = api_create_in(api_shared_context());
    api_assert_works(demodulator, API_SYMBOLS);
    assert_string_equal(softqam_error_message(), mine);
}

/* CUDA refuses a device that does not exist, and the CPU ignores it; the same for device 0 without a GPU or without
 * CUDA in the build. */
HARNESS_TEST(test_absent_devices)
{
    static const int devices[] = {100000, 0};
    for (int k = 0; k < (harness_cuda_is_usable() ? 1 : 2); k++) {
        harness_setup setup = {.context = {.device = devices[k], .backend = SOFTQAM_BACKEND_CUDA}};
        softqam_context *none = (softqam_context *)(void *)&none;
        assert_int_equal(softqam_context_create(&none, &setup.context), SOFTQAM_ERROR_BACKEND_UNAVAILABLE);
        assert_null(none);
        api_assert_one_line(softqam_error_message());
        setup.context.backend = SOFTQAM_BACKEND_CPU;
        scoped_context *context = harness_create_context(&setup);
        scoped_demodulator *demodulator = api_create_in(context);
        assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_ALL), SOFTQAM_OK);
        assert_string_equal(softqam_backend_name(demodulator), "cpu");
        api_assert_works(demodulator, API_SYMBOLS);
    }
}

HARNESS_TEST(test_version)
{
    char version[64];
    snprintf(version, sizeof version, "%d.%d.%d", SOFTQAM_VERSION_MAJOR, SOFTQAM_VERSION_MINOR, SOFTQAM_VERSION_PATCH);
    assert_string_equal(softqam_version(), version);
    assert_int_equal(SOFTQAM_VERSION,
                     SOFTQAM_VERSION_MAJOR * 10000 + SOFTQAM_VERSION_MINOR * 100 + SOFTQAM_VERSION_PATCH);
}

/* Settings. */

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

/* Zeros are every default of a demodulator, and so is no configuration. */
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
    scoped_demodulator *demodulator = api_create(NULL);
    memset(got, 0x80, N * HARNESS_SYMBOL_BITS);
    harness_demodulate_llrs(demodulator, symbols, noise_var, N, got);
    assert_memory_equal(got, expected, N * HARNESS_SYMBOL_BITS);
    softqam_context *context;
    assert_int_equal(softqam_context_create(&context, NULL), SOFTQAM_OK);
    softqam_context_destroy(context);
}

/* Contexts. */

/* Enough for the context's threads to be worth starting. */
enum { LARGE_SYMBOLS = 60000 };

/* Demodulators without a context of their own share one, whose threads end with the last of them. */
HARNESS_TEST(test_default_context)
{
    const size_t without_threads = tasks_now().n;
    for (int round = 0; round < 2; round++) {
        softqam_demodulator *demodulators[3];
        const softqam_demodulator_config config = {.output_format = SOFTQAM_OUTPUT_U8};
        for (int k = 0; k < 3; k++)
            demodulators[k] = api_create(k == 2 ? NULL : &config);
        softqam_context *context = softqam_demodulator_context(demodulators[0]);
        assert_non_null(context);
        assert_ptr_not_equal(context, api_shared_context());
        for (int k = 1; k < 3; k++)
            assert_ptr_equal(softqam_demodulator_context(demodulators[k]), context);
        assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_THREADS), SOFTQAM_OK);
        const size_t with_threads = tasks_now().n;
        softqam_demodulator_destroy(demodulators[0]);
        softqam_demodulator_destroy(demodulators[2]);
        assert_int_equal(tasks_count(with_threads), with_threads);
        api_assert_works(demodulators[1], LARGE_SYMBOLS);
        softqam_demodulator_destroy(demodulators[1]);
        assert_int_equal(tasks_count(without_threads), without_threads);
        assert_true(without_threads <= with_threads);
    }
}

HARNESS_TEST(test_backend_names)
{
    const harness_setup setup = harness_default_setup();
    scoped_demodulator *demodulator = harness_create(&setup);
    assert_string_equal(softqam_backend_name(demodulator), harness_backend() == SOFTQAM_BACKEND_CUDA ? "cuda" : "cpu");
    api_assert_one_line(softqam_backend_detail(demodulator));
    print_message("%s: %s\n", softqam_backend_name(demodulator), softqam_backend_detail(demodulator));
}

/* By default there are as many threads as CPUs in the list, which may name one CPU twice. The caller may free its
 * arrays as soon as the context exists. */
HARNESS_TEST(test_config_is_copied)
{
    for (unsigned n_threads = 0; n_threads < 2; n_threads++) {
        unsigned *cpus = calloc(3, sizeof *cpus);
        char *variant = strdup("portable");
        assert_true(cpus && variant);
        harness_setup setup = {.context = {.backend = n_threads ? harness_backend() : SOFTQAM_BACKEND_CPU,
                                           .device = -1,
                                           .n_threads = n_threads,
                                           .cpus = cpus,
                                           .n_cpus = 3,
                                           .cpu_variant = variant,
                                           .n_streams = 64,
                                           .chunk_symbols = 1}};
        scoped_context *context = harness_create_context(&setup);
        memset(cpus, 0xff, 3 * sizeof *cpus);
        memset(variant, 'x', strlen(variant));
        memset(&setup, 0xff, sizeof setup);
        free(cpus);
        free(variant);
        scoped_demodulator *demodulator = api_create_in(context);
        assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_THREADS), SOFTQAM_OK);
        api_assert_works(demodulator, n_threads ? API_SYMBOLS : LARGE_SYMBOLS);
        if (n_threads == 0)
            assert_string_equal(softqam_backend_detail(demodulator), "portable, 3 threads");
    }
}

/* An unknown variant in the environment is ignored, and backend_detail says so; a name in the configuration wins. */
HARNESS_TEST(test_variants)
{
    enum { PORTABLE, USUAL, IGNORED };
    static char large[5000];
    memset(large, 'x', sizeof large - 1);
    const struct {
        const char *variable, *configured;
        int expected;
    } rows[] = {{"portable", NULL, PORTABLE},   {"", NULL, USUAL},
                {"sse9", NULL, IGNORED},        {"PORTABLE", NULL, IGNORED},
                {"portable ", NULL, IGNORED},   {"%s%n", NULL, IGNORED},
                {"a\nb\x1b[2J", NULL, IGNORED}, {large, NULL, IGNORED},
                {"sse9", "portable", PORTABLE}};
    char usual[200] = "";
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        const harness_setup setup = {.context = {.device = -1, .n_threads = 1, .cpu_variant = rows[k].configured}};
        assert_int_equal(setenv("SOFTQAM_CPU_VARIANT", rows[k].variable, 1), 0);
        scoped_context *context = harness_create_context(&setup);
        scoped_demodulator *demodulator = api_create_in(context);
        const char *detail = softqam_backend_detail(demodulator);
        api_assert_one_line(detail);
        assert_true(strlen(detail) < sizeof usual);
        if (rows[k].expected == USUAL)
            strcpy(usual, detail);
        assert_true(strncmp(detail, usual, strlen(usual)) == 0 || rows[k].expected == PORTABLE);
        assert_true(strcmp(detail, "portable, 1 thread") == 0 || rows[k].expected != PORTABLE);
        assert_int_equal(strstr(detail, " (SOFTQAM_CPU_VARIANT ignored: no variant \"") != NULL,
                         rows[k].expected == IGNORED);
        assert_null(strchr(detail, '\x1b'));
        api_assert_works(demodulator, API_SYMBOLS);
    }
    unsetenv("SOFTQAM_CPU_VARIANT");
}
