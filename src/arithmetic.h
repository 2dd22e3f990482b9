/* SPDX-License-Identifier: MIT */
/* THE arithmetic: what every backend computes, defined once. It is written in the operations of a lane header, which
 * must be included before: lane_scalar.h in portable C, lane_avx2.h, lane_avx512.h and lane_neon.h with several symbols
 * in a lane's registers, cuda/lane_cuda.cuh on the GPU. README.md beside this derives it.
 *
 * Soft bits: liquid-dsp 1.5's modemcf_demodulate_soft for LIQUID_MODEM_QAM256, byte for byte, in 3GPP order.
 * LLRs: exact max-log. No branch depends on a symbol. */
#ifndef SOFTQAM_ARITHMETIC_H
#define SOFTQAM_ARITHMETIC_H

#include "axis_table.h"

/* FLT_MAX. */
#define LARGEST_FLOAT 0x1.fffffep127f

/* One component's squared distances to what is near it. */
typedef struct axis_distances {
    lane_f32 decided; /* to the level as the decision's own sums left it: may differ from `nearest` in the last bits */
    lane_f32 nearest; /* to the decided level */
    lane_f32 last;    /* to its neighbour that differs in the last bit */
    lane_f32 other;   /* to its neighbour on the far side; larger than any other where there is none */
    lane_row row;
} axis_distances;

LANE lane_f32 squared_difference(lane_f32 a, lane_f32 b)
{
    const lane_f32 difference = lane_sub(a, b);
    return lane_mul(difference, difference);
}

LANE axis_distances measure_row(lane_f32 v, lane_f32 decided, lane_row row)
{
    axis_distances axis;
    axis.decided = squared_difference(v, decided);
    axis.nearest = squared_difference(v, row.level);
    axis.last = squared_difference(v, row.level_last);
    axis.other = squared_difference(v, row.level_other);
    axis.row = row;
    return axis;
}

/* The decision: four halvings of the axis, each on the sign of what is left of v. Carries the residue's negative, r,
 * because then "residue > 0" is the sign bit of r alone: r starts as 0 - v and a difference that cancels is +0, so r is
 * never -0, and a residue of zero of either sign goes to the lower half as it must. */
LANE axis_distances measure_axis(const lane_table *table, lane_f32 component)
{
    const lane_f32 v = lane_limit(component, lane_splat(LIMIT_COMPONENT));
    lane_f32 r = lane_sub(lane_splat(0.0f), v);
    LANE_UNROLL
    for (int k = 0; k < AXIS_BITS; k++)
        r = lane_sub(r, lane_flip(table->steps[k], lane_bits(r)));
    /* What the halvings took away is the decided level, but for the rounding of their sums. */
    const lane_f32 decided = lane_add(v, r);
    return measure_row(v, decided, lane_lookup(table, decided));
}

/* The two soft bytes of an axis before they are truncated and limited to 0 .. 255, and the row that says where they go
 * and what the sure ones are. */
typedef struct soft_axis {
    lane_f32 last;
    lane_f32 other;
    lane_row row;
} soft_axis;

/* A bit's soft byte from the squared distances to the nearest points with it flipped and without. */
LANE lane_f32 soft_value(lane_f32 flipped, lane_f32 agreeing, lane_f32 gain)
{
    return lane_add(lane_mul(lane_sub(flipped, agreeing), gain), lane_splat(127.0f));
}

/* The axis `a`, `b` being the other one. */
LANE soft_axis soften_axis(const lane_table *table, const axis_distances *a, const axis_distances *b, lane_f32 agreeing)
{
    soft_axis axis;
    axis.last = soft_value(lane_add(a->last, b->nearest), agreeing, lane_gain_last(table, a->row));
    axis.other = soft_value(lane_add(a->other, b->nearest), agreeing, lane_gain_other(table, a->row));
    axis.row = a->row;
    return axis;
}

/* The squared distance to the nearest point that agrees in the soft bits of axis `a`: the decided one, or, within an
 * ulp of a decision boundary of the other axis, where liquid-dsp's search finds it too, one that differs on that axis
 * only. The axis's own neighbour on the far side need not be looked at: when it is as near, this bit's margin is 8
 * alpha^2, far into saturation. */
