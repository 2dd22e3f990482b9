/* SPDX-License-Identifier: MIT */
/* The loops over symbols for vectors of 128-bit parts, any number of them: included by cpu_avx512.c, cpu_avx2.c and
 * cpu_neon.c after their lane header and arithmetic_shortcuts.h. A step takes LANES symbols, which lie in memory as two
 * registers of components; the last step goes back to be a whole one, and calls of fewer symbols go through a small
 * buffer, so that there is one code for every length.
 *
 * Soft bits are computed from a register of I and one of Q, because each axis looks at the other. LLRs are computed
 * from components as they lie in memory, since no axis needs the other. */
#ifndef SOFTQAM_CPU_VECTOR_LOOPS_H
#define SOFTQAM_CPU_VECTOR_LOOPS_H

#include "cpu_variant.h"

/* Symbols on their way into a loop. */
typedef struct step_input {
    vec_f32 a; /* I and Q in fold_points: the first LANES / 2 symbols */
    vec_f32 b; /* the others */
} step_input;

/* The kinds of input: the formats, cf32 apart where it needs no scale. */
typedef enum input_kind { INPUT_CF32_UNSCALED, INPUT_CF32, INPUT_CS16, INPUT_CS8, INPUT_CF16 } input_kind;

VEC size_t input_nbytes(input_kind kind)
{
    return kind == INPUT_CS8 ? 2 : kind == INPUT_CS16 || kind == INPUT_CF16 ? 4 : 8;
}

VEC vec_f32 load_components(input_kind kind, const unsigned char *from, vec_f32 scale)
{
    switch (kind) {
    case INPUT_CF32_UNSCALED:
        return vec_load_f32(from);
    case INPUT_CS16:
        return vec_mul(vec_load_s16(from), scale);
    case INPUT_CS8:
        return vec_mul(vec_load_s8(from), scale);
    case INPUT_CF16:
        return vec_mul(vec_load_f16(from), scale);
    default:
        return vec_mul(vec_load_f32(from), scale);
    }
}

VEC step_input load_step(input_kind kind, const unsigned char *from, vec_f32 scale)
{
    step_input in;
    in.a = load_components(kind, from, scale);
    in.b = load_components(kind, from + LANES / 2 * input_nbytes(kind), scale);
    return in;
}

/* Asks for the symbols of later steps; what lies behind the last ones is asked for too, which does no harm. A loop that
 * streams reads memory: its symbols are called into the second cache from far ahead, and from there into the first,
 * which has too few places for lines on their way to wait for memory and for the lines stored past the caches too. */
enum { PREFETCH_NBYTES = 2048, PREFETCH_STREAMING_NBYTES = 1024, PREFETCH_FAR_NBYTES = 8192 };

VEC void prefetch_symbols(input_kind kind, const unsigned char *symbols, bool streaming)
{
    enum { TO_FIRST = 3, TO_SECOND = 2, LINE = 64 };
    const uintptr_t here = (uintptr_t)symbols;
    for (uintptr_t k = 0; k < LANES * input_nbytes(kind); k += LINE) {
        if (!streaming) {
            __builtin_prefetch((const void *)(here + PREFETCH_NBYTES + k), 0, TO_FIRST);
            continue;
        }
        __builtin_prefetch((const void *)(here + PREFETCH_STREAMING_NBYTES + k), 0, TO_FIRST);
        __builtin_prefetch((const void *)(here + PREFETCH_FAR_NBYTES + k), 0, TO_SECOND);
    }
}

/* A call of fewer symbols than a step takes: repeated until they fill one. */
typedef struct step_buffer {
    unsigned char in[LANES * 8];
    float noise_var[LANES];
    unsigned char out[LANES * 32];
} step_buffer;

/* Soft bits. */

VEC vec_soft_table load_table(const softqam_plan *plan)
{
    vec_soft_table table = vec_load_soft_table(&plan->columns.axis);
    for (int k = 0; k < AXIS_BITS; k++)
        table.steps[k] = vec_splat(plan->soft_bits.steps[k]);
    table.rows_per_unit = vec_splat(plan->soft_bits.rows_per_unit);
    return table;
}

/* Where the bytes of the first two of four symbols come from, to be or-ed to a row's byte_select, I and Q in fold_points; those of
 * the last two; and where the whole symbol is not known: its `last` everywhere. */
