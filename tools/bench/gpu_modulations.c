/* SPDX-License-Identifier: MIT */
/* Data on the device in the formats that receivers have, by modulation: one large launch, and slots in a graph whose
 * data come from memory. */
#include <stdio.h>

#include "common/modulation.h"
#include "gpu.h"

static const softqam_input_format inputs[] = {SOFTQAM_INPUT_CF32, SOFTQAM_INPUT_CF16};

static bool enqueue_slot(const void *work, size_t k)
{
    return gpu_work_enqueue(work, k * GPU_SLOT_STRIDE);
}

static bool run_once(const struct gpu_work *work)
{
    return work->graph ? gpu_time_graph(work->bench, work->graph, 1) >= 0
                       : gpu_work_enqueue(work, 0) && gpu_synchronise(work->bench);
}

/* The work's outputs from a symbol on. */
static bool verify_part(const struct gpu_work *work, const struct gpu_pattern *pattern, size_t first, size_t n)
{
    const size_t in_nbytes = softqam_input_symbol_nbytes(pattern->input);
    return gpu_verify(work, work->name, pattern->symbols + first % pattern->n_symbols * in_nbytes, pattern->noise_var,
                      n, work->d_out + first * bench_out_nbytes(&work->config, 1));
}

/* Runs the work once into memory that holds something else, and looks at its beginning and its end. */
static bool verify_work(const struct gpu_work *work, const struct gpu_pattern *pattern)
{
    const size_t n = work->n_symbols, period = pattern->n_symbols;
    const size_t n_all = work->graph ? work->n_launches * GPU_SLOT_STRIDE : n;
    const size_t last = work->graph ? n_all - GPU_SLOT_STRIDE : (n - 1) / period * period;
    return gpu_good(work->bench, cudaMemset(work->d_out, 1, bench_out_nbytes(&work->config, n_all)), "cudaMemset") &&
           run_once(work) && verify_part(work, pattern, 0, n < period ? n : period) &&
           verify_part(work, pattern, last, work->graph ? n : n - last);
}

static void report_case(struct gpu_bench *bench, const struct gpu_work *work, int first, double goal)
{
    const int limit = report_faster(bench->report, first + 1, first + 2);
    char name[WHAT_NBYTES];
    report_set_limit(bench->report, first, limit);
    const double us = 1e6 * report_median(bench->report, first), rate = 1e-3 * (double)work->n_symbols / us;
    const double values[] = {us,
                             rate,
                             rate * modulation_get(work->config.modulation)->n_bits,
                             1e6 * report_median(bench->report, limit),
                             report_share(bench->report, first),
                             goal};
    gpu_config_name(&work->config, name);
    report_row(bench->report, name, values);
}

static double goal_of(const softqam_demodulator_config *config, bool slots)
{
    if (slots)
        return 0.85;
    return config->modulation == SOFTQAM_MODULATION_1024QAM ? 0.90 : 0.95;
}

/* Verifies, and measures in turns with the copies: a row of the table. */
static void measure_case(struct gpu_bench *bench, const struct gpu_pattern *pattern, softqam_output_format output,
                         softqam_noise noise, bool slots)
{
    struct gpu_work works[1 + BENCH_N_COPY_SHAPES];
    struct turns turns = {.report = bench->report};
    const softqam_demodulator_config config = bench_config(pattern->modulation, pattern->input, output, noise);
    const size_t n_launches = slots ? gpu_count_slots(bench, bench_symbol_nbytes(&config)) : 1;
    if (n_launches == 0 || !gpu_work_open(bench, config, slots ? SLOT_SYMBOLS : bench->n_device_symbols, &works[0]))
        return;
    works[0].n_launches = n_launches;
    works[1] = gpu_work_copy(&works[0], BENCH_COPY_LONG, false);
    works[2] = gpu_work_copy(&works[0], BENCH_COPY_SHORT, false);
    for (int k = 0; k <= BENCH_N_COPY_SHAPES; k++) {
        turns.failed =
            turns.failed || (slots && !gpu_capture(bench, n_launches, enqueue_slot, &works[k], &works[k].graph));
        gpu_work_add(&turns, &works[k]);
    }
    turns.failed = turns.failed || !verify_work(&works[0], pattern);
    const int first = report_measure_in_turns(&turns);
    if (first >= 0)
        report_case(bench, &works[0], first, goal_of(&config, slots));
}

static void begin_table(struct gpu_bench *bench, const char *modulation, bool slots)
{
    static const char *const columns[] = {"us", "Gsym/s", "GLLR/s", "moving bytes us", "share", "goal", NULL};
    if (slots)
        report_table(bench->report, columns, "cuda: %s, a slot in a graph, data from memory", modulation);
    else
        report_table(bench->report, columns, "cuda: %s on the device, %zu symbols", modulation,
                     bench->n_device_symbols);
}

/* A modulation's formats: all of them, or the LLRs with a noise variance a symbol. */
static void measure_modulation(struct gpu_bench *bench, softqam_modulation modulation, bool all, bool slots)
{
    for (size_t k = 0; k < sizeof inputs / sizeof inputs[0]; k++) {
        struct gpu_pattern pattern;
        const bool made = gpu_pattern_make(bench, &pattern, modulation, inputs[k]);
        if (made && all && modulation == SOFTQAM_MODULATION_256QAM)
            measure_case(bench, &pattern, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL, slots);
        for (int j = 0; j < BENCH_N_LLR_FORMATS && made; j++) {
            if (all)
                measure_case(bench, &pattern, bench_llr_formats[j], SOFTQAM_NOISE_PER_CALL, slots);
            measure_case(bench, &pattern, bench_llr_formats[j], SOFTQAM_NOISE_PER_SYMBOL, slots);
        }
        gpu_pattern_free(&pattern);
    }
}

void gpu_measure_formats(struct gpu_bench *bench, bool slots)
{
    begin_table(bench, modulation_get(bench->modulation)->name, slots);
    measure_modulation(bench, bench->modulation, true, slots);
}

void gpu_bench_modulations(struct gpu_bench *bench)
{
    for (int slots = 0; slots <= 1; slots++) {
        begin_table(bench, "every modulation", slots);
        for (int m = SOFTQAM_MODULATION_BPSK; m <= SOFTQAM_MODULATION_1024QAM; m++)
            measure_modulation(bench, (softqam_modulation)m, false, slots);
    }
}
