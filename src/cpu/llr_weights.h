/* SPDX-License-Identifier: MIT */
/* The weights and gains of an iteration of a vector loop of llr_loops.c, and the ranges of a batch's values, which say
 * whether its fast path was exact. */
#ifndef SOFTQAM_CPU_LLR_WEIGHTS_H
#define SOFTQAM_CPU_LLR_WEIGHTS_H

#include "llr_constants.h"

/* Says where an iteration's symbols and noise lie and where its LLRs go. */
typedef struct llr_position {
    const float *components;
    const float *noise;
    unsigned char *out;
    size_t bit;          /* bit of the scrambling sequence */
    unsigned is_odd;     /* 1 if an odd number of symbols precedes */
    size_t n_few;        /* number of symbols if they are few */
    size_t noise_stride; /* from a symbol's noise value to the next one's: 1, or 0 if there is one weight */
} llr_position;

/* The ranges of a fast batch's values, as bits. */
typedef struct batch_ranges {
    vec_u32 magnitudes;    /* the largest component, or all bits that any metric has if these are tracked */
    vec_u32 min_component; /* the smallest nonzero component, less 1: a zero becomes the largest number */
    vec_u32 max_weight;    /* less weight_base */
    vec_u32 max_gain;      /* the largest gain or inverse of a gain */
} batch_ranges;

VEC void track_components(softqam_output_format output, batch_ranges *ranges, vec_f32 a, vec_f32 b)
{
    const vec_u32 of_a = vec_bits(vec_abs(a)), of_b = vec_bits(vec_abs(b)), one = vec_splat_u32(1);
    if (!are_metrics_tracked(output))
        ranges->magnitudes = vec_max_u32(ranges->magnitudes, vec_max_u32(of_a, of_b));
    if (fast_range_of(output).min_component == 0.0f)
        return;
    ranges->min_component =
        vec_min_u32(vec_min_u32(ranges->min_component, vec_sub_u32(of_a, one)), vec_sub_u32(of_b, one));
}

VEC void track_metric(softqam_output_format output, batch_ranges *ranges, vec_f32 metric)
{
    if (are_metrics_tracked(output))
        ranges->magnitudes = vec_or_u32(ranges->magnitudes, vec_bits(metric));
}

VEC const float *gains_of(const llr_constants *constants, const float *noise)
{
    return (const float *)(const void *)((const char *)noise + constants->gains_offset);
}

/* Returns the largest magnitude of a batch's components, divided by their gains unless these are NULL. */
NOT_INLINED float largest_component(const float *components, const float *gains, size_t n_symbols)
{
    vec_u32 largest = vec_splat_u32(0);
    for (size_t done = 0; done < n_symbols; done += LANES) {
        const size_t k = n_symbols - done < LANES ? n_symbols - LANES : done;
        vec_f32 a = vec_load_f32(components + 2 * k), b = vec_load_f32(components + 2 * k + LANES);
        if (gains) {
            const vec_f32 inverse_gain = fast_inverse_gain(vec_load_f32(gains + k));
            a = vec_mul(a, vec_duplicate_lower(inverse_gain));
            b = vec_mul(b, vec_duplicate_upper(inverse_gain));
        }
        largest = vec_max_u32(largest, vec_max_u32(vec_bits(vec_abs(a)), vec_bits(vec_abs(b))));
    }
    return float_of_bits(vec_largest_u32(largest));
}

/* Returns whether no gain of a batch must be split. As bits, a negative gain is larger than any positive one. N0 needs
 * no check: a subnormal N0 makes the weight leave its range. */
VEC bool are_gains_exact(softqam_noise_kind noise, vec_u32 max_gain)
{
    const uint32_t most = float_bits(fast_max_gain(noise == SOFTQAM_GAINS_N0));
    return !softqam_has_gains(noise) || !vec_any_from(max_gain, vec_splat_u32(most + 1));
}

/* Result of checking a fast batch. */
typedef enum batch_verdict {
    BATCH_IS_EXACT,
    BATCH_HAS_OTHER_WEIGHTS,
    BATCH_HAS_LARGE_LLRS,
    BATCH_IS_INEXACT
} batch_verdict;

/* Returns whether a batch is far within the range, as most are, by two comparisons. The first is whether bit 30 of the
 * magnitudes is 0: components are below 2, or metrics, if they are tracked, below MAX_TRACKED_METRIC. */
