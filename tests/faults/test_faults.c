/* SPDX-License-Identifier: MIT */
/* Every call that the library makes of the system and of CUDA fails once, in turn, through the whole life of a context
 * and its demodulators, prepared or not: a status and a message come back or the work is done, nothing leaks, nothing
 * hangs, and what was refused works at the next attempt. fault.h says how. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "harness.h"

#ifdef FAULTS_FAKE_CUDA
#include <softqam/softqam_cuda.h>

#include "fake_cuda.h"
#endif

/* Chunks enough for several rounds of the streams, the last one short. */
enum { N_SYMBOLS = 66036, CHUNK_SYMBOLS = 11000, N_STREAMS = 3, SECONDS_A_LIFE = 120 };

/* Of the calls of some symbols. */
enum { FEW_SYMBOLS = 9000, SMALL_SYMBOLS = 1500 };

/* The kind of a life. */
typedef struct kind_of_life {
    unsigned n_threads;
    softqam_output_format format;
    bool prepares;
    size_t n_symbols;
} kind_of_life;

/* One life under test, and its expected output. */
typedef struct life {
    softqam_context_config context_config;
    softqam_demodulator_config config;
    bool prepares;
    size_t n_symbols;
    size_t out_nbytes;
    float symbols[2 * N_SYMBOLS];
    float noise_var[N_SYMBOLS];
    float gains[N_SYMBOLS]; /* 1: they change nothing */
    uint8_t expected[8 * N_SYMBOLS], expected_soft[8 * N_SYMBOLS];
    uint8_t out[8 * N_SYMBOLS];
} life;

static const float *noise_of(const life *self)
{
    return self->config.output_format == SOFTQAM_OUTPUT_U8 ? NULL : self->noise_var;
}

/* True if the status is success; fails the test unless a failure is documented and has one line of message. */
static bool succeeded(softqam_status status, const char *call)
{
    if (status == SOFTQAM_OK)
        return true;
    const char *message = softqam_error_message();
    if (!fault_struck())
        fail_msg("%s failed by itself: %s", call, message);
    if (status == SOFTQAM_ERROR_INVALID_ARGUMENT || status > SOFTQAM_ERROR_CUDA || !*message ||
        strpbrk(message, "\r\n"))
        fail_msg("%s, with %s failing: status %d, message \"%s\"", call, fault_struck(), (int)status, message);
    return false;
}

static void check_output(const life *self, const void *out, const uint8_t *expected, const char *call)
{
    if (!harness_outputs_equal(call, self->config.output_format, self->symbols, expected, out, self->n_symbols))
        fail_msg("%s, with %s failing: it returned SOFTQAM_OK", call, fault_struck() ? fault_struck() : "nothing");
}

typedef softqam_status demodulate_function(softqam_demodulator *demodulator, const life *self, const void *symbols,
                                           void *out);

static softqam_status demodulate_whole(softqam_demodulator *demodulator, const life *self, const void *symbols,
                                       void *out)
{
    return softqam_demodulate(demodulator, symbols, noise_of(self), self->n_symbols, out);
}

/* Small enough for one mapped kernel, then what is left. */
static softqam_status demodulate_small(softqam_demodulator *demodulator, const life *self, const void *symbols,
                                       void *out)
{
    const size_t n = SMALL_SYMBOLS * (self->n_symbols / FEW_SYMBOLS);
    softqam_status status = SOFTQAM_OK;
    for (size_t first = 0; first < self->n_symbols && status == SOFTQAM_OK; first += n) {
        const float *noise_var = noise_of(self);
        const size_t left = self->n_symbols - first;
        status =
            softqam_demodulate(demodulator, (const float *)symbols + 2 * first, noise_var ? noise_var + first : NULL,
                               left < n ? left : n, (uint8_t *)out + 8 * first);
    }
    return status;
}

/* Demodulates three segments, with gains if there are LLRs. */
static softqam_status demodulate_segments(softqam_demodulator *demodulator, const life *self, const void *symbols,
                                          void *out)
{
    softqam_segment segments[3];
    for (size_t k = 0, first = 0; k < 3; k++) {
        const float *noise_var = noise_of(self);
        const size_t n = k < 2 ? self->n_symbols / 3 : self->n_symbols - first;
        segments[k] = harness_segment((const float *)symbols + 2 * first, noise_var ? noise_var + first : NULL, 1, n,
                                      (uint8_t *)out + 8 * first);
        segments[k].layers[0].gain = noise_var ? self->gains + first : NULL;
        first += n;
    }
    return softqam_demodulate_segments(demodulator, segments, 3);
}

