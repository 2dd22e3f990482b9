/* SPDX-License-Identifier: MIT */
/* The metadata of an output that is a SigMF recording. Failures are reported on standard error. */
#ifndef SOFTQAM_TOOLS_DEMOD_METADATA_H
#define SOFTQAM_TOOLS_DEMOD_METADATA_H

#include <stdbool.h>

#include "common/output_file.h"
#include "run.h"

/* Of a run that is open: whether SigMF can hold the output, where it is a recording. An exit status. */
int demod_metadata_check(const struct demod_run *run);

/* After the run: writes the metadata. The hash is that of the data; NULL for none. */
bool demod_metadata_write(const struct demod_run *run, const char *tool, struct sha512 *hash, struct output_file *meta);

#endif