VEC bool are_ranges_narrow(llr_kind kind, fast_range range, const batch_ranges *ranges)
{
    const float max_component_metric = MAX_SLOPE * (M == 0 ? 2.0f : 1.0f) * 2.0f;
    const float metric_end = are_metrics_tracked(kind.output) ? MAX_TRACKED_METRIC : max_component_metric;
    const float weight_end = range.llr_end / metric_end;
    const uint32_t base = float_bits(range.min_weight);
    return !vec_any_from(vec_shift_left(ranges->magnitudes, 1), vec_splat_u32(0x80000000u)) &&
           !vec_any_from(ranges->max_weight, vec_splat_u32(float_bits(weight_end) - base));
}

/* Judges the fast path of n_symbols from a position on, whose ranges these are. */
VEC batch_verdict verdict_of(llr_kind kind, const llr_constants *constants, const softqam_loop_call *call,
                             const batch_ranges *ranges, const llr_position *position, size_t n_symbols)
{
    const softqam_output_format output = kind.output;
    const bool has_gains = softqam_has_gains(kind.noise),
               has_exact_gains = are_gains_exact(kind.noise, ranges->max_gain);
    fast_range range = fast_range_of(output);
    if (output == SOFTQAM_OUTPUT_F16)
        range.llr_end = is_limited_f16(output, constants) ? FAST_LIMITED_F16_END : call->rules.limit;
    if (range.min_component > 0.0f && ~vec_largest_u32(~ranges->min_component) < float_bits(range.min_component) - 1)
        return BATCH_IS_INEXACT;
    const bool is_floor_exact =
        !constants->above_floor || !vec_any_from(ranges->max_weight, vec_splat_u32(constants->above_floor));
    if (has_exact_gains && is_floor_exact && are_ranges_narrow(kind, range, ranges))
        return BATCH_IS_EXACT;
    const uint32_t base = float_bits(range.min_weight), above_base = vec_largest_u32(ranges->max_weight);
    const float weight = float_of_bits(above_base + base);
    if (above_base >= 0x7f800000u - base)
        return BATCH_HAS_OTHER_WEIGHTS;
    if (!has_exact_gains || !is_floor_exact)
        return BATCH_IS_INEXACT;
    /* For f16 and f32 the weights show that N0 is below its limit; with gains N0 has no limit. */
    const float scale = softqam_is_in_steps(output) && !has_gains ? fabsf(call->rules.steps_per_nat) : 0.0f;
    float largest = INFINITY;
    if (!are_metrics_tracked(output))
        largest = float_of_bits(vec_largest_u32(ranges->magnitudes));
    else if (n_symbols >= LANES)
        largest =
            largest_component(position->components, has_gains ? gains_of(constants, position->noise) : NULL, n_symbols);
    return is_fast_exact(M, call->table, range, largest, weight, scale) ? BATCH_IS_EXACT : BATCH_HAS_LARGE_LLRS;
}

/* Turns on the fast path's f16 limits or erasure masks for the next try. False if they were on, or do not help. */
VEC bool asks_for_more(softqam_output_format output, batch_verdict verdict, llr_constants *constants)
{
    const bool masks = !softqam_is_in_steps(output) && verdict == BATCH_HAS_OTHER_WEIGHTS && !constants->masks_erasures;
    const bool limits = output == SOFTQAM_OUTPUT_F16 && verdict == BATCH_HAS_LARGE_LLRS && !constants->limits_f16;
    constants->masks_erasures |= masks;
    constants->limits_f16 |= limits;
    return masks || limits;
}

/* The weights of an iteration. A register of components uses each twice, or once (takes_weights_twice()). */
typedef struct iteration_weights {
    vec_f32 weight;
    vec_f32 addends[2]; /* if twice, of the first and the second register's LLRs; else the first serves all */
    vec_f32 inverse_gain;
} iteration_weights;

VEC iteration_weights weights_with_addend(const llr_constants *constants, vec_f32 weight, vec_f32 inverse_gain)
{
    return (iteration_weights){weight, {constants->addend, constants->addend}, inverse_gain};
}

VEC bool takes_weights_twice(llr_kind kind) { return M > 0 && !is_double(kind); }

/* Loads half `half` of an iteration's noise values or gains. */
VEC vec_f32 load_values(llr_kind kind, const float *from, llr_position position, int half)
{
    const size_t first = (size_t)half * LANES;
    return kind.is_few ? vec_load_few(from, position.n_few, first, *from) : vec_load_f32(from + first);
}

