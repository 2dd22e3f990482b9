/* SPDX-License-Identifier: MIT */
/* Internal to fit.c, cause.c and symbols.c: the first symbols of a run. */
#ifndef SOFTQAM_TOOLS_DEMOD_FIT_H
#define SOFTQAM_TOOLS_DEMOD_FIT_H

#include <math.h>

#include "demod.h"

enum { FIT_MIN_SYMBOLS = 1000 }; /* fewer do not show whether they fit */

/* Symbols, before their scale. */
struct fit_view {
    float symbols[2 * FIT_SYMBOLS];
    size_t n;
    uint64_t position;
    double limit;   /* largest component and a half: what is there was clipped; infinite for floats */
    double quantum; /* 1 for integers, over which each is spread: bins are as fine; else 0 */
};

/* Returns whether a component is at an end of its range, to which larger ones were limited. */
static inline bool fit_is_limited(const struct fit_view *view, size_t i)
{
    return fabs((double)view->symbols[i] + 0.5) >= view->limit;
}

/* Reads the run's first bytes as symbols of a format. */
void fit_load(const struct demod_run *run, enum file_format format, struct fit_view *view);

/* The fit of symbols, and the most that any density could gain, infinite if an even spread of components explains them
 * better. */
struct fit_measure {
    double fit, gap;
};

/* Measures the fit of a modulation; with `of_worse` that of the worse axis, for bytes that are read as another format
 * often leave one that looks good. */
struct fit_measure fit_measure(const struct fit_view *view, softqam_modulation kind, double scale, bool of_worse);

/* Returns the best fit of a modulation at any scale near that of unit energy, to which noise adds, and the scale. */
double fit_any_scale(const struct fit_view *view, softqam_modulation modulation, bool of_worse, double *scale);

/* In cause.c: writes "with -i NAME" if the first bytes clearly have another format, else nothing. */
void fit_describe_format(const struct demod_run *run, char text[256]);

/* In cause.c: warns if something else explains the symbols, whose view is as given, better than what the command and
 * the recording say; then false. */
bool fit_check(const struct demod_run *run, const struct fit_view *view);

#endif
