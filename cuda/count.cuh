/* SPDX-License-Identifier: MIT */
/* Statistics: a thread counts the symbols and LLRs that it has in registers, and a thread block adds its threads'
 * counts to softqam_statistics. The numbers are those of src/cpu/statistics.c: integers, which have the same sums in
 * any order. */
#ifndef SOFTQAM_COUNT_CUH
#define SOFTQAM_COUNT_CUH

#include "symbol.cuh"

#include "arithmetic_energies.h"

/* Says whether a warp's loop stores LLRs, stores and counts them, or only counts them. */
enum count_mode { NO_COUNTS, COUNTS, ONLY_COUNTS };

/* The values of softqam_params.information, computed by the compiler. */
struct information_values {
    uint32_t of_bins[LAST_BIN + 1];

    /* Returns log(1 + x) for x from 0 to 1. */
    static constexpr double log_of_one_more(double x)
    {
        const double z = x / (2 + x);
        double power = z, sum = 0;
        for (int k = 1; power > 1e-25; k += 2, power *= z * z)
            sum += power / k;
        return 2 * sum;
    }

    constexpr information_values() : of_bins{}
    {
        static_assert(BINS_PER_NAT == 16, "Give RATIO its value");
        constexpr double RATIO = 0.939413062813475786119710825, /* exp(-1 / BINS_PER_NAT) */
            LOG_2 = 0.693147180559945309417232121;
        double x = 1;
        for (int k = 0; k <= LAST_BIN; k++, x *= RATIO) {
            const double entropy = (log_of_one_more(x) + k / static_cast<double>(BINS_PER_NAT) * x / (1 + x)) / LOG_2;
            of_bins[k] = static_cast<uint32_t>(static_cast<double>(WHOLE_INFORMATION) * (1 - entropy) + 0.5);
        }
    }
};
static __device__ const information_values information_of_bins = information_values();

enum { N_COUNTS = sizeof(softqam_statistics) / sizeof(uint64_t) };
static_assert(N_COUNTS == 7, "Give the new count its place in warp_counts, block_counts::add_rare() or set()");

/* A thread's counts. */
struct thread_counts {
    uint32_t n_symbols, n_limited; /* n_limited in LIMITED_UNITs */
    uint32_t n_erased, n_sampled, error_energy, symbol_energy, information;
};

/* The number of sampled symbols that the sums of energies have room for. */
enum { MAX_SAMPLED = 15 };
static_assert(static_cast<float>(MAX_SAMPLED) * MAX_ENERGY * ENERGY_UNIT < 0x1p32f, "Make the sums wider than 32 bits");

/* Returns each value's magnitude, in a word of values. */
template <softqam_output_format FORMAT> static __device__ __forceinline__ uint32_t magnitudes_of(uint32_t word)
{
    if (FORMAT == SOFTQAM_OUTPUT_S8)
        return __vabsdiffu4(word ^ 0x80808080, 0x80808080);
    if (FORMAT == SOFTQAM_OUTPUT_S16)
        return __vabs2(word);
    return word & (FORMAT == SOFTQAM_OUTPUT_F16 ? 0x7fff7fff : 0x7fffffff);
}

/* Returns a mask of the bytes of a symbol's word w that are values. */
template <int NBYTES> static __device__ __forceinline__ constexpr uint32_t used_bytes(int w)
{
    return NBYTES - 4 * w >= 4 ? 0xffffffffu : (1u << 8 * (NBYTES % 4)) - 1;
}

enum { LIMITED_UNIT = 128 };

/* Returns n plus LIMITED_UNIT for each value at the limit, or for each soft bit of 0 or 255; the values take NBYTES. No
 * magnitude is above the limit, so the sum with to_highest sets a value's highest bit if and only if the value is at
 * the limit. */
template <softqam_output_format FORMAT, int NBYTES, int WORDS>
static __device__ __forceinline__ uint32_t count_limited(const packed_values<WORDS> &values,
                                                         const softqam_llr_limit &limit, uint32_t n)
{
    constexpr uint32_t highest = FORMAT == SOFTQAM_OUTPUT_S8 ? 0x80808080 : 0x80008000, ones = 0x01010101;
    const uint32_t to_highest = FORMAT == SOFTQAM_OUTPUT_F16
                                    ? highest - __half_as_ushort(__float2half_rn(limit.llr)) * 0x10001u
                                    : limit.to_middle_each;
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        const uint32_t word = values.word[w], used = used_bytes<NBYTES>(w);
        if (FORMAT == SOFTQAM_OUTPUT_U8)
            n += LIMITED_UNIT / 8 * __popc(__vcmpeq4(word, 0) | __vcmpeq4(word, 0xffffffffu));
        else if (FORMAT == SOFTQAM_OUTPUT_F32)
            n += magnitudes_of<FORMAT>(word) == __float_as_uint(limit.llr) ? LIMITED_UNIT + 0u : 0;
        else
            n = __dp4a((magnitudes_of<FORMAT>(word) + to_highest) & highest & used, ones, n);
    }
    return n;
}

