/* SPDX-License-Identifier: MIT */
/* The command line of softqam-demod. */
#ifndef SOFTQAM_TOOLS_DEMOD_OPTIONS_H
#define SOFTQAM_TOOLS_DEMOD_OPTIONS_H

#include <softqam/softqam.h>

#include <stdbool.h>

struct demod_options {
    const char *input;
    const char *output;
    softqam_config config; /* with its input_scale never 0 */
    bool verify;
    bool stats;
    bool quiet;
    bool show_progress;
};

/* What main() does next. */
enum demod_action {
    DEMOD_RUN,
    DEMOD_HELP,
    DEMOD_VERSION,
    DEMOD_WRONG
};

/* DEMOD_WRONG after it has said what is wrong. */
enum demod_action demod_options_parse(int argc, char *const argv[], struct demod_options *options);

extern const char demod_help[];

#endif
