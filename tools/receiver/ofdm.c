/* SPDX-License-Identifier: MIT */
#include "ofdm.h"

#include <math.h>
#include <string.h>

#include <liquid/liquid.h>

#include "numerology.h"

size_t ofdm_bin(size_t subcarrier)
{
    return (subcarrier + FFT_LENGTH - SUBCARRIERS / 2) % FFT_LENGTH;
}

static size_t prefix_length(size_t symbol)
{
    return symbol == 0 ? FIRST_PREFIX_LENGTH : PREFIX_LENGTH;
}

static void scale(float complex *values, float factor)
{
    for (size_t k = 0; k < FFT_LENGTH; k++)
        values[k] *= factor;
}

void ofdm_modulate(const float complex *grid, float complex *samples)
{
    float complex in[FFT_LENGTH], out[FFT_LENGTH];
    fftplan plan = fft_create_plan(FFT_LENGTH, in, out, LIQUID_FFT_BACKWARD, 0);
    for (size_t symbol = 0; symbol < OFDM_SYMBOLS; symbol++) {
        const size_t prefix = prefix_length(symbol);
        memset(in, 0, sizeof in);
        for (size_t k = 0; k < SUBCARRIERS; k++)
            in[ofdm_bin(k)] = grid[symbol * SUBCARRIERS + k];
        fft_execute(plan);
        scale(out, 1 / sqrtf(FFT_LENGTH));
        memcpy(samples, out + FFT_LENGTH - prefix, prefix * sizeof *out);
        memcpy(samples + prefix, out, sizeof out);
        samples += prefix + FFT_LENGTH;
    }
    fft_destroy_plan(plan);
}

void ofdm_demodulate(const float complex *samples, float complex *grid)
{
    float complex in[FFT_LENGTH], out[FFT_LENGTH];
    fftplan plan = fft_create_plan(FFT_LENGTH, in, out, LIQUID_FFT_FORWARD, 0);
    for (size_t symbol = 0; symbol < OFDM_SYMBOLS; symbol++) {
        samples += prefix_length(symbol);
        memcpy(in, samples, sizeof in);
        fft_execute(plan);
        scale(out, 1 / sqrtf(FFT_LENGTH));
        for (size_t k = 0; k < SUBCARRIERS; k++)
            grid[symbol * SUBCARRIERS + k] = out[ofdm_bin(k)];
        samples += FFT_LENGTH;
    }
    fft_destroy_plan(plan);
}
