/* SPDX-License-Identifier: MIT */
/* The interface of the loops that demap layers jointly. They work on the calling thread, on floats at any address, as
 * those of loops.h do. All inputs lie in the order of the symbols in the codeword. */
#ifndef SOFTQAM_CPU_JOINT_LOOPS_H
#define SOFTQAM_CPU_JOINT_LOOPS_H

#include "loops.h"

/* Tells a loop what to do. */
typedef struct softqam_joint_call {
    const softqam_joint_table *table;
    softqam_llr_rules rules;
    bool is_partner_qpsk;
    bool is_noise_inverse;
    bool has_one_noise;   /* one noise value for all symbols */
    size_t n_symbols;     /* softqam_cpu_variant.min_joint_symbols at least */
    const float *symbols; /* I and Q */
    const float *gains;
    const float *noise;
    /* The partners' symbols, gains and noise values; noise values may be NULL. If all are NULL, symbols 2 k and 2 k + 1
     * are partners, and n_symbols is even. */
    const float *partners;
    const float *partner_gains;
    const float *partner_noise;
    /* c in two floats: for each symbol, as its layer sees it; without `partners` for each pair of symbols, as the first
     * one sees it. */
    const float *cross;
    /* The next members are as in softqam_loop_call. */
    unsigned char *out;
    const unsigned char *sequence;
    const ptrdiff_t *planes;
    uint64_t *erased; /* NULL, or where the loop sets bit k % 64 of word k / 64 if symbol k is an erasure */
} softqam_joint_call;

typedef void softqam_joint_loop(const softqam_joint_call *call);

/* The loops of one modulation, the wanted layer's, by format and layout. */
typedef struct softqam_joint_loops {
    softqam_joint_loop *by_format[N_OUTPUT_FORMATS][SOFTQAM_LLR_LAYOUTS];
} softqam_joint_loops;

#endif
