/* SPDX-License-Identifier: MIT */
/* The loops of LLRs for vectors of 128-bit parts, any number of them: included by avx512.c, avx2.c and neon.c after
 * their SIMD header and arithmetic_usual.h. LLRs are computed from components as they lie in memory, since no axis
 * needs the other. A step takes LANES symbols, which are two registers of components; the last step goes back to be a
 * whole one.
 *
 * Symbols are taken in tiles that stay in the first cache. A tile is first computed as if all of its values were usual,
 * and while that is done it is found out whether they are; if not, it is computed again in full. So no branch depends
 * on a symbol, and the usual way has two operations a step more for it.
 *
 * Long, since a tile's ways are parts of one loop; how values are stored is llr_stores.h. */
#ifndef SOFTQAM_CPU_LLR_LOOPS_H
#define SOFTQAM_CPU_LLR_LOOPS_H

#include "llr_stores.h"
#include "prefetch.h"
#include "variant.h"

/* Symbols of a tile; after how many tiles the quickest way is tried again; and on how many symbols, where the tile
 * before did not allow it. */
enum { LLR_TILE_SYMBOLS = 1024, TILES_BEFORE_RETRY = 16, LLR_RETRY_SYMBOLS = 64 };

/* Where a tile's symbols and noise lie and where its LLRs go. */
typedef struct llr_place {
    const unsigned char *components;
    const float *noise;
    unsigned char *out;
    size_t input_nbytes;  /* from a symbol to the next one */
    unsigned odd;         /* 1 where an odd number of symbols lies between this place and the loop's first symbol */
    size_t symbol_nbytes; /* from a symbol's first LLR to the next one's */
    size_t bit;           /* of the scrambling sequence */
    size_t symbol;        /* from the loop's first one on */
    prefetch ahead;
} llr_place;

VEC size_t llr_symbol_bits(int m)
{
    return m == 0 ? 1 : 2 * (size_t)m;
}

VEC size_t llr_symbol_nbytes(int m, llr_output output)
{
    return llr_symbol_bits(m) * (output == LLRS_F32 ? 4 : output <= LLRS_S8 ? 1 : 2);
}

VEC llr_place llr_place_after(int m, softqam_noise_kind kind, llr_place at, size_t n)
{
    return (llr_place){at.components + n * at.input_nbytes,
                       at.noise + (kind == SOFTQAM_ONE_WEIGHT ? 0 : n),
                       at.out + n * at.symbol_nbytes,
                       at.input_nbytes,
                       (at.odd + (unsigned)n) % 2,
                       at.symbol_nbytes,
                       at.bit + n * llr_symbol_bits(m),
                       at.symbol + n,
                       at.ahead};
}

/* What a tile's values turned out to be. */
typedef enum tile_values { VALUES_NARROW, VALUES_USUAL, VALUES_FAR, VALUES_ANY } tile_values;

/* Whether a loop has a way for VALUES_FAR. */
VEC bool takes_far(int m, llr_output output)
{
    return m > 0 && output <= LLRS_S8;
}

VEC tile_values values_seen(int m, llr_output output, const llr_constants *constants, vec_u32 components,
                            vec_u32 weights)
{
    if (takes_far(m, output) && vec_any_bits(components, constants->component_mask))
        return vec_any_from(weights, constants->narrow_weight_span) ? VALUES_ANY : VALUES_FAR;
    if (vec_any_bits(components, constants->component_mask) || vec_any_from(weights, constants->weight_span))
        return VALUES_ANY;
    return vec_any_from(weights, constants->narrow_weight_span) ? VALUES_USUAL : VALUES_NARROW;
}

VEC vec_u32 see_components(int m, llr_output output, vec_u32 seen, vec_f32 components)
{
    const uint32_t flipped = usual_range_of(m, output).component_xor;
    return flipped ? vec_or_xor(seen, vec_bits(components), vec_splat_u32(flipped))
                   : vec_or_u32(seen, vec_bits(components));
}

