/* SPDX-License-Identifier: MIT */
/* A slot cut into segments, one launch a slot, slots in a graph whose data come from memory: beside one segment of as
 * many symbols, and with modulations in turns beside one segment for each of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/modulation.h"
#include "gpu_case.h"

enum { MOST_SEGMENTS = 150, GRAPH_REPLAYS = 3, N_MODULATIONS = SOFTQAM_MODULATION_1024QAM };

/* cf32 and N0 a symbol to s8: a slot's outputs have room for any modulation's. */
enum { SLOT_OUT_NBYTES = 10 * GPU_SLOT_STRIDE };

static const struct cut {
    const char *what;
    size_t n_segments;
    bool is_mixed;    /* all modulations in turns */
    bool launch_each; /* each segment in a launch of its own */
    int relative_to;  /* another one of these; -1: none */
} cuts[] = {{"1 segment", 1, false, false, -1},
            {"20 codewords", 20, false, false, 0},
            {"150 code blocks", MOST_SEGMENTS, false, false, 0},
            {"7 segments, 1 of each modulation", N_MODULATIONS, true, false, -1},
            {"20 codewords, modulations in turns", 20, true, false, 3},
            {"7 launches, 1 of each modulation", N_MODULATIONS, true, true, 3}};

enum { N_CUTS = sizeof cuts / sizeof cuts[0] };

struct slots {
    struct gpu_bench *bench;
    const struct cut *cut;
    softqam_demodulator *demodulator;
    size_t n_slots;
    cudaGraphExec_t graph;
    char name[WHAT_NBYTES];
};

/* Segments begin at multiples of 16 symbols, where all pointers are aligned as is fastest. */
static size_t first_of(const struct cut *cut, size_t k)
{
    return k == cut->n_segments ? SLOT_SYMBOLS : k * SLOT_SYMBOLS / cut->n_segments / 16 * 16;
}

static softqam_modulation modulation_of(const struct slots *slots, size_t k)
{
    return slots->cut->is_mixed ? (softqam_modulation)(1 + k % N_MODULATIONS) : slots->bench->modulation;
}

static void lay_out(const struct slots *slots, size_t slot, softqam_segment segments[MOST_SEGMENTS])
{
    const struct gpu_bench *bench = slots->bench;
    size_t out = slot * SLOT_OUT_NBYTES;
    for (size_t k = 0; k < slots->cut->n_segments; k++) {
        const size_t first = first_of(slots->cut, k), n = first_of(slots->cut, k + 1) - first;
        segments[k] = (softqam_segment){.n_symbols = n,
                                        .modulation = modulation_of(slots, k),
                                        .layers[0].symbols = bench->d_in + 8 * (slot * GPU_SLOT_STRIDE + first),
                                        .layers[0].noise_var = bench->d_noise_var + slot * GPU_SLOT_STRIDE + first,
                                        .noise_stride = 1,
                                        .out = bench->d_out + out};
        out += (softqam_output_nbytes(SOFTQAM_OUTPUT_S8, segments[k].modulation, n) + 15) / 16 * 16;
    }
}

/* False where it cannot be done, which is no failure if it is not by this version. */
static bool enqueue(const struct slots *slots, size_t slot)
{
    softqam_segment segments[MOST_SEGMENTS];
    const size_t n = slots->cut->n_segments, n_calls = slots->cut->launch_each ? n : 1;
    softqam_status status = SOFTQAM_OK;
    lay_out(slots, slot, segments);
    for (size_t k = 0; k < n_calls && status == SOFTQAM_OK; k++)
        status =
            softqam_cuda_demodulate_segments(slots->demodulator, segments + k, n / n_calls, slots->bench->streams[0]);
    return gpu_supported(slots->bench, status, slots->cut->is_mixed ? "cuda: mixed modulations" : "cuda: segments");
}

static double run_slots(void *context)
{
    const struct slots *slots = context;
    bool all = gpu_clock_start(slots->bench);
    for (int k = 0; k < GRAPH_REPLAYS && all; k++)
        all = gpu_good(slots->bench, cudaGraphLaunch(slots->graph, slots->bench->streams[0]), "cudaGraphLaunch");
    const double seconds = all ? gpu_clock_stop(slots->bench) : -1;
    return seconds < 0 ? -1 : seconds / (double)(slots->n_slots * GRAPH_REPLAYS);
}

/* The last slot, segment by segment. */
static bool verify(const struct slots *slots, const struct gpu_pattern *pattern)
{
    struct gpu_bench *bench = slots->bench;
    const size_t last = slots->n_slots - 1;
    softqam_segment segments[MOST_SEGMENTS];
    float *noise_var = malloc(SLOT_SYMBOLS * sizeof *noise_var);
    bool good = noise_var != NULL;
    for (size_t k = 0; k < SLOT_SYMBOLS && good; k++)
        noise_var[k] = bench->noise_var;
    lay_out(slots, last, segments);
    for (size_t k = 0; k < slots->cut->n_segments && good; k++) {
        const struct gpu_case c = {segments[k].modulation, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8,
                                   SOFTQAM_NOISE_PER_SYMBOL};
        const size_t first = last * GPU_SLOT_STRIDE % pattern->n_symbols + first_of(slots->cut, k);
        good = gpu_verify(bench, &c, slots->name, pattern->symbols + 8 * first, noise_var, segments[k].n_symbols,
                          segments[k].out);
    }
    bench->report->failed = bench->report->failed || !good;
    free(noise_var);
    return good;
}

