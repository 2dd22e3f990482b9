/* SPDX-License-Identifier: MIT */
#include "oracle.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <liquid/liquid.h>

enum {
    N_BITS = 8,
    NO_INFORMATION = 127,
    /* The symbols whose neighbour 0 is missing in liquid's table, and the byte, in 3GPP order, of the label bit that
     * differs from symbol 0: b7 ends the Q label, b6 the I label. */
    Q_NEIGHBOUR_OF_ZERO = 1,
    Q_BIT = 7,
    I_NEIGHBOUR_OF_ZERO = 16,
    I_BIT = 6
};

/* Well within this limit every bit is saturated, or no longer depends on the distance; and no point within it is so far
 * from the nearest constellation point (2 (3 - 15/sqrt(170))^2 = 6.8) that liquid's initial minimum, 8, remains. */
static const float clamp_limit = 3.0f;

/* 3GPP bit b is liquid's byte byte_of_bit[b]: liquid gives the four I label bits, then the four Q label bits. */
static const uint8_t byte_of_bit[N_BITS] = {0, 4, 1, 5, 2, 6, 3, 7};

struct oracle {
    modemcf modem;
};

oracle *oracle_create(void)
{
    oracle *self = calloc(1, sizeof *self);
    if (self)
        self->modem = modemcf_create(LIQUID_MODEM_QAM256);
    if (self && !self->modem) {
        free(self);
        return NULL;
    }
    return self;
}

void oracle_destroy(oracle *self)
{
    if (self)
        modemcf_destroy(self->modem);
    free(self);
}

/* Calls liquid, and puts the soft bits into 3GPP order. Returns liquid's hard decision. */
static unsigned int demodulate(oracle *self, float i, float q, uint8_t soft_bits[N_BITS])
{
    /* A complex number lies in memory as an array of its two parts (C11 6.2.5p13). Writing i + q * I instead would lose
     * signs of zero. */
    const float parts[2] = {i, q};
    liquid_float_complex sample;
    memcpy(&sample, parts, sizeof sample);

    unsigned int symbol = 0;
    unsigned char bytes[N_BITS];
    modemcf_demodulate_soft(self->modem, sample, &symbol, bytes);
    for (size_t b = 0; b < N_BITS; b++)
        soft_bits[b] = bytes[byte_of_bit[b]];
    return symbol;
}

static float clamp(float x) { return fmaxf(-clamp_limit, fminf(x, clamp_limit)); }

static void oracle_symbol(oracle *self, const float symbol[2], uint8_t soft_bits[N_BITS])
{
    if (!isfinite(symbol[0]) || !isfinite(symbol[1])) {
        memset(soft_bits, NO_INFORMATION, N_BITS);
        return;
    }
    const float i = clamp(symbol[0]), q = clamp(symbol[1]);
    const unsigned int decided = demodulate(self, i, q, soft_bits);
    if (decided == Q_NEIGHBOUR_OF_ZERO || decided == I_NEIGHBOUR_OF_ZERO) {
        /* The mirror at the origin keeps every label bit but the first of each axis, and lands where no neighbour is
         * missing. */
        uint8_t mirrored[N_BITS];
        demodulate(self, -i, -q, mirrored);
        const size_t bit = decided == Q_NEIGHBOUR_OF_ZERO ? Q_BIT : I_BIT;
        soft_bits[bit] = mirrored[bit];
    }
}

void oracle_soft_bits(oracle *self, const float *symbols, size_t n_symbols, uint8_t *soft_bits)
{
    for (size_t n = 0; n < n_symbols; n++)
        oracle_symbol(self, symbols + 2 * n, soft_bits + N_BITS * n);
}

void oracle_raw_soft_bits(oracle *self, const float *symbols, size_t n_symbols, uint8_t *soft_bits)
{
    for (size_t n = 0; n < n_symbols; n++)
        demodulate(self, symbols[2 * n], symbols[2 * n + 1], soft_bits + N_BITS * n);
}

const char *oracle_version(void) { return liquid_libversion(); }
