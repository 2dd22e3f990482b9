/* SPDX-License-Identifier: MIT */
/* Makes the slots that arrive: modulates coded bits, sends them through a channel, and applies an equaliser or a
 * matched filter. */
#include <math.h>
#include <stdlib.h>

#include "common/message.h"
#include "common/normal.h"
#include "common/transmitter.h"
#include "receiver.h"

enum { CHANNEL_PATHS = 8, FFT_LENGTH = 4096 };

/* Returns the initial state of the random sequence (a, b); the sequences are independent. */
static uint64_t seed_of(uint64_t a, uint64_t b)
{
    uint64_t state = 1 ^ a * 0xd6e8feb86659fd93;
    state = normal_random(&state) ^ b * 0xa0761d6478bd642f;
    return normal_random(&state);
}

/* Draws a complex Gaussian number of unit variance. */
static double complex draw_gaussian(uint64_t *state)
{
    const double i = normal_draw(state), q = normal_draw(state);
    return sqrt(0.5) * (i + q * I);
}

/* Draws the gains of random paths, which fall with the delay and have unit energy in all. */
static void draw_paths(uint64_t state, double complex gains[CHANNEL_PATHS])
{
    double energy = 0;
    for (size_t k = 0; k < CHANNEL_PATHS; k++) {
        gains[k] = draw_gaussian(&state) * pow(10, -0.15 * (double)k);
        energy += creal(gains[k] * conj(gains[k]));
    }
    for (size_t k = 0; k < CHANNEL_PATHS; k++)
        gains[k] /= sqrt(energy);
}

/* The channel from each layer to each antenna, at each subcarrier. Antenna k receives layer k alone; antennas 0 and 1
 * receive both coupled layers. */
struct channel {
    double noise_var;                                     /* at each antenna */
    double complex response[LAYERS][LAYERS][SUBCARRIERS]; /* [antenna][layer] */
};

static void draw_response(uint64_t state, double complex response[SUBCARRIERS])
{
    double complex gains[CHANNEL_PATHS];
    draw_paths(state, gains);
    for (size_t n = 0; n < SUBCARRIERS; n++) {
        const double step = -2 * M_PI * (double)n / FFT_LENGTH;
        response[n] = 0;
        for (size_t k = 0; k < CHANNEL_PATHS; k++) /* delays of 0 to 196 samples: 1.6 us */
            response[n] += gains[k] * cexp(I * step * 3.5 * (double)(k * (k + 1)));
    }
}

/* Draws a channel. The responses of coupled layers at an antenna have this correlation. */
static void channel_init(struct channel *channel, bool is_coupled, double snr_db, double correlation)
{
    *channel = (struct channel){.noise_var = normal_power_ratio(-snr_db)};
    for (size_t layer = 0; layer < LAYERS; layer++)
        draw_response(seed_of(layer, 0), channel->response[layer][layer]);
    for (size_t antenna = 0; antenna < COUPLED && is_coupled; antenna++) {
        double complex(*response)[SUBCARRIERS] = channel->response[antenna];
        draw_response(seed_of(antenna, 1), response[1 - antenna]);
        for (size_t n = 0; n < SUBCARRIERS; n++)
            response[1][n] = correlation * response[0][n] + sqrt(1 - correlation * correlation) * response[1][n];
    }
}

/* Returns an element of the Gram matrix: h_e^H h_f, the inner product of layers e's and f's responses at all antennas.
 */
static double complex channel_gram(const struct channel *channel, size_t subcarrier, size_t e, size_t f)
{
    double complex sum = 0;
    for (size_t antenna = 0; antenna < LAYERS; antenna++)
        sum += conj(channel->response[antenna][e][subcarrier]) * channel->response[antenna][f][subcarrier];
    return sum;
}

/* Returns the subcarrier of a symbol. Symbols are mapped to layers first, then subcarriers, then OFDM symbols (3GPP TS
 * 38.211 clauses 6.3.1.3 and 6.3.1.6). */
static size_t subcarrier_of(const struct codeword *codeword, size_t i)
{
    return codeword->first_subcarrier + i / LAYERS % codeword->n_subcarriers;
}

