/* SPDX-License-Identifier: MIT */
#include "noise_estimate.h"

#include <float.h>
#include <math.h>

#include "sample_format.h"

/* The levels of an axis are the odd multiples, -15 to 15, of 1/sqrt(170): 3GPP TS 38.211 clause 5.1.6. */
enum {
    N_LEVELS = 16,
    /* Bounds the buffer of widened samples, and the number of small terms that one sum takes. */
    PART_SYMBOLS = 4096
};

/* The squared distance to the nearest level; NaN or infinite for what is not finite. Each step folds the axis in the
 * middle of what is left of the levels, until one is; what lies outside stays outside. No branches, so that a compiler
 * takes several at once. */
static inline double squared_error(float component)
{
    static const double half_spacing = 0.07669649888473705; /* 1/sqrt(170) */
    const double among_8 = fabs(fabs((double)component) - 8 * half_spacing);
    const double among_2 = fabs(fabs(among_8 - 4 * half_spacing) - 2 * half_spacing);
    const double error = among_2 - half_spacing;
    return error * error;
}

static inline double squared(float component)
{
    return (double)component * (double)component;
}

static void add_part(struct noise_estimate *estimate, const float *components, size_t n_symbols)
{
    double errors[PART_SYMBOLS], energies[PART_SYMBOLS], energy = 0, error_energy = 0;
    size_t n_finite = 0;
    for (size_t i = 0; i < n_symbols; i++) {
        errors[i] = squared_error(components[2 * i]) + squared_error(components[2 * i + 1]);
        energies[i] = squared(components[2 * i]) + squared(components[2 * i + 1]);
    }
    for (size_t i = 0; i < n_symbols; i++) {
        if (errors[i] <= DBL_MAX) { /* not so for NaN */
            energy += energies[i];
            error_energy += errors[i];
            n_finite++;
        }
    }
    estimate->n_symbols += n_finite;
    estimate->energy += energy;
    estimate->error_energy += error_energy;
}

void noise_estimate_add(struct noise_estimate *estimate, const softqam_config *config, const void *samples,
                        size_t n_symbols)
{
    float components[2 * PART_SYMBOLS];
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(config->input_format);
    for (size_t first = 0; first < n_symbols; first += PART_SYMBOLS) {
        const size_t n = n_symbols - first < PART_SYMBOLS ? n_symbols - first : PART_SYMBOLS;
        sample_format_widen(config->input_format, (const char *)samples + first * symbol_nbytes, n, config->input_scale,
                            components);
        add_part(estimate, components, n);
    }
}

/* The integral of (x - d)^2 p(x) from `from` to infinity, p the density of a normal variate of deviation s. */
static double tail_moment(double from, double d, double s)
{
    const double z = from / s;
    const double tail = 0.5 * erfc(z / sqrt(2)), density = exp(-0.5 * z * z) / sqrt(2 * acos(-1));
    return (s * s + d * d) * tail + s * (from - 2 * d) * density;
}

/* On one axis, in units of 1/sqrt(170): a cell reaches from 1 below its level to 1 above, at the ends to infinity. With
 * the sent level at 0 the decided one is at 2m, m from -15 to 15.
 * - m = 0: all but the two tails beyond the cell; 14 levels have two of them, 2 have one: 30 in all.
 * - m > 0: 16 - m pairs of levels, each with the cell from 2m - 1 on, which ends at 2m + 1 in all but one of them.
 * - m < 0: the same again. */
static double expected_axis_error(double s)
{
    double sum = N_LEVELS * s * s - (2 * N_LEVELS - 2) * tail_moment(1, 0, s);
    for (int m = 1; m < N_LEVELS; m++)
        sum += 2 * ((N_LEVELS - m) * tail_moment(2 * m - 1, 2 * m, s) -
                    (N_LEVELS - 1 - m) * tail_moment(2 * m + 1, 2 * m, s));
    return sum / N_LEVELS;
}

double noise_expected_error(double noise_var)
{
    const double axis_variance = noise_var / 2 * 170;
    return 2 * expected_axis_error(sqrt(axis_variance)) / 170;
}

static double mean_error(const struct noise_estimate *estimate)
{
    return estimate->energy > 0 ? estimate->error_energy / (double)estimate->n_symbols : (double)NAN;
}

double noise_estimate_energy(const struct noise_estimate *estimate)
{
    return estimate->n_symbols ? estimate->energy / (double)estimate->n_symbols : (double)NAN;
}

double noise_estimate_variance(const struct noise_estimate *estimate)
{
    const double error = mean_error(estimate);
    /* The expected error grows with the noise variance, though slowly around 20 dB, where an error of 1 % in it is one
     * of 5 % in the variance. */
    double low = error, high = 9 * error;
    for (int i = 0; i < 60; i++) {
        const double middle = low + (high - low) / 2;
        if (noise_expected_error(middle) < error)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double noise_estimate_evm(const struct noise_estimate *estimate)
{
    return sqrt(mean_error(estimate));
}
