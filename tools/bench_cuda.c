/* SPDX-License-Identifier: MIT */
#include "bench_sections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam_cuda.h>

#include "message.h"

/* Everything the section holds; freed as a whole. */
struct cuda_bench {
    struct report *report;
    const struct bench_input *input;
    softqam_demodulator *demodulator; /* of the format being measured */
    cudaStream_t streams[2];
    cudaEvent_t start;
    cudaEvent_t stop;
    size_t n_device_symbols;
    bool takes_noise;    /* the demodulator */
    unsigned char *d_in; /* 8 bytes a symbol, whatever the format */
    float *d_noise_var;
    unsigned char *d_out;     /* 32 bytes a symbol */
    unsigned char *pinned_in; /* the input's symbols */
    unsigned char *pinned_out;
    unsigned char *pageable_out;
};

static bool good(struct cuda_bench *bench, cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return true;
    message_print(what, "%s", cudaGetErrorString(error));
    bench->report->failed = true;
    return false;
}

static bool make_demodulator(struct cuda_bench *bench, softqam_input_format input, softqam_output_format output,
                             softqam_noise noise)
{
    softqam_config config;
    softqam_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CUDA;
    config.input_format = input;
    config.output_format = output;
    config.noise = noise;
    softqam_destroy(bench->demodulator);
    return softqam_create(&bench->demodulator, &config) == SOFTQAM_OK;
}

/* Seconds of what was enqueued between the two events of a stream. */
static double elapsed(struct cuda_bench *bench)
{
    float milliseconds = -1;
    if (!good(bench, cudaEventRecord(bench->stop, bench->streams[0]), "cudaEventRecord") ||
        !good(bench, cudaEventSynchronize(bench->stop), "cudaEventSynchronize") ||
        !good(bench, cudaEventElapsedTime(&milliseconds, bench->start, bench->stop), "cudaEventElapsedTime"))
        return -1;
    return 1e-3 * (double)milliseconds;
}

static double run_device_copy(void *context)
{
    struct cuda_bench *bench = context;
    if (!good(bench, cudaEventRecord(bench->start, bench->streams[0]), "cudaEventRecord") ||
        !good(bench,
              cudaMemcpyAsync(bench->d_out, bench->d_in, 8 * bench->n_device_symbols, cudaMemcpyDeviceToDevice,
                              bench->streams[0]),
              "cudaMemcpyAsync"))
        return -1;
    return elapsed(bench);
}

static double run_device(void *context)
{
    struct cuda_bench *bench = context;
    if (!good(bench, cudaEventRecord(bench->start, bench->streams[0]), "cudaEventRecord"))
        return -1;
    if (softqam_cuda_demodulate(bench->demodulator, bench->d_in, bench->takes_noise ? bench->d_noise_var : NULL,
                                bench->n_device_symbols, bench->d_out, bench->streams[0]) != SOFTQAM_OK) {
        message_print("cuda", "%s", softqam_error_message());
        return -1;
    }
    return elapsed(bench);
}

/* Both directions of the bus at once, each the bytes of the whole input. */
static double run_bus(void *context)
{
    struct cuda_bench *bench = context;
    const size_t nbytes = 8 * bench->input->n_symbols;
    const double start = bench_seconds();
    if (!good(bench, cudaMemcpyAsync(bench->d_in, bench->pinned_in, nbytes, cudaMemcpyHostToDevice, bench->streams[0]),
              "cudaMemcpyAsync") ||
        !good(bench,
              cudaMemcpyAsync(bench->pinned_out, bench->d_out, nbytes, cudaMemcpyDeviceToHost, bench->streams[1]),
              "cudaMemcpyAsync") ||
        !good(bench, cudaStreamSynchronize(bench->streams[0]), "cudaStreamSynchronize") ||
        !good(bench, cudaStreamSynchronize(bench->streams[1]), "cudaStreamSynchronize"))
        return -1;
    return bench_seconds() - start;
}

struct host_run {
    struct cuda_bench *bench;
    const void *symbols;
    size_t n_symbols;
    unsigned char *out;
};

