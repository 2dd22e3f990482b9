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

/* Where symbol number i of a codeword lies in the grid of a slot: the layers of a resource element, the subcarriers of
 * an OFDM symbol, the OFDM symbols (3GPP TS 38.211 clauses 6.3.1.3 and 6.3.1.6). */
static size_t grid_place(const struct codeword *codeword, size_t i)
{
    const size_t layer = codeword->first_layer + i % codeword->n_layers, element = i / codeword->n_layers;
    const size_t row = layer * OFDM_SYMBOLS + element / codeword->n_subcarriers;
    return row * SUBCARRIERS + codeword->first_subcarrier + element % codeword->n_subcarriers;
}

/* Where it lies in what the demodulator gets: layers one after the other. */
static size_t symbol_place(const struct codeword *codeword, size_t i)
{
    const size_t n_layers = codeword->n_layers;
    return codeword->first_symbol + i % n_layers * (codeword->n_symbols / n_layers) + i / n_layers;
}

void slot_noise_var(const struct carrier *carrier, const struct layout *layout, float *noise_var)
{
    for (size_t k = 0; k < layout->n_codewords; k++) {
        const struct codeword *codeword = &layout->codewords[k];
        for (size_t i = 0; i < codeword->n_symbols; i++) {
            const size_t n = grid_place(codeword, i);
            noise_var[symbol_place(codeword, i)] = carrier->noise_var[n / LAYER_SYMBOLS][n % SUBCARRIERS];
        }
    }
}

/* Modulates codeword k of slot number `index` into the grid that is sent; `symbols` is room for them one by one. */
static void send_codeword(const struct carrier *carrier, const struct layout *layout, size_t k, uint32_t index,
                          float complex *symbols, float complex *sent, uint8_t *bits)
{
    const struct codeword *codeword = &layout->codewords[k];
    const uint64_t own_seed = carrier->seed + 0x9e3779b97f4a7c15 * ((uint64_t)index * MAX_CODEWORDS + k + 1);
    struct transmitter transmitter;
    transmitter_init(&transmitter, codeword->modulation, own_seed, (double)INFINITY, SOFTQAM_INPUT_CF32, 1);
    transmitter_scramble(&transmitter, codeword->c_init);
    transmitter_generate(&transmitter, 0, codeword->n_symbols, symbols, bits + codeword->first_llr);
    for (size_t i = 0; i < codeword->n_symbols; i++)
        sent[grid_place(codeword, i)] = symbols[i];
}

static double squared_errors(const struct carrier *carrier, const struct codeword *codeword, const float complex *sent,
                             const float complex *grid)
{
    double sum = 0;
    for (size_t i = 0; i < codeword->n_symbols; i++) {
        const size_t n = grid_place(codeword, i);
        const double complex error = grid[n] - sent[n];
        sum += creal(error * conj(error)) / (double)carrier->noise_var[n / LAYER_SYMBOLS][n % SUBCARRIERS];
    }
    return sum;
}

/* From the grid that is sent on all layers to the equalised one. */
static void receive(const struct carrier *carrier, uint32_t index, const float complex *sent, float complex *samples,
                    float complex *grid)
{
    for (uint32_t layer = 0; layer < LAYERS; layer++, sent += LAYER_SYMBOLS, grid += LAYER_SYMBOLS) {
        ofdm_modulate(sent, samples);
        channel_pass(&carrier->channels[layer], index, carrier->n0, samples, samples + SLOT_SAMPLES);
        ofdm_demodulate(samples + SLOT_SAMPLES, grid);
        equalise(carrier, layer, grid);
    }
}

static void hand_on(const struct codeword *codeword, const float complex *grid, float complex *symbols)
{
    for (size_t i = 0; i < codeword->n_symbols; i++)
        symbols[symbol_place(codeword, i)] = grid[grid_place(codeword, i)];
}

bool slot_make(const struct carrier *carrier, const struct layout *layout, uint32_t index, float complex *symbols,
               uint8_t *bits, double errors[MAX_CODEWORDS])
{
    float complex *sent = malloc(2 * SLOT_SYMBOLS * sizeof *sent);
    float complex *samples = malloc(2 * SLOT_SAMPLES * sizeof *samples);
    const bool done = sent && samples;
    if (done) {
        float complex *grid = sent + SLOT_SYMBOLS;
        for (size_t k = 0; k < layout->n_codewords; k++)
            send_codeword(carrier, layout, k, index, symbols, sent, bits);
        receive(carrier, index, sent, samples, grid);
        for (size_t k = 0; k < layout->n_codewords; k++) {
            errors[k] += squared_errors(carrier, &layout->codewords[k], sent, grid);
            hand_on(&layout->codewords[k], grid, symbols);
        }
    }
    free(samples);
    free(sent);
    return done;
}

/* Probability that a Gaussian variable of standard deviation sigma is over x. */
static double tail(double x, double sigma)
{
    return 0.5 * erfc(x / (sigma * M_SQRT2));
}

/* Of one axis: levels are odd multiples of `half` with Gray labels, each as likely as the others. From each level, the
 * probability of each other decision times the bits in which the labels differ. */
static double axis_bit_error_rate(unsigned axis_bits, double half, double sigma)
{
    const int n_levels = 1 << axis_bits;
    double sum = 0;
    for (int sent = 0; sent < n_levels; sent++) {
        for (int decided = 0; decided < n_levels; decided++) {
            const int differing = __builtin_popcount((unsigned)((sent ^ sent >> 1) ^ (decided ^ decided >> 1)));
            const double below = (2 * (decided - sent) - 1) * half, above = (2 * (decided - sent) + 1) * half;
            const double from = decided == 0 ? 1 : tail(below, sigma);
            const double to = decided == n_levels - 1 ? 0 : tail(above, sigma);
            sum += differing * (from - to);
        }
    }
    return sum / (n_levels * (double)axis_bits);
}

double carrier_bit_error_rate(const struct carrier *carrier, const struct codeword *codeword)
{
    const struct modulation *m = modulation_get(codeword->modulation);
    /* The one bit of BPSK lies on the diagonal, where its two points are 1 from the middle. */
    const double half = m->n_bits == 1 ? 1 : 1 / sqrt(m->energy);
    const size_t n = codeword->n_layers * codeword->n_subcarriers; /* each OFDM symbol has the same noise */
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t place = grid_place(codeword, i);
        const double noise_var = (double)carrier->noise_var[place / LAYER_SYMBOLS][place % SUBCARRIERS];
        sum += axis_bit_error_rate(m->axis_bits, half, sqrt(noise_var / 2));
    }
    return sum / (double)n;
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
