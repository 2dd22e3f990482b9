/* SPDX-License-Identifier: MIT */
#ifndef SOFTQAM_CPU_GENERIC_H
#define SOFTQAM_CPU_GENERIC_H

#include "loops.h"

/* The soft bits of the generic variant, which has the portable one's loops besides. */
softqam_loop softqam_generic_soft_bits;

#endif
