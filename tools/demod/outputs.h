/* SPDX-License-Identifier: MIT */
/* What a run writes: OUTPUT, and the report that --stats names. Failures are
 * reported on standard error. */
#ifndef SOFTQAM_TOOLS_DEMOD_OUTPUTS_H
#define SOFTQAM_TOOLS_DEMOD_OUTPUTS_H

#include <stdbool.h>

#include "common/output_file.h"
#include "run.h"

struct demod_outputs {
    struct output_file data, report; /* the report is not opened where it is not wanted */
};

/* Opens what is read, and checks the names of what is written: none may be a file that is read, for that would be lost.
 * An exit status. */
int demod_open(struct demod_run *run);

/* An exit status. */
int demod_outputs_open(struct demod_outputs *outputs, const struct demod_options *options);

/* After the run: OUTPUT takes its name. */
bool demod_outputs_publish(struct demod_outputs *outputs);

/* Frees what is held; removes what is not kept. */
void demod_outputs_end(struct demod_outputs *outputs, bool keep);

#endif
