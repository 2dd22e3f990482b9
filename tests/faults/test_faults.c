/* SPDX-License-Identifier: MIT */
/* Every call that the library makes of the system and of CUDA fails once, in turn, through the whole life of a context
 * and its demodulator: a status and a message come back or the work is done, nothing leaks, nothing hangs, and what was
 * refused works at the next attempt. fault.h says how. */
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

/* Chunks enough for several rounds of the streams, the last one short; symbols of shorter lives and of small calls. */
enum { N_SYMBOLS = 66036, CHUNK_SYMBOLS = 11000, FEW_SYMBOLS = 9000, SMALL_SYMBOLS = 1500 };
enum { N_STREAMS = 3, SECONDS_A_LIFE = 120, CODEWORDS = 2, BLOCKS = 2 };
_Static_assert(N_SYMBOLS % (CODEWORDS * BLOCKS) == 0 && FEW_SYMBOLS % (CODEWORDS * BLOCKS) == 0,
               "code blocks have one length");

/* The kind of a life. */
typedef struct kind_of_life {
    unsigned n_threads;
    softqam_output_format format;
    bool prepares, has_context; /* without a context of its own it has the default one */
    size_t n_symbols;
} kind_of_life;

typedef struct life {
    kind_of_life kind;
    softqam_context_config context_config;
    softqam_demodulator_config config;
    softqam_context *context;
    softqam_demodulator *demodulator;
    const float *from; /* the symbols, and where their LLRs go: below, or memory of softqam_host_alloc() */
    uint8_t *to;
    size_t out_nbytes;
    float symbols[2 * N_SYMBOLS], noise_var[N_SYMBOLS], gains[N_SYMBOLS]; /* 1: they change nothing */
    uint8_t expected[8 * N_SYMBOLS], expected_soft[8 * N_SYMBOLS], out[8 * N_SYMBOLS];
} life;

static bool is_u8(const life *self) { return self->config.output_format == SOFTQAM_OUTPUT_U8; }

static const float *noise_of(const life *self, size_t first) { return is_u8(self) ? NULL : self->noise_var + first; }

/* Steps of a life. A pointer that a call gives is NULL exactly if the call failed. */

static softqam_status create_context(life *self)
{
    self->context = (softqam_context *)(void *)self;
    const softqam_status status = softqam_context_create(&self->context, &self->context_config);
    assert_true((status == SOFTQAM_OK) == (self->context != NULL));
    return status;
}

static softqam_status create_demodulator(life *self)
{
    self->demodulator = (softqam_demodulator *)(void *)self;
    self->config.context = self->context;
    const softqam_status status = softqam_demodulator_create(&self->demodulator, &self->config);
    assert_true((status == SOFTQAM_OK) == (self->demodulator != NULL));
    /* If the system does not say which CPUs there are, there is one thread. */
    if (!self->kind.has_context && fault_struck() && strcmp(fault_struck(), "sched_getaffinity") == 0)
        assert_non_null(strstr(softqam_backend_detail(self->demodulator), ", 1 thread"));
    return status;
}

static softqam_status prepare(life *self)
{
    return softqam_context_prepare(softqam_demodulator_context(self->demodulator), SOFTQAM_PREPARE_ALL);
}

/* Makes calls of at most `most` symbols. */
static softqam_status demodulate_by(life *self, size_t most)
{
    const size_t n_symbols = self->kind.n_symbols;
    softqam_status status = SOFTQAM_OK;
    for (size_t first = 0, n; first < n_symbols && status == SOFTQAM_OK; first += n) {
        n = n_symbols - first < most ? n_symbols - first : most;
        status = softqam_demodulate(self->demodulator, self->from + 2 * first, noise_of(self, first), n,
                                    self->to + 8 * first);
    }
    return status;
}

static softqam_status demodulate_whole(life *self) { return demodulate_by(self, self->kind.n_symbols); }

/* The calls are small enough for one mapped kernel. */
static softqam_status demodulate_small(life *self)
{
    return demodulate_by(self, SMALL_SYMBOLS * (self->kind.n_symbols / FEW_SYMBOLS));
}

