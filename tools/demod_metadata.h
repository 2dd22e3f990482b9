/* SPDX-License-Identifier: MIT */
/* The names of what a run writes, and the metadata of an output that is a SigMF recording. Failures are reported on
 * standard error. */
#ifndef SOFTQAM_TOOLS_DEMOD_METADATA_H
#define SOFTQAM_TOOLS_DEMOD_METADATA_H

#include <limits.h>
#include <stdbool.h>

#include "demod_run.h"
#include "output_file.h"

struct demod_names {
    char data[PATH_MAX];
    char meta[PATH_MAX]; /* "" for none */
};

/* An exit status. The run is open. Refuses to write over the recording that it reads, and what SigMF cannot hold. */
int demod_metadata_start(const struct demod_run *run, struct demod_names *names);

/* After the run: writes the metadata. The hash is that of the data; NULL for none. */
bool demod_metadata_write(const struct demod_run *run, const char *tool, struct sha512 *hash, struct output_file *meta);

#endif
