/* SPDX-License-Identifier: MIT */
/* The tables once more, by column, as loops over several symbols at once load them into registers. */
#ifndef SOFTQAM_COLUMNS_H
#define SOFTQAM_COLUMNS_H

#include <stdint.h>

#include "axis_table.h"

/* Where a byte of a symbol comes from within the 16 packed soft bytes of four symbols: the last bits of I, the other
 * bits of I, the same of Q. A row's marks hold these for I and the first symbol; a sure byte has a mark that no place
 * has. */
enum { FROM_LAST = 0, FROM_OTHER = 4, FROM_Q = 8, SURE_LOWEST = 0x80, SURE_HIGHEST = 0xff };

typedef struct softqam_axis_columns {
    float level[AXIS_LEVELS];
    float level_last[AXIS_LEVELS];
    float level_other[AXIS_LEVELS];
    float gain_last[AXIS_LEVELS]; /* with their signs */
    float gain_other[AXIS_LEVELS];
    uint32_t marks[AXIS_LEVELS]; /* four bytes, the axis's first bit lowest */
} softqam_axis_columns;

/* The linear functions of arithmetic_shortcuts.h in fixed point, LINEAR_FRACTION_BITS after the point. */
enum { LINEAR_FRACTION_BITS = 16 };

/* They decide for components up to this one where no value is within LINEAR_DOUBT of an integer:
 * demodulate_soft_bits(), in which both axes and some twenty roundings take part, differs from them by less. README.md
 * has the figures. */
#define LINEAR_COMPONENT 1.5f
enum { LINEAR_DOUBT = 16 };

/* With larger components, limited to 3 as arithmetic.h limits them, they decide where no value is so near to an integer
 * or nearer by 2^-LINEAR_DOUBT_SHIFT units for each byte by which the distance of the symbol's other component to its
 * nearest boundary of the last bit exceeds LINEAR_INSIDE, which is little less than that of LINEAR_COMPONENT. */
enum { LINEAR_INSIDE = 632, LINEAR_DOUBT_SHIFT = 2 };

/* A component beside zero, beyond doubt: three times LINEAR_DOUBT units. */
#define LINEAR_BESIDE_ZERO 0x1p-21f

typedef struct softqam_linear {
    float units;                  /* to a component of 1 */
    int32_t turns[AXIS_BITS - 1]; /* 8, 4, 2 alpha */
    int32_t largest;              /* |x3| of a component of LINEAR_COMPONENT */
    int32_t farthest;             /* |x3| of one of LIMIT_COMPONENT */
    int16_t middle;               /* half of 2 alpha, modulo 1 */
    int16_t doubt;
} softqam_linear;

/* Rows from LLR_ROWS on repeat the last one. */
enum { LLR_COLUMN = 16 };

typedef struct softqam_llr_columns {
    float slopes[AXIS_BITS][LLR_COLUMN];
    float intercepts[AXIS_BITS][LLR_COLUMN];
} softqam_llr_columns;

typedef struct softqam_columns {
    softqam_axis_columns axis;
    softqam_linear linear;
    softqam_llr_columns llrs;
} softqam_columns;

void softqam_columns_build(softqam_columns *columns, const softqam_axis_table *axis, const softqam_llr_table *llrs);

#endif
