/* SPDX-License-Identifier: MIT */
/* Asks for what a loop will read. What lies behind the last symbols is asked for too, which does no harm. */
#ifndef SOFTQAM_CPU_PREFETCH_H
#define SOFTQAM_CPU_PREFETCH_H

#include <stdint.h>

#include "tables.h"

enum { PREFETCH_NBYTES = 2048, LINE_NBYTES = 64 };

static inline __attribute__((always_inline)) void prefetch_ahead(const void *at, unsigned nbytes)
{
    const uintptr_t here = (uintptr_t)at;
    for (unsigned k = 0; k < nbytes; k += LINE_NBYTES)
        __builtin_prefetch((const void *)(here + PREFETCH_NBYTES + k), 0, 3);
}

#endif
