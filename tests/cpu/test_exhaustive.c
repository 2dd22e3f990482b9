/* SPDX-License-Identifier: MIT */
/* Every float, for the modulation that SOFTQAM_TEST_MODULATION names. One component runs through all 2^32 bit patterns
 * while the other stays at a level, on a decision boundary, at zero, outside, far outside, at NaN; or the noise value
 * does, N0 or 1/N0: every vector loop of the CPU against the portable one, and the portable one against the oracle and
 * the specified LLRs; with SOFTQAM_TEST_BACKEND=cuda instead CUDA against the CPU, and all 2^32 symbols of cs16.
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

#include "contract.h"
#include "llr_fixture.h"
#include "oracle.h"
#include "variants_fixture.h"

/* The symbols. */

/* A set of symbols by number, and of their noise values where those run. */
typedef struct symbols {
    char name[64];
    uint64_t n;
    void (*fill)(const struct symbols *self, uint64_t first, size_t n, void *symbols);
    void (*fill_noise)(const struct symbols *self, uint64_t first, size_t n, float *noise);
    /* Of fill_crossed(): the bits of value number k of each component, of so many. */
    uint32_t (*value)(size_t k);
    size_t n_values;
    /* Of fill_running(): the bits of the component that does not run; I runs (0) or Q (1); from these bits on; the bits
     * alone, or both signs of them in turn. */
    uint32_t fixed;
    unsigned running;
    uint32_t offset;
    bool has_both_signs;
    uint64_t stride;
} symbols;

/* Of a set as a test; and where each symbol takes a reference that is slow: so many times further apart, and never
 * less. */
enum { DEFAULT_STRIDE = 2039, REFERENCE_FACTOR = 7, REFERENCE_STRIDE = 1021 };

#define ALL_BITS ((uint64_t)1 << 32)