enum { CODEWORDS = 2, BLOCKS = 2 };
_Static_assert(N_SYMBOLS % (CODEWORDS * BLOCKS) == 0 && FEW_SYMBOLS % (CODEWORDS * BLOCKS) == 0,
               "blocks of one length");

/* Two codewords, one with pointers to its soft buffers, which hold at first something else, then zeros to which their
 * LLRs are added. */
static softqam_status demodulate_soft_buffers(softqam_demodulator *demodulator, const life *self, const void *symbols,
                                              void *out)
{
    const size_t n = self->n_symbols / CODEWORDS;
    const float *noise_var = noise_of(self);
    void *buffers[BLOCKS] = {out, (uint8_t *)out + 8 * n / BLOCKS};
    softqam_status status = SOFTQAM_OK;
    for (uint32_t combine = 0; combine < 2 && status == SOFTQAM_OK; combine++) {
        softqam_segment segments[CODEWORDS];
        for (size_t k = 0; k < CODEWORDS; k++) {
            segments[k] = harness_segment((const float *)symbols + 2 * k * n, noise_var + k * n, 1, n, NULL);
            segments[k].codeword = (softqam_codeword){.n_bits = 8 * n,
                                                      .buffers = k ? (uint8_t *)out + 8 * n : NULL,
                                                      .block_buffers = k ? NULL : buffers,
                                                      .n_code_blocks = BLOCKS,
                                                      .deinterleave = 1,
                                                      .n_cb = (uint32_t)(8 * n / BLOCKS),
                                                      .combine = combine};
        }
        if (combine)
            memset(out, 0, self->out_nbytes);
        status = softqam_demodulate_segments(demodulator, segments, CODEWORDS);
    }
    return status;
}

static life *open_life(const kind_of_life *kind)
{
    life *self = harness_alloc(sizeof *self);
    *self = (life){.prepares = kind->prepares, .n_symbols = kind->n_symbols, .out_nbytes = 8 * kind->n_symbols};
    harness_random random = harness_random_stream(1);
    harness_fill_mixture(&random, self->n_symbols, self->symbols);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, self->n_symbols, self->noise_var);
    for (size_t i = 0; i < self->n_symbols; i++)
        self->gains[i] = 1;
    harness_setup setup = harness_format_setup(kind->format, SOFTQAM_NOISE_PER_SYMBOL);
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    setup.context.n_threads = 1;
    softqam_demodulator *cpu = harness_create(&setup);
    self->config = setup.demodulator;
    harness_demodulate_llrs(cpu, self->symbols, noise_of(self), self->n_symbols, self->expected);
    if (kind->format != SOFTQAM_OUTPUT_U8)
        assert_int_equal(demodulate_soft_buffers(cpu, self, self->symbols, self->expected_soft), SOFTQAM_OK);
    softqam_demodulator_destroy(cpu);
    self->context_config = setup.context;
    self->context_config.backend = harness_backend();
    self->context_config.n_threads = kind->n_threads;
    self->context_config.n_streams = N_STREAMS;
    self->context_config.chunk_symbols = kind->n_symbols == N_SYMBOLS ? CHUNK_SYMBOLS : SMALL_SYMBOLS;
    return self;
}

/* True if a call that failed must work again: always, unless the device is lost. */
static bool works_again(const life *self, fault_kind kind)
{
    return kind == FAULT_ERROR || self->context_config.backend == SOFTQAM_BACKEND_CPU;
}

/* Makes a call, and repeats it if it failed. */
static void try_call(softqam_demodulator *demodulator, life *self, demodulate_function *demodulate, const void *symbols,
                     void *out, fault_kind kind, const char *name)
{
    const uint8_t *expected = demodulate == demodulate_soft_buffers ? self->expected_soft : self->expected;
    harness_poison(out, expected, self->out_nbytes);
    const bool done = succeeded(demodulate(demodulator, self, symbols, out), name);
    if (!done && self->context_config.backend == SOFTQAM_BACKEND_CPU)
        fail_msg("%s, with %s failing: %s", name, fault_struck(), softqam_error_message());
    if (!done && works_again(self, kind))
        assert_true(succeeded(demodulate(demodulator, self, symbols, out), name));
    if (done || works_again(self, kind))
        check_output(self, out, expected, name);
}

static void prepare(softqam_context *context, const life *self, fault_kind kind)
{
    if (!succeeded(softqam_context_prepare(context, SOFTQAM_PREPARE_ALL), "softqam_context_prepare") &&
        works_again(self, kind))
        assert_true(succeeded(softqam_context_prepare(context, SOFTQAM_PREPARE_ALL), "softqam_context_prepare again"));
}

