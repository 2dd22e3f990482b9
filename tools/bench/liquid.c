/* SPDX-License-Identifier: MIT */
/* liquid-dsp beside softqam. */
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/message.h"
#include "cpu.h"
#include "create.h"
#include "oracle.h"
#include "rows.h"

struct liquid_run {
    oracle *liquid;
    const struct cpu_bench *bench;
    const struct bench_samples *samples;
};

static double run_liquid(void *context)
{
    const struct liquid_run *run = context;
    const double start = clock_seconds();
    oracle_raw_soft_bits(run->liquid, run->samples->symbols, SLOT_SYMBOLS, run->bench->out);
    return clock_seconds() - start;
}

void cpu_measure_liquid(struct cpu_bench *bench)
{
    static const char *const columns[] = {"Msym/s", "spread", NULL};
    const struct bench_input input = rows_fading(SOFTQAM_MODULATION_256QAM);
    const struct liquid_run run = {
        oracle_create(), bench,
        bench_samples_get(&bench->pool, &input, SOFTQAM_MODULATION_256QAM, SOFTQAM_INPUT_CF32, SLOT_SYMBOLS)};
    struct report *report = bench->report;
    struct turns turns = {.report = report, .n = 1};
    turns.contenders[0] = (struct contender){"cpu: liquid-dsp, u8", run_liquid,        (void *)&run, NULL,
                                             SLOT_SYMBOLS,          16 * SLOT_SYMBOLS, false};
    turns.failed = !run.liquid || !run.samples;
    const int index = report_measure_in_turns(&turns);
    report_table(report, columns, "cpu: liquid-dsp %s, a slot of 256QAM to u8", oracle_version());
    if (index >= 0)
        report_row(report, "cf32",
                   (double[]){1e-6 * SLOT_SYMBOLS / report_median(report, index), report_spread(report, index)});
    else
        report->failed = true;
    oracle_destroy(run.liquid);
}
