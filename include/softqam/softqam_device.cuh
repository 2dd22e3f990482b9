/* SPDX-License-Identifier: MIT */
/**
 * @file softqam_device.cuh
 * softqam inside your own kernel: an equaliser's kernel turns its symbols, which it has in registers, into LLRs and
 * puts them where the LDPC decoder reads them, with the bytes of softqam_cuda_demodulate_segments(). CUDA C++17, from
 * compute capability 7.5 on, with any compiler flags. One TU needs no more than this header, and links the library.
 *
 * The host makes a description of a codeword, softqam_device_codeword_init() (softqam_cuda.h), and passes it to the
 * kernel: as a __grid_constant__ argument, in constant or in device memory. In the kernel:
 *
 *     using demapper = softqam::demapper<SOFTQAM_OUTPUT_S8, SOFTQAM_MODULATION_256QAM>;
 *     __shared__ demapper::table table;
 *     demapper::load_table(table, threadIdx.x, blockDim.x);                 // all threads; then a barrier
 *     const uint32_t bits = softqam::warp_sequence<4 * 8>(codeword, first); // a warp; its symbols follow each other
 *     __syncthreads();
 *     demapper::llrs llrs[4];                                               // one resource element, 4 layers
 *     demapper::demap<4>(llrs, table, codeword, symbols, noise, bits);
 *     demapper::store<4>(codeword, first + 4 * lane, llrs);                 // or adds, as codeword.combine says
 *     demapper::fill(codeword, first, first + 4 * 32);                      // new data: a warp; zeros and fillers
 *
 * The kernel owns the mapping of threads to symbols. A symbol's number counts all symbols of the codeword, by resource
 * element, then by layer. Functions of a warp need all its 32 threads. A thread block may have any size and shape.
 *
 * Each symbol of the codeword must be stored once. The zeros and fillers of a code block are complete once fill() has
 * been called for all of its symbols; symbols may be divided among calls, kernels and streams in any way.
 */
#ifndef SOFTQAM_DEVICE_CUH
#define SOFTQAM_DEVICE_CUH

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <type_traits>

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <softqam/softqam_cuda.h>

