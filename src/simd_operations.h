/* SPDX-License-Identifier: MIT */
/* This list says what a SIMD header defines. Each line is one operation; includers define SIMD_OPERATION(type, name,
 * parameters) to make of it what they need: simd_check.h holds a header against the list, tests/cpu/simd_stub.h is a
 * header made from it. With SIMD_FAST the operations of arithmetic_fast.h come too, with SIMD_VECTORS those of vector
 * loops.
 *
 * A header defines VEC and VEC_UNROLL (before a loop that must be unrolled) and these types, of which arithmetic.h
 * needs the first seven: vec_f32 and vec_u32 (values), vec_mask, vec_llr_table, vec_llr_row, vec_u8_table and
 * vec_u8_row (vector headers have both from cpu/simd.h); vec_s32, vec_bytes (the same register as signed integers and
 * as bytes). A vector header defines LANES, LANE_NUMBERS, LIMITS_ARE_CHEAP (vec_limit() is one instruction) and
 * LOADS_AHEAD (llr_batch() has registers for all inputs of the next iteration). It defines VEC_HAS_MASKS if it has its
 * own vec_load_first() and vec_store_first(), VEC_HAS_LANE_MASKS if vec_load_few(), VEC_HAS_BYTE_MASKS if
 * vec_copy_first(), VEC_HAS_WORD_TABLES if it has vec_add_words_at() and vec_count_less(), and VEC_HAS_GOLD_QUADS if it
 * has gold_quads_at() and the operations on vec_quad, 16 bytes. It includes cpu/simd_vectors.h, which has the
 * operations that gcc's vector extensions make in every instruction set alike. Floats are binary32; every operation on
 * them is rounded once, to nearest even. `m` is the bits of an axis. A quad is 128 bits of a register, four elements;
 * the shuffles stay within quads unless they say otherwise. */

/* arithmetic.h's. Vector headers have those before #endif from cpu/simd_vectors.h and cpu/simd.h; SIMD_OWN leaves them
 * out. */

#ifndef SIMD_OWN
SIMD_OPERATION(vec_f32, vec_add, (vec_f32 a, vec_f32 b))
SIMD_OPERATION(vec_f32, vec_sub, (vec_f32 a, vec_f32 b))
SIMD_OPERATION(vec_f32, vec_mul, (vec_f32 a, vec_f32 b))
SIMD_OPERATION(vec_f32, vec_div, (vec_f32 a, vec_f32 b))     /* a / b of scales and noise values within their limits */
SIMD_OPERATION(vec_f32, vec_div_any, (vec_f32 a, vec_f32 b)) /* a / b of any numbers */
SIMD_OPERATION(vec_u32, vec_bits, (vec_f32 a))
SIMD_OPERATION(vec_f32, vec_from_bits, (vec_u32 bits))
SIMD_OPERATION(vec_u32, vec_or_u32, (vec_u32 a, vec_u32 b))
SIMD_OPERATION(vec_u32, vec_shift_right, (vec_u32 a, int n)) /* zeros come in */
SIMD_OPERATION(vec_mask, vec_is_finite, (vec_f32 a))
#ifdef SIMD_VECTORS
/* Loads the first n bytes at an address. The 32-bit values after them are those of `rest`; if n ends within a value,
 * the rest of that one is undefined. Then a store of a register's first n bytes. n is below 256; more than a register
 * has means all. */
SIMD_OPERATION(vec_bytes, vec_load_first, (const void *from, size_t n, vec_bytes rest))
SIMD_OPERATION(void, vec_store_first, (void *to, vec_bytes a, size_t n))
/* Loads a register of n floats from number `first` on, with `rest` in place of those after the last one. */
SIMD_OPERATION(vec_f32, vec_load_few, (const float *from, size_t n, size_t first, float rest))
/* Copies the first n bytes, 1 at least, of `nbytes` that one store wrote: a register's, a half's or a quarter's. */
SIMD_OPERATION(void, vec_copy_first, (size_t nbytes, unsigned char *to, const unsigned char *from, size_t n))
#endif
/* u8: the row of the level that lies within a few ulp of `level`, and its gains. */
SIMD_OPERATION(vec_u8_row, vec_u8_lookup, (const vec_u8_table *table, vec_f32 level))
SIMD_OPERATION(vec_f32, vec_gain_low, (const vec_u8_table *table, vec_u8_row row))
SIMD_OPERATION(vec_f32, vec_gain_high, (const vec_u8_table *table, vec_u8_row row))
#endif

