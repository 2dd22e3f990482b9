/* SPDX-License-Identifier: MIT */
/* The fake CUDA counts what contexts and demodulators cost: demodulators of all formats on one context hold what
 * one does, and nothing before they are used; a caller with device pointers pays for nothing that host memory needs;
 * the CPU backend never calls CUDA. */
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam_cuda.h>

#include "api_fixture.h"
#include "fake_cuda.h"
#include "kernels.h"

enum { LARGE_SYMBOLS = 300000, N_THREADS = 4, N_SEGMENTS = 1000, A_LAUNCH = MAX_SEGMENTS, MIB = 1 << 20 };

static void assert_held(const fake_cuda_holdings *expected, size_t n_threads)
{
    const fake_cuda_holdings now = fake_cuda_holds();
    assert_memory_equal(&now, expected, sizeof now);
    assert_int_equal(tasks_count(n_threads), n_threads);
}

static softqam_context *create_context(softqam_backend backend)
{
    const harness_setup setup = {.context = {.backend = backend, .device = -1, .n_threads = N_THREADS}};
    return harness_create_context(&setup);
}

static softqam_demodulator *create_in(softqam_context *context, int format)
{
    harness_setup setup = harness_format_setup((softqam_output_format)format, SOFTQAM_NOISE_PER_CALL);
    setup.demodulator.context = context;
    return harness_create(&setup);
}

/* Prepares everything, and makes a large and a small call in pageable memory, which needs the most. */
static void use(softqam_context *context, softqam_demodulator *demodulator)
{
    static float in[2 * LARGE_SYMBOLS];
    static uint8_t out[32 * LARGE_SYMBOLS];
    static const float noise_var = 0.01F;
    const bool is_u8 = softqam_demodulate(demodulator, in, &noise_var, 1, out) != SOFTQAM_OK;
    assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_ALL), SOFTQAM_OK);
    harness_demodulate(demodulator, in, is_u8 ? NULL : &noise_var, LARGE_SYMBOLS, out);
    harness_demodulate(demodulator, in, is_u8 ? NULL : &noise_var, 1000, out);
}

HARNESS_TEST(test_all_hold_what_one_does)
{
    const fake_cuda_holdings nothing = {0};
    softqam_demodulator *demodulators[HARNESS_N_OUTPUT_FORMATS];
    const size_t n_threads = tasks_now().n;
    softqam_context *context = create_context(harness_backend());
    fake_cuda_holdings first = nothing;
    for (int k = 0; k < HARNESS_N_OUTPUT_FORMATS; k++) {
        demodulators[k] = create_in(context, k);
        assert_held(&first, k ? n_threads + N_THREADS - 1 : n_threads);
        use(context, demodulators[k]);
        if (k == 0)
            first = fake_cuda_holds();
    }
    assert_held(&first, n_threads + N_THREADS - 1);
    /* softqam.h says: 20 MiB for each of three streams, 8 MiB for each of four threads. */
    assert_true(first.device_nbytes <= (3 * 20 + N_THREADS * 8 + 1) * (size_t)MIB);
    assert_true(first.pinned_nbytes <= (N_THREADS * 8 + 1) * (size_t)MIB);
    for (int k = 0; k < HARNESS_N_OUTPUT_FORMATS; k++)
        softqam_demodulator_destroy(demodulators[k]);
    softqam_context_destroy(context);
    assert_held(&nothing, n_threads);
}

/* Segments in device memory are one launch, prepared or not, empty ones among them. */
static void check_prepared(const softqam_demodulator *demodulator, const softqam_segment *d_segments, size_t n,
                           softqam_cuda_prepared_segment *d_prepared)
{
    static unsigned d_n;
    const size_t n_launches = fake_cuda_launches();
    d_n = (unsigned)n;
    assert_int_equal(softqam_cuda_prepare_segments(demodulator, d_segments, n, d_prepared), SOFTQAM_OK);
    assert_int_equal(softqam_cuda_demodulate_prepared_segments(demodulator, d_prepared, &d_n, 2 * N_SEGMENTS, 1, 0),
                     SOFTQAM_OK);
    assert_int_equal(softqam_cuda_demodulate_device_segments(demodulator, d_segments, &d_n, 2 * N_SEGMENTS, 1, 0),
                     SOFTQAM_OK);
    assert_int_equal(fake_cuda_launches() - n_launches, 2);
}

