/* SPDX-License-Identifier: MIT */
/* Stores of a vector loop's LLRs (llr_loops.c): as bytes, halves or floats, descrambled, in the order of symbols or
 * de-interleaved. */
#ifndef SOFTQAM_CPU_LLR_STORES_H
#define SOFTQAM_CPU_LLR_STORES_H

#include "llr_constants.h"

/* The LLRs of a register of components (BPSK: of symbols), by bit; for s8 and s16 as sums with ROUNDING_CONSTANT. */
typedef struct llr_registers {
    vec_f32 bits[AXIS_VALUES];
} llr_registers;

/* Says where an iteration's LLRs go, and which bits flip s8's bytes; NULL: none. */
typedef struct llr_destination {
    unsigned char *out;
    const unsigned char *flips;
} llr_destination;

/* s8. An iteration's LLRs are rounded sums in registers of components, one for each bit of the axis. They are packed to
 * words, then to bytes, two registers to one. A quad has two symbols' components, I and Q alternating; the LLRs of
 * these two symbols, 4 M bytes, are a doublet.
 *
 * A byte order says for each byte of a quad which packed byte goes there, NONE for none. Packing puts the four
 * components of the first register's quad into bytes 0 to 3, those of the second, third and fourth register into bytes
 * 4 to 7, 8 to 11, 12 to 15: I and Q of the first symbol, then of the second one. */
typedef uint8_t byte_order[16];
enum { NONE = 0x80 };

/* Takes a's doublet, then b's, from a0 a1 b0 b1. (QPSK's a0 b0 are in order.) */
static const byte_order order_16qam = {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};
/* The first takes a's doublet from a0 a1 a2 b2, the second b's from b0 b1 a2 b2. */
static const byte_order order_64qam_a = {0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11, NONE, NONE, NONE, NONE};
static const byte_order order_64qam_b = {0, 1, 4, 5, 12, 13, 2, 3, 6, 7, 14, 15, NONE, NONE, NONE, NONE};
/* Takes a's doublet from a0 a1 a2 a3. */
static const byte_order order_256qam = {0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};
/* The first takes from a0 a1 a2 a3 the first 16 bytes of a's doublet but for the first symbol's fifth bit, which comes
 * from a4 b4 a3 b3; the last takes from these the last 4 bytes of a's doublet and of b's. */
static const byte_order order_1024qam = {0, 1, 4, 5, 8, 9, 12, 13, NONE, NONE, 2, 3, 6, 7, 10, 11};
static const byte_order order_1024qam_fifth_a = {NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
                                                 0,    1,    NONE, NONE, NONE, NONE, NONE, NONE};
static const byte_order order_1024qam_fifth_b = {NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
                                                 4,    5,    NONE, NONE, NONE, NONE, NONE, NONE};
static const byte_order order_1024qam_ends = {10,   11,   2,    3,    14,   15,   6,    7,
                                              NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE};

/* Returns whether LLRs are descrambled as bytes, as s8 is except for BPSK; the others are as metrics. */
VEC bool are_bytes_flipped(softqam_output_format output) { return output == SOFTQAM_OUTPUT_S8 && M > 0; }

/* Returns whether a loop has a scrambling sequence. On the fast path loops that descramble always have one; otherwise
 * the call decides. */
VEC bool has_sequence(llr_kind kind, const llr_constants *constants)
{
    if (kind.layout == SOFTQAM_LLRS_IN_ORDER)
        return false;
    return (kind.layout == SOFTQAM_LLRS_DESCRAMBLED && !kind.is_exact && !kind.is_few) || constants->sequence;
}

/* Returns sequence_bits_at() for LLRs that are descrambled as metrics, else 0. */
VEC vec_u32 flips_at(llr_kind kind, const llr_constants *constants, size_t bit)
{
    return are_bytes_flipped(kind.output) || !has_sequence(kind, constants) ? vec_splat_u32(0)
                                                                            : sequence_bits_at(constants, bit);
}

VEC vec_f32 flipped(llr_kind kind, vec_f32 metric, vec_u32 flips, int k)
{
    return kind.layout == SOFTQAM_LLRS_IN_ORDER || are_bytes_flipped(kind.output)
               ? metric
               : vec_flip(metric, vec_shift_left(flips, 31 - 2 * k));
}

typedef struct shifted_bits {
    uint64_t words[7];
} shifted_bits;

/* Returns where the bits begin that flip an iteration's bytes; NULL: none. They lie in the sequence or, if the first is
 * not a byte's first bit, as in an iteration that goes back, in a shifted copy. */
VEC const unsigned char *byte_flips_at(llr_kind kind, const llr_constants *constants, size_t bit, shifted_bits *shifted)
{
    if (!are_bytes_flipped(kind.output) || !has_sequence(kind, constants))
        return NULL;
    const unsigned char *from = constants->sequence + bit / 8;
    const unsigned odd = bit % 8;
    if (M == 4 || __builtin_expect(odd == 0, 1))
        return from;
    for (size_t k = 0; k < sizeof shifted->words / sizeof shifted->words[0]; k++) {
        uint64_t word;
        memcpy(&word, from + 8 * k, sizeof word);
        shifted->words[k] = word >> odd | (uint64_t)from[8 * k + 8] << (64 - odd);
    }
    return (const unsigned char *)shifted->words;
}

