/* SPDX-License-Identifier: MIT */
/* softqam_cuda_demodulate(): lengths, offsets, formats, streams, devices and misuse, also of segments; the bytes are
 * the CPU's. */
#include <stdlib.h>
#include <string.h>

#include "device_fixture.h"

enum { STREAM_LLRS = 3 };

static void check_lengths_and_offsets(softqam_input_format format, const char *what)
{
    enum { MAX_SYMBOLS = (1 << 20) + 77 };
    static const size_t lengths[] = {
        255, 256, 257, 511, 512, 513, 997, 65535, 65536, 65537, 99991, 135169, MAX_SYMBOLS - 4, MAX_SYMBOLS};
    SCOPED(device_slot_close) device_slot self;
    device_soft_bits_open(&self, format, MAX_SYMBOLS);
    const cudaStream_t stream = device_open_stream();
    for (size_t n = 0; n <= 70; n++) {
        for (size_t in_offset = 0; in_offset < 8; in_offset++) {
            device_check_call(&self, what, n, in_offset, n % 4, stream);
            device_check_call(&self, what, n, in_offset, in_offset % 4, stream);
        }
    }
    for (size_t i = 0; i < HARNESS_COUNT(lengths); i++) {
        for (size_t offset = 0; offset < 4; offset++) {
            device_check_call(&self, what, lengths[i], offset, 0, stream);
            device_check_call(&self, what, lengths[i], 0, offset, stream);
            device_check_call(&self, what, lengths[i], offset, offset, stream);
        }
    }
    CUDA(cudaStreamDestroy(stream));
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
            const softqam_segment copy = device_slot_expect(&slot, &segment, slot.expected.nbytes);
            device_enqueue(slot.cuda, copy.layers[0].symbols, copy.layers[0].noise_var, n, copy.out, 0);
            const size_t at = device_slot_compare(&slot);
            if (at < slot.expected.nbytes)
                fail_msg("%s to %s, %zu symbols, noise stride %zu: byte %zu is %d, not %d",
                         harness_input_names[slot.in], harness_output_names[slot.out], n, noise_stride, at,
                         slot.got[at], slot.expected.host[at]);
        }
    }
}

HARNESS_TEST(test_default_streams)
{
    SCOPED(device_slot_close) device_slot self;
    device_soft_bits_open(&self, SOFTQAM_INPUT_CF32, 10007);
    device_check_call(&self, "default stream", 10007, 0, 0, 0);
    device_check_call(&self, "legacy default stream", 10007, 1, 1, cudaStreamLegacy);
    device_check_call(&self, "default stream of the thread", 10007, 0, 1, cudaStreamPerThread);
}

static void check_misuse(softqam_input_format format)
{
    enum { N = 1000 };
    SCOPED(device_slot_close) device_slot self;
    device_soft_bits_open(&self, format, N);
    const softqam_segment good = device_soft_bits_expect(&self, N, 0, 0);
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(format);
    uint8_t *d_in = self.symbols.device, *d_out = good.out;
    const struct {
        const char *what;
        const void *d_symbols;
        const float *d_noise_var;
        size_t n_symbols;
        void *d_out;
    } rows[] = {
        {"no input", NULL, NULL, N, d_out},
        {"no output", d_in, NULL, N, NULL},
        {"a noise variance", d_in, (const float *)(void *)d_in, N, d_out},
        {"misaligned by one byte", d_in + 1, NULL, N, d_out},
        {"misaligned by a half", d_in + symbol_nbytes / 2, NULL, N, d_out},
        {"misaligned by all but one byte", d_in + symbol_nbytes - 1, NULL, N, d_out},
        {"in place", d_out, NULL, N, d_out},
        {"input begins in the output", d_out + (N - 1) * HARNESS_SYMBOL_BITS, NULL, N, d_out},
        {"input ends in the output", d_out + HARNESS_SYMBOL_BITS - N * symbol_nbytes, NULL, N, d_out},
        {"SIZE_MAX symbols", d_in, NULL, SIZE_MAX, d_out},
        {"bytes that wrap to 0", d_in, NULL, SIZE_MAX / 8 + 1, d_out},
        {"more bytes than PTRDIFF_MAX", d_in, NULL, PTRDIFF_MAX / 8 + 1, d_out},
    };
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        softqam_status status = softqam_cuda_demodulate(self.cuda, rows[k].d_symbols, rows[k].d_noise_var,
                                                        rows[k].n_symbols, rows[k].d_out, 0);
        if (status != SOFTQAM_ERROR_INVALID_ARGUMENT)
            fail_msg("%s: %s", rows[k].what, softqam_status_string(status));
        assert_true(strlen(softqam_error_message()) > 0);
    }
    /* Nothing was launched, and nothing is broken. */
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(self.got, self.expected.device, self.n_expected, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < self.n_expected; i++)
        assert_int_equal(self.got[i], DEVICE_CANARY);
    device_check_call(&self, "after misuse", N, 0, 0, 0);
    assert_int_equal(softqam_cuda_demodulate(self.cpu, d_in, NULL, N, d_out, 0), SOFTQAM_ERROR_BACKEND_UNAVAILABLE);
    assert_true(strlen(softqam_error_message()) > 0);
    assert_int_equal(softqam_cuda_demodulate(NULL, d_in, NULL, N, d_out, 0), SOFTQAM_ERROR_INVALID_ARGUMENT);
}

