/* SPDX-License-Identifier: MIT */
/* Launches a case on the GPU, verifies and times it, and measures its limits. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <softqam/softqam_cuda.h>

#include "bench.h"
#include "common/clock.h"
#include "common/message.h"
#include "gpu_kernels.h"

enum {
    CALLS = 50, /* calls in a sample on the host's clock */
    REPLAYS = 3 /* replays of a graph in a sample */
};

static struct {
    softqam_context *context; /* its backend is CUDA */
    uint64_t largest;
    cudaStream_t stream, other; /* `other` is for copies to the host */
    cudaEvent_t start, stop;
} bench;

/* Checks that a call succeeded. */
static bool is_good(cudaError_t error, const char *what)
{
    return error == cudaSuccess || message_print(what, "%s", cudaGetErrorString(error));
}

#define GOOD(call) is_good(call, #call)

/* Returns the memory of the k-th launch: symbols, noise, output, descriptor. */
static unsigned char *memory_of(const struct bench_job *job, size_t k) { return job->memory + k * job->launch_nbytes; }

static softqam_segment segment_of(const struct bench_job *job, size_t k)
{
    unsigned char *memory = memory_of(job, k);
    return bench_case_segment(&job->c, memory, (const void *)(memory + job->noise_offset), memory + job->out_offset);
}

static bool enqueue_library(const struct bench_job *job, size_t k)
{
    const softqam_segment segment = segment_of(job, k),
                          *d_segment = (const void *)(memory_of(job, k) + job->end_offset);
    const size_t n = segment.n_symbols;
    softqam_status status;
    if (bench_case_is_plain(&job->c))
        status = softqam_cuda_demodulate(job->demodulator, segment.layers[0].symbols, segment.layers[0].noise_var, n,
                                         segment.out, bench.stream);
    else if (job->c.how & BENCH_ON_DEVICE)
        status = softqam_cuda_demodulate_device_segments(job->demodulator, d_segment, (const void *)(d_segment + 1), 1,
                                                         n, bench.stream);
    else
        status = softqam_cuda_demodulate_segments(job->demodulator, &segment, 1, bench.stream);
    return bench_is_ok(job, status);
}

/* Enqueues the library's kernel, one that moves the same bytes, or an empty one. */
static bool enqueue(const struct bench_job *job, size_t k)
{
    unsigned char *memory = memory_of(job, k);
    const struct bench_copy copy = bench_case_copy(&job->c, memory, (const void *)(memory + job->noise_offset),
                                                   memory + job->out_offset, job->is_long);
    if (job->run == BENCH_LIBRARY)
        return enqueue_library(job, k);
    return job->run == BENCH_LIMIT ? GOOD(bench_copy_kernel(&copy, bench.stream))
                                   : GOOD(bench_empty_kernel(bench.stream));
}

static bool capture(struct bench_job *job)
{
    cudaGraph_t captured = NULL;
    if (!GOOD(cudaStreamBeginCapture(bench.stream, cudaStreamCaptureModeThreadLocal)))
        return false;
    bool all = true;
    for (size_t k = 0; k < job->n_launches && all; k++)
        all = enqueue(job, k);
    all = GOOD(cudaStreamEndCapture(bench.stream, &captured)) && all &&
          GOOD(cudaGraphInstantiate(&job->graph, captured, 0));
    if (captured)
        (void)cudaGraphDestroy(captured);
    return all;
}

/* Launches the graph or, if there is none, the one call. */
static bool launch(const struct bench_job *job)
{
    return job->graph ? GOOD(cudaGraphLaunch(job->graph, bench.stream)) : enqueue(job, 0);
}

/* Returns the seconds of a launch: in graphs by the device's clock, of calls by the host's, with a synchronisation
 * after each. */
