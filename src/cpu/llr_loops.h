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
#include "prefetch.h"
#include "variant.h"

/* Symbols of a tile. Where a tile had to be exact, those after it are too, but for the first symbols of every so many:
 * the fast path is tried on these. */
enum { LLR_TILE_SYMBOLS = 1024, TILES_BEFORE_RETRY = 16, LLR_RETRY_SYMBOLS = 64 };

/* Where a step's symbols and noise lie and where its LLRs go. */
typedef struct llr_position {
    const float *components;
    const float *noise;
    unsigned char *out;
    size_t bit;                 /* of the scrambling sequence */
    unsigned is_odd;            /* an odd number of symbols lies before it */
    size_t symbol_nbytes;       /* from a symbol's first LLR to the next one's */
    size_t noise_step;          /* from a symbol's noise value to the next one's: 1, or 0 where there is one weight */
    const unsigned char *ahead; /* in planes: what is prefetched */
    size_t ahead_nbytes;        /* of a symbol; 0: nothing is */
} llr_position;

VEC size_t llr_symbol_bits(int m)
{
    return m == 0 ? 1 : 2 * (size_t)m;
}

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
    at.ahead += n * (ptrdiff_t)at.ahead_nbytes;
    at.is_odd ^= (unsigned)n & 1;
    return at;
}

/* One step further; the last one goes back to be a whole one. False when there are no more. */
VEC bool next_step(int m, size_t n_step, llr_position *at, size_t *n_left)
{
    *n_left -= n_step;
    if (*n_left == 0)
        return false;
    *at = llr_position_after(m, *at, (ptrdiff_t)n_step);
    if (__builtin_expect(*n_left < n_step, 0)) {
        *at = llr_position_after(m, *at, (ptrdiff_t)*n_left - (ptrdiff_t)n_step);
        *n_left = n_step;
    }
    return true;
}

/* The largest values of a fast tile, as bits, and the smallest component. */
typedef struct tile_ranges {
    vec_u32 max_component;
    vec_u32 min_component; /* less 1: a zero is none of the tiny ones */
    vec_u32 max_weight;    /* less weight_base */
} tile_ranges;

/* Whether max_component is of sums of two squares: QPSK needs magnitudes for nothing else. */
VEC bool notes_powers(int m, softqam_output_format output)
{
    return m == 1 && fast_range_of(m, output).min_component == 0.0f;
}

/* What no component exceeds where no sum of the squares of two exceeds `power`, as it is rounded. */
VEC float max_of_powers(float power)
{
    return sqrtf(power) * 1.001f;
}

VEC void note_components(int m, softqam_output_format output, tile_ranges *ranges, vec_f32 a, vec_f32 b)
{
    if (notes_powers(m, output)) {
        const vec_f32 powers = vec_fma(b, b, vec_mul(a, a));
        ranges->max_component = vec_max_u32(ranges->max_component, vec_bits(powers));
        return;
    }
    const vec_u32 of_a = vec_bits(vec_abs(a)), of_b = vec_bits(vec_abs(b)), one = vec_splat_u32(1);
    ranges->max_component = vec_max_u32(vec_max_u32(ranges->max_component, of_a), of_b);
    if (fast_range_of(m, output).min_component > 0.0f)
        ranges->min_component =
            vec_min_u32(vec_min_u32(ranges->min_component, vec_sub_u32(of_a, one)), vec_sub_u32(of_b, one));
}

/* Most tiles are far within the range, which two comparisons tell. */
VEC bool are_ranges_narrow(int m, softqam_output_format output, const tile_ranges *ranges)
{
    const fast_range range = fast_range_of(m, output);
    const float component_end = 8.0f, weight_end = range.llr_end / (MAX_SLOPE * (m == 0 ? 2.0f : 1.0f) * component_end);
    const float end = notes_powers(m, output) ? component_end * component_end : component_end;
    return !vec_any_from(ranges->max_component, vec_splat_u32(float_bits(end))) &&
           !vec_any_from(ranges->max_weight, vec_splat_u32(float_bits(weight_end) - float_bits(range.min_weight)));
}

