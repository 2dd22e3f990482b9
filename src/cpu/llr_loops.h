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

/* Bit planes: packed bytes are one bit's of two steps' symbols, all of I, then all of Q. Where the bits of the
 * scrambling sequence are that flip them: which byte, counted from the first one of 16 symbols, and which bit of it. Of
 * 1024QAM, whose 16 symbols have more bytes than a shuffle reaches, the bytes of the last 8 are counted from the first
 * one of those. */
typedef struct flip_table {
    uint8_t bytes[64];
    uint8_t last_bytes[64]; /* 1024QAM */
    uint8_t bits[64];
} flip_table;

enum { PLANE_SYMBOLS = 2 * LANES, FLIPPED_TOGETHER = 16, NOT_HERE = 0x80 };

#define FLIP_SYMBOL(at)           ((at) % PLANE_SYMBOLS % FLIPPED_TOGETHER)
#define FLIP_PLACE(m, k, at)      (FLIP_SYMBOL(at) * 2 * (m) + 2 * (k) + (at) / PLANE_SYMBOLS % 2)
#define IS_LAST_8(m, at)          ((m) == 5 && FLIP_SYMBOL(at) >= 8)
#define FLIPPED_BY_BYTE(m, k, at) (IS_LAST_8(m, at) ? NOT_HERE : FLIP_PLACE(m, k, at) / 8)
#define FLIPPED_BY_LAST(m, k, at) (IS_LAST_8(m, at) ? FLIP_PLACE(m, k, at) / 8 - 2 * (m) : NOT_HERE)
#define FLIPPED_BY_BIT(m, k, at)  (1 << FLIP_PLACE(m, k, at) % 8)
#define FOUR_PLACES(OF, m, k, at) OF(m, k, at), OF(m, k, (at) + 1), OF(m, k, (at) + 2), OF(m, k, (at) + 3)
#define PART_PLACES(OF, m, k, at)                                                                                      \
    FOUR_PLACES(OF, m, k, at), FOUR_PLACES(OF, m, k, (at) + 4), FOUR_PLACES(OF, m, k, (at) + 8),                       \
        FOUR_PLACES(OF, m, k, (at) + 12)
/* Of a register of four 128-bit parts; others take its first parts. */
#define ALL_PLACES(OF, m, k)                                                                                           \
    {                                                                                                                  \
        PART_PLACES(OF, m, k, 0), PART_PLACES(OF, m, k, 16), PART_PLACES(OF, m, k, 32), PART_PLACES(OF, m, k, 48)      \
    }
#define FLIP_TABLE(m, k)                                                                                               \
    {                                                                                                                  \
        ALL_PLACES(FLIPPED_BY_BYTE, m, k), ALL_PLACES(FLIPPED_BY_LAST, m, k), ALL_PLACES(FLIPPED_BY_BIT, m, k)         \
    }

/* By bits an axis and bit. */
static const flip_table flips_planes[MAX_AXIS_BITS + 1][MAX_AXIS_BITS] = {
    {{{0}, {0}, {0}}},
    {FLIP_TABLE(1, 0)},
    {FLIP_TABLE(2, 0), FLIP_TABLE(2, 1)},
    {FLIP_TABLE(3, 0), FLIP_TABLE(3, 1), FLIP_TABLE(3, 2)},
    {FLIP_TABLE(4, 0), FLIP_TABLE(4, 1), FLIP_TABLE(4, 2), FLIP_TABLE(4, 3)},
    {FLIP_TABLE(5, 0), FLIP_TABLE(5, 1), FLIP_TABLE(5, 2), FLIP_TABLE(5, 3), FLIP_TABLE(5, 4)},
};

/* s8 is flipped when it is bytes, but for BPSK; the other formats, as metrics. */
VEC bool are_bytes_flipped(int m, llr_output output)
{
    return output <= LLRS_S8 && m > 0;
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
        return vec_splat_u32(0); /* bit planes alone may have no sequence */
    return vec_spread_bits(constants->sequence + bit / 8, constants->flip_bytes,
                           vec_sub_u32(constants->flip_counts, vec_splat_u32(-(uint32_t)(bit % 8))));
}

