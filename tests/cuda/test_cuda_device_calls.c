/* SPDX-License-Identifier: MIT */
/* softqam_cuda_demodulate(): lengths, offsets, formats, streams, devices and misuse, soft bits against the oracle. */
#include <stdlib.h>
#include <string.h>

#include "device_fixture.h"

static void check_lengths_and_offsets(softqam_input_format format, const char *what)
{
    static const size_t lengths[] = {
        255, 256, 257, 511, 512, 513, 997, 65535, 65536, 65537, 99991, 135169, DEVICE_SAMPLES - 4, DEVICE_SAMPLES};
    device_fixture self = device_open_fixture(format, DEVICE_SAMPLES);
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
    device_close_fixture(&self);
}

HARNESS_TEST(test_cf32) { check_lengths_and_offsets(SOFTQAM_INPUT_CF32, "cf32 on the device"); }

HARNESS_TEST(test_cs16) { check_lengths_and_offsets(SOFTQAM_INPUT_CS16, "cs16 on the device"); }

HARNESS_TEST(test_cs8) { check_lengths_and_offsets(SOFTQAM_INPUT_CS8, "cs8 on the device"); }

HARNESS_TEST(test_default_streams)
{
    device_fixture self = device_open_fixture(SOFTQAM_INPUT_CF32, 10007);
    device_check_call(&self, "default stream", 10007, 0, 0, 0);
    device_check_call(&self, "legacy default stream", 10007, 1, 1, cudaStreamLegacy);
    device_check_call(&self, "default stream of the thread", 10007, 0, 1, cudaStreamPerThread);
    device_close_fixture(&self);
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
    device_fixture self = device_open_fixture(format, n);
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
    device_close_fixture(&self);
}

HARNESS_TEST(test_misuse)
{
    check_misuse(SOFTQAM_INPUT_CF32);
    check_misuse(SOFTQAM_INPUT_CS16);
    check_misuse(SOFTQAM_INPUT_CS8);
}

HARNESS_TEST(test_cpu_context_refused)
{
    device_fixture self = device_open_fixture(SOFTQAM_INPUT_CF32, 16);
    harness_setup setup = harness_soft_bits_setup();
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    softqam_demodulator *cpu = harness_create(&setup);
    device_prepare_output(&self.output, 0, self.part.expected, 16);
    assert_int_equal(softqam_cuda_demodulate(cpu, self.d_symbols, NULL, 16, self.output.d_out, self.stream),
                     SOFTQAM_ERROR_BACKEND_UNAVAILABLE);
    assert_true(strlen(softqam_error_message()) > 0);
    assert_int_equal(softqam_cuda_demodulate(NULL, self.d_symbols, NULL, 16, self.output.d_out, self.stream),
                     SOFTQAM_ERROR_INVALID_ARGUMENT);
    softqam_demodulator_destroy(cpu);
    device_close_fixture(&self);
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
