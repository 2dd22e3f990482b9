/* SPDX-License-Identifier: MIT */
/* The arithmetic in fewer steps, for values that a receiver sees: every vector loop computes a batch by these first,
 * and by arithmetic.h if a value was out of their range. The results are the same to the last bit. */
#ifndef SOFTQAM_ARITHMETIC_FAST_H
#define SOFTQAM_ARITHMETIC_FAST_H

#include "arithmetic.h"

/* Soft bytes as piecewise linear functions of the component. In real numbers the margins of an axis are four nested
 * absolute values, because the bits that are not next to a level's own boundaries are saturated either way: with
 *
 *     x0 = v, x1 = 8 alpha - |x0|, x2 = 4 alpha - |x1|, x3 = 2 alpha - |x2|
 *
 * the bit of place k has the soft byte trunc(127 + 4 alpha gain xk), limited to 0 .. 255. They are computed in fixed
 * point, so that all steps but the first are exact. */

typedef struct linear_bits {
    vec_s32 x[U8_AXIS_BITS]; /* components as they lie in memory */
} linear_bits;

VEC linear_bits linear_bits_of(const vec_u8_linear *linear, vec_f32 components)
{
    linear_bits bits;
    bits.x[0] = vec_round_s32(vec_mul(components, linear->units_per_component));
    VEC_UNROLL
    for (int k = 1; k < U8_AXIS_BITS; k++)
        bits.x[k] = vec_sub_s32(linear->fold_points[k - 1], vec_abs_s32(bits.x[k - 1]));
    return bits;
}

/* LLRs. The fast path leaves out what only extreme values need: it does not flush tiny components, and limits s8 by
 * packing alone. It tracks the ranges of a batch's values, by which the loop then decides whether every LLR is
 * exact. */

/* Components from here on, 120 dB above the constellation, are left to the exact path. */
#define FAST_COMPONENT_END 0x1p20f

/* Holds the limits within which the fast path is exact for an output format. */
typedef struct fast_range {
    float min_component; /* 0: any */
    float min_weight;
    float llr_end; /* for a metric times a weight, before rounding */
} fast_range;

/* s8: up to 1.4 * 2^23, sums with ROUNDING_CONSTANT stay positive, so that their bits are in order. s16 is limited as a
 * sum: up to 2^60, a component below TINY_COMPONENT gives 0 steps. For BPSK the limit is 2^34: a tiny component changes
 * I + Q only if the other one is below 2^-38, which also gives 0 steps. f16 and f32: weights exclude an N0 beyond
 * MAX_N0. f32, and f16 with BPSK, must not take a component below TINY_COMPONENT, since its LLR would not be 0. */
static const fast_range fast_range_s8 = {0.0f, 0.0f, 1.4f * 0x1p23f};
static const fast_range fast_range_s16 = {0.0f, 0.0f, 0x1p60f};
static const fast_range fast_range_bpsk_s16 = {0.0f, 0.0f, 0x1p34f};
static const fast_range fast_range_f16 = {0.0f, MIN_INVERSE_N0, LARGEST_HALF};
static const fast_range fast_range_bpsk_f16 = {TINY_COMPONENT, MIN_INVERSE_N0, LARGEST_HALF};
static const fast_range fast_range_f32 = {TINY_COMPONENT, MIN_INVERSE_N0, 0x1p100f};

/* Limited f16: up to this, a component below TINY_COMPONENT gives a zero of its sign. */
#define FAST_LIMITED_F16_END 0x1p36f

/* The steepest line is QPSK's: 2 sqrt(2). */
#define MAX_SLOPE 2.83f

/* Returns a bound of the metrics of all components up to max_component in magnitude. Beyond the last break the first
 * bit's metric is the largest; up to there no metric exceeds 1.5. BPSK (m is 0) adds two components. */
static inline float max_metric(int m, const softqam_llr_table *table, float max_component)
{
    const int last_row = (int)table->last_row;
    const float line = table->slopes[0][last_row] * max_component * (m == 0 ? 2.0f : 1.0f);
    const float metric = (line + table->intercepts[0][last_row]) * 1.001f; /* and rounding errors */
    return metric > 1.5f ? metric : 1.5f;
}

