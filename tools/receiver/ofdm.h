/* SPDX-License-Identifier: MIT */
/* Between the samples of a slot and its grid of OFDM_SYMBOLS x SUBCARRIERS symbols, by liquid-dsp's FFT. Both
 * directions keep energy, so noise has the same variance a sample and a subcarrier. */
#ifndef SOFTQAM_TOOLS_RECEIVER_OFDM_H
#define SOFTQAM_TOOLS_RECEIVER_OFDM_H

#include <complex.h>
#include <stddef.h>

/* The FFT's bin of a subcarrier: the carrier's centre, subcarrier SUBCARRIERS/2, is bin 0. */
size_t ofdm_bin(size_t subcarrier);

void ofdm_modulate(const float complex *grid, float complex *samples);
void ofdm_demodulate(const float complex *samples, float complex *grid);

#endif
