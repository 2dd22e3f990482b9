/* SPDX-License-Identifier: MIT */
/* The loops of LLRs for vectors of 128-bit parts, any number of them: included by avx512.c, avx2.c and neon.c after
 * their SIMD header and arithmetic_usual.h. LLRs are computed from components as they lie in memory, since no axis needs
 * the other. A step takes LANES symbols, which are two registers of components; the last step goes back to be a whole
 * one.
 *
 * Symbols are taken in tiles that stay in the first cache. A tile is first computed as if all of its values were usual,
 * and while that is done it is found out whether they are; if not, it is computed again in full. So no branch depends on
 * a symbol, and the usual way has two operations a step more for it. */
#ifndef SOFTQAM_CPU_LLR_LOOPS_H
#define SOFTQAM_CPU_LLR_LOOPS_H

#include "prefetch.h"
#include "variant.h"

/* Symbols of a tile; and how many tiles after an unusual one are computed in full at once. */
enum { LLR_TILE_SYMBOLS = 1024, TILES_BEFORE_RETRY = 15 };

/* What a loop writes; s8 apart where it is limited by nothing but that -128 is not an LLR. */
typedef enum llr_output { LLRS_S8_FULL, LLRS_S8, LLRS_F16, LLRS_F32 } llr_output;

typedef struct llr_constants {
    vec_llr_table table;
    vec_f32 steps_per_nat; /* with the LLRs' sign */
    vec_f32 limit;
    vec_bytes least; /* of the bytes of s8 */
    vec_bytes most;
    vec_u32 component_xor; /* of the usual range */
    vec_u32 component_mask;
    vec_u32 least_weight; /* with the LLRs' sign */
    vec_u32 weight_span;
    vec_f32 weight; /* of all symbols, where it is one */
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
                                     softqam_llr_scale scale, const float *noise)
{
    const usual_range usual = usual_range_of(output);
    const int largest = output <= LLRS_S8 ? (int)scale.limit : 0;
    llr_constants constants;
    constants.table = vec_load_llr_table(m, table);
    constants.steps_per_nat = vec_splat(scale.steps_per_nat);
    constants.limit = vec_splat(scale.limit);
    constants.least = vec_splat_u8(-largest);
    constants.most = vec_splat_u8(largest);
    constants.component_xor = vec_splat_u32(usual.component_xor);
    constants.component_mask = vec_splat_u32(usual.component_mask);
    constants.least_weight =
        vec_splat_u32(float_bits(usual.least_weight) | (float_bits(scale.steps_per_nat) & 0x80000000u));
    constants.weight_span = vec_splat_u32(float_bits(usual.weight_end) - float_bits(usual.least_weight));
    constants.weight = vec_splat(kind == SOFTQAM_ONE_WEIGHT ? noise[0] : 0.0f);
    return constants;
}

/* From four LLRs of components as they lie in memory: in each 128-bit part two symbols' bytes by bit, to be brought
 * together by symbol. */
static const uint8_t bytes_by_symbol[16] = {0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};

VEC void store_s8(bool full, unsigned char *out, const llr_constants *constants, const vec_s32 llrs[4])
{
    const vec_bytes packed = vec_pack_s8(vec_pack_s16(llrs[0], llrs[1]), vec_pack_s16(llrs[2], llrs[3]));
    vec_bytes limited = vec_max_s8(packed, constants->least);
    if (!full)
        limited = vec_min_s8(limited, constants->most);
    vec_store(out, vec_shuffle_bytes(limited, vec_splat_bytes(bytes_by_symbol)));
}

/* Usual metrics and weights to LLRs in memory. */
VEC void store_usual(llr_output output, unsigned char *out, const llr_constants *constants, const vec_f32 metrics[4],
                     vec_f32 weight)
{
    if (output <= LLRS_S8) {
        /* llr_rounded(), whose limit is the packing's. The bits of the rounded sum are whole steps from those of the
         * constant. */
        const vec_f32 constant = vec_splat(ROUNDING_CONSTANT);
        vec_s32 steps[4];
        VEC_UNROLL
        for (int k = 0; k < 4; k++)
            steps[k] = vec_sub_s32(vec_bits_s32(vec_fma(metrics[k], weight, constant)), vec_bits_s32(constant));
        store_s8(output == LLRS_S8_FULL, out, constants, steps);
        return;
    }
    vec_f32 llrs[4];
    VEC_UNROLL
    for (int k = 0; k < 4; k++)
        llrs[k] = vec_mul(metrics[k], weight);
    if (output == LLRS_F16)
        vec_store_llrs_f16(out, llrs);
    else
        vec_store_llrs_f32(out, llrs);
}

