/* SPDX-License-Identifier: MIT */
/* The loops that put LLRs into bit planes, in portable C, by the size of an LLR (loops.h). */
#ifndef SOFTQAM_PLANES_H
#define SOFTQAM_PLANES_H

#include "loops.h"

softqam_plane_loop softqam_planes_s8, softqam_planes_f16, softqam_planes_f32;

#endif
