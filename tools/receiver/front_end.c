/* SPDX-License-Identifier: MIT */
/* What an equaliser hands over. */
#include <math.h>
#include <stdlib.h>

#include "common/message.h"
#include "common/normal.h"
#include "common/transmitter.h"
#include "receiver.h"

enum { CHANNEL_PATHS = 8, FFT_LENGTH = 4096 };

/* Of a transport block at the highest code rate (3GPP TS 38.214 table 5.1.3.1-2) whose code blocks are equally long.
 * TBS_LBRM of 38.212 clause 5.4.2.1 is its size. */
static bool init_transmissions(struct codeword *codeword, unsigned bits_per_symbol)
{
    enum { RATE = 948, OF = 1024, BLOCK_BITS = 8448 - 24, CRC_BITS = 24 };
    softqam_ldpc_grant grant = {.n_bits = bits_per_symbol * codeword->n_symbols,
                                .code_rate = RATE,
                                .bits_per_symbol = bits_per_symbol,
                                .n_layers = LAYERS};
    const size_t n_bits = grant.n_bits * RATE / OF, n_code_blocks = (n_bits + BLOCK_BITS - 1) / BLOCK_BITS;
    grant.tb_size = grant.tbs_lbrm = (uint32_t)(n_bits / n_code_blocks * n_code_blocks) - CRC_BITS;
    for (uint32_t k = 0; k < 2; k++) {
        softqam_codeword *transmission = &codeword->transmissions[k];
        grant.rv = 2 * k;
        if (softqam_codeword_init_ldpc(transmission, &codeword->ldpc, &grant) != SOFTQAM_OK)
            return message_print(NULL, "%s", softqam_error_message());
        transmission->filler_value = INT8_MAX;
        transmission->combine = k;
    }
    codeword->n_values = (size_t)codeword->transmissions[0].n_cb * codeword->ldpc.n_code_blocks;
    return true;
}

bool layout_init(struct layout *layout, size_t n_codewords, softqam_modulation modulation)
{
    enum { FIRST_RNTI = 0x4601, CELL = 500 }; /* of c_init (3GPP TS 38.211 clause 6.3.1.1); arbitrary */
    *layout = (struct layout){
        .modulation = modulation, .bits_per_symbol = softqam_bits_per_symbol(modulation), .n_codewords = n_codewords};
    for (size_t k = 0; k < n_codewords; k++) {
        const size_t first = k * RESOURCE_BLOCKS / n_codewords * 12, end = (k + 1) * RESOURCE_BLOCKS / n_codewords * 12;
        struct codeword *codeword = &layout->codewords[k];
        *codeword = (struct codeword){.c_init = (uint32_t)(FIRST_RNTI + k) << 15 | CELL,
                                      .first_subcarrier = first,
                                      .n_subcarriers = end - first,
                                      .n_symbols = LAYERS * OFDM_SYMBOLS * (end - first),
                                      .first_symbol = LAYERS * OFDM_SYMBOLS * first,
                                      .first_value = layout->n_values};
        if (!init_transmissions(codeword, layout->bits_per_symbol))
            return false;
        layout->n_code_blocks += codeword->ldpc.n_code_blocks;
        layout->n_values += codeword->n_values;
    }
    layout->n_values = (layout->n_values + 63) / 64 * 64; /* soft buffers of successive slots are aligned */
    return true;
}

/* States of random sequences that have nothing to do with each other. */
static uint64_t seed_of(uint64_t a, uint64_t b)
{
    uint64_t state = 1 ^ a * 0xd6e8feb86659fd93;
    state = normal_random(&state) ^ b * 0xa0761d6478bd642f;
    return normal_random(&state);
}

/* A complex Gaussian number of unit variance. */
static double complex draw_gaussian(uint64_t *state)
{
    const double i = normal_quantile(normal_uniform(normal_random(state))),
                 q = normal_quantile(normal_uniform(normal_random(state)));
    return sqrt(0.5) * (i + q * I);
}

/* Random paths whose gains fall with the delay, of unit energy together. */
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

void slot_noise_var(const struct layout *layout, double snr_db, float *noise_var)
{
    static float of_layer[LAYERS][SUBCARRIERS]; /* N0 / |response|^2 */
    for (size_t layer = 0; layer < LAYERS; layer++) {
        double complex gains[CHANNEL_PATHS];
        draw_paths(seed_of(layer, 0), gains);
        for (size_t n = 0; n < SUBCARRIERS; n++) {
            const double step = -2 * M_PI * (double)n / FFT_LENGTH;
            double complex h = 0;
            for (size_t k = 0; k < CHANNEL_PATHS; k++) /* delays of 0 to 196 samples: 1.6 us */
                h += gains[k] * cexp(I * step * 3.5 * (double)(k * (k + 1)));
            of_layer[layer][n] = (float)(normal_power_ratio(-snr_db) / creal(h * conj(h)));
        }
    }
    /* Layers of a resource element, subcarriers, OFDM symbols (3GPP TS 38.211 clauses 6.3.1.3 and 6.3.1.6). */
    for (const struct codeword *c = layout->codewords; c < layout->codewords + layout->n_codewords; c++)
        for (size_t i = 0; i < c->n_symbols; i++)
            noise_var[c->first_symbol + i] = of_layer[i % LAYERS][c->first_subcarrier + i / LAYERS % c->n_subcarriers];
}

