/* SPDX-License-Identifier: MIT */
/* What a run says on standard error: its progress, warnings, and the reports that were asked for. */
#ifndef SOFTQAM_TOOLS_DEMOD_REPORT_H
#define SOFTQAM_TOOLS_DEMOD_REPORT_H

#include "common/output_file.h"
#include "run.h"

struct progress {
    bool shown;
    int64_t n_total; /* symbols; -1 where that is not known */
    double started;
    double next; /* when the line is due again; both are of clock_seconds() */
};

void progress_start(struct progress *progress, bool shown, int64_t n_total);
void progress_update(struct progress *progress, uint64_t n_done);

/* Before OUTPUT has its name: what may be wrong with it, unless the run is quiet. False where that is a failure. */
bool demod_warn(const struct demod_run *run, const char *output);

/* After the run: estimates, what --verify and --compare found, and what --stats asks for, which a file gets where one
 * is open. False where that cannot be written. */
bool demod_report(const struct demod_run *run, struct output_file *file);

#endif
