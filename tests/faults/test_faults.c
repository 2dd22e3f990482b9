/* SPDX-License-Identifier: MIT */
/* Every call that the library makes of the system and of CUDA fails once, in turn, through the whole life of a
 * demodulator: a status and a message come back or the work is done, nothing leaks, nothing hangs, and the demodulator
 * works again. fault.h says how. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "harness.h"

#ifdef FAULTS_CUDA
#include <softqam/softqam_cuda.h>
#endif
#ifdef FAULTS_FAKE_CUDA
#include "fake_cuda.h"
#endif

/* More than AUTO leaves to the CPU; chunks enough for several rounds of the streams, the last one short. */
enum { N_SYMBOLS = 9000, CHUNK_SYMBOLS = 1500, N_STREAMS = 3, SECONDS_A_LIFE = 120 };

/* One life under test, and what it should give. */
typedef struct life {
    softqam_config config;
    float symbols[2 * N_SYMBOLS];
    float noise_var[N_SYMBOLS];
    uint8_t expected[8 * N_SYMBOLS];
    uint8_t out[8 * N_SYMBOLS];
} life;

static const float *noise_of(const life *self)
{
    return self->config.output_format == SOFTQAM_OUTPUT_U8 ? NULL : self->noise_var;
}

static life *open_life(unsigned n_threads, softqam_output_format format)
{
    life *self = harness_alloc(sizeof *self);
    harness_random random = harness_random_stream(1);
    harness_fill_mixture(&random, N_SYMBOLS, self->symbols);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, N_SYMBOLS, self->noise_var);
    self->config = harness_config();
    self->config.output_format = format;
    self->config.noise = SOFTQAM_NOISE_PER_SYMBOL;
    self->config.n_threads = 1;
    self->config.backend = SOFTQAM_BACKEND_CPU;
    softqam_demodulator *cpu = harness_create(&self->config);
    harness_demodulate_llrs(cpu, self->symbols, noise_of(self), N_SYMBOLS, self->expected);
    softqam_destroy(cpu);
    self->config.backend = harness_backend();
    self->config.n_threads = n_threads;
    self->config.n_streams = N_STREAMS;
    self->config.chunk_symbols = CHUNK_SYMBOLS;
    if (getenv("SOFTQAM_TEST_ALL_DEVICES") && self->config.backend != SOFTQAM_BACKEND_CPU)
        self->config.n_devices = SOFTQAM_ALL_DEVICES;
    return self;
}

/* A call's status is success, or a failure as the header documents it, which is told in one line. */
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

static void check_output(const life *self, const void *out, const char *call)
{
    if (!harness_outputs_equal(call, self->config.output_format, self->symbols, self->expected, out, N_SYMBOLS))
        fail_msg("%s, with %s failing: it returned SOFTQAM_OK", call, fault_struck() ? fault_struck() : "nothing");
}

typedef softqam_status demodulate_function(softqam_demodulator *demodulator, const life *self, const void *symbols,
                                           void *out);

static softqam_status demodulate_whole(softqam_demodulator *demodulator, const life *self, const void *symbols,
                                       void *out)
{
    return softqam_demodulate(demodulator, symbols, noise_of(self), N_SYMBOLS, out);
}

/* Small enough for one mapped kernel, then what is left. */
static softqam_status demodulate_small(softqam_demodulator *demodulator, const life *self, const void *symbols,
                                       void *out)
{
    const size_t n = CHUNK_SYMBOLS / 2;
    softqam_status status = SOFTQAM_OK;
    for (size_t first = 0; first < N_SYMBOLS && status == SOFTQAM_OK; first += n) {
        const float *noise_var = noise_of(self);
        const size_t left = N_SYMBOLS - first;
        status =
            softqam_demodulate(demodulator, (const float *)symbols + 2 * first, noise_var ? noise_var + first : NULL,
                               left < n ? left : n, (uint8_t *)out + 8 * first);
    }
    return status;
}

static softqam_status demodulate_blocks(softqam_demodulator *demodulator, const life *self, const void *symbols,
                                        void *out)
{
    softqam_block blocks[3] = {{0}};
    for (size_t k = 0, first = 0; k < 3; k++) {
        const float *noise_var = noise_of(self);
        blocks[k].n_symbols = k < 2 ? N_SYMBOLS / 3 : N_SYMBOLS - first;
        blocks[k].symbols = (const float *)symbols + 2 * first;
        blocks[k].noise_var = noise_var ? noise_var + first : NULL;
        blocks[k].noise_stride = 1;
        blocks[k].out = (uint8_t *)out + 8 * first;
        first += blocks[k].n_symbols;
    }
    return softqam_demodulate_batch(demodulator, blocks, 3);
}

