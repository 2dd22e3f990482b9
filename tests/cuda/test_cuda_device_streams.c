/* SPDX-License-Identifier: MIT */
/* The caller's stream: graphs, asynchrony, and a demodulator that is gone before its work is done. */
#include <stdatomic.h>
#include <time.h>

#include "device_fixture.h"

enum { STREAM_REPLAYS = 2 };

/* Captured once, replayed on new symbols: a graph holds the launch, and nothing else may happen in the call. */
HARNESS_TEST(test_graph_capture)
{
    enum { N = 20011 };
    harness_random random = harness_random_stream(STREAM_REPLAYS);
    const cudaStream_t stream = device_open_stream();
    SCOPED(device_slot_close) device_slot self;
    device_soft_bits_open(&self, SOFTQAM_INPUT_CF32, N);
    const softqam_segment segment = device_soft_bits_expect(&self, N, 0, 0);
    size_t n_nodes = 0;
    device_begin_capture(self.cuda, stream);
    device_enqueue(self.cuda, segment.layers[0].symbols, NULL, N, segment.out, stream);
    const cudaGraphExec_t executable = device_end_capture(stream, &n_nodes);
    assert_int_equal(n_nodes, 1);
    /* The demodulator may be gone by then. */
    softqam_demodulator_destroy(self.cuda);
    self.cuda = NULL;
    for (size_t replay = 0; replay < 3; replay++) {
        harness_fill_mixture(&random, N, (float *)(void *)self.symbols.host);
        device_slot_copy(&self);
        device_soft_bits_expect(&self, N, 0, 0);
        CUDA(cudaGraphLaunch(executable, stream));
        CUDA(cudaStreamSynchronize(stream));
        device_soft_bits_compare(&self, "replayed graph");
    }
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaStreamDestroy(stream));
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

/* A call on a stream that the gate holds up, until the call has returned, or until the demodulator is gone as well:
 * destroying it may wait for the device, and so for the gate, which then opens by itself. */
static bool pass_gate(bool destroys, const char *what)
{
    enum { N = 100003 };
    gate held = {0};
    const cudaStream_t stream = device_open_stream();
    SCOPED(device_slot_close) device_slot self;
    device_soft_bits_open(&self, SOFTQAM_INPUT_CF32, N);
    const softqam_segment segment = device_soft_bits_expect(&self, N, 0, 0);
    CUDA(cudaLaunchHostFunc(stream, wait_at_gate, &held));
    device_enqueue(self.cuda, segment.layers[0].symbols, NULL, N, segment.out, stream);
    if (destroys) {
        softqam_demodulator_destroy(self.cuda);
        self.cuda = NULL;
    }
    atomic_store(&held.is_open, true);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaStreamDestroy(stream));
    device_soft_bits_compare(&self, what);
    return !held.timed_out;
}

/* With the stream held up, a call that returns has waited for nothing. */
HARNESS_TEST(test_call_is_asynchronous)
{
    if (harness_is_under_compute_sanitizer())
        skip();
    assert_true(pass_gate(false, "behind a held stream"));
}

HARNESS_TEST(test_destroyed_before_it_ran) { pass_gate(true, "demodulator destroyed before the kernel ran"); }
