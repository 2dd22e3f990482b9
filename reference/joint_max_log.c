/* SPDX-License-Identifier: MIT */
#include "joint_max_log.h"

#include <math.h>

/* Returns C of a pair of points. */
static double cost_of(const joint_sample *sample, const double x0[2], const double x1[2])
{
    const double c_x1[2] = {sample->cross[0] * x1[0] - sample->cross[1] * x1[1],
                            sample->cross[0] * x1[1] + sample->cross[1] * x1[0]};
    return sample->gains[0] * (x0[0] * x0[0] + x0[1] * x0[1]) + sample->gains[1] * (x1[0] * x1[0] + x1[1] * x1[1]) +
           2 * (x0[0] * c_x1[0] + x0[1] * c_x1[1]) - 2 * (x0[0] * sample->z[0][0] + x0[1] * sample->z[0][1]) -
           2 * (x1[0] * sample->z[1][0] + x1[1] * sample->z[1][1]);
}

/* Finds the least C axis by axis: C is C(x_0, 0) plus a term of x_1's I and a term of its Q. */
static double least_of(const nr_constellation *partner, const joint_sample *sample, const double x0[2])
{
    const double origin[2] = {0, 0}, cost = cost_of(sample, x0, origin);
    double least[2] = {INFINITY, INFINITY};
    for (int label = 0; label < 1 << partner->axis_bits; label++) {
        const double level = nr_coordinate(partner, label), i[2] = {level, 0}, q[2] = {0, level};
        least[0] = fmin(least[0], cost_of(sample, x0, i) - cost);
        least[1] = fmin(least[1], cost_of(sample, x0, q) - cost);
    }
    return cost + least[0] + least[1];
}

void joint_max_log(const nr_constellation *const constellations[2], const joint_sample *sample, double llrs[])
{
    const nr_constellation *wanted = constellations[0];
    double least[NR_MAX_BITS][2];
    for (int b = 0; b < wanted->n_bits; b++)
        least[b][0] = least[b][1] = INFINITY;
    for (int bits = 0; bits < 1 << wanted->n_bits; bits++) {
        double x0[2];
        nr_point(wanted, bits, 0, x0);
        const double cost = least_of(constellations[1], sample, x0);
        for (int b = 0; b < wanted->n_bits; b++) {
            double *of_bit = &least[b][bits >> (wanted->n_bits - 1 - b) & 1];
            *of_bit = fmin(*of_bit, cost);
        }
    }
    for (int b = 0; b < wanted->n_bits; b++)
        llrs[b] = (least[b][1] - least[b][0]) / sample->noise;
}

double joint_max_log_bound(const nr_constellation *const constellations[2], const joint_sample *sample)
{
    double largest[2];
    for (int k = 0; k < 2; k++) /* |x| of the corner */
        largest[k] = sqrt(2) * ((1 << constellations[k]->axis_bits) - 1) / sqrt(constellations[k]->energy);
    const double sum = sample->gains[0] * largest[0] * largest[0] + sample->gains[1] * largest[1] * largest[1] +
                       2 * hypot(sample->cross[0], sample->cross[1]) * largest[0] * largest[1] +
                       2 * hypot(sample->z[0][0], sample->z[0][1]) * largest[0] +
                       2 * hypot(sample->z[1][0], sample->z[1][1]) * largest[1];
    return JOINT_MAX_LOG_FACTOR * 0x1p-24 * sum / sample->noise;
}
