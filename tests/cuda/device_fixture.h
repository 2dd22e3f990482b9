/* SPDX-License-Identifier: MIT */
/* What the tests of softqam_cuda.h share: CUDA calls that fail the test, a segment in memory of the host and of the
 * device, and graphs. */
#ifndef SOFTQAM_TESTS_DEVICE_FIXTURE_H
#define SOFTQAM_TESTS_DEVICE_FIXTURE_H

#include <softqam/softqam_cuda.h>

#include "harness.h"

/* Canaries beside memory that a call may write; a multiple of every alignment that matters. */
#define DEVICE_MARGIN 256
#define DEVICE_CANARY 0xC5

/* Copies words from device memory to device memory by a kernel that lets the next one in its stream begin at once, and
 * writes only some 20 us after it began. */
cudaError_t late_copy(unsigned *to, const unsigned *from, size_t n_words, cudaStream_t stream);

#define CUDA(call) device_assert_cuda(call, #call)
void device_assert_cuda(cudaError_t error, const char *call);

cudaStream_t device_open_stream(void);

/* A graph of the calls on a stream since device_begin_capture(); how many nodes it has. */
void device_begin_capture(const softqam_demodulator *demodulator, cudaStream_t stream);
cudaGraphExec_t device_end_capture(cudaStream_t stream, size_t *n_nodes);

/* Memory of the host with as much on the device. */
typedef struct device_mirror {
    uint8_t *host, *device;
    size_t nbytes;
} device_mirror;

/* Symbols and noise of a segment that is made for the host, and its output: what the CPU makes of it. */
typedef struct device_slot {
    softqam_input_format in;
    softqam_output_format out;
    size_t value_nbytes, noise_stride;
    softqam_demodulator *cpu, *cuda;
    device_mirror symbols, noise, expected;
    size_t n_expected; /* bytes of `expected` that are looked at */
    uint8_t *got;
} device_slot;

/* With setup's formats and its settings, whatever its backend; new symbols and noise. */
void device_slot_open(device_slot *self, harness_setup setup, size_t n_symbols, size_t out_nbytes,
                      harness_random *random);
void device_slot_close(device_slot *self);

/* What the CPU makes of a segment is expected in the first nbytes of the output, and not yet on the device: returns the
 * device's segment. */
softqam_segment device_slot_expect(device_slot *self, const softqam_segment *segment, size_t nbytes);
/* Where the first of these bytes lies that is not the same; n_expected if none. */
size_t device_slot_compare(device_slot *self);

#endif
