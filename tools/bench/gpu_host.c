/* SPDX-License-Identifier: MIT */
/* Cases from host memory to host memory, by one GPU or several, or by the CPU in their place; and of several GPUs the
 * same with the data on them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/message.h"
#include "create.h"
#include "gpu.h"

enum { MAX_GPUS = 16, ON_DEVICES_REPEATS = 20 };

/* What runs a case, or its limit. */
struct host_run {
    struct gpu_bench *bench;
    struct bench_case c;
    char name[WHAT_NBYTES];
    softqam_demodulator *demodulator; /* NULL: copies only */
    unsigned char *memory;            /* symbols, noise, output */
    size_t in_nbytes;
    size_t out_nbytes;
    int device; /* the thread's current one, before and after */
    int n_devices;
    unsigned char *d_memory[MAX_GPUS]; /* each device's part of them */
    cudaStream_t streams[MAX_GPUS][2];
};

static bool is_on_devices(const struct host_run *run) { return run->c.launch == BENCH_ON_DEVICES; }

/* The noise of the symbols at some memory, which lies behind n of them; NULL where they have none. */
static const float *noise_behind(const struct host_run *run, const unsigned char *symbols, size_t n)
{
    return run->c.output == SOFTQAM_OUTPUT_U8
               ? NULL
               : (const float *)(const void *)(symbols + n * softqam_input_symbol_nbytes(run->c.input));
}

/* Both directions of each GPU's bus at once, on a stream for each, without kernels. */
static bool copy_both_ways(struct host_run *run)
{
    const size_t n = (size_t)run->n_devices, in_nbytes = run->in_nbytes / n, out_nbytes = run->out_nbytes / n;
    bool all = true;
    for (size_t k = 0; k < n && all; k++)
        all = gpu_good(run->bench, cudaSetDevice((int)k), "cudaSetDevice") &&
              gpu_good(run->bench,
                       cudaMemcpyAsync(run->d_memory[k], run->memory + k * in_nbytes, in_nbytes, cudaMemcpyHostToDevice,
                                       run->streams[k][0]),
                       "cudaMemcpyAsync") &&
              gpu_good(run->bench,
                       cudaMemcpyAsync(run->memory + run->in_nbytes + k * out_nbytes, run->d_memory[k] + in_nbytes,
                                       out_nbytes, cudaMemcpyDeviceToHost, run->streams[k][1]),
                       "cudaMemcpyAsync");
    return all;
}

/* A call on each device, for its part of the symbols. */
static bool call_on_devices(struct host_run *run)
{
    const size_t n = run->c.n_symbols / (size_t)run->n_devices, in_nbytes = run->in_nbytes / (size_t)run->n_devices;
    bool all = true;
    for (int k = 0; k < run->n_devices && all; k++)
        all = gpu_good(run->bench, cudaSetDevice(k), "cudaSetDevice") &&
              gpu_softqam_good(run->bench,
                               softqam_cuda_demodulate(run->demodulator, run->d_memory[k],
                                                       noise_behind(run, run->d_memory[k], n), n,
                                                       run->d_memory[k] + in_nbytes, run->streams[k][0]),
                               run->name);
    return all;
}

static bool call(struct host_run *run)
{
    const size_t n = run->c.n_symbols;
    if (!run->demodulator)
        return copy_both_ways(run);
    if (is_on_devices(run))
        return call_on_devices(run);
    return gpu_softqam_good(run->bench,
                            softqam_demodulate(run->demodulator, run->memory, noise_behind(run, run->memory, n), n,
                                               run->memory + run->in_nbytes),
                            run->name);
}

/* Short calls are repeated, for the clock's sake. */
static double run_host(void *context)
{
    struct host_run *run = context;
    const size_t n_repeats = is_on_devices(run) ? (size_t)ON_DEVICES_REPEATS : 1 + 512 / run->c.n_symbols;
    bool all = true;
    const double start = clock_seconds();
    for (size_t k = 0; k < n_repeats && all; k++)
        all = call(run);
    for (int k = 0; k < 2 * run->n_devices; k++)
        all = gpu_good(run->bench, cudaStreamSynchronize(run->streams[k / 2][k % 2]), "cudaStreamSynchronize") && all;
    const double seconds = (clock_seconds() - start) / (double)n_repeats;
    return gpu_good(run->bench, cudaSetDevice(run->device), "cudaSetDevice") && all ? seconds : -1;
}

