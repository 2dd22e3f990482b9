/* SPDX-License-Identifier: MIT */
/* Inputs that may be slow, all in turns: their speed relative to 28 dB. */
#include <stdio.h>

#include "common/modulation.h"
#include "common/sample_format.h"
#include "cpu_sections.h"
#include "input.h"
#include "slow_inputs.h"

static struct cpu_case case_of(const struct cpu_bench *bench, const char *variant, softqam_output_format output,
                               enum slow_input input)
{
    struct cpu_case c = cpu_case_of(bench, variant, SLOT_SYMBOLS);
    const enum slow_input symbols = input < N_SLOW_SYMBOLS ? input : SLOW_NONE;
    c.output = output;
    c.noise = SOFTQAM_NOISE_PER_SYMBOL;
    c.symbols = bench->other + symbols * (size_t)(8 * SLOT_SYMBOLS);
    c.noise_var = output == SOFTQAM_OUTPUT_U8 ? NULL : bench->other_noise + input * (size_t)SLOT_SYMBOLS;
    return c;
}

/* The inputs of one output format; `ratios` gets the rates relative to the usual one's. */
static void measure_output(struct cpu_bench *bench, const char *variant, softqam_output_format output,
                           double ratios[N_SLOW_INPUTS])
{
    struct cpu_run runs[N_SLOW_INPUTS];
    struct contender contenders[N_SLOW_INPUTS];
    const int n = slow_input_count(output, bench->modulation);
    bool all = true;
    int n_open = 0;
    for (; n_open < n && all; n_open++) {
        struct cpu_case c = case_of(bench, variant, output, (enum slow_input)n_open);
        char what[64];
        snprintf(what, sizeof what, "%s, %s", sample_format_name((enum output_kind)output), slow_input_names[n_open]);
        c.what = what;
        all = cpu_open(bench, &c, &runs[n_open]);
        contenders[n_open] = cpu_contender(&runs[n_open]);
    }
    slow_input_measure(bench->report, contenders, all ? n : 0, ratios);
    for (int input = 0; input < n_open; input++)
        cpu_close(&runs[input]);
}

static void measure_variant(struct cpu_bench *bench, const char *variant)
{
    double ratios[SLOW_OUTPUTS][N_SLOW_INPUTS];
    char title[64];
    for (int output = 0; output < SLOW_OUTPUTS; output++)
        measure_output(bench, variant, (softqam_output_format)output, ratios[output]);
    snprintf(title, sizeof title, "cpu: %s, %s, rate relative to 28 dB", modulation_get(bench->modulation)->name,
             variant);
    slow_input_report(bench->report, title, ratios);
}

void cpu_section_slow(struct cpu_bench *bench)
{
    for (int input = 0; input < N_SLOW_SYMBOLS; input++)
        slow_input_fill((enum slow_input)input, bench->modulation,
                        (float *)(void *)(bench->other + (size_t)input * 8 * SLOT_SYMBOLS), SLOT_SYMBOLS);
    for (int input = 0; input < N_SLOW_INPUTS; input++)
        slow_input_fill_noise((enum slow_input)input, bench->other_noise + (size_t)input * SLOT_SYMBOLS, SLOT_SYMBOLS);
    for (int v = 0; bench->variants[v]; v++)
        if (!cpu_is_spare(bench, bench->variants[v]))
            measure_variant(bench, bench->variants[v]);
}