/* Returns the bin of LLR k in information_values; `bins_per_unit` is bins_per_unit_of() for the format. */
template <softqam_output_format FORMAT, int WORDS>
static __device__ __forceinline__ uint32_t bin_of_llr(const packed_values<WORDS> &values, int k, float bins_per_unit)
{
    const uint32_t word = value_at<softqam_value_nbytes(FORMAT)>(values, k);
    const float magnitude =
        fabsf(FORMAT == SOFTQAM_OUTPUT_F32   ? __uint_as_float(word)
              : FORMAT == SOFTQAM_OUTPUT_F16 ? __half2float(__ushort_as_half(static_cast<uint16_t>(word)))
              : FORMAT == SOFTQAM_OUTPUT_S16 ? static_cast<float>(static_cast<int16_t>(word))
                                             : static_cast<float>(static_cast<int8_t>(word)));
    const float bin = vec_min(vec_mul(magnitude, bins_per_unit), static_cast<float>(LAST_BIN));
    return vec_bits(vec_add(bin, 0x1p23f)) & 0xff;
}

/* Returns how many bins of information_values a format's unit has: a step or a nat. */
static __device__ __forceinline__ float bins_per_unit_of(softqam_output_format format, float steps_per_nat)
{
    return vec_div(static_cast<float>(BINS_PER_NAT), softqam_is_in_steps(format) ? fabsf(steps_per_nat) : 1.0f);
}

/* Adds the energies of a symbol, unless the mask `kept` is zero. */
template <int M> static __device__ __forceinline__ void add_energies(thread_counts &to, float i, float q, uint32_t kept)
{
    enum { AXIS_BITS = M == 0 ? 1 : M };
    const softqam_levels levels = softqam_levels_of(M, llr_row_scale(AXIS_BITS), llr_last_row(AXIS_BITS));
    const float sum = vec_add(i, q);
    const float error = M == 0 ? energy_of(bpsk_distance(&levels, i, sum), bpsk_distance(&levels, q, sum))
                               : energy_of(level_distance(&levels, i), level_distance(&levels, q));
    to.error_energy += __float2uint_rn(error) & kept;
    to.symbol_energy += __float2uint_rn(energy_of(i, q)) & kept;
}

/* Adds those of N symbols whose bit of `sampled` is set. `information` is a table by magnitude or by bin. */
template <softqam_output_format FORMAT, int M, bool HAS_ENERGIES, bool IS_BY_MAGNITUDE, int N>
static __device__ __forceinline__ void
add_samples(thread_counts &to, const packed_values<symbol_size<FORMAT, M>::WORDS> (&values)[N],
            const float (&components)[2 * N], uint32_t sampled, float bins_per_unit, const uint32_t *information)
{
    if (sampled == 0)
        return;
    to.n_sampled += __popc(sampled);
#pragma unroll
    for (int n = 0; n < N; n++) { /* without branches, so that symbols hide each other's latency */
        const uint32_t kept = 0u - (sampled >> n & 1);
        uint32_t of_symbol = 0;
        if (HAS_ENERGIES)
            add_energies<M>(to, components[2 * n], components[2 * n + 1], kept);
#pragma unroll
        for (int k = 0; k < symbol_size<FORMAT, M>::BITS; k++)
            of_symbol +=
                information[IS_BY_MAGNITUDE ? magnitudes_of<FORMAT>(values[n].word[k / 4]) >> 8 * (k % 4) & 0xff
                                            : bin_of_llr<FORMAT>(values[n], k, bins_per_unit)];
        to.information += of_symbol & kept;
    }
}

/* Returns the sum of a warp's numbers to all of its threads. */
static __device__ __forceinline__ uint32_t warp_total(uint32_t number)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, number);
#else
#pragma unroll
    for (int distance = WARP_THREADS / 2; distance > 0; distance /= 2)
        number += __shfl_xor_sync(0xffffffffu, number, distance);
    return number;
#endif
}

/* A warp's counts. The first numbers are those of softqam_statistics. The two energies, from WIDE on, are sums of the
 * lower 16 bits, and the sums of the upper 16 bits lie from UPPER on. The information, which follows the energies,
 * needs no upper sum, so that one stays 0. */
struct alignas(16) warp_counts {
    enum { WIDE = 4, UPPER = 8 };
    uint32_t numbers[12];
};

/* A thread block's counts in shared memory. */
struct block_counts {
    uint32_t information[LAST_BIN + 1]; /* by bin; s8: by magnitude */
    warp_counts of_warps[BLOCK_WARPS];

