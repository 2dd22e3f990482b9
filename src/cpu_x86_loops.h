/* SPDX-License-Identifier: MIT */
/* The loops over symbols for x86-64's vectors of 128-bit parts: included by cpu_avx2.c and cpu_avx512.c after their
 * lane header and arithmetic_shortcuts.h. A step takes LANES symbols, which lie in memory as two registers of
 * components; those that are left at the end go through a small buffer, so that there is one code for every length.
 *
 * Soft bits are computed from a register of I and one of Q, because each axis looks at the other. LLRs are computed
 * from components as they lie in memory, since no axis needs the other. */
#ifndef SOFTQAM_CPU_X86_LOOPS_H
#define SOFTQAM_CPU_X86_LOOPS_H

#include "cpu_variant.h"

/* Symbols on their way into a loop. */
typedef struct step_input {
    lane_f32 a; /* I and Q in turns: the first LANES / 2 symbols */
    lane_f32 b; /* the others */
} step_input;

/* The kinds of input: the formats, cf32 apart where it needs no scale. */
typedef enum input_kind { INPUT_CF32_UNSCALED, INPUT_CF32, INPUT_CS16, INPUT_CS8, INPUT_CF16 } input_kind;

LANE size_t input_nbytes(input_kind kind)
{
    return kind == INPUT_CS8 ? 2 : kind == INPUT_CS16 || kind == INPUT_CF16 ? 4 : 8;
}

LANE lane_f32 load_components(input_kind kind, const unsigned char *from, lane_f32 scale)
{
    switch (kind) {
    case INPUT_CF32_UNSCALED:
        return lane_load_f32(from);
    case INPUT_CS16:
        return lane_mul(lane_load_s16(from), scale);
    case INPUT_CS8:
        return lane_mul(lane_load_s8(from), scale);
    case INPUT_CF16:
        return lane_mul(lane_load_f16(from), scale);
    default:
        return lane_mul(lane_load_f32(from), scale);
    }
}

LANE step_input load_step(input_kind kind, const unsigned char *from, lane_f32 scale)
{
    step_input in;
    in.a = load_components(kind, from, scale);
    in.b = load_components(kind, from + LANES / 2 * input_nbytes(kind), scale);
    return in;
}

/* Asks for the symbols of a later step. What lies behind the last ones is asked for too, which does no harm. */
enum { PREFETCH_NBYTES = 2048 };

LANE void prefetch_symbols(input_kind kind, const unsigned char *symbols)
{
    const uintptr_t ahead = (uintptr_t)symbols + PREFETCH_NBYTES;
    _mm_prefetch((const char *)ahead, _MM_HINT_T0);
    if (LANES * input_nbytes(kind) > 64)
        _mm_prefetch((const char *)(ahead + 64), _MM_HINT_T0);
}

/* The symbols that are left at the end, fewer than a step takes. Those beside them are computed from whatever lies
 * there, and dropped. */
typedef struct step_buffer {
    unsigned char in[LANES * 8];
    float noise_var[LANES];
    unsigned char out[LANES * 32];
} step_buffer;

/* Soft bits. */

/* Where a byte of a symbol comes from within the 16 packed soft bytes of four symbols: the last bits of I, the other
 * bits of I, the same of Q. A row's marks hold these for I and the first symbol; a sure byte is marked by what
 * lane_place_bytes() takes for it. */
enum { FROM_LAST = 0, FROM_OTHER = 4, FROM_Q = 8, SURE_LOWEST = 0x80, SURE_HIGHEST = 0xff };

static uint32_t byte_marks(uint32_t marks)
{
    static const uint8_t sources[] = {
        [BYTE_LAST] = FROM_LAST, [BYTE_LOWEST] = SURE_LOWEST, [BYTE_OTHER] = FROM_OTHER, [BYTE_HIGHEST] = SURE_HIGHEST};
    uint32_t bytes = 0;
    for (unsigned place = 0; place < AXIS_BITS; place++)
        bytes |= (uint32_t)sources[marks >> (4 * place) & 0xf] << (8 * place);
    return bytes;
}

LANE lane_table load_table(const softqam_axis_table *from)
{
    float values[5][AXIS_LEVELS];
    uint32_t marks[AXIS_LEVELS];
    for (unsigned j = 0; j < AXIS_LEVELS; j++) {
        const softqam_axis_row *row = &from->rows[j];
        values[0][j] = row->level;
        values[1][j] = row->level_last;
        values[2][j] = row->level_other;
        values[3][j] = row->marks >> 31 & 1 ? -from->gain : from->gain;
        values[4][j] = row->marks >> 30 & 1 ? -from->gain : from->gain;
        marks[j] = byte_marks(row->marks);
    }
    lane_table table;
    lane_table_rows(&table, values, marks);
    for (int k = 0; k < AXIS_BITS; k++)
        table.steps[k] = lane_splat(from->steps[k]);
    table.rows_per_unit = lane_splat(from->rows_per_unit);
    table.inside = lane_splat(from->inside);
    return table;
}

