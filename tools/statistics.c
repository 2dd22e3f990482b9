/* SPDX-License-Identifier: MIT */
#include "statistics.h"

#include "sample_format.h"

#include <math.h>
#include <string.h>

/* Bounds the buffer of widened samples, and the number of small terms that one sum takes. */
enum {
    PART_SYMBOLS = 4096
};

/* The 16 levels of an axis are the odd multiples, -15 to 15, of 1/sqrt(170): 3GPP TS 38.211 clause 5.1.6. */
static double distance_to_nearest_level(double component, double half_spacing)
{
    const double level = fmin(fmax(floor(component / (2 * half_spacing)), -8), 7);
    return component - (2 * level + 1) * half_spacing;
}

static void add_part(struct statistics *statistics, const float *components, const uint8_t *soft_bits, size_t n_symbols)
{
    static const uint8_t erased[8] = {127, 127, 127, 127, 127, 127, 127, 127};
    const double half_spacing = 1 / sqrt(170);
    uint64_t n_saturated = 0;
    double error_energy = 0;
    for (size_t i = 0; i < 8 * n_symbols; i++)
        n_saturated += soft_bits[i] == 0 || soft_bits[i] == 255;
    for (size_t i = 0; i < n_symbols; i++) {
        if (!memcmp(soft_bits + 8 * i, erased, sizeof erased)) {
            statistics->n_erased++;
            continue;
        }
        const double error_i = distance_to_nearest_level((double)components[2 * i], half_spacing);
        const double error_q = distance_to_nearest_level((double)components[2 * i + 1], half_spacing);
        error_energy += error_i * error_i + error_q * error_q;
    }
    statistics->n_symbols += n_symbols;
    statistics->n_saturated += n_saturated;
    statistics->error_energy += error_energy;
}

void statistics_add(struct statistics *statistics, softqam_input_format format, float scale, const void *samples,
                    const uint8_t *soft_bits, size_t n_symbols)
{
    float components[2 * PART_SYMBOLS];
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(format);
    for (size_t first = 0; first < n_symbols; first += PART_SYMBOLS) {
        const size_t n = n_symbols - first < PART_SYMBOLS ? n_symbols - first : PART_SYMBOLS;
        sample_format_widen(format, (const char *)samples + first * symbol_nbytes, n, scale, components);
        add_part(statistics, components, soft_bits + 8 * first, n);
    }
}

double statistics_saturated_share(const struct statistics *statistics)
{
    const double n_soft_bits = 8 * (double)statistics->n_symbols;
    return statistics->n_symbols ? (double)statistics->n_saturated / n_soft_bits : 0;
}

double statistics_evm(const struct statistics *statistics)
{
    const uint64_t n = statistics->n_symbols - statistics->n_erased;
    return n ? sqrt(statistics->error_energy / (double)n) : (double)NAN;
}
