/* SPDX-License-Identifier: MIT */
/* The tests of llr/ that programs here are made of, again of device memory: each of their calls is made in one of these
 * ways, in turn. Its memory is managed and lies between canaries. */
#define _GNU_SOURCE /* setenv */
#include <stdlib.h>
#include <string.h>

#include "device_fixture.h"
#include "llr_fixture.h"

/* Of the memory handed out; in front of it stands its size. */
static void *alloc_managed(size_t nbytes)
{
    uint8_t *memory;
    CUDA(cudaMallocManaged((void **)&memory, nbytes + 2 * DEVICE_MARGIN, cudaMemAttachGlobal));
    memset(memory, DEVICE_CANARY, nbytes + 2 * DEVICE_MARGIN);
    memcpy(memory, &nbytes, sizeof nbytes);
    return memory + DEVICE_MARGIN;
}

static void free_managed(void *handed_out)
{
    uint8_t *memory = (uint8_t *)handed_out - DEVICE_MARGIN;
    size_t nbytes;
    memcpy(&nbytes, memory, sizeof nbytes);
    for (size_t i = sizeof nbytes; i < DEVICE_MARGIN; i++)
        if (memory[i] != DEVICE_CANARY || memory[nbytes + 2 * DEVICE_MARGIN - 1 - i] != DEVICE_CANARY)
            fail_msg("%s: bytes beside %zu were overwritten", llr_calls.way, nbytes);
    CUDA(cudaFree(memory));
}

typedef struct call {
    const softqam_demodulator *demodulator;
    const softqam_segment *segments; /* whose pointers are the device's too */
    unsigned n;
    size_t n_symbols;
    softqam_segment *d_segments, *d_late; /* room for `room`, with nothing valid in it */
    unsigned *d_n_segments;
    unsigned room;
    cudaStream_t stream;
} call;

static void assert_enqueued(softqam_status status)
{
    if (status != SOFTQAM_OK)
        fail_msg("%s: %s", llr_calls.way, softqam_error_message());
}

static void enqueue_arguments(const call *self, const softqam_segment *segments)
{
    assert_enqueued(softqam_cuda_demodulate_segments(self->demodulator, segments, self->n, self->stream));
}

/* A kernel for just what there is, or for more. */
static void enqueue_descriptors(const call *self, bool is_larger)
{
    const unsigned max_segments = is_larger ? self->room : self->n;
    const size_t max_symbols = (is_larger ? 100 : 1) * (self->n_symbols ? self->n_symbols : 1);
    assert_enqueued(softqam_cuda_demodulate_device_segments(self->demodulator, self->d_segments, self->d_n_segments,
                                                            max_segments, max_symbols, self->stream));
}

static void write_descriptors(const call *self, const softqam_segment *segments, unsigned n_segments)
{
    CUDA(cudaMemcpy(self->d_segments, segments, self->n * sizeof *segments, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(self->d_n_segments, &n_segments, sizeof n_segments, cudaMemcpyHostToDevice));
}

static void by_arguments(const call *self) { enqueue_arguments(self, self->segments); }

/* There are more than max_segments, of which the others are not looked at. */
static void by_descriptors(const call *self)
{
    write_descriptors(self, self->segments, self->room);
    enqueue_descriptors(self, false);
}

static void launch(const call *self, cudaGraphExec_t graph)
{
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaGraphLaunch(graph, self->stream));
    CUDA(cudaStreamSynchronize(self->stream));
}

/* With a list that is gone by the time of the launch. */
static void by_graph_of_arguments(const call *self)
{
    enum { FEWEST_A_LAUNCH = 12 };
    const size_t nbytes = self->n * sizeof *self->segments;
    scoped_memory softqam_segment *list = harness_alloc(nbytes);
    size_t n_nodes = 0;
    memcpy(list, self->segments, nbytes);
    device_begin_capture(self->demodulator, self->stream);
    enqueue_arguments(self, list);
    const cudaGraphExec_t graph = device_end_capture(self->stream, &n_nodes);
    assert_in_range(n_nodes, self->n_symbols > 0, self->n / FEWEST_A_LAUNCH + 1);
    memset(list, 0xff, nbytes);
    launch(self, graph);
    CUDA(cudaGraphExecDestroy(graph));
}

/* For descriptors that change: from none. */
static void by_graph_of_descriptors(const call *self)
{
    size_t n_nodes = 0;
    write_descriptors(self, self->segments, 0);
    device_begin_capture(self->demodulator, self->stream);
    enqueue_descriptors(self, true);
    const cudaGraphExec_t graph = device_end_capture(self->stream, &n_nodes);
    launch(self, graph);
    write_descriptors(self, self->segments, self->n);
    launch(self, graph);
    CUDA(cudaGraphExecDestroy(graph));
}

/* Descriptors that the kernel before writes, after this one has begun. */
static void by_late_descriptors(const call *self)
{
    const size_t nbytes = self->n * sizeof *self->segments;
    write_descriptors(self, self->segments, self->n);
    CUDA(cudaMemcpy(self->d_late, self->segments, nbytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(self->d_segments, 0xff, nbytes));
    CUDA(cudaDeviceSynchronize());
    CUDA(late_copy((unsigned *)(void *)self->d_segments, (unsigned *)(void *)self->d_late, nbytes / sizeof(unsigned),
                   self->stream));
    enqueue_descriptors(self, false);
}

static void demodulate(const softqam_demodulator *demodulator, const softqam_segment *segments, size_t n_segments)
{
    static const struct {
        const char *name;
        void (*demodulate)(const call *self);
    } ways[] = {
        {", arguments", by_arguments},
        {", descriptors", by_descriptors},
        {", a graph of arguments", by_graph_of_arguments},
        {", a graph of descriptors", by_graph_of_descriptors},
        {", descriptors written late", by_late_descriptors},
    };
    static size_t n_calls;
    const size_t way = n_calls++ % HARNESS_COUNT(ways);
    static cudaStream_t stream;
    if (!stream)
        stream = device_open_stream();
    const size_t room = 2 * n_segments + 10, nbytes = room * sizeof(softqam_segment);
    uint8_t *memory;
    CUDA(cudaMalloc((void **)&memory, 2 * nbytes + sizeof(unsigned)));
    CUDA(cudaMemset(memory, DEVICE_CANARY, 2 * nbytes));
    call self = {.demodulator = demodulator,
                 .segments = segments,
                 .n = (unsigned)n_segments,
                 .d_segments = (softqam_segment *)(void *)memory,
                 .d_late = (softqam_segment *)(void *)(memory + nbytes),
                 .d_n_segments = (unsigned *)(void *)(memory + 2 * nbytes),
                 .room = (unsigned)room,
                 .stream = stream};
    for (size_t k = 0; k < n_segments; k++)
        self.n_symbols += segments[k].n_symbols;
    llr_calls.way = ways[way].name;
    CUDA(cudaDeviceSynchronize());
    ways[way].demodulate(&self);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(memory));
}

__attribute__((constructor)) static void use_device_memory(void)
{
    setenv("SOFTQAM_TEST_BACKEND", "cuda", 1);
    llr_calls = (llr_library){"", demodulate, alloc_managed, free_managed, true};
}
