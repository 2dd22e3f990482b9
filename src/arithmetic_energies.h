/* SPDX-License-Identifier: MIT */
/* The energies of softqam_statistics, in the operations of a SIMD header (simd_operations.h), which must be included
 * before. */
#ifndef SOFTQAM_ARITHMETIC_ENERGIES_H
#define SOFTQAM_ARITHMETIC_ENERGIES_H

#include "params.h"

#include "arithmetic.h"

/* The first SAMPLE_SYMBOLS of every SAMPLE_PERIOD symbols of the codeword count for the sums. */
enum { SAMPLE_SYMBOLS = 64, SAMPLE_SPACING = 8, SAMPLE_PERIOD = SAMPLE_SPACING * SAMPLE_SYMBOLS };

HOST_AND_DEVICE static inline bool softqam_is_sampled(uint32_t symbol)
{
    return symbol / SAMPLE_SYMBOLS % SAMPLE_SPACING == 0;
}

/* An energy is limited to this, 12 dB above the constellation's mean, and counted in units of 2^-24, so that the sum of
 * 15 fits in 32 bits. */
#define MAX_ENERGY  16.0f
#define ENERGY_UNIT 0x1p24f

/* The levels of an axis: the odd multiples of the least one. */
typedef struct softqam_levels {
    float least;
    float row_scale; /* as in softqam_llr_table */
    float last_row;
    uint8_t axis_bits;
} softqam_levels;

/* A row is as wide as two levels lie apart, so the least level is half a row: 1/sqrt(E), rounded once for every
 * modulation. The division is in double because compilers may be told to approximate it in float. */
HOST_AND_DEVICE static inline softqam_levels softqam_levels_of(int axis_bits, float row_scale, float last_row)
{
    const float least = (float)(0.5 / (double)row_scale);
    const softqam_levels levels = {least, row_scale, last_row, (uint8_t)axis_bits};
    return levels;
}

/* Returns a component's distance from the nearest level, with any sign. */
VEC vec_f32 level_distance(const softqam_levels *levels, vec_f32 component)
{
    const vec_f32 least = vec_splat(levels->least), constant = vec_splat(ROUNDING_CONSTANT);
    const vec_f32 place = vec_fma(vec_abs(component), vec_splat(levels->row_scale), vec_splat(-0.5f));
    const vec_f32 row = vec_sub(vec_add(vec_min(place, vec_splat(levels->last_row)), constant), constant);
    return vec_sub(vec_abs(component), vec_fma(row, vec_add(least, least), least));
}

/* Returns the distance of BPSK's I or Q from the nearer of its two points. The sign of I + Q says which that is. */
VEC vec_f32 bpsk_distance(const softqam_levels *levels, vec_f32 component, vec_f32 sum)
{
    return vec_sub(component, vec_flip(vec_splat(levels->least), vec_bits(sum)));
}

/* Returns an energy in its unit, not yet rounded to a whole number. */
VEC vec_f32 energy_of(vec_f32 i, vec_f32 q)
{
    const vec_f32 energy = vec_add(vec_mul(i, i), vec_mul(q, q));
    return vec_mul(vec_min(energy, vec_splat(MAX_ENERGY)), vec_splat(ENERGY_UNIT));
}

#endif