/* Demodulates three segments, with gains if there are LLRs. */
static softqam_status demodulate_segments(life *self)
{
    softqam_segment segments[3];
    const size_t n = self->kind.n_symbols / 3;
    for (size_t k = 0; k < 3; k++) {
        segments[k] = harness_segment(self->from + 2 * k * n, noise_of(self, k * n), 1,
                                      k < 2 ? n : self->kind.n_symbols - 2 * n, self->to + 8 * k * n);
        segments[k].layers[0].gain = is_u8(self) ? NULL : self->gains + k * n;
    }
    return softqam_demodulate_segments(self->demodulator, segments, 3);
}

/* Demodulates two codewords, one with pointers to its soft buffers, which hold at first something else, then zeros to
 * which their LLRs are added. */
static softqam_status demodulate_soft_buffers(life *self)
{
    const size_t n = self->kind.n_symbols / CODEWORDS;
    void *buffers[BLOCKS] = {self->to, self->to + 8 * n / BLOCKS};
    softqam_status status = SOFTQAM_OK;
    for (uint32_t combine = 0; combine < 2 && status == SOFTQAM_OK; combine++) {
        softqam_segment segments[CODEWORDS];
        for (size_t k = 0; k < CODEWORDS; k++) {
            segments[k] = harness_segment(self->from + 2 * k * n, noise_of(self, k * n), 1, n, NULL);
            segments[k].codeword = (softqam_codeword){.n_bits = 8 * n,
                                                      .buffers = k ? self->to + 8 * n : NULL,
                                                      .block_buffers = k ? NULL : buffers,
                                                      .n_code_blocks = BLOCKS,
                                                      .deinterleave = 1,
                                                      .n_cb = (uint32_t)(8 * n / BLOCKS),
                                                      .combine = combine};
        }
        if (combine)
            memset(self->to, 0, self->out_nbytes);
        status = softqam_demodulate_segments(self->demodulator, segments, CODEWORDS);
    }
    return status;
}

/* Makes the call for device memory. CUDA's calls of this function's own do not fail. */
static softqam_status demodulate_on_device(life *self)
{
#ifdef FAULTS_FAKE_CUDA
    const size_t n = self->kind.n_symbols, in_nbytes = 2 * sizeof(float) * n, noise_nbytes = n * sizeof(float);
    void *d_in = NULL, *d_noise = NULL, *d_out = NULL;
    fault_enter_cuda();
    assert_false(cudaMalloc(&d_in, in_nbytes) || cudaMalloc(&d_out, self->out_nbytes));
    assert_false(cudaMalloc(&d_noise, noise_nbytes));
    assert_false(cudaMemcpy(d_in, self->from, in_nbytes, cudaMemcpyHostToDevice));
    assert_false(cudaMemcpy(d_noise, self->noise_var, noise_nbytes, cudaMemcpyHostToDevice));
    fault_leave_cuda();
    const softqam_status status =
        softqam_cuda_demodulate(self->demodulator, d_in, is_u8(self) ? NULL : d_noise, n, d_out, 0);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    fault_enter_cuda();
    assert_false(cudaMemcpy(self->to, d_out, self->out_nbytes, cudaMemcpyDeviceToHost));
    assert_false(cudaFree(d_in) || cudaFree(d_noise) || cudaFree(d_out));
    fault_leave_cuda();
    return status;
#else
    return demodulate_whole(self);
#endif
}

static softqam_status allocate(life *self, size_t nbytes, void **memory)
{
    *memory = self;
    const softqam_status status = softqam_host_alloc(softqam_demodulator_context(self->demodulator), nbytes, memory);
    assert_true((status == SOFTQAM_OK) == (*memory != NULL));
    return status;
}

/* From here on the calls are on memory of softqam_host_alloc(). */
static softqam_status use_host_memory(life *self)
{
    void *in, *out;
    const size_t in_nbytes = 2 * sizeof(float) * self->kind.n_symbols;
    softqam_status status = allocate(self, in_nbytes, &in);
    if (status == SOFTQAM_OK)
        status = allocate(self, self->out_nbytes, &out);
    if (status == SOFTQAM_OK) {
        self->from = memcpy(in, self->symbols, in_nbytes);
        self->to = out;
    } else {
        softqam_host_free(in);
    }
    return status;
}

typedef enum step_kind { SETS_UP, MAKES_LLRS, ADDS_LLRS, MAKES_LLRS_ON_DEVICE } step_kind;

