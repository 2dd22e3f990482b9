/* SPDX-License-Identifier: MIT */
/* Host memory to host memory, cf32 to u8: pinned and pageable, one slot, the CPU beside the GPU, several GPUs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/message.h"
#include "create.h"
#include "gpu.h"
#include "rows.h"

/* The buffers, on the current device's host. */
struct host_bench {
    struct gpu_bench *gpu;
    struct report *report;
    size_t n_symbols;
    const void *symbols;     /* pageable */
    unsigned char *expected; /* their soft bits, by the CPU */
    unsigned char *pageable_out;
    unsigned char *pinned_in; /* the symbols again */
    unsigned char *pinned_out;
};

static bool copy(struct host_bench *bench, void *to, const void *from, size_t nbytes, enum cudaMemcpyKind kind,
                 cudaStream_t stream)
{
    return gpu_good(bench->gpu, cudaMemcpyAsync(to, from, nbytes, kind, stream), "cudaMemcpyAsync");
}

/* One or more GPUs, each with its share of the symbols. */
enum { MAX_GPUS = 16 };

struct devices {
    struct host_bench *bench;
    int n;
    cudaStream_t streams[MAX_GPUS][2];
    unsigned char *buffers[MAX_GPUS]; /* symbols, then soft bits */
    softqam_demodulator *demodulator; /* on all of them */
};

/* Both directions of each GPU's bus at once, on a stream for each, without kernels. */
static double run_buses(void *context)
{
    const struct devices *c = context;
    struct host_bench *bench = c->bench;
    const size_t nbytes = 8 * (bench->n_symbols / (size_t)c->n);
    bool all = true;
    const double start = clock_seconds();
    for (int k = 0; k < c->n && all; k++) {
        const size_t offset = nbytes * (size_t)k;
        all = gpu_good(bench->gpu, cudaSetDevice(k), "cudaSetDevice") &&
              copy(bench, c->buffers[k], bench->pinned_in + offset, nbytes, cudaMemcpyHostToDevice, c->streams[k][0]) &&
              copy(bench, bench->pinned_out + offset, c->buffers[k] + nbytes, nbytes, cudaMemcpyDeviceToHost,
                   c->streams[k][1]);
    }
    for (int k = 0; k < 2 * c->n; k++)
        all = gpu_good(bench->gpu, cudaStreamSynchronize(c->streams[k / 2][k % 2]), "cudaStreamSynchronize") && all;
    return all ? clock_seconds() - start : -1;
}

struct host_run {
    struct host_bench *bench;
    softqam_demodulator *demodulator;
    const void *symbols;
    size_t n_symbols;
    unsigned char *out;
    size_t n_repeats;
};

static double run_host(void *context)
{
    const struct host_run *run = context;
    const double start = clock_seconds();
    for (size_t k = 0; k < run->n_repeats; k++)
        if (!gpu_softqam_good(run->bench->gpu,
                              softqam_demodulate(run->demodulator, run->symbols, NULL, run->n_symbols, run->out),
                              "host to host"))
            return -1;
    return (clock_seconds() - start) / (double)run->n_repeats;
}

/* A call on the first n symbols; short ones are repeated, for the clock's sake. */
static struct host_run host_run_of(struct host_bench *bench, softqam_demodulator *demodulator, bool pinned, size_t n)
{
    struct host_run run = {bench, demodulator, bench->symbols, n, bench->pageable_out, 1 + 512 / n};
    if (pinned) {
        run.symbols = bench->pinned_in;
        run.out = bench->pinned_out;
    }
    return run;
}

static bool gives_right_bytes(struct host_run *run, const char *what)
{
    memset(run->out, 1, 8 * run->n_symbols);
    if (run_host(run) < 0)
        return false;
    if (memcmp(run->out, run->bench->expected, 8 * run->n_symbols) == 0)
        return true;
    message_print(what, "wrong bytes");
    run->bench->report->failed = true;
    return false;
}

/* Verifies, then measures; the index of the measurement, negative after a failure. */
static int measure_host(struct host_bench *bench, softqam_demodulator *demodulator, bool pinned, size_t n,
                        const char *what, int limit)
{
    struct host_run run = host_run_of(bench, demodulator, pinned, n);
    return gives_right_bytes(&run, what) ? report_measure(bench->report, what, n, 16 * n, limit, run_host, &run) : -1;
}

