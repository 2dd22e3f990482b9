/* SPDX-License-Identifier: MIT */
/* softqam_cuda.h: symbols, noise variances and outputs in device memory, in the caller's stream. Soft bits against the
 * oracle, LLRs against the CPU backend, which test_llr.c holds against brute force. */
#include "harness.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <softqam/softqam_cuda.h>

#include "oracle.h"

#define OUT_SYMBOL_NBYTES HARNESS_SYMBOL_BITS
/* Canaries on both sides of an output; a multiple of every alignment that matters. */
#define MARGIN       256
#define CANARY       0xC5
#define SAMPLE_COUNT (((size_t)1 << 20) + 77)

enum { STREAM_SAMPLE = 1, STREAM_NOISE, STREAM_BATCH };

static void assert_cuda(cudaError_t error, const char *call)
{
    if (error != cudaSuccess) {
        fail_msg("%s: %s", call, cudaGetErrorString(error));
    }
}

#define CUDA(call) assert_cuda(call, #call)

/* NVIDIA's compute-sanitizer, one of whose libraries is then in the process, makes some launches wait for the kernel
 * and every kernel far slower. */
static bool is_instrumented(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    bool found = false;
    while (maps && !found && fgets(line, sizeof(line), maps)) {
        found = strstr(line, "compute-sanitizer/") || strstr(line, "libsanitizer-collection");
    }
    if (maps) {
        fclose(maps);
    }
    return found;
}

/* Symbols in one input format, with what they stand for and what they must give. */
typedef struct sample {
    softqam_input_format format;
    uint8_t *symbols;
    float *values;
    uint8_t *expected;
} sample;

static sample open_sample(softqam_input_format format, size_t n_symbols)
{
    size_t in_nbytes = n_symbols * softqam_input_symbol_nbytes(format);
    sample self = {
        .format = format,
        .symbols = harness_alloc(in_nbytes),
        .values = harness_alloc(n_symbols * 2 * sizeof(float)),
        .expected = harness_alloc(n_symbols * OUT_SYMBOL_NBYTES),
    };
    harness_random random = harness_random_stream(STREAM_SAMPLE);
    if (format == SOFTQAM_INPUT_CF32) {
        harness_fill_mixture(&random, n_symbols, self.values);
        memcpy(self.symbols, self.values, in_nbytes);
    } else {
        harness_random_fill(&random, self.symbols, in_nbytes);
        harness_widen(format, 0, self.symbols, n_symbols, self.values);
    }
    oracle *reference = oracle_create();
    assert_non_null(reference);
    oracle_soft_bits(reference, self.values, n_symbols, self.expected);
    oracle_destroy(reference);
    return self;
}

static void close_sample(sample *self)
{
    free(self->expected);
    free(self->values);
    free(self->symbols);
}

static softqam_demodulator *create(softqam_input_format format)
{
    softqam_config config;
    softqam_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CUDA;
    config.input_format = format;
    config.n_streams = 1;
    config.chunk_symbols = 1;
    return harness_create(&config);
}

static void enqueue(softqam_demodulator *demodulator, const void *d_symbols, size_t n_symbols, void *d_out,
                    cudaStream_t stream)
{
    softqam_status status = softqam_cuda_demodulate(demodulator, d_symbols, NULL, n_symbols, d_out, stream);
    if (status != SOFTQAM_OK) {
        fail_msg("softqam_cuda_demodulate: %s: %s", softqam_status_string(status), softqam_error_message());
    }
}

/* An output on the device between margins of canaries, with a copy on the host to fill it from and to read it into. */
typedef struct device_output {
    softqam_output_format format;
    size_t symbol_nbytes;
    uint8_t *d_block;
    uint8_t *h_block;
    uint8_t *d_out;
    size_t nbytes;
    size_t max_nbytes;
} device_output;

static device_output open_output(softqam_output_format format, size_t max_symbols)
{
    device_output self = {.format = format, .symbol_nbytes = softqam_output_symbol_nbytes(format)};
    self.max_nbytes = max_symbols * self.symbol_nbytes + 3 * MARGIN;
    CUDA(cudaMalloc((void **)&self.d_block, self.max_nbytes));
    self.h_block = harness_alloc(self.max_nbytes);
    return self;
}

static void close_output(device_output *self)
{
    free(self->h_block);
    CUDA(cudaFree(self->d_block));
}

/* Places an output `offset` symbols behind the margin and fills it with what must not be left there. */
static void prepare_output(device_output *self, size_t offset, const uint8_t *expected, size_t n_symbols)
{
    self->nbytes = n_symbols * self->symbol_nbytes;
    size_t start = MARGIN + offset * self->symbol_nbytes;
    assert_true(start + self->nbytes + MARGIN <= self->max_nbytes);
    self->d_out = self->d_block + start;
    memset(self->h_block, CANARY, start + self->nbytes + MARGIN);
    harness_poison(self->h_block + start, expected, self->nbytes);
    CUDA(cudaMemcpy(self->d_block, self->h_block, start + self->nbytes + MARGIN, cudaMemcpyHostToDevice));
}