VEC bool are_ranges_exact(int m, softqam_output_format output, const softqam_loop_call *call, const tile_ranges *ranges)
{
    const fast_range range = fast_range_of(m, output);
    if (range.min_component > 0.0f && !call->has_no_small_components &&
        vec_smallest_u32(ranges->min_component) < float_bits(range.min_component) - 1)
        return false;
    if (are_ranges_narrow(m, output, ranges))
        return true;
    const uint32_t base = float_bits(range.min_weight), weight = vec_largest_u32(ranges->max_weight);
    const float largest = float_of_bits(vec_largest_u32(ranges->max_component));
    return weight < 0x7f800000u - base &&
           is_fast_exact(m, call->table, range, notes_powers(m, output) ? max_of_powers(largest) : largest,
                         float_of_bits(weight + base));
}

/* f16: whether the fast path takes symbols that an equaliser has erased, by an infinite N0. Their weight is 0, but
 * their LLRs must be +0. f32 has too few operations to hide masks among. */
VEC bool masks_erasures(softqam_output_format output)
{
    return HAS_MASKS && output == SOFTQAM_OUTPUT_F16;
}

/* The weights of a step, of is_twice in the order of vec_load_for_twice(). */
VEC vec_f32 step_weight(softqam_output_format output, bool is_exact, bool is_twice, const llr_constants *constants,
                        const float *noise, tile_ranges *ranges)
{
    if (constants->noise_kind == SOFTQAM_ONE_WEIGHT)
        return constants->weight;
    const softqam_noise_kind kind = constants->noise_kind;
    const vec_f32 values = is_twice ? vec_load_for_twice(noise) : vec_load_f32(noise);
    vec_f32 weight;
    if (is_exact)
        return kind == SOFTQAM_NOISE_N0        ? llr_weight(constants->steps_per_nat, values, false)
               : kind == SOFTQAM_NOISE_INVERSE ? llr_weight(constants->steps_per_nat, values, true)
                                               : vec_flip(values, constants->weight_flip);
    if (kind == SOFTQAM_NOISE_N0)
        weight = vec_div(constants->steps_per_nat, values);
    else if (kind == SOFTQAM_NOISE_INVERSE)
        weight = vec_mul(constants->steps_per_nat, values);
    else
        weight = vec_flip(values, constants->weight_flip);
    if (are_steps(output)) { /* an erasure's weight becomes 0, and its LLRs are 0 steps */
        weight = vec_max(weight, vec_splat(0.0f));
        ranges->max_weight = vec_max_u32(ranges->max_weight, vec_bits(weight));
        return weight;
    }
    vec_u32 above_base = vec_sub_u32(vec_bits(weight), constants->weight_base);
    if (masks_erasures(output))
        above_base =
            vec_bits(vec_keep(vec_are_different(vec_bits(values), constants->erased_noise), vec_from_bits(above_base)));
    ranges->max_weight = vec_max_u32(ranges->max_weight, above_base);
    return weight;
}

/* An LLR of the fast path; of s8 and s16 the sum. s8's is limited by packing alone, f16's only from 46 dB on, or where
 * a limit costs little. */
VEC vec_f32 fast_llr(softqam_output_format output, const llr_constants *constants, vec_f32 metric, vec_f32 weight)
{
    const vec_mask kept = vec_are_different(vec_shift_left(vec_bits(weight), 1), vec_splat_u32(0));
    switch (output) {
    case SOFTQAM_OUTPUT_S8:
        return llr_sum(metric, weight);
    case SOFTQAM_OUTPUT_S16:
        return llr_rounded(metric, weight, constants->min_sum, constants->max_sum);
    case SOFTQAM_OUTPUT_F16:
        return HAS_MASKS ? vec_keep(kept, llr_scaled(metric, weight, constants->limit)) : vec_mul(metric, weight);
    case SOFTQAM_OUTPUT_F32:
    case SOFTQAM_OUTPUT_U8:
        break;
    }
    return vec_mul(metric, weight);
}