/* Levels are the odd multiples of alpha, boundaries the even ones. */
static float multiple_of_alpha(int k)
{
    const double n_levels = harness_symbol_bits() < 2 ? 2 : 1 << harness_symbol_bits() / 2;
    return (float)k * (float)(1 / sqrt(2 * (n_levels * n_levels - 1) / 3));
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void fill_running(const symbols *self, uint64_t first, size_t n, void *out)
{
    uint32_t *at = out;
    for (size_t i = 0; i < n; i++) {
        const uint32_t number = (uint32_t)((first + i) * self->stride);
        at[2 * i + self->running] =
            self->has_both_signs ? (self->offset + number / 2) | number % 2 << 31 : self->offset + number;
        at[2 * i + 1 - self->running] = self->fixed;
    }
}

/* Each value with each. */
static void fill_crossed(const symbols *self, uint64_t first, size_t n, void *out)
{
    uint32_t *at = out;
    for (size_t i = 0; i < n; i++) {
        at[2 * i] = self->value((size_t)(first + i) / self->n_values);
        at[2 * i + 1] = self->value((size_t)(first + i) % self->n_values);
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

static const symbols near_all = {
    .name = "both within 16 ulp of a multiple of alpha",
    .n = (uint64_t)N_MULTIPLES * N_NEAR * N_MULTIPLES * N_NEAR,
    .fill = fill_crossed,
    .value = near_bits,
    .n_values = (size_t)N_MULTIPLES * N_NEAR,
};

/* The ends of every exponent, of either sign: zeros, subnormals, infinities and what is no number are among them. */
enum { N_EXPONENTS = 256, N_MANTISSAS = 3, N_EDGES = 2 * N_EXPONENTS * N_MANTISSAS };

static uint32_t edge_bits(size_t k)
{
    static const uint32_t mantissas[N_MANTISSAS] = {0, 1, 0x7fffff};
    return (uint32_t)(k % 2) << 31 | (uint32_t)(k / 2 % N_EXPONENTS) << 23 | mantissas[k / (2 * N_EXPONENTS)];
}

static const symbols edges_all = {
    .name = "both at the ends of an exponent",
    .n = (uint64_t)N_EDGES * N_EDGES,
    .fill = fill_crossed,
    .value = edge_bits,
    .n_values = N_EDGES,
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

/* What the component that stays can be. */
enum { N_FIXED = 7 };

static uint64_t stride(void) { return harness_environment_count("SOFTQAM_TEST_STRIDE", DEFAULT_STRIDE, ALL_BITS); }

/* I (0) or Q (1) runs through all floats while the other component stays at one of so many values. */
static symbols running_set(unsigned running, int fixed)
{
    static const char *const names[N_FIXED] = {"on a level",     "on a boundary", "zero", "outside",
                                               "near the limit", "far out",       "NaN"};
    const float values[N_FIXED] = {multiple_of_alpha(5), multiple_of_alpha(-6), 0, 1.95F, 2.99F, 40, NAN};
    symbols self = {
        .n = (ALL_BITS - 1) / stride() + 1,
        .fill = fill_running,
        .fixed = bits_of(values[fixed]),
        .running = running,
        .stride = stride(),
    };
    snprintf(self.name, sizeof self.name, "%c runs, %c %s", "IQ"[running], "QI"[running], names[fixed]);
    return self;
}

/* Of noise_set(): largest and smallest metrics, and what is not usual. */
static void fill_in_turn(const symbols *self, uint64_t first, size_t n, void *out)
{
    (void)self;
    enum { RUN = 2048 };
    static const float usual[][2] = {
        {0x1.fffffep0F, -0x1.fffffep0F}, {0.3F, -1.07F}, {1e-5F, 0.6135F}, {-1.15F, 0}, {-0.77F, 1.4F}};
    static const float others[][2] = {{2, 0.3F}, {-3e38F, 1e30F}, {0x1p-63F, -0x1p-64F}, {0.3F, -NAN}};
    float *at = out;
    for (size_t i = 0; i < n; i++) {
        const uint64_t number = first + i;
        const bool is_other = number / RUN % 2 && number % 37 == 0;
        memcpy(at + 2 * i, is_other ? others[number % 4] : usual[number % 5], 2 * sizeof *at);
    }
}

static void fill_running_noise(const symbols *self, uint64_t first, size_t n, float *noise)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = (uint32_t)((first + i) * self->stride);
        memcpy(&noise[i], &bits, sizeof bits);
    }
}

/* All noise values, of symbols in turn. */
static symbols noise_set(void)
{
    return (symbols){
        .name = "the noise runs",
        .n = (ALL_BITS - 1) / stride() + 1,
        .fill = fill_in_turn,
        .fill_noise = fill_running_noise,
        .stride = stride(),
    };
}

/* Fewer symbols of a set, for references that are slow. */
static symbols sparse(symbols set)
{
    set.stride *= REFERENCE_FACTOR;
    set.stride = set.stride < REFERENCE_STRIDE ? REFERENCE_STRIDE : set.stride;
    set.n = (ALL_BITS - 1) / set.stride + 1;
    return set;
}

/* The comparisons. */

enum { CHUNK_SYMBOLS = 1 << 16, CUDA_CHUNK_SYMBOLS = 1 << 20, MAX_THREADS = 256 };

/* One job: symbols, what becomes of them, and who compares. */
typedef struct worker worker;

typedef struct job {
    const symbols *set;
    softqam_demodulator_config config;
    variants_call call;
    size_t chunk_symbols;
    /* Whether all agree about n symbols that are in the worker's memory. */
    bool (*compare)(const struct job *self, worker *w, size_t n);
    atomic_ullong next_chunk;
    atomic_bool failed;
} job;

struct worker {
    job *job;
    void *in;
    float *components; /* what `in` stands for */
    float *noise;
    uint8_t *expected;
    uint8_t *got;
    oracle *oracle;
    softqam_demodulator *cpu;
    softqam_demodulator *cuda;
};

/* Prints what differs. */
static bool outputs_equal(const job *self, const worker *w, const char *what, size_t n)
{
    if (variants_equal(what, &self->call, w->components, w->expected, w->got, n))
        return true;
    fprintf(stderr, "%s: %s\n", what, self->set->name);
    return false;
}

static bool takes_noise(const job *self) { return self->config.output_format != SOFTQAM_OUTPUT_U8; }

/* Every vector loop that this processor runs against the portable one. */
static bool compare_variants(const job *self, worker *w, size_t n)
{
    const softqam_cpu_variant *variants[VARIANTS_MAX];
    const size_t n_variants = variants_list(variants);
    bool equal = true;
    variants_run(&softqam_cpu_portable, VARIANTS_PLAIN, &self->call, w->components, w->noise, n, w->expected);
    for (size_t k = 0; k < n_variants; k++) {
        if (n < variants[k]->min_symbols)
            continue;
        harness_poison(w->got, w->expected, n * self->call.nbytes);
        variants_run(variants[k], VARIANTS_FLUSHED, &self->call, w->components, w->noise, n, w->got);
        equal = outputs_equal(self, w, variants[k]->name, n) && equal;
    }
    return equal;
}

/* The portable loop against liquid-dsp. */
static bool compare_oracle(const job *self, worker *w, size_t n)
{
    oracle_soft_bits(w->oracle, w->components, n, w->expected);
    harness_poison(w->got, w->expected, n * self->call.nbytes);
    variants_run(&softqam_cpu_portable, VARIANTS_PLAIN, &self->call, w->components, NULL, n, w->got);
    return outputs_equal(self, w, "portable against the oracle", n);
}

/* The portable loop against the specified LLRs, in f32. */
static bool compare_specified(const job *self, worker *w, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const nr_noise noise = {.value = w->noise[i], .is_inverse = self->call.noise == SOFTQAM_NOISE_INVERSE};
        float llrs[NR_MAX_BITS];
        contract_f32(llr_constellation(harness_modulation()), w->components + 2 * i, noise, i, 0, llrs);
        memcpy(w->expected + i * self->call.nbytes, llrs, self->call.nbytes);
    }
    harness_poison(w->got, w->expected, n * self->call.nbytes);
    variants_run(&softqam_cpu_portable, VARIANTS_PLAIN, &self->call, w->components, w->noise, n, w->got);
    return outputs_equal(self, w, "portable against the specification", n);
}

/* CUDA against the CPU, from pinned memory to pinned memory: in calls of n_call symbols. */
static bool compare_cuda_calls(const job *self, worker *w, size_t n, size_t n_call)
{
    const size_t noise_step = self->config.noise == SOFTQAM_NOISE_PER_SYMBOL ? 1 : 0;
    softqam_status status = SOFTQAM_OK;
    harness_poison(w->got, w->expected, n * self->call.nbytes);
    for (size_t at = 0; at < n && status == SOFTQAM_OK; at += n_call)
        status = softqam_demodulate(w->cuda, (const char *)w->in + at * self->call.params.input_nbytes,
                                    takes_noise(self) ? w->noise + at * noise_step : NULL,
                                    n - at < n_call ? n - at : n_call, w->got + at * self->call.nbytes);
    if (status != SOFTQAM_OK)
        fprintf(stderr, "softqam_demodulate: %s\n", softqam_error_message());
    return status == SOFTQAM_OK && outputs_equal(self, w, n_call < n ? "CUDA, small calls" : "CUDA", n);
}

/* Small calls have kernels of their own. */
static bool compare_cuda(const job *self, worker *w, size_t n)
{
    const softqam_status status =
        softqam_demodulate(w->cpu, w->in, takes_noise(self) ? w->noise : NULL, n, w->expected);
    if (status != SOFTQAM_OK)
        fprintf(stderr, "softqam_demodulate: %s\n", softqam_error_message());
    return status == SOFTQAM_OK && compare_cuda_calls(self, w, n, n) &&
           compare_cuda_calls(self, w, n, CUDA_CHUNK_SYMBOLS / 8);
}

static void *work(void *argument)
{
    worker *self = argument;
    job *all = self->job;
    while (!atomic_load(&all->failed)) {
        const uint64_t first = atomic_fetch_add(&all->next_chunk, 1) * all->chunk_symbols;
        if (first >= all->set->n)
            break;
        const uint64_t left = all->set->n - first;
        const size_t n = left < all->chunk_symbols ? (size_t)left : all->chunk_symbols;
        all->set->fill(all->set, first, n, self->in);
        if (all->set->fill_noise)
            all->set->fill_noise(all->set, first, n, self->noise);
        harness_widen(all->config.input_format, 0, self->in, n, self->components);
        if (!all->compare(all, self, n))
            atomic_store(&all->failed, true);
    }
    return NULL;
}

static softqam_demodulator *create(const softqam_demodulator_config *config, softqam_backend backend)
{
    harness_setup setup = {.demodulator = *config};
    softqam_context_config_init(&setup.context);
    setup.context.backend = backend;
    setup.context.n_threads = 1;
    setup.context.n_streams = 2;
    setup.context.chunk_symbols = CUDA_CHUNK_SYMBOLS / 4;
    return harness_create(&setup);
}

static void *allocate(worker *self, size_t nbytes)
{
    void *memory = NULL;
    softqam_context *context = softqam_demodulator_context(self->cuda ? self->cuda : self->cpu);
    assert_int_equal(softqam_host_alloc(context, nbytes, &memory), SOFTQAM_OK);
    return memory;
}

static worker open_worker(job *of)
{
    worker self = {.job = of, .oracle = oracle_create(), .cpu = create(&of->config, SOFTQAM_BACKEND_CPU)};
    assert_non_null(self.oracle);
    if (of->compare == compare_cuda)
        self.cuda = create(&of->config, SOFTQAM_BACKEND_CUDA);
    const size_t n = of->chunk_symbols;
    self.in = allocate(&self, n * of->call.params.input_nbytes);
    self.components = harness_alloc(n * 2 * sizeof(float));
    self.noise = allocate(&self, n * sizeof(float));
    self.expected = allocate(&self, n * of->call.nbytes);
    self.got = allocate(&self, n * of->call.nbytes);
    /* 1/2 to 2^-14 in turn, and one of no power of two; or their inverses. */
    for (size_t i = 0; i < n; i++) {
        const float noise_var = i % 15 ? ldexpf(1, -(int)(i % 15)) : 0.013F;
        self.noise[i] = of->config.noise_form == SOFTQAM_NOISE_FORM_INVERSE ? 1 / noise_var : noise_var;
    }
    return self;
}

static void close_worker(worker *self)
{
    softqam_host_free(self->in);
    free(self->components);
    softqam_host_free(self->noise);
    softqam_host_free(self->expected);
    softqam_host_free(self->got);
    softqam_demodulator_destroy(self->cpu);
    softqam_demodulator_destroy(self->cuda);
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
static void run_set(const symbols *set, softqam_input_format input, softqam_output_format output,
                    softqam_noise_kind noise, bool (*compare)(const job *, worker *, size_t))
{
    const char *pattern = getenv("SOFTQAM_TEST_SET");
    if (pattern && fnmatch(pattern, set->name, 0) != 0)
        return;
    static job shared;
    static worker workers[MAX_THREADS];
    static pthread_t threads[MAX_THREADS];
    static const char *const noises[] = {"", ", N0", ", 1/N0"};
    const size_t n_threads = count_threads();
    memset(&shared, 0, sizeof shared);
    shared.set = set;
    shared.compare = compare;
    shared.chunk_symbols = compare == compare_cuda ? CUDA_CHUNK_SYMBOLS : CHUNK_SYMBOLS;
    softqam_demodulator_config_init(&shared.config);
    shared.config.input_format = input;
    shared.config.output_format = output;
    if (output != SOFTQAM_OUTPUT_U8)
        shared.config.modulation = harness_modulation();
    shared.config.noise = noise == SOFTQAM_ONE_WEIGHT ? SOFTQAM_NOISE_PER_CALL : SOFTQAM_NOISE_PER_SYMBOL;
    if (noise == SOFTQAM_NOISE_INVERSE)
        shared.config.noise_form = SOFTQAM_NOISE_FORM_INVERSE;
    shared.call = variants_call_of(&shared.config, noise);
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
    print_message("%s: %s%s, %llu symbols, %.1f s\n", harness_output_names[output], set->name, noises[noise],
                  (unsigned long long)set->n, harness_seconds() - start);
}

static bool on_cuda(void) { return harness_backend() == SOFTQAM_BACKEND_CUDA; }

static bool (*comparison(void))(const job *, worker *, size_t) { return on_cuda() ? compare_cuda : compare_variants; }

/* Soft bits are 256QAM's alone. */
static void skip_other_modulations(void)
{
    if (harness_modulation() != SOFTQAM_MODULATION_256QAM)
        skip();
}

HARNESS_TEST(test_u8)
{
    skip_other_modulations();
    for (unsigned running = 0; running < 2; running++) {
        for (int fixed = 0; fixed < N_FIXED; fixed++) {
            const symbols set = running_set(running, fixed);
            run_set(&set, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_ONE_WEIGHT, comparison());
        }
    }
    run_set(&near_all, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_ONE_WEIGHT, comparison());
    run_set(&edges_all, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_ONE_WEIGHT, comparison());
}

/* LLRs of an axis depend on the other only in whether it is a number, so two values of it do; but for BPSK's. */
static void run_llrs(softqam_output_format output)
{
    const symbols with_level[] = {running_set(0, 0), running_set(1, 0)}, with_nan = running_set(0, N_FIXED - 1);
    const symbols noise = noise_set();
    for (int kind = SOFTQAM_ONE_WEIGHT; kind <= SOFTQAM_NOISE_INVERSE; kind++)
        run_set(&with_level[kind % 2], SOFTQAM_INPUT_CF32, output, (softqam_noise_kind)kind, comparison());
    for (int k = 0; k < 2 * N_FIXED && harness_symbol_bits() == 1; k++) {
        const symbols set = running_set((unsigned)k % 2, k / 2);
        run_set(&set, SOFTQAM_INPUT_CF32, output, SOFTQAM_ONE_WEIGHT, comparison());
    }
    run_set(&with_nan, SOFTQAM_INPUT_CF32, output, SOFTQAM_NOISE_N0, comparison());
    run_set(&noise, SOFTQAM_INPUT_CF32, output, SOFTQAM_NOISE_N0, comparison());
    run_set(&noise, SOFTQAM_INPUT_CF32, output, SOFTQAM_NOISE_INVERSE, comparison());
    run_set(&near_all, SOFTQAM_INPUT_CF32, output, SOFTQAM_ONE_WEIGHT, comparison());
    run_set(&edges_all, SOFTQAM_INPUT_CF32, output, SOFTQAM_NOISE_N0, comparison());
}

_Static_assert(N_OUTPUT_FORMATS == 5, "a test for each");
HARNESS_TEST(test_s8) { run_llrs(SOFTQAM_OUTPUT_S8); }

HARNESS_TEST(test_s16) { run_llrs(SOFTQAM_OUTPUT_S16); }

HARNESS_TEST(test_f16) { run_llrs(SOFTQAM_OUTPUT_F16); }

HARNESS_TEST(test_f32) { run_llrs(SOFTQAM_OUTPUT_F32); }

/* All pairs of int16. */
HARNESS_TEST(test_cs16)
{
    const symbols set = {
        .name = "all cs16", .n = (ALL_BITS - 1) / stride() + 1, .fill = fill_pairs, .stride = stride()};
    if (harness_modulation() == SOFTQAM_MODULATION_256QAM)
        run_set(&set, SOFTQAM_INPUT_CS16, SOFTQAM_OUTPUT_U8, SOFTQAM_ONE_WEIGHT, comparison());
    run_set(&set, SOFTQAM_INPUT_CS16, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_N0, comparison());
}

/* 2^-13 to 8, both signs: 16 exponents, 2^28 floats. Nearer zero the level is the same, further out the clamp's. */
HARNESS_TEST(test_oracle)
{
    if (on_cuda())
        skip();
    skip_other_modulations();
    symbols set = running_set(0, 0);
    strcpy(set.name, "all of 2^-13 <= |I| < 8, Q on a level");
    set.n = (((uint64_t)1 << 28) - 1) / stride() + 1;
    set.offset = bits_of(0x1p-13F);
    set.has_both_signs = true;
    run_set(&set, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_ONE_WEIGHT, compare_oracle);
    run_set(&near_all, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_ONE_WEIGHT, compare_oracle);
    for (unsigned running = 0; running < 2; running++) {
        for (int fixed = 0; fixed < N_FIXED; fixed++) {
            const symbols some = sparse(running_set(running, fixed));
            run_set(&some, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_ONE_WEIGHT, compare_oracle);
        }
    }
}

/* In f32, whose metrics and weights s8 and f16 have too; at the ends of exponents all of them. */
HARNESS_TEST(test_specified)
{
    if (on_cuda())
        skip();
    const symbols sets[] = {sparse(running_set(0, 0)), sparse(running_set(1, 0)), sparse(noise_set())};
    for (size_t k = 0; k < 2 * HARNESS_COUNT(sets); k++)
        run_set(&sets[k / 2], SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_F32, k % 2 ? SOFTQAM_NOISE_INVERSE : SOFTQAM_NOISE_N0,
                compare_specified);
    run_set(&edges_all, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_F32, SOFTQAM_NOISE_N0, compare_specified);
}
