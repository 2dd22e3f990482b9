/* SPDX-License-Identifier: MIT */
/* The time on a clock that never steps, from an arbitrary start. */
#ifndef SOFTQAM_TOOLS_COMMON_CLOCK_H
#define SOFTQAM_TOOLS_COMMON_CLOCK_H

#include <stdint.h>

int64_t clock_nanoseconds(void);

double clock_seconds(void);

#endif
