/* SPDX-License-Identifier: MIT */
/* THE arithmetic: what every backend computes, defined once but for the forms named below. It is written in the
 * operations of a SIMD header (simd_operations.h), which the includer includes first: simd_scalar.h in portable C,
 * cpu/simd_*.h for several values at once, cuda/simd_cuda.cuh for a GPU thread. reference/contract.h states it.
 * These compute the same in fewer operations: arithmetic_fast.h; divide() in cpu/gain_loops.c; in kernels
 * vec_limited_steps() for llr_rounded(), vec_halves() for f16, bounded_noise(), set_gain(), any_gain_of(),
 * regularize() for tiny components, and take_columns() for joint_metrics(). llrs.* compare them at the ends of their
 * ranges, exhaustive.* for all components. llr_combined() names its own.
 *
 * Soft bits: liquid-dsp 1.5's modemcf_demodulate_soft for LIQUID_MODEM_QAM256, byte for byte, in 3GPP order. LLRs:
 * max-log. No branch depends on a symbol. */
#ifndef SOFTQAM_ARITHMETIC_H
#define SOFTQAM_ARITHMETIC_H

#include "tables.h"

/* Soft bits. */

/* One component's squared distances to what is near it. */
typedef struct axis_distances {
    vec_f32 decided; /* to the level as the decision's own sums left it: may differ from `nearest` in the last bits */
    vec_f32 nearest; /* to the decided level */
    vec_f32 low;     /* to its low neighbour */
    vec_f32 high;    /* to its high neighbour; larger than any other if there is none */
    vec_u8_row row;
} axis_distances;

VEC vec_f32 squared_difference(vec_f32 a, vec_f32 b)
{
    const vec_f32 difference = vec_sub(a, b);
    return vec_mul(difference, difference);
}

/* Returns the decision: four halvings of the axis, each on the sign of what is left of v. Carries the residue's
 * negative, r, because then "residue > 0" is the sign bit of r alone: r starts as 0 - v and a difference that cancels
 * is +0, so r is never -0, and a residue of zero of either sign goes to the lower half as it must. */
VEC axis_distances axis_distances_of(const vec_u8_table *table, vec_f32 component)
{
    const vec_f32 v = vec_limit(component, vec_splat(LIMIT_COMPONENT));
    vec_f32 r = vec_sub(vec_splat(0.0f), v);
    VEC_UNROLL
    for (int k = 0; k < U8_AXIS_BITS; k++)
        r = vec_sub(r, vec_flip(table->halvings[k], vec_bits(r)));
    /* The halvings have subtracted the decided level, but for the rounding of their sums. */
    const vec_f32 decided = vec_add(v, r);
    const vec_u8_row row = vec_u8_lookup(table, decided);
    axis_distances axis;
    axis.decided = squared_difference(v, decided);
    axis.nearest = squared_difference(v, row.level);
    axis.low = squared_difference(v, row.level_low);
    axis.high = squared_difference(v, row.level_high);
    axis.row = row;
    return axis;
}

/* Returns a bit's soft byte, before it is truncated and limited to 0 .. 255, from the squared distances to the nearest
 * points with it flipped and without. */
VEC vec_f32 u8_value(vec_f32 flipped, vec_f32 agreeing, vec_f32 gain)
{
    return vec_add(vec_mul(vec_sub(flipped, agreeing), gain), vec_splat(127.0f));
}

/* The two soft bytes of an axis before they are truncated and limited, and the row that says where they go and which
 * bytes are saturated. */
typedef struct u8_axis {
    vec_f32 low;
    vec_f32 high;
    vec_u8_row row;
} u8_axis;

/* Returns the soft bytes of the axis `a`, `b` being the other one; `decided` is the squared distance to the decided
 * point. The nearest point that agrees in the soft bits of `a` is the decided one, or, within an ulp of a decision
 * boundary of the other axis, where liquid-dsp's search finds it too, one that differs on that axis only. The axis's
 * own high neighbour need not be looked at: when it is as near, this bit's margin is 8 alpha^2, far into saturation. */
VEC u8_axis u8_axis_from_distances(const vec_u8_table *table, const axis_distances *a, const axis_distances *b,
                                   vec_f32 decided)
{
    const vec_f32 agreeing = vec_min(decided, vec_add(a->nearest, vec_min(b->low, b->high)));
    u8_axis axis;
    axis.low = u8_value(vec_add(a->low, b->nearest), agreeing, vec_gain_low(table, a->row));
    axis.high = u8_value(vec_add(a->high, b->nearest), agreeing, vec_gain_high(table, a->row));
    axis.row = a->row;
    return axis;
}

typedef struct u8_bits {
    u8_axis i;
    u8_axis q;
    vec_mask valid; /* the symbol is finite; if not, all eight bytes are 127 */
} u8_bits;

