/* SPDX-License-Identifier: MIT */
/* The loops of LLRs for vectors of 128-bit parts, any number of them: included by avx512.c, avx2.c and neon.c after
 * their SIMD header and arithmetic_fast.h. LLRs are computed from components as they lie in memory, since no axis
 * needs the other. A step takes LANES symbols, which are two registers of components, or, of de-interleaved s8, twice
 * as many; the last step goes back to be a whole one.
 *
 * Symbols are taken in tiles that stay in the first cache. A tile is computed on the fast path, which notes the ranges
 * of its values; where these say that an LLR may not be exact, it is computed again on the exact path. So no branch
 * depends on a symbol. How LLRs are stored is llr_stores.h. */
#ifndef SOFTQAM_CPU_LLR_LOOPS_H
#define SOFTQAM_CPU_LLR_LOOPS_H

#include "llr_stores.h"
#include "llr_weights.h"
#include "variant.h"

/* Symbols of a tile. Where a tile had to be exact, those after it are too, but for the first symbols of every so many:
 * the fast path is tried on these. */
enum { LLR_TILE_SYMBOLS = 1024, TILES_BEFORE_RETRY = 16, LLR_RETRY_SYMBOLS = 64 };

/* Where a step's symbols and noise lie and where its LLRs go. */
typedef struct llr_position {
    const float *components;
    const float *noise;
    unsigned char *out;
    size_t bit;           /* of the scrambling sequence */
    unsigned is_odd;      /* an odd number of symbols lies before it */
    size_t symbol_nbytes; /* from a symbol's first LLR to the next one's */
    size_t noise_step;    /* from a symbol's noise value to the next one's: 1, or 0 where there is one weight */
} llr_position;

VEC size_t llr_symbol_bits(int m) { return m == 0 ? 1 : 2 * (size_t)m; }

VEC size_t llr_nbytes(softqam_output_format output)
{
    return output == SOFTQAM_OUTPUT_F32 ? 4 : output == SOFTQAM_OUTPUT_S8 ? 1 : 2;
}

/* n symbols further; n may be negative. */
VEC llr_position llr_position_after(int m, llr_position at, ptrdiff_t n)
{
    at.components += 2 * n;
    at.noise += n * (ptrdiff_t)at.noise_step;
    at.out += n * (ptrdiff_t)at.symbol_nbytes;
    at.bit += (size_t)n * llr_symbol_bits(m);
    at.is_odd ^= (unsigned)n & 1;
    return at;
}

/* One step further; the last one goes back to be a whole one. False when there are no more. */
VEC bool next_step(int m, size_t n_step, llr_position *at, size_t *n_left)
{
    *n_left -= n_step;
    if (__builtin_expect(*n_left == 0, 0))
        return false;
    *at = llr_position_after(m, *at, (ptrdiff_t)n_step);
    if (__builtin_expect(*n_left < n_step, 0)) {
        *at = llr_position_after(m, *at, (ptrdiff_t)*n_left - (ptrdiff_t)n_step);
        *n_left = n_step;
    }
    return true;
}

/* An LLR of the fast path; of s8 and s16 the sum. s8's is limited by packing alone. */
VEC vec_f32 fast_llr(softqam_output_format output, const llr_constants *constants, vec_f32 metric, vec_f32 weight,
                     vec_f32 addend)
{
    const vec_f32 llr = llr_sum(metric, weight, addend);
    return output == SOFTQAM_OUTPUT_S16 ? vec_min(vec_max(llr, constants->min_sum), constants->max_sum) : llr;
}

VEC void limit_f16(softqam_output_format output, const llr_constants *constants, vec_f32 llrs[], int n)
{
    if (!is_limited_f16(output, constants))
        return;
    VEC_UNROLL
    for (int k = 0; k < n; k++)
        llrs[k] = vec_limit(llrs[k], constants->limit);
}