static const uint8_t places_of_first_two[16] = {0, FROM_Q,     0, FROM_Q,     0, FROM_Q,     0, FROM_Q,
                                                1, FROM_Q | 1, 1, FROM_Q | 1, 1, FROM_Q | 1, 1, FROM_Q | 1};
static const uint8_t places_of_last_two[16] = {2, FROM_Q | 2, 2, FROM_Q | 2, 2, FROM_Q | 2, 2, FROM_Q | 2,
                                               3, FROM_Q | 3, 3, FROM_Q | 3, 3, FROM_Q | 3, 3, FROM_Q | 3};

/* The soft bytes of an axis, two words a symbol; the last bit's is 127 where the symbol is not known. */
VEC vec_bytes soft_words(const soft_axis *axis, vec_mask known)
{
    return vec_pack_s16(vec_truncate(vec_choose(known, axis->last, vec_splat(127.0f))), vec_truncate(axis->other));
}

/* Where its bytes come from: all from the last bit's where the symbol is not known. */
VEC vec_u32 soft_marks(const vec_soft_table *table, const soft_axis *axis, vec_mask known)
{
    return vec_bits(vec_keep(known, vec_from_bits(vec_byte_select(table, axis->row))));
}

VEC symbol_distances measure_step(const vec_soft_table *table, step_input in)
{
    return measure_symbol(table, vec_firsts(in.a, in.b), vec_seconds(in.a, in.b));
}

VEC void soften_step(const vec_soft_table *table, const symbol_distances *symbols, unsigned char *out, bool streaming)
{
    const soft_bits bits = soften_symbol(table, symbols);
    const vec_bytes soft = vec_pack_u8(soft_words(&bits.i, bits.known), soft_words(&bits.q, bits.known));
    const vec_u32 i = soft_marks(table, &bits.i, bits.known), q = soft_marks(table, &bits.q, bits.known);
    const vec_bytes first = vec_or(vec_interleave_bytes_lower(i, q), vec_splat_bytes(places_of_first_two));
    const vec_bytes last = vec_or(vec_interleave_bytes_upper(i, q), vec_splat_bytes(places_of_last_two));
    vec_store(out, vec_place_bytes(soft, first), streaming);
    vec_store(out + 4 * LANES, vec_place_bytes(soft, last), streaming);
}

typedef struct linear_constants {
    vec_linear linear;
    vec_bytes middle;   /* half of 2 alpha, modulo 1 */
    vec_bytes doubt;    /* so near is too near */
    vec_s32 largest;  /* |x3| of a component of LINEAR_COMPONENT */
    vec_s32 farthest; /* |x3| of one of LIMIT_COMPONENT */
} linear_constants;

VEC linear_constants load_linear(const softqam_linear *from)
{
    linear_constants constants;
    constants.linear.units = vec_splat(from->units);
    for (int k = 0; k < AXIS_BITS - 1; k++)
        constants.linear.fold_points[k] = vec_splat_s32(from->fold_points[k]);
    constants.middle = vec_splat_s16(from->middle);
    constants.doubt = vec_splat_s16(from->doubt);
    constants.largest = vec_splat_s32(from->largest);
    constants.farthest = vec_splat_s32(from->farthest);
    return constants;
}

/* The linear functions' bytes of components as they lie in memory. */
VEC vec_bytes linear_bytes(bool positive_is_1, const linear_bits *bits)
{
    static const uint8_t places[16] = {0, 2, 1, 3, 8, 10, 9, 11, 4, 6, 5, 7, 12, 14, 13, 15};
    vec_bytes first = vec_upper_words(bits->x[0], bits->x[1]);
    vec_bytes last = vec_upper_words(bits->x[2], bits->x[3]);
    if (positive_is_1) {
        /* Away from integers, trunc(127 - x) is 126 - floor(x). */
        first = vec_sub_s16(vec_splat_s16(126), first);
        last = vec_sub_s16(vec_splat_s16(126), last);
    } else {
        first = vec_add_s16(vec_splat_s16(127), first);
        last = vec_add_s16(vec_splat_s16(127), last);
    }
    return vec_shuffle_bytes(vec_pack_u8(first, last), vec_splat_bytes(places));
}

/* How far from an integer the values are that are not saturated. Each is, but for its sign, the distance |x3| to the
 * nearest boundary of the last bit, or what lacks to 2 alpha from that: near an integer where the distance's fraction
 * is near 0 or that of 2 alpha. The words of a lie in the lower halves, those of b in the upper ones. */
