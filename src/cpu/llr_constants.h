/* SPDX-License-Identifier: MIT */
/* What a vector loop of LLRs keeps in registers. Included by llr_stores.h. */
#ifndef SOFTQAM_CPU_LLR_CONSTANTS_H
#define SOFTQAM_CPU_LLR_CONSTANTS_H

#include "loops.h"

typedef struct llr_constants {
    vec_llr_table table;
    two_lines lines; /* of BPSK, QPSK and 16QAM */
    softqam_noise_kind noise_kind;
    vec_f32 weight; /* SOFTQAM_ONE_WEIGHT */
    float scale;    /* with the LLRs' sign, but of steps, whose lines have it */
    vec_f32 steps_per_nat;
    ptrdiff_t gains_offset; /* from a symbol's noise value to its gain, in bytes */
    vec_f32 limit;
    vec_f32 addend; /* of LLRs that are steps ROUNDING_CONSTANT, in the metrics' unit; else -0, which adds nothing */
    vec_f32 min_sum;
    vec_f32 max_sum;
    vec_bytes min_byte; /* of s8 */
    vec_bytes max_byte;
    bool is_limited;                   /* s8: below 127, which packing limits to */
    bool limits_f16;                   /* the fast path does: some LLR may be beyond its limit */
    bool masks_erasures;               /* f16 and f32: the fast path gives +0 for them */
    vec_u32 weight_base;               /* the bits of the smallest weight of the fast path, with the LLRs' sign */
    vec_u32 erased_noise;              /* the bits of N0 or 1/N0 of a symbol that an equaliser has erased */
    vec_u32 i_flips[2];                /* BPSK: of symbols from an even one on, and from an odd one on */
    const unsigned char *sequence;     /* NULL where nothing is descrambled */
    ptrdiff_t planes[MAX_SYMBOL_BITS]; /* softqam_loop_call's */
    vec_u32 flip_bytes;                /* of vec_spread_bits() */
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

VEC float float_of_bits(uint32_t bits)
{
    float a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

_Static_assert(N_OUTPUT_FORMATS == 5, "each has a range");
VEC fast_range fast_range_of(int m, softqam_output_format output)
{
    fast_range range = fast_range_f32;
    if (output == SOFTQAM_OUTPUT_S8)
        range = fast_range_s8;
    else if (output == SOFTQAM_OUTPUT_S16)
        range = m == 0 ? fast_range_bpsk_s16 : fast_range_s16;
    else if (output == SOFTQAM_OUTPUT_F16)
        range = m == 0 ? fast_range_bpsk_f16 : fast_range_f16;
    return range;
}

/* s8 and s16: LLRs are whole numbers of steps. */
VEC bool are_steps(softqam_output_format output) { return output == SOFTQAM_OUTPUT_S8 || output == SOFTQAM_OUTPUT_S16; }

/* s8 and s16 of BPSK and QPSK: the fast path has metrics, and sums with them, in a unit by which bit 30 of a metric
 * tells whether it is MAX_TRACKED_METRIC or more. At 0 dB none is, and to 40 dB no weight is too large for one below.
 */
#define MAX_TRACKED_METRIC 0x1p7f
VEC bool are_metrics_tracked(int m, softqam_output_format output) { return m <= 1 && are_steps(output); }
VEC float metric_unit(int m, softqam_output_format output)
{
    return are_metrics_tracked(m, output) ? 2.0f / MAX_TRACKED_METRIC : 1.0f;
}

/* f16 and f32: with gains of no more than 2^12 a weight of at least this has an N0 of no more than MAX_N0. */
#define FAST_GAIN_MIN_WEIGHT 0x1p-16f

VEC bool is_limited_f16(softqam_output_format output, const llr_constants *constants)
{
    return output == SOFTQAM_OUTPUT_F16 && (LIMITS_ARE_CHEAP || constants->limits_f16);
}

/* The smallest weight of the fast path. */
VEC float min_weight_of(int m, softqam_output_format output, softqam_noise_kind kind)
{
    return !are_steps(output) && softqam_has_gains(kind) ? FAST_GAIN_MIN_WEIGHT : fast_range_of(m, output).min_weight;
}

/* The lines of the opposite sign. */
NOT_INLINED void negate_lines(const softqam_llr_table *table, softqam_llr_table *negated)
{
    *negated = *table;
    for (int k = 0; k < MAX_AXIS_BITS; k++)
        for (int row = 0; row < MAX_LLR_ROWS; row++) {
            negated->slopes[k][row] = -table->slopes[k][row];
            negated->intercepts[k][row] = -table->intercepts[k][row];
        }
}

/* `negated` is memory for the lines of the opposite sign, which the constants may point to. */
VEC llr_constants load_llr_constants(int m, softqam_output_format output, softqam_llr_layout layout,
                                     const softqam_loop_call *call, softqam_llr_table *negated)
{
    const softqam_llr_scale scale = call->scale;
    const float unit = metric_unit(m, output);
    const int max_byte = output == SOFTQAM_OUTPUT_S8 ? (int)scale.limit : 0;
    llr_constants constants;
    const softqam_llr_table *table = call->table;
    constants.noise_kind = call->noise_kind;
    constants.weight = vec_splat(call->noise_kind == SOFTQAM_ONE_WEIGHT ? call->noise[0] : 0.0f);
    constants.scale = scale.steps_per_nat;
    constants.gains_offset =
        softqam_has_gains(call->noise_kind) ? (const char *)call->gains - (const char *)call->noise : 0;
    if (are_steps(output) && scale.steps_per_nat < 0.0f) {
        negate_lines(call->table, negated);
        table = negated;
        constants.scale = -scale.steps_per_nat;
        constants.weight = vec_sub(vec_splat(0.0f), constants.weight);
    }
    constants.steps_per_nat = vec_splat(constants.scale);
    constants.table = vec_load_llr_table(m > 0 ? m : 1, table);
    constants.lines = load_two_lines(table, unit);
    constants.limit = vec_splat(scale.limit);
    constants.addend = vec_splat(are_steps(output) ? ROUNDING_CONSTANT * unit : -0.0f);
    constants.min_sum = vec_splat((ROUNDING_CONSTANT - scale.limit) * unit);
    constants.max_sum = vec_splat((ROUNDING_CONSTANT + scale.limit) * unit);
    constants.min_byte = vec_splat_u8(-max_byte);
    constants.max_byte = vec_splat_u8(max_byte);
    constants.is_limited = max_byte < 127;
    constants.limits_f16 = false;
    constants.masks_erasures = LIMITS_ARE_CHEAP && output == SOFTQAM_OUTPUT_F16; /* as masks are there */
    constants.weight_base = vec_splat_u32(float_bits(min_weight_of(m, output, call->noise_kind)) |
                                          (are_steps(output) ? 0 : float_bits(scale.steps_per_nat) & 0x80000000u));
    constants.erased_noise = vec_splat_u32(float_bits(softqam_is_noise_inverse(call->noise_kind) ? 0.0f : INFINITY));
    constants.i_flips[0] = vec_splat_pair(call->i_flips[0], call->i_flips[1]);
    constants.i_flips[1] = vec_splat_pair(call->i_flips[1], call->i_flips[0]);
    constants.sequence = layout == SOFTQAM_LLRS_IN_ORDER ? NULL : call->sequence;
    /* So that no step tests it. */
    if (layout == SOFTQAM_LLRS_DESCRAMBLED && !constants.sequence)
        __builtin_unreachable();
    for (int k = 0; layout == SOFTQAM_LLRS_IN_PLANES && k < 2 * m; k++)
        constants.planes[k] = call->planes[k];
    constants.flip_bytes = vec_load_u32(flip_bytes[m]);
    constants.flip_counts = vec_load_u32(flip_counts[m]);
    return constants;
}

#endif
