/* SPDX-License-Identifier: MIT */
/* How calls for soft bits are made must not show in a byte: lengths, alignments, splits, threads, chunks and memory,
 * from several threads, on the backend that SOFTQAM_TEST_BACKEND names. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "demodulate_fixture.h"

/* Streams of random numbers, one a test, so that a test gives the same alone as among the others. */
enum {
    STREAM_SAMPLE = 1,
    STREAM_SPLIT,
    STREAM_WORKERS,
};

/* Symbols of every kind with the bytes that they must give; made once and shared by the tests. More than a Mi, so that
 * every thread of the largest number of threads has work, and several default chunks of CUDA. */
#define SAMPLE_SYMBOLS (3 * ((size_t)1 << 20) / 2 + 12345)

typedef struct sample {
    float *symbols;
    uint8_t *expected;
    size_t n_symbols;
} sample;

static const sample *shared_sample(void)
{
    static sample made;
    if (made.n_symbols == 0) {
        made.symbols = harness_alloc(SAMPLE_SYMBOLS * CF32_NBYTES);
        made.expected = harness_alloc(SAMPLE_SYMBOLS * HARNESS_SYMBOL_BITS);
        harness_random random = harness_random_stream(STREAM_SAMPLE);
        harness_fill_mixture(&random, SAMPLE_SYMBOLS, made.symbols);
        demodulate_ask_oracle(made.symbols, SAMPLE_SYMBOLS, made.expected);
        made.n_symbols = SAMPLE_SYMBOLS;
    }
    return &made;
}

/* Symbols that are not the first of the sample, so that a call on the wrong ones shows. */
static sample part_of_sample(size_t first, size_t n_symbols)
{
    const sample *all = shared_sample();
    assert_true(first + n_symbols <= all->n_symbols);
    return (sample){all->symbols + 2 * first, all->expected + first * HARNESS_SYMBOL_BITS, n_symbols};
}

static void check_sample(softqam_demodulator *demodulator, const char *what, sample part)
{
    demodulate_check_call(demodulator, what, part.symbols, part.symbols, part.expected, part.n_symbols);
}

/* A call between guard pages, both buffers `in_gap` and `out_gap` bytes from the first one or from the last. */
static void check_guarded(softqam_demodulator *demodulator, harness_buffer *in, size_t in_gap, harness_buffer *out,
                          size_t out_gap, bool at_end, sample part)
{
    size_t in_nbytes = part.n_symbols * CF32_NBYTES, out_nbytes = part.n_symbols * HARNESS_SYMBOL_BITS;
    if (at_end) {
        harness_buffer_place_at_end(in, in_nbytes, in_gap);
        harness_buffer_place_at_end(out, out_nbytes, out_gap);
    } else {
        harness_buffer_place_at_start(in, in_nbytes, in_gap);
        harness_buffer_place_at_start(out, out_nbytes, out_gap);
    }
    memcpy(in->data, part.symbols, in_nbytes);
    harness_poison(out->data, part.expected, out_nbytes);
    harness_demodulate(demodulator, in->data, part.n_symbols, out->data);
    if (!harness_soft_bits_equal("between guard pages", part.symbols, part.expected, out->data, part.n_symbols)) {
        fail_msg("%zu symbols, gaps of %zu and %zu at the %s", part.n_symbols, in_gap, out_gap,
                 at_end ? "end" : "start");
    }
    harness_buffer_check(out);
    harness_buffer_check(in);
    assert_memory_equal(in->data, part.symbols, in_nbytes);
}

static void check_length(softqam_demodulator *demodulator, size_t n_symbols)
{
    const size_t first = 1001;
    harness_buffer in, out;
    harness_buffer_open(&in, n_symbols * CF32_NBYTES);
    harness_buffer_open(&out, n_symbols * HARNESS_SYMBOL_BITS);
    check_guarded(demodulator, &in, 0, &out, 0, false, part_of_sample(first, n_symbols));
    check_guarded(demodulator, &in, 0, &out, 0, true, part_of_sample(first, n_symbols));
    harness_buffer_close(&out);
    harness_buffer_close(&in);
}

HARNESS_TEST(test_lengths)
{
    static const struct {
        unsigned n_streams;
        size_t chunk_symbols;
    } pipelines[] = {{0, 0}, {1, 1}, {1, 64}, {2, 37}, {3, 100}, {4, 256}, {7, 1000}, {64, 5}};
    for (size_t i = 0; i < HARNESS_COUNT(pipelines); i++) {
        harness_setup setup = harness_soft_bits_setup();
        setup.context.n_streams = pipelines[i].n_streams;
        setup.context.chunk_symbols = pipelines[i].chunk_symbols;
        setup.context.n_threads = (unsigned)i % 4;
        softqam_demodulator *demodulator = harness_create(&setup);
        for (size_t n = 0; n <= 70; n++)
            check_length(demodulator, n);
        size_t chunk = pipelines[i].chunk_symbols, ring = pipelines[i].n_streams * chunk;
        const size_t others[] = {257, 997, chunk + 1, 3 * chunk + 5, ring, ring + 1, 2 * ring + 3};
        for (size_t k = 0; k < HARNESS_COUNT(others); k++)
            check_length(demodulator, others[k]);
        if (chunk) {
            check_length(demodulator, chunk - 1);
            check_length(demodulator, chunk);
        }
        softqam_demodulator_destroy(demodulator);
    }
}