/* A register's LLRs on the fast path. */
VEC llr_registers fast_llrs(int m, softqam_output_format output, softqam_llr_layout layout,
                            const llr_constants *constants, vec_f32 components, vec_llr_row row, vec_f32 weight,
                            vec_f32 addend, vec_u32 flips, tile_ranges *ranges)
{
    /* Before it is made, the first metric takes an operation less to flip. */
    const bool is_first_flipped = m > 2 && !vec_has_signed_rows(m);
    const vec_u32 sign = is_first_flipped ? vec_shift_left(flips, 31) : vec_splat_u32(0);
    const vec_f32 first = vec_from_bits(vec_xor_u32(vec_bits(components), sign));
    vec_f32 metrics[MAX_AXIS_BITS];
    llr_registers llrs;
    fast_metrics(m, &constants->table, &constants->lines, components, first, row, metrics);
    track_metric(m, output, ranges, metrics[0]);
    VEC_UNROLL
    for (int k = 0; k < m; k++) {
        if (k > 0 || !is_first_flipped)
            metrics[k] = flipped(m, output, layout, metrics[k], flips, k);
        llrs.bits[k] = fast_llr(output, constants, metrics[k], weight, addend);
    }
    limit_f16(output, constants, llrs.bits, m);
    return llrs;
}

/* An LLR of any value; of s8 and s16 the sum. An erasure's is 0. */
VEC vec_f32 exact_llr(int m, softqam_output_format output, const llr_constants *constants, vec_mask valid,
                      vec_f32 metric, vec_f32 weight)
{
    const vec_f32 sum =
        vec_mul(llr_sum(metric, weight, vec_splat(ROUNDING_CONSTANT)), vec_splat(metric_unit(m, output)));
    if (output == SOFTQAM_OUTPUT_S8) /* packing limits what is too large, but a sum below zero has bits out of order */
        return vec_choose(valid, vec_max(sum, constants->min_sum), constants->addend);
    if (output == SOFTQAM_OUTPUT_S16)
        return vec_choose(valid, vec_min(vec_max(sum, constants->min_sum), constants->max_sum), constants->addend);
    return vec_keep(valid, llr_scaled(metric, weight, constants->limit));
}

/* A register's LLRs on the exact path. is_double: of a double step. */
VEC llr_registers exact_llrs(int m, softqam_output_format output, softqam_llr_layout layout, bool is_double,
                             const llr_constants *constants, vec_f32 components, vec_f32 weight, vec_u32 flips)
{
    /* Times zero, what is not finite is NaN, and so is the weight of an erasure. */
    const vec_f32 numbers = vec_fma(components, vec_splat(0.0f), weight);
    const vec_mask valid = vec_are_numbers(numbers, is_double ? vec_swap_halves(numbers) : vec_swap_pairs(numbers));
    vec_f32 metrics[MAX_AXIS_BITS];
    llr_registers llrs;
    axis_metrics(m, &constants->table, components, metrics);
    VEC_UNROLL
    for (int k = 0; k < m; k++)
        llrs.bits[k] = exact_llr(m, output, constants, valid, flipped(m, output, layout, metrics[k], flips, k), weight);
    return llrs;
}

VEC void bpsk_step(softqam_output_format output, softqam_llr_layout layout, bool is_exact,
                   const llr_constants *constants, llr_position at, vec_f32 i, vec_f32 q, step_weights weights,
                   tile_ranges *ranges)
{
    const vec_u32 flips = flips_at(0, output, constants, at.bit), i_flip = constants->i_flips[at.is_odd];
    vec_f32 metric, llr;
    if (is_exact) {
        const vec_f32 zero = vec_splat(0.0f);
        const vec_mask valid = vec_are_numbers(vec_fma(i, zero, weights.weight), vec_fma(q, zero, weights.weight));
        metric = flipped(0, output, layout, bpsk_metric(&constants->table, i, q, i_flip), flips, 0);
        llr = exact_llr(0, output, constants, valid, metric, weights.weight);
    } else {
        metric = fast_bpsk_metric(&constants->lines, i, q, i_flip);
        track_metric(0, output, ranges, metric);
        llr = fast_llr(output, constants, flipped(0, output, layout, metric, flips, 0), weights.weight,
                       weights.addends[0]);
        limit_f16(output, constants, &llr, 1);
    }
    store_bpsk(output, constants, at.out, llr);
}

