/* SPDX-License-Identifier: MIT */
/* The harness's symbols and noise variances: random ones, and those worth trying. */
#include <math.h>
#include <string.h>

#include "half.h"
#include "harness.h"

/* A set needs some of its parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* -limit .. +limit, evenly, every value exact before the last product. */
static float random_uniform(harness_random *random, float limit)
{
    return ((float)(harness_random_u32(random) >> 8) - 0x1p23f) * 0x1p-23f * limit;
}

/* Mean 0, deviation 1, bell-shaped: the sum of four uniform numbers, whose variance is 4/3. */
static float random_normal(harness_random *random)
{
    float sum = 0;
    for (int i = 0; i < 4; i++)
        sum += random_uniform(random, 1);
    return sum * sqrtf(0.75F);
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

/* Levels lie on the odd multiples of alpha, decision boundaries on the even ones; of 256QAM, 16 is outside. */
#define MAX_MULTIPLE 16
#define N_MULTIPLES  (2 * MAX_MULTIPLE + 1)

/* The modulation's levels on an axis: 2 (BPSK's too) to 32. */
static int n_levels(void)
{
    const size_t bits = harness_symbol_bits();
    return bits < 2 ? 2 : 1 << bits / 2;
}

static float multiple_of_alpha(int k)
{
    const int n = n_levels();
    return (float)k * (float)(1 / sqrt(2 * ((double)n * n - 1) / 3));
}

/* The float that lies n_ulp floats above v. */
static float step_ulps(float v, int n_ulp)
{
    for (; n_ulp > 0; n_ulp--)
        v = nextafterf(v, INFINITY);
    for (; n_ulp < 0; n_ulp++)
        v = nextafterf(v, -INFINITY);
    return v;
}

void harness_fill_uniform(harness_random *random, float limit, size_t n_symbols, float *symbols)
{
    for (size_t i = 0; i < 2 * n_symbols; i++)
        symbols[i] = random_uniform(random, limit);
}

static void fill_uniform(harness_random *random, float limit, size_t first, size_t n_symbols, float *symbols)
{
    harness_fill_uniform(random, limit, n_symbols, symbols);
}

static void fill_noisy(harness_random *random, float snr_db, size_t first, size_t n_symbols, float *symbols)
{
    float deviation = sqrtf(0.5F * powf(10, -snr_db / 10));
    for (size_t i = 0; i < 2 * n_symbols; i++) {
        int level = 2 * (int)harness_random_below(random, (size_t)n_levels()) - (n_levels() - 1);
        symbols[i] = multiple_of_alpha(level) + deviation * random_normal(random);
    }
}

/* One axis close to a level or a boundary, the other anywhere. */
static void fill_close(harness_random *random, float max_ulps, size_t first, size_t n_symbols, float *symbols)
{
    for (size_t i = 0; i < n_symbols; i++) {
        int multiple = (int)harness_random_below(random, (size_t)(2 * n_levels() + 1)) - n_levels();
        int n_ulp = (int)random_uniform(random, max_ulps);
        size_t axis = (first + i) % 2;
        symbols[2 * i + axis] = step_ulps(multiple_of_alpha(multiple), n_ulp);
        symbols[2 * i + 1 - axis] = random_uniform(random, 1.4F);
    }
}

#define GRID_ULPS    4
#define N_GRID_STEPS (2 * GRID_ULPS + 1)
#define N_GRID       ((size_t)N_MULTIPLES * N_GRID_STEPS)

static float grid_value(size_t k)
{
    return step_ulps(multiple_of_alpha((int)(k / N_GRID_STEPS) - MAX_MULTIPLE), (int)(k % N_GRID_STEPS) - GRID_ULPS);
}

/* Every float within GRID_ULPS of a multiple of alpha, crossed with the same on the other axis. */
static void fill_grid(harness_random *random, float parameter, size_t first, size_t n_symbols, float *symbols)
{
    for (size_t i = 0; i < n_symbols; i++) {
        symbols[2 * i] = grid_value((first + i) / N_GRID);
        symbols[2 * i + 1] = grid_value((first + i) % N_GRID);
    }
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

#define N_SPECIAL (HARNESS_COUNT(special_bits) + N_MULTIPLES)

static void put_special(size_t k, float *value)
{
    if (k < N_MULTIPLES)
        *value = multiple_of_alpha((int)k - MAX_MULTIPLE);
    else
        memcpy(value, &special_bits[k - N_MULTIPLES], sizeof *value);
}

/* Every special value and every exact multiple of alpha, crossed with the same on the other axis. */
static void fill_special(harness_random *random, float parameter, size_t first, size_t n_symbols, float *symbols)
{
    for (size_t i = 0; i < n_symbols; i++) {
        put_special((first + i) / N_SPECIAL, &symbols[2 * i]);
        put_special((first + i) % N_SPECIAL, &symbols[2 * i + 1]);
    }
}

static void fill_bits(harness_random *random, float parameter, size_t first, size_t n_symbols, float *symbols)
{
    harness_random_fill(random, symbols, 2 * n_symbols * sizeof *symbols);
}

/* Random signs and mantissas under an exponent of at least `exponent`; with 0, a subnormal on one axis or both. */
static void fill_exponent(harness_random *random, float exponent, size_t first, size_t n_symbols, float *symbols)
{
    const uint32_t lowest = (uint32_t)exponent, highest = lowest == 0 ? 0 : 254;
    for (size_t i = 0; i < 2 * n_symbols; i++) {
        const float value = random_positive(random, lowest, highest);
        symbols[i] = harness_random_below(random, 2) ? value : -value;
    }
    for (size_t i = 0; i < n_symbols; i += 2)
        symbols[2 * i + harness_random_below(random, 2)] = random_uniform(random, 1.4F);
}

static void fill_zeros(harness_random *random, float parameter, size_t first, size_t n_symbols, float *symbols)
{
    memset(symbols, 0, 2 * n_symbols * sizeof *symbols);
}

const harness_symbol_set harness_symbol_sets[] = {
    {"uniform in +-1.4", fill_uniform, 1.4F, 0},
    {"uniform in +-3.5", fill_uniform, 3.5F, 0},
    {"constellation at 10 dB", fill_noisy, 10, 0},
    {"constellation at 20 dB", fill_noisy, 20, 0},
    {"constellation at 28 dB", fill_noisy, 28, 0},
    {"constellation at 36 dB", fill_noisy, 36, 0},
    {"constellation at 140 dB", fill_noisy, 140, 0},
    {"one axis within 64 ulp of a multiple of alpha", fill_close, 65, 0},
    {"random bit patterns", fill_bits, 0, 0},
    {"subnormal", fill_exponent, 0, 0},
    {"huge", fill_exponent, 128, 0},
    {"both axes within 4 ulp of a multiple of alpha", fill_grid, 0, N_GRID *N_GRID},
    {"special values", fill_special, 0, N_SPECIAL *N_SPECIAL},
    {"zeros", fill_zeros, 0, 1000},
};

const size_t harness_n_symbol_sets = HARNESS_COUNT(harness_symbol_sets);

void harness_fill_mixture(harness_random *random, size_t n_symbols, float *symbols)
{
    /* Short runs, so that a few dozen symbols hold several kinds; a prime, so that runs and vectors do not keep step.
     */
    const size_t run = 7;
    for (size_t first = 0; first < n_symbols; first += run) {
        const harness_symbol_set *set = &harness_symbol_sets[harness_random_below(random, harness_n_symbol_sets)];
        size_t n = n_symbols - first < run ? n_symbols - first : run;
        size_t start = set->n_fixed ? harness_random_below(random, set->n_fixed - n) : first;
        set->fill(random, set->parameter, start, n, symbols + 2 * first);
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
            memcpy(&noise_var[i], &special_bits[harness_random_below(random, HARNESS_COUNT(special_bits))],
                   sizeof noise_var[i]);
}

void harness_fill_gains(harness_random *random, size_t n, float *gains)
{
    static const float special[] = {0,        -0.0F,     -1,         NAN,       INFINITY,  -INFINITY, 0x1p-40F,
                                    0x1p-41F, 0x1p40F,   0x1.8p40F,  0x1p-149F, 0x1p-127F, 0x1p127F,  1,
                                    0x1p-63F, 0x1p-126F, 0x1.8p-40F, 0x1p39F,   0x1.8p39F};
    const size_t n_usual = harness_random_below(random, 2) ? 16 : 4000;
    for (size_t i = 0; i < n; i++) {
        const size_t kind = harness_random_below(random, n_usual);
        if (kind == 0)
            gains[i] = special[harness_random_below(random, HARNESS_COUNT(special))];
        else
            gains[i] =
                kind == 1 ? random_positive(random, 127 - 50, 127 + 49) : random_positive(random, 127 - 6, 127 + 5);
    }
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
