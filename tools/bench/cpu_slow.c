/* SPDX-License-Identifier: MIT */
/* Inputs that may be slow: their speed relative to 28 dB. */
#include <stdio.h>

#include "common/modulation.h"
#include "cpu.h"
#include "slow_inputs.h"

struct slow {
    struct cpu_bench *bench;
    const char *variant;
};

static void add_input(void *context, struct turns *turns, softqam_output_format output, enum slow_input input)
{
    const struct slow *slow = context;
    struct cpu_bench *bench = slow->bench;
    struct cpu_case c = cpu_case_of(bench, slow->variant, SLOT_SYMBOLS);
    snprintf(c.what, sizeof c.what, "%s, %s", sample_format_output_name(output), slow_input_names[input]);
    cpu_case_set_output(bench, &c, output, SOFTQAM_NOISE_PER_SYMBOL, SOFTQAM_NOISE_FORM_N0);
    c.symbols = bench->other + slow_input_symbols(input) * (size_t)(8 * SLOT_SYMBOLS);
    if (c.noise_var)
        c.noise_var = bench->other_noise + input * (size_t)SLOT_SYMBOLS;
    cpu_add_case(bench, turns, &c);
}

void cpu_bench_slow(struct cpu_bench *bench)
{
    for (int input = 0; input < N_SLOW_SYMBOLS; input++)
        slow_input_fill((enum slow_input)input, bench->modulation,
                        (float *)(void *)(bench->other + (size_t)input * 8 * SLOT_SYMBOLS), SLOT_SYMBOLS);
    for (int input = 0; input < N_SLOW_INPUTS; input++)
        slow_input_fill_noise((enum slow_input)input, bench->other_noise + (size_t)input * SLOT_SYMBOLS, SLOT_SYMBOLS);
    for (int v = 0; bench->variants[v]; v++) {
        struct slow slow = {bench, bench->variants[v]};
        char title[64];
        if (cpu_is_spare(bench, slow.variant))
            continue;
        snprintf(title, sizeof title, "cpu: %s, %s, rate relative to 28 dB", modulation_get(bench->modulation)->name,
                 slow.variant);
        slow_input_measure(bench->report, title, bench->modulation, add_input, &slow);
    }
}
