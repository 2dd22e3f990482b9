/* SPDX-License-Identifier: MIT */
/* What the arithmetic needs to know about one axis of the constellation. Plain data, read by C and by CUDA alike. */
#ifndef SOFTQAM_AXIS_TABLE_H
#define SOFTQAM_AXIS_TABLE_H

#include <stdint.h>

#include <softqam/softqam.h>

/* 256QAM has 16 levels an axis, found in 4 halvings; four bits ride on each axis. */
enum { AXIS_LEVELS = 16, AXIS_BITS = 4 };

/* Where a byte of the axis's four comes from: a digit of `marks`, which indexes the 8-byte source
 * { soft byte of the last bit, soft byte of the other bit, 0, 0, 0x00, 0xff, 0, 0 }. */
enum { BYTE_LAST = 0, BYTE_OTHER = 1, BYTE_LOWEST = 4, BYTE_HIGHEST = 5 };

/* Components are limited to this, which is part of the contract: further out liquid-dsp itself goes wrong
 * (reference/README.md), and what is saturated or not does not change between here and there. */
#define LIMIT_COMPONENT 3.0f

/* Stands for a neighbour that does not exist: so far from any component that it is never the nearest,
 * and its squared distance times the gain still fits an int. */
#define FAR_LEVEL 64.0f

/* One of the 16 levels. Each neighbour of a level differs from it in one label bit: one neighbour, above an even level
 * and below an odd one, in the axis's last bit, the other in one of the first three. So of the four bits two are soft,
 * and two (three at the ends, which have no other neighbour) are sure. */
typedef struct softqam_axis_row {
    float level;
    float level_last;  /* of the neighbour that differs in the last bit */
    float level_other; /* of the other; +-FAR_LEVEL beyond the ends */
    /* Bits 0-15: four hexadecimal digits BYTE_*, the lowest for the axis's first bit (b0 or b1).
     * Bit 31: the last bit counts negative, being 1 where positive is 0. Bit 30: the same of the bit in which the other
     * neighbour differs. */
    uint32_t marks;
} softqam_axis_row;

typedef struct softqam_axis_table {
    softqam_axis_row rows[AXIS_LEVELS];
    /* Half the distance between the sets of levels that each label bit separates: 8, 4, 2, 1 times 1/sqrt(170). */
    float steps[AXIS_BITS];
    /* Soft byte units per unit of squared distance. */
    float gain;
    /* Levels per unit: level j is at (j - 7.5) / rows_per_unit. */
    float rows_per_unit;
} softqam_axis_table;

/* Builds the table of 256QAM from the formula of 3GPP TS 38.211 clause 5.1.6. */
void softqam_axis_table_build(softqam_axis_table *table, softqam_sign sign);

/* The LLRs of an axis times N0 are piecewise linear in the component v, with breaks at the even multiples of
 * 1/sqrt(170): eight intervals of |v|, the last one open. */
enum { LLR_ROWS = 8 };

/* In one interval, the LLR of the axis's bit k, times N0, is slopes[k] * |v| + intercepts[k]; that of the first bit
 * takes the sign of v besides, those of the others are even in v. */
typedef struct softqam_llr_row {
    float slopes[AXIS_BITS];
    float intercepts[AXIS_BITS];
} softqam_llr_row;

typedef struct softqam_llr_table {
    softqam_llr_row rows[LLR_ROWS];
    float rows_per_unit; /* intervals per unit of |v| */
} softqam_llr_table;

/* Derives the table from the same formula in double precision. The sign is that of SOFTQAM_SIGN_POSITIVE_IS_0. */
void softqam_llr_table_build(softqam_llr_table *table);

#endif
