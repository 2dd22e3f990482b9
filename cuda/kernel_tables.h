/* SPDX-License-Identifier: MIT */
/* The tables of LLRs as kernels take them in their arguments: what softqam_llr_table has for a modulation, and no more.
 */
#ifndef SOFTQAM_KERNEL_TABLES_H
#define SOFTQAM_KERNEL_TABLES_H

#ifdef __cplusplus
extern "C" {
#endif

#include "tables.h"

/* Up to two bits an axis: up to two rows, and the second bit has one line. */
typedef struct softqam_llr_lines {
    float slopes[2];
    float intercepts[2];
    float second_slope;
    float second_intercept;
    float rows_per_unit;
    float last_row;
} softqam_llr_lines;

/* What of a table lies in no row. */
typedef struct softqam_row_scalars {
    float rows_per_unit;
    float last_row;
    float last_slope; /* three bits: of the last bit where its intercept is positive; else it has the other sign */
} softqam_row_scalars;

/* Four bits an axis: slopes, then intercepts. Three: the slopes and the intercepts of the first two, then the last
 * one's intercept. */
typedef struct softqam_llr_rows {
    float at[2][8][4];
    softqam_row_scalars of_rows;
} softqam_llr_rows;

/* Five bits an axis; the fifth bit's slope and intercept by twos. */
typedef struct softqam_llr_long_rows {
    float at[2][MAX_LLR_ROWS][4];
    float fifth[MAX_LLR_ROWS][2];
    softqam_row_scalars of_rows;
} softqam_llr_long_rows;

/* Of all modulations. */
typedef struct softqam_kernel_tables {
    softqam_llr_lines lines[2];
    softqam_llr_rows rows[2];
    softqam_llr_long_rows long_rows;
} softqam_kernel_tables;

/* The process's. */
const softqam_kernel_tables *softqam_kernel_tables_of_process(void);

#ifdef __cplusplus
}
#endif

#endif
