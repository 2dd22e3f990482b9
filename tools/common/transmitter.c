/* SPDX-License-Identifier: MIT */
#include "transmitter.h"

#include <math.h>

#include <Random123/philox.h>

#include "normal.h"
#include "sample_format.h"

enum { PART_SYMBOLS = 1024 };

/* The last word of the counter. Numbers in use stay as they are: they define what a seed gives. */
enum stream { STREAM_BITS = 0, STREAM_NOISE = 1 };

static philox4x32_ctr_t draw(uint64_t seed, uint64_t index, enum stream stream)
{
    const philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    const philox4x32_ctr_t counter = {{(uint32_t)index, (uint32_t)(index >> 32), 0, (uint32_t)stream}};
    return philox4x32(counter, key);
}

/* 3GPP TS 38.211 clause 5.1.6, one axis, before the factor 1/sqrt(170); bits holds b0 b2 b4 b6 (or b1 b3 b5 b7) in its
 * bits 0, 2, 4, 6. */
static int axis_level(unsigned bits)
{
    const int s0 = 1 - 2 * (int)(bits & 1), s1 = 1 - 2 * (int)(bits >> 2 & 1);
    const int s2 = 1 - 2 * (int)(bits >> 4 & 1), s3 = 1 - 2 * (int)(bits >> 6 & 1);
    return s0 * (8 - s1 * (4 - s2 * (2 - s3)));
}

void transmitter_init(struct transmitter *transmitter, uint64_t seed, double snr_db, softqam_input_format format,
                      double scale)
{
    /* Points are binary32, as the constellation of a receiver is: without noise a cf32 file holds them exactly. */
    const float alpha = (float)(1 / sqrt(170));
    transmitter->seed = seed;
    transmitter->sigma = isinf(snr_db) ? 0 : sqrt(normal_power_ratio(-snr_db) / 2);
    transmitter->format = format;
    transmitter->scale = scale;
    for (unsigned bits = 0; bits < 256; bits++) {
        const float i = (float)axis_level(bits) * alpha, q = (float)axis_level(bits >> 1) * alpha;
        transmitter->points[bits][0] = (double)i;
        transmitter->points[bits][1] = (double)q;
    }
}

static void generate_symbol(const struct transmitter *transmitter, uint64_t index, double component[2], uint8_t *bits)
{
    const unsigned byte = draw(transmitter->seed, index, STREAM_BITS).v[0] & 0xff;
    component[0] = transmitter->points[byte][0];
    component[1] = transmitter->points[byte][1];
    if (bits)
        for (int i = 0; i < 8; i++)
            bits[i] = byte >> i & 1;
    if (transmitter->sigma == 0)
        return;
    const philox4x32_ctr_t random = draw(transmitter->seed, index, STREAM_NOISE);
    for (int axis = 0; axis < 2; axis++) {
        const uint64_t word = (uint64_t)random.v[2 * axis + 1] << 32 | random.v[2 * axis];
        component[axis] += transmitter->sigma * normal_quantile(normal_uniform(word));
    }
}

uint64_t transmitter_generate(const struct transmitter *transmitter, uint64_t first, size_t n_symbols, void *samples,
                              uint8_t *bits)
{
    double components[2 * PART_SYMBOLS];
    const size_t symbol_nbytes = softqam_input_symbol_nbytes(transmitter->format);
    uint64_t n_clipped = 0;
    for (size_t done = 0; done < n_symbols; done += PART_SYMBOLS) {
        const size_t n = n_symbols - done < PART_SYMBOLS ? n_symbols - done : PART_SYMBOLS;
        for (size_t i = 0; i < n; i++)
            generate_symbol(transmitter, first + done + i, components + 2 * i, bits ? bits + 8 * (done + i) : NULL);
        n_clipped += sample_format_quantise(transmitter->format, components, n, transmitter->scale,
                                            (char *)samples + done * symbol_nbytes);
    }
    return n_clipped;
}
