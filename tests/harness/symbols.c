/* SPDX-License-Identifier: MIT */
/* The harness's symbols and noise variances: random ones, and those worth trying. */
#include <math.h>
#include <string.h>

#include "half.h"
#include "harness.h"

/* -limit .. +limit, evenly, every value exact before the last product. */
static float random_uniform(harness_random *random, float limit)
{
    return ((float)(harness_random_u32(random) >> 8) - 0x1p23f) * 0x1p-23f * limit;
}

/* A random mantissa under an exponent field from `lowest` to `highest`. */
static float random_positive(harness_random *random, uint32_t lowest, uint32_t highest)
{
    uint32_t bits = harness_random_u32(random) & 0x007fffff;
    bits |= (lowest + (uint32_t)harness_random_below(random, highest - lowest + 1)) << 23;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Returns a float some floats beside v. */
static float beside(harness_random *random, float v, int max_ulps)
{
    for (int n = (int)harness_random_below(random, 2 * (size_t)max_ulps + 1) - max_ulps; n != 0; n += n < 0 ? 1 : -1)
        v = nextafterf(v, n < 0 ? -INFINITY : INFINITY);
    return v;
}

/* Returns k times the smallest level of the modulation under test: levels lie on the odd multiples, boundaries on the
 * even ones. */
static float multiple_of_level(int n_levels, int k)
{
    return (float)k * (float)(1 / sqrt(2 * ((double)n_levels * n_levels - 1) / 3));
}

/* Bit patterns, since a signalling NaN need not survive arithmetic. */
static const uint32_t special_bits[] = {
    0x00000000, 0x80000000,                                                             /* zeros */
    0x00000001, 0x80000001, 0x007fffff, 0x807fffff,                                     /* subnormal */
    0x00800000, 0x80800000, 0x1a000000, 0x9a000000,                                     /* tiny */
    0x403fffff, 0x40400000, 0x40400001, 0xc03fffff, 0xc0400000, 0xc0400001,             /* about the clamp, 3 */
    0x3f800000, 0xbf800000, 0x40800000, 0xc0800000, 0x42c80000, 0xc2c80000,             /* 1, 4, 100 */
    0x5f7fffff, 0x5f800000, 0xdf800000, 0x7149f2ca, 0xf149f2ca, 0x7f7fffff, 0xff7fffff, /* squares overflow */
    0x7f800000, 0xff800000,                                                             /* infinities */
    0x7fc00000, 0xffc00000, 0x7fffffff, 0xffffffff,                                     /* quiet NaN */
    0x7f800001, 0xff800001, 0x7fbfffff, 0xffbfffff,                                     /* signalling NaN */
};

static float special(harness_random *random)
{
    const float sign = harness_random_below(random, 2) ? 1 : -1;
    const size_t kind = harness_random_below(random, 4);
    float value;
    memcpy(&value, &special_bits[harness_random_below(random, HARNESS_COUNT(special_bits))], sizeof value);
    return kind == 0   ? sign * random_positive(random, 0, 0)
           : kind == 1 ? sign * random_positive(random, 128, 254)
                       : value;
}

void harness_fill_uniform(harness_random *random, float limit, size_t n_symbols, float *symbols)
{
    for (size_t i = 0; i < 2 * n_symbols; i++)
        symbols[i] = random_uniform(random, limit);
}

/* A component of one of these kinds. */
enum { UNIFORM, OUTSIDE, NOISY, NEAR, BITS, SPECIAL, N_KINDS };

static float component(harness_random *random, size_t kind, float noise)
{
    const int n_levels = harness_symbol_bits() < 2 ? 2 : 1 << harness_symbol_bits() / 2;
    const int level = 2 * (int)harness_random_below(random, (size_t)n_levels) - (n_levels - 1);
    const int multiple = (int)harness_random_below(random, 33) - 16,
              most_ulps = harness_random_below(random, 2) ? 64 : 4;
    float bits;
    harness_random_fill(random, &bits, sizeof bits);
    return kind == UNIFORM   ? random_uniform(random, 1.4F)
           : kind == OUTSIDE ? random_uniform(random, 3.5F)
           : kind == NOISY   ? multiple_of_level(n_levels, level) + random_uniform(random, noise)
           : kind == NEAR    ? beside(random, multiple_of_level(n_levels, multiple), most_ulps)
           : kind == BITS    ? bits
                             : special(random);
}

void harness_fill_mixture(harness_random *random, size_t n_symbols, float *symbols)
{
    /* Few symbols of a kind, so that a few dozen hold several kinds; a prime, so that kinds and vectors do not keep
     * step. */
    enum { N_ALIKE = 7 };
    static const float noises[] = {0.4F, 0.12F, 0.05F, 0.02F, 0};
    size_t kinds[2] = {UNIFORM, UNIFORM};
    float noise = 0;
    for (size_t i = 0; i < 2 * n_symbols; i++) {
        if (i % (2 * N_ALIKE) == 0) {
            noise = noises[harness_random_below(random, HARNESS_COUNT(noises))];
            kinds[0] = kinds[1] = harness_random_below(random, N_KINDS);
            if (harness_random_below(random, 3) == 0) /* the other axis is usual */
                kinds[harness_random_below(random, 2)] = UNIFORM;
        }
        symbols[i] = component(random, kinds[i % 2], noise);
    }
}

void harness_fill_noise(harness_random *random, harness_noise kind, size_t n, float *noise_var)
{
    for (size_t i = 0; i < n; i++)
        if (kind == HARNESS_NOISE_USUAL || harness_random_below(random, 2))
            noise_var[i] = random_positive(random, 127 - 14, 127 - 2);
        else if (harness_random_below(random, 2))
            harness_random_fill(random, &noise_var[i], sizeof noise_var[i]);
        else
            noise_var[i] = special(random);
}

/* From memory of any alignment. */
static float sample_at(softqam_input_format format, const uint8_t *samples, size_t i)
{
    const size_t nbytes = softqam_input_symbol_nbytes(format) / 2;
    union {
        float cf32;
        int16_t cs16;
        int8_t cs8;
        uint16_t cf16;
    } sample;
    _Static_assert(HARNESS_N_INPUT_FORMATS == 4, "each of them");
    memcpy(&sample, samples + i * nbytes, nbytes);
    return format == SOFTQAM_INPUT_CS16   ? sample.cs16
           : format == SOFTQAM_INPUT_CS8  ? sample.cs8
           : format == SOFTQAM_INPUT_CF16 ? (float)half_to_double(sample.cf16)
                                          : sample.cf32;
}

void harness_widen(softqam_input_format format, float scale, const void *samples, size_t n_symbols, float *values)
{
    float factor = scale == 0 ? softqam_input_default_scale(format) : scale;
    for (size_t i = 0; i < 2 * n_symbols; i++)
        values[i] = sample_at(format, samples, i) * factor;
}
