/* SPDX-License-Identifier: MIT */
/* Writes the vectors of this folder; README.md beside it says what each is. The output is the same on every machine:
 * the randomness is Random123's, and nothing but IEEE-754 basic operations, nextafterf and square roots is used on it.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "oracle.h"
#include "vector_writer.h"

enum { N_BITS = 8, N_POINTS = 256, N_LEVELS = 16, MAX_SYMBOLS = 1 << 14 };

typedef struct vector {
    const char *name;
    const char *suffix;
    size_t component_nbytes;
    float scale; /* what an integer component is multiplied with */
    size_t n_symbols;
    uint32_t components[MAX_SYMBOLS][2]; /* binary32 bit patterns, or integers in two's complement */
} vector;

static oracle *reference;
static vector current;

static void begin(const char *name, const char *suffix, size_t component_nbytes, float scale)
{
    current.name = name;
    current.suffix = suffix;
    current.component_nbytes = component_nbytes;
    current.scale = scale;
    current.n_symbols = 0;
}

static void add_bits(uint32_t i, uint32_t q)
{
    if (current.n_symbols == MAX_SYMBOLS)
        writer_fail(current.name, "too many symbols");
    current.components[current.n_symbols][0] = i;
    current.components[current.n_symbols][1] = q;
    current.n_symbols++;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void add(float i, float q) { add_bits(bits_of(i), bits_of(q)); }

static float component_value(uint32_t bits)
{
    float value;
    switch (current.component_nbytes) {
    case 1:
        return (float)(int8_t)bits * current.scale;
    case 2:
        return (float)(int16_t)bits * current.scale;
    default:
        memcpy(&value, &bits, sizeof value);
        return value;
    }
}

static void put(const char *suffix, const uint8_t *bytes, size_t nbytes)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", current.name, suffix);
    writer_put(name, bytes, nbytes);
}

static void end(void)
{
    static uint8_t samples[MAX_SYMBOLS * 2 * sizeof(uint32_t)], soft_bits[MAX_SYMBOLS * N_BITS];
    size_t nbytes = 0;
    for (size_t n = 0; n < current.n_symbols; n++) {
        const uint32_t *components = current.components[n];
        for (size_t c = 0; c < 2; c++)
            for (size_t byte = 0; byte < current.component_nbytes; byte++)
                samples[nbytes++] = (uint8_t)(components[c] >> 8 * byte);
        const float symbol[2] = {component_value(components[0]), component_value(components[1])};
        oracle_soft_bits(reference, symbol, 1, soft_bits + n * N_BITS);
    }
    put(current.suffix, samples, nbytes);
    put("u8", soft_bits, current.n_symbols * N_BITS);
}

/* Half the distance of neighbouring levels. */
static float alpha(void) { return (float)(1.0 / sqrt(170.0)); }

static void modulate(unsigned int number, float point[2])
{
    uint8_t bits[N_BITS];
    for (unsigned int b = 0; b < N_BITS; b++)
        bits[b] = (uint8_t)(number >> (N_BITS - 1 - b) & 1u);
    oracle_modulate(reference, bits, point);
}

/* Random symbols, or those of `points` in turn, plus noise with this standard deviation on each axis. */
static void add_noisy(uint32_t seed, size_t n_symbols, double deviation, const unsigned int *points, size_t n_points)
{
    for (uint32_t n = 0; n < n_symbols; n++) {
        uint32_t random[16];
        for (uint32_t k = 0; k < 4; k++)
            writer_random(seed, 0x256u, n, k, random + 4 * k);
        float point[2];
        modulate(points ? points[n % n_points] : random[12] >> 24, point);
        add((float)(point[0] + deviation * writer_noise(random, 0)),
            (float)(point[1] + deviation * writer_noise(random, 1)));
    }
}

static void make_points(void)
{
    begin("points", "cf32", 4, 1);
    for (unsigned int n = 0; n < N_POINTS; n++) {
        float point[2];
        modulate(n, point);
        add(point[0], point[1]);
    }
    end();
}

static void make_noisy(void)
{
    begin("noisy_997", "cf32", 4, 1);
    add_noisy(997, 997, 0.04, NULL, 0);
    end();
    begin("noisy_257", "cf32", 4, 1);
    add_noisy(257, 257, 0.15, NULL, 0);
    end();
    /* The corner where liquid-dsp's table of neighbours has its hole: liquid's symbols 0, 1, 16 and 17 are the
     * complements of these, with I and Q interleaved. */
    static const unsigned int corner[] = {0xff, 0xfe, 0xfd, 0xfc};
    begin("corner", "cf32", 4, 1);
    add_noisy(16, 509, 0.06, corner, 4);
    end();
}

