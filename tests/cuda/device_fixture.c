/* SPDX-License-Identifier: MIT */
#include "device_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

/* The random streams of the programs begin at 2. */
enum { STREAM_SAMPLE = 1, STREAM_NOISE = 0x6e };

__attribute__((constructor)) static void require_cuda(void) { harness_require_cuda(); }

void device_assert_cuda(cudaError_t error, const char *call)
{
    if (error != cudaSuccess)
        fail_msg("%s: %s", call, cudaGetErrorString(error));
}

device_sample device_open_sample(softqam_input_format format, size_t n_symbols)
{
    size_t in_nbytes = n_symbols * softqam_input_symbol_nbytes(format);
    device_sample self = {
        .format = format,
        .symbols = harness_alloc(in_nbytes),
        .values = harness_alloc(n_symbols * 2 * sizeof(float)),
        .expected = harness_alloc(n_symbols * HARNESS_SYMBOL_BITS),
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

void device_close_sample(device_sample *self)
{
    free(self->expected);
    free(self->values);
    free(self->symbols);
}

static softqam_demodulator *create(softqam_input_format format)
{
    harness_setup setup = harness_soft_bits_setup();
    setup.context.backend = SOFTQAM_BACKEND_CUDA;
    setup.demodulator.input_format = format;
    return harness_create(&setup);
}

void device_enqueue(softqam_demodulator *demodulator, const void *d_symbols, const float *d_noise_var, size_t n_symbols,
                    void *d_out, cudaStream_t stream)
{
    softqam_status status = softqam_cuda_demodulate(demodulator, d_symbols, d_noise_var, n_symbols, d_out, stream);
    if (status != SOFTQAM_OK)
        fail_msg("softqam_cuda_demodulate: %s: %s", softqam_status_string(status), softqam_error_message());
}

void device_prepare_kernels(softqam_demodulator *demodulator)
{
    softqam_status status = softqam_context_prepare(softqam_demodulator_context(demodulator), SOFTQAM_PREPARE_KERNELS);
    if (status != SOFTQAM_OK)
        fail_msg("softqam_context_prepare: %s: %s", softqam_status_string(status), softqam_error_message());
}

device_output device_open_output(softqam_output_format format, size_t max_symbols)
{
    device_output self = {.format = format, .symbol_nbytes = harness_output_nbytes(format, 1)};
    self.max_nbytes = max_symbols * self.symbol_nbytes + 3 * DEVICE_MARGIN;
    CUDA(cudaMalloc((void **)&self.d_memory, self.max_nbytes));
    self.h_memory = harness_alloc(self.max_nbytes);
    return self;
}

void device_close_output(device_output *self)
{
    free(self->h_memory);
    CUDA(cudaFree(self->d_memory));
}

void device_prepare_output(device_output *self, size_t offset, const uint8_t *expected, size_t n_symbols)
{
    self->nbytes = n_symbols * self->symbol_nbytes;
    size_t start = DEVICE_MARGIN + offset * self->symbol_nbytes;
    assert_true(start + self->nbytes + DEVICE_MARGIN <= self->max_nbytes);
    self->d_out = self->d_memory + start;
    memset(self->h_memory, DEVICE_CANARY, start + self->nbytes + DEVICE_MARGIN);
    harness_poison(self->h_memory + start, expected, self->nbytes);
    CUDA(cudaMemcpy(self->d_memory, self->h_memory, start + self->nbytes + DEVICE_MARGIN, cudaMemcpyHostToDevice));
}

void device_check_output(device_output *self, const char *what, const float *values, const uint8_t *expected)
{
    size_t start = (size_t)(self->d_out - self->d_memory), end = start + self->nbytes;
    CUDA(cudaMemcpy(self->h_memory, self->d_memory, end + DEVICE_MARGIN, cudaMemcpyDeviceToHost));
    assert_true(harness_outputs_equal(what, self->format, values, expected, self->h_memory + start,
                                      self->nbytes / self->symbol_nbytes));
    for (size_t i = 0; i < end + DEVICE_MARGIN; i++)
        if ((i < start || i >= end) && self->h_memory[i] != DEVICE_CANARY)
            fail_msg("%s: byte %td from the start of %zu was overwritten", what, (ptrdiff_t)(i - start), self->nbytes);
}

uint64_t device_far_symbol(softqam_modulation modulation, unsigned n_layers)
{
    enum { SKIPPED = 1600 };
    const uint64_t period = ((uint64_t)1 << 31) - 1, n_bits = softqam_bits_per_symbol(modulation);
    for (uint64_t k = 0; k <= SKIPPED; k++) {
        /* The three parts of 31 bits have the sum 2^32 - 1 - SKIPPED. */
        const uint64_t bit = ((uint64_t)1 << 62) + ((period - SKIPPED + k) << 31) + (period - k);
        if (bit % (n_bits * n_layers) == 0)
            return bit / n_bits;
    }
    fail_msg("no such symbol");
    return 0;
}

cudaStream_t device_open_stream(void)
{
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

device_fixture device_open_fixture(softqam_input_format format, size_t max_symbols)
{
    device_fixture self = {
        .demodulator = create(format),
        .part = device_open_sample(format, max_symbols),
        .output = device_open_output(SOFTQAM_OUTPUT_U8, max_symbols),
        .stream = device_open_stream(),
    };
    CUDA(cudaMalloc((void **)&self.d_symbols, max_symbols * softqam_input_symbol_nbytes(format) + DEVICE_MARGIN));
    return self;
}

device_fixture device_open_llr_fixture(softqam_input_format in, softqam_output_format out, softqam_noise noise,
                                       size_t max_symbols)
{
    harness_setup setup = harness_format_setup(out, noise);
    harness_random random = harness_random_stream(STREAM_NOISE);
    device_fixture self = device_open_fixture(in, max_symbols);
    softqam_demodulator_destroy(self.demodulator);
    device_close_output(&self.output);
    free(self.part.expected);
    self.noise = harness_alloc(max_symbols * sizeof(float));
    harness_fill_noise(&random, HARNESS_NOISE_ANY, max_symbols, self.noise);
    CUDA(cudaMalloc((void **)&self.d_noise, max_symbols * sizeof(float) + DEVICE_MARGIN));
    setup.demodulator.input_format = in;
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    self.part.expected = harness_answer(&setup, self.part.symbols, self.noise, max_symbols);
    setup.context.backend = SOFTQAM_BACKEND_CUDA;
    self.demodulator = harness_create(&setup);
    self.output = device_open_output(out, max_symbols);
    return self;
}

void device_close_fixture(device_fixture *self)
{
    CUDA(cudaStreamDestroy(self->stream));
    CUDA(cudaFree(self->d_noise));
    free(self->noise);
    CUDA(cudaFree(self->d_symbols));
    device_close_output(&self->output);
    device_close_sample(&self->part);
    softqam_demodulator_destroy(self->demodulator);
}

void device_check_call(device_fixture *self, const char *what, size_t n_symbols, size_t in_offset, size_t out_offset,
                       cudaStream_t stream)
{
    size_t symbol_nbytes = softqam_input_symbol_nbytes(self->part.format);
    uint8_t *d_symbols = self->d_symbols + in_offset * symbol_nbytes;
    float *d_noise = self->d_noise ? self->d_noise + (in_offset + n_symbols) % 4 : NULL;
    CUDA(cudaMemcpy(d_symbols, self->part.symbols, n_symbols * symbol_nbytes, cudaMemcpyHostToDevice));
    if (d_noise)
        CUDA(cudaMemcpy(d_noise, self->noise, n_symbols * sizeof(float), cudaMemcpyHostToDevice));
    device_prepare_output(&self->output, out_offset, self->part.expected, n_symbols);
    /* The stream does not wait for the default one, nor do copies from pageable memory always for themselves. */
    CUDA(cudaDeviceSynchronize());
    device_enqueue(self->demodulator, d_symbols, d_noise, n_symbols, self->output.d_out, stream);
    CUDA(cudaStreamSynchronize(stream));
    device_check_output(&self->output, what, self->part.values, self->part.expected);
}

void device_fill_gains(harness_random *random, size_t n, float *gains)
{
    for (size_t k = 0; k < n; k++) {
        const uint32_t bits = harness_random_u32(random);
        const uint32_t usual = 0x3b800000 + (bits & 0x7ffffff); /* 2^-8 to 2^8 */
        memcpy(&gains[k], harness_random_below(random, 8) ? &usual : &bits, sizeof gains[k]);
    }
}
