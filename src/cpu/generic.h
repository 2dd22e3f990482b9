/* SPDX-License-Identifier: MIT */
/* What the generic variant does not share with the portable one. */
#ifndef SOFTQAM_CPU_GENERIC_H
#define SOFTQAM_CPU_GENERIC_H

#include "loops.h"

softqam_loop softqam_generic_soft_bits;

#endif
