/* SPDX-License-Identifier: MIT */
/* THE arithmetic: what every backend computes, defined once. It is written in the operations of a lane header, which
 * must be included before: lane_scalar.h in portable C, cuda/lane_cuda.cuh on the GPU. README.md beside this derives
 * it.
 *
 * Soft bits: liquid-dsp 1.5's modemcf_demodulate_soft for LIQUID_MODEM_QAM256, byte for byte, in 3GPP order.
 * LLRs: exact max-log. No branch depends on a symbol. */
#ifndef SOFTQAM_ARITHMETIC_H
#define SOFTQAM_ARITHMETIC_H

/* Part of the contract: further out liquid-dsp itself goes wrong (reference/README.md), and what is saturated or not
 * does not change between here and there. */
#define LIMIT_COMPONENT 3.0f

/* FLT_MAX. */
#define LARGEST_FLOAT 0x1.fffffep127f

/* Four soft bytes an axis, the axis's first bit in the lowest byte: b0 b2 b4 b6 and b1 b3 b5 b7. */
typedef struct soft_bits {
    lane_u32 i;
    lane_u32 q;
} soft_bits;

/* One component and its squared distances to what is near it. */
typedef struct axis_distances {
    lane_f32 decided; /* to the level as the decision's own sums left it: may differ from `nearest` in the last bits */
    lane_f32 nearest; /* to the decided level */
    lane_f32 below;   /* to its neighbours; far larger than any other where there is none */
    lane_f32 above;
    lane_u32 marks;
} axis_distances;

LANE lane_f32 squared_difference(lane_f32 a, lane_f32 b)
{
    const lane_f32 difference = lane_sub(a, b);
    return lane_mul(difference, difference);
}

/* The decision: four halvings of the axis, each on the sign of what is left of v. Carries the residue's negative, r,
 * because then "residue > 0" is the sign bit of r alone: r starts as 0 - v and a difference that cancels is +0, so r is
 * never -0, and a residue of zero of either sign goes to the lower half as it must. */
LANE axis_distances measure_axis(const lane_table *table, lane_f32 component)
{
    const lane_f32 v = lane_limit(component, LIMIT_COMPONENT);
    lane_f32 r = lane_sub(0.0f, v);
    for (int k = 0; k < AXIS_BITS; k++)
        r = lane_sub(r, lane_flip(table->steps[k], lane_bits(r)));
    /* What the halvings took away is the decided level, but for the rounding of their sums. */
    const lane_f32 decided = lane_add(v, r);
    const lane_row row = lane_lookup(table, decided);

    axis_distances axis;
    axis.decided = squared_difference(v, decided);
    axis.nearest = squared_difference(v, row.level);
    axis.below = squared_difference(v, row.level_below);
    axis.above = squared_difference(v, row.level_above);
    axis.marks = row.marks;
    return axis;
}

/* The byte of a bit from the squared distances to the nearest points with it flipped and without. Bit 31 of signs: the
 * decided bit is 1. */
LANE lane_u32 soft_byte(const lane_table *table, lane_f32 flipped, lane_f32 agreeing, lane_u32 signs)
{
    const lane_f32 margin = lane_sub(flipped, agreeing);
    return lane_to_byte(lane_add(lane_mul(margin, lane_flip(table->gain, signs)), 127.0f));
}

/* The four bytes of the axis `a`, `b` being the other one and `decided` the squared distance to the decided point. */
LANE lane_u32 axis_bytes(const lane_table *table, const axis_distances *a, const axis_distances *b, lane_f32 decided)
{
    /* The nearest point without the bit flipped is the decided one, or, within an ulp of a decision boundary of the
     * other axis, where liquid-dsp's search finds it too, one that differs on that axis only. The axis's own neighbour
     * on the far side need not be looked at: when it is as near, this bit's margin is 8 alpha^2, far into saturation.
     */
    const lane_f32 beside = lane_add(a->nearest, lane_min(b->below, b->above));
    const lane_f32 agreeing = lane_min(decided, beside);
    return lane_place_bytes(soft_byte(table, lane_add(a->above, b->nearest), agreeing, a->marks),
                            soft_byte(table, lane_add(a->below, b->nearest), agreeing, a->marks << 1), a->marks);
}

