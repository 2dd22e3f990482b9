/* SPDX-License-Identifier: MIT */
#include "statistics.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "binary16.h"
#include "sample_format.h"

static uint64_t count_saturated(const softqam_demodulator_config *config, const void *out, size_t n)
{
    uint64_t n_saturated = 0;
    switch (config->output_format) {
    case SOFTQAM_OUTPUT_U8:
        for (size_t i = 0; i < n; i++)
            n_saturated += ((const uint8_t *)out)[i] == 0 || ((const uint8_t *)out)[i] == 255;
        break;
    case SOFTQAM_OUTPUT_S8:
        for (size_t i = 0; i < n; i++)
            n_saturated += abs(((const int8_t *)out)[i]) == config->llr_limit;
        break;
    case SOFTQAM_OUTPUT_S16:
        for (size_t i = 0; i < n; i++)
            n_saturated += abs(((const int16_t *)out)[i]) == config->llr_limit;
        break;
    case SOFTQAM_OUTPUT_F16:
        for (size_t i = 0; i < n; i++)
            n_saturated += (((const uint16_t *)out)[i] & 0x7fff) == BINARY16_LARGEST;
        break;
    case SOFTQAM_OUTPUT_F32:
        for (size_t i = 0; i < n; i++)
            n_saturated += fabsf(((const float *)out)[i]) == FLT_MAX;
        break;
    }
    return n_saturated;
}

static bool is_erased(const softqam_demodulator_config *config, const void *out, size_t first, size_t n_bits)
{
    const double unknown = config->output_format == SOFTQAM_OUTPUT_U8 ? 127 : 0;
    size_t n = 0;
    while (n < n_bits && sample_format_value(config->output_format, out, first + n) == unknown)
        n++;
    return n == n_bits;
}

void statistics_add(struct statistics *statistics, const softqam_demodulator_config *config, uint64_t position,
                    const void *samples, const void *out, size_t n_symbols)
{
    const size_t n_bits = softqam_bits_per_symbol(config->modulation);
    noise_estimate_add(&statistics->noise, config, position, samples, n_symbols);
    statistics->n_symbols += n_symbols;
    statistics->n_saturated += count_saturated(config, out, n_bits * n_symbols);
    for (size_t i = 0; i < n_symbols; i++)
        statistics->n_erased += is_erased(config, out, i * n_bits, n_bits);
}

double statistics_saturated_share(const struct statistics *statistics, softqam_modulation modulation)
{
    const double n = softqam_bits_per_symbol(modulation) * (double)statistics->n_symbols;
    return statistics->n_symbols ? (double)statistics->n_saturated / n : 0;
}

/* A bit with this LLR is wrong with probability 1 / (1 + e^|LLR|). A decoder that gets `limit_nats` in its stead
 * loses -log2(1 - 1 / (1 + e^limit_nats)) bits at most. */
double statistics_saturation_loss(softqam_modulation modulation, double saturated_share, double limit_nats)
{
    return softqam_bits_per_symbol(modulation) * saturated_share * log1p(exp(-limit_nats)) / log(2);
}
