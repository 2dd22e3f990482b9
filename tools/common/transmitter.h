/* SPDX-License-Identifier: MIT */
/* Random bits, scrambled or not, their symbols and white Gaussian noise. Every symbol is a function of the seed and of
 * its index alone (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11: Philox4x32-10, key = seed,
 * counter = index and stream), so that neither threads nor the length of a run change it, nor the noise the bits. */
#ifndef SOFTQAM_TOOLS_COMMON_TRANSMITTER_H
#define SOFTQAM_TOOLS_COMMON_TRANSMITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "modulation.h"

struct transmitter {
    const struct modulation *modulation;
    uint64_t seed;
    double sigma; /* standard deviation of the noise of a component; 0 for none */
    softqam_input_format format;
    double scale; /* what one step of the samples stands for */
    /* Set by the caller after transmitter_init(): the bits are scrambled before they are modulated (3GPP TS 38.211
     * clauses 6.3.1.1 and 7.3.1.1), by the sequence of c_init, which begins at symbol 0. */
    bool scrambles;
    uint32_t c_init;
    /* Set likewise, to disturb the symbols: an angle, and one more each symbol, in radians; Q before I; fading, by a
     * Rayleigh channel that is constant for 12 symbols and divided out, so that the noise varies. */
    double phase, frequency;
    bool swaps, fades;
    double points[1 << MODULATION_MAX_BITS][2]; /* I and Q, by bits with b0 lowest */
};

/* Starts symbols of unit mean energy with noise of complex variance N0 = 10^(-snr_db/10), N0/2 a component; none if
 * snr_db is infinite. */
void transmitter_init(struct transmitter *transmitter, softqam_modulation modulation, uint64_t seed, double snr_db,
                      softqam_input_format format, double scale);

/* Makes symbols first .. first + n - 1; their bits before scrambling, one byte 0 or 1 each, b0 first; and their noise
 * variances N0. `bits` and `noise_vars` may be NULL. Returns how many components were clipped to the range of the
 * format. */
uint64_t transmitter_generate(const struct transmitter *transmitter, uint64_t first, size_t n_symbols, void *samples,
                              uint8_t *bits, float *noise_vars);

#endif
