/* SPDX-License-Identifier: MIT */
/* How a case of the GPU is launched, verified and timed, and its limit. */
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/message.h"
#include "gpu.h"

enum {
    CALLS = 50,  /* of a sample on the host's clock */
    CHAINS = 20, /* of a graph */
    REPLAYS = 3, /* of a graph in a sample */
    POISON = 1,
    WORD_NBYTES = 16
};

/* What runs a case, its limit, or what is there without either. */
struct gpu_run {
    struct bench_job job;
    struct gpu_bench *bench;
    enum bench_run run;
    unsigned char *d_symbols; /* of all launches, those of the host again and again */
    float *d_noise_var;
    size_t period; /* after which they come again */
    softqam_demodulator *demodulator;
    enum bench_copy_shape shape; /* of a limit */
    bool programmatic;
    size_t n_launches; /* of a graph */
    size_t stride;     /* symbols and bytes of the output from one launch to the next */
    size_t out_stride;
    unsigned char *d_chain;  /* what the producer writes: symbols, then noise */
    unsigned char *d_master; /* what it reads */
    unsigned *d_sums;
    unsigned char *d_out;
    softqam_segment *d_segments; /* of all launches; behind them how many a launch has */
    cudaGraphExec_t graph;
};

static bool is_chain(const struct gpu_run *run)
{
    return run->job.c.launch == BENCH_CHAIN || run->job.c.launch == BENCH_CHAIN_OVERLAPS;
}

static bool has_noise(const struct bench_case *c) { return c->output != SOFTQAM_OUTPUT_U8; }

static size_t chain_symbol_nbytes(const struct gpu_run *run)
{
    return run->job.c.n_symbols * softqam_input_symbol_nbytes(run->job.c.input);
}

/* What a producer writes. */
static size_t chain_nbytes(const struct gpu_run *run)
{
    return chain_symbol_nbytes(run) + (has_noise(&run->job.c) ? run->job.c.n_symbols * sizeof(float) : 0);
}

/* Of all launches; those of a chain write to the same memory. */
static size_t out_nbytes(const struct gpu_run *run)
{
    return is_chain(run) ? run->out_stride : run->n_launches * run->out_stride;
}

/* Where the k-th launch has its input. */
static const unsigned char *d_symbols(const struct gpu_run *run, size_t k)
{
    return is_chain(run) ? run->d_chain
                         : run->d_symbols + k * run->stride * softqam_input_symbol_nbytes(run->job.c.input);
}

static const float *d_noise_var(const struct gpu_run *run, size_t k)
{
    if (!has_noise(&run->job.c))
        return NULL;
    if (is_chain(run))
        return (const float *)(const void *)(run->d_chain + chain_symbol_nbytes(run));
    return run->d_noise_var + (run->job.c.noise == BENCH_ONE_N0 ? 0 : k * run->stride);
}

static bool enqueue_library(struct gpu_run *run, size_t k)
{
    struct gpu_bench *bench = run->bench;
    const struct bench_case *c = &run->job.c;
    softqam_segment segments[BENCH_MOST_SEGMENTS];
    unsigned char *d_out = run->d_out + k * run->out_stride;
    softqam_status status;
    if (bench_case_is_plain(c)) {
        status = softqam_cuda_demodulate(run->demodulator, d_symbols(run, k), d_noise_var(run, k), c->n_symbols, d_out,
                                         bench->stream);
    } else if (c->how & BENCH_ON_DEVICE) {
        const unsigned n = c->n_segments;
        const unsigned *d_n = (const void *)(run->d_segments + run->n_launches * n);
        status = softqam_cuda_demodulate_device_segments(run->demodulator, run->d_segments + k * n, d_n, n,
                                                         c->n_symbols, bench->stream);
    } else {
        const size_t n = bench_case_segments(c, 0, d_symbols(run, k), d_noise_var(run, k), d_out, segments);
        status = softqam_cuda_demodulate_segments(run->demodulator, segments, n, bench->stream);
    }
    return gpu_softqam_good(bench, status, run->job.contender.what);
}

