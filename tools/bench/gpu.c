/* SPDX-License-Identifier: MIT */
/* How a case is launched on the GPU, verified and timed, and its limits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam_cuda.h>

#include "bench.h"
#include "common/clock.h"
#include "common/message.h"
#include "gpu_kernels.h"

enum {
    CALLS = 50,  /* of a sample on the host's clock */
    CHAINS = 20, /* of a graph */
    REPLAYS = 3, /* of a graph in a sample */
    WORD_NBYTES = 16,
    MOST_ALLOCATIONS = 6
};

static struct {
    const struct bench_options *options;
    softqam_context *context; /* of SOFTQAM_BACKEND_CUDA */
    cudaStream_t stream;
    cudaEvent_t start;
    cudaEvent_t stop;
} bench;

/* What runs a case, its limit, or what is there without either. The launches of a chain have the same memory. */
struct gpu_run {
    struct bench_job job;
    softqam_demodulator *demodulator;
    bool is_short, overlaps; /* of a limit: its bench_copy's */
    size_t n_launches;       /* of a graph */
    size_t stride;           /* symbols and bytes of the output from one launch to the next */
    size_t out_stride;
    size_t period;            /* symbols after which those of the host come again */
    unsigned char *d_symbols; /* of all launches; in a chain the producer writes them, and the noise behind them */
    float *d_noise_var;
    unsigned char *d_master; /* what the producer reads */
    unsigned *d_sums;        /* what the consumer writes */
    unsigned char *d_out;
    softqam_segment *d_segments; /* of all launches; behind them how many a launch has */
    cudaGraphExec_t graph;       /* of all launches; NULL: these are made one by one */
    unsigned char *pinned;       /* of copies between host and device: what is read, then what is written */
    cudaStream_t streams[2];     /* one for each direction */
    void *allocations[MOST_ALLOCATIONS];
    size_t n_allocations;
};

/* Whether a call succeeded; if not, says so. */
static bool is_good(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        message_print(what, "%s", cudaGetErrorString(error));
    return error == cudaSuccess;
}

#define GOOD(call) is_good(call, #call)

static bool is_ok(softqam_status status, const struct bench_job *job)
{
    if (status != SOFTQAM_OK)
        bench_say(job, softqam_error_message());
    return status == SOFTQAM_OK;
}

static bool is_chain(const struct bench_case *c)
{
    return c->launch == BENCH_CHAIN || c->launch == BENCH_CHAIN_OVERLAPS;
}

/* What the producer of a chain writes. */
static size_t chain_nbytes(const struct bench_case *c)
{
    return c->n_symbols * (softqam_input_symbol_nbytes(c->input) + sizeof(float));
}

/* Where the k-th launch has its input and output. */
static const unsigned char *symbols_of(const struct gpu_run *run, size_t k)
{
    return run->d_symbols + k * run->stride * softqam_input_symbol_nbytes(run->job.c.input);
}

static const float *noise_of(const struct gpu_run *run, size_t k)
{
    const struct bench_case *c = &run->job.c;
    return c->output == SOFTQAM_OUTPUT_U8 ? NULL : run->d_noise_var + (c->noise == BENCH_ONE_N0 ? 0 : k * run->stride);
}

static unsigned char *out_of(const struct gpu_run *run, size_t k) { return run->d_out + k * run->out_stride; }

static bool enqueue_library(const struct gpu_run *run, size_t k)
{
    const struct bench_case *c = &run->job.c;
    softqam_segment segments[BENCH_MOST_SEGMENTS];
    softqam_status status;
    if (bench_case_is_plain(c)) {
        status = softqam_cuda_demodulate(run->demodulator, symbols_of(run, k), noise_of(run, k), c->n_symbols,
                                         out_of(run, k), bench.stream);
    } else if (c->how & BENCH_ON_DEVICE) {
        const unsigned n = c->n_segments;
        const unsigned *d_n = (const void *)(run->d_segments + run->n_launches * n);
        status = softqam_cuda_demodulate_device_segments(run->demodulator, run->d_segments + k * n, d_n, n,
                                                         c->n_symbols, bench.stream);
    } else {
        const size_t n = bench_case_segments(c, 0, symbols_of(run, k), noise_of(run, k), out_of(run, k), segments);
        status = softqam_cuda_demodulate_segments(run->demodulator, segments, n, bench.stream);
    }
    return is_ok(status, &run->job);
}

