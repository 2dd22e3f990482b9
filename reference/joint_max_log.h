/* SPDX-License-Identifier: MIT */
/* The LLRs of two layers that share a resource element, by exhaustive search in double; and the interval in which
 * binary32 must come out, which README.md beside this derives. Positive means bit 0. All functions may be called from
 * any thread. */
#ifndef SOFTQAM_REFERENCE_JOINT_MAX_LOG_H
#define SOFTQAM_REFERENCE_JOINT_MAX_LOG_H

#include "nr_symbol.h"

/* The factor of the bound: README.md. */
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
 * by a search of all pairs of points; or, which gives the same in less time, of all points of layer 0 with all levels
 * of layer 1's I and of its Q. Neither constellation is BPSK. */
void joint_max_log(const nr_constellation *const constellations[2], const joint_sample *sample, bool all_pairs,
                   double llrs[]);

/* Returns a bound on |binary32 - exact| for any of the LLRs, before it is rounded to the output format. */
double joint_max_log_bound(const nr_constellation *const constellations[2], const joint_sample *sample);

#endif