static double measure(struct bench_job *job)
{
    const double start = clock_seconds();
    float milliseconds = 0;
    bool all = true;
    if (!job->graph) {
        for (int k = 0; k < CALLS && all; k++)
            all = launch(job) && GOOD(cudaStreamSynchronize(bench.stream));
        return all ? (clock_seconds() - start) / CALLS : -1;
    }
    all = GOOD(cudaEventRecord(bench.start, bench.stream));
    for (int k = 0; k < REPLAYS && all; k++)
        all = launch(job);
    all = all && GOOD(cudaEventRecord(bench.stop, bench.stream)) && GOOD(cudaEventSynchronize(bench.stop)) &&
          GOOD(cudaEventElapsedTime(&milliseconds, bench.start, bench.stop));
    return all ? 1e-3 * (double)milliseconds / REPLAYS / (double)job->n_launches : -1;
}

static void close_job(struct bench_job *job)
{
    if (job->graph)
        (void)cudaGraphExecDestroy(job->graph);
    (void)cudaFree(job->memory);
    (void)cudaFreeHost(job->pinned);
    softqam_demodulator_destroy(job->demodulator);
}

/* Runs the job once into memory with other bytes, and compares the outputs of the first and the last launch. */
static bool verify(const struct bench_job *job)
{
    const size_t nbytes = bench_case_out_nbytes(&job->c), last = job->n_launches - 1;
    unsigned char *first_out = memory_of(job, 0) + job->out_offset, *last_out = memory_of(job, last) + job->out_offset;
    void *got = malloc(nbytes);
    const bool good = got && GOOD(cudaMemset(first_out, BENCH_POISON, nbytes)) &&
                      GOOD(cudaMemset(last_out, BENCH_POISON, nbytes)) && launch(job) &&
                      GOOD(cudaStreamSynchronize(bench.stream)) &&
                      GOOD(cudaMemcpy(got, first_out, nbytes, cudaMemcpyDeviceToHost)) && bench_verify(job, got) &&
                      GOOD(cudaMemcpy(got, last_out, nbytes, cudaMemcpyDeviceToHost)) && bench_verify(job, got);
    free(got);
    return good;
}

static size_t aligned(size_t nbytes) { return (nbytes + 1023) / 1024 * 1024; }

/* Returns the number of launches in a graph: together they exceed the L2 cache, unless --largest allows less. */
static size_t count_launches(const struct bench_job *job)
{
    enum { GRAPH_NBYTES = 1 << 28 };
    const size_t n = GRAPH_NBYTES / job->end_offset + 1, n_allowed = bench.largest / job->c.n_symbols + 1;
    if (job->c.launch != BENCH_GRAPH)
        return 1;
    return n < n_allowed ? n : n_allowed;
}

/* Copies a launch's input to its place. */
static bool copy_input(const struct bench_job *job, size_t k)
{
    unsigned char *to = memory_of(job, k);
    const struct bench_row *row = job->row;
    const size_t span = bench_case_span(&job->c);
    return GOOD(cudaMemcpy(to, row->symbols, span * bench_case_in_nbytes(&job->c), cudaMemcpyHostToDevice)) &&
           GOOD(cudaMemcpy(to + job->noise_offset, row->noise_var, span * sizeof(float), cudaMemcpyHostToDevice));
}

static bool copy_descriptor(const struct bench_job *job, size_t k)
{
    const struct {
        softqam_segment segment;
        unsigned n;
    } descriptor = {segment_of(job, k), 1};
    return GOOD(
        cudaMemcpy(memory_of(job, k) + job->end_offset, &descriptor, sizeof descriptor, cudaMemcpyHostToDevice));
}

static bool prepare(struct bench_job *job)
{
    const struct bench_case *c = &job->c;
    const size_t span = bench_case_span(c);
    void *memory = NULL;
    job->noise_offset = aligned(span * bench_case_in_nbytes(c));
    job->out_offset = job->noise_offset + aligned(span * sizeof(float));
    job->end_offset = job->out_offset + aligned(bench_case_out_nbytes(c));
    job->launch_nbytes = job->end_offset + aligned(sizeof(softqam_segment) + sizeof(unsigned));
    job->n_launches = count_launches(job);
    const size_t nbytes = job->n_launches * job->launch_nbytes;
    bool good = GOOD(cudaMalloc(&memory, nbytes)) && GOOD(cudaMemset(memory, 0, nbytes));
    job->memory = memory;
    for (size_t k = 0; k < job->n_launches && good; k++)
        good = copy_input(job, k) && copy_descriptor(job, k);
    return good;
}

