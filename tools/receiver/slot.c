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

/* The next number of a sequence that a seed begins: splitmix64. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* A codeword's bits as an encoder leaves them, one a byte, where the soft buffers have their LLRs. */
static void draw_bits(const struct codeword *codeword, uint64_t seed, uint8_t *coded)
{
    const softqam_codeword *buffer = &codeword->transmissions[0];
    for (size_t n = 0; n < codeword->n_values; n++) {
        const size_t place = n % buffer->n_cb;
        const bool is_filler = place >= buffer->first_filler && place - buffer->first_filler < buffer->n_fillers;
        coded[n] = draw(&seed) >> 63 & !is_filler;
    }
}

size_t slot_next_place(const softqam_codeword *transmission, size_t place)
{
    const size_t end = transmission->first_filler + (size_t)transmission->n_fillers;
    if (place == transmission->n_cb)
        place = 0;
    if (place >= transmission->first_filler && place < end)
        place = end == transmission->n_cb ? 0 : end;
    return place;
}

/* Rate matching by the bit (3GPP TS 38.212 clause 5.4.2): the labels of a codeword's symbols, b0 lowest. */
static void match_rate(const struct codeword *codeword, const softqam_codeword *transmission, const uint8_t *coded,
                       uint16_t *labels)
{
    const unsigned n_bits = codeword->n_bits;
    for (size_t r = 0; r < transmission->n_code_blocks; r++, coded += transmission->n_cb) {
        uint64_t first, e;
        softqam_codeword_block(transmission, n_bits, codeword->n_layers, r, &first, &e);
        const size_t n_symbols = e / n_bits;
        size_t place = slot_next_place(transmission, transmission->k0);
        for (size_t n = 0; n < e; n++, place = slot_next_place(transmission, place + 1))
            labels[first / n_bits + n % n_symbols] |= (uint16_t)(coded[place] << n / n_symbols);
    }
}

/* Scrambles the labels (38.211 clause 6.3.1.1). */
static bool scramble(const struct codeword *codeword, uint16_t *labels)
{
    const size_t n = codeword->n_bits * codeword->n_symbols;
    uint8_t *sequence = malloc(n / 8 + 1);
    const bool done = sequence && softqam_gold_sequence(codeword->c_init, 0, n, sequence) == SOFTQAM_OK;
    for (size_t k = 0; done && k < n; k++)
        labels[k / codeword->n_bits] ^= (uint16_t)((sequence[k / 8] >> k % 8 & 1) << k % codeword->n_bits);
    free(sequence);
    return done;
}

/* Modulates a codeword into the grid that is sent. False when there is no memory. */
static bool send_codeword(const struct codeword *codeword, bool again, const uint8_t *coded, float complex *sent)
{
    struct transmitter transmitter;
    uint16_t *labels = calloc(codeword->n_symbols, sizeof *labels);
    bool done = labels != NULL;
    transmitter_init(&transmitter, codeword->modulation, 0, (double)INFINITY, SOFTQAM_INPUT_CF32, 1);
    if (done)
        match_rate(codeword, &codeword->transmissions[again], coded, labels);
    done = done && scramble(codeword, labels);
    for (size_t i = 0; done && i < codeword->n_symbols; i++) {
        const double *point = transmitter.points[labels[i]];
        const double complex symbol = point[0] + point[1] * I;
        sent[grid_place(codeword, i)] = (float complex)(transmitter.modulation->rotates && i % 2 ? I * symbol : symbol);
    }
    free(labels);
    return done;
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
               uint8_t *coded, double errors[MAX_CODEWORDS])
{
    float complex *sent = malloc(2 * SLOT_SYMBOLS * sizeof *sent);
    float complex *samples = malloc(2 * SLOT_SAMPLES * sizeof *samples);
    bool done = sent && samples;
    for (size_t k = 0; done && k < layout->n_codewords; k++) {
        const struct codeword *codeword = &layout->codewords[k];
        if (!slot_is_again(index))
            draw_bits(codeword, carrier->seed + 0x9e3779b97f4a7c15 * ((uint64_t)index * MAX_CODEWORDS + k + 1),
                      coded + codeword->first_value);
        done = send_codeword(codeword, slot_is_again(index), coded + codeword->first_value, sent);
    }
    if (done) {
        float complex *grid = sent + SLOT_SYMBOLS;
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

double slot_information(const int8_t *llrs, double steps_per_nat, const uint8_t *bits, size_t n_bits)
{
    size_t n_of[256] = {0};
    double sum = 0;
    for (size_t n = 0; n < n_bits; n++)
        n_of[128 + (bits[n] ? -llrs[n] : llrs[n])]++;
    for (int llr = -127; llr < 128; llr++)
        sum += (double)n_of[128 + llr] * (1 - log2(1 + exp(-llr / steps_per_nat)));
    return sum;
}
