/* SPDX-License-Identifier: MIT */
/* A slot in a chain: a producer's kernel, softqam, a consumer's kernel in one graph, data in the second cache. What
 * softqam adds to it, and what a copy kernel adds that moves the same bytes in its place. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"
#include "gpu.h"
#include "slow_inputs.h"

enum { CHAINS = 20, CHAIN_REPLAYS = 2, MOST_OUT_NBYTES = MODULATION_MAX_BITS * sizeof(float) };

/* What stands between the producer and the consumer. The copies, in the order of shape and attribute. */
enum { NOTHING, SOFTQAM, FIRST_COPY, N_MIDDLES = FIRST_COPY + 2 * BENCH_N_COPY_SHAPES };

enum { IN_NBYTES = (8 + 4) * SLOT_SYMBOLS, OUT_NBYTES = MOST_OUT_NBYTES * SLOT_SYMBOLS };

/* Symbols, then their noise variances. */
struct chain_memory {
    unsigned char host[IN_NBYTES];
    unsigned char *d_master; /* what the producer reads */
    unsigned char *d_in;     /* what it writes */
    unsigned char *d_out;
    unsigned *d_sums; /* of the consumer */
};

/* One of the graphs that are measured in turns; `work` is the middle of it. */
struct chain {
    const struct chain_memory *memory;
    struct gpu_work work;
    bool has_work;
    char name[WHAT_NBYTES];
};

static bool allocate(struct gpu_bench *bench, struct chain_memory *memory)
{
    const size_t sums_nbytes = BENCH_CONSUMER_BLOCKS * sizeof *memory->d_sums;
    return gpu_good(bench, cudaMalloc((void **)&memory->d_master, IN_NBYTES), "cudaMalloc") &&
           gpu_good(bench, cudaMalloc((void **)&memory->d_in, IN_NBYTES), "cudaMalloc") &&
           gpu_good(bench, cudaMalloc((void **)&memory->d_out, OUT_NBYTES), "cudaMalloc") &&
           gpu_good(bench, cudaMalloc((void **)&memory->d_sums, sums_nbytes), "cudaMalloc");
}

static void release(struct chain_memory *memory)
{
    (void)cudaFree(memory->d_master);
    (void)cudaFree(memory->d_in);
    (void)cudaFree(memory->d_out);
    (void)cudaFree(memory->d_sums);
}

/* Where the noise variances begin. */
static size_t noise_offset(const softqam_demodulator_config *config)
{
    return softqam_input_symbol_nbytes(config->input_format) * SLOT_SYMBOLS;
}

static bool fill(struct gpu_bench *bench, struct chain_memory *memory, const softqam_demodulator_config *config)
{
    float *noise_var = (float *)(void *)(memory->host + noise_offset(config));
    bench_fill(config->modulation, memory->host, SLOT_SYMBOLS, 28.0, config->input_format);
    slow_input_fill_noise(SLOW_NONE, noise_var, SLOT_SYMBOLS);
    return gpu_good(bench, cudaMemcpy(memory->d_master, memory->host, IN_NBYTES, cudaMemcpyHostToDevice), "cudaMemcpy");
}

/* Words of 16 bytes. */
static size_t count_out_words(const struct chain *chain)
{
    return bench_out_nbytes(&chain->work.config, SLOT_SYMBOLS) / 16;
}

static bool enqueue(const void *context, size_t k)
{
    const struct chain *chain = context;
    const struct chain_memory *memory = chain->memory;
    struct gpu_bench *bench = chain->work.bench;
    cudaStream_t stream = bench->streams[0];
    const size_t in_words = (noise_offset(&chain->work.config) + SLOT_SYMBOLS * sizeof(float)) / 16;
    (void)k;
    return gpu_good(bench, bench_producer_kernel(memory->d_master, memory->d_in, in_words, stream),
                    "producer kernel") &&
           (!chain->has_work || gpu_work_enqueue(&chain->work, 0)) &&
           gpu_good(bench, bench_consumer_kernel(memory->d_out, count_out_words(chain), memory->d_sums, stream),
                    "consumer kernel");
}

static double run_chain(void *context)
{
    const struct chain *chain = context;
    return gpu_time_graph(chain->work.bench, chain->work.graph, CHAIN_REPLAYS) / CHAINS;
}

static void close_chain(void *context)
{
    gpu_work_close(&((struct chain *)context)->work);
}

