/* SPDX-License-Identifier: MIT */
/* A slot in a chain: a producer's kernel, softqam, a consumer's kernel in one graph, data in the second cache. What
 * softqam adds to it, and what a copy kernel adds that moves the same bytes in its place. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/modulation.h"
#include "gpu_case.h"

enum { CHAINS = 20, CHAIN_REPLAYS = 2, MOST_OUT_NBYTES = 40 };

/* What stands between the producer and the consumer. The copies, in the order of shape and attribute. */
enum { NOTHING, SOFTQAM, FIRST_COPY, N_MIDDLES = FIRST_COPY + 2 * BENCH_N_COPY_SHAPES };

/* Symbols, then their noise variances. */
struct chain_memory {
    unsigned char *symbols; /* in host memory */
    float *noise_var;
    unsigned char *d_master; /* what the producer reads */
    unsigned char *d_in;     /* what it writes */
    unsigned char *d_out;
    unsigned *d_sums; /* of the consumer */
};

struct chain {
    const struct chain_memory *memory;
    struct gpu_work work; /* not of NOTHING */
    bool has_work;
    size_t in_words;
    size_t out_words;
    char name[WHAT_NBYTES];
};

enum { IN_NBYTES = (8 + 4) * SLOT_SYMBOLS, OUT_NBYTES = MOST_OUT_NBYTES * SLOT_SYMBOLS };

static bool allocate(struct gpu_bench *bench, struct chain_memory *memory)
{
    memory->symbols = malloc(IN_NBYTES);
    memory->noise_var = malloc(SLOT_SYMBOLS * sizeof *memory->noise_var);
    return memory->symbols && memory->noise_var &&
           gpu_good(bench, cudaMalloc((void **)&memory->d_master, IN_NBYTES), "cudaMalloc") &&
           gpu_good(bench, cudaMalloc((void **)&memory->d_in, IN_NBYTES), "cudaMalloc") &&
           gpu_good(bench, cudaMalloc((void **)&memory->d_out, OUT_NBYTES), "cudaMalloc") &&
           gpu_good(bench, cudaMalloc((void **)&memory->d_sums, BENCH_CONSUMER_BLOCKS * sizeof(unsigned)),
                    "cudaMalloc");
}

static void release(struct chain_memory *memory)
{
    (void)cudaFree(memory->d_master);
    (void)cudaFree(memory->d_in);
    (void)cudaFree(memory->d_out);
    (void)cudaFree(memory->d_sums);
    free(memory->symbols);
    free(memory->noise_var);
}

static bool fill(struct gpu_bench *bench, struct chain_memory *memory, const struct gpu_case *c)
{
    const size_t nbytes = softqam_input_symbol_nbytes(c->input) * SLOT_SYMBOLS;
    bench_fill(c->modulation, memory->symbols, SLOT_SYMBOLS, 28.0, c->input, bench_input_scale(c->input));
    for (size_t k = 0; k < SLOT_SYMBOLS; k++)
        memory->noise_var[k] = 0.001f + 1e-6f * (float)(k % 1009);
    return gpu_good(bench, cudaMemcpy(memory->d_master, memory->symbols, nbytes, cudaMemcpyHostToDevice),
                    "cudaMemcpy") &&
           gpu_good(bench,
                    cudaMemcpy(memory->d_master + nbytes, memory->noise_var, SLOT_SYMBOLS * sizeof(float),
                               cudaMemcpyHostToDevice),
                    "cudaMemcpy");
}

static bool enqueue(const struct chain *chain, struct gpu_bench *bench)
{
    const struct chain_memory *memory = chain->memory;
    return gpu_good(bench, bench_producer_kernel(memory->d_master, memory->d_in, chain->in_words, bench->streams[0]),
                    "producer kernel") &&
           (!chain->has_work || gpu_work_enqueue(&chain->work, 0)) &&
           gpu_good(bench, bench_consumer_kernel(memory->d_out, chain->out_words, memory->d_sums, bench->streams[0]),
                    "consumer kernel");
}

static bool capture(struct chain *chain)
{
    struct gpu_bench *bench = chain->work.bench;
    bool all = true;
    if (!gpu_good(bench, cudaStreamBeginCapture(bench->streams[0], cudaStreamCaptureModeThreadLocal),
                  "cudaStreamBeginCapture"))
        return false;
    for (int k = 0; k < CHAINS && all; k++)
        all = enqueue(chain, bench);
    return gpu_end_capture(bench, all, &chain->work.graph);
}

static double run_chain(void *context)
{
    const struct chain *chain = context;
    struct gpu_bench *bench = chain->work.bench;
    bool all = gpu_clock_start(bench);
    for (int k = 0; k < CHAIN_REPLAYS && all; k++)
        all = gpu_good(bench, cudaGraphLaunch(chain->work.graph, bench->streams[0]), "cudaGraphLaunch");
    const double seconds = all ? gpu_clock_stop(bench) : -1;
    return seconds < 0 ? -1 : seconds / (CHAINS * CHAIN_REPLAYS);
}

