/* SPDX-License-Identifier: MIT */
/* LLRs and segments in device memory, against the CPU backend, which test_llr_specified.c holds against the reference.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device_fixture.h"

enum { STREAM_NOISE = 2, STREAM_SEGMENTS, STREAM_BORDERS };

static const softqam_output_format llr_formats[] = {SOFTQAM_OUTPUT_S8, SOFTQAM_OUTPUT_S16, SOFTQAM_OUTPUT_F16,
                                                    SOFTQAM_OUTPUT_F32};

static softqam_demodulator *create_for_llrs(softqam_backend backend, softqam_input_format in, softqam_output_format out,
                                            softqam_noise noise)
{
    harness_setup setup = harness_default_setup();
    setup.context.backend = backend;
    setup.demodulator.input_format = in;
    setup.demodulator.output_format = out;
    setup.demodulator.noise = noise;
    return harness_create(&setup);
}

static void *copy_to_device(const void *bytes, size_t nbytes)
{
    void *d_bytes;
    CUDA(cudaMalloc(&d_bytes, nbytes));
    CUDA(cudaMemcpy(d_bytes, bytes, nbytes, cudaMemcpyHostToDevice));
    return d_bytes;
}

/* Symbols and noise variances from the middle of device memory, several lengths and offsets. */
static void check_llrs(const device_sample *part, const float *noise_var, size_t n_symbols,
                       softqam_output_format format, softqam_noise noise)
{
    static const size_t lengths[] = {1, 2, 3, 31, 255, 256, 257, 997, 65537};
    size_t in_nbytes = softqam_input_symbol_nbytes(part->format), out_nbytes = harness_output_nbytes(format, 1);
    softqam_demodulator *cpu = create_for_llrs(SOFTQAM_BACKEND_CPU, part->format, format, noise);
    softqam_demodulator *cuda = create_for_llrs(SOFTQAM_BACKEND_CUDA, part->format, format, noise);
    uint8_t *expected = harness_alloc(n_symbols * out_nbytes);
    uint8_t *d_symbols = copy_to_device(part->symbols, n_symbols * in_nbytes);
    float *d_noise_var = copy_to_device(noise_var, n_symbols * sizeof(float));
    device_output output = device_open_output(format, n_symbols);
    cudaStream_t stream = device_open_stream();
    for (size_t i = 0; i < HARNESS_COUNT(lengths) * 4; i++) {
        size_t n = lengths[i / 4], first = i % 4, first_noise = (i + i / 4) % 4;
        harness_demodulate_llrs(cpu, part->symbols + first * in_nbytes, noise_var + first_noise, n, expected);
        device_prepare_output(&output, i % 3, expected, n);
        CUDA(cudaDeviceSynchronize());
        softqam_status status = softqam_cuda_demodulate(cuda, d_symbols + first * in_nbytes, d_noise_var + first_noise,
                                                        n, output.d_out, stream);
        assert_int_equal(status, SOFTQAM_OK);
        CUDA(cudaStreamSynchronize(stream));
        device_check_output(&output, "LLRs on the device", part->values + 2 * first, expected);
    }
    CUDA(cudaStreamDestroy(stream));
    device_close_output(&output);
    CUDA(cudaFree(d_noise_var));
    CUDA(cudaFree(d_symbols));
    free(expected);
    softqam_demodulator_destroy(cuda);
    softqam_demodulator_destroy(cpu);
}

static void test_llrs(void **state)
{
    (void)state;
    const size_t n_symbols = 70000;
    float *noise_var = harness_alloc(n_symbols * sizeof(float));
    harness_random random = harness_random_stream(STREAM_NOISE);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, n_symbols, noise_var);
    for (int format = SOFTQAM_INPUT_CF32; format < HARNESS_N_INPUT_FORMATS; format++) {
        device_sample part = device_open_sample((softqam_input_format)format, n_symbols);
        for (size_t k = 0; k < HARNESS_COUNT(llr_formats); k++) {
            check_llrs(&part, noise_var, n_symbols, llr_formats[k], SOFTQAM_NOISE_PER_CALL);
            check_llrs(&part, noise_var, n_symbols, llr_formats[k], SOFTQAM_NOISE_PER_SYMBOL);
        }
        device_close_sample(&part);
    }
    free(noise_var);
}

