/* SPDX-License-Identifier: MIT */
/* The scrambling sequence c(n) of 3GPP TS 38.211 clause 5.2.1, from its recurrences: forwards only, in steps, so that
 * any place is reached without the algebra of jumps. */
#ifndef SOFTQAM_REFERENCE_NR_SCRAMBLING_H
#define SOFTQAM_REFERENCE_NR_SCRAMBLING_H

#include <stdint.h>

typedef struct nr_scrambling {
    uint32_t x1, x2;   /* the next 31 bits of both sequences, the first lowest */
    uint64_t position; /* n of the first */
} nr_scrambling;

void nr_scrambling_start(nr_scrambling *scrambling, uint32_t c_init);

/* c(first), lowest, to c(first + n - 1), for n up to 31. `first` is no less than in the call before. */
uint32_t nr_scrambling_bits(nr_scrambling *scrambling, uint64_t first, int n);

#endif
