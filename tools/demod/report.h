/* SPDX-License-Identifier: MIT */
/* What a finished run says on standard error. */
#ifndef SOFTQAM_TOOLS_DEMOD_REPORT_H
#define SOFTQAM_TOOLS_DEMOD_REPORT_H

#include "common/output_file.h"
#include "run.h"

/* The estimate of the noise variance, what --verify found, and what --stats asks for, which a file gets where one is
 * open. False where that cannot be written. */
bool demod_report(const struct demod_run *run, struct output_file *file);

/* Before OUTPUT has its name: what may be wrong with it, unless the run is quiet. False where that is a failure. */
bool demod_warn(const struct demod_run *run, const char *output);

/* What --stats=json asks for, in report_json.c. False when memory is short. */
bool report_json(const struct demod_run *run, char *text, size_t nbytes);

#endif
