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

/* Symbol by symbol with the signs that the symbols say; descrambled; and that in bit planes. */
typedef enum llr_layout { LLRS_AS_SENT, LLRS_DESCRAMBLED, LLRS_IN_PLANES } llr_layout;

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
    vec_f32 weight;   /* of all symbols, where it is one */
    vec_u32 turns[2]; /* BPSK: of symbols from an even one on, and from an odd one on */
    bool streaming;
    /* NULL where nothing is descrambled, 0 for symbol order. */
    const unsigned char *sequence;
    size_t plane_nbytes;
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
    return output <= LLRS_S8 ? usual_range_s8 : usual_range_f32;
}

VEC llr_constants load_llr_constants(int m, llr_output output, softqam_noise_kind kind, const softqam_loop_call *call,
                                     bool streaming, llr_layout layout)
{
    const usual_range usual = usual_range_of(m, output);
    const softqam_llr_scale scale = call->scale;
    const float weight_end = output == LLRS_F16 ? 65504.0f / largest_usual_metric(m) : usual.weight_end;
    const int largest = output <= LLRS_S8 ? (int)scale.limit : 0;
    llr_constants constants;
    constants.table = vec_load_llr_table(m > 0 ? m : 1, call->table);
    constants.turns[0] = vec_splat_pair(call->turn[0], call->turn[1]);
    constants.turns[1] = vec_splat_pair(call->turn[1], call->turn[0]);
    constants.steps_per_nat = vec_splat(scale.steps_per_nat);
    constants.limit = vec_splat(scale.limit);
    constants.least_sum = vec_splat(ROUNDING_CONSTANT - scale.limit);
    constants.most_sum = vec_splat(ROUNDING_CONSTANT + scale.limit);
    constants.least = vec_splat_u8(-largest);
    constants.most = vec_splat_u8(largest);
    constants.component_mask =
        vec_splat_u32(usual.component_mask & ~(call->has_no_small_components ? COMPONENT_BELOW_2_63 : 0));
    constants.least_weight =
        vec_splat_u32(float_bits(usual.least_weight) | (float_bits(scale.steps_per_nat) & 0x80000000u));
    constants.weight_span = vec_splat_u32(float_bits(weight_end) - float_bits(usual.least_weight));
    constants.narrow_weight_span = vec_splat_u32(float_bits(narrow_weight_end(m)));
    constants.streaming = streaming;
    constants.sequence = layout == LLRS_AS_SENT ? NULL : call->sequence;
    constants.plane_nbytes = layout == LLRS_IN_PLANES ? call->plane_nbytes : 0;
    /* So that no step asks. */
    if ((layout != LLRS_AS_SENT && !constants.sequence) || (layout == LLRS_IN_PLANES && !constants.plane_nbytes))
        __builtin_unreachable();
    constants.flip_bytes = vec_load_u32(flip_bytes[m]);
    constants.flip_counts = vec_load_u32(flip_counts[m]);
    constants.weight = vec_splat(kind == SOFTQAM_ONE_WEIGHT ? call->noise[0] : 0.0f);
    return constants;
}

/* s8. A step's LLRs are rounded sums (llr_rounded()) in registers of components, one a bit of the axis; they leave by
 * way of words and bytes, packed from two registers each. In a 128-bit part lie two symbols' components, I and Q in
 * turns; the LLRs of these two symbols, 4 m bytes, are a unit. */

/* Where packing leaves a component's byte: of the first or second pair of registers that go into the bytes, of the
 * first or second register of that pair, component 0 to 3; for narrow sums and others. */
#define PACKED(narrow, pair, second, c) (8 * (pair) + ((narrow) ? 2 * (c) + (second) : 4 * (second) + (c)))
/* The LLRs of one bit, or two bits, of a symbol from a pair of registers. */
#define ONE_BIT(narrow, pair, second, symbol)                                                                          \
    PACKED(narrow, pair, second, 2 * (symbol)), PACKED(narrow, pair, second, 2 * (symbol) + 1)
#define TWO_BITS(narrow, pair, symbol) ONE_BIT(narrow, pair, 0, symbol), ONE_BIT(narrow, pair, 1, symbol)
#define NOTHING_2                      0x80, 0x80
#define NOTHING_6                      NOTHING_2, NOTHING_2, NOTHING_2
#define NOTHING_8                      NOTHING_6, NOTHING_2
#define BOTH_WAYS(order)                                                                                               \
    {                                                                                                                  \
        {order(false)},                                                                                                \
        {                                                                                                              \
            order(true)                                                                                                \
        }                                                                                                              \
    }

/* QPSK, of the pair (a0, b0): a's unit, then b's. 16QAM, of (a0, a1) and (b0, b1): likewise. */
#define ORDER_QPSK(n)  ONE_BIT(n, 0, 0, 0), ONE_BIT(n, 0, 0, 1), ONE_BIT(n, 0, 1, 0), ONE_BIT(n, 0, 1, 1), NOTHING_8
#define ORDER_16QAM(n) TWO_BITS(n, 0, 0), TWO_BITS(n, 0, 1), TWO_BITS(n, 1, 0), TWO_BITS(n, 1, 1)
/* 64QAM, of (a0, a1) and (a2, b2), and of (b0, b1) and (a2, b2): a unit. */
#define ORDER_64QAM(n, second)                                                                                         \
    TWO_BITS(n, 0, 0), ONE_BIT(n, 1, second, 0), TWO_BITS(n, 0, 1), ONE_BIT(n, 1, second, 1), NOTHING_2, NOTHING_2