SIMD_OPERATION(vec_u32, vec_shift_left, (vec_u32 a, int n))
SIMD_OPERATION(vec_f32, vec_splat, (float a))                       /* the same number in every lane */
SIMD_OPERATION(vec_f32, vec_fma, (vec_f32 a, vec_f32 b, vec_f32 c)) /* a * b + c */
SIMD_OPERATION(vec_f32, vec_min, (vec_f32 a, vec_f32 b))            /* b if a is a NaN */
SIMD_OPERATION(vec_f32, vec_max, (vec_f32 a, vec_f32 b))            /* b if a is a NaN */
SIMD_OPERATION(vec_f32, vec_abs, (vec_f32 a))
SIMD_OPERATION(vec_f32, vec_flip, (vec_f32 a, vec_u32 signs)) /* a's sign bit, exclusive-ored with bit 31 of signs */
/* a limited to [-limit, +limit]; a NaN gives anything within. */
SIMD_OPERATION(vec_f32, vec_limit, (vec_f32 a, vec_f32 limit))
/* The magnitude, or +0 if it is less than `least`; a NaN stays a NaN. */
SIMD_OPERATION(vec_f32, vec_flush, (vec_f32 magnitude, vec_f32 least))
SIMD_OPERATION(vec_mask, vec_is_less, (vec_f32 a, vec_f32 b)) /* false for a NaN */
/* Greater than zero and finite. Looks at the bits, because other operations may flush subnormal numbers. */
SIMD_OPERATION(vec_mask, vec_is_positive, (vec_f32 a))
SIMD_OPERATION(vec_mask, vec_both, (vec_mask a, vec_mask b))
SIMD_OPERATION(vec_f32, vec_keep, (vec_mask mask, vec_f32 a)) /* a if the mask is set, else +0 */
SIMD_OPERATION(vec_f32, vec_choose, (vec_mask mask, vec_f32 where_set, vec_f32 where_not))
/* The row of LLRs at `place`, 0 to the number of rows, truncated; then its values for bit k. */
SIMD_OPERATION(vec_llr_row, vec_llr_row_at, (int m, const vec_llr_table *table, vec_f32 place))
SIMD_OPERATION(vec_f32, vec_slope, (int m, const vec_llr_table *table, vec_llr_row row, int k))
SIMD_OPERATION(vec_f32, vec_intercept, (int m, const vec_llr_table *table, vec_llr_row row, int k))
SIMD_OPERATION(vec_f32, vec_only_slope, (const vec_llr_table *table)) /* slope of a table of one row and one bit */

#ifdef SIMD_FAST

/* arithmetic_fast.h's. */

/* vec_llr_row_at() takes negative places too: the table has rows for negative components. */
SIMD_OPERATION(bool, vec_has_signed_rows, (int m))
/* Rounds to the nearest integer, ties to even; a number that does not fit gives an integer beyond any limit. */
SIMD_OPERATION(vec_s32, vec_round_s32, (vec_f32 a))
SIMD_OPERATION(vec_s32, vec_abs_s32, (vec_s32 a))
SIMD_OPERATION(vec_s32, vec_sub_s32, (vec_s32 a, vec_s32 b))

#endif

#ifdef SIMD_VECTORS

/* Bounds and integers. */

/* The larger, or the smaller; NaN if a is NaN. If subnormal numbers are flushed, a subnormal a may give zero. */
SIMD_OPERATION(vec_f32, vec_at_least, (vec_f32 a, vec_f32 least))
SIMD_OPERATION(vec_f32, vec_at_most, (vec_f32 a, vec_f32 most))
SIMD_OPERATION(vec_u32, vec_to_index, (vec_f32 a)) /* truncated, for |a| < 2^31 */
SIMD_OPERATION(vec_u32, vec_shift_right_each, (vec_u32 a, vec_u32 counts))
SIMD_OPERATION(vec_s32, vec_max_s32, (vec_s32 a, vec_s32 b))
SIMD_OPERATION(vec_u32, vec_max_u32, (vec_u32 a, vec_u32 b))
SIMD_OPERATION(vec_u32, vec_min_u32, (vec_u32 a, vec_u32 b))
SIMD_OPERATION(uint32_t, vec_largest_u32, (vec_u32 a))
SIMD_OPERATION(bool, vec_any_from, (vec_u32 a, vec_u32 end)) /* true if any is `end` or more */
SIMD_OPERATION(vec_mask, vec_are_different, (vec_u32 a, vec_u32 b))
SIMD_OPERATION(vec_mask, vec_are_numbers, (vec_f32 a, vec_f32 b)) /* neither is a NaN */
SIMD_OPERATION(vec_bytes, vec_abs_s16, (vec_bytes a))
SIMD_OPERATION(vec_bytes, vec_max_s16, (vec_bytes a, vec_bytes b))
SIMD_OPERATION(vec_bytes, vec_min_s16, (vec_bytes a, vec_bytes b))
SIMD_OPERATION(vec_bytes, vec_add_saturated_s16, (vec_bytes a, vec_bytes b))
SIMD_OPERATION(vec_bytes, vec_abs_s8, (vec_bytes a))
SIMD_OPERATION(vec_bytes, vec_max_s8, (vec_bytes a, vec_bytes b))
SIMD_OPERATION(vec_bytes, vec_min_s8, (vec_bytes a, vec_bytes b))
SIMD_OPERATION(vec_bytes, vec_add_saturated_s8, (vec_bytes a, vec_bytes b))
/* Returns whether any 16-bit integer of a is less than low's, or a 32-bit one of b more than high's. */
SIMD_OPERATION(bool, vec_any_less_or_more, (vec_bytes a, vec_bytes low, vec_s32 b, vec_s32 high))

