/* SPDX-License-Identifier: MIT */
/* Inputs that may be slow, on the device, all in turns: their speed relative to 28 dB. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"
#include "gpu_case.h"
#include "slow_inputs.h"

enum { MOST_SYMBOLS = 1 << 24 };

struct slow {
    struct gpu_bench *bench;
    size_t n_symbols;   /* of an input, on the device */
    size_t n_different; /* after which they repeat */
    float *symbols;     /* of one input, in host memory */
    float *noise_var;
};

static const unsigned char *d_symbols(const struct slow *slow, enum slow_input input)
{
    const enum slow_input symbols = input < N_SLOW_SYMBOLS ? input : SLOW_NONE;
    return slow->bench->d_in + (size_t)symbols * 8 * slow->n_symbols;
}

static float *d_noise_var(const struct slow *slow, enum slow_input input)
{
    return slow->bench->d_noise_var + (size_t)input * slow->n_symbols;
}

static void fill(const struct slow *slow, enum slow_input input)
{
    slow_input_fill(input < N_SLOW_SYMBOLS ? input : SLOW_NONE, slow->bench->modulation, slow->symbols,
                    slow->n_different);
    slow_input_fill_noise(input, slow->noise_var, slow->n_different);
}

/* All inputs, one behind the other in the section's memory. */
static bool fill_device(const struct slow *slow)
{
    bool all = true;
    for (int k = 0; k < N_SLOW_INPUTS && all; k++) {
        const enum slow_input input = (enum slow_input)k;
        fill(slow, input);
        all = gpu_repeat(slow->bench, d_noise_var(slow, input), slow->noise_var, 4 * slow->n_different,
                         4 * slow->n_symbols) &&
              (input >= N_SLOW_SYMBOLS || gpu_repeat(slow->bench, slow->bench->d_in + (size_t)k * 8 * slow->n_symbols,
                                                     slow->symbols, 8 * slow->n_different, 8 * slow->n_symbols));
    }
    return all;
}

/* False where it cannot be measured. */
static bool open_input(const struct slow *slow, const struct gpu_case *c, enum slow_input input, struct gpu_work *work)
{
    struct gpu_bench *bench = slow->bench;
    if (!gpu_work_open(bench, c, slow->n_symbols, work))
        return false;
    work->d_in = d_symbols(slow, input);
    work->d_noise_var = c->output == SOFTQAM_OUTPUT_U8 ? NULL : d_noise_var(slow, input);
    const size_t length = strlen(work->name);
    snprintf(work->name + length, sizeof work->name - length, ", %s", slow_input_names[input]);
    fill(slow, input);
    return gpu_good(bench, cudaMemset(bench->d_out, 1, slow->n_different), "cudaMemset") && gpu_work_enqueue(work, 0) &&
           gpu_good(bench, cudaStreamSynchronize(bench->streams[0]), "cudaStreamSynchronize") &&
           gpu_verify(bench, c, work->name, slow->symbols, slow->noise_var, slow->n_different, bench->d_out);
}

static void measure_output(const struct slow *slow, softqam_output_format output, double ratios[N_SLOW_INPUTS])
{
    struct gpu_bench *bench = slow->bench;
    const struct gpu_case c = {bench->modulation, SOFTQAM_INPUT_CF32, output, SOFTQAM_NOISE_PER_SYMBOL};
    const int n = slow_input_count(output, bench->modulation);
    struct gpu_work works[N_SLOW_INPUTS];
    struct contender contenders[N_SLOW_INPUTS];
    bool all = true;
    int n_open = 0;
    for (; n_open < n && all; n_open++) {
        all = open_input(slow, &c, (enum slow_input)n_open, &works[n_open]);
        contenders[n_open] = gpu_work_contender(&works[n_open]);
    }
    slow_input_measure(bench->report, contenders, all ? n : 0, ratios);
    for (int input = 0; input < n_open; input++)
        gpu_work_close(&works[input]);
}

void gpu_bench_slow(struct gpu_bench *bench)
{
    const size_t n_fitting = bench->n_device_symbols / N_SLOW_INPUTS / 16 * 16;
    struct slow slow = {.bench = bench, .n_symbols = n_fitting < MOST_SYMBOLS ? n_fitting : MOST_SYMBOLS};
    double ratios[SLOW_OUTPUTS][N_SLOW_INPUTS];
    char title[64];
    slow.n_different = slow.n_symbols < SLOT_SYMBOLS ? slow.n_symbols : SLOT_SYMBOLS;
    slow.symbols = malloc(8 * slow.n_different + 8);
    slow.noise_var = malloc(4 * slow.n_different + 4);
    if (slow.n_symbols > 0 && slow.symbols && slow.noise_var && fill_device(&slow)) {
        for (int output = 0; output < SLOW_OUTPUTS; output++)
            measure_output(&slow, (softqam_output_format)output, ratios[output]);
        snprintf(title, sizeof title, "cuda: %s, rate relative to 28 dB", modulation_get(bench->modulation)->name);
        slow_input_report(bench->report, title, ratios);
    } else {
        message_print("cuda", "slow inputs could not be measured");
        bench->report->failed = true;
    }
    free(slow.symbols);
    free(slow.noise_var);
    (void)gpu_fill_noise(bench);
}
