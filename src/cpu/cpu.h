/* SPDX-License-Identifier: MIT */
/* The CPU backend: a table of functions, as gpu.h has one of CUDA's. It knows parameters, segments, loops and threads,
 * but neither context nor demodulator. */
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
    unsigned n_threads;      /* of the pool */
    size_t streaming_nbytes; /* outputs from this size on are stored past the caches */
    char detail[192];        /* one line on what runs */
} softqam_cpu;

typedef struct softqam_cpu_ops {
    /* Chooses the loops' instruction set by the name of a configuration. */
    softqam_status (*create)(softqam_cpu *cpu, const char *variant, softqam_pool *pool);

    /* The loops for a demodulator's parameters. */
    void (*choose_loops)(const softqam_cpu *cpu, softqam_cpu_loops *loops, const softqam_params *params);

    /* Demodulates the symbols of a checked list from `first` to the last, on the threads where they are many. */
    void (*demodulate)(const softqam_cpu *cpu, const softqam_cpu_loops *loops, const softqam_segment_list *list,
                       size_t first);
} softqam_cpu_ops;

extern const softqam_cpu_ops softqam_cpu_backend;

/* softqam_cpu_ops.demodulate. */
void softqam_cpu_demodulate(const softqam_cpu *cpu, const softqam_cpu_loops *loops, const softqam_segment_list *list,
                            size_t first);

#endif