VEC vec_bytes from_integers(const linear_constants *constants, vec_s32 distance_a, vec_s32 distance_b)
{
    const vec_bytes fractions = vec_lower_words(distance_a, distance_b);
    const vec_bytes from_middle = vec_abs_s16(vec_sub_s16(fractions, constants->middle));
    return vec_abs_s16(vec_sub_s16(from_middle, constants->middle));
}

/* What is too near: the further out one component, the coarser the sums in which the other's values are rounded. */
VEC vec_bytes doubt_far_out(const linear_constants *constants, vec_s32 distance_a, vec_s32 distance_b)
{
    const vec_bytes others = vec_swap_pair_words(vec_upper_words(distance_a, distance_b));
    const vec_bytes outside = vec_excess_u16(others, vec_splat_s16(LINEAR_INSIDE));
    return vec_add_s16(constants->doubt, vec_shift_right_s16(outside, LINEAR_DOUBT_SHIFT));
}

/* Returns whether the bytes may be wrong. With components over LINEAR_COMPONENT they may always be unless `far`, with
 * those over LIMIT_COMPONENT always. */
VEC bool linear_step(const linear_constants *constants, bool far, bool positive_is_1, step_input in,
                      unsigned char *out, bool streaming)
{
    const linear_bits a = demodulate_linear(&constants->linear, in.a);
    const linear_bits b = demodulate_linear(&constants->linear, in.b);
    vec_store(out, linear_bytes(positive_is_1, &a), streaming);
    vec_store(out + 4 * LANES, linear_bytes(positive_is_1, &b), streaming);
    const vec_s32 distance_a = vec_abs_s32(a.x[3]);
    const vec_s32 distance_b = vec_abs_s32(b.x[3]);
    const vec_bytes doubt = far ? doubt_far_out(constants, distance_a, distance_b) : constants->doubt;
    return vec_any_less_or_more(from_integers(constants, distance_a, distance_b), doubt,
                                 vec_max_s32(distance_a, distance_b), far ? constants->farthest : constants->largest);
}

/* Components on which the linear functions decide although linear_step() would doubt them: a symbol that is zero is as
 * good as one beside it on the side where both bits of the signs are 127, and so is one that is not finite, whose bytes
 * are replaced. */
typedef struct wide_input {
    linear_bits bits;
    vec_pairs known;
} wide_input;

VEC wide_input widen_input(const linear_constants *constants, bool positive_is_1, vec_f32 components)
{
    wide_input in;
    /* Times zero, what is not finite is NaN. */
    in.known = vec_are_zeros(vec_mul(components, vec_splat(0.0f)));
    const vec_f32 numbers = vec_keep_pairs(in.known, components);
    const vec_f32 beside = vec_splat(positive_is_1 ? -LINEAR_BESIDE_ZERO : LINEAR_BESIDE_ZERO);
    const vec_f32 decided = vec_choose_pairs(vec_are_zeros(numbers), beside, numbers);
    in.bits = demodulate_linear(&constants->linear, vec_limit(decided, vec_splat(LIMIT_COMPONENT)));
    return in;
}

VEC vec_bytes wide_bytes(bool positive_is_1, const wide_input *in)
{
    return vec_choose_pair_bytes(in->known, linear_bytes(positive_is_1, &in->bits), vec_splat_u8(127));
}

/* linear_step() for any symbols, in a quarter as many operations more. */
VEC bool wide_step(const linear_constants *constants, bool positive_is_1, step_input in, unsigned char *out,
                    bool streaming)
{
    const wide_input a = widen_input(constants, positive_is_1, in.a);
    const wide_input b = widen_input(constants, positive_is_1, in.b);
    vec_store(out, wide_bytes(positive_is_1, &a), streaming);
    vec_store(out + 4 * LANES, wide_bytes(positive_is_1, &b), streaming);
    const vec_s32 distance_a = vec_abs_s32(a.bits.x[3]);
    const vec_s32 distance_b = vec_abs_s32(b.bits.x[3]);
    return vec_any_less(from_integers(constants, distance_a, distance_b),
                         doubt_far_out(constants, distance_a, distance_b));
}

/* Where a step's symbols lie and where its bytes go. */
typedef struct step_place {
    const unsigned char *in;
    unsigned char *out;
} step_place;

