/* SPDX-License-Identifier: MIT */
/* Asks for what a loop will read. What lies behind the last symbols is asked for too, which does no harm. A loop that
 * streams reads memory: its symbols are called into the second cache from far ahead, and from there into the first,
 * which has too few places for lines on their way to wait for memory and for the lines stored past the caches too. */
#ifndef SOFTQAM_CPU_PREFETCH_H
#define SOFTQAM_CPU_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "tables.h"

enum { PREFETCH_NBYTES = 2048, PREFETCH_STREAMING_NBYTES = 1024, PREFETCH_FAR_NBYTES = 8192, LINE_NBYTES = 64 };

static inline __attribute__((always_inline)) void prefetch_ahead(const void *at, unsigned nbytes, bool streaming)
{
    enum { TO_FIRST = 3, TO_SECOND = 2 };
    const uintptr_t here = (uintptr_t)at;
    for (unsigned k = 0; k < nbytes; k += LINE_NBYTES) {
        if (!streaming) {
            __builtin_prefetch((const void *)(here + PREFETCH_NBYTES + k), 0, TO_FIRST);
            continue;
        }
        __builtin_prefetch((const void *)(here + PREFETCH_STREAMING_NBYTES + k), 0, TO_FIRST);
        __builtin_prefetch((const void *)(here + PREFETCH_FAR_NBYTES + k), 0, TO_SECOND);
    }
}

#endif
