/* SPDX-License-Identifier: MIT */
/* Load: eight threads make demodulators of random settings on contexts of their own, of the CPU and of all GPUs, on
 * shared ones and on the default one. They call them with random sizes and kinds of memory, compare every byte with the
 * portable loop, and destroy them in any order; all of them also call two shared demodulators. No error may come, and
 * neither memory of the process nor of the device may grow.
 *
 * It runs for SOFTQAM_TEST_SECONDS, by default 3; the long test takes 600. */
#define _GNU_SOURCE /* pthread_barrier_t */
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

#ifdef LOAD_CUDA
#include <cuda_runtime_api.h>
#endif

enum { N_THREADS = 8, MAX_SYMBOLS = 65536, N_CALLS = 6, MAX_IN_NBYTES = 8, MAX_OUT_NBYTES = 32, N_SHARED = 2 };

/* The most memory that may be added while nothing runs. A leak of 100 bytes a demodulator exceeds it after some hundred
 * demodulators. CUDA's driver allocates for itself, as much in 3 seconds as in 30. */
#if !defined(LOAD_CUDA) || defined(LOAD_FAKE_CUDA)
enum { ALLOCATED_GROWTH = 32 << 10, DEVICE_GROWTH = 0 };
#else
enum { ALLOCATED_GROWTH = 528 << 10, DEVICE_GROWTH = 32 << 20 };
#endif

typedef struct worker {
    harness_random random;
    _Alignas(float) uint8_t in[MAX_SYMBOLS * MAX_IN_NBYTES];
    float noise_var[MAX_SYMBOLS];
    uint8_t out[MAX_SYMBOLS * MAX_OUT_NBYTES], expected[MAX_SYMBOLS * MAX_OUT_NBYTES];
} worker;

static worker workers[N_THREADS];

/* All threads use these; the portable loop defines the bytes. */
static softqam_context *contexts[N_SHARED], *portable;
static softqam_demodulator *shared[N_SHARED];
static const softqam_demodulator_config shared_config;
static int n_devices; /* CUDA devices */
static pthread_barrier_t start;
static atomic_bool ends, failed;
static atomic_ullong n_calls;

static size_t below(worker *self, size_t n) { return harness_random_below(&self->random, n); }

/* Says what failed, once, and ends all. */
static void expect_ok(const char *what, softqam_status status, bool right_bytes)
{
    if (status == SOFTQAM_OK && right_bytes)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, softqam_status_string(status),
            status == SOFTQAM_OK ? "wrong bytes" : softqam_error_message());
    atomic_store(&failed, true);
    atomic_store(&ends, true);
}

static softqam_context *create_context(worker *self, bool on_cuda)
{
    const softqam_context_config config = {
        .backend = n_devices > 0 && on_cuda ? SOFTQAM_BACKEND_CUDA : SOFTQAM_BACKEND_CPU,
        .device = (int)below(self, (size_t)n_devices + 1) - 1,
        .n_threads = 1 + (unsigned)below(self, 3),
        .cpu_variant = below(self, 2) ? "portable" : NULL, /* whose calls threads share from fewer symbols on */
        .n_streams = 1 + (unsigned)below(self, 4),
        .chunk_symbols = 500 + below(self, 20000),
    };
    softqam_context *context;
    expect_ok("softqam_context_create", softqam_context_create(&context, &config), true);
    return context;
}

static softqam_demodulator *create(softqam_demodulator_config config, softqam_context *context)
{
    softqam_demodulator *demodulator;
    config.context = context;
    expect_ok("softqam_demodulator_create", softqam_demodulator_create(&demodulator, &config), true);
    return demodulator;
}

/* Demodulates with a scale of the call's own, in pageable memory or in memory of softqam_host_alloc(). */
static void call(worker *self, const softqam_demodulator_config *config, softqam_demodulator *demodulator)
{
    const size_t in_nbytes = softqam_input_symbol_nbytes(config->input_format);
    const size_t out_nbytes = harness_output_nbytes(config->output_format, 1);
    const size_t n = below(self, (size_t)1 << below(self, 17));
    const bool is_u8 = config->output_format == SOFTQAM_OUTPUT_U8;
    softqam_demodulator *definition = create(*config, portable);
    softqam_context *context = softqam_demodulator_context(demodulator);
    void *host_in = NULL, *host_out = NULL;
    if (below(self, 2)) {
        expect_ok("softqam_host_alloc", softqam_host_alloc(context, n * in_nbytes, &host_in), true);
        expect_ok("softqam_host_alloc", softqam_host_alloc(context, n * out_nbytes, &host_out), true);
    }
    uint8_t *in = host_in ? host_in : self->in, *out = host_out ? host_out : self->out;
    harness_random_fill(&self->random, in, n * in_nbytes);
    harness_fill_noise(&self->random, HARNESS_NOISE_ANY, n, self->noise_var);
    softqam_segment segment = harness_segment(in, is_u8 ? NULL : self->noise_var, below(self, 2), n, self->expected);
    segment.input_scale = ldexpf(1, -(int)below(self, 16));
    softqam_status status = softqam_demodulate_segments(definition, &segment, 1);
    harness_poison(out, self->expected, n * out_nbytes);
    segment.out = out;
    if (status == SOFTQAM_OK)
        status = softqam_demodulate_segments(demodulator, &segment, 1);
    expect_ok("softqam_demodulate_segments", status, memcmp(out, self->expected, n * out_nbytes) == 0);
    atomic_fetch_add(&n_calls, 1);
    softqam_host_free(host_in);
    softqam_host_free(host_out);
    softqam_demodulator_destroy(definition);
}