static bool create(struct bench_job *job)
{
    softqam_demodulator_config config = bench_case_config(&job->c);
    config.context = bench.context;
    return bench_is_ok(job, softqam_demodulator_create(&job->demodulator, &config));
}

/* Measures copies in both directions of the bus at once. Short ones are repeated, because the clock is coarse. */
static double measure_copies(struct bench_job *job)
{
    const size_t n_repeats = 1 + LARGE_SYMBOLS / job->c.n_symbols, in = job->out_offset, out = job->end_offset - in;
    bool all = true;
    const double start = clock_seconds();
    for (size_t k = 0; k < n_repeats && all; k++)
        all = GOOD(cudaMemcpyAsync(job->memory, job->pinned, in, cudaMemcpyHostToDevice, bench.stream)) &&
              GOOD(cudaMemcpyAsync(job->pinned + in, job->memory + in, out, cudaMemcpyDeviceToHost, bench.other)) &&
              GOOD(cudaStreamSynchronize(bench.stream)) && GOOD(cudaStreamSynchronize(bench.other));
    return all ? (clock_seconds() - start) / (double)n_repeats : -1;
}

/* Opens the limit of a case from host memory to host memory. */
static bool open_copies(struct bench_job *job)
{
    void *memory = NULL, *pinned = NULL;
    job->measure = measure_copies;
    job->out_offset = job->c.n_symbols * softqam_input_symbol_nbytes(job->c.input);
    job->end_offset = job->out_offset + bench_case_out_nbytes(&job->c);
    const bool good = GOOD(cudaMalloc(&memory, job->end_offset)) &&
                      GOOD(cudaHostAlloc(&pinned, job->end_offset, cudaHostAllocDefault));
    job->memory = memory;
    job->pinned = pinned;
    if (good)
        memset(pinned, 1, job->end_offset); /* touches its pages */
    return good;
}

/* Opens a job. Makes a first call, which takes longer, before any is measured. */
static bool gpu_open(struct bench_job *job)
{
    job->measure = measure;
    job->close = close_job;
    if (job->c.launch >= BENCH_PINNED)
        return job->run == BENCH_LIMIT ? open_copies(job) : bench_host_open(job);
    if (!prepare(job) || (job->run == BENCH_LIBRARY && !create(job)))
        return false;
    if (!enqueue(job, 0) || !GOOD(cudaStreamSynchronize(bench.stream)))
        return false;
    return (job->c.launch == BENCH_CALL || capture(job)) && (job->run != BENCH_LIBRARY || verify(job));
}

void bench_cuda(struct bench_report *report)
{
    struct cudaDeviceProp properties;
    int device = 0;
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CUDA;
    bench.largest = report->largest;
    if (softqam_context_create(&bench.context, &config) != SOFTQAM_OK) {
        message_print("cuda", "not measured: %s", softqam_error_message());
        return;
    }
    cJSON_AddNumberToObject(report->json, "cuda_runtime", CUDART_VERSION);
    if (GOOD(cudaGetDevice(&device)) && GOOD(cudaGetDeviceProperties(&properties, device)) &&
        cJSON_AddStringToObject(report->json, "cuda_device", properties.name) &&
        GOOD(cudaStreamCreate(&bench.stream)) && GOOD(cudaStreamCreate(&bench.other)) &&
        GOOD(cudaEventCreate(&bench.start)) && GOOD(cudaEventCreate(&bench.stop)))
        bench_measure_tables(report, "cuda: ", NULL, gpu_open);
    else
        report->failed = true;
    (void)cudaEventDestroy(bench.start);
    (void)cudaEventDestroy(bench.stop);
    (void)cudaStreamDestroy(bench.stream);
    (void)cudaStreamDestroy(bench.other);
    softqam_context_destroy(bench.context);
}
