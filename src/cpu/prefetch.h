/* SPDX-License-Identifier: MIT */
/* Asks for what a loop will read. What lies behind the last symbols is asked for too, which does no harm. */
#ifndef SOFTQAM_CPU_PREFETCH_H
#define SOFTQAM_CPU_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

enum { LINE_NBYTES = 64 };

/* The lines of a step of a loop whose symbols are in the second cache. */
static inline __attribute__((always_inline)) void prefetch_inputs(const void *symbols, size_t step_nbytes)
{
    enum { TO_FIRST = 3, NEAR_NBYTES = 2048 };
    for (size_t k = 0; k < step_nbytes; k += LINE_NBYTES)
        __builtin_prefetch((const void *)((uintptr_t)symbols + NEAR_NBYTES + k), 0, TO_FIRST);
}

/* The lines that are written next, a step's part of them. */
static inline __attribute__((always_inline)) void prefetch_outputs(const void *ahead, size_t nbytes)
{
    enum { TO_FIRST = 3 };
    for (size_t k = 0; k < nbytes; k += LINE_NBYTES)
        __builtin_prefetch((const void *)((uintptr_t)ahead + k), 1, TO_FIRST);
}

#endif
