/* SPDX-License-Identifier: MIT */
/* Every float. One component runs through all 2^32 bit patterns while the other stays at a level, on a decision
 * boundary, at zero, outside, far outside, at NaN: every vector loop of the CPU against the portable one, and the
 * portable one against the oracle; with SOFTQAM_TEST_BACKEND=cuda instead CUDA against the CPU, and all 2^32 symbols of
 * cs16.
 *
 * SOFTQAM_TEST_STRIDE says which: every one with 1, one in 2039 without it. Those around levels and boundaries are
 * never left out. SOFTQAM_TEST_THREADS is how many threads share the work, one per CPU without it. */
#define _GNU_SOURCE /* sched.h */
#include <fnmatch.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "cpu_variant.h"
#include "harness.h"
#include "oracle.h"

enum { BLOCK_SYMBOLS = 1 << 16, CUDA_BLOCK_SYMBOLS = 1 << 20, MAX_OUT_NBYTES = 32, MAX_THREADS = 256 };
enum { DEFAULT_STRIDE = 2039 };

#define ALL_BITS ((uint64_t)1 << 32)

/* Levels are the odd multiples of alpha, boundaries the even ones. */
static float multiple_of_alpha(int k)
{
    return (float)k * (float)(1 / sqrt(170.0));
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A set of symbols by number. */
typedef struct symbols {
    const char *name;
    uint64_t n;
    void (*fill)(const struct symbols *self, uint64_t first, size_t n, void *symbols);
    uint32_t fixed;   /* bits of the component that does not run */
    unsigned running; /* 0: I runs, 1: Q */
    uint64_t stride;
    uint32_t offset; /* of the bit patterns */
} symbols;

/* One job: symbols, what becomes of them, and who compares. */
typedef struct worker worker;

typedef struct job {
    const symbols *set;
    softqam_config config;
    softqam_plan plan;
    size_t block_symbols;
    /* Whether all agree about n symbols that are in the worker's memory. */
    bool (*compare)(const struct job *self, worker *w, size_t n);
    atomic_ullong next_block;
    atomic_bool failed;
} job;

struct worker {
    job *job;
    void *in;
    float *noise_var;
    uint8_t *expected;
    uint8_t *got;
    oracle *oracle;
    softqam_demodulator *cpu;
    softqam_demodulator *cuda;
};

static void fill_running(const symbols *self, uint64_t first, size_t n, void *out)
{
    uint32_t *at = out;
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = self->offset + (uint32_t)((first + i) * self->stride);
        at[2 * i + self->running] = bits;
        at[2 * i + 1 - self->running] = self->fixed;
    }
}

/* Both signs of the magnitudes from `offset` on, in turn. */
static void fill_magnitudes(const symbols *self, uint64_t first, size_t n, void *out)
{
    uint32_t *at = out;
    for (size_t i = 0; i < n; i++) {
        const uint64_t number = (first + i) * self->stride;
        at[2 * i + self->running] = (self->offset + (uint32_t)(number / 2)) | (uint32_t)(number % 2) << 31;
        at[2 * i + 1 - self->running] = self->fixed;
    }
}

/* The floats within NEAR_ULPS of the multiples of alpha, and those of the other axis likewise. */
enum { NEAR_ULPS = 16, N_NEAR = 2 * NEAR_ULPS + 1, MAX_MULTIPLE = 16, N_MULTIPLES = 2 * MAX_MULTIPLE + 1 };

static uint32_t near_bits(size_t k)
{
    const int multiple = (int)(k / N_NEAR) - MAX_MULTIPLE, n_ulp = (int)(k % N_NEAR) - NEAR_ULPS;
    if (multiple == 0) {
        /* Around zero: the smallest of either sign. */
        return n_ulp < 0 ? 0x80000000U - (uint32_t)(n_ulp + 1) : (uint32_t)n_ulp;
    }
    return bits_of(multiple_of_alpha(multiple)) + (uint32_t)n_ulp;
}

static void fill_near(const symbols *self, uint64_t first, size_t n, void *out)
{
    (void)self;
    uint32_t *at = out;
    for (size_t i = 0; i < n; i++) {
        at[2 * i] = near_bits((size_t)(first + i) / (N_MULTIPLES * N_NEAR));
        at[2 * i + 1] = near_bits((size_t)(first + i) % (N_MULTIPLES * N_NEAR));
    }
}

static const symbols near_all = {
    .name = "both within 16 ulp of a multiple of alpha",
    .n = (uint64_t)N_MULTIPLES * N_NEAR * N_MULTIPLES * N_NEAR,
    .fill = fill_near,
};

