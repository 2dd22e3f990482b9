/* SPDX-License-Identifier: MIT */
/* How the LLRs of a step leave a vector loop: as bytes, halves or floats, their signs changed, in the order of symbols
 * or de-interleaved. Included by llr_loops.h. */
#ifndef SOFTQAM_CPU_LLR_STORES_H
#define SOFTQAM_CPU_LLR_STORES_H

#include "llr_constants.h"

_Static_assert(N_OUTPUT_FORMATS == 5, "is_stored_alone() and the stores, which ask for s8, s16 and f32, know each");

/* s8. A step's LLRs are rounded sums in registers of components, one a bit of the axis; they leave by
 * way of words and bytes, packed from two registers each. In a 128-bit part lie two symbols' components, I and Q in
 * turns; the LLRs of these two symbols, 4 m bytes, are a unit. */

/* Where packing leaves a component's byte: of the first or second pair of registers that go into the bytes, of the
 * first or second register of that pair, component 0 to 3. */
#define PACKED(pair, second, c) (8 * (pair) + 4 * (second) + (c))
/* The LLRs of one bit, or two bits, of a symbol from a pair of registers. */
#define ONE_BIT(pair, second, symbol) PACKED(pair, second, 2 * (symbol)), PACKED(pair, second, 2 * (symbol) + 1)
#define TWO_BITS(pair, symbol)        ONE_BIT(pair, 0, symbol), ONE_BIT(pair, 1, symbol)
#define NOTHING_2                     0x80, 0x80
#define NOTHING_6                     NOTHING_2, NOTHING_2, NOTHING_2
#define NOTHING_8                     NOTHING_6, NOTHING_2

typedef uint8_t byte_order[16];

/* QPSK packs the pair (a0, b0) in order: a's unit, then b's. 16QAM, of (a0, a1) and (b0, b1): likewise. */
static const byte_order order_16qam = {TWO_BITS(0, 0), TWO_BITS(0, 1), TWO_BITS(1, 0), TWO_BITS(1, 1)};
/* 64QAM, of (a0, a1) and (a2, b2), and of (b0, b1) and (a2, b2): a unit. */
#define ORDER_64QAM(second)                                                                                            \
    TWO_BITS(0, 0), ONE_BIT(1, second, 0), TWO_BITS(0, 1), ONE_BIT(1, second, 1), NOTHING_2, NOTHING_2
static const byte_order order_64qam_a = {ORDER_64QAM(0)};
static const byte_order order_64qam_b = {ORDER_64QAM(1)};
/* 256QAM, of (a0, a1) and (a2, a3): a's unit. */
static const byte_order order_256qam = {TWO_BITS(0, 0), TWO_BITS(1, 0), TWO_BITS(0, 1), TWO_BITS(1, 1)};
/* 1024QAM, of the same: a unit's first 16 bytes but for the first symbol's last bit, which comes from (a4, b4); and
 * from that and (a3, b3) the last 4 bytes of a's unit and of b's. */
static const byte_order order_1024qam = {TWO_BITS(0, 0), TWO_BITS(1, 0), NOTHING_2, TWO_BITS(0, 1), ONE_BIT(1, 0, 1)};
static const byte_order order_1024qam_fifth_a = {NOTHING_8, ONE_BIT(0, 0, 0), NOTHING_6};
static const byte_order order_1024qam_fifth_b = {NOTHING_8, ONE_BIT(0, 1, 0), NOTHING_6};
static const byte_order order_1024qam_ends = {ONE_BIT(1, 0, 1), ONE_BIT(0, 0, 1), ONE_BIT(1, 1, 1), ONE_BIT(0, 1, 1),
                                              NOTHING_8};

/* De-interleaved: packed bytes are one bit's of a double step's symbols, all of I, then all of Q. Where the bits of the
 * scrambling sequence are that flip them: which byte, counted from the first one of 16 symbols, and which bit of it. Of
 * 1024QAM, whose 16 symbols have more bytes than a shuffle reaches, the bytes of the last 8 are counted from the first
 * one of those. */
typedef struct flip_table {
    uint8_t bytes[64];
    uint8_t last_bytes[64]; /* 1024QAM */
    uint8_t bits[64];
} flip_table;