/* Fills in the gains and noise variances for the demapper. Coupled layers come from a matched filter: their gains and
 * cross gains are the Gram matrix, the noise variance is the antennas'. The others have been divided by the channel. */
static void describe_channel(const struct channel *channel, const struct layout *layout, const struct memory *memory)
{
    for (const struct codeword *c = layout->codewords; c < layout->codewords + layout->n_codewords; c++)
        for (size_t i = 0; i < c->n_symbols; i++) {
            const size_t symbol = c->first_symbol + i, layer = i % LAYERS, n = subcarrier_of(c, i);
            const bool is_coupled = layout->is_coupled && layer < COUPLED;
            const double gain = creal(channel_gram(channel, n, layer, layer));
            memory->gain[symbol] = is_coupled ? (float)gain : 1;
            memory->noise_var[symbol] = (float)(is_coupled ? channel->noise_var : channel->noise_var / gain);
            if (layer == 0)
                memory->cross_gain[symbol / LAYERS] = (float complex)channel_gram(channel, n, 0, 1);
        }
}

/* Replaces both coupled layers' symbols x at a resource element by z = H^H y with y = H x + n. */
static void receive_coupled(const struct channel *channel, size_t subcarrier, uint64_t *state, float complex *symbols)
{
    double complex z[COUPLED] = {0};
    for (size_t antenna = 0; antenna < COUPLED; antenna++) {
        double complex y = sqrt(channel->noise_var) * draw_gaussian(state);
        for (size_t layer = 0; layer < COUPLED; layer++)
            y += channel->response[antenna][layer][subcarrier] * symbols[layer];
        for (size_t layer = 0; layer < COUPLED; layer++)
            z[layer] += conj(channel->response[antenna][layer][subcarrier]) * y;
    }
    for (size_t layer = 0; layer < COUPLED; layer++)
        symbols[layer] = (float complex)z[layer];
}

size_t next_position(const softqam_codeword *transmission, size_t position)
{
    const size_t end = transmission->first_filler + (size_t)transmission->n_fillers;
    position %= transmission->n_cb;
    return (position >= transmission->first_filler && position < end ? end : position) % transmission->n_cb;
}

/* Draws the bits of a codeword's code blocks; fillers are 0. */
static void draw_bits(const struct codeword *codeword, uint64_t state, uint8_t *coded)
{
    const softqam_codeword *buffer = &codeword->transmissions[0];
    for (size_t n = 0; n < codeword->n_values; n++) {
        const size_t position = n % buffer->n_cb;
        coded[n] = normal_random(&state) >> 63 & (next_position(buffer, position) == position);
    }
}

/* Makes the labels of a codeword's symbols, b0 lowest: matches the rate bit by bit (3GPP TS 38.212 clause 5.4.2), and
 * scrambles (38.211 clause 6.3.1.1). */
static void make_labels(unsigned n_bits, const softqam_codeword *transmission, const uint8_t *coded,
                        const uint8_t *sequence, uint16_t *labels)
{
    for (size_t r = 0; r < transmission->n_code_blocks; r++, coded += transmission->n_cb) {
        uint64_t first, e;
        softqam_codeword_block(transmission, n_bits, LAYERS, r, &first, &e);
        const size_t n_symbols = e / n_bits;
        size_t position = next_position(transmission, transmission->k0);
        for (size_t n = 0; n < e; n++, position = next_position(transmission, position + 1)) {
            const size_t symbol = first / n_bits + n % n_symbols, bit = n / n_symbols, k = symbol * n_bits + bit;
            labels[symbol] |= (uint16_t)((coded[position] ^ (sequence[k / 8] >> k % 8 & 1)) << bit);
        }
    }
}

/* The inputs of making any slot. */
struct sender {
    const struct layout *layout;
    const struct channel *channel;
    const struct memory *memory;
};