    __device__ __forceinline__ warp_counts &own() { return of_warps[threadIdx.x / WARP_THREADS]; }

    /* Adds the counts of a warp's symbols, except n_symbols and n_limited. */
    __device__ __forceinline__ void add_rare(const thread_counts &thread)
    {
        const uint32_t added[12] = {0,
                                    warp_total(thread.n_erased),
                                    0,
                                    warp_total(thread.n_sampled),
                                    warp_total(thread.error_energy & 0xffff),
                                    warp_total(thread.symbol_energy & 0xffff),
                                    warp_total(thread.information),
                                    0,
                                    warp_total(thread.error_energy >> 16),
                                    warp_total(thread.symbol_energy >> 16)};
        if (threadIdx.x % WARP_THREADS != 0)
            return;
        warp_counts counts = own();
#pragma unroll
        for (int k = 0; k < 12; k++)
            counts.numbers[k] += added[k];
        own() = counts;
    }

    /* Sets n_symbols and n_limited of a warp. */
    __device__ __forceinline__ void set(const thread_counts &thread)
    {
        const uint32_t n_symbols = warp_total(thread.n_symbols);
        const uint32_t n_limited = warp_total(thread.n_limited / LIMITED_UNIT);
        if (threadIdx.x % WARP_THREADS != 0)
            return;
        own().numbers[0] = n_symbols;
        own().numbers[2] = n_limited;
    }
};

static __device__ __forceinline__ block_counts &counts_of_block()
{
    static __shared__ block_counts counts;
    return counts;
}

/* Prepares a thread block's counts, by its first BLOCK_THREADS threads; a barrier must follow. */
template <softqam_output_format FORMAT> static __device__ __forceinline__ void open_counts(float steps_per_nat)
{
    block_counts &counts = counts_of_block();
    const float bins_per_unit = bins_per_unit_of(FORMAT, steps_per_nat);
    for (unsigned k = threadIdx.x; k < (FORMAT == SOFTQAM_OUTPUT_S8 ? 128 : LAST_BIN + 1); k += BLOCK_THREADS) {
        const packed_values<1> magnitude = {{k}};
        counts.information[k] =
            information_of_bins
                .of_bins[FORMAT == SOFTQAM_OUTPUT_S8 ? bin_of_llr<SOFTQAM_OUTPUT_S8>(magnitude, 0, bins_per_unit) : k];
    }
    if (threadIdx.x < BLOCK_WARPS)
        counts.of_warps[threadIdx.x] = {};
}

/* Adds the block's counts to a structure, unless it is NULL. A barrier must precede. */
static __device__ __forceinline__ void add_counts_to(softqam_statistics *statistics)
{
    if (threadIdx.x >= N_COUNTS || !statistics)
        return;
    unsigned long long sum = 0;
#pragma unroll
    for (int warp = 0; warp < BLOCK_WARPS; warp++) {
        const uint32_t *number = counts_of_block().of_warps[warp].numbers + threadIdx.x;
        const uint32_t upper = threadIdx.x < warp_counts::WIDE ? 0 : number[warp_counts::UPPER - warp_counts::WIDE];
        sum += *number + (static_cast<unsigned long long>(upper) << 16);
    }
    if (sum != 0)
        atomicAdd(reinterpret_cast<unsigned long long *>(statistics) + threadIdx.x, sum);
}

/* Waits until all of the thread block's first BLOCK_THREADS threads, those that have symbols, have called this. */
static __device__ __forceinline__ void wait_for_symbol_threads()
{
    enum { SYMBOL_THREADS_BARRIER = 3 };
    asm volatile("bar.sync %0, %1;" ::"n"(SYMBOL_THREADS_BARRIER + 0), "n"(BLOCK_THREADS + 0) : "memory");
}

/* N symbols of each thread of a warp, some of which are sampled or erasures. */
template <softqam_output_format FORMAT, int M, int N> struct rare_symbols {
    packed_values<symbol_size<FORMAT, M>::WORDS> values[N];
    float components[2 * N];
    uint32_t sampled, erased; /* bit n is set if symbol n is */

    static_assert(N != 4 || N * WARP_THREADS / 2 == SAMPLE_SYMBOLS, "Such threads must be SAMPLE_SYMBOLS apart");

    /* Shares the work on sampled symbols between two threads half a warp apart. Their symbols are SAMPLE_SYMBOLS apart
     * and begin at multiples of four in the codeword. So at most one of the two threads has sampled symbols, and then
     * four, of which this returns the first two to that thread and the last two to the other. */
    __device__ __forceinline__ rare_symbols<FORMAT, M, 2> shared() const
    {
        const auto own_or_other = [&](uint32_t own, uint32_t others) {
            const uint32_t other = __shfl_xor_sync(0xffffffffu, others, WARP_THREADS / 2);
            return sampled != 0 ? own : other;
        };
        rare_symbols<FORMAT, M, 2> two;
#pragma unroll
        for (int n = 0; n < 2; n++) {
#pragma unroll
            for (int w = 0; w < symbol_size<FORMAT, M>::WORDS; w++)
                two.values[n].word[w] = own_or_other(values[n].word[w], values[n + 2].word[w]);
#pragma unroll
            for (int axis = 0; axis < 2; axis++)
                two.components[2 * n + axis] = __uint_as_float(own_or_other(
                    __float_as_uint(components[2 * n + axis]), __float_as_uint(components[2 * n + 4 + axis])));
        }
        two.sampled = own_or_other(sampled & ~erased, (sampled & ~erased) >> 2) & 3;
        two.erased = 0;
        return two;
    }
};

