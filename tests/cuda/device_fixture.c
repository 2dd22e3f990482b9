/* SPDX-License-Identifier: MIT */
#include "device_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

/* The random streams of the programs begin at 2. */
enum { STREAM_SAMPLE = 1 };

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

void device_enqueue(const softqam_demodulator *demodulator, const void *d_symbols, const float *d_noise_var,
                    size_t n_symbols, void *d_out, cudaStream_t stream)
{
    softqam_status status = softqam_cuda_demodulate(demodulator, d_symbols, d_noise_var, n_symbols, d_out, stream);
    if (status != SOFTQAM_OK)
        fail_msg("softqam_cuda_demodulate: %s: %s", softqam_status_string(status), softqam_error_message());
}

void device_prepare_kernels(const softqam_demodulator *demodulator)
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

void device_close_fixture(device_fixture *self)
{
    CUDA(cudaStreamDestroy(self->stream));
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
    CUDA(cudaMemcpy(d_symbols, self->part.symbols, n_symbols * symbol_nbytes, cudaMemcpyHostToDevice));
    device_prepare_output(&self->output, out_offset, self->part.expected, n_symbols);
    /* The stream does not wait for the default one, nor do copies from pageable memory always for themselves. */
    CUDA(cudaDeviceSynchronize());
    device_enqueue(self->demodulator, d_symbols, NULL, n_symbols, self->output.d_out, stream);
    CUDA(cudaStreamSynchronize(stream));
    device_check_output(&self->output, what, self->part.values, self->part.expected);
}

static device_mirror open_mirror(size_t nbytes)
{
    device_mirror self = {.host = harness_alloc(nbytes), .nbytes = nbytes};
    CUDA(cudaMalloc((void **)&self.device, nbytes));
    return self;
}

static void close_mirror(device_mirror *self)
{
    free(self->host);
    CUDA(cudaFree(self->device));
}

/* Where a host address lies on the device. */
static void *place_of(const device_mirror *self, const void *host)
{
    const size_t at = (uintptr_t)host - (uintptr_t)self->host;
    assert_true(at <= self->nbytes);
    return self->device + at;
}

static softqam_demodulator *create_on(softqam_backend backend, harness_setup setup)
{
    setup.context.backend = backend;
    return harness_create(&setup);
}

void device_slot_open(device_slot *self, harness_setup setup, size_t n_symbols, size_t out_nbytes,
                      harness_random *random)
{
    *self = (device_slot){.in = setup.demodulator.input_format, .out = setup.demodulator.output_format};
    self->value_nbytes = softqam_output_nbytes(self->out, SOFTQAM_MODULATION_BPSK, 1);
    self->cpu = create_on(SOFTQAM_BACKEND_CPU, setup);
    self->cuda = create_on(SOFTQAM_BACKEND_CUDA, setup);
    self->symbols = open_mirror(n_symbols * softqam_input_symbol_nbytes(self->in));
    self->noise = open_mirror(n_symbols * sizeof(float));
    self->expected = open_mirror(out_nbytes);
    self->got = harness_alloc(out_nbytes);
    if (self->in == SOFTQAM_INPUT_CF32)
        harness_fill_mixture(random, n_symbols, (float *)(void *)self->symbols.host);
    else
        harness_random_fill(random, self->symbols.host, self->symbols.nbytes);
    harness_fill_noise(random, HARNESS_NOISE_ANY, n_symbols, (float *)(void *)self->noise.host);
    device_slot_copy(self);
}

void device_slot_close(device_slot *self)
{
    softqam_demodulator_destroy(self->cpu);
    softqam_demodulator_destroy(self->cuda);
    close_mirror(&self->symbols);
    close_mirror(&self->noise);
    close_mirror(&self->expected);
    free(self->got);
}

void device_slot_copy(device_slot *self)
{
    CUDA(cudaMemcpy(self->symbols.device, self->symbols.host, self->symbols.nbytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(self->noise.device, self->noise.host, self->noise.nbytes, cudaMemcpyHostToDevice));
}

size_t device_slot_check(device_slot *self, const softqam_segment *segment, bool is_plain, size_t nbytes)
{
    assert_true(nbytes <= self->expected.nbytes);
    memset(self->expected.host, DEVICE_CANARY, nbytes);
    harness_demodulate_segments(self->cpu, segment, 1);
    CUDA(cudaMemset(self->expected.device, DEVICE_CANARY, nbytes));
    softqam_segment copy = *segment;
    for (size_t k = 0; k < SOFTQAM_MAX_LAYERS && segment->layers[k].symbols; k++)
        copy.layers[k] = (softqam_layer){.symbols = place_of(&self->symbols, segment->layers[k].symbols),
                                         .noise_var = place_of(&self->noise, segment->layers[k].noise_var)};
    if (segment->out)
        copy.out = place_of(&self->expected, segment->out);
    else
        copy.codeword.buffers = place_of(&self->expected, segment->codeword.buffers);
    CUDA(cudaDeviceSynchronize());
    if (is_plain)
        device_enqueue(self->cuda, copy.layers[0].symbols, copy.layers[0].noise_var, copy.n_symbols, copy.out, 0);
    else if (softqam_cuda_demodulate_segments(self->cuda, &copy, 1, 0) != SOFTQAM_OK)
        fail_msg("softqam_cuda_demodulate_segments: %s", softqam_error_message());
    CUDA(cudaMemcpy(self->got, self->expected.device, nbytes, cudaMemcpyDeviceToHost));
    size_t at = memcmp(self->got, self->expected.host, nbytes) ? 0 : nbytes;
    while (at < nbytes && self->got[at] == self->expected.host[at])
        at++;
    return at;
}

void device_begin_capture(const softqam_demodulator *demodulator, cudaStream_t stream)
{
    device_prepare_kernels(demodulator);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
}

cudaGraphExec_t device_end_capture(cudaStream_t stream, size_t *n_nodes)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphGetNodes(graph, NULL, n_nodes));
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    return executable;
}
