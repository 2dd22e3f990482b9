/* SPDX-License-Identifier: MIT */
/* The names of what a run writes, none of which may be a file that it reads: that would be lost. */
#ifndef SOFTQAM_TOOLS_DEMOD_NAMES_H
#define SOFTQAM_TOOLS_DEMOD_NAMES_H

#include <limits.h>
#include <stdbool.h>

#include "common/sigmf.h"
#include "options.h"

/* The files of an OUTPUT that is a recording; "" for one that is not, which has the name that was given. */
struct demod_names {
    char data[PATH_MAX];
    char meta[PATH_MAX];
};

/* What a run reads. */
struct demod_sources {
    const struct sigmf_input *recording; /* all zero where INPUT is none */
    int input_fd;
    int noise_fd; /* -1 for none, as the next */
    int bits_fd;
};

/* What to open for OUTPUT's data. */
const char *demod_names_data(const struct demod_names *names, const struct demod_options *options);

/* An exit status, after it has said what is wrong. To be called before anything is opened that is written. */
int demod_names_find(struct demod_names *names, const struct demod_options *options,
                     const struct demod_sources *sources);

#endif
