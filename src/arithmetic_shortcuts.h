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

/* Components and factors so small, as those of any receiver are, that no limit is needed on the way to the output
 * format: no LLR of an axis comes near 2^31, 65504 or FLT_MAX. The largest slope is 32 / sqrt(170), no intercept
 * exceeds 224 / 170, so no distance 7.3. */
#define SMALL_COMPONENT  2.4f
#define SMALL_FACTOR_S8  0x1p27f
#define SMALL_FACTOR_F16 0x1p13f
#define SMALL_FACTOR_F32 0x1p100f

/* The number of such a component's row. */
LANE lane_u32 small_row(const lane_llr_table *table, lane_f32 component)
{
    return lane_to_row_small(lane_mul(lane_abs(component), table->rows_per_unit));
}

/* The axis's LLRs of such components and factors, not limited. */
LANE void axis_small_llrs(const lane_llr_table *table, lane_f32 component, lane_u32 number, lane_f32 factor,
                          lane_f32 llrs[AXIS_BITS])
{
    const lane_f32 magnitude = lane_abs(component);
    LANE_UNROLL
    for (int k = 0; k < AXIS_BITS; k++) {
        const lane_llr_line line = lane_llr_lookup_line(table, number, k);
        lane_f32 distance = lane_fma(line.slope, magnitude, line.intercept);
        if (k == 0)
            distance = lane_flip(distance, lane_bits(component));
        llrs[k] = lane_mul(distance, factor);
    }
}

#endif
