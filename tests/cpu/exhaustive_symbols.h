/* SPDX-License-Identifier: MIT */
/* The symbols of test_exhaustive: sets of bit patterns, at the distance that SOFTQAM_TEST_STRIDE says. */
#ifndef SOFTQAM_TESTS_EXHAUSTIVE_SYMBOLS_H
#define SOFTQAM_TESTS_EXHAUSTIVE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* A set of symbols by number, and of their noise values where those run. */
typedef struct symbols {
    const char *name;
    uint64_t n;
    void (*fill)(const struct symbols *self, uint64_t first, size_t n, void *symbols);
    void (*fill_noise)(const struct symbols *self, uint64_t first, size_t n, float *noise);
    uint32_t fixed;   /* bits of the component that does not run */
    unsigned running; /* 0: I runs, 1: Q */
    uint64_t stride;
    uint32_t offset; /* of the bit patterns */
} symbols;

/* Both components within 16 ulp of a level or a boundary; both at the ends of an exponent. No stride leaves any out. */
extern const symbols near_all, edges_all;

/* I (0) or Q (1) runs through all floats while the other component stays at one of so many values: on a level, on a
 * boundary, zero, outside, near the limit, far out, NaN. */
enum { N_FIXED = 7 };
symbols running_set(unsigned running, int fixed);

/* All noise values, of symbols in turn. */
symbols noise_set(void);

/* All pairs of int16. */
symbols cs16_set(void);

/* Both signs of all magnitudes of I from 2^-13 to 8, Q on a level. */
symbols magnitudes_set(void);

/* Fewer symbols of a set, for references that are slow. */
symbols sparse(symbols set);

#endif