static double run_host(void *context)
{
    const struct host_run *run = context;
    const double start = bench_seconds();
    if (softqam_demodulate(run->bench->demodulator, run->symbols, NULL, run->n_symbols, run->out) != SOFTQAM_OK) {
        message_print("cuda", "%s", softqam_error_message());
        return -1;
    }
    return bench_seconds() - start;
}

static void measure_host(struct cuda_bench *bench, const char *what, const void *symbols, size_t n_symbols,
                         unsigned char *out, int limit)
{
    struct host_run run = {bench, symbols, n_symbols, out};
    memset(out, 1, 8 * n_symbols);
    report_measure(bench->report, what, n_symbols, 16 * n_symbols, limit, run_host, &run);
    if (memcmp(out, bench->input->expected, 8 * n_symbols) != 0) {
        message_print(what, "wrong bytes");
        bench->report->failed = true;
    }
}

/* Fills the device's input with copies of the symbols, and its noise variances. */
static bool fill_device(struct cuda_bench *bench)
{
    for (size_t first = 0; first < bench->n_device_symbols; first += bench->input->n_symbols) {
        const size_t left = bench->n_device_symbols - first;
        const size_t n = left < bench->input->n_symbols ? left : bench->input->n_symbols;
        if (!good(bench, cudaMemcpy(bench->d_in + 8 * first, bench->pinned_in, 8 * n, cudaMemcpyHostToDevice),
                  "cudaMemcpy"))
            return false;
    }
    /* 1/350 each: a byte four times over is a float. */
    return good(bench, cudaMemset(bench->d_noise_var, 0x3b, sizeof(float) * bench->n_device_symbols), "cudaMemset");
}

/* Every symbol on the device against the CPU's bytes. */
static void verify_device(struct cuda_bench *bench)
{
    for (size_t first = 0; first < bench->n_device_symbols; first += bench->input->n_symbols) {
        const size_t left = bench->n_device_symbols - first;
        const size_t n = left < bench->input->n_symbols ? left : bench->input->n_symbols;
        if (!good(bench, cudaMemcpy(bench->pinned_out, bench->d_out + 8 * first, 8 * n, cudaMemcpyDeviceToHost),
                  "cudaMemcpy"))
            return;
        if (memcmp(bench->pinned_out, bench->input->expected, 8 * n) != 0) {
            message_print("cuda", "wrong bytes on the device from symbol %zu on", first);
            bench->report->failed = true;
        }
    }
}

/* What is measured on the device. The bits of cf16 and integer samples are those of the floats: anything will do. */
static const struct device_case {
    const char *what;
    softqam_input_format input;
    softqam_output_format output;
    softqam_noise noise;
} device_cases[] = {
    {"cf32 to u8", SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL},
    {"cs16 to u8", SOFTQAM_INPUT_CS16, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL},
    {"cf16 to u8", SOFTQAM_INPUT_CF16, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL},
    {"cs8 to u8", SOFTQAM_INPUT_CS8, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL},
    {"cf32 to s8", SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_CALL},
    {"cf32 to s8, noise per symbol", SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL},
    {"cs16 to s8", SOFTQAM_INPUT_CS16, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_CALL},
    {"cf32 to f16", SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_F16, SOFTQAM_NOISE_PER_CALL},
    {"cf32 to f32", SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_F32, SOFTQAM_NOISE_PER_CALL},
};

static void measure_device_case(struct cuda_bench *bench, const struct device_case *c, int limit)
{
    char what[64];
    size_t nbytes = softqam_input_symbol_nbytes(c->input) + softqam_output_symbol_nbytes(c->output);
    bench->takes_noise = c->output != SOFTQAM_OUTPUT_U8;
    if (bench->takes_noise && c->noise == SOFTQAM_NOISE_PER_SYMBOL)
        nbytes += sizeof(float);
    snprintf(what, sizeof what, "cuda: %s on the device", c->what);
    if (!make_demodulator(bench, c->input, c->output, c->noise)) {
        message_print(what, "%s", softqam_error_message());
        bench->report->failed = true;
        return;
    }
    report_measure(bench->report, what, bench->n_device_symbols, nbytes * bench->n_device_symbols, limit, run_device,
                   bench);
}

