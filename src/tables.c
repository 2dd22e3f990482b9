/* SPDX-License-Identifier: MIT */
#include "tables.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>

#include "llr_lines.h"

/* Soft bits. */

static int low_neighbour(int level) { return level ^ 1; }

/* Returns the level's high neighbour; -1 or U8_LEVELS if it has none. */
static int high_neighbour(int level) { return level % 2 ? level + 1 : level - 1; }

static void build_u8_row(softqam_u8_table *table, int level, float gain, unsigned positive_bit)
{
    const int high = high_neighbour(level);
    uint32_t select = 0;
    table->gain_high[level] = gain;
    for (int k = 0; k < U8_AXIS_BITS; k++) {
        const unsigned bit = axis_bit(level, U8_AXIS_BITS, k);
        uint32_t choice = bit == positive_bit ? SATURATED_255 : SATURATED_0;
        if (axis_bit(low_neighbour(level), U8_AXIS_BITS, k) != bit) {
            choice = FROM_LOW;
            table->gain_low[level] = bit == positive_bit ? gain : -gain;
        } else if (high >= 0 && high < U8_LEVELS && axis_bit(high, U8_AXIS_BITS, k) != bit) {
            choice = FROM_HIGH;
            table->gain_high[level] = bit == positive_bit ? gain : -gain;
        }
        select |= choice << (8 * k);
    }
    table->byte_select[level] = select;
}

static void build_u8_linear(softqam_u8_linear *linear, const softqam_u8_table *table, float gain)
{
    /* 4 alpha gain. The fold points follow from the rounded slope, so that the lines meet zero in the right place. */
    const double alpha = table->halvings[U8_AXIS_BITS - 1];
    linear->units_per_component = (float)(4.0 * alpha * gain * (1 << LINEAR_FRACTION_BITS));
    linear->largest = (int32_t)((double)LINEAR_COMPONENT * (double)linear->units_per_component);
    for (int k = 0; k < U8_AXIS_BITS - 1; k++) {
        linear->fold_points[k] = (int32_t)lrint(table->halvings[k] * (double)linear->units_per_component);
        linear->largest -= linear->fold_points[k];
    }
    linear->middle = (int16_t)((linear->fold_points[U8_AXIS_BITS - 2] & ((1 << LINEAR_FRACTION_BITS) - 1)) / 2);
    linear->error_bound = LINEAR_ERROR_BOUND + 2; /* the middle is rounded */
}

void softqam_u8_table_build(softqam_u8_table *table, softqam_u8_linear *linear, softqam_sign sign)
{
    /* One rounding from double, then one per level: these are liquid-dsp's levels to the last bit. */
    const float alpha = (float)(1.0 / sqrt(170.0));
    /* liquid-dsp's modemcf_demodulate_soft: gamma = 1.2 * 256 points, times 16. */
    const float gain = 1.2f * 256.0f * 16.0f;
    float levels[U8_LEVELS + 2];
    for (int j = 0; j < U8_LEVELS; j++)
        levels[j + 1] = (float)axis_amplitude(j, U8_AXIS_BITS) * alpha;
    levels[0] = -NO_NEIGHBOUR;
    levels[U8_LEVELS + 1] = NO_NEIGHBOUR;
    for (int j = 0; j < U8_LEVELS; j++) {
        table->level[j] = levels[j + 1];
        table->level_low[j] = levels[low_neighbour(j) + 1];
        table->level_high[j] = levels[high_neighbour(j) + 1];
        build_u8_row(table, j, gain, sign == SOFTQAM_SIGN_POSITIVE_IS_1);
    }
    for (int k = 0; k < U8_AXIS_BITS; k++)
        table->halvings[k] = (float)(1 << (U8_AXIS_BITS - 1 - k)) * alpha;
    table->level_scale = (float)(sqrt(170.0) / 2.0);
    build_u8_linear(linear, table, gain);
}

/* LLRs, in units of a = 1/sqrt(E). */

/* Returns the smallest float whose product with row_scale, as it is rounded, is 1 or more. */
static float second_row_of(float row_scale)
{
    float begin = 1.0f / row_scale;
    while (nextafterf(begin, 0.0f) * row_scale >= 1.0f)
        begin = nextafterf(begin, 0.0f);
    while (begin * row_scale < 1.0f)
        begin = nextafterf(begin, INFINITY);
    return begin;
}

void softqam_llr_table_build(softqam_llr_table *table, int axis_bits)
{
    for (int n = 0; n < MAX_LLR_ROWS; n++)
        for (int k = 0; k < MAX_AXIS_BITS; k++) {
            const int last_row = llr_last_row(axis_bits);
            const llr_line none = {0.0f, 0.0f};
            const llr_line line = k < axis_bits ? llr_line_of(axis_bits, k, n < last_row ? n : last_row) : none;
            table->slopes[k][n] = line.slope;
            table->intercepts[k][n] = line.intercept;
        }
    table->row_scale = llr_row_scale(axis_bits);
    table->last_row = (float)llr_last_row(axis_bits);
    table->second_row = second_row_of(table->row_scale);
}

static softqam_llr_table llr_tables[MAX_AXIS_BITS];
static softqam_joint_table joint_tables[MAX_AXIS_BITS][MAX_AXIS_BITS];

static void build_llr_tables(void)
{
    for (int m = 1; m <= MAX_AXIS_BITS; m++) {
        softqam_llr_table_build(&llr_tables[m - 1], m);
        for (int partner = 1; partner <= MAX_AXIS_BITS; partner++)
            joint_tables[m - 1][partner - 1] = joint_table_of(m, partner);
    }
}

const softqam_llr_table *softqam_llr_table_of(int axis_bits)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, build_llr_tables);
    return &llr_tables[axis_bits > 0 ? axis_bits - 1 : 0];
}

const softqam_joint_table *softqam_joint_table_of(int wanted_axis_bits, int partner_axis_bits)
{
    return &joint_tables[wanted_axis_bits - 1][partner_axis_bits - 1];
}
