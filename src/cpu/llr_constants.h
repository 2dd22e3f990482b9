/* SPDX-License-Identifier: MIT */
/* What a vector loop of LLRs writes, and the constants that it has for that. Included by llr_stores.h. */
#ifndef SOFTQAM_CPU_LLR_CONSTANTS_H
#define SOFTQAM_CPU_LLR_CONSTANTS_H

#include "convert_loops.h"

/* What a loop writes; s8 apart where it is limited by nothing but that -128 is not an LLR. */
typedef enum llr_output { LLRS_S8_FULL, LLRS_S8, LLRS_S16, LLRS_F16, LLRS_F32 } llr_output;

/* Symbol by symbol with the signs that the symbols say; descrambled; and that in bit planes. */
typedef enum llr_layout { LLRS_AS_SENT, LLRS_DESCRAMBLED, LLRS_IN_PLANES } llr_layout;

typedef struct llr_constants {
    symbol_reader reader;
    vec_llr_table table;
    vec_f32 steps_per_nat; /* with the LLRs' sign */
    vec_f32 limit;
    vec_f32 least_sum; /* of llr_rounded() */
    vec_f32 most_sum;
    vec_bytes least; /* of the bytes of s8 */
    vec_bytes most;
    bool is_limited;        /* s8: below 127 */
    vec_u32 component_mask; /* of the usual range */
    vec_u32 least_weight;   /* with the LLRs' sign */
    vec_u32 weight_span;
    vec_u32 narrow_weight_span;
    vec_f32 weight;   /* of all symbols, where it is one */
    vec_u32 turns[2]; /* BPSK: of symbols from an even one on, and from an odd one on */
    bool streaming;
    const unsigned char *sequence; /* NULL where nothing is descrambled */
    bool in_planes;
    size_t plane_nbytes;
    /* Double steps take 2 or 4 layers where they lie; else 1. Two places for the symbols of even number and two for the
     * others: of two layers, or half a register apart. */
    unsigned n_layers;
    const float *layers[4];
    const float *layers_noise[4];
    vec_u32 flip_bytes; /* of vec_spread_bits() */
    vec_u32 flip_counts;
} llr_constants;

/* Where the sequence's bits for a register's value lie: those of its symbol from this byte on, the first one of its
 * axis after so many others; with 2 m bits a symbol, or one of BPSK. */
#define FLIP_BIT(m, lane)    ((m) == 0 ? (lane) : (lane) / 2 * 2 * (m) + (lane) % 2)
#define FLIP_FIRST(m, lane)  ((m) == 0 ? (lane) : (lane) / 2 * 2 * (m))
#define FLIP_BYTES(m, lane)  (FLIP_FIRST(m, lane) / 8 * 0x01010101u + 0x03020100u)
#define FLIP_COUNT(m, lane)  (FLIP_BIT(m, lane) - FLIP_FIRST(m, lane) / 8 * 8)
#define FOUR_LANES(of, m, l) of(m, l), of(m, (l) + 1), of(m, (l) + 2), of(m, (l) + 3)
#define ALL_LANES(of, m)                                                                                               \
    {                                                                                                                  \
        FOUR_LANES(of, m, 0), FOUR_LANES(of, m, 4), FOUR_LANES(of, m, 8), FOUR_LANES(of, m, 12)                        \
    }
#define BY_AXIS_BITS(of)                                                                                               \
    {                                                                                                                  \
        ALL_LANES(of, 0), ALL_LANES(of, 1), ALL_LANES(of, 2), ALL_LANES(of, 3), ALL_LANES(of, 4), ALL_LANES(of, 5)     \
    }
_Static_assert(MAX_AXIS_BITS == 5, "BY_AXIS_BITS has a row for each");
_Alignas(64) static const uint32_t flip_bytes[MAX_AXIS_BITS + 1][16] = BY_AXIS_BITS(FLIP_BYTES);
_Alignas(64) static const uint32_t flip_counts[MAX_AXIS_BITS + 1][16] = BY_AXIS_BITS(FLIP_COUNT);