/* The soft bits of a symbol. One that is not finite says nothing: 127 eight times. */
LANE soft_bits demodulate_soft_bits(const lane_table *table, lane_f32 i, lane_f32 q)
{
    const axis_distances on_i = measure_axis(table, i);
    const axis_distances on_q = measure_axis(table, q);
    const lane_f32 decided = lane_add(on_i.decided, on_q.decided);
    const lane_mask known = lane_is_finite(i) & lane_is_finite(q);

    soft_bits out;
    out.i = lane_select(known, axis_bytes(table, &on_i, &on_q, decided), 0x7f7f7f7fu);
    out.q = lane_select(known, axis_bytes(table, &on_q, &on_i, decided), 0x7f7f7f7fu);
    return out;
}

/* What turns a squared distance into an LLR. */
typedef struct llr_weight {
    lane_f32 factor;
    lane_mask known; /* the noise variance is one */
} llr_weight;

/* The weight for a noise variance N0, at `scale` steps per nat. The factor is limited so that it never meets a zero as
 * an infinity. */
LANE llr_weight weigh_llrs(float scale, lane_f32 noise_var)
{
    llr_weight weight;
    weight.factor = lane_min(lane_div(scale, noise_var), LARGEST_FLOAT);
    weight.known = lane_is_positive(noise_var);
    return weight;
}

/* Eight LLRs, those of I and those of Q in the order of their bits. */
typedef struct symbol_llrs {
    lane_f32 i[AXIS_BITS];
    lane_f32 q[AXIS_BITS];
} symbol_llrs;

/* The LLRs of an axis, limited to +-limit. */
LANE void axis_llrs(const lane_llr_table *table, lane_f32 component, lane_f32 factor, lane_mask known, float limit,
                    lane_f32 llrs[AXIS_BITS])
{
    const lane_f32 magnitude = lane_abs(component);
    const lane_f32 place = lane_min(lane_mul(magnitude, table->rows_per_unit), LLR_ROWS - 1);
    const lane_llr_row row = lane_llr_lookup(table, lane_to_index(place));
    for (int k = 0; k < AXIS_BITS; k++) {
        lane_f32 distance = lane_fma(row.slopes[k], magnitude, row.intercepts[k]);
        if (k == 0)
            distance = lane_flip(distance, lane_bits(component));
        const lane_f32 llr = lane_limit(lane_mul(distance, factor), limit);
        llrs[k] = lane_float(lane_select(known, lane_bits(llr), 0));
    }
}

/* The LLRs of a symbol; eight zeros when it or its noise variance is not known. Bit 31 of signs: all with the opposite
 * sign. */
LANE symbol_llrs demodulate_llrs(const lane_llr_table *table, lane_f32 i, lane_f32 q, llr_weight weight, lane_u32 signs,
                                 float limit)
{
    const lane_mask known = weight.known & lane_is_finite(i) & lane_is_finite(q);
    const lane_f32 factor = lane_flip(weight.factor, signs);
    symbol_llrs llrs;
    axis_llrs(table, i, factor, known, limit, llrs.i);
    axis_llrs(table, q, factor, known, limit, llrs.q);
    return llrs;
}

/* Four LLRs as bytes in two's complement, rounded to nearest even, the first in the lowest byte. |llr| <= 127. */
LANE lane_u32 llrs_to_bytes(const lane_f32 llrs[AXIS_BITS])
{
    /* Around 1.5 * 2^23 the floats are the integers, so the addition rounds, and its low bits are the result's. */
    const lane_f32 integers = 12582912.0f;
    return lane_pack_bytes(lane_bits(lane_add(llrs[0], integers)), lane_bits(lane_add(llrs[1], integers)),
                           lane_bits(lane_add(llrs[2], integers)), lane_bits(lane_add(llrs[3], integers)));
}

#endif
