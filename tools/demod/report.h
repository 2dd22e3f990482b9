/* SPDX-License-Identifier: MIT */
/* What a finished run says on standard error. */
#ifndef SOFTQAM_TOOLS_DEMOD_REPORT_H
#define SOFTQAM_TOOLS_DEMOD_REPORT_H

#include "run.h"

/* The estimate of the noise variance, what --verify found, and what --stats asks for. */
void demod_report(const struct demod_run *run);

/* Before OUTPUT has its name: what may be wrong with it, unless the run is quiet. False where that is a failure. */
bool demod_warn(const struct demod_run *run, const char *output);

/* What --stats=json asks for, in report_json.c. */
void report_json(const struct demod_run *run);

#endif
