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

void *device_mirror_open(device_mirrors *self, size_t nbytes)
{
    assert_true(self->n < HARNESS_COUNT(self->items));
    void *device;
    CUDA(cudaMalloc(&device, nbytes));
    self->items[self->n].device = device;
    self->items[self->n].host = harness_alloc(nbytes);
    self->items[self->n].nbytes = nbytes;
    return self->items[self->n++].host;
}

void device_mirrors_close(device_mirrors *self)
{
    for (; self->n > 0; self->n--) {
        free(self->items[self->n - 1].host);
        CUDA(cudaFree(self->items[self->n - 1].device));
    }
}

void *device_mirror_of(const device_mirrors *self, const void *host)
{
    const uintptr_t at = (uintptr_t)host;
    for (size_t k = 0; host && k < self->n; k++)
        if (at - (uintptr_t)self->items[k].host <= self->items[k].nbytes)
            return self->items[k].device + (at - (uintptr_t)self->items[k].host);
    if (host)
        fail_msg("memory that has no mirror");
    return NULL;
}

void device_mirror_copy(const device_mirrors *self, const void *host, size_t nbytes)
{
    CUDA(cudaMemcpy(device_mirror_of(self, host), host, nbytes, cudaMemcpyHostToDevice));
}

void device_mirror_copy_pointers(const device_mirrors *self, void *const *host, size_t n)
{
    scoped_memory void **pointers = harness_alloc(n * sizeof *pointers);
    for (size_t k = 0; k < n; k++)
        pointers[k] = device_mirror_of(self, host[k]);
    CUDA(cudaMemcpy(device_mirror_of(self, host), pointers, n * sizeof *pointers, cudaMemcpyHostToDevice));
}

softqam_segment device_mirror_segment(const device_mirrors *self, const softqam_segment *segment)
{
    softqam_segment copy = *segment;
    for (size_t k = 0; k < SOFTQAM_MAX_LAYERS; k++) {
        const softqam_layer *layer = &segment->layers[k];
        copy.layers[k] = (softqam_layer){.symbols = device_mirror_of(self, layer->symbols),
                                         .symbols_q = device_mirror_of(self, layer->symbols_q),
                                         .noise_var = device_mirror_of(self, layer->noise_var),
                                         .gain = device_mirror_of(self, layer->gain)};
    }
    copy.out = device_mirror_of(self, segment->out);
    copy.codeword.buffers = device_mirror_of(self, segment->codeword.buffers);
    copy.codeword.block_buffers = device_mirror_of(self, segment->codeword.block_buffers);
    return copy;
}

size_t device_mirror_read(const device_mirrors *self, const void *host, size_t nbytes, uint8_t *got)
{
    const uint8_t *expected = host;
    CUDA(cudaMemcpy(got, device_mirror_of(self, host), nbytes, cudaMemcpyDeviceToHost));
    size_t at = memcmp(got, expected, nbytes) ? 0 : nbytes;
    while (at < nbytes && got[at] == expected[at])
        at++;
    return at;
}

static softqam_demodulator *create_on(softqam_backend backend, harness_setup setup)
{
    setup.context.backend = backend;
    return harness_create(&setup);
}