/* Call after the stream has been waited for. */
static void check_output(device_output *self, const char *what, const float *values, const uint8_t *expected)
{
    size_t start = (size_t)(self->d_out - self->d_block), end = start + self->nbytes;
    CUDA(cudaMemcpy(self->h_block, self->d_block, end + MARGIN, cudaMemcpyDeviceToHost));
    assert_true(harness_outputs_equal(what, self->format, values, expected, self->h_block + start,
                                      self->nbytes / self->symbol_nbytes));
    for (size_t i = 0; i < end + MARGIN; i++) {
        if ((i < start || i >= end) && self->h_block[i] != CANARY) {
            fail_msg("%s: byte %td from the start of %zu was overwritten", what, (ptrdiff_t)(i - start), self->nbytes);
        }
    }
}

static cudaStream_t open_stream(void)
{
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

/* Everything that a call on device memory needs. */
typedef struct fixture {
    softqam_demodulator *demodulator;
    sample part;
    uint8_t *d_symbols;
    device_output output;
    cudaStream_t stream;
} fixture;

static fixture open_fixture(softqam_input_format format, size_t max_symbols)
{
    fixture self = {
        .demodulator = create(format),
        .part = open_sample(format, max_symbols),
        .output = open_output(SOFTQAM_OUTPUT_U8, max_symbols),
        .stream = open_stream(),
    };
    CUDA(cudaMalloc((void **)&self.d_symbols, max_symbols * softqam_input_symbol_nbytes(format) + MARGIN));
    return self;
}

static void close_fixture(fixture *self)
{
    CUDA(cudaStreamDestroy(self->stream));
    CUDA(cudaFree(self->d_symbols));
    close_output(&self->output);
    close_sample(&self->part);
    softqam_destroy(self->demodulator);
}

/* n_symbols from `in_offset` symbols into the input's memory to `out_offset` symbols into the output's. */
static void check_call(fixture *self, const char *what, size_t n_symbols, size_t in_offset, size_t out_offset,
                       cudaStream_t stream)
{
    size_t symbol_nbytes = softqam_input_symbol_nbytes(self->part.format);
    uint8_t *d_symbols = self->d_symbols + in_offset * symbol_nbytes;
    CUDA(cudaMemcpy(d_symbols, self->part.symbols, n_symbols * symbol_nbytes, cudaMemcpyHostToDevice));
    prepare_output(&self->output, out_offset, self->part.expected, n_symbols);
    /* The stream does not wait for the default one, nor do copies from pageable memory always for themselves. */
    CUDA(cudaDeviceSynchronize());
    enqueue(self->demodulator, d_symbols, n_symbols, self->output.d_out, stream);
    CUDA(cudaStreamSynchronize(stream));
    check_output(&self->output, what, self->part.values, self->part.expected);
}

static void check_lengths_and_offsets(softqam_input_format format, const char *what)
{
    static const size_t lengths[] = {
        255, 256, 257, 511, 512, 513, 997, 65535, 65536, 65537, 99991, 135169, SAMPLE_COUNT - 4, SAMPLE_COUNT};
    fixture self = open_fixture(format, SAMPLE_COUNT);
    for (size_t n = 0; n <= 70; n++) {
        for (size_t in_offset = 0; in_offset < 8; in_offset++) {
            check_call(&self, what, n, in_offset, n % 4, self.stream);
            check_call(&self, what, n, in_offset, in_offset % 4, self.stream);
        }
    }
    for (size_t i = 0; i < HARNESS_COUNT(lengths); i++) {
        for (size_t offset = 0; offset < 4; offset++) {
            check_call(&self, what, lengths[i], offset, 0, self.stream);
            check_call(&self, what, lengths[i], 0, offset, self.stream);
            check_call(&self, what, lengths[i], offset, offset, self.stream);
        }
    }
    close_fixture(&self);
}

static void test_cf32(void **state)
{
    (void)state;
    check_lengths_and_offsets(SOFTQAM_INPUT_CF32, "cf32 on the device");
}

static void test_cs16(void **state)
{
    (void)state;
    check_lengths_and_offsets(SOFTQAM_INPUT_CS16, "cs16 on the device");
}

static void test_cs8(void **state)
{
    (void)state;
    check_lengths_and_offsets(SOFTQAM_INPUT_CS8, "cs8 on the device");
}

static void test_default_streams(void **state)
{
    (void)state;
    fixture self = open_fixture(SOFTQAM_INPUT_CF32, 10007);
    check_call(&self, "default stream", 10007, 0, 0, 0);
    check_call(&self, "legacy default stream", 10007, 1, 1, cudaStreamLegacy);
    check_call(&self, "default stream of the thread", 10007, 0, 1, cudaStreamPerThread);
    close_fixture(&self);
}

static void assert_refused(fixture *self, const void *d_symbols, const float *d_noise_var, size_t n_symbols,
                           void *d_out, const char *what)
{
    softqam_status status =
        softqam_cuda_demodulate(self->demodulator, d_symbols, d_noise_var, n_symbols, d_out, self->stream);
    if (status != SOFTQAM_ERROR_INVALID_ARGUMENT) {
        fail_msg("%s: %s", what, softqam_status_string(status));
    }
    assert_true(strlen(softqam_error_message()) > 0);
    CUDA(cudaStreamSynchronize(self->stream));
}

static void check_misuse(softqam_input_format format)
{
    const size_t n = 1000;
    fixture self = open_fixture(format, n);
    size_t symbol_nbytes = softqam_input_symbol_nbytes(format);
    prepare_output(&self.output, 0, self.part.expected, n);
    uint8_t *d_in = self.d_symbols, *d_out = self.output.d_out;
    assert_refused(&self, NULL, NULL, n, d_out, "no input");
    assert_refused(&self, d_in, NULL, n, NULL, "no output");
    assert_refused(&self, d_in, (const float *)(void *)d_in, n, d_out, "a noise variance");
    for (size_t i = 1; i < symbol_nbytes; i++) {
        assert_refused(&self, d_in + i, NULL, n, d_out, "misaligned input");
    }
    for (size_t i = 1; i < OUT_SYMBOL_NBYTES; i++) {
        assert_refused(&self, d_in, NULL, n, d_out + i, "misaligned output");
    }
    assert_refused(&self, d_out, NULL, n, d_out, "in place");
    assert_refused(&self, d_out + (n - 1) * OUT_SYMBOL_NBYTES, NULL, n, d_out, "input begins in the output");
    assert_refused(&self, d_out + OUT_SYMBOL_NBYTES - n * symbol_nbytes, NULL, n, d_out, "input ends in the output");
    assert_refused(&self, d_in, NULL, SIZE_MAX, d_out, "SIZE_MAX symbols");
    assert_refused(&self, d_in, NULL, SIZE_MAX / 8 + 1, d_out, "bytes that wrap to 0");
    assert_refused(&self, d_in, NULL, PTRDIFF_MAX / 8 + 1, d_out, "more bytes than PTRDIFF_MAX");
    /* Nothing was launched, and nothing is broken. */
    CUDA(cudaMemcpy(self.output.h_block, d_out, self.output.nbytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < self.output.nbytes; i++) {
        assert_int_equal(self.output.h_block[i], (uint8_t)~self.part.expected[i]);
    }
    check_call(&self, "after misuse", n, 0, 0, self.stream);
    close_fixture(&self);
}

static void test_misuse(void **state)
{
    (void)state;
    check_misuse(SOFTQAM_INPUT_CF32);
    check_misuse(SOFTQAM_INPUT_CS16);
    check_misuse(SOFTQAM_INPUT_CS8);
}

static void test_cpu_plan_refused(void **state)
{
    (void)state;
    fixture self = open_fixture(SOFTQAM_INPUT_CF32, 16);
    softqam_config config;
    softqam_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CPU;
    softqam_demodulator *cpu = harness_create(&config);
    prepare_output(&self.output, 0, self.part.expected, 16);
    assert_int_equal(softqam_cuda_demodulate(cpu, self.d_symbols, NULL, 16, self.output.d_out, self.stream),
                     SOFTQAM_ERROR_BACKEND_UNAVAILABLE);
    assert_true(strlen(softqam_error_message()) > 0);
    assert_int_equal(softqam_cuda_demodulate(NULL, self.d_symbols, NULL, 16, self.output.d_out, self.stream),
                     SOFTQAM_ERROR_INVALID_ARGUMENT);
    softqam_destroy(cpu);
    close_fixture(&self);
}

/* Captured once, replayed on new symbols: a graph holds the launch, and nothing else may happen in the call. */
static void test_graph_capture(void **state)
{
    (void)state;
    const size_t n = 20011;
    fixture self = open_fixture(SOFTQAM_INPUT_CF32, 3 * n);
    const size_t symbol_nbytes = 2 * sizeof(float);
    prepare_output(&self.output, 0, self.part.expected, n);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaStreamBeginCapture(self.stream, cudaStreamCaptureModeGlobal));
    enqueue(self.demodulator, self.d_symbols, n, self.output.d_out, self.stream);
    CUDA(cudaStreamEndCapture(self.stream, &graph));
    size_t n_nodes = 0;
    CUDA(cudaGraphGetNodes(graph, NULL, &n_nodes));
    assert_int_equal(n_nodes, 1);
    CUDA(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    /* The plan may be gone by then. */
    softqam_destroy(self.demodulator);
    self.demodulator = NULL;
    for (size_t replay = 0; replay < 3; replay++) {
        const uint8_t *symbols = self.part.symbols + replay * n * symbol_nbytes;
        const uint8_t *expected = self.part.expected + replay * n * OUT_SYMBOL_NBYTES;
        CUDA(cudaMemcpy(self.d_symbols, symbols, n * symbol_nbytes, cudaMemcpyHostToDevice));
        prepare_output(&self.output, 0, expected, n);
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaGraphLaunch(executable, self.stream));
        CUDA(cudaStreamSynchronize(self.stream));
        check_output(&self.output, "replayed graph", self.part.values + 2 * replay * n, expected);
    }
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaGraphDestroy(graph));
    close_fixture(&self);
}