/* cf32 to u8, with a context of its own that has all it needs. */
static softqam_demodulator *make(struct host_bench *bench, softqam_backend backend, unsigned n_threads)
{
    softqam_demodulator *demodulator;
    softqam_status status = bench_create(&demodulator, bench_context_config(backend, n_threads), NULL);
    if (status == SOFTQAM_OK)
        status = softqam_context_prepare(softqam_demodulator_context(demodulator), SOFTQAM_PREPARE_ALL);
    if (gpu_softqam_good(bench->gpu, status, "host to host"))
        return demodulator;
    softqam_demodulator_destroy(demodulator);
    return NULL;
}

/* A measurement's rate; NAN for -1, which is none. */
static double gigasymbols(const struct report *report, int index)
{
    return index < 0 ? NAN : (double)report->measurements[index].n_symbols / report_median(report, index) / 1e9;
}

static void measure_slot(struct host_bench *bench, softqam_demodulator *demodulator)
{
    enum { LATENCY_SAMPLES = 1000 };
    static const char *const columns[] = {"us", "p99 us", NULL};
    struct report *report = bench->report;
    const size_t n_samples = report->n_samples;
    if (n_samples > 1)
        report->n_samples = LATENCY_SAMPLES;
    report_table(report, columns, "cuda: a slot host to host, cf32 to u8");
    for (int pinned = 1; pinned >= 0; pinned--) {
        const char *memory = pinned ? "pinned" : "pageable";
        char what[64];
        snprintf(what, sizeof what, "cuda: one slot host to host, %s", memory);
        const int index = measure_host(bench, demodulator, pinned, SLOT_SYMBOLS, what, -1);
        if (index >= 0) {
            const struct measurement *m = &report->measurements[index];
            const double values[] = {1e6 * report_median(report, index), 1e6 * m->seconds[m->n_samples * 99 / 100]};
            report_row(report, memory, values);
        }
    }
    report->n_samples = n_samples;
}

static bool set_up_devices(struct devices *c)
{
    const size_t share = c->bench->n_symbols / (size_t)c->n;
    bool all = true;
    for (int k = 0; k < c->n && all; k++)
        all = gpu_good(c->bench->gpu, cudaSetDevice(k), "cudaSetDevice") &&
              gpu_good(c->bench->gpu, cudaMalloc((void **)&c->buffers[k], 16 * share), "cudaMalloc") &&
              gpu_good(c->bench->gpu, cudaStreamCreate(&c->streams[k][0]), "cudaStreamCreate") &&
              gpu_good(c->bench->gpu, cudaStreamCreate(&c->streams[k][1]), "cudaStreamCreate");
    return all;
}

static void take_down_devices(struct devices *c)
{
    softqam_demodulator_destroy(c->demodulator);
    for (int k = 0; k < c->n; k++) {
        (void)cudaSetDevice(k);
        (void)cudaFree(c->buffers[k]);
        for (int way = 0; way < 2; way++)
            if (c->streams[k][way])
                (void)cudaStreamDestroy(c->streams[k][way]);
    }
}

static void measure_host_section(struct host_bench *bench)
{
    enum { MOST_THREADS = 16 };
    static const char *const columns[] = {"Gsym/s", "of the copies", "of pinned", NULL};
    const size_t n = bench->n_symbols;
    struct report *report = bench->report;
    struct devices one = {.bench = bench, .n = 1};
    const int bus = set_up_devices(&one)
                        ? report_measure(report, "cuda: both copy directions together", n, 16 * n, -1, run_buses, &one)
                        : -1;
    take_down_devices(&one);
    softqam_demodulator *demodulator = bus < 0 ? NULL : make(bench, SOFTQAM_BACKEND_CUDA, 0);
    if (!demodulator)
        return;
    measure_slot(bench, demodulator);
    const int reached = measure_host(bench, demodulator, true, n, "cuda: host to host, pinned", bus);
    softqam_demodulator_destroy(demodulator);
    report_table(report, columns, "cuda: host to host, cf32 to u8, %zu symbols", n);
    report_row(report, "pinned", (double[]){gigasymbols(report, reached), report_share(report, reached), NAN});
    for (unsigned n_threads = 1; n_threads <= MOST_THREADS && reached >= 0; n_threads *= 2) {
        char what[64];
        snprintf(what, sizeof what, "cuda: host to host, pageable, %u thread%s", n_threads, PLURAL(n_threads));
        demodulator = make(bench, SOFTQAM_BACKEND_CUDA, n_threads);
        const int index = demodulator ? measure_host(bench, demodulator, false, n, what, reached) : -1;
        report_row(report, strstr(what, "pageable"),
                   (double[]){gigasymbols(report, index), NAN, report_share(report, index)});
        softqam_demodulator_destroy(demodulator);
    }
}