/* A caller with symbols on the device has no threads, no streams and no memory but its own, in one large call or in
 * many segments, of which a launch takes A_LAUNCH; empty segments take no space in launches. */
HARNESS_TEST(test_device_pointers_only)
{
    static const size_t counts[] = {0, 1, A_LAUNCH - 1, A_LAUNCH, A_LAUNCH + 1, N_SEGMENTS};
    static softqam_segment segments[2 * N_SEGMENTS];
    void *d_in, *d_out, *d_prepared;
    assert_int_equal(cudaMalloc(&d_in, (size_t)LARGE_SYMBOLS * 8), cudaSuccess);
    assert_int_equal(cudaMalloc(&d_out, (size_t)LARGE_SYMBOLS * 32), cudaSuccess);
    assert_int_equal(cudaMalloc(&d_prepared, 2 * N_SEGMENTS * sizeof(softqam_cuda_prepared_segment)), cudaSuccess);
    memset(d_in, 0, (size_t)LARGE_SYMBOLS * 8); /* the fake device's memory is the host's */
    const fake_cuda_holdings before = fake_cuda_holds();
    const size_t n_threads = tasks_now().n;
    scoped_context *context = create_context(harness_backend());
    for (int k = 0; k < HARNESS_N_OUTPUT_FORMATS; k++) {
        scoped_demodulator *demodulator = create_in(context, k);
        const float *noise = k == SOFTQAM_OUTPUT_U8 ? NULL : d_in; /* whatever is there */
        for (size_t i = 0; i < N_SEGMENTS; i++)
            segments[2 * i] = harness_segment((uint8_t *)d_in + 16 * i, noise, 0, 1, (uint8_t *)d_out + 32 * i);
        for (size_t i = 0; i < HARNESS_COUNT(counts); i++) {
            const size_t n_launches = fake_cuda_launches();
            assert_int_equal(softqam_cuda_demodulate_segments(demodulator, segments, 2 * counts[i], 0), SOFTQAM_OK);
            assert_int_equal(fake_cuda_launches() - n_launches, (counts[i] + A_LAUNCH - 1) / A_LAUNCH);
            check_prepared(demodulator, segments, 2 * counts[i], d_prepared);
        }
        assert_int_equal(softqam_cuda_demodulate(demodulator, d_in, noise, LARGE_SYMBOLS, d_out, 0), SOFTQAM_OK);
        assert_int_equal(cudaStreamSynchronize(0), cudaSuccess);
        assert_held(&before, n_threads);
    }
    assert_int_equal(cudaFree(d_in), cudaSuccess);
    assert_int_equal(cudaFree(d_out), cudaSuccess);
    assert_int_equal(cudaFree(d_prepared), cudaSuccess);
}

/* The CPU backend makes not one call of CUDA in its whole life; the count would show it. */
HARNESS_TEST(test_cpu_calls_no_cuda)
{
    void *memory;
    const size_t before = fake_cuda_calls();
    scoped_context *context = create_context(SOFTQAM_BACKEND_CPU);
    for (int k = 0; k < HARNESS_N_OUTPUT_FORMATS; k++) {
        scoped_demodulator *demodulator = create_in(context, k);
        use(context, demodulator);
    }
    assert_int_equal(softqam_host_alloc(context, 4096, &memory), SOFTQAM_OK);
    softqam_host_free(memory);
    assert_int_equal(fake_cuda_calls(), before);
    scoped_context *gpu = create_context(SOFTQAM_BACKEND_CUDA);
    assert_true(fake_cuda_calls() > before);
}
