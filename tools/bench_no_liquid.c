/* SPDX-License-Identifier: MIT */
/* A build without the references. */
#include "bench_liquid.h"

#include "message.h"

void bench_liquid(struct report *report, const float *symbols, size_t n_symbols)
{
    (void)report;
    (void)symbols;
    (void)n_symbols;
    message_print("liquid-dsp", "not measured: this build is without it");
}
