/* SPDX-License-Identifier: MIT */
/* Two layers jointly: exact max-log, in the operations of a SIMD header (simd_operations.h), which must be
 * included before. reference/joint_max_log.h derives the error bound. No branch depends on a value.
 *
 * e is the layer whose LLRs are computed, the wanted one, f its partner. A level is given by its amplitude, an odd
 * integer (llr_lines.h). For each point of e, levels a of I and b of Q, the best point of f is the nearest level on
 * each axis of
 *
 *     u = z_f - conj(c) x_e        I: f.i - c.r a - c.i b        Q: f.q - c.r b + c.i a
 *
 * All terms are half of the cost g_e |x_e|^2 + g_f |x_f|^2 + 2 Re(x_e* c x_f) - 2 Re(x_e* z_e + x_f* z_f), in units in
 * which levels are integers. Level 2 k + 1 of f costs F (2 k + 1)^2 - u (2 k + 1) = 2 k (2 F k - v) - v - F with v = u
 * - 2 F, and the best k is v / (4 F), rounded. F is the same for all points, and the sum of both axes' v is linear in a
 * and in b: it is part of the terms of a and of b. If f is QPSK, its best level costs F - |u|. */
#ifndef SOFTQAM_JOINT_ARITHMETIC_H
#define SOFTQAM_JOINT_ARITHMETIC_H

#include "llr_lines.h"

#include "arithmetic.h"

/* Adding ROUNDING_CONSTANT rounds v / (4 F) to an integer k; twice that sum less JOINT_OFFSET is 2 k. */
#define JOINT_OFFSET (2.0f * ROUNDING_CONSTANT)

/* If the sum of the terms of an element, or part of it, reaches 2^112, the element is erased, so that no cost
 * overflows. */
#define JOINT_RANGE 0x1p16f

/* An element as one of its layers sees it. cross_r + i cross_i is conj(h_e) h_f. */
typedef struct joint_element {
    vec_f32 wanted_i, wanted_q, wanted_gain;
    vec_f32 partner_i, partner_q, partner_gain;
    vec_f32 cross_r, cross_i;
} joint_element;

/* The same in the units of levels. */
typedef struct joint_terms {
    vec_f32 gain, i, q;                         /* level a of I costs a (gain a - i), level b of Q b (gain b - q) */
    vec_f32 partner_gain, partner_i, partner_q; /* F; the parts of v, or of u of QPSK, that all points have */
    vec_f32 inverse;                            /* 1 / (4 F); 0 for QPSK */
    vec_f32 cross_r, cross_i;
} joint_terms;

VEC joint_terms joint_terms_of(bool is_qpsk, const softqam_joint_table *table, const joint_element *element)
{
    const vec_f32 wanted_scale = vec_splat(table->wanted_scale), partner_scale = vec_splat(table->partner_scale);
    const vec_f32 cross_scale = vec_splat(table->cross_scale);
    joint_terms terms;
    terms.cross_r = vec_mul(element->cross_r, cross_scale);
    terms.cross_i = vec_mul(element->cross_i, cross_scale);
    terms.gain = vec_mul(element->wanted_gain, vec_splat(table->wanted_gain_scale));
    terms.partner_gain = vec_mul(element->partner_gain, vec_splat(table->partner_gain_scale));
    if (is_qpsk) {
        terms.i = vec_mul(element->wanted_i, wanted_scale);
        terms.q = vec_mul(element->wanted_q, wanted_scale);
        terms.partner_i = vec_mul(element->partner_i, partner_scale);
        terms.partner_q = vec_mul(element->partner_q, partner_scale);
        terms.inverse = vec_splat(0.0f);
        return terms;
    }
    const vec_f32 two_gains = vec_add(terms.partner_gain, terms.partner_gain);
    terms.i = vec_fma(element->wanted_i, wanted_scale, vec_sub(terms.cross_i, terms.cross_r));
    terms.q = vec_fma(element->wanted_q, wanted_scale, -vec_add(terms.cross_i, terms.cross_r));
    terms.partner_i = vec_fma(element->partner_i, partner_scale, -two_gains);
    terms.partner_q = vec_fma(element->partner_q, partner_scale, -two_gains);
    terms.inverse = vec_div_any(vec_splat(0.25f), terms.partner_gain);
    return terms;
}

/* Returns the weight of the element's metrics, 2 scale / sigma^2 or times 1 / sigma^2. It is NaN, which makes an
 * erasure, if sigma^2 is not positive and finite. */
VEC vec_f32 joint_weight(vec_f32 two_scales, vec_f32 given_noise, int is_inverse, vec_f32 noise_bound)
{
    const vec_f32 noise = llr_bounded_noise(given_noise, is_inverse, noise_bound);
    const vec_f32 weight = is_inverse ? vec_mul(two_scales, noise) : vec_div_any(two_scales, noise);
    return vec_choose(vec_is_positive(noise), vec_limit(weight, vec_splat(LARGEST_FLOAT)), vec_splat(NAN));
}

