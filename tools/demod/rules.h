/* SPDX-License-Identifier: MIT */
/* What depends on more than one option of softqam-demod, and on the names of its files. */
#ifndef SOFTQAM_TOOLS_DEMOD_RULES_H
#define SOFTQAM_TOOLS_DEMOD_RULES_H

#include <stdbool.h>

#include "options.h"

/* Completes the options, all of which are parsed, by INPUT's and OUTPUT's names and by each other. False after it has
 * said which of them contradict each other. */
bool demod_rules_complete(struct demod_options *options);

/* Whether OUTPUT's format is one for a modulation, descrambled or not; where that is not so, the subjects say where the
 * two come from. */
bool demod_rules_check_format(const struct demod_options *options, softqam_modulation modulation, bool descrambles,
                              const char *modulation_subject, const char *c_init_subject);

#endif
