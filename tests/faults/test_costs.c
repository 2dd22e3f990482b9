/* SPDX-License-Identifier: MIT */
/* What contexts and demodulators cost, counted by the fake CUDA: six demodulators on one context hold what one does,
 * and little before they are used; a caller with device pointers pays for nothing that host memory needs; the CPU
 * backend never calls CUDA. */
#define _GNU_SOURCE /* mallinfo2 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam_cuda.h>

#include "api_fixture.h"
#include "fake_cuda.h"

enum { LARGE_SYMBOLS = 300000, SMALL_SYMBOLS = 1000, N_FORMATS = 6, N_MADE = 200, MIB = 1 << 20 };

static size_t allocated_now(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Neither threads nor anything of CUDA's. */
static void assert_nothing_held(size_t n_threads)
{
    const fake_cuda_holdings none = {0}, now = fake_cuda_holds();
    assert_memory_equal(&now, &none, sizeof now);
    assert_int_equal(tasks_count(n_threads), n_threads);
}

/* Calls. */

typedef struct formats {
    softqam_input_format input;
    softqam_output_format output;
} formats;

static const formats all_formats[N_FORMATS] = {
    {SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8},  {SOFTQAM_INPUT_CS16, SOFTQAM_OUTPUT_U8},
    {SOFTQAM_INPUT_CF16, SOFTQAM_OUTPUT_F16}, {SOFTQAM_INPUT_CS8, SOFTQAM_OUTPUT_F32},
    {SOFTQAM_INPUT_CS16, SOFTQAM_OUTPUT_S8},  {SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8},
};

static softqam_context *create_context(softqam_backend backend)
{
    harness_setup setup = harness_default_setup();
    setup.context.backend = backend;
    setup.context.n_threads = 4;
    return harness_create_context(&setup);
}

static softqam_demodulator *create_in(softqam_context *context, const formats *of)
{
    harness_setup setup = harness_format_setup(of->output, SOFTQAM_NOISE_PER_CALL);
    setup.demodulator.context = context;
    setup.demodulator.input_format = of->input;
    return harness_create(&setup);
}

/* Large and small, in pageable memory, which needs the most. */
static void use(softqam_demodulator *demodulator, const formats *of, size_t n_symbols)
{
    static const float noise_var = 0.01F;
    const float *noise = of->output == SOFTQAM_OUTPUT_U8 ? NULL : &noise_var;
    scoped_memory uint8_t *in = calloc(n_symbols, 8),
                          *out = harness_alloc(harness_output_nbytes(of->output, n_symbols));
    assert_non_null(in);
    harness_demodulate_llrs(demodulator, in, noise, n_symbols, out);
    harness_demodulate_llrs(demodulator, in, noise, SMALL_SYMBOLS < n_symbols ? SMALL_SYMBOLS : n_symbols, out);
}

/* Tests. */

/* Six demodulators of six formats, all prepared and used, hold what the first of them did. */
HARNESS_TEST(test_six_hold_what_one_does)
{
    softqam_demodulator *demodulators[N_FORMATS];
    const size_t n_threads = tasks_now().n;
    softqam_context *context = create_context(harness_backend());
    fake_cuda_holdings first = {0};
    size_t allocated = 0;
    for (int k = 0; k < N_FORMATS; k++) {
        demodulators[k] = create_in(context, &all_formats[k]);
        assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_ALL), SOFTQAM_OK);
        use(demodulators[k], &all_formats[k], LARGE_SYMBOLS);
        if (k == 0) {
            first = fake_cuda_holds();
            allocated = allocated_now();
        }
    }
    const fake_cuda_holdings six = fake_cuda_holds();
    print_message("%zu streams, %.3f MiB of the device, %.3f MiB pinned\n", six.streams,
                  (double)six.device_nbytes / MIB, (double)six.pinned_nbytes / MIB);
    assert_int_equal(tasks_count(n_threads + 3), n_threads + 3);
    assert_int_equal(six.streams, first.streams);
    /* What softqam.h says: 20 MiB for each of three streams, 8 MiB for each of four threads. */
    assert_true(first.device_nbytes <= (3 * 20 + 4 * 8 + 1) * (size_t)MIB);
    assert_true(first.pinned_nbytes <= (4 * 8 + 1) * (size_t)MIB);
    assert_true(six.device_nbytes <= first.device_nbytes + MIB);
    assert_true(six.pinned_nbytes <= first.pinned_nbytes + MIB);
    assert_true(HARNESS_SANITIZED || allocated_now() <= allocated + MIB);
    for (int k = 0; k < N_FORMATS; k++)
        softqam_demodulator_destroy(demodulators[k]);
    softqam_context_destroy(context);
    assert_nothing_held(n_threads);
}

/* Each holds a few KiB; a context and its demodulators hold no threads and nothing of the device's before they are
 * used. */
HARNESS_TEST(test_made_cheaply)
{
    static softqam_demodulator *demodulators[N_MADE];
    const size_t n_threads = tasks_now().n;
    scoped_context *context = create_context(harness_backend());
    scoped_demodulator *first = create_in(context, &all_formats[0]);
    const size_t before = allocated_now();
    for (int k = 0; k < N_MADE; k++)
        demodulators[k] = create_in(context, &all_formats[k % N_FORMATS]);
    const size_t each = (allocated_now() - before) / N_MADE;
    print_message("%zu bytes each\n", each);
    assert_nothing_held(n_threads);
    assert_true(HARNESS_SANITIZED || each < 16384);
    for (int k = 0; k < N_MADE; k++)
        softqam_demodulator_destroy(demodulators[k]);
}

