/* SPDX-License-Identifier: MIT */
/* The CUDA sections of softqam-bench: samples on the device, and their order. */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"

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

bool gpu_synchronise(struct gpu_bench *bench) { return GOOD(bench, cudaStreamSynchronize(bench->stream)); }

/* Copies bytes from host memory to the device, and there again and again until so many are filled. */
static bool repeat(struct gpu_bench *bench, void *to, const void *from, size_t from_nbytes, size_t to_nbytes)
{
    unsigned char *d = to;
    size_t done = from_nbytes < to_nbytes ? from_nbytes : to_nbytes;
    if (!GOOD(bench, cudaMemcpy(d, from, done, cudaMemcpyHostToDevice)))
        return false;
    for (; done < to_nbytes; done += done < to_nbytes - done ? done : to_nbytes - done) {
        const size_t n = done < to_nbytes - done ? done : to_nbytes - done;
        if (!GOOD(bench, cudaMemcpy(d + done, d, n, cudaMemcpyDeviceToDevice)))
            return false;
    }
    return true;
}

bool gpu_copy_samples(struct gpu_bench *bench, const struct bench_case *c, size_t n_symbols, size_t period,
                      unsigned char **d_symbols, float **d_noise_var)
{
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(c->input);
    const struct bench_samples *host = bench_samples_get(&bench->pool, &c->data, c->modulation, c->input, period);
    return is_good(bench, host != NULL, "cuda", "out of memory") &&
           GOOD(bench, cudaMalloc((void **)d_symbols, n_symbols * symbol_nbytes)) &&
           GOOD(bench, cudaMalloc((void **)d_noise_var, n_symbols * sizeof(float))) &&
           repeat(bench, *d_symbols, host->symbols, period * symbol_nbytes, n_symbols * symbol_nbytes) &&
           repeat(bench, *d_noise_var, host->noise_var, period * sizeof(float), n_symbols * sizeof(float));
}

/* What the JSON should say of the machine. */
static void note_facts(struct report *report)
{
    struct cudaDeviceProp properties;
    int device = 0, runtime = 0;
    char text[64];
    if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess)
        return;
    report_fact(report, "cuda_device", properties.name);
    (void)cudaRuntimeGetVersion(&runtime);
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

void bench_cuda(struct report *report, const struct bench_options *options)
{
    struct gpu_bench bench = {.report = report, .options = options};
    const softqam_context_config config = bench_context_config(SOFTQAM_BACKEND_CUDA, 0);
    if (softqam_context_create(&bench.context, &config) != SOFTQAM_OK) {
        message_print("cuda", "not measured: %s", softqam_error_message());
        return;
    }
    note_facts(report);
    if (GOOD(&bench, cudaStreamCreate(&bench.stream)) && GOOD(&bench, cudaEventCreate(&bench.start)) &&
        GOOD(&bench, cudaEventCreate(&bench.stop)))
        bench_measure_tables(report, options, &(struct bench_backend){"cuda: ", NULL, gpu_add, &bench});
    bench_pool_free(&bench.pool);
    if (bench.start)
        (void)cudaEventDestroy(bench.start);
    if (bench.stop)
        (void)cudaEventDestroy(bench.stop);
    if (bench.stream)
        (void)cudaStreamDestroy(bench.stream);
    softqam_context_destroy(bench.context);
}
