/* SPDX-License-Identifier: MIT */
/* How the tables of LLRs are laid out for kernels. */
#include "kernel_tables.h"

#include <pthread.h>

static softqam_kernel_tables tables;

static void take_lines(softqam_llr_lines *lines, const softqam_llr_table *table)
{
    for (int row = 0; row < 2; row++) {
        lines->slopes[row] = table->slopes[0][row];
        lines->intercepts[row] = table->intercepts[0][row];
    }
    lines->second_slope = table->slopes[1][0];
    lines->second_intercept = table->intercepts[1][0];
    lines->rows_per_unit = table->rows_per_unit;
    lines->last_row = table->last_row;
}

static softqam_row_scalars row_scalars_of(const softqam_llr_table *table)
{
    const float slope = table->slopes[2][0];
    return (softqam_row_scalars){
        .rows_per_unit = table->rows_per_unit,
        .last_row = table->last_row,
        .last_slope = table->intercepts[2][0] > 0.0f ? slope : -slope,
    };
}

static void take_rows_of_three_bits(softqam_llr_rows *rows, const softqam_llr_table *table)
{
    for (int row = 0; row < 8; row++) {
        for (int k = 0; k < 2; k++) {
            rows->at[0][row][k] = table->slopes[k][row];
            rows->at[0][row][2 + k] = table->intercepts[k][row];
        }
        rows->at[1][row][0] = table->intercepts[2][row];
    }
    rows->of_rows = row_scalars_of(table);
}

static void take_rows_of_four_bits(softqam_llr_rows *rows, const softqam_llr_table *table)
{
    for (int row = 0; row < 8; row++)
        for (int k = 0; k < 4; k++) {
            rows->at[0][row][k] = table->slopes[k][row];
            rows->at[1][row][k] = table->intercepts[k][row];
        }
    rows->of_rows = row_scalars_of(table);
}

static void take_long_rows(softqam_llr_long_rows *rows, const softqam_llr_table *table)
{
    for (int row = 0; row < MAX_LLR_ROWS; row++) {
        for (int k = 0; k < 4; k++) {
            rows->at[0][row][k] = table->slopes[k][row];
            rows->at[1][row][k] = table->intercepts[k][row];
        }
        rows->fifth[row][0] = table->slopes[4][row];
        rows->fifth[row][1] = table->intercepts[4][row];
    }
    rows->of_rows = row_scalars_of(table);
}

static void take_all(void)
{
    take_lines(&tables.lines[0], softqam_llr_table_of(1));
    take_lines(&tables.lines[1], softqam_llr_table_of(2));
    take_rows_of_three_bits(&tables.rows[0], softqam_llr_table_of(3));
    take_rows_of_four_bits(&tables.rows[1], softqam_llr_table_of(4));
    take_long_rows(&tables.long_rows, softqam_llr_table_of(5));
}

const softqam_kernel_tables *softqam_kernel_tables_of_process(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, take_all);
    return &tables;
}
