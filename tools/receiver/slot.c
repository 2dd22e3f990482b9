/* SPDX-License-Identifier: MIT */
#include "slot.h"

#include <math.h>
#include <stdlib.h>

#include "common/normal.h"
#include "common/transmitter.h"
#include "ofdm.h"

void carrier_init(struct carrier *carrier, uint64_t seed, double snr_db)
{
    carrier->seed = seed;
    carrier->n0 = normal_power_ratio(-snr_db);
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        channel_init(&carrier->channels[layer], seed, layer);
        for (size_t k = 0; k < SUBCARRIERS; k++) {
            const double complex h = channel_response(&carrier->channels[layer], k);
            carrier->response[layer][k] = h;
            carrier->noise_var[layer][k] = (float)(carrier->n0 / creal(h * conj(h)));
        }
    }
}

/* One tap a subcarrier: what came in, divided by what the channel does. */
static void equalise(const struct carrier *carrier, uint32_t layer, float complex *grid)
{
    for (size_t n = 0; n < LAYER_SYMBOLS; n++)
        grid[n] /= (float complex)carrier->response[layer][n % SUBCARRIERS];
}

static double squared_errors(const struct carrier *carrier, uint32_t layer, const float complex *sent,
                             const float complex *grid)
{
    double sum = 0;
    for (size_t n = 0; n < LAYER_SYMBOLS; n++) {
        const double complex error = grid[n] - sent[n];
        sum += creal(error * conj(error)) / (double)carrier->noise_var[layer][n % SUBCARRIERS];
    }
    return sum;
}

bool slot_make(const struct carrier *carrier, uint32_t index, float complex *symbols, uint8_t *bits, double *error)
{
    struct transmitter transmitter;
    transmitter_init(&transmitter, SOFTQAM_MODULATION_256QAM, carrier->seed, (double)INFINITY, SOFTQAM_INPUT_CF32, 1);
    float complex *sent = malloc(LAYER_SYMBOLS * sizeof *sent);
    float complex *samples = malloc(2 * SLOT_SAMPLES * sizeof *samples);
    if (sent && samples) {
        for (uint32_t layer = 0; layer < LAYERS; layer++) {
            float complex *grid = symbols + layer * (size_t)LAYER_SYMBOLS;
            const uint64_t first = ((uint64_t)index * LAYERS + layer) * LAYER_SYMBOLS;
            transmitter_generate(&transmitter, first, LAYER_SYMBOLS, sent,
                                 bits + layer * (size_t)LAYER_SYMBOLS * SYMBOL_BITS);
            ofdm_modulate(sent, samples);
            channel_pass(&carrier->channels[layer], index, carrier->n0, samples, samples + SLOT_SAMPLES);
            ofdm_demodulate(samples + SLOT_SAMPLES, grid);
            equalise(carrier, layer, grid);
            *error += squared_errors(carrier, layer, sent, grid);
        }
    }
    const bool done = sent && samples;
    free(samples);
    free(sent);
    return done;
}

/* Probability that a Gaussian variable of standard deviation sigma is over x. */
static double tail(double x, double sigma)
{
    return 0.5 * erfc(x / (sigma * M_SQRT2));
}

/* Of one axis: 16 levels, odd multiples of 1/sqrt(170), with Gray labels, each as likely as the others. From each
 * level, the probability of each other decision times the bits in which the labels differ, of 4. */
static double axis_bit_error_rate(double sigma)
{
    const double half = 1 / sqrt(170);
    double sum = 0;
    for (int sent = 0; sent < 16; sent++) {
        for (int decided = 0; decided < 16; decided++) {
            const int differing = __builtin_popcount((unsigned)((sent ^ sent >> 1) ^ (decided ^ decided >> 1)));
            const double below = (2 * (decided - sent) - 1) * half, above = (2 * (decided - sent) + 1) * half;
            const double from = decided == 0 ? 1 : tail(below, sigma), to = decided == 15 ? 0 : tail(above, sigma);
            sum += differing * (from - to);
        }
    }
    return sum / (16 * 4);
}

double carrier_bit_error_rate(const struct carrier *carrier)
{
    double sum = 0;
    for (uint32_t layer = 0; layer < LAYERS; layer++)
        for (size_t k = 0; k < SUBCARRIERS; k++)
            sum += axis_bit_error_rate(sqrt((double)carrier->noise_var[layer][k] / 2));
    return sum / (LAYERS * SUBCARRIERS);
}

double slot_bit_errors(const int8_t *llrs, const uint8_t *bits, size_t n_bits, double *n_zeros)
{
    size_t n_wrong = 0, n_zero = 0;
    for (size_t n = 0; n < n_bits; n++) {
        n_zero += llrs[n] == 0;
        n_wrong += llrs[n] != 0 && (llrs[n] < 0) != bits[n];
    }
    *n_zeros += (double)n_zero;
    return (double)n_wrong + 0.5 * (double)n_zero;
}

double slot_promised_errors(const int8_t *llrs, double steps_per_nat, size_t n_bits)
{
    size_t n_of[128] = {0};
    double sum = 0;
    for (size_t n = 0; n < n_bits; n++)
        n_of[abs(llrs[n])]++;
    for (int magnitude = 0; magnitude < 128; magnitude++)
        sum += (double)n_of[magnitude] / (1 + exp(magnitude / steps_per_nat));
    return sum;
}
