/* SPDX-License-Identifier: MIT */
/* Asks for what a loop will read. What lies behind the last symbols is asked for too, which does no harm. */
#ifndef SOFTQAM_CPU_PREFETCH_H
#define SOFTQAM_CPU_PREFETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loops.h"

enum { LINE_NBYTES = 64 };

/* What the steps of a loop that streams ask for, each a little of it, since the first cache has few places for lines on
 * their way, memory's and those that are stored past the caches: from `at` on to the first cache, and so much further
 * on to the second. */
typedef struct prefetch {
    uintptr_t at;
    size_t step_nbytes;
    size_t further_nbytes;
} prefetch;

/* What the call says, a tile before it is converted; else the loop's own symbols, which wait in the second cache. */
static inline __attribute__((always_inline)) prefetch prefetch_of(const softqam_loop_call *call, size_t step_symbols,
                                                                  size_t symbol_nbytes)
{
    enum { NEAR_NBYTES = 1024, FURTHER_NBYTES = 7168 };
    if (call->ahead)
        return (prefetch){(uintptr_t)call->ahead, step_symbols * call->ahead_nbytes, 0};
    return (prefetch){(uintptr_t)call->components + NEAR_NBYTES, step_symbols * symbol_nbytes, FURTHER_NBYTES};
}

/* A step's: no more lines than its symbols take as the loop reads them. A loop that does not stream asks for its own.
 */
static inline __attribute__((always_inline)) void prefetch_step(prefetch *self, const void *symbols, size_t step_nbytes,
                                                                bool streaming)
{
    enum { TO_FIRST = 3, TO_SECOND = 2, NEAR_NBYTES = 2048 };
    const size_t n_lines = (step_nbytes - 1) / LINE_NBYTES + 1;
    const size_t apart = self->step_nbytes / n_lines;
    for (size_t k = 0; k < n_lines; k++) {
        if (!streaming) {
            __builtin_prefetch((const void *)((uintptr_t)symbols + NEAR_NBYTES + k * LINE_NBYTES), 0, TO_FIRST);
            continue;
        }
        __builtin_prefetch((const void *)(self->at + k * apart), 0, TO_FIRST);
        __builtin_prefetch((const void *)(self->at + self->further_nbytes + k * apart), 0, TO_SECOND);
    }
    self->at += self->step_nbytes;
}

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
