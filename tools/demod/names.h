/* SPDX-License-Identifier: MIT */
/* The names of what a run writes, none of which may be a file that it reads: that would be lost. */
#ifndef SOFTQAM_TOOLS_DEMOD_NAMES_H
#define SOFTQAM_TOOLS_DEMOD_NAMES_H

#include <limits.h>
#include <stdbool.h>

#include "options.h"

struct demod_names {
    char data[PATH_MAX]; /* OUTPUT's, or its data's where it is a recording */
    char meta[PATH_MAX]; /* of a recording; else "" */
};

/* INPUT, the noise file, and that of --compare. */
enum { N_DEMOD_SOURCES = 3 };

/* An exit status, after it has said what is wrong. To be called before anything is opened that is written. What is read
 * is open by these descriptors, -1 for none; the metadata's path is "" where INPUT is no recording. */
int demod_names_find(struct demod_names *names, const struct demod_options *options, const char *recording_meta,
                     const int source_fds[N_DEMOD_SOURCES]);

#endif
