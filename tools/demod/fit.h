/* SPDX-License-Identifier: MIT */
/* Internal to fit.c, cause.c and symbols.c: the first symbols of a run. */
#ifndef SOFTQAM_TOOLS_DEMOD_FIT_H
#define SOFTQAM_TOOLS_DEMOD_FIT_H

#include <math.h>

#include "demod.h"

enum { FIT_MIN_SYMBOLS = 1000 }; /* fewer are too few to say whether they fit */

/* The symbols that are measured, not yet scaled. */
struct fit_view {
    float symbols[2 * FIT_SYMBOLS];
    size_t n;
    uint64_t position;
    double limit;   /* the largest integer and a half: components at it were clipped; infinite for floats */
    double quantum; /* the width over which a component is dithered: 1 for integers, else 0 */
};

/* Returns whether a component lies at an end of its format's range, so that it may have been clipped. */
static inline bool fit_is_limited(const struct fit_view *view, size_t i)
{
    return fabs((double)view->symbols[i] + 0.5) >= view->limit;
}

/* Reads the run's first bytes as symbols of a format. */
void fit_load(const struct demod_run *run, enum file_format format, struct fit_view *view);

/* Both in nats. */
struct fit_measure {
    double fit; /* how much better the modulation explains the symbols than noise does */
    double gap; /* how much better than the modulation any density could; infinite if even a uniform one does */
};

/* Measures the fit of a modulation; with `of_worse` that of the worse axis, because bytes that are read in a wrong
 * format often leave one axis that fits. */
struct fit_measure fit_measure(const struct fit_view *view, softqam_modulation kind, double scale, bool of_worse);

/* Finds the scale at which a modulation fits best. Returns that fit. Scales from 0.97 to 1.39 times that of unit energy
 * are tried, because noise adds to the energy. */
double fit_any_scale(const struct fit_view *view, softqam_modulation modulation, bool of_worse, double *scale);

/* In cause.c: writes " with -i NAME" if the first bytes clearly have another format, else "". */
void fit_describe_format(const struct demod_run *run, char text[256]);

/* In cause.c: warns, and returns false, if something else explains the symbols better than what the command and the
 * recording say. `view` has the symbols as these say. */
bool fit_check(const struct demod_run *run, const struct fit_view *view);

#endif