static void test_mapped_host_memory(void **state)
{
    (void)state;
    const size_t n = 30011;
    fixture self = open_fixture(SOFTQAM_INPUT_CF32, n);
    uint8_t *in, *out;
    void *d_in, *d_out;
    CUDA(cudaHostAlloc((void **)&in, n * 8, cudaHostAllocMapped));
    CUDA(cudaHostAlloc((void **)&out, n * OUT_SYMBOL_NBYTES, cudaHostAllocMapped));
    CUDA(cudaHostGetDevicePointer(&d_in, in, 0));
    CUDA(cudaHostGetDevicePointer(&d_out, out, 0));
    memcpy(in, self.part.symbols, n * 8);
    harness_poison(out, self.part.expected, n * OUT_SYMBOL_NBYTES);
    enqueue(self.demodulator, d_in, n, d_out, self.stream);
    CUDA(cudaStreamSynchronize(self.stream));
    assert_true(harness_soft_bits_equal("mapped host memory", self.part.values, self.part.expected, out, n));
    CUDA(cudaFreeHost(out));
    CUDA(cudaFreeHost(in));
    close_fixture(&self);
}

/* The host-to-host call on memory that the caller has pinned or had from CUDA, whole or in part. */
static void check_host_call(fixture *self, const char *what, uint8_t *in, uint8_t *out, size_t n)
{
    softqam_config config;
    softqam_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CUDA;
    config.chunk_symbols = n / 3;
    softqam_demodulator *ring = harness_create(&config);
    memcpy(in, self->part.symbols, n * 8);
    harness_poison(out, self->part.expected, n * OUT_SYMBOL_NBYTES);
    harness_demodulate(self->demodulator, in, n, out);
    assert_true(harness_soft_bits_equal(what, self->part.values, self->part.expected, out, n));
    harness_poison(out, self->part.expected, n * OUT_SYMBOL_NBYTES);
    harness_demodulate(ring, in, n, out);
    assert_true(harness_soft_bits_equal(what, self->part.values, self->part.expected, out, n));
    softqam_destroy(ring);
}

