/* SPDX-License-Identifier: MIT */
/* The scrambling sequence of 3GPP TS 38.211 clause 5.2.1, which is the sum of two sequences. A warp makes 32 words of
 * each at a time, a word a thread.
 *
 * Bit n + d of a sequence is the sum of its bits n + b for all b below 31 for which x^d modulo the sequence's
 * polynomial contains x^b. So the word at any distance is a sum over the warp: thread b adds the 32 bits from b on if
 * the polynomial contains x^b. And a word at a known distance is the sum of eight table entries, one for each four of
 * the next 31 bits. */
#ifndef SOFTQAM_GOLD_CUH
#define SOFTQAM_GOLD_CUH

#include "gold_polynomials.h"
#include "symbol.cuh"

enum {
    GOLD_SEQUENCES = 2,
    GOLD_NIBBLES = 8, /* nibbles of a sequence's next 31 bits, and of a polynomial */
    GOLD_ONE = 1 << 30,
    GOLD_X = 1 << 29 /* x, as gold_polynomials.h represents polynomials */
};

/* Returns the polynomial with x^k in bit k. */
static constexpr uint32_t gold_reversed(uint32_t polynomial)
{
    uint32_t reversed = polynomial << 1; /* the loop reverses its 32 bits */
    for (uint32_t width = 16, low = 0xffff; width > 0; width /= 2, low ^= low << width)
        reversed = (reversed >> width & low) | (reversed & low) << width;
    return reversed;
}

/* Returns a power of a polynomial. */
static constexpr uint32_t gold_power(gold_register which, uint32_t base, unsigned exponent)
{
    uint32_t power = GOLD_ONE;
    for (; exponent > 0; exponent /= 2, base = gold_modulo(which, gold_product(base, base)))
        if (exponent % 2 != 0)
            power = gold_modulo(which, gold_product(power, base));
    return power;
}

/* Powers of x for the digits of a position, the lowest digit first; the lowest digit's powers include x^GOLD_OFFSET. */
struct gold_powers {
    uint2 of_digit[GOLD_DIGITS][1 << GOLD_BITS_1]; /* x: the first sequence's, y: the second's; x^k in bit k */

    constexpr gold_powers() : of_digit{}
    {
        for (int sequence = 0; sequence < GOLD_SEQUENCES; sequence++) {
            const gold_register which = static_cast<gold_register>(sequence);
            uint32_t unit = GOLD_X; /* x to the power of the digit's unit */
            uint32_t power = gold_power(which, unit, GOLD_OFFSET);
            for (int digit = 0; digit < GOLD_DIGITS; digit++, power = GOLD_ONE) {
                const int n_powers = 1 << (digit == 0 ? GOLD_BITS_1 : GOLD_BITS_2);
                for (int n = 0; n < n_powers; n++) {
                    (sequence == 0 ? of_digit[digit][n].x : of_digit[digit][n].y) = gold_reversed(power);
                    power = gold_modulo(which, gold_product(power, unit));
                }
                unit = gold_power(which, unit, n_powers);
            }
        }
    }
};

/* The words that four of a sequence's next 31 bits add to its next 32 words. */
struct gold_words {
    uint32_t of_nibble[GOLD_SEQUENCES][GOLD_NIBBLES][1 << 4][WARP_THREADS];

    constexpr gold_words() : of_nibble()
    {
        for (int sequence = 0; sequence < GOLD_SEQUENCES; sequence++) {
            const gold_register which = static_cast<gold_register>(sequence);
            for (int bit = 0; bit < 31; bit++) { /* the sequence that begins with this bit alone */
                uint64_t bits = gold_lengthened(which, 1u << bit);
                for (int word = 0; word < WARP_THREADS; word += 2, bits = gold_next_64(which, bits)) {
                    of_nibble[sequence][bit / 4][1 << bit % 4][word] = static_cast<uint32_t>(bits);
                    of_nibble[sequence][bit / 4][1 << bit % 4][word + 1] = static_cast<uint32_t>(bits >> 32);
                }
            }
            for (int nibble = 0; nibble < GOLD_NIBBLES; nibble++)
                for (int value = 1; value < 1 << 4; value++)
                    for (int word = 0; word < WARP_THREADS; word++)
                        of_nibble[sequence][nibble][value][word] =
                            of_nibble[sequence][nibble][value & (value - 1)][word] ^
                            of_nibble[sequence][nibble][value & -value][word];
        }
    }
};

