/* SPDX-License-Identifier: MIT */
#include "gpu_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"
#include "common/sample_format.h"
#include "create.h"

enum { GRAPH_REPLAYS = 3 };

const char *const gpu_case_columns[] = {"us", "Gsym/s", "GLLR/s", "moving bytes us", "share", "goal", NULL};

bool gpu_pattern_make(struct gpu_bench *bench, struct gpu_pattern *pattern, softqam_modulation modulation,
                      softqam_input_format input)
{
    const size_t n = bench->n_device_symbols < GPU_PATTERN_SYMBOLS ? bench->n_device_symbols : GPU_PATTERN_SYMBOLS;
    const size_t nbytes = softqam_input_symbol_nbytes(input);
    *pattern = (struct gpu_pattern){malloc(n * nbytes), modulation, input, n};
    if (!pattern->symbols) {
        message_print("cuda", "out of memory");
        bench->report->failed = true;
        return false;
    }
    bench_fill(modulation, pattern->symbols, n, 28.0, input, bench_input_scale(input));
    return gpu_repeat(bench, bench->d_in, pattern->symbols, n * nbytes, bench->n_device_symbols * nbytes);
}

void gpu_pattern_free(struct gpu_pattern *pattern)
{
    free(pattern->symbols);
}

static bool has_noise_per_symbol(const struct gpu_case *c)
{
    return c->output != SOFTQAM_OUTPUT_U8 && c->noise == SOFTQAM_NOISE_PER_SYMBOL;
}

void gpu_case_name(const struct gpu_case *c, char name[WHAT_NBYTES])
{
    static const char *const inputs[] = {"cf32", "cs16", "cs8", "cf16"};
    snprintf(name, WHAT_NBYTES, "%s %s to %s%s", modulation_get(c->modulation)->name, inputs[c->input],
             sample_format_name((enum output_kind)c->output),
             c->output == SOFTQAM_OUTPUT_U8 ? ""
             : has_noise_per_symbol(c)      ? ", N0 a symbol"
                                            : ", one N0");
}

static size_t out_nbytes_of(const struct gpu_case *c)
{
    return softqam_output_nbytes(c->output, c->modulation, 1);
}

size_t gpu_case_nbytes(const struct gpu_case *c)
{
    return softqam_input_symbol_nbytes(c->input) + out_nbytes_of(c) + (has_noise_per_symbol(c) ? sizeof(float) : 0);
}

bool gpu_work_open(struct gpu_bench *bench, const struct gpu_case *c, size_t n_symbols, struct gpu_work *work)
{
    *work = (struct gpu_work){.bench = bench,
                              .what = *c,
                              .d_in = bench->d_in,
                              .d_noise_var = c->output == SOFTQAM_OUTPUT_U8 ? NULL : bench->d_noise_var,
                              .d_out = bench->d_out,
                              .n_symbols = n_symbols,
                              .n_launches = 1};
    char name[WHAT_NBYTES];
    gpu_case_name(c, name);
    snprintf(work->name, sizeof work->name, "cuda: %.70s", name);
    return gpu_create(bench, &work->demodulator, c->modulation, c->input, c->output, c->noise);
}

void gpu_work_close(struct gpu_work *work)
{
    if (work->graph)
        (void)cudaGraphExecDestroy(work->graph);
    softqam_destroy(work->demodulator);
}

struct gpu_work gpu_work_copy(const struct gpu_work *work, enum bench_copy_shape shape, bool programmatic)
{
    struct gpu_work copy = *work;
    copy.demodulator = NULL;
    copy.graph = NULL;
    copy.shape = shape;
    copy.programmatic = programmatic;
    if (!has_noise_per_symbol(&copy.what))
        copy.d_noise_var = NULL;
    const size_t out_nbytes = out_nbytes_of(&copy.what);
    snprintf(copy.name, sizeof copy.name, "cuda: copy kernel, %zu bytes to %zu%s%s",
             gpu_case_nbytes(&copy.what) - out_nbytes, out_nbytes,
             shape == BENCH_COPY_LONG ? ", long tiles" : ", short tiles", programmatic ? ", programmatic" : "");
    return copy;
}