static void test_host_call_on_pinned_memory(void **state)
{
    (void)state;
    const size_t n = 8192, nbytes = n * 8;
    fixture self = open_fixture(SOFTQAM_INPUT_CF32, n);
    harness_buffer in, out;
    harness_buffer_open(&in, nbytes);
    harness_buffer_open(&out, nbytes);
    harness_buffer_place_at_start(&in, nbytes, 0);
    harness_buffer_place_at_start(&out, nbytes, 0);
    static const size_t halves[] = {1, 2};
    for (size_t i = 0; i < HARNESS_COUNT(halves); i++) {
        CUDA(cudaHostRegister(in.data, nbytes / halves[i], cudaHostRegisterDefault));
        check_host_call(&self, "input registered", in.data, out.data, n);
        CUDA(cudaHostRegister(out.data, nbytes / halves[i], cudaHostRegisterDefault));
        check_host_call(&self, "both registered", in.data, out.data, n);
        CUDA(cudaHostUnregister(in.data));
        check_host_call(&self, "output registered", in.data, out.data, n);
        CUDA(cudaHostUnregister(out.data));
    }
    harness_buffer_check(&in);
    harness_buffer_check(&out);
    harness_buffer_close(&out);
    harness_buffer_close(&in);
    close_fixture(&self);
}

static void test_host_call_on_memory_of_cuda(void **state)
{
    (void)state;
    const size_t n = 8192;
    fixture self = open_fixture(SOFTQAM_INPUT_CF32, n);
    uint8_t *in, *out, *plain = harness_alloc(n * OUT_SYMBOL_NBYTES);
    CUDA(cudaMallocManaged((void **)&in, n * 8, cudaMemAttachGlobal));
    CUDA(cudaMallocManaged((void **)&out, n * OUT_SYMBOL_NBYTES, cudaMemAttachGlobal));
    check_host_call(&self, "managed memory", in, out, n);
    /* Device memory is for the other call; the host cannot read it. */
    prepare_output(&self.output, 0, self.part.expected, n);
    assert_int_equal(softqam_demodulate(self.demodulator, self.d_symbols, NULL, n, plain),
                     SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(softqam_demodulate(self.demodulator, in, NULL, n, self.output.d_out),
                     SOFTQAM_ERROR_INVALID_ARGUMENT);
    check_call(&self, "after misuse", n, 0, 0, self.stream);
    CUDA(cudaFree(out));
    CUDA(cudaFree(in));
    free(plain);
    close_fixture(&self);
}

/* Holds up a stream until told to go on, or for two seconds at most. */
typedef struct gate {
    atomic_bool is_open;
    bool timed_out;
} gate;

static void CUDART_CB wait_at_gate(void *argument)
{
    gate *self = argument;
    const struct timespec millisecond = {.tv_nsec = 1000000};
    int n_waits = 0;
    while (!atomic_load(&self->is_open) && n_waits++ < 2000) {
        nanosleep(&millisecond, NULL);
    }
    self->timed_out = !atomic_load(&self->is_open);
}

/* With the stream held up, a call that returns has waited for nothing. */
static void test_call_is_asynchronous(void **state)
{
    (void)state;
    if (is_instrumented()) {
        skip();
    }
    const size_t n = 100003;
    fixture self = open_fixture(SOFTQAM_INPUT_CF32, n);
    gate held = {0};
    CUDA(cudaMemcpy(self.d_symbols, self.part.symbols, n * 8, cudaMemcpyHostToDevice));
    prepare_output(&self.output, 0, self.part.expected, n);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaLaunchHostFunc(self.stream, wait_at_gate, &held));
    enqueue(self.demodulator, self.d_symbols, n, self.output.d_out, self.stream);
    atomic_store(&held.is_open, true);
    CUDA(cudaStreamSynchronize(self.stream));
    assert_false(held.timed_out);
    check_output(&self.output, "behind a held stream", self.part.values, self.part.expected);
    close_fixture(&self);
}