#define ORDER_64QAM_A(n) ORDER_64QAM(n, 0)
#define ORDER_64QAM_B(n) ORDER_64QAM(n, 1)
/* 256QAM, of (a0, a1) and (a2, a3): a's unit. */
#define ORDER_256QAM(n) TWO_BITS(n, 0, 0), TWO_BITS(n, 1, 0), TWO_BITS(n, 0, 1), TWO_BITS(n, 1, 1)
/* 1024QAM, of the same: a unit's first 16 bytes but for the first symbol's last bit, which comes from (a4, b4); and
 * from that and (a3, b3) the last 4 bytes of a's unit and of b's. */
#define ORDER_1024QAM(n)               TWO_BITS(n, 0, 0), TWO_BITS(n, 1, 0), NOTHING_2, TWO_BITS(n, 0, 1), ONE_BIT(n, 1, 0, 1)
#define ORDER_1024QAM_FIFTH(n, second) NOTHING_8, ONE_BIT(n, 0, second, 0), NOTHING_6
#define ORDER_1024QAM_FIFTH_A(n)       ORDER_1024QAM_FIFTH(n, 0)
#define ORDER_1024QAM_FIFTH_B(n)       ORDER_1024QAM_FIFTH(n, 1)
#define ORDER_1024QAM_ENDS(n)                                                                                          \
    ONE_BIT(n, 1, 0, 1), ONE_BIT(n, 0, 0, 1), ONE_BIT(n, 1, 1, 1), ONE_BIT(n, 0, 1, 1), NOTHING_8

typedef const uint8_t byte_order[2][16]; /* of other sums, of narrow ones */

/* Where the bits of the scrambling sequence are that flip packed bytes, of other sums and of narrow ones: which of the
 * step's bytes, and which bit of it. A packed byte's source is 8 times the register, a or b, and the bit of the axis.
 */
typedef struct flip_table {
    uint8_t bytes[2][64];
    uint8_t bits[2][64];
} flip_table;

#define FROM_QPSK(pair, second)       (8 * (second))
#define FROM_16QAM(pair, second)      (8 * (pair) + (second))
#define FROM_64QAM_A(pair, second)    ((pair) == 0 ? (second) : 8 * (second) + 2)
#define FROM_64QAM_B(pair, second)    ((pair) == 0 ? 8 + (second) : 8 * (second) + 2)
#define FROM_A(pair, second)          (2 * (pair) + (second))
#define FROM_B(pair, second)          (8 + 2 * (pair) + (second))
#define FROM_FIFTH(pair, second)      (8 * (second) + 4 - (pair))
#define FROM_PLANES_0_1(pair, second) (8 * (second) + (pair))
#define FROM_PLANES_2_3(pair, second) (8 * (second) + 2 + (pair))
#define FROM_PLANES_2(pair, second)   (8 * (second) + 2)
#define FROM_PLANES_4(pair, second)   (8 * (second) + 4)

/* The sequence's bit for place y of a 128-bit part, counted from the step's first. */
#define FLIP_SECOND(n, y)    ((n) ? (y) % 2 : (y) % 8 / 4)
#define FLIP_COMPONENT(n, y) ((n) ? (y) % 8 / 2 : (y) % 4)
#define FLIP_IN_STEP(source, m, part, c)                                                                               \
    (((source) / 8 * (LANES / 2) + 2 * (part) + (c) / 2) * 2 * (m) + 2 * ((source) % 8) + (c) % 2)
#define FLIP_PLACE(FROM, m, n, part, y) FLIP_IN_STEP(FROM((y) / 8, FLIP_SECOND(n, y)), m, part, FLIP_COMPONENT(n, y))
#define FLIPPED_BY_BYTE(FROM, m, n, at) (FLIP_PLACE(FROM, m, n, (at) / 16, (at) % 16) / 8 % 16)
#define FLIPPED_BY_BIT(FROM, m, n, at)  (1 << FLIP_PLACE(FROM, m, n, (at) / 16, (at) % 16) % 8)
#define FOUR_PLACES(OF, FROM, m, n, at)                                                                                \
    OF(FROM, m, n, at), OF(FROM, m, n, (at) + 1), OF(FROM, m, n, (at) + 2), OF(FROM, m, n, (at) + 3)
#define PART_PLACES(OF, FROM, m, n, at)                                                                                \
    FOUR_PLACES(OF, FROM, m, n, at), FOUR_PLACES(OF, FROM, m, n, (at) + 4), FOUR_PLACES(OF, FROM, m, n, (at) + 8),     \
        FOUR_PLACES(OF, FROM, m, n, (at) + 12)
/* Of a register of four 128-bit parts; others take its first parts. */
#define ALL_PLACES(OF, FROM, m, n)                                                                                     \
    {                                                                                                                  \
        PART_PLACES(OF, FROM, m, n, 0), PART_PLACES(OF, FROM, m, n, 16), PART_PLACES(OF, FROM, m, n, 32),              \
            PART_PLACES(OF, FROM, m, n, 48)                                                                            \
    }
