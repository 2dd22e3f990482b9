/* SPDX-License-Identifier: MIT */
/* How a warp stores a segment's values, at any alignment. */
#ifndef SOFTQAM_SEGMENT_STORES_CUH
#define SOFTQAM_SEGMENT_STORES_CUH

#include "segment_block.cuh"

/* Value k of a symbol, as the lowest bytes. */
template <int VALUE_NBYTES, int WORDS>
static __device__ __forceinline__ void store_value(unsigned char *out, const packed_values<WORDS> &values, int k)
{
    enum { PER_WORD = 4 / VALUE_NBYTES };
    const uint32_t value = values.word[k / PER_WORD] >> 8 * VALUE_NBYTES * (k % PER_WORD);
    if (VALUE_NBYTES == 4)
        *reinterpret_cast<uint32_t *>(out) = value;
    else if (VALUE_NBYTES == 2)
        *reinterpret_cast<uint16_t *>(out) = static_cast<uint16_t>(value);
    else
        *out = static_cast<unsigned char>(value);
}

/* A symbol's values side by side, by the widest accesses that their size allows, but no wider than UNIT bytes, to which
 * `to` is aligned. */
template <int NBYTES, int UNIT, int WORDS>
static __device__ __forceinline__ void store_symbol(unsigned char *to, const packed_values<WORDS> &values)
{
#pragma unroll
    for (int k = 0; k < NBYTES; k += UNIT) {
        const uint32_t *from = values.word + k / 4;
        if (UNIT == 16)
            *reinterpret_cast<uint4 *>(to + k) = make_uint4(from[0], from[1], from[2], from[3]);
        else if (UNIT == 8)
            *reinterpret_cast<uint2 *>(to + k) = make_uint2(from[0], from[1]);
        else if (UNIT == 4)
            *reinterpret_cast<uint32_t *>(to + k) = from[0];
        else if (UNIT == 2)
            *reinterpret_cast<uint16_t *>(to + k) = static_cast<uint16_t>(from[0] >> 8 * (k % 4));
        else
            to[k] = static_cast<unsigned char>(from[0]);
    }
}

/* A warp copies its staged values to memory that is aligned to values alone: whole words of it, each from two that lie
 * across it, and values at both ends. */
template <int VALUE_NBYTES> static __device__ __noinline__ void copy_to_values(unsigned char *out, unsigned nbytes)
{
    const uint32_t *staged = block.staged[threadIdx.x / WARP_THREADS] + 1;
    const unsigned beyond = VALUE_NBYTES == 4 ? 0 : reinterpret_cast<uintptr_t>(out) % 4; /* a word's begin */
    const unsigned back = beyond > 0 ? 1 : 0;
    for (unsigned word = threadIdx.x % WARP_THREADS; 4 * word < nbytes + beyond; word += WARP_THREADS) {
        const int at = static_cast<int>(4 * word - beyond);
        const uint32_t *from = staged + word - back;
        const uint32_t bytes = VALUE_NBYTES == 4 ? from[0] : __funnelshift_r(from[0], from[1], 8 * (4 - beyond) % 32);
        if (at >= 0 && at + 4 <= static_cast<int>(nbytes)) {
            *reinterpret_cast<uint32_t *>(out + at) = bytes;
            continue;
        }
        for (int k = 0; k < 4; k += VALUE_NBYTES)
            if (at + k >= 0 && at + k < static_cast<int>(nbytes)) {
                const packed_values<1> one = {{bytes >> 8 * k}};
                store_value<VALUE_NBYTES>(out + at + k, one, 0);
            }
    }
}

#endif