static void use_host_memory(softqam_demodulator *demodulator, life *self, fault_kind kind)
{
    void *in = self, *out = self;
    softqam_context *context = softqam_demodulator_context(demodulator);
    const bool have_in =
        succeeded(softqam_host_alloc(context, 2 * sizeof(float) * self->n_symbols, &in), "softqam_host_alloc");
    const bool have_out = succeeded(softqam_host_alloc(context, self->out_nbytes, &out), "softqam_host_alloc");
    assert_true(have_in == (in != NULL) && have_out == (out != NULL));
    if (have_in && have_out) {
        memcpy(in, self->symbols, 2 * sizeof(float) * self->n_symbols);
        try_call(demodulator, self, demodulate_whole, in, out, kind,
                 "softqam_demodulate, memory of softqam_host_alloc");
    }
    softqam_host_free(out);
    softqam_host_free(in);
}

/* Creates a context, at the second attempt if the first failed; NULL if the device is lost. */
static softqam_context *make_context(life *self, fault_kind kind)
{
    softqam_context *context = (softqam_context *)(void *)self;
    if (succeeded(softqam_context_create(&context, &self->context_config), "softqam_context_create")) {
        assert_non_null(context);
        return context;
    }
    assert_null(context);
    if (works_again(self, kind))
        assert_true(succeeded(softqam_context_create(&context, &self->context_config), "softqam_context_create again"));
    return context;
}

static softqam_demodulator *make_demodulator(life *self, softqam_context *context)
{
    softqam_demodulator *demodulator = (softqam_demodulator *)(void *)self;
    softqam_demodulator_config config = self->config;
    config.context = context;
    if (succeeded(softqam_demodulator_create(&demodulator, &config), "softqam_demodulator_create")) {
        assert_non_null(demodulator);
        return demodulator;
    }
    assert_null(demodulator);
    assert_true(succeeded(softqam_demodulator_create(&demodulator, &config), "softqam_demodulator_create again"));
    return demodulator;
}

static void live(life *self, fault_kind kind)
{
    softqam_context *context = make_context(self, kind);
    if (!context)
        return;
    scoped_demodulator *demodulator = make_demodulator(self, context);
    if (self->prepares)
        prepare(context, self, kind);
    softqam_context_destroy(context);
    try_call(demodulator, self, demodulate_whole, self->symbols, self->out, kind, "softqam_demodulate");
    try_call(demodulator, self, demodulate_small, self->symbols, self->out, kind, "softqam_demodulate, small calls");
    try_call(demodulator, self, demodulate_segments, self->symbols, self->out, kind, "softqam_demodulate_segments");
    if (self->config.output_format != SOFTQAM_OUTPUT_U8)
        try_call(demodulator, self, demodulate_soft_buffers, self->symbols, self->out, kind, "soft buffers");
    use_host_memory(demodulator, self, kind);
}

/* What a life must not leave: memory, threads, and holdings of CUDA. */
typedef struct holdings {
    long blocks;
    long threads;
    size_t cuda;
} holdings;

static holdings count_holdings(void)
{
    holdings now = {0};
#ifdef FAULTS_FAKE_CUDA
    const fake_cuda_holdings held = fake_cuda_holds();
    now.cuda = held.streams + held.device_nbytes + held.pinned_nbytes;
#endif
    now.blocks = fault_live_blocks();
    now.threads = fault_live_threads();
    return now;
}

static void check_holdings(const holdings *before)
{
    const holdings now = count_holdings();
    if (now.blocks != before->blocks || now.threads != before->threads || now.cuda > before->cuda) {
        fail_msg("after a failed %s: %ld blocks, %ld threads, %zu of CUDA before; %ld, %ld, %zu after", fault_struck(),
                 before->blocks, before->threads, before->cuda, now.blocks, now.threads, now.cuda);
    }
}

/* Repeats a life until no call is left to fail, or lets one call in `stride` fail, from `first` on; a hang ends the
 * program. */
static unsigned long fail_every_call(life *self, void (*use)(life *, fault_kind), fault_kind kind, unsigned long first,
                                     unsigned long stride)
{
    const holdings before = count_holdings();
    unsigned long n_points = 0;
    for (bool struck = true; struck; n_points += struck) {
        alarm(SECONDS_A_LIFE);
        fault_arm(1 + first % stride + n_points * stride, kind);
        use(self, kind);
        fault_disarm();
        struck = fault_struck() != NULL;
        check_holdings(&before);
    }
    alarm(0);
    print_message("%lu points of failure with %u threads, output format %d, %s\n", n_points,
                  self->context_config.n_threads, (int)self->config.output_format,
                  self->prepares ? "prepared" : "not prepared");
    return n_points;
}

