/* SPDX-License-Identifier: MIT */
/* The LLRs of a step, or of two, from their metrics (usual_llrs(), full_llrs()), and how they leave a vector loop: as
 * sums, bytes or halves, their signs changed, in the order of memory or as bit planes. Included by llr_loops.h. */
#ifndef SOFTQAM_CPU_LLR_STORES_H
#define SOFTQAM_CPU_LLR_STORES_H

#include "llr_constants.h"

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

_Static_assert(MAX_AXIS_BITS == 5, "only the longest symbols need last_bytes");
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

/* An LLR of usual values, or the sum that s8 and s16 have of it. s8's are limited by packing alone. */
VEC vec_f32 usual_llr(llr_output output, const llr_constants *constants, vec_f32 metric, vec_f32 weight)
{
    if (output == LLRS_S16)
        return llr_rounded(metric, weight, constants->least_sum, constants->most_sum);
    return output <= LLRS_S8 ? llr_sum(metric, weight) : vec_mul(metric, weight);
}

/* What a register becomes. */
VEC llr_registers usual_llrs(int m, llr_output output, const llr_constants *constants, vec_f32 components,
                             vec_llr_row row, vec_f32 weight, vec_u32 flips)
{
    vec_f32 metrics[MAX_AXIS_BITS];
    llr_registers llrs;
    usual_metrics(m, &constants->table, components, row, metrics);
    VEC_UNROLL
    for (int k = 0; k < m; k++) {
        const vec_f32 metric = flipped(m, output, constants, metrics[k], flips, k);
        llrs.bits[k] = usual_llr(output, constants, metric, weight);
    }
    return llrs;
}

/* One of any value. */
VEC vec_f32 full_llr(llr_output output, const llr_constants *constants, vec_mask valid, vec_f32 metric, vec_f32 weight)
{
    return vec_keep(valid, output <= LLRS_S16 ? llr_rounded(metric, weight, constants->least_sum, constants->most_sum)
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

/* Whether a step's registers are stored one by one: those of 256QAM, and f32's. */
VEC bool is_stored_alone(int m, llr_output output)
{
    return m == 4 || output == LLRS_F32;
}

/* One register of such a step. */
VEC void store_alone(int m, llr_output output, s8_rule rule, unsigned char *out, const llr_registers *llrs, int is_b)
{
    const bool streaming = rule.constants->streaming;
    const vec_f32 *bits = llrs->bits;
    if (output == LLRS_F32) {
        vec_store_f32_pairs(m, out, bits, streaming);
    } else if (output > LLRS_S8) {
        vec_store_256qam_16(output == LLRS_S16, out, bits, streaming);
    } else {
        const vec_bytes packed = bytes_of(rule, words_of(rule, bits[0], bits[1]), words_of(rule, bits[2], bits[3]));
        const vec_bytes ordered = in_order(rule, packed, order_256qam); /* a unit is two symbols, in a 128-bit part */
        const unsigned char *flips = rule.flips ? rule.flips + is_b * LANES / 2 : NULL;
        vec_store(out, vec_flip_in_order(ordered, flips), streaming);
    }
}

/* A step whose registers are stored together. */
VEC void store_both(int m, llr_output output, s8_rule rule, unsigned char *out, const llr_registers *llrs_a,
                    const llr_registers *llrs_b)
{
    const bool streaming = rule.constants->streaming;
    const vec_f32 *a = llrs_a->bits, *b = llrs_b->bits;
    if (output > LLRS_S8) {
        vec_store_both_16(output == LLRS_S16, m, out, a, b, streaming);
    } else if (m == 1) {
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

/* A step's LLRs from its two registers, to planes of its symbols; not s8. */
VEC void store_planes(int m, llr_output output, const llr_constants *constants, unsigned char *out,
                      const llr_registers *a, const llr_registers *b)
{
    const size_t plane_nbytes = constants->plane_nbytes;
    VEC_UNROLL
    for (int k = 0; k < m; k++) {
        unsigned char *of_i = out + 2 * (size_t)k * plane_nbytes, *of_q = of_i + plane_nbytes;
        const vec_f32 i = vec_evens(a->bits[k], b->bits[k]), q = vec_odds(a->bits[k], b->bits[k]);
        if (output < LLRS_F32) {
            vec_store_16(output == LLRS_S16, of_i, i, false);
            vec_store_16(output == LLRS_S16, of_q, q, false);
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
    } else if (output > LLRS_S8) {
        vec_store_16(output == LLRS_S16, out, llrs, streaming);
    } else {
        const vec_s32 steps = vec_sub_s32(vec_bits_s32(llrs), vec_bits_s32(vec_splat(ROUNDING_CONSTANT)));
        vec_store_s8(out, steps, rule.constants->least, rule.constants->most, streaming);
    }
}

#endif
