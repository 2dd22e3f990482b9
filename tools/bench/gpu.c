/* SPDX-License-Identifier: MIT */
/* The CUDA section of softqam-bench: its buffers and the order of its parts. */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "create.h"

bool gpu_good(struct gpu_bench *bench, cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return true;
    message_print(what, "%s", cudaGetErrorString(error));
    bench->report->failed = true;
    return false;
}

bool gpu_softqam_good(struct gpu_bench *bench, softqam_status status, const char *what)
{
    if (status == SOFTQAM_OK)
        return true;
    message_print(what, "%s", softqam_error_message());
    bench->report->failed = true;
    return false;
}

bool gpu_create(struct gpu_bench *bench, softqam_demodulator **demodulator, softqam_input_format input,
                softqam_output_format output, softqam_noise noise)
{
    softqam_config config;
    softqam_config_init(&config);
    config.context = bench->context;
    config.input_format = input;
    config.output_format = output;
    config.noise = noise;
    softqam_status status = softqam_create(demodulator, &config);
    if (status == SOFTQAM_OK)
        status = softqam_context_prepare(bench->context, SOFTQAM_PREPARE_KERNELS);
    if (gpu_softqam_good(bench, status, "cuda"))
        return true;
    softqam_destroy(*demodulator);
    *demodulator = NULL;
    return false;
}

bool gpu_clock_start(struct gpu_bench *bench)
{
    return gpu_good(bench, cudaEventRecord(bench->start, bench->streams[0]), "cudaEventRecord");
}

double gpu_clock_stop(struct gpu_bench *bench)
{
    float milliseconds = -1;
    if (!gpu_good(bench, cudaEventRecord(bench->stop, bench->streams[0]), "cudaEventRecord") ||
        !gpu_good(bench, cudaEventSynchronize(bench->stop), "cudaEventSynchronize") ||
        !gpu_good(bench, cudaEventElapsedTime(&milliseconds, bench->start, bench->stop), "cudaEventElapsedTime"))
        return -1;
    return 1e-3 * (double)milliseconds;
}

/* Fills the device's input with copies of the symbols, and its noise variances. */
static bool fill_device(struct gpu_bench *bench)
{
    for (size_t first = 0; first < bench->n_device_symbols; first += bench->input->n_symbols) {
        const size_t left = bench->n_device_symbols - first;
        const size_t n = left < bench->input->n_symbols ? left : bench->input->n_symbols;
        if (!gpu_good(bench, cudaMemcpy(bench->d_in + 8 * first, bench->pinned_in, 8 * n, cudaMemcpyHostToDevice),
                      "cudaMemcpy"))
            return false;
    }
    /* 1/350 each: a byte four times over is a float. */
    return gpu_good(bench, cudaMemset(bench->d_noise_var, 0x3b, sizeof(float) * bench->n_device_symbols), "cudaMemset");
}

static bool allocate(struct gpu_bench *bench)
{
    const size_t n = bench->input->n_symbols;
    const size_t n_device = bench->n_device_symbols;
    void *pinned_in = NULL;
    void *pinned_out = NULL;
    bool all = gpu_softqam_good(bench, softqam_host_alloc(bench->context, 8 * n, &pinned_in), "cuda") &&
               gpu_softqam_good(bench, softqam_host_alloc(bench->context, 8 * n, &pinned_out), "cuda");
    bench->pinned_in = pinned_in;
    bench->pinned_out = pinned_out;
    bench->pageable_out = malloc(8 * n);
    all = all && bench->pageable_out &&
          gpu_good(bench, cudaMalloc((void **)&bench->d_in, 8 * n_device), "cudaMalloc") &&
          gpu_good(bench, cudaMalloc((void **)&bench->d_noise_var, sizeof(float) * n_device), "cudaMalloc") &&
          gpu_good(bench, cudaMalloc((void **)&bench->d_out, 32 * n_device), "cudaMalloc") &&
          gpu_good(bench, cudaEventCreate(&bench->start), "cudaEventCreate") &&
          gpu_good(bench, cudaEventCreate(&bench->stop), "cudaEventCreate");
    for (int k = 0; k < GPU_MAX_STREAMS && all; k++)
        all = gpu_good(bench, cudaStreamCreate(&bench->streams[k]), "cudaStreamCreate");
    if (all)
        memcpy(bench->pinned_in, bench->input->symbols, 8 * n);
    return all;
}