/* A register's LLRs on the fast path. */
VEC llr_registers fast_llrs(int m, softqam_output_format output, softqam_llr_layout layout,
                            const llr_constants *constants, vec_f32 components, vec_llr_row row, vec_f32 weight,
                            vec_u32 flips)
{
    vec_f32 metrics[MAX_AXIS_BITS];
    llr_registers llrs;
    fast_metrics(m, &constants->table, &constants->lines, components, row, metrics);
    VEC_UNROLL
    for (int k = 0; k < m; k++)
        llrs.bits[k] = fast_llr(output, constants, flipped(m, output, layout, metrics[k], flips, k), weight);
    return llrs;
}

/* An LLR of any value; of s8 and s16 the sum. An erasure's is 0. */
VEC vec_f32 exact_llr(softqam_output_format output, const llr_constants *constants, vec_mask valid, vec_f32 metric,
                      vec_f32 weight)
{
    const vec_f32 erasure = vec_splat(ROUNDING_CONSTANT);
    if (output == SOFTQAM_OUTPUT_S8) /* packing limits what is too large, but a sum below zero has bits out of order */
        return vec_choose(valid, vec_max(llr_sum(metric, weight), constants->min_sum), erasure);
    if (output == SOFTQAM_OUTPUT_S16)
        return vec_choose(valid, llr_rounded(metric, weight, constants->min_sum, constants->max_sum), erasure);
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
        llrs.bits[k] = exact_llr(output, constants, valid, flipped(m, output, layout, metrics[k], flips, k), weight);
    return llrs;
}

VEC void bpsk_step(softqam_output_format output, softqam_llr_layout layout, bool is_exact,
                   const llr_constants *constants, llr_position at, vec_f32 a, vec_f32 b, vec_f32 weight)
{
    const vec_f32 i = vec_evens(a, b), q = vec_odds(a, b);
    const vec_u32 flips = flips_at(0, output, constants, at.bit), i_flip = constants->i_flips[at.is_odd];
    vec_f32 metric, llr;
    if (is_exact) {
        const vec_f32 zero = vec_splat(0.0f);
        const vec_mask valid = vec_are_numbers(vec_fma(i, zero, weight), vec_fma(q, zero, weight));
        metric = flipped(0, output, layout, bpsk_metric(&constants->table, i, q, i_flip), flips, 0);
        llr = exact_llr(output, constants, valid, metric, weight);
    } else {
        metric = flipped(0, output, layout, fast_bpsk_metric(&constants->table, i, q, i_flip), flips, 0);
        llr = fast_llr(output, constants, metric, weight);
    }
    store_bpsk(output, constants, at.out, llr);
}

