/* SPDX-License-Identifier: MIT */
/* A vector loop's compile-time constants, and the values that it keeps in registers. llr_loops.c includes this and has
 * AXIS_BITS. */
#ifndef SOFTQAM_CPU_LLR_CONSTANTS_H
#define SOFTQAM_CPU_LLR_CONSTANTS_H

#include "loops.h"
#include "simd.h"

#include "arithmetic_fast.h"

/* The bits of an axis, 0 for BPSK, and of a symbol; registers hold this many values of an axis. */
enum { M = AXIS_BITS, SYMBOL_BITS = M == 0 ? 1 : 2 * M, AXIS_VALUES = M == 0 ? 1 : M };
_Static_assert((int)M <= (int)VECTOR_MAX_AXIS_BITS, "the stores, and the rows of a table in registers, end there");

/* A loop's kind. All members but `noise` are constants where it is inlined, and some loops have a constant `noise`. */
typedef struct llr_kind {
    softqam_output_format output;
    softqam_llr_layout layout;
    softqam_noise_kind noise;
    bool is_exact; /* on the exact path */
    bool is_few;   /* fewer symbols than an iteration takes */
} llr_kind;

_Static_assert(
    N_OUTPUT_FORMATS == 5,
    "Give the format its case in these functions, in fast_range_of(), in fast_llr() and exact_llr() of llr_loops.c, "
    "and in store_both() and store_bit() of llr_stores.h, where not s8, not f32 means 16 bits");

VEC bool is_in_planes(llr_kind kind) { return kind.layout == SOFTQAM_LLRS_IN_PLANES; }

/* Returns the bytes from a symbol's first LLR to the next symbol's. */
VEC size_t symbol_nbytes(llr_kind kind)
{
    return (is_in_planes(kind) ? 1 : (size_t)SYMBOL_BITS) * softqam_value_nbytes(kind.output);
}

/* An iteration takes LANES symbols, which are two registers of components. For de-interleaved s8 it takes twice as
 * many. */
enum { PLANE_SYMBOLS = 2 * LANES };
VEC bool is_double(llr_kind kind) { return is_in_planes(kind) && kind.output == SOFTQAM_OUTPUT_S8; }
VEC int n_registers(llr_kind kind) { return is_double(kind) ? 4 : 2; }
VEC size_t iteration_symbols(llr_kind kind) { return is_double(kind) ? PLANE_SYMBOLS : LANES; }

/* The room of a plane of few symbols: a register, even if they are s8. */
enum { FEW_PLANE_NBYTES = LANES * sizeof(float) };

/* Returns the fast path's range. */
VEC fast_range fast_range_of(softqam_output_format output)
{
    fast_range range = fast_range_f32;
    if (output == SOFTQAM_OUTPUT_S8)
        range = fast_range_s8;
    else if (output == SOFTQAM_OUTPUT_S16)
        range = M == 0 ? fast_range_bpsk_s16 : fast_range_s16;
    else if (output == SOFTQAM_OUTPUT_F16)
        range = M == 0 ? fast_range_bpsk_f16 : fast_range_f16;
    return range;
}

/* s8 and s16 of BPSK and QPSK: the fast path scales metrics so that bit 30 of a metric is set if it is
 * MAX_TRACKED_METRIC or more. At 0 dB no metric is so large; with a smaller one no weight up to 40 dB leaves the fast
 * path's range. */
#define MAX_TRACKED_METRIC 0x1p7f
VEC bool are_metrics_tracked(softqam_output_format output) { return M <= 1 && softqam_is_in_steps(output); }
VEC float metric_scale(softqam_output_format output)
{
    return are_metrics_tracked(output) ? 2.0f / MAX_TRACKED_METRIC : 1.0f;
}

/* True if the loop divides by gains itself. 1024QAM divides in a separate pass, which is cheap beside its loop. */
enum { FUSES_GAINS = M < 5 };

typedef struct llr_constants {
    axis_lines lines;
    softqam_noise_kind noise_kind;
    vec_f32 weight; /* SOFTQAM_ONE_WEIGHT */
    float scale;    /* with the LLRs' sign; s8 and s16 have the sign in their lines */
    vec_f32 steps_per_nat;
    vec_f32 noise_bound;
    uint32_t above_floor; /* f16 and f32 without gains: the first value of max_weight that the noise floor excludes; 0:
                             it excludes none */
    ptrdiff_t gains_offset; /* from a symbol's noise value to its gain, in bytes */
    vec_f32 limit;
    vec_f32 addend; /* s8, s16: ROUNDING_CONSTANT, scaled as metrics are; else -0, which adds nothing */
    vec_f32 min_sum;
    vec_f32 max_sum;
    vec_bytes min_byte; /* least s8 */
    vec_bytes max_byte;
    bool is_limited;                   /* s8: the limit is below 127, to which packing limits */
    bool limits_f16;                   /* the fast path limits f16: some LLR may be beyond its limit */
    bool masks_erasures;               /* f16 and f32: the fast path gives +0 for erasures */
    vec_u32 weight_base;               /* the bits of the smallest weight of the fast path, with the LLRs' sign */
    vec_u32 erased_noise;              /* the bits of N0 or 1/N0 of a symbol that an equaliser has erased */
    vec_u32 i_flips[2];                /* BPSK: of symbols from an even one on, and from an odd one on */
    const unsigned char *sequence;     /* NULL: nothing is descrambled */
    ptrdiff_t planes[MAX_SYMBOL_BITS]; /* softqam_loop_call's */
    vec_bytes flip_bytes;              /* sequence_bits_at()'s four bytes for each value, and its shift */
    vec_lanes_u32 flip_counts;
} llr_constants;