/* One thread and several, with noise variances and without; prepared, and when first needed. With a stride each fails
 * other calls. */
static void fail_in_all_lives(fault_kind kind)
{
    static const kind_of_life lives[] = {{1, SOFTQAM_OUTPUT_U8, true, FEW_SYMBOLS},
                                         {4, SOFTQAM_OUTPUT_S8, true, FEW_SYMBOLS},
                                         {2, SOFTQAM_OUTPUT_S8, false, N_SYMBOLS}};
    const unsigned long stride = harness_environment_count("SOFTQAM_TEST_STRIDE", 1, 1000);
    const bool has_device = harness_backend() == SOFTQAM_BACKEND_CUDA;
    for (size_t k = 0; k < HARNESS_COUNT(lives); k++) {
        scoped_memory life *self = open_life(&lives[k]);
        live(self, kind);
        const unsigned long n_points =
            fail_every_call(self, live, kind, k + HARNESS_COUNT(lives) * (kind == FAULT_LASTING), stride);
        /* context, demodulator, the pool, two blocks of host memory; with a device, a call for every chunk */
        assert_true(n_points >= (has_device ? 100 : 5) / stride);
    }
}

HARNESS_TEST(test_every_call_fails_once) { fail_in_all_lives(FAULT_ERROR); }

/* The first CUDA call that fails is followed by none that works. */
HARNESS_TEST(test_device_is_lost)
{
    if (harness_backend() == SOFTQAM_BACKEND_CPU)
        skip();
    fail_in_all_lives(FAULT_LASTING);
}

static bool had_no_cpus;

static void live_in_default_context(life *self, fault_kind kind)
{
    scoped_demodulator *first = make_demodulator(self, NULL);
    scoped_demodulator *second = make_demodulator(self, NULL);
    try_call(first, self, demodulate_whole, self->symbols, self->out, kind, "default context");
    try_call(second, self, demodulate_whole, self->symbols, self->out, kind, "default context");
    if (fault_struck() && strcmp(fault_struck(), "sched_getaffinity") == 0) {
        assert_non_null(strstr(softqam_backend_detail(first), ", 1 thread"));
        had_no_cpus = true;
    }
}

/* The context that demodulators without one of their own share: made by the first, and by the next where that failed.
 * Where the system does not tell which CPUs there are, one thread is what there is. */
HARNESS_TEST(test_default_context)
{
    static const kind_of_life kind = {1, SOFTQAM_OUTPUT_U8, false, SMALL_SYMBOLS};
    scoped_memory life *self = open_life(&kind);
    assert_true(fail_every_call(self, live_in_default_context, FAULT_ERROR, 0, 1) >= 4 && had_no_cpus);
}

#ifdef FAULTS_FAKE_CUDA
/* The calls on device memory. */
HARNESS_TEST(test_device_calls)
{
    if (harness_backend() == SOFTQAM_BACKEND_CPU)
        skip();
    static const kind_of_life kind = {1, SOFTQAM_OUTPUT_U8, false, FEW_SYMBOLS};
    scoped_memory life *self = open_life(&kind);
    scoped_context *context = make_context(self, FAULT_ERROR);
    scoped_demodulator *demodulator = make_demodulator(self, context);
    void *d_in, *d_out;
    const size_t n = self->n_symbols, in_nbytes = 2 * sizeof(float) * n;
    assert_int_equal(cudaMalloc(&d_in, in_nbytes), cudaSuccess);
    assert_int_equal(cudaMalloc(&d_out, self->out_nbytes), cudaSuccess);
    assert_int_equal(cudaMemcpy(d_in, self->symbols, in_nbytes, cudaMemcpyHostToDevice), cudaSuccess);
    unsigned long n_points = 0;
    for (bool struck = true; struck; n_points += struck) {
        fault_arm(n_points + 1, FAULT_ERROR);
        const softqam_status status = softqam_cuda_demodulate(demodulator, d_in, NULL, n, d_out, 0);
        fault_disarm();
        struck = fault_struck() != NULL;
        assert_true(succeeded(status, "softqam_cuda_demodulate") || struck);
        assert_int_equal(cudaGetLastError(), cudaSuccess);
    }
    assert_true(n_points >= 2);
    assert_int_equal(cudaMemcpy(self->out, d_out, self->out_nbytes, cudaMemcpyDeviceToHost), cudaSuccess);
    check_output(self, self->out, self->expected, "softqam_cuda_demodulate");
    assert_int_equal(cudaFree(d_out), cudaSuccess);
    assert_int_equal(cudaFree(d_in), cudaSuccess);
}
#endif