size_t next_position(const softqam_codeword *transmission, size_t position)
{
    const size_t end = transmission->first_filler + (size_t)transmission->n_fillers;
    position %= transmission->n_cb;
    return (position >= transmission->first_filler && position < end ? end : position) % transmission->n_cb;
}

/* Fillers are 0. */
static void draw_bits(const struct codeword *codeword, uint64_t state, uint8_t *coded)
{
    const softqam_codeword *buffer = &codeword->transmissions[0];
    for (size_t n = 0; n < codeword->n_values; n++) {
        const size_t position = n % buffer->n_cb;
        coded[n] = normal_random(&state) >> 63 & (next_position(buffer, position) == position);
    }
}

/* Rate matching by the bit (3GPP TS 38.212 clause 5.4.2), scrambled (38.211 clause 6.3.1.1): the labels of a codeword's
 * symbols, b0 lowest. */
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

/* Modulates a codeword and adds noise. */
static bool send_codeword(const struct layout *layout, const struct codeword *codeword, size_t slot, uint64_t state,
                          const uint8_t *coded, const float *noise_var, float complex *symbols)
{
    const size_t n_bits = layout->bits_per_symbol * codeword->n_symbols;
    struct transmitter transmitter;
    uint16_t *labels = calloc(codeword->n_symbols, sizeof *labels);
    uint8_t *sequence = malloc(n_bits / 8 + 1);
    const bool done = labels && sequence && softqam_gold_sequence(codeword->c_init, 0, n_bits, sequence) == SOFTQAM_OK;
    transmitter_init(&transmitter, layout->modulation, 0, (double)INFINITY, SOFTQAM_INPUT_CF32, 1);
    if (done)
        make_labels(layout->bits_per_symbol, &codeword->transmissions[slot_is_again(slot)], coded, sequence, labels);
    for (size_t i = 0; done && i < codeword->n_symbols; i++) {
        const double *point = transmitter.points[labels[i]];
        symbols[i] = (float complex)(point[0] + point[1] * I + sqrt((double)noise_var[i]) * draw_gaussian(&state));
    }
    free(labels);
    free(sequence);
    return done || message_print(NULL, "no memory for a slot");
}

bool slot_make(const struct layout *layout, size_t slot, const float *noise_var, float complex *symbols, uint8_t *coded)
{
    enum { BITS = LAYERS, NOISE = BITS + LAYERS * MAX_CODEWORDS }; /* of seed_of() */
    bool done = true;
    for (size_t k = 0; done && k < layout->n_codewords; k++) {
        const struct codeword *c = &layout->codewords[k];
        if (!slot_is_again(slot))
            draw_bits(c, seed_of(BITS + k, slot), coded + c->first_value);
        done = send_codeword(layout, c, slot, seed_of(NOISE + k, slot), coded + c->first_value,
                             noise_var + c->first_symbol, symbols + c->first_symbol);
    }
    return done;
}

/* Probability that a Gaussian variable of standard deviation sigma exceeds x. */
static double tail(double x, double sigma) { return 0.5 * erfc(x / (sigma * M_SQRT2)); }

/* Of one axis with equiprobable levels, odd multiples of `half` with Gray labels: the probability of each decision
 * times the bits in which the labels differ. */
static double axis_bit_error_rate(unsigned axis_bits, double half, double sigma)
{
    const int n_levels = 1 << axis_bits;
    double sum = 0;
    for (int sent = 0; sent < n_levels; sent++) {
        for (int decided = 0; decided < n_levels; decided++) {
            const int n_wrong = __builtin_popcount((unsigned)((sent ^ sent >> 1) ^ (decided ^ decided >> 1)));
            const double from = decided == 0 ? 1 : tail((2 * (decided - sent) - 1) * half, sigma);
            const double to = decided == n_levels - 1 ? 0 : tail((2 * (decided - sent) + 1) * half, sigma);
            sum += n_wrong * (from - to);
        }
    }
    return sum / (n_levels * (double)axis_bits);
}

double bit_error_rate(const struct layout *layout, const struct codeword *codeword, const float *noise_var)
{
    const struct modulation *m = modulation_get(layout->modulation);
    /* BPSK's bit lies on the diagonal, where its two points are 1 from the middle. */
    const double half = m->n_bits == 1 ? 1 : 1 / sqrt(m->energy);
    const size_t n = LAYERS * codeword->n_subcarriers; /* all OFDM symbols have the same noise */
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += axis_bit_error_rate(m->axis_bits, half, sqrt((double)noise_var[codeword->first_symbol + i] / 2));
    return sum / (double)n;
}