/* Destroying the plan may wait for the device, so here the gate opens by itself. */
static void test_destroyed_before_it_ran(void **state)
{
    (void)state;
    const size_t n = 100003;
    fixture self = open_fixture(SOFTQAM_INPUT_CF32, n);
    gate held = {0};
    CUDA(cudaMemcpy(self.d_symbols, self.part.symbols, n * 8, cudaMemcpyHostToDevice));
    prepare_output(&self.output, 0, self.part.expected, n);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaLaunchHostFunc(self.stream, wait_at_gate, &held));
    enqueue(self.demodulator, self.d_symbols, n, self.output.d_out, self.stream);
    softqam_destroy(self.demodulator);
    self.demodulator = NULL;
    atomic_store(&held.is_open, true);
    CUDA(cudaStreamSynchronize(self.stream));
    check_output(&self.output, "plan destroyed before the kernel ran", self.part.values, self.part.expected);
    close_fixture(&self);
}

/* Where there is a second device it is the plan's, and the first stays the current one. */
static void test_current_device(void **state)
{
    (void)state;
    int n_devices, current;
    CUDA(cudaGetDeviceCount(&n_devices));
    CUDA(cudaSetDevice(0));
    softqam_config config;
    softqam_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CUDA;
    config.device = n_devices - 1;
    softqam_demodulator *demodulator = harness_create(&config);
    CUDA(cudaGetDevice(&current));
    assert_int_equal(current, 0);
    sample part = open_sample(SOFTQAM_INPUT_CF32, 5003);
    uint8_t *out = harness_alloc(5003 * OUT_SYMBOL_NBYTES);
    harness_poison(out, part.expected, 5003 * OUT_SYMBOL_NBYTES);
    harness_demodulate(demodulator, part.symbols, 5003, out);
    assert_true(harness_soft_bits_equal("the last device", part.values, part.expected, out, 5003));
    CUDA(cudaGetDevice(&current));
    assert_int_equal(current, 0);
    softqam_destroy(demodulator);
    CUDA(cudaGetDevice(&current));
    assert_int_equal(current, 0);
    free(out);
    close_sample(&part);
    print_message("device %d of %d\n", n_devices - 1, n_devices);
}

/* Fills n_symbols of device memory with a pattern over and over, by doubling what is there. */
static void fill_with_pattern(uint8_t *d_symbols, size_t n_symbols, const uint8_t *pattern, size_t n_pattern)
{
    const size_t symbol_nbytes = 2 * sizeof(float);
    CUDA(cudaMemcpy(d_symbols, pattern, n_pattern * symbol_nbytes, cudaMemcpyHostToDevice));
    for (size_t n = n_pattern; n < n_symbols; n *= 2) {
        size_t n_copied = n_symbols - n < n ? n_symbols - n : n;
        CUDA(cudaMemcpy(d_symbols + n * symbol_nbytes, d_symbols, n_copied * symbol_nbytes, cudaMemcpyDeviceToDevice));
    }
}

/* More bytes than 32 bits count, on the way in and out. */
static void test_more_than_4_gib(void **state)
{
    (void)state;
    const size_t n = ((size_t)1 << 29) + 3, n_pattern = SAMPLE_COUNT;
    size_t n_free, n_total;
    CUDA(cudaMemGetInfo(&n_free, &n_total));
    if (n_free < 17 * n || is_instrumented()) {
        print_message("needs 9 GB of free device memory, and no compute-sanitizer\n");
        skip();
    }
    fixture self = open_fixture(SOFTQAM_INPUT_CF32, n_pattern);
    uint8_t *d_symbols, *d_out, *got = harness_alloc(n_pattern * OUT_SYMBOL_NBYTES);
    CUDA(cudaMalloc((void **)&d_symbols, n * 8));
    CUDA(cudaMalloc((void **)&d_out, n * OUT_SYMBOL_NBYTES));
    fill_with_pattern(d_symbols, n, self.part.symbols, n_pattern);
    CUDA(cudaMemset(d_out, CANARY, n * OUT_SYMBOL_NBYTES));
    CUDA(cudaDeviceSynchronize());
    enqueue(self.demodulator, d_symbols, n, d_out, self.stream);
    CUDA(cudaStreamSynchronize(self.stream));
    for (size_t first = 0; first < n; first += n_pattern) {
        size_t n_block = n - first < n_pattern ? n - first : n_pattern;
        CUDA(cudaMemcpy(got, d_out + first * OUT_SYMBOL_NBYTES, n_block * OUT_SYMBOL_NBYTES, cudaMemcpyDeviceToHost));
        assert_true(harness_soft_bits_equal("4 GiB", self.part.values, self.part.expected, got, n_block));
    }
    CUDA(cudaFree(d_out));
    CUDA(cudaFree(d_symbols));
    free(got);
    close_fixture(&self);
}

static const softqam_output_format llr_formats[] = {SOFTQAM_OUTPUT_S8, SOFTQAM_OUTPUT_F16, SOFTQAM_OUTPUT_F32};

static softqam_demodulator *create_for_llrs(softqam_backend backend, softqam_input_format in, softqam_output_format out,
                                            softqam_noise noise)
{
    softqam_config config;
    softqam_config_init(&config);
    config.backend = backend;
    config.input_format = in;
    config.output_format = out;
    config.noise = noise;
    return harness_create(&config);
}