/* One size of the curve for one kind of memory: CUDA relative to the CPU. Symbols a second of each, NAN after a
 * failure. */
static void measure_choice(struct host_bench *bench, softqam_demodulator *const demodulators[2], bool pinned, size_t n,
                           double rates[2])
{
    static const char *const names[] = {"cpu", "cuda"};
    char what[2][64];
    struct host_run runs[2];
    struct turns turns = {.report = bench->report};
    for (int k = 0; k < 2; k++) {
        runs[k] = host_run_of(bench, demodulators[k], pinned, n);
        snprintf(what[k], sizeof what[k], "curve: %s, %s", names[k], pinned ? "pinned" : "pageable");
        turns.failed = turns.failed || !gives_right_bytes(&runs[k], what[k]);
        turns.contenders[turns.n++] = (struct contender){what[k], run_host, &runs[k], NULL, n, 16 * n, false};
    }
    const int first = report_measure_in_turns(&turns);
    if (first >= 0)
        report_set_limit(bench->report, first + 1, first);
    for (int k = 0; k < 2; k++)
        rates[k] = 1e3 * gigasymbols(bench->report, first < 0 ? -1 : first + k);
}

static void measure_choice_section(struct host_bench *bench)
{
    static const char *const columns[] = {"pinned: CPU", "pinned: CUDA", "pageable: CPU", "pageable: CUDA", NULL};
    softqam_demodulator *demodulators[2] = {make(bench, SOFTQAM_BACKEND_CPU, 0), make(bench, SOFTQAM_BACKEND_CUDA, 0)};
    report_table(bench->report, columns, "CPU and CUDA, cf32 to u8, Msym/s");
    for (size_t n = 1; n <= bench->n_symbols && demodulators[0] && demodulators[1]; n *= 4) {
        double rates[4];
        char row[32];
        measure_choice(bench, demodulators, true, n, rates);
        measure_choice(bench, demodulators, false, n, rates + 2);
        snprintf(row, sizeof row, "%zu symbol%s", n, PLURAL(n));
        report_row(bench->report, row, rates);
    }
    for (int k = 0; k < 2; k++)
        softqam_demodulator_destroy(demodulators[k]);
}

/* All devices at once on data of their own. */
static double run_devices(void *context)
{
    enum { REPEATS = 20 };
    const struct devices *c = context;
    struct host_bench *bench = c->bench;
    const size_t share = bench->n_symbols / (size_t)c->n;
    bool all = true;
    const double start = clock_seconds();
    for (int k = 0; k < REPEATS * c->n && all; k++) {
        unsigned char *buffer = c->buffers[k % c->n];
        all = gpu_good(bench->gpu, cudaSetDevice(k % c->n), "cudaSetDevice") &&
              gpu_softqam_good(bench->gpu,
                               softqam_cuda_demodulate(c->demodulator, buffer, NULL, share, buffer + 8 * share,
                                                       c->streams[k % c->n][0]),
                               "several devices");
    }
    for (int k = 0; k < c->n; k++)
        all = gpu_good(bench->gpu, cudaStreamSynchronize(c->streams[k][0]), "cudaStreamSynchronize") && all;
    return all ? (clock_seconds() - start) / REPEATS : -1;
}