VEC vec_s32 steps_of(const llr_constants *constants, vec_f32 sum)
{
    return vec_sub_s32(vec_bits_s32(sum), vec_bits_s32(constants->addend));
}

VEC vec_bytes words_of(const llr_constants *constants, vec_f32 first, vec_f32 second)
{
    return vec_pack_s16(steps_of(constants, first), steps_of(constants, second));
}

/* Packs two registers of words to bytes, limited. */
VEC vec_bytes bytes_of(const llr_constants *constants, vec_bytes first, vec_bytes second)
{
    const vec_bytes packed = vec_max_s8(vec_pack_s8(first, second), constants->min_byte);
    return __builtin_expect(constants->is_limited, 0) ? vec_min_s8(packed, constants->max_byte) : packed;
}

VEC vec_bytes in_order(vec_bytes packed, const byte_order order)
{
    return vec_shuffle_bytes(packed, vec_splat_bytes(order));
}

/* Makes the doublets of an iteration's two registers, as vec_store_doublets() takes them. */
VEC void make_doublets(const llr_constants *constants, const vec_f32 a[], const vec_f32 b[], vec_bytes doublets[3])
{
    const int k = M > 1 ? 1 : 0, last = M - 1, second_last = M > 1 ? M - 2 : 0;
    const vec_bytes a01 = words_of(constants, a[0], a[k]), b01 = words_of(constants, b[0], b[k]);
    if (M == 1) {
        const vec_bytes words = words_of(constants, a[0], b[0]);
        doublets[0] = bytes_of(constants, words, words);
    } else if (M == 2) {
        doublets[0] = in_order(bytes_of(constants, a01, b01), order_16qam);
    } else if (M == 3) {
        const vec_bytes words = words_of(constants, a[last], b[last]);
        doublets[0] = in_order(bytes_of(constants, a01, words), order_64qam_a);
        doublets[1] = in_order(bytes_of(constants, b01, words), order_64qam_b);
    } else {
        const vec_bytes of_a = bytes_of(constants, a01, words_of(constants, a[M / 2], a[second_last]));
        const vec_bytes of_b = bytes_of(constants, b01, words_of(constants, b[M / 2], b[second_last]));
        const vec_bytes ends = bytes_of(constants, words_of(constants, a[last], b[last]),
                                        words_of(constants, a[second_last], b[second_last]));
        doublets[0] = vec_or(in_order(of_a, order_1024qam), in_order(ends, order_1024qam_fifth_a));
        doublets[1] = vec_or(in_order(of_b, order_1024qam), in_order(ends, order_1024qam_fifth_b));
        doublets[2] = in_order(ends, order_1024qam_ends);
    }
}

/* Returns whether an iteration's registers are stored one by one: 256QAM's, and f32's. */
VEC bool is_stored_alone(llr_kind kind) { return !is_in_planes(kind) && (M == 4 || kind.output == SOFTQAM_OUTPUT_F32); }

/* Stores one register of such an iteration. */
VEC void store_alone(llr_kind kind, const llr_constants *constants, llr_destination to, const llr_registers *llrs)
{
    const vec_f32 *bits = llrs->bits;
    if (kind.output == SOFTQAM_OUTPUT_F32) {
        vec_store_f32_pairs(M, to.out, bits);
    } else if (kind.output != SOFTQAM_OUTPUT_S8) {
        vec_store_256qam_16(kind.output == SOFTQAM_OUTPUT_S16, to.out, bits);
    } else {
        const vec_bytes packed =
            bytes_of(constants, words_of(constants, bits[0], bits[1]), words_of(constants, bits[2], bits[3]));
        vec_store(to.out, vec_flip_in_order(in_order(packed, order_256qam), to.flips));
    }
}

/* Stores an iteration whose registers go together. */
VEC void store_both(llr_kind kind, const llr_constants *constants, llr_destination to, const llr_registers *a,
                    const llr_registers *b)
{
    vec_bytes doublets[3];
    if (kind.output != SOFTQAM_OUTPUT_S8) {
        vec_store_both_16(kind.output == SOFTQAM_OUTPUT_S16, M, to.out, a->bits, b->bits);
        return;
    }
    make_doublets(constants, a->bits, b->bits, doublets);
    vec_store_doublets(M, to.out, doublets, to.flips);
}

/* Returns where plane k begins. */
VEC ptrdiff_t plane_of(llr_kind kind, const llr_constants *constants, int k)
{
    return kind.is_few ? k * (ptrdiff_t)FEW_PLANE_NBYTES : constants->planes[k];
}

