/* SPDX-License-Identifier: MIT */
/* The LLRs of one of two layers that are demapped jointly, computed by a thread from its registers. The arithmetic is
 * that of joint_arithmetic.h, but fewer costs are kept at a time, since registers are few. */
#ifndef SOFTQAM_JOINT_SYMBOL_CUH
#define SOFTQAM_JOINT_SYMBOL_CUH

#include "symbol.cuh"

#define JOINT_UNROLL _Pragma("unroll")
#include "joint_arithmetic.h"

/* Columns of points that a thread keeps in registers. More would leave too few registers for several points at once.
 * 256QAM has two such groups of columns, 1024QAM four. */
enum { JOINT_COLUMNS = 8 };

/* The least costs of points with each value of a bit, for the M bits of an axis. */
template <int M> struct least_costs {
    float zero[M];
    float one[M];

    __device__ __forceinline__ least_costs()
    {
#pragma unroll
        for (int k = 0; k < M; k++)
            zero[k] = one[k] = __int_as_float(0x7f800000);
    }

    /* Takes in the least cost of the points of a level. */
    __device__ __forceinline__ void take(int level, float cost)
    {
#pragma unroll
        for (int k = 0; k < M; k++) {
            const bool is_one = axis_bit(level, M, k) != 0;
            zero[k] = is_one ? zero[k] : vec_min(cost, zero[k]);
            one[k] = is_one ? vec_min(cost, one[k]) : one[k];
        }
    }
};

/* Goes through points from column `first` on, as joint_metrics() does. The costs of rows lie in local memory. */
template <int M, bool IS_QPSK>
static __device__ __forceinline__ void take_columns(const softqam_joint_table &table, const joint_terms &terms,
                                                    int first, float (&rows)[1 << M], least_costs<M> &of_q)
{
    constexpr int LEVELS = 1 << M, COLUMNS = LEVELS < JOINT_COLUMNS ? LEVELS : JOINT_COLUMNS + 0;
    float columns[COLUMNS];
    float bases[COLUMNS];
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) {
        const float b = static_cast<float>(axis_amplitude(first + j, M));
        bases[j] = vec_mul(b, vec_fma(terms.gain, b, -terms.q));
        columns[j] = __int_as_float(0x7f800000);
    }
#pragma unroll(M <= 2 ? LEVELS : 1)
    for (int i = 0; i < LEVELS; i++) {
        const float a = static_cast<float>(axis_amplitude(i, M));
        const float base = vec_fma(a, vec_fma(terms.gain, a, -terms.i), 0.0f);
        const float v_i = vec_fma(-a, terms.cross_r, terms.partner_i);
        const float v_q = vec_fma(a, terms.cross_i, terms.partner_q);
        float row = __int_as_float(0x7f800000);
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            const float minus_b = static_cast<float>(-axis_amplitude(first + j, M));
            float cost = joint_add_partner(IS_QPSK, &table, &terms, vec_fma(minus_b, terms.cross_i, v_i), bases[j]);
            cost = joint_add_partner(IS_QPSK, &table, &terms, vec_fma(minus_b, terms.cross_r, v_q), cost);
            row = vec_min(cost, row);
            columns[j] = vec_min(vec_add(cost, base), columns[j]);
        }
        rows[i] = first == 0 ? vec_add(row, base) : vec_min(vec_add(row, base), rows[i]);
    }
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
        of_q.take(first + j, columns[j]);
}

/* Computes a symbol's metrics, b0 first. */
template <int M, bool IS_QPSK>
static __device__ __forceinline__ void joint_metrics_of(const softqam_joint_table &table, const joint_terms &terms,
                                                        float (&metrics)[2 * M])
{
    constexpr int LEVELS = 1 << M;
    least_costs<M> of_i, of_q;
    float rows[LEVELS];
#pragma unroll
    for (int first = 0; first < LEVELS; first += JOINT_COLUMNS)
        take_columns<M, IS_QPSK>(table, terms, first, rows, of_q);
#pragma unroll
    for (int i = 0; i < LEVELS; i++)
        of_i.take(i, rows[i]);
#pragma unroll
    for (int k = 0; k < M; k++) {
        metrics[2 * k] = vec_sub(of_i.one[k], of_i.zero[k]);
        metrics[2 * k + 1] = vec_sub(of_q.one[k], of_q.zero[k]);
    }
}