HARNESS_TEST(test_misuse)
{
    check_misuse(SOFTQAM_INPUT_CF32);
    check_misuse(SOFTQAM_INPUT_CS16);
    check_misuse(SOFTQAM_INPUT_CS8);
}

static void assert_current_device(int expected)
{
    int current;
    CUDA(cudaGetDevice(&current));
    assert_int_equal(current, expected);
}

/* Where there is a second device it is the context's, and the first stays the current one. */
HARNESS_TEST(test_current_device)
{
    enum { N = 5003 };
    int n_devices;
    CUDA(cudaGetDeviceCount(&n_devices));
    CUDA(cudaSetDevice(0));
    harness_setup setup = harness_soft_bits_setup();
    setup.context.backend = SOFTQAM_BACKEND_CUDA;
    setup.context.device = n_devices - 1;
    SCOPED(device_slot_close) device_slot self;
    device_soft_bits_open(&self, SOFTQAM_INPUT_CF32, N);
    softqam_demodulator *demodulator = harness_create(&setup);
    assert_current_device(0);
    harness_demodulate(self.cpu, self.symbols.host, N, self.expected.host);
    harness_poison(self.got, self.expected.host, N * HARNESS_SYMBOL_BITS);
    harness_demodulate(demodulator, self.symbols.host, N, self.got);
    assert_memory_equal(self.got, self.expected.host, N * HARNESS_SYMBOL_BITS);
    assert_current_device(0);
    softqam_demodulator_destroy(demodulator);
    assert_current_device(0);
    print_message("device %d of %d\n", n_devices - 1, n_devices);
}

HARNESS_TEST(test_misuse_of_segments)
{
    enum { N = 100 };
    harness_setup setup = harness_format_setup(SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL);
    setup.context.backend = SOFTQAM_BACKEND_CUDA;
    scoped_demodulator *cuda = harness_create(&setup);
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    scoped_demodulator *cpu = harness_create(&setup);
    uint8_t *memory, *noise, *out;
    CUDA(cudaMalloc((void **)&memory, 64 * N));
    CUDA(cudaMemset(memory, 0, 64 * N));
    noise = memory + 32 * N;
    out = memory + 48 * N;
    const struct {
        const char *what;
        softqam_status status;
        const softqam_demodulator *demodulator;
        const uint8_t *symbols, *symbols_q, *noise_var;
        uint8_t *out;
    } rows[] = {
        {"no noise variance", SOFTQAM_ERROR_INVALID_ARGUMENT, cuda, memory, NULL, NULL, out},
        {"misaligned noise variances", SOFTQAM_ERROR_INVALID_ARGUMENT, cuda, memory, NULL, noise + 2, out},
        {"misaligned symbols", SOFTQAM_ERROR_INVALID_ARGUMENT, cuda, memory + 4, NULL, noise, out},
        {"a misaligned plane", SOFTQAM_ERROR_INVALID_ARGUMENT, cuda, memory + 4, memory + 8 * N + 2, noise, out},
        {"output over the symbols", SOFTQAM_ERROR_INVALID_ARGUMENT, cuda, memory, NULL, noise, memory + 8 * N - 8},
        {"no demodulator", SOFTQAM_ERROR_INVALID_ARGUMENT, NULL, memory, NULL, noise, out},
        {"the CPU's", SOFTQAM_ERROR_BACKEND_UNAVAILABLE, cpu, memory, NULL, noise, out},
        {"nothing wrong", SOFTQAM_OK, cuda, memory, NULL, noise, out},
    };
    for (size_t k = 0; k < HARNESS_COUNT(rows); k++) {
        softqam_segment segments[2] = {
            {0}, harness_segment(rows[k].symbols, (const float *)(const void *)rows[k].noise_var, 1, N, rows[k].out)};
        segments[1].layers[0].symbols_q = rows[k].symbols_q;
        const softqam_status status = softqam_cuda_demodulate_segments(rows[k].demodulator, segments, 2, 0);
        if (status != rows[k].status)
            fail_msg("%s: %s", rows[k].what, softqam_status_string(status));
        assert_true(status == SOFTQAM_OK || strlen(softqam_error_message()) > 0);
    }
    assert_int_equal(softqam_cuda_demodulate_segments(cuda, NULL, 1, 0), SOFTQAM_ERROR_INVALID_ARGUMENT);
    assert_int_equal(softqam_cuda_demodulate_segments(cuda, NULL, 0, 0), SOFTQAM_OK);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(memory));
}
