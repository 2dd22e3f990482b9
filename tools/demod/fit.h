/* SPDX-License-Identifier: MIT */
/* Internal to fit.c and symbols.c: the first symbols of a run. */
#ifndef SOFTQAM_TOOLS_DEMOD_FIT_H
#define SOFTQAM_TOOLS_DEMOD_FIT_H

#include "demod.h"

enum { FIT_MIN_SYMBOLS = 1000 }; /* fewer cannot tell whether they fit */

/* Symbols, before their scale. */
struct fit_view {
    float symbols[2 * FIT_SYMBOLS];
    size_t n;
    uint64_t position;
    double limit;   /* of a component and a half: what is there was clipped; infinite for floats */
    double quantum; /* 1 for integers, over which each is spread: bins are as fine; else 0 */
};

/* Reads the run's first bytes as symbols of a format. */
void fit_load(const struct demod_run *run, enum file_format format, struct fit_view *view);

/* Warns if something else explains the symbols better than what the command and the recording say; then false. */
bool fit_check(const struct demod_run *run);

#endif
