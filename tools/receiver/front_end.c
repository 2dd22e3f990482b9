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
static bool init_transmissions(struct codeword *codeword)
{
    enum { RATE = 948, OF = 1024, BLOCK_BITS = 8448 - 24, CRC_BITS = 24 };
    softqam_ldpc_grant grant = {.n_bits = codeword->bits_per_symbol * codeword->n_symbols,
                                .code_rate = RATE,
                                .bits_per_symbol = codeword->bits_per_symbol,
                                .n_layers = codeword->n_layers};
    const size_t n_bits = grant.n_bits * RATE / OF, n_code_blocks = (n_bits + BLOCK_BITS - 1) / BLOCK_BITS;
    grant.tb_size = grant.tbs_lbrm = (uint32_t)(n_bits / n_code_blocks * n_code_blocks) - CRC_BITS;
    for (uint32_t k = 0; k < 2; k++) {
        softqam_codeword *transmission = &codeword->transmissions[k];
        grant.rv = 2 * k;
        if (softqam_codeword_init_ldpc(transmission, &codeword->ldpc, &grant) != SOFTQAM_OK) {
            message_print(NULL, "%s", softqam_error_message());
            return false;
        }
        transmission->filler_value = INT8_MAX;
        transmission->combine = k;
    }
    codeword->n_values = (size_t)codeword->transmissions[0].n_cb * codeword->ldpc.n_code_blocks;
    return true;
}

bool layout_init(struct layout *layout, size_t n_layers, size_t layer_codewords, const softqam_modulation *modulations,
                 size_t n_modulations)
{
    enum { FIRST_RNTI = 0x4601, CELL = 500 }; /* of c_init (3GPP TS 38.211 clause 6.3.1.1); arbitrary */
    size_t first_symbol = 0;
    *layout = (struct layout){.n_codewords = LAYERS / n_layers * layer_codewords};
    for (size_t k = 0; k < layout->n_codewords; k++) {
        const size_t n = k % layer_codewords, first = n * RESOURCE_BLOCKS / layer_codewords * 12;
        struct codeword *codeword = &layout->codewords[k];
        *codeword = (struct codeword){.modulation = modulations[k % n_modulations],
                                      .bits_per_symbol = softqam_bits_per_symbol(modulations[k % n_modulations]),
                                      .n_layers = (unsigned)n_layers,
                                      .first_layer = (unsigned)(k / layer_codewords * n_layers),
                                      .c_init = (uint32_t)(FIRST_RNTI + k) << 15 | CELL,
                                      .first_subcarrier = first,
                                      .n_subcarriers = (n + 1) * RESOURCE_BLOCKS / layer_codewords * 12 - first,
                                      .first_symbol = first_symbol,
                                      .first_value = layout->n_values};
        codeword->n_symbols = n_layers * OFDM_SYMBOLS * codeword->n_subcarriers;
        if (!init_transmissions(codeword))
            return false;
        first_symbol += codeword->n_symbols;
        layout->n_code_blocks += codeword->ldpc.n_code_blocks;
        layout->n_llrs += codeword->bits_per_symbol * codeword->n_symbols;
        layout->n_values += codeword->n_values;
    }
    return true;
}