/* One step further; the last one goes back to be a whole one. False when there are no more. */
VEC bool next_step(int m, softqam_noise_kind kind, size_t n_step, llr_place *at, size_t *n_left)
{
    *n_left -= n_step;
    if (*n_left == 0)
        return false;
    *at = llr_place_after(m, kind, *at, n_step);
    if (__builtin_expect(*n_left < n_step, 0)) {
        const size_t back = n_step - *n_left;
        at->components -= back * at->input_nbytes;
        at->noise -= kind == SOFTQAM_ONE_WEIGHT ? 0 : back;
        at->out -= back * at->symbol_nbytes;
        at->bit -= back * llr_symbol_bits(m);
        at->symbol -= back;
        at->odd = (at->odd + (unsigned)back) % 2;
        *n_left = n_step;
    }
    return true;
}

VEC void full_step(int m, llr_output output, const llr_constants *constants, llr_place at, vec_f32 a, vec_f32 b,
                   vec_f32 weight)
{
    shifted_bits shifted;
    const s8_rule rule = {true, true, output, constants, step_flips(m, output, constants, at.bit, &shifted)};
    const size_t half = LANES / 2 * llr_symbol_nbytes(m, output);
    if (m == 0) {
        const vec_f32 i = vec_evens(a, b), q = vec_odds(a, b), zero = vec_splat(0.0f);
        const vec_mask valid = vec_are_numbers(vec_fma(i, zero, weight), vec_fma(q, zero, weight));
        const vec_f32 metric =
            flipped(m, output, constants, bpsk_metric(&constants->table, i, q, constants->turns[at.odd]),
                    flips_at(m, output, constants, at.bit), 0);
        vec_f32 llr = full_llr(output, constants, valid, metric, weight);
        if (output <= LLRS_S8) /* an erasure's sum is not a number of steps */
            llr = vec_choose(valid, llr, vec_splat(ROUNDING_CONSTANT));
        store_bpsk(output, rule, at.out, llr);
        return;
    }
    const vec_u32 flips_a = flips_at(m, output, constants, at.bit),
                  flips_b = flips_at(m, output, constants, at.bit + (size_t)LANES * m);
    const llr_registers of_a = full_llrs(m, output, constants, a, vec_twice_lower(weight), flips_a);
    if (is_stored_alone(m, output) && !constants->in_planes)
        store_alone(m, output, rule, at.out, &of_a, 0);
    const llr_registers of_b = full_llrs(m, output, constants, b, vec_twice_upper(weight), flips_b);
    if (constants->in_planes)
        store_planes(m, output, constants, at.out, &of_a, &of_b);
    else if (is_stored_alone(m, output))
        store_alone(m, output, rule, at.out + half, &of_b, 1);
    else
        store_both(m, output, rule, at.out, &of_a, &of_b);
}

/* s8 of components of any size and symbols that are not finite, whose weight counts as zero; of usual weights. */
VEC llr_registers far_llrs(int m, llr_output output, const llr_constants *constants, vec_f32 components, vec_f32 weight,
                           vec_f32 most, vec_u32 flips)
{
    /* Times zero, what is not finite is NaN. */
    const vec_f32 zeros = vec_mul(components, vec_splat(0.0f));
    const vec_mask valid = vec_are_numbers(zeros, partners(output, constants, zeros));
    const vec_f32 kept = vec_keep(valid, weight);
    vec_f32 metrics[MAX_AXIS_BITS];
    llr_registers llrs;
    far_metrics(m, &constants->table, valid, components, most, metrics);
    VEC_UNROLL
    for (int k = 0; k < m; k++)
        llrs.bits[k] = llr_sum(flipped(m, output, constants, metrics[k], flips, k), kept);
    return llrs;
}

/* What a step is computed as. */
typedef enum llr_way { WAY_NARROW, WAY_USUAL, WAY_FAR, WAY_FULL } llr_way;

/* A double step's registers: of the symbols of even number, for each half, and of those of odd number; weights and
 * limits as they are computed. */
