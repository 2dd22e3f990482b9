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
void device_enqueue(const softqam_demodulator *demodulator, const void *d_symbols, const float *d_noise_var,
                    size_t n_symbols, void *d_out, cudaStream_t stream);

/* What must be done before a stream is captured. */
void device_prepare_kernels(const softqam_demodulator *demodulator);

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

/* Memory of the host with as much on the device. */
typedef struct device_mirror {
    uint8_t *host, *device;
    size_t nbytes;
} device_mirror;

/* Symbols and noise of a segment that is made for the host, and its output: what the CPU makes of it. */
typedef struct device_slot {
    softqam_input_format in;
    softqam_output_format out;
    size_t value_nbytes;
    softqam_demodulator *cpu, *cuda;
    device_mirror symbols, noise, expected;
    uint8_t *got;
} device_slot;

/* With setup's formats and its settings, whatever its backend; new symbols and noise. */
void device_slot_open(device_slot *self, harness_setup setup, size_t n_symbols, size_t out_nbytes,
                      harness_random *random);
void device_slot_close(device_slot *self);
/* Brings symbols and noise to the device. */
void device_slot_copy(device_slot *self);
/* A call on both, of softqam_cuda_demodulate() or for segments; where the first of nbytes of the output lies that is
 * not the same, nbytes if none. */
size_t device_slot_check(device_slot *self, const softqam_segment *segment, bool is_plain, size_t nbytes);

/* A graph of the calls on a stream since device_begin_capture(); how many nodes it has. */
void device_begin_capture(const softqam_demodulator *demodulator, cudaStream_t stream);
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
