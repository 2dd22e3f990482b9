/* SPDX-License-Identifier: MIT */
/* A slot as segments, one launch a slot, slots in a graph whose data come from memory: many, of all modulations in
 * turns, descrambled, in bit planes, of four layers, as code blocks that the kernel finds, and as descriptors in device
 * memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"
#include "gpu.h"

enum {
    MOST_SEGMENTS = 150,
    CODE_BLOCKS_OF_A_SLOT = MOST_SEGMENTS,
    GRAPH_REPLAYS = 3,
    N_MODULATIONS = SOFTQAM_MODULATION_1024QAM,
    POISON = 1
};

/* cf32 and N0 a symbol to s8: a slot's outputs have room for any modulation's. */
enum { SLOT_OUT_NBYTES = MODULATION_MAX_BITS * GPU_SLOT_STRIDE };

/* How a slot is cut. */
enum {
    MIXED = 1,       /* all modulations in turns */
    LAUNCH_EACH = 2, /* each segment in a launch of its own */
    IN_DEVICE = 4,   /* descriptors in device memory */
    DESCRAMBLED = 8,
    PLANES = 16,
    CODEWORD = 32 /* the segment is a codeword of code blocks, each of which is de-interleaved */
};

/* The cuts that others are relative to, by their places among all. */
enum { NONE = -1, ONE_SEGMENT, CODEWORDS, CODE_BLOCKS, ONE_OF_EACH };

static const struct cut {
    const char *what;
    size_t n_segments;
    unsigned n_layers;
    unsigned how;
    int relative_to;
    double goal; /* the other one's time over this one's */
} cuts[] = {
    {"1 segment", 1, 1, 0, NONE, (double)NAN},
    {"20 codewords", 20, 1, 0, ONE_SEGMENT, 1 / 1.15},
    {"150 code blocks", MOST_SEGMENTS, 1, 0, ONE_SEGMENT, 1 / 1.15},
    {"7 segments, 1 of each modulation", N_MODULATIONS, 1, MIXED, NONE, (double)NAN},
    {"20 codewords, modulations in turns", 20, 1, MIXED, ONE_OF_EACH, 1 / 1.15},
    {"7 launches, 1 of each modulation", N_MODULATIONS, 1, MIXED | LAUNCH_EACH, ONE_OF_EACH, (double)NAN},
    {"1 segment, descrambled", 1, 1, DESCRAMBLED, ONE_SEGMENT, 1 / 1.1},
    {"150 code blocks, descrambled", MOST_SEGMENTS, 1, DESCRAMBLED, CODE_BLOCKS, 1 / 1.1},
    {"1 segment, bit planes", 1, 1, PLANES, ONE_SEGMENT, (double)NAN},
    {"1 segment, 4 layers, bit planes", 1, 4, PLANES, ONE_SEGMENT, 1 / 1.2},
    {"the same, descrambled", 1, 4, DESCRAMBLED | PLANES, ONE_SEGMENT, 1 / 1.2},
    {"1 codeword of 150 code blocks, descrambled", 1, 1, DESCRAMBLED | CODEWORD, ONE_SEGMENT, (double)NAN},
    {"the same, descriptor in device memory", 1, 1, DESCRAMBLED | CODEWORD | IN_DEVICE, ONE_SEGMENT, (double)NAN},
    {"1 segment, descriptor in device memory", 1, 1, IN_DEVICE, ONE_SEGMENT, 1 / 1.1},
    {"20 codewords, descriptors in device memory", 20, 1, IN_DEVICE, CODEWORDS, 1 / 1.1},
    {"150 code blocks, descriptors in device memory", MOST_SEGMENTS, 1, IN_DEVICE, CODE_BLOCKS, 1 / 1.1},
};

enum { N_CUTS = sizeof cuts / sizeof cuts[0] };

_Static_assert(N_CUTS <= (int)TURNS_MOST, "all of them in turns");

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
    return slots->cut->how & MIXED ? (softqam_modulation)(1 + k % N_MODULATIONS) : slots->bench->modulation;
}