typedef struct step_values {
    vec_f32 components[4];
    vec_f32 weights[2];
    vec_f32 most[2]; /* WAY_FAR: of the components' magnitudes */
} step_values;

/* Loops for codewords have noise values for each symbol. What lies ahead of several layers the processor finds out
 * itself. */
VEC void load_double_step(const llr_constants *constants, llr_place *place, step_values *step, vec_f32 noise[2])
{
    const llr_place at = *place;
    const unsigned n_layers = constants->n_layers;
    const size_t element = n_layers == 4 ? at.symbol / 4 : at.symbol / 2;
    vec_f32 from[4];
    VEC_UNROLL
    for (int k = 0; k < 4; k++)
        from[k] = vec_load_f32(n_layers > 1 ? constants->layers[k] + 2 * element
                                            : (const float *)(const void *)at.components + k * LANES);
    if (n_layers > 1) {
        const float *const *of = constants->layers_noise;
        VEC_UNROLL
        for (int k = 0; k < 2; k++) {
            step->components[k] = vec_symbols_of_layers(n_layers, from[0], from[1], k);
            step->components[2 + k] = vec_symbols_of_layers(n_layers, from[2], from[3], k);
            noise[k] = vec_load_two_halves(of[2 * k] + element, of[2 * k + 1] + element);
        }
    } else {
        VEC_UNROLL
        for (int k = 0; k < 2; k++) {
            const vec_f32 a = from[vec_plane_register(k, 0)], b = from[vec_plane_register(k, 1)];
            step->components[k] = vec_even_symbols(a, b);
            step->components[2 + k] = vec_odd_symbols(a, b);
            noise[k] = vec_load_f32(at.noise + k * LANES);
        }
        prefetch_step(&place->ahead, at.components, PLANE_SYMBOLS * 2 * sizeof(float), false);
    }
}

/* Values of symbols to where the double step's registers have their components. */
typedef struct plane_values {
    vec_f32 even[2];
    vec_f32 odd[2];
} plane_values;

VEC plane_values plane_values_of(unsigned n_layers, const vec_f32 values[2])
{
    plane_values self;
    VEC_UNROLL
    for (int half = 0; half < 2; half++) {
        self.even[half] = n_layers > 1 ? vec_weights_of_layers(n_layers, values[0], half)
                                       : vec_even_weights(values[0], values[1], half);
        self.odd[half] = n_layers > 1 ? vec_weights_of_layers(n_layers, values[1], half)
                                      : vec_odd_weights(values[0], values[1], half);
    }
    return self;
}

VEC llr_registers plane_llrs(int m, llr_output output, llr_way way, const llr_constants *constants, vec_f32 components,
                             vec_f32 weight, vec_f32 most)
{
    const vec_u32 none = vec_splat_u32(0);
    if (way == WAY_FULL)
        return full_llrs(m, output, constants, components, weight, none);
    if (way == WAY_FAR)
        return far_llrs(m, output, constants, components, weight, most, none);
    return usual_llrs(m, output, constants, components, usual_row(m, &constants->table, components), weight, none);
}

VEC void double_step(int m, llr_output output, llr_way way, const llr_constants *constants, llr_place at,
                     const step_values *step)
{
    shifted_bits shifted;
    const s8_rule rule = {way != WAY_USUAL, way == WAY_FULL, output, constants,
                          step_flips(m, output, constants, at.bit, &shifted)};
    const plane_values weights = plane_values_of(constants->n_layers, step->weights);
    plane_values most = weights;
    if (way == WAY_FAR)
        most = plane_values_of(constants->n_layers, step->most);
    plane_words words;
    VEC_UNROLL
    for (int half = 0; half < 2; half++) {
        const llr_registers even =
            plane_llrs(m, output, way, constants, step->components[half], weights.even[half], most.even[half]);
        const llr_registers odd =
            plane_llrs(m, output, way, constants, step->components[2 + half], weights.odd[half], most.odd[half]);
        VEC_UNROLL
        for (int k = 0; k < m; k++)
            words.halves[half][k] = plane_words_of(rule, even.bits[k], odd.bits[k]);
    }
    store_double_step(m, rule, at.out, &words);
}