/* Steps as arithmetic.h has it, an even number of them: two at a time, because one alone waits for its own results more
 * than it computes. */
VEC void exact_steps(input_kind kind, const softqam_plan *plan, const step_place *places, size_t n_steps,
                      bool streaming)
{
    const vec_soft_table table = load_table(plan);
    const vec_f32 scale = vec_splat(plan->input_scale);
    for (size_t k = 0; k < n_steps; k += 2) {
        const symbol_distances a = measure_step(&table, load_step(kind, places[k].in, scale));
        const symbol_distances b = measure_step(&table, load_step(kind, places[k + 1].in, scale));
        soften_step(&table, &a, places[k].out, streaming);
        soften_step(&table, &b, places[k + 1].out, streaming);
    }
}

/* The ways to soft bits, the fastest first, which also is the one that decides about the fewest symbols: by the linear
 * functions where a constellation and little noise lie, where more noise takes them, for any symbols; and
 * arithmetic.h's.
 */
typedef enum soft_way { WAY_LINEAR, WAY_FAR, WAY_WIDE, WAY_EXACT } soft_way;

/* Steps by the linear functions; returns how many may have wrong bytes, and where. */
VEC size_t linear_steps(soft_way way, input_kind kind, bool positive_is_1, const softqam_plan *plan, step_place at,
                         size_t n_steps, step_place *doubtful, bool streaming)
{
    const linear_constants constants = load_linear(&plan->columns.linear);
    const vec_f32 scale = vec_splat(plan->input_scale);
    size_t n_doubtful = 0;
    for (size_t k = 0; k < n_steps; k++) {
        prefetch_symbols(kind, at.in, streaming);
        doubtful[n_doubtful] = at;
        const step_input in = load_step(kind, at.in, scale);
        n_doubtful += way == WAY_WIDE ? wide_step(&constants, positive_is_1, in, at.out, streaming)
                                      : linear_step(&constants, way == WAY_FAR, positive_is_1, in, at.out, streaming);
        at.in += LANES * input_nbytes(kind);
        at.out += LANES * 8;
    }
    return n_doubtful;
}

/* With the sign and the kind of stores as constants of the loops: a branch at each store takes a tenth of the time. */
VEC size_t linear_steps_of_sign(input_kind kind, bool positive_is_1, soft_way way, const softqam_plan *plan,
                                 step_place at, size_t n_steps, step_place *doubtful, bool streaming)
{
    if (way == WAY_WIDE)
        return linear_steps(WAY_WIDE, kind, positive_is_1, plan, at, n_steps, doubtful, streaming);
    if (way == WAY_FAR)
        return linear_steps(WAY_FAR, kind, positive_is_1, plan, at, n_steps, doubtful, streaming);
    return streaming ? linear_steps(WAY_LINEAR, kind, positive_is_1, plan, at, n_steps, doubtful, true)
                     : linear_steps(WAY_LINEAR, kind, positive_is_1, plan, at, n_steps, doubtful, false);
}

/* Symbols are taken in blocks of so many steps, which stay in the nearest cache: first all by the linear functions,
 * then again those steps about which there is doubt, so that no branch is mispredicted for a single step. Where so many
 * of a block's steps are in doubt that the next way is faster, the block and those after it take that one. */
enum { BLOCK_STEPS = 64, BLOCKS_BEFORE_RETRY = 63 };

typedef struct soft_course {
    soft_way way;
    unsigned n_blocks; /* that still go this way */
} soft_course;

VEC soft_course next_course(soft_course now)
{
    if (now.n_blocks == 0)
        return (soft_course){WAY_LINEAR, 0};
    return (soft_course){now.way, now.n_blocks - 1};
}

/* The steps of a block by the way that suits it; returns those that must be taken as arithmetic.h has it. */
VEC size_t block_steps(input_kind kind, const softqam_plan *plan, soft_course *course, step_place at, size_t n_steps,
                        step_place *doubtful, bool streaming)
{
    while (course->way < WAY_EXACT) {
        const size_t most = course->way == WAY_WIDE ? n_steps / 2 : n_steps / 8;
        const size_t n = plan->llr_scale.signs
                             ? linear_steps_of_sign(kind, true, course->way, plan, at, n_steps, doubtful, streaming)
                             : linear_steps_of_sign(kind, false, course->way, plan, at, n_steps, doubtful, streaming);
        if (n <= most)
            return n;
        *course = (soft_course){course->way + 1, BLOCKS_BEFORE_RETRY};
    }
    for (size_t k = 0; k < n_steps; k++)
        doubtful[k] = (step_place){at.in + k * LANES * input_nbytes(kind), at.out + k * LANES * 8};
    return n_steps;
}

