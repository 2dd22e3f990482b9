/* SPDX-License-Identifier: MIT */
/* liquid-dsp beside softqam in softqam-bench. */
#ifndef SOFTQAM_TOOLS_BENCH_LIQUID_H
#define SOFTQAM_TOOLS_BENCH_LIQUID_H

#include <stddef.h>

#include "report.h"

/* liquid-dsp's own soft demodulation of cf32 symbols by one thread, as the reference calls it; nothing in a build
 * without. */
void bench_liquid(struct report *report, const float *symbols, size_t n_symbols);

#endif
