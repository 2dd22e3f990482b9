/* SPDX-License-Identifier: MIT */
#include "statistics.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "binary16.h"

/* How many bytes are one or the other, counted side by side in bytes, which a compiler does many at once. */
static uint64_t count_bytes(const uint8_t *bytes, size_t n, uint8_t one, uint8_t other)
{
    enum { N_LANES = 64, MAX_ROWS = 255 };
    uint64_t count = 0;
    while (n >= N_LANES) {
        uint8_t lanes[N_LANES] = {0};
        for (int row = 0; row < MAX_ROWS && n >= N_LANES; row++, bytes += N_LANES, n -= N_LANES)
            for (int k = 0; k < N_LANES; k++)
                lanes[k] = (uint8_t)(lanes[k] + (bytes[k] == one || bytes[k] == other));
        for (int k = 0; k < N_LANES; k++)
            count += lanes[k];
    }
    for (size_t i = 0; i < n; i++)
        count += bytes[i] == one || bytes[i] == other;
    return count;
}

static uint64_t count_saturated(const softqam_demodulator_config *config, const void *out, size_t n)
{
    uint64_t n_saturated = 0;
    switch (config->output_format) {
    case SOFTQAM_OUTPUT_U8:
        return count_bytes(out, n, 0, 255);
    case SOFTQAM_OUTPUT_S8:
        return count_bytes(out, n, (uint8_t)config->llr_limit, (uint8_t)-config->llr_limit);
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

/* Bytes that are of a symbol that is erased: soft bits of 127, or zeros, of either sign in floats, whose sign is in the
 * last byte, for the machine is little-endian. */
static bool is_erased(const softqam_demodulator_config *config, const unsigned char *symbol, size_t nbytes)
{
    const softqam_output_format format = config->output_format;
    const size_t float_nbytes = format == SOFTQAM_OUTPUT_F16 ? 2 : format == SOFTQAM_OUTPUT_F32 ? 4 : 0;
    for (size_t k = 0; k < nbytes; k++) {
        const bool has_sign = float_nbytes > 0 && k % float_nbytes == float_nbytes - 1;
        if ((has_sign ? symbol[k] & 0x7f : symbol[k]) != (format == SOFTQAM_OUTPUT_U8 ? 127 : 0))
            return false;
    }
    return true;
}

void statistics_add(struct statistics *statistics, const softqam_demodulator_config *config, uint64_t position,
                    const void *samples, const void *out, size_t n_symbols)
{
    noise_estimate_add(&statistics->noise, config, position, samples, n_symbols);
    statistics->n_symbols += n_symbols;
    statistics->n_saturated += count_saturated(config, out, softqam_bits_per_symbol(config->modulation) * n_symbols);
    const size_t nbytes = softqam_output_nbytes(config->output_format, config->modulation, 1);
    for (size_t i = 0; i < n_symbols; i++)
        statistics->n_erased += is_erased(config, (const unsigned char *)out + i * nbytes, nbytes);
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