/* Returns whether the fast path is exact for components up to max_component in magnitude and weights up to max_weight;
 * false for NaN. max_scale is the scale of weights for s8 and s16 without gains, else 0: it checks that an N0 beyond
 * MAX_N0, limited or not, gives 0 steps. */
static inline int is_fast_exact(int m, const softqam_llr_table *table, fast_range range, float max_component,
                                float max_weight, float max_scale)
{
    const float metric = max_metric(m, table, max_component);
    return max_component < FAST_COMPONENT_END && metric * max_weight < range.llr_end && metric * max_scale < MAX_N0 / 4;
}

/* The next functions compute weights, gains and row as arithmetic.h does, for values that need no limit. */
VEC vec_f32 fast_weight(vec_f32 scale, vec_f32 noise, int is_inverse)
{
    return is_inverse ? vec_mul(scale, noise) : vec_div(scale, noise);
}

/* Returns the largest gain, and inverse of a gain, that need not be split: their squares, times any scale, are normal
 * numbers. With 1/N0 it is MAX_GAIN: a subnormal 1/N0 may be flushed to zero, and then gives s8 and s16 0 steps either
 * way. */
static inline float fast_max_gain(bool is_n0) { return is_n0 ? 0x1p58f : MAX_GAIN; }

VEC vec_f32 fast_inverse_gain(vec_f32 gain) { return vec_div(vec_splat(1.0f), gain); }

/* Returns the row of a component. If registers have room for rows of negative components, the row includes the sign. */
VEC vec_llr_row fast_row_of(int m, const vec_llr_table *table, vec_f32 component)
{
    if (vec_has_signed_rows(m))
        return vec_llr_row_at(m, table, vec_limit(vec_mul(component, table->row_scale), table->last_row));
    return llr_row_of(m, table, vec_abs(component));
}

/* 16QAM's first bit: a comparison chooses between its two lines. The first one goes through zero. */
typedef struct two_lines {
    vec_f32 second_row; /* the smallest magnitude of the second line */
    vec_f32 slopes[2];
    vec_f32 intercept; /* the second line's, right of zero */
} two_lines;

/* Loads the lines; `scale` is that of the first line's metrics. */
VEC two_lines load_two_lines(const softqam_llr_table *table, float scale)
{
    return (two_lines){vec_splat(table->second_row),
                       {vec_splat(table->slopes[0][0] * scale), vec_splat(table->slopes[0][1])},
                       vec_splat(table->intercepts[0][1])};
}

VEC vec_f32 two_lines_metric(const two_lines *lines, vec_f32 component)
{
    const vec_f32 first = vec_mul(lines->slopes[0], component);
    const vec_f32 second = vec_fma(lines->slopes[1], component, vec_flip(lines->intercept, vec_bits(component)));
    return vec_choose(vec_is_less(vec_abs(component), lines->second_row), first, second);
}

/* The lines of an axis. */
typedef struct axis_lines {
    vec_llr_table table;
    two_lines first; /* BPSK, QPSK and 16QAM have one */
} axis_lines;

/* Computes the metrics of an axis from a component and its row, which 16QAM does not look at. From 64QAM on the first
 * one takes the sign of `first`, the component or its negative, unless rows have signs. */
VEC void fast_metrics(int m, const axis_lines *lines, vec_f32 component, vec_f32 first, vec_llr_row row,
                      vec_f32 metrics[])
{
    const vec_llr_table *table = &lines->table;
    if (m == 1) { /* one line through zero */
        metrics[0] = vec_mul(component, lines->first.slopes[0]);
        return;
    }
    row_metrics(m, table, row, vec_abs(component), first, metrics);
    if (m == 2)
        metrics[0] = two_lines_metric(&lines->first, component);
    else if (vec_has_signed_rows(m))
        metrics[0] = vec_fma(vec_slope(m, table, row, 0), component, vec_intercept(m, table, row, 0));
}

VEC vec_f32 fast_bpsk_metric(const axis_lines *lines, vec_f32 i, vec_f32 q, vec_u32 i_flip)
{
    return vec_mul(vec_add(vec_flip(i, i_flip), q), lines->first.slopes[0]);
}

#endif