#define FLIP_TABLE(FROM, m)                                                                                            \
    {                                                                                                                  \
        {ALL_PLACES(FLIPPED_BY_BYTE, FROM, m, 0), ALL_PLACES(FLIPPED_BY_BYTE, FROM, m, 1)},                            \
        {                                                                                                              \
            ALL_PLACES(FLIPPED_BY_BIT, FROM, m, 0), ALL_PLACES(FLIPPED_BY_BIT, FROM, m, 1)                             \
        }                                                                                                              \
    }

static const flip_table flips_qpsk = FLIP_TABLE(FROM_QPSK, 1);
static const flip_table flips_16qam = FLIP_TABLE(FROM_16QAM, 2);
static const flip_table flips_64qam[2] = {FLIP_TABLE(FROM_64QAM_A, 3), FLIP_TABLE(FROM_64QAM_B, 3)};
static const flip_table flips_256qam[2] = {FLIP_TABLE(FROM_A, 4), FLIP_TABLE(FROM_B, 4)};
static const flip_table flips_1024qam[3] = {FLIP_TABLE(FROM_A, 5), FLIP_TABLE(FROM_B, 5), FLIP_TABLE(FROM_FIFTH, 5)};
/* By bits an axis, and by four planes. */
static const flip_table flips_planes[MAX_AXIS_BITS + 1][3] = {
    {{{{0}}, {{0}}}},
    {FLIP_TABLE(FROM_QPSK, 1)},
    {FLIP_TABLE(FROM_PLANES_0_1, 2)},
    {FLIP_TABLE(FROM_PLANES_0_1, 3), FLIP_TABLE(FROM_PLANES_2, 3)},
    {FLIP_TABLE(FROM_PLANES_0_1, 4), FLIP_TABLE(FROM_PLANES_2_3, 4)},
    {FLIP_TABLE(FROM_PLANES_0_1, 5), FLIP_TABLE(FROM_PLANES_2_3, 5), FLIP_TABLE(FROM_PLANES_4, 5)},
};

/* s8 is flipped when it is bytes, where a step's bits are no more than a 128-bit part; else, like the other formats, as
 * metrics. */
VEC bool are_bytes_flipped(int m, llr_output output)
{
    return output <= LLRS_S8 && m > 0 && LANES * 2 * m <= 128;
}

static byte_order order_qpsk = BOTH_WAYS(ORDER_QPSK);
static byte_order order_16qam = BOTH_WAYS(ORDER_16QAM);
static byte_order order_64qam_a = BOTH_WAYS(ORDER_64QAM_A);
static byte_order order_64qam_b = BOTH_WAYS(ORDER_64QAM_B);
static byte_order order_256qam = BOTH_WAYS(ORDER_256QAM);
static byte_order order_1024qam = BOTH_WAYS(ORDER_1024QAM);
static byte_order order_1024qam_fifth_a = BOTH_WAYS(ORDER_1024QAM_FIFTH_A);
static byte_order order_1024qam_fifth_b = BOTH_WAYS(ORDER_1024QAM_FIFTH_B);
static byte_order order_1024qam_ends = BOTH_WAYS(ORDER_1024QAM_ENDS);

/* What flips a register's LLRs: bit 2 k of a value is the sequence's bit for its LLR k. */
VEC vec_u32 flips_at(int m, llr_output output, const llr_constants *constants, size_t bit)
{
    if (!constants->sequence || are_bytes_flipped(m, output))
        return vec_splat_u32(0);
    return vec_spread_bits(constants->sequence + bit / 8, constants->flip_bytes,
                           vec_sub_u32(constants->flip_counts, vec_splat_u32(-(uint32_t)(bit % 8))));
}

VEC vec_f32 flipped(int m, llr_output output, const llr_constants *constants, vec_f32 metric, vec_u32 flips, int k)
{
    return constants->sequence && !are_bytes_flipped(m, output) ? vec_flip(metric, vec_shift_left(flips, 31 - 2 * k))
                                                                : metric;
}

/* The bits of a step that begins with bit number `bit`, in each 128-bit part. */
VEC vec_bytes step_bits(const llr_constants *constants, size_t bit)
{
    const unsigned char *from = constants->sequence + bit / 8;
    const unsigned odd = bit % 8;
    uint64_t words[3];
    if (odd == 0)
        return vec_splat_bytes(from);
    memcpy(words, from, 16);
    words[2] = from[16];
    words[0] = words[0] >> odd | words[1] << (64 - odd);
    words[1] = words[1] >> odd | words[2] << (64 - odd);
    return vec_splat_bytes((const uint8_t *)words);
}

/* How sums become bytes: narrow ones need only their lower words, and those that are not yet limited need a limit
 * beside the packing's. */
typedef struct s8_rule {
    bool narrow;
    bool limited;
    llr_output output;
    const llr_constants *constants;
    bool flips;     /* by the next */
    vec_bytes bits; /* of the sequence, the step's, in each 128-bit part */
} s8_rule;

VEC s8_rule s8_rule_for(int m, llr_output output, bool narrow, bool limited, const llr_constants *constants, size_t bit)
{
    const bool flips = constants->sequence && are_bytes_flipped(m, output);
    return (s8_rule){narrow, limited, output, constants, flips, flips ? step_bits(constants, bit) : vec_splat_u8(0)};
}

