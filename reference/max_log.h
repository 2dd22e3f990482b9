/* SPDX-License-Identifier: MIT */
/* What the LLRs of a symbol are: max-log by brute force over the 256 points, in double, with the interval in which
 * binary32 must come out; and the exact log-MAP LLRs that max-log approximates. Built from the formula of 3GPP
 * TS 38.211 clause 5.1.6 and nothing of src/. README.md beside this derives the bound.
 *
 * Positive means bit 0. N0 is the variance of the complex noise. All functions may be called from any thread. */
#ifndef SOFTQAM_REFERENCE_MAX_LOG_H
#define SOFTQAM_REFERENCE_MAX_LOG_H

/* The I or Q of a constellation point, whose four bits are `label`, the first of them highest: b0 b2 b4 b6 make I, b1
 * b3 b5 b7 make Q. */
double max_log_coordinate(int label);

/* One bit's LLR times the scale. */
typedef struct max_log_llr {
    double value; /* what it is; past what binary32 holds where it must */
    /* What binary32 arithmetic may make of it, both within +-FLT_MAX; the ends are part of it. */
    double low;
    double high;
} max_log_llr;

/* The eight LLRs of a symbol (I and Q), b0 first: (min over points with bit 1 of |r - x|^2 - min over those with bit 0)
 * * min(scale / N0, FLT_MAX). All zero, exactly, for a symbol that is not finite and for an N0 that is zero, negative,
 * NaN or infinite. */
void max_log_llrs(const float symbol[2], float noise_var, float scale, max_log_llr llrs[8]);

/* A bound on |binary32 - exact| for one LLR: `component` is the symbol's I or Q, `metric` the exact N0 * LLR, `weight`
 * is min(scale / N0, FLT_MAX). Overflow aside, which max_log_llrs() sees to. */
double max_log_bound(double component, double metric, double weight);

/* N0 * LLR as a function of u = |v| where u is between `number` and number + 1 times 2/sqrt(170), number = 0 .. 7, the
 * last one open: slope * u + intercept. For the bit at a place of its axis, 0 (b0, b1) to 3 (b6, b7); at place 0 it
 * takes v's sign besides. Brute force does without; this is what the bound is derived from. */
typedef struct max_log_segment {
    double slope;
    double intercept;
} max_log_segment;

max_log_segment max_log_segment_at(int number, int place);

/* An LLR, scaled, as int8: to the nearest, ties to even, then limited. */
int max_log_to_s8(double llr, int limit);

/* The exact LLRs, log of the ratio of the sums of exp(-|r - x|^2 / N0), for finite symbols and positive N0. */
void log_map_llrs(const float symbol[2], double noise_var, double llrs[8]);

#endif