static void *copy_to_device(const void *bytes, size_t nbytes)
{
    void *d_bytes;
    CUDA(cudaMalloc(&d_bytes, nbytes));
    CUDA(cudaMemcpy(d_bytes, bytes, nbytes, cudaMemcpyHostToDevice));
    return d_bytes;
}

/* Symbols and noise variances from the middle of device memory, several lengths and offsets. */
static void check_llrs(const sample *part, const float *noise_var, size_t n_symbols, softqam_output_format format,
                       softqam_noise noise)
{
    static const size_t lengths[] = {1, 2, 3, 31, 255, 256, 257, 997, 65537};
    size_t in_nbytes = softqam_input_symbol_nbytes(part->format), out_nbytes = softqam_output_symbol_nbytes(format);
    softqam_demodulator *cpu = create_for_llrs(SOFTQAM_BACKEND_CPU, part->format, format, noise);
    softqam_demodulator *cuda = create_for_llrs(SOFTQAM_BACKEND_CUDA, part->format, format, noise);
    uint8_t *expected = harness_alloc(n_symbols * out_nbytes);
    uint8_t *d_symbols = copy_to_device(part->symbols, n_symbols * in_nbytes);
    float *d_noise_var = copy_to_device(noise_var, n_symbols * sizeof(float));
    device_output output = open_output(format, n_symbols);
    cudaStream_t stream = open_stream();
    for (size_t i = 0; i < HARNESS_COUNT(lengths) * 4; i++) {
        size_t n = lengths[i / 4], first = i % 4, first_noise = (i + i / 4) % 4;
        harness_demodulate_llrs(cpu, part->symbols + first * in_nbytes, noise_var + first_noise, n, expected);
        prepare_output(&output, i % 3, expected, n);
        CUDA(cudaDeviceSynchronize());
        softqam_status status = softqam_cuda_demodulate(cuda, d_symbols + first * in_nbytes, d_noise_var + first_noise,
                                                        n, output.d_out, stream);
        assert_int_equal(status, SOFTQAM_OK);
        CUDA(cudaStreamSynchronize(stream));
        check_output(&output, "LLRs on the device", part->values + 2 * first, expected);
    }
    CUDA(cudaStreamDestroy(stream));
    close_output(&output);
    CUDA(cudaFree(d_noise_var));
    CUDA(cudaFree(d_symbols));
    free(expected);
    softqam_destroy(cuda);
    softqam_destroy(cpu);
}

static void test_llrs(void **state)
{
    (void)state;
    const size_t n_symbols = 70000;
    float *noise_var = harness_alloc(n_symbols * sizeof(float));
    harness_random random = harness_random_stream(STREAM_NOISE);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, n_symbols, noise_var);
    for (int format = SOFTQAM_INPUT_CF32; format <= SOFTQAM_INPUT_CF16; format++) {
        sample part = open_sample((softqam_input_format)format, n_symbols);
        for (size_t k = 0; k < HARNESS_COUNT(llr_formats); k++) {
            check_llrs(&part, noise_var, n_symbols, llr_formats[k], SOFTQAM_NOISE_PER_CALL);
            check_llrs(&part, noise_var, n_symbols, llr_formats[k], SOFTQAM_NOISE_PER_SYMBOL);
        }
        close_sample(&part);
    }
    free(noise_var);
}

/* Blocks that read anywhere from one piece of memory and one of noise variances, and write one behind the other into a
 * third, on the host and on the device. */
enum { N_BLOCKS = 200, N_COMPONENTS = 1 << 16, N_NOISE = 1 << 14, MAX_BLOCK = 2000 };

typedef struct batch {
    softqam_input_format in;
    softqam_output_format out;
    softqam_block blocks[N_BLOCKS]; /* host memory */
    softqam_block d_blocks[N_BLOCKS];
    uint8_t *symbols;
    uint8_t *d_symbols;
    float *noise_var;
    float *d_noise_var;
    uint8_t *expected;
    uint8_t *got;
    uint8_t *d_out;
    size_t in_nbytes;
    size_t out_nbytes;
} batch;