/* Where the bytes of the first two of four symbols come from, to be or-ed to a row's marks, I and Q in turns; those of
 * the last two; and where the whole symbol is not known: its `last` everywhere. */
static const uint8_t places_of_first_two[16] = {0, FROM_Q,     0, FROM_Q,     0, FROM_Q,     0, FROM_Q,
                                                1, FROM_Q | 1, 1, FROM_Q | 1, 1, FROM_Q | 1, 1, FROM_Q | 1};
static const uint8_t places_of_last_two[16] = {2, FROM_Q | 2, 2, FROM_Q | 2, 2, FROM_Q | 2, 2, FROM_Q | 2,
                                               3, FROM_Q | 3, 3, FROM_Q | 3, 3, FROM_Q | 3, 3, FROM_Q | 3};

LANE void store_soft_bits(unsigned char *out, const soft_bits *bits)
{
    const lane_bytes i = lane_pack_s16(lane_truncate(bits->i.last), lane_truncate(bits->i.other));
    const lane_bytes q = lane_pack_s16(lane_truncate(bits->q.last), lane_truncate(bits->q.other));
    const lane_bytes soft = lane_pack_u8(i, q);
    const lane_bytes first = lane_or(lane_interleave_bytes_lower(bits->i.row.marks, bits->q.row.marks),
                                     lane_splat_bytes(places_of_first_two));
    const lane_bytes last = lane_or(lane_interleave_bytes_upper(bits->i.row.marks, bits->q.row.marks),
                                    lane_splat_bytes(places_of_last_two));
    lane_store(out, lane_place_bytes(soft, first));
    lane_store(out + 4 * LANES, lane_place_bytes(soft, last));
}

/* 127 eight times is the last bit's byte, 127, at every place. */
LANE void forget(soft_axis *axis, lane_mask known)
{
    axis->last = lane_choose(known, axis->last, lane_splat(127.0f));
    axis->row.marks = lane_bits(lane_keep(known, lane_float(axis->row.marks)));
}

/* Whether to try the short way. Where it fails twice running it is not tried again for so many steps: among symbols
 * with which it often fails, that saves the attempts and the mispredicted branches. */
typedef struct attempts {
    unsigned n_without; /* steps to go without one */
    bool failed;        /* the last one */
} attempts;

enum { STEPS_WITHOUT_ATTEMPT = 7 };

LANE void soft_step(const lane_table *table, step_input in, attempts *tried, unsigned char *out)
{
    const lane_f32 i = lane_firsts(in.a, in.b);
    const lane_f32 q = lane_seconds(in.a, in.b);
    soft_bits bits;
    if (tried->n_without > 0) {
        tried->n_without--;
    } else {
        bits = demodulate_inside(table, i, q);
        if (lane_all(bits.known)) {
            store_soft_bits(out, &bits);
            tried->failed = false;
            return;
        }
        tried->n_without = tried->failed ? STEPS_WITHOUT_ATTEMPT : 0;
        tried->failed = true;
    }
    bits = demodulate_soft_bits(table, i, q);
    forget(&bits.i, bits.known);
    forget(&bits.q, bits.known);
    store_soft_bits(out, &bits);
}

LANE void loop_soft_bits(input_kind kind, const softqam_plan *plan, const unsigned char *symbols, size_t n_symbols,
                         unsigned char *out)
{
    const lane_table table = load_table(&plan->soft_bits);
    const lane_f32 scale = lane_splat(plan->input_scale);
    const size_t nbytes = input_nbytes(kind);
    attempts tried = {0};
    while (n_symbols > 0) {
        const bool whole = n_symbols >= LANES;
        step_buffer buffer;
        prefetch_symbols(kind, symbols);
        if (!whole)
            memcpy(buffer.in, symbols, n_symbols * nbytes);
        soft_step(&table, load_step(kind, whole ? symbols : buffer.in, scale), &tried, whole ? out : buffer.out);
        if (!whole) {
            memcpy(out, buffer.out, n_symbols * 8);
            break;
        }
        symbols += LANES * nbytes;
        out += LANES * 8;
        n_symbols -= LANES;
    }
}

/* LLRs. */

LANE lane_llr_table load_llr_table(const softqam_llr_table *from)
{
    lane_llr_table table;
    for (int k = 0; k < AXIS_BITS; k++) {
        float slopes[LANES];
        float intercepts[LANES];
        for (int row = 0; row < LANES; row++) {
            const softqam_llr_row *at = &from->rows[row < LLR_ROWS ? row : LLR_ROWS - 1];
            slopes[row] = at->slopes[k];
            intercepts[row] = at->intercepts[k];
        }
        table.rows.slopes[k] = lane_load_f32(slopes);
        table.rows.intercepts[k] = lane_load_f32(intercepts);
    }
    table.rows_per_unit = lane_splat(from->rows_per_unit);
    return table;
}

