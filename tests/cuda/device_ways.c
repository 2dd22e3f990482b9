/* SPDX-License-Identifier: MIT */
/* Linked to a program of ../llr, this file makes its calls for device memory: each in one of these ways, in turn. */
#include <string.h>

#include "device_fixture.h"
#include "llr_fixture.h"

typedef struct call {
    const softqam_demodulator_config *config;
    const softqam_demodulator *demodulator;
    const softqam_segment *segments; /* whose pointers are the device's too */
    unsigned n;
    size_t n_symbols;
    bool counts;                                          /* some segments have statistics */
    softqam_segment *d_segments, *d_late;                 /* have room for `room` segments, and hold nothing valid */
    softqam_cuda_prepared_segment *prepared, *d_prepared; /* likewise; the host's */
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

/* Launches a kernel for just what there is, or for more segments and another number of symbols. */
static void enqueue_descriptors(const call *self, bool is_larger)
{
    const unsigned max_segments = is_larger ? self->room : self->n;
    const size_t max_symbols = is_larger ? 100 * self->n_symbols + 1 : self->n_symbols / 7 + 1;
    assert_enqueued(softqam_cuda_demodulate_device_segments(self->demodulator, self->d_segments, self->d_n_segments,
                                                            max_segments, max_symbols, self->stream));
}

static void write_descriptors(const call *self, const softqam_segment *segments, unsigned n_segments)
{
    CUDA(cudaMemcpy(self->d_segments, segments, self->n * sizeof *segments, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(self->d_n_segments, &n_segments, sizeof n_segments, cudaMemcpyHostToDevice));
}

/* Prepares the segments, and writes them and another number of them. */
static void write_prepared(const call *self, unsigned n_segments)
{
    assert_enqueued(softqam_cuda_prepare_segments(self->demodulator, self->segments, self->n, self->prepared));
    CUDA(cudaMemcpy(self->d_prepared, self->prepared, self->n * sizeof *self->prepared, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(self->d_n_segments, &n_segments, sizeof n_segments, cudaMemcpyHostToDevice));
}

static void enqueue_prepared(const call *self, unsigned max_segments, size_t max_symbols)
{
    assert_enqueued(softqam_cuda_demodulate_prepared_segments(self->demodulator, self->d_prepared, self->d_n_segments,
                                                              max_segments, max_symbols, self->stream));
}

/* Uses softqam_cuda_demodulate() if that can do it. */
static void by_arguments(const call *self)
{
    const softqam_segment *first = self->segments;
    const softqam_layer *layer = &first->layers[0];
    if (self->n == 1 && llr_is_plain(self->config, first))
        assert_enqueued(softqam_cuda_demodulate(self->demodulator, layer->symbols, layer->noise_var, first->n_symbols,
                                                first->out, self->stream));
    else
        enqueue_arguments(self, first);
}

/* There are more segments than max_segments; the others are not looked at. */
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

/* The list is gone by the time of the launch. */
static void by_graph_of_arguments(const call *self)
{
    enum { FEWEST_A_LAUNCH = 11 };
    const size_t nbytes = self->n * sizeof *self->segments;
    scoped_memory softqam_segment *list = harness_alloc(nbytes);
    size_t n_nodes = 0;
    memcpy(list, self->segments, nbytes);
    device_begin_capture(self->demodulator, self->stream);
    enqueue_arguments(self, list);
    const cudaGraphExec_t graph = device_end_capture(self->stream, &n_nodes);
    /* Statistics take a launch of their own. */
    const unsigned launches = self->counts ? 2 : 1;
    assert_in_range(n_nodes, self->n_symbols > 0, launches * (self->n / FEWEST_A_LAUNCH + 1));
    memset(list, 0xff, nbytes);
    launch(self, graph);
    CUDA(cudaGraphExecDestroy(graph));
}

/* The descriptors change: first there are none. */
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

/* By thread blocks that are too few, or enough. There are more segments than max_segments. */
static void by_prepared(const call *self)
{
    write_prepared(self, self->room);
    enqueue_prepared(self, self->n, self->n_symbols % 2 ? 1 : self->n_symbols + 1);
}

/* The segments change: first there are none. */
static void by_graph_of_prepared(const call *self)
{
    size_t n_nodes = 0;
    write_prepared(self, 0);
    device_begin_capture(self->demodulator, self->stream);
    enqueue_prepared(self, self->room, 100 * self->n_symbols + 1);
    const cudaGraphExec_t graph = device_end_capture(self->stream, &n_nodes);
    launch(self, graph);
    write_prepared(self, self->n);
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

static void demodulate(const softqam_demodulator_config *config, const softqam_demodulator *demodulator,
                       const softqam_segment *segments, size_t n_segments)
{
    static const struct {
        const char *name;
        void (*demodulate)(const call *self);
        bool captures;
    } ways[] = {
        {", arguments", by_arguments, false},
        {", descriptors", by_descriptors, false},
        {", a graph of arguments", by_graph_of_arguments, true},
        {", a graph of descriptors", by_graph_of_descriptors, true},
        {", descriptors written late", by_late_descriptors, false},
        {", prepared segments", by_prepared, false},
        {", a graph of prepared segments", by_graph_of_prepared, true},
    };
    static size_t n_calls;
    const size_t way = n_calls++ % HARNESS_COUNT(ways);
    static cudaStream_t own;
    own = own ? own : device_open_stream();
    /* No default stream captures a graph. */
    const cudaStream_t streams[] = {own, 0, cudaStreamLegacy, cudaStreamPerThread};
    const cudaStream_t stream = ways[way].captures ? own : streams[n_calls / HARNESS_COUNT(ways) % 4];
    const size_t room = 2 * n_segments + 10, nbytes = room * sizeof(softqam_segment);
    const size_t prepared_nbytes = room * sizeof(softqam_cuda_prepared_segment);
    scoped_memory softqam_cuda_prepared_segment *prepared = harness_alloc(prepared_nbytes);
    uint8_t *memory;
    CUDA(cudaMalloc((void **)&memory, 2 * nbytes + prepared_nbytes + sizeof(unsigned)));
    CUDA(cudaMemset(memory, DEVICE_CANARY, 2 * nbytes + prepared_nbytes));
    call self = {.config = config,
                 .demodulator = demodulator,
                 .segments = segments,
                 .n = (unsigned)n_segments,
                 .d_segments = (softqam_segment *)(void *)memory,
                 .d_late = (softqam_segment *)(void *)(memory + nbytes),
                 .prepared = prepared,
                 .d_prepared = (softqam_cuda_prepared_segment *)(void *)(memory + 2 * nbytes),
                 .d_n_segments = (unsigned *)(void *)(memory + 2 * nbytes + prepared_nbytes),
                 .room = (unsigned)room,
                 .stream = stream};
    for (size_t k = 0; k < n_segments; k++) {
        self.n_symbols += segments[k].n_symbols;
        self.counts = self.counts || segments[k].statistics;
    }
    llr_calls.way = ways[way].name;
    CUDA(cudaDeviceSynchronize());
    ways[way].demodulate(&self);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(memory));
}

/* Returns 32 symbols for each thread that the device can hold: enough that a thread block takes more tiles than a
 * thread has groups on their way, and all its warps write the scrambling sequence. */
static size_t large_call(void)
{
    int multiprocessors = 0, threads = 0;
    CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CUDA(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    return (size_t)multiprocessors * (size_t)threads * 32 + 4 * 997;
}

__attribute__((constructor)) static void use_device_memory(void)
{
    llr_calls = (llr_library){"", demodulate, device_alloc, device_free, large_call};
}
