/* SPDX-License-Identifier: MIT */
/* The CUDA section of softqam-bench: its buffers and the order of its parts. */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"
#include "sections.h"

static bool is_good(struct gpu_bench *bench, bool good, const char *what, const char *text)
{
    if (!good)
        message_print(what, "%s", text);
    bench->report->failed = bench->report->failed || !good;
    return good;
}

bool gpu_good(struct gpu_bench *bench, cudaError_t error, const char *what)
{
    return is_good(bench, error == cudaSuccess, what, cudaGetErrorString(error));
}

bool gpu_softqam_good(struct gpu_bench *bench, softqam_status status, const char *what)
{
    return is_good(bench, status == SOFTQAM_OK, what, softqam_error_message());
}

bool gpu_supported(struct gpu_bench *bench, softqam_status status, const char *what)
{
    char text[256];
    if (status != SOFTQAM_ERROR_INVALID_ARGUMENT || !strstr(softqam_error_message(), "this version"))
        return gpu_softqam_good(bench, status, what);
    snprintf(text, sizeof text, "not by this version: %s", softqam_error_message());
    report_note(bench->report, what, text);
    return false;
}

bool gpu_synchronise(struct gpu_bench *bench)
{
    return gpu_good(bench, cudaStreamSynchronize(bench->streams[0]), "cudaStreamSynchronize");
}

bool gpu_create(struct gpu_bench *bench, softqam_demodulator **demodulator, softqam_demodulator_config config)
{
    const float *d_noise_var = config.output_format == SOFTQAM_OUTPUT_U8 ? NULL : bench->d_noise_var;
    char what[64];
    config.context = bench->context;
    softqam_status status = softqam_demodulator_create(demodulator, &config);
    if (status == SOFTQAM_OK)
        status = softqam_context_prepare(bench->context, SOFTQAM_PREPARE_KERNELS);
    if (status == SOFTQAM_OK)
        status = softqam_cuda_demodulate(*demodulator, bench->d_in, d_noise_var, 1, bench->d_out, bench->streams[0]);
    snprintf(what, sizeof what, "cuda: %s", modulation_get(config.modulation)->name);
    if (gpu_supported(bench, status, what))
        return true;
    softqam_demodulator_destroy(*demodulator);
    *demodulator = NULL;
    return false;
}

bool gpu_repeat(struct gpu_bench *bench, void *to, const void *from, size_t from_nbytes, size_t to_nbytes)
{
    unsigned char *d = to;
    size_t done = from_nbytes < to_nbytes ? from_nbytes : to_nbytes;
    if (!gpu_good(bench, cudaMemcpy(d, from, done, cudaMemcpyHostToDevice), "cudaMemcpy"))
        return false;
    for (; done < to_nbytes; done += done < to_nbytes - done ? done : to_nbytes - done) {
        const size_t n = done < to_nbytes - done ? done : to_nbytes - done;
        if (!gpu_good(bench, cudaMemcpy(d + done, d, n, cudaMemcpyDeviceToDevice), "cudaMemcpy"))
            return false;
    }
    return true;
}

bool gpu_fill_input(struct gpu_bench *bench)
{
    return gpu_repeat(bench, bench->d_in, bench->symbols, 8 * bench->n_symbols, 8 * bench->n_device_symbols);
}