typedef struct llr_constants {
    lane_llr_table table;
    lane_f32 input_scale;
    lane_f32 steps_per_nat;
    lane_f32 small_noise; /* larger ones have small factors */
    lane_f32 limit;
    lane_u32 signs;
    lane_bytes least; /* of the bytes of s8 */
    lane_bytes most;
} llr_constants;

LANE llr_constants load_llr_constants(const softqam_plan *plan)
{
    const softqam_llr_scale scale = plan->llr_scale;
    llr_constants constants;
    constants.table = load_llr_table(&plan->llrs);
    constants.input_scale = lane_splat(plan->input_scale);
    constants.steps_per_nat = lane_splat(scale.steps_per_nat);
    constants.small_noise = lane_splat(scale.steps_per_nat / SMALL_FACTOR);
    constants.limit = lane_splat(scale.limit);
    constants.signs = lane_splat_bits(scale.signs);
    constants.most = lane_splat_byte(plan->output_format == SOFTQAM_OUTPUT_S8 ? (int)scale.limit : 0);
    constants.least = lane_splat_byte(plan->output_format == SOFTQAM_OUTPUT_S8 ? -(int)scale.limit : 0);
    return constants;
}

/* The factors of a step's components, with their sign; NaN where the noise variance is none. */
typedef struct llr_factors {
    lane_f32 a;
    lane_f32 b;
    lane_mask small; /* of the symbols */
} llr_factors;

LANE llr_factors weigh_step(const llr_constants *constants, lane_f32 noise_var)
{
    const llr_weight weight = weigh_llrs(constants->steps_per_nat, noise_var);
    const lane_f32 symbols = lane_flip(lane_choose(weight.known, weight.factor, lane_splat(NAN)), constants->signs);
    llr_factors factors;
    factors.a = lane_twice_lower(symbols);
    factors.b = lane_twice_upper(symbols);
    factors.small = lane_both(weight.known, lane_is_less(constants->small_noise, noise_var));
    return factors;
}

/* From four LLRs of components as they lie in memory: in each 128-bit part two symbols' bytes by bit, to be brought
 * together by symbol. */
static const uint8_t bytes_by_symbol[16] = {0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};

LANE void store_s8(unsigned char *out, const llr_constants *constants, const lane_f32 llrs[AXIS_BITS])
{
    const lane_bytes bytes = lane_pack_s8(lane_pack_s16(lane_round(llrs[0]), lane_round(llrs[1])),
                                          lane_pack_s16(lane_round(llrs[2]), lane_round(llrs[3])));
    lane_store(out, lane_shuffle_bytes(lane_limit_s8(bytes, constants->least, constants->most),
                                       lane_splat_bytes(bytes_by_symbol)));
}

LANE void store_llrs(softqam_output_format format, unsigned char *out, const llr_constants *constants,
                     const lane_f32 llrs[AXIS_BITS])
{
    if (format == SOFTQAM_OUTPUT_S8)
        store_s8(out, constants, llrs);
    else if (format == SOFTQAM_OUTPUT_F16)
        lane_store_llrs_f16(out, llrs);
    else
        lane_store_llrs_f32(out, llrs);
}

/* LLRs of any components and factors. */
LANE void any_llrs(const llr_constants *constants, lane_f32 components, lane_f32 factors, lane_f32 llrs[AXIS_BITS])
{
    /* Times zero, what is not finite is NaN. */
    const lane_f32 zeros = lane_mul(components, lane_splat(0.0f));
    const lane_mask known = lane_both(lane_is_finite(factors), lane_are_numbers(zeros, lane_swap_pairs(zeros)));
    axis_llrs(&constants->table, components, factors, constants->limit, llrs);
    LANE_UNROLL
    for (int k = 0; k < AXIS_BITS; k++)
        llrs[k] = lane_keep(known, llrs[k]);
}

LANE bool are_small(step_input in, llr_factors factors)
{
    const lane_f32 limit = lane_splat(SMALL_COMPONENT);
    return lane_all(
        lane_both(factors.small, lane_both(lane_is_less(lane_abs(in.a), limit), lane_is_less(lane_abs(in.b), limit))));
}

