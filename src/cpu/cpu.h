/* SPDX-License-Identifier: MIT */
/* The CPU backend. It knows parameters, segments, loops and threads, but neither context nor demodulator. */
#ifndef SOFTQAM_CPU_H
#define SOFTQAM_CPU_H

#include "loops.h"
#include "segment.h"
#include "thread_pool.h"
#include "variant.h"

/* A context's part of the CPU. */
typedef struct softqam_cpu {
    const softqam_cpu_variant *variant;
    softqam_pool *pool;
    unsigned n_threads; /* threads of the pool */
    char detail[192];   /* one line on what runs */
} softqam_cpu;

/* Fills in a context's part of the CPU. `variant` is the configuration's name of the loops' instruction set, or NULL.
 */
softqam_status softqam_cpu_create(softqam_cpu *cpu, const char *variant, softqam_pool *pool);

/* Says what all parts of a call have in common. */
typedef struct softqam_cpu_call {
    const softqam_cpu_loops *loops;
    const softqam_segment_list *list;
    bool is_worth_flushing; /* the symbols are enough to be worth a change of the processor's mode */
} softqam_cpu_call;

/* Demodulates a segment that a loop takes once its symbols are converted. If it needs more than that, returns false
 * and does nothing. */
bool softqam_cpu_demodulate_converted(const softqam_cpu_call *call, const softqam_segment *segment);

/* Demodulates n symbols of a call from the cursor on, on the calling thread. */
void softqam_cpu_demodulate_part(const softqam_cpu_call *call, softqam_cursor *cursor, size_t n);

/* Demodulates a checked list of at least one symbol, on the pool's threads if the symbols are many. */
void softqam_cpu_demodulate(const softqam_cpu *cpu, const softqam_cpu_loops *loops, const softqam_segment_list *list);

#endif
