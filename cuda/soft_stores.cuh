/* SPDX-License-Identifier: MIT */
/* How a warp stores runs of values to soft buffers, or adds them, at any alignment. */
#ifndef SOFTQAM_SOFT_STORES_CUH
#define SOFTQAM_SOFT_STORES_CUH

#include "segment_block.cuh"

#include "arithmetic.h"

enum { UNIT_NBYTES = 16, HALF_WARP = WARP_THREADS / 2 };

/* HARQ combining: llr_combined() on a word of values and LLRs of an output format. */
template <softqam_output_format FORMAT> struct soft_sum;

template <> struct soft_sum<SOFTQAM_OUTPUT_S8> {
    uint32_t limits;
    uint32_t least;

    /* Bytes 0 and 1, or 2 and 3, of a word as halves of their sign. */
    static __device__ __forceinline__ uint32_t widened(uint32_t bytes, bool upper)
    {
        uint32_t halves;
        asm("prmt.b32 %0, %1, 0, %2;" : "=r"(halves) : "r"(bytes), "r"(upper ? 0xb3a2u : 0x9180u));
        return halves;
    }

    __device__ __forceinline__ void open(float limit)
    {
        const uint32_t steps = static_cast<uint32_t>(limit);
        limits = steps * 0x10001;
        least = (0x10000 - steps) * 0x10000 + ((0x10000 - steps) & 0xffff);
    }

    __device__ __forceinline__ uint32_t of(uint32_t values, uint32_t llrs) const
    {
        const uint32_t lower = widened(values, false);
        const uint32_t upper = widened(values, true);
        const uint32_t lower_sum = __vmaxs2(__viaddmin_s16x2(lower, widened(llrs, false), limits), least);
        const uint32_t upper_sum = __vmaxs2(__viaddmin_s16x2(upper, widened(llrs, true), limits), least);
        const uint32_t sums = __byte_perm(lower_sum, upper_sum, 0x6420);
        const uint32_t within =
            __byte_perm(__vmaxs2(__vmins2(lower, limits), least), __vmaxs2(__vmins2(upper, limits), least), 0x6420);
        const uint32_t other = within ^ values; /* bytes other than zero are beyond the limit, and stay */
        const uint32_t differs = ((other & 0x7f7f7f7f) + 0x7f7f7f7f) | other;
        uint32_t stay;
        asm("prmt.b32 %0, %1, 0, 0xba98;" : "=r"(stay) : "r"(differs));
        return (values & stay) | (sums & ~stay);
    }
};

template <> struct soft_sum<SOFTQAM_OUTPUT_S16> {
    int32_t limit;

    __device__ __forceinline__ void open(float largest) { limit = static_cast<int32_t>(largest); }

    __device__ __forceinline__ int32_t of_one(int32_t value, int32_t llr) const
    {
        const int32_t sum = max(min(value + llr, limit), -limit);
        return abs(value) > limit ? value : sum;
    }

    __device__ __forceinline__ uint32_t of(uint32_t values, uint32_t llrs) const
    {
        const int32_t lower = of_one(static_cast<int16_t>(values), static_cast<int16_t>(llrs));
        const int32_t upper = of_one(static_cast<int32_t>(values) >> 16, static_cast<int32_t>(llrs) >> 16);
        return __byte_perm(static_cast<uint32_t>(lower), static_cast<uint32_t>(upper), 0x5410);
    }
};

/* A sum of halves rounded once is what their sum as floats, rounded to a half, is. */
template <> struct soft_sum<SOFTQAM_OUTPUT_F16> {
    __half2 limits;

    __device__ __forceinline__ void open(float limit) { limits = __float2half2_rn(limit); }

    static __device__ __forceinline__ __half2 halves(uint32_t word)
    {
        __half2 both;
        memcpy(&both, &word, sizeof both);
        return both;
    }

    __device__ __forceinline__ uint32_t of(uint32_t values, uint32_t llrs) const
    {
        const __half2 value = halves(values);
        const __half2 sum = __hmin2(__hmax2(__hadd2_rn(value, halves(llrs)), __hneg2(limits)), limits);
        const uint32_t within = __hle2_mask(__habs2(value), limits); /* false of a NaN */
        uint32_t sums;
        memcpy(&sums, &sum, sizeof sums);
        return (sums & within) | (values & ~within);
    }
};

template <> struct soft_sum<SOFTQAM_OUTPUT_F32> {
    float limit;
    float above;

    __device__ __forceinline__ void open(float largest)
    {
        limit = largest;
        above = __uint_as_float(__float_as_uint(largest) + 1);
    }

    __device__ __forceinline__ uint32_t of(uint32_t value, uint32_t llr) const
    {
        return vec_bits(llr_combined(vec_from_bits(value), vec_from_bits(llr), limit, above));
    }
};

/* A value of an output format as the lowest bytes of a word. */
static_assert(N_OUTPUT_FORMATS == 5, "all others are integers");
template <softqam_output_format FORMAT> static __device__ __forceinline__ uint32_t soft_value_of(float value)
{
    if (FORMAT == SOFTQAM_OUTPUT_F32)
        return __float_as_uint(value);
    if (FORMAT == SOFTQAM_OUTPUT_F16)
        return __half_as_ushort(__float2half_rn(value));
    return static_cast<uint32_t>(static_cast<int32_t>(value));
}

