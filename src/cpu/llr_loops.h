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

_Static_assert(N_OUTPUT_FORMATS == 5, "llr_nbytes() knows the size of each");
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

/* A register's LLRs on the exact path. */
VEC llr_registers exact_llrs(int m, softqam_output_format output, softqam_llr_layout layout,
                             const llr_constants *constants, vec_mask valid, vec_f32 components, vec_f32 weight,
                             vec_u32 flips)
{
    vec_f32 metrics[MAX_AXIS_BITS];
    llr_registers llrs;
    axis_metrics(m, &constants->table, components, metrics);
    VEC_UNROLL
    for (int k = 0; k < m; k++)
        llrs.bits[k] = exact_llr(m, output, constants, valid, flipped(m, output, layout, metrics[k], flips, k), weight);
    return llrs;
}

/* What a step's LLRs are computed from. It has two registers of components, of its first LANES / 2 symbols and of the
 * others, or, BPSK's, its I and its Q; a double step has four, by vec_plane_components(), and weights for each half. */
typedef struct step_inputs {
    vec_f32 components[4];
    step_weights of_halves[2];
    vec_f32 weights[4]; /* of the registers */
    vec_llr_row rows[4];
} step_inputs;

VEC size_t step_symbols(softqam_output_format output, softqam_llr_layout layout)
{
    return layout == SOFTQAM_LLRS_IN_PLANES && output == SOFTQAM_OUTPUT_S8 ? PLANE_SYMBOLS : LANES;
}

VEC void load_weights(int m, softqam_output_format output, softqam_noise_kind kind, bool is_exact, bool is_double,
                      const llr_constants *constants, llr_position at, step_inputs *inputs, tile_ranges *ranges)
{
    VEC_UNROLL
    for (int k = 0; k < 1 + is_double; k++)
        inputs->of_halves[k] = weights_of_step(output, kind, is_exact, m > 0 && !is_double, constants,
                                               at.noise + k * LANES * (int)at.noise_step, ranges);
}

/* A value for each symbol of the halves, as they belong to register q's components. */
VEC vec_f32 register_values(int m, bool is_double, bool by_load, const vec_f32 values[2], int q)
{
    if (is_double)
        return vec_plane_weights(by_load, values, q);
    return m == 0 ? values[0] : q == 0 ? vec_duplicate_lower(values[0]) : vec_duplicate_upper(values[0]);
}

/* Of a step whose weights are loaded. */
VEC void load_step_components(int m, softqam_output_format output, softqam_noise_kind kind, bool is_exact,
                              bool is_double, llr_position at, step_inputs *inputs, tile_ranges *ranges)
{
    const vec_f32 inverses[2] = {inputs->of_halves[0].inverse_gain, inputs->of_halves[is_double].inverse_gain};
    const int n = is_double ? 4 : 2;
    vec_f32 from[4];
    VEC_UNROLL
    for (int k = 0; k < n; k++)
        from[k] = vec_load_f32(at.components + k * LANES);
    VEC_UNROLL
    for (int q = 0; q < n; q++) {
        vec_f32 components = from[q];
        if (is_double)
            components = vec_plane_components(from, q);
        else if (m == 0)
            components = q == 0 ? vec_evens(from[0], from[1]) : vec_odds(from[0], from[1]);
        if (softqam_has_gains(kind))
            components = vec_mul(components, register_values(m, is_double, m > 1, inverses, q));
        inputs->components[q] = components;
    }
    prefetch_inputs(at.components, (size_t)n * LANES * sizeof(float));
    VEC_UNROLL
    for (int q = 0; q < n && !is_exact; q += 2)
        track_components(m, output, ranges, inputs->components[q], inputs->components[q + 1]);
}

/* Register q's weights and rows. */
VEC void prepare_register(int m, softqam_noise_kind kind, bool is_double, const llr_constants *constants,
                          step_inputs *inputs, int q)
{
    const vec_f32 weights[2] = {inputs->of_halves[0].weight, inputs->of_halves[is_double].weight};
    const bool by_load = m > (softqam_has_gains(kind) ? 1 : 2);
    inputs->weights[q] = register_values(m, is_double, by_load, weights, q);
    inputs->rows[q] = fast_row_of(m, &constants->table, inputs->components[q]);
}

