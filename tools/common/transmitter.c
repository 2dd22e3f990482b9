/* SPDX-License-Identifier: MIT */
#include "transmitter.h"

#include <math.h>

#include <Random123/philox.h>

#include "normal.h"
#include "sample_format.h"

enum { PART_SYMBOLS = 1024, SEQUENCE_NBYTES = PART_SYMBOLS * MODULATION_MAX_BITS / 8 };

/* The last word of the counter. These numbers must not change: they determine what a seed gives. */
enum stream { STREAM_BITS = 0, STREAM_NOISE = 1, STREAM_CHANNEL = 2 };

static philox4x32_ctr_t draw(uint64_t seed, uint64_t index, enum stream stream)
{
    const philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    const philox4x32_ctr_t counter = {{(uint32_t)index, (uint32_t)(index >> 32), 0, (uint32_t)stream}};
    return philox4x32(counter, key);
}

void transmitter_init(struct transmitter *transmitter, softqam_modulation modulation, uint64_t seed, double snr_db,
                      softqam_input_format format, double scale)
{
    const struct modulation *m = modulation_get(modulation);
    /* Points are rounded to binary32, so that a cf32 file without noise holds them exactly. */
    const float alpha = (float)(1 / sqrt(m->energy));
    transmitter->modulation = m;
    transmitter->seed = seed;
    transmitter->sigma = isinf(snr_db) ? 0 : sqrt(normal_power_ratio(-snr_db) / 2);
    transmitter->format = format;
    transmitter->scale = scale;
    transmitter->scrambles = transmitter->swaps = transmitter->fades = false;
    transmitter->phase = transmitter->frequency = 0;
    for (unsigned bits = 0; bits < 1u << m->n_bits; bits++) {
        const float i = (float)modulation_level(m, bits) * alpha;
        const float q = m->n_bits == 1 ? i : (float)modulation_level(m, bits >> 1) * alpha;
        transmitter->points[bits][0] = (double)i;
        transmitter->points[bits][1] = (double)q;
    }
}

/* Returns a symbol's bits of the sequence, b0 lowest. */
static unsigned sequence_bits(const uint8_t *sequence, size_t first, unsigned n_bits)
{
    unsigned bits = 0;
    for (unsigned k = 0; k < n_bits; k++)
        bits |= (unsigned)(sequence[(first + k) / 8] >> (first + k) % 8 & 1) << k;
    return bits;
}

/* Returns the standard deviation of a component's noise. */
static double deviation(const struct transmitter *transmitter, uint64_t index)
{
    enum { N_CONSTANT = 12 };
    if (!transmitter->fades)
        return transmitter->sigma;
    const philox4x32_ctr_t random = draw(transmitter->seed, index / N_CONSTANT, STREAM_CHANNEL);
    return transmitter->sigma / sqrt(-normal_log(normal_uniform((uint64_t)random.v[1] << 32 | random.v[0])));
}

/* Makes a symbol; `flipped` are the bits that scrambling changes. */
static void generate_symbol(const struct transmitter *transmitter, uint64_t index, unsigned flipped,
                            double component[2], uint8_t *bits)
{
    const struct modulation *modulation = transmitter->modulation;
    const unsigned sent = draw(transmitter->seed, index, STREAM_BITS).v[0] & ((1u << modulation->n_bits) - 1);
    const double *point = transmitter->points[sent ^ flipped];
    const bool is_rotated = modulation->rotates && index % 2;
    component[0] = is_rotated ? -point[1] : point[0];
    component[1] = is_rotated ? point[0] : point[1];
    for (unsigned k = 0; bits && k < modulation->n_bits; k++)
        bits[k] = sent >> k & 1;
    const double sigma = deviation(transmitter, index);
    const philox4x32_ctr_t random = draw(transmitter->seed, index, STREAM_NOISE);
    for (int axis = 0; axis < 2 && sigma > 0; axis++) {
        const uint64_t word = (uint64_t)random.v[2 * axis + 1] << 32 | random.v[2 * axis];
        component[axis] += sigma * normal_quantile(normal_uniform(word));
    }
    if (transmitter->phase != 0 || transmitter->frequency != 0) {
        const double angle = fmod(transmitter->phase + transmitter->frequency * (double)index, 2 * acos(-1));
        const double i = component[0], q = component[1];
        component[0] = i * cos(angle) - q * sin(angle);
        component[1] = i * sin(angle) + q * cos(angle);
    }
    if (transmitter->swaps) {
        const double first = component[0];
        component[0] = component[1];
        component[1] = first;
    }
}

uint64_t transmitter_generate(const struct transmitter *transmitter, uint64_t first, size_t n_symbols, void *samples,
                              uint8_t *bits, float *noise_vars)
{
    double components[2 * PART_SYMBOLS];
    uint8_t sequence[SEQUENCE_NBYTES] = {0}; /* the scrambling sequence, as softqam_gold_sequence() packs it */
    const unsigned n_bits = transmitter->modulation->n_bits;
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(transmitter->format);
    uint64_t n_clipped = 0;
    for (size_t done = 0; done < n_symbols; done += PART_SYMBOLS) {
        const size_t n = n_symbols - done < PART_SYMBOLS ? n_symbols - done : PART_SYMBOLS;
        if (transmitter->scrambles)
            softqam_gold_sequence(transmitter->c_init, (first + done) * n_bits, n * n_bits, sequence);
        for (size_t i = 0; i < n; i++)
            generate_symbol(transmitter, first + done + i, sequence_bits(sequence, i * n_bits, n_bits),
                            components + 2 * i, bits ? bits + (done + i) * n_bits : NULL);
        for (size_t i = 0; noise_vars && i < n; i++) {
            const double sigma = deviation(transmitter, first + done + i);
            noise_vars[done + i] = (float)(2 * sigma * sigma);
        }
        n_clipped += sample_format_quantise(transmitter->format, components, n, transmitter->scale,
                                            (char *)samples + done * symbol_nbytes);
    }
    return n_clipped;
}
