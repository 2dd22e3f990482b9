/* SPDX-License-Identifier: MIT */
/* A channel with several paths and white Gaussian noise, one a layer, constant and known to the receiver. */
#ifndef SOFTQAM_TOOLS_RECEIVER_CHANNEL_H
#define SOFTQAM_TOOLS_RECEIVER_CHANNEL_H

#include <complex.h>
#include <stddef.h>
#include <stdint.h>

enum { CHANNEL_PATHS = 8 };

struct channel {
    uint64_t seed;
    uint32_t layer;
    size_t delay[CHANNEL_PATHS]; /* in samples, less than a cyclic prefix */
    double complex gain[CHANNEL_PATHS];
};

/* Random paths (complex Gaussian gains that fall with the delay) of unit energy together. */
void channel_init(struct channel *channel, uint64_t seed, uint32_t layer);

/* What it does to a subcarrier: the discrete Fourier transform of its impulse response. */
double complex channel_response(const struct channel *channel, size_t subcarrier);

/* Sends a slot through it and adds noise of variance n0 a sample, a function of the seed, the layer and the slot's
 * number alone. What came before the slot is silence. */
void channel_pass(const struct channel *channel, uint32_t slot, double n0, const float complex *sent,
                  float complex *received);

#endif