VEC vec_f32 usual_weight(softqam_noise_kind kind, const llr_constants *constants, vec_f32 noise)
{
    return kind == SOFTQAM_NOISE_INVERSE ? vec_mul(constants->steps_per_nat, noise)
                                         : vec_div(constants->steps_per_nat, noise);
}

/* A tile as if its values were usual, or narrow; returns what they are. A step's two registers of components are of its
 * first LANES / 2 symbols and of the others. */
VEC tile_values usual_tile(int m, llr_output output, bool narrow, softqam_noise_kind kind,
                           const llr_constants *constants, llr_place at, size_t n_symbols)
{
    vec_u32 components_seen = vec_splat_u32(0);
    vec_u32 weights_seen = vec_splat_u32(0);
    vec_f32 weight = constants->weight;
    if (kind == SOFTQAM_ONE_WEIGHT)
        weights_seen = vec_sub_u32(vec_bits(weight), constants->least_weight);
    do {
        prefetch_step(&at.ahead, at.components, LANES * at.input_nbytes, constants->streaming);
        const vec_f32 a = read_register(constants->reader, at.components, 0);
        const vec_f32 b = read_register(constants->reader, at.components, 1);
        components_seen = see_components(m, output, components_seen, a);
        components_seen = see_components(m, output, components_seen, b);
        if (kind != SOFTQAM_ONE_WEIGHT) {
            weight = usual_weight(kind, constants, vec_load_f32(at.noise));
            weights_seen = vec_max_u32(weights_seen, vec_sub_u32(vec_bits(weight), constants->least_weight));
        }
        shifted_bits shifted;
        const s8_rule rule = {narrow, false, output, constants, step_flips(m, output, constants, at.bit, &shifted)};
        const size_t half = LANES / 2 * llr_symbol_nbytes(m, output);
        if (m == 0) {
            const vec_f32 metric =
                flipped(m, output, constants,
                        usual_bpsk_metric(&constants->table, vec_evens(a, b), vec_odds(a, b), constants->turns[at.odd]),
                        flips_at(m, output, constants, at.bit), 0);
            store_bpsk(output, rule, at.out, usual_llr(output, constants, metric, weight));
            continue;
        }
        /* Both rows first: one after the other they take 3 to 10 % longer. */
        const vec_llr_row row_a = usual_row(m, &constants->table, a);
        const vec_llr_row row_b = usual_row(m, &constants->table, b);
        const vec_u32 flips_a = flips_at(m, output, constants, at.bit),
                      flips_b = flips_at(m, output, constants, at.bit + (size_t)LANES * m);
        const llr_registers of_a = usual_llrs(m, output, constants, a, row_a, vec_twice_lower(weight), flips_a);
        if (is_stored_alone(m, output) && !constants->in_planes)
            store_alone(m, output, rule, at.out, &of_a, 0);
        const llr_registers of_b = usual_llrs(m, output, constants, b, row_b, vec_twice_upper(weight), flips_b);
        if (constants->in_planes)
            store_planes(m, output, constants, at.out, &of_a, &of_b);
        else if (is_stored_alone(m, output))
            store_alone(m, output, rule, at.out + half, &of_b, 1);
        else
            store_both(m, output, rule, at.out, &of_a, &of_b);
    } while (next_step(m, kind, LANES, &at, &n_symbols));
    return values_seen(m, output, constants, components_seen, weights_seen);
}

