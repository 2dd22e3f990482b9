/* SPDX-License-Identifier: MIT */
/* One large call on the device, as a codeword has it: of layers, descrambled, in bit planes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"
#include "gpu.h"

static const struct layout {
    const char *what;
    unsigned n_layers;
    bool descramble;
    bool planes;
    double goal; /* the first one's time over this one's */
} layouts[] = {
    {"symbol order", 1, false, false, (double)NAN},    {"descrambled", 1, true, false, 1 / 1.1},
    {"bit planes", 1, false, true, (double)NAN},       {"both", 1, true, true, (double)NAN},
    {"4 layers, bit planes", 4, false, true, 1 / 1.2}, {"the same, descrambled", 4, true, true, 1 / 1.2},
};

enum { N_LAYOUTS = sizeof layouts / sizeof layouts[0] };

_Static_assert(N_LAYOUTS <= (int)TURNS_MOST, "all of them in turns");

/* A call of so many symbols, and of a part of them the same on the CPU. */
struct codeword {
    struct gpu_bench *bench;
    const struct layout *layout;
    softqam_demodulator_config config;
    softqam_demodulator *demodulator;
    size_t n_symbols;
    char name[WHAT_NBYTES];
};

/* The segment of n symbols from `first` on, whose layers lie one behind the other from these places on, again and again
 * after `period` symbols. */
static softqam_segment segment_of(const struct codeword *codeword, const unsigned char *symbols, const float *noise_var,
                                  size_t period, void *out, size_t first, size_t n)
{
    const struct layout *layout = codeword->layout;
    const size_t n_layers = layout->n_layers;
    softqam_segment segment = {.n_symbols = n,
                               .first_symbol = first,
                               .n_layers = layout->n_layers,
                               .noise_stride = 1,
                               .plane_stride = layout->planes ? n : 0,
                               .descramble = layout->descramble,
                               .c_init = layout->descramble ? 12345 : 0,
                               .out = out};
    for (size_t k = 0; k < n_layers; k++) {
        const size_t at = (k * (codeword->n_symbols / n_layers) + first / n_layers) % period;
        segment.layers[k] =
            (softqam_layer){.symbols = symbols + at * softqam_input_symbol_nbytes(codeword->config.input_format),
                            .noise_var = noise_var + at};
    }
    return segment;
}

static bool enqueue(const struct codeword *codeword)
{
    struct gpu_bench *bench = codeword->bench;
    const softqam_segment segment = segment_of(codeword, bench->d_in, bench->d_noise_var, codeword->n_symbols,
                                               bench->d_out, 0, codeword->n_symbols);
    return gpu_softqam_good(
        bench, softqam_cuda_demodulate_segments(codeword->demodulator, &segment, 1, bench->streams[0]), codeword->name);
}

static double run_codeword(void *context)
{
    const struct codeword *codeword = context;
    struct gpu_bench *bench = codeword->bench;
    return gpu_clock_start(bench) && enqueue(codeword) ? gpu_clock_stop(bench) : -1;
}

static void close_codeword(void *context)
{
    struct codeword *codeword = context;
    softqam_demodulator_destroy(codeword->demodulator);
}

/* The outputs of a part whose symbols are a whole pattern, against the CPU's. */
static bool verify_part(const struct codeword *codeword, const struct gpu_pattern *pattern, size_t first)
{
    const size_t n = pattern->n_symbols,
                 value_nbytes = softqam_output_nbytes(codeword->config.output_format, SOFTQAM_MODULATION_BPSK, 1);
    const size_t n_bits = modulation_get(codeword->config.modulation)->n_bits;
    const size_t n_runs = codeword->layout->planes ? n_bits : 1, run_nbytes = n * n_bits / n_runs * value_nbytes;
    const size_t first_value = codeword->layout->planes ? first : first * n_bits;
    unsigned char *expected = malloc(n * n_bits * value_nbytes);
    const softqam_segment segment = segment_of(codeword, pattern->symbols, pattern->noise_var, n, expected, first, n);
    softqam_demodulator *demodulator = NULL;
    softqam_status status =
        expected ? bench_create(&demodulator, bench_context_config(SOFTQAM_BACKEND_CPU, 0), &codeword->config)
                 : SOFTQAM_ERROR_OUT_OF_MEMORY;
    if (status == SOFTQAM_OK)
        status = softqam_demodulate_segments(demodulator, &segment, 1);
    bool good = gpu_softqam_good(codeword->bench, status, codeword->name);
    for (size_t k = 0; k < n_runs && good; k++)
        good = gpu_compare(codeword->bench, codeword->name, expected + k * run_nbytes,
                           codeword->bench->d_out + (k * codeword->n_symbols + first_value) * value_nbytes, run_nbytes);
    softqam_demodulator_destroy(demodulator);
    free(expected);
    return good;
}

