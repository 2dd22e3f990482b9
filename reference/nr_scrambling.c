/* SPDX-License-Identifier: MIT */
#include "nr_scrambling.h"

enum {
    N_C = 1600,
    /* Bits that a step makes at most: the recurrences of x(n + 31) take bits up to x(n + 3). */
    MAX_STEP = 28
};

static uint32_t low_bits(uint32_t word, int n) { return word & ((UINT32_C(1) << n) - 1); }

/* x1(n + 31) = x1(n + 3) + x1(n), x2(n + 31) = x2(n + 3) + x2(n + 2) + x2(n + 1) + x2(n). */
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