/* Returns the scrambling sequence's bits for a register's LLRs, from its bit `bit` on: bit 2 k of a value is that of
 * its LLR k. */
VEC vec_u32 sequence_bits_at(const llr_constants *constants, size_t bit)
{
    const vec_bytes bytes = vec_shuffle_bytes(vec_splat_bytes(constants->sequence + bit / 8), constants->flip_bytes);
    return vec_shift_right_each((vec_u32)bytes, (vec_u32)(constants->flip_counts + (uint32_t)(bit % 8)));
}

VEC bool is_limited_f16(softqam_output_format output, const llr_constants *constants)
{
    return output == SOFTQAM_OUTPUT_F16 && (LIMITS_ARE_CHEAP || constants->limits_f16);
}

/* Makes the lines of the opposite sign. */
NOT_INLINED void negate_lines(const softqam_llr_table *table, softqam_llr_table *negated)
{
    *negated = *table;
    for (int k = 0; k < AXIS_VALUES; k++)
        for (int row = 0; row < MAX_LLR_ROWS; row++) {
            negated->slopes[k][row] = -table->slopes[k][row];
            negated->intercepts[k][row] = -table->intercepts[k][row];
        }
}

/* Sets, for each value of a register (a component, or a symbol of BPSK), where its bits of the scrambling sequence are:
 * the four bytes from its symbol's first bit on, and the place of its own first bit in them. */
VEC void load_flip_places(llr_constants *constants)
{
    const vec_lanes_u32 lane = vec_lane_numbers(), symbol = M == 0 ? lane : lane / 2;
    const vec_lanes_u32 first_bit = symbol * SYMBOL_BITS, bit = M == 0 ? first_bit : first_bit + lane % 2;
    constants->flip_bytes = (vec_bytes)(first_bit / 8 * 0x01010101u + 0x03020100u);
    constants->flip_counts = bit - first_bit / 8 * 8;
}

/* Sets limits and addend of LLRs, whose metrics have been scaled. */
VEC void load_output_constants(llr_constants *constants, llr_kind kind, float limit, float scale_of_metrics)
{
    const int max_byte = kind.output == SOFTQAM_OUTPUT_S8 ? (int)limit : 0;
    constants->limit = vec_splat(limit);
    constants->addend = vec_splat(softqam_is_in_steps(kind.output) ? ROUNDING_CONSTANT * scale_of_metrics : -0.0f);
    constants->min_sum = vec_splat((ROUNDING_CONSTANT - limit) * scale_of_metrics);
    constants->max_sum = vec_splat((ROUNDING_CONSTANT + limit) * scale_of_metrics);
    constants->min_byte = vec_splat_u8(-max_byte);
    constants->max_byte = vec_splat_u8(max_byte);
    constants->is_limited = max_byte < 127;
}

/* Sets what descrambles and de-interleaves LLRs. */
VEC void load_destination(llr_constants *constants, llr_kind kind, const unsigned char *sequence,
                          const ptrdiff_t *planes)
{
    constants->sequence = kind.layout == SOFTQAM_LLRS_IN_ORDER ? NULL : sequence;
    for (int k = 0; k < 2 * M; k++)
        constants->planes[k] = is_in_planes(kind) ? planes[k] : 0;
    load_flip_places(constants);
}

/* Returns llr_constants.above_floor if there is a floor. */
NOT_INLINED uint32_t above_floor_of(softqam_output_format output, const softqam_loop_call *call)
{
    const float scale = fabsf(call->rules.steps_per_nat), bound = call->rules.noise_bound;
    const float weight = softqam_is_noise_n0(call->noise_kind) ? scale / bound : scale * bound;
    return float_bits(weight) - float_bits(fast_range_of(output).min_weight) + 1;
}

