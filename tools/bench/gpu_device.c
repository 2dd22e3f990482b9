/* SPDX-License-Identifier: MIT */
/* Data on the device: integer formats, calls of every size, and what gpu_modulations.c has of every other format. */
#include <stdio.h>
#include <string.h>

#include "common/message.h"
#include "gpu.h"
#include "gpu_kernels.h"
#include "objects.h"

static double run_memcpy(void *context)
{
    struct gpu_bench *bench = context;
    if (!gpu_clock_start(bench) || !gpu_good(bench,
                                             cudaMemcpyAsync(bench->d_out, bench->d_in, 8 * bench->n_device_symbols,
                                                             cudaMemcpyDeviceToDevice, bench->streams[0]),
                                             "cudaMemcpyAsync"))
        return -1;
    return gpu_clock_stop(bench);
}

/* A plain copy of as many bytes a symbol. */
struct copy_case {
    struct gpu_bench *bench;
    struct bench_copy copy;
};

static double run_copy(void *context)
{
    const struct copy_case *c = context;
    struct gpu_bench *bench = c->bench;
    if (!gpu_clock_start(bench) || !gpu_good(bench, bench_copy_kernel(&c->copy, bench->streams[0]), "copy kernel"))
        return -1;
    return gpu_clock_stop(bench);
}

struct demodulator_case {
    struct gpu_bench *bench;
    softqam_demodulator *demodulator;
    const float *d_noise_var;
    size_t n_symbols;
    size_t n_calls; /* one after the other on the stream */
};

static double run_demodulator(void *context)
{
    const struct demodulator_case *c = context;
    struct gpu_bench *bench = c->bench;
    if (!gpu_clock_start(bench))
        return -1;
    for (size_t k = 0; k < c->n_calls; k++)
        if (!gpu_softqam_good(bench,
                              softqam_cuda_demodulate(c->demodulator, bench->d_in, c->d_noise_var, c->n_symbols,
                                                      bench->d_out, bench->streams[0]),
                              "cuda"))
            return -1;
    return gpu_clock_stop(bench) / (double)c->n_calls;
}

/* Every symbol on the device against the CPU's bytes. */
static void verify_soft_bits(struct gpu_bench *bench, const char *what)
{
    for (size_t first = 0; first < bench->n_device_symbols; first += bench->input->n_symbols) {
        const size_t left = bench->n_device_symbols - first;
        const size_t n = left < bench->input->n_symbols ? left : bench->input->n_symbols;
        if (!gpu_good(bench, cudaMemcpy(bench->pinned_out, bench->d_out + 8 * first, 8 * n, cudaMemcpyDeviceToHost),
                      "cudaMemcpy"))
            return;
        if (memcmp(bench->pinned_out, bench->input->expected, 8 * n) != 0) {
            message_print(what, "wrong bytes on the device from symbol %zu on", first);
            bench->report->failed = true;
        }
    }
}

/* What is measured, and which copy is its limit. The bits of integer samples are those of the floats: anything will do
 * for the kernels' time. */
enum limit { LIMIT_MEMCPY, LIMIT_2_TO_8, LIMIT_4_TO_8, N_LIMITS };

static const struct device_case {
    const char *what;
    softqam_input_format input;
    softqam_output_format output;
    enum limit limit;
} device_cases[] = {
    {"cf32 to u8", SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, LIMIT_MEMCPY},
    {"cs16 to u8", SOFTQAM_INPUT_CS16, SOFTQAM_OUTPUT_U8, LIMIT_4_TO_8},
    {"cs8 to u8", SOFTQAM_INPUT_CS8, SOFTQAM_OUTPUT_U8, LIMIT_2_TO_8},
    {"cs16 to s8", SOFTQAM_INPUT_CS16, SOFTQAM_OUTPUT_S8, LIMIT_4_TO_8},
};

/* The index of the measurement; negative after a failure. */
static int measure_case(struct gpu_bench *bench, const struct device_case *c, const int limits[N_LIMITS])
{
    char what[64];
    struct demodulator_case run = {.bench = bench, .n_symbols = bench->n_device_symbols, .n_calls = 1};
    const size_t nbytes =
        softqam_input_symbol_nbytes(c->input) + softqam_output_nbytes(c->output, SOFTQAM_MODULATION_256QAM, 1);
    snprintf(what, sizeof what, "cuda: %s on the device", c->what);
    if (!gpu_create(bench, &run.demodulator, SOFTQAM_MODULATION_256QAM, c->input, c->output, SOFTQAM_NOISE_PER_CALL))
        return -1;
    run.d_noise_var = c->output == SOFTQAM_OUTPUT_U8 ? NULL : bench->d_noise_var;
    const int index = report_measure(bench->report, what, bench->n_device_symbols, nbytes * bench->n_device_symbols,
                                     limits[c->limit], run_demodulator, &run);
    softqam_destroy(run.demodulator);
    return index;
}