VEC uint32_t float_bits(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

VEC usual_range usual_range_of(int m, llr_output output)
{
    if (output == LLRS_F16)
        return m == 0 ? usual_range_bpsk_f16 : usual_range_f16;
    return output <= LLRS_S8 ? usual_range_s8 : output == LLRS_S16 ? usual_range_s16 : usual_range_f32;
}

/* Whether loops convert their symbols where they stream (softqam_converts). Shorter outputs, and registers of 8 floats,
 * are quicker with tiles. */
VEC bool converts_streamed(int m, llr_output output, llr_layout layout)
{
    return LANES == 16 && 2 * m >= CONVERTED_BITS && output == LLRS_F32 && layout == LLRS_AS_SENT;
}

VEC llr_constants load_llr_constants(int m, llr_output output, softqam_noise_kind kind, const softqam_loop_call *call,
                                     bool streaming, llr_layout layout)
{
    const usual_range usual = usual_range_of(m, output);
    const softqam_llr_scale scale = call->scale;
    const float weight_end = output == LLRS_F16 ? 65504.0f / largest_usual_metric(m) : usual.weight_end;
    const int largest = output <= LLRS_S8 ? (int)scale.limit : 0;
    llr_constants constants;
    const bool converts = converts_streamed(m, output, layout) && streaming && call->converts;
    constants.reader.converts = converts;
    constants.reader.format = call->params->input_format;
    constants.reader.symbol_nbytes = converts ? call->params->input_nbytes : 2 * sizeof(float);
    constants.reader.scale = vec_splat(call->input_scale);
    constants.table = vec_load_llr_table(m > 0 ? m : 1, call->table);
    constants.turns[0] = vec_splat_pair(call->turn[0], call->turn[1]);
    constants.turns[1] = vec_splat_pair(call->turn[1], call->turn[0]);
    constants.steps_per_nat = vec_splat(scale.steps_per_nat);
    constants.limit = vec_splat(scale.limit);
    constants.least_sum = vec_splat(ROUNDING_CONSTANT - scale.limit);
    constants.most_sum = vec_splat(ROUNDING_CONSTANT + scale.limit);
    constants.least = vec_splat_u8(-largest);
    constants.most = vec_splat_u8(largest);
    constants.is_limited = largest < 127;
    constants.component_mask =
        vec_splat_u32(usual.component_mask & ~(call->has_no_small_components ? COMPONENT_BELOW_2_63 : 0));
    constants.least_weight =
        vec_splat_u32(float_bits(usual.least_weight) | (float_bits(scale.steps_per_nat) & 0x80000000u));
    constants.weight_span = vec_splat_u32(float_bits(weight_end) - float_bits(usual.least_weight));
    constants.narrow_weight_span = vec_splat_u32(float_bits(narrow_weight_end(m)));
    constants.streaming = streaming;
    constants.sequence = layout == LLRS_AS_SENT ? NULL : call->sequence;
    constants.plane_nbytes = layout == LLRS_IN_PLANES ? call->plane_nbytes : 0;
    constants.in_planes = layout == LLRS_IN_PLANES;
    /* So that no step asks. */
    if (layout == LLRS_DESCRAMBLED && !constants.sequence)
        __builtin_unreachable();
    constants.n_layers = layout == LLRS_IN_PLANES && output <= LLRS_S8 && call->layers ? call->layers->n : 1;
    for (unsigned k = 0; k < 4 && constants.n_layers > 1; k++) {
        const unsigned layer = constants.n_layers == 4 ? k / 2 + k % 2 * 2 : k / 2;
        const size_t further = constants.n_layers == 4 ? 0 : k % 2 * (LANES / 2);
        constants.layers[k] = call->layers->components[layer] + 2 * further;
        constants.layers_noise[k] = call->layers->noise[layer] + further;
    }
    constants.flip_bytes = vec_load_u32(flip_bytes[m]);
    constants.flip_counts = vec_load_u32(flip_counts[m]);
    constants.weight = vec_splat(kind == SOFTQAM_ONE_WEIGHT ? call->noise[0] : 0.0f);
    return constants;
}

#endif