/* Where kernels take another way, or could go wrong: LLRs of this many steps, nats, or anything between. */
static float component_at_border(harness_random *random, float noise_var)
{
    static const float borders[] = {0.5f,      126.5f,  127.5f,  128.5f,    32767.5f, 0x1p22f,
                                    0x1.8p23f, 0x1p24f, 0x1p30f, 0x1.8p53f, 0x1p54f,  0x1p61f};
    static const float others[] = {0.0f, -0.0f, 0x1p-63f, 0x0.ffffffp-63f, 3e38f, -3e38f, INFINITY, NAN};
    if (harness_random_below(random, 8) == 0)
        return others[harness_random_below(random, HARNESS_COUNT(others))];
    const float steps = borders[harness_random_below(random, HARNESS_COUNT(borders))];
    const float value = steps * noise_var / (harness_random_below(random, 2) ? 6.0f : 1.0f);
    const float beside = value * (1.0f + ((float)harness_random_below(random, 17) - 8.0f) * 0x1p-22f);
    return harness_random_below(random, 2) ? beside : -beside;
}

static void test_borders(void **state)
{
    (void)state;
    enum { N = 20000 };
    float *symbols = harness_alloc(2 * N * sizeof(float)), *noise_var = harness_alloc(N * sizeof(float));
    harness_random random = harness_random_stream(STREAM_BORDERS);
    for (size_t k = 0; k < N; k++) {
        noise_var[k] = ldexpf(1.0f + (float)harness_random_below(&random, 8) / 8.0f,
                              (int)harness_random_below(&random, 144) - 102);
        symbols[2 * k] = component_at_border(&random, noise_var[k]);
        symbols[2 * k + 1] = component_at_border(&random, noise_var[k]);
    }
    float *d_symbols = copy_to_device(symbols, 2 * N * sizeof(float));
    float *d_noise_var = copy_to_device(noise_var, N * sizeof(float));
    const size_t nbytes = N * HARNESS_MAX_SYMBOL_BITS * sizeof(float);
    uint8_t *expected = harness_alloc(nbytes), *got = harness_alloc(nbytes);
    uint8_t *d_out = copy_to_device(got, nbytes);
    for (int out = SOFTQAM_OUTPUT_S8; out <= SOFTQAM_OUTPUT_F32; out++)
        for (int m = SOFTQAM_MODULATION_BPSK; m <= SOFTQAM_MODULATION_1024QAM; m++) {
            harness_setup setup = harness_default_setup();
            setup.demodulator.output_format = (softqam_output_format)out;
            setup.demodulator.modulation = (softqam_modulation)m;
            setup.context.backend = SOFTQAM_BACKEND_CPU;
            softqam_demodulator *cpu = harness_create(&setup);
            setup.context.backend = SOFTQAM_BACKEND_CUDA;
            softqam_demodulator *cuda = harness_create(&setup);
            const size_t written =
                N * softqam_output_nbytes(setup.demodulator.output_format, setup.demodulator.modulation, 1);
            harness_demodulate_llrs(cpu, symbols, noise_var, N, expected);
            CUDA(cudaMemset(d_out, DEVICE_CANARY, nbytes));
            assert_int_equal(softqam_cuda_demodulate(cuda, d_symbols, d_noise_var, N, d_out, 0), SOFTQAM_OK);
            CUDA(cudaMemcpy(got, d_out, written, cudaMemcpyDeviceToHost));
            for (size_t at = 0; at < written; at++)
                if (got[at] != expected[at])
                    fail_msg("%s, modulation %d: byte %zu is %d, not %d", harness_output_names[out], m, at, got[at],
                             expected[at]);
            softqam_demodulator_destroy(cuda);
            softqam_demodulator_destroy(cpu);
        }
    CUDA(cudaFree(d_out));
    CUDA(cudaFree(d_noise_var));
    CUDA(cudaFree(d_symbols));
    free(got);
    free(expected);
    free(noise_var);
    free(symbols);
}