/* The outputs, and that the consumer has seen them. */
static bool verify(struct chain *chain)
{
    static unsigned out[OUT_NBYTES / sizeof(unsigned)];
    struct gpu_bench *bench = chain->work.bench;
    const struct chain_memory *memory = chain->memory;
    const float *noise_var = (const float *)(const void *)(memory->host + noise_offset(&chain->work.config));
    const size_t n_words = count_out_words(chain);
    unsigned sums[BENCH_CONSUMER_BLOCKS], difference = 0;
    if (!gpu_good(bench, cudaMemset(memory->d_out, 1, OUT_NBYTES), "cudaMemset") || run_chain(chain) < 0 ||
        !gpu_verify(&chain->work, chain->name, memory->host, noise_var, SLOT_SYMBOLS, memory->d_out) ||
        !gpu_good(bench, cudaMemcpy(sums, memory->d_sums, sizeof sums, cudaMemcpyDeviceToHost), "cudaMemcpy") ||
        !gpu_good(bench, cudaMemcpy(out, memory->d_out, 16 * n_words, cudaMemcpyDeviceToHost), "cudaMemcpy"))
        return false;
    for (size_t k = 0; k < BENCH_CONSUMER_BLOCKS; k++)
        difference ^= sums[k];
    for (size_t k = 0; k < 4 * n_words; k++)
        difference ^= out[k];
    if (difference == 0)
        return true;
    message_print(chain->name, "the consumer has read other bytes");
    bench->report->failed = true;
    return false;
}

/* The works of all chains: the library's, on the chain's memory, and copies in its place. */
static bool open_works(struct gpu_bench *bench, const struct chain_memory *memory, softqam_demodulator_config config,
                       struct chain chains[N_MIDDLES])
{
    static const char *const names[N_MIDDLES] = {"nothing",           "softqam",
                                                 "copy, long tiles",  "copy, long tiles, programmatic",
                                                 "copy, short tiles", "copy, short tiles, programmatic"};
    struct gpu_work work;
    char name[WHAT_NBYTES];
    if (!gpu_work_open(bench, config, SLOT_SYMBOLS, &work))
        return false;
    work.d_in = memory->d_in;
    work.d_noise_var = (const float *)(const void *)(memory->d_in + noise_offset(&config));
    work.d_out = memory->d_out;
    gpu_config_name(&config, name);
    for (int k = 0; k < N_MIDDLES; k++) {
        const int copy = k < FIRST_COPY ? 0 : k - FIRST_COPY;
        chains[k] = (struct chain){.memory = memory, .has_work = k != NOTHING};
        chains[k].work = k == SOFTQAM ? work : gpu_work_copy(&work, (enum bench_copy_shape)(copy / 2), copy % 2);
        snprintf(chains[k].name, sizeof chains[k].name, "cuda: chain, %.*s: %s", (int)strcspn(name, ","), name,
                 names[k]);
    }
    return true;
}

static void report_chain(struct gpu_bench *bench, const softqam_demodulator_config *config, int first)
{
    double us[N_MIDDLES];
    char name[WHAT_NBYTES];
    for (int k = 0; k < N_MIDDLES; k++)
        us[k] = 1e6 * report_median(bench->report, first + k);
    const double plain = fmin(us[FIRST_COPY], us[FIRST_COPY + 2]) - us[NOTHING];
    const double programmatic = fmin(us[FIRST_COPY + 1], us[FIRST_COPY + 3]) - us[NOTHING];
    const double added = us[SOFTQAM] - us[NOTHING];
    const double values[] = {us[NOTHING], added, plain, plain / added, programmatic, programmatic / added};
    gpu_config_name(config, name);
    report_row(bench->report, name, values);
}

static void measure_chain(struct gpu_bench *bench, struct chain_memory *memory, softqam_demodulator_config config)
{
    struct chain chains[N_MIDDLES];
    struct turns turns = {.report = bench->report};
    if (!fill(bench, memory, &config) || !open_works(bench, memory, config, chains))
        return;
    for (int k = 0; k < N_MIDDLES; k++) {
        struct chain *chain = &chains[k];
        turns.failed = turns.failed || !gpu_capture(bench, CHAINS, enqueue, chain, &chain->work.graph) ||
                       (k == SOFTQAM && !verify(chain));
        turns.contenders[turns.n++] = (struct contender){
            chain->name, run_chain, chain, close_chain, SLOT_SYMBOLS, SLOT_SYMBOLS * bench_symbol_nbytes(&config)};
    }
    const int first = report_measure_in_turns(&turns);
    if (first >= 0)
        report_chain(bench, &config, first);
}

void gpu_bench_chain(struct gpu_bench *bench)
{
    static const char *const columns[] = {"without us",     "adds us", "copy adds us", "copy/softqam", "progr. adds us",
                                          "progr./softqam", NULL};
    static const softqam_input_format inputs[] = {SOFTQAM_INPUT_CF32, SOFTQAM_INPUT_CF16};
    static struct chain_memory memory;
    report_table(bench->report, columns, "cuda: %s, a slot in a chain, data in cache",
                 modulation_get(bench->modulation)->name);
    if (allocate(bench, &memory)) {
        for (int input = 0; input < 2; input++)
            for (int k = 0; k < BENCH_N_LLR_FORMATS; k++)
                measure_chain(
                    bench, &memory,
                    bench_config(bench->modulation, inputs[input], bench_llr_formats[k], SOFTQAM_NOISE_PER_SYMBOL));
    } else {
        message_print("cuda", "no memory for a chain");
        bench->report->failed = true;
    }
    release(&memory);
    memory = (struct chain_memory){.d_master = NULL};
}