/* Applies the noise floor. The fast path of f16 and f32 without gains leaves it to verdict_of(). */
VEC vec_f32 bounded_noise(llr_kind kind, const llr_constants *constants, vec_f32 noise)
{
    const vec_f32 bound = constants->noise_bound;
    const bool is_n0 = __builtin_expect(softqam_is_noise_n0(kind.noise), 1);
    if (kind.is_exact)
        return is_n0 ? llr_bounded_noise(noise, false, bound) : llr_bounded_noise(noise, true, bound);
    if (!softqam_is_in_steps(kind.output) && !softqam_has_gains(kind.noise))
        return noise;
    return is_n0 ? vec_at_least(noise, bound) : vec_at_most(noise, bound);
}

/* Makes an iteration's weights what the fast path takes, and notes them in the ranges. */
VEC void track_weights(llr_kind kind, const llr_constants *constants, vec_f32 noise, iteration_weights *weights,
                       batch_ranges *ranges)
{
    if (softqam_is_in_steps(kind.output)) { /* an erasure's weight is 0, which gives 0 steps, or out of range */
        ranges->max_weight = vec_max_u32(ranges->max_weight, vec_bits(weights->weight));
        return;
    }
    vec_u32 above_base = vec_sub_u32(vec_bits(weights->weight), constants->weight_base);
    if (constants->masks_erasures) { /* an erasure's weight is 0; times a metric that may be -0, but -0 + 0 is 0 */
        const vec_mask kept = vec_are_different(vec_bits(noise), constants->erased_noise);
        const vec_f32 addend = vec_keep(kept, constants->addend);
        above_base = vec_bits(vec_keep(kept, vec_from_bits(above_base)));
        weights->addends[0] = takes_weights_twice(kind) ? vec_duplicate_lower(addend) : addend;
        weights->addends[1] = takes_weights_twice(kind) ? vec_duplicate_upper(addend) : addend;
    }
    ranges->max_weight = vec_max_u32(ranges->max_weight, above_base);
}

/* Returns the weights of symbols with gains, for the fast path alone. */
VEC iteration_weights gain_weights(llr_kind kind, const llr_constants *constants, llr_position position, int half,
                                   batch_ranges *ranges)
{
    const vec_f32 given = load_values(kind, position.noise, position, half),
                  gain = load_values(kind, gains_of(constants, position.noise), position, half);
    const bool is_n0 = __builtin_expect(kind.noise == SOFTQAM_GAINS_N0, 1);
    const vec_f32 values = bounded_noise(kind, constants, given);
    const vec_f32 inverse_gain = fast_inverse_gain(gain);
    const vec_f32 scale = llr_scale_of_gain(constants->steps_per_nat, gain);
    ranges->max_gain = vec_max_u32(vec_max_u32(ranges->max_gain, vec_bits(inverse_gain)), vec_bits(gain));
    const vec_f32 weight = is_n0 ? fast_weight(scale, values, false) : fast_weight(scale, values, true);
    iteration_weights weights = weights_with_addend(constants, weight, inverse_gain);
    track_weights(kind, constants, given, &weights, ranges);
    return weights;
}

VEC iteration_weights load_weights(llr_kind kind, const llr_constants *constants, llr_position position, int half,
                                   batch_ranges *ranges)
{
    const vec_f32 scale = constants->steps_per_nat;
    if (softqam_has_gains(kind.noise))
        return gain_weights(kind, constants, position, half, ranges);
    if (kind.noise == SOFTQAM_ONE_WEIGHT)
        return weights_with_addend(constants, constants->weight, scale);
    const bool is_n0 = __builtin_expect(kind.noise == SOFTQAM_EACH_N0, 1);
    const vec_f32 given = load_values(kind, position.noise, position, half);
    vec_f32 weight = given;
    if (kind.is_exact && kind.noise == SOFTQAM_ERASED_WEIGHTS)
        weight = vec_choose(vec_are_different(vec_bits(given), vec_splat_u32(0)), given, vec_splat(NAN));
    if (is_n0 || kind.noise == SOFTQAM_EACH_INVERSE) {
        const vec_f32 values = bounded_noise(kind, constants, given);
        if (kind.is_exact)
            weight = is_n0 ? llr_weight(scale, values, false) : llr_weight(scale, values, true);
        else
            weight = is_n0 ? fast_weight(scale, values, false) : fast_weight(scale, values, true);
    }
    iteration_weights weights = weights_with_addend(constants, weight, scale);
    if (!kind.is_exact)
        track_weights(kind, constants, given, &weights, ranges);
    return weights;
}

#endif