static void make_boundaries(void)
{
    enum { REACH = 4 };
    const float a = alpha();
    const float others[] = {-15 * a, -14 * a, -2.5f * a, a, 12 * a};
    begin("boundaries", "cf32", 4, 1);
    /* Even multiples of alpha are decision boundaries, odd ones levels. */
    for (int m = -N_LEVELS; m <= N_LEVELS; m++) {
        float v = (float)m * a;
        for (int k = 0; k < REACH; k++)
            v = nextafterf(v, -FLT_MAX);
        for (int k = -REACH; k <= REACH; k++, v = nextafterf(v, FLT_MAX)) {
            for (size_t o = 0; o < sizeof others / sizeof others[0]; o++) {
                add(v, others[o]);
                add(others[o], v);
            }
        }
    }
    end();
}

/* Decision boundaries of both axes at once, where liquid's search finds a neighbour nearer than the point it decided
 * for. */
static void make_crossings(void)
{
    enum { N_AXIS = 3 * (N_LEVELS + 1) };
    float values[N_AXIS];
    for (int k = 0; k <= N_LEVELS; k++) {
        const float boundary = (float)(2 * k - N_LEVELS) * alpha();
        values[3 * k] = nextafterf(boundary, -FLT_MAX);
        values[3 * k + 1] = boundary;
        values[3 * k + 2] = nextafterf(boundary, FLT_MAX);
    }
    begin("crossings", "cf32", 4, 1);
    for (size_t i = 0; i < N_AXIS; i++)
        for (size_t q = 0; q < N_AXIS; q++)
            add(values[i], values[q]);
    end();
}

static void make_zeros(void)
{
    static const float zeros[] = {0.0f, -0.0f};
    begin("zeros", "cf32", 4, 1);
    for (size_t z = 0; z < 2; z++) {
        add(zeros[z], 0.0f);
        add(zeros[z], -0.0f);
        for (int j = 0; j < N_LEVELS; j++) {
            const float level = (float)(2 * j - 15) * alpha();
            add(zeros[z], level);
            add(level, zeros[z]);
        }
    }
    end();
}

static void make_extremes(void)
{
    const float a = alpha();
    const uint32_t positive[] = {
        0x7fc00000,      /* NaN */
        0x7fe54321,      /* with a payload */
        0x7f800001,      /* signalling */
        0x7f800000,      /* infinity */
        0x7f7fffff,      /* the largest finite number */
        bits_of(1e19f),  /* its square is finite, */
        bits_of(2e19f),  /* and its square is not */
        bits_of(100.0f), /* far outside */
        0x00800000,      /* the smallest normal number */
        0x007fffff,      /* the largest subnormal one */
        0x00000001,      /* the smallest */
        0x00000000,      /* zero */
        bits_of(a),      bits_of(15 * a),
    };
    const size_t n_values = 2 * sizeof positive / sizeof positive[0];
    begin("extremes", "cf32", 4, 1);
    for (size_t i = 0; i < n_values; i++)
        for (size_t q = 0; q < n_values; q++)
            add_bits(positive[i / 2] | (uint32_t)(i % 2) << 31, positive[q / 2] | (uint32_t)(q % 2) << 31);
    end();
}

static void make_outliers(void)
{
    const float positive[] = {0.1f,   0.6f,
                              1.2f,   1.5f,
                              2.0f,   2.5f,
                              2.99f,  nextafterf(3.0f, 0),
                              3.0f,   nextafterf(3.0f, 4),
                              3.1f,   3.14f,
                              3.148f, 3.16f,
                              3.5f,   3.9f,
                              4.0f,   5.0f,
                              10.0f,  1000.0f};
    const size_t n_values = 2 * sizeof positive / sizeof positive[0];
    begin("outliers", "cf32", 4, 1);
    for (size_t i = 0; i < n_values; i++)
        for (size_t q = 0; q < n_values; q++)
            add(i % 2 ? -positive[i / 2] : positive[i / 2], q % 2 ? -positive[q / 2] : positive[q / 2]);
    end();
}

static void make_integer_grids(void)
{
    begin("grid_int16", "cs16", 2, 1.0f / 32768);
    for (int32_t i = 0; i < 64; i++) {
        for (int32_t q = 0; q < 64; q++) {
            /* Both ends of the range and 62 unequal steps between them on I; steps of another size on Q. */
            add_bits((uint32_t)(i * 65535 / 63 - 32768), (uint32_t)((q * 1031 + i * 517 + 32767) % 65536 - 32768));
        }
    }
    end();

    begin("grid_int8", "cs8", 1, 1.0f / 128);
    for (int32_t n = -128; n < 128; n++) {
        for (int32_t m = -128; m < 128; m += 17) {
            add_bits((uint32_t)n, (uint32_t)m);
            add_bits((uint32_t)m, (uint32_t)n);
        }
    }
    end();
}

int main(int argc, char **argv)
{
    writer_open(argc, argv);
    reference = oracle_create();
    if (!reference)
        writer_fail("oracle", "out of memory");
    make_points();
    make_noisy();
    make_boundaries();
    make_crossings();
    make_zeros();
    make_extremes();
    make_outliers();
    make_integer_grids();
    oracle_destroy(reference);
    return writer_close();
}
