/* SPDX-License-Identifier: MIT */
/* A caller's configurations, checked and completed. */
#ifndef SOFTQAM_CONFIG_H
#define SOFTQAM_CONFIG_H

#include <softqam/softqam.h>

/* Checks a caller's configuration, or NULL for the defaults. What comes out has a number for every zero that stands for
 * a default; context may be NULL. */
softqam_status softqam_demodulator_config_resolve(softqam_demodulator_config *config,
                                                  const softqam_demodulator_config *from);

enum { MAX_DEVICES = 64 };

/* The same of a context's; n_threads stays 0 for one a CPU, `device` may be -1, and the arrays are the caller's. */
softqam_status softqam_context_config_resolve(softqam_context_config *config, const softqam_context_config *from);

/* Whether this version demodulates a modulation to a format; `field` names it in the message. */
softqam_status softqam_check_modulation(const char *field, softqam_modulation modulation, softqam_output_format format);

/* Whether a scale, or the 0 for the default, suits a format. In the library's own floating-point environment. */
softqam_status softqam_check_input_scale(const char *field, float input_scale);
softqam_status softqam_check_llr_scale(const char *field, float llr_scale, softqam_output_format format);

#endif
