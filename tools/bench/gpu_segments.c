/* SPDX-License-Identifier: MIT */
/* A slot as segments, one launch a slot, slots in a graph whose data come from memory: many, of all modulations in
 * turns, descrambled, in bit planes, of four layers, and as descriptors in device memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"
#include "create.h"
#include "gpu_case.h"

enum { MOST_SEGMENTS = 150, GRAPH_REPLAYS = 3, N_MODULATIONS = SOFTQAM_MODULATION_1024QAM, POISON = 1 };

/* cf32 and N0 a symbol to s8: a slot's outputs have room for any modulation's. */
enum { SLOT_OUT_NBYTES = 10 * GPU_SLOT_STRIDE };

static const struct cut {
    const char *what;
    size_t n_segments;
    bool is_mixed;     /* all modulations in turns */
    bool launch_each;  /* each segment in a launch of its own */
    bool is_in_device; /* descriptors in device memory */
    bool descramble;
    bool planes;
    unsigned n_layers;
    int relative_to; /* another one of these; -1: none */
    double goal;     /* its time over this one's */
} cuts[] = {
    {.what = "1 segment", .n_segments = 1, .relative_to = -1, .goal = (double)NAN},
    {.what = "20 codewords", .n_segments = 20, .goal = 1 / 1.15},
    {.what = "150 code blocks", .n_segments = MOST_SEGMENTS, .goal = 1 / 1.15},
    {.what = "7 segments, 1 of each modulation",
     .n_segments = N_MODULATIONS,
     .is_mixed = true,
     .relative_to = -1,
     .goal = (double)NAN},
    {.what = "20 codewords, modulations in turns",
     .n_segments = 20,
     .is_mixed = true,
     .relative_to = 3,
     .goal = 1 / 1.15},
    {.what = "7 launches, 1 of each modulation",
     .n_segments = N_MODULATIONS,
     .is_mixed = true,
     .launch_each = true,
     .relative_to = 3,
     .goal = (double)NAN},
    {.what = "1 segment, descrambled", .n_segments = 1, .descramble = true, .goal = 1 / 1.1},
    {.what = "150 code blocks, descrambled",
     .n_segments = MOST_SEGMENTS,
     .descramble = true,
     .relative_to = 2,
     .goal = 1 / 1.1},
    {.what = "1 segment, bit planes", .n_segments = 1, .planes = true, .goal = (double)NAN},
    {.what = "1 segment, 4 layers, bit planes", .n_segments = 1, .planes = true, .n_layers = 4, .goal = 1 / 1.2},
    {.what = "the same, descrambled",
     .n_segments = 1,
     .descramble = true,
     .planes = true,
     .n_layers = 4,
     .goal = 1 / 1.2},
    {.what = "1 segment, descriptor in device memory", .n_segments = 1, .is_in_device = true, .goal = 1 / 1.1},
    {.what = "20 codewords, descriptors in device memory",
     .n_segments = 20,
     .is_in_device = true,
     .relative_to = 1,
     .goal = 1 / 1.1},
    {.what = "150 code blocks, descriptors in device memory",
     .n_segments = MOST_SEGMENTS,
     .is_in_device = true,
     .relative_to = 2,
     .goal = 1 / 1.1},
};

enum { N_CUTS = sizeof cuts / sizeof cuts[0] };

