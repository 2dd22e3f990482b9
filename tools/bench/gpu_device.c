/* SPDX-License-Identifier: MIT */
/* Data on the device: integer formats, calls of every size, and what gpu_modulations.c has of every other format. What
 * objects cost. */
#include <stdio.h>
#include <string.h>

#include "common/message.h"
#include "gpu.h"
#include "objects.h"

static double run_memcpy(void *context)
{
    struct gpu_bench *bench = context;
    const bool all =
        gpu_clock_start(bench) && gpu_good(bench,
                                           cudaMemcpyAsync(bench->d_out, bench->d_in, 8 * bench->n_device_symbols,
                                                           cudaMemcpyDeviceToDevice, bench->streams[0]),
                                           "cudaMemcpyAsync");
    return all ? gpu_clock_stop(bench) : -1;
}

/* Every symbol on the device against the CPU's bytes. */
static void verify_soft_bits(struct gpu_bench *bench, const char *what)
{
    for (size_t first = 0; first < bench->n_device_symbols; first += bench->n_symbols) {
        const size_t left = bench->n_device_symbols - first;
        const size_t n = left < bench->n_symbols ? left : bench->n_symbols;
        if (!gpu_good(bench, cudaMemcpy(bench->pinned_out, bench->d_out + 8 * first, 8 * n, cudaMemcpyDeviceToHost),
                      "cudaMemcpy"))
            return;
        if (memcmp(bench->pinned_out, bench->expected, 8 * n) != 0) {
            message_print(what, "wrong bytes on the device from symbol %zu on", first);
            bench->report->failed = true;
        }
    }
}

static softqam_demodulator_config config_of(softqam_input_format input, softqam_output_format output)
{
    return bench_config(SOFTQAM_MODULATION_256QAM, input, output, SOFTQAM_NOISE_PER_CALL);
}

/* One work alone. */
static int measure_work(struct gpu_work *work, int limit)
{
    struct turns turns = {.report = work->bench->report};
    gpu_work_add(&turns, work);
    return report_set_limit(turns.report, report_measure_in_turns(&turns), limit);
}

/* The bits of integer samples are those of the floats: anything will do for the kernels' time. */
static int measure_format(struct gpu_bench *bench, softqam_input_format input, softqam_output_format output, int limit)
{
    struct gpu_work work;
    if (!gpu_work_open(bench, config_of(input, output), bench->n_device_symbols, &work))
        return -1;
    snprintf(work.name, sizeof work.name, "cuda: %s to %s on the device", bench_input_name(input),
             sample_format_output_name(output));
    return measure_work(&work, limit);
}

/* The bytes of one input format to soft bits, moved only. */
static int measure_copy(struct gpu_bench *bench, softqam_input_format input, int limit)
{
    const struct gpu_work work = {.bench = bench,
                                  .config = config_of(input, SOFTQAM_OUTPUT_U8),
                                  .d_in = bench->d_in,
                                  .d_out = bench->d_out,
                                  .n_symbols = bench->n_device_symbols,
                                  .n_launches = 1};
    struct gpu_work copy = gpu_work_copy(&work, BENCH_COPY_LONG, false);
    snprintf(copy.name, sizeof copy.name, "cuda: copy kernel, %zu bytes to 8", softqam_input_symbol_nbytes(input));
    return measure_work(&copy, limit);
}

/* Calls of every size, short ones back to back. */
static void measure_sizes(struct gpu_bench *bench)
{
    enum { N_CALLS = 20, LONG_SYMBOLS = 1 << 24 };
    for (size_t n = 1; n <= bench->n_device_symbols; n *= 4) {
        struct gpu_work work;
        if (!gpu_work_open(bench, config_of(SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8), n, &work))
            return;
        work.n_launches = n < LONG_SYMBOLS ? N_CALLS : 1;
        snprintf(work.name, sizeof work.name, "curve: device");
        measure_work(&work, -1);
    }
}

/* 256QAM, all bytes of which are verified, and integer samples. */
static void measure_soft_bits(struct gpu_bench *bench)
{
    const size_t n = bench->n_device_symbols;
    const int limit = report_measure(bench->report, "cuda: device-to-device memcpy", n, 16 * n, -1, run_memcpy, bench);
    if (limit < 0)
        return;
    const int from_4 = measure_copy(bench, SOFTQAM_INPUT_CS16, limit);
    const int from_2 = measure_copy(bench, SOFTQAM_INPUT_CS8, limit);
    if (measure_format(bench, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, limit) >= 0)
        verify_soft_bits(bench, "cf32 to u8");
    measure_format(bench, SOFTQAM_INPUT_CS16, SOFTQAM_OUTPUT_U8, from_4);
    measure_format(bench, SOFTQAM_INPUT_CS8, SOFTQAM_OUTPUT_U8, from_2);
    measure_format(bench, SOFTQAM_INPUT_CS16, SOFTQAM_OUTPUT_S8, from_4);
    measure_sizes(bench);
}

void gpu_bench_device(struct gpu_bench *bench)
{
    if (bench->modulation == SOFTQAM_MODULATION_256QAM && gpu_fill_input(bench))
        measure_soft_bits(bench);
    gpu_measure_formats(bench, false);
}

void gpu_bench_graph(struct gpu_bench *bench)
{
    gpu_measure_formats(bench, true);
}

static softqam_status call_on_device(void *context, softqam_demodulator *demodulator, softqam_output_format format)
{
    struct gpu_bench *bench = context;
    const float *d_noise_var = format == SOFTQAM_OUTPUT_U8 ? NULL : bench->d_noise_var;
    const softqam_status status = softqam_cuda_demodulate(demodulator, bench->d_in, d_noise_var,
                                                          bench->n_device_symbols, bench->d_out, bench->streams[0]);
    return status == SOFTQAM_OK && !gpu_synchronise(bench) ? SOFTQAM_ERROR_CUDA : status;
}

static size_t device_nbytes(void *context)
{
    size_t n_free = 0, n_total = 0;
    return gpu_good(context, cudaMemGetInfo(&n_free, &n_total), "cudaMemGetInfo") ? n_total - n_free : 0;
}

void gpu_bench_objects(struct gpu_bench *bench)
{
    const struct objects_use uses[] = {
        {"cuda", SOFTQAM_BACKEND_CUDA, SOFTQAM_PREPARE_ALL, NULL, device_nbytes, bench},
        {"cuda, device memory", SOFTQAM_BACKEND_CUDA, SOFTQAM_PREPARE_KERNELS, call_on_device, device_nbytes, bench},
    };
    for (size_t k = 0; k < sizeof uses / sizeof uses[0]; k++)
        bench_objects(bench->report, &uses[k]);
}