static bool enqueue_copy(const struct gpu_run *run, size_t k)
{
    struct bench_copy copy = bench_case_copy(&run->job.c, symbols_of(run, k), noise_of(run, k), out_of(run, k));
    copy.is_short = run->is_short;
    copy.overlaps = run->overlaps;
    return GOOD(bench_copy_kernel(&copy, bench.stream));
}

static bool enqueue_middle(const struct gpu_run *run, size_t k)
{
    if (run->job.run != BENCH_EMPTY)
        return run->job.run == BENCH_LIBRARY ? enqueue_library(run, k) : enqueue_copy(run, k);
    return is_chain(&run->job.c) || GOOD(bench_empty_kernel(bench.stream));
}

static bool enqueue(const struct gpu_run *run, size_t k)
{
    const struct bench_case *c = &run->job.c;
    const bool overlaps = c->launch == BENCH_CHAIN_OVERLAPS;
    if (!is_chain(c))
        return enqueue_middle(run, k);
    return GOOD(bench_producer_kernel(run->d_master, run->d_symbols, chain_nbytes(c) / WORD_NBYTES, overlaps,
                                      bench.stream)) &&
           enqueue_middle(run, k) &&
           GOOD(bench_consumer_kernel(run->d_out, bench_case_out_nbytes(c) / WORD_NBYTES, run->d_sums, overlaps,
                                      bench.stream));
}

static bool capture(struct gpu_run *run)
{
    cudaGraph_t captured = NULL;
    if (!GOOD(cudaStreamBeginCapture(bench.stream, cudaStreamCaptureModeThreadLocal)))
        return false;
    bool all = true;
    for (size_t k = 0; k < run->n_launches && all; k++)
        all = enqueue(run, k);
    all = GOOD(cudaStreamEndCapture(bench.stream, &captured)) && all &&
          GOOD(cudaGraphInstantiate(&run->graph, captured, 0));
    if (captured)
        (void)cudaGraphDestroy(captured);
    return all;
}

/* All launches: without a graph there is one. */
static bool launch(const struct gpu_run *run)
{
    return run->graph ? GOOD(cudaGraphLaunch(run->graph, bench.stream)) : enqueue(run, 0);
}

/* On the host's clock, each call with its synchronisation. */
static double measure_calls(const struct gpu_run *run)
{
    bool all = true;
    const double start = clock_seconds();
    for (int k = 0; k < CALLS && all; k++)
        all = launch(run) && GOOD(cudaStreamSynchronize(bench.stream));
    return all ? (clock_seconds() - start) / CALLS : -1;
}

/* Of a graph or a launch in a sample: short launches are repeated, for the clock's sake. */
static int count_repeats(const struct gpu_run *run)
{
    enum { SAMPLE_SYMBOLS = 1 << 24, MOST_REPEATS = 8 };
    const size_t n = SAMPLE_SYMBOLS / run->job.c.n_symbols;
    return run->graph ? REPLAYS : n < 1 ? 1 : n < MOST_REPEATS ? (int)n : MOST_REPEATS;
}

/* On the device's clock. */
static double measure(void *job)
{
    const struct gpu_run *run = job;
    const int n_repeats = count_repeats(run);
    float milliseconds = 0;
    if (run->job.c.launch == BENCH_CALL)
        return measure_calls(run);
    bool all = GOOD(cudaEventRecord(bench.start, bench.stream));
    for (int k = 0; k < n_repeats && all; k++)
        all = launch(run);
    all = all && GOOD(cudaEventRecord(bench.stop, bench.stream)) && GOOD(cudaEventSynchronize(bench.stop)) &&
          GOOD(cudaEventElapsedTime(&milliseconds, bench.start, bench.stop));
    return all ? 1e-3 * (double)milliseconds / n_repeats / (double)run->n_launches : -1;
}

static void close_run(void *job)
{
    struct gpu_run *run = job;
    if (run->graph)
        (void)cudaGraphExecDestroy(run->graph);
    for (size_t k = 0; k < run->n_allocations; k++)
        (void)cudaFree(run->allocations[k]);
    for (int way = 0; way < 2; way++)
        if (run->streams[way])
            (void)cudaStreamDestroy(run->streams[way]);
    softqam_host_free(run->pinned);
    softqam_demodulator_destroy(run->demodulator);
    free(run);
}