struct slots {
    struct gpu_bench *bench;
    const struct cut *cut;
    softqam_demodulator *demodulator;
    size_t n_slots;
    softqam_segment *d_segments; /* of all slots; behind them how many a slot has */
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

/* A slot's segments, whose memory begins at these places. */
static void lay_out(const struct slots *slots, const unsigned char *symbols, const float *noise_var, unsigned char *out,
                    softqam_segment segments[MOST_SEGMENTS])
{
    const struct cut *cut = slots->cut;
    const unsigned n_layers = cut->n_layers ? cut->n_layers : 1;
    for (size_t k = 0; k < cut->n_segments; k++) {
        const size_t first = first_of(cut, k), n = first_of(cut, k + 1) - first;
        segments[k] = (softqam_segment){.n_symbols = n,
                                        .first_symbol = first,
                                        .modulation = modulation_of(slots, k),
                                        .n_layers = n_layers,
                                        .noise_stride = 1,
                                        .plane_stride = cut->planes ? n : 0,
                                        .descramble = cut->descramble,
                                        .c_init = cut->descramble ? 12345 : 0,
                                        .out = out};
        for (unsigned layer = 0; layer < n_layers; layer++) {
            const size_t at = first + layer * (n / n_layers);
            segments[k].layers[layer] = (softqam_layer){.symbols = symbols + 8 * at, .noise_var = noise_var + at};
        }
        out += (softqam_output_nbytes(SOFTQAM_OUTPUT_S8, segments[k].modulation, n) + 15) / 16 * 16;
    }
}

/* The same in the section's device memory. */
static void lay_out_slot(const struct slots *slots, size_t slot, softqam_segment segments[MOST_SEGMENTS])
{
    const struct gpu_bench *bench = slots->bench;
    const size_t first = slot * GPU_SLOT_STRIDE;
    lay_out(slots, bench->d_in + 8 * first, bench->d_noise_var + first, bench->d_out + slot * SLOT_OUT_NBYTES,
            segments);
}

static unsigned *d_n_segments(const struct slots *slots)
{
    return (void *)(slots->d_segments + slots->n_slots * slots->cut->n_segments);
}

/* Where descriptors are in device memory: those of all slots. */
static bool copy_descriptors(struct slots *slots)
{
    struct gpu_bench *bench = slots->bench;
    const unsigned n = (unsigned)slots->cut->n_segments;
    softqam_segment segments[MOST_SEGMENTS];
    if (!slots->cut->is_in_device)
        return true;
    bool all =
        gpu_good(bench, cudaMalloc((void **)&slots->d_segments, slots->n_slots * n * sizeof segments[0] + sizeof n),
                 "cudaMalloc") &&
        gpu_good(bench, cudaMemcpy(d_n_segments(slots), &n, sizeof n, cudaMemcpyHostToDevice), "cudaMemcpy");
    for (size_t slot = 0; slot < slots->n_slots && all; slot++) {
        lay_out_slot(slots, slot, segments);
        all = gpu_good(
            bench, cudaMemcpy(slots->d_segments + slot * n, segments, n * sizeof segments[0], cudaMemcpyHostToDevice),
            "cudaMemcpy");
    }
    return all;
}

/* False where it cannot be done, which is no failure if it is not by this version. */
static bool enqueue(const struct slots *slots, size_t slot)
{
    softqam_segment segments[MOST_SEGMENTS];
    cudaStream_t stream = slots->bench->streams[0];
    const size_t n = slots->cut->n_segments, n_calls = slots->cut->launch_each ? n : 1;
    softqam_status status = SOFTQAM_OK;
    if (slots->cut->is_in_device)
        return gpu_softqam_good(
            slots->bench,
            softqam_cuda_demodulate_device_segments(slots->demodulator, slots->d_segments + slot * n,
                                                    d_n_segments(slots), (unsigned)n, SLOT_SYMBOLS, stream),
            slots->name);
    lay_out_slot(slots, slot, segments);
    for (size_t k = 0; k < n_calls && status == SOFTQAM_OK; k++)
        status = softqam_cuda_demodulate_segments(slots->demodulator, segments + k, n / n_calls, stream);
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

/* What the CPU makes of the last slot's segments in host memory. */
static bool expect(const struct slots *slots, const struct gpu_pattern *pattern, float *noise_var,
                   unsigned char *expected)
{
    const size_t first = (slots->n_slots - 1) * GPU_SLOT_STRIDE % pattern->n_symbols;
    const softqam_context_config context_config = bench_context_config(SOFTQAM_BACKEND_CPU, 1);
    softqam_demodulator *demodulator = NULL;
    softqam_segment segments[MOST_SEGMENTS];
    softqam_config config;
    softqam_config_init(&config);
    config.output_format = SOFTQAM_OUTPUT_S8;
    config.noise = SOFTQAM_NOISE_PER_SYMBOL;
    for (size_t k = 0; k < SLOT_SYMBOLS; k++)
        noise_var[k] = slots->bench->noise_var;
    lay_out(slots, pattern->symbols + 8 * first, noise_var, expected, segments);
    softqam_status status = bench_create(&demodulator, &context_config, &config);
    if (status == SOFTQAM_OK)
        status = softqam_demodulate_segments(demodulator, segments, slots->cut->n_segments);
    softqam_destroy(demodulator);
    return gpu_softqam_good(slots->bench, status, slots->name);
}

/* The last slot, and what its launch left alone. */
static bool verify(const struct slots *slots, const struct gpu_pattern *pattern)
{
    struct gpu_bench *bench = slots->bench;
    const unsigned char *d_out = bench->d_out + (slots->n_slots - 1) * SLOT_OUT_NBYTES;
    float *noise_var = malloc(SLOT_SYMBOLS * sizeof *noise_var);
    unsigned char *expected = malloc(SLOT_OUT_NBYTES), *got = malloc(SLOT_OUT_NBYTES);
    bool good = noise_var && expected && got;
    if (good)
        memset(expected, POISON, SLOT_OUT_NBYTES);
    good = good && expect(slots, pattern, noise_var, expected) &&
           gpu_good(bench, cudaMemcpy(got, d_out, SLOT_OUT_NBYTES, cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (good && memcmp(expected, got, SLOT_OUT_NBYTES) != 0) {
        message_print(slots->name, "wrong bytes on the device");
        good = false;
    }
    bench->report->failed = bench->report->failed || !good;
    free(noise_var);
    free(expected);
    free(got);
    return good;
}

static bool capture(struct slots *slots, const struct gpu_pattern *pattern)
{
    struct gpu_bench *bench = slots->bench;
    /* Outside of a capture, which a refusal would spoil. */
    bool all = copy_descriptors(slots) && enqueue(slots, 0) &&
               gpu_good(bench, cudaStreamSynchronize(bench->streams[0]), "cudaStreamSynchronize") &&
               gpu_good(bench, cudaMemset(bench->d_out, POISON, slots->n_slots * SLOT_OUT_NBYTES), "cudaMemset");
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

static void report_cuts(struct gpu_bench *bench, const int indices[N_CUTS])
{
    static const char *const columns[] = {"us", "share", "goal", NULL};
    char title[128];
    snprintf(title, sizeof title, "cuda: %s cf32 to s8, a slot as segments", modulation_get(bench->modulation)->name);
    report_table(bench->report, title, columns);
    for (int k = 0; k < N_CUTS; k++) {
        const int other = cuts[k].relative_to < 0 ? -1 : indices[cuts[k].relative_to];
        if (indices[k] < 0)
            continue;
        const double us = 1e6 * report_median(bench->report, indices[k]);
        const double share = other < 0 ? (double)NAN : 1e6 * report_median(bench->report, other) / us;
        const double values[] = {us, share, cuts[k].goal};
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
        *made = (struct slots){.bench = bench, .cut = &cuts[k], .demodulator = demodulator, .n_slots = n_slots};
        snprintf(made->name, sizeof made->name, "cuda: slot, %s: %s", modulation_get(bench->modulation)->name,
                 cuts[k].what);
        indices[k] = -1;
        if (cuts[k].n_layers > 1 && bench->modulation == SOFTQAM_MODULATION_PI2_BPSK)
            continue; /* it has one */
        if (!capture(made, pattern)) {
            (void)cudaFree(made->d_segments);
            continue;
        }
        contenders[n_made] =
            (struct contender){made->name, run_slots, made, SLOT_SYMBOLS, 12 * SLOT_SYMBOLS + count_out_nbytes(made)};
        indices[k] = n_made++;
    }
    const int first = n_made > 0 ? report_measure_in_turns(bench->report, contenders, (size_t)n_made) : -1;
    for (int k = 0; k < N_CUTS && first >= 0; k++)
        indices[k] += indices[k] >= 0 ? first : 0;
    if (first >= 0)
        report_cuts(bench, indices);
    for (int k = 0; k < n_made; k++) {
        (void)cudaGraphExecDestroy(slots[k].graph);
        (void)cudaFree(slots[k].d_segments);
    }
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
