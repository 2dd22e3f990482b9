/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* usleep */
#include "api_fixture.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Symbols far outside the constellation in all four quadrants: every soft bit is sure. In 3GPP order the outermost
 * level has label 1000 or 0000 on its axis, whose complements are b0 b2 b4 b6 (I) and b1 b3 b5 b7 (Q). */
const float api_symbols[2 * API_SYMBOLS] = {2, 2, -2, 2, 2, -2, -2, -2};
const uint8_t api_soft_bits[HARNESS_SYMBOL_BITS * API_SYMBOLS] = {
    255, 255, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};

void api_assert_one_line(const char *message)
{
    assert_non_null(message);
    assert_true(strlen(message) > 0);
    assert_null(strpbrk(message, "\r\n"));
}

void api_assert_works(const softqam_demodulator *demodulator, size_t n_symbols)
{
    scoped_memory float *symbols = harness_alloc(n_symbols * 2 * sizeof *symbols);
    scoped_memory uint8_t *out = harness_alloc(n_symbols * HARNESS_SYMBOL_BITS);
    for (size_t k = 0; k < 2 * n_symbols; k++)
        symbols[k] = api_symbols[k % (2 * API_SYMBOLS)];
    memset(out, API_OUT_BYTE, n_symbols * HARNESS_SYMBOL_BITS);
    harness_demodulate(demodulator, symbols, NULL, n_symbols, out);
    for (size_t k = 0; k + API_SYMBOLS <= n_symbols; k += API_SYMBOLS)
        assert_memory_equal(out + k * HARNESS_SYMBOL_BITS, api_soft_bits, sizeof api_soft_bits);
}

static softqam_context *shared_context;

static void end_shared_context(void) { softqam_context_destroy(shared_context); }

softqam_context *api_shared_context(void)
{
    if (!shared_context) {
        const harness_setup setup = harness_default_setup();
        shared_context = harness_create_context(&setup);
        atexit(end_shared_context);
    }
    return shared_context;
}

softqam_demodulator_config api_config(softqam_output_format format)
{
    softqam_demodulator_config config = harness_format_setup(format, SOFTQAM_NOISE_PER_CALL).demodulator;
    config.context = api_shared_context();
    return config;
}

softqam_demodulator *api_create_in(softqam_context *context)
{
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_SYMBOL);
    setup.demodulator.context = context;
    return harness_create(&setup);
}

void api_check_refusal(softqam_status status, const char *expected, const char *what, size_t row)
{
    const char *message = softqam_error_message();
    const size_t n = strlen(expected);
    const bool is_beginning = n > 2 && strcmp(expected + n - 2, "..") == 0;
    bool printable = true;
    for (const char *c = message; *c; c++)
        printable = printable && *c >= ' ' && *c != 0x7f;
    if (status != SOFTQAM_ERROR_INVALID_ARGUMENT || !printable ||
        (is_beginning ? strncmp(message, expected, n - 2) : strcmp(message, expected)) != 0)
        fail_msg("%s, row %zu: status %d, \"%s\" instead of \"%s\"", what, row, (int)status, message, expected);
}

static void *do_nothing(void *argument) { return argument; }

/* Starts and joins a thread: a sanitizer starts its own thread together with the first one. */
static void start_a_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, do_nothing, NULL) == 0)
        pthread_join(thread, NULL);
    usleep(10000);
}

task_list tasks_now(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    task_list list = {.n = 0};
    pthread_once(&once, start_a_thread);
    DIR *directory = opendir("/proc/self/task");
    assert_non_null(directory);
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        if (entry->d_name[0] == '.')
            continue;
        assert_true(list.n < TASKS_MAX);
        list.ids[list.n++] = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    closedir(directory);
    return list;
}

size_t tasks_count(size_t expected)
{
    size_t n = tasks_now().n;
    for (int k = 0; k < 200 && n != expected; k++) {
        usleep(10000);
        n = tasks_now().n;
    }
    return n;
}

task_list tasks_new(const task_list *before, const task_list *after)
{
    task_list list = {.n = 0};
    for (size_t k = 0; k < after->n; k++) {
        bool old = false;
        for (size_t i = 0; i < before->n; i++)
            old = old || before->ids[i] == after->ids[k];
        if (!old)
            list.ids[list.n++] = after->ids[k];
    }
    return list;
}
