/* SPDX-License-Identifier: MIT */
#include "exhaustive_symbols.h"

#include <math.h>
#include <string.h>

#include "harness.h"

/* Of a set as a test; and where each symbol takes a reference that is slow: so many times further apart, and never
 * less. */
enum { DEFAULT_STRIDE = 2039, REFERENCE_FACTOR = 7, REFERENCE_STRIDE = 1021 };

#define ALL_BITS ((uint64_t)1 << 32)

/* Levels are the odd multiples of alpha, boundaries the even ones. */
static float multiple_of_alpha(int k)
{
    const double n_levels = harness_symbol_bits() < 2 ? 2 : 1 << harness_symbol_bits() / 2;
    return (float)k * (float)(1 / sqrt(2 * (n_levels * n_levels - 1) / 3));
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void fill_running(const symbols *self, uint64_t first, size_t n, void *out)
{
    uint32_t *at = out;
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = self->offset + (uint32_t)((first + i) * self->stride);
        at[2 * i + self->running] = bits;
        at[2 * i + 1 - self->running] = self->fixed;
    }
}

/* Both signs of the magnitudes from `offset` on, in turn. */
static void fill_magnitudes(const symbols *self, uint64_t first, size_t n, void *out)
{
    uint32_t *at = out;
    for (size_t i = 0; i < n; i++) {
        const uint64_t number = (first + i) * self->stride;
        at[2 * i + self->running] = (self->offset + (uint32_t)(number / 2)) | (uint32_t)(number % 2) << 31;
        at[2 * i + 1 - self->running] = self->fixed;
    }
}

/* The floats within NEAR_ULPS of the multiples of alpha, and those of the other axis likewise. */
enum { NEAR_ULPS = 16, N_NEAR = 2 * NEAR_ULPS + 1, MAX_MULTIPLE = 16, N_MULTIPLES = 2 * MAX_MULTIPLE + 1 };

static uint32_t near_bits(size_t k)
{
    const int multiple = (int)(k / N_NEAR) - MAX_MULTIPLE, n_ulp = (int)(k % N_NEAR) - NEAR_ULPS;
    if (multiple == 0) {
        /* Around zero: the smallest of either sign. */
        return n_ulp < 0 ? 0x80000000U - (uint32_t)(n_ulp + 1) : (uint32_t)n_ulp;
    }
    return bits_of(multiple_of_alpha(multiple)) + (uint32_t)n_ulp;
}

static void fill_near(const symbols *self, uint64_t first, size_t n, void *out)
{
    (void)self;
    uint32_t *at = out;
    for (size_t i = 0; i < n; i++) {
        at[2 * i] = near_bits((size_t)(first + i) / (N_MULTIPLES * N_NEAR));
        at[2 * i + 1] = near_bits((size_t)(first + i) % (N_MULTIPLES * N_NEAR));
    }
}

const symbols near_all = {
    .name = "both within 16 ulp of a multiple of alpha",
    .n = (uint64_t)N_MULTIPLES * N_NEAR * N_MULTIPLES * N_NEAR,
    .fill = fill_near,
};

/* The ends of every exponent, of either sign: zeros, subnormals, infinities and what is no number are among them. */
enum { N_EXPONENTS = 256, N_MANTISSAS = 3, N_EDGES = 2 * N_EXPONENTS * N_MANTISSAS };

static uint32_t edge_bits(size_t k)
{
    static const uint32_t mantissas[N_MANTISSAS] = {0, 1, 0x7fffff};
    return (uint32_t)(k % 2) << 31 | (uint32_t)(k / 2 % N_EXPONENTS) << 23 | mantissas[k / (2 * N_EXPONENTS)];
}

static void fill_edges(const symbols *self, uint64_t first, size_t n, void *out)
{
    (void)self;
    uint32_t *at = out;
    for (size_t i = 0; i < n; i++) {
        at[2 * i] = edge_bits((size_t)(first + i) / N_EDGES);
        at[2 * i + 1] = edge_bits((size_t)(first + i) % N_EDGES);
    }
}

