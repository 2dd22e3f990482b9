/* SPDX-License-Identifier: MIT */
/* The loops of LLRs for vectors of 128-bit parts, any number of them: included by avx512.c, avx2.c and neon.c after
 * their SIMD header and arithmetic_usual.h. LLRs are computed from components as they lie in memory, since no axis
 * needs the other. A step takes LANES symbols, which are two registers of components; the last step goes back to be a
 * whole one.
 *
 * Symbols are taken in tiles that stay in the first cache. A tile is first computed as if all of its values were usual,
 * and while that is done it is found out whether they are; if not, it is computed again in full. So no branch depends
 * on a symbol, and the usual way has two operations a step more for it. */
#ifndef SOFTQAM_CPU_LLR_LOOPS_H
#define SOFTQAM_CPU_LLR_LOOPS_H

#include "prefetch.h"
#include "variant.h"

/* Symbols of a tile; after how many tiles the quickest way is tried again; and on how many symbols, where the tile
 * before did not allow it. */
enum { LLR_TILE_SYMBOLS = 1024, TILES_BEFORE_RETRY = 16, LLR_RETRY_SYMBOLS = 64 };

/* What a loop writes; s8 apart where it is limited by nothing but that -128 is not an LLR. */
typedef enum llr_output { LLRS_S8_FULL, LLRS_S8, LLRS_F16, LLRS_F32 } llr_output;

typedef struct llr_constants {
    vec_llr_table table;
    vec_f32 steps_per_nat; /* with the LLRs' sign */
    vec_f32 limit;
    vec_f32 least_sum; /* of llr_rounded() */
    vec_f32 most_sum;
    vec_bytes least; /* of the bytes of s8 */
    vec_bytes most;
    vec_u32 component_mask; /* of the usual range */
    vec_u32 least_weight;   /* with the LLRs' sign */
    vec_u32 weight_span;
    vec_u32 narrow_weight_span;
    vec_f32 weight; /* of all symbols, where it is one */
    bool streaming;
} llr_constants;

