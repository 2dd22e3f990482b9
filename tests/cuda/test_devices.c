/* SPDX-License-Identifier: MIT */
/* Two contexts on two GPUs, used at once from two threads, give the CPU's bytes, from memory of any kind. A device that
 * does not exist is refused by name, device memory in calls for host memory as well; and the current device stays the
 * current one. With the fake runtime too. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "harness.h"

__attribute__((constructor)) static void require_cuda(void) { harness_require_cuda(); }

enum { N_DEVICES = 2 };

static size_t n_symbols(void) { return harness_symbol_count(700001); }

static harness_setup device_setup(softqam_backend backend, int device)
{
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_CALL);
    setup.context.backend = backend;
    setup.context.device = device;
    setup.context.n_threads = 3;
    setup.context.chunk_symbols = 65536;
    return setup;
}

/* One device's thread: which calls it makes, and if all were right. */
typedef struct worker {
    softqam_demodulator *demodulator;
    const float *symbols;
    const uint8_t *expected;
    bool is_right;
} worker;

static const float noise_var = 0.01F;

/* Makes a short and a long call, in pageable and in pinned memory. */
static void *demodulate(void *argument)
{
    worker *self = argument;
    for (size_t kind = 0; kind < 4; kind++) {
        const size_t n = kind / 2 ? n_symbols() : 1000, nbytes = n * HARNESS_SYMBOL_BITS;
        const bool is_pinned = kind % 2;
        void *memory = is_pinned ? NULL : malloc(2 * nbytes);
        if (is_pinned)
            softqam_host_alloc(softqam_demodulator_context(self->demodulator), 2 * nbytes, &memory);
        uint8_t *out = (uint8_t *)memory + nbytes;
        memcpy(memory, self->symbols, n * 2 * sizeof(float));
        harness_poison(out, self->expected, nbytes);
        const softqam_status status = softqam_demodulate(self->demodulator, memory, &noise_var, n, out);
        self->is_right = self->is_right && status == SOFTQAM_OK && memcmp(out, self->expected, nbytes) == 0;
        (is_pinned ? softqam_host_free : free)(memory);
    }
    return NULL;
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
    const harness_setup setup = device_setup(SOFTQAM_BACKEND_CPU, -1);
    harness_random random = harness_random_named(__func__);
    scoped_memory float *symbols = harness_alloc(n_symbols() * 2 * sizeof(float));
    harness_fill_mixture(&random, n_symbols(), symbols);
    scoped_memory uint8_t *expected = harness_answer(&setup, symbols, &noise_var, n_symbols());
    worker workers[N_DEVICES];
    pthread_t threads[N_DEVICES];
    for (int k = 0; k < N_DEVICES; k++) {
        workers[k] = (worker){demodulators[k], symbols, expected, true};
        assert_int_equal(pthread_create(&threads[k], NULL, demodulate, &workers[k]), 0);
    }
    for (int k = 0; k < N_DEVICES; k++) {
        pthread_join(threads[k], NULL);
        assert_true(workers[k].is_right);
        softqam_demodulator_destroy(demodulators[k]);
    }
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

/* A host call reads and writes no device memory, whichever of its pointers that is; of several segments, of the first.
 */
HARNESS_TEST(test_refused)
{
    static const size_t places[] = {
        offsetof(softqam_segment, layers[0].symbols),   offsetof(softqam_segment, layers[1].symbols),
        offsetof(softqam_segment, layers[1].symbols_q), offsetof(softqam_segment, layers[1].noise_var),
        offsetof(softqam_segment, layers[1].gain),      offsetof(softqam_segment, out),
    };
    enum { ELEMENTS = 1000, LAYERS = 2, SYMBOLS = LAYERS * ELEMENTS };
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_CALL);
    setup.context.backend = SOFTQAM_BACKEND_CUDA;
    scoped_demodulator *demodulator = harness_create(&setup);
    scoped_memory float *memory = harness_alloc(ELEMENTS * 2 * sizeof(float));
    int8_t *out = harness_alloc((size_t)SYMBOLS * HARNESS_SYMBOL_BITS);
    void *device;
    for (size_t k = 0; k < (size_t)ELEMENTS * 2; k++)
        memory[k] = 0.5F;
    assert_int_equal(cudaMalloc(&device, (size_t)SYMBOLS * HARNESS_SYMBOL_BITS), cudaSuccess);
    const softqam_layer layer = {
        .symbols = memory, .symbols_q = memory + ELEMENTS, .noise_var = memory, .gain = memory};
    const softqam_segment good = {
        .n_symbols = SYMBOLS, .n_layers = LAYERS, .layers = {layer, layer}, .noise_stride = 1, .out = out};
    for (size_t k = 0; k < HARNESS_COUNT(places); k++)
        for (size_t n_segments = 1; n_segments <= 2; n_segments++) {
            softqam_segment segments[2] = {{0}, good};
            memcpy((char *)&segments[1] + places[k], &device, sizeof device);
            const softqam_segment *first = n_segments == 1 ? &segments[1] : segments;
            assert_int_equal(softqam_demodulate_segments(demodulator, first, n_segments),
                             SOFTQAM_ERROR_INVALID_ARGUMENT);
            assert_non_null(strstr(softqam_error_message(), "is device memory"));
        }
    assert_int_equal(softqam_demodulate(demodulator, memory, device, ELEMENTS, out), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(softqam_demodulate_segments(demodulator, &good, 1), SOFTQAM_OK);
    assert_int_equal(cudaFree(device), cudaSuccess);
    free(out);
}

/* If there are several devices, the last is the context's; the first stays the current one. */
HARNESS_TEST(test_current_device)
{
    enum { N = 5003 };
    int n_devices, current[3];
    assert_int_equal(cudaGetDeviceCount(&n_devices), cudaSuccess);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_SYMBOL);
    setup.context.backend = SOFTQAM_BACKEND_CUDA;
    setup.context.device = n_devices - 1;
    scoped_memory float *symbols = harness_alloc(N * 2 * sizeof(float));
    scoped_memory uint8_t *out = harness_alloc((size_t)N * HARNESS_SYMBOL_BITS);
    memset(symbols, 0, N * 2 * sizeof(float));
    softqam_demodulator *demodulator = harness_create(&setup);
    assert_int_equal(cudaGetDevice(&current[0]), cudaSuccess);
    harness_demodulate(demodulator, symbols, NULL, N, out);
    assert_int_equal(cudaGetDevice(&current[1]), cudaSuccess);
    softqam_demodulator_destroy(demodulator);
    assert_int_equal(cudaGetDevice(&current[2]), cudaSuccess);
    for (size_t k = 0; k < HARNESS_COUNT(current); k++)
        assert_int_equal(current[k], 0);
}
