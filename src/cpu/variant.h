/* SPDX-License-Identifier: MIT */
/* The sets of inner loops: one file per instruction set, listed in variant.c, chosen at run time. */
#ifndef SOFTQAM_CPU_VARIANT_H
#define SOFTQAM_CPU_VARIANT_H

#include <stdbool.h>
#include <stddef.h>

#include "loops.h"

typedef struct softqam_cpu_variant {
    const char *name;
    bool (*runs_here)(void);
    softqam_convert_loop *convert[N_INPUT_FORMATS]; /* by input format */
    softqam_loop *u8[1];
    const softqam_llr_loops *llrs; /* by bits an axis */
    softqam_gold_loops gold;
    softqam_gather_loop *gather;
    softqam_soft_add *add[N_OUTPUT_FORMATS]; /* by output format; NULL: the portable ones */
    size_t min_symbols;                      /* that a loop takes; convert takes any number */
    bool flushes_subnormals;
    size_t short_symbols; /* some 10 us of work: less is done before another thread has woken up */
} softqam_cpu_variant;

/* What runs where; not in the files of instruction sets, which may hold these in code themselves. */
bool softqam_runs_everywhere(void);
bool softqam_has_avx2(void);
bool softqam_has_avx512(void);

/* The portable loops are the definition of correct: every other variant, and CUDA, gives their bytes. */
extern const softqam_cpu_variant softqam_cpu_portable;
extern const softqam_cpu_variant softqam_cpu_avx2;
extern const softqam_cpu_variant softqam_cpu_avx512;
extern const softqam_cpu_variant softqam_cpu_neon;

/* Those in this build, fastest first. */
extern const softqam_cpu_variant *const softqam_cpu_variants[];
extern const size_t softqam_n_cpu_variants;

/* The variant of that name. Without a name, or with an empty one, the one that the environment variable
 * SOFTQAM_CPU_VARIANT names if it runs here, else the fastest that does; *ignored is the variable's value where it
 * names none, else NULL. */
softqam_status softqam_cpu_variant_choose(const softqam_cpu_variant **chosen, const char *name, const char **ignored);

/* A demodulator's loops. */
void softqam_cpu_loops_choose(softqam_cpu_loops *loops, const softqam_cpu_variant *variant,
                              const softqam_params *params);

#endif