/* A tile's weights of gains are computed a step ahead, since components wait for them; in its last step its own again.
 */
typedef struct gains_ahead {
    step_weights at[2]; /* of a double step, two */
    const float *next;  /* noise values of the next step */
    const float *last;  /* and of the last */
} gains_ahead;

VEC void compute_gains(int m, softqam_output_format output, softqam_noise_kind kind, size_t n_step,
                       const llr_constants *constants, gains_ahead *ahead, tile_ranges *ranges)
{
    const float *noise = ahead->next;
    ahead->at[0] = step_gain_weights(output, kind, m > 0 && n_step == LANES, constants, noise, ranges);
    if (n_step == PLANE_SYMBOLS)
        ahead->at[1] = step_gain_weights(output, kind, false, constants, noise + LANES, ranges);
    ahead->next = noise + n_step < ahead->last ? noise + n_step : ahead->last;
}

/* A step's two registers of components are of its first LANES / 2 symbols and of the others; or, BPSK's, its I and its
 * Q. */
VEC void llr_step(int m, softqam_output_format output, softqam_llr_layout layout, softqam_noise_kind kind,
                  bool is_exact, const llr_constants *constants, llr_position at, gains_ahead *ahead,
                  tile_ranges *ranges)
{
    const vec_f32 first = vec_load_f32(at.components), second = vec_load_f32(at.components + LANES);
    vec_f32 a = m == 0 ? vec_evens(first, second) : first, b = m == 0 ? vec_odds(first, second) : second;
    step_weights weights = ahead->at[0];
    if (!softqam_has_gains(kind)) {
        weights = weights_of_step(output, kind, is_exact, m > 0, constants, at.noise, ranges);
    } else {
        const vec_f32 inverse_gain = weights.inverse_gain;
        compute_gains(m, output, kind, LANES, constants, ahead, ranges);
        a = vec_mul(a, m == 0 ? inverse_gain : vec_duplicate_lower(inverse_gain));
        b = vec_mul(b, m == 0 ? inverse_gain : vec_duplicate_upper(inverse_gain));
    }
    const bool in_planes = layout == SOFTQAM_LLRS_IN_PLANES;
    const bool is_alone = is_stored_alone(m, output) && !in_planes;
    const size_t half = LANES / 2;
    prefetch_inputs(at.components, 2 * LANES * sizeof(float));
    if (!is_exact)
        track_components(m, output, ranges, a, b);
    if (m == 0) {
        bpsk_step(output, layout, is_exact, constants, at, a, b, weights, ranges);
        return;
    }
    shifted_bits shifted;
    const unsigned char *flips = step_flips(m, output, constants, at.bit, &shifted);
    const vec_u32 flips_a = flips_at(m, output, constants, at.bit),
                  flips_b = flips_at(m, output, constants, at.bit + LANES * (size_t)m);
    const vec_f32 weight_a = vec_duplicate_lower(weights.weight), weight_b = vec_duplicate_upper(weights.weight);
    /* Both rows first: one after the other they take 3 to 10 % longer. */
    const vec_llr_row row_a = fast_row_of(m, &constants->table, a);
    const vec_llr_row row_b = fast_row_of(m, &constants->table, b);
    const llr_registers of_a =
        is_exact ? exact_llrs(m, output, layout, false, constants, a, weight_a, flips_a)
                 : fast_llrs(m, output, layout, constants, a, row_a, weight_a, weights.addends[0], flips_a, ranges);
    if (is_alone)
        store_alone(m, output, constants, at.out, &of_a, flips);
    const llr_registers of_b =
        is_exact ? exact_llrs(m, output, layout, false, constants, b, weight_b, flips_b)
                 : fast_llrs(m, output, layout, constants, b, row_b, weight_b, weights.addends[1], flips_b, ranges);
    if (is_alone)
        store_alone(m, output, constants, at.out + half * at.symbol_nbytes, &of_b,
                    flips ? flips + half * llr_symbol_bits(m) / 8 : NULL);
    else if (in_planes)
        store_planes(m, output, constants, at.out, &of_a, &of_b);
    else
        store_both(m, output, constants, at.out, &of_a, &of_b, flips);
}