/* Segments that read anywhere from one piece of memory and one of noise variances, and write one behind the other into
 * a third, on the host and on the device. */
enum { N_SEGMENTS = 200, N_COMPONENTS = 1 << 16, N_NOISE = 1 << 14, MAX_SYMBOLS = 2000 };

typedef struct segment_set {
    softqam_input_format in;
    softqam_output_format out;
    softqam_segment segments[N_SEGMENTS]; /* host memory */
    softqam_segment d_segments[N_SEGMENTS];
    uint8_t *symbols;
    uint8_t *d_symbols;
    float *noise_var;
    float *d_noise_var;
    uint8_t *expected;
    uint8_t *got;
    uint8_t *d_out;
    size_t in_nbytes;
    size_t out_nbytes;
} segment_set;

/* New contents in the same places, on both sides, and what they must give. */
static void fill_segments(segment_set *self, harness_random *random)
{
    if (self->in == SOFTQAM_INPUT_CF32)
        harness_fill_mixture(random, N_COMPONENTS / 2, (float *)(void *)self->symbols);
    else
        harness_random_fill(random, self->symbols, self->in_nbytes);
    harness_fill_noise(random, HARNESS_NOISE_ANY, N_NOISE, self->noise_var);
    memset(self->expected, DEVICE_CANARY, self->out_nbytes);
    softqam_demodulator *cpu = create_for_llrs(SOFTQAM_BACKEND_CPU, self->in, self->out, SOFTQAM_NOISE_PER_CALL);
    harness_demodulate_segments(cpu, self->segments, N_SEGMENTS);
    softqam_demodulator_destroy(cpu);
    CUDA(cudaMemcpy(self->d_symbols, self->symbols, self->in_nbytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(self->d_noise_var, self->noise_var, N_NOISE * sizeof(float), cudaMemcpyHostToDevice));
    memcpy(self->got, self->expected, self->out_nbytes);
    for (size_t k = 0; k < N_SEGMENTS; k++) {
        size_t at = (size_t)((uint8_t *)self->segments[k].out - self->expected);
        size_t nbytes = self->segments[k].n_symbols * harness_output_nbytes(self->out, 1);
        harness_poison(self->got + at, self->expected + at, nbytes);
    }
    CUDA(cudaMemcpy(self->d_out, self->got, self->out_nbytes, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
}

static void check_filled_segments(segment_set *self, const char *what)
{
    CUDA(cudaMemcpy(self->got, self->d_out, self->out_nbytes, cudaMemcpyDeviceToHost));
    if (memcmp(self->got, self->expected, self->out_nbytes) == 0)
        return;
    size_t at = 0;
    while (self->got[at] == self->expected[at])
        at++;
    fail_msg("%s, input %d, output %d: byte %zu of %zu is %d, not %d", what, (int)self->in, (int)self->out, at,
             self->out_nbytes, self->got[at], self->expected[at]);
}

/* Strides of 1 to 4, planes and pairs, one noise variance and many, empty segments, outputs 0 to 3 times their
 * alignment apart. */
static void lay_out_segment(segment_set *self, harness_random *random, size_t k, size_t *end)
{
    size_t component_nbytes = softqam_input_symbol_nbytes(self->in) / 2;
    softqam_segment *segment = &self->segments[k], *d_segment = &self->d_segments[k];
    bool planes = harness_random_below(random, 2);
    *segment = (softqam_segment){
        .n_symbols = k % 7 == 3 ? 0 : harness_random_below(random, k % 5 ? 300 : MAX_SYMBOLS),
        .symbol_stride = harness_random_below(random, 5),
        .noise_stride = harness_random_below(random, 4),
    };
    *d_segment = *segment;
    /* The furthest that a segment reaches: MAX_SYMBOLS symbols of two components, four apart. */
    size_t first = harness_random_below(random, (N_COMPONENTS - 8 * MAX_SYMBOLS) / 2) * (planes ? 1 : 2);
    size_t first_q = harness_random_below(random, N_COMPONENTS - 8 * MAX_SYMBOLS);
    size_t first_noise = harness_random_below(random, N_NOISE - 4 * MAX_SYMBOLS);
    segment->layers[0].symbols = self->symbols + first * component_nbytes;
    d_segment->layers[0].symbols = self->d_symbols + first * component_nbytes;
    segment->layers[0].symbols_q = planes ? self->symbols + first_q * component_nbytes : NULL;
    d_segment->layers[0].symbols_q = planes ? self->d_symbols + first_q * component_nbytes : NULL;
    if (self->out != SOFTQAM_OUTPUT_U8) {
        segment->layers[0].noise_var = self->noise_var + first_noise;
        d_segment->layers[0].noise_var = self->d_noise_var + first_noise;
    }
    size_t symbol_nbytes = harness_output_nbytes(self->out, 1);
    *end += (symbol_nbytes < 16 ? 8 : 16) * harness_random_below(random, 4);
    segment->out = self->expected + *end;
    d_segment->out = self->d_out + *end;
    *end += segment->n_symbols * symbol_nbytes;
    assert_true(*end <= self->out_nbytes);
}

static void open_segments(segment_set *self, softqam_input_format in, softqam_output_format out, harness_random *random)
{
    *self = (segment_set){.in = in, .out = out};
    self->in_nbytes = N_COMPONENTS * softqam_input_symbol_nbytes(in) / 2;
    self->out_nbytes = (size_t)N_SEGMENTS * (MAX_SYMBOLS / 3 * harness_output_nbytes(out, 1) + 48);
    self->symbols = harness_alloc(self->in_nbytes);
    self->noise_var = harness_alloc(N_NOISE * sizeof(float));
    self->expected = harness_alloc(self->out_nbytes);
    self->got = harness_alloc(self->out_nbytes);
    CUDA(cudaMalloc((void **)&self->d_symbols, self->in_nbytes));
    CUDA(cudaMalloc((void **)&self->d_noise_var, N_NOISE * sizeof(float)));
    CUDA(cudaMalloc((void **)&self->d_out, self->out_nbytes));
    size_t end = 0;
    for (size_t k = 0; k < N_SEGMENTS; k++)
        lay_out_segment(self, random, k, &end);
}

static void close_segments(segment_set *self)
{
    CUDA(cudaFree(self->d_out));
    CUDA(cudaFree(self->d_noise_var));
    CUDA(cudaFree(self->d_symbols));
    free(self->got);
    free(self->expected);
    free(self->noise_var);
    free(self->symbols);
}

static void test_segments(void **state)
{
    (void)state;
    harness_random random = harness_random_stream(STREAM_SEGMENTS);
    cudaStream_t stream = device_open_stream();
    for (unsigned k = 0; k < 16; k++) {
        segment_set self;
        open_segments(&self, (softqam_input_format)(k / 4), (softqam_output_format)(k % 4), &random);
        softqam_demodulator *cuda =
            create_for_llrs(SOFTQAM_BACKEND_CUDA, self.in, self.out, (softqam_noise)(k / 4 % 2));
        fill_segments(&self, &random);
        assert_int_equal(softqam_cuda_demodulate_segments(cuda, self.d_segments, N_SEGMENTS, stream), SOFTQAM_OK);
        CUDA(cudaStreamSynchronize(stream));
        check_filled_segments(&self, "segments");
        softqam_demodulator_destroy(cuda);
        close_segments(&self);
    }
    CUDA(cudaStreamDestroy(stream));
}

/* Captured once, with a list of segments that is gone by the time of the replays: those find new symbols and new noise
 * variances in the same places. */
static void check_captured_segments(softqam_output_format format, harness_random *random)
{
    segment_set self;
    open_segments(&self, SOFTQAM_INPUT_CF32, format, random);
    softqam_demodulator *cuda = create_for_llrs(SOFTQAM_BACKEND_CUDA, self.in, format, SOFTQAM_NOISE_PER_CALL);
    cudaStream_t stream = device_open_stream();
    device_prepare_kernels(cuda);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    assert_int_equal(softqam_cuda_demodulate_segments(cuda, self.d_segments, N_SEGMENTS, stream), SOFTQAM_OK);
    CUDA(cudaStreamEndCapture(stream, &graph));
    memset(self.d_segments, 0xff, sizeof self.d_segments);
    softqam_demodulator_destroy(cuda);
    size_t n_nodes = 0;
    CUDA(cudaGraphGetNodes(graph, NULL, &n_nodes));
    /* 4 KiB of arguments, which every driver takes, hold more than twenty segments. */
    assert_in_range(n_nodes, 1, N_SEGMENTS / 20);
    CUDA(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    for (int replay = 0; replay < 3; replay++) {
        fill_segments(&self, random);
        CUDA(cudaGraphLaunch(executable, stream));
        CUDA(cudaStreamSynchronize(stream));
        check_filled_segments(&self, "replayed segments");
    }
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    close_segments(&self);
}

static void test_graph_capture(void **state)
{
    (void)state;
    harness_random random = harness_random_stream(STREAM_SEGMENTS << 8);
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++)
        check_captured_segments((softqam_output_format)format, &random);
}

static void assert_segment_refused(softqam_demodulator *demodulator, softqam_segment segment, const char *what)
{
    softqam_segment segments[2] = {{0}, segment};
    softqam_status status = softqam_cuda_demodulate_segments(demodulator, segments, 2, 0);
    if (status != SOFTQAM_ERROR_INVALID_ARGUMENT)
        fail_msg("%s: %s", what, softqam_status_string(status));
    assert_true(strlen(softqam_error_message()) > 0);
}

static void test_misuse(void **state)
{
    (void)state;
    const size_t n = 100;
    softqam_demodulator *cuda =
        create_for_llrs(SOFTQAM_BACKEND_CUDA, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL);
    uint8_t *d_memory;
    CUDA(cudaMalloc((void **)&d_memory, 64 * n));
    CUDA(cudaMemset(d_memory, 0, 64 * n));
    float *d_noise_var = (float *)(void *)(d_memory + 32 * n);
    const softqam_segment good = {.n_symbols = n,
                                  .layers = {{.symbols = d_memory, .noise_var = d_noise_var}},
                                  .noise_stride = 1,
                                  .out = d_memory + 48 * n};
    softqam_segment bad = good;
    bad.layers[0].noise_var = NULL;
    assert_segment_refused(cuda, bad, "no noise variance");
    bad.layers[0].noise_var = (const float *)(void *)(d_memory + 32 * n + 2);
    assert_segment_refused(cuda, bad, "misaligned noise variances");
    bad = good;
    bad.layers[0].symbols = d_memory + 4;
    assert_segment_refused(cuda, bad, "misaligned symbols");
    bad.layers[0].symbols_q = d_memory + 8 * n + 2;
    assert_segment_refused(cuda, bad, "a misaligned plane");
    bad = good;
    bad.out = d_memory + 8 * n - 8;
    assert_segment_refused(cuda, bad, "output over the symbols");
    assert_int_equal(softqam_cuda_demodulate_segments(cuda, NULL, 1, 0), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(softqam_cuda_demodulate_segments(NULL, &good, 1, 0), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(softqam_cuda_demodulate_segments(cuda, NULL, 0, 0), SOFTQAM_OK);
    assert_int_equal(softqam_cuda_demodulate_segments(cuda, &good, 1, 0), SOFTQAM_OK);
    softqam_demodulator *cpu =
        create_for_llrs(SOFTQAM_BACKEND_CPU, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL);
    assert_int_equal(softqam_cuda_demodulate_segments(cpu, &good, 1, 0), SOFTQAM_ERROR_BACKEND_UNAVAILABLE);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(d_memory));
    softqam_demodulator_destroy(cpu);
    softqam_demodulator_destroy(cuda);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_llrs),          cmocka_unit_test(test_borders), cmocka_unit_test(test_segments),
        cmocka_unit_test(test_graph_capture), cmocka_unit_test(test_misuse),
    };
    harness_require_cuda();
    return harness_main(argc, argv, tests, HARNESS_COUNT(tests));
}
