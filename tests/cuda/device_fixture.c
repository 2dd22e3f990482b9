/* SPDX-License-Identifier: MIT */
#include "device_fixture.h"

#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void require_cuda(void) { harness_require_cuda(); }

void device_assert_cuda(cudaError_t error, const char *call)
{
    if (error != cudaSuccess)
        fail_msg("%s: %s", call, cudaGetErrorString(error));
}

cudaStream_t device_open_stream(void)
{
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
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

/* Where a host address lies on the device; NULL for NULL. */
static void *place_of(const device_mirror *self, const void *host)
{
    if (!host)
        return NULL;
    const size_t at = (uintptr_t)host - (uintptr_t)self->host;
    assert_true(at <= self->nbytes);
    return self->device + at;
}

void device_slot_open(device_slot *self, harness_setup setup, size_t n_symbols, size_t out_nbytes,
                      harness_random *random)
{
    *self = (device_slot){.in = setup.demodulator.input_format, .out = setup.demodulator.output_format};
    self->value_nbytes = softqam_output_nbytes(self->out, SOFTQAM_MODULATION_BPSK, 1);
    self->noise_stride = setup.demodulator.noise == SOFTQAM_NOISE_PER_SYMBOL;
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    self->cpu = harness_create(&setup);
    setup.context.backend = SOFTQAM_BACKEND_CUDA;
    self->cuda = harness_create(&setup);
    self->symbols = open_mirror(n_symbols * softqam_input_symbol_nbytes(self->in));
    self->noise = open_mirror(n_symbols * sizeof(float));
    self->expected = open_mirror(out_nbytes);
    self->got = harness_alloc(out_nbytes);
    if (self->in == SOFTQAM_INPUT_CF32)
        harness_fill_mixture(random, n_symbols, (float *)(void *)self->symbols.host);
    else
        harness_random_fill(random, self->symbols.host, self->symbols.nbytes);
    harness_fill_noise(random, HARNESS_NOISE_ANY, n_symbols, (float *)(void *)self->noise.host);
    CUDA(cudaMemcpy(self->symbols.device, self->symbols.host, self->symbols.nbytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(self->noise.device, self->noise.host, self->noise.nbytes, cudaMemcpyHostToDevice));
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

softqam_segment device_slot_expect(device_slot *self, const softqam_segment *segment, size_t nbytes)
{
    softqam_segment copy = *segment;
    assert_true(nbytes <= self->expected.nbytes);
    self->n_expected = nbytes;
    memset(self->expected.host, DEVICE_CANARY, nbytes);
    harness_demodulate_segments(self->cpu, segment, 1);
    CUDA(cudaMemset(self->expected.device, DEVICE_CANARY, nbytes));
    for (size_t k = 0; k < SOFTQAM_MAX_LAYERS; k++)
        copy.layers[k] = (softqam_layer){.symbols = place_of(&self->symbols, segment->layers[k].symbols),
                                         .noise_var = place_of(&self->noise, segment->layers[k].noise_var)};
    copy.out = place_of(&self->expected, segment->out);
    copy.codeword.buffers = place_of(&self->expected, segment->codeword.buffers);
    /* Streams do not wait for the default one, nor do copies from pageable memory always for themselves. */
    CUDA(cudaDeviceSynchronize());
    return copy;
}

size_t device_slot_compare(device_slot *self)
{
    const size_t nbytes = self->n_expected;
    CUDA(cudaMemcpy(self->got, self->expected.device, nbytes, cudaMemcpyDeviceToHost));
    size_t at = memcmp(self->got, self->expected.host, nbytes) ? 0 : nbytes;
    while (at < nbytes && self->got[at] == self->expected.host[at])
        at++;
    return at;
}

void device_begin_capture(const softqam_demodulator *demodulator, cudaStream_t stream)
{
    softqam_status status = softqam_context_prepare(softqam_demodulator_context(demodulator), SOFTQAM_PREPARE_KERNELS);
    if (status != SOFTQAM_OK)
        fail_msg("softqam_context_prepare: %s: %s", softqam_status_string(status), softqam_error_message());
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
