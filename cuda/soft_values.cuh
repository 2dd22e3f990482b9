/* SPDX-License-Identifier: MIT */
/* Warps work on soft buffers at any alignment: they find positions, store or add runs of values, and write zeros
 * and fillers. */
#ifndef SOFTQAM_SOFT_VALUES_CUH
#define SOFTQAM_SOFT_VALUES_CUH

#include "symbol.cuh"

enum { HALF_WARP = WARP_THREADS / 2 };

/* HARQ combining: what llr_combined() does, for all values and LLRs of a word. */
template <softqam_output_format FORMAT> struct soft_sum;

template <> struct soft_sum<SOFTQAM_OUTPUT_S8> {
    uint32_t limits;
    uint32_t least;

    /* Sign-extends bytes 0 and 1, or 2 and 3, of a word to halves. */
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

    __device__ __forceinline__ uint32_t add(uint32_t values, uint32_t llrs) const
    {
        const uint32_t lower = widened(values, false);
        const uint32_t upper = widened(values, true);
        const uint32_t lower_sum = __vmaxs2(__viaddmin_s16x2(lower, widened(llrs, false), limits), least);
        const uint32_t upper_sum = __vmaxs2(__viaddmin_s16x2(upper, widened(llrs, true), limits), least);
        const uint32_t sums = __byte_perm(lower_sum, upper_sum, 0x6420);
        const uint32_t limited =
            __byte_perm(__vmaxs2(__vmins2(lower, limits), least), __vmaxs2(__vmins2(upper, limits), least), 0x6420);
        const uint32_t other =
            limited ^ values; /* a byte that is not zero marks a value beyond the limit, which stays */
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

    __device__ __forceinline__ uint32_t add(uint32_t values, uint32_t llrs) const
    {
        const int32_t lower = of_one(static_cast<int16_t>(values), static_cast<int16_t>(llrs));
        const int32_t upper = of_one(static_cast<int32_t>(values) >> 16, static_cast<int32_t>(llrs) >> 16);
        return __byte_perm(static_cast<uint32_t>(lower), static_cast<uint32_t>(upper), 0x5410);
    }
};

/* A sum of halves, rounded once, equals their sum as floats rounded to a half. */
template <> struct soft_sum<SOFTQAM_OUTPUT_F16> {
    __half2 limits;

    __device__ __forceinline__ void open(float limit) { limits = __float2half2_rn(limit); }

    static __device__ __forceinline__ __half2 halves(uint32_t word)
    {
        __half2 both;
        memcpy(&both, &word, sizeof both);
        return both;
    }

    __device__ __forceinline__ uint32_t add(uint32_t values, uint32_t llrs) const
    {
        const __half2 value = halves(values);
        const __half2 sum = __hmin2(__hmax2(__hadd2_rn(value, halves(llrs)), __hneg2(limits)), limits);
        /* False for a value that is NaN or beyond the limit, and for an LLR of zero: the value stays. */
        const uint32_t is_added =
            __hle2_mask(__habs2(value), limits) & __hne2_mask(halves(llrs), __float2half2_rn(0.0f));
        uint32_t sums;
        memcpy(&sums, &sum, sizeof sums);
        return (sums & is_added) | (values & ~is_added);
    }
};

template <> struct soft_sum<SOFTQAM_OUTPUT_F32> {
    float limit;
    float limit_end; /* the next float */

    __device__ __forceinline__ void open(float largest)
    {
        limit = largest;
        limit_end = __uint_as_float(__float_as_uint(largest) + 1);
    }

    __device__ __forceinline__ uint32_t add(uint32_t value, uint32_t llr) const
    {
        return vec_bits(llr_combined(vec_from_bits(value), vec_from_bits(llr), limit, limit_end));
    }
};

/* Converts a number to a value of an output format, in the lowest bytes of a word. */
static_assert(N_OUTPUT_FORMATS == 5, "Give a format that is not of integers its conversion in soft_value_of()");
template <softqam_output_format FORMAT> static __device__ __forceinline__ uint32_t soft_value_of(float value)
{
    if (FORMAT == SOFTQAM_OUTPUT_F32)
        return __float_as_uint(value);
    if (FORMAT == SOFTQAM_OUTPUT_F16)
        return __half_as_ushort(__float2half_rn(value));
    return static_cast<uint32_t>(static_cast<int32_t>(value));
}

/* A run of bytes at any address: single values at both ends, aligned vectors between. */
struct run_split {
    uint32_t head;    /* bytes before the first vector */
    uint32_t vectors; /* bytes of all vectors */

    __device__ __forceinline__ run_split(const unsigned char *to, uint32_t nbytes)
    {
        head = min(nbytes, (0u - static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to))) % VECTOR_NBYTES);
        vectors = (nbytes - head) & ~(VECTOR_NBYTES - 1u);
    }
};

/* Half a warp, of which this is thread `lane`, stores or adds nbytes of values from shared memory: by vectors if `from`
 * has the alignment of `to`. */