/* Loads, from any address. */

SIMD_OPERATION(vec_f32, vec_load_s16, (const void *from)) /* LANES integers to floats */
SIMD_OPERATION(vec_f32, vec_load_s8, (const void *from))
SIMD_OPERATION(vec_f32, vec_load_f16, (const void *from))
SIMD_OPERATION(vec_llr_table, vec_load_llr_table, (int m, const softqam_llr_table *from))
/* The element of a column of 16 that each lane's row names. */
SIMD_OPERATION(vec_f32, vec_column_value, (const void *column, vec_u32 row))
SIMD_OPERATION(vec_bytes, vec_splat_bytes, (const uint8_t bytes[16])) /* the same bytes in every quad */

/* Places. */

/* The first, or second, elements of pairs, a's and b's: in the order of symbols; */
SIMD_OPERATION(vec_f32, vec_evens, (vec_f32 a, vec_f32 b))
SIMD_OPERATION(vec_f32, vec_odds, (vec_f32 a, vec_f32 b))
/* in each quad two of a, then two of b. */
SIMD_OPERATION(vec_f32, vec_firsts, (vec_f32 a, vec_f32 b))
SIMD_OPERATION(vec_f32, vec_seconds, (vec_f32 a, vec_f32 b))
SIMD_OPERATION(vec_f32, vec_swap_pairs, (vec_f32 a)) /* neighbours exchanged */
/* a's and b's elements alternating: those of the lower half, or of the upper half. */
SIMD_OPERATION(vec_f32, vec_in_turns_lower, (vec_f32 a, vec_f32 b))
SIMD_OPERATION(vec_f32, vec_in_turns_upper, (vec_f32 a, vec_f32 b))
/* The first, or second, elements of pairs, twice each. */
SIMD_OPERATION(vec_f32, vec_firsts_twice, (vec_f32 a))
SIMD_OPERATION(vec_f32, vec_seconds_twice, (vec_f32 a))
/* Each element of the lower, or upper, half twice. */
SIMD_OPERATION(vec_f32, vec_duplicate_lower, (vec_f32 a))
SIMD_OPERATION(vec_f32, vec_duplicate_upper, (vec_f32 a))
/* Integers to narrower ones, limited to what these hold: in each quad those of a, then those of b. */
SIMD_OPERATION(vec_bytes, vec_pack_s16, (vec_s32 a, vec_s32 b))
SIMD_OPERATION(vec_bytes, vec_pack_s8, (vec_bytes a, vec_bytes b))
SIMD_OPERATION(vec_bytes, vec_pack_u8, (vec_bytes a, vec_bytes b))
/* The upper, or lower, half of each 32-bit integer of a and of b: a's in the lower half of the result. */
SIMD_OPERATION(vec_bytes, vec_upper_words, (vec_s32 a, vec_s32 b))
SIMD_OPERATION(vec_bytes, vec_lower_words, (vec_s32 a, vec_s32 b))
/* The bytes of the lower, or upper, half of each quad, a's and b's alternating. */
SIMD_OPERATION(vec_bytes, vec_interleave_bytes_lower, (vec_bytes a, vec_bytes b))
SIMD_OPERATION(vec_bytes, vec_interleave_bytes_upper, (vec_bytes a, vec_bytes b))
/* Adds the sum of each eight bytes. */
SIMD_OPERATION(vec_lanes_u64, vec_add_bytes, (vec_lanes_u64 sums, vec_bytes a))
/* The bytes of a table of 16, which every quad has, that the lowest four bits name; 0 if the highest bit is set. */
SIMD_OPERATION(vec_bytes, vec_table_bytes, (vec_bytes table, vec_bytes from))
#ifdef VEC_HAS_WORD_TABLES
/* Adds the signed words of a table that bytes name, which are below 128 if it is short, to the sums of each four. */
SIMD_OPERATION(vec_lanes_u32, vec_add_words_at,
               (vec_lanes_u32 sums, bool is_short, const int16_t *table, vec_bytes bytes))