/* New contents in the same places, on both sides, and what they must give. */
static void fill_batch(batch *self, harness_random *random)
{
    if (self->in == SOFTQAM_INPUT_CF32) {
        harness_fill_mixture(random, N_COMPONENTS / 2, (float *)(void *)self->symbols);
    } else {
        harness_random_fill(random, self->symbols, self->in_nbytes);
    }
    harness_fill_noise(random, HARNESS_NOISE_ANY, N_NOISE, self->noise_var);
    memset(self->expected, CANARY, self->out_nbytes);
    softqam_demodulator *cpu = create_for_llrs(SOFTQAM_BACKEND_CPU, self->in, self->out, SOFTQAM_NOISE_PER_CALL);
    harness_demodulate_batch(cpu, self->blocks, N_BLOCKS);
    softqam_destroy(cpu);
    CUDA(cudaMemcpy(self->d_symbols, self->symbols, self->in_nbytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(self->d_noise_var, self->noise_var, N_NOISE * sizeof(float), cudaMemcpyHostToDevice));
    memcpy(self->got, self->expected, self->out_nbytes);
    for (size_t k = 0; k < N_BLOCKS; k++) {
        size_t at = (size_t)((uint8_t *)self->blocks[k].out - self->expected);
        size_t nbytes = self->blocks[k].n_symbols * softqam_output_symbol_nbytes(self->out);
        harness_poison(self->got + at, self->expected + at, nbytes);
    }
    CUDA(cudaMemcpy(self->d_out, self->got, self->out_nbytes, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
}

static void check_filled_batch(batch *self, const char *what)
{
    CUDA(cudaMemcpy(self->got, self->d_out, self->out_nbytes, cudaMemcpyDeviceToHost));
    if (memcmp(self->got, self->expected, self->out_nbytes) == 0) {
        return;
    }
    size_t at = 0;
    while (self->got[at] == self->expected[at]) {
        at++;
    }
    fail_msg("%s, input %d, output %d: byte %zu of %zu is %d, not %d", what, (int)self->in, (int)self->out, at,
             self->out_nbytes, self->got[at], self->expected[at]);
}

/* Strides of 1 to 4, planes and pairs, one noise variance and many, empty blocks, outputs 0 to 3 times their alignment
 * apart. */
static void lay_out_block(batch *self, harness_random *random, size_t k, size_t *end)
{
    size_t component_nbytes = softqam_input_symbol_nbytes(self->in) / 2;
    softqam_block *block = &self->blocks[k], *d_block = &self->d_blocks[k];
    bool planes = harness_random_below(random, 2);
    *block = (softqam_block){
        .n_symbols = k % 7 == 3 ? 0 : harness_random_below(random, k % 5 ? 300 : MAX_BLOCK),
        .symbol_stride = harness_random_below(random, 5),
        .noise_stride = harness_random_below(random, 4),
    };
    *d_block = *block;
    /* The furthest that a block reaches: MAX_BLOCK symbols of two components, four apart. */
    size_t first = harness_random_below(random, (N_COMPONENTS - 8 * MAX_BLOCK) / 2) * (planes ? 1 : 2);
    size_t first_q = harness_random_below(random, N_COMPONENTS - 8 * MAX_BLOCK);
    size_t first_noise = harness_random_below(random, N_NOISE - 4 * MAX_BLOCK);
    block->symbols = self->symbols + first * component_nbytes;
    d_block->symbols = self->d_symbols + first * component_nbytes;
    block->symbols_q = planes ? self->symbols + first_q * component_nbytes : NULL;
    d_block->symbols_q = planes ? self->d_symbols + first_q * component_nbytes : NULL;
    if (self->out != SOFTQAM_OUTPUT_U8) {
        block->noise_var = self->noise_var + first_noise;
        d_block->noise_var = self->d_noise_var + first_noise;
    }
    size_t symbol_nbytes = softqam_output_symbol_nbytes(self->out);
    *end += (symbol_nbytes < 16 ? 8 : 16) * harness_random_below(random, 4);
    block->out = self->expected + *end;
    d_block->out = self->d_out + *end;
    *end += block->n_symbols * symbol_nbytes;
    assert_true(*end <= self->out_nbytes);
}

static void open_batch(batch *self, softqam_input_format in, softqam_output_format out, harness_random *random)
{
    *self = (batch){.in = in, .out = out};
    self->in_nbytes = N_COMPONENTS * softqam_input_symbol_nbytes(in) / 2;
    self->out_nbytes = (size_t)N_BLOCKS * (MAX_BLOCK / 3 * softqam_output_symbol_nbytes(out) + 48);
    self->symbols = harness_alloc(self->in_nbytes);
    self->noise_var = harness_alloc(N_NOISE * sizeof(float));
    self->expected = harness_alloc(self->out_nbytes);
    self->got = harness_alloc(self->out_nbytes);
    CUDA(cudaMalloc((void **)&self->d_symbols, self->in_nbytes));
    CUDA(cudaMalloc((void **)&self->d_noise_var, N_NOISE * sizeof(float)));
    CUDA(cudaMalloc((void **)&self->d_out, self->out_nbytes));
    size_t end = 0;
    for (size_t k = 0; k < N_BLOCKS; k++) {
        lay_out_block(self, random, k, &end);
    }
}

static void close_batch(batch *self)
{
    CUDA(cudaFree(self->d_out));
    CUDA(cudaFree(self->d_noise_var));
    CUDA(cudaFree(self->d_symbols));
    free(self->got);
    free(self->expected);
    free(self->noise_var);
    free(self->symbols);
}

static void test_batches(void **state)
{
    (void)state;
    harness_random random = harness_random_stream(STREAM_BATCH);
    cudaStream_t stream = open_stream();
    for (unsigned k = 0; k < 16; k++) {
        batch self;
        open_batch(&self, (softqam_input_format)(k / 4), (softqam_output_format)(k % 4), &random);
        softqam_demodulator *cuda =
            create_for_llrs(SOFTQAM_BACKEND_CUDA, self.in, self.out, (softqam_noise)(k / 4 % 2));
        fill_batch(&self, &random);
        assert_int_equal(softqam_cuda_demodulate_batch(cuda, self.d_blocks, N_BLOCKS, stream), SOFTQAM_OK);
        CUDA(cudaStreamSynchronize(stream));
        check_filled_batch(&self, "batch");
        softqam_destroy(cuda);
        close_batch(&self);
    }
    CUDA(cudaStreamDestroy(stream));
}

/* Captured once, with a list of blocks that is gone by the time of the replays: those find new symbols and new noise
 * variances in the same places. */
static void check_captured_batch(softqam_output_format format, harness_random *random)
{
    batch self;
    open_batch(&self, SOFTQAM_INPUT_CF32, format, random);
    softqam_demodulator *cuda = create_for_llrs(SOFTQAM_BACKEND_CUDA, self.in, format, SOFTQAM_NOISE_PER_CALL);
    cudaStream_t stream = open_stream();
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    assert_int_equal(softqam_cuda_demodulate_batch(cuda, self.d_blocks, N_BLOCKS, stream), SOFTQAM_OK);
    CUDA(cudaStreamEndCapture(stream, &graph));
    memset(self.d_blocks, 0xff, sizeof(self.d_blocks));
    softqam_destroy(cuda);
    size_t n_nodes = 0;
    CUDA(cudaGraphGetNodes(graph, NULL, &n_nodes));
    assert_in_range(n_nodes, 1, (N_BLOCKS - 1) / SOFTQAM_CUDA_BLOCKS_PER_LAUNCH + 1);
    CUDA(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    for (int replay = 0; replay < 3; replay++) {
        fill_batch(&self, random);
        CUDA(cudaGraphLaunch(executable, stream));
        CUDA(cudaStreamSynchronize(stream));
        check_filled_batch(&self, "replayed batch");
    }
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    close_batch(&self);
}

static void test_batch_graph_capture(void **state)
{
    (void)state;
    harness_random random = harness_random_stream(STREAM_BATCH << 8);
    for (int format = SOFTQAM_OUTPUT_U8; format <= SOFTQAM_OUTPUT_F32; format++) {
        check_captured_batch((softqam_output_format)format, &random);
    }
}

static void assert_block_refused(softqam_demodulator *demodulator, softqam_block block, const char *what)
{
    softqam_block blocks[2] = {{0}, block};
    softqam_status status = softqam_cuda_demodulate_batch(demodulator, blocks, 2, 0);
    if (status != SOFTQAM_ERROR_INVALID_ARGUMENT) {
        fail_msg("%s: %s", what, softqam_status_string(status));
    }
    assert_true(strlen(softqam_error_message()) > 0);
}

static void test_batch_misuse(void **state)
{
    (void)state;
    const size_t n = 100;
    softqam_demodulator *cuda =
        create_for_llrs(SOFTQAM_BACKEND_CUDA, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL);
    uint8_t *d_memory;
    CUDA(cudaMalloc((void **)&d_memory, 64 * n));
    CUDA(cudaMemset(d_memory, 0, 64 * n));
    float *d_noise_var = (float *)(void *)(d_memory + 32 * n);
    const softqam_block good = {
        .n_symbols = n, .symbols = d_memory, .noise_var = d_noise_var, .noise_stride = 1, .out = d_memory + 48 * n};
    softqam_block bad = good;
    bad.noise_var = NULL;
    assert_block_refused(cuda, bad, "no noise variance");
    bad.noise_var = (const float *)(void *)(d_memory + 32 * n + 2);
    assert_block_refused(cuda, bad, "misaligned noise variances");
    bad = good;
    bad.symbols = d_memory + 4;
    assert_block_refused(cuda, bad, "misaligned symbols");
    bad.symbols_q = d_memory + 8 * n + 2;
    assert_block_refused(cuda, bad, "a misaligned plane");
    bad = good;
    bad.out = d_memory + 48 * n + 4;
    assert_block_refused(cuda, bad, "misaligned output");
    bad.out = d_memory + 8 * n - 8;
    assert_block_refused(cuda, bad, "output over the symbols");
    assert_int_equal(softqam_cuda_demodulate_batch(cuda, NULL, 1, 0), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(softqam_cuda_demodulate_batch(NULL, &good, 1, 0), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(softqam_cuda_demodulate_batch(cuda, NULL, 0, 0), SOFTQAM_OK);
    assert_int_equal(softqam_cuda_demodulate_batch(cuda, &good, 1, 0), SOFTQAM_OK);
    softqam_demodulator *cpu =
        create_for_llrs(SOFTQAM_BACKEND_CPU, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL);
    assert_int_equal(softqam_cuda_demodulate_batch(cpu, &good, 1, 0), SOFTQAM_ERROR_BACKEND_UNAVAILABLE);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(d_memory));
    softqam_destroy(cpu);
    softqam_destroy(cuda);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cf32),
        cmocka_unit_test(test_cs16),
        cmocka_unit_test(test_cs8),
        cmocka_unit_test(test_default_streams),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_cpu_plan_refused),
        cmocka_unit_test(test_graph_capture),
        cmocka_unit_test(test_mapped_host_memory),
        cmocka_unit_test(test_host_call_on_pinned_memory),
        cmocka_unit_test(test_host_call_on_memory_of_cuda),
        cmocka_unit_test(test_call_is_asynchronous),
        cmocka_unit_test(test_destroyed_before_it_ran),
        cmocka_unit_test(test_current_device),
        cmocka_unit_test(test_more_than_4_gib),
        cmocka_unit_test(test_llrs),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_batch_graph_capture),
        cmocka_unit_test(test_batch_misuse),
    };
    harness_require_cuda();
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