/* A pair of registers to words. The bits of a rounded sum are whole steps from those of the constant; the lower 16 bits
 * of these are zero. */
VEC vec_bytes words_of(s8_rule rule, vec_f32 first, vec_f32 second)
{
    const vec_s32 constant = vec_bits_s32(vec_splat(ROUNDING_CONSTANT));
    if (rule.narrow)
        return vec_lower_words(vec_bits_s32(first), vec_bits_s32(second));
    return vec_pack_s16(vec_sub_s32(vec_bits_s32(first), constant), vec_sub_s32(vec_bits_s32(second), constant));
}

/* Two pairs of registers to bytes. */
VEC vec_bytes bytes_of(s8_rule rule, vec_bytes first, vec_bytes second, const flip_table *flips)
{
    vec_bytes packed = vec_pack_s8(first, second);
    if (!rule.limited)
        packed = vec_max_s8(packed, rule.constants->least);
    if (!rule.limited && rule.output == LLRS_S8)
        packed = vec_min_s8(packed, rule.constants->most);
    if (rule.flips)
        packed = vec_flip_bytes(packed, vec_shuffle_bytes(rule.bits, vec_load_bytes(flips->bytes[rule.narrow])),
                                vec_load_bytes(flips->bits[rule.narrow]));
    return packed;
}

VEC vec_bytes in_order(s8_rule rule, vec_bytes packed, byte_order order)
{
    return vec_shuffle_bytes(packed, vec_splat_bytes(order[rule.narrow]));
}

VEC void store_1024qam_s8(s8_rule rule, unsigned char *out, const vec_f32 a[5], const vec_f32 b[5])
{
    const flip_table *flips = flips_1024qam;
    const vec_bytes of_a = bytes_of(rule, words_of(rule, a[0], a[1]), words_of(rule, a[2], a[3]), &flips[0]);
    const vec_bytes of_b = bytes_of(rule, words_of(rule, b[0], b[1]), words_of(rule, b[2], b[3]), &flips[1]);
    const vec_bytes last = bytes_of(rule, words_of(rule, a[4], b[4]), words_of(rule, a[3], b[3]), &flips[2]);
    const vec_bytes units_a = vec_or(in_order(rule, of_a, order_1024qam), in_order(rule, last, order_1024qam_fifth_a));
    const vec_bytes units_b = vec_or(in_order(rule, of_b, order_1024qam), in_order(rule, last, order_1024qam_fifth_b));
    vec_store_units_of_20(out, units_a, units_b, in_order(rule, last, order_1024qam_ends), rule.constants->streaming);
}

/* The sums of a step's first LANES / 2 symbols and of the others. */
VEC void store_s8(int m, s8_rule rule, unsigned char *out, const vec_f32 a[], const vec_f32 b[])
{
    const bool streaming = rule.constants->streaming;
    if (m == 1) {
        const vec_bytes words = words_of(rule, a[0], b[0]);
        vec_store_units_of_4(out, in_order(rule, bytes_of(rule, words, words, &flips_qpsk), order_qpsk), streaming);
    } else if (m == 2) {
        const vec_bytes packed = bytes_of(rule, words_of(rule, a[0], a[1]), words_of(rule, b[0], b[1]), &flips_16qam);
        vec_store_units_of_8(out, in_order(rule, packed, order_16qam), streaming);
    } else if (m == 3) {
        const vec_bytes last = words_of(rule, a[2], b[2]);
        const vec_bytes of_a = bytes_of(rule, words_of(rule, a[0], a[1]), last, &flips_64qam[0]);
        const vec_bytes of_b = bytes_of(rule, words_of(rule, b[0], b[1]), last, &flips_64qam[1]);
        vec_store_units_of_12(out, in_order(rule, of_a, order_64qam_a), in_order(rule, of_b, order_64qam_b), streaming);
    } else {
        store_1024qam_s8(rule, out, a, b);
    }
}

/* 256QAM alone: a register's units are a register. */
VEC void store_256qam_s8(s8_rule rule, unsigned char *out, const vec_f32 sums[4], int is_b)
{
    const vec_bytes packed =
        bytes_of(rule, words_of(rule, sums[0], sums[1]), words_of(rule, sums[2], sums[3]), &flips_256qam[is_b]);
    vec_store(out, in_order(rule, packed, order_256qam), rule.constants->streaming);
}

/* A register's LLRs, by bit, of components or, BPSK, of symbols. */
typedef struct llr_registers {
    vec_f32 bits[MAX_AXIS_BITS];
} llr_registers;

/* What a register becomes: LLRs, or s8's sums. The usual ones are limited by packing alone. */
VEC llr_registers usual_llrs(int m, llr_output output, const llr_constants *constants, vec_f32 components,
                             vec_llr_row row, vec_f32 weight, vec_u32 flips)
{
    vec_f32 metrics[MAX_AXIS_BITS];
    llr_registers llrs;
    usual_metrics(m, &constants->table, components, row, metrics);
    VEC_UNROLL
    for (int k = 0; k < m; k++) {
        const vec_f32 metric = flipped(m, output, constants, metrics[k], flips, k);
        llrs.bits[k] =
            output <= LLRS_S8 ? vec_fma(metric, weight, vec_splat(ROUNDING_CONSTANT)) : vec_mul(metric, weight);
    }
    return llrs;
}