/* A double step: two of de-interleaved s8 at once. */
VEC void s8_planes_step(int m, softqam_noise_kind kind, bool is_exact, const llr_constants *constants, llr_position at,
                        gains_ahead *ahead, tile_ranges *ranges)
{
    const softqam_output_format output = SOFTQAM_OUTPUT_S8;
    const bool has_gains = softqam_has_gains(kind), by_load = m > (has_gains ? 1 : 2);
    const vec_u32 none = vec_splat_u32(0);
    shifted_bits shifted;
    vec_f32 from[4], components[4], weights[2], inverse_gains[2];
    llr_registers llrs[4];
    VEC_UNROLL
    for (int k = 0; k < 4; k++)
        from[k] = vec_load_f32(at.components + k * LANES);
    VEC_UNROLL
    for (int q = 0; q < 4; q++)
        components[q] = vec_plane_components(from, q);
    VEC_UNROLL
    for (int k = 0; k < 2; k++) {
        const float *noise = at.noise + k * LANES * (int)at.noise_step;
        weights[k] = has_gains ? ahead->at[k].weight
                               : weights_of_step(output, kind, is_exact, false, constants, noise, ranges).weight;
        inverse_gains[k] = ahead->at[k].inverse_gain;
    }
    if (has_gains) {
        compute_gains(m, output, kind, PLANE_SYMBOLS, constants, ahead, ranges);
        VEC_UNROLL
        for (int q = 0; q < 4; q++)
            components[q] = vec_mul(components[q], vec_plane_weights(by_load, inverse_gains, q));
    }
    if (!is_exact) {
        track_components(m, output, ranges, components[0], components[1]);
        track_components(m, output, ranges, components[2], components[3]);
    }
    prefetch_inputs(at.components, 4 * LANES * sizeof(float));
    VEC_UNROLL
    for (int q = 0; q < 4; q++) {
        const vec_f32 weight = vec_plane_weights(by_load, weights, q);
        llrs[q] = is_exact ? exact_llrs(m, output, SOFTQAM_LLRS_IN_PLANES, true, constants, components[q], weight, none)
                           : fast_llrs(m, output, SOFTQAM_LLRS_IN_PLANES, constants, components[q],
                                       fast_row_of(m, &constants->table, components[q]), weight, constants->addend,
                                       none, ranges);
    }
    store_s8_planes(m, constants, at.out, llrs, step_flips(m, output, constants, at.bit, &shifted));
}

VEC size_t step_symbols(softqam_output_format output, softqam_llr_layout layout)
{
    return layout == SOFTQAM_LLRS_IN_PLANES && output == SOFTQAM_OUTPUT_S8 ? PLANE_SYMBOLS : LANES;
}