/* Bytes of soft buffers that get no LLR, which a first transmission writes too. */
static size_t count_more(const struct bench_case *c)
{
    const bool is_first = c->how & BENCH_SOFT && !(c->how & BENCH_COMBINE);
    return is_first ? bench_case_out_nbytes(c) - softqam_output_nbytes(c->output, c->modulation, c->n_symbols) : 0;
}

static bool enqueue_copy(struct gpu_run *run, size_t k)
{
    const struct bench_copy copy = {.in = d_symbols(run, k),
                                    .in_nbytes = softqam_input_symbol_nbytes(run->job.c.input),
                                    .noise_var = run->job.c.noise == BENCH_ONE_N0 ? NULL : d_noise_var(run, k),
                                    .out = run->d_out + k * run->out_stride,
                                    .out_nbytes = softqam_output_nbytes(run->job.c.output, run->job.c.modulation, 1),
                                    .n_symbols = run->job.c.n_symbols,
                                    .n_more = count_more(&run->job.c),
                                    .adds = run->job.c.how & BENCH_COMBINE,
                                    .shape = run->shape,
                                    .programmatic = run->programmatic};
    return gpu_good(run->bench, bench_copy_kernel(&copy, run->bench->stream), run->job.contender.what);
}

static bool enqueue_middle(struct gpu_run *run, size_t k)
{
    if (run->run == BENCH_LIBRARY)
        return enqueue_library(run, k);
    if (run->run == BENCH_LIMIT)
        return enqueue_copy(run, k);
    return is_chain(run) || gpu_good(run->bench, bench_empty_kernel(run->bench->stream), "empty kernel");
}

static bool enqueue(struct gpu_run *run, size_t k)
{
    struct gpu_bench *bench = run->bench;
    const bool overlaps = run->job.c.launch == BENCH_CHAIN_OVERLAPS;
    if (!is_chain(run))
        return enqueue_middle(run, k);
    return gpu_good(bench,
                    bench_producer_kernel(run->d_master, run->d_chain, chain_nbytes(run) / WORD_NBYTES, overlaps,
                                          bench->stream),
                    "producer") &&
           enqueue_middle(run, 0) &&
           gpu_good(bench,
                    bench_consumer_kernel(run->d_out, bench_case_out_nbytes(&run->job.c) / WORD_NBYTES, run->d_sums,
                                          overlaps, bench->stream),
                    "consumer");
}

static bool capture(struct gpu_run *run)
{
    struct gpu_bench *bench = run->bench;
    cudaGraph_t captured = NULL;
    bool all = GOOD(bench, cudaStreamBeginCapture(bench->stream, cudaStreamCaptureModeThreadLocal));
    if (!all)
        return false;
    for (size_t k = 0; k < run->n_launches && all; k++)
        all = enqueue(run, k);
    all = GOOD(bench, cudaStreamEndCapture(bench->stream, &captured)) && all &&
          GOOD(bench, cudaGraphInstantiate(&run->graph, captured, 0));
    if (captured)
        (void)cudaGraphDestroy(captured);
    return all;
}