static const struct step {
    const char *name;
    softqam_status (*run)(life *self);
    step_kind kind;
} steps[] = {
    {"softqam_context_create", create_context, SETS_UP},
    {"softqam_demodulator_create", create_demodulator, SETS_UP},
    {"softqam_context_prepare", prepare, SETS_UP},
    {"softqam_demodulate", demodulate_whole, MAKES_LLRS},
    {"softqam_demodulate, small calls", demodulate_small, MAKES_LLRS},
    {"softqam_demodulate_segments", demodulate_segments, MAKES_LLRS},
    {"softqam_demodulate_segments, soft buffers", demodulate_soft_buffers, ADDS_LLRS},
    {"softqam_cuda_demodulate", demodulate_on_device, MAKES_LLRS_ON_DEVICE},
    {"softqam_host_alloc", use_host_memory, SETS_UP},
    {"softqam_demodulate, memory of softqam_host_alloc", demodulate_whole, MAKES_LLRS},
};

/* A device that is lost after the launch takes its work with it, which only the caller's next call of CUDA shows. */
static bool has_step(const life *self, const struct step *step, fault_kind kind)
{
    return step->run == create_context ? self->kind.has_context
           : step->run == prepare      ? self->kind.prepares
           : step->kind == ADDS_LLRS   ? !is_u8(self)
           : step->kind == MAKES_LLRS_ON_DEVICE
               ? kind == FAULT_ERROR && self->context_config.backend == SOFTQAM_BACKEND_CUDA
               : true;
}

/* Returns whether a step succeeds; fails the test unless a failure is documented and has one line of message. */
static bool succeeds(life *self, const struct step *step)
{
    const softqam_status status = step->run(self);
    const char *message = softqam_error_message();
    if (status == SOFTQAM_OK)
        return true;
    if (!fault_struck() || status == SOFTQAM_ERROR_INVALID_ARGUMENT || status > SOFTQAM_ERROR_CUDA || !*message ||
        strpbrk(message, "\r\n"))
        fail_msg("%s, with %s failing: status %d, message \"%s\"", step->name, fault_struck(), (int)status, message);
    return false;
}

/* Takes a step; if it fails, a second time, unless the device is lost. On the CPU no demodulation fails. Returns
 * whether the step is done. */
static bool take_step(life *self, const struct step *step, fault_kind kind)
{
    const bool is_cpu = self->context_config.backend == SOFTQAM_BACKEND_CPU;
    const uint8_t *expected = step->kind == ADDS_LLRS ? self->expected_soft : self->expected;
    if (step->kind != SETS_UP)
        harness_poison(self->to, expected, self->out_nbytes);
    bool is_done = succeeds(self, step);
    if (!is_done && is_cpu && step->kind != SETS_UP)
        fail_msg("%s, with %s failing: %s", step->name, fault_struck(), softqam_error_message());
    if (!is_done && (kind == FAULT_ERROR || is_cpu)) {
        is_done = succeeds(self, step);
        assert_true(is_done);
    }
    if (is_done && step->kind != SETS_UP &&
        !harness_outputs_equal(step->name, self->config.output_format, self->symbols, expected, self->to,
                               self->kind.n_symbols))
        fail_msg("with %s failing it returned SOFTQAM_OK", fault_struck() ? fault_struck() : "nothing");
    return is_done;
}

static void live(life *self, fault_kind kind)
{
    self->context = NULL;
    self->demodulator = NULL;
    self->from = self->symbols;
    self->to = self->out;
    for (size_t k = 0; k < HARNESS_COUNT(steps); k++)
        if (has_step(self, &steps[k], kind) && !take_step(self, &steps[k], kind) && !self->demodulator)
            break;
    softqam_context_destroy(self->context);
    softqam_demodulator_destroy(self->demodulator);
    if (self->to != self->out) {
        softqam_host_free((void *)(uintptr_t)self->from);
        softqam_host_free(self->to);
    }
}

