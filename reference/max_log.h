/* SPDX-License-Identifier: MIT */
/* Computes the LLRs of a symbol: max-log in double, from the points of the constellation, with the interval in which
 * binary32 must lie, which max_log_bound() derives. Positive means bit 0. All functions may be called from any thread.
 */
#ifndef SOFTQAM_REFERENCE_MAX_LOG_H
#define SOFTQAM_REFERENCE_MAX_LOG_H

#include <stdint.h>

#include "nr_symbol.h"

/* One bit's LLR times the scale: its exact value, which may exceed binary32's range, and the ends, within +-FLT_MAX, of
 * the interval in which binary32 arithmetic must lie. */
typedef struct max_log_llr {
    double value;
    double low;
    double high;
} max_log_llr;

/* Computes the LLRs of a symbol (I and Q) in nats times the scale, b0 first, as many as the constellation has bits:
 *
 *     (min over points with bit 1 of |r - x|^2 - min over those with bit 0) * scale / N0
 *
 * Only pi/2-BPSK uses the symbol's position in its codeword, by its parity. Special values are those of contract.h;
 * there are no gains. If N0 * LLR exceeds FLT_MAX, the LLR is +-FLT_MAX, however large N0 is. */
void max_log_llrs(const nr_constellation *constellation, const float symbol[2], nr_noise noise, float scale,
                  uint64_t position, max_log_llr llrs[]);

/* Computes N0 * LLR of each bit of a finite symbol. */
void max_log_metrics(const nr_constellation *constellation, const float symbol[2], uint64_t position, double metrics[]);

/* Returns a bound on |binary32 - exact| for one LLR that does not overflow: `component` is the I or Q that has the bit
 * (BPSK ignores it), `metric` the exact N0 * LLR, `weight` is scale / N0.
 *
 * For a component v, with u = |v|, e = 2^-24, exact T = N0 * LLR, W = scale / N0 and line S u + C of a row, errors are
 * at most:
 * - line and fma: e (|S| u + |C| + |T|)
 * - a boundary B misplaced by 2 e B, which continues the neighbouring line S' too far: 2 e B |S' - S|
 * - both, over all bits and rows: e (constant + slope u)
 * - BPSK's sum, 2 sqrt(2), their product: 3 e |T|
 * - weight, then the product: 2 e |T| W
 * Products of errors add at most 2^-20 of the sum. With m bits an axis, h = 2^(m-1), slope is 8 h / sqrt(E) and
 * constant 2 ((h + 1)^2 - 1) / E, 0 for QPSK. */
double max_log_bound(const nr_constellation *constellation, double component, double metric, double weight);

/* Before it is weighted, N0 * LLR is wrong by at most (constant + slope * |v|) * 2^-24. */
typedef struct max_log_error {
    double constant;
    double slope;
} max_log_error;

max_log_error max_log_error_of(const nr_constellation *constellation);

/* Rounds an LLR, scaled, to int8 or int16: to the nearest, ties to even, then limited. */
int max_log_to_s8(double llr, int limit);

#endif