bool gpu_work_enqueue(const struct gpu_work *work, size_t first)
{
    struct gpu_bench *bench = work->bench;
    const struct gpu_case *c = &work->what;
    const size_t in_nbytes = softqam_input_symbol_nbytes(c->input), out_nbytes = out_nbytes_of(c);
    const unsigned char *d_in = work->d_in + first * in_nbytes;
    const float *d_noise_var =
        work->d_noise_var && has_noise_per_symbol(c) ? work->d_noise_var + first : work->d_noise_var;
    unsigned char *d_out = work->d_out + first * out_nbytes;
    if (work->demodulator)
        return gpu_softqam_good(
            bench,
            softqam_cuda_demodulate(work->demodulator, d_in, d_noise_var, work->n_symbols, d_out, bench->streams[0]),
            work->name);
    const struct bench_copy copy = {d_in,       in_nbytes,       d_noise_var, d_out,
                                    out_nbytes, work->n_symbols, work->shape, work->programmatic};
    return gpu_good(bench, bench_copy_kernel(&copy, bench->streams[0]), work->name);
}

bool gpu_end_capture(struct gpu_bench *bench, bool enqueued, cudaGraphExec_t *graph)
{
    cudaGraph_t captured = NULL;
    const bool good = gpu_good(bench, cudaStreamEndCapture(bench->streams[0], &captured), "cudaStreamEndCapture") &&
                      enqueued && gpu_good(bench, cudaGraphInstantiate(graph, captured, 0), "cudaGraphInstantiate");
    if (captured)
        (void)cudaGraphDestroy(captured);
    return good;
}

bool gpu_work_capture(struct gpu_work *work, size_t n_launches)
{
    struct gpu_bench *bench = work->bench;
    bool all = true;
    work->n_launches = n_launches;
    if (!gpu_good(bench, cudaStreamBeginCapture(bench->streams[0], cudaStreamCaptureModeThreadLocal),
                  "cudaStreamBeginCapture"))
        return false;
    for (size_t k = 0; k < n_launches && all; k++)
        all = gpu_work_enqueue(work, k * GPU_SLOT_STRIDE);
    return gpu_end_capture(bench, all, &work->graph);
}

static double run_work(void *context)
{
    const struct gpu_work *work = context;
    struct gpu_bench *bench = work->bench;
    const int n_replays = work->graph ? GRAPH_REPLAYS : 1;
    bool all = gpu_clock_start(bench);
    for (int k = 0; k < n_replays && all; k++)
        all = work->graph ? gpu_good(bench, cudaGraphLaunch(work->graph, bench->streams[0]), "cudaGraphLaunch")
                          : gpu_work_enqueue(work, 0);
    const double seconds = all ? gpu_clock_stop(bench) : -1;
    return seconds < 0 ? -1 : seconds / (double)(work->n_launches * (size_t)n_replays);
}

struct contender gpu_work_contender(struct gpu_work *work)
{
    return (struct contender){work->name, run_work, work, work->n_symbols,
                              work->n_symbols * gpu_case_nbytes(&work->what)};
}

/* The CPU's bytes; NULL after a failure. */
static unsigned char *expect(struct gpu_bench *bench, const struct gpu_case *c, const void *symbols,
                             const float *noise_var, size_t n)
{
    const softqam_context_config context_config = bench_context_config(SOFTQAM_BACKEND_CPU, 0);
    unsigned char *expected = malloc(n * out_nbytes_of(c));
    softqam_demodulator *demodulator = NULL;
    softqam_config config;
    softqam_config_init(&config);
    config.modulation = c->modulation;
    config.input_format = c->input;
    config.output_format = c->output;
    config.noise = c->noise;
    softqam_status status = bench_create(&demodulator, &context_config, &config);
    if (status == SOFTQAM_OK && expected)
        status =
            softqam_demodulate(demodulator, symbols, c->output == SOFTQAM_OUTPUT_U8 ? NULL : noise_var, n, expected);
    softqam_destroy(demodulator);
    if (expected && gpu_softqam_good(bench, status, "cpu"))
        return expected;
    bench->report->failed = true;
    free(expected);
    return NULL;
}