/* After AUTO has given its GPU up it says so, with the reason, for as long as it lives. */
static void check_backend(const softqam_demodulator *demodulator, const char *before)
{
    const char *now = softqam_backend_name(demodulator), *detail = softqam_backend_detail(demodulator);
    if (strcmp(before, now) != 0) {
        assert_string_equal(before, "cuda");
        assert_string_equal(now, "cpu");
        assert_non_null(fault_struck());
        assert_non_null(strstr(detail, "after CUDA failed: "));
    }
    assert_null(strpbrk(detail, "\r\n"));
}

/* A call, and when it fails the same again, which does not, unless the device is lost. On AUTO the CPU takes over, so
 * that nothing fails. */
static void try_call(softqam_demodulator *demodulator, life *self, demodulate_function *demodulate, const void *symbols,
                     void *out, fault_kind kind, const char *name)
{
    const char *backend = softqam_backend_name(demodulator);
    harness_poison(out, self->expected, sizeof self->expected);
    const bool done = succeeded(demodulate(demodulator, self, symbols, out), name);
    check_backend(demodulator, backend);
    if (done) {
        check_output(self, out, name);
        return;
    }
    if (self->config.backend != SOFTQAM_BACKEND_CUDA)
        fail_msg("%s, with %s failing: %s", name, fault_struck(), softqam_error_message());
    if (kind == FAULT_ERROR) {
        assert_true(succeeded(demodulate(demodulator, self, symbols, out), name));
        check_output(self, out, name);
    }
}

static void use_host_memory(softqam_demodulator *demodulator, life *self, fault_kind kind)
{
    void *in = self, *out = self;
    const bool have_in = succeeded(softqam_host_alloc(demodulator, sizeof self->symbols, &in), "softqam_host_alloc");
    const bool have_out = succeeded(softqam_host_alloc(demodulator, sizeof self->out, &out), "softqam_host_alloc");
    assert_true(have_in == (in != NULL) && have_out == (out != NULL));
    if (self->config.backend == SOFTQAM_BACKEND_AUTO && fault_struck() && strncmp(fault_struck(), "cuda", 4) == 0)
        assert_true(have_in && have_out);
    if (have_in && have_out) {
        memcpy(in, self->symbols, sizeof self->symbols);
        try_call(demodulator, self, demodulate_whole, in, out, kind,
                 "softqam_demodulate, memory of softqam_host_alloc");
    }
    softqam_host_free(out);
    softqam_host_free(in);
}

static void live(life *self, fault_kind kind)
{
    softqam_demodulator *demodulator = (softqam_demodulator *)(void *)self;
    if (!succeeded(softqam_create(&demodulator, &self->config), "softqam_create")) {
        assert_null(demodulator);
        return;
    }
    assert_non_null(demodulator);
    try_call(demodulator, self, demodulate_whole, self->symbols, self->out, kind, "softqam_demodulate");
    try_call(demodulator, self, demodulate_small, self->symbols, self->out, kind, "softqam_demodulate, small calls");
    try_call(demodulator, self, demodulate_blocks, self->symbols, self->out, kind, "softqam_demodulate_batch");
    use_host_memory(demodulator, self, kind);
    softqam_destroy(demodulator);
}

/* What a life may leave behind: nothing. */
typedef struct holdings {
    long blocks;
    long threads;
    size_t cuda;
} holdings;

