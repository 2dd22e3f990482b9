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

/* Where there are several devices the last is the context's; the first stays the current one. */
HARNESS_TEST(test_current_device)
{
    enum { N = 5003 };
    int n_devices, current[3];
    assert_int_equal(cudaGetDeviceCount(&n_devices), cudaSuccess);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    harness_setup setup = harness_soft_bits_setup();
    setup.context.backend = SOFTQAM_BACKEND_CUDA;
    setup.context.device = n_devices - 1;
    scoped_memory float *symbols = harness_alloc(N * 2 * sizeof(float));
    scoped_memory uint8_t *out = harness_alloc((size_t)N * HARNESS_SYMBOL_BITS);
    memset(symbols, 0, N * 2 * sizeof(float));
    softqam_demodulator *demodulator = harness_create(&setup);
    assert_int_equal(cudaGetDevice(&current[0]), cudaSuccess);
    harness_demodulate(demodulator, symbols, N, out);
    assert_int_equal(cudaGetDevice(&current[1]), cudaSuccess);
    softqam_demodulator_destroy(demodulator);
    assert_int_equal(cudaGetDevice(&current[2]), cudaSuccess);
    for (size_t k = 0; k < HARNESS_COUNT(current); k++)
        assert_int_equal(current[k], 0);
}
