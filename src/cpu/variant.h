/* SPDX-License-Identifier: MIT */
/* The CPU backend's inner loops: one file per instruction set, listed in cpu_variant.c, chosen at run time. */
#ifndef SOFTQAM_CPU_VARIANT_H
#define SOFTQAM_CPU_VARIANT_H

#include <stdbool.h>
#include <stddef.h>

#include "plan.h"

/* Demodulates n_symbols that lie side by side, on the calling thread; any alignment. noise_var (one a symbol with
 * noise_stride 1, one for all with 0) matters for LLRs only. */
typedef void softqam_cpu_loop(const softqam_plan *plan, const void *symbols, const float *noise_var,
                              size_t noise_stride, size_t n_symbols, void *out);

typedef struct softqam_cpu_variant {
    const char *name;
    bool (*runs_here)(void);
    softqam_cpu_loop *loop;
    softqam_cpu_loop *streaming_loop; /* the same for output that no cache holds, past the caches; NULL: none such */
    size_t short_symbols;             /* some 10 us of work: less is done before another thread has woken up */
} softqam_cpu_variant;

/* The portable loop is the definition of correct: every other variant, and CUDA, gives its bytes. */
softqam_cpu_loop softqam_cpu_loop_portable;
softqam_cpu_loop softqam_cpu_loop_generic;
softqam_cpu_loop softqam_cpu_loop_avx2;
softqam_cpu_loop softqam_cpu_loop_avx512;
softqam_cpu_loop softqam_cpu_stream_avx2;
softqam_cpu_loop softqam_cpu_stream_avx512;
softqam_cpu_loop softqam_cpu_loop_neon;

/* Those in this build, fastest first. */
extern const softqam_cpu_variant softqam_cpu_variants[];
extern const size_t softqam_n_cpu_variants;

/* The variant of that name; without a name, the one that the environment variable SOFTQAM_CPU_VARIANT names; without
 * that, or with an empty name, the fastest that this processor runs. */
softqam_status softqam_cpu_variant_choose(const softqam_cpu_variant **chosen, const char *name);

#endif
