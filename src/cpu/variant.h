/* SPDX-License-Identifier: MIT */
/* The sets of inner loops, one for each instruction set, chosen at run time. */
#ifndef SOFTQAM_CPU_VARIANT_H
#define SOFTQAM_CPU_VARIANT_H

#include <stdbool.h>
#include <stddef.h>

#include "joint_loops.h"
#include "loops.h"

typedef struct softqam_cpu_variant {
    const char *name;
    bool (*runs_here)(void);
    const softqam_input_loops *input;
    softqam_loop *u8;
    const softqam_llr_loops *llrs[MAX_AXIS_BITS + 1];    /* by bits an axis; NULL: the portable ones */
    const softqam_joint_loops *joint[MAX_AXIS_BITS + 1]; /* likewise; none for BPSK */
    softqam_soft_add *const *add;                        /* by output format; NULL: the portable ones */
    const softqam_gold_loops *gold;
    const softqam_count_loops *count;
    size_t min_joint_symbols; /* the fewest that a loop of joint demapping takes */
    bool flushes_subnormals;
    size_t short_symbols; /* some 10 us of work: less is not worth waking a thread */
} softqam_cpu_variant;

bool softqam_runs_everywhere(void);

/* The portable loops are the definition of correct: every other variant, and CUDA, gives their bytes. */
extern const softqam_cpu_variant softqam_cpu_portable;
extern const softqam_count_loops softqam_count_portable;
extern const softqam_joint_loops *const softqam_joint_portable[MAX_AXIS_BITS + 1];

/* Lists the variants in this build, fastest first. */
extern const softqam_cpu_variant *const softqam_cpu_variants[];
extern const size_t softqam_n_cpu_variants;

/* Chooses the variant of that name. Without a name, or with an empty one, the one that the environment variable
 * SOFTQAM_CPU_VARIANT names if it runs here, else the fastest that does; *ignored is the variable's value if it names
 * none, else NULL. */
softqam_status softqam_cpu_variant_choose(const softqam_cpu_variant **chosen, const char *name, const char **ignored);

/* Chooses a demodulator's loops. A modulation that the variant has no loops for gets the portable ones, which take any
 * call. */
void softqam_cpu_loops_choose(softqam_cpu_loops *loops, const softqam_cpu_variant *variant,
                              const softqam_params *params);

#endif
