/* SPDX-License-Identifier: MIT */
/* Random bits, their 256QAM symbols and white Gaussian noise. Every symbol is a function of the seed and of its index
 * alone (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11: Philox4x32-10, key = seed, counter = index
 * and stream), so that neither threads nor the length of a run change it, nor the noise the bits. */
#ifndef SOFTQAM_TOOLS_COMMON_TRANSMITTER_H
#define SOFTQAM_TOOLS_COMMON_TRANSMITTER_H

#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

struct transmitter {
    uint64_t seed;
    double sigma; /* standard deviation of the noise of a component; 0 for none */
    softqam_input_format format;
    double scale;          /* what one step of the samples stands for */
    double points[256][2]; /* I and Q, by bits with b0 lowest */
};

/* Unit mean symbol energy; noise of complex variance N0 = 10^(-snr_db/10), N0/2 a component; none where snr_db is
 * infinite. */
void transmitter_init(struct transmitter *transmitter, uint64_t seed, double snr_db, softqam_input_format format,
                      double scale);

/* Symbols first .. first + n - 1, and their bits, one byte 0 or 1 each, 8 a symbol, b0 first; `bits` may be NULL.
 * Returns how many components were clipped to the range of the format. */
uint64_t transmitter_generate(const struct transmitter *transmitter, uint64_t first, size_t n_symbols, void *samples,
                              uint8_t *bits);

#endif
