/* SPDX-License-Identifier: MIT */
/* liquid-dsp beside softqam. */
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/message.h"
#include "cpu.h"
#include "oracle.h"

struct liquid_run {
    oracle *liquid;
    const struct cpu_bench *bench;
};

static double run_liquid(void *context)
{
    const struct liquid_run *run = context;
    const double start = clock_seconds();
    oracle_raw_soft_bits(run->liquid, run->bench->symbols, SLOT_SYMBOLS, run->bench->out);
    return clock_seconds() - start;
}

void cpu_measure_liquid(struct cpu_bench *bench)
{
    struct liquid_run run = {oracle_create(), bench};
    char what[64];
    snprintf(what, sizeof what, "cpu: liquid-dsp %s, u8", oracle_version());
    if (run.liquid) {
        report_measure(bench->report, what, SLOT_SYMBOLS, 16 * SLOT_SYMBOLS, -1, run_liquid, &run);
    } else {
        message_print("liquid-dsp", "out of memory");
        bench->report->failed = true;
    }
    oracle_destroy(run.liquid);
}