/* Stores LANES LLRs of one bit. */
VEC void store_bit(llr_kind kind, const llr_constants *constants, unsigned char *out, vec_f32 llrs)
{
    if (kind.output == SOFTQAM_OUTPUT_F32)
        vec_store(out, vec_as_bytes(llrs));
    else if (kind.output != SOFTQAM_OUTPUT_S8)
        vec_store_16(kind.output == SOFTQAM_OUTPUT_S16, out, llrs);
    else
        vec_store_s8(out, steps_of(constants, llrs), constants->min_byte, constants->max_byte);
}

/* De-interleaves an iteration's LLRs. */
VEC void store_planes(llr_kind kind, const llr_constants *constants, unsigned char *out, const llr_registers *a,
                      const llr_registers *b)
{
    VEC_UNROLL
    for (int k = 0; k < M; k++) {
        store_bit(kind, constants, out + plane_of(kind, constants, 2 * k), vec_evens(a->bits[k], b->bits[k]));
        store_bit(kind, constants, out + plane_of(kind, constants, 2 * k + 1), vec_odds(a->bits[k], b->bits[k]));
    }
}

/* De-interleaved s8: packed bytes are one bit's of a double iteration's symbols, all of I, then all of Q. Changes the
 * signs of bit k's bytes. A quad's 16 symbols have 4 M bytes of the sequence; a shuffle puts the byte with each
 * symbol's bit k in its place. 1024QAM's last 8 symbols are beyond a shuffle's reach, so they have a load of their
 * own. */
VEC vec_bytes flip_planes(const unsigned char *flips, int k, vec_bytes planes)
{
    const vec_lanes_u8 number = vec_byte_numbers(), symbol = number % PLANE_SYMBOLS % 16,
                       is_q = number / PLANE_SYMBOLS % 2;
    const vec_lanes_u8 bit = symbol * SYMBOL_BITS + (uint8_t)(2 * k) + is_q, byte = bit / 8;
    vec_bytes bits = vec_load_plane_bits(flips, 4 * M);
    if (M == 5) {
        const vec_lanes_u8 none = (vec_lanes_u8){0} + NONE, is_last = (vec_lanes_u8)(symbol >= 8);
        const vec_bytes last = vec_load_plane_bits(flips + 2 * M, 4 * M);
        bits = vec_or(vec_shuffle_bytes(bits, (vec_bytes)(byte | (is_last & none))),
                      vec_shuffle_bytes(last, (vec_bytes)((byte - 2 * M) | (~is_last & none))));
    } else if (M != 4 || LANES == 4) { /* else each symbol's byte has its own bits already */
        bits = vec_shuffle_bytes(bits, (vec_bytes)byte);
    }
    return vec_flip_bytes(planes, bits, (vec_bytes)(((vec_lanes_u8){0} + 1) << bit % 8));
}

/* Stores the four registers of a double iteration (vec_plane_components()). */
VEC void store_s8_planes(llr_kind kind, const llr_constants *constants, llr_destination to, const llr_registers llrs[4])
{
    vec_bytes planes[AXIS_VALUES];
    VEC_UNROLL
    for (int k = 0; k < M; k++)
        planes[k] = vec_planes_apart(bytes_of(constants, words_of(constants, llrs[0].bits[k], llrs[1].bits[k]),
                                              words_of(constants, llrs[2].bits[k], llrs[3].bits[k])));
    if (to.flips) {
        VEC_UNROLL
        for (int k = 0; k < M; k++)
            planes[k] = flip_planes(to.flips, k, planes[k]);
    }
    VEC_UNROLL
    for (int k = 0; k < M; k++)
        vec_store_two_planes(to.out + plane_of(kind, constants, 2 * k), to.out + plane_of(kind, constants, 2 * k + 1),
                             planes[k]);
}

/* Copies the LLRs of an iteration of few symbols to the caller. No load spans what two stores stored: it would wait for
 * them. */
VEC void store_few(llr_kind kind, const softqam_loop_call *call, const unsigned char *llrs)
{
    enum { WHOLE = sizeof(vec_bytes) };
    const size_t nbytes = iteration_symbols(kind) * softqam_value_nbytes(kind.output), all = nbytes * SYMBOL_BITS;
    const unsigned char *last = llrs + (all - 1) / WHOLE * WHOLE;
    size_t n = call->n_symbols * softqam_value_nbytes(kind.output);
    unsigned char *to = call->out;
    if (is_in_planes(kind)) {
        for (size_t k = 0; k < SYMBOL_BITS; k++)
            vec_copy_first(nbytes, to + call->planes[k], llrs + k * FEW_PLANE_NBYTES, n);
        return;
    }
    for (n *= SYMBOL_BITS; n >= WHOLE; n -= WHOLE, to += WHOLE, llrs += WHOLE)
        vec_store(to, vec_load_bytes(llrs));
    if (n > 0)
        vec_copy_first(llrs == last ? (all - 1) % WHOLE + 1 : WHOLE, to, llrs, n);
}

#endif