VEC void load_registers(int m, softqam_output_format output, softqam_noise_kind kind, bool is_exact, bool is_double,
                        const llr_constants *constants, llr_position at, step_inputs *inputs, tile_ranges *ranges)
{
    const int n = is_double ? 4 : 2;
    load_step_components(m, output, kind, is_exact, is_double, at, inputs, ranges);
    VEC_UNROLL
    for (int q = 0; q < n; q++)
        prepare_register(m, kind, is_double, constants, inputs, q);
}

VEC void bpsk_step(softqam_output_format output, softqam_llr_layout layout, bool is_exact,
                   const llr_constants *constants, llr_position at, const step_inputs *inputs, tile_ranges *ranges)
{
    const vec_u32 flips = flips_at(0, output, constants, at.bit), i_flip = constants->i_flips[at.is_odd];
    const vec_f32 i = inputs->components[0], q = inputs->components[1], weight = inputs->weights[0];
    vec_f32 metric, llr;
    if (is_exact) {
        const vec_f32 zero = vec_splat(0.0f);
        const vec_mask valid = vec_are_numbers(vec_fma(i, zero, weight), vec_fma(q, zero, weight));
        metric = flipped(0, output, layout, bpsk_metric(&constants->table, i, q, i_flip), flips, 0);
        llr = exact_llr(0, output, constants, valid, metric, weight);
    } else {
        metric = fast_bpsk_metric(&constants->lines, i, q, i_flip);
        track_metric(0, output, ranges, metric);
        llr = fast_llr(output, constants, flipped(0, output, layout, metric, flips, 0), weight,
                       inputs->of_halves[0].addends[0]);
        limit_f16(output, constants, &llr, 1);
    }
    store_bpsk(output, constants, at.out, llr);
}

/* The LLRs of register q of two or, of a double step, four. */
VEC llr_registers step_llrs(int m, softqam_output_format output, softqam_llr_layout layout, bool is_exact,
                            const llr_constants *constants, const step_inputs *inputs, int q, int n, vec_u32 flips,
                            tile_ranges *ranges)
{
    const vec_f32 components = inputs->components[q], weight = inputs->weights[q];
    if (!is_exact)
        return fast_llrs(m, output, layout, constants, components, inputs->rows[q], weight,
                         inputs->of_halves[0].addends[n == 4 ? 0 : q], flips, ranges);
    /* Times zero, what is not finite is NaN, and so is the weight of an erasure. */
    vec_f32 numbers[4];
    VEC_UNROLL
    for (int k = 0; k < n; k++)
        numbers[k] = vec_fma(inputs->components[k], vec_splat(0.0f), inputs->weights[k]);
    const vec_f32 of_other_axis = n == 4 ? vec_other_plane(numbers, q) : vec_swap_pairs(numbers[q]);
    return exact_llrs(m, output, layout, constants, vec_are_numbers(numbers[q], of_other_axis), components, weight,
                      flips);
}

VEC void llr_step(int m, softqam_output_format output, softqam_llr_layout layout, softqam_noise_kind kind,
                  bool is_exact, bool is_prepared, const llr_constants *constants, llr_position at, step_inputs *inputs,
                  tile_ranges *ranges)
{
    /* Both rows first: one after the other they take 3 to 10 % longer. */
    VEC_UNROLL
    for (int q = 0; q < 2 && !is_prepared; q++)
        prepare_register(m, kind, false, constants, inputs, q);
    const bool in_planes = layout == SOFTQAM_LLRS_IN_PLANES;
    const bool is_alone = is_stored_alone(m, output) && !in_planes;
    const size_t half = LANES / 2;
    if (m == 0) {
        bpsk_step(output, layout, is_exact, constants, at, inputs, ranges);
        return;
    }
    shifted_bits shifted;
    const unsigned char *flips = step_flips(m, output, constants, at.bit, &shifted);
    const vec_u32 flips_a = flips_at(m, output, constants, at.bit),
                  flips_b = flips_at(m, output, constants, at.bit + LANES * (size_t)m);
    const llr_registers of_a = step_llrs(m, output, layout, is_exact, constants, inputs, 0, 2, flips_a, ranges);
    if (is_alone)
        store_alone(m, output, constants, at.out, &of_a, flips);
    const llr_registers of_b = step_llrs(m, output, layout, is_exact, constants, inputs, 1, 2, flips_b, ranges);
    if (is_alone)
        store_alone(m, output, constants, at.out + half * at.symbol_nbytes, &of_b,
                    flips ? flips + half * llr_symbol_bits(m) / 8 : NULL);
    else if (in_planes)
        store_planes(m, output, constants, at.out, &of_a, &of_b);
    else
        store_both(m, output, constants, at.out, &of_a, &of_b, flips);
}

