/* SPDX-License-Identifier: MIT */
#include "channel.h"

#include <math.h>

#include <Random123/philox.h>

#include "common/normal.h"
#include "numerology.h"
#include "ofdm.h"

enum stream { STREAM_PATHS, STREAM_NOISE };

/* A complex Gaussian number of unit variance. */
static double complex draw(const struct channel *channel, uint32_t slot, uint32_t index, enum stream stream)
{
    const philox4x32_key_t key = {{(uint32_t)channel->seed, (uint32_t)(channel->seed >> 32)}};
    const philox4x32_ctr_t counter = {{index, slot, channel->layer, (uint32_t)stream}};
    const philox4x32_ctr_t random = philox4x32(counter, key);
    double part[2];
    for (int k = 0; k < 2; k++)
        part[k] = normal_quantile(normal_uniform((uint64_t)random.v[2 * k + 1] << 32 | random.v[2 * k]));
    return sqrt(0.5) * (part[0] + part[1] * I);
}

void channel_init(struct channel *channel, uint64_t seed, uint32_t layer)
{
    double energy = 0;
    *channel = (struct channel){.seed = seed, .layer = layer};
    for (uint32_t k = 0; k < CHANNEL_PATHS; k++) {
        channel->delay[k] = 7 * k * (k + 1) / 2; /* 0 to 196 samples: 1.6 us */
        channel->gain[k] = draw(channel, 0, k, STREAM_PATHS) * pow(10, -0.15 * k);
        energy += creal(channel->gain[k] * conj(channel->gain[k]));
    }
    for (uint32_t k = 0; k < CHANNEL_PATHS; k++)
        channel->gain[k] /= sqrt(energy);
}

double complex channel_response(const struct channel *channel, size_t subcarrier)
{
    const double step = -2 * M_PI * (double)ofdm_bin(subcarrier) / FFT_LENGTH;
    double complex sum = 0;
    for (int k = 0; k < CHANNEL_PATHS; k++)
        sum += channel->gain[k] * cexp(I * step * (double)channel->delay[k]);
    return sum;
}

void channel_pass(const struct channel *channel, uint32_t slot, double n0, const float complex *sent,
                  float complex *received)
{
    for (uint32_t n = 0; n < SLOT_SAMPLES; n++) {
        double complex sum = sqrt(n0) * draw(channel, slot, n, STREAM_NOISE);
        for (int k = 0; k < CHANNEL_PATHS; k++)
            if (n >= channel->delay[k])
                sum += channel->gain[k] * sent[n - channel->delay[k]];
        received[n] = (float complex)sum;
    }
}
