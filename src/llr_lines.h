/* SPDX-License-Identifier: MIT */
/* The lines that LLRs lie on, from the formulas of 3GPP TS 38.211 clauses 5.1.3 to 5.1.7: at run time in C, by the
 * compiler in CUDA. An axis of m bits has 2^m levels, the most negative first, with the amplitudes 2 level + 1 - 2^m in
 * units of a = 1/sqrt(E). 38.211's nested products label them with the complement of the Gray code. */
#ifndef SOFTQAM_LLR_LINES_H
#define SOFTQAM_LLR_LINES_H

#include "tables.h"

#ifdef __CUDACC__
#define LLR_LINE_FUNCTION static __host__ __device__ constexpr
#else
#define LLR_LINE_FUNCTION static inline
#endif

/* In row r of |v|, between 2 r a and 2 (r + 1) a, N0 times the LLR of bit k is slope * |v| + intercept. */
typedef struct llr_line {
    float slope;
    float intercept;
} llr_line;

LLR_LINE_FUNCTION int axis_amplitude(int level, int m) { return 2 * level + 1 - (1 << m); }

LLR_LINE_FUNCTION unsigned axis_bit(int level, int m, int k)
{
    return ~(unsigned)(level ^ level >> 1) >> (m - 1 - k) & 1;
}

/* Returns the amplitude nearest to `middle` whose bit k has a value. */
LLR_LINE_FUNCTION int nearest_amplitude(int m, int middle, int k, unsigned value)
{
    int nearest = 1 << 10; /* far beyond any level */
    for (int level = 0; level < 1 << m; level++) {
        const int amplitude = axis_amplitude(level, m);
        if (axis_bit(level, m, k) == value &&
            (amplitude - middle) * (amplitude - middle) < (nearest - middle) * (nearest - middle))
            nearest = amplitude;
    }
    return nearest;
}

/* Computes a square root by Newton's method, from above. */
LLR_LINE_FUNCTION double square_root(double a)
{
    double root = a;
    for (double next = (a + 1.0) / 2.0; next < root; next = (root + a / root) / 2.0)
        root = next;
    return root;
}

/* Returns E: twice the mean squared amplitude of an axis, 2 for QPSK to 682 for 1024QAM. */
LLR_LINE_FUNCTION double constellation_energy(int m) { return 2.0 * ((double)(1 << 2 * m) - 1.0) / 3.0; }

/* Returns the factor that makes |v| the row, rounded down and limited to the last one. */
LLR_LINE_FUNCTION float llr_row_scale(int m) { return (float)(square_root(constellation_energy(m)) / 2.0); }

LLR_LINE_FUNCTION int llr_last_row(int m) { return (1 << (m - 1)) - 1; }

/* Returns (v - one)^2 - (v - zero)^2, `one` and `zero` being the nearest amplitudes of either bit. They are the same
 * everywhere in a row, so the function finds them for its middle, which is an amplitude. */
LLR_LINE_FUNCTION llr_line llr_line_of(int m, int k, int row)
{
    const double e = constellation_energy(m);
    const int zero = nearest_amplitude(m, 2 * row + 1, k, 0);
    const int one = nearest_amplitude(m, 2 * row + 1, k, 1);
    const llr_line line = {(float)(2.0 * (zero - one) * (1.0 / square_root(e))),
                           (float)((double)(one * one - zero * zero) / e)};
    return line;
}

/* Makes the table of a pair of modulations, of the wanted layer's and its partner's bits an axis. */
LLR_LINE_FUNCTION softqam_joint_table joint_table_of(int m, int partner)
{
    const double wanted_root = square_root(constellation_energy(m));
    const double partner_root = square_root(constellation_energy(partner));
    const double middle = 12582912.0; /* ROUNDING_CONSTANT */
    const softqam_joint_table table = {(float)(1.0 / wanted_root),
                                       (float)(0.5 / constellation_energy(m)),
                                       (float)(1.0 / partner_root),
                                       (float)(0.5 / constellation_energy(partner)),
                                       (float)(1.0 / (wanted_root * partner_root)),
                                       (float)(middle - (1 << (partner - 1))),
                                       (float)(middle + (1 << (partner - 1)) - 1)};
    return table;
}

#endif