/* The ends of every exponent, of either sign: zeros, subnormals, infinities and what is no number are among them. */
enum { N_EXPONENTS = 256, N_MANTISSAS = 3, N_EDGES = 2 * N_EXPONENTS * N_MANTISSAS };

static uint32_t edge_bits(size_t k)
{
    static const uint32_t mantissas[N_MANTISSAS] = {0, 1, 0x7fffff};
    return (uint32_t)(k % 2) << 31 | (uint32_t)(k / 2 % N_EXPONENTS) << 23 | mantissas[k / (2 * N_EXPONENTS)];
}

static void fill_edges(const symbols *self, uint64_t first, size_t n, void *out)
{
    (void)self;
    uint32_t *at = out;
    for (size_t i = 0; i < n; i++) {
        at[2 * i] = edge_bits((size_t)(first + i) / N_EDGES);
        at[2 * i + 1] = edge_bits((size_t)(first + i) % N_EDGES);
    }
}

static const symbols edges_all = {
    .name = "both at the ends of an exponent",
    .n = (uint64_t)N_EDGES * N_EDGES,
    .fill = fill_edges,
};

/* cs16: I in the upper half of the number, Q in the lower. */
static void fill_pairs(const symbols *self, uint64_t first, size_t n, void *out)
{
    uint16_t *at = out;
    for (size_t i = 0; i < n; i++) {
        const uint32_t number = (uint32_t)((first + i) * self->stride);
        at[2 * i] = (uint16_t)(number >> 16);
        at[2 * i + 1] = (uint16_t)number;
    }
}

static void widen(const job *self, const worker *w, size_t n, float *values)
{
    harness_widen(self->config.input_format, 0, w->in, n, values);
}

/* Prints what differs. */
static bool outputs_equal(const job *self, const worker *w, const char *what, size_t n)
{
    if (memcmp(w->expected, w->got, n * self->plan.output_nbytes) == 0)
        return true;
    float *values = malloc(n * 2 * sizeof(float));
    if (values) {
        widen(self, w, n, values);
        harness_outputs_equal(what, self->config.output_format, values, w->expected, w->got, n);
    }
    free(values);
    fprintf(stderr, "%s: %s\n", what, self->set->name);
    return false;
}

static size_t noise_stride(const job *self)
{
    return self->config.noise == SOFTQAM_NOISE_PER_SYMBOL;
}

/* Every vector loop that this processor runs against the portable one. */
static bool compare_variants(const job *self, worker *w, size_t n)
{
    bool equal = true;
    softqam_cpu_loop_portable(&self->plan, w->in, w->noise_var, noise_stride(self), n, w->expected);
    for (size_t k = 0; k < softqam_n_cpu_variants; k++) {
        const softqam_cpu_variant *variant = &softqam_cpu_variants[k];
        if (variant->loop == softqam_cpu_loop_portable || !variant->runs_here())
            continue;
        harness_poison(w->got, w->expected, n * self->plan.output_nbytes);
        variant->loop(&self->plan, w->in, w->noise_var, noise_stride(self), n, w->got);
        equal = outputs_equal(self, w, variant->name, n) && equal;
    }
    return equal;
}

/* The portable loop against liquid-dsp. */
static bool compare_oracle(const job *self, worker *w, size_t n)
{
    oracle_soft_bits(w->oracle, w->in, n, w->expected);
    harness_poison(w->got, w->expected, n * self->plan.output_nbytes);
    softqam_cpu_loop_portable(&self->plan, w->in, NULL, 0, n, w->got);
    return outputs_equal(self, w, "portable against the oracle", n);
}

/* CUDA against the CPU, from pinned memory to pinned memory. */
static bool compare_cuda(const job *self, worker *w, size_t n)
{
    const float *noise_var = self->config.output_format == SOFTQAM_OUTPUT_U8 ? NULL : w->noise_var;
    softqam_status status = softqam_demodulate(w->cpu, w->in, noise_var, n, w->expected);
    harness_poison(w->got, w->expected, n * self->plan.output_nbytes);
    if (status == SOFTQAM_OK)
        status = softqam_demodulate(w->cuda, w->in, noise_var, n, w->got);
    if (status != SOFTQAM_OK)
        fprintf(stderr, "softqam_demodulate: %s\n", softqam_error_message());
    return status == SOFTQAM_OK && outputs_equal(self, w, "CUDA", n);
}

