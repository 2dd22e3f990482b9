/* SPDX-License-Identifier: MIT */
/* The caller's stream: graphs, asynchrony, and a demodulator that is gone before its work is done. */
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "device_fixture.h"

/* Captured once, replayed on new symbols: a graph holds the launch, and nothing else may happen in the call. */
HARNESS_TEST(test_graph_capture)
{
    const size_t n = 20011;
    SCOPED(device_close_fixture) device_fixture self = device_open_fixture(SOFTQAM_INPUT_CF32, 3 * n);
    const size_t symbol_nbytes = 2 * sizeof(float);
    device_prepare_output(&self.output, 0, self.part.expected, n);
    size_t n_nodes = 0;
    device_begin_capture(self.demodulator, self.stream);
    device_enqueue(self.demodulator, self.d_symbols, NULL, n, self.output.d_out, self.stream);
    const cudaGraphExec_t executable = device_end_capture(self.stream, &n_nodes);
    assert_int_equal(n_nodes, 1);
    /* The demodulator may be gone by then. */
    softqam_demodulator_destroy(self.demodulator);
    self.demodulator = NULL;
    for (size_t replay = 0; replay < 3; replay++) {
        const uint8_t *symbols = self.part.symbols + replay * n * symbol_nbytes;
        const uint8_t *expected = self.part.expected + replay * n * HARNESS_SYMBOL_BITS;
        CUDA(cudaMemcpy(self.d_symbols, symbols, n * symbol_nbytes, cudaMemcpyHostToDevice));
        device_prepare_output(&self.output, 0, expected, n);
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaGraphLaunch(executable, self.stream));
        CUDA(cudaStreamSynchronize(self.stream));
        device_check_output(&self.output, "replayed graph", self.part.values + 2 * replay * n, expected);
    }
    CUDA(cudaGraphExecDestroy(executable));
}

/* Holds up a stream until told to go on, or for two seconds at most. */
typedef struct gate {
    atomic_bool is_open;
    bool timed_out;
} gate;

static void CUDART_CB wait_at_gate(void *argument)
{
    gate *self = argument;
    const struct timespec millisecond = {.tv_nsec = 1000000};
    int n_waits = 0;
    while (!atomic_load(&self->is_open) && n_waits++ < 2000)
        nanosleep(&millisecond, NULL);
    self->timed_out = !atomic_load(&self->is_open);
}

/* A call on a stream that the gate holds up. */
static void enqueue_behind(gate *held, device_fixture *self, size_t n_symbols)
{
    CUDA(cudaMemcpy(self->d_symbols, self->part.symbols, n_symbols * 2 * sizeof(float), cudaMemcpyHostToDevice));
    device_prepare_output(&self->output, 0, self->part.expected, n_symbols);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaLaunchHostFunc(self->stream, wait_at_gate, held));
    device_enqueue(self->demodulator, self->d_symbols, NULL, n_symbols, self->output.d_out, self->stream);
}

/* With the stream held up, a call that returns has waited for nothing. */
HARNESS_TEST(test_call_is_asynchronous)
{
    if (harness_is_under_compute_sanitizer())
        skip();
    const size_t n = 100003;
    SCOPED(device_close_fixture) device_fixture self = device_open_fixture(SOFTQAM_INPUT_CF32, n);
    gate held = {0};
    enqueue_behind(&held, &self, n);
    atomic_store(&held.is_open, true);
    CUDA(cudaStreamSynchronize(self.stream));
    assert_false(held.timed_out);
    device_check_output(&self.output, "behind a held stream", self.part.values, self.part.expected);
}

/* Destroying the demodulator may wait for the device, so here the gate opens by itself. */
HARNESS_TEST(test_destroyed_before_it_ran)
{
    const size_t n = 100003;
    SCOPED(device_close_fixture) device_fixture self = device_open_fixture(SOFTQAM_INPUT_CF32, n);
    gate held = {0};
    enqueue_behind(&held, &self, n);
    softqam_demodulator_destroy(self.demodulator);
    self.demodulator = NULL;
    atomic_store(&held.is_open, true);
    CUDA(cudaStreamSynchronize(self.stream));
    device_check_output(&self.output, "demodulator destroyed before the kernel ran", self.part.values,
                        self.part.expected);
}
