/* SPDX-License-Identifier: MIT */
/* Device memory given to calls for host memory. With the fake runtime too. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "harness.h"

__attribute__((constructor)) static void require_cuda(void) { harness_require_cuda(); }

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
