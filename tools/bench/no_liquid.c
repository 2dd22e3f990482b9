/* SPDX-License-Identifier: MIT */
/* In place of liquid.c in a build without liquid-dsp. */
#include "common/message.h"
#include "liquid.h"

void bench_liquid(struct report *report, const float *symbols, size_t n_symbols)
{
    (void)report;
    (void)symbols;
    (void)n_symbols;
    message_print("liquid-dsp", "not measured: this build is without it");
}
