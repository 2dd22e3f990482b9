/* SPDX-License-Identifier: MIT */
/* softqam_cuda_demodulate(): lengths, offsets, formats, streams, devices and misuse, also of segments; soft bits
 * against the oracle, LLRs against the CPU. */
#include <stdlib.h>
#include <string.h>

#include "device_fixture.h"

enum { STREAM_LLRS = 3 };

static void check_lengths_and_offsets(softqam_input_format format, const char *what)
{
    static const size_t lengths[] = {
        255, 256, 257, 511, 512, 513, 997, 65535, 65536, 65537, 99991, 135169, DEVICE_SAMPLES - 4, DEVICE_SAMPLES};
    SCOPED(device_close_fixture) device_fixture self = device_open_fixture(format, DEVICE_SAMPLES);
    for (size_t n = 0; n <= 70; n++) {
        for (size_t in_offset = 0; in_offset < 8; in_offset++) {
            device_check_call(&self, what, n, in_offset, n % 4, self.stream);
            device_check_call(&self, what, n, in_offset, in_offset % 4, self.stream);
        }
    }
    for (size_t i = 0; i < HARNESS_COUNT(lengths); i++) {
        for (size_t offset = 0; offset < 4; offset++) {
            device_check_call(&self, what, lengths[i], offset, 0, self.stream);
            device_check_call(&self, what, lengths[i], 0, offset, self.stream);
            device_check_call(&self, what, lengths[i], offset, offset, self.stream);
        }
    }
}

HARNESS_TEST(test_cf32) { check_lengths_and_offsets(SOFTQAM_INPUT_CF32, "cf32 on the device"); }

HARNESS_TEST(test_cs16) { check_lengths_and_offsets(SOFTQAM_INPUT_CS16, "cs16 on the device"); }

HARNESS_TEST(test_cs8) { check_lengths_and_offsets(SOFTQAM_INPUT_CS8, "cs8 on the device"); }

HARNESS_TEST(test_llrs)
{
    enum { MAX_SYMBOLS = 65537, ROOM = 40, BEFORE = 32 };
    static const size_t lengths[] = {1, 2, 3, 31, 255, 256, 257, 997, MAX_SYMBOLS};
    harness_random random = harness_random_stream(STREAM_LLRS);
    for (size_t k = 0; k < 2 * HARNESS_N_LLR_FORMATS * HARNESS_N_INPUT_FORMATS; k++) {
        harness_setup setup =
            harness_format_setup(harness_llr_formats[k / 2 % HARNESS_N_LLR_FORMATS], (softqam_noise)(k % 2));
        setup.demodulator.input_format = (softqam_input_format)(k / 2 / HARNESS_N_LLR_FORMATS);
        const size_t out_nbytes = harness_output_nbytes(setup.demodulator.output_format, 1);
        const size_t in_nbytes = softqam_input_symbol_nbytes(setup.demodulator.input_format);
        SCOPED(device_slot_close) device_slot slot;
        device_slot_open(&slot, setup, MAX_SYMBOLS + ROOM, (MAX_SYMBOLS + ROOM) * out_nbytes, &random);
        for (size_t i = 0; i < HARNESS_COUNT(lengths) * 4; i++) {
            const size_t n = lengths[i / 4], noise_stride = k % 2 == SOFTQAM_NOISE_PER_SYMBOL;
            const softqam_segment segment = harness_segment(
                slot.symbols.host + i % 4 * in_nbytes, (const float *)(void *)slot.noise.host + (i + n) % 4,
                noise_stride, n, slot.expected.host + (BEFORE + i % 3) * out_nbytes);
            const size_t at = device_slot_check(&slot, &segment, true, slot.expected.nbytes);
            if (at < slot.expected.nbytes)
                fail_msg("%s to %s, %zu symbols, noise stride %zu: byte %zu is %d, not %d",
                         harness_input_names[slot.in], harness_output_names[slot.out], n, noise_stride, at,
                         slot.got[at], slot.expected.host[at]);
        }
    }
}

HARNESS_TEST(test_default_streams)
{
    SCOPED(device_close_fixture) device_fixture self = device_open_fixture(SOFTQAM_INPUT_CF32, 10007);
    device_check_call(&self, "default stream", 10007, 0, 0, 0);
    device_check_call(&self, "legacy default stream", 10007, 1, 1, cudaStreamLegacy);
    device_check_call(&self, "default stream of the thread", 10007, 0, 1, cudaStreamPerThread);
}

static void assert_refused(device_fixture *self, const void *d_symbols, const float *d_noise_var, size_t n_symbols,
                           void *d_out, const char *what)
{
    softqam_status status =
        softqam_cuda_demodulate(self->demodulator, d_symbols, d_noise_var, n_symbols, d_out, self->stream);
    if (status != SOFTQAM_ERROR_INVALID_ARGUMENT)
        fail_msg("%s: %s", what, softqam_status_string(status));
    assert_true(strlen(softqam_error_message()) > 0);
    CUDA(cudaStreamSynchronize(self->stream));
}

