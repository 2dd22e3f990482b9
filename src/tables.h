/* SPDX-License-Identifier: MIT */
/* Tables of one axis of a constellation, the same for the portable C, the vector loops and CUDA. Plain data, an array
 * for each kind of value, as vector loops load them into registers. */
#ifndef SOFTQAM_TABLES_H
#define SOFTQAM_TABLES_H

#include <stdint.h>

#include <softqam/softqam.h>

/* The largest finite number of binary16. */
#define LARGEST_HALF 65504.0f

/* Soft bits, of 256QAM alone: 16 levels an axis, found in 4 halvings; four bits ride on each axis. */
enum { U8_LEVELS = 16, U8_AXIS_BITS = 4 };

/* Sources of a symbol's byte among the 16 packed soft bytes of four symbols: the low bits of I, its high bits, then the
 * same for Q. byte_select holds the sources for I and the first symbol; saturated bytes have values of their own. */
enum { FROM_LOW = 0, FROM_HIGH = 4, FROM_Q = 8, SATURATED_0 = 0x80, SATURATED_255 = 0xff };

/* Components are limited to this, which is part of the contract: further out liquid-dsp itself goes wrong
 * (reference/oracle.h). Up to there, the limit does not change which bits are saturated. */
#define LIMIT_COMPONENT 3.0f

/* Stands for a neighbour that does not exist: so far away that it is never the nearest, yet its squared distance times
 * the gain fits an int. */
#define NO_NEIGHBOUR 64.0f

/* By level, the most negative first. Each neighbour of a level differs from it in one label bit: the low neighbour,
 * above an even level and below an odd one, in the axis's last bit, the high neighbour in one of the first three. So of
 * the four bits two are soft, and two (three at the ends, which have no high neighbour) are saturated. */
typedef struct softqam_u8_table {
    float level[U8_LEVELS];
    float level_low[U8_LEVELS];  /* level of the low neighbour */
    float level_high[U8_LEVELS]; /* level of the high one; +-NO_NEIGHBOUR beyond the ends */
    float gain_low[U8_LEVELS];   /* byte units per unit of squared distance, with the bit's sign */
    float gain_high[U8_LEVELS];
    uint32_t byte_select[U8_LEVELS]; /* four bytes FROM_.. or SATURATED_.., the axis's first bit lowest */
    /* Half the distance between the sets of levels that each label bit separates: 8, 4, 2, 1 times 1/sqrt(170). */
    float halvings[U8_AXIS_BITS];
    float level_scale; /* level j is at (j - 7.5) / level_scale */
} softqam_u8_table;

/* The soft bits as linear functions in fixed point, LINEAR_FRACTION_BITS after the point (arithmetic_fast.h). */
enum { LINEAR_FRACTION_BITS = 16 };

/* The linear functions decide for components up to LINEAR_COMPONENT (the outermost level is at 1.15) if no value is
 * within LINEAR_ERROR_BOUND of an integer. u8_bits_from_distances(), in which both axes and some twenty roundings take
 * part, differs from them by at most 15.1 units of the last place: 1.96 by squares and level sums of the axis, 1.5 by
 * `nearest` against `decided` of the other axis (both over all floats up to 1.5), 4.8 by the two sums of both axes,
 * 0.3, 0.25 and 0.5 by their difference, the product and the sum with 127, and 4, 1.5 and 0.25 by fixed point. */
#define LINEAR_COMPONENT 1.5f
enum { LINEAR_ERROR_BOUND = 16 };

typedef struct softqam_u8_linear {
    float units_per_component;             /* units of fixed point */
    int32_t fold_points[U8_AXIS_BITS - 1]; /* 8, 4, 2 alpha */
    int32_t largest;                       /* |x3| of a component of LINEAR_COMPONENT */
    int16_t middle;                        /* half of 2 alpha, modulo 1 */
    int16_t error_bound;
} softqam_u8_linear;

/* Builds the tables of liquid-dsp's soft bits of 256QAM, from the formula of 3GPP TS 38.211 clause 5.1.6. */
void softqam_u8_table_build(softqam_u8_table *table, softqam_u8_linear *linear, softqam_sign sign);

/* LLRs. With m bits an axis, N0 times an LLR is piecewise linear in the component v, with breaks at the even multiples
 * of a = 1/sqrt(E): 2^(m-1) rows of |v|, the last one open. */
enum {
    MAX_AXIS_BITS = 5, /* the largest modulation's */
    MAX_SYMBOL_BITS = 2 * MAX_AXIS_BITS,
    MAX_LLR_ROWS = 1 << (MAX_AXIS_BITS - 1), /* its rows, for which every table has room */
    VECTOR_MAX_AXIS_BITS = 5                 /* modulations with more have only portable loops (cpu/variant.c) */
};

/* In row r, N0 times the LLR of the axis's bit k is slopes[k][r] * |v| + intercepts[k][r]. The first bit's also
 * takes the sign of v; the others are even in v. The rows after the last one repeat it. */
typedef struct softqam_llr_table {
    float slopes[MAX_AXIS_BITS][MAX_LLR_ROWS];
    float intercepts[MAX_AXIS_BITS][MAX_LLR_ROWS];
    float row_scale;  /* rows per unit of |v|: sqrt(E)/2 */
    float last_row;   /* 2^(m-1) - 1 */
    float second_row; /* the smallest |v| of row 1 */
} softqam_llr_table;

/* Factors of a pair of modulations whose layers are demapped jointly (joint_arithmetic.h). They bring components, gains
 * and cross gains to units of a = 1/sqrt(E), in which levels are odd integers; those of gains also halve. */
typedef struct softqam_joint_table {
    float wanted_scale;
    float wanted_gain_scale;
    float partner_scale;
    float partner_gain_scale;
    float cross_scale;
    float first_rounded; /* ROUNDING_CONSTANT and the number k of the partner's first level 2 k + 1, and of its last */
    float last_rounded;
} softqam_joint_table;

/* Builds a table for SOFTQAM_SIGN_POSITIVE_IS_0 from the formulas of 3GPP TS 38.211 clauses 5.1.3 to 5.1.7, in double
 * precision, rounded once; axis_bits 1 (QPSK) to 5 (1024QAM). BPSK's slope, of both components' sum, is QPSK's: 2
 * sqrt(2). */
void softqam_llr_table_build(softqam_llr_table *table, int axis_bits);

/* Returns the process's table of a modulation with axis_bits bits an axis; 0, which stands for BPSK and pi/2-BPSK, has
 * that of 1. All are built at the first call, which must have the usual floating-point environment
 * (float_environment.h). */
const softqam_llr_table *softqam_llr_table_of(int axis_bits);

/* Returns the process's table of a pair of modulations, of 1 to MAX_AXIS_BITS bits an axis. It is built with the
 * tables of LLRs, which every demodulator has, so a call need not make sure of that. */
const softqam_joint_table *softqam_joint_table_of(int wanted_axis_bits, int partner_axis_bits);

#endif
