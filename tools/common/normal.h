/* SPDX-License-Identifier: MIT */
/* The few functions that noise takes, the same to the last bit on every machine: IEEE-754 binary64 with + - * / and
 * sqrt() only, never contracted. The C library's log() and pow() differ between versions. */
#ifndef SOFTQAM_TOOLS_COMMON_NORMAL_H
#define SOFTQAM_TOOLS_COMMON_NORMAL_H

#include <float.h>
#include <stdint.h>

#if FLT_EVAL_METHOD != 0
#error "softqam-gen's output is defined by arithmetic in double that is rounded to double"
#endif

/* Returns the natural logarithm of a positive, normal number; within 1e-15 of the true value, relative. */
double normal_log(double x);

/* Returns 10^(db/10), for |db| up to 300; within 3e-14 of the true value, relative. */
double normal_power_ratio(double db);

/* Returns the 52 high bits of a random number as a uniform variate inside (0, 1): an odd multiple of 2^-53. */
double normal_uniform(uint64_t random);

/* Returns the next number of a pseudo-random sequence: splitmix64. */
static inline uint64_t normal_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Returns the standard normal variate whose cumulative probability is p, 0 < p < 1: algorithm AS 241, PPND16, of M. J.
 * Wichura, "The percentage points of the normal distribution", Applied Statistics 37 (1988) 477-484. */
double normal_quantile(double p);

/* Returns the standard normal variate of the sequence's next number. */
static inline double normal_draw(uint64_t *state) { return normal_quantile(normal_uniform(normal_random(state))); }

#endif