VEC void loop_soft_bits(input_kind kind, const softqam_plan *plan, step_place at, size_t n_symbols, bool streaming)
{
    size_t n_steps = n_symbols / LANES, n_left = n_symbols % LANES;
    step_place again[BLOCK_STEPS + 2];
    size_t n_again = 0;
    soft_course course = {WAY_LINEAR, 0};
    while (n_steps > 0) {
        const size_t n = n_steps < BLOCK_STEPS ? n_steps : BLOCK_STEPS;
        n_again += block_steps(kind, plan, &course, at, n, again + n_again, streaming);
        course = next_course(course);
        /* An odd one waits for the next block. */
        if (n_again > 1) {
            exact_steps(kind, plan, again, n_again / 2 * 2, streaming);
            again[0] = again[n_again - 1];
            n_again %= 2;
        }
        at.in += n * LANES * input_nbytes(kind);
        at.out += n * LANES * 8;
        n_steps -= n;
        if (n_steps == 0 && n_left > 0) {
            /* The last step goes back to be a whole one. */
            at.in -= (LANES - n_left) * input_nbytes(kind);
            at.out -= (LANES - n_left) * 8;
            n_steps = 1;
            n_left = 0;
        }
    }
    if (n_again > 0) {
        again[1] = again[0];
        exact_steps(kind, plan, again, 2, streaming);
    }
}

/* LLRs. */

/* What a loop writes; s8 apart where it is limited by nothing but that -128 is not an LLR. */
typedef enum llr_output { LLRS_S8_FULL, LLRS_S8, LLRS_F16, LLRS_F32 } llr_output;

VEC size_t llr_nbytes(llr_output output)
{
    return output == LLRS_F32 ? 32 : output == LLRS_F16 ? 16 : 8;
}

typedef struct llr_constants {
    vec_llr_table table;
    vec_f32 input_scale;
    vec_f32 steps_per_nat;
    vec_f32 signed_steps_per_nat;
    vec_f32 small_component;
    vec_f32 small_noise; /* larger ones have small factors */
    vec_f32 limit;
    vec_u32 signs;
    vec_f32 factor_of_call; /* NaN where its noise variance is none */
    vec_mask small_call;    /* that factor is small */
    bool streaming;
    vec_bytes least; /* of the bytes of s8 */
    vec_bytes most;
} llr_constants;

/* The factors of a step's symbols, with their sign; NaN where the noise variance is none. */
VEC vec_f32 weigh_step(const llr_constants *constants, vec_f32 noise_var)
{
    const llr_weight weight = weigh_llrs(constants->steps_per_nat, noise_var);
    return vec_flip(vec_choose(weight.known, weight.factor, vec_splat(NAN)), constants->signs);
}

/* Whether a noise variance is one and its factor small. */
VEC vec_mask is_usual_noise(const llr_constants *constants, vec_f32 noise_var)
{
    return vec_both(vec_is_less(constants->small_noise, noise_var), vec_is_less(noise_var, vec_splat(INFINITY)));
}

VEC llr_constants load_llr_constants(const softqam_plan *plan, llr_output output, float noise_var, bool streaming)
{
    const softqam_llr_scale scale = plan->llr_scale;
    const int largest = output <= LLRS_S8 ? (int)scale.limit : 0;
    const float small_factor = output <= LLRS_S8    ? SMALL_FACTOR_S8
                               : output == LLRS_F16 ? SMALL_FACTOR_F16
                                                    : SMALL_FACTOR_F32;
    llr_constants constants;
    constants.table = vec_load_llr_table(&plan->columns.llrs);
    constants.table.rows_per_unit = vec_splat(plan->llrs.rows_per_unit);
    constants.input_scale = vec_splat(plan->input_scale);
    constants.steps_per_nat = vec_splat(scale.steps_per_nat);
    constants.signs = vec_splat_u32(scale.signs);
    constants.signed_steps_per_nat = vec_flip(constants.steps_per_nat, constants.signs);
    constants.small_component = vec_splat(SMALL_COMPONENT);
    constants.small_noise = vec_splat(scale.steps_per_nat / small_factor);
    constants.limit = vec_splat(scale.limit);
    constants.factor_of_call = weigh_step(&constants, vec_splat(noise_var));
    constants.small_call = is_usual_noise(&constants, vec_splat(noise_var));
    constants.most = vec_splat_u8(largest);
    constants.least = vec_splat_u8(-largest);
    constants.streaming = streaming;
    return constants;
}