enum { PLANE_SYMBOLS = 2 * LANES, FLIPPED_TOGETHER = 16, NOT_HERE = 0x80 };
_Static_assert((int)PLANE_SYMBOLS <= (int)MOST_MIN_SYMBOLS, "short calls are padded to a step");

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

/* s8 changes its sign as bytes, but for BPSK; the other formats, as metrics. */
VEC bool are_bytes_flipped(int m, softqam_output_format output) { return output == SOFTQAM_OUTPUT_S8 && m > 0; }

/* What changes the signs of a register's LLRs: bit 2 k of a value is the sequence's bit for its LLR k. */
VEC vec_u32 flips_at(int m, softqam_output_format output, const llr_constants *constants, size_t bit)
{
    if (!constants->sequence || are_bytes_flipped(m, output))
        return vec_splat_u32(0); /* de-interleaved LLRs alone may have no sequence */
    return vec_spread_bits(constants->sequence + bit / 8, constants->flip_bytes,
                           vec_sub_u32(constants->flip_counts, vec_splat_u32(-(uint32_t)(bit % 8))));
}

VEC vec_f32 flipped(int m, softqam_output_format output, softqam_llr_layout layout, vec_f32 metric, vec_u32 flips,
                    int k)
{
    return layout == SOFTQAM_LLRS_IN_ORDER || are_bytes_flipped(m, output)
               ? metric
               : vec_flip(metric, vec_shift_left(flips, 31 - 2 * k));
}

/* Where the bits of a step begin, NULL where nothing is flipped: those of the sequence, or, where they do not begin
 * with a byte, as in a step that goes back, a shifted copy. */
typedef struct shifted_bits {
    uint64_t words[7];
} shifted_bits;

