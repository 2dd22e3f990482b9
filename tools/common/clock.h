/* SPDX-License-Identifier: MIT */
/* The time on a clock that never steps, from an arbitrary start. */
#ifndef SOFTQAM_TOOLS_COMMON_CLOCK_H
#define SOFTQAM_TOOLS_COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline double clock_seconds(void) { return 1e-9 * (double)clock_nanoseconds(); }

#endif