/* Lengths about the default chunk, and about the parts that threads get of a large call. */
HARNESS_TEST(test_large_lengths)
{
    static const size_t lengths[] = {65535, 65536, 65537, 99991, (1 << 20) - 1, 1 << 20, (1 << 20) + 1};
    harness_setup setup = harness_soft_bits_setup();
    setup.context.n_threads = 3;
    softqam_demodulator *demodulator = harness_create(&setup);
    for (size_t i = 0; i < HARNESS_COUNT(lengths); i++)
        check_length(demodulator, lengths[i]);
    softqam_demodulator_destroy(demodulator);
}

/* Every pair of misalignments of a short call, then every one of a call of several chunks. */
HARNESS_TEST(test_misalignment)
{
    const size_t n_short = 37, n_long = 997;
    harness_setup setup = harness_soft_bits_setup();
    setup.context.n_threads = 2;
    setup.context.n_streams = 3;
    setup.context.chunk_symbols = 256;
    softqam_demodulator *demodulator = harness_create(&setup);
    harness_buffer in, out;
    harness_buffer_open(&in, n_long * CF32_NBYTES);
    harness_buffer_open(&out, n_long * HARNESS_SYMBOL_BITS);
    for (size_t in_gap = 0; in_gap < 64; in_gap++) {
        for (size_t out_gap = 0; out_gap < 64; out_gap++) {
            bool at_end = (in_gap + out_gap) % 2;
            check_guarded(demodulator, &in, in_gap, &out, out_gap, at_end, part_of_sample(in_gap, n_short));
        }
        check_guarded(demodulator, &in, in_gap, &out, 0, true, part_of_sample(in_gap, n_long));
        check_guarded(demodulator, &in, 0, &out, in_gap, true, part_of_sample(in_gap, n_long));
        check_guarded(demodulator, &in, in_gap, &out, 63 - in_gap, false, part_of_sample(in_gap, n_long));
    }
    harness_buffer_close(&out);
    harness_buffer_close(&in);
    softqam_demodulator_destroy(demodulator);
}

HARNESS_TEST(test_thread_counts)
{
    static const unsigned n_threads[] = {1, 2, 3, 4, 7, 16};
    for (size_t i = 0; i < HARNESS_COUNT(n_threads); i++) {
        harness_setup setup = harness_soft_bits_setup();
        setup.context.n_threads = n_threads[i];
        softqam_demodulator *demodulator = harness_create(&setup);
        check_sample(demodulator, "all of the sample", *shared_sample());
        for (size_t n = 1; n <= 70; n++)
            check_sample(demodulator, "a few symbols", part_of_sample(n, n));
        for (size_t n = 16381; n < 1000000; n = 2 * n + 1)
            check_sample(demodulator, "a part of the sample", part_of_sample(n % 100, n));
        softqam_demodulator_destroy(demodulator);
    }
}

/* A call on buffers that begin `in_gap` and `out_gap` bytes into memory of some kind. */
static void check_placed(softqam_demodulator *demodulator, const char *what, uint8_t *in, size_t in_gap, uint8_t *out,
                         size_t out_gap, sample part)
{
    memcpy(in + in_gap, part.symbols, part.n_symbols * CF32_NBYTES);
    harness_poison(out + out_gap, part.expected, part.n_symbols * HARNESS_SYMBOL_BITS);
    harness_demodulate(demodulator, in + in_gap, part.n_symbols, out + out_gap);
    if (!harness_soft_bits_equal(what, part.symbols, part.expected, out + out_gap, part.n_symbols))
        fail_msg("%zu symbols, gaps of %zu and %zu bytes", part.n_symbols, in_gap, out_gap);
}

/* Memory of softqam_host_alloc() and of malloc, each for input and output, for calls of one chunk and of several,
 * aligned and not: page-locked memory need not be aligned either. */
