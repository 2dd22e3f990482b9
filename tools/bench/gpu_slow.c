/* SPDX-License-Identifier: MIT */
/* Inputs that may be slow, on the device, all in turns: their speed relative to 28 dB. */
#include <stdio.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"
#include "gpu.h"
#include "slow_inputs.h"

enum { MOST_SYMBOLS = 1 << 24 };

struct slow {
    struct gpu_bench *bench;
    size_t n_symbols;                /* of an input, on the device */
    size_t n_different;              /* after which they repeat */
    float symbols[2 * SLOT_SYMBOLS]; /* of one input, in host memory */
    float noise_var[SLOT_SYMBOLS];
    struct gpu_work works[N_SLOW_INPUTS];
};

static unsigned char *d_symbols(const struct slow *slow, enum slow_input input)
{
    return slow->bench->d_in + (size_t)slow_input_symbols(input) * 8 * slow->n_symbols;
}

static float *d_noise_var(const struct slow *slow, enum slow_input input)
{
    return slow->bench->d_noise_var + (size_t)input * slow->n_symbols;
}

static void fill(struct slow *slow, enum slow_input input)
{
    slow_input_fill(slow_input_symbols(input), slow->bench->modulation, slow->symbols, slow->n_different);
    slow_input_fill_noise(input, slow->noise_var, slow->n_different);
}

/* All inputs, one behind the other in the section's memory. */
static bool fill_device(struct slow *slow)
{
    const size_t n = slow->n_symbols, n_different = slow->n_different;
    bool all = true;
    for (int k = 0; k < N_SLOW_INPUTS && all; k++) {
        const enum slow_input input = (enum slow_input)k;
        fill(slow, input);
        all = gpu_repeat(slow->bench, d_noise_var(slow, input), slow->noise_var, 4 * n_different, 4 * n) &&
              (input >= N_SLOW_SYMBOLS ||
               gpu_repeat(slow->bench, d_symbols(slow, input), slow->symbols, 8 * n_different, 8 * n));
    }
    return all;
}

static void add_input(void *context, struct turns *turns, softqam_output_format output, enum slow_input input)
{
    struct slow *slow = context;
    struct gpu_bench *bench = slow->bench;
    struct gpu_work *work = &slow->works[input];
    const softqam_demodulator_config config =
        bench_config(bench->modulation, SOFTQAM_INPUT_CF32, output, SOFTQAM_NOISE_PER_SYMBOL);
    turns->failed = !gpu_work_open(bench, config, slow->n_symbols, work);
    if (turns->failed)
        return;
    work->d_in = d_symbols(slow, input);
    work->d_noise_var = output == SOFTQAM_OUTPUT_U8 ? NULL : d_noise_var(slow, input);
    const size_t length = strlen(work->name);
    snprintf(work->name + length, sizeof work->name - length, ", %s", slow_input_names[input]);
    gpu_work_add(turns, work);
    fill(slow, input);
    turns->failed = !gpu_good(bench, cudaMemset(bench->d_out, 1, slow->n_different), "cudaMemset") ||
                    !gpu_work_enqueue(work, 0) || !gpu_synchronise(bench) ||
                    !gpu_verify(work, work->name, slow->symbols, slow->noise_var, slow->n_different, bench->d_out);
}

void gpu_bench_slow(struct gpu_bench *bench)
{
    static struct slow slow;
    const size_t n_fitting = bench->n_device_symbols / N_SLOW_INPUTS / 16 * 16;
    char title[64];
    slow.bench = bench;
    slow.n_symbols = n_fitting < MOST_SYMBOLS ? n_fitting : MOST_SYMBOLS;
    slow.n_different = slow.n_symbols < SLOT_SYMBOLS ? slow.n_symbols : SLOT_SYMBOLS;
    if (slow.n_symbols > 0 && fill_device(&slow)) {
        snprintf(title, sizeof title, "cuda: %s, rate relative to 28 dB", modulation_get(bench->modulation)->name);
        slow_input_measure(bench->report, title, bench->modulation, add_input, &slow);
    } else {
        message_print("cuda", "slow inputs could not be measured");
        bench->report->failed = true;
    }
    (void)gpu_fill_noise(bench);
}