VEC tile_ranges llr_tile(int m, softqam_output_format output, softqam_llr_layout layout, softqam_noise_kind kind,
                         bool is_exact, const llr_constants *constants, llr_position at, size_t n_symbols)
{
    const size_t n_step = step_symbols(output, layout);
    tile_ranges ranges = {vec_splat_u32(0), vec_splat_u32(0xffffffffu), vec_splat_u32(0), vec_splat_u32(0)};
    const step_weights none = weights_with_addend(constants, constants->weight, constants->weight);
    gains_ahead ahead = {{none, none}, at.noise, at.noise + (n_symbols - n_step)};
    at.noise_step = kind != SOFTQAM_ONE_WEIGHT;
    if (softqam_has_gains(kind))
        compute_gains(m, output, kind, n_step, constants, &ahead, &ranges);
    if (kind == SOFTQAM_ONE_WEIGHT)
        ranges.max_weight = vec_sub_u32(vec_bits(constants->weight), constants->weight_base);
    do {
        if (n_step == PLANE_SYMBOLS)
            s8_planes_step(m, kind, is_exact, constants, at, &ahead, &ranges);
        else
            llr_step(m, output, layout, kind, is_exact, constants, at, &ahead, &ranges);
    } while (next_step(m, n_step, &at, &n_symbols));
    return ranges;
}

/* On the fast path. Short steps have a loop for each frequent kind of noise: to branch in each step costs up to 20 %.
 */
VEC tile_ranges fast_tile(int m, softqam_output_format output, softqam_llr_layout layout,
                          const llr_constants *constants, llr_position at, size_t n_symbols)
{
    const softqam_noise_kind kind = constants->noise_kind;
    const bool is_short = m <= 2 || (m == 4 && output == SOFTQAM_OUTPUT_S8), is_n0 = kind == SOFTQAM_GAINS_N0;
    if (fuses_gains(m) && softqam_has_gains(kind))
        return llr_tile(m, output, layout, is_n0 ? SOFTQAM_GAINS_N0 : SOFTQAM_GAINS_INVERSE, false, constants, at,
                        n_symbols);
    if (is_short && kind == SOFTQAM_NOISE_N0)
        return llr_tile(m, output, layout, SOFTQAM_NOISE_N0, false, constants, at, n_symbols);
    if (is_short && kind == SOFTQAM_ONE_WEIGHT)
        return llr_tile(m, output, layout, SOFTQAM_ONE_WEIGHT, false, constants, at, n_symbols);
    return llr_tile(m, output, layout, kind, false, constants, at, n_symbols);
}

/* `self` is the loop that this is. */
VEC void llr_loop(int m, softqam_output_format output, softqam_llr_layout layout, const softqam_loop_call *call,
                  softqam_loop *self)
{
    softqam_llr_table negated;
    llr_constants constants = load_llr_constants(m, output, layout, call, &negated);
    const size_t n_step = step_symbols(output, layout), value_nbytes = llr_nbytes(output);
    const bool has_gains = softqam_has_gains(call->noise_kind);
    size_t n_symbols = call->n_symbols;
    bool is_exact = false;
    if (has_gains && !fuses_gains(m)) {
        loop_of_divided(self, call, constants.scale, 0, n_symbols, llr_symbol_bits(m),
                        layout == SOFTQAM_LLRS_IN_PLANES ? value_nbytes : llr_symbol_bits(m) * value_nbytes);
        return;
    }
    llr_position at = {.components = call->components,
                       .noise = call->noise,
                       .out = call->out,
                       .symbol_nbytes =
                           layout == SOFTQAM_LLRS_IN_PLANES ? value_nbytes : llr_symbol_bits(m) * value_nbytes,
                       .noise_step = call->noise_kind != SOFTQAM_ONE_WEIGHT};
    for (unsigned number = 0;; number++) {
        /* f16 and f32: where a call's symbols need more of the fast path, few of them tell in most cases. */
        const bool is_first_of_many = !are_steps(output) && number == 0 && n_symbols > LLR_TILE_SYMBOLS;
        size_t n = is_first_of_many ? LLR_RETRY_SYMBOLS : LLR_TILE_SYMBOLS;
        if (is_exact && number % TILES_BEFORE_RETRY == 0) {
            n = LLR_RETRY_SYMBOLS;
            is_exact = false;
        }
        /* No tile is shorter than a step. */
        n = n_symbols < n + n_step ? n_symbols : n;
        if (!is_exact) {
            const tile_ranges ranges = fast_tile(m, output, layout, &constants, at, n);
            const float *gains = has_gains ? gains_of(&constants, at.noise) : NULL;
            const tile_verdict verdict = verdict_of(m, output, call, &constants, &ranges, at.components, gains, n);
            /* What the fast path can do for little it does from here on. */
            if (asks_for_more(output, verdict, &constants))
                continue;
            is_exact = verdict != TILE_IS_EXACT;
        }
        if (is_exact && has_gains && fuses_gains(m))
            loop_of_divided(self, call, constants.scale, call->n_symbols - n_symbols, n, llr_symbol_bits(m),
                            at.symbol_nbytes);
        else if (is_exact)
            llr_tile(m, output, layout, constants.noise_kind, true, &constants, at, n);
        n_symbols -= n;
        if (n_symbols == 0)
            return;
        at = llr_position_after(m, at, (ptrdiff_t)n);
    }
}