/* One of any value. */
VEC vec_f32 full_llr(llr_output output, const llr_constants *constants, vec_mask valid, vec_f32 metric, vec_f32 weight)
{
    return vec_keep(valid, output <= LLRS_S8 ? llr_rounded(metric, weight, constants->least_sum, constants->most_sum)
                                             : llr_scaled(metric, weight, constants->limit));
}

VEC llr_registers full_llrs(int m, llr_output output, const llr_constants *constants, vec_f32 components,
                            vec_f32 weight, vec_u32 flips)
{
    /* Times zero, what is not finite is NaN, and so is the weight of an erasure. */
    const vec_f32 numbers = vec_fma(components, vec_splat(0.0f), weight);
    const vec_mask valid = vec_are_numbers(numbers, vec_swap_pairs(numbers));
    vec_f32 metrics[MAX_AXIS_BITS];
    llr_registers llrs;
    axis_metrics(m, &constants->table, components, metrics);
    VEC_UNROLL
    for (int k = 0; k < m; k++)
        llrs.bits[k] = full_llr(output, constants, valid, flipped(m, output, constants, metrics[k], flips, k), weight);
    return llrs;
}

/* A step whose two registers are stored together. */
VEC void store_both(int m, llr_output output, s8_rule rule, unsigned char *out, const llr_registers *a,
                    const llr_registers *b)
{
    if (output == LLRS_F16)
        vec_store_both_f16(m, out, a->bits, b->bits, rule.constants->streaming);
    else
        store_s8(m, rule, out, a->bits, b->bits);
}

/* One register of a step whose registers are stored one by one: those of 256QAM, and f32's. */
VEC bool is_stored_alone(int m, llr_output output)
{
    return m == 4 || output == LLRS_F32;
}

VEC void store_alone(int m, llr_output output, s8_rule rule, unsigned char *out, const llr_registers *llrs, int is_b)
{
    if (output == LLRS_F32)
        vec_store_f32_pairs(m, out, llrs->bits, rule.constants->streaming);
    else if (output == LLRS_F16)
        vec_store_256qam_f16(out, llrs->bits, rule.constants->streaming);
    else
        store_256qam_s8(rule, out, llrs->bits, is_b);
}

/* Bit planes. Of a plane's bytes each 128-bit part holds two symbols of a, then two of b. */
#define PLANE(n, pair, axis)                                                                                           \
    PACKED(n, pair, 0, axis), PACKED(n, pair, 0, 2 + (axis)), PACKED(n, pair, 1, axis), PACKED(n, pair, 1, 2 + (axis))
#define ORDER_PLANES(n) PLANE(n, 0, 0), PLANE(n, 0, 1), PLANE(n, 1, 0), PLANE(n, 1, 1)
static byte_order order_planes = BOTH_WAYS(ORDER_PLANES);

/* A step's LLRs from its two registers, to planes of its symbols. */
VEC void store_planes(int m, llr_output output, s8_rule rule, unsigned char *out, const llr_registers *a,
                      const llr_registers *b)
{
    const size_t plane_nbytes = rule.constants->plane_nbytes;
    VEC_UNROLL
    for (int k = 0; k < m && output <= LLRS_S8; k += 2) {
        const int other = k + 1 < m ? k + 1 : k;
        const vec_bytes packed = bytes_of(rule, words_of(rule, a->bits[k], b->bits[k]),
                                          words_of(rule, a->bits[other], b->bits[other]), &flips_planes[m][k / 2]);
        vec_store_planes_s8(out + 2 * (size_t)k * plane_nbytes, plane_nbytes, 2 * (1 + other - k),
                            in_order(rule, packed, order_planes));
    }
    VEC_UNROLL
    for (int k = 0; k < m && output > LLRS_S8; k++) {
        unsigned char *of_i = out + 2 * (size_t)k * plane_nbytes, *of_q = of_i + plane_nbytes;
        const vec_f32 i = vec_evens(a->bits[k], b->bits[k]), q = vec_odds(a->bits[k], b->bits[k]);
        if (output == LLRS_F16) {
            vec_store_f16(of_i, i, false);
            vec_store_f16(of_q, q, false);
        } else {
            vec_store(of_i, vec_as_bytes(i), false);
            vec_store(of_q, vec_as_bytes(q), false);
        }
    }
}

/* BPSK: LANES LLRs. */
VEC void store_bpsk(llr_output output, s8_rule rule, unsigned char *out, vec_f32 llrs)
{
    const bool streaming = rule.constants->streaming;
    if (output == LLRS_F32) {
        vec_store(out, vec_as_bytes(llrs), streaming);
    } else if (output == LLRS_F16) {
        vec_store_f16(out, llrs, streaming);
    } else {
        const vec_s32 steps = vec_sub_s32(vec_bits_s32(llrs), vec_bits_s32(vec_splat(ROUNDING_CONSTANT)));
        vec_store_s8(out, steps, rule.constants->least, rule.constants->most, streaming);
    }
}