/* Packs the LLRs of a symbol; bit k of `flips` changes the sign of LLR k. An erasure, whose weight is NaN, is 0. */
template <softqam_output_format FORMAT, int M>
static __device__ __forceinline__ packed_values<symbol_size<FORMAT, M>::WORDS>
joint_values(const float (&metrics)[2 * M], float weight, uint32_t flips, const softqam_llr_limit &limit)
{
    enum { VALUE = symbol_size<FORMAT, M>::VALUE_NBYTES, EACH = 4 / VALUE };
    const vec_mask valid = vec_is_finite(weight);
    packed_values<symbol_size<FORMAT, M>::WORDS> values = {};
#pragma unroll
    for (int k = 0; k < 2 * M; k++) {
        const float metric = vec_flip(metrics[k], flips << (31 - k));
        uint32_t value;
        if (softqam_is_in_steps(FORMAT)) {
            const float most = static_cast<float>(limit.steps);
            const float sum = llr_rounded(metric, weight, ROUNDING_CONSTANT - most, ROUNDING_CONSTANT + most);
            value = valid & (vec_bits(sum) - vec_bits(ROUNDING_CONSTANT));
        } else if (FORMAT == SOFTQAM_OUTPUT_F16) {
            value = valid & __half_as_ushort(__float2half_rn(llr_scaled(metric, weight, limit.llr)));
        } else {
            value = valid & vec_bits(llr_scaled(metric, weight, limit.llr));
        }
        const uint32_t mask = VALUE == 4 ? 0xffffffffu : (1u << 8 * (VALUE % 4)) - 1;
        values.word[k / EACH] |= (value & mask) << 8 * VALUE * (k % EACH);
    }
    return values;
}

/* A layer's symbol, noise value and gain. */
struct joint_layer {
    float2 symbol;
    float noise;
    float gain;
};

/* The numbers that LLRs are computed from: the element as the wanted layer sees it, and both layers' noise values. */
struct joint_inputs {
    joint_element element;
    float noise;
    float partner_noise;
    bool partner_is_wanted; /* if not, partner_noise does not matter */
};

/* Returns the inputs of a layer; `cross` is the conjugate of h of the layer times h of its partner. */
static __device__ __forceinline__ joint_inputs joint_inputs_of(const joint_layer &layer, const joint_layer &partner,
                                                               float2 cross, bool partner_is_wanted)
{
    const joint_element element = {layer.symbol.x,   layer.symbol.y, layer.gain, partner.symbol.x,
                                   partner.symbol.y, partner.gain,   cross.x,    cross.y};
    return {element, layer.noise, partner.noise, partner_is_wanted};
}

/* Returns the weight of a layer's metrics; NaN for an erasure. */
static __device__ __forceinline__ float joint_weight_of(const joint_inputs &inputs, const joint_terms &terms,
                                                        const llr_rules &rules)
{
    const float two_scales = __fmul_rn(2.0f, rules.steps_per_nat);
    const bool is_inverse = rules.noise_is_inverse;
    const float bound = is_inverse ? rules.limit.max_inverse_noise : rules.limit.min_noise;
    float weight = joint_weight(two_scales, inputs.noise, is_inverse, bound);
    if (inputs.partner_is_wanted)
        weight = vec_fma(joint_weight(two_scales, inputs.partner_noise, is_inverse, bound), 0.0f, weight);
    return joint_valid_weight(weight, &inputs.element, &terms);
}

/* Returns the LLRs of a layer, and whether it is an erasure; bit k of `flips` changes the sign of LLR k. */
template <softqam_output_format FORMAT, int M>
static __device__ __forceinline__ packed_values<symbol_size<FORMAT, M>::WORDS>
joint_llrs_of(const joint_inputs &inputs, const softqam_joint_table &table, bool partner_is_qpsk, uint32_t flips,
              const llr_rules &rules, bool &is_erasure)
{
    const joint_terms terms = joint_terms_of(partner_is_qpsk, &table, &inputs.element);
    const float weight = joint_weight_of(inputs, terms, rules);
    is_erasure = vec_is_finite(weight) == 0;
    float metrics[2 * M];
    if (partner_is_qpsk)
        joint_metrics_of<M, true>(table, terms, metrics);
    else
        joint_metrics_of<M, false>(table, terms, metrics);
    return joint_values<FORMAT, M>(metrics, weight, flips, rules.limit);
}

#endif