/* On the host's clock, each call with its synchronisation. */
static double run_calls(struct gpu_run *run)
{
    bool all = true;
    const double start = clock_seconds();
    for (int k = 0; k < CALLS && all; k++)
        all = enqueue(run, 0) && gpu_synchronise(run->bench);
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
static double run_case(void *context)
{
    struct gpu_run *run = context;
    struct gpu_bench *bench = run->bench;
    const int n_repeats = count_repeats(run);
    float milliseconds = 0;
    if (run->job.c.launch == BENCH_CALL)
        return run_calls(run);
    bool all = GOOD(bench, cudaEventRecord(bench->start, bench->stream));
    for (int k = 0; k < n_repeats && all; k++)
        all = run->graph ? GOOD(bench, cudaGraphLaunch(run->graph, bench->stream)) : enqueue(run, 0);
    all = all && GOOD(bench, cudaEventRecord(bench->stop, bench->stream)) &&
          GOOD(bench, cudaEventSynchronize(bench->stop)) &&
          GOOD(bench, cudaEventElapsedTime(&milliseconds, bench->start, bench->stop));
    return all ? 1e-3 * (double)milliseconds / n_repeats / (run->graph ? (double)run->n_launches : 1) : -1;
}

static void close_run(void *context)
{
    struct gpu_run *run = context;
    if (run->graph)
        (void)cudaGraphExecDestroy(run->graph);
    (void)cudaFree(run->d_symbols);
    (void)cudaFree(run->d_noise_var);
    (void)cudaFree(run->d_chain);
    (void)cudaFree(run->d_master);
    (void)cudaFree(run->d_sums);
    (void)cudaFree(run->d_out);
    (void)cudaFree(run->d_segments);
    softqam_demodulator_destroy(run->demodulator);
    free(run);
}

/* Bytes on the device against those that are expected. */
static bool compare(struct gpu_run *run, const void *expected, const void *d_got, size_t nbytes)
{
    void *got = malloc(nbytes);
    bool good = got && GOOD(run->bench, cudaMemcpy(got, d_got, nbytes, cudaMemcpyDeviceToHost));
    if (good && memcmp(expected, got, nbytes) != 0) {
        message_print(run->job.contender.what, "wrong bytes on the device");
        good = false;
    }
    free(got);
    return good;
}

/* What the CPU makes of a case, whose input begins at the at-th symbol of the host's: n symbols of a plain call, or all
 * of another one. NULL after a failure; the caller frees it. */
static void *expect(struct gpu_run *run, size_t at, size_t n, size_t nbytes)
{
    const struct bench_case *c = &run->job.c;
    const struct bench_samples *host =
        bench_samples_get(&run->bench->pool, &c->data, c->modulation, c->input, run->period);
    const softqam_demodulator_config config = bench_case_config(c);
    softqam_segment segments[BENCH_MOST_SEGMENTS];
    softqam_demodulator *demodulator;
    unsigned char *expected = malloc(nbytes);
    if (!expected || !host) {
        free(expected);
        return NULL;
    }
    const unsigned char *symbols = (unsigned char *)host->symbols + at * softqam_input_symbol_nbytes(c->input);
    const float *noise_var = has_noise(c) ? host->noise_var + (c->noise == BENCH_ONE_N0 ? 0 : at) : NULL;
    memset(expected, POISON, nbytes);
    softqam_status status = bench_create(&demodulator, bench_context_config(SOFTQAM_BACKEND_CPU, 0), &config);
    if (status == SOFTQAM_OK && bench_case_is_plain(c))
        status = softqam_demodulate(demodulator, symbols, noise_var, n, expected);
    else if (status == SOFTQAM_OK)
        status = softqam_demodulate_segments(demodulator, segments,
                                             bench_case_segments(c, 0, symbols, noise_var, expected, segments));
    softqam_demodulator_destroy(demodulator);
    if (gpu_softqam_good(run->bench, status, run->job.contender.what))
        return expected;
    free(expected);
    return NULL;
}

/* The k-th launch's output: that of n symbols from `first` on where it is a plain call, or all of it. */
static bool verify_stretch(struct gpu_run *run, size_t k, size_t first, size_t n)
{
    const struct bench_case *c = &run->job.c;
    const bool plain = bench_case_is_plain(c);
    const size_t nbytes = plain ? softqam_output_nbytes(c->output, c->modulation, n) : bench_case_out_nbytes(c);
    const size_t skipped = plain ? softqam_output_nbytes(c->output, c->modulation, first) : 0;
    void *expected = expect(run, (k * run->stride + first) % run->period, n, nbytes);
    const bool good = expected && compare(run, expected, run->d_out + k * run->out_stride + skipped, nbytes);
    free(expected);
    return good;
}

/* That the consumer of a chain has seen the outputs. */
static bool verify_consumer(struct gpu_run *run)
{
    const size_t nbytes = bench_case_out_nbytes(&run->job.c) / WORD_NBYTES * WORD_NBYTES;
    unsigned sums[BENCH_CONSUMER_BLOCKS], all = 0;
    unsigned *out = malloc(nbytes);
    const bool good = out && GOOD(run->bench, cudaMemcpy(sums, run->d_sums, sizeof sums, cudaMemcpyDeviceToHost)) &&
                      GOOD(run->bench, cudaMemcpy(out, run->d_out, nbytes, cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < BENCH_CONSUMER_BLOCKS && good; k++)
        all ^= sums[k];
    for (size_t k = 0; k < nbytes / sizeof *out && good; k++)
        all ^= out[k];
    free(out);
    if (good && all != 0)
        message_print(run->job.contender.what, "the consumer has read other bytes");
    return good && all == 0;
}

/* All launches once. */
static bool run_once(struct gpu_run *run)
{
    bool all = true;
    for (size_t k = 0; k < run->n_launches && all; k++)
        all = enqueue(run, k);
    return gpu_synchronise(run->bench) && all;
}

/* Runs it into memory that holds something else, what adds to that but once, and compares the first and the last
 * launch, or the beginning and the end of one long launch. */
static bool verify(struct gpu_run *run)
{
    struct gpu_bench *bench = run->bench;
    const size_t n = run->job.c.n_symbols, period = run->period;
    const bool in_parts = bench_case_is_plain(&run->job.c) && run->n_launches == 1 && n > period;
    if (!GOOD(bench, cudaMemset(run->d_out, POISON, out_nbytes(run))) ||
        !(run->job.c.how & BENCH_COMBINE ? run_once(run) : run_case(run) >= 0) ||
        (is_chain(run) && !verify_consumer(run)))
        return false;
    if (in_parts)
        return verify_stretch(run, 0, 0, period) &&
               verify_stretch(run, 0, (n - 1) / period * period, n - (n - 1) / period * period);
    return verify_stretch(run, 0, 0, n) && (is_chain(run) || verify_stretch(run, run->n_launches - 1, 0, n));
}

/* Descriptors in device memory, of all launches. */
static bool copy_descriptors(struct gpu_run *run)
{
    struct gpu_bench *bench = run->bench;
    const unsigned n = run->job.c.n_segments;
    softqam_segment segments[BENCH_MOST_SEGMENTS];
    if (!(run->job.c.how & BENCH_ON_DEVICE))
        return true;
    bool all = GOOD(bench, cudaMalloc((void **)&run->d_segments, run->n_launches * n * sizeof segments[0] + sizeof n));
    for (size_t k = 0; k < run->n_launches && all; k++) {
        bench_case_segments(&run->job.c, 0, d_symbols(run, k), d_noise_var(run, k), run->d_out + k * run->out_stride,
                            segments);
        all =
            GOOD(bench, cudaMemcpy(run->d_segments + k * n, segments, n * sizeof segments[0], cudaMemcpyHostToDevice));
    }
    return all && GOOD(bench, cudaMemcpy(run->d_segments + run->n_launches * n, &n, sizeof n, cudaMemcpyHostToDevice));
}

/* A chain's memory, which is its own. */
static bool allocate_chain(struct gpu_run *run)
{
    struct gpu_bench *bench = run->bench;
    const size_t symbol_nbytes = chain_symbol_nbytes(run), nbytes = chain_nbytes(run);
    return GOOD(bench, cudaMalloc((void **)&run->d_chain, nbytes)) &&
           GOOD(bench, cudaMalloc((void **)&run->d_master, nbytes)) &&
           GOOD(bench, cudaMalloc((void **)&run->d_sums, BENCH_CONSUMER_BLOCKS * sizeof *run->d_sums)) &&
           GOOD(bench, cudaMemcpy(run->d_master, run->d_symbols, symbol_nbytes, cudaMemcpyDeviceToDevice)) &&
           GOOD(bench, cudaMemcpy(run->d_master + symbol_nbytes, run->d_noise_var, nbytes - symbol_nbytes,
                                  cudaMemcpyDeviceToDevice));
}

/* How many launches a graph has: more bytes than the second cache holds, as far as they are allowed. */
static size_t count_launches(const struct gpu_run *run)
{
    enum { GRAPH_NBYTES = 1 << 28 };
    const size_t n = GRAPH_NBYTES / bench_case_nbytes(&run->job.c) + 1;
    const size_t n_fitting = run->bench->options->n_device_symbols / run->stride;
    if (run->job.c.launch != BENCH_GRAPH)
        return is_chain(run) ? (size_t)CHAINS : 1;
    return n < n_fitting ? n : n_fitting > 1 ? n_fitting : 1;
}

/* Memory and samples; a plain call's come again after a while, so that they are there soon. */
static bool prepare(struct gpu_run *run)
{
    enum { ALIGNMENT = 1024, PATTERN = 20 * 45 * ALIGNMENT };
    struct gpu_bench *bench = run->bench;
    const size_t span = bench_case_span(&run->job.c);
    run->stride = (span + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    run->out_stride = (bench_case_out_nbytes(&run->job.c) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    run->n_launches = count_launches(run);
    const size_t n = is_chain(run) ? span : run->n_launches * run->stride;
    const size_t pattern = run->stride < PATTERN              ? PATTERN / run->stride * run->stride
                           : bench_case_is_plain(&run->job.c) ? PATTERN
                                                              : run->stride;
    run->period = pattern < n ? pattern : n;
    return gpu_copy_samples(bench, &run->job.c, n, run->period, &run->d_symbols, &run->d_noise_var) &&
           GOOD(bench, cudaMalloc((void **)&run->d_out, out_nbytes(run))) && (!is_chain(run) || allocate_chain(run)) &&
           copy_descriptors(run);
}

static bool create(struct gpu_run *run)
{
    softqam_demodulator_config config = bench_case_config(&run->job.c);
    config.context = run->bench->context;
    softqam_status status = softqam_demodulator_create(&run->demodulator, &config);
    if (status == SOFTQAM_OK)
        status = softqam_context_prepare(run->bench->context, SOFTQAM_PREPARE_KERNELS);
    return gpu_softqam_good(run->bench, status, run->job.contender.what);
}

static void add_run(struct gpu_bench *bench, struct turns *turns, const struct bench_case *c, enum bench_run what,
                    enum bench_copy_shape shape, bool programmatic)
{
    struct gpu_run *run = bench_add(turns, sizeof *run, c, what, run_case, close_run);
    if (!run)
        return;
    run->bench = bench;
    run->run = what;
    run->shape = shape;
    run->programmatic = programmatic;
    const bool is_graph = c->launch == BENCH_GRAPH || is_chain(run);
    bool good = prepare(run) && (what != BENCH_LIBRARY || (create(run) && enqueue(run, 0) && gpu_synchronise(bench)));
    good = good && (!is_graph || capture(run)) && (what != BENCH_LIBRARY || verify(run));
    if (!good)
        turns->failed = true;
}

void gpu_add(void *context, struct turns *turns, const struct bench_case *c, enum bench_run run)
{
    struct gpu_bench *bench = context;
    if (c->modulation == SOFTQAM_MODULATION_PI2_BPSK && c->n_layers > 1)
        turns->skipped = true;
    else if (c->launch >= BENCH_PINNED)
        gpu_host_add(bench, turns, c, run);
    else if (run != BENCH_LIMIT)
        add_run(bench, turns, c, run, BENCH_COPY_LONG, false);
    else
        for (int k = 0; k < 2 * BENCH_N_COPY_SHAPES; k++)
            /* Programmatic copies only where there is something to overlap with, plain ones where neighbours are. */
            if (k % 2 ? c->launch == BENCH_CHAIN || c->launch == BENCH_CHAIN_OVERLAPS
                      : c->launch != BENCH_CHAIN_OVERLAPS)
                add_run(bench, turns, c, run, (enum bench_copy_shape)(k / 2), k % 2);
}