/* Adds rare symbols to a thread's counts. */
template <softqam_output_format FORMAT, int M, bool HAS_ENERGIES, int N>
static __device__ __forceinline__ void add_rare(thread_counts &counts, const rare_symbols<FORMAT, M, N> &symbols,
                                                float bins_per_unit)
{
    const auto add = [&](const auto &some) {
        add_samples<FORMAT, M, HAS_ENERGIES, FORMAT == SOFTQAM_OUTPUT_S8>(counts, some.values, some.components,
                                                                          some.sampled & ~some.erased, bins_per_unit,
                                                                          counts_of_block().information);
    };
    counts.n_erased += __popc(symbols.erased);
    if constexpr (FORMAT == SOFTQAM_OUTPUT_U8)
        return;
    else if constexpr (N == 4)
        add(symbols.shared());
    else
        add(symbols);
}

/* Counts a thread's symbols of a segment. All threads of a warp call its functions. */
template <softqam_output_format FORMAT, int M, bool HAS_ENERGIES, bool IS_IN_LOOP> struct symbol_counter {
    typedef packed_values<symbol_size<FORMAT, M>::WORDS> packed;

    const softqam_llr_limit &limit;
    float steps_per_nat;
    thread_counts counts; /* only n_symbols and n_limited are used */

    /* Counts N symbols that follow each other in the codeword from `position` on, if they are this thread's; bit k of
     * `erased` is set if symbol k is an erasure. */
    template <int N>
    __device__ __forceinline__ void count(const packed (&values)[N], const float (&components)[2 * N], uint32_t erased,
                                          bool are_mine, uint32_t position)
    {
        rare_symbols<FORMAT, M, N> rare = {};
        uint32_t limited = 0;
#pragma unroll
        for (int k = 0; k < N; k++) {
            limited = count_limited<FORMAT, symbol_size<FORMAT, M>::NBYTES>(values[k], limit, limited);
            rare.sampled |= softqam_is_sampled(position + k) ? 1u << k : 0;
        }
        counts.n_symbols += are_mine ? N : 0;
        counts.n_limited += are_mine ? limited : 0;
        rare.sampled = are_mine ? rare.sampled : 0;
        rare.erased = are_mine ? erased : 0;
        if (!__any_sync(0xffffffffu, (rare.sampled | rare.erased) != 0))
            return;
#pragma unroll
        for (int k = 0; k < N; k++) {
            rare.values[k] = values[k];
            rare.components[2 * k] = components[2 * k];
            rare.components[2 * k + 1] = components[2 * k + 1];
        }
        const float bins_per_unit = bins_per_unit_of(FORMAT, steps_per_nat);
        if (IS_IN_LOOP)
            add_apart(rare, bins_per_unit);
        else
            add(rare, bins_per_unit);
    }

    /* Counts the symbol that `symbols` has demodulated. */
    template <typename Symbols>
    __device__ __forceinline__ void count_next(const Symbols &symbols, const packed &values, bool is_mine,
                                               uint32_t position)
    {
        const packed one[1] = {values};
        count<1>(one, symbols.components, symbols.is_erasure, is_mine, position);
    }

    /* Adds to the block's counts what has not been added yet. */
    __device__ __forceinline__ void close() const { counts_of_block().set(counts); }

  private:
    template <int N>
    static __device__ __forceinline__ void add(const rare_symbols<FORMAT, M, N> &rare, float bins_per_unit)
    {
        thread_counts counts = {};
        add_rare<FORMAT, M, HAS_ENERGIES>(counts, rare, bins_per_unit);
        counts_of_block().add_rare(counts);
    }

    /* Does the same as add(), but is not inlined, so that a loop, which seldom calls it, stays in the instruction
     * cache. */
    template <int N> static __device__ __noinline__ void add_apart(rare_symbols<FORMAT, M, N> rare, float bins_per_unit)
    {
        add(rare, bins_per_unit);
    }
};

#endif