bool gpu_fill_noise(struct gpu_bench *bench)
{
    /* 1/350 each: a byte four times over is a float. */
    enum { BYTE = 0x3b };
    memset(&bench->noise_var, BYTE, sizeof bench->noise_var);
    return gpu_good(bench, cudaMemset(bench->d_noise_var, BYTE, sizeof(float) * bench->n_device_symbols), "cudaMemset");
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

bool gpu_capture(struct gpu_bench *bench, size_t n_launches, gpu_enqueue *enqueue, const void *context,
                 cudaGraphExec_t *graph)
{
    cudaStream_t stream = bench->streams[0];
    cudaGraph_t captured = NULL;
    bool all = true;
    if (!gpu_good(bench, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture"))
        return false;
    for (size_t k = 0; k < n_launches && all; k++)
        all = enqueue(context, k);
    all = gpu_good(bench, cudaStreamEndCapture(stream, &captured), "cudaStreamEndCapture") && all &&
          gpu_good(bench, cudaGraphInstantiate(graph, captured, 0), "cudaGraphInstantiate");
    if (captured)
        (void)cudaGraphDestroy(captured);
    return all;
}

double gpu_time_graph(struct gpu_bench *bench, cudaGraphExec_t graph, int n_replays)
{
    bool all = gpu_clock_start(bench);
    for (int k = 0; k < n_replays && all; k++)
        all = gpu_good(bench, cudaGraphLaunch(graph, bench->streams[0]), "cudaGraphLaunch");
    return all ? gpu_clock_stop(bench) / n_replays : -1;
}

static bool allocate_host(struct gpu_bench *bench)
{
    const size_t nbytes = 8 * bench->n_symbols;
    void *pinned_in = NULL, *pinned_out = NULL;
    const bool all = gpu_softqam_good(bench, softqam_host_alloc(bench->context, nbytes, &pinned_in), "cuda") &&
                     gpu_softqam_good(bench, softqam_host_alloc(bench->context, nbytes, &pinned_out), "cuda");
    bench->pinned_in = pinned_in;
    bench->pinned_out = pinned_out;
    bench->symbols = malloc(nbytes);
    bench->expected = malloc(nbytes);
    bench->pageable_out = malloc(nbytes);
    return all && bench->symbols && bench->expected && bench->pageable_out;
}

static bool allocate_device(struct gpu_bench *bench, unsigned sections)
{
    const bool all_modulations = sections & 1u << BENCH_MODULATIONS;
    const size_t n_bits = modulation_get(all_modulations ? SOFTQAM_MODULATION_1024QAM : bench->modulation)->n_bits;
    const size_t n = bench->n_device_symbols, out_nbytes = sizeof(float) * (n_bits > 8 ? n_bits : 8) * n;
    bool all = gpu_good(bench, cudaMalloc((void **)&bench->d_in, 8 * n), "cudaMalloc") &&
               gpu_good(bench, cudaMalloc((void **)&bench->d_noise_var, sizeof(float) * n), "cudaMalloc") &&
               gpu_good(bench, cudaMalloc((void **)&bench->d_out, out_nbytes), "cudaMalloc") &&
               gpu_good(bench, cudaEventCreate(&bench->start), "cudaEventCreate") &&
               gpu_good(bench, cudaEventCreate(&bench->stop), "cudaEventCreate");
    for (int k = 0; k < GPU_MAX_STREAMS && all; k++)
        all = gpu_good(bench, cudaStreamCreate(&bench->streams[k]), "cudaStreamCreate");
    return all;
}

/* The symbols of the runs from host memory, and their soft bits by the CPU. */
static bool fill(struct gpu_bench *bench)
{
    softqam_demodulator *demodulator;
    bench_fill_large(SOFTQAM_MODULATION_256QAM, bench->symbols, bench->n_symbols);
    memcpy(bench->pinned_in, bench->symbols, 8 * bench->n_symbols);
    softqam_status status = bench_create(&demodulator, bench_context_config(SOFTQAM_BACKEND_CPU, 0), NULL);
    if (status == SOFTQAM_OK)
        status = softqam_demodulate(demodulator, bench->symbols, NULL, bench->n_symbols, bench->expected);
    softqam_demodulator_destroy(demodulator);
    return gpu_softqam_good(bench, status, "cpu") && gpu_fill_input(bench) && gpu_fill_noise(bench);
}

static void release(struct gpu_bench *bench)
{
    softqam_host_free(bench->pinned_in);
    softqam_host_free(bench->pinned_out);
    free(bench->symbols);
    free(bench->expected);
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
    int device = 0, runtime = 0, driver = 0, clock_khz = 0, memory_khz = 0;
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
        [BENCH_MODULATIONS] = gpu_bench_modulations,
        [BENCH_SLOW] = gpu_bench_slow,
        [BENCH_CALLS] = gpu_bench_calls,
        [BENCH_CHAIN] = gpu_bench_chain,
        [BENCH_SEGMENTS] = gpu_bench_segments,
        [BENCH_DEVICE] = gpu_bench_device,
        [BENCH_GRAPH] = gpu_bench_graph,
        [BENCH_HOST] = gpu_bench_host,
        [BENCH_STREAMS] = gpu_bench_streams,
        [BENCH_CHOICE] = gpu_bench_choice,
        [BENCH_DEVICES] = gpu_bench_devices,
    };
    for (unsigned k = 0; k < N_BENCH_SECTIONS; k++)
        if (sections[k] && chosen & 1u << k)
            sections[k](bench);
    /* Last: kernels of graphs take longer in a process that has made many streams (cuda/PERFORMANCE.md). */
    if (chosen & 1u << BENCH_OBJECTS)
        gpu_bench_objects(bench);
}

void bench_cuda(struct report *report, const struct bench_options *options)
{
    struct gpu_bench bench = {.report = report,
                              .modulation = options->modulation,
                              .n_symbols = options->n_symbols,
                              .n_device_symbols = options->n_device_symbols};
    if (bench.n_symbols < options->n_largest)
        bench.n_symbols = options->n_largest;
    if (bench.n_device_symbols < bench.n_symbols)
        bench.n_device_symbols = bench.n_symbols;
    const softqam_context_config config = bench_context_config(SOFTQAM_BACKEND_CUDA, 0);
    if (softqam_context_create(&bench.context, &config) != SOFTQAM_OK) {
        message_print("cuda", "not measured: %s", softqam_error_message());
        return;
    }
    note_facts(report);
    if (allocate_host(&bench) && allocate_device(&bench, options->sections) && fill(&bench)) {
        measure(&bench, options->sections);
    } else {
        message_print("cuda", "memory could not be had");
        report->failed = true;
    }
    release(&bench);
    softqam_context_destroy(bench.context);
}