VEC vec_f32 flipped(int m, llr_output output, const llr_constants *constants, vec_f32 metric, vec_u32 flips, int k)
{
    return (constants->in_planes || constants->sequence) && !are_bytes_flipped(m, output)
               ? vec_flip(metric, vec_shift_left(flips, 31 - 2 * k))
               : metric;
}

/* Where the bits of a step begin, NULL where nothing is flipped: those of the sequence, or, where they do not begin
 * with a byte, as in a step that goes back, a shifted copy. */
typedef struct shifted_bits {
    uint64_t words[7];
} shifted_bits;

VEC const unsigned char *step_flips(int m, llr_output output, const llr_constants *constants, size_t bit,
                                    shifted_bits *shifted)
{
    if (!constants->sequence || !are_bytes_flipped(m, output))
        return NULL;
    const unsigned char *from = constants->sequence + bit / 8;
    const unsigned odd = bit % 8;
    if (m == 4 || __builtin_expect(odd == 0, 1))
        return from;
    for (size_t k = 0; k < sizeof shifted->words / sizeof shifted->words[0]; k++) {
        uint64_t word;
        memcpy(&word, from + 8 * k, sizeof word);
        shifted->words[k] = word >> odd | (uint64_t)from[8 * k + 8] << (64 - odd);
    }
    return (const unsigned char *)shifted->words;
}

/* How sums become bytes: narrow ones need only their lower words, and those that are not yet limited need a limit
 * beside the packing's. */
typedef struct s8_rule {
    bool narrow;
    bool limited;
    llr_output output;
    const llr_constants *constants;
    const unsigned char *flips; /* step_flips() */
} s8_rule;

/* A pair of registers to words. The bits of a rounded sum are whole steps from those of the constant; the lower 16 bits
 * of these are zero. */
VEC vec_bytes words_of(s8_rule rule, vec_f32 first, vec_f32 second)
{
    const vec_s32 constant = vec_bits_s32(vec_splat(ROUNDING_CONSTANT));
    if (rule.narrow)
        return vec_lower_words(vec_bits_s32(first), vec_bits_s32(second));
    return vec_pack_s16(vec_sub_s32(vec_bits_s32(first), constant), vec_sub_s32(vec_bits_s32(second), constant));
}

/* Whether bytes need a limit that packing has not. */
VEC bool is_limited_below(s8_rule rule)
{
    return !rule.limited && rule.output == LLRS_S8 && rule.constants->is_limited;
}

/* Two pairs of registers to bytes, limited but for is_limited_below(). */
VEC vec_bytes packed_bytes(s8_rule rule, vec_bytes first, vec_bytes second)
{
    const vec_bytes packed = vec_pack_s8(first, second);
    return rule.limited ? packed : vec_max_s8(packed, rule.constants->least);
}

VEC vec_bytes bytes_of(s8_rule rule, vec_bytes first, vec_bytes second)
{
    const vec_bytes packed = packed_bytes(rule, first, second);
    return is_limited_below(rule) ? vec_min_s8(packed, rule.constants->most) : packed;
}

VEC vec_bytes in_order(s8_rule rule, vec_bytes packed, byte_order order)
{
    return vec_shuffle_bytes(packed, vec_splat_bytes(order[rule.narrow]));
}

VEC void store_1024qam_s8(s8_rule rule, unsigned char *out, const vec_f32 a[5], const vec_f32 b[5])
{
    const vec_bytes of_a = bytes_of(rule, words_of(rule, a[0], a[1]), words_of(rule, a[2], a[3]));
    const vec_bytes of_b = bytes_of(rule, words_of(rule, b[0], b[1]), words_of(rule, b[2], b[3]));
    const vec_bytes last = bytes_of(rule, words_of(rule, a[4], b[4]), words_of(rule, a[3], b[3]));
    const vec_bytes units_a = vec_or(in_order(rule, of_a, order_1024qam), in_order(rule, last, order_1024qam_fifth_a));
    const vec_bytes units_b = vec_or(in_order(rule, of_b, order_1024qam), in_order(rule, last, order_1024qam_fifth_b));
    vec_store_units_of_20(out, units_a, units_b, in_order(rule, last, order_1024qam_ends), rule.flips,
                          rule.constants->streaming);
}