bool gpu_verify(struct gpu_bench *bench, const struct gpu_case *c, const char *name, const void *symbols,
                const float *noise_var, size_t n, const void *d_out)
{
    const size_t nbytes = n * out_nbytes_of(c);
    unsigned char *expected = expect(bench, c, symbols, noise_var, n), *got = malloc(nbytes);
    bool good =
        expected && got && gpu_good(bench, cudaMemcpy(got, d_out, nbytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (good && memcmp(expected, got, nbytes) != 0) {
        message_print(name, "wrong bytes on the device");
        good = false;
    }
    free(expected);
    free(got);
    bench->report->failed = bench->report->failed || !good;
    return good;
}

/* Runs the work once into memory that holds something else, and looks at its beginning and its end. */
static bool verify_work(struct gpu_work *work, const struct gpu_pattern *pattern)
{
    struct gpu_bench *bench = work->bench;
    const struct gpu_case *c = &work->what;
    const size_t n_all = work->graph ? work->n_launches * GPU_SLOT_STRIDE : work->n_symbols;
    const size_t n_first = work->n_symbols < pattern->n_symbols ? work->n_symbols : pattern->n_symbols;
    const size_t last = work->graph ? (work->n_launches - 1) * GPU_SLOT_STRIDE
                                    : (work->n_symbols - 1) / pattern->n_symbols * pattern->n_symbols;
    const size_t n_last = work->graph ? work->n_symbols : work->n_symbols - last;
    const size_t firsts[] = {0, last}, counts[] = {n_first, n_last};
    float *noise_var = malloc(pattern->n_symbols * sizeof *noise_var);
    bool good = noise_var && gpu_good(bench, cudaMemset(work->d_out, 1, n_all * out_nbytes_of(c)), "cudaMemset") &&
                run_work(work) >= 0;
    for (size_t k = 0; good && k < pattern->n_symbols; k++)
        noise_var[k] = bench->noise_var;
    for (size_t k = 0; good && k < 2; k++)
        good =
            gpu_verify(bench, c, work->name,
                       pattern->symbols + firsts[k] % pattern->n_symbols * softqam_input_symbol_nbytes(pattern->input),
                       noise_var, counts[k], work->d_out + firsts[k] * out_nbytes_of(c));
    bench->report->failed = bench->report->failed || !good;
    free(noise_var);
    return good;
}

static void report_case(struct gpu_bench *bench, const struct gpu_work *work, int first, double goal)
{
    const int limit = report_faster(bench->report, first + 1, first + 2);
    char name[WHAT_NBYTES];
    report_set_limit(bench->report, first, limit);
    const double us = 1e6 * report_median(bench->report, first), rate = 1e-3 * (double)work->n_symbols / us;
    const double values[] = {us,
                             rate,
                             rate * modulation_get(work->what.modulation)->n_bits,
                             1e6 * report_median(bench->report, limit),
                             report_share(bench->report, first),
                             goal};
    gpu_case_name(&work->what, name);
    report_row(bench->report, name, values);
}

size_t gpu_count_slots(const struct gpu_bench *bench, size_t symbol_nbytes)
{
    enum { GRAPH_NBYTES = 1 << 28 };
    const size_t n = GRAPH_NBYTES / (SLOT_SYMBOLS * symbol_nbytes) + 1;
    const size_t n_fitting = bench->n_device_symbols / GPU_SLOT_STRIDE;
    return n < n_fitting ? n : n_fitting;
}

void gpu_measure_case(struct gpu_bench *bench, const struct gpu_case *c, const struct gpu_pattern *pattern, bool slots,
                      double goal)
{
    const size_t n_launches = slots ? gpu_count_slots(bench, gpu_case_nbytes(c)) : 1;
    struct gpu_work works[1 + BENCH_N_COPY_SHAPES];
    struct contender contenders[1 + BENCH_N_COPY_SHAPES];
    bool all = n_launches > 0 && gpu_work_open(bench, c, slots ? SLOT_SYMBOLS : bench->n_device_symbols, &works[0]);
    if (!all)
        return;
    works[1] = gpu_work_copy(&works[0], BENCH_COPY_LONG, false);
    works[2] = gpu_work_copy(&works[0], BENCH_COPY_SHORT, false);
    for (int k = 0; k <= BENCH_N_COPY_SHAPES && all; k++) {
        all = !slots || gpu_work_capture(&works[k], n_launches);
        contenders[k] = gpu_work_contender(&works[k]);
    }
    all = all && verify_work(&works[0], pattern);
    const int first = all ? report_measure_in_turns(bench->report, contenders, 1 + BENCH_N_COPY_SHAPES) : -1;
    if (first >= 0)
        report_case(bench, &works[0], first, goal);
    for (int k = 0; k <= BENCH_N_COPY_SHAPES; k++)
        gpu_work_close(&works[k]);
}