LANE void llr_step(softqam_output_format format, const llr_constants *constants, step_input in, llr_factors factors,
                   unsigned char *out)
{
    const size_t half = LANES / 2 * (format == SOFTQAM_OUTPUT_S8 ? 8 : format == SOFTQAM_OUTPUT_F16 ? 16 : 32);
    lane_f32 llrs[AXIS_BITS];
    if (format == SOFTQAM_OUTPUT_S8 && are_small(in, factors)) {
        axis_small_llrs(&constants->table, in.a, factors.a, llrs);
        store_s8(out, constants, llrs);
        axis_small_llrs(&constants->table, in.b, factors.b, llrs);
        store_s8(out + half, constants, llrs);
        return;
    }
    any_llrs(constants, in.a, factors.a, llrs);
    store_llrs(format, out, constants, llrs);
    any_llrs(constants, in.b, factors.b, llrs);
    store_llrs(format, out + half, constants, llrs);
}

LANE void loop_llrs(input_kind kind, softqam_output_format format, bool noise_per_symbol, const softqam_plan *plan,
                    const unsigned char *symbols, const float *noise_var, size_t n_symbols, unsigned char *out)
{
    const llr_constants constants = load_llr_constants(plan);
    const size_t in_nbytes = input_nbytes(kind);
    const size_t out_nbytes = format == SOFTQAM_OUTPUT_S8 ? 8 : format == SOFTQAM_OUTPUT_F16 ? 16 : 32;
    const llr_factors of_call = weigh_step(&constants, noise_per_symbol ? lane_splat(1.0f) : lane_splat(noise_var[0]));
    while (n_symbols > 0) {
        const bool whole = n_symbols >= LANES;
        step_buffer buffer;
        prefetch_symbols(kind, symbols);
        if (!whole) {
            memcpy(buffer.in, symbols, n_symbols * in_nbytes);
            if (noise_per_symbol)
                memcpy(buffer.noise_var, noise_var, n_symbols * sizeof buffer.noise_var[0]);
        }
        const llr_factors factors =
            noise_per_symbol ? weigh_step(&constants, lane_load_f32(whole ? noise_var : buffer.noise_var)) : of_call;
        llr_step(format, &constants, load_step(kind, whole ? symbols : buffer.in, constants.input_scale), factors,
                 whole ? out : buffer.out);
        if (!whole) {
            memcpy(out, buffer.out, n_symbols * out_nbytes);
            break;
        }
        symbols += LANES * in_nbytes;
        noise_var += noise_per_symbol ? LANES : 0;
        out += LANES * out_nbytes;
        n_symbols -= LANES;
    }
}

/* The loops of one kind of input. */
LANE void loop_outputs(input_kind kind, const softqam_plan *plan, const unsigned char *symbols, const float *noise_var,
                       size_t noise_stride, size_t n_symbols, unsigned char *out)
{
    switch (plan->output_format) {
    case SOFTQAM_OUTPUT_U8:
        loop_soft_bits(kind, plan, symbols, n_symbols, out);
        break;
    case SOFTQAM_OUTPUT_S8:
        if (noise_stride)
            loop_llrs(kind, SOFTQAM_OUTPUT_S8, true, plan, symbols, noise_var, n_symbols, out);
        else
            loop_llrs(kind, SOFTQAM_OUTPUT_S8, false, plan, symbols, noise_var, n_symbols, out);
        break;
    case SOFTQAM_OUTPUT_F16:
        if (noise_stride)
            loop_llrs(kind, SOFTQAM_OUTPUT_F16, true, plan, symbols, noise_var, n_symbols, out);
        else
            loop_llrs(kind, SOFTQAM_OUTPUT_F16, false, plan, symbols, noise_var, n_symbols, out);
        break;
    case SOFTQAM_OUTPUT_F32:
        if (noise_stride)
            loop_llrs(kind, SOFTQAM_OUTPUT_F32, true, plan, symbols, noise_var, n_symbols, out);
        else
            loop_llrs(kind, SOFTQAM_OUTPUT_F32, false, plan, symbols, noise_var, n_symbols, out);
        break;
    }
}

LANE void loop_inputs(const softqam_plan *plan, const unsigned char *symbols, const float *noise_var,
                      size_t noise_stride, size_t n_symbols, unsigned char *out)
{
    switch (plan->input_format) {
    case SOFTQAM_INPUT_CF32:
        /* Times one is the same value, so it need not be computed. */
        if (plan->input_scale == 1.0f)
            loop_outputs(INPUT_CF32_UNSCALED, plan, symbols, noise_var, noise_stride, n_symbols, out);
        else
            loop_outputs(INPUT_CF32, plan, symbols, noise_var, noise_stride, n_symbols, out);
        break;
    case SOFTQAM_INPUT_CS16:
        loop_outputs(INPUT_CS16, plan, symbols, noise_var, noise_stride, n_symbols, out);
        break;
    case SOFTQAM_INPUT_CS8:
        loop_outputs(INPUT_CS8, plan, symbols, noise_var, noise_stride, n_symbols, out);
        break;
    case SOFTQAM_INPUT_CF16:
        loop_outputs(INPUT_CF16, plan, symbols, noise_var, noise_stride, n_symbols, out);
        break;
    }
}

#endif