LANE lane_f32 nearest_agreeing(const axis_distances *a, const axis_distances *b, lane_f32 decided)
{
    return lane_min(decided, lane_add(a->nearest, lane_min(b->last, b->other)));
}

typedef struct soft_bits {
    soft_axis i;
    soft_axis q;
    lane_mask known; /* where not, all eight bytes are 127 */
} soft_bits;

/* The first half of a symbol's soft bits. */
typedef struct symbol_distances {
    axis_distances i;
    axis_distances q;
    lane_mask known; /* the symbol is finite */
} symbol_distances;

LANE symbol_distances measure_symbol(const lane_table *table, lane_f32 i, lane_f32 q)
{
    symbol_distances symbol;
    symbol.i = measure_axis(table, i);
    symbol.q = measure_axis(table, q);
    symbol.known = lane_both(lane_is_finite(i), lane_is_finite(q));
    return symbol;
}

LANE soft_bits soften_symbol(const lane_table *table, const symbol_distances *symbol)
{
    const axis_distances *i = &symbol->i;
    const axis_distances *q = &symbol->q;
    const lane_f32 decided = lane_add(i->decided, q->decided);

    soft_bits out;
    out.i = soften_axis(table, i, q, nearest_agreeing(i, q, decided));
    out.q = soften_axis(table, q, i, nearest_agreeing(q, i, decided));
    out.known = symbol->known;
    return out;
}

/* The soft bits of a symbol. One that is not finite says nothing. */
LANE soft_bits demodulate_soft_bits(const lane_table *table, lane_f32 i, lane_f32 q)
{
    const symbol_distances symbol = measure_symbol(table, i, q);
    return soften_symbol(table, &symbol);
}

/* What turns a squared distance into an LLR. */
typedef struct llr_weight {
    lane_f32 factor;
    lane_mask known; /* the noise variance is one */
} llr_weight;

/* The weight for a noise variance N0, at `scale` steps per nat. The factor is limited so that it never meets a zero as
 * an infinity. */
LANE llr_weight weigh_llrs(lane_f32 scale, lane_f32 noise_var)
{
    llr_weight weight;
    weight.factor = lane_min(lane_div(scale, noise_var), lane_splat(LARGEST_FLOAT));
    weight.known = lane_is_positive(noise_var);
    return weight;
}

/* Eight LLRs, those of I and those of Q in the order of their bits. */
typedef struct symbol_llrs {
    lane_f32 i[AXIS_BITS];
    lane_f32 q[AXIS_BITS];
    lane_mask known; /* where not, all eight are 0, whatever stands here */
} symbol_llrs;

/* The LLRs of an axis, limited to +-limit. */
LANE void axis_llrs(const lane_llr_table *table, lane_f32 component, lane_f32 factor, lane_f32 limit,
                    lane_f32 llrs[AXIS_BITS])
{
    const lane_f32 magnitude = lane_abs(component);
    const lane_f32 place = lane_min(lane_mul(magnitude, table->rows_per_unit), lane_splat(LLR_ROWS - 1));
    const lane_llr_row row = lane_llr_lookup(table, lane_to_index(place));
    LANE_UNROLL
    for (int k = 0; k < AXIS_BITS; k++) {
        lane_f32 distance = lane_fma(row.slopes[k], magnitude, row.intercepts[k]);
        if (k == 0)
            distance = lane_flip(distance, lane_bits(component));
        llrs[k] = lane_limit(lane_mul(distance, factor), limit);
    }
}

/* The LLRs of a symbol. Bit 31 of signs: all with the opposite sign. */
LANE symbol_llrs demodulate_llrs(const lane_llr_table *table, lane_f32 i, lane_f32 q, llr_weight weight, lane_u32 signs,
                                 lane_f32 limit)
{
    const lane_f32 factor = lane_flip(weight.factor, signs);
    symbol_llrs llrs;
    axis_llrs(table, i, factor, limit, llrs.i);
    axis_llrs(table, q, factor, limit, llrs.q);
    llrs.known = lane_both(weight.known, lane_both(lane_is_finite(i), lane_is_finite(q)));
    return llrs;
}

#endif
