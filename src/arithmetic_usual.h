/* SPDX-License-Identifier: MIT */
/* The arithmetic in fewer steps for usual values, as nearly all are that a receiver sees; the vector loops take it
 * where all values of a tile or step are usual. Included after arithmetic.h, whose results it gives to the last bit. */
#ifndef SOFTQAM_ARITHMETIC_USUAL_H
#define SOFTQAM_ARITHMETIC_USUAL_H

#include "arithmetic.h"

/* Soft bytes as piecewise linear functions of the component. In real numbers the margins of an axis are four nested
 * absolute values, because the bits that are not next to a level's own boundaries are saturated either way: with
 *
 *     x0 = v, x1 = 8 alpha - |x0|, x2 = 4 alpha - |x1|, x3 = 2 alpha - |x2|
 *
 * the bit of place k has the soft byte trunc(127 + 4 alpha gain xk), limited to 0 .. 255. They are computed in fixed
 * point, so that all steps but the first are exact. */

typedef struct linear_bits {
    vec_s32 x[SOFT_AXIS_BITS]; /* of components as they lie in memory */
} linear_bits;

VEC linear_bits linear_bits_of(const vec_soft_linear *linear, vec_f32 components)
{
    linear_bits bits;
    bits.x[0] = vec_round_s32(vec_mul(components, linear->units_per_component));
    VEC_UNROLL
    for (int k = 1; k < SOFT_AXIS_BITS; k++)
        bits.x[k] = vec_sub_s32(linear->fold_points[k - 1], vec_abs_s32(bits.x[k - 1]));
    return bits;
}

/* LLRs. What is usual of components tells one operation a register: below 2 the exponent's upper bit is 0, from 2^-63
 * on the next one is 1. The latter matters to f32 alone: in the other formats the LLRs of smaller components are zero
 * either way. What is usual of weights is a range of their bits: up to weight_end no LLR overflows f16 or f32, nor
 * 2^22 before it is rounded to s8. */
typedef struct usual_range {
    uint32_t component_xor; /* after this, a usual component has none of the bits of component_mask */
    uint32_t component_mask;
    float least_weight;
    float weight_end; /* 0: where the largest metric would overflow f16 */
} usual_range;

#define COMPONENT_FROM_2     0x40000000u
#define COMPONENT_BELOW_2_63 0x20000000u /* the complement of the bit; zeros too, which are as usual as others */

static const usual_range usual_range_s8 = {0, COMPONENT_FROM_2, 0.0f, 0x1p19f};
/* Of s16, whose sums are limited whatever they are, LLRs of components below 2^-63 are zero. */
static const usual_range usual_range_s16 = {0, COMPONENT_FROM_2, 0.0f, 0x1p60f};
static const usual_range usual_range_f16 = {0, COMPONENT_FROM_2, 0x1p-40f, 0.0f};
static const usual_range usual_range_f32 = {COMPONENT_BELOW_2_63, COMPONENT_FROM_2 | COMPONENT_BELOW_2_63, 0x1p-40f,
                                            0x1p100f};
/* Of BPSK's sum zeros of either sign may be what is left of smaller components: they are none of usual_range_f16. */
static const usual_range usual_range_bpsk_f16 = {COMPONENT_BELOW_2_63, COMPONENT_FROM_2 | COMPONENT_BELOW_2_63,
                                                 0x1p-40f, 0.0f};

/* The largest metric of components below 2, with m bits an axis (0: BPSK), rounded up. */
static inline float largest_usual_metric(int m)
{
    _Static_assert(MAX_AXIS_BITS == 5, "a metric for each");
    static const float largest[MAX_AXIS_BITS + 1] = {11.4f, 5.7f, 4.3f, 3.8f, 3.6f, 3.5f};
    return largest[m];
}

/* Below this weight no s8 exceeds 2^15 before it is limited, and its lower 16 bits are all of it. */
static inline float narrow_weight_end(int m)
{
    return 0x1p15f / largest_usual_metric(m);
}

/* The rows of usual components, and their metrics. */
VEC vec_llr_row usual_row(int m, const vec_llr_table *table, vec_f32 component)
{
    return vec_llr_row_at_usual(m, table, vec_mul(vec_abs(component), table->rows_per_unit));
}

VEC void usual_metrics(int m, const vec_llr_table *table, vec_f32 component, vec_llr_row row, vec_f32 metrics[])
{
    const vec_f32 magnitude = vec_abs(component);
    if (m == 1) { /* one line through zero */
        metrics[0] = vec_mul(component, vec_only_slope(table));
        return;
    }
    VEC_UNROLL
    for (int k = 0; k < m; k++) {
        metrics[k] = vec_fma(vec_slope(m, table, row, k), magnitude, vec_intercept(m, table, row, k));
        if (k == 0)
            metrics[k] = vec_flip(metrics[k], vec_bits(component));
    }
}

VEC vec_f32 usual_bpsk_metric(const vec_llr_table *table, vec_f32 i, vec_f32 q, vec_u32 turn)
{
    return vec_mul(vec_add(vec_flip(i, turn), q), vec_only_slope(table));
}

#endif