HARNESS_TEST(test_memory_kinds)
{
    static const char *const what[] = {"malloc to malloc", "host_alloc to malloc", "malloc to host_alloc",
                                       "host_alloc to host_alloc"};
    static const size_t lengths[] = {777, 20000, 70001}, gaps[] = {0, 1, 2, 4, 8, 13, 16, 24};
    const size_t max_symbols = 70001, max_gap = 24;
    const size_t in_nbytes = max_symbols * CF32_NBYTES + max_gap;
    const size_t out_nbytes = max_symbols * HARNESS_SYMBOL_BITS + max_gap;
    harness_setup setup = harness_soft_bits_setup();
    setup.context.chunk_symbols = 20000;
    softqam_demodulator *demodulator = harness_create(&setup);
    void *in[2] = {harness_alloc(in_nbytes), NULL}, *out[2] = {harness_alloc(out_nbytes), NULL};
    assert_int_equal(softqam_host_alloc(softqam_demodulator_context(demodulator), in_nbytes, &in[1]), SOFTQAM_OK);
    assert_int_equal(softqam_host_alloc(softqam_demodulator_context(demodulator), out_nbytes, &out[1]), SOFTQAM_OK);
    for (size_t kinds = 0; kinds < HARNESS_COUNT(what); kinds++) {
        for (size_t k = 0; k < HARNESS_COUNT(gaps); k++) {
            for (size_t i = 0; i < HARNESS_COUNT(lengths); i++) {
                sample part = part_of_sample(i + k, lengths[i]);
                check_placed(demodulator, what[kinds], in[kinds % 2], gaps[k], out[kinds / 2], 0, part);
                check_placed(demodulator, what[kinds], in[kinds % 2], 0, out[kinds / 2], gaps[k], part);
            }
        }
    }
    softqam_host_free(out[1]);
    softqam_host_free(in[1]);
    free(out[0]);
    free(in[0]);
    softqam_demodulator_destroy(demodulator);
}

HARNESS_TEST(test_split_calls)
{
    sample part = part_of_sample(77, 300007);
    uint8_t *out = harness_alloc(part.n_symbols * HARNESS_SYMBOL_BITS);
    harness_random random = harness_random_stream(STREAM_SPLIT);
    harness_setup setup = harness_soft_bits_setup();
    setup.context.chunk_symbols = 1000;
    softqam_demodulator *demodulator = harness_create(&setup);
    harness_poison(out, part.expected, part.n_symbols * HARNESS_SYMBOL_BITS);
    for (size_t first = 0, n; first < part.n_symbols; first += n) {
        n = harness_random_below(&random, 5000);
        n = part.n_symbols - first < n ? part.n_symbols - first : n;
        harness_demodulate(demodulator, part.symbols + 2 * first, n, out + first * HARNESS_SYMBOL_BITS);
    }
    assert_true(harness_soft_bits_equal("split calls", part.symbols, part.expected, out, part.n_symbols));
    softqam_demodulator_destroy(demodulator);
    free(out);
}

/* A thread that demodulates parts of the sample, with a demodulator of its own unless it is given one. CMocka's
 * assertions belong to the main thread, so it only notes how it went. */
typedef struct worker {
    pthread_t thread;
    uint32_t number;
    softqam_demodulator *shared;
    bool passed;
} worker;

static bool worker_calls(worker *self, softqam_demodulator *demodulator)
{
    const sample *all = shared_sample();
    const size_t max_symbols = 200000;
    uint8_t *out = malloc(max_symbols * HARNESS_SYMBOL_BITS);
    bool passed = out;
    harness_random random = harness_random_stream((self->number << 8) | STREAM_WORKERS);
    for (int i = 0; passed && i < 20; i++) {
        size_t n = harness_random_below(&random, i % 2 ? 300 : max_symbols);
        size_t first = harness_random_below(&random, all->n_symbols - n);
        const uint8_t *expected = all->expected + first * HARNESS_SYMBOL_BITS;
        harness_poison(out, expected, n * HARNESS_SYMBOL_BITS);
        passed = softqam_demodulate(demodulator, all->symbols + 2 * first, NULL, n, out) == SOFTQAM_OK &&
                 harness_soft_bits_equal("in a thread", all->symbols + 2 * first, expected, out, n);
    }
    free(out);
    return passed;
}

static void *work(void *argument)
{
    worker *self = argument;
    if (self->shared) {
        self->passed = worker_calls(self, self->shared);
        return NULL;
    }
    harness_setup setup = harness_soft_bits_setup();
    setup.context.n_threads = 1 + self->number % 3;
    setup.context.chunk_symbols = 30000;
    softqam_demodulator *demodulator;
    self->passed = harness_try_create(&demodulator, &setup) == SOFTQAM_OK && worker_calls(self, demodulator);
    softqam_demodulator_destroy(demodulator);
    return NULL;
}

static void run_workers(softqam_demodulator *shared)
{
    worker workers[6];
    shared_sample(); /* made before there is more than one thread */
    for (size_t i = 0; i < HARNESS_COUNT(workers); i++) {
        workers[i] = (worker){.number = (uint32_t)i, .shared = shared};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    bool all_passed = true;
    for (size_t i = 0; i < HARNESS_COUNT(workers); i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        all_passed = all_passed && workers[i].passed;
    }
    assert_true(all_passed);
}

HARNESS_TEST(test_own_demodulators)
{
    run_workers(NULL);
}

HARNESS_TEST(test_shared_demodulator)
{
    harness_setup setup = harness_soft_bits_setup();
    setup.context.n_threads = 3;
    setup.context.chunk_symbols = 30000;
    softqam_demodulator *demodulator = harness_create(&setup);
    run_workers(demodulator);
    softqam_demodulator_destroy(demodulator);
}
