/* SPDX-License-Identifier: MIT */
/* The arithmetic in fewer steps for nearly all symbols that a receiver sees, for lanes of several symbols, which take
 * these ways where all their symbols allow it. Included after arithmetic.h, whose results they give to the last bit. */
#ifndef SOFTQAM_ARITHMETIC_SHORTCUTS_H
#define SOFTQAM_ARITHMETIC_SHORTCUTS_H

#include "arithmetic.h"

/* Soft bytes as piecewise linear functions of the component. In real numbers the margins of an axis are four nested
 * absolute values, because the bits that are not next to a level's own boundaries are saturated either way: with
 *
 *     x0 = v, x1 = 8 alpha - |x0|, x2 = 4 alpha - |x1|, x3 = 2 alpha - |x2|
 *
 * the bit of place k has the soft byte trunc(127 + 4 alpha gain xk), limited to 0 .. 255. They are computed in fixed
 * point, so that all steps but the first are exact. */

typedef struct linear_bits {
    lane_whole x[AXIS_BITS]; /* of components as they lie in memory */
} linear_bits;

LANE linear_bits demodulate_linear(const lane_linear *linear, lane_f32 components)
{
    linear_bits bits;
    bits.x[0] = lane_round(lane_mul(components, linear->units));
    LANE_UNROLL
    for (int k = 1; k < AXIS_BITS; k++)
        bits.x[k] = lane_sub_s32(linear->turns[k - 1], lane_abs_s32(bits.x[k - 1]));
    return bits;
}

/* Components and factors so small that no LLR of an axis comes near 2^31, as those of any receiver are: then no limit
 * is needed on the way to an integer. The largest slope is 32 / sqrt(170), and no intercept exceeds 224 / 170. */
#define SMALL_COMPONENT 2.4f
#define SMALL_FACTOR    0x1p27f

/* The axis's LLRs of such components and factors, not limited. */
LANE void axis_small_llrs(const lane_llr_table *table, lane_f32 component, lane_f32 factor, lane_f32 llrs[AXIS_BITS])
{
    const lane_f32 magnitude = lane_abs(component);
    const lane_llr_row row = lane_llr_lookup_small(table, lane_mul(magnitude, table->rows_per_unit));
    LANE_UNROLL
    for (int k = 0; k < AXIS_BITS; k++) {
        lane_f32 distance = lane_fma(row.slopes[k], magnitude, row.intercepts[k]);
        if (k == 0)
            distance = lane_flip(distance, lane_bits(component));
        llrs[k] = lane_mul(distance, factor);
    }
}

#endif