namespace softqam
{

/* The library's own definitions. Only what is declared below is the interface. */
namespace internal
{
#include <softqam/device/device_codeword.h>
#include <softqam/device/gold.cuh>
#include <softqam/device/resolved_segment.h>
#include <softqam/device/soft_element.cuh>

static __device__ __forceinline__ const device_codeword &open(const softqam_device_codeword &codeword)
{
    return reinterpret_cast<const device_codeword &>(codeword);
}
} // namespace internal

/** Returns BITS bits of the codeword's scrambling sequence, at most 32, for each thread of a warp: thread 0's begin
 * with bit 0 of the symbol `first` of the codeword, each thread's follow those of the thread before. A thread with N
 * symbols of Qm bits has N Qm of them. Costs some 250 instructions. A codeword that is not scrambled has zeros.
 * @param codeword  the description
 * @param first     number of the warp's first symbol in the codeword, the same in all threads
 * @return the bits, the first one lowest; the bits above them are undefined */
template <int BITS>
static __device__ __forceinline__ uint32_t warp_sequence(const softqam_device_codeword &codeword, uint32_t first)
{
    const internal::device_codeword &of = internal::open(codeword);
    const auto modulation = static_cast<softqam_modulation>(of.placement.modulation);
    if (!of.placement.is_descrambled)
        return 0;
    return internal::warp_sequence<BITS>(*static_cast<const internal::gold_tables *>(of.gold_tables),
                                         of.placement.c_init,
                                         (of.placement.position + first) * internal::softqam_symbol_bits(modulation));
}

/** Returns BITS bits, at most 32, of a scrambling sequence in memory, as softqam_gold_sequence() writes it from bit 0
 * of the codeword's symbol 0 on. Any thread may call it.
 * @param words  the sequence, in whole words; one word after the last bit must be readable
 * @param bit    the first bit: the symbol's number times Qm
 * @return as warp_sequence() */
template <int BITS> static __device__ __forceinline__ uint32_t memory_sequence(const uint32_t *words, uint64_t bit)
{
    static_assert(BITS <= 32, "one word");
    return __funnelshift_r(words[bit / 32], words[bit / 32 + 1], static_cast<unsigned>(bit % 32));
}

/** Says where a symbol's LLRs go. */
struct place {
    uint32_t code_block; /**< r; the codeword's n_code_blocks if the symbol lies beyond its end */
    uint32_t symbol;     /**< number of the symbol in the code block */
    uint32_t n_symbols;  /**< symbols of the code block: E_r / Qm */
};

/** Returns the place of a symbol of the codeword. LLR e_n of the code block, n = k n_symbols + symbol, is that of bit
 * k.
 * @param codeword  the description
 * @param symbol    number of the symbol in the codeword */
static __device__ __forceinline__ place place_of(const softqam_device_codeword &codeword, uint32_t symbol)
{
    const internal::softqam_code_block found =
        internal::softqam_code_block_at(&internal::open(codeword).placement.blocks, symbol);
    return {found.r, symbol - found.first, found.n_symbols};
}

/** Functions for symbols of one modulation, and LLRs of one output format: s8, s16, f16 or f32. They must be those of
 * the description. */
template <softqam_output_format FORMAT, softqam_modulation MODULATION> struct demapper {
    /** Bits an axis; 0: BPSK. */
    static constexpr int AXIS_BITS =
        MODULATION < SOFTQAM_MODULATION_QPSK ? 0 : static_cast<int>(MODULATION) - SOFTQAM_MODULATION_QPSK + 1;
    /** Qm. */
    static constexpr int BITS = internal::symbol_size<FORMAT, AXIS_BITS>::BITS;
    static constexpr int VALUE_NBYTES = internal::symbol_size<FORMAT, AXIS_BITS>::VALUE_NBYTES;
    static_assert(FORMAT != SOFTQAM_OUTPUT_U8 && MODULATION != SOFTQAM_MODULATION_PI2_BPSK &&
                      MODULATION != SOFTQAM_MODULATION_DEFAULT,
                  "no device functions");

    /** The LLRs of a symbol, packed: word[0] has b0 in its lowest byte. */
    using llrs = internal::packed_values<internal::symbol_size<FORMAT, AXIS_BITS>::WORDS>;

    /** The table that a thread block has in shared memory: up to 256 bytes; for 1024QAM 4.2 KiB. */
    using table = internal::llr_table_memory<AXIS_BITS>;

    /** Writes the table, all threads of a block together: this is thread number `thread` of n_threads. A barrier must
     * follow. */
    static __device__ __forceinline__ void load_table(table &to, unsigned thread, unsigned n_threads)
    {
        to.copy(thread, n_threads);
    }

    /** Computes the LLRs of N symbols of a thread, which follow each other in the codeword.
     * @param to        receives each symbol's LLRs
     * @param from      the thread block's table
     * @param codeword  the description
     * @param symbols   I and Q, at unit mean energy: input_scale is not applied
     * @param noise     each symbol's N0 or 1/N0, as segment.noise_form of the description says
     * @param sequence  N Qm bits of the scrambling sequence, N Qm <= 32; 0 if the codeword is not scrambled */
    template <int N>
    static __device__ __forceinline__ void demap(llrs (&to)[N], const table &from,
                                                 const softqam_device_codeword &codeword, const float2 (&symbols)[N],
                                                 const float (&noise)[N], uint32_t sequence)
    {
        static_assert(N * BITS <= 32, "more bits of the sequence than a word has");
        const internal::device_codeword &of = internal::open(codeword);
        float components[2 * N];
        internal::symbol_scale scales[N] = {};
#pragma unroll
        for (int n = 0; n < N; n++) {
            components[2 * n] = symbols[n].x;
            components[2 * n + 1] = symbols[n].y;
            scales[n].set_noise(internal::weight_scale(FORMAT, of.placement.steps_per_nat), noise[n],
                                of.noise_is_inverse != 0, of.limit);
            scales[n].descramble = sequence >> n * BITS & ((1u << BITS) - 1);
        }
        internal::values_of<FORMAT, AXIS_BITS, true, N>(to, from.read({}), components, scales, of.limit);
    }

    /** Puts the LLRs of N symbols, which follow each other in the codeword, into the soft buffers; with combine 1 adds
     * them. N is 1, 2 or 4, and divides N_L. With N > 1 the values of a bit are one access, if the buffers are aligned
     * to N values and positions are as even; else this stores value by value.
     * @param codeword  the description
     * @param symbol    number of the first symbol in the codeword, a multiple of N
     * @param values    of demap() */
    template <int N>
    static __device__ __forceinline__ void store(const softqam_device_codeword &codeword, uint32_t symbol,
                                                 const llrs (&values)[N])
    {
        static_assert((N == 1 || N == 2 || N == 4) && N * VALUE_NBYTES <= 8, "no access has so many bytes");
        const internal::device_codeword &of = internal::open(codeword);
        if (of.neighbours % N == 0) {
            store_side_by_side<N>(of, symbol, values);
            return;
        }
#pragma unroll
        for (int n = 0; n < N; n++) {
            const llrs one[1] = {values[n]};
            store_side_by_side<1>(of, symbol + n, one);
        }
    }

    /** With combine 1: tells the second cache what store() will read. It may come before the wait for a kernel that
     * writes there (programmatic dependent launch). */
    template <int N>
    static __device__ __forceinline__ void prefetch(const softqam_device_codeword &codeword, uint32_t symbol)
    {
        internal::soft_positions<BITS> from;
        from.open(internal::open(codeword).placement, symbol);
        if (from.values)
#pragma unroll
            for (int k = 0; k < BITS; k++)
                asm volatile("prefetch.global.L2 [%0];" ::"l"(from.values + size_t{from.position[k]} * VALUE_NBYTES));
    }

    /** Writes the zeros and fillers that belong to symbols of the codeword, from `symbol` to before `end`: a warp
     * together, each thread with the same arguments. With combine 1 there are none.
     * @param codeword  the description
     * @param symbol    number of a symbol in the codeword
     * @param end       number of the symbol after the last one; those after the codeword's end do not count */
    static __device__ __forceinline__ void fill(const softqam_device_codeword &codeword, uint32_t symbol, uint32_t end)
    {
        const internal::device_codeword &of = internal::open(codeword);
        if (!of.placement.combines)
            internal::fill_for_symbols<FORMAT>(of.placement, symbol, min(end, of.n_symbols), of.n_symbols);
    }

    /** Stores the LLRs of a symbol in symbol order, for UCI: Qm values, b0 first.
     * @param out     receives them, aligned to a value
     * @param values  of demap() */
    static __device__ __forceinline__ void store_symbol(void *out, const llrs &values)
    {
#pragma unroll
        for (int k = 0; k < BITS; k++)
            internal::store_value<VALUE_NBYTES>(static_cast<unsigned char *>(out) + k * VALUE_NBYTES,
                                                internal::value_at<VALUE_NBYTES>(values, k));
    }

  private:
    template <int N>
    static __device__ __forceinline__ void store_side_by_side(const internal::device_codeword &of, uint32_t symbol,
                                                              const llrs (&values)[N])
    {
        internal::soft_positions<BITS> to;
        to.open(of.placement, symbol);
        if (!to.values)
            return;
        internal::soft_sum<FORMAT> sum;
        sum.open(of.limit.llr);
        internal::soft_element<FORMAT, AXIS_BITS, N> element;
        if (of.placement.combines)
            element.load(to);
        element.take(values, of.placement.combines, sum);
        element.store(to);
    }
};

} // namespace softqam

/* The definitions' own macros. */
#undef GOLD_FUNCTION
#undef GOLD_PERIOD
#undef HOST_AND_DEVICE
#undef INPUT_FORMAT_LIST
#undef LARGEST_FLOAT
#undef LARGEST_HALF
#undef LEAST_NORMAL
#undef LIMIT_COMPONENT
#undef LINEAR_COMPONENT
#undef LLR_LINE_FUNCTION
#undef LLR_STEP
#undef LLR_SUM_BITS
#undef MAX_GAIN
#undef MAX_INVERSE_N0
#undef MAX_N0
#undef MIN_GAIN
#undef MIN_INVERSE_N0
#undef MIN_N0
#undef MIN_WEIGHT
#undef MODULATION_LIST
#undef NO_NEIGHBOUR
#undef ONE_MORE
#undef OUTPUT_FORMAT_LIST
#undef ROUNDING_CONSTANT
#undef SMALL_WEIGHT
#undef SMALL_WEIGHT_METRIC
#undef TINY_COMPONENT
#undef VEC
#undef VEC_UNROLL

#endif
