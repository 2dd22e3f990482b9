/* SPDX-License-Identifier: MIT */
#include "statistics.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "binary16.h"

/* How many bytes are one or the other: those of a part in a byte, as which a compiler counts many at once. */
static uint64_t count_bytes(const uint8_t *bytes, size_t n, uint8_t one, uint8_t other)
{
    uint64_t count = 0;
    for (size_t i = 0, end; i < n; i = end) {
        uint8_t part = 0;
        end = n - i < UINT8_MAX ? n : i + UINT8_MAX;
        for (size_t k = i; k < end; k++)
            part = (uint8_t)(part + (bytes[k] == one || bytes[k] == other));
        count += part;
    }
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

/* 0: of no floats. */
static size_t float_nbytes_of(softqam_output_format format)
{
    switch (format) {
    case SOFTQAM_OUTPUT_F16:
        return 2;
    case SOFTQAM_OUTPUT_F32:
        return 4;
    case SOFTQAM_OUTPUT_S8:
    case SOFTQAM_OUTPUT_S16:
    case SOFTQAM_OUTPUT_U8:
        break;
    }
    return 0;
}

/* Bytes that are of a symbol that is erased: soft bits of 127, or zeros, of either sign in floats, whose sign is in the
 * last byte, for the machine is little-endian. */
static bool is_erased(softqam_output_format format, const unsigned char *symbol, size_t nbytes)
{
    const size_t float_nbytes = float_nbytes_of(format);
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
    const size_t nbytes = softqam_output_nbytes(config->output_format, config->modulation, 1);
    noise_estimate_add(&statistics->noise, config, position, samples, n_symbols);
    statistics->n_symbols += n_symbols;
    statistics->n_saturated += count_saturated(config, out, softqam_bits_per_symbol(config->modulation) * n_symbols);
    for (size_t i = 0; i < n_symbols; i++)
        statistics->n_erased += is_erased(config->output_format, (const unsigned char *)out + i * nbytes, nbytes);
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