/* A step's two registers of components are of its first LANES / 2 symbols and of the others. */
VEC void llr_step(int m, softqam_output_format output, softqam_llr_layout layout, bool is_exact,
                  const llr_constants *constants, llr_position at, tile_ranges *ranges)
{
    const vec_f32 a = vec_load_f32(at.components), b = vec_load_f32(at.components + LANES);
    const vec_f32 weight = step_weight(output, is_exact, m > 0, constants, at.noise, ranges);
    const bool in_planes = layout == SOFTQAM_LLRS_IN_PLANES;
    const bool is_alone = is_stored_alone(m, output) && !in_planes;
    const size_t half = LANES / 2;
    prefetch_inputs(at.components, 2 * LANES * sizeof(float));
    if (!is_exact)
        note_components(m, output, ranges, a, b);
    if (m == 0) {
        bpsk_step(output, layout, is_exact, constants, at, a, b, weight);
        return;
    }
    shifted_bits shifted;
    const unsigned char *flips = step_flips(m, output, constants, at.bit, &shifted);
    const vec_u32 flips_a = flips_at(m, output, constants, at.bit),
                  flips_b = flips_at(m, output, constants, at.bit + LANES * (size_t)m);
    const vec_f32 weight_a = vec_twice_lower(weight), weight_b = vec_twice_upper(weight);
    /* Both rows first: one after the other they take 3 to 10 % longer. */
    const vec_llr_row row_a = fast_row_of(m, &constants->table, a);
    const vec_llr_row row_b = fast_row_of(m, &constants->table, b);
    const llr_registers of_a = is_exact ? exact_llrs(m, output, layout, false, constants, a, weight_a, flips_a)
                                        : fast_llrs(m, output, layout, constants, a, row_a, weight_a, flips_a);
    if (is_alone)
        store_alone(m, output, constants, at.out, &of_a, flips);
    const llr_registers of_b = is_exact ? exact_llrs(m, output, layout, false, constants, b, weight_b, flips_b)
                                        : fast_llrs(m, output, layout, constants, b, row_b, weight_b, flips_b);
    if (is_alone)
        store_alone(m, output, constants, at.out + half * at.symbol_nbytes, &of_b,
                    flips ? flips + half * llr_symbol_bits(m) / 8 : NULL);
    else if (in_planes)
        store_planes(m, output, constants, at.out, &of_a, &of_b);
    else
        store_both(m, output, constants, at.out, &of_a, &of_b, flips);
}

/* Two steps of de-interleaved s8 at once. */
VEC void double_step(int m, bool is_exact, const llr_constants *constants, llr_position at, tile_ranges *ranges)
{
    const softqam_output_format output = SOFTQAM_OUTPUT_S8;
    const vec_u32 none = vec_splat_u32(0);
    shifted_bits shifted;
    vec_f32 from[4], weights[2];
    llr_registers llrs[4];
    VEC_UNROLL
    for (int k = 0; k < 2; k++)
        weights[k] = step_weight(output, is_exact, false, constants, at.noise + k * LANES * (int)at.noise_step, ranges);
    VEC_UNROLL
    for (int k = 0; k < 4; k++)
        from[k] = vec_load_f32(at.components + k * LANES);
    if (!is_exact) {
        note_components(m, output, ranges, from[0], from[1]);
        note_components(m, output, ranges, from[2], from[3]);
    }
    prefetch_inputs(at.components, 4 * LANES * sizeof(float));
    VEC_UNROLL
    for (int q = 0; q < 4; q++) {
        const vec_f32 components = vec_plane_components(from, q), weight = vec_plane_weights(weights, q);
        llrs[q] = is_exact ? exact_llrs(m, output, SOFTQAM_LLRS_IN_PLANES, true, constants, components, weight, none)
                           : fast_llrs(m, output, SOFTQAM_LLRS_IN_PLANES, constants, components,
                                       fast_row_of(m, &constants->table, components), weight, none);
    }
    store_double_step(m, constants, at.out, llrs, step_flips(m, output, constants, at.bit, &shifted));
}

VEC size_t step_symbols(softqam_output_format output, softqam_llr_layout layout)
{
    return layout == SOFTQAM_LLRS_IN_PLANES && output == SOFTQAM_OUTPUT_S8 ? PLANE_SYMBOLS : LANES;
}

VEC tile_ranges llr_tile(int m, softqam_output_format output, softqam_llr_layout layout, bool is_exact, bool has_ahead,
                         const llr_constants *constants, llr_position at, size_t n_symbols)
{
    const size_t n_step = step_symbols(output, layout);
    tile_ranges ranges = {vec_splat_u32(0), vec_splat_u32(0xffffffffu), vec_splat_u32(0)};
    if (constants->noise_kind == SOFTQAM_ONE_WEIGHT)
        ranges.max_weight = vec_sub_u32(vec_bits(constants->weight), constants->weight_base);
    do {
        if (has_ahead)
            prefetch_outputs(at.ahead, n_step * at.ahead_nbytes);
        if (n_step == PLANE_SYMBOLS)
            double_step(m, is_exact, constants, at, &ranges);
        else
            llr_step(m, output, layout, is_exact, constants, at, &ranges);
    } while (next_step(m, n_step, &at, &n_symbols));
    return ranges;
}