const symbols edges_all = {
    .name = "both at the ends of an exponent",
    .n = (uint64_t)N_EDGES * N_EDGES,
    .fill = fill_edges,
};

/* cs16: I in the upper half of the number, Q in the lower. */
static void fill_pairs(const symbols *self, uint64_t first, size_t n, void *out)
{
    uint16_t *at = out;
    for (size_t i = 0; i < n; i++) {
        const uint32_t number = (uint32_t)((first + i) * self->stride);
        at[2 * i] = (uint16_t)(number >> 16);
        at[2 * i + 1] = (uint16_t)number;
    }
}

/* What the component that stays can be. */
static uint32_t fixed_bits(int k)
{
    const float values[N_FIXED] = {multiple_of_alpha(5), multiple_of_alpha(-6), 0, 1.95F, 2.99F, 40, NAN};
    return bits_of(values[k]);
}

static const char *const running_names[2][N_FIXED] = {
    {"I runs, Q on a level", "I runs, Q on a boundary", "I runs, Q zero", "I runs, Q outside",
     "I runs, Q near the limit", "I runs, Q far out", "I runs, Q NaN"},
    {"Q runs, I on a level", "Q runs, I on a boundary", "Q runs, I zero", "Q runs, I outside",
     "Q runs, I near the limit", "Q runs, I far out", "Q runs, I NaN"},
};

static uint64_t stride(void)
{
    return harness_environment_count("SOFTQAM_TEST_STRIDE", DEFAULT_STRIDE, ALL_BITS);
}

symbols running_set(unsigned running, int fixed)
{
    return (symbols){
        .name = running_names[running][fixed],
        .n = (ALL_BITS - 1) / stride() + 1,
        .fill = fill_running,
        .fixed = fixed_bits(fixed),
        .running = running,
        .stride = stride(),
    };
}

/* Of noise_set(): largest and smallest metrics, and what is not usual. */
static void fill_in_turn(const symbols *self, uint64_t first, size_t n, void *out)
{
    (void)self;
    enum { RUN = 2048 };
    static const float usual[][2] = {
        {0x1.fffffep0F, -0x1.fffffep0F}, {0.3F, -1.07F}, {1e-5F, 0.6135F}, {-1.15F, 0}, {-0.77F, 1.4F}};
    static const float others[][2] = {{2, 0.3F}, {-3e38F, 1e30F}, {0x1p-63F, -0x1p-64F}, {0.3F, -NAN}};
    float *at = out;
    for (size_t i = 0; i < n; i++) {
        const uint64_t number = first + i;
        const bool is_other = number / RUN % 2 && number % 37 == 0;
        memcpy(at + 2 * i, is_other ? others[number % 4] : usual[number % 5], 2 * sizeof *at);
    }
}

static void fill_running_noise(const symbols *self, uint64_t first, size_t n, float *noise)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = (uint32_t)((first + i) * self->stride);
        memcpy(&noise[i], &bits, sizeof bits);
    }
}

symbols noise_set(void)
{
    return (symbols){
        .name = "the noise runs",
        .n = (ALL_BITS - 1) / stride() + 1,
        .fill = fill_in_turn,
        .fill_noise = fill_running_noise,
        .stride = stride(),
    };
}

symbols sparse(symbols set)
{
    set.stride *= REFERENCE_FACTOR;
    set.stride = set.stride < REFERENCE_STRIDE ? REFERENCE_STRIDE : set.stride;
    set.n = (ALL_BITS - 1) / set.stride + 1;
    return set;
}

symbols cs16_set(void)
{
    return (symbols){.name = "all cs16", .n = (ALL_BITS - 1) / stride() + 1, .fill = fill_pairs, .stride = stride()};
}

symbols magnitudes_set(void)
{
    return (symbols){
        .name = "all of 2^-13 <= |I| < 8, Q on a level",
        .n = (((uint64_t)1 << 28) - 1) / stride() + 1,
        .fill = fill_magnitudes,
        .fixed = fixed_bits(0),
        .stride = stride(),
        .offset = bits_of(0x1p-13F),
    };
}
