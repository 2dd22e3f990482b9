/* SPDX-License-Identifier: MIT */
/* softqam.h around the calls: host memory, sizes, statuses, messages, backends, the default context, and calls
 * with NULL or for nothing. test_load.c prepares any part of contexts; it and faults/test_faults.c end them before and
 * after their demodulators. */
#include <pthread.h>
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
    harness_demodulate(demodulator, memcpy(memory[3], api_symbols, sizeof api_symbols), NULL, API_SYMBOLS, memory[4]);
    assert_memory_equal(memory[4], api_soft_bits, sizeof api_soft_bits);
    for (size_t i = 0; i < HARNESS_COUNT(sizes); i++)
        softqam_host_free(memory[i]);
    softqam_host_free(NULL);
}

/* The product, or 0 if a size_t does not hold it: the largest count that it does, and one more. */
static void check_output_sizes(softqam_output_format format, softqam_modulation modulation, size_t value_nbytes)
{
    const size_t nbytes = softqam_bits_per_symbol(modulation) * value_nbytes, most = SIZE_MAX / nbytes;
    const size_t counts[] = {0, 1, 257, most, most + 1, SIZE_MAX};
    for (size_t i = 0; i < HARNESS_COUNT(counts); i++)
        assert_int_equal(softqam_output_nbytes(format, modulation, counts[i]),
                         counts[i] <= most ? counts[i] * nbytes : 0);
}

HARNESS_TEST(test_values)
{
    static const size_t input_nbytes[HARNESS_N_INPUT_FORMATS] = {8, 4, 2, 4};
    static const float scales[HARNESS_N_INPUT_FORMATS] = {1, 1.0F / 8192, 1.0F / 64, 1};
    static const size_t output_nbytes[HARNESS_N_OUTPUT_FORMATS] = {1, 2, 2, 4, 1};
    static const unsigned bits[HARNESS_N_MODULATIONS + 1] = {8, 1, 1, 2, 4, 6, 8, HARNESS_MAX_SYMBOL_BITS};
    static const int unknown[] = {-1, HARNESS_N_MODULATIONS + 1, INT32_MIN, INT32_MAX};
    for (int k = 0; k < HARNESS_N_INPUT_FORMATS; k++) {
        assert_int_equal(softqam_input_symbol_nbytes((softqam_input_format)k), input_nbytes[k]);
        assert_true(softqam_input_default_scale((softqam_input_format)k) == scales[k]);
    }
    for (int k = 0; k <= HARNESS_N_MODULATIONS; k++) {
        assert_int_equal(softqam_bits_per_symbol((softqam_modulation)k), bits[k]);
        for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++)
            check_output_sizes((softqam_output_format)format, (softqam_modulation)k, output_nbytes[format]);
    }
    for (size_t k = 0; k < HARNESS_COUNT(unknown); k++) {
        assert_int_equal(softqam_input_symbol_nbytes((softqam_input_format)unknown[k]), 0);
        assert_true(softqam_input_default_scale((softqam_input_format)unknown[k]) == 0);
        assert_int_equal(softqam_bits_per_symbol((softqam_modulation)unknown[k]), 0);
        assert_int_equal(softqam_output_nbytes((softqam_output_format)unknown[k], SOFTQAM_MODULATION_256QAM, 1), 0);
        assert_int_equal(softqam_output_nbytes(SOFTQAM_OUTPUT_S8, (softqam_modulation)unknown[k], 1), 0);
        assert_string_equal(softqam_status_string((softqam_status)unknown[k]), "unknown status");
    }
    assert_int_equal(softqam_input_symbol_nbytes((softqam_input_format)HARNESS_N_INPUT_FORMATS), 0);
    for (int i = 0; i <= SOFTQAM_ERROR_CUDA; i++) {
        const char *text = softqam_status_string((softqam_status)i);
        api_assert_one_line(text);
        assert_string_not_equal(text, "unknown status");
        for (int k = 0; k < i; k++)
            assert_string_not_equal(text, softqam_status_string((softqam_status)k));
    }
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

/* Demodulators without a context of their own share one, which ends with the last of them. No configuration is all
 * defaults. */
HARNESS_TEST(test_default_context)
{
    const size_t without_threads = tasks_now().n;
    const softqam_demodulator_config config = {.output_format = SOFTQAM_OUTPUT_U8};
    softqam_demodulator *demodulators[] = {harness_create_by(&config), harness_create_by(NULL)};
    softqam_context *context = softqam_demodulator_context(demodulators[0]), *own;
    assert_ptr_not_equal(context, api_shared_context());
    assert_ptr_equal(softqam_demodulator_context(demodulators[1]), context);
    softqam_demodulator_destroy(demodulators[1]);
    api_assert_works(demodulators[0], 60000); /* enough for threads to be worth starting */
    softqam_demodulator_destroy(demodulators[0]);
    assert_int_equal(tasks_count(without_threads), without_threads);
    assert_int_equal(softqam_context_create(&own, NULL), SOFTQAM_OK);
    softqam_context_destroy(own);
}