/* Returns the weight, or NaN if a gain is not positive, an input is not finite, or a cost might overflow. */
VEC vec_f32 joint_valid_weight(vec_f32 weight, const joint_element *element, const joint_terms *terms)
{
    const vec_f32 range = vec_splat(JOINT_RANGE), zero = vec_splat(0.0f);
    const vec_mask positive = vec_both(vec_is_positive(element->wanted_gain), vec_is_positive(element->partner_gain));
    vec_f32 sum = vec_mul(terms->gain, range);
    sum = vec_fma(terms->partner_gain, range, sum);
    sum = vec_fma(terms->i, range, sum);
    sum = vec_fma(terms->q, range, sum);
    sum = vec_fma(terms->partner_i, range, sum);
    sum = vec_fma(terms->partner_q, range, sum);
    sum = vec_fma(terms->cross_r, range, sum);
    sum = vec_fma(terms->cross_i, range, sum);
    /* Zero times a number that is not finite is NaN. */
    weight = vec_fma(sum, zero, vec_fma(terms->inverse, zero, weight));
    return vec_choose(positive, weight, vec_splat(NAN));
}

/* Adds to a sum the cost of f's best level on an axis, without the terms that all points share. For QPSK v is u. */
VEC vec_f32 joint_add_partner(bool is_qpsk, const softqam_joint_table *table, const joint_terms *terms, vec_f32 v,
                              vec_f32 sum)
{
    if (is_qpsk)
        return vec_sub(sum, vec_abs(v));
    const vec_f32 rounded = vec_fma(v, terms->inverse, vec_splat(ROUNDING_CONSTANT));
    const vec_f32 k = vec_min(vec_max(rounded, vec_splat(table->first_rounded)), vec_splat(table->last_rounded));
    const vec_f32 two_k = vec_fma(k, vec_splat(2.0f), vec_splat(-JOINT_OFFSET));
    return vec_fma(two_k, vec_fma(terms->partner_gain, two_k, -v), sum);
}

/* Computes the metrics of m bits from the costs of an axis's levels: the least with the bit 1, less the least with the
 * bit 0. */
VEC void joint_axis_metrics(int m, const vec_f32 costs[], vec_f32 metrics[])
{
    VEC_UNROLL
    for (int k = 0; k < m; k++) {
        vec_f32 least[2] = {vec_splat(INFINITY), vec_splat(INFINITY)};
        JOINT_UNROLL
        for (int level = 0; level < 1 << m; level++)
            least[axis_bit(level, m, k)] = vec_min(costs[level], least[axis_bit(level, m, k)]);
        metrics[k] = vec_sub(least[1], least[0]);
    }
}

/* Computes the metrics of a symbol's bits, those of I and of Q: half of sigma^2 times the LLRs. */
VEC void joint_metrics(int m, bool is_qpsk, const softqam_joint_table *table, const joint_terms *terms, vec_f32 of_i[],
                       vec_f32 of_q[])
{
    enum { MAX_LEVELS = 1 << MAX_AXIS_BITS };
    const int n_levels = 1 << m;
    vec_f32 rows[MAX_LEVELS], columns[MAX_LEVELS], bases[MAX_LEVELS];
    JOINT_UNROLL
    for (int j = 0; j < n_levels; j++) {
        const vec_f32 b = vec_splat((float)axis_amplitude(j, m));
        bases[j] = vec_mul(b, vec_fma(terms->gain, b, -terms->q));
        columns[j] = vec_splat(INFINITY);
    }
    for (int i = 0; i < n_levels; i++) {
        const vec_f32 a = vec_splat((float)axis_amplitude(i, m));
        const vec_f32 minus_a = vec_splat((float)-axis_amplitude(i, m));
        /* Never -0, nor is any sum with it, so it does not matter which of two zeros the minimum returns. */
        const vec_f32 base = vec_fma(a, vec_fma(terms->gain, a, -terms->i), vec_splat(0.0f));
        const vec_f32 v_i = vec_fma(minus_a, terms->cross_r, terms->partner_i);
        const vec_f32 v_q = vec_fma(a, terms->cross_i, terms->partner_q);
        vec_f32 row = vec_splat(INFINITY);
        JOINT_UNROLL
        for (int j = 0; j < n_levels; j++) {
            const vec_f32 minus_b = vec_splat((float)-axis_amplitude(j, m));
            vec_f32 cost = joint_add_partner(is_qpsk, table, terms, vec_fma(minus_b, terms->cross_i, v_i), bases[j]);
            cost = joint_add_partner(is_qpsk, table, terms, vec_fma(minus_b, terms->cross_r, v_q), cost);
            row = vec_min(cost, row);
            columns[j] = vec_min(vec_add(cost, base), columns[j]);
        }
        rows[i] = vec_add(row, base);
    }
    joint_axis_metrics(m, rows, of_i);
    joint_axis_metrics(m, columns, of_q);
}

#endif