struct gold_tables {
    gold_powers powers;
    gold_words words;
};

/* Returns 64 bits of a sequence, given its next 31. */
static __device__ __forceinline__ constexpr uint64_t gold_window(int sequence, uint32_t next)
{
    return gold_lengthened(static_cast<gold_register>(sequence), next & GOLD_PERIOD);
}

/* Returns the exclusive or of the warp's words. */
static __device__ __forceinline__ uint32_t warp_sum(uint32_t a)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_xor_sync(0xffffffffu, a);
#else
    for (int distance = WARP_THREADS / 2; distance > 0; distance /= 2)
        a ^= __shfl_xor_sync(0xffffffffu, a, distance);
    return a;
#endif
}

/* Returns the word at a distance d from a window's beginning; `power` is x^d. */
static __device__ __forceinline__ uint32_t word_at(uint64_t window, uint32_t power)
{
    const unsigned lane = warp_lane();
    return warp_sum((power >> lane & 1) != 0 ? static_cast<uint32_t>(window >> lane) : 0);
}

/* Both sequences' words; thread k of a warp has word k of 32 that follow each other. */
struct warp_gold {
    enum { ADVANCE = 28 };
    uint32_t words[GOLD_SEQUENCES];

    /* Moves on by ADVANCE words: word i + 31 is the sum of words i and i + 3 in the first sequence, of i to i + 3 in
     * the second. */
    __device__ __forceinline__ void advance()
    {
        const unsigned all = 0xffffffffu;
        const unsigned lane = warp_lane();
        const unsigned new_word = lane + ADVANCE;
        const bool is_known = new_word < WARP_THREADS;
        uint32_t sum_mask = is_known ? 0 : 0xffffffffu;
        asm("" : "+r"(sum_mask)); /* hides the condition from the compiler, which would branch around the shuffles */
#pragma unroll
        for (int sequence = 0; sequence < GOLD_SEQUENCES; sequence++) {
            const uint32_t word = words[sequence];
            const uint32_t earlier = __shfl_sync(all, word, is_known ? new_word : new_word - 31);
            uint32_t sum = word;
            if (sequence == 1)
                sum ^= __shfl_up_sync(all, word, 1) ^ __shfl_up_sync(all, word, 2);
            words[sequence] = earlier ^ (sum & sum_mask);
        }
    }
};

/* Opens the sequence at a bit. */
static __device__ __forceinline__ warp_gold gold_at(const gold_tables &tables, uint32_t c_init, uint64_t bit)
{
    const unsigned lane = warp_lane();
    constexpr uint64_t first_window = gold_lengthened(GOLD_X1, 1);
    uint64_t window[GOLD_SEQUENCES] = {first_window, gold_window(1, c_init)};
    unsigned digits[GOLD_DIGITS];
    uint2 powers[GOLD_DIGITS];
    unsigned left = gold_index(bit);
#pragma unroll
    for (int digit = 0; digit < GOLD_DIGITS; digit++) {
        const int bits = digit == 0 ? GOLD_BITS_1 : GOLD_BITS_2;
        digits[digit] = left & ((1 << bits) - 1);
        powers[digit] = tables.powers.of_digit[digit][digits[digit]];
        left >>= bits;
    }
#pragma unroll
    for (int digit = 0; digit < GOLD_DIGITS; digit++)
        if (digit == 0 || digits[digit] != 0) {
            window[0] = gold_window(0, word_at(window[0], powers[digit].x));
            window[1] = gold_window(1, word_at(window[1], powers[digit].y));
        }
    warp_gold gold = {};
#pragma unroll
    for (int sequence = 0; sequence < GOLD_SEQUENCES; sequence++)
#pragma unroll
        for (int nibble = 0; nibble < GOLD_NIBBLES; nibble++) {
            const unsigned value = static_cast<uint32_t>(window[sequence]) << 1 >> 1 >> 4 * nibble & 0xf;
            gold.words[sequence] ^= tables.words.of_nibble[sequence][nibble][value][lane];
        }
    return gold;
}