static void check_misuse(softqam_input_format format)
{
    const size_t n = 1000;
    SCOPED(device_close_fixture) device_fixture self = device_open_fixture(format, n);
    size_t symbol_nbytes = softqam_input_symbol_nbytes(format);
    device_prepare_output(&self.output, 0, self.part.expected, n);
    uint8_t *d_in = self.d_symbols, *d_out = self.output.d_out;
    assert_refused(&self, NULL, NULL, n, d_out, "no input");
    assert_refused(&self, d_in, NULL, n, NULL, "no output");
    assert_refused(&self, d_in, (const float *)(void *)d_in, n, d_out, "a noise variance");
    for (size_t i = 1; i < symbol_nbytes; i++)
        assert_refused(&self, d_in + i, NULL, n, d_out, "misaligned input");
    assert_refused(&self, d_out, NULL, n, d_out, "in place");
    assert_refused(&self, d_out + (n - 1) * HARNESS_SYMBOL_BITS, NULL, n, d_out, "input begins in the output");
    assert_refused(&self, d_out + HARNESS_SYMBOL_BITS - n * symbol_nbytes, NULL, n, d_out, "input ends in the output");
    assert_refused(&self, d_in, NULL, SIZE_MAX, d_out, "SIZE_MAX symbols");
    assert_refused(&self, d_in, NULL, SIZE_MAX / 8 + 1, d_out, "bytes that wrap to 0");
    assert_refused(&self, d_in, NULL, PTRDIFF_MAX / 8 + 1, d_out, "more bytes than PTRDIFF_MAX");
    /* Nothing was launched, and nothing is broken. */
    CUDA(cudaMemcpy(self.output.h_memory, d_out, self.output.nbytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < self.output.nbytes; i++)
        assert_int_equal(self.output.h_memory[i], (uint8_t)~self.part.expected[i]);
    device_check_call(&self, "after misuse", n, 0, 0, self.stream);
}

HARNESS_TEST(test_misuse)
{
    check_misuse(SOFTQAM_INPUT_CF32);
    check_misuse(SOFTQAM_INPUT_CS16);
    check_misuse(SOFTQAM_INPUT_CS8);
}

HARNESS_TEST(test_cpu_context_refused)
{
    SCOPED(device_close_fixture) device_fixture self = device_open_fixture(SOFTQAM_INPUT_CF32, 16);
    harness_setup setup = harness_soft_bits_setup();
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    scoped_demodulator *cpu = harness_create(&setup);
    device_prepare_output(&self.output, 0, self.part.expected, 16);
    assert_int_equal(softqam_cuda_demodulate(cpu, self.d_symbols, NULL, 16, self.output.d_out, self.stream),
                     SOFTQAM_ERROR_BACKEND_UNAVAILABLE);
    assert_true(strlen(softqam_error_message()) > 0);
    assert_int_equal(softqam_cuda_demodulate(NULL, self.d_symbols, NULL, 16, self.output.d_out, self.stream),
                     SOFTQAM_ERROR_INVALID_ARGUMENT);
}

/* Where there is a second device it is the context's, and the first stays the current one. */
HARNESS_TEST(test_current_device)
{
    int n_devices, current;
    CUDA(cudaGetDeviceCount(&n_devices));
    CUDA(cudaSetDevice(0));
    harness_setup setup = harness_soft_bits_setup();
    setup.context.backend = SOFTQAM_BACKEND_CUDA;
    setup.context.device = n_devices - 1;
    softqam_demodulator *demodulator = harness_create(&setup);
    CUDA(cudaGetDevice(&current));
    assert_int_equal(current, 0);
    device_sample part = device_open_sample(SOFTQAM_INPUT_CF32, 5003);
    uint8_t *out = harness_alloc(5003 * HARNESS_SYMBOL_BITS);
    harness_poison(out, part.expected, 5003 * HARNESS_SYMBOL_BITS);
    harness_demodulate(demodulator, part.symbols, 5003, out);
    assert_true(harness_soft_bits_equal("the last device", part.values, part.expected, out, 5003));
    CUDA(cudaGetDevice(&current));
    assert_int_equal(current, 0);
    softqam_demodulator_destroy(demodulator);
    CUDA(cudaGetDevice(&current));
    assert_int_equal(current, 0);
    free(out);
    device_close_sample(&part);
    print_message("device %d of %d\n", n_devices - 1, n_devices);
}

static void assert_segment_refused(softqam_demodulator *demodulator, softqam_segment segment, const char *what)
{
    softqam_segment segments[2] = {{0}, segment};
    softqam_status status = softqam_cuda_demodulate_segments(demodulator, segments, 2, 0);
    if (status != SOFTQAM_ERROR_INVALID_ARGUMENT)
        fail_msg("%s: %s", what, softqam_status_string(status));
    assert_true(strlen(softqam_error_message()) > 0);
}

HARNESS_TEST(test_misuse_of_segments)
{
    const size_t n = 100;
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL);
    setup.context.backend = SOFTQAM_BACKEND_CUDA;
    scoped_demodulator *cuda = harness_create(&setup);
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
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    scoped_demodulator *cpu = harness_create(&setup);
    assert_int_equal(softqam_cuda_demodulate_segments(cpu, &good, 1, 0), SOFTQAM_ERROR_BACKEND_UNAVAILABLE);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(d_memory));
}
