/* SPDX-License-Identifier: MIT */
/* How far the work is, on standard error, a few times a second. */
#ifndef SOFTQAM_TOOLS_DEMOD_PROGRESS_H
#define SOFTQAM_TOOLS_DEMOD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool shown;
    int64_t n_total; /* symbols; -1 when not known */
    double started;
    double next; /* when the line is due again; both are of clock_seconds() */
};

void progress_start(struct progress *progress, bool shown, int64_t n_total);
void progress_update(struct progress *progress, uint64_t n_done);

#endif
