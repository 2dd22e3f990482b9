/* SPDX-License-Identifier: MIT */
/* What the tests of softqam_cuda.h share: CUDA calls that fail the test, symbols with the oracle's answer, outputs
 * between canaries in device memory. */
#ifndef SOFTQAM_TESTS_DEVICE_FIXTURE_H
#define SOFTQAM_TESTS_DEVICE_FIXTURE_H

#include <softqam/softqam_cuda.h>

#include "harness.h"

/* Canaries on both sides of an output; a multiple of every alignment that matters. */
#define DEVICE_MARGIN  256
#define DEVICE_CANARY  0xC5
#define DEVICE_SAMPLES (((size_t)1 << 20) + 77)

#define CUDA(call) device_assert_cuda(call, #call)
void device_assert_cuda(cudaError_t error, const char *call);

/* Symbols in one input format, with what they stand for and what they must give. */
typedef struct device_sample {
    softqam_input_format format;
    uint8_t *symbols;
    float *values;
    uint8_t *expected;
} device_sample;

device_sample device_open_sample(softqam_input_format format, size_t n_symbols);
void device_close_sample(device_sample *self);

/* softqam_cuda_demodulate() where a failure is the test's. d_noise_var is NULL for soft bits. */
void device_enqueue(softqam_demodulator *demodulator, const void *d_symbols, const float *d_noise_var, size_t n_symbols,
                    void *d_out, cudaStream_t stream);

/* What must be done before a stream is captured. */
void device_prepare_kernels(softqam_demodulator *demodulator);

/* An output on the device between margins of canaries, with a copy on the host to fill it from and to read it into. */
typedef struct device_output {
    softqam_output_format format;
    size_t symbol_nbytes;
    uint8_t *d_memory;
    uint8_t *h_memory;
    uint8_t *d_out;
    size_t nbytes;
    size_t max_nbytes;
} device_output;

device_output device_open_output(softqam_output_format format, size_t max_symbols);
/* Places an output `offset` symbols behind the margin and fills it with what must not be left there. */
void device_prepare_output(device_output *self, size_t offset, const uint8_t *expected, size_t n_symbols);
/* Call after the stream has been waited for. */
void device_check_output(device_output *self, const char *what, const float *values, const uint8_t *expected);
void device_close_output(device_output *self);

cudaStream_t device_open_stream(void);

/* A symbol of so many bits, a multiple of n_layers, at which a descrambled segment is hardest to place: with the 1600
 * bits that the scrambling sequence skips, its distance needs two carries to come out below the period of 2^31 - 1. */
uint64_t device_far_symbol(softqam_modulation modulation, unsigned n_layers);

/* Memory of the host, each piece with as much on the device, so that segments are made for the host alone. */
typedef struct device_mirrors {
    size_t n;
    struct {
        uint8_t *host, *device;
        size_t nbytes;
    } items[8];
} device_mirrors;

/* Another piece; its host memory. */
void *device_mirror_open(device_mirrors *self, size_t nbytes);
void device_mirrors_close(device_mirrors *self);
/* Where a host address lies on the device; NULL for NULL. */
void *device_mirror_of(const device_mirrors *self, const void *host);
/* Copies host memory to the device; pointers to host memory as what lies there. */
void device_mirror_copy(const device_mirrors *self, const void *host, size_t nbytes);
void device_mirror_copy_pointers(const device_mirrors *self, void *const *host, size_t n);
/* The same segment on the device. */
softqam_segment device_mirror_segment(const device_mirrors *self, const softqam_segment *segment);
/* Reads what lies on the device in place of host memory; where the first byte lies that is not the same, nbytes if
 * none. */
size_t device_mirror_read(const device_mirrors *self, const void *host, size_t nbytes, uint8_t *got);

/* Segments with all that they read and write, made for the host, and the same on the device: `expected` is what the CPU
 * makes of them there. */
typedef struct device_slot {
    softqam_input_format in;
    softqam_output_format out;
    size_t value_nbytes;
    softqam_demodulator *cpu, *cuda;
    device_mirrors mirrors;
    size_t n_components, n_floats, out_nbytes, max_segments;
    uint8_t *symbols;     /* n_components */
    float *noise, *gains; /* n_floats of each */
    uint8_t *expected, *got;
    void **pointers; /* for block_buffers */
    size_t n, n_symbols;
    softqam_segment *segments, *copies; /* of these, copies are the device's */
    softqam_segment *d_segments;        /* with as many behind them that are none */
    unsigned *d_n_segments;
} device_slot;

/* With setup's formats and its settings, whatever its backend. `sizes` is one whose sizes are set. */
void device_slot_open(device_slot *self, harness_setup setup, const device_slot *sizes, size_t n_pointers);
void device_slot_close(device_slot *self);
/* New symbols, noise and gains. */
void device_slot_fill(device_slot *self, harness_random *random);
/* Brings the segments to the device. */
void device_slot_copy_segments(device_slot *self);
/* Makes nbytes of the output canaries on both sides, and `expected` what the CPU makes of the segments. */
void device_slot_expect(device_slot *self, size_t nbytes);
/* Where the first byte of the output lies that is not as expected; out_nbytes if none. */
size_t device_slot_compare(device_slot *self);
void device_slot_by_arguments(device_slot *self, cudaStream_t stream);
void device_slot_by_descriptors(device_slot *self, unsigned max_segments, size_t max_symbols, cudaStream_t stream);

/* A graph of the calls on a stream since device_begin_capture(); how many nodes it has. */
void device_begin_capture(softqam_demodulator *demodulator, cudaStream_t stream);
cudaGraphExec_t device_end_capture(cudaStream_t stream, size_t *n_nodes);

/* Everything that a call on device memory needs, of soft bits. */
typedef struct device_fixture {
    softqam_demodulator *demodulator;
    device_sample part;
    uint8_t *d_symbols;
    device_output output;
    cudaStream_t stream;
} device_fixture;

device_fixture device_open_fixture(softqam_input_format format, size_t max_symbols);
/* n_symbols from `in_offset` symbols into the input's memory to `out_offset` symbols into the output's. */
void device_check_call(device_fixture *self, const char *what, size_t n_symbols, size_t in_offset, size_t out_offset,
                       cudaStream_t stream);
void device_close_fixture(device_fixture *self);

#endif