/* Seeds of sequences that have nothing to do with each other. */
static uint64_t seed_of(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t state = seed ^ a * 0xd6e8feb86659fd93;
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

void slot_noise_var(const struct layout *layout, uint64_t seed, double snr_db, float *noise_var)
{
    static float of_layer[LAYERS][SUBCARRIERS]; /* N0 / |response|^2 */
    for (size_t layer = 0; layer < LAYERS; layer++) {
        double complex gains[CHANNEL_PATHS];
        draw_paths(seed_of(seed, layer, 0), gains);
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
            noise_var[c->first_symbol + i] =
                of_layer[c->first_layer + i % c->n_layers][c->first_subcarrier + i / c->n_layers % c->n_subcarriers];
}

static void draw_bits(const struct codeword *codeword, uint64_t seed, uint8_t *coded)
{
    const softqam_codeword *buffer = &codeword->transmissions[0];
    for (size_t n = 0; n < codeword->n_values; n++) {
        const size_t position = n % buffer->n_cb;
        const bool is_filler = position >= buffer->first_filler && position - buffer->first_filler < buffer->n_fillers;
        coded[n] = normal_random(&seed) >> 63 & !is_filler;
    }
}

size_t next_position(const softqam_codeword *transmission, size_t position)
{
    const size_t end = transmission->first_filler + (size_t)transmission->n_fillers;
    if (position == transmission->n_cb)
        position = 0;
    if (position >= transmission->first_filler && position < end)
        position = end == transmission->n_cb ? 0 : end;
    return position;
}

/* Rate matching by the bit (3GPP TS 38.212 clause 5.4.2), scrambled (38.211 clause 6.3.1.1): the labels of a codeword's
 * symbols, b0 lowest. */
static void make_labels(const struct codeword *codeword, const softqam_codeword *transmission, const uint8_t *coded,
                        const uint8_t *sequence, uint16_t *labels)
{
    const unsigned n_bits = codeword->bits_per_symbol;
    for (size_t r = 0; r < transmission->n_code_blocks; r++, coded += transmission->n_cb) {
        uint64_t first, e;
        softqam_codeword_block(transmission, n_bits, codeword->n_layers, r, &first, &e);
        const size_t n_symbols = e / n_bits;
        size_t position = next_position(transmission, transmission->k0);
        for (size_t n = 0; n < e; n++, position = next_position(transmission, position + 1)) {
            const size_t symbol = first / n_bits + n % n_symbols, bit = n / n_symbols, k = symbol * n_bits + bit;
            labels[symbol] |= (uint16_t)((coded[position] ^ (sequence[k / 8] >> k % 8 & 1)) << bit);
        }
    }
}

/* Modulates a codeword. */
static bool send_codeword(const struct codeword *codeword, bool again, const uint8_t *coded, float complex *symbols)
{
    const size_t n_bits = codeword->bits_per_symbol * codeword->n_symbols;
    struct transmitter transmitter;
    uint16_t *labels = calloc(codeword->n_symbols, sizeof *labels);
    uint8_t *sequence = malloc(n_bits / 8 + 1);
    const bool done = labels && sequence && softqam_gold_sequence(codeword->c_init, 0, n_bits, sequence) == SOFTQAM_OK;
    transmitter_init(&transmitter, codeword->modulation, 0, (double)INFINITY, SOFTQAM_INPUT_CF32, 1);
    if (done)
        make_labels(codeword, &codeword->transmissions[again], coded, sequence, labels);
    for (size_t i = 0; done && i < codeword->n_symbols; i++) {
        const double *point = transmitter.points[labels[i]];
        const double complex symbol = point[0] + point[1] * I;
        symbols[i] = (float complex)(transmitter.modulation->rotates && i % 2 ? I * symbol : symbol);
    }
    free(labels);
    free(sequence);
    return done;
}

bool slot_make(const struct layout *layout, uint64_t seed, uint32_t index, const float *noise_var,
               float complex *symbols, uint8_t *coded)
{
    bool done = true;
    for (size_t k = 0; done && k < layout->n_codewords; k++) {
        const struct codeword *codeword = &layout->codewords[k];
        const size_t first = codeword->first_symbol;
        uint64_t state = seed_of(seed, LAYERS + MAX_CODEWORDS + k, index);
        if (!slot_is_again(index))
            draw_bits(codeword, seed_of(seed, LAYERS + k, index), coded + codeword->first_value);
        done = send_codeword(codeword, slot_is_again(index), coded + codeword->first_value, symbols + first);
        for (size_t i = first; done && i < first + codeword->n_symbols; i++)
            symbols[i] += (float complex)(sqrt((double)noise_var[i]) * draw_gaussian(&state));
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

double bit_error_rate(const struct codeword *codeword, const float *noise_var)
{
    const struct modulation *m = modulation_get(codeword->modulation);
    /* BPSK's bit lies on the diagonal, where its two points are 1 from the middle. */
    const double half = m->n_bits == 1 ? 1 : 1 / sqrt(m->energy);
    const size_t n = codeword->n_layers * codeword->n_subcarriers; /* all OFDM symbols have the same noise */
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += axis_bit_error_rate(m->axis_bits, half, sqrt((double)noise_var[codeword->first_symbol + i] / 2));
    return sum / (double)n;
}
