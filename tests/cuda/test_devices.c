/* SPDX-License-Identifier: MIT */
/* Calls divided among several GPUs, and AUTO: the same bytes as the CPU's, in memory of any
 * kind. With one GPU, a list of one; with the fake runtime, any number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { STREAM_SYMBOLS = 1, STREAM_NOISE };

/* More than one chunk for every stream of several devices. */
static size_t n_symbols(void) { return harness_symbol_count(700001); }

typedef struct sample {
    float *symbols;
    float *noise_var;
    int8_t *expected;
} sample;

static harness_setup llr_setup(softqam_backend backend)
{
    harness_setup setup = harness_default_setup();
    setup.context.backend = backend;
    setup.demodulator.output_format = SOFTQAM_OUTPUT_S8;
    setup.demodulator.noise = SOFTQAM_NOISE_PER_SYMBOL;
    setup.context.n_threads = 3;
    return setup;
}

static const sample *shared_sample(void)
{
    static sample made;
    if (!made.symbols) {
        const size_t n = n_symbols();
        harness_random random = harness_random_stream(STREAM_SYMBOLS);
        made.symbols = harness_alloc(2 * sizeof(float) * n);
        harness_fill_mixture(&random, n, made.symbols);
        random = harness_random_stream(STREAM_NOISE);
        made.noise_var = harness_alloc(sizeof(float) * n);
        harness_fill_noise(&random, HARNESS_NOISE_USUAL, n, made.noise_var);
        made.expected = harness_alloc(HARNESS_SYMBOL_BITS * n);
        const harness_setup setup = llr_setup(SOFTQAM_BACKEND_CPU);
        softqam_demodulator *demodulator = harness_create(&setup);
        harness_demodulate_llrs(demodulator, made.symbols, made.noise_var, n, made.expected);
        softqam_demodulator_destroy(demodulator);
    }
    return &made;
}

/* Memory of the demodulator's kind, or plain. */
static void *get_memory(softqam_demodulator *demodulator, bool of_demodulator, size_t nbytes)
{
    void *memory = NULL;
    if (!of_demodulator)
        return harness_alloc(nbytes);
    assert_int_equal(softqam_host_alloc(softqam_demodulator_context(demodulator), nbytes, &memory), SOFTQAM_OK);
    return memory;
}

static void put_memory(void *memory, bool of_demodulator)
{
    if (of_demodulator)
        softqam_host_free(memory);
    else
        free(memory);
}

/* The first n symbols of the sample, in either kind of memory for input and output. */
static void check_call(softqam_demodulator *demodulator, size_t n, bool pinned_in, bool pinned_out)
{
    const sample *all = shared_sample();
    float *symbols = get_memory(demodulator, pinned_in, 3 * sizeof(float) * n), *noise_var = symbols + 2 * n;
    uint8_t *out = get_memory(demodulator, pinned_out, HARNESS_SYMBOL_BITS * n);
    memcpy(symbols, all->symbols, 2 * sizeof(float) * n);
    memcpy(noise_var, all->noise_var, sizeof(float) * n);
    harness_poison(out, (const uint8_t *)all->expected, HARNESS_SYMBOL_BITS * n);
    harness_demodulate_llrs(demodulator, symbols, noise_var, n, out);
    char what[96];
    snprintf(what, sizeof what, "%s: %zu symbols, input %s, output %s", softqam_backend_detail(demodulator), n,
             pinned_in ? "pinned" : "pageable", pinned_out ? "pinned" : "pageable");
    assert_true(harness_outputs_equal(what, SOFTQAM_OUTPUT_S8, symbols, all->expected, out, n));
    put_memory(symbols, pinned_in);
    put_memory(out, pinned_out);
}

static void check_all_kinds(const harness_setup *setup)
{
    const size_t all = n_symbols();
    const size_t sizes[] = {1, 1000, all / 16, all / 2, all};
    scoped_demodulator *demodulator = harness_create(setup);
    for (size_t k = 0; k < HARNESS_COUNT(sizes); k++)
        for (unsigned kind = 0; kind < 4; kind++)
            check_call(demodulator, sizes[k], kind & 1, kind & 2);
}

static const size_t chunks[] = {0, 7777, 65536};

HARNESS_TEST(test_all_devices)
{
    for (size_t k = 0; k < HARNESS_COUNT(chunks); k++) {
        for (unsigned n_streams = 1; n_streams <= 3; n_streams++) {
            harness_setup setup = llr_setup(SOFTQAM_BACKEND_CUDA);
            setup.context.n_devices = SOFTQAM_ALL_DEVICES;
            setup.context.chunk_symbols = chunks[k];
            setup.context.n_streams = n_streams;
            setup.context.n_threads = 1 + n_streams;
            check_all_kinds(&setup);
        }
    }
}

/* Every beginning of the list 0, 1, 2 .. that this machine has, and it backwards. */
HARNESS_TEST(test_lists)
{
    int devices[64];
    for (unsigned n = 1; n <= HARNESS_COUNT(devices); n++) {
        harness_setup setup = llr_setup(SOFTQAM_BACKEND_CUDA);
        setup.context.devices = devices;
        setup.context.n_devices = n;
        for (unsigned k = 0; k < n; k++)
            devices[k] = (int)(n - 1 - k);
        softqam_demodulator *demodulator = NULL;
        if (harness_try_create(&demodulator, &setup) == SOFTQAM_ERROR_BACKEND_UNAVAILABLE) {
            char expected[64];
            snprintf(expected, sizeof expected, "there is no CUDA device %u, only %u device", n - 1, n - 1);
            assert_non_null(strstr(softqam_error_message(), expected));
            assert_true(n > 1);
            return;
        }
        assert_non_null(demodulator);
        char expected[16];
        snprintf(expected, sizeof expected, "%u x ", n);
        assert_true(n == 1 || strncmp(softqam_backend_detail(demodulator), expected, strlen(expected)) == 0);
        check_call(demodulator, n_symbols(), true, true);
        check_call(demodulator, n_symbols(), false, false);
        softqam_demodulator_destroy(demodulator);
    }
}

/* On both sides of the size from which on AUTO uses a GPU. */
HARNESS_TEST(test_auto)
{
    harness_setup setup = llr_setup(SOFTQAM_BACKEND_AUTO);
    setup.context.n_devices = SOFTQAM_ALL_DEVICES;
    check_all_kinds(&setup);
    scoped_demodulator *demodulator = harness_create(&setup);
    for (size_t n = 2; n < n_symbols(); n *= 2) {
        check_call(demodulator, n - 1, true, true);
        check_call(demodulator, n, false, false);
    }
}
