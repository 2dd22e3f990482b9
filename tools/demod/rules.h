/* SPDX-License-Identifier: MIT */
/* What depends on more than one option of softqam-demod, and on the names of its files. */
#ifndef SOFTQAM_TOOLS_DEMOD_RULES_H
#define SOFTQAM_TOOLS_DEMOD_RULES_H

#include <stdbool.h>

#include "options.h"

enum demod_sigmf { SIGMF_BY_NAME, SIGMF_YES, SIGMF_NO };
enum demod_progress { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

/* Options whose values wait until all options are known. */
struct demod_raw_options {
    const char *input_format;
    const char *output_format;
    const char *noise_option; /* that says where the noise variances come from, as the user knows it; NULL for none */
    const char *llr_scale, *llr_limit;
    enum demod_sigmf sigmf; /* of the output */
    int progress;           /* demod_progress */
};

/* Completes the options, all of which are parsed, by INPUT's and OUTPUT's names and by each other. False after it has
 * said which of them contradict each other. */
bool demod_rules_complete(struct demod_options *options, const struct demod_raw_options *raw);

#endif