/* The k-th launch's output: that of n symbols from `first` on where it is a plain call, or all of it. */
static bool verify_stretch(const struct gpu_run *run, size_t k, size_t first, size_t n)
{
    const struct bench_case *c = &run->job.c;
    const struct bench_samples *host = bench_samples_get(c, run->period);
    const bool plain = bench_case_is_plain(c);
    const size_t nbytes = plain ? softqam_output_nbytes(c->output, c->modulation, n) : bench_case_out_nbytes(c);
    const size_t skipped = plain ? softqam_output_nbytes(c->output, c->modulation, first) : 0;
    const size_t at = (k * run->stride + first) % run->period;
    void *got = malloc(nbytes);
    const bool good =
        got && host && GOOD(cudaMemcpy(got, out_of(run, k) + skipped, nbytes, cudaMemcpyDeviceToHost)) &&
        bench_verify(c, 0, (unsigned char *)host->symbols + at * softqam_input_symbol_nbytes(c->input),
                     noise_of(run, 0) ? host->noise_var + (c->noise == BENCH_ONE_N0 ? 0 : at) : NULL, n, got);
    free(got);
    return good;
}

/* That the consumer of a chain has seen the outputs. */
static bool verify_consumer(const struct gpu_run *run)
{
    const size_t nbytes = bench_case_out_nbytes(&run->job.c) / WORD_NBYTES * WORD_NBYTES;
    unsigned sums[BENCH_CONSUMER_BLOCKS], all = 0;
    unsigned *out = malloc(nbytes);
    const bool good = out && GOOD(cudaMemcpy(sums, run->d_sums, sizeof sums, cudaMemcpyDeviceToHost)) &&
                      GOOD(cudaMemcpy(out, run->d_out, nbytes, cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < BENCH_CONSUMER_BLOCKS && good; k++)
        all ^= sums[k];
    for (size_t k = 0; k < nbytes / sizeof *out && good; k++)
        all ^= out[k];
    free(out);
    if (good && all != 0)
        bench_say(&run->job, "the consumer has read other bytes");
    return good && all == 0;
}

static size_t all_out_nbytes(const struct gpu_run *run)
{
    return is_chain(&run->job.c) ? bench_case_out_nbytes(&run->job.c) : run->n_launches * run->out_stride;
}

/* Runs it once into memory that holds something else, and compares the first and the last launch, or the beginning and
 * the end of one long launch. */
static bool verify(const struct gpu_run *run)
{
    const size_t n = run->job.c.n_symbols, period = run->period, last = (n - 1) / period * period;
    if (!GOOD(cudaMemset(run->d_out, BENCH_POISON, all_out_nbytes(run))) || !launch(run) ||
        !GOOD(cudaStreamSynchronize(bench.stream)) || (is_chain(&run->job.c) && !verify_consumer(run)))
        return false;
    if (bench_case_is_plain(&run->job.c) && run->n_launches == 1 && n > period)
        return verify_stretch(run, 0, 0, period) && verify_stretch(run, 0, last, n - last);
    return verify_stretch(run, 0, 0, n) && verify_stretch(run, run->n_launches - 1, 0, n);
}

/* Device memory that is freed with the run; NULL after a message. */
static void *allocate(struct gpu_run *run, size_t nbytes)
{
    void **memory = &run->allocations[run->n_allocations];
    run->n_allocations += GOOD(cudaMalloc(memory, nbytes));
    return *memory;
}

/* Copies bytes from host memory to the device, and there again and again until so many are filled. */
static bool repeat(unsigned char *d, const void *from, size_t from_nbytes, size_t to_nbytes)
{
    size_t done = from_nbytes < to_nbytes ? from_nbytes : to_nbytes, n;
    bool good = GOOD(cudaMemcpy(d, from, done, cudaMemcpyHostToDevice));
    for (; done < to_nbytes && good; done += n) {
        n = done < to_nbytes - done ? done : to_nbytes - done;
        good = GOOD(cudaMemcpy(d + done, d, n, cudaMemcpyDeviceToDevice));
    }
    return good;
}

/* Descriptors in device memory, of all launches. */
static bool copy_descriptors(struct gpu_run *run)
{
    const unsigned n = run->job.c.n_segments;
    const size_t nbytes = n * sizeof *run->d_segments;
    softqam_segment segments[BENCH_MOST_SEGMENTS];
    run->d_segments = allocate(run, run->n_launches * nbytes + sizeof n);
    bool all = run->d_segments;
    for (size_t k = 0; k < run->n_launches && all; k++) {
        bench_case_segments(&run->job.c, 0, symbols_of(run, k), noise_of(run, k), out_of(run, k), segments);
        all = GOOD(cudaMemcpy(run->d_segments + k * n, segments, nbytes, cudaMemcpyHostToDevice));
    }
    return all && GOOD(cudaMemcpy(run->d_segments + run->n_launches * n, &n, sizeof n, cudaMemcpyHostToDevice));
}

/* How many launches a graph has: more bytes than the second cache holds, as far as they are allowed. */
static size_t count_launches(const struct gpu_run *run)
{
    enum { GRAPH_NBYTES = 1 << 28 };
    const size_t n = GRAPH_NBYTES / bench_case_nbytes(&run->job.c) + 1;
    const size_t n_fitting = bench.options->n_device_symbols / run->stride;
    if (run->job.c.launch != BENCH_GRAPH)
        return is_chain(&run->job.c) ? CHAINS : 1;
    return n < n_fitting ? n : n_fitting > 1 ? n_fitting : 1;
}

/* Memory and samples; a plain call's come again after a while, so that they are there soon. */
static bool prepare(struct gpu_run *run)
{
    enum { ALIGNMENT = 1024, PATTERN = 20 * 45 * ALIGNMENT };
    const struct bench_case *c = &run->job.c;
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(c->input);
    run->stride = (bench_case_span(c) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    run->out_stride = (bench_case_out_nbytes(c) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    run->n_launches = count_launches(run);
    const size_t n = is_chain(c) ? bench_case_span(c) : run->n_launches * run->stride;
    const size_t pattern = run->stride < PATTERN    ? PATTERN / run->stride * run->stride
                           : bench_case_is_plain(c) ? PATTERN
                                                    : run->stride;
    run->period = pattern < n ? pattern : n;
    const struct bench_samples *host = bench_samples_get(c, run->period);
    unsigned char *d_symbols = run->d_symbols = allocate(run, is_chain(c) ? chain_nbytes(c) : n * symbol_nbytes);
    unsigned char *d_noise_var;
    if (is_chain(c)) {
        run->stride = run->out_stride = 0;
        run->d_noise_var = (float *)(void *)(d_symbols + n * symbol_nbytes);
        run->d_sums = allocate(run, BENCH_CONSUMER_BLOCKS * sizeof *run->d_sums);
        d_symbols = run->d_master = allocate(run, chain_nbytes(c));
        d_noise_var = d_symbols + n * symbol_nbytes;
    } else {
        d_noise_var = allocate(run, n * sizeof(float));
        run->d_noise_var = (float *)(void *)d_noise_var;
    }
    run->d_out = allocate(run, all_out_nbytes(run));
    return host && run->n_allocations == (is_chain(c) ? 4 : 3) &&
           repeat(d_symbols, host->symbols, run->period * symbol_nbytes, n * symbol_nbytes) &&
           repeat(d_noise_var, host->noise_var, run->period * sizeof(float), n * sizeof(float)) &&
           (!(c->how & BENCH_ON_DEVICE) || copy_descriptors(run));
}

static bool create(struct gpu_run *run)
{
    softqam_demodulator_config config = bench_case_config(&run->job.c);
    config.context = bench.context;
    softqam_status status = softqam_demodulator_create(&run->demodulator, &config);
    if (status == SOFTQAM_OK)
        status = softqam_context_prepare(bench.context, SOFTQAM_PREPARE_KERNELS);
    return is_ok(status, &run->job);
}

static void add_run(struct bench_turns *turns, const struct bench_case *c, enum bench_run what, bool is_short,
                    bool overlaps)
{
    struct gpu_run *run = bench_add(turns, sizeof *run, c, what, measure, close_run);
    if (!run)
        return;
    run->is_short = is_short;
    run->overlaps = overlaps;
    const bool is_graph = c->launch == BENCH_GRAPH || is_chain(c);
    bool good = prepare(run);
    if (what == BENCH_LIBRARY)
        good = good && create(run) && enqueue(run, 0) && GOOD(cudaStreamSynchronize(bench.stream));
    turns->failed = !good || (is_graph && !capture(run)) || (what == BENCH_LIBRARY && !verify(run));
}

/* Both directions of the bus at once, without kernels. Short copies are repeated, for the clock's sake. */
static double measure_copies(void *job)
{
    const struct gpu_run *run = job;
    const size_t n_repeats = 1 + 512 / run->job.c.n_symbols, out = bench_case_out_nbytes(&run->job.c);
    const size_t in = bench_case_nbytes(&run->job.c) - out;
    bool all = true;
    const double start = clock_seconds();
    for (size_t k = 0; k < n_repeats && all; k++)
        all = GOOD(cudaMemcpyAsync(run->d_symbols, run->pinned, in, cudaMemcpyHostToDevice, run->streams[0])) &&
              GOOD(cudaMemcpyAsync(run->pinned + in, run->d_out, out, cudaMemcpyDeviceToHost, run->streams[1])) &&
              GOOD(cudaStreamSynchronize(run->streams[0])) && GOOD(cudaStreamSynchronize(run->streams[1]));
    return all ? (clock_seconds() - start) / (double)n_repeats : -1;
}

/* The limit of a case from host memory to host memory. */
static void add_copies(struct bench_turns *turns, const struct bench_case *c)
{
    struct gpu_run *run = bench_add(turns, sizeof *run, c, BENCH_LIMIT, measure_copies, close_run);
    const size_t nbytes = bench_case_nbytes(c), out_nbytes = bench_case_out_nbytes(c);
    void *pinned = NULL;
    if (!run)
        return;
    run->d_symbols = allocate(run, nbytes);
    run->d_out = run->d_symbols + (nbytes - out_nbytes);
    turns->failed = !run->d_symbols || !is_ok(softqam_host_alloc(bench.context, nbytes, &pinned), &run->job) ||
                    !GOOD(cudaStreamCreate(&run->streams[0])) || !GOOD(cudaStreamCreate(&run->streams[1]));
    run->pinned = pinned;
    if (pinned)
        memset(pinned, 1, nbytes); /* so that its pages are there */
}

/* The library's kernel, one that moves the same bytes, or neither. */
static void gpu_add(struct bench_turns *turns, const struct bench_case *c, enum bench_run what)
{
    if (c->modulation == SOFTQAM_MODULATION_PI2_BPSK && c->n_layers > 1)
        turns->skipped = true;
    else if (c->launch >= BENCH_PINNED && what == BENCH_LIMIT)
        add_copies(turns, c);
    else if (c->launch >= BENCH_PINNED)
        bench_host_add(bench.context, turns, c);
    else if (what != BENCH_LIMIT)
        add_run(turns, c, what, false, false);
    else
        for (int k = 0; k < 4; k++)
            /* Copies that overlap only where there is something to overlap with, others where neighbours do not. */
            if (k % 2 ? is_chain(c) : c->launch != BENCH_CHAIN_OVERLAPS)
                add_run(turns, c, what, k / 2, k % 2);
}

/* What the JSON should say of the machine. */
static void report_device(struct bench_report *report)
{
    struct cudaDeviceProp properties;
    int device = 0, runtime = 0;
    char text[64], line[256];
    if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess)
        return;
    bench_report_fact(report, "cuda_device", properties.name);
    (void)cudaRuntimeGetVersion(&runtime);
    snprintf(text, sizeof text, "%d.%d", runtime / 1000, runtime % 1000 / 10);
    bench_report_fact(report, "cuda_runtime", text);
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (file && fgets(line, sizeof line, file)) {
        const char *builder = strstr(line, "  Release Build");
        line[builder ? (size_t)(builder - line) : strcspn(line, "\n")] = '\0';
        bench_report_fact(report, "cuda_driver", line);
    }
    if (file)
        fclose(file);
}

void bench_cuda(struct bench_report *report, const struct bench_options *options)
{
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CUDA;
    bench.options = options;
    if (softqam_context_create(&bench.context, &config) != SOFTQAM_OK) {
        message_print("cuda", "not measured: %s", softqam_error_message());
        return;
    }
    report_device(report);
    if (GOOD(cudaStreamCreate(&bench.stream)) && GOOD(cudaEventCreate(&bench.start)) &&
        GOOD(cudaEventCreate(&bench.stop)))
        bench_measure_tables(report, options, &(struct bench_backend){"cuda: ", NULL, gpu_add});
    else
        report->failed = true;
    bench_samples_free();
    if (bench.start)
        (void)cudaEventDestroy(bench.start);
    if (bench.stop)
        (void)cudaEventDestroy(bench.stop);
    if (bench.stream)
        (void)cudaStreamDestroy(bench.stream);
    softqam_context_destroy(bench.context);
}