/* `negated` is memory for the lines of the opposite sign, to which the constants may point. */
VEC void load_llr_constants(llr_constants *constants, llr_kind kind, const softqam_loop_call *call,
                            softqam_llr_table *negated)
{
    const softqam_output_format output = kind.output;
    const softqam_llr_rules rules = call->rules;
    const float scale_of_metrics = metric_scale(output);
    const softqam_llr_table *table = call->table;
    constants->noise_kind = call->noise_kind;
    constants->weight = vec_splat(call->noise_kind == SOFTQAM_ONE_WEIGHT ? call->noise[0] : 0.0f);
    constants->scale = rules.steps_per_nat;
    constants->gains_offset =
        softqam_has_gains(call->noise_kind) ? (const char *)call->gains - (const char *)call->noise : 0;
    if (softqam_is_in_steps(output) && rules.steps_per_nat < 0.0f) {
        negate_lines(call->table, negated);
        table = negated;
        constants->scale = -rules.steps_per_nat;
        constants->weight = vec_sub(vec_splat(0.0f), constants->weight);
    }
    constants->steps_per_nat = vec_splat(constants->scale);
    constants->noise_bound = vec_splat(rules.noise_bound);
    constants->above_floor = 0;
    if (!softqam_is_in_steps(output) &&
        (call->noise_kind == SOFTQAM_EACH_N0 || call->noise_kind == SOFTQAM_EACH_INVERSE) && rules.noise_bound > 0.0f &&
        rules.noise_bound < INFINITY)
        constants->above_floor = above_floor_of(output, call);
    constants->lines.table = vec_load_llr_table(AXIS_VALUES, table);
    constants->lines.first = load_two_lines(table, scale_of_metrics);
    load_output_constants(constants, kind, rules.limit, scale_of_metrics);
    constants->limits_f16 = false;
    /* Mask erasures from the start if masks are cheap or erasures frequent. */
    constants->masks_erasures =
        (LIMITS_ARE_CHEAP && output == SOFTQAM_OUTPUT_F16) || call->noise_kind == SOFTQAM_ERASED_WEIGHTS;
    constants->weight_base =
        vec_splat_u32(float_bits(fast_range_of(output).min_weight) |
                      (softqam_is_in_steps(output) ? 0 : float_bits(rules.steps_per_nat) & 0x80000000u));
    constants->erased_noise = vec_splat_u32(float_bits(softqam_is_noise_n0(call->noise_kind) ? INFINITY : 0.0f));
    constants->i_flips[0] = vec_splat_pair(call->i_flips[0], call->i_flips[1]);
    constants->i_flips[1] = vec_splat_pair(call->i_flips[1], call->i_flips[0]);
    load_destination(constants, kind, call->sequence, call->planes);
}

/* DEFINE_LOOPS(DEFINE) makes a loop for each format but u8 and each layout by DEFINE(format, name, output, layout);
 * ALL_LOOPS lists them. BPSK has one bit: nothing to de-interleave. */
_Static_assert(
    N_OUTPUT_FORMATS == 5 && SOFTQAM_LLR_LAYOUTS == 3,
    "Give a format its lines in DEFINE_LOOPS and ALL_LOOPS, a layout its lines in DEFINE_LAYOUTS and ALL_LAYOUTS");
#if AXIS_BITS == 0
#define DEFINE_PLANES(DEFINE, format, output)
#define PLANES_OF(format)
#else
#define DEFINE_PLANES(DEFINE, format, output) DEFINE(format, format##_in_planes, output, SOFTQAM_LLRS_IN_PLANES)
#define PLANES_OF(format)                     [SOFTQAM_LLRS_IN_PLANES] = format##_in_planes
#endif
#define DEFINE_LAYOUTS(DEFINE, format, output)                                                                         \
    DEFINE(format, format##_in_order, output, SOFTQAM_LLRS_IN_ORDER)                                                   \
    DEFINE(format, format##_descrambled, output, SOFTQAM_LLRS_DESCRAMBLED)                                             \
    DEFINE_PLANES(DEFINE, format, output)
#define DEFINE_LOOPS(DEFINE)                                                                                           \
    DEFINE_LAYOUTS(DEFINE, s8, SOFTQAM_OUTPUT_S8)                                                                      \
    DEFINE_LAYOUTS(DEFINE, s16, SOFTQAM_OUTPUT_S16)                                                                    \
    DEFINE_LAYOUTS(DEFINE, f16, SOFTQAM_OUTPUT_F16)                                                                    \
    DEFINE_LAYOUTS(DEFINE, f32, SOFTQAM_OUTPUT_F32)
#define ALL_LAYOUTS(format)                                                                                            \
    {                                                                                                                  \
        [SOFTQAM_LLRS_IN_ORDER] = format##_in_order, [SOFTQAM_LLRS_DESCRAMBLED] = format##_descrambled,                \
        PLANES_OF(format)                                                                                              \
    }
#define ALL_LOOPS                                                                                                      \
    {                                                                                                                  \
        [SOFTQAM_OUTPUT_S8] = ALL_LAYOUTS(s8), [SOFTQAM_OUTPUT_S16] = ALL_LAYOUTS(s16),                                \
        [SOFTQAM_OUTPUT_F16] = ALL_LAYOUTS(f16), [SOFTQAM_OUTPUT_F32] = ALL_LAYOUTS(f32)                               \
    }

#endif