/* The sums of a step's first LANES / 2 symbols and of the others. */
VEC void store_s8(int m, s8_rule rule, unsigned char *out, const vec_f32 a[], const vec_f32 b[])
{
    const bool streaming = rule.constants->streaming;
    if (m == 1) {
        const vec_bytes words = words_of(rule, a[0], b[0]);
        vec_store_units_of_4(out, in_order(rule, bytes_of(rule, words, words), order_qpsk), rule.flips, streaming);
    } else if (m == 2) {
        const vec_bytes packed = bytes_of(rule, words_of(rule, a[0], a[1]), words_of(rule, b[0], b[1]));
        vec_store_units_of_8(out, in_order(rule, packed, order_16qam), rule.flips, streaming);
    } else if (m == 3) {
        const vec_bytes last = words_of(rule, a[2], b[2]);
        const vec_bytes of_a = bytes_of(rule, words_of(rule, a[0], a[1]), last);
        const vec_bytes of_b = bytes_of(rule, words_of(rule, b[0], b[1]), last);
        vec_store_units_of_12(out, in_order(rule, of_a, order_64qam_a), in_order(rule, of_b, order_64qam_b), rule.flips,
                              streaming);
    } else {
        store_1024qam_s8(rule, out, a, b);
    }
}

/* 256QAM alone: a register's units are a register. */
VEC void store_256qam_s8(s8_rule rule, unsigned char *out, const vec_f32 sums[4], int is_b)
{
    const vec_bytes packed = bytes_of(rule, words_of(rule, sums[0], sums[1]), words_of(rule, sums[2], sums[3]));
    const vec_bytes ordered = in_order(rule, packed, order_256qam);
    const unsigned char *flips = rule.flips ? rule.flips + is_b * LANES / 2 : NULL;
    vec_store(out, vec_flip_in_order(ordered, flips), rule.constants->streaming);
}

/* s8 in planes takes two steps at once. Their registers of components have I of half of the symbols, then their Q:
 * those of even number and those of odd number, which packing to words brings in order. */
VEC bool is_double_step(llr_output output, const llr_constants *constants)
{
    return constants->in_planes && output <= LLRS_S8;
}

VEC size_t step_symbols(llr_output output, const llr_constants *constants)
{
    return is_double_step(output, constants) ? PLANE_SYMBOLS : LANES;
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
        llrs.bits[k] = output <= LLRS_S8 ? llr_sum(metric, weight) : vec_mul(metric, weight);
    }
    return llrs;
}

/* One of any value. */
VEC vec_f32 full_llr(llr_output output, const llr_constants *constants, vec_mask valid, vec_f32 metric, vec_f32 weight)
{
    return vec_keep(valid, output <= LLRS_S8 ? llr_rounded(metric, weight, constants->least_sum, constants->most_sum)
                                             : llr_scaled(metric, weight, constants->limit));
}

/* The other component of each one's symbol. */
VEC vec_f32 partners(llr_output output, const llr_constants *constants, vec_f32 a)
{
    return is_double_step(output, constants) ? vec_swap_halves(a) : vec_swap_pairs(a);
}

