/* SPDX-License-Identifier: MIT */
#include "axis_table.h"

#include <math.h>

/* The Gray label of level j, j = 0 the most negative. 38.211's nested (1-2b) products make bit k of an axis (k = 0 the
 * outermost) the complement of bit 3-k of this label. */
static unsigned label(unsigned level)
{
    return level ^ (level >> 1);
}

/* The bit that 38.211 puts at place k of the axis (b0 b2 b4 b6 on I, b1 b3 b5 b7 on Q) for a level. */
static unsigned bit_at(unsigned level, unsigned place)
{
    return ~(label(level) >> (AXIS_BITS - 1 - place)) & 1;
}

/* The neighbour that differs in the last bit, which is what the lowest bit of the level's number tells. */
static unsigned last_neighbour(unsigned level)
{
    return level ^ 1;
}

/* The neighbour on the far side: -1 and AXIS_LEVELS beyond the ends. */
static int other_neighbour(unsigned level)
{
    return level % 2 ? (int)level + 1 : (int)level - 1;
}

static uint32_t marks_of(unsigned level, softqam_sign sign)
{
    const unsigned flip = sign == SOFTQAM_SIGN_POSITIVE_IS_1;
    const int other = other_neighbour(level);
    uint32_t marks = 0;
    for (unsigned place = 0; place < AXIS_BITS; place++) {
        const unsigned bit = bit_at(level, place);
        const uint32_t negative = bit ^ flip;
        uint32_t source = negative ? BYTE_LOWEST : BYTE_HIGHEST;
        if (bit_at(last_neighbour(level), place) != bit) {
            source = BYTE_LAST;
            marks |= negative << 31;
        } else if (other >= 0 && other < AXIS_LEVELS && bit_at((unsigned)other, place) != bit) {
            source = BYTE_OTHER;
            marks |= negative << 30;
        }
        marks |= source << (4 * place);
    }
    return marks;
}

void softqam_axis_table_build(softqam_axis_table *table, softqam_sign sign)
{
    /* One rounding from double, then one per level: these are liquid-dsp's levels to the last bit. */
    const float alpha = (float)(1.0 / sqrt(170.0));
    float levels[AXIS_LEVELS + 2];
    for (int j = 0; j < AXIS_LEVELS; j++)
        levels[j + 1] = (float)(2 * j - (AXIS_LEVELS - 1)) * alpha;
    levels[0] = -FAR_LEVEL;
    levels[AXIS_LEVELS + 1] = FAR_LEVEL;

    for (unsigned j = 0; j < AXIS_LEVELS; j++)
        table->rows[j] = (softqam_axis_row){levels[j + 1], levels[last_neighbour(j) + 1],
                                            levels[other_neighbour(j) + 1], marks_of(j, sign)};
    for (int k = 0; k < AXIS_BITS; k++)
        table->steps[k] = (float)(1 << (AXIS_BITS - 1 - k)) * alpha;

    /* liquid-dsp's modemcf_demodulate_soft: gamma = 1.2 * 256 points, times 16. */
    table->gain = 1.2f * 256.0f * 16.0f;
    table->rows_per_unit = (float)(sqrt(170.0) / 2.0);
}

/* Level j of the ideal constellation. */
static double level_of(int j)
{
    return (2 * j - (AXIS_LEVELS - 1)) / sqrt(170.0);
}

/* The level nearest to v whose bit at a place has a value. */
static double nearest_level(double v, unsigned place, unsigned value)
{
    double nearest = INFINITY;
    for (int j = 0; j < AXIS_LEVELS; j++)
        if (bit_at((unsigned)j, place) == value && fabs(v - level_of(j)) < fabs(v - nearest))
            nearest = level_of(j);
    return nearest;
}

void softqam_llr_table_build(softqam_llr_table *table)
{
    for (int row = 0; row < LLR_ROWS; row++) {
        /* Within an interval the nearest levels stay the same, so those of its middle, which is a level, serve. */
        const double middle = level_of(AXIS_LEVELS / 2 + row);
        for (unsigned place = 0; place < AXIS_BITS; place++) {
            /* (v - one)^2 - (v - zero)^2 */
            const double zero = nearest_level(middle, place, 0);
            const double one = nearest_level(middle, place, 1);
            table->rows[row].slopes[place] = (float)(2.0 * (zero - one));
            table->rows[row].intercepts[place] = (float)(one * one - zero * zero);
        }
    }
    table->rows_per_unit = (float)(sqrt(170.0) / 2.0);
}