void device_slot_open(device_slot *self, harness_setup setup, const device_slot *sizes, size_t n_pointers)
{
    *self = *sizes;
    self->in = setup.demodulator.input_format;
    self->out = setup.demodulator.output_format;
    self->value_nbytes = softqam_output_nbytes(self->out, SOFTQAM_MODULATION_BPSK, 1);
    self->cpu = create_on(SOFTQAM_BACKEND_CPU, setup);
    self->cuda = create_on(SOFTQAM_BACKEND_CUDA, setup);
    self->symbols = device_mirror_open(&self->mirrors, self->n_components * softqam_input_symbol_nbytes(self->in) / 2);
    self->noise = device_mirror_open(&self->mirrors, self->n_floats * sizeof(float));
    self->gains = device_mirror_open(&self->mirrors, self->n_floats * sizeof(float));
    self->expected = device_mirror_open(&self->mirrors, self->out_nbytes);
    self->pointers = device_mirror_open(&self->mirrors, (1 + n_pointers) * sizeof(void *));
    self->got = harness_alloc(self->out_nbytes);
    const size_t nbytes = self->max_segments * sizeof(softqam_segment);
    self->segments = harness_alloc(nbytes);
    self->copies = harness_alloc(nbytes);
    CUDA(cudaMalloc((void **)&self->d_segments, 2 * nbytes));
    CUDA(cudaMemset(self->d_segments, DEVICE_CANARY, 2 * nbytes));
    CUDA(cudaMalloc((void **)&self->d_n_segments, sizeof(unsigned)));
}

void device_slot_close(device_slot *self)
{
    softqam_demodulator_destroy(self->cpu);
    softqam_demodulator_destroy(self->cuda);
    device_mirrors_close(&self->mirrors);
    CUDA(cudaFree(self->d_segments));
    CUDA(cudaFree(self->d_n_segments));
    free(self->segments);
    free(self->copies);
    free(self->got);
}

void device_slot_fill(device_slot *self, harness_random *random)
{
    const size_t nbytes = self->n_components * softqam_input_symbol_nbytes(self->in) / 2;
    if (self->in == SOFTQAM_INPUT_CF32)
        harness_fill_mixture(random, self->n_components / 2, (float *)(void *)self->symbols);
    else
        harness_random_fill(random, self->symbols, nbytes);
    harness_fill_noise(random, HARNESS_NOISE_ANY, self->n_floats, self->noise);
    harness_fill_gains(random, self->n_floats, self->gains);
    device_mirror_copy(&self->mirrors, self->symbols, nbytes);
    device_mirror_copy(&self->mirrors, self->noise, self->n_floats * sizeof(float));
    device_mirror_copy(&self->mirrors, self->gains, self->n_floats * sizeof(float));
}

void device_slot_copy_segments(device_slot *self)
{
    const unsigned n = (unsigned)self->n;
    self->n_symbols = 0;
    for (size_t k = 0; k < self->n; k++) {
        self->n_symbols += self->segments[k].n_symbols;
        self->copies[k] = device_mirror_segment(&self->mirrors, &self->segments[k]);
    }
    CUDA(cudaMemcpy(self->d_segments, self->copies, n * sizeof self->copies[0], cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(self->d_n_segments, &n, sizeof n, cudaMemcpyHostToDevice));
}

void device_slot_expect(device_slot *self, size_t nbytes)
{
    memset(self->expected, DEVICE_CANARY, nbytes);
    harness_demodulate_segments(self->cpu, self->segments, self->n);
    CUDA(cudaMemset(device_mirror_of(&self->mirrors, self->expected), DEVICE_CANARY, nbytes));
    CUDA(cudaDeviceSynchronize());
}

size_t device_slot_compare(device_slot *self)
{
    CUDA(cudaDeviceSynchronize());
    return device_mirror_read(&self->mirrors, self->expected, self->out_nbytes, self->got);
}

void device_slot_by_arguments(device_slot *self, cudaStream_t stream)
{
    if (softqam_cuda_demodulate_segments(self->cuda, self->copies, self->n, stream) != SOFTQAM_OK)
        fail_msg("arguments: %s", softqam_error_message());
}

void device_slot_by_descriptors(device_slot *self, unsigned max_segments, size_t max_symbols, cudaStream_t stream)
{
    if (softqam_cuda_demodulate_device_segments(self->cuda, self->d_segments, self->d_n_segments, max_segments,
                                                max_symbols, stream) != SOFTQAM_OK)
        fail_msg("descriptors: %s", softqam_error_message());
}

void device_begin_capture(softqam_demodulator *demodulator, cudaStream_t stream)
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