VEC llr_registers full_llrs(int m, llr_output output, const llr_constants *constants, vec_f32 components,
                            vec_f32 weight, vec_u32 flips)
{
    /* Times zero, what is not finite is NaN, and so is the weight of an erasure. */
    const vec_f32 numbers = vec_fma(components, vec_splat(0.0f), weight);
    const vec_mask valid = vec_are_numbers(numbers, partners(output, constants, numbers));
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

/* A step's LLRs from its two registers, to planes of its symbols; not s8. */
VEC void store_planes(int m, llr_output output, const llr_constants *constants, unsigned char *out,
                      const llr_registers *a, const llr_registers *b)
{
    const size_t plane_nbytes = constants->plane_nbytes;
    VEC_UNROLL
    for (int k = 0; k < m; k++) {
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

/* A double step's words, of each bit two registers that packing brings in order. */
typedef struct plane_words {
    vec_bytes halves[2][MAX_AXIS_BITS];
} plane_words;

VEC vec_bytes plane_words_of(s8_rule rule, vec_f32 even, vec_f32 odd)
{
    static const uint8_t in_turns[16] = {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15};
    const vec_bytes words = words_of(rule, even, odd);
    return rule.narrow ? words : vec_shuffle_bytes(words, vec_splat_bytes(in_turns));
}

/* Of each bit two planes. */
VEC void flip_planes(int m, const unsigned char *flips, vec_bytes planes[])
{
    const vec_bytes all = vec_load_plane_bits(flips, 4 * m);
    VEC_UNROLL
    for (int k = 0; k < m; k++) {
        const flip_table *table = &flips_planes[m][k];
        vec_bytes bits = all;
        if (m != 4 || LANES == 4) /* else each symbol's bits are the byte in its place */
            bits = vec_shuffle_bytes(bits, vec_load_bytes(table->bytes));
        if (m == 5)
            bits = vec_or(
                bits, vec_shuffle_bytes(vec_load_plane_bits(flips + 2 * m, 4 * m), vec_load_bytes(table->last_bytes)));
        planes[k] = vec_flip_bytes(planes[k], bits, vec_load_bytes(table->bits));
    }
}

VEC void store_double_step(int m, s8_rule rule, unsigned char *out, const plane_words *words)
{
    const size_t plane_nbytes = rule.constants->plane_nbytes;
    vec_bytes planes[MAX_AXIS_BITS];
    VEC_UNROLL
    for (int k = 0; k < m; k++)
        planes[k] = vec_planes_apart(packed_bytes(rule, words->halves[0][k], words->halves[1][k]));
    if (is_limited_below(rule)) {
        VEC_UNROLL
        for (int k = 0; k < m; k++)
            planes[k] = vec_min_s8(planes[k], rule.constants->most);
    }
    if (rule.flips)
        flip_planes(m, rule.flips, planes);
    VEC_UNROLL
    for (int k = 0; k < m; k++)
        vec_store_two_planes(out + 2 * (size_t)k * plane_nbytes, plane_nbytes, planes[k]);
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
    size_t symbol;        /* from the loop's first one on */
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
        at->components -= 2 * back;
        at->noise -= kind == SOFTQAM_ONE_WEIGHT ? 0 : back;
        at->out -= back * at->symbol_nbytes;
        at->bit -= back * llr_symbol_bits(m);
        at->symbol -= back;
        at->odd = (at->odd + (unsigned)back) % 2;
        *n_left = n_step;
    }
    return true;
}

/* What is computed from a step's two registers of components, the first LANES / 2 symbols and the others. */
VEC void usual_step(int m, llr_output output, bool narrow, const llr_constants *constants, llr_place at, vec_f32 a,
                    vec_f32 b, vec_f32 weight)
{
    shifted_bits shifted;
    const s8_rule rule = {narrow, false, output, constants, step_flips(m, output, constants, at.bit, &shifted)};
    const size_t half = LANES / 2 * llr_symbol_nbytes(m, output);
    if (m == 0) {
        const vec_f32 metric =
            flipped(m, output, constants,
                    usual_bpsk_metric(&constants->table, vec_evens(a, b), vec_odds(a, b), constants->turns[at.odd]),
                    flips_at(m, output, constants, at.bit), 0);
        store_bpsk(output, rule, at.out, output <= LLRS_S8 ? llr_sum(metric, weight) : vec_mul(metric, weight));
        return;
    }
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
        from[k] = vec_load_f32(n_layers > 1 ? constants->layers[k] + 2 * element : at.components + k * LANES);
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
            weight = usual_weight(kind, constants, vec_load_f32(at.noise));
            weights_seen = vec_max_u32(weights_seen, vec_sub_u32(vec_bits(weight), constants->least_weight));
        }
        usual_step(m, output, narrow, constants, at, a, b, weight);
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
    const vec_f32 a = vec_load_f32(at.components), b = vec_load_f32(at.components + LANES);
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
        prefetch_step(&at.ahead, at.components, LANES * 2 * sizeof(float), constants->streaming);
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
        prefetch_step(&at.ahead, at.components, LANES * 2 * sizeof(float), constants->streaming);
        vec_f32 weight = constants->weight;
        if (kind != SOFTQAM_ONE_WEIGHT)
            weight = llr_weight(constants->steps_per_nat, vec_load_f32(at.noise), is_inverse);
        full_step(m, output, constants, at, vec_load_f32(at.components), vec_load_f32(at.components + LANES), weight);
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
                    .symbol_nbytes = constants.in_planes ? value_nbytes : llr_symbol_nbytes(m, output),
                    .ahead = prefetch_of(call, (unsigned)step_symbols(output, &constants), 2 * sizeof(float))};
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