/* The first half of a symbol's soft bits. */
typedef struct symbol_distances {
    axis_distances i;
    axis_distances q;
    vec_mask valid;
} symbol_distances;

VEC symbol_distances symbol_distances_of(const vec_u8_table *table, vec_f32 i, vec_f32 q)
{
    symbol_distances symbol;
    symbol.i = axis_distances_of(table, i);
    symbol.q = axis_distances_of(table, q);
    symbol.valid = vec_both(vec_is_finite(i), vec_is_finite(q));
    return symbol;
}

VEC u8_bits u8_bits_from_distances(const vec_u8_table *table, const symbol_distances *symbol)
{
    const vec_f32 decided = vec_add(symbol->i.decided, symbol->q.decided);
    u8_bits out;
    out.i = u8_axis_from_distances(table, &symbol->i, &symbol->q, decided);
    out.q = u8_axis_from_distances(table, &symbol->q, &symbol->i, decided);
    out.valid = symbol->valid;
    return out;
}

/* LLRs. */

/* 1.5 * 2^23: around it the floats are the integers, so adding it rounds to the nearest, ties to even. */
#define ROUNDING_CONSTANT 0x1.8p23f

/* Limits of N0 and of 1/N0. Components below TINY_COMPONENT in magnitude count as zero. Gains outside MIN_GAIN to
 * MAX_GAIN are split into significand and exponent. A weight with a gain that is below MIN_WEIGHT makes an erasure. */
#define MIN_N0         0x1p-100f
#define MAX_N0         0x1p40f
#define MIN_INVERSE_N0 0x1p-40f
#define MAX_INVERSE_N0 0x1p100f
#define LARGEST_FLOAT  0x1.fffffep127f
#define LEAST_NORMAL   0x1p-126f
#define TINY_COMPONENT 0x1p-63f
#define MIN_GAIN       0x1p-40f
#define MAX_GAIN       0x1p40f
#define MIN_WEIGHT     0x1p-120f

/* Applies the noise floor: `bound` is the least N0 or the most 1/N0; 0 or INFINITY if there is none. A NaN, an N0 of
 * +infinity and a 1/N0 that is not positive stay erasures. */
VEC vec_f32 llr_bounded_noise(vec_f32 noise, int is_inverse, vec_f32 bound)
{
    const vec_mask is_beyond = is_inverse ? vec_is_less(bound, noise) : vec_is_less(noise, bound);
    return vec_choose(is_beyond, bound, noise);
}

VEC vec_f32 llr_limited_noise(vec_f32 noise, int is_inverse)
{
    const vec_f32 least = vec_splat(is_inverse ? MIN_INVERSE_N0 : MIN_N0);
    const vec_f32 most = vec_splat(is_inverse ? MAX_INVERSE_N0 : MAX_N0);
    return vec_min(vec_max(noise, least), most);
}

/* Returns the weight that metrics are multiplied with: scale / N0, or scale * (1/N0). It is NaN, which makes an
 * erasure, if the noise value is not positive and finite. */
VEC vec_f32 llr_weight(vec_f32 scale, vec_f32 noise, int is_inverse)
{
    const vec_f32 limited = llr_limited_noise(noise, is_inverse);
    const vec_f32 weight = is_inverse ? vec_mul(scale, limited) : vec_div(scale, limited);
    return vec_choose(vec_is_positive(noise), weight, vec_splat(NAN));
}

/* Gains: z = g x + n, and N0 is the variance of n. A component v becomes fl(v fl(1 / g)), and its weight fl(fl(fl(scale
 * g) g) / N0), as if exponents of intermediate values had no limits, so that units do not matter; but a weight is
 * LARGEST_FLOAT at most. A gain or a noise value that is not positive and finite, or a weight below MIN_WEIGHT, makes
 * an erasure. Flushing subnormal numbers changes nothing. */

VEC vec_f32 llr_scale_of_gain(vec_f32 scale, vec_f32 gain) { return vec_mul(vec_mul(scale, gain), gain); }

/* Makes the weight of an erasure NaN. A tiny weight is an erasure too: with a metric that overflows, its LLR would be
 * the limit. An infinite weight is limited, because infinity times a metric of 0 is NaN. */
VEC vec_f32 llr_valid_weight(vec_f32 weight, vec_f32 noise, vec_f32 gain)
{
    const vec_f32 finite = vec_limit(weight, vec_splat(LARGEST_FLOAT));
    const vec_mask valid = vec_both(vec_is_positive(noise), vec_is_positive(gain));
    const vec_f32 weight_if_valid = vec_choose(valid, finite, vec_splat(NAN));
    return vec_choose(vec_is_less(vec_abs(finite), vec_splat(MIN_WEIGHT)), vec_splat(NAN), weight_if_valid);
}