static void measure_device(struct cuda_bench *bench)
{
    const size_t n = bench->n_device_symbols;
    const int limit =
        report_measure(bench->report, "cuda: device-to-device memcpy", n, 16 * n, -1, run_device_copy, bench);
    for (size_t k = 0; k < sizeof device_cases / sizeof device_cases[0] && limit >= 0; k++) {
        measure_device_case(bench, &device_cases[k], limit);
        if (k == 0)
            verify_device(bench);
    }
    bench->takes_noise = false;
}

static void measure_all(struct cuda_bench *bench)
{
    const struct bench_input *input = bench->input;
    const size_t n = input->n_symbols;
    measure_device(bench);
    const int bus = report_measure(bench->report, "cuda: both copy directions together", n, 16 * n, -1, run_bus, bench);
    if (bus < 0 || !make_demodulator(bench, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL))
        return;
    measure_host(bench, "cuda: host to host, pinned", bench->pinned_in, n, bench->pinned_out, bus);
    measure_host(bench, "cuda: host to host, pageable", input->symbols, n, bench->pageable_out, bus);
    measure_host(bench, "cuda: one slot host to host, pinned", bench->pinned_in, SLOT_SYMBOLS, bench->pinned_out, bus);
    measure_host(bench, "cuda: one slot host to host, pageable", input->symbols, SLOT_SYMBOLS, bench->pageable_out,
                 bus);
}

static bool allocate(struct cuda_bench *bench)
{
    const size_t n = bench->input->n_symbols;
    void *pinned_in = NULL;
    void *pinned_out = NULL;
    bool all = softqam_host_alloc(bench->demodulator, 8 * n, &pinned_in) == SOFTQAM_OK &&
               softqam_host_alloc(bench->demodulator, 8 * n, &pinned_out) == SOFTQAM_OK;
    bench->pinned_in = pinned_in;
    bench->pinned_out = pinned_out;
    bench->pageable_out = malloc(8 * n);
    all =
        all && bench->pageable_out &&
        good(bench, cudaMalloc((void **)&bench->d_in, 8 * bench->n_device_symbols), "cudaMalloc") &&
        good(bench, cudaMalloc((void **)&bench->d_noise_var, sizeof(float) * bench->n_device_symbols), "cudaMalloc") &&
        good(bench, cudaMalloc((void **)&bench->d_out, 32 * bench->n_device_symbols), "cudaMalloc") &&
        good(bench, cudaStreamCreate(&bench->streams[0]), "cudaStreamCreate") &&
        good(bench, cudaStreamCreate(&bench->streams[1]), "cudaStreamCreate") &&
        good(bench, cudaEventCreate(&bench->start), "cudaEventCreate") &&
        good(bench, cudaEventCreate(&bench->stop), "cudaEventCreate");
    if (all)
        memcpy(bench->pinned_in, bench->input->symbols, 8 * n);
    return all;
}

static void release(struct cuda_bench *bench)
{
    softqam_destroy(bench->demodulator);
    softqam_host_free(bench->pinned_in);
    softqam_host_free(bench->pinned_out);
    free(bench->pageable_out);
    (void)cudaFree(bench->d_in);
    (void)cudaFree(bench->d_noise_var);
    (void)cudaFree(bench->d_out);
    for (int k = 0; k < 2; k++) {
        if (bench->streams[k])
            (void)cudaStreamDestroy(bench->streams[k]);
    }
    if (bench->start)
        (void)cudaEventDestroy(bench->start);
    if (bench->stop)
        (void)cudaEventDestroy(bench->stop);
}

void bench_cuda(struct report *report, const struct bench_input *input, size_t n_device_symbols, char *device,
                size_t device_nbytes)
{
    struct cuda_bench bench = {.report = report, .input = input, .n_device_symbols = n_device_symbols};
    if (bench.n_device_symbols < input->n_symbols)
        bench.n_device_symbols = input->n_symbols;
    if (!make_demodulator(&bench, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL)) {
        message_print("cuda", "not measured: %s", softqam_error_message());
        return;
    }
    snprintf(device, device_nbytes, "%s", softqam_backend_detail(bench.demodulator));
    if (allocate(&bench) && fill_device(&bench)) {
        measure_all(&bench);
    } else {
        message_print("cuda", "memory could not be had");
        report->failed = true;
    }
    release(&bench);
}