/* From four LLRs of components as they lie in memory: in each 128-bit part two symbols' bytes by bit, to be brought
 * together by symbol. */
static const uint8_t bytes_by_symbol[16] = {0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};

VEC void store_s8(bool full, unsigned char *out, const llr_constants *constants, const vec_f32 llrs[AXIS_BITS])
{
    const vec_bytes packed = vec_pack_s8(vec_pack_s16(vec_round_s32(llrs[0]), vec_round_s32(llrs[1])),
                                           vec_pack_s16(vec_round_s32(llrs[2]), vec_round_s32(llrs[3])));
    vec_bytes limited = vec_max_s8(packed, constants->least);
    if (!full)
        limited = vec_min_s8(limited, constants->most);
    vec_store(out, vec_shuffle_bytes(limited, vec_splat_bytes(bytes_by_symbol)), constants->streaming);
}

VEC void store_llrs(llr_output output, unsigned char *out, const llr_constants *constants,
                     const vec_f32 llrs[AXIS_BITS])
{
    if (output == LLRS_F16)
        vec_store_llrs_f16(out, llrs, constants->streaming);
    else if (output == LLRS_F32)
        vec_store_llrs_f32(out, llrs, constants->streaming);
    else
        store_s8(output == LLRS_S8_FULL, out, constants, llrs);
}

/* LLRs of any components and factors. */
VEC void any_llrs(const llr_constants *constants, vec_f32 components, vec_f32 factors, vec_f32 llrs[AXIS_BITS])
{
    /* Times zero, what is not finite is NaN. */
    const vec_f32 zeros = vec_mul(components, vec_splat(0.0f));
    const vec_mask known = vec_both(vec_is_finite(factors), vec_are_numbers(zeros, vec_swap_pairs(zeros)));
    axis_llrs(&constants->table, components, factors, constants->limit, llrs);
    VEC_UNROLL
    for (int k = 0; k < AXIS_BITS; k++)
        llrs[k] = vec_keep(known, llrs[k]);
}

/* Where a step's symbols and noise variances lie and where its LLRs go. */
typedef struct llr_place {
    const unsigned char *symbols;
    const float *noise_var;
    unsigned char *out;
} llr_place;

/* A step on its way. Its first operations, up to the rows' numbers, depend on one another, and so do the others: one
 * step's first ones are done among those of the step before, or else the processor waits for results. */
typedef struct llr_step {
    step_input in; /* if kept */
    vec_u32 row_a;
    vec_u32 row_b;
    vec_f32 factors; /* of the symbols, with their sign */
    llr_place at;
    bool small;
} llr_step;

/* Whether a step's components are kept from its beginning to its end, because they were converted, or loaded again
 * there. To f32 keeping them takes AVX-512 a tenth more time. */
VEC bool keeps_components(input_kind kind, llr_output output)
{
    return kind != INPUT_CF32_UNSCALED && output != LLRS_F32;
}

VEC llr_step begin_step(input_kind kind, llr_output output, bool noise_per_symbol, const llr_constants *constants,
                         llr_place at)
{
    llr_step step = {.at = at};
    const step_input in = load_step(kind, at.symbols, constants->input_scale);
    if (keeps_components(kind, output))
        step.in = in;
    /* Among magnitudes the floats' order is that of their bits, NaN last. */
    const vec_u32 larger = vec_max_u32(vec_bits(vec_abs(in.a)), vec_bits(vec_abs(in.b)));
    vec_mask small = vec_is_less(vec_from_bits(larger), constants->small_component);
    step.row_a = small_row(&constants->table, in.a);
    step.row_b = small_row(&constants->table, in.b);
    if (noise_per_symbol) {
        const vec_f32 noise_var = vec_load_f32(at.noise_var);
        step.factors = vec_div(constants->signed_steps_per_nat, noise_var);
        /* An infinite one's factor is 0, and so are its LLRs; but as floats those may be -0. */
        small = vec_both(small, output <= LLRS_S8 ? vec_is_less(constants->small_noise, noise_var)
                                                   : is_usual_noise(constants, noise_var));
    } else {
        step.factors = constants->factor_of_call;
        small = vec_both(small, constants->small_call);
    }
    step.small = vec_all(small);
    return step;
}