/* LLRs of any components and weights. */
VEC void store_full(int m, llr_output output, unsigned char *out, const llr_constants *constants, vec_f32 components,
                    vec_f32 weight)
{
    /* Times zero, what is not finite is NaN, and so is the weight of an erasure. */
    const vec_f32 zeros = vec_mul(components, vec_splat(0.0f));
    const vec_mask valid = vec_both(vec_are_numbers(zeros, vec_swap_pairs(zeros)), vec_are_numbers(weight, weight));
    vec_f32 metrics[MAX_AXIS_BITS], llrs[4];
    axis_metrics(m, &constants->table, components, metrics);
    VEC_UNROLL
    for (int k = 0; k < 4; k++)
        llrs[k] = vec_keep(valid, output <= LLRS_S8 ? llr_rounded(metrics[k], weight, constants->limit)
                                                    : llr_scaled(metrics[k], weight, constants->limit));
    if (output == LLRS_F16) {
        vec_store_llrs_f16(out, llrs);
    } else if (output == LLRS_F32) {
        vec_store_llrs_f32(out, llrs);
    } else {
        const vec_s32 steps[4] = {vec_round_s32(llrs[0]), vec_round_s32(llrs[1]), vec_round_s32(llrs[2]),
                                  vec_round_s32(llrs[3])};
        store_s8(output == LLRS_S8_FULL, out, constants, steps);
    }
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

/* Returns whether the LLRs are right: all values were usual. */
VEC bool usual_tile(int m, llr_output output, softqam_noise_kind kind, const llr_constants *constants, llr_place at,
                    size_t n_symbols)
{
    const size_t half = LANES / 2 * llr_symbol_nbytes(m, output);
    vec_u32 components_seen = vec_splat_u32(0);
    vec_u32 weights_seen = vec_splat_u32(0);
    vec_f32 weight = constants->weight;
    if (kind == SOFTQAM_ONE_WEIGHT)
        weights_seen = vec_sub_u32(vec_bits(weight), constants->least_weight);
    for (;;) {
        vec_f32 metrics[MAX_AXIS_BITS];
        prefetch_ahead(at.components, LANES * 8);
        const vec_f32 a = vec_load_f32(at.components);
        const vec_f32 b = vec_load_f32(at.components + LANES);
        components_seen = vec_or_xor(components_seen, vec_bits(a), constants->component_xor);
        components_seen = vec_or_xor(components_seen, vec_bits(b), constants->component_xor);
        if (kind != SOFTQAM_ONE_WEIGHT) {
            const vec_f32 noise = vec_load_f32(at.noise);
            weight = kind == SOFTQAM_NOISE_INVERSE ? vec_mul(constants->steps_per_nat, noise)
                                                   : vec_div(constants->steps_per_nat, noise);
            weights_seen = vec_max_u32(weights_seen, vec_sub_u32(vec_bits(weight), constants->least_weight));
        }
        usual_metrics(m, &constants->table, a, metrics);
        store_usual(output, at.out, constants, metrics, vec_twice_lower(weight));
        usual_metrics(m, &constants->table, b, metrics);
        store_usual(output, at.out + half, constants, metrics, vec_twice_upper(weight));
        if (n_symbols == LANES)
            break;
        /* The last step goes back to be a whole one. */
        const size_t n = n_symbols < 2 * LANES ? n_symbols - LANES : LANES;
        at = llr_place_after(m, output, kind, at, n);
        n_symbols -= n;
    }
    return !vec_any_bits(components_seen, constants->component_mask) &&
           !vec_any_from(weights_seen, constants->weight_span);
}

VEC void full_tile(int m, llr_output output, softqam_noise_kind kind, const llr_constants *constants, llr_place at,
                   size_t n_symbols)
{
    const size_t half = LANES / 2 * llr_symbol_nbytes(m, output);
    for (;;) {
        prefetch_ahead(at.components, LANES * 8);
        vec_f32 weight = constants->weight;
        if (kind != SOFTQAM_ONE_WEIGHT)
            weight = llr_weight(constants->steps_per_nat, vec_load_f32(at.noise), kind == SOFTQAM_NOISE_INVERSE);
        store_full(m, output, at.out, constants, vec_load_f32(at.components), vec_twice_lower(weight));
        store_full(m, output, at.out + half, constants, vec_load_f32(at.components + LANES), vec_twice_upper(weight));
        if (n_symbols == LANES)
            break;
        const size_t n = n_symbols < 2 * LANES ? n_symbols - LANES : LANES;
        at = llr_place_after(m, output, kind, at, n);
        n_symbols -= n;
    }
}

VEC void llr_loop(int m, llr_output output, softqam_noise_kind kind, const softqam_llr_table *table,
                  softqam_llr_scale scale, llr_place at, size_t n_symbols)
{
    const llr_constants constants = load_llr_constants(m, output, kind, table, scale, at.noise);
    unsigned n_full = 0; /* tiles still to be computed in full at once */
    while (n_symbols > 0) {
        /* No tile is shorter than a step. */
        const size_t n = n_symbols < LLR_TILE_SYMBOLS + LANES ? n_symbols : LLR_TILE_SYMBOLS;
        if (n_full == 0 && !usual_tile(m, output, kind, &constants, at, n))
            n_full = TILES_BEFORE_RETRY + 1;
        if (n_full > 0) {
            full_tile(m, output, kind, &constants, at, n);
            n_full--;
        }
        at = llr_place_after(m, output, kind, at, n);
        n_symbols -= n;
    }
}

#define DEFINE_LLR_LOOP(name, m, output, kind)                                                                         \
    static void name(const softqam_llr_table *table, softqam_llr_scale scale, const float *components,                 \
                     const float *noise, size_t n_symbols, unsigned char *out)                                         \
    {                                                                                                                  \
        llr_loop(m, output, kind, table, scale, (llr_place){components, noise, out}, n_symbols);                       \
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
#define LLR_LOOPS(name) {name##_one_weight, name##_n0, name##_inverse}

static const softqam_llr_loops llr_loops = {.s8_full = LLR_LOOPS(loop_256qam_s8_full),
                                            .s8 = LLR_LOOPS(loop_256qam_s8),
                                            .f16 = LLR_LOOPS(loop_256qam_f16),
                                            .f32 = LLR_LOOPS(loop_256qam_f32)};

#endif
