/* SPDX-License-Identifier: MIT */
/* Estimates energy, noise and EVM from symbols alone. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/modulation.h"
#include "common/sample_format.h"
#include "demod.h"

enum {
    /* Bounds the stack, and the number of small terms in a sum, which keeps its rounding error small. */
    PART_SYMBOLS = 1024,
    N_FOLDS = MODULATION_MAX_BITS / 2 - 1
};

static inline double squared(double x) { return x * x; }

/* An axis, whose levels are odd multiples of the half spacing. */
struct axis {
    double half_spacing;
    double folds[N_FOLDS]; /* where the axis is folded; 0 changes nothing */
};

/* Returns the squared distance to the nearest level; NaN or infinite for a component that is not finite. Each step
 * folds the axis in the middle of the remaining levels, until one level remains; components beyond the levels stay
 * beyond. It has no branches, so that compilers vectorise it. */
static inline double squared_error(const struct axis *axis, double component)
{
    double among = fabs(component);
    for (int k = 0; k < N_FOLDS; k++)
        among = fabs(among - axis->folds[k]);
    return squared(among - axis->half_spacing);
}

/* Finds each symbol's squared distance to the nearest point. BPSK's two points lie on a diagonal, at a distance of 1
 * from 0; pi/2-BPSK's at odd positions lie on the other one. So its axes are the diagonals, the second with one level,
 * 0. */
static void find_errors(const struct modulation *modulation, uint64_t position, const float *components,
                        size_t n_symbols, double *errors)
{
    const bool is_bpsk = modulation->n_bits == 1;
    const double cosine = is_bpsk ? sqrt(0.5) : 1, sine = is_bpsk ? sqrt(0.5) : 0;
    struct axis first = {is_bpsk ? 1 : 1 / sqrt(modulation->energy), {0}};
    for (unsigned k = 1; k < modulation->axis_bits; k++)
        first.folds[N_FOLDS - k] = (1 << k) * first.half_spacing;
    const struct axis second = is_bpsk ? (struct axis){0, {0}} : first;
    for (size_t i = 0; i < n_symbols; i++) {
        const double in_phase = (double)components[2 * i], quadrature = (double)components[2 * i + 1];
        const double turned = modulation->rotates && (position + i) % 2 ? -sine : sine;
        errors[i] = squared_error(&first, cosine * in_phase + turned * quadrature) +
                    squared_error(&second, cosine * quadrature - turned * in_phase);
    }
}

void noise_estimate_add(struct noise_estimate *estimate, const softqam_demodulator_config *config, uint64_t position,
                        const void *samples, size_t n_symbols)
{
    float components[2 * PART_SYMBOLS];
    double errors[PART_SYMBOLS];
    const struct modulation *modulation = modulation_get(config->modulation);
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(config->input_format);
    for (size_t first = 0; first < n_symbols; first += PART_SYMBOLS) {
        const size_t n = n_symbols - first < PART_SYMBOLS ? n_symbols - first : PART_SYMBOLS;
        double energy = 0, error_energy = 0;
        sample_format_widen(config->input_format, (const char *)samples + first * symbol_nbytes, n, config->input_scale,
                            components);
        find_errors(modulation, position + first, components, n, errors);
        for (size_t i = 0; i < n; i++) {
            const double own = squared((double)components[2 * i]) + squared((double)components[2 * i + 1]);
            if (errors[i] <= DBL_MAX && (estimate->limit == 0 || own <= estimate->limit)) { /* false for NaN */
                energy += own;
                error_energy += errors[i];
                estimate->n_symbols++;
            }
        }
        estimate->energy += energy;
        estimate->error_energy += error_energy;
    }
}

double noise_energy_limit(const softqam_demodulator_config *config, const void *samples, size_t n_symbols)
{
    enum { STEPS = 4, N_OCTAVES = 600, ENOUGH = 2048 }; /* a histogram of the logarithms of about ENOUGH symbols */
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(config->input_format), step = n_symbols / ENOUGH | 1;
    size_t counts[STEPS * N_OCTAVES] = {0}, n = 0, seen = 0;
    int k = 0;
    for (size_t i = 0; i < n_symbols; i += step) {
        float y[2];
        sample_format_widen(config->input_format, (const char *)samples + i * symbol_nbytes, 1, config->input_scale, y);
        const double energy = squared((double)y[0]) + squared((double)y[1]);
        if (!(energy > 0 && energy <= DBL_MAX))
            continue;
        counts[(int)(STEPS * (log2(energy) + N_OCTAVES / 2.0))]++; /* energies of floats: 2^-298 to 2^257 */
        n++;
    }
    while (k < STEPS * N_OCTAVES && 2 * seen < n)
        seen += counts[k++];
    return 64 * exp2((double)k / STEPS - N_OCTAVES / 2.0);
}

/* Returns the integral of (x - d)^2 p(x) from `from` to infinity, p the density of a normal variate of deviation s. */
static double tail_moment(double from, double d, double s)
{
    const double z = from / s;
    const double tail = 0.5 * erfc(z / sqrt(2)), density = exp(-0.5 * z * z) / sqrt(2 * acos(-1));
    return (s * s + d * d) * tail + s * (from - 2 * d) * density;
}

/* Returns the expected squared distance to the nearest level, on an axis of L levels, in units of the half spacing. A
 * level's cell reaches from 1 below it to 1 above it; the outermost cells are infinite. With the sent level at 0, the
 * decided one is at 2m, m from 1 - L to L - 1.
 * - m = 0: the variance less the tails beyond the cell. L - 2 levels have two tails, 2 have one: 2L - 2 in all.
 * - m > 0: L - m pairs of sent and decided levels. The cell begins at 2m - 1, and ends at 2m + 1 in all pairs but one.
 * - m < 0: as for m > 0. */
static double expected_axis_error(int n_levels, double s)
{
    double sum = n_levels * s * s - (2 * n_levels - 2) * tail_moment(1, 0, s);
    for (int m = 1; m < n_levels; m++)
        sum += 2 * ((n_levels - m) * tail_moment(2 * m - 1, 2 * m, s) -
                    (n_levels - 1 - m) * tail_moment(2 * m + 1, 2 * m, s));
    return sum / n_levels;
}

double noise_expected_error(softqam_modulation modulation, double noise_var)
{
    const struct modulation *m = modulation_get(modulation);
    if (m->n_bits == 1) /* along the diagonal of the points, and across it */
        return expected_axis_error(2, sqrt(noise_var / 2)) + noise_var / 2;
    const double axis_variance = noise_var / 2 * m->energy;
    return 2 * expected_axis_error(1 << m->axis_bits, sqrt(axis_variance)) / m->energy;
}

static double mean_error(const struct noise_estimate *estimate)
{
    return estimate->energy > 0 ? estimate->error_energy / (double)estimate->n_symbols : (double)NAN;
}

double noise_estimate_energy(const struct noise_estimate *estimate)
{
    return estimate->n_symbols ? estimate->energy / (double)estimate->n_symbols : (double)NAN;
}

double noise_estimate_variance(const struct noise_estimate *estimate, softqam_modulation modulation)
{
    const double error = mean_error(estimate);
    /* Bisection: the expected distance grows with the noise variance, but slowly if many decisions are wrong. For
     * 256QAM around 20 dB an error of 1 % in the distance makes one of 5 % in the variance. */
    double low = error, high = 15 * error;
    for (int i = 0; i < 60; i++) {
        const double middle = low + (high - low) / 2;
        if (noise_expected_error(modulation, middle) < error)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double noise_estimate_evm(const struct noise_estimate *estimate) { return sqrt(mean_error(estimate)); }
