/* SPDX-License-Identifier: MIT */
#include "statistics.h"

#include "binary16.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { N_BITS = 8 };

static uint64_t count_saturated(const softqam_config *config, const void *out, size_t n)
{
    uint64_t n_saturated = 0;
    switch (config->output_format) {
    case SOFTQAM_OUTPUT_U8:
        for (size_t i = 0; i < n; i++)
            n_saturated += ((const uint8_t *)out)[i] == 0 || ((const uint8_t *)out)[i] == 255;
        break;
    case SOFTQAM_OUTPUT_S8:
        for (size_t i = 0; i < n; i++)
            n_saturated +=
                ((const int8_t *)out)[i] == config->llr_limit || ((const int8_t *)out)[i] == -config->llr_limit;
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

static uint64_t count_erased(const softqam_config *config, const void *out, size_t n_symbols)
{
    /* Eight bytes at once: what they are but for the sign of a zero. */
    static const struct {
        uint64_t mask, erased;
    } words[] = {[SOFTQAM_OUTPUT_U8] = {UINT64_MAX, UINT64_C(0x7f7f7f7f7f7f7f7f)},
                 [SOFTQAM_OUTPUT_S8] = {UINT64_MAX, 0},
                 [SOFTQAM_OUTPUT_F16] = {UINT64_C(0x7fff7fff7fff7fff), 0},
                 [SOFTQAM_OUTPUT_F32] = {UINT64_C(0x7fffffff7fffffff), 0}};
    const uint64_t mask = words[config->output_format].mask, erased = words[config->output_format].erased;
    const size_t n_words = softqam_output_symbol_nbytes(config->output_format) / sizeof(uint64_t);
    uint64_t n_erased = 0;
    for (size_t i = 0; i < n_symbols; i++) {
        uint64_t symbol[4], difference = 0;
        memcpy(symbol, (const char *)out + i * n_words * sizeof(uint64_t), n_words * sizeof(uint64_t));
        for (size_t k = 0; k < n_words; k++)
            difference |= (symbol[k] & mask) ^ erased;
        n_erased += difference == 0;
    }
    return n_erased;
}

void statistics_add(struct statistics *statistics, const softqam_config *config, const void *samples, const void *out,
                    size_t n_symbols)
{
    noise_estimate_add(&statistics->noise, config, samples, n_symbols);
    statistics->n_symbols += n_symbols;
    statistics->n_saturated += count_saturated(config, out, N_BITS * n_symbols);
    statistics->n_erased += count_erased(config, out, n_symbols);
}

double statistics_saturated_share(const struct statistics *statistics)
{
    const double n = N_BITS * (double)statistics->n_symbols;
    return statistics->n_symbols ? (double)statistics->n_saturated / n : 0;
}

/* A bit that is as sure as an LLR says is wrong with probability 1 / (1 + e^|LLR|). Who takes it for one of
 * `limit_nats` while it is surer than that loses -log2(1 - 1 / (1 + e^limit_nats)) bits at most. */
double statistics_saturation_loss(double saturated_share, double limit_nats)
{
    return N_BITS * saturated_share * log1p(exp(-limit_nats)) / log(2);
}