static void *work(void *argument)
{
    worker *self = argument;
    job *all = self->job;
    while (!atomic_load(&all->failed)) {
        const uint64_t first = atomic_fetch_add(&all->next_block, 1) * all->block_symbols;
        if (first >= all->set->n)
            break;
        const uint64_t left = all->set->n - first;
        const size_t n = left < all->block_symbols ? (size_t)left : all->block_symbols;
        all->set->fill(all->set, first, n, self->in);
        if (!all->compare(all, self, n))
            atomic_store(&all->failed, true);
    }
    return NULL;
}

static softqam_demodulator *create(softqam_config config, softqam_backend backend)
{
    config.backend = backend;
    config.n_threads = 1;
    config.n_streams = 2;
    config.chunk_symbols = CUDA_BLOCK_SYMBOLS / 4;
    return harness_create(&config);
}

static void *allocate(worker *self, size_t nbytes)
{
    void *memory = NULL;
    assert_int_equal(softqam_host_alloc(self->cuda ? self->cuda : self->cpu, nbytes, &memory), SOFTQAM_OK);
    return memory;
}

static worker open_worker(job *of)
{
    worker self = {.job = of, .oracle = oracle_create(), .cpu = create(of->config, SOFTQAM_BACKEND_CPU)};
    assert_non_null(self.oracle);
    if (of->compare == compare_cuda)
        self.cuda = create(of->config, SOFTQAM_BACKEND_CUDA);
    const size_t n = of->block_symbols;
    self.in = allocate(&self, n * of->plan.input_nbytes);
    self.noise_var = allocate(&self, n * sizeof(float));
    self.expected = allocate(&self, n * of->plan.output_nbytes);
    self.got = allocate(&self, n * of->plan.output_nbytes);
    /* 1/2 to 2^-14 in turn, and one of no power of two. */
    for (size_t i = 0; i < n; i++)
        self.noise_var[i] = i % 15 ? ldexpf(1, -(int)(i % 15)) : 0.013F;
    return self;
}

static void close_worker(worker *self)
{
    softqam_host_free(self->in);
    softqam_host_free(self->noise_var);
    softqam_host_free(self->expected);
    softqam_host_free(self->got);
    softqam_destroy(self->cpu);
    softqam_destroy(self->cuda);
    oracle_destroy(self->oracle);
}

static size_t count_threads(void)
{
    cpu_set_t set;
    const int n_cpus = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return (size_t)harness_environment_count("SOFTQAM_TEST_THREADS", (uint64_t)(n_cpus < 64 ? n_cpus : 64),
                                             MAX_THREADS);
}

