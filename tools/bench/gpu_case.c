/* SPDX-License-Identifier: MIT */
/* What is measured on device memory: symbols, the library's work on them and copies in its place, and right bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"
#include "gpu.h"

bool gpu_pattern_make(struct gpu_bench *bench, struct gpu_pattern *pattern, softqam_modulation modulation,
                      softqam_input_format input)
{
    const size_t n = bench->n_device_symbols < GPU_PATTERN_SYMBOLS ? bench->n_device_symbols : GPU_PATTERN_SYMBOLS;
    const size_t nbytes = softqam_input_symbol_nbytes(input);
    *pattern = (struct gpu_pattern){malloc(n * nbytes), malloc(n * sizeof(float)), modulation, input, n};
    if (!pattern->symbols || !pattern->noise_var) {
        message_print("cuda", "out of memory");
        bench->report->failed = true;
        return false;
    }
    bench_fill(modulation, pattern->symbols, n, 28.0, input);
    for (size_t k = 0; k < n; k++)
        pattern->noise_var[k] = bench->noise_var;
    return gpu_repeat(bench, bench->d_in, pattern->symbols, n * nbytes, bench->n_device_symbols * nbytes);
}

void gpu_pattern_free(struct gpu_pattern *pattern)
{
    free(pattern->symbols);
    free(pattern->noise_var);
}

size_t gpu_count_slots(const struct gpu_bench *bench, size_t symbol_nbytes)
{
    enum { GRAPH_NBYTES = 1 << 28 };
    const size_t n = GRAPH_NBYTES / (SLOT_SYMBOLS * symbol_nbytes) + 1;
    const size_t n_fitting = bench->n_device_symbols / GPU_SLOT_STRIDE;
    return n < n_fitting ? n : n_fitting;
}

void gpu_config_name(const softqam_demodulator_config *config, char name[WHAT_NBYTES])
{
    snprintf(name, WHAT_NBYTES, "%s %s to %s%s", modulation_get(config->modulation)->name,
             bench_input_name(config->input_format), sample_format_output_name(config->output_format),
             config->output_format == SOFTQAM_OUTPUT_U8 ? ""
             : bench_has_noise(config)                  ? ", N0 a symbol"
                                                        : ", one N0");
}

bool gpu_work_open(struct gpu_bench *bench, softqam_demodulator_config config, size_t n_symbols, struct gpu_work *work)
{
    char name[WHAT_NBYTES];
    *work = (struct gpu_work){.bench = bench,
                              .config = config,
                              .d_in = bench->d_in,
                              .d_noise_var = config.output_format == SOFTQAM_OUTPUT_U8 ? NULL : bench->d_noise_var,
                              .d_out = bench->d_out,
                              .n_symbols = n_symbols,
                              .n_launches = 1};
    gpu_config_name(&config, name);
    snprintf(work->name, sizeof work->name, "cuda: %.70s", name);
    return gpu_create(bench, &work->demodulator, config);
}

void gpu_work_close(void *context)
{
    struct gpu_work *work = context;
    if (work->graph)
        (void)cudaGraphExecDestroy(work->graph);
    softqam_demodulator_destroy(work->demodulator);
}

struct gpu_work gpu_work_copy(const struct gpu_work *work, enum bench_copy_shape shape, bool programmatic)
{
    struct gpu_work copy = *work;
    copy.demodulator = NULL;
    copy.graph = NULL;
    copy.shape = shape;
    copy.programmatic = programmatic;
    if (!bench_has_noise(&copy.config))
        copy.d_noise_var = NULL;
    const size_t out_nbytes = bench_out_nbytes(&copy.config, 1);
    snprintf(copy.name, sizeof copy.name, "cuda: copy kernel, %zu bytes to %zu%s%s",
             bench_symbol_nbytes(&copy.config) - out_nbytes, out_nbytes,
             shape == BENCH_COPY_LONG ? ", long tiles" : ", short tiles", programmatic ? ", programmatic" : "");
    return copy;
}

bool gpu_work_enqueue(const struct gpu_work *work, size_t first)
{
    struct gpu_bench *bench = work->bench;
    cudaStream_t stream = bench->streams[0];
    const softqam_demodulator_config *config = &work->config;
    const size_t in_nbytes = softqam_input_symbol_nbytes(config->input_format), n = work->n_symbols;
    const size_t out_nbytes = bench_out_nbytes(config, 1);
    const unsigned char *d_in = work->d_in + first * in_nbytes;
    const float *d_noise_var = bench_has_noise(config) ? work->d_noise_var + first : work->d_noise_var;
    unsigned char *d_out = work->d_out + first * out_nbytes;
    if (work->demodulator)
        return gpu_softqam_good(bench, softqam_cuda_demodulate(work->demodulator, d_in, d_noise_var, n, d_out, stream),
                                work->name);
    const struct bench_copy copy = {d_in,       in_nbytes, d_noise_var, d_out,
                                    out_nbytes, n,         work->shape, work->programmatic};
    return gpu_good(bench, bench_copy_kernel(&copy, stream), work->name);
}

static double run_work(void *context)
{
    enum { GRAPH_REPLAYS = 3 };
    const struct gpu_work *work = context;
    struct gpu_bench *bench = work->bench;
    const double n_launches = (double)work->n_launches;
    if (work->graph)
        return gpu_time_graph(bench, work->graph, GRAPH_REPLAYS) / n_launches;
    bool all = gpu_clock_start(bench);
    for (size_t k = 0; k < work->n_launches && all; k++)
        all = gpu_work_enqueue(work, 0);
    return all ? gpu_clock_stop(bench) / n_launches : -1;
}

void gpu_work_add(struct turns *turns, struct gpu_work *work)
{
    turns->contenders[turns->n++] =
        (struct contender){work->name,     run_work,        work,
                           gpu_work_close, work->n_symbols, work->n_symbols * bench_symbol_nbytes(&work->config)};
}

bool gpu_compare(struct gpu_bench *bench, const char *name, const void *expected, const void *d_out, size_t nbytes)
{
    void *got = malloc(nbytes);
    bool good = got && gpu_good(bench, cudaMemcpy(got, d_out, nbytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (good && memcmp(expected, got, nbytes) != 0) {
        message_print(name, "wrong bytes on the device");
        good = false;
    }
    free(got);
    bench->report->failed = bench->report->failed || !good;
    return good;
}

bool gpu_verify(const struct gpu_work *work, const char *name, const void *symbols, const float *noise_var, size_t n,
                const void *d_out)
{
    struct gpu_bench *bench = work->bench;
    const size_t nbytes = bench_out_nbytes(&work->config, n);
    void *expected = malloc(nbytes);
    softqam_demodulator *demodulator;
    softqam_status status = bench_create(&demodulator, bench_context_config(SOFTQAM_BACKEND_CPU, 0), &work->config);
    if (status == SOFTQAM_OK && expected)
        status = softqam_demodulate(demodulator, symbols,
                                    work->config.output_format == SOFTQAM_OUTPUT_U8 ? NULL : noise_var, n, expected);
    softqam_demodulator_destroy(demodulator);
    const bool good =
        gpu_softqam_good(bench, status, "cpu") && expected && gpu_compare(bench, name, expected, d_out, nbytes);
    bench->report->failed = bench->report->failed || !good;
    free(expected);
    return good;
}
