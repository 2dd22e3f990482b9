/* SPDX-License-Identifier: MIT */
#include "statistics.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "binary16.h"

enum { N_BITS = 8 };

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

static uint64_t count_saturated(const softqam_config *config, const void *out, size_t n)
{
    uint64_t n_saturated = 0;
    switch (config->output_format) {
    case SOFTQAM_OUTPUT_U8:
        return count_bytes(out, n, 0, 255);
    case SOFTQAM_OUTPUT_S8:
        return count_bytes(out, n, (uint8_t)config->llr_limit, (uint8_t)-config->llr_limit);
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

static uint64_t word_at(const char *symbol, size_t place)
{
    uint64_t word;
    memcpy(&word, symbol + place * sizeof word, sizeof word);
    return word;
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
    const size_t n_words = softqam_output_nbytes(config->output_format, config->modulation, 1) / sizeof(uint64_t);
    const char *symbol = out;
    uint64_t n_erased = 0;
    for (size_t i = 0; i < n_symbols; i++, symbol += n_words * sizeof(uint64_t)) {
        if ((word_at(symbol, 0) & mask) != erased)
            continue;
        uint64_t difference = 0;
        for (size_t k = 1; k < n_words; k++)
            difference |= (word_at(symbol, k) & mask) ^ erased;
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