VEC uint32_t float_bits(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

VEC usual_range usual_range_of(llr_output output)
{
    return output <= LLRS_S8 ? usual_range_s8 : output == LLRS_F16 ? usual_range_f16 : usual_range_f32;
}

VEC llr_constants load_llr_constants(int m, llr_output output, softqam_noise_kind kind, const softqam_llr_table *table,
                                     softqam_llr_scale scale, const float *noise, bool streaming)
{
    const usual_range usual = usual_range_of(output);
    const float weight_end = output == LLRS_F16 ? 65504.0f / largest_usual_metric(m) : usual.weight_end;
    const int largest = output <= LLRS_S8 ? (int)scale.limit : 0;
    llr_constants constants;
    constants.table = vec_load_llr_table(m, table);
    constants.steps_per_nat = vec_splat(scale.steps_per_nat);
    constants.limit = vec_splat(scale.limit);
    constants.least_sum = vec_splat(ROUNDING_CONSTANT - scale.limit);
    constants.most_sum = vec_splat(ROUNDING_CONSTANT + scale.limit);
    constants.least = vec_splat_u8(-largest);
    constants.most = vec_splat_u8(largest);
    constants.component_mask = vec_splat_u32(usual.component_mask);
    constants.least_weight =
        vec_splat_u32(float_bits(usual.least_weight) | (float_bits(scale.steps_per_nat) & 0x80000000u));
    constants.weight_span = vec_splat_u32(float_bits(weight_end) - float_bits(usual.least_weight));
    constants.narrow_weight_span = vec_splat_u32(float_bits(narrow_weight_end(m)));
    constants.streaming = streaming;
    constants.weight = vec_splat(kind == SOFTQAM_ONE_WEIGHT ? noise[0] : 0.0f);
    return constants;
}

/* In each 128-bit part the bytes of two symbols' LLRs, as the packing of four registers leaves them, are brought into
 * the order of the bits: after packing 32-bit integers twice; and after the lower words of two registers were put side
 * by side and packed once. */
static const uint8_t order_of_packed[16] = {0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};
static const uint8_t order_of_words[16] = {0, 2, 1, 3, 8, 10, 9, 11, 4, 6, 5, 7, 12, 14, 13, 15};

VEC vec_bytes pack_lower_words(const vec_f32 sums[4])
{
    return vec_pack_s8(vec_lower_words(vec_bits_s32(sums[0]), vec_bits_s32(sums[1])),
                       vec_lower_words(vec_bits_s32(sums[2]), vec_bits_s32(sums[3])));
}

/* Usual metrics and weights to s8: llr_rounded(), whose limit is the packing's. The bits of a rounded sum are whole
 * steps from those of the constant; the lower 16 bits of these are zero. */
VEC void store_usual_s8(llr_output output, bool narrow, unsigned char *out, const llr_constants *constants,
                        const vec_f32 metrics[4], vec_f32 weight)
{
    const vec_f32 constant = vec_splat(ROUNDING_CONSTANT);
    vec_f32 sums[4];
    vec_s32 steps[4];
    VEC_UNROLL
    for (int k = 0; k < 4; k++)
        sums[k] = vec_fma(metrics[k], weight, constant);
    vec_bytes packed;
    if (narrow) {
        packed = pack_lower_words(sums);
    } else {
        VEC_UNROLL
        for (int k = 0; k < 4; k++)
            steps[k] = vec_sub_s32(vec_bits_s32(sums[k]), vec_bits_s32(constant));
        packed = vec_pack_s8(vec_pack_s16(steps[0], steps[1]), vec_pack_s16(steps[2], steps[3]));
    }
    packed = vec_max_s8(packed, constants->least);
    if (output == LLRS_S8)
        packed = vec_min_s8(packed, constants->most);
    vec_store(out, vec_shuffle_bytes(packed, vec_splat_bytes(narrow ? order_of_words : order_of_packed)),
              constants->streaming);
}

VEC void store_usual(llr_output output, bool narrow, unsigned char *out, const llr_constants *constants,
                     const vec_f32 metrics[4], vec_f32 weight)
{
    vec_f32 llrs[4];
    if (output <= LLRS_S8) {
        store_usual_s8(output, narrow, out, constants, metrics, weight);
        return;
    }
    VEC_UNROLL
    for (int k = 0; k < 4; k++)
        llrs[k] = vec_mul(metrics[k], weight);
    if (output == LLRS_F16)
        vec_store_llrs_f16(out, llrs, constants->streaming);
    else
        vec_store_llrs_f32(out, llrs, constants->streaming);
}

/* LLRs of any components and weights. */
VEC void store_full(int m, llr_output output, unsigned char *out, const llr_constants *constants, vec_f32 components,
                    vec_f32 weight)
{
    /* Times zero, what is not finite is NaN, and so is the weight of an erasure. */
    const vec_f32 numbers = vec_fma(components, vec_splat(0.0f), weight);
    const vec_mask valid = vec_are_numbers(numbers, vec_swap_pairs(numbers));
    vec_f32 metrics[MAX_AXIS_BITS], llrs[4];
    axis_metrics(m, &constants->table, components, metrics);
    VEC_UNROLL
    for (int k = 0; k < 4; k++)
        llrs[k] = vec_keep(valid, output <= LLRS_S8
                                      ? llr_rounded(metrics[k], weight, constants->least_sum, constants->most_sum)
                                      : llr_scaled(metrics[k], weight, constants->limit));
    if (output == LLRS_F16)
        vec_store_llrs_f16(out, llrs, constants->streaming);
    else if (output == LLRS_F32)
        vec_store_llrs_f32(out, llrs, constants->streaming);
    else
        vec_store(out, vec_shuffle_bytes(pack_lower_words(llrs), vec_splat_bytes(order_of_words)),
                  constants->streaming);
}

/* Where a tile's symbols and noise lie and where its LLRs go. */
typedef struct llr_place {
    const float *components;
    const float *noise;
    unsigned char *out;
} llr_place;

VEC size_t llr_symbol_nbytes(int m, llr_output output)
{
    return 2 * (size_t)m * (output == LLRS_F32 ? 4 : output == LLRS_F16 ? 2 : 1);
}

VEC llr_place llr_place_after(int m, llr_output output, softqam_noise_kind kind, llr_place at, size_t n)
{
    return (llr_place){at.components + 2 * n, at.noise + (kind == SOFTQAM_ONE_WEIGHT ? 0 : n),
                       at.out + n * llr_symbol_nbytes(m, output)};
}

/* What a tile's values turned out to be. */
typedef enum tile_values { VALUES_NARROW, VALUES_USUAL, VALUES_ANY } tile_values;

VEC tile_values values_seen(const llr_constants *constants, vec_u32 components, vec_u32 weights)
{
    if (vec_any_bits(components, constants->component_mask) || vec_any_from(weights, constants->weight_span))
        return VALUES_ANY;
    return vec_any_from(weights, constants->narrow_weight_span) ? VALUES_USUAL : VALUES_NARROW;
}

VEC vec_u32 see_components(llr_output output, vec_u32 seen, vec_f32 components)
{
    const uint32_t flipped = usual_range_of(output).component_xor;
    return flipped ? vec_or_xor(seen, vec_bits(components), vec_splat_u32(flipped))
                   : vec_or_u32(seen, vec_bits(components));
}

/* One step further; the last one goes back to be a whole one. False when there are no more. */
VEC bool next_step(int m, llr_output output, softqam_noise_kind kind, llr_place *at, size_t *n_left)
{
    *n_left -= LANES;
    if (*n_left == 0)
        return false;
    *at = llr_place_after(m, output, kind, *at, LANES);
    if (__builtin_expect(*n_left < LANES, 0)) {
        const size_t back = LANES - *n_left;
        at->components -= 2 * back;
        at->noise -= kind == SOFTQAM_ONE_WEIGHT ? 0 : back;
        at->out -= back * llr_symbol_nbytes(m, output);
        *n_left = LANES;
    }
    return true;
}

/* A tile as if its values were usual, or narrow; returns what they are. */
VEC tile_values usual_tile(int m, llr_output output, bool narrow, softqam_noise_kind kind,
                           const llr_constants *constants, llr_place at, size_t n_symbols)
{
    const size_t half = LANES / 2 * llr_symbol_nbytes(m, output);
    vec_u32 components_seen = vec_splat_u32(0);
    vec_u32 weights_seen = vec_splat_u32(0);
    vec_f32 weight = constants->weight;
    if (kind == SOFTQAM_ONE_WEIGHT)
        weights_seen = vec_sub_u32(vec_bits(weight), constants->least_weight);
    do {
        vec_f32 metrics[MAX_AXIS_BITS];
        prefetch_ahead(at.components, LANES * 8, constants->streaming);
        const vec_f32 a = vec_load_f32(at.components);
        const vec_f32 b = vec_load_f32(at.components + LANES);
        const vec_llr_row row_a = usual_row(m, &constants->table, a);
        const vec_llr_row row_b = usual_row(m, &constants->table, b);
        components_seen = see_components(output, components_seen, a);
        components_seen = see_components(output, components_seen, b);
        if (kind != SOFTQAM_ONE_WEIGHT) {
            const vec_f32 noise = vec_load_f32(at.noise);
            weight = kind == SOFTQAM_NOISE_INVERSE ? vec_mul(constants->steps_per_nat, noise)
                                                   : vec_div(constants->steps_per_nat, noise);
            weights_seen = vec_max_u32(weights_seen, vec_sub_u32(vec_bits(weight), constants->least_weight));
        }
        usual_metrics(m, &constants->table, a, row_a, metrics);
        store_usual(output, narrow, at.out, constants, metrics, vec_twice_lower(weight));
        usual_metrics(m, &constants->table, b, row_b, metrics);
        store_usual(output, narrow, at.out + half, constants, metrics, vec_twice_upper(weight));
    } while (next_step(m, output, kind, &at, &n_symbols));
    return values_seen(constants, components_seen, weights_seen);
}

VEC void full_tile(int m, llr_output output, softqam_noise_kind kind, const llr_constants *constants, llr_place at,
                   size_t n_symbols)
{
    const size_t half = LANES / 2 * llr_symbol_nbytes(m, output);
    do {
        prefetch_ahead(at.components, LANES * 8, constants->streaming);
        vec_f32 weight = constants->weight;
        if (kind != SOFTQAM_ONE_WEIGHT)
            weight = llr_weight(constants->steps_per_nat, vec_load_f32(at.noise), kind == SOFTQAM_NOISE_INVERSE);
        store_full(m, output, at.out, constants, vec_load_f32(at.components), vec_twice_lower(weight));
        store_full(m, output, at.out + half, constants, vec_load_f32(at.components + LANES), vec_twice_upper(weight));
    } while (next_step(m, output, kind, &at, &n_symbols));
}

/* What a tile's values may well be, going by its first weight. */
VEC tile_values likely_values(int m, llr_output output, softqam_noise_kind kind, softqam_llr_scale scale,
                              const float *noise)
{
    float first;
    memcpy(&first, noise, sizeof first);
    if (kind != SOFTQAM_ONE_WEIGHT)
        first = kind == SOFTQAM_NOISE_INVERSE ? scale.steps_per_nat * first : scale.steps_per_nat / first;
    return output <= LLRS_S8 && fabsf(first) < narrow_weight_end(m) ? VALUES_NARROW : VALUES_USUAL;
}

VEC void llr_loop(int m, llr_output output, softqam_noise_kind kind, const softqam_llr_table *table,
                  softqam_llr_scale scale, llr_place at, size_t n_symbols, bool streaming)
{
    const llr_constants constants = load_llr_constants(m, output, kind, table, scale, at.noise, streaming);
    tile_values values = VALUES_ANY; /* of the tile before */
    for (unsigned number = 0; n_symbols > 0; number++) {
        size_t n = LLR_TILE_SYMBOLS;
        if (number % TILES_BEFORE_RETRY == 0) {
            n = values == VALUES_ANY && number > 0 ? LLR_RETRY_SYMBOLS : LLR_TILE_SYMBOLS;
            values = likely_values(m, output, kind, scale, at.noise);
        }
        /* No tile is shorter than a step. */
        n = n_symbols < n + LANES ? n_symbols : n;
        /* The quickest way first; one is enough where the values turn out to allow it. */
        if (values == VALUES_NARROW)
            values = usual_tile(m, output, true, kind, &constants, at, n);
        if (values == VALUES_USUAL)
            values = usual_tile(m, output, false, kind, &constants, at, n) == VALUES_ANY ? VALUES_ANY : VALUES_USUAL;
        if (values == VALUES_ANY)
            full_tile(m, output, kind, &constants, at, n);
        at = llr_place_after(m, output, kind, at, n);
        n_symbols -= n;
    }
}

/* Streaming is a constant of the loops of the usual s8, in which a branch at each store takes a tenth of the time. */
#define DEFINE_LLR_LOOP(name, m, output, kind)                                                                         \
    static void name(const softqam_params *params, softqam_llr_scale scale, const float *components,                   \
                     const float *noise, size_t n_symbols, unsigned char *out, bool streaming)                         \
    {                                                                                                                  \
        const llr_place at = {components, noise, out};                                                                 \
        if ((output) != LLRS_S8_FULL)                                                                                  \
            llr_loop(m, output, kind, &params->llrs, scale, at, n_symbols, streaming);                                 \
        else if (streaming)                                                                                            \
            llr_loop(m, output, kind, &params->llrs, scale, at, n_symbols, true);                                      \
        else                                                                                                           \
            llr_loop(m, output, kind, &params->llrs, scale, at, n_symbols, false);                                     \
    }
#define DEFINE_LLR_LOOPS(name, m, output)                                                                              \
    DEFINE_LLR_LOOP(name##_one_weight, m, output, SOFTQAM_ONE_WEIGHT)                                                  \
    DEFINE_LLR_LOOP(name##_n0, m, output, SOFTQAM_NOISE_N0)                                                            \
    DEFINE_LLR_LOOP(name##_inverse, m, output, SOFTQAM_NOISE_INVERSE)

DEFINE_LLR_LOOPS(loop_256qam_s8_full, 4, LLRS_S8_FULL)
DEFINE_LLR_LOOPS(loop_256qam_s8, 4, LLRS_S8)
DEFINE_LLR_LOOPS(loop_256qam_f16, 4, LLRS_F16)
DEFINE_LLR_LOOPS(loop_256qam_f32, 4, LLRS_F32)

/* In the order of softqam_noise_kind. */
#define LLR_LOOPS(name)                                                                                                \
    {                                                                                                                  \
        name##_one_weight, name##_n0, name##_inverse                                                                   \
    }

static const softqam_llr_loops llr_loops = {.s8_full = LLR_LOOPS(loop_256qam_s8_full),
                                            .s8 = LLR_LOOPS(loop_256qam_s8),
                                            .f16 = LLR_LOOPS(loop_256qam_f16),
                                            .f32 = LLR_LOOPS(loop_256qam_f32)};

#endif