template <softqam_output_format FORMAT, bool COMBINES>
static __device__ __forceinline__ void place_run(unsigned char *to, uint32_t from, uint32_t nbytes, unsigned lane,
                                                 const soft_sum<FORMAT> &sum)
{
    enum {
        VALUE = symbol_size<FORMAT, 1>::VALUE_NBYTES,
        EDGE_THREADS = VALUE == 1 ? HALF_WARP + 0 : HALF_WARP / 2 /* values at an end, at most */
    };
    const run_split split(to, nbytes);
#pragma unroll
    for (unsigned first = 0; first < 2 * EDGE_THREADS; first += HALF_WARP) {
        const bool is_head = first + lane < EDGE_THREADS;
        const uint32_t offset = is_head ? lane * VALUE : split.head + split.vectors + (lane % EDGE_THREADS) * VALUE;
        if (offset < (is_head ? split.head : nbytes)) {
            uint32_t value = load_shared_value<VALUE>(from + offset);
            if (COMBINES)
                value = sum.add(load_value<VALUE>(to + offset), value);
            store_value<VALUE>(to + offset, value);
        }
    }
    to += split.head;
    from += split.head;
    if (from % VECTOR_NBYTES == 0) {
#pragma unroll 1
        for (uint32_t offset = lane * VECTOR_NBYTES; offset < split.vectors; offset += HALF_WARP * VECTOR_NBYTES) {
            uint4 *target = reinterpret_cast<uint4 *>(to + offset);
            uint4 vector = load_shared_vector(from + offset);
            if (COMBINES) {
                const uint4 old_values = *target;
                vector = make_uint4(sum.add(old_values.x, vector.x), sum.add(old_values.y, vector.y),
                                    sum.add(old_values.z, vector.z), sum.add(old_values.w, vector.w));
            }
            *target = vector;
        }
        return;
    }
#pragma unroll 1
    for (uint32_t offset = lane * 4; offset < split.vectors; offset += HALF_WARP * 4) {
        uint32_t *target = reinterpret_cast<uint32_t *>(to + offset);
        const uint32_t aligned = (from + offset) & ~3u;
        uint32_t word = load_shared_value<4>(aligned);
        if (VALUE < 4)
            word = __funnelshift_r(word, load_shared_value<4>(aligned + 4), 8 * (from % 4));
        *target = COMBINES ? sum.add(*target, word) : word;
    }
}

/* Fills, by a warp, nbytes with a word in which one value is repeated. */
template <int VALUE> static __device__ __forceinline__ void fill_run(unsigned char *to, uint32_t word, uint32_t nbytes)
{
    const unsigned lane = warp_lane();
    const run_split split(to, nbytes);
    const bool is_head = lane < HALF_WARP;
    const uint32_t edge = lane % HALF_WARP * VALUE + (is_head ? 0 : split.head + split.vectors);
    if (edge < (is_head ? split.head : nbytes))
        store_value<VALUE>(to + edge, word);
    to += split.head;
#pragma unroll 1
    for (uint32_t offset = lane * VECTOR_NBYTES; offset < split.vectors; offset += WARP_THREADS * VECTOR_NBYTES)
        *reinterpret_cast<uint4 *>(to + offset) = make_uint4(word, word, word, word);
}

/* The positions of a code block that its LLRs do not visit: zeros, then fillers, then those after N_cb. Zeros are
 * written below position zeros_below, fillers below the buffer's n_fill. */
struct soft_fill {
    uint32_t first_zero; /* its number among the code block's values */
    uint32_t n_zeros;
    uint32_t zeros_below;
    float filler_value;
};

/* The numbers of some of these positions, from `begin` to before `end`. */
struct fill_share {
    uint32_t begin;
    uint32_t end;
};

/* Returns the share of a code block's symbols `first` to `end`, if n_symbols of its symbols share all. */
static __device__ __forceinline__ fill_share fill_share_of(const softqam_soft_buffer &buffer, const soft_fill &fill,
                                                           uint32_t first, uint32_t end, uint32_t n_symbols)
{
    const uint32_t n = fill.n_zeros + softqam_soft_buffer_size(&buffer) - buffer.n_data;
    const uint64_t each = n / n_symbols + 1;
    return {static_cast<uint32_t>(min(first * each, uint64_t{n})), static_cast<uint32_t>(min(end * each, uint64_t{n}))};
}

/* Writes, by a warp, the positions whose numbers are in a share. */
template <softqam_output_format FORMAT>
static __device__ __forceinline__ void fill_positions(const softqam_soft_buffer &buffer, unsigned char *values,
                                                      const soft_fill &fill, fill_share share)
{
    enum { VALUE = symbol_size<FORMAT, 1>::VALUE_NBYTES };
    uint32_t begin = share.begin;
    const uint32_t end = share.end, zeros_end = min(end, fill.n_zeros);
#pragma unroll 1
    while (begin < zeros_end) {
        const softqam_soft_run run = softqam_soft_run_at(&buffer, fill.first_zero + begin);
        const uint32_t n = min(run.n, zeros_end - begin);
        fill_run<VALUE>(values + size_t{run.first} * VALUE, 0,
                        softqam_positions_below(fill.zeros_below, run.first, n) * VALUE);
        begin += n;
    }
    const uint32_t fillers_end = fill.n_zeros + buffer.n_fillers;
    if (begin < min(end, fillers_end)) {
        const uint32_t position = buffer.first_filler + (begin - fill.n_zeros);
        const uint32_t n = min(end, fillers_end) - begin;
        const uint32_t value = soft_value_of<FORMAT>(fill.filler_value);
        const uint32_t word = VALUE == 4 ? value : __byte_perm(value, 0, VALUE == 2 ? 0x1010 : 0);
        fill_run<VALUE>(values + size_t{position} * VALUE, word,
                        softqam_positions_below(buffer.n_fill, position, n) * VALUE);
        begin += n;
    }
    if (begin < end) /* after N_cb */
        fill_run<VALUE>(values + size_t{buffer.n_data + (begin - fill.n_zeros)} * VALUE, 0, (end - begin) * VALUE);
}

#endif