VEC const unsigned char *step_flips(int m, softqam_output_format output, const llr_constants *constants, size_t bit,
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

/* A register's LLRs, by bit, of components or, BPSK, of symbols; of s8 and s16 as sums with ROUNDING_CONSTANT. */
typedef struct llr_registers {
    vec_f32 bits[MAX_AXIS_BITS];
} llr_registers;

VEC vec_s32 steps_of(const llr_constants *constants, vec_f32 sum)
{
    return vec_sub_s32(vec_bits_s32(sum), vec_bits_s32(constants->addend));
}

VEC vec_bytes words_of(const llr_constants *constants, vec_f32 first, vec_f32 second)
{
    return vec_pack_s16(steps_of(constants, first), steps_of(constants, second));
}

/* Two pairs of registers to bytes, limited. */
VEC vec_bytes bytes_of(const llr_constants *constants, vec_bytes first, vec_bytes second)
{
    const vec_bytes packed = vec_max_s8(vec_pack_s8(first, second), constants->min_byte);
    return __builtin_expect(constants->is_limited, 0) ? vec_min_s8(packed, constants->max_byte) : packed;
}

VEC vec_bytes in_order(vec_bytes packed, const byte_order order)
{
    return vec_shuffle_bytes(packed, vec_splat_bytes(order));
}

VEC void store_1024qam_s8(const llr_constants *constants, unsigned char *out, const vec_f32 a[5], const vec_f32 b[5],
                          const unsigned char *flips)
{
    const vec_bytes of_a = bytes_of(constants, words_of(constants, a[0], a[1]), words_of(constants, a[2], a[3]));
    const vec_bytes of_b = bytes_of(constants, words_of(constants, b[0], b[1]), words_of(constants, b[2], b[3]));
    const vec_bytes last = bytes_of(constants, words_of(constants, a[4], b[4]), words_of(constants, a[3], b[3]));
    const vec_bytes units_a = vec_or(in_order(of_a, order_1024qam), in_order(last, order_1024qam_fifth_a));
    const vec_bytes units_b = vec_or(in_order(of_b, order_1024qam), in_order(last, order_1024qam_fifth_b));
    vec_store_units_of_20(out, units_a, units_b, in_order(last, order_1024qam_ends), flips);
}

/* Whether a step's registers are stored one by one: those of 256QAM, and f32's. */
VEC bool is_stored_alone(int m, softqam_output_format output) { return m == 4 || output == SOFTQAM_OUTPUT_F32; }

/* One register of such a step. */
VEC void store_alone(int m, softqam_output_format output, const llr_constants *constants, unsigned char *out,
                     const llr_registers *llrs, const unsigned char *flips)
{
    const vec_f32 *bits = llrs->bits;
    if (output == SOFTQAM_OUTPUT_F32) {
        vec_store_f32_pairs(m, out, bits);
    } else if (output != SOFTQAM_OUTPUT_S8) {
        vec_store_256qam_16(output == SOFTQAM_OUTPUT_S16, out, bits);
    } else {
        const vec_bytes packed =
            bytes_of(constants, words_of(constants, bits[0], bits[1]), words_of(constants, bits[2], bits[3]));
        vec_store(out, vec_flip_in_order(in_order(packed, order_256qam), flips)); /* a unit is two symbols */
    }
}

/* A step whose registers are stored together. */
VEC void store_both(int m, softqam_output_format output, const llr_constants *constants, unsigned char *out,
                    const llr_registers *llrs_a, const llr_registers *llrs_b, const unsigned char *flips)
{
    const vec_f32 *a = llrs_a->bits, *b = llrs_b->bits;
    if (output != SOFTQAM_OUTPUT_S8) {
        vec_store_both_16(output == SOFTQAM_OUTPUT_S16, m, out, a, b);
    } else if (m == 1) {
        const vec_bytes words = words_of(constants, a[0], b[0]);
        vec_store_units_of_4(out, bytes_of(constants, words, words), flips);
    } else if (m == 2) {
        const vec_bytes packed = bytes_of(constants, words_of(constants, a[0], a[1]), words_of(constants, b[0], b[1]));
        vec_store_units_of_8(out, in_order(packed, order_16qam), flips);
    } else if (m == 3) {
        const vec_bytes last = words_of(constants, a[2], b[2]);
        const vec_bytes of_a = bytes_of(constants, words_of(constants, a[0], a[1]), last);
        const vec_bytes of_b = bytes_of(constants, words_of(constants, b[0], b[1]), last);
        vec_store_units_of_12(out, in_order(of_a, order_64qam_a), in_order(of_b, order_64qam_b), flips);
    } else {
        store_1024qam_s8(constants, out, a, b, flips);
    }
}

/* A step's LLRs from its two registers, de-interleaved; not s8. */
VEC void store_planes(int m, softqam_output_format output, const llr_constants *constants, unsigned char *out,
                      const llr_registers *a, const llr_registers *b)
{
    VEC_UNROLL
    for (int k = 0; k < m; k++) {
        unsigned char *of_i = out + constants->planes[2 * k], *of_q = out + constants->planes[2 * k + 1];
        const vec_f32 i = vec_evens(a->bits[k], b->bits[k]), q = vec_odds(a->bits[k], b->bits[k]);
        if (output != SOFTQAM_OUTPUT_F32) {
            vec_store_16(output == SOFTQAM_OUTPUT_S16, of_i, i);
            vec_store_16(output == SOFTQAM_OUTPUT_S16, of_q, q);
        } else {
            vec_store(of_i, vec_as_bytes(i));
            vec_store(of_q, vec_as_bytes(q));
        }
    }
}

/* De-interleaved s8. */

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

/* The four registers of a double step (vec_plane_components()). */
VEC void store_s8_planes(int m, const llr_constants *constants, unsigned char *out, const llr_registers llrs[4],
                         const unsigned char *flips)
{
    vec_bytes planes[MAX_AXIS_BITS];
    VEC_UNROLL
    for (int k = 0; k < m; k++)
        planes[k] = vec_planes_apart(bytes_of(constants, words_of(constants, llrs[0].bits[k], llrs[1].bits[k]),
                                              words_of(constants, llrs[2].bits[k], llrs[3].bits[k])));
    if (flips)
        flip_planes(m, flips, planes);
    VEC_UNROLL
    for (int k = 0; k < m; k++)
        vec_store_two_planes(out + constants->planes[2 * k], out + constants->planes[2 * k + 1], planes[k]);
}

/* BPSK: LANES LLRs. */
VEC void store_bpsk(softqam_output_format output, const llr_constants *constants, unsigned char *out, vec_f32 llrs)
{
    if (output == SOFTQAM_OUTPUT_F32)
        vec_store(out, vec_as_bytes(llrs));
    else if (output != SOFTQAM_OUTPUT_S8)
        vec_store_16(output == SOFTQAM_OUTPUT_S16, out, llrs);
    else
        vec_store_s8(out, steps_of(constants, llrs), constants->min_byte, constants->max_byte);
}

#endif