/* Returns BITS bits of the sequence to each thread of a warp. The first thread's begin at a bit; each other thread's
 * follow the bits of the thread before it. The word's other bits are undefined. */
template <int BITS>
static __device__ __forceinline__ uint32_t warp_sequence(const gold_tables &tables, uint32_t c_init, uint64_t bit)
{
    static_assert(BITS <= 32, "A warp has 32 words of the sequence");
    const unsigned all = 0xffffffffu, own = warp_lane() * BITS;
    const warp_gold gold = gold_at(tables, c_init, bit);
    const uint32_t word = gold.words[0] ^ gold.words[1], low = __shfl_sync(all, word, own / 32);
    const uint32_t high = 32 % BITS != 0 ? __shfl_sync(all, word, own / 32 + 1) : 0;
    return __funnelshift_r(low, high, own % 32);
}

/* Callers' kernels get the library's tables through a pointer. */
#ifndef SOFTQAM_DEVICE_CUH
static __device__ constexpr gold_tables tables_of_gold;

/* Writes n words of the sequence from a bit on, the first bit lowest, by a warp. */
static __device__ __forceinline__ void write_gold(uint32_t *to, unsigned n, uint32_t c_init, uint64_t bit)
{
    const unsigned lane = warp_lane();
    warp_gold gold = gold_at(tables_of_gold, c_init, bit);
#pragma unroll 1
    for (unsigned first = 0;; first += warp_gold::ADVANCE) {
        if (first + lane < n)
            to[first + lane] = gold.words[0] ^ gold.words[1];
        if (first + WARP_THREADS >= n)
            return;
        gold.advance();
    }
}

/* Writes the sequence with a thread block. gold_at() costs as much as 300 words, so one warp writes short sequences,
 * and all warps share long ones if `in_parts` is set. */
static __device__ __forceinline__ void write_block_gold(uint32_t *to, unsigned n, bool in_parts, uint32_t c_init,
                                                        uint64_t bit)
{
    const unsigned of_warp = in_parts ? (n + BLOCK_WARPS - 1) / BLOCK_WARPS : n;
    const unsigned word = (BLOCK_WARPS - 1 - threadIdx.x / WARP_THREADS) * of_warp;
    if (word < n)
        write_gold(to + word, min(n - word, of_warp), c_init, bit + 32 * word);
}

#endif

/* Reads BITS bits of a sequence that write_gold() wrote, at a multiple of BITS: as a byte, as a half, or from two
 * words. */
template <int BITS> struct gold_bits {
    enum { WORD_BITS = BITS == 8 || BITS == 16 ? BITS : 32 };
    typedef typename unsigned_of<WORD_BITS / 8>::type word_type;

    const word_type *first_word;
    unsigned shift;

    __device__ __forceinline__ void open(const uint32_t *words, unsigned bit)
    {
        first_word = reinterpret_cast<const word_type *>(words) + bit / WORD_BITS;
        shift = bit % WORD_BITS;
    }

    /* May read the word after the last one, too. */
    __device__ __forceinline__ uint32_t read(unsigned words_ahead) const
    {
        const word_type *word = first_word + words_ahead * (32 / WORD_BITS);
        if (WORD_BITS == BITS)
            return *word;
        return __funnelshift_r(word[0], 32 % BITS != 0 ? word[1] : 0, shift) & ((1u << BITS) - 1);
    }
};

#endif