/* Into memory that holds something else; the beginning and the end. */
static bool verify(const struct codeword *codeword, const struct gpu_pattern *pattern)
{
    return gpu_good(codeword->bench,
                    cudaMemset(codeword->bench->d_out, 1, bench_out_nbytes(&codeword->config, codeword->n_symbols)),
                    "cudaMemset") &&
           enqueue(codeword) && gpu_synchronise(codeword->bench) && verify_part(codeword, pattern, 0) &&
           verify_part(codeword, pattern, codeword->n_symbols - pattern->n_symbols);
}

static void report_layouts(struct gpu_bench *bench, const softqam_demodulator_config *config, int first)
{
    const double plain = report_median(bench->report, first);
    for (int k = 0; k < N_LAYOUTS; k++) {
        const double seconds = report_median(bench->report, first + k);
        const double values[] = {1e6 * seconds, plain / seconds, layouts[k].goal};
        char what[WHAT_NBYTES];
        snprintf(what, sizeof what, "%s, %s to %s", layouts[k].what, bench_input_name(config->input_format),
                 sample_format_output_name(config->output_format));
        report_row(bench->report, what, values);
    }
}

static void measure_formats(struct gpu_bench *bench, const struct gpu_pattern *pattern, softqam_output_format output,
                            size_t n_symbols)
{
    const softqam_demodulator_config config =
        bench_config(bench->modulation, pattern->input, output, SOFTQAM_NOISE_PER_SYMBOL);
    struct codeword codewords[N_LAYOUTS];
    struct turns turns = {.report = bench->report};
    char name[WHAT_NBYTES];
    gpu_config_name(&config, name);
    for (int k = 0; k < N_LAYOUTS; k++) {
        struct codeword *made = &codewords[k];
        *made = (struct codeword){.bench = bench, .layout = &layouts[k], .config = config, .n_symbols = n_symbols};
        snprintf(made->name, sizeof made->name, "cuda: %.40s: %s", name, layouts[k].what);
        turns.failed = turns.failed || !gpu_create(bench, &made->demodulator, config) || !verify(made, pattern);
        turns.contenders[turns.n++] = (struct contender){
            made->name, run_codeword, made, close_codeword, n_symbols, n_symbols * bench_symbol_nbytes(&config)};
    }
    const int first = report_measure_in_turns(&turns);
    if (first >= 0)
        report_layouts(bench, &config, first);
}

void gpu_measure_codewords(struct gpu_bench *bench)
{
    enum { MOST_SYMBOLS = 1 << 26 };
    static const softqam_input_format inputs[] = {SOFTQAM_INPUT_CF32, SOFTQAM_INPUT_CF16};
    static const softqam_output_format outputs[] = {SOFTQAM_OUTPUT_S8, SOFTQAM_OUTPUT_F16};
    static const char *const columns[] = {"us", "share", "goal", NULL};
    /* Whole patterns in each layer, or one of all, so that the CPU has the same symbols side by side. */
    const size_t unit = SOFTQAM_MAX_LAYERS * GPU_PATTERN_SYMBOLS;
    const size_t most = bench->n_device_symbols < MOST_SYMBOLS ? bench->n_device_symbols : MOST_SYMBOLS;
    const size_t n_symbols = most >= unit                 ? most / unit * unit
                             : most > GPU_PATTERN_SYMBOLS ? GPU_PATTERN_SYMBOLS + 0
                                                          : most;
    if (n_symbols % SOFTQAM_MAX_LAYERS != 0 || bench->modulation == SOFTQAM_MODULATION_PI2_BPSK)
        return;
    report_table(bench->report, columns, "cuda: %s, one call of %zu symbols", modulation_get(bench->modulation)->name,
                 n_symbols);
    for (size_t k = 0; k < sizeof inputs / sizeof inputs[0]; k++) {
        struct gpu_pattern pattern;
        if (gpu_pattern_make(bench, &pattern, bench->modulation, inputs[k]))
            for (size_t output = 0; output < sizeof outputs / sizeof outputs[0]; output++)
                measure_formats(bench, &pattern, outputs[output], n_symbols);
        gpu_pattern_free(&pattern);
    }
}
