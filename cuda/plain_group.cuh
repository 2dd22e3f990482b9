/* SPDX-License-Identifier: MIT */
/* A thread's group of symbols that lie side by side: loads it from memory, and stores its values in every layout that
 * plain_kernel.cuh has. */
#ifndef SOFTQAM_PLAIN_GROUP_CUH
#define SOFTQAM_PLAIN_GROUP_CUH

#include "symbol.cuh"

/* N symbols side by side as they lie in memory, in words, so that a thread waits for them only when it converts
 * them. */
template <typename Component, int N>
struct alignas(2 * N * sizeof(Component) < 16 ? 2 * N * sizeof(Component) : 16) symbol_group {
    enum { NBYTES = 2 * sizeof(Component) };
    typedef typename unsigned_of<(NBYTES < 4 ? NBYTES : 4)>::type word_type;
    enum { WORDS_PER_SYMBOL = NBYTES / sizeof(word_type) };
    typename unsigned_of<(N * NBYTES < 4 ? N * NBYTES : 4)>::type words[(N * NBYTES + 3) / 4];

    /* Loads symbol number g into words that are still zero there. */
    __device__ __forceinline__ void load_symbol(int g, const word_type *from)
    {
#pragma unroll
        for (int k = g * WORDS_PER_SYMBOL; k < (g + 1) * WORDS_PER_SYMBOL; k++, from++)
            words[k * sizeof(word_type) / 4] |= static_cast<uint32_t>(*from) << 8 * (k * sizeof(word_type) % 4);
    }

    __device__ __forceinline__ float component(int c, float scale) const
    {
        const uint32_t word = words[c * sizeof(Component) / 4] >> 8 * (c * sizeof(Component) % 4);
        return convert(component_of<Component>(word), scale);
    }
};

/* Returns the words of a group's values, joined from those of each symbol. */
template <int N, int NBYTES, int WORDS>
static __device__ __forceinline__ packed_values<N * NBYTES / 4> join(const packed_values<WORDS> (&symbols)[N])
{
    packed_values<N * NBYTES / 4> group;
#pragma unroll
    for (int w = 0; w < N * NBYTES / 4; w++) {
        if constexpr (NBYTES % 4 == 0) {
            group.word[w] = symbols[w / WORDS].word[w % WORDS];
        } else if constexpr (NBYTES % 4 == 2) {
            enum { HALVES = NBYTES / 2 };
            const int first = 2 * w;
            const int second = 2 * w + 1;
            const uint32_t a = symbols[first / HALVES].word[first % HALVES / 2];
            const uint32_t b = symbols[second / HALVES].word[second % HALVES / 2];
            const uint32_t from_a = first % HALVES % 2 ? 0x32 : 0x10;
            const uint32_t from_b = second % HALVES % 2 ? 0x76 : 0x54;
            group.word[w] = __byte_perm(a, b, from_b << 8 | from_a);
        } else {
            group.word[w] = vec_lowest_bytes(symbols[4 * w % N].word[0], symbols[(4 * w + 1) % N].word[0],
                                             symbols[(4 * w + 2) % N].word[0], symbols[(4 * w + 3) % N].word[0]);
        }
    }
    return group;
}

template <int WORDS> static __device__ __forceinline__ void store_words(void *to, const packed_values<WORDS> &values)
{
    enum { WIDTH = WORDS % 4 == 0 ? 16 : WORDS % 2 == 0 ? 8 : 4 };
    store_symbol<4 * WORDS, WIDTH>(static_cast<unsigned char *>(to), values);
}

/* Stores a symbol's values in shared memory, at an address that the caller computes once. */
template <int WORDS>
static __device__ __forceinline__ void store_shared(uint32_t address, const packed_values<WORDS> &values)
{
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        if (WORDS % 4 == 0 && k % 4 == 0)
            asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address + 4 * k), "r"(values.word[k]),
                         "r"(values.word[(k + 1) % WORDS]), "r"(values.word[(k + 2) % WORDS]),
                         "r"(values.word[(k + 3) % WORDS])
                         : "memory");
        else if (WORDS % 4 == 2 && k % 2 == 0)
            asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address + 4 * k), "r"(values.word[k]),
                         "r"(values.word[(k + 1) % WORDS])
                         : "memory");
        else if (WORDS % 2 == 1)
            asm volatile("st.shared.b32 [%0], %1;" ::"r"(address + 4 * k), "r"(values.word[k]) : "memory");
}

/* Copies, by a warp, the values of its first n threads, WORDS a thread, from shared memory to 16-byte aligned memory.
 */
template <int WORDS> static __device__ __forceinline__ void copy_staged(unsigned char *out, uint32_t staged, int n)
{
    enum { ALL = 4 * WORDS * WARP_THREADS };
    const int lane = threadIdx.x % WARP_THREADS;
    if (n >= WARP_THREADS) {
#pragma unroll
        for (int k = 0; k < ALL; k += VECTOR_NBYTES * WARP_THREADS) {
            const int offset = k + VECTOR_NBYTES * lane;
            if (offset < ALL)
                *reinterpret_cast<uint4 *>(out + offset) = load_shared_vector(staged + offset);
        }
        return;
    }
#pragma unroll 1
    for (int offset = 4 * lane; offset < 4 * WORDS * n; offset += 4 * WARP_THREADS)
        *reinterpret_cast<uint32_t *>(out + offset) = load_shared_value<4>(staged + offset);
}

/* Stores a bit's values of a group's N symbols side by side. */
template <int N, int VALUE_NBYTES, int WORDS>
static __device__ __forceinline__ void store_in_plane(unsigned char *to, const packed_values<WORDS> &group, int bit)
{
    enum { VALUES = 4 * WORDS / VALUE_NBYTES, BITS = VALUES / N, NBYTES = N * VALUE_NBYTES };
    const unsigned first = bit * VALUE_NBYTES;
    uint32_t values = value_at<VALUE_NBYTES>(group, bit);
    if constexpr (N == 2) {
        const unsigned second = (BITS + bit) * VALUE_NBYTES;
        const unsigned selector = VALUE_NBYTES == 1 ? (4 + second % 4) << 4 | first % 4
                                                    : (0x54 + second % 4 * 0x11) << 8 | (0x10 + first % 4 * 0x11);
        values = __byte_perm(group.word[first / 4], group.word[second / 4], selector);
    }
    static_assert(N <= 2, "Give groups of more symbols their selector");
    store_value<NBYTES>(to, values);
}

/* Stores part of a group, value by value, with the n values of a bit side by side. In symbol order n is 1, and the
 * values count as the bits of one symbol. */
template <int VALUE_NBYTES>
static __device__ __forceinline__ void store_rest(unsigned char *out, size_t plane_nbytes, const uint32_t *values,
                                                  unsigned n, unsigned bits)
{
    const auto *from = reinterpret_cast<const typename unsigned_of<VALUE_NBYTES>::type *>(values);
#pragma unroll 1
    for (unsigned k = 0; k < n * bits; k++)
        reinterpret_cast<typename unsigned_of<VALUE_NBYTES>::type *>(out + k % bits * plane_nbytes)[k / bits] = from[k];
}

#endif
