/* SPDX-License-Identifier: MIT */
#include "nr_symbol.h"

#include <math.h>

const nr_constellation nr_pi_2_bpsk = {"pi/2-BPSK", 1, 1, 2, true};
const nr_constellation nr_bpsk = {"BPSK", 1, 1, 2, false};
const nr_constellation nr_qpsk = {"QPSK", 2, 1, 2, false};
const nr_constellation nr_16qam = {"16QAM", 4, 2, 10, false};
const nr_constellation nr_64qam = {"64QAM", 6, 3, 42, false};
const nr_constellation nr_256qam = {"256QAM", 8, 4, 170, false};
const nr_constellation nr_1024qam = {"1024QAM", 10, 5, 682, false};

const nr_constellation *const nr_constellations[NR_CONSTELLATIONS] = {
    &nr_pi_2_bpsk, &nr_bpsk, &nr_qpsk, &nr_16qam, &nr_64qam, &nr_256qam, &nr_1024qam,
};
_Static_assert(NR_CONSTELLATIONS == 7, "each");

bool nr_is_bpsk(const nr_constellation *constellation) { return constellation->n_bits == 1; }

int nr_level(const nr_constellation *constellation, int label)
{
    int level = 0; /* from the innermost bracket outwards */
    for (int k = 0; k < constellation->axis_bits; k++) {
        const int bit = label >> k & 1;
        level = (1 - 2 * bit) * ((1 << k) - level);
    }
    return level;
}

double nr_coordinate(const nr_constellation *constellation, int label)
{
    return nr_level(constellation, label) / sqrt(constellation->energy);
}

void nr_point(const nr_constellation *constellation, int bits, uint64_t position, double point[2])
{
    int labels[2] = {0, 0};
    if (nr_is_bpsk(constellation))
        labels[0] = labels[1] = bits;
    else
        for (int b = 0; b < constellation->n_bits; b++)
            labels[b % 2] = 2 * labels[b % 2] + (bits >> (constellation->n_bits - 1 - b) & 1);
    point[0] = nr_coordinate(constellation, labels[0]);
    point[1] = nr_coordinate(constellation, labels[1]);
    if (constellation->rotates && position % 2) { /* times j */
        const double i = point[0];
        point[0] = -point[1];
        point[1] = i;
    }
}

nr_noise nr_noise_var(float noise_var) { return (nr_noise){.value = noise_var}; }

nr_noise nr_inverse_noise_var(float inverse) { return (nr_noise){.value = inverse, .is_inverse = true}; }

enum {
    N_C = 1600,
    /* Bits that a step makes at most: the recurrences of x(n + 31) take bits up to x(n + 3). */
    MAX_STEP = 28
};

static uint32_t low_bits(uint32_t word, int n) { return word & ((UINT32_C(1) << n) - 1); }

/* Steps the registers: x1(n + 31) = x1(n + 3) + x1(n), x2(n + 31) = x2(n + 3) + x2(n + 2) + x2(n + 1) + x2(n). */
static void step(nr_scrambling *scrambling, int n)
{
    const uint32_t x1 = scrambling->x1, x2 = scrambling->x2;
    scrambling->x1 = x1 >> n | low_bits(x1 >> 3 ^ x1, n) << (31 - n);
    scrambling->x2 = x2 >> n | low_bits(x2 >> 3 ^ x2 >> 2 ^ x2 >> 1 ^ x2, n) << (31 - n);
    scrambling->position += (uint64_t)n;
}

static void go_to(nr_scrambling *scrambling, uint64_t position)
{
    while (position - scrambling->position > MAX_STEP)
        step(scrambling, MAX_STEP);
    step(scrambling, (int)(position - scrambling->position));
}

void nr_scrambling_start(nr_scrambling *scrambling, uint32_t c_init)
{
    *scrambling = (nr_scrambling){1, c_init, 0};
    go_to(scrambling, N_C);
    scrambling->position = 0;
}

uint32_t nr_scrambling_bits(nr_scrambling *scrambling, uint64_t first, int n)
{
    go_to(scrambling, first);
    return low_bits(scrambling->x1 ^ scrambling->x2, n);
}
