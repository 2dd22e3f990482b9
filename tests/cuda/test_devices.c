/* SPDX-License-Identifier: MIT */
/* Two contexts on two GPUs, used at once from two threads, give the CPU's bytes, from memory of any kind. A device that
 * does not exist is refused by name. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { N_DEVICES = 2 };

static size_t n_symbols(void) { return harness_symbol_count(700001); }

typedef struct sample {
    float *symbols;
    float *noise_var;
    uint8_t *expected;
} sample;

static harness_setup device_setup(softqam_backend backend, int device)
{
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL);
    setup.context.backend = backend;
    setup.context.device = device;
    setup.context.n_threads = 3;
    setup.context.chunk_symbols = 65536;
    return setup;
}

static sample make_sample(void)
{
    const size_t n = n_symbols();
    sample made = {harness_alloc(2 * sizeof(float) * n), harness_alloc(sizeof(float) * n),
                   harness_alloc(HARNESS_SYMBOL_BITS * n)};
    harness_random random = harness_random_stream(1);
    harness_fill_mixture(&random, n, made.symbols);
    harness_fill_noise(&random, HARNESS_NOISE_USUAL, n, made.noise_var);
    const harness_setup setup = device_setup(SOFTQAM_BACKEND_CPU, -1);
    scoped_demodulator *cpu = harness_create(&setup);
    harness_demodulate_llrs(cpu, made.symbols, made.noise_var, n, made.expected);
    return made;
}

/* One device's call. */
typedef struct device_call {
    softqam_demodulator *demodulator;
    pthread_barrier_t *start;
    size_t n_symbols;
    float *symbols, *noise_var;
    uint8_t *out;
    softqam_status status;
} device_call;

static void *demodulate(void *argument)
{
    device_call *call = argument;
    pthread_barrier_wait(call->start);
    call->status = softqam_demodulate(call->demodulator, call->symbols, call->noise_var, call->n_symbols, call->out);
    return NULL;
}

/* The first n symbols of the sample on both devices at once, in pinned or pageable memory. */
static void check_calls(softqam_demodulator *demodulators[N_DEVICES], const sample *all, size_t n, bool is_pinned)
{
    device_call calls[N_DEVICES];
    pthread_t threads[N_DEVICES];
    pthread_barrier_t start;
    const size_t out_nbytes = HARNESS_SYMBOL_BITS * n, in_nbytes = 3 * sizeof(float) * n;
    pthread_barrier_init(&start, NULL, N_DEVICES);
    for (int k = 0; k < N_DEVICES; k++) {
        void *memory = NULL;
        if (is_pinned)
            assert_int_equal(
                softqam_host_alloc(softqam_demodulator_context(demodulators[k]), in_nbytes + out_nbytes, &memory),
                SOFTQAM_OK);
        else
            memory = harness_alloc(in_nbytes + out_nbytes);
        calls[k] = (device_call){
            demodulators[k],     &start, n, memory, (float *)memory + 2 * n, (uint8_t *)memory + in_nbytes,
            SOFTQAM_ERROR_SYSTEM};
        memcpy(calls[k].symbols, all->symbols, 2 * sizeof(float) * n);
        memcpy(calls[k].noise_var, all->noise_var, sizeof(float) * n);
        harness_poison(calls[k].out, all->expected, out_nbytes);
    }
    for (int k = 0; k < N_DEVICES; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, demodulate, &calls[k]), 0);
    for (int k = 0; k < N_DEVICES; k++)
        pthread_join(threads[k], NULL);
    for (int k = 0; k < N_DEVICES; k++) {
        const char *what = softqam_backend_detail(demodulators[k]);
        assert_int_equal(calls[k].status, SOFTQAM_OK);
        assert_true(harness_outputs_equal(what, SOFTQAM_OUTPUT_S8, all->symbols, all->expected, calls[k].out, n));
        (is_pinned ? softqam_host_free : free)(calls[k].symbols);
    }
    pthread_barrier_destroy(&start);
}

HARNESS_TEST(test_two_contexts)
{
    softqam_demodulator *demodulators[N_DEVICES] = {NULL};
    for (int k = 0; k < N_DEVICES; k++) {
        const harness_setup setup = device_setup(SOFTQAM_BACKEND_CUDA, k);
        if (harness_try_create(&demodulators[k], &setup) == SOFTQAM_OK)
            continue;
        print_message("skipped, fewer than %d GPUs: %s\n", N_DEVICES, softqam_error_message());
        softqam_demodulator_destroy(demodulators[0]);
        skip();
    }
    const sample all = make_sample();
    const size_t sizes[] = {1000, n_symbols()};
    for (int kind = 0; kind < 4; kind++)
        check_calls(demodulators, &all, sizes[kind / 2], kind % 2);
    for (int k = 0; k < N_DEVICES; k++)
        softqam_demodulator_destroy(demodulators[k]);
    free(all.symbols);
    free(all.noise_var);
    free(all.expected);
}

HARNESS_TEST(test_absent_device)
{
    enum { MOST = 1000 };
    char expected[64];
    softqam_demodulator *demodulator = NULL;
    softqam_status status = SOFTQAM_OK;
    int n = 0;
    for (; n < MOST && status == SOFTQAM_OK; n++) {
        const harness_setup setup = device_setup(SOFTQAM_BACKEND_CUDA, n);
        status = harness_try_create(&demodulator, &setup);
        softqam_demodulator_destroy(demodulator);
    }
    assert_true(n > 1);
    assert_int_equal(status, SOFTQAM_ERROR_BACKEND_UNAVAILABLE);
    snprintf(expected, sizeof expected, "there is no CUDA device %d, only %d device", n - 1, n - 1);
    assert_non_null(strstr(softqam_error_message(), expected));
}
