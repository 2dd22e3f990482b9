/* SPDX-License-Identifier: MIT */
/* softqam.h around the calls: host memory, sizes, statuses, messages, backends, version. */
#define _GNU_SOURCE /* kill, sigtimedwait */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api_fixture.h"

/* Whether the driver's library is in this process. */
static bool driver_is_loaded(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    bool found = false;
    assert_non_null(maps);
    while (!found && fgets(line, sizeof line, maps))
        found = strstr(line, "/libcuda.so") != NULL;
    fclose(maps);
    return found;
}

/* The CPU's backend never opens the driver, nor does AUTO for small calls. Before all other tests. */
HARNESS_TEST(test_driver_is_not_opened)
{
    if (driver_is_loaded() || harness_backend() == SOFTQAM_BACKEND_CUDA)
        skip();
    softqam_context_config config = api_context_config();
    scoped_context *context = api_create_context(&config);
    scoped_demodulator *demodulator = api_create_in(context);
    api_assert_works(demodulator);
    assert_int_equal(softqam_context_prepare(context, config.backend == SOFTQAM_BACKEND_CPU ? SOFTQAM_PREPARE_ALL
                                                                                            : SOFTQAM_PREPARE_THREADS),
                     SOFTQAM_OK);
    api_assert_works(demodulator);
    assert_false(driver_is_loaded());
}

/* Of every size, and longer than its context. */
HARNESS_TEST(test_host_memory)
{
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 1 << 20};
    void *memory[HARNESS_COUNT(sizes)];
    const softqam_context_config config = api_context_config();
    softqam_context *first = api_create_context(&config);
    for (size_t i = 0; i < HARNESS_COUNT(sizes); i++) {
        assert_int_equal(softqam_host_alloc(first, sizes[i], &memory[i]), SOFTQAM_OK);
        assert_non_null(memory[i]);
        assert_int_equal((uintptr_t)memory[i] % 4096, 0);
    }
    softqam_context_destroy(first);
    for (size_t i = 0; i < HARNESS_COUNT(sizes); i++)
        memset(memory[i], API_OUT_BYTE, sizes[i] ? sizes[i] : 1);
    scoped_context *second = api_create_context(&config);
    scoped_demodulator *demodulator = api_create_in(second);
    harness_demodulate(demodulator, memcpy(memory[3], api_symbols, sizeof api_symbols), API_SYMBOLS, memory[4]);
    assert_memory_equal(memory[4], api_soft_bits, sizeof api_soft_bits);
    for (size_t i = 0; i < HARNESS_COUNT(sizes); i++)
        softqam_host_free(memory[i]);
    softqam_host_free(NULL);
}

static const int unknown[] = {-1, 99, INT32_MIN, INT32_MAX};

HARNESS_TEST(test_input_formats)
{
    static const size_t nbytes[HARNESS_N_INPUT_FORMATS + 1] = {8, 4, 2, 4, 0};
    static const float scales[HARNESS_N_INPUT_FORMATS + 1] = {1, 1.0F / 32768, 1.0F / 128, 1, 0};
    assert_true(SOFTQAM_INPUT_CS16 == 1 && SOFTQAM_INPUT_CS8 == 2 && SOFTQAM_INPUT_CF16 == 3);
    for (size_t k = 0; k < HARNESS_COUNT(nbytes); k++) {
        assert_int_equal(softqam_input_symbol_nbytes((softqam_input_format)k), nbytes[k]);
        assert_true(softqam_input_default_scale((softqam_input_format)k) == scales[k]);
    }
    for (size_t k = 0; k < HARNESS_COUNT(unknown); k++) {
        assert_int_equal(softqam_input_symbol_nbytes((softqam_input_format)unknown[k]), 0);
        assert_true(softqam_input_default_scale((softqam_input_format)unknown[k]) == 0);
    }
}