static holdings count_holdings(void)
{
    /* CUDA first, for it allocates when it is first asked. */
    holdings now = {0};
#if defined(FAULTS_FAKE_CUDA)
    now.cuda = fake_cuda_live();
#elif defined(FAULTS_CUDA)
    size_t n_free = 0, n_total = 0;
    if (cudaMemGetInfo(&n_free, &n_total) == cudaSuccess)
        now.cuda = n_total - n_free;
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

/* As many lives as there are calls to fail; a hang ends the program. */
static void fail_every_call(life *self, fault_kind kind)
{
    live(self, kind);
    const holdings before = count_holdings();
    unsigned long n_points = 0;
    for (bool struck = true; struck; n_points += struck) {
        alarm(SECONDS_A_LIFE);
        fault_arm(n_points + 1, kind);
        live(self, kind);
        fault_disarm();
        struck = fault_struck() != NULL;
        check_holdings(&before);
    }
    alarm(0);
    print_message("%lu points of failure with %u threads, output format %d\n", n_points, self->config.n_threads,
                  (int)self->config.output_format);
    /* create, the pool, the CPU backend, two blocks of host memory; with a device, a call for every chunk */
    assert_true(n_points >= (self->config.backend == SOFTQAM_BACKEND_CPU || !harness_cuda_is_usable() ? 5 : 100));
}

/* One thread and several, with noise variances and without. */
static void fail_in_all_lives(fault_kind kind)
{
    static const struct {
        unsigned n_threads;
        softqam_output_format format;
    } lives[] = {{1, SOFTQAM_OUTPUT_U8}, {4, SOFTQAM_OUTPUT_S8}};
    for (size_t k = 0; k < HARNESS_COUNT(lives); k++) {
        life *self = open_life(lives[k].n_threads, lives[k].format);
        fail_every_call(self, kind);
        free(self);
    }
}

static void test_every_call_fails_once(void **state)
{
    (void)state;
    fail_in_all_lives(FAULT_ERROR);
}

/* The first CUDA call that fails is followed by none that works. */
static void test_device_is_lost(void **state)
{
    (void)state;
    if (harness_backend() == SOFTQAM_BACKEND_CPU)
        skip();
    fail_in_all_lives(FAULT_LASTING);
}

/* A count of CPUs that cannot be had stands for one. */
static void test_no_affinity(void **state)
{
    (void)state;
    life *self = open_life(0, SOFTQAM_OUTPUT_U8);
    bool struck = true;
    for (unsigned long at = 1; struck; at++) {
        fault_arm(at, FAULT_ERROR);
        live(self, FAULT_ERROR);
        fault_disarm();
        struck = fault_struck() != NULL;
        if (struck && strcmp(fault_struck(), "sched_getaffinity") == 0) {
            free(self);
            return;
        }
    }
    fail_msg("sched_getaffinity was never called");
}

#ifdef FAULTS_CUDA
/* The calls on device memory. */
static void test_device_calls(void **state)
{
    (void)state;
    if (harness_backend() == SOFTQAM_BACKEND_CPU || !harness_cuda_is_usable())
        skip();
    life *self = open_life(1, SOFTQAM_OUTPUT_U8);
    softqam_demodulator *demodulator = harness_create(&self->config);
    void *d_in, *d_out;
    assert_int_equal(cudaMalloc(&d_in, sizeof self->symbols), cudaSuccess);
    assert_int_equal(cudaMalloc(&d_out, sizeof self->out), cudaSuccess);
    assert_int_equal(cudaMemcpy(d_in, self->symbols, sizeof self->symbols, cudaMemcpyHostToDevice), cudaSuccess);
    unsigned long n_points = 0;
    for (bool struck = true; struck; n_points += struck) {
        fault_arm(n_points + 1, FAULT_ERROR);
        const softqam_status status = softqam_cuda_demodulate(demodulator, d_in, NULL, N_SYMBOLS, d_out, 0);
        fault_disarm();
        struck = fault_struck() != NULL;
        assert_true(succeeded(status, "softqam_cuda_demodulate") || struck);
        assert_int_equal(cudaGetLastError(), cudaSuccess);
    }
    assert_int_equal(cudaMemcpy(self->out, d_out, sizeof self->out, cudaMemcpyDeviceToHost), cudaSuccess);
    check_output(self, self->out, "softqam_cuda_demodulate");
    assert_true(n_points >= 2);
    print_message("%lu points of failure\n", n_points);
    assert_int_equal(cudaFree(d_out), cudaSuccess);
    assert_int_equal(cudaFree(d_in), cudaSuccess);
    softqam_destroy(demodulator);
    free(self);
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call_fails_once),
        cmocka_unit_test(test_device_is_lost),
        cmocka_unit_test(test_no_affinity),
#ifdef FAULTS_CUDA
        cmocka_unit_test(test_device_calls),
#endif
    };
    fault_pretend_fast_gpu();
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