/* So many bytes a symbol to eight. */
static int measure_copy(struct gpu_bench *bench, size_t in_nbytes, int limit)
{
    char what[64];
    const size_t n = bench->n_device_symbols;
    struct copy_case run = {bench,
                            {.in = bench->d_in,
                             .in_nbytes = in_nbytes,
                             .out = bench->d_out,
                             .out_nbytes = 8,
                             .n_symbols = n,
                             .shape = BENCH_COPY_LONG}};
    snprintf(what, sizeof what, "cuda: copy kernel, %zu bytes to 8", in_nbytes);
    return report_measure(bench->report, what, n, (in_nbytes + 8) * n, limit, run_copy, &run);
}

/* Calls of every size, short ones back to back. */
static void measure_sizes(struct gpu_bench *bench)
{
    enum { N_CALLS = 20, LONG_SYMBOLS = 1 << 24 };
    struct demodulator_case run = {.bench = bench};
    if (!gpu_create(bench, &run.demodulator, SOFTQAM_MODULATION_256QAM, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8,
                    SOFTQAM_NOISE_PER_CALL))
        return;
    for (size_t n = 1; n <= bench->n_device_symbols; n *= 4) {
        run.n_symbols = n;
        run.n_calls = n < LONG_SYMBOLS ? N_CALLS : 1;
        report_measure(bench->report, "curve: device", n, 16 * n, -1, run_demodulator, &run);
    }
    softqam_destroy(run.demodulator);
}

/* 256QAM, all bytes of which are verified, and integer samples. */
static void measure_soft_bits(struct gpu_bench *bench)
{
    const size_t n = bench->n_device_symbols;
    int limits[N_LIMITS];
    limits[LIMIT_MEMCPY] =
        report_measure(bench->report, "cuda: device-to-device memcpy", n, 16 * n, -1, run_memcpy, bench);
    if (limits[LIMIT_MEMCPY] < 0)
        return;
    limits[LIMIT_4_TO_8] = measure_copy(bench, 4, limits[LIMIT_MEMCPY]);
    limits[LIMIT_2_TO_8] = measure_copy(bench, 2, limits[LIMIT_MEMCPY]);
    for (size_t k = 0; k < sizeof device_cases / sizeof device_cases[0]; k++)
        if (measure_case(bench, &device_cases[k], limits) >= 0 && k == 0)
            verify_soft_bits(bench, device_cases[k].what);
    measure_sizes(bench);
}

void gpu_bench_device(struct gpu_bench *bench)
{
    if (bench->modulation == SOFTQAM_MODULATION_256QAM && gpu_fill_input(bench))
        measure_soft_bits(bench);
    gpu_measure_formats(bench, false);
}

static bool call_on_device(void *context, softqam_demodulator *demodulator, softqam_output_format format)
{
    struct gpu_bench *bench = context;
    return gpu_softqam_good(bench,
                            softqam_cuda_demodulate(demodulator, bench->d_in,
                                                    format == SOFTQAM_OUTPUT_U8 ? NULL : bench->d_noise_var,
                                                    bench->n_device_symbols, bench->d_out, bench->streams[0]),
                            "objects") &&
           gpu_good(bench, cudaStreamSynchronize(bench->streams[0]), "cudaStreamSynchronize");
}

static size_t device_nbytes(void *context)
{
    size_t n_free = 0, n_total = 0;
    return gpu_good(context, cudaMemGetInfo(&n_free, &n_total), "cudaMemGetInfo") ? n_total - n_free : 0;
}

void gpu_bench_objects(struct gpu_bench *bench)
{
    const struct objects_use uses[] = {
        {"auto", SOFTQAM_BACKEND_AUTO, SOFTQAM_PREPARE_ALL, NULL, device_nbytes, bench},
        {"cuda", SOFTQAM_BACKEND_CUDA, SOFTQAM_PREPARE_ALL, NULL, device_nbytes, bench},
        {"cuda, device memory", SOFTQAM_BACKEND_CUDA, SOFTQAM_PREPARE_KERNELS, call_on_device, device_nbytes, bench},
    };
    for (size_t k = 0; k < sizeof uses / sizeof uses[0]; k++)
        bench_objects(bench->report, &uses[k]);
}

void gpu_bench_graph(struct gpu_bench *bench)
{
    gpu_measure_formats(bench, true);
}