static void close_run(void *context)
{
    struct host_run *run = context;
    for (int k = 0; k < run->n_devices; k++) {
        (void)cudaSetDevice(k);
        (void)cudaFree(run->d_memory[k]);
        for (int way = 0; way < 2; way++)
            if (run->streams[k][way])
                (void)cudaStreamDestroy(run->streams[k][way]);
    }
    (void)cudaSetDevice(run->device);
    softqam_demodulator_destroy(run->demodulator);
    if (run->c.launch == BENCH_PAGEABLE)
        free(run->memory);
    else
        softqam_host_free(run->memory);
    free(run);
}

/* Streams and memory of each device, where the library does not make its own. */
static bool open_devices(struct host_run *run)
{
    const size_t nbytes = (run->in_nbytes + run->out_nbytes) / (size_t)run->n_devices;
    bool all = true;
    for (int k = 0; k < run->n_devices && all; k++)
        all = gpu_good(run->bench, cudaSetDevice(k), "cudaSetDevice") &&
              gpu_good(run->bench, cudaMalloc((void **)&run->d_memory[k], nbytes), "cudaMalloc") &&
              gpu_good(run->bench, cudaStreamCreate(&run->streams[k][0]), "cudaStreamCreate") &&
              gpu_good(run->bench, cudaStreamCreate(&run->streams[k][1]), "cudaStreamCreate");
    return gpu_good(run->bench, cudaSetDevice(run->device), "cudaSetDevice") && all;
}

/* Puts the samples into the run's memory, or each device's part of them on the device. */
static bool fill(struct host_run *run, const struct bench_samples *samples)
{
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(run->c.input), n = run->c.n_symbols;
    const size_t part = n / (size_t)(run->n_devices > 0 ? run->n_devices : 1);
    bool all = true;
    memcpy(run->memory, samples->symbols, n * symbol_nbytes);
    if (run->c.output != SOFTQAM_OUTPUT_U8)
        memcpy(run->memory + n * symbol_nbytes, samples->noise_var, n * sizeof(float));
    for (int k = 0; k < run->n_devices && all; k++) {
        const size_t first = (size_t)k * part;
        all = gpu_good(run->bench,
                       cudaMemcpy(run->d_memory[k], run->memory + first * symbol_nbytes, part * symbol_nbytes,
                                  cudaMemcpyHostToDevice),
                       "cudaMemcpy") &&
              (run->c.output == SOFTQAM_OUTPUT_U8 ||
               gpu_good(run->bench,
                        cudaMemcpy(run->d_memory[k] + part * symbol_nbytes, samples->noise_var + first,
                                   part * sizeof(float), cudaMemcpyHostToDevice),
                        "cudaMemcpy"));
    }
    return all;
}

/* A context of its own, which has all that it needs. */
static bool create(struct host_run *run)
{
    const softqam_demodulator_config config = bench_case_config(&run->c);
    softqam_context_config context_config =
        bench_context_config(run->c.on_cpu ? SOFTQAM_BACKEND_CPU : SOFTQAM_BACKEND_CUDA, run->c.n_threads);
    int devices[MAX_GPUS];
    for (int k = 0; k < MAX_GPUS; k++)
        devices[k] = k;
    if (run->c.n_devices > 0) {
        context_config.devices = devices;
        context_config.n_devices = run->c.n_devices;
    }
    softqam_status status = bench_create(&run->demodulator, context_config, &config);
    if (status == SOFTQAM_OK)
        status = softqam_context_prepare(softqam_demodulator_context(run->demodulator), SOFTQAM_PREPARE_ALL);
    return gpu_softqam_good(run->bench, status, run->name);
}

