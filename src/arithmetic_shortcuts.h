/* SPDX-License-Identifier: MIT */
/* The arithmetic in fewer steps for nearly all symbols that a receiver sees, for lanes of several symbols, which take
 * these ways where all their symbols allow it. Included after arithmetic.h, whose results they give to the last bit. */
#ifndef SOFTQAM_ARITHMETIC_SHORTCUTS_H
#define SOFTQAM_ARITHMETIC_SHORTCUTS_H

#include "arithmetic.h"

/* A component clear of its level's ends, with the same results as measure_axis() in fewer steps. It is known which
 * level it is, from the component itself. The halvings' only rounding is then that of their first step, which takes 8
 * alpha away: |v| < 16 alpha, and all further differences are exact. Taking it again and back gives that rounding. */
LANE axis_distances measure_inside(const lane_table *table, lane_f32 v)
{
    const lane_row row = lane_lookup(table, v);
    const lane_f32 step = lane_flip(table->steps[0], lane_bits(v));
    const lane_f32 rounded = lane_add(lane_sub(v, step), step);
    return measure_row(v, lane_add(row.level, lane_sub(v, rounded)), row);
}

/* The soft bits of a symbol, both of whose components are clear of their levels' ends; `known` says whether they are.
 * Then no neighbour is as near as the decided point. For lanes of several symbols, most of which are such. */
LANE soft_bits demodulate_inside(const lane_table *table, lane_f32 i, lane_f32 q)
{
    const axis_distances on_i = measure_inside(table, i);
    const axis_distances on_q = measure_inside(table, q);
    const lane_f32 decided = lane_add(on_i.decided, on_q.decided);

    soft_bits out;
    out.i = soften_axis(table, &on_i, &on_q, decided);
    out.q = soften_axis(table, &on_q, &on_i, decided);
    out.known = lane_both(lane_is_less(on_i.nearest, table->inside), lane_is_less(on_q.nearest, table->inside));
    return out;
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
