/* SPDX-License-Identifier: MIT */
/* Which constellation symbols look like, at whatever scale. By likelihood: for each number of levels of an axis, and
 * each noise variance of a grid, the magnitudes of I and Q have a density, a sum of Gaussians, at the scale at which
 * the mean energy is theirs. */
#include <math.h>
#include <string.h>

#include "common/modulation.h"
#include "run.h"

enum { N_BINS = 512, MAX_AXIS_BITS = MODULATION_MAX_BITS / 2, MIN_DB = -2, MAX_DB = 50, N_AXES = MAX_AXIS_BITS + 1 };

/* Of root mean square magnitudes. The outermost points are at 1.7 times that. */
static const double histogram_end = 3;

/* Nats a component by which another number of levels has to be likelier. A mixture of noise variances, as fading makes,
 * gives wrong ones a hundredth. */
static const double clear_difference = 0.03;

/* The deviation of the noise on an axis, in half spacings, up to which points stand out. */
static const double clear_deviation = 0.6;

struct summary {
    double n[N_BINS];   /* components by their magnitude */
    double products[2]; /* mean I Q at even and odd positions, relative to the mean energy of an axis */
};

/* How well a number of levels explains a histogram at its best noise variance. */
struct fit {
    double likelihood; /* its logarithm, the mean of a component */
    double deviation;  /* of the noise, in half spacings */
    double noise_var;
};

static bool summarise(struct summary *summary, const float *components, size_t n_symbols, uint64_t position)
{
    double energy = 0, products[2] = {0, 0};
    size_t n[2] = {0, 0};
    memset(summary, 0, sizeof *summary);
    for (size_t i = 0; i < n_symbols; i++) {
        const double in_phase = (double)components[2 * i], quadrature = (double)components[2 * i + 1];
        const double both = in_phase * in_phase + quadrature * quadrature;
        if (!isfinite(both))
            continue;
        energy += both;
        products[(position + i) % 2] += in_phase * quadrature;
        n[(position + i) % 2]++;
    }
    const double axis_energy = energy / 2 / (double)(n[0] + n[1]);
    if (!(axis_energy > 0))
        return false;
    for (int k = 0; k < 2; k++)
        summary->products[k] = n[k] ? products[k] / (double)n[k] / axis_energy : 0;
    const double bins_per_unit = N_BINS / histogram_end / sqrt(axis_energy);
    for (size_t i = 0; i < 2 * n_symbols; i++) {
        const double bin = fabs((double)components[i]) * bins_per_unit;
        if (bin < N_BINS)
            summary->n[(size_t)bin]++;
    }
    return true;
}

/* The density of magnitudes, of levels that are odd multiples of a half spacing and noise of a deviation. */
static double density(double magnitude, unsigned n_levels, double half_spacing, double deviation)
{
    const double reach = 6 * deviation;
    double sum = 1e-9; /* an outlier is no proof */
    for (unsigned k = 1; k < n_levels; k += 2) {
        const double right = magnitude - k * half_spacing, left = magnitude + k * half_spacing;
        if (fabs(right) < reach)
            sum += exp(-right * right / (2 * deviation * deviation));
        if (left < reach)
            sum += exp(-left * left / (2 * deviation * deviation));
    }
    return sum / (n_levels * deviation);
}

static struct fit fit_levels(const struct summary *summary, unsigned n_levels)
{
    static const double width = histogram_end / N_BINS;
    const double axis_energy = (n_levels * n_levels - 1) / 3.0; /* in half spacings */
    struct fit best = {-INFINITY, 0, 0};
    for (int db = MIN_DB; db <= MAX_DB; db++) {
        const double noise_var = pow(10, -db / 10.0), half_spacing = sqrt(1 / (1 + noise_var) / axis_energy);
        const double deviation = sqrt(noise_var / (1 + noise_var) + width * width / 12);
        double likelihood = 0, n = 0;
        for (int bin = 0; bin < N_BINS; bin++) {
            if (summary->n[bin] > 0)
                likelihood += summary->n[bin] * log(density((bin + 0.5) * width, n_levels, half_spacing, deviation));
            n += summary->n[bin];
        }
        if (likelihood / n > best.likelihood)
            best = (struct fit){likelihood / n, deviation / half_spacing, noise_var};
    }
    return best;
}

/* Points on one diagonal, or alternating between both, have I = Q and I = -Q. */
static softqam_modulation recognise_two_levels(const struct summary *summary, double noise_var)
{
    const double least = 0.5 / (1 + noise_var);
    if (summary->products[0] > least && summary->products[1] > least)
        return SOFTQAM_MODULATION_BPSK;
    if (summary->products[0] > least && summary->products[1] < -least)
        return SOFTQAM_MODULATION_PI2_BPSK;
    return SOFTQAM_MODULATION_QPSK;
}

softqam_modulation constellation_recognise(const float *components, size_t n_symbols, uint64_t position,
                                           softqam_modulation expected, bool *is_clear)
{
    const unsigned n_bits = (unsigned)softqam_bits_per_symbol(expected), expected_bits = n_bits > 1 ? n_bits / 2 : 1;
    struct summary summary;
    struct fit fits[N_AXES];
    unsigned best = 1;
    *is_clear = false;
    if (!summarise(&summary, components, n_symbols, position))
        return expected;
    for (unsigned bits = 1; bits <= MAX_AXIS_BITS; bits++) {
        fits[bits] = fit_levels(&summary, 1U << bits);
        if (fits[bits].likelihood > fits[best].likelihood)
            best = bits;
    }
    const bool differs = fits[best].likelihood > fits[expected_bits].likelihood + clear_difference;
    if (!differs)
        best = expected_bits;
    *is_clear = fits[best].deviation < clear_deviation;
    if (!*is_clear)
        return differs ? SOFTQAM_MODULATION_DEFAULT : expected;
    return best == 1 ? recognise_two_levels(&summary, fits[1].noise_var)
                     : (softqam_modulation)(SOFTQAM_MODULATION_QPSK + best - 1);
}
