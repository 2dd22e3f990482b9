/* SPDX-License-Identifier: MIT */
#include "columns.h"

#include <math.h>

static uint32_t byte_marks(uint32_t marks)
{
    static const uint8_t sources[] = {
        [BYTE_LAST] = FROM_LAST, [BYTE_LOWEST] = SURE_LOWEST, [BYTE_OTHER] = FROM_OTHER, [BYTE_HIGHEST] = SURE_HIGHEST};
    uint32_t bytes = 0;
    for (unsigned place = 0; place < AXIS_BITS; place++)
        bytes |= (uint32_t)sources[marks >> (4 * place) & 0xf] << (8 * place);
    return bytes;
}

static void build_axis(softqam_axis_columns *columns, const softqam_axis_table *table)
{
    for (unsigned j = 0; j < AXIS_LEVELS; j++) {
        const softqam_axis_row *row = &table->rows[j];
        columns->level[j] = row->level;
        columns->level_last[j] = row->level_last;
        columns->level_other[j] = row->level_other;
        columns->gain_last[j] = row->marks >> 31 & 1 ? -table->gain : table->gain;
        columns->gain_other[j] = row->marks >> 30 & 1 ? -table->gain : table->gain;
        columns->marks[j] = byte_marks(row->marks);
    }
}

static void build_linear(softqam_linear *linear, const softqam_axis_table *table)
{
    /* 4 alpha gain; the turns are taken at the rounded slope, so that it meets zero where it should. */
    const double alpha = table->steps[AXIS_BITS - 1];
    linear->units = (float)(4.0 * alpha * table->gain * (1 << LINEAR_FRACTION_BITS));
    linear->largest = (int32_t)((double)LINEAR_COMPONENT * (double)linear->units);
    linear->farthest = (int32_t)((double)LIMIT_COMPONENT * (double)linear->units);
    for (int k = 0; k < AXIS_BITS - 1; k++) {
        linear->turns[k] = (int32_t)lrint(table->steps[k] * (double)linear->units);
        linear->largest -= linear->turns[k];
        linear->farthest -= linear->turns[k];
    }
    linear->middle = (int16_t)((linear->turns[AXIS_BITS - 2] & ((1 << LINEAR_FRACTION_BITS) - 1)) / 2);
    linear->doubt = LINEAR_DOUBT + 2; /* the middle is rounded */
}

void softqam_columns_build(softqam_columns *columns, const softqam_axis_table *axis, const softqam_llr_table *llrs)
{
    build_axis(&columns->axis, axis);
    build_linear(&columns->linear, axis);
    for (int row = 0; row < LLR_COLUMN; row++) {
        const softqam_llr_row *at = &llrs->rows[row < LLR_ROWS ? row : LLR_ROWS - 1];
        for (int k = 0; k < AXIS_BITS; k++) {
            columns->llrs.slopes[k][row] = at->slopes[k];
            columns->llrs.intercepts[k][row] = at->intercepts[k];
        }
    }
}