/* The same of double steps. */
VEC tile_values usual_double_tile(int m, llr_output output, bool narrow, softqam_noise_kind kind,
                                  const llr_constants *constants, llr_place at, size_t n_symbols)
{
    vec_u32 components_seen = vec_splat_u32(0);
    vec_u32 weights_seen = vec_splat_u32(0);
    do {
        step_values step;
        vec_f32 noise[2];
        load_double_step(constants, &at, &step, noise);
        VEC_UNROLL
        for (int k = 0; k < 4; k++)
            components_seen = see_components(m, output, components_seen, step.components[k]);
        VEC_UNROLL
        for (int k = 0; k < 2; k++) {
            step.weights[k] = usual_weight(kind, constants, noise[k]);
            weights_seen = vec_max_u32(weights_seen, vec_sub_u32(vec_bits(step.weights[k]), constants->least_weight));
        }
        double_step(m, output, narrow ? WAY_NARROW : WAY_USUAL, constants, at, &step);
    } while (next_step(m, kind, PLANE_SYMBOLS, &at, &n_symbols));
    return values_seen(m, output, constants, components_seen, weights_seen);
}

VEC void far_step(int m, llr_output output, const llr_constants *constants, llr_place at, vec_f32 weight, vec_f32 most)
{
    shifted_bits shifted;
    const s8_rule rule = {true, false, output, constants, step_flips(m, output, constants, at.bit, &shifted)};
    const vec_f32 a = read_register(constants->reader, at.components, 0);
    const vec_f32 b = read_register(constants->reader, at.components, 1);
    const vec_u32 flips_a = flips_at(m, output, constants, at.bit),
                  flips_b = flips_at(m, output, constants, at.bit + (size_t)LANES * m);
    const llr_registers of_a =
        far_llrs(m, output, constants, a, vec_twice_lower(weight), vec_twice_lower(most), flips_a);
    if (is_stored_alone(m, output) && !constants->in_planes)
        store_alone(m, output, rule, at.out, &of_a, 0);
    const llr_registers of_b =
        far_llrs(m, output, constants, b, vec_twice_upper(weight), vec_twice_upper(most), flips_b);
    if (constants->in_planes)
        store_planes(m, output, constants, at.out, &of_a, &of_b);
    else if (is_stored_alone(m, output))
        store_alone(m, output, rule, at.out + LANES / 2 * llr_symbol_nbytes(m, output), &of_b, 1);
    else
        store_both(m, output, rule, at.out, &of_a, &of_b);
}

/* Returns VALUES_ANY where a weight was out of its range. */
VEC tile_values far_tile(int m, llr_output output, softqam_noise_kind kind, float steps_per_nat,
                         const llr_constants *constants, llr_place at, size_t n_symbols)
{
    const float least = steps_per_nat * MIN_INVERSE_N0; /* weight */
    const vec_u32 least_weight = vec_splat_u32(float_bits(least));
    const vec_u32 span = vec_splat_u32(float_bits(far_weight_end) - float_bits(fabsf(least)));
    const vec_f32 limit_per_n0 = vec_splat(FAR_LIMIT / fabsf(steps_per_nat));
    const bool is_inverse = kind == SOFTQAM_NOISE_INVERSE;
    vec_f32 weight = constants->weight;
    vec_f32 limit = vec_abs(vec_div(vec_splat(FAR_LIMIT), weight));
    vec_u32 weights_seen = vec_splat_u32(0);
    if (kind == SOFTQAM_ONE_WEIGHT)
        weights_seen = vec_sub_u32(vec_bits(weight), least_weight);
    do {
        if (is_double_step(output, constants)) {
            step_values step;
            vec_f32 noise[2];
            load_double_step(constants, &at, &step, noise);
            VEC_UNROLL
            for (int k = 0; k < 2; k++) {
                step.weights[k] = usual_weight(kind, constants, noise[k]);
                step.most[k] = is_inverse ? vec_div(limit_per_n0, noise[k]) : vec_mul(limit_per_n0, noise[k]);
                weights_seen = vec_max_u32(weights_seen, vec_sub_u32(vec_bits(step.weights[k]), least_weight));
            }
            double_step(m, output, WAY_FAR, constants, at, &step);
            continue;
        }
        prefetch_step(&at.ahead, at.components, LANES * at.input_nbytes, constants->streaming);
        if (kind != SOFTQAM_ONE_WEIGHT) {
            const vec_f32 noise = vec_load_f32(at.noise);
            weight = usual_weight(kind, constants, noise);
            limit = is_inverse ? vec_div(limit_per_n0, noise) : vec_mul(limit_per_n0, noise);
            weights_seen = vec_max_u32(weights_seen, vec_sub_u32(vec_bits(weight), least_weight));
        }
        far_step(m, output, constants, at, weight, limit);
    } while (next_step(m, kind, step_symbols(output, constants), &at, &n_symbols));
    return vec_any_from(weights_seen, span) ? VALUES_ANY : VALUES_FAR;
}