/* Modulates a codeword, sends it through the channel, and writes the symbols after the equaliser or matched filter. */
static bool send_codeword(const struct sender *sender, const struct codeword *codeword, size_t slot, uint64_t state,
                          const uint8_t *coded)
{
    const struct layout *layout = sender->layout;
    const size_t n_bits = layout->bits_per_symbol * codeword->n_symbols;
    const float *noise_var = sender->memory->noise_var + codeword->first_symbol;
    float complex *symbols = sender->memory->symbols + slot * SLOT_SYMBOLS + codeword->first_symbol;
    struct transmitter transmitter;
    uint16_t *labels = calloc(codeword->n_symbols, sizeof *labels);
    uint8_t *sequence = malloc(n_bits / 8 + 1);
    const bool done = labels && sequence && softqam_gold_sequence(codeword->c_init, 0, n_bits, sequence) == SOFTQAM_OK;
    transmitter_init(&transmitter, layout->modulation, 0, (double)INFINITY, SOFTQAM_INPUT_CF32, 1);
    if (done)
        make_labels(layout->bits_per_symbol, &codeword->transmissions[slot_is_again(slot)], coded, sequence, labels);
    for (size_t i = 0; done && i < codeword->n_symbols; i++) {
        const double *point = transmitter.points[labels[i]];
        const bool is_coupled = layout->is_coupled && i % LAYERS < COUPLED;
        const double complex noise = is_coupled ? 0 : sqrt((double)noise_var[i]) * draw_gaussian(&state);
        symbols[i] = (float complex)(point[0] + point[1] * I + noise);
        if (is_coupled && i % LAYERS == COUPLED - 1)
            receive_coupled(sender->channel, subcarrier_of(codeword, i), &state, symbols + i - i % LAYERS);
    }
    free(labels);
    free(sequence);
    return done || message_print(NULL, "no memory for a slot");
}

/* Makes a slot's symbols. Draws its coded bits first, unless it is a retransmission. A bit is a byte at the position
 * that its LLR has in the soft buffers. */
static bool slot_make(const struct sender *sender, size_t slot, uint8_t *coded)
{
    enum { BITS = LAYERS, NOISE = BITS + LAYERS * MAX_CODEWORDS }; /* for seed_of() */
    bool done = true;
    for (size_t k = 0; done && k < sender->layout->n_codewords; k++) {
        const struct codeword *c = &sender->layout->codewords[k];
        if (!slot_is_again(slot))
            draw_bits(c, seed_of(BITS + k, slot), coded + c->first_value);
        done = send_codeword(sender, c, slot, seed_of(NOISE + k, slot), coded + c->first_value);
    }
    return done;
}

bool slots_make(const struct layout *layout, double snr_db, double correlation, const struct memory *memory,
                uint8_t *coded)
{
    static struct channel channel;
    const struct sender sender = {layout, &channel, memory};
    bool good = true;
    channel_init(&channel, layout->is_coupled, snr_db, correlation);
    describe_channel(&channel, layout, memory);
    for (size_t slot = 0; slot < SLOTS && good; slot++)
        good = slot_make(&sender, slot, coded + (slot - slot_is_again(slot)) * layout->n_values);
    return good;
}

/* An equaliser with the Gram matrix G gives W z, W = (G + N0)^-1. Its gains b are the diagonal of W G = 1 - N0 W, its
 * noise variances b (1 - b). */
void slots_equalise(const struct memory *memory)
{
    for (size_t symbol = 0; symbol < SLOT_SYMBOLS; symbol += LAYERS) {
        const double complex c = memory->cross_gain[symbol / LAYERS];
        const double noise_var = memory->noise_var[symbol], e = memory->gain[symbol] + noise_var,
                     f = memory->gain[symbol + 1] + noise_var, determinant = e * f - creal(c * conj(c));
        for (size_t slot = 0; slot < SLOTS; slot++) {
            float complex *z = memory->symbols + slot * SLOT_SYMBOLS + symbol;
            const double complex z_e = z[0], z_f = z[1];
            z[0] = (float complex)((f * z_e - c * z_f) / determinant);
            z[1] = (float complex)((e * z_f - conj(c) * z_e) / determinant);
        }
        for (size_t k = 0; k < COUPLED; k++) {
            const double b = 1 - noise_var * (k == 0 ? f : e) / determinant;
            memory->gain[symbol + k] = (float)b;
            memory->noise_var[symbol + k] = (float)(b * (1 - b));
        }
    }
}
