/* SPDX-License-Identifier: MIT */
/* What a run writes: OUTPUT, its metadata where it is a recording, and the report that --stats names. Failures are
 * reported on standard error. */
#ifndef SOFTQAM_TOOLS_DEMOD_OUTPUTS_H
#define SOFTQAM_TOOLS_DEMOD_OUTPUTS_H

#include <stdbool.h>

#include "common/output_file.h"
#include "run.h"

struct demod_outputs {
    struct output_file data, meta, report; /* not opened where they are not wanted */
    struct sha512 *hash;                   /* of the data; NULL for none */
};

/* Opens what is read, and finds the names of what is written: none may be a file that is read, for that would be lost.
 * Also sees that a recording can hold the output. An exit status. */
int demod_open(struct demod_run *run);

/* `how` is or-ed to what the options say. */
bool demod_outputs_open(struct demod_outputs *outputs, struct demod_run *run, unsigned how);

/* After the run: writes the metadata, as of this tool, and all but the report take their names. */
bool demod_outputs_publish(struct demod_outputs *outputs, const struct demod_run *run, const char *tool);

/* Frees what is held; removes what is not kept. */
void demod_outputs_end(struct demod_outputs *outputs, bool keep);

#endif