VEC void full_tile(int m, llr_output output, softqam_noise_kind kind, const llr_constants *constants, llr_place at,
                   size_t n_symbols)
{
    const bool is_inverse = kind == SOFTQAM_NOISE_INVERSE;
    do {
        if (is_double_step(output, constants)) {
            step_values step;
            vec_f32 noise[2];
            load_double_step(constants, &at, &step, noise);
            VEC_UNROLL
            for (int k = 0; k < 2; k++)
                step.weights[k] = llr_weight(constants->steps_per_nat, noise[k], is_inverse);
            double_step(m, output, WAY_FULL, constants, at, &step);
            continue;
        }
        prefetch_step(&at.ahead, at.components, LANES * at.input_nbytes, constants->streaming);
        vec_f32 weight = constants->weight;
        if (kind != SOFTQAM_ONE_WEIGHT)
            weight = llr_weight(constants->steps_per_nat, vec_load_f32(at.noise), is_inverse);
        full_step(m, output, constants, at, read_register(constants->reader, at.components, 0),
                  read_register(constants->reader, at.components, 1), weight);
    } while (next_step(m, kind, step_symbols(output, constants), &at, &n_symbols));
}

/* What was narrow is usual too. */
VEC tile_values usual_values(tile_values values)
{
    return values == VALUES_NARROW ? VALUES_USUAL : values;
}

/* What a tile's values may well be, going by its first weight. BPSK has one usual way. */
VEC tile_values likely_values(int m, llr_output output, softqam_noise_kind kind, softqam_llr_scale scale,
                              const float *noise)
{
    float first;
    memcpy(&first, noise, sizeof first);
    if (kind != SOFTQAM_ONE_WEIGHT)
        first = kind == SOFTQAM_NOISE_INVERSE ? scale.steps_per_nat * first : scale.steps_per_nat / first;
    return m > 0 && output <= LLRS_S8 && fabsf(first) < narrow_weight_end(m) ? VALUES_NARROW : VALUES_USUAL;
}

VEC void llr_loop(int m, llr_output output, softqam_noise_kind kind, const softqam_loop_call *call, bool streaming,
                  llr_layout layout)
{
    const llr_constants constants = load_llr_constants(m, output, kind, call, streaming, layout);
    const size_t value_nbytes = llr_symbol_nbytes(0, output), n_step = step_symbols(output, &constants);
    llr_place at = {.components = call->components,
                    .noise = call->noise,
                    .out = call->out,
                    .input_nbytes = constants.reader.symbol_nbytes,
                    .symbol_nbytes = constants.in_planes ? value_nbytes : llr_symbol_nbytes(m, output),
                    .ahead =
                        prefetch_of(call, (unsigned)step_symbols(output, &constants), constants.reader.symbol_nbytes)};
    size_t n_symbols = call->n_symbols;
    tile_values values = VALUES_ANY; /* of the tile before */
    for (unsigned number = 0; n_symbols > 0; number++) {
        size_t n = LLR_TILE_SYMBOLS;
        if (number % TILES_BEFORE_RETRY == 0) {
            n = values == VALUES_ANY && number > 0 ? LLR_RETRY_SYMBOLS : LLR_TILE_SYMBOLS;
            values = likely_values(m, output, kind, call->scale, at.noise);
        }
        /* No tile is shorter than a step. */
        n = n_symbols < n + n_step ? n_symbols : n;
        /* The quickest way first; one is enough where the values turn out to allow it. */
        const bool doubles = is_double_step(output, &constants);
        if (m > 0 && output <= LLRS_S8 && values == VALUES_NARROW)
            values = doubles ? usual_double_tile(m, output, true, kind, &constants, at, n)
                             : usual_tile(m, output, true, kind, &constants, at, n);
        if (values == VALUES_USUAL)
            values = usual_values(doubles ? usual_double_tile(m, output, false, kind, &constants, at, n)
                                          : usual_tile(m, output, false, kind, &constants, at, n));
        if (takes_far(m, output) && values == VALUES_FAR)
            values = far_tile(m, output, kind, call->scale.steps_per_nat, &constants, at, n);
        if (values == VALUES_ANY)
            full_tile(m, output, kind, &constants, at, n);
        at = llr_place_after(m, kind, at, n);
        at.ahead.at += n / n_step * at.ahead.step_nbytes;
        n_symbols -= n;
    }
}

