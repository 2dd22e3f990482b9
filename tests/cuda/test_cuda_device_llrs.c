/* SPDX-License-Identifier: MIT */
/* LLRs in device memory, and segments that are refused, against the CPU backend, which test_llr_specified.c holds
 * against the reference.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device_fixture.h"

enum { STREAM_NOISE = 2, STREAM_BORDERS };

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

HARNESS_TEST(test_llrs)
{
    const size_t n_symbols = 70000;
    float *noise_var = harness_alloc(n_symbols * sizeof(float));
    harness_random random = harness_random_stream(STREAM_NOISE);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, n_symbols, noise_var);
    for (int format = SOFTQAM_INPUT_CF32; format < HARNESS_N_INPUT_FORMATS; format++) {
        device_sample part = device_open_sample((softqam_input_format)format, n_symbols);
        for (size_t k = 0; k < HARNESS_N_LLR_FORMATS; k++) {
            check_llrs(&part, noise_var, n_symbols, harness_llr_formats[k], SOFTQAM_NOISE_PER_CALL);
            check_llrs(&part, noise_var, n_symbols, harness_llr_formats[k], SOFTQAM_NOISE_PER_SYMBOL);
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

HARNESS_TEST(test_borders)
{
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

static void assert_segment_refused(softqam_demodulator *demodulator, softqam_segment segment, const char *what)
{
    softqam_segment segments[2] = {{0}, segment};
    softqam_status status = softqam_cuda_demodulate_segments(demodulator, segments, 2, 0);
    if (status != SOFTQAM_ERROR_INVALID_ARGUMENT)
        fail_msg("%s: %s", what, softqam_status_string(status));
    assert_true(strlen(softqam_error_message()) > 0);
}

HARNESS_TEST(test_misuse)
{
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
