/* SPDX-License-Identifier: MIT */
/* Computes the LLRs of two layers that share a resource element, by exhaustive search in double; and the interval in
 * which binary32 must lie. Positive means bit 0. All functions may be called from
 * any thread. */
#ifndef SOFTQAM_REFERENCE_JOINT_MAX_LOG_H
#define SOFTQAM_REFERENCE_JOINT_MAX_LOG_H

#include "nr_symbol.h"

/* Binary32 is wrong by at most this * 2^-24 / sigma^2 times the sum g_e |x_e|^2 + g_f |x_f|^2 + 2 |c x_e x_f| + 2 |x_e
 * z_e| + 2 |x_f z_f| of the outermost points.
 *
 * In units of levels and halves of the cost C, with the names of src/joint_arithmetic.h: G and F are half of the gains
 * of the wanted layer e and its partner f, base(a) and base(b) the terms of a level alone, v those of f's level on an
 * axis, 2k that level less 1. A and P are the largest levels, Q = P + 1, |c| = |r| + |i|, and V = |z_f| + A |c| + 2 F
 * bounds v of an axis. In units of 2^-24 errors are at most:
 * - base(a): 4 G A^2 + A (4 |z_e.i| + 6 |c|), base(b) likewise
 * - v: 4 V + 2 F; a level's term 2k (F 2k - v): Q (3 F Q + 5 V + 2 F)
 * - a level chosen wrongly: the rounded place x of k differs from v / (4 F) by 3 |x| + (4 V + 2 F) / (4 F); the level
 *   then costs at most 8 F times that too much for each of up to P steps: P (14 V + 4 F)
 * - three sums: 3 times the sum of all magnitudes, G A^2 + A (|z_e.i| + |c|), the same of Q, and Q (F Q + V) of each
 *   axis
 * They are summed over the axes (|z.i| + |z.q| <= sqrt(2) |z|) and divided by the sum above. The cross term has the
 * largest quotient, 40 for 16QAM, where it is larger than for any other partner; a metric is the difference of two
 * costs; weight, difference and product add 3 |LLR|, at most twice 3 of the sum. For QPSK every term is smaller. */
#define JOINT_MAX_LOG_FACTOR 88

/* A resource element after a matched filter: z_k = h_k^H y, g_k = |h_k|^2, c = h_0^H h_1, and the variance sigma^2 of
 * each antenna's noise. Layer 0 is the one whose LLRs are wanted. */
typedef struct joint_sample {
    double z[2][2];
    double gains[2];
    double cross[2];
    double noise;
} joint_sample;

/* Computes (min over x_0 with bit 1 and all x_1 of C - min over x_0 with bit 0 and all x_1) / sigma^2 for each bit of
 * layer 0, b0 first, with
 *
 *     C = g_0 |x_0|^2 + g_1 |x_1|^2 + 2 Re(x_0* c x_1) - 2 Re(x_0* z_0) - 2 Re(x_1* z_1)
 *
 * by a search of all points of layer 0 with all levels of layer 1's I and of its Q, which finds what a search of all
 * pairs does. Neither constellation is BPSK. */
void joint_max_log(const nr_constellation *const constellations[2], const joint_sample *sample, double llrs[]);

/* Returns a bound on |binary32 - exact| for any of the LLRs, before it is rounded to the output format. */
double joint_max_log_bound(const nr_constellation *const constellations[2], const joint_sample *sample);

#endif