/* A double step: two of de-interleaved s8 at once. */
VEC void s8_planes_step(int m, softqam_noise_kind kind, bool is_exact, bool is_prepared, const llr_constants *constants,
                        llr_position at, step_inputs *inputs, tile_ranges *ranges)
{
    const softqam_output_format output = SOFTQAM_OUTPUT_S8;
    shifted_bits shifted;
    llr_registers llrs[4];
    VEC_UNROLL
    for (int q = 0; q < 4 && is_exact; q++)
        prepare_register(m, kind, true, constants, inputs, q);
    VEC_UNROLL
    for (int q = 0; q < 4; q++) {
        if (!is_prepared && !is_exact)
            prepare_register(m, kind, true, constants, inputs, q);
        llrs[q] =
            step_llrs(m, output, SOFTQAM_LLRS_IN_PLANES, is_exact, constants, inputs, q, 4, vec_splat_u32(0), ranges);
    }
    store_s8_planes(m, constants, at.out, llrs, step_flips(m, output, constants, at.bit, &shifted));
}

/* LLRs wait long for their weights and rows. So weights of gains are computed a step ahead; where there are registers
 * for it, all inputs of s8 but in the shortest steps. In the last step they are its own again. */
VEC tile_ranges llr_tile(int m, softqam_output_format output, softqam_llr_layout layout, softqam_noise_kind kind,
                         bool is_exact, const llr_constants *constants, llr_position at, size_t n_symbols)
{
    const size_t n_step = step_symbols(output, layout);
    const bool is_double = n_step == PLANE_SYMBOLS;
    const bool is_ahead = LOADS_AHEAD && !is_exact && output == SOFTQAM_OUTPUT_S8 && (m > 2 || is_double);
    const bool has_weights_ahead = is_ahead || softqam_has_gains(kind);
    tile_ranges ranges = {vec_splat_u32(0), vec_splat_u32(0xffffffffu), vec_splat_u32(0), vec_splat_u32(0)};
    step_inputs ahead = {.of_halves = {weights_with_addend(constants, constants->weight, constants->weight)}};
    bool has_next;
    at.noise_step = kind != SOFTQAM_ONE_WEIGHT;
    if (kind == SOFTQAM_ONE_WEIGHT)
        ranges.max_weight = vec_sub_u32(vec_bits(constants->weight), constants->weight_base);
    if (has_weights_ahead)
        load_weights(m, output, kind, is_exact, is_double, constants, at, &ahead, &ranges);
    if (is_ahead)
        load_registers(m, output, kind, is_exact, is_double, constants, at, &ahead, &ranges);
    do {
        step_inputs inputs = ahead;
        llr_position next = at;
        if (has_weights_ahead) {
            has_next = next_step(m, n_step, &next, &n_symbols);
            load_weights(m, output, kind, is_exact, is_double, constants, next, &ahead, &ranges);
        } else {
            load_weights(m, output, kind, is_exact, is_double, constants, at, &inputs, &ranges);
        }
        if (is_ahead)
            load_registers(m, output, kind, is_exact, is_double, constants, next, &ahead, &ranges);
        else
            load_step_components(m, output, kind, is_exact, is_double, at, &inputs, &ranges);
        if (is_double)
            s8_planes_step(m, kind, is_exact, is_ahead, constants, at, &inputs, &ranges);
        else
            llr_step(m, output, layout, kind, is_exact, is_ahead, constants, at, &inputs, &ranges);
        if (has_weights_ahead)
            at = next;
        else
            has_next = next_step(m, n_step, &at, &n_symbols);
    } while (has_next);
    return ranges;
}

/* On the fast path. Short steps have a loop for each frequent kind of noise: to branch in each step costs up to 20 %.
 */
VEC tile_ranges fast_tile(int m, softqam_output_format output, softqam_llr_layout layout,
                          const llr_constants *constants, llr_position at, size_t n_symbols)
{
    const softqam_noise_kind kind = constants->noise_kind;
    const bool is_short = m <= 2 || (m <= 4 && output == SOFTQAM_OUTPUT_S8), is_n0 = kind == SOFTQAM_GAINS_N0;
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