VEC void llr_loop(int m, softqam_output_format output, softqam_llr_layout layout, const softqam_loop_call *call)
{
    softqam_llr_table negated;
    const llr_constants constants = load_llr_constants(m, output, layout, call, &negated);
    const size_t n_step = step_symbols(output, layout), value_nbytes = llr_nbytes(output);
    size_t n_symbols = call->n_symbols;
    bool is_exact = false;
    llr_position at = {.components = call->components,
                       .noise = call->noise,
                       .out = call->out,
                       .symbol_nbytes =
                           layout == SOFTQAM_LLRS_IN_PLANES ? value_nbytes : llr_symbol_bits(m) * value_nbytes,
                       .noise_step = call->noise_kind != SOFTQAM_ONE_WEIGHT,
                       .ahead = call->ahead ? call->ahead : call->out,
                       .ahead_nbytes = call->ahead ? call->ahead_nbytes : 0};
    for (unsigned number = 0; n_symbols > 0; number++) {
        size_t n = LLR_TILE_SYMBOLS;
        if (is_exact && number % TILES_BEFORE_RETRY == 0) {
            n = LLR_RETRY_SYMBOLS;
            is_exact = false;
        }
        /* No tile is shorter than a step. */
        n = n_symbols < n + n_step ? n_symbols : n;
        if (!is_exact) {
            const tile_ranges ranges = layout == SOFTQAM_LLRS_IN_PLANES && at.ahead_nbytes > 0
                                           ? llr_tile(m, output, layout, false, true, &constants, at, n)
                                           : llr_tile(m, output, layout, false, false, &constants, at, n);
            is_exact = !are_ranges_exact(m, output, call, &ranges);
        }
        if (is_exact)
            llr_tile(m, output, layout, true, false, &constants, at, n);
        at = llr_position_after(m, at, (ptrdiff_t)n);
        n_symbols -= n;
    }
}

#define DEFINE_LLR_LOOP(name, m, output, layout)                                                                       \
    static void name(const softqam_loop_call *call)                                                                    \
    {                                                                                                                  \
        llr_loop(m, output, layout, call);                                                                             \
    }
#define DEFINE_OUTPUT(name, m, output)                                                                                 \
    DEFINE_LLR_LOOP(name##_as_sent, m, output, SOFTQAM_LLRS_AS_SENT)                                                   \
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
        [SOFTQAM_LLRS_AS_SENT] = name##_as_sent, [SOFTQAM_LLRS_DESCRAMBLED] = name##_descrambled                       \
    }
#define ALL_LAYOUTS(name)                                                                                              \
    {                                                                                                                  \
        [SOFTQAM_LLRS_AS_SENT] = name##_as_sent, [SOFTQAM_LLRS_DESCRAMBLED] = name##_descrambled,                      \
        [SOFTQAM_LLRS_IN_PLANES] = name##_in_planes                                                                    \
    }

_Static_assert(MAX_AXIS_BITS == 5 && SOFTQAM_LLR_LAYOUTS == 3, "loops for each");
static const softqam_llr_loops llr_loops[MAX_AXIS_BITS + 1] = {
    LLR_LOOPS(loop_bpsk, NO_PLANES),    LLR_LOOPS(loop_qpsk, ALL_LAYOUTS),   LLR_LOOPS(loop_16qam, ALL_LAYOUTS),
    LLR_LOOPS(loop_64qam, ALL_LAYOUTS), LLR_LOOPS(loop_256qam, ALL_LAYOUTS), LLR_LOOPS(loop_1024qam, ALL_LAYOUTS)};

#endif
