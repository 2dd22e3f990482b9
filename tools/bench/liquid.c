/* SPDX-License-Identifier: MIT */
#include "liquid.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/message.h"
#include "oracle.h"

struct liquid_run {
    oracle *liquid;
    const float *symbols;
    size_t n_symbols;
    uint8_t *out;
};

static double run_liquid(void *context)
{
    const struct liquid_run *run = context;
    const double start = clock_seconds();
    oracle_raw_soft_bits(run->liquid, run->symbols, run->n_symbols, run->out);
    return clock_seconds() - start;
}

void bench_liquid(struct report *report, const float *symbols, size_t n_symbols)
{
    struct liquid_run run = {oracle_create(), symbols, n_symbols, malloc(8 * n_symbols)};
    if (run.liquid && run.out) {
        char what[64];
        snprintf(what, sizeof what, "cpu: liquid-dsp %s, u8", oracle_version());
        report_measure(report, what, n_symbols, 16 * n_symbols, -1, run_liquid, &run);
    } else {
        message_print("liquid-dsp", "out of memory");
        report->failed = true;
    }
    free(run.out);
    oracle_destroy(run.liquid);
}