#define DEFINE_LLR_LOOP(name, m, output, layout)                                                                       \
    static void name(const softqam_loop_call *call) { llr_loop(m, output, layout, call, name); }
#define DEFINE_OUTPUT(name, m, output)                                                                                 \
    DEFINE_LLR_LOOP(name##_in_order, m, output, SOFTQAM_LLRS_IN_ORDER)                                                 \
    DEFINE_LLR_LOOP(name##_descrambled, m, output, SOFTQAM_LLRS_DESCRAMBLED)
#define DEFINE_PLANES(name, m, output)                                                                                 \
    DEFINE_OUTPUT(name, m, output)                                                                                     \
    DEFINE_LLR_LOOP(name##_in_planes, m, output, SOFTQAM_LLRS_IN_PLANES)
#define DEFINE_MODULATION(name, m, DEFINE)                                                                             \
    DEFINE(name##_s8, m, SOFTQAM_OUTPUT_S8)                                                                            \
    DEFINE(name##_s16, m, SOFTQAM_OUTPUT_S16)                                                                          \
    DEFINE(name##_f16, m, SOFTQAM_OUTPUT_F16)                                                                          \
    DEFINE(name##_f32, m, SOFTQAM_OUTPUT_F32)

DEFINE_MODULATION(loop_bpsk, 0, DEFINE_OUTPUT) /* has one bit: nothing to de-interleave */
DEFINE_MODULATION(loop_qpsk, 1, DEFINE_PLANES)
DEFINE_MODULATION(loop_16qam, 2, DEFINE_PLANES)
DEFINE_MODULATION(loop_64qam, 3, DEFINE_PLANES)
DEFINE_MODULATION(loop_256qam, 4, DEFINE_PLANES)
DEFINE_MODULATION(loop_1024qam, 5, DEFINE_PLANES)

#define NO_PLANES(name)                                                                                                \
    {                                                                                                                  \
        [SOFTQAM_LLRS_IN_ORDER] = name##_in_order, [SOFTQAM_LLRS_DESCRAMBLED] = name##_descrambled                     \
    }
#define ALL_LAYOUTS(name)                                                                                              \
    {                                                                                                                  \
        [SOFTQAM_LLRS_IN_ORDER] = name##_in_order, [SOFTQAM_LLRS_DESCRAMBLED] = name##_descrambled,                    \
        [SOFTQAM_LLRS_IN_PLANES] = name##_in_planes                                                                    \
    }

_Static_assert(MAX_AXIS_BITS == 5 && SOFTQAM_LLR_LAYOUTS == 3, "loops for each");
static const softqam_llr_loops llr_loops[MAX_AXIS_BITS + 1] = {
    LLR_LOOPS(loop_bpsk, NO_PLANES),    LLR_LOOPS(loop_qpsk, ALL_LAYOUTS),   LLR_LOOPS(loop_16qam, ALL_LAYOUTS),
    LLR_LOOPS(loop_64qam, ALL_LAYOUTS), LLR_LOOPS(loop_256qam, ALL_LAYOUTS), LLR_LOOPS(loop_1024qam, ALL_LAYOUTS)};

#endif
