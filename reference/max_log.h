/* SPDX-License-Identifier: MIT */
/* What the LLRs of a symbol are: max-log in double, as brute force over the points of the constellation has it, with
 * the interval in which binary32 must come out. README.md beside this derives the interval.
 *
 * Positive means bit 0. LLRs are natural logarithms (nats) times the scale. All functions may be called from any
 * thread. */
#ifndef SOFTQAM_REFERENCE_MAX_LOG_H
#define SOFTQAM_REFERENCE_MAX_LOG_H

#include <stdint.h>

#include "nr_symbol.h"

/* One bit's LLR times the scale. */
typedef struct max_log_llr {
    double value; /* what it is; past what binary32 holds where it must */
    /* What binary32 arithmetic may make of it, both within +-FLT_MAX; the ends are part of it. */
    double low;
    double high;
} max_log_llr;

/* The LLRs of a symbol (I and Q), b0 first, as many as the constellation has bits:
 *
 *     (min over points with bit 1 of |r - x|^2 - min over those with bit 0) * scale / N0
 *
 * `position` is the symbol's in its codeword; only pi/2-BPSK looks at it, at its parity.
 *
 * Special values. All LLRs are exactly zero for a symbol that is not finite and for noise that is zero, negative, NaN
 * or infinite. A component below 2^-63 counts as zero. N0 counts as the nearer end of [2^-100, 2^40] outside it, 1/N0
 * as that of [2^-40, 2^100]. Where N0 * LLR passes FLT_MAX, so does the LLR, however large N0 is: +-FLT_MAX. */
void max_log_llrs(const nr_constellation *constellation, const float symbol[2], nr_noise noise, float scale,
                  uint64_t position, max_log_llr llrs[]);

/* N0 * LLR of each bit of a finite symbol, taken as it is. max_log_metrics() searches I and Q apart, which is the same
 * and fast; max_log_metrics_of_points() searches all points, which is the definition. */
void max_log_metrics(const nr_constellation *constellation, const float symbol[2], uint64_t position, double metrics[]);
void max_log_metrics_of_points(const nr_constellation *constellation, const float symbol[2], uint64_t position,
                               double metrics[]);

/* A bound on |binary32 - exact| for one LLR: `component` is the symbol's I or Q, whichever has the bit (BPSK ignores
 * it), `metric` the exact N0 * LLR, `weight` is scale / N0. Overflow aside, which max_log_llrs() sees to. */
double max_log_bound(const nr_constellation *constellation, double component, double metric, double weight);

/* The two constants of the bound: before it is weighted, N0 * LLR is wrong by at most (constant + slope * |v|) * 2^-24.
 * For QPSK and more bits. */
typedef struct max_log_error {
    double constant;
    double slope;
} max_log_error;

max_log_error max_log_error_of(const nr_constellation *constellation);

/* N0 * LLR as a function of u = |v| is a straight line in each row: row r spans u from 2 r a to 2 (r + 1) a, a being
 * 1/sqrt(energy), and the last one is open. `place` is the bit's on its axis: 0 for b0 and b1, where the LLR takes v's
 * sign besides, 1 for b2 and b3, and so on. The search does without lines; the bound is derived from them. For QPSK and
 * more bits. */
typedef struct max_log_line {
    double slope;
    double intercept;
} max_log_line;

int max_log_rows(const nr_constellation *constellation);
max_log_line max_log_line_at(const nr_constellation *constellation, int row, int place);

/* An LLR, scaled, as int8: to the nearest, ties to even, then limited. */
int max_log_to_s8(double llr, int limit);

#endif