SIMD_OPERATION(unsigned, vec_count_less, (vec_bytes a, int n)) /* bytes below n */
#endif
/* The bytes of a that `from` names within each quad; 0 if its highest bit is set. */
SIMD_OPERATION(vec_bytes, vec_shuffle_bytes, (vec_bytes a, vec_bytes from))

/* Changes of sign by the bits of the scrambling sequence. */

SIMD_OPERATION(vec_bytes, vec_flip_bytes, (vec_bytes a, vec_bytes bits, vec_bytes masks)) /* if a bit in masks is 1 */
/* Bytes in the order of the bits that flip them; NULL: none. */
SIMD_OPERATION(vec_bytes, vec_flip_in_order, (vec_bytes a, const unsigned char *flips))

/* Stores of LLRs, to any address. A register holds one bit of the axis, I and Q alternating; memory gets a symbol's
 * LLRs together. */

/* s8: doublets, which are two symbols' LLRs (cpu/llr_stores.h), of an iteration of QPSK, 16QAM, 64QAM or 1024QAM. The
 * first two have one register, in each quad a doublet of the first LANES / 2 symbols and one of the others; then a
 * register has the doublets of the first symbols, a second one those of the others. 1024QAM's third has the last 4
 * bytes of each. */
SIMD_OPERATION(void, vec_store_doublets, (int m, void *to, const vec_bytes doublets[3], const unsigned char *flips))
/* f16, or the lower 16 bits of sums: an iteration's two registers; one register of 256QAM; BPSK's LANES. */
SIMD_OPERATION(void, vec_store_both_16, (bool sums, int m, void *to, const vec_f32 a[], const vec_f32 b[]))
SIMD_OPERATION(void, vec_store_256qam_16, (bool sums, void *to, const vec_f32 llrs[]))
SIMD_OPERATION(void, vec_store_16, (bool sums, void *to, vec_f32 llrs))
SIMD_OPERATION(void, vec_store_f32_pairs, (int m, void *to, const vec_f32 llrs[]))          /* one register */
SIMD_OPERATION(void, vec_store_s8, (void *to, vec_s32 steps, vec_bytes min, vec_bytes max)) /* BPSK's LANES, limited */

/* De-interleaved s8. */

/* Makes, from four registers of components as they lie in memory, register q of four that pack to all of I, then all of
 * Q. The next two return the weights of its symbols (`load`: by a load, if there is time to wait for it), and its
 * symbols' values on the other axis. */
SIMD_OPERATION(vec_f32, vec_plane_components, (const vec_f32 from[4], int q))
SIMD_OPERATION(vec_f32, vec_plane_weights, (bool load, const vec_f32 weights[2], int q))
SIMD_OPERATION(vec_f32, vec_other_plane, (const vec_f32 values[4], int q))
SIMD_OPERATION(vec_bytes, vec_planes_apart, (vec_bytes packed)) /* packed bytes to all of I, then all of Q */
SIMD_OPERATION(void, vec_store_two_planes, (unsigned char *first, unsigned char *second, vec_bytes planes))
/* Loads, for each quad of two planes, the 16 bytes of bits of its 16 symbols, `nbytes` further for the next 16
 * symbols. */
SIMD_OPERATION(vec_bytes, vec_load_plane_bits, (const unsigned char *from, int nbytes))

/* The Gold sequence. */

/* The words from n on, 2, 4, 6 or 8, of registers that follow each other. */
SIMD_OPERATION(vec_u32, vec_words_ahead, (vec_u32 first, vec_u32 second, vec_u32 third, int n))
#ifdef VEC_HAS_GOLD_QUADS
/* The bytes from n on, 1 to 4, of two quads that follow each other. */
SIMD_OPERATION(vec_quad, vec_quad_ahead, (vec_quad first, vec_quad second, int n))
SIMD_OPERATION(void, vec_quad_store, (uint32_t * to, vec_quad a)) /* aligned */
/* The first 256 bits of each register's sequence at a position; 128 are enough for no more n_bits. */
SIMD_OPERATION(void, gold_quads_at, (uint32_t c_init, uint64_t position, size_t n_bits, vec_quad x1[2], vec_quad x2[2]))
#endif

#endif

#undef SIMD_OPERATION