/* All of a set, by all threads. */
static void run_set(const symbols *set, softqam_input_format input, softqam_output_format output, softqam_noise noise,
                    bool (*compare)(const job *, worker *, size_t))
{
    const char *pattern = getenv("SOFTQAM_TEST_SET");
    if (pattern && fnmatch(pattern, set->name, 0) != 0)
        return;
    static job shared;
    static worker workers[MAX_THREADS];
    static pthread_t threads[MAX_THREADS];
    const size_t n_threads = count_threads();
    softqam_config resolved;
    memset(&shared, 0, sizeof shared);
    shared.set = set;
    shared.compare = compare;
    shared.block_symbols = compare == compare_cuda ? CUDA_BLOCK_SYMBOLS : BLOCK_SYMBOLS;
    softqam_config_init(&shared.config);
    shared.config.input_format = input;
    shared.config.output_format = output;
    shared.config.noise = noise;
    assert_int_equal(softqam_config_resolve(&resolved, &shared.config), SOFTQAM_OK);
    softqam_plan_make(&shared.plan, &resolved);
    for (size_t k = 0; k < n_threads; k++)
        workers[k] = open_worker(&shared);
    const double start = harness_seconds();
    for (size_t k = 0; k < n_threads; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
    for (size_t k = 0; k < n_threads; k++) {
        pthread_join(threads[k], NULL);
        close_worker(&workers[k]);
    }
    assert_false(shared.failed);
    print_message("%s: %s, %llu symbols, %.1f s\n", harness_output_names[output], set->name, (unsigned long long)set->n,
                  harness_seconds() - start);
}

/* What the component that stays can be. */
enum { N_FIXED = 7 };

static uint32_t fixed_bits(int k)
{
    const float values[N_FIXED] = {multiple_of_alpha(5), multiple_of_alpha(-6), 0, 1.95F, 2.99F, 40, NAN};
    return bits_of(values[k]);
}

static const char *const running_names[2][N_FIXED] = {
    {"I runs, Q on a level", "I runs, Q on a boundary", "I runs, Q zero", "I runs, Q outside",
     "I runs, Q near the limit", "I runs, Q far out", "I runs, Q NaN"},
    {"Q runs, I on a level", "Q runs, I on a boundary", "Q runs, I zero", "Q runs, I outside",
     "Q runs, I near the limit", "Q runs, I far out", "Q runs, I NaN"},
};

static symbols running_set(unsigned running, int fixed)
{
    const uint64_t stride = harness_environment_count("SOFTQAM_TEST_STRIDE", DEFAULT_STRIDE, ALL_BITS);
    return (symbols){
        .name = running_names[running][fixed],
        .n = (ALL_BITS - 1) / stride + 1,
        .fill = fill_running,
        .fixed = fixed_bits(fixed),
        .running = running,
        .stride = stride,
    };
}

static bool on_cuda(void)
{
    return harness_backend() == SOFTQAM_BACKEND_CUDA;
}

/* The noise variance is one for all where I runs, and each symbol's own where Q does. LLRs of an axis depend on the
 * other only in whether it is a number, so two values of it do. */
static void run_format(softqam_output_format output)
{
    bool (*compare)(const job *, worker *, size_t) = on_cuda() ? compare_cuda : compare_variants;
    const int step = output == SOFTQAM_OUTPUT_U8 ? 1 : N_FIXED - 1;
    for (unsigned running = 0; running < 2; running++) {
        for (int fixed = 0; fixed < N_FIXED; fixed += step) {
            const symbols set = running_set(running, fixed);
            run_set(&set, SOFTQAM_INPUT_CF32, output, (softqam_noise)running, compare);
        }
        run_set(&near_all, SOFTQAM_INPUT_CF32, output, (softqam_noise)running, compare);
        run_set(&edges_all, SOFTQAM_INPUT_CF32, output, (softqam_noise)running, compare);
    }
}

static void test_u8(void **state)
{
    (void)state;
    run_format(SOFTQAM_OUTPUT_U8);
}

static void test_s8(void **state)
{
    (void)state;
    run_format(SOFTQAM_OUTPUT_S8);
}

static void test_f16(void **state)
{
    (void)state;
    run_format(SOFTQAM_OUTPUT_F16);
}

static void test_f32(void **state)
{
    (void)state;
    run_format(SOFTQAM_OUTPUT_F32);
}

/* All pairs of int16. */
static void test_cs16(void **state)
{
    (void)state;
    const uint64_t stride = harness_environment_count("SOFTQAM_TEST_STRIDE", DEFAULT_STRIDE, ALL_BITS);
    const symbols set = {.name = "all cs16", .n = (ALL_BITS - 1) / stride + 1, .fill = fill_pairs, .stride = stride};
    bool (*compare)(const job *, worker *, size_t) = on_cuda() ? compare_cuda : compare_variants;
    run_set(&set, SOFTQAM_INPUT_CS16, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL, compare);
    run_set(&set, SOFTQAM_INPUT_CS16, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL, compare);
}

/* 2^-13 to 8, both signs: 16 exponents, 2^28 floats. Nearer zero the level is the same, further out the clamp's. */
static void test_oracle(void **state)
{
    (void)state;
    if (on_cuda())
        skip();
    const uint64_t stride = harness_environment_count("SOFTQAM_TEST_STRIDE", DEFAULT_STRIDE, ALL_BITS);
    const symbols set = {
        .name = "all of 2^-13 <= |I| < 8, Q on a level",
        .n = (((uint64_t)1 << 28) - 1) / stride + 1,
        .fill = fill_magnitudes,
        .fixed = fixed_bits(0),
        .stride = stride,
        .offset = bits_of(0x1p-13F),
    };
    run_set(&set, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL, compare_oracle);
    run_set(&near_all, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL, compare_oracle);
    for (unsigned running = 0; running < 2; running++) {
        for (int fixed = 0; fixed < N_FIXED; fixed++) {
            symbols sparse = running_set(running, fixed);
            sparse.stride = sparse.stride < 1021 ? 1021 : sparse.stride;
            sparse.n = (ALL_BITS - 1) / sparse.stride + 1;
            run_set(&sparse, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL, compare_oracle);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracle), cmocka_unit_test(test_u8),  cmocka_unit_test(test_s8),
        cmocka_unit_test(test_f32),    cmocka_unit_test(test_f16), cmocka_unit_test(test_cs16),
    };
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
