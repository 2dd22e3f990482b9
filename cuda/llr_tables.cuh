/* SPDX-License-Identifier: MIT */
/* The tables of LLRs, made by the compiler from the formulas of 3GPP TS 38.211 clauses 5.1.3 to 5.1.7: what
 * softqam_llr_table_build() has at run time, to the last bit but for the sign of one zero, as a test shows. Up to two
 * bits an axis their values are operands of instructions; from three bits on rows lie in global memory, from which
 * blocks copy them. */
#ifndef SOFTQAM_LLR_TABLES_CUH
#define SOFTQAM_LLR_TABLES_CUH

#include "params.h"
#include "tables.h"

/* In row r of |v|, N0 times the LLR of bit k is slope * |v| + intercept. */
struct llr_line {
    float slope;
    float intercept;
};

/* By Newton's method, from above. */
HOST_AND_DEVICE static constexpr double square_root(double a)
{
    double root = a;
    for (double next = (a + 1.0) / 2.0; next < root; next = (root + a / root) / 2.0)
        root = next;
    return root;
}

/* E, in units of 1/sqrt(E): 2 for QPSK to 682 for 1024QAM. */
HOST_AND_DEVICE static constexpr double constellation_energy(int axis_bits)
{
    return 2.0 * ((1 << 2 * axis_bits) - 1) / 3.0;
}

HOST_AND_DEVICE static constexpr float llr_row_scale(int axis_bits)
{
    return static_cast<float>(square_root(constellation_energy(axis_bits)) / 2.0);
}

HOST_AND_DEVICE static constexpr int llr_last_row(int axis_bits) { return (1 << (axis_bits - 1)) - 1; }

/* Of bits b0 b1 .., of which bit k is bit m-1-k of `bits`: with x(b) = 1 - 2b, x(b0) (2^(m-1) - x(b1 ..)). */
HOST_AND_DEVICE static constexpr int axis_amplitude(unsigned bits, int axis_bits)
{
    int inner = 0;
    for (int j = 0; j < axis_bits; j++)
        inner = ((bits >> j & 1) != 0 ? -1 : 1) * ((1 << j) - inner);
    return inner;
}

/* The amplitude nearest to `from` whose bit k has a value. */
HOST_AND_DEVICE static constexpr int nearest_amplitude(int axis_bits, int from, int k, unsigned value)
{
    int nearest = 1 << 10;
    for (unsigned bits = 0; bits < 1u << axis_bits; bits++) {
        const int at = axis_amplitude(bits, axis_bits);
        if ((bits >> (axis_bits - 1 - k) & 1) == value &&
            (at - from) * (at - from) < (nearest - from) * (nearest - from))
            nearest = at;
    }
    return nearest;
}

/* Within a row the nearest amplitudes stay the same, so those of its middle, which is one, serve. */
HOST_AND_DEVICE static constexpr llr_line llr_line_of(int axis_bits, int k, int row)
{
    const double e = constellation_energy(axis_bits);
    const int zero = nearest_amplitude(axis_bits, 2 * row + 1, k, 0);
    const int one = nearest_amplitude(axis_bits, 2 * row + 1, k, 1);
    return {static_cast<float>(2.0 * (zero - one) * (1.0 / square_root(e))),
            static_cast<float>((one * one - zero * zero) / e)};
}

/* Rows as shared memory has them, of M bits an axis: of four the slopes, then the intercepts; of three the slopes and
 * intercepts of two bits, then slope and intercept of the third; of five those of four, then slope and intercept of the
 * fifth by twos. */
template <int M> struct llr_rows {
    enum { ROWS = 1 << (M - 1), FIFTH = 2 * 4 * ROWS, VALUES = FIFTH + (M == 5 ? 2 * ROWS : 0) };
    alignas(16) float values[VALUES]; /* kernels read four at a time */
    static_assert(M >= 3 && M <= 5, "no other rows have a layout");

    constexpr llr_rows() : values{}
    {
        for (int row = 0; row < ROWS; row++)
            for (int k = 0; k < M; k++) {
                const llr_line line = llr_line_of(M, k, row);
                const int slope = k == 4 ? FIFTH + 2 * row : M == 3 && k == 2 ? 4 * (ROWS + row) : 4 * row + k;
                const int intercept = k == 4 ? slope + 1 : M > 3 ? slope + 4 * ROWS : k == 2 ? slope + 1 : slope + 2;
                values[slope] = line.slope;
                values[intercept] = line.intercept;
            }
    }
};

#ifdef __CUDACC__
template <int M> static __device__ const llr_rows<M> llr_rows_of = llr_rows<M>();
#endif

#endif