static void measure_devices(struct host_bench *bench, int n_devices)
{
    struct devices c = {.bench = bench, .n = n_devices};
    const size_t n = bench->n_symbols;
    struct report *report = bench->report;
    int devices[MAX_GPUS];
    char what[64];
    for (int k = 0; k < n_devices; k++)
        devices[k] = k;
    softqam_context_config config = bench_context_config(SOFTQAM_BACKEND_CUDA, 0);
    config.devices = devices;
    config.n_devices = (unsigned)n_devices;
    if (set_up_devices(&c) &&
        gpu_softqam_good(bench->gpu, bench_create(&c.demodulator, config, NULL), "several devices")) {
        snprintf(what, sizeof what, "cuda: %d GPU%s, copy directions together", n_devices, PLURAL(n_devices));
        const int buses = report_measure(report, what, n, 16 * n, -1, run_buses, &c);
        snprintf(what, sizeof what, "cuda: %d GPU%s, host to host, pinned", n_devices, PLURAL(n_devices));
        const int host = measure_host(bench, c.demodulator, true, n, what, buses);
        snprintf(what, sizeof what, "cuda: %d GPU%s, cf32 to u8 on the devices", n_devices, PLURAL(n_devices));
        const int device = report_measure(report, what, n, 16 * n, -1, run_devices, &c);
        snprintf(what, sizeof what, "%d GPU%s", n_devices, PLURAL(n_devices));
        report_row(report, what,
                   (double[]){gigasymbols(report, host), report_share(report, host), gigasymbols(report, device)});
    }
    take_down_devices(&c);
}

static void measure_devices_section(struct host_bench *bench)
{
    static const char *const columns[] = {"Gsym/s", "share of the copies", "Gsym/s on the devices", NULL};
    int n_devices = 0, current = 0;
    if (cudaGetDeviceCount(&n_devices) != cudaSuccess || n_devices < 2 || cudaGetDevice(&current) != cudaSuccess)
        return;
    report_table(bench->report, columns, "cuda: several GPUs, cf32 to u8, %zu symbols", bench->n_symbols);
    for (int n = 1; n <= n_devices && n <= MAX_GPUS; n *= 2)
        measure_devices(bench, n);
    (void)cudaSetDevice(current);
}

static bool prepare(struct host_bench *bench)
{
    const size_t nbytes = 8 * bench->n_symbols;
    const struct bench_input input = rows_fading(SOFTQAM_MODULATION_256QAM);
    const struct bench_samples *samples =
        bench_samples_get(&bench->gpu->pool, &input, SOFTQAM_MODULATION_256QAM, SOFTQAM_INPUT_CF32, bench->n_symbols);
    softqam_context *context = bench->gpu->context;
    softqam_demodulator *demodulator;
    void *pinned_in = NULL, *pinned_out = NULL;
    bool all = gpu_softqam_good(bench->gpu, softqam_host_alloc(context, nbytes, &pinned_in), "cuda") &&
               gpu_softqam_good(bench->gpu, softqam_host_alloc(context, nbytes, &pinned_out), "cuda");
    bench->pinned_in = pinned_in;
    bench->pinned_out = pinned_out;
    bench->symbols = samples ? samples->symbols : NULL;
    bench->expected = malloc(nbytes);
    bench->pageable_out = malloc(nbytes);
    if (!all || !bench->symbols || !bench->expected || !bench->pageable_out)
        return false;
    memcpy(bench->pinned_in, bench->symbols, nbytes);
    softqam_status status = bench_create(&demodulator, bench_context_config(SOFTQAM_BACKEND_CPU, 0), NULL);
    if (status == SOFTQAM_OK)
        status = softqam_demodulate(demodulator, bench->symbols, NULL, bench->n_symbols, bench->expected);
    softqam_demodulator_destroy(demodulator);
    return gpu_softqam_good(bench->gpu, status, "cpu");
}

void gpu_bench_host(struct gpu_bench *gpu)
{
    const struct bench_options *options = gpu->options;
    const unsigned sections = options->sections;
    struct host_bench bench = {.gpu = gpu,
                               .report = gpu->report,
                               .n_symbols =
                                   options->n_symbols > options->n_largest ? options->n_symbols : options->n_largest};
    if (!(sections & (1u << BENCH_HOST | 1u << BENCH_CHOICE | 1u << BENCH_DEVICES)))
        return;
    if (prepare(&bench)) {
        if (sections & 1u << BENCH_HOST)
            measure_host_section(&bench);
        if (sections & 1u << BENCH_CHOICE)
            measure_choice_section(&bench);
        if (sections & 1u << BENCH_DEVICES)
            measure_devices_section(&bench);
    } else {
        message_print("cuda", "memory could not be had");
        gpu->report->failed = true;
    }
    softqam_host_free(bench.pinned_in);
    softqam_host_free(bench.pinned_out);
    free(bench.expected);
    free(bench.pageable_out);
}
