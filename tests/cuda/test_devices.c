/* SPDX-License-Identifier: MIT */
/* A device that does not exist is refused by name, device memory in calls for host memory as well; and the current
 * device stays the current one. With the fake runtime too. ../api/test_load.c uses all devices at once. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "harness.h"

__attribute__((constructor)) static void require_cuda(void) { harness_require_cuda(); }

HARNESS_TEST(test_absent_device)
{
    enum { MOST = 1000 };
    char expected[64];
    softqam_status status = SOFTQAM_OK;
    int n = 0;
    for (; n < MOST && status == SOFTQAM_OK; n++) {
        const softqam_context_config config = {.backend = SOFTQAM_BACKEND_CUDA, .device = n};
        softqam_context *context;
        status = softqam_context_create(&context, &config);
        softqam_context_destroy(context);
    }
    assert_true(n > 1);
    assert_int_equal(status, SOFTQAM_ERROR_BACKEND_UNAVAILABLE);
    snprintf(expected, sizeof expected, "there is no CUDA device %d, only %d device", n - 1, n - 1);
    assert_non_null(strstr(softqam_error_message(), expected));
}

enum { ELEMENTS = 1000, LAYERS = 2 };

/* Checks that a call is refused if any pointer of a good segment is to device memory. If there are two segments, the
 * first one is empty, and the second one's pointer is found. */
static void check_refused(const softqam_demodulator *demodulator, const softqam_segment *good, void *device)
{
    static const size_t places[] = {
        offsetof(softqam_segment, layers[0].symbols),   offsetof(softqam_segment, layers[1].symbols),
        offsetof(softqam_segment, layers[1].symbols_q), offsetof(softqam_segment, layers[0].noise_var),
        offsetof(softqam_segment, layers[1].gain),      offsetof(softqam_segment, out),
        offsetof(softqam_segment, cross_gain[0]),       offsetof(softqam_segment, statistics),
    };
    for (size_t k = 0; k < HARNESS_COUNT(places); k++)
        for (size_t n_segments = 1; n_segments <= 2; n_segments++) {
            softqam_segment segments[2] = {{0}, *good};
            memcpy((char *)&segments[1] + places[k], &device, sizeof device);
            const softqam_segment *first = n_segments == 1 ? &segments[1] : segments;
            assert_int_equal(softqam_demodulate_segments(demodulator, first, n_segments),
                             SOFTQAM_ERROR_INVALID_ARGUMENT);
            assert_non_null(strstr(softqam_error_message(), "is device memory"));
        }
    assert_int_equal(softqam_demodulate_segments(demodulator, good, 1), SOFTQAM_OK);
}

/* A host call reads and writes no device memory, nor do CPU threads that demap layers jointly and count statistics. */
HARNESS_TEST(test_refused)
{
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_CALL);
    setup.context.backend = SOFTQAM_BACKEND_CUDA;
    scoped_demodulator *demodulator = harness_create(&setup);
    scoped_memory float *memory = harness_alloc(ELEMENTS * 2 * sizeof(float));
    scoped_memory int8_t *out = harness_alloc((size_t)LAYERS * ELEMENTS * HARNESS_SYMBOL_BITS);
    void *device;
    for (size_t k = 0; k < (size_t)ELEMENTS * 2; k++)
        memory[k] = 0.5F;
    assert_int_equal(cudaMalloc(&device, (size_t)LAYERS * ELEMENTS * HARNESS_SYMBOL_BITS), cudaSuccess);
    const softqam_layer layer = {
        .symbols = memory, .symbols_q = memory + ELEMENTS, .noise_var = memory, .gain = memory};
    softqam_segment segment = {.n_symbols = (size_t)LAYERS * ELEMENTS,
                               .n_layers = LAYERS,
                               .layers = {layer, layer},
                               .noise_stride = 1,
                               .out = out};
    check_refused(demodulator, &segment, device);
    segment.n_layers = 1; /* and a partner */
    segment.n_symbols = ELEMENTS;
    segment.cross_gain[0] = memory;
    check_refused(demodulator, &segment, device);
    assert_int_equal(softqam_demodulate(demodulator, memory, device, ELEMENTS, out), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cudaFree(device), cudaSuccess);
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
