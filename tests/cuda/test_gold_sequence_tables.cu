/* SPDX-License-Identifier: MIT */
/* The tables of which kernels make the Gold sequence, against the shift registers of 3GPP TS 38.211 clause 5.2.1 bit by
 * bit. They are made by the compiler, so no GPU is needed. */
#include <cstdio>
#include <vector>

#include "gold.cuh"

typedef std::vector<uint8_t> bits_of_register;

/* A register's sequence from its first 31 bits, lowest first. */
static bits_of_register run_register(int which, uint32_t first, size_t n)
{
    bits_of_register bits(n + 31);
    for (size_t k = 0; k < 31; k++)
        bits[k] = first >> k & 1;
    for (size_t k = 0; k < n; k++)
        bits[k + 31] = which == 0 ? bits[k + 3] ^ bits[k] : bits[k + 3] ^ bits[k + 2] ^ bits[k + 1] ^ bits[k];
    return bits;
}

/* The polynomials' lower terms: x^31 is their sum. */
static uint32_t times_x(int which, uint32_t a)
{
    const uint32_t lower = which == 0 ? 0x9 : 0xf;
    return (a << 1 & 0x7fffffff) ^ (a >> 30 & 1 ? lower : 0);
}

static uint32_t product(int which, uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (; b; b >>= 1, a = times_x(which, a))
        sum ^= b & 1 ? a : 0;
    return sum;
}

static uint32_t power_of_x(int which, uint64_t n)
{
    uint32_t result = 1;
    for (uint32_t base = 2; n; n >>= 1, base = product(which, base, base))
        result = n & 1 ? product(which, result, base) : result;
    return result;
}

static uint32_t random_31(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1;
    return static_cast<uint32_t>(*state >> 33);
}

static bool fail(const char *what, int which, unsigned a, unsigned b)
{
    std::printf("%s of x%d: wrong at %u, %u\n", what, which + 1, a, b);
    return false;
}

/* The next 32 words of a register are the sums of what each four of its 31 bits add. */
static bool check_words(const gold_words &table, int which)
{
    uint64_t random = 1;
    for (unsigned round = 0; round < 1000; round++) {
        const uint32_t first = round < 31 ? 1u << round : random_31(&random);
        const bits_of_register bits = run_register(which, first, 32 * WARP_THREADS);
        for (unsigned word = 0; word < WARP_THREADS; word++) {
            uint32_t sum = 0, expected = 0;
            for (unsigned k = 0; k < 32; k++)
                expected |= static_cast<uint32_t>(bits[32 * word + k]) << k;
            for (int nibble = 0; nibble < GOLD_NIBBLES; nibble++)
                sum ^= table.of_nibble[which][nibble][first >> 4 * nibble & 0xf][word];
            if (sum != expected)
                return fail("words", which, round, word);
        }
    }
    return true;
}

/* All powers, and that a power jumps as far as it says. */
static bool check_powers(const gold_powers &table, int which)
{
    const unsigned bits[GOLD_DIGITS] = {GOLD_BITS_1, GOLD_BITS_2, GOLD_BITS_2};
    unsigned shift = 0;
    for (int digit = 0; digit < GOLD_DIGITS; shift += bits[digit++])
        for (uint64_t d = 0; d < UINT64_C(1) << bits[digit]; d++) {
            const uint2 powers = table.of_digit[digit][d];
            if ((which == 0 ? powers.x : powers.y) != power_of_x(which, (d << shift) + (digit == 0 ? 1600 : 0)))
                return fail("powers", which, digit, static_cast<unsigned>(d));
        }
    uint64_t random = 2;
    for (unsigned n = 0; n < 1u << GOLD_BITS_1; n += 97) {
        const bits_of_register sequence = run_register(which, random_31(&random), n + 1600 + 31);
        const uint2 powers = table.of_digit[0][n];
        const uint32_t power = which == 0 ? powers.x : powers.y;
        uint8_t bit = 0;
        for (unsigned k = 0; k < 31; k++)
            bit ^= power >> k & 1 & sequence[k];
        if (bit != sequence[n + 1600])
            return fail("jumps", which, n, 0);
    }
    return true;
}

int main()
{
    static const gold_words words;
    static const gold_powers powers;
    bool good = true;
    for (int which = 0; which < GOLD_SEQUENCES; which++)
        good = check_words(words, which) && check_powers(powers, which) && good;
    std::printf("%s\n", good ? "good" : "wrong");
    return good ? 0 : 1;
}