HARNESS_TEST(test_bits_per_symbol)
{
    static const unsigned bits[HARNESS_N_MODULATIONS + 2] = {8, 1, 1, 2, 4, 6, 8, HARNESS_MAX_SYMBOL_BITS, 0};
    for (size_t k = 0; k < HARNESS_COUNT(bits); k++)
        assert_int_equal(softqam_bits_per_symbol((softqam_modulation)k), bits[k]);
    for (size_t k = 0; k < HARNESS_COUNT(unknown); k++)
        assert_int_equal(softqam_bits_per_symbol((softqam_modulation)unknown[k]), 0);
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
    assert_int_equal(softqam_output_nbytes((softqam_output_format)-1, SOFTQAM_MODULATION_256QAM, 1), 0);
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
    for (size_t i = 0; i < HARNESS_COUNT(unknown); i++)
        assert_string_equal(softqam_status_string((softqam_status)unknown[i]), "unknown status");
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
    softqam_demodulator_config config = api_config();
    config.llr_limit = 128;
    softqam_demodulator *refused;
    assert_int_equal(softqam_demodulator_create(&refused, &config), SOFTQAM_ERROR_INVALID_ARGUMENT);
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
    api_assert_works(demodulator);
    assert_string_equal(softqam_error_message(), mine);
}

static void assert_works_on_cpu(const softqam_context_config *config)
{
    scoped_context *context = api_create_context(config);
    scoped_demodulator *demodulator = api_create_in(context);
    assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_ALL), SOFTQAM_OK);
    assert_string_equal(softqam_backend_name(demodulator), "cpu");
    api_assert_works(demodulator);
}

static void assert_unavailable(const softqam_context_config *config)
{
    softqam_context *context = (softqam_context *)(void *)&context;
    assert_int_equal(softqam_context_create(&context, config), SOFTQAM_ERROR_BACKEND_UNAVAILABLE);
    assert_null(context);
    api_assert_one_line(softqam_error_message());
}

/* Of AUTO, a device that there is not is one more GPU that is not usable; so is device 0 without a GPU, or without CUDA
 * in the build. */
HARNESS_TEST(test_absent_devices)
{
    static const int devices[] = {100000, 0};
    softqam_context_config config = api_context_config();
    for (int k = 0; k < (harness_cuda_is_usable() ? 1 : 2); k++) {
        config.device = devices[k];
        config.backend = SOFTQAM_BACKEND_CUDA;
        assert_unavailable(&config);
        config.backend = SOFTQAM_BACKEND_AUTO;
        assert_works_on_cpu(&config);
        config.backend = SOFTQAM_BACKEND_CPU;
        assert_works_on_cpu(&config);
    }
}

/* A signal to the process that the caller's threads block waits for them, and for none of the library's. */
HARNESS_TEST(test_threads_leave_signals_alone)
{
    if (harness_is_under_compute_sanitizer()) {
        print_message("not under compute-sanitizer, whose own thread would be given the signal\n");
        skip();
    }
    softqam_context_config config = api_context_config();
    config.n_threads = 4;
    scoped_context *context = api_create_context(&config);
    scoped_demodulator *demodulator = api_create_in(context);
    assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_ALL), SOFTQAM_OK);
    sigset_t one, before, pending;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &one, &before), 0);
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    api_assert_works(demodulator);
    assert_int_equal(sigpending(&pending), 0);
    assert_int_equal(sigismember(&pending, SIGUSR1), 1);
    assert_int_equal(sigtimedwait(&one, NULL, &(struct timespec){0}), SIGUSR1);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
}

HARNESS_TEST(test_version)
{
    char version[64];
    snprintf(version, sizeof version, "%d.%d.%d", SOFTQAM_VERSION_MAJOR, SOFTQAM_VERSION_MINOR, SOFTQAM_VERSION_PATCH);
    assert_string_equal(softqam_version(), version);
    assert_int_equal(SOFTQAM_VERSION,
                     SOFTQAM_VERSION_MAJOR * 10000 + SOFTQAM_VERSION_MINOR * 100 + SOFTQAM_VERSION_PATCH);
}