VEC void end_step(input_kind kind, llr_output output, bool noise_per_symbol, const llr_constants *constants,
                   const llr_step *step)
{
    const size_t half = LANES / 2 * llr_nbytes(output);
    vec_f32 llrs[AXIS_BITS];
    const step_input in =
        keeps_components(kind, output) ? step->in : load_step(kind, step->at.symbols, constants->input_scale);
    if (step->small) {
        axis_small_llrs(&constants->table, in.a, step->row_a, vec_twice_lower(step->factors), llrs);
        store_llrs(output, step->at.out, constants, llrs);
        axis_small_llrs(&constants->table, in.b, step->row_b, vec_twice_upper(step->factors), llrs);
        store_llrs(output, step->at.out + half, constants, llrs);
        return;
    }
    const vec_f32 factors =
        noise_per_symbol ? weigh_step(constants, vec_load_f32(step->at.noise_var)) : constants->factor_of_call;
    any_llrs(constants, in.a, vec_twice_lower(factors), llrs);
    store_llrs(output, step->at.out, constants, llrs);
    any_llrs(constants, in.b, vec_twice_upper(factors), llrs);
    store_llrs(output, step->at.out + half, constants, llrs);
}

VEC void loop_llrs(input_kind kind, llr_output output, bool noise_per_symbol, const softqam_plan *plan, llr_place at,
                    size_t n_symbols, bool streaming)
{
    const llr_constants constants =
        load_llr_constants(plan, output, noise_per_symbol ? 1.0f : at.noise_var[0], streaming);
    llr_step step = begin_step(kind, output, noise_per_symbol, &constants, at);
    for (size_t left = n_symbols - LANES; left > 0;) {
        /* The last step goes back to be a whole one. */
        const size_t n = left < LANES ? left : LANES;
        at.symbols += n * input_nbytes(kind);
        at.noise_var += noise_per_symbol ? n : 0;
        at.out += n * llr_nbytes(output);
        left -= n;
        prefetch_symbols(kind, at.symbols, streaming);
        const llr_step next = begin_step(kind, output, noise_per_symbol, &constants, at);
        end_step(kind, output, noise_per_symbol, &constants, &step);
        step = next;
    }
    end_step(kind, output, noise_per_symbol, &constants, &step);
}

VEC void loop_noises(input_kind kind, llr_output output, const softqam_plan *plan, llr_place at, size_t noise_stride,
                      size_t n_symbols, bool streaming)
{
    if (noise_stride)
        loop_llrs(kind, output, true, plan, at, n_symbols, streaming);
    else
        loop_llrs(kind, output, false, plan, at, n_symbols, streaming);
}

/* The loops of one kind of input. */
VEC void loop_outputs(input_kind kind, const softqam_plan *plan, llr_place at, size_t noise_stride, size_t n_symbols,
                       bool streaming)
{
    switch (plan->output_format) {
    case SOFTQAM_OUTPUT_U8:
        loop_soft_bits(kind, plan, (step_place){at.symbols, at.out}, n_symbols, streaming);
        break;
    case SOFTQAM_OUTPUT_S8:
        /* As a constant of the loop, as above; to the other formats it makes no difference. */
        if (plan->llr_scale.limit == 127.0f && streaming)
            loop_noises(kind, LLRS_S8_FULL, plan, at, noise_stride, n_symbols, true);
        else if (plan->llr_scale.limit == 127.0f)
            loop_noises(kind, LLRS_S8_FULL, plan, at, noise_stride, n_symbols, false);
        else
            loop_noises(kind, LLRS_S8, plan, at, noise_stride, n_symbols, streaming);
        break;
    case SOFTQAM_OUTPUT_F16:
        loop_noises(kind, LLRS_F16, plan, at, noise_stride, n_symbols, streaming);
        break;
    case SOFTQAM_OUTPUT_F32:
        loop_noises(kind, LLRS_F32, plan, at, noise_stride, n_symbols, streaming);
        break;
    }
}

/* A function for each kind: with all in one, gcc's LLR loops for AVX2 take up to a tenth more time. */
#define DEFINE_LOOP(name, kind)                                                                                        \
    static __attribute__((noinline)) void name(const softqam_plan *plan, llr_place at, size_t noise_stride,            \
                                               size_t n_symbols, bool streaming)                                       \
    {                                                                                                                  \
        loop_outputs(kind, plan, at, noise_stride, n_symbols, streaming);                                              \
    }
