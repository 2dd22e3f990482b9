/* SPDX-License-Identifier: MIT */
/* A caller's configuration, checked and completed. */
#ifndef SOFTQAM_CONFIG_H
#define SOFTQAM_CONFIG_H

#include <softqam/softqam.h>

/* Takes over a caller's configuration, of an older or newer version of the structure, or NULL for the defaults. What
 * comes out is valid and has a number for every zero that stands for a default, and only device may be -1. */
softqam_status softqam_config_resolve(softqam_config *config, const softqam_config *from);

#endif