/* Calls once, and compares with the CPU's bytes; of devices their parts, one after the other. */
static bool verify(struct host_run *run, const struct bench_samples *samples)
{
    const softqam_demodulator_config config = bench_case_config(&run->c);
    const float *noise_var = run->c.output == SOFTQAM_OUTPUT_U8 ? NULL : samples->noise_var;
    unsigned char *expected = malloc(run->out_nbytes), *out = run->memory + run->in_nbytes;
    const size_t part = run->out_nbytes / (size_t)(run->n_devices > 0 ? run->n_devices : 1);
    softqam_demodulator *demodulator;
    memset(out, 1, run->out_nbytes);
    softqam_status status = bench_create(&demodulator, bench_context_config(SOFTQAM_BACKEND_CPU, 0), &config);
    if (status == SOFTQAM_OK && expected)
        status = softqam_demodulate(demodulator, samples->symbols, noise_var, run->c.n_symbols, expected);
    softqam_demodulator_destroy(demodulator);
    bool good = expected && gpu_softqam_good(run->bench, status, "cpu") && run_host(run) >= 0;
    for (int k = 0; k < run->n_devices && good; k++)
        good = gpu_good(run->bench,
                        cudaMemcpy(out + (size_t)k * part, run->d_memory[k] + run->in_nbytes / (size_t)run->n_devices,
                                   part, cudaMemcpyDeviceToHost),
                        "cudaMemcpy");
    if (good && memcmp(expected, out, run->out_nbytes) != 0) {
        message_print(run->name, "wrong bytes");
        good = false;
    }
    free(expected);
    return good;
}

static bool open_run(struct host_run *run, const struct bench_samples *samples, bool is_limit)
{
    const size_t nbytes = run->in_nbytes + run->out_nbytes;
    void *memory = NULL;
    if (run->c.launch == BENCH_PAGEABLE)
        memory = malloc(nbytes);
    else if (!gpu_softqam_good(run->bench, softqam_host_alloc(run->bench->context, nbytes, &memory), "cuda"))
        return false;
    run->memory = memory;
    return memory && samples && (run->n_devices == 0 || open_devices(run)) && fill(run, samples) &&
           (is_limit || (create(run) && verify(run, samples)));
}

void gpu_host_add(struct gpu_bench *bench, struct turns *turns, const struct bench_case *c, enum bench_run what)
{
    static const char *const memories[] = {[BENCH_PINNED] = "pinned", [BENCH_PAGEABLE] = "pageable"};
    const bool is_limit = what == BENCH_LIMIT;
    struct host_run *run = turns->failed ? NULL : calloc(1, sizeof *run);
    const int n_devices = c->n_devices > 0 ? (int)c->n_devices : 1;
    char name[WHAT_NBYTES];
    if (!run) {
        turns->failed = bench->report->failed = true;
        return;
    }
    *run = (struct host_run){.bench = bench,
                             .c = *c,
                             .in_nbytes = bench_case_nbytes(c) - bench_case_out_nbytes(c),
                             .out_nbytes = bench_case_out_nbytes(c),
                             .n_devices = is_limit || c->launch == BENCH_ON_DEVICES ? n_devices : 0};
    bench_case_name(c, name);
    if (is_limit)
        snprintf(run->name, sizeof run->name, "cuda: both copy directions together, %d GPU%s", n_devices,
                 PLURAL(n_devices));
    else
        snprintf(run->name, sizeof run->name, "%s: %.90s, %s, %u thread%s", c->on_cpu ? "cpu" : "cuda", name,
                 c->launch == BENCH_ON_DEVICES ? "on the devices" : memories[c->launch], c->n_threads,
                 PLURAL(c->n_threads));
    turns->contenders[turns->n++] =
        (struct contender){run->name, run_host, run, close_run, c->n_symbols, bench_case_nbytes(c), false};
    if (!gpu_good(bench, cudaGetDevice(&run->device), "cudaGetDevice") ||
        !open_run(run, bench_samples_get(&bench->pool, &c->data, c->modulation, c->input, c->n_symbols), is_limit))
        turns->failed = bench->report->failed = true;
}
