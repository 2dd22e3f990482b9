/* SPDX-License-Identifier: MIT */
/* What the front end of a receiver hands to the demodulator for one slot: sent, passed through the channel, transformed
 * and equalised, as a receiver does it. And what it should come to. */
#ifndef SOFTQAM_TOOLS_RECEIVER_SLOT_H
#define SOFTQAM_TOOLS_RECEIVER_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel.h"
#include "layout.h"
#include "numerology.h"

struct carrier {
    uint64_t seed;
    double n0; /* noise variance before equalisation, of symbols of unit energy */
    struct channel channels[LAYERS];
    double complex response[LAYERS][SUBCARRIERS];
    float noise_var[LAYERS][SUBCARRIERS]; /* after equalisation: n0 / |response|^2 */
};

void carrier_init(struct carrier *carrier, uint64_t seed, double snr_db);

/* The noise variances of a slot's symbols, where layout.h says. */
void slot_noise_var(const struct carrier *carrier, const struct layout *layout, float *noise_var);

/* Makes slot number `index`: equalised symbols, where layout.h says, of coded bits, one a byte as the soft buffers have
 * them, which it draws unless the slot sends those of the last one again. Adds to each codeword's error the squared
 * distances of symbols to what was sent, each in units of its noise variance. False when there is no memory. */
bool slot_make(const struct carrier *carrier, const struct layout *layout, uint32_t index, float complex *symbols,
               uint8_t *coded, double errors[MAX_CODEWORDS]);

/* The place of a soft buffer that rate matching takes next, if it has come to this one: no filler, round and round. */
size_t slot_next_place(const softqam_codeword *transmission, size_t place);

/* The bit error rate of hard decisions on a codeword: exact for independent Gaussian noise. */
double carrier_bit_error_rate(const struct carrier *carrier, const struct codeword *codeword);

/* Bits whose LLR has the wrong sign; an LLR of 0 is half an error, and is counted in *n_zeros. */
double slot_bit_errors(const int8_t *llrs, const uint8_t *bits, size_t n_bits, double *n_zeros);

/* How many those should be, if the LLRs are what they are called: a bit is wrong with probability 1/(1 + e^|LLR|). */
double slot_promised_errors(const int8_t *llrs, double steps_per_nat, size_t n_bits);

/* Bits that the LLRs tell of these: 1 - log2(1 + e^-LLR) each, for the LLR of the bit that was sent. */
double slot_information(const int8_t *llrs, double steps_per_nat, const uint8_t *bits, size_t n_bits);

#endif