/* Makes the inputs of a life, and on the CPU what its steps are expected to give. */
static life *open_life(const kind_of_life *kind)
{
    life *self = harness_alloc(sizeof *self);
    *self = (life){.kind = *kind, .out_nbytes = 8 * kind->n_symbols};
    harness_random random = harness_random_stream(1);
    harness_fill_mixture(&random, kind->n_symbols, self->symbols);
    harness_fill_noise(&random, HARNESS_NOISE_USUAL, kind->n_symbols, self->noise_var);
    for (size_t i = 0; i < kind->n_symbols; i++)
        self->gains[i] = 1;
    harness_setup setup = harness_format_setup(kind->format, SOFTQAM_NOISE_PER_SYMBOL);
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    setup.context.n_threads = 1;
    self->config = setup.demodulator;
    self->demodulator = harness_create(&setup);
    self->from = self->symbols;
    self->to = self->expected;
    assert_int_equal(demodulate_whole(self), SOFTQAM_OK);
    self->to = self->expected_soft;
    if (!is_u8(self))
        assert_int_equal(demodulate_soft_buffers(self), SOFTQAM_OK);
    softqam_demodulator_destroy(self->demodulator);
    self->context_config = setup.context;
    self->context_config.backend = kind->has_context ? harness_backend() : SOFTQAM_BACKEND_CPU;
    self->context_config.n_threads = kind->n_threads;
    self->context_config.n_streams = N_STREAMS;
    self->context_config.chunk_symbols = kind->n_symbols == N_SYMBOLS ? CHUNK_SYMBOLS : SMALL_SYMBOLS;
    return self;
}

/* Fails if a life has left memory, threads, or more of CUDA than there was before. */
static void check_leaks(long n_blocks, long n_threads, size_t cuda_nbytes)
{
    size_t cuda_now = 0;
#ifdef FAULTS_FAKE_CUDA
    const fake_cuda_holdings held = fake_cuda_holds();
    cuda_now = held.streams + held.device_nbytes + held.pinned_nbytes;
#endif
    if (fault_live_blocks() != n_blocks || fault_live_threads() != n_threads || cuda_now > cuda_nbytes)
        fail_msg("after a failed %s: %ld blocks, %ld threads and %zu bytes of CUDA more", fault_struck(),
                 fault_live_blocks() - n_blocks, fault_live_threads() - n_threads, cuda_now - cuda_nbytes);
}

/* One thread and several, with noise variances and without; prepared, and when first needed; the default context. */
static const kind_of_life lives[] = {{1, SOFTQAM_OUTPUT_U8, true, true, FEW_SYMBOLS},
                                     {4, SOFTQAM_OUTPUT_S8, true, true, FEW_SYMBOLS},
                                     {2, SOFTQAM_OUTPUT_S8, false, true, N_SYMBOLS},
                                     {1, SOFTQAM_OUTPUT_U8, false, false, FEW_SYMBOLS}};

/* Repeats each life until no call is left to fail, or lets one call in SOFTQAM_TEST_STRIDE fail, other calls in each
 * life. A hang ends the program. */
static void fail_every_call(fault_kind kind)
{
    const unsigned long stride = harness_environment_count("SOFTQAM_TEST_STRIDE", 1, 1000);
    for (unsigned k = 0; k < HARNESS_COUNT(lives); k++) {
        scoped_memory life *self = open_life(&lives[k]);
        live(self, kind);
        const long n_blocks = fault_live_blocks(), n_threads = fault_live_threads();
        unsigned long n_points = 0;
        for (bool struck = true; struck; n_points += struck) {
            alarm(SECONDS_A_LIFE);
            fault_arm(1 + (k + (kind == FAULT_LASTING)) % stride + n_points * stride, kind);
            live(self, kind);
            fault_disarm();
            struck = fault_struck() != NULL;
            check_leaks(n_blocks, n_threads, 0);
        }
        alarm(0);
        print_message("%lu points of failure with %u threads, output format %d\n", n_points, lives[k].n_threads,
                      (int)lives[k].format);
        /* context, demodulator, the pool, two blocks of host memory; with a device, a call for every chunk */
        assert_true(n_points >= (self->context_config.backend == SOFTQAM_BACKEND_CUDA ? 100 : 5) / stride);
    }
}

HARNESS_TEST(test_every_call_fails_once) { fail_every_call(FAULT_ERROR); }

/* The first CUDA call that fails is followed by none that works. */
HARNESS_TEST(test_device_is_lost)
{
    if (harness_backend() == SOFTQAM_BACKEND_CPU) {
        print_message("the CPU is not lost\n");
        skip();
    }
    fail_every_call(FAULT_LASTING);
}