/* Returns the weight for a gain from MIN_GAIN to MAX_GAIN. */
VEC vec_f32 llr_weight_of_gain(vec_f32 scale, vec_f32 noise, int is_inverse, vec_f32 gain)
{
    const vec_f32 scale_of_gain = llr_scale_of_gain(scale, gain);
    return llr_valid_weight(is_inverse ? vec_mul(scale_of_gain, noise) : vec_div_any(scale_of_gain, noise), noise,
                            gain);
}

/* A number that is significand * 2^exponent: the significand is in [1, 2), the exponent whole. */
typedef struct split_number {
    vec_f32 significand;
    vec_f32 exponent;
} split_number;

/* Returns 2^126 times a positive subnormal number, without operations on such numbers: it has no leading 1, so its bits
 * are taken as significand of a number from 1 to 2, and 1 is subtracted. */
VEC vec_f32 enlarged_subnormal(vec_f32 number)
{
    const vec_f32 one = vec_splat(1.0f);
    return vec_sub(vec_from_bits(vec_or_u32(vec_bits(number), vec_bits(one))), one);
}

/* Splits a positive finite number, without operations on subnormal ones. Other numbers give undefined parts. */
VEC split_number split_number_of(vec_f32 number)
{
    const vec_u32 one = vec_bits(vec_splat(1.0f));
    const vec_f32 enlarged = enlarged_subnormal(number);
    const vec_mask is_subnormal = vec_is_less(vec_abs(number), vec_splat(LEAST_NORMAL));
    const vec_u32 bits = vec_bits(vec_choose(is_subnormal, enlarged, number));
    const vec_f32 whole = vec_from_bits(vec_or_u32(vec_shift_right(bits, 23), vec_bits(vec_splat(0x1p23f))));
    const vec_f32 bias = vec_choose(is_subnormal, vec_splat(0x1p23f + 127 + 126), vec_splat(0x1p23f + 127));
    split_number split;
    split.significand = vec_from_bits(vec_or_u32(vec_shift_right(vec_shift_left(bits, 9), 9), one));
    split.exponent = vec_sub(whole, bias);
    return split;
}

/* Returns 2^n for a whole n from -126 to 127: its low bits, moved to the exponent. */
VEC vec_f32 power_of_two(vec_f32 n)
{
    return vec_from_bits(vec_shift_left(vec_bits(vec_add(n, vec_splat(ROUNDING_CONSTANT + 127))), 23));
}

/* Returns half of n, rounded to a whole number. */
VEC vec_f32 whole_half(vec_f32 n)
{
    const vec_f32 constant = vec_splat(ROUNDING_CONSTANT);
    return vec_sub(vec_add(vec_mul(n, vec_splat(0.5f)), constant), constant);
}

/* Two factors whose product is 1 / g; a component is multiplied with one, then with the other. With g = f 2^e they
 * share 2^-e, so that no intermediate product leaves the range of floats. */
typedef struct gain_divisor {
    vec_f32 first;
    vec_f32 second;
} gain_divisor;

/* Returns the factors for any gain. */
VEC gain_divisor gain_divisor_of(vec_f32 gain)
{
    const split_number parts = split_number_of(gain);
    const vec_f32 half = whole_half(parts.exponent);
    gain_divisor divisor;
    divisor.first = power_of_two(vec_sub(vec_splat(0.0f), half));
    divisor.second = vec_mul(vec_div(vec_splat(1.0f), parts.significand), power_of_two(vec_sub(half, parts.exponent)));
    return divisor;
}

/* Divides a component by its gain; a subnormal one counts as zero. */
VEC vec_f32 divided_by_gain(vec_f32 component, gain_divisor divisor)
{
    const vec_f32 magnitude = vec_flush(vec_abs(component), vec_splat(LEAST_NORMAL));
    return vec_mul(vec_mul(vec_flip(magnitude, vec_bits(component)), divisor.first), divisor.second);
}

/* Returns the weight for any gain. Gain and noise value are split; dividend and divisor share the power of two, so that
 * both stay in the range of floats. Beyond 2^+-200 the weight is out of range with every scale. */
VEC vec_f32 llr_weight_of_any_gain(vec_f32 scale, vec_f32 noise, int is_inverse, vec_f32 gain)
{
    const split_number of_gain = split_number_of(gain), of_noise = split_number_of(noise);
    const vec_f32 twice = vec_add(of_gain.exponent, of_gain.exponent);
    const vec_f32 exponent =
        vec_limit(is_inverse ? vec_add(twice, of_noise.exponent) : vec_sub(twice, of_noise.exponent), vec_splat(200));
    const vec_f32 half = whole_half(exponent), rest = vec_sub(exponent, half);
    const vec_f32 scale_of_gain = vec_mul(llr_scale_of_gain(scale, of_gain.significand), power_of_two(half));
    const vec_f32 factor = vec_mul(of_noise.significand, power_of_two(is_inverse ? rest : vec_sub(half, exponent)));
    const vec_f32 weight = is_inverse ? vec_mul(scale_of_gain, factor) : vec_div_any(scale_of_gain, factor);
    return llr_valid_weight(weight, noise, gain);
}

