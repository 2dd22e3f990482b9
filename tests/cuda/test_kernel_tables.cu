/* SPDX-License-Identifier: MIT */
/* The operations and tables that kernels have from the compiler. The tables of the Gold sequence are compared with the
 * shift registers of 3GPP TS 38.211 clause 5.2.1, bit by bit; the rows of LLRs with the table that the library builds;
 * the operations with simd_operations.h. No GPU is needed. */
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

#include "gold.cuh"
#include "kernel_tables.cuh"
#include "simd_cuda.cuh"

/* Holds kernels' operations against the list: each takes what the list says, and gives its type. */
template <typename listed, typename own> struct is_operation;
template <typename R, typename... T, typename own>
struct is_operation<R(T...), own> : std::is_same<R, std::invoke_result_t<own, T...>> {
};
#define SIMD_OPERATION(type, name, parameters)                                                                         \
    static_assert(is_operation<type parameters, decltype(&name)>::value, "simd_operations.h has " #name);
#include "simd_operations.h"

static bool is_good = true;

static void check(bool good, const char *what, int which, unsigned a, unsigned b)
{
    if (!good)
        std::printf("%s %d: wrong at %u, %u\n", what, which, a, b);
    is_good &= good;
}

/* A register's sequence from its first 31 bits, lowest first. */
static std::vector<uint8_t> run_register(int which, uint32_t first, size_t n)
{
    std::vector<uint8_t> bits(n + 31);
    for (size_t k = 0; k < 31; k++)
        bits[k] = first >> k & 1;
    for (size_t k = 0; k < n; k++)
        bits[k + 31] = which == 0 ? bits[k + 3] ^ bits[k] : bits[k + 3] ^ bits[k + 2] ^ bits[k + 1] ^ bits[k];
    return bits;
}

/* The product of polynomials, x^k in bit k. The registers' lower terms: x^31 is their sum. */
static uint32_t product(int which, uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (; b; b >>= 1, a = (a << 1 & 0x7fffffff) ^ (a >> 30 & 1 ? (which == 0 ? 0x9 : 0xf) : 0))
        sum ^= b & 1 ? a : 0;
    return sum;
}

static uint32_t random_31()
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + 1;
    return static_cast<uint32_t>(state >> 33);
}

/* The next 32 words of a register are the sums of what each four of its 31 bits add. */
static void check_words(const gold_words &table, int which)
{
    for (unsigned round = 0; round < 1000; round++) {
        const uint32_t first = round < 31 ? 1u << round : random_31();
        const std::vector<uint8_t> bits = run_register(which, first, 32 * WARP_THREADS);
        for (unsigned word = 0; word < WARP_THREADS; word++) {
            uint32_t sum = 0, expected = 0;
            for (unsigned k = 0; k < 32; k++)
                expected |= static_cast<uint32_t>(bits[32 * word + k]) << k;
            for (int nibble = 0; nibble < GOLD_NIBBLES; nibble++)
                sum ^= table.of_nibble[which][nibble][first >> 4 * nibble & 0xf][word];
            check(sum == expected, "words of register", which, round, word);
        }
    }
}

/* All powers, and that one jumps as far as it says. */
static void check_powers(const gold_powers &table, int which)
{
    const unsigned bits[GOLD_DIGITS] = {GOLD_BITS_1, GOLD_BITS_2, GOLD_BITS_2};
    uint32_t unit = 2, expected = 1;
    for (int n = 0; n < 1600; n++)
        expected = product(which, expected, unit);
    for (int digit = 0; digit < GOLD_DIGITS; digit++, expected = 1) {
        uint32_t next_unit = 1;
        for (unsigned d = 0; d < 1u << bits[digit]; d++) {
            const uint2 powers = table.of_digit[digit][d];
            const uint32_t power = which == 0 ? powers.x : powers.y;
            check(power == expected, "powers of register", which, digit, d);
            expected = product(which, expected, unit);
            next_unit = product(which, next_unit, unit);
            if (digit > 0 || d % 97 != 0)
                continue;
            const std::vector<uint8_t> sequence = run_register(which, random_31(), d + 1600 + 31);
            uint8_t bit = 0;
            for (unsigned k = 0; k < 31; k++)
                bit ^= power >> k & 1 & sequence[k];
            check(bit == sequence[d + 1600], "jumps of register", which, d, 0);
        }
        unit = next_unit;
    }
}

static bool is_same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/* Each line is in the rows once, where the kernels look for it. */
template <int M> static void check_rows(const softqam_llr_table &table)
{
    static const llr_rows<M> rows;
    for (int k = 0; k < M; k++)
        for (int row = 0; row < rows.ROWS; row++) {
            const int slope = k == 4 ? rows.FIFTH + 2 * row : M == 3 && k == 2 ? 16 + 4 * row : 4 * row + k;
            const int intercept = M == 3 ? slope + (k == 2 ? 1 : 2) : k == 4 ? slope + 1 : slope + 4 * rows.ROWS;
            check(is_same(rows.values[slope], table.slopes[k][row]) &&
                      is_same(rows.values[intercept], table.intercepts[k][row]),
                  "line of bits an axis", M, k, row);
        }
}

int main()
{
    static const gold_words words;
    static const gold_powers powers;
    softqam_llr_table tables[MAX_AXIS_BITS + 1];
    for (int which = 0; which < GOLD_SEQUENCES; which++) {
        check_words(words, which);
        check_powers(powers, which);
    }
    for (int m = 1; m <= MAX_AXIS_BITS; m++)
        softqam_llr_table_build(&tables[m], m);
    static_assert(MAX_AXIS_BITS == 5, "rows of each from three bits on");
    check_rows<3>(tables[3]);
    check_rows<4>(tables[4]);
    check_rows<5>(tables[5]);
    std::printf("%s\n", is_good ? "good" : "wrong");
    return is_good ? 0 : 1;
}