DEFINE_LOOP(loop_cf32_unscaled, INPUT_CF32_UNSCALED)
DEFINE_LOOP(loop_cf32, INPUT_CF32)
DEFINE_LOOP(loop_cs16, INPUT_CS16)
DEFINE_LOOP(loop_cs8, INPUT_CS8)
DEFINE_LOOP(loop_cf16, INPUT_CF16)
#undef DEFINE_LOOP

/* At least a step's symbols; whole steps, with `out` on a boundary of LINE_NBYTES, where streaming. */
static void loop_inputs(const softqam_plan *plan, llr_place at, size_t noise_stride, size_t n_symbols, bool streaming)
{
    switch (plan->input_format) {
    case SOFTQAM_INPUT_CF32:
        /* Times one is the same value, so it need not be computed. */
        if (plan->input_scale == 1.0f)
            loop_cf32_unscaled(plan, at, noise_stride, n_symbols, streaming);
        else
            loop_cf32(plan, at, noise_stride, n_symbols, streaming);
        break;
    case SOFTQAM_INPUT_CS16:
        loop_cs16(plan, at, noise_stride, n_symbols, streaming);
        break;
    case SOFTQAM_INPUT_CS8:
        loop_cs8(plan, at, noise_stride, n_symbols, streaming);
        break;
    case SOFTQAM_INPUT_CF16:
        loop_cf16(plan, at, noise_stride, n_symbols, streaming);
        break;
    }
}

/* Copies n items to the front of LANES, and again behind them until those are full. */
VEC void fill_step(void *to, const void *from, size_t nbytes, size_t n)
{
    unsigned char *bytes = to;
    memcpy(bytes, from, n * nbytes);
    while (n < LANES) {
        const size_t more = n < LANES - n ? n : LANES - n;
        memcpy(bytes + n * nbytes, bytes, more * nbytes);
        n += more;
    }
}

/* Any number of symbols. */
static void loop_any(const softqam_plan *plan, llr_place at, size_t noise_stride, size_t n_symbols)
{
    if (n_symbols == 0)
        return;
    if (n_symbols >= LANES) {
        loop_inputs(plan, at, noise_stride, n_symbols, false);
        return;
    }
    step_buffer buffer;
    llr_place whole = {buffer.in, at.noise_var, buffer.out};
    fill_step(buffer.in, at.symbols, plan->input_nbytes, n_symbols);
    if (noise_stride && plan->output_format != SOFTQAM_OUTPUT_U8) {
        fill_step(buffer.noise_var, at.noise_var, sizeof(float), n_symbols);
        whole.noise_var = buffer.noise_var;
    }
    loop_inputs(plan, whole, noise_stride, LANES, false);
    memcpy(at.out, buffer.out, n_symbols * plan->output_nbytes);
}

VEC llr_place place_after(const softqam_plan *plan, llr_place at, size_t noise_stride, size_t n_symbols)
{
    at.symbols += n_symbols * plan->input_nbytes;
    at.noise_var += softqam_plan_takes_noise(plan) ? n_symbols * noise_stride : 0;
    at.out += n_symbols * plan->output_nbytes;
    return at;
}

/* A cache line, which streaming stores fill from its beginning. */
enum { LINE_NBYTES = 64 };

/* Streamed are the whole steps from the first line on at which a symbol's output begins. */
VEC void loop_streaming(const softqam_plan *plan, llr_place at, size_t noise_stride, size_t n_symbols)
{
    const size_t to_line = -(uintptr_t)at.out % LINE_NBYTES;
    const size_t n_before = to_line / plan->output_nbytes;
    if (to_line % plan->output_nbytes || n_symbols < n_before + LANES) {
        loop_any(plan, at, noise_stride, n_symbols);
        return;
    }
    const llr_place line = place_after(plan, at, noise_stride, n_before);
    const size_t n_whole = (n_symbols - n_before) / LANES * LANES;
    loop_any(plan, at, noise_stride, n_before);
    loop_inputs(plan, line, noise_stride, n_whole, true);
    vec_fence();
    loop_any(plan, place_after(plan, line, noise_stride, n_whole), noise_stride, n_symbols - n_before - n_whole);
}

#endif