/* Returns the row of an axis whose lines give the metrics of a component of this magnitude. */
VEC vec_llr_row llr_row_of(int m, const vec_llr_table *table, vec_f32 magnitude)
{
    return vec_llr_row_at(m, table, vec_min(vec_mul(magnitude, table->row_scale), table->last_row));
}

/* Computes the metrics of an axis: N0 times the LLRs of its m bits, of a component by its row, magnitude and sign. */
VEC void row_metrics(int m, const vec_llr_table *table, vec_llr_row row, vec_f32 magnitude, vec_f32 component,
                     vec_f32 metrics[])
{
    VEC_UNROLL
    for (int k = 0; k < m; k++) {
        metrics[k] = vec_fma(vec_slope(m, table, row, k), magnitude, vec_intercept(m, table, row, k));
        if (k == 0)
            metrics[k] = vec_flip(metrics[k], vec_bits(component));
    }
}

VEC void magnitude_metrics(int m, const vec_llr_table *table, vec_f32 magnitude, vec_f32 component, vec_f32 metrics[])
{
    row_metrics(m, table, llr_row_of(m, table, magnitude), magnitude, component, metrics);
}

/* Does the same for a component of any value. */
VEC void axis_metrics(int m, const vec_llr_table *table, vec_f32 component, vec_f32 metrics[])
{
    const vec_f32 magnitude = vec_flush(vec_abs(component), vec_splat(TINY_COMPONENT));
    magnitude_metrics(m, table, magnitude, component, metrics);
}

/* Returns the metric of a symbol of BPSK. pi/2-BPSK: if bit 31 of i_flip is set, I changes its sign, because (Q, -I)
 * stands for (I, Q). */
VEC vec_f32 bpsk_metric(const vec_llr_table *table, vec_f32 i, vec_f32 q, vec_u32 i_flip)
{
    const vec_f32 least = vec_splat(TINY_COMPONENT);
    const vec_f32 flushed_i = vec_flip(vec_flush(vec_abs(i), least), vec_bits(i));
    const vec_f32 flushed_q = vec_flip(vec_flush(vec_abs(q), least), vec_bits(q));
    return vec_mul(vec_add(vec_flip(flushed_i, i_flip), flushed_q), vec_only_slope(table));
}

/* Turns metric and weight into an LLR that is a whole number of steps, added to ROUNDING_CONSTANT: the sum's lowest
 * bits are the LLR, in one byte for s8, two for s16. Here s8 and s16 are rounded. `addend` is that constant in the
 * metric's unit. Vector loops call it for f16 and f32 too, with -0, which changes no product, or 0 for an erasure. */
VEC vec_f32 llr_sum(vec_f32 metric, vec_f32 weight, vec_f32 addend) { return vec_fma(metric, weight, addend); }

/* Does the same, limited: `least` and `most` are ROUNDING_CONSTANT - and + the limit. */
VEC vec_f32 llr_rounded(vec_f32 metric, vec_f32 weight, vec_f32 least, vec_f32 most)
{
    return vec_min(vec_max(llr_sum(metric, weight, vec_splat(ROUNDING_CONSTANT)), least), most);
}

/* Turns metric and weight into an LLR in nats. `limit` is llr_limit or, for f32, the largest finite number. */
VEC vec_f32 llr_scaled(vec_f32 metric, vec_f32 weight, vec_f32 limit)
{
    return vec_limit(vec_mul(metric, weight), limit);
}

/* Adds an LLR to a value of a soft buffer, for HARQ combining, and limits the sum to +-limit; `limit_end` is the next
 * float after the limit. A NaN and a value beyond the limit stay as they are. An LLR of zero changes no value, not even
 * -0. Values of every output format are floats. The caller rounds f16's sum to binary16; since 24 bits are at least
 * twice 11 and two more, that gives what one rounding would.
 *
 * This is the definition, which the portable loops of soft_buffer.c call for every format, and vector loops and kernels
 * for f32. For the others those have faster forms of the same: cpu/add_loops.c and soft_sum in cuda/soft_values.cuh.
 * tests/cpu/test_loops.c compares the vector loops with the portable ones, soft_buffers.cuda the kernels. */
VEC vec_f32 llr_combined(vec_f32 value, vec_f32 llr, vec_f32 limit, vec_f32 limit_end)
{
    const vec_f32 sum = vec_limit(vec_add(value, llr), limit);
    const vec_mask is_added =
        vec_both(vec_is_less(vec_abs(value), limit_end), vec_is_less(vec_splat(0.0f), vec_abs(llr)));
    return vec_choose(is_added, sum, value);
}

#endif