HARNESS_TEST(test_backend_names)
{
    const harness_setup setup = harness_default_setup();
    scoped_demodulator *demodulator = harness_create(&setup);
    assert_string_equal(softqam_backend_name(demodulator), harness_backend() == SOFTQAM_BACKEND_CUDA ? "cuda" : "cpu");
    api_assert_one_line(softqam_backend_detail(demodulator));
    print_message("%s: %s\n", softqam_backend_name(demodulator), softqam_backend_detail(demodulator));
}

/* Calls with NULL, and calls for nothing. */
HARNESS_TEST(test_null)
{
    const softqam_segment none[1] = {{0}};
    api_check_refusal(softqam_demodulator_create(NULL, NULL), "demodulator is NULL", "create", 0);
    api_check_refusal(softqam_context_create(NULL, NULL), "context is NULL", "create", 1);
    api_check_refusal(softqam_context_prepare(NULL, SOFTQAM_PREPARE_ALL), "context is NULL", "prepare", 0);
    api_check_refusal(softqam_gold_sequence(1, 0, 8, NULL), "bits is NULL", "sequence", 0);
    api_check_refusal(softqam_demodulate(NULL, api_symbols, NULL, 0, NULL), "demodulator is NULL", "demodulate", 0);
    api_check_refusal(softqam_demodulate_segments(NULL, NULL, 0), "demodulator is NULL", "segments", 0);
    api_check_refusal(softqam_host_alloc(api_shared_context(), 1, NULL), "memory is NULL", "softqam_host_alloc", 0);
    assert_int_equal(softqam_gold_sequence(0, UINT64_MAX, 0, NULL), SOFTQAM_OK);
    softqam_demodulator_destroy(NULL);
    softqam_context_destroy(NULL);
    assert_null(softqam_demodulator_context(NULL));
    assert_string_equal(softqam_backend_name(NULL), "none");
    assert_string_equal(softqam_backend_detail(NULL), "");
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++) {
        const softqam_demodulator_config config = api_config((softqam_output_format)format);
        scoped_demodulator *demodulator = harness_create_by(&config);
        api_check_refusal(softqam_demodulate_segments(demodulator, NULL, SIZE_MAX), "segments is NULL", "segments", 1);
        assert_int_equal(softqam_demodulate(demodulator, NULL, NULL, 0, NULL), SOFTQAM_OK);
        assert_int_equal(softqam_demodulate_segments(demodulator, NULL, 0), SOFTQAM_OK);
        assert_int_equal(softqam_demodulate_segments(demodulator, none, 1), SOFTQAM_OK);
    }
}

/* Counts and sizes that are in order one by one and overflow together; flags and sequences that there are not. */
HARNESS_TEST(test_other_arguments)
{
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 4095, SIZE_MAX - 8192, SIZE_MAX / 2 + 1, SIZE_MAX / 2 - 8192};
    /* Never touched. */
    void *far_away = (void *)((uintptr_t)api_symbols + (size_t)PTRDIFF_MAX / 4 + 4096), *bytes = far_away;
    softqam_demodulator_config config = api_config(SOFTQAM_OUTPUT_U8);
    config.input_format = SOFTQAM_INPUT_CS8;
    scoped_demodulator *demodulator = harness_create_by(&config);
    softqam_segment segments[40];
    for (size_t k = 0; k < HARNESS_COUNT(segments); k++)
        segments[k] = harness_segment(api_symbols, NULL, 0, PTRDIFF_MAX / 8, far_away);
    api_check_refusal(softqam_demodulate_segments(demodulator, segments, HARNESS_COUNT(segments)),
                      "segment 2 of 40: the call has more symbols than memory can hold", "sum", 0);
    for (size_t k = 0; k < HARNESS_COUNT(sizes); k++, bytes = far_away) {
        assert_int_equal(softqam_host_alloc(api_shared_context(), sizes[k], &bytes), SOFTQAM_ERROR_OUT_OF_MEMORY);
        assert_null(bytes);
    }
    api_check_refusal(softqam_host_alloc(NULL, 1, &bytes), "context is NULL", "softqam_host_alloc", 1);
    assert_null(bytes);
    const harness_setup setup = harness_default_setup();
    scoped_context *context = harness_create_context(&setup); /* with which nothing else is ever done */
    api_check_refusal(softqam_context_prepare(context, 8), "what is 0x8, of which 0x8 is unknown", "flags", 0);
    api_check_refusal(softqam_context_prepare(context, ~0U), "what is 0xffffffff, of which 0xfffffff8 is unknown",
                      "flags", 1);
    api_check_refusal(softqam_gold_sequence(0x80000000U, 0, 0, NULL), "c_init is 2147483648..", "sequence", 1);
}