static bool capture(struct slots *slots, const struct gpu_pattern *pattern)
{
    struct gpu_bench *bench = slots->bench;
    /* Outside of a capture, which a refusal would spoil. */
    bool all = enqueue(slots, 0) &&
               gpu_good(bench, cudaStreamSynchronize(bench->streams[0]), "cudaStreamSynchronize") &&
               gpu_good(bench, cudaMemset(bench->d_out, 1, slots->n_slots * SLOT_OUT_NBYTES), "cudaMemset");
    if (!all || !gpu_good(bench, cudaStreamBeginCapture(bench->streams[0], cudaStreamCaptureModeThreadLocal),
                          "cudaStreamBeginCapture"))
        return false;
    for (size_t k = 0; k < slots->n_slots && all; k++)
        all = enqueue(slots, k);
    return gpu_end_capture(bench, all, &slots->graph) && run_slots(slots) >= 0 && verify(slots, pattern);
}

static size_t count_out_nbytes(const struct slots *slots)
{
    size_t nbytes = 0;
    for (size_t k = 0; k < slots->cut->n_segments; k++)
        nbytes += softqam_output_nbytes(SOFTQAM_OUTPUT_S8, modulation_of(slots, k),
                                        first_of(slots->cut, k + 1) - first_of(slots->cut, k));
    return nbytes;
}

/* One launch of segments may be so much slower than the one that it is held against. */
static const double goal = 1 / 1.15;

static void report_cuts(struct gpu_bench *bench, const int indices[N_CUTS])
{
    static const char *const columns[] = {"us", "share", "goal", NULL};
    char title[128];
    snprintf(title, sizeof title, "cuda: %s cf32 to s8, a slot as segments", modulation_get(bench->modulation)->name);
    report_table(bench->report, title, columns);
    for (int k = 0; k < N_CUTS; k++) {
        const int relative_to = cuts[k].relative_to;
        const double us = 1e6 * report_median(bench->report, indices[k]);
        const double share =
            relative_to < 0 ? (double)NAN : 1e6 * report_median(bench->report, indices[relative_to]) / us;
        const double values[] = {us, share, relative_to < 0 || cuts[k].launch_each ? (double)NAN : goal};
        if (indices[k] >= 0)
            report_row(bench->report, cuts[k].what, values);
    }
}

static void measure_cuts(struct gpu_bench *bench, softqam_demodulator *demodulator, const struct gpu_pattern *pattern,
                         size_t n_slots)
{
    struct slots slots[N_CUTS];
    struct contender contenders[N_CUTS];
    int indices[N_CUTS];
    int n_made = 0;
    for (int k = 0; k < N_CUTS; k++) {
        struct slots *made = &slots[n_made];
        *made = (struct slots){bench, &cuts[k], demodulator, n_slots, NULL, ""};
        snprintf(made->name, sizeof made->name, "cuda: slot, %s: %s", modulation_get(bench->modulation)->name,
                 cuts[k].what);
        indices[k] = -1;
        if (!capture(made, pattern))
            continue;
        contenders[n_made] =
            (struct contender){made->name, run_slots, made, SLOT_SYMBOLS, 12 * SLOT_SYMBOLS + count_out_nbytes(made)};
        indices[k] = n_made++;
    }
    const int first = n_made > 0 ? report_measure_in_turns(bench->report, contenders, (size_t)n_made) : -1;
    for (int k = 0; k < N_CUTS && first >= 0; k++)
        indices[k] += indices[k] >= 0 ? first : 0;
    if (first >= 0)
        report_cuts(bench, indices);
    for (int k = 0; k < n_made; k++)
        (void)cudaGraphExecDestroy(slots[k].graph);
}

void gpu_bench_segments(struct gpu_bench *bench)
{
    const size_t n_slots = gpu_count_slots(bench, 12 + softqam_bits_per_symbol(bench->modulation));
    softqam_demodulator *demodulator;
    struct gpu_pattern pattern;
    if (n_slots == 0 || !gpu_create(bench, &demodulator, bench->modulation, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8,
                                    SOFTQAM_NOISE_PER_SYMBOL))
        return;
    if (gpu_pattern_make(bench, &pattern, bench->modulation, SOFTQAM_INPUT_CF32))
        measure_cuts(bench, demodulator, &pattern, n_slots);
    gpu_pattern_free(&pattern);
    softqam_destroy(demodulator);
}