/* Where a tile's symbols and noise lie and where its LLRs go. */
typedef struct llr_place {
    const float *components;
    const float *noise;
    unsigned char *out;
    unsigned odd;         /* 1 where an odd number of symbols lies between this place and the loop's first symbol */
    size_t symbol_nbytes; /* from a symbol's first LLR to the next one's */
    size_t bit;           /* of the scrambling sequence */
    prefetch ahead;
} llr_place;

VEC size_t llr_symbol_bits(int m)
{
    return m == 0 ? 1 : 2 * (size_t)m;
}

VEC size_t llr_symbol_nbytes(int m, llr_output output)
{
    return llr_symbol_bits(m) * (output == LLRS_F32 ? 4 : output == LLRS_F16 ? 2 : 1);
}

VEC llr_place llr_place_after(int m, softqam_noise_kind kind, llr_place at, size_t n)
{
    return (llr_place){at.components + 2 * n,
                       at.noise + (kind == SOFTQAM_ONE_WEIGHT ? 0 : n),
                       at.out + n * at.symbol_nbytes,
                       (at.odd + (unsigned)n) % 2,
                       at.symbol_nbytes,
                       at.bit + n * llr_symbol_bits(m),
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
VEC bool next_step(int m, softqam_noise_kind kind, llr_place *at, size_t *n_left)
{
    *n_left -= LANES;
    if (*n_left == 0)
        return false;
    *at = llr_place_after(m, kind, *at, LANES);
    if (__builtin_expect(*n_left < LANES, 0)) {
        const size_t back = LANES - *n_left;
        at->components -= 2 * back;
        at->noise -= kind == SOFTQAM_ONE_WEIGHT ? 0 : back;
        at->out -= back * at->symbol_nbytes;
        at->bit -= back * llr_symbol_bits(m);
        at->odd = (at->odd + (unsigned)back) % 2;
        *n_left = LANES;
    }
    return true;
}

/* What is computed from a step's two registers of components, the first LANES / 2 symbols and the others. */
VEC void usual_step(int m, llr_output output, bool narrow, const llr_constants *constants, llr_place at, vec_f32 a,
                    vec_f32 b, vec_f32 weight)
{
    const s8_rule rule = s8_rule_for(m, output, narrow, false, constants, at.bit);
    const size_t half = LANES / 2 * llr_symbol_nbytes(m, output);
    if (m == 0) {
        const vec_f32 metric =
            flipped(m, output, constants,
                    usual_bpsk_metric(&constants->table, vec_evens(a, b), vec_odds(a, b), constants->turns[at.odd]),
                    flips_at(m, output, constants, at.bit), 0);
        store_bpsk(output, rule, at.out,
                   output <= LLRS_S8 ? vec_fma(metric, weight, vec_splat(ROUNDING_CONSTANT)) : vec_mul(metric, weight));
        return;
    }
    const vec_llr_row row_a = usual_row(m, &constants->table, a);
    const vec_llr_row row_b = usual_row(m, &constants->table, b);
    const vec_u32 flips_a = flips_at(m, output, constants, at.bit),
                  flips_b = flips_at(m, output, constants, at.bit + (size_t)LANES * m);
    const llr_registers of_a = usual_llrs(m, output, constants, a, row_a, vec_twice_lower(weight), flips_a);
    if (is_stored_alone(m, output) && !constants->plane_nbytes)
        store_alone(m, output, rule, at.out, &of_a, 0);
    const llr_registers of_b = usual_llrs(m, output, constants, b, row_b, vec_twice_upper(weight), flips_b);
    if (constants->plane_nbytes)
        store_planes(m, output, rule, at.out, &of_a, &of_b);
    else if (is_stored_alone(m, output))
        store_alone(m, output, rule, at.out + half, &of_b, 1);
    else
        store_both(m, output, rule, at.out, &of_a, &of_b);
}

VEC void full_step(int m, llr_output output, const llr_constants *constants, llr_place at, vec_f32 a, vec_f32 b,
                   vec_f32 weight)
{
    const s8_rule rule = s8_rule_for(m, output, true, true, constants, at.bit);
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
    if (is_stored_alone(m, output) && !constants->plane_nbytes)
        store_alone(m, output, rule, at.out, &of_a, 0);
    const llr_registers of_b = full_llrs(m, output, constants, b, vec_twice_upper(weight), flips_b);
    if (constants->plane_nbytes)
        store_planes(m, output, rule, at.out, &of_a, &of_b);
    else if (is_stored_alone(m, output))
        store_alone(m, output, rule, at.out + half, &of_b, 1);
    else
        store_both(m, output, rule, at.out, &of_a, &of_b);
}

/* A tile as if its values were usual, or narrow; returns what they are. */
VEC tile_values usual_tile(int m, llr_output output, bool narrow, softqam_noise_kind kind,
                           const llr_constants *constants, llr_place at, size_t n_symbols)
{
    vec_u32 components_seen = vec_splat_u32(0);
    vec_u32 weights_seen = vec_splat_u32(0);
    vec_f32 weight = constants->weight;
    if (kind == SOFTQAM_ONE_WEIGHT)
        weights_seen = vec_sub_u32(vec_bits(weight), constants->least_weight);
    do {
        prefetch_step(&at.ahead, at.components, LANES * 2 * sizeof(float), constants->streaming);
        const vec_f32 a = vec_load_f32(at.components);
        const vec_f32 b = vec_load_f32(at.components + LANES);
        components_seen = see_components(m, output, components_seen, a);
        components_seen = see_components(m, output, components_seen, b);
        if (kind != SOFTQAM_ONE_WEIGHT) {
            const vec_f32 noise = vec_load_f32(at.noise);
            weight = kind == SOFTQAM_NOISE_INVERSE ? vec_mul(constants->steps_per_nat, noise)
                                                   : vec_div(constants->steps_per_nat, noise);
            weights_seen = vec_max_u32(weights_seen, vec_sub_u32(vec_bits(weight), constants->least_weight));
        }
        usual_step(m, output, narrow, constants, at, a, b, weight);
    } while (next_step(m, kind, &at, &n_symbols));
    return values_seen(m, output, constants, components_seen, weights_seen);
}

/* s8 of components of any size and symbols that are not finite, whose weight counts as zero; of usual weights. */
VEC llr_registers far_llrs(int m, llr_output output, const llr_constants *constants, vec_f32 components, vec_f32 weight,
                           vec_f32 most, vec_u32 flips)
{
    /* Times zero, what is not finite is NaN. */
    const vec_f32 zeros = vec_mul(components, vec_splat(0.0f));
    const vec_mask valid = vec_are_numbers(zeros, vec_swap_pairs(zeros));
    const vec_f32 kept = vec_keep(valid, weight);
    vec_f32 metrics[MAX_AXIS_BITS];
    llr_registers llrs;
    far_metrics(m, &constants->table, valid, components, most, metrics);
    VEC_UNROLL
    for (int k = 0; k < m; k++)
        llrs.bits[k] = vec_fma(flipped(m, output, constants, metrics[k], flips, k), kept, vec_splat(ROUNDING_CONSTANT));
    return llrs;
}

VEC void far_step(int m, llr_output output, const llr_constants *constants, llr_place at, vec_f32 weight, vec_f32 most)
{
    const s8_rule rule = s8_rule_for(m, output, true, false, constants, at.bit);
    const vec_f32 a = vec_load_f32(at.components), b = vec_load_f32(at.components + LANES);
    const vec_u32 flips_a = flips_at(m, output, constants, at.bit),
                  flips_b = flips_at(m, output, constants, at.bit + (size_t)LANES * m);
    const llr_registers of_a =
        far_llrs(m, output, constants, a, vec_twice_lower(weight), vec_twice_lower(most), flips_a);
    if (is_stored_alone(m, output) && !constants->plane_nbytes)
        store_alone(m, output, rule, at.out, &of_a, 0);
    const llr_registers of_b =
        far_llrs(m, output, constants, b, vec_twice_upper(weight), vec_twice_upper(most), flips_b);
    if (constants->plane_nbytes)
        store_planes(m, output, rule, at.out, &of_a, &of_b);
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
    vec_f32 weight = constants->weight;
    vec_f32 limit = vec_abs(vec_div(vec_splat(FAR_LIMIT), weight));
    vec_u32 weights_seen = vec_splat_u32(0);
    if (kind == SOFTQAM_ONE_WEIGHT)
        weights_seen = vec_sub_u32(vec_bits(weight), least_weight);
    do {
        prefetch_step(&at.ahead, at.components, LANES * 2 * sizeof(float), constants->streaming);
        if (kind != SOFTQAM_ONE_WEIGHT) {
            const vec_f32 noise = vec_load_f32(at.noise);
            const bool is_inverse = kind == SOFTQAM_NOISE_INVERSE;
            weight = is_inverse ? vec_mul(constants->steps_per_nat, noise) : vec_div(constants->steps_per_nat, noise);
            limit = is_inverse ? vec_div(limit_per_n0, noise) : vec_mul(limit_per_n0, noise);
            weights_seen = vec_max_u32(weights_seen, vec_sub_u32(vec_bits(weight), least_weight));
        }
        far_step(m, output, constants, at, weight, limit);
    } while (next_step(m, kind, &at, &n_symbols));
    return vec_any_from(weights_seen, span) ? VALUES_ANY : VALUES_FAR;
}

VEC void full_tile(int m, llr_output output, softqam_noise_kind kind, const llr_constants *constants, llr_place at,
                   size_t n_symbols)
{
    do {
        prefetch_step(&at.ahead, at.components, LANES * 2 * sizeof(float), constants->streaming);
        vec_f32 weight = constants->weight;
        if (kind != SOFTQAM_ONE_WEIGHT)
            weight = llr_weight(constants->steps_per_nat, vec_load_f32(at.noise), kind == SOFTQAM_NOISE_INVERSE);
        full_step(m, output, constants, at, vec_load_f32(at.components), vec_load_f32(at.components + LANES), weight);
    } while (next_step(m, kind, &at, &n_symbols));
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
    const size_t value_nbytes = llr_symbol_nbytes(0, output);
    llr_place at = {.components = call->components,
                    .noise = call->noise,
                    .out = call->out,
                    .symbol_nbytes = constants.plane_nbytes ? value_nbytes : llr_symbol_nbytes(m, output),
                    .ahead = prefetch_of(call, LANES, 2 * sizeof(float))};
    size_t n_symbols = call->n_symbols;
    tile_values values = VALUES_ANY; /* of the tile before */
    for (unsigned number = 0; n_symbols > 0; number++) {
        size_t n = LLR_TILE_SYMBOLS;
        if (number % TILES_BEFORE_RETRY == 0) {
            n = values == VALUES_ANY && number > 0 ? LLR_RETRY_SYMBOLS : LLR_TILE_SYMBOLS;
            values = likely_values(m, output, kind, call->scale, at.noise);
        }
        /* No tile is shorter than a step. */
        n = n_symbols < n + LANES ? n_symbols : n;
        /* The quickest way first; one is enough where the values turn out to allow it. */
        if (m > 0 && output <= LLRS_S8 && values == VALUES_NARROW)
            values = usual_tile(m, output, true, kind, &constants, at, n);
        if (values == VALUES_USUAL)
            values = usual_values(usual_tile(m, output, false, kind, &constants, at, n));
        if (takes_far(m, output) && values == VALUES_FAR)
            values = far_tile(m, output, kind, call->scale.steps_per_nat, &constants, at, n);
        if (values == VALUES_ANY)
            full_tile(m, output, kind, &constants, at, n);
        at = llr_place_after(m, kind, at, n);
        at.ahead.at += n / LANES * at.ahead.step_nbytes;
        n_symbols -= n;
    }
}

/* Streaming is a constant of the loops of the usual s8, in which a branch at each store takes a tenth of the time. */
#define DEFINE_LLR_LOOP(name, m, output, kind)                                                                         \
    static void name(const softqam_loop_call *call)                                                                    \
    {                                                                                                                  \
        if ((output) != LLRS_S8_FULL)                                                                                  \
            llr_loop(m, output, kind, call, call->streaming, LLRS_AS_SENT);                                            \
        else if (call->streaming)                                                                                      \
            llr_loop(m, output, kind, call, true, LLRS_AS_SENT);                                                       \
        else                                                                                                           \
            llr_loop(m, output, kind, call, false, LLRS_AS_SENT);                                                      \
    }
#define DEFINE_LLR_LOOPS(name, m, output)                                                                              \
    DEFINE_LLR_LOOP(name##_one_weight, m, output, SOFTQAM_ONE_WEIGHT)                                                  \
    DEFINE_LLR_LOOP(name##_n0, m, output, SOFTQAM_NOISE_N0)                                                            \
    DEFINE_LLR_LOOP(name##_inverse, m, output, SOFTQAM_NOISE_INVERSE)
/* Loops that descramble and write planes, which no cache is spared: of noise values for each symbol, and of any limit.
 */
#define DEFINE_CODEWORD_LOOP(name, m, output, kind)                                                                    \
    static void name(const softqam_loop_call *call)                                                                    \
    {                                                                                                                  \
        if ((m) > 0 && call->plane_nbytes)                                                                             \
            llr_loop(m, output, kind, call, false, LLRS_IN_PLANES);                                                    \
        else if ((output) != LLRS_S8)                                                                                  \
            llr_loop(m, output, kind, call, call->streaming, LLRS_DESCRAMBLED);                                        \
        else if (call->streaming)                                                                                      \
            llr_loop(m, output, kind, call, true, LLRS_DESCRAMBLED);                                                   \
        else                                                                                                           \
            llr_loop(m, output, kind, call, false, LLRS_DESCRAMBLED);                                                  \
    }
#define DEFINE_CODEWORD_LOOPS(name, m, output)                                                                         \
    DEFINE_CODEWORD_LOOP(name##_codeword_n0, m, output, SOFTQAM_NOISE_N0)                                              \
    DEFINE_CODEWORD_LOOP(name##_codeword_inverse, m, output, SOFTQAM_NOISE_INVERSE)
#define DEFINE_MODULATION(name, m)                                                                                     \
    DEFINE_LLR_LOOPS(name##_s8_full, m, LLRS_S8_FULL)                                                                  \
    DEFINE_LLR_LOOPS(name##_s8, m, LLRS_S8)                                                                            \
    DEFINE_LLR_LOOPS(name##_f16, m, LLRS_F16)                                                                          \
    DEFINE_LLR_LOOPS(name##_f32, m, LLRS_F32)                                                                          \
    DEFINE_CODEWORD_LOOPS(name##_s8, m, LLRS_S8)                                                                       \
    DEFINE_CODEWORD_LOOPS(name##_f16, m, LLRS_F16)                                                                     \
    DEFINE_CODEWORD_LOOPS(name##_f32, m, LLRS_F32)

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
        .s8_full = BY_NOISE(name##_s8_full), .s8 = BY_NOISE(name##_s8), .f16 = BY_NOISE(name##_f16),                   \
        .f32 = BY_NOISE(name##_f32), .codeword_s8 = CODEWORD_BY_NOISE(name##_s8),                                      \
        .codeword_f16 = CODEWORD_BY_NOISE(name##_f16), .codeword_f32 = CODEWORD_BY_NOISE(name##_f32)                   \
    }

static const softqam_llr_loops llr_loops[MAX_AXIS_BITS + 1] = {
    MODULATION_LOOPS(loop_bpsk),  MODULATION_LOOPS(loop_qpsk),   MODULATION_LOOPS(loop_16qam),
    MODULATION_LOOPS(loop_64qam), MODULATION_LOOPS(loop_256qam), MODULATION_LOOPS(loop_1024qam)};

#endif