template <int NBYTES> static __device__ __forceinline__ uint32_t load_shared(uint32_t address)
{
    uint32_t value;
    if (NBYTES == 4)
        asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
    else if (NBYTES == 2)
        asm volatile("{.reg .b16 half;\n\tld.shared.b16 half, [%1];\n\tcvt.u32.u16 %0, half;}"
                     : "=r"(value)
                     : "r"(address)
                     : "memory");
    else
        asm volatile("ld.shared.u8 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
    return value;
}

template <int NBYTES> static __device__ __forceinline__ void store_shared_value(uint32_t address, uint32_t value)
{
    if (NBYTES == 4)
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
    else if (NBYTES == 2)
        asm volatile("{.reg .b16 half;\n\tcvt.u16.u32 half, %1;\n\tst.shared.b16 [%0], half;}" ::"r"(address),
                     "r"(value)
                     : "memory");
    else
        asm volatile("st.shared.u8 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

template <int NBYTES> static __device__ __forceinline__ uint32_t load_value(const unsigned char *from)
{
    return *reinterpret_cast<const typename unsigned_of<NBYTES>::type *>(from);
}

/* A run of bytes at any address: whole units of memory, and values at both ends. */
struct run_parts {
    uint32_t head;  /* bytes before the first unit */
    uint32_t units; /* the units' bytes */

    __device__ __forceinline__ run_parts(const unsigned char *to, uint32_t nbytes)
    {
        head = min(nbytes, (0u - static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to))) % UNIT_NBYTES);
        units = (nbytes - head) & ~(UNIT_NBYTES - 1u);
    }
};

/* Half a warp stores or adds nbytes of staged values, of which this thread is the lane-th. Where these are aligned as
 * their destination is, by units. */
template <softqam_output_format FORMAT, bool ADDS>
static __device__ __forceinline__ void place_run(unsigned char *to, uint32_t from, uint32_t nbytes, unsigned lane,
                                                 const soft_sum<FORMAT> &sum)
{
    enum {
        VALUE = symbol_size<FORMAT, 1>::VALUE_NBYTES,
        EDGE_THREADS = VALUE == 1 ? HALF_WARP + 0 : HALF_WARP / 2 /* so many values an end has at most */
    };
    const run_parts parts(to, nbytes);
#pragma unroll
    for (unsigned first = 0; first < 2 * EDGE_THREADS; first += HALF_WARP) {
        const bool is_head = first + lane < EDGE_THREADS;
        const uint32_t at = is_head ? lane * VALUE : parts.head + parts.units + (lane % EDGE_THREADS) * VALUE;
        if (at < (is_head ? parts.head : nbytes)) {
            uint32_t value = load_shared<VALUE>(from + at);
            if (ADDS)
                value = sum.of(load_value<VALUE>(to + at), value);
            store_value<VALUE>(to + at, value);
        }
    }
    to += parts.head;
    from += parts.head;
    if (from % UNIT_NBYTES == 0) {
#pragma unroll 1
        for (uint32_t at = lane * UNIT_NBYTES; at < parts.units; at += HALF_WARP * UNIT_NBYTES) {
            uint4 *target = reinterpret_cast<uint4 *>(to + at);
            uint4 unit = load_shared_unit(from + at);
            if (ADDS) {
                const uint4 before = *target;
                unit = make_uint4(sum.of(before.x, unit.x), sum.of(before.y, unit.y), sum.of(before.z, unit.z),
                                  sum.of(before.w, unit.w));
            }
            *target = unit;
        }
        return;
    }
#pragma unroll 1
    for (uint32_t at = lane * 4; at < parts.units; at += HALF_WARP * 4) {
        uint32_t *target = reinterpret_cast<uint32_t *>(to + at);
        const uint32_t aligned = (from + at) & ~3u;
        uint32_t word = load_shared<4>(aligned);
        if (VALUE < 4)
            word = __funnelshift_r(word, load_shared<4>(aligned + 4), 8 * (from % 4));
        *target = ADDS ? sum.of(*target, word) : word;
    }
}

/* A warp stores a value that fills a word again and again. */
template <int VALUE> static __device__ __forceinline__ void fill_run(unsigned char *to, uint32_t word, uint32_t nbytes)
{
    const unsigned lane = threadIdx.x % WARP_THREADS;
    const run_parts parts(to, nbytes);
    const bool is_head = lane < HALF_WARP;
    const uint32_t edge = lane % HALF_WARP * VALUE + (is_head ? 0 : parts.head + parts.units);
    if (edge < (is_head ? parts.head : nbytes))
        store_value<VALUE>(to + edge, word);
    to += parts.head;
#pragma unroll 1
    for (uint32_t at = lane * UNIT_NBYTES; at < parts.units; at += WARP_THREADS * UNIT_NBYTES)
        *reinterpret_cast<uint4 *>(to + at) = make_uint4(word, word, word, word);
}

#endif