/* The outputs, and that the consumer has seen them. */
static bool verify(struct chain *chain)
{
    static unsigned out[OUT_NBYTES / sizeof(unsigned)];
    struct gpu_bench *bench = chain->work.bench;
    const struct chain_memory *memory = chain->memory;
    unsigned sums[BENCH_CONSUMER_BLOCKS], difference = 0;
    if (!gpu_good(bench, cudaMemset(memory->d_out, 1, OUT_NBYTES), "cudaMemset") || run_chain(chain) < 0 ||
        !gpu_verify(bench, &chain->work.what, chain->name, memory->symbols, memory->noise_var, SLOT_SYMBOLS,
                    memory->d_out) ||
        !gpu_good(bench, cudaMemcpy(sums, memory->d_sums, sizeof sums, cudaMemcpyDeviceToHost), "cudaMemcpy") ||
        !gpu_good(bench, cudaMemcpy(out, memory->d_out, 16 * chain->out_words, cudaMemcpyDeviceToHost), "cudaMemcpy"))
        return false;
    for (size_t k = 0; k < BENCH_CONSUMER_BLOCKS; k++)
        difference ^= sums[k];
    for (size_t k = 0; k < 4 * chain->out_words; k++)
        difference ^= out[k];
    if (difference == 0)
        return true;
    message_print(chain->name, "the consumer has read other bytes");
    bench->report->failed = true;
    return false;
}

static const char *const middle_names[N_MIDDLES] = {"nothing",           "softqam",
                                                    "copy, long tiles",  "copy, long tiles, programmatic",
                                                    "copy, short tiles", "copy, short tiles, programmatic"};

static void make_chain(struct chain *chain, const struct chain_memory *memory, const struct gpu_work *softqam,
                       int middle)
{
    const struct gpu_case *c = &softqam->what;
    const int copy = middle - FIRST_COPY;
    char name[WHAT_NBYTES];
    gpu_case_name(c, name);
    *chain = (struct chain){.memory = memory, .work = *softqam, .has_work = middle != NOTHING};
    if (copy >= 0)
        chain->work = gpu_work_copy(softqam, (enum bench_copy_shape)(copy / 2), copy % 2);
    chain->in_words = (softqam_input_symbol_nbytes(c->input) + sizeof(float)) * SLOT_SYMBOLS / 16;
    chain->out_words = softqam_output_nbytes(c->output, c->modulation, SLOT_SYMBOLS) / 16;
    snprintf(chain->name, sizeof chain->name, "cuda: chain, %.*s: %s", (int)strcspn(name, ","), name,
             middle_names[middle]);
}

static void report_chain(struct gpu_bench *bench, const struct gpu_case *c, int first)
{
    double us[N_MIDDLES];
    char name[WHAT_NBYTES];
    for (int k = 0; k < N_MIDDLES; k++)
        us[k] = 1e6 * report_median(bench->report, first + k);
    const double plain = fmin(us[FIRST_COPY], us[FIRST_COPY + 2]) - us[NOTHING];
    const double programmatic = fmin(us[FIRST_COPY + 1], us[FIRST_COPY + 3]) - us[NOTHING];
    const double added = us[SOFTQAM] - us[NOTHING];
    const double values[] = {us[NOTHING], added, plain, plain / added, programmatic, programmatic / added};
    gpu_case_name(c, name);
    report_row(bench->report, name, values);
}

static void measure_chain(struct gpu_bench *bench, struct chain_memory *memory, const struct gpu_case *c)
{
    struct chain chains[N_MIDDLES];
    struct contender contenders[N_MIDDLES];
    struct gpu_work softqam;
    bool all = fill(bench, memory, c) && gpu_work_open(bench, c, SLOT_SYMBOLS, &softqam);
    if (!all)
        return;
    int n_made = 0;
    softqam.d_in = memory->d_in;
    softqam.d_noise_var =
        (const float *)(const void *)(memory->d_in + softqam_input_symbol_nbytes(c->input) * SLOT_SYMBOLS);
    softqam.d_out = memory->d_out;
    for (; n_made < N_MIDDLES && all; n_made++) {
        struct chain *chain = &chains[n_made];
        make_chain(chain, memory, &softqam, n_made);
        all = capture(chain) && (n_made != SOFTQAM || verify(chain));
        contenders[n_made] =
            (struct contender){chain->name, run_chain, chain, SLOT_SYMBOLS, SLOT_SYMBOLS * gpu_case_nbytes(c)};
    }
    const int first = all ? report_measure_in_turns(bench->report, contenders, N_MIDDLES) : -1;
    if (first >= 0)
        report_chain(bench, c, first);
    for (int k = 0; k < n_made; k++)
        if (chains[k].work.graph)
            (void)cudaGraphExecDestroy(chains[k].work.graph);
    gpu_work_close(&softqam);
}

void gpu_bench_chain(struct gpu_bench *bench)
{
    static const char *const columns[] = {"without us",     "adds us", "copy adds us", "copy/softqam", "progr. adds us",
                                          "progr./softqam", NULL};
    static const softqam_input_format inputs[] = {SOFTQAM_INPUT_CF32, SOFTQAM_INPUT_CF16};
    struct chain_memory memory = {.symbols = NULL};
    char title[128];
    snprintf(title, sizeof title, "cuda: %s, a slot in a chain, data in cache",
             modulation_get(bench->modulation)->name);
    report_table(bench->report, title, columns);
    if (allocate(bench, &memory)) {
        for (int input = 0; input < 2; input++) {
            for (int output = SOFTQAM_OUTPUT_S8; output <= SOFTQAM_OUTPUT_F32; output++) {
                const struct gpu_case c = {bench->modulation, inputs[input], (softqam_output_format)output,
                                           SOFTQAM_NOISE_PER_SYMBOL};
                measure_chain(bench, &memory, &c);
            }
        }
    } else {
        message_print("cuda", "no memory for a chain");
        bench->report->failed = true;
    }
    release(&memory);
}