/* A slot's segments, whose memory begins at these places. */
static void lay_out(const struct slots *slots, const unsigned char *symbols, const float *noise_var, unsigned char *out,
                    softqam_segment segments[MOST_SEGMENTS])
{
    const struct cut *cut = slots->cut;
    const unsigned n_layers = cut->n_layers;
    const bool descramble = cut->how & DESCRAMBLED;
    for (size_t k = 0; k < cut->n_segments; k++) {
        const size_t first = first_of(cut, k), n = first_of(cut, k + 1) - first;
        segments[k] = (softqam_segment){.n_symbols = n,
                                        .first_symbol = first,
                                        .modulation = modulation_of(slots, k),
                                        .n_layers = n_layers,
                                        .noise_stride = 1,
                                        .plane_stride = cut->how & PLANES ? n : 0,
                                        .descramble = descramble,
                                        .c_init = descramble ? 12345 : 0,
                                        .out = out};
        if (cut->how & CODEWORD) {
            segments[k].out = NULL;
            segments[k].codeword = (softqam_codeword){.n_bits = n * softqam_bits_per_symbol(segments[k].modulation),
                                                      .buffers = out,
                                                      .n_code_blocks = CODE_BLOCKS_OF_A_SLOT,
                                                      .deinterleave = 1};
        }
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
    if (!(slots->cut->how & IN_DEVICE))
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
static bool enqueue(const void *context, size_t slot)
{
    const struct slots *slots = context;
    softqam_segment segments[MOST_SEGMENTS];
    cudaStream_t stream = slots->bench->streams[0];
    const size_t n = slots->cut->n_segments, n_calls = slots->cut->how & LAUNCH_EACH ? n : 1;
    softqam_status status = SOFTQAM_OK;
    if (slots->cut->how & IN_DEVICE)
        return gpu_softqam_good(
            slots->bench,
            softqam_cuda_demodulate_device_segments(slots->demodulator, slots->d_segments + slot * n,
                                                    d_n_segments(slots), (unsigned)n, SLOT_SYMBOLS, stream),
            slots->name);
    lay_out_slot(slots, slot, segments);
    for (size_t k = 0; k < n_calls && status == SOFTQAM_OK; k++)
        status = softqam_cuda_demodulate_segments(slots->demodulator, segments + k, n / n_calls, stream);
    return gpu_supported(slots->bench, status, slots->cut->how & MIXED ? "cuda: mixed modulations" : "cuda: segments");
}

static double run_slots(void *context)
{
    const struct slots *slots = context;
    return gpu_time_graph(slots->bench, slots->graph, GRAPH_REPLAYS) / (double)slots->n_slots;
}

static void close_slots(void *context)
{
    struct slots *slots = context;
    if (slots->graph)
        (void)cudaGraphExecDestroy(slots->graph);
    (void)cudaFree(slots->d_segments);
}

/* What the CPU makes of the last slot's segments in host memory. */
static bool expect(const struct slots *slots, const struct gpu_pattern *pattern, unsigned char *expected)
{
    const size_t first = (slots->n_slots - 1) * GPU_SLOT_STRIDE % pattern->n_symbols;
    const softqam_demodulator_config config =
        bench_config(SOFTQAM_MODULATION_256QAM, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL);
    softqam_demodulator *demodulator;
    softqam_segment segments[MOST_SEGMENTS];
    lay_out(slots, pattern->symbols + 8 * first, pattern->noise_var, expected, segments);
    softqam_status status = bench_create(&demodulator, bench_context_config(SOFTQAM_BACKEND_CPU, 1), &config);
    if (status == SOFTQAM_OK)
        status = softqam_demodulate_segments(demodulator, segments, slots->cut->n_segments);
    softqam_demodulator_destroy(demodulator);
    return gpu_softqam_good(slots->bench, status, slots->name);
}

/* The last slot, and what its launch left alone. */
static bool verify(const struct slots *slots, const struct gpu_pattern *pattern)
{
    static unsigned char expected[SLOT_OUT_NBYTES];
    const unsigned char *d_out = slots->bench->d_out + (slots->n_slots - 1) * SLOT_OUT_NBYTES;
    memset(expected, POISON, sizeof expected);
    return expect(slots, pattern, expected) && gpu_compare(slots->bench, slots->name, expected, d_out, sizeof expected);
}

/* Once outside of the capture, which a refusal would spoil. */
static bool open_slots(struct slots *slots, const struct gpu_pattern *pattern)
{
    struct gpu_bench *bench = slots->bench;
    return copy_descriptors(slots) && enqueue(slots, 0) && gpu_synchronise(bench) &&
           gpu_good(bench, cudaMemset(bench->d_out, POISON, slots->n_slots * SLOT_OUT_NBYTES), "cudaMemset") &&
           gpu_capture(bench, slots->n_slots, enqueue, slots, &slots->graph) && run_slots(slots) >= 0 &&
           verify(slots, pattern);
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
    report_table(bench->report, columns, "cuda: %s cf32 to s8, a slot as segments",
                 modulation_get(bench->modulation)->name);
    for (int k = 0; k < N_CUTS; k++) {
        const int other = cuts[k].relative_to == NONE ? -1 : indices[cuts[k].relative_to];
        const double seconds = report_median(bench->report, indices[k]);
        const double values[] = {1e6 * seconds, report_median(bench->report, other) / seconds, cuts[k].goal};
        if (indices[k] >= 0)
            report_row(bench->report, cuts[k].what, values);
    }
}

static void measure_cuts(struct gpu_bench *bench, softqam_demodulator *demodulator, const struct gpu_pattern *pattern,
                         size_t n_slots)
{
    struct slots slots[N_CUTS];
    struct turns turns = {.report = bench->report};
    int indices[N_CUTS]; /* among the contenders; -1: not measured */
    for (int k = 0; k < N_CUTS; k++) {
        struct slots *made = &slots[k];
        *made = (struct slots){.bench = bench, .cut = &cuts[k], .demodulator = demodulator, .n_slots = n_slots};
        snprintf(made->name, sizeof made->name, "cuda: slot, %s: %s", modulation_get(bench->modulation)->name,
                 cuts[k].what);
        const bool has_too_many_layers = cuts[k].n_layers > 1 && bench->modulation == SOFTQAM_MODULATION_PI2_BPSK;
        indices[k] = !has_too_many_layers && open_slots(made, pattern) ? (int)turns.n : -1;
        if (indices[k] >= 0)
            turns.contenders[turns.n++] = (struct contender){
                made->name, run_slots, made, close_slots, SLOT_SYMBOLS, 12 * SLOT_SYMBOLS + count_out_nbytes(made)};
        else
            close_slots(made);
    }
    const int first = report_measure_in_turns(&turns);
    for (int k = 0; k < N_CUTS && first >= 0; k++)
        indices[k] += indices[k] >= 0 ? first : 0;
    if (first >= 0)
        report_cuts(bench, indices);
}

static void measure_slots(struct gpu_bench *bench)
{
    const softqam_demodulator_config config =
        bench_config(bench->modulation, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL);
    const size_t n_slots = gpu_count_slots(bench, bench_symbol_nbytes(&config));
    softqam_demodulator *demodulator;
    struct gpu_pattern pattern;
    if (n_slots == 0 || !gpu_create(bench, &demodulator, config))
        return;
    if (gpu_pattern_make(bench, &pattern, bench->modulation, SOFTQAM_INPUT_CF32))
        measure_cuts(bench, demodulator, &pattern, n_slots);
    gpu_pattern_free(&pattern);
    softqam_demodulator_destroy(demodulator);
}

void gpu_bench_segments(struct gpu_bench *bench)
{
    measure_slots(bench);
    gpu_measure_codewords(bench);
}