/* A caller with symbols on the device, in one large call or in many segments, has no threads, no streams, no pinned
 * memory and no memory of the device. */
HARNESS_TEST(test_device_pointers_only)
{
    enum { N_SEGMENTS = 1000, N_SYMBOLS = 16 };
    if (harness_backend() == SOFTQAM_BACKEND_CPU)
        skip();
    void *d_in, *d_out;
    assert_int_equal(cudaMalloc(&d_in, (size_t)LARGE_SYMBOLS * 8), cudaSuccess);
    assert_int_equal(cudaMalloc(&d_out, (size_t)LARGE_SYMBOLS * 32), cudaSuccess);
    memset(d_in, 0, (size_t)LARGE_SYMBOLS * 8); /* the fake device's memory is the host's */
    scoped_memory softqam_segment *segments = calloc(N_SEGMENTS, sizeof *segments);
    assert_non_null(segments);
    const fake_cuda_holdings before = fake_cuda_holds();
    const size_t n_threads = tasks_now().n;
    scoped_context *context = create_context(harness_backend());
    for (int k = 0; k < N_FORMATS; k++) {
        const formats *of = &all_formats[k];
        scoped_demodulator *demodulator = create_in(context, of);
        const float *noise = of->output == SOFTQAM_OUTPUT_U8 ? NULL : d_in; /* whatever is there */
        const size_t in_nbytes = N_SYMBOLS * softqam_input_symbol_nbytes(of->input);
        const size_t out_nbytes = harness_output_nbytes(of->output, N_SYMBOLS);
        for (size_t i = 0; i < N_SEGMENTS; i++)
            segments[i] = harness_segment((uint8_t *)d_in + i * in_nbytes, noise, 0, N_SYMBOLS,
                                          (uint8_t *)d_out + i * out_nbytes);
        assert_int_equal(softqam_cuda_demodulate(demodulator, d_in, noise, LARGE_SYMBOLS, d_out, 0), SOFTQAM_OK);
        assert_int_equal(softqam_cuda_demodulate_segments(demodulator, segments, N_SEGMENTS, 0), SOFTQAM_OK);
        assert_int_equal(cudaStreamSynchronize(0), cudaSuccess);
        const fake_cuda_holdings now = fake_cuda_holds();
        assert_memory_equal(&now, &before, sizeof now);
        assert_int_equal(tasks_count(n_threads), n_threads);
    }
    assert_int_equal(cudaFree(d_in), cudaSuccess);
    assert_int_equal(cudaFree(d_out), cudaSuccess);
}

/* The CPU backend makes not one call of CUDA in its whole life; the count would show it. */
HARNESS_TEST(test_cpu_calls_no_cuda)
{
    void *memory;
    const size_t before = fake_cuda_calls();
    scoped_context *context = create_context(SOFTQAM_BACKEND_CPU);
    for (int i = 0; i < N_FORMATS; i++) {
        scoped_demodulator *demodulator = create_in(context, &all_formats[i]);
        assert_string_equal(softqam_backend_name(demodulator), "cpu");
        assert_non_null(strstr(softqam_backend_detail(demodulator), "4 threads"));
        use(demodulator, &all_formats[i], LARGE_SYMBOLS);
        assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_ALL), SOFTQAM_OK);
    }
    assert_int_equal(softqam_host_alloc(context, 4096, &memory), SOFTQAM_OK);
    softqam_host_free(memory);
    assert_int_equal(fake_cuda_calls(), before);
    scoped_context *gpu = create_context(SOFTQAM_BACKEND_CUDA);
    assert_true(fake_cuda_calls() > before);
}

/* A call makes as many launches as its segments need; empty segments take no space in them. */
HARNESS_TEST(test_launches)
{
    enum { N_SEGMENTS = 1000, A_LAUNCH = 12 };
    static const size_t counts[] = {0, 1, A_LAUNCH - 1, A_LAUNCH, A_LAUNCH + 1, N_SEGMENTS};
    if (harness_backend() == SOFTQAM_BACKEND_CPU)
        skip();
    void *memory;
    assert_int_equal(cudaMalloc(&memory, (size_t)N_SEGMENTS * 2 * 16), cudaSuccess);
    scoped_memory softqam_segment *segments = calloc(2 * N_SEGMENTS, sizeof *segments);
    assert_non_null(segments);
    for (size_t k = 0; k < N_SEGMENTS; k++)
        segments[2 * k] = harness_segment((uint8_t *)memory + 16 * k, NULL, 0, 1, (uint8_t *)memory + 16 * k + 8);
    scoped_context *context = create_context(harness_backend());
    scoped_demodulator *demodulator = create_in(context, &(formats){SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8});
    for (size_t k = 0; k < HARNESS_COUNT(counts); k++) {
        const size_t before = fake_cuda_launches();
        assert_int_equal(softqam_cuda_demodulate_segments(demodulator, segments, 2 * counts[k], 0), SOFTQAM_OK);
        assert_int_equal(fake_cuda_launches() - before, (counts[k] + A_LAUNCH - 1) / A_LAUNCH);
    }
    assert_int_equal(cudaStreamSynchronize(0), cudaSuccess);
    assert_int_equal(cudaFree(memory), cudaSuccess);
}