static void release(struct gpu_bench *bench)
{
    softqam_host_free(bench->pinned_in);
    softqam_host_free(bench->pinned_out);
    free(bench->pageable_out);
    (void)cudaFree(bench->d_in);
    (void)cudaFree(bench->d_noise_var);
    (void)cudaFree(bench->d_out);
    for (int k = 0; k < GPU_MAX_STREAMS; k++)
        if (bench->streams[k])
            (void)cudaStreamDestroy(bench->streams[k]);
    if (bench->start)
        (void)cudaEventDestroy(bench->start);
    if (bench->stop)
        (void)cudaEventDestroy(bench->stop);
}

/* What the JSON should say of the machine. */
static void note_facts(struct report *report)
{
    struct cudaDeviceProp properties;
    int device = 0;
    int runtime = 0;
    int driver = 0;
    int clock_khz = 0;
    int memory_khz = 0;
    char text[64];
    if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess)
        return;
    (void)cudaRuntimeGetVersion(&runtime);
    (void)cudaDriverGetVersion(&driver);
    (void)cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device);
    (void)cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, device);
    report_fact(report, "cuda_device", properties.name);
    snprintf(text, sizeof text, "%d multiprocessors, up to %d MHz, memory %d MHz", properties.multiProcessorCount,
             clock_khz / 1000, memory_khz / 1000);
    report_fact(report, "cuda_clocks", text);
    snprintf(text, sizeof text, "%d.%d", driver / 1000, driver % 1000 / 10);
    report_fact(report, "cuda_driver_api", text);
    snprintf(text, sizeof text, "%d.%d", runtime / 1000, runtime % 1000 / 10);
    report_fact(report, "cuda_runtime", text);
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    char line[256];
    if (file && fgets(line, sizeof line, file)) {
        char *builder = strstr(line, "  Release Build");
        line[builder ? (size_t)(builder - line) : strcspn(line, "\n")] = '\0';
        report_fact(report, "cuda_driver", line);
    }
    if (file)
        fclose(file);
}

static void measure(struct gpu_bench *bench, unsigned chosen)
{
    static void (*const sections[N_BENCH_SECTIONS])(struct gpu_bench *) = {
        [BENCH_OBJECTS] = gpu_bench_objects, [BENCH_DEVICE] = gpu_bench_device,   [BENCH_GRAPH] = gpu_bench_graph,
        [BENCH_HOST] = gpu_bench_host,       [BENCH_STREAMS] = gpu_bench_streams, [BENCH_CHOICE] = gpu_bench_choice,
        [BENCH_DEVICES] = gpu_bench_devices,
    };
    for (unsigned k = 0; k < N_BENCH_SECTIONS; k++)
        if (sections[k] && chosen & 1u << k)
            sections[k](bench);
}

void bench_cuda(struct report *report, const struct bench_input *input, const struct bench_options *options)
{
    struct gpu_bench bench = {.report = report, .input = input, .n_device_symbols = options->n_device_symbols};
    if (bench.n_device_symbols < input->n_symbols)
        bench.n_device_symbols = input->n_symbols;
    const softqam_context_config config = bench_context_config(SOFTQAM_BACKEND_CUDA, 0);
    if (softqam_context_create(&bench.context, &config) != SOFTQAM_OK) {
        message_print("cuda", "not measured: %s", softqam_error_message());
        return;
    }
    note_facts(report);
    if (allocate(&bench) && fill_device(&bench)) {
        measure(&bench, options->sections);
    } else {
        message_print("cuda", "memory could not be had");
        report->failed = true;
    }
    release(&bench);
    softqam_context_destroy(bench.context);
}