/* Makes, calls and destroys one demodulator on its own context, a shared one or the default one; then calls a shared
 * demodulator. */
static void work_once(worker *self)
{
    const size_t choice = below(self, 3), k = below(self, N_SHARED);
    const softqam_demodulator_config config = {
        .input_format = (softqam_input_format)below(self, HARNESS_N_INPUT_FORMATS),
        .output_format = (softqam_output_format)below(self, HARNESS_N_OUTPUT_FORMATS),
        .sign = (softqam_sign)below(self, 2),
    };
    softqam_context *own = choice == 0 ? create_context(self, below(self, 2)) : NULL;
    softqam_demodulator *demodulator = create(config, choice == 1 ? contexts[k] : own);
    if (below(self, 2)) {
        softqam_context_destroy(own);
        own = NULL;
    }
    if (below(self, 4) == 0)
        expect_ok("softqam_context_prepare",
                  softqam_context_prepare(softqam_demodulator_context(demodulator),
                                          (unsigned)below(self, SOFTQAM_PREPARE_ALL + 1)),
                  true);
    for (int i = 0; i < N_CALLS && !atomic_load(&ends); i++)
        call(self, &config, demodulator);
    softqam_demodulator_destroy(demodulator);
    softqam_context_destroy(own);
    if (!atomic_load(&ends))
        call(self, &shared_config, shared[k]);
}

/* All threads begin at once, also with what the library does once in a process. */
static void *work(void *argument)
{
    pthread_barrier_wait(&start);
    while (!atomic_load(&ends))
        work_once(argument);
    return NULL;
}

/* Bytes in use while nothing runs: allocated by this process, and of the device. */
typedef struct usage {
    size_t allocated, device;
} usage;

/* Lets the threads work for some time, and returns what is in use after they have ended. */
static usage run(double time)
{
    pthread_t threads[N_THREADS];
    pthread_barrier_init(&start, NULL, N_THREADS);
    atomic_store(&ends, false);
    for (size_t k = 0; k < N_THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
    for (const double end = harness_seconds() + time; harness_seconds() < end && !atomic_load(&ends);)
        usleep(20000);
    atomic_store(&ends, true);
    for (size_t k = 0; k < N_THREADS; k++)
        pthread_join(threads[k], NULL);
    pthread_barrier_destroy(&start);
    const struct mallinfo2 info = mallinfo2();
    usage now = {.allocated = info.uordblks + info.hblkhd};
#ifdef LOAD_CUDA
    for (int k = n_devices - 1; k >= 0; k--) {
        size_t n_free = 0, n_total = 0;
        if (cudaSetDevice(k) == cudaSuccess && cudaMemGetInfo(&n_free, &n_total) == cudaSuccess)
            now.device += n_total - n_free;
    }
#endif
    return now;
}

HARNESS_TEST(test_load)
{
    const double time = (double)harness_environment_count("SOFTQAM_TEST_SECONDS", 3, 1000000);
    const harness_setup setup = {.context = {.device = -1, .n_threads = 1, .cpu_variant = "portable"}};
    portable = harness_create_context(&setup);
#ifdef LOAD_CUDA
    if (harness_cuda_is_usable())
        assert_int_equal(cudaGetDeviceCount(&n_devices), cudaSuccess);
#endif
    for (uint32_t k = 0; k < N_THREADS; k++)
        workers[k].random = harness_random_stream(k + 1);
    for (size_t k = 0; k < N_SHARED; k++) {
        contexts[k] = create_context(&workers[k], k == 0);
        shared[k] = create(shared_config, contexts[k]);
        /* Shared contexts hold all their memory from the start. */
        assert_int_equal(softqam_context_prepare(contexts[k], SOFTQAM_PREPARE_ALL), SOFTQAM_OK);
    }
    const usage before = run(time / 3), after = run(time * 2 / 3);
    for (size_t k = 0; k < N_SHARED; k++) {
        softqam_context_destroy(contexts[k]);
        softqam_demodulator_destroy(shared[k]);
    }
    softqam_context_destroy(portable);
    print_message(
        "CPU and %d GPUs: %llu calls in %.0f s by %d threads; allocated %zu bytes, then %zu; device %zu, then "
        "%zu\n",
        n_devices, n_calls, time, N_THREADS, before.allocated, after.allocated, before.device, after.device);
    assert_true(!failed && n_calls > N_THREADS);
    assert_true(HARNESS_SANITIZED || after.allocated <= before.allocated + ALLOCATED_GROWTH);
    assert_true(after.device <= before.device + DEVICE_GROWTH);
}
