/* SPDX-License-Identifier: MIT */
/* Makes random bits, scrambled or not, their symbols and white Gaussian noise. Every symbol is a function of the seed
 * and of its index alone (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11: Philox4x32-10, key =
 * seed, counter = index and stream). So threads and the length of a run do not change it, and the noise does not change
 * the bits. */
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
    double sigma; /* standard deviation of a component's noise; 0: no noise */
    softqam_input_format format;
    double scale; /* what a sample of 1 stands for */
    /* The caller may set the next members after transmitter_init(). Bits are scrambled (3GPP TS 38.211 clauses 6.3.1.1
     * and 7.3.1.1) by the sequence of c_init, which begins at symbol 0. */
    bool scrambles;
    uint32_t c_init;
    double phase, frequency; /* radians: symbol n is turned by phase + n * frequency */
    bool swaps;              /* writes Q before I */
    bool fades; /* a Rayleigh channel that changes every 12 symbols is divided out, so that the noise varies */
    double points[1 << MODULATION_MAX_BITS][2]; /* I and Q, by bits with b0 lowest */
};

/* Prepares symbols of unit mean energy with noise of complex variance N0 = 10^(-snr_db/10), N0/2 for each component; an
 * infinite snr_db: without noise. */
void transmitter_init(struct transmitter *transmitter, softqam_modulation modulation, uint64_t seed, double snr_db,
                      softqam_input_format format, double scale);

/* Makes n_symbols symbols from symbol `first` on, their bits before scrambling (a byte 0 or 1 each, b0 first), and
 * their noise variances N0. `bits` and `noise_vars` may be NULL. Returns how many components were clipped to the
 * format's range.
 */
uint64_t transmitter_generate(const struct transmitter *transmitter, uint64_t first, size_t n_symbols, void *samples,
                              uint8_t *bits, float *noise_vars);

#endif