/* Streaming is a constant of the loops of the usual s8, in which a branch at each store takes a tenth of the time, and
 * of those of f32 that convert their symbols themselves where they stream: while a tile is converted nothing is stored.
 */
#define DEFINE_LLR_LOOP(name, loop, m, output, kind)                                                                   \
    static void name(const softqam_loop_call *call)                                                                    \
    {                                                                                                                  \
        if ((output) != LLRS_S8_FULL && !converts_streamed(m, output, LLRS_AS_SENT))                                   \
            loop(kind, call, call->streaming, LLRS_AS_SENT);                                                           \
        else if (call->streaming)                                                                                      \
            loop(kind, call, true, LLRS_AS_SENT);                                                                      \
        else                                                                                                           \
            loop(kind, call, false, LLRS_AS_SENT);                                                                     \
    }
#define DEFINE_LLR_LOOPS(name, loop, m, output)                                                                        \
    DEFINE_LLR_LOOP(name##_one_weight, loop, m, output, SOFTQAM_ONE_WEIGHT)                                            \
    DEFINE_LLR_LOOP(name##_n0, loop, m, output, SOFTQAM_NOISE_N0)                                                      \
    DEFINE_LLR_LOOP(name##_inverse, loop, m, output, SOFTQAM_NOISE_INVERSE)
/* Loops that descramble and write planes, which no cache is spared: of noise values for each symbol, and of any limit.
 */
#define DEFINE_CODEWORD_LOOP(name, loop, m, output, kind)                                                              \
    static void name(const softqam_loop_call *call)                                                                    \
    {                                                                                                                  \
        if ((m) > 0 && call->plane_nbytes)                                                                             \
            loop(kind, call, false, LLRS_IN_PLANES);                                                                   \
        else if ((output) != LLRS_S8)                                                                                  \
            loop(kind, call, call->streaming, LLRS_DESCRAMBLED);                                                       \
        else if (call->streaming)                                                                                      \
            loop(kind, call, true, LLRS_DESCRAMBLED);                                                                  \
        else                                                                                                           \
            loop(kind, call, false, LLRS_DESCRAMBLED);                                                                 \
    }
#define DEFINE_CODEWORD_LOOPS(name, loop, m, output)                                                                   \
    DEFINE_CODEWORD_LOOP(name##_codeword_n0, loop, m, output, SOFTQAM_NOISE_N0)                                        \
    DEFINE_CODEWORD_LOOP(name##_codeword_inverse, loop, m, output, SOFTQAM_NOISE_INVERSE)
/* llr_loop() of a modulation, and of an output too: only so that a compiler leaves out all others once, and not for
 * each of their loops again. */
#define DEFINE_LOOP_OF_MODULATION(name, m)                                                                             \
    VEC void name(llr_output output, softqam_noise_kind kind, const softqam_loop_call *call, bool streaming,           \
                  llr_layout layout)                                                                                   \
    {                                                                                                                  \
        llr_loop(m, output, kind, call, streaming, layout);                                                            \
    }
#define DEFINE_LOOP_OF_OUTPUT(name, loop, output)                                                                      \
    VEC void name(softqam_noise_kind kind, const softqam_loop_call *call, bool streaming, llr_layout layout)           \
    {                                                                                                                  \
        loop(output, kind, call, streaming, layout);                                                                   \
    }
#define DEFINE_MODULATION(name, m)                                                                                     \
    DEFINE_LOOP_OF_MODULATION(name##_loop, m)                                                                          \
    DEFINE_LOOP_OF_OUTPUT(name##_to_s8_full, name##_loop, LLRS_S8_FULL)                                                \
    DEFINE_LOOP_OF_OUTPUT(name##_to_s8, name##_loop, LLRS_S8)                                                          \
    DEFINE_LOOP_OF_OUTPUT(name##_to_s16, name##_loop, LLRS_S16)                                                        \
    DEFINE_LOOP_OF_OUTPUT(name##_to_f16, name##_loop, LLRS_F16)                                                        \
    DEFINE_LOOP_OF_OUTPUT(name##_to_f32, name##_loop, LLRS_F32)                                                        \
    DEFINE_LLR_LOOPS(name##_s8_full, name##_to_s8_full, m, LLRS_S8_FULL)                                               \
    DEFINE_LLR_LOOPS(name##_s8, name##_to_s8, m, LLRS_S8)                                                              \
    DEFINE_LLR_LOOPS(name##_s16, name##_to_s16, m, LLRS_S16)                                                           \
    DEFINE_LLR_LOOPS(name##_f16, name##_to_f16, m, LLRS_F16)                                                           \
    DEFINE_LLR_LOOPS(name##_f32, name##_to_f32, m, LLRS_F32)                                                           \
    DEFINE_CODEWORD_LOOPS(name##_s8, name##_to_s8, m, LLRS_S8)                                                         \
    DEFINE_CODEWORD_LOOPS(name##_s16, name##_to_s16, m, LLRS_S16)                                                      \
    DEFINE_CODEWORD_LOOPS(name##_f16, name##_to_f16, m, LLRS_F16)                                                      \
    DEFINE_CODEWORD_LOOPS(name##_f32, name##_to_f32, m, LLRS_F32)

DEFINE_MODULATION(loop_bpsk, 0)
DEFINE_MODULATION(loop_qpsk, 1)
DEFINE_MODULATION(loop_16qam, 2)
DEFINE_MODULATION(loop_64qam, 3)
DEFINE_MODULATION(loop_256qam, 4)
DEFINE_MODULATION(loop_1024qam, 5)

/* In the order of softqam_noise_kind. */
#define BY_NOISE(name)                                                                                                 \
    {                                                                                                                  \
        name##_one_weight, name##_n0, name##_inverse                                                                   \
    }
#define CODEWORD_BY_NOISE(name)                                                                                        \
    {                                                                                                                  \
        NULL, name##_codeword_n0, name##_codeword_inverse                                                              \
    }
#define MODULATION_LOOPS(name)                                                                                         \
    {                                                                                                                  \
        .s8_full = BY_NOISE(name##_s8_full), .s8 = BY_NOISE(name##_s8), .s16 = BY_NOISE(name##_s16),                   \
        .f16 = BY_NOISE(name##_f16), .codeword_s16 = CODEWORD_BY_NOISE(name##_s16), .f32 = BY_NOISE(name##_f32),       \
        .codeword_s8 = CODEWORD_BY_NOISE(name##_s8), .codeword_f16 = CODEWORD_BY_NOISE(name##_f16),                    \
        .codeword_f32 = CODEWORD_BY_NOISE(name##_f32)                                                                  \
    }

_Static_assert(MAX_AXIS_BITS == 5, "loops for each");
static const softqam_llr_loops llr_loops[MAX_AXIS_BITS + 1] = {
    MODULATION_LOOPS(loop_bpsk),  MODULATION_LOOPS(loop_qpsk),   MODULATION_LOOPS(loop_16qam),
    MODULATION_LOOPS(loop_64qam), MODULATION_LOOPS(loop_256qam), MODULATION_LOOPS(loop_1024qam)};

#endif
