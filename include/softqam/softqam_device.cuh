/* SPDX-License-Identifier: MIT */
/**
 * @file softqam_device.cuh
 * softqam inside your own kernel: an equaliser turns the symbols in its registers into LLRs in soft buffers, with the
 * bytes of softqam_cuda_demodulate_segments(). CUDA C++17, compute capability 7.5 or later, any compiler flags; if
 * these flush subnormal numbers, subnormal LLRs of pairs are zero. Include it from an installation or a configured
 * build (-I BUILD/include -I include) with CUDA, and link the library.
 *
 * `codeword` is a codeword's description, which softqam_device_codeword_init() makes. A symbol's number counts all
 * symbols of the codeword, by resource element, then by layer. The symbols of a thread follow each other. Functions of
 * a warp need all its 32 threads, with the same arguments. load(), store(), fill() and flush() come after the wait for
 * the kernel before. Each symbol of the codeword must be stored once, and lie in one range of fill().
 */
#ifndef SOFTQAM_DEVICE_CUH
#define SOFTQAM_DEVICE_CUH

#ifndef __CUDACC__
#error softqam_device.cuh is for sources in CUDA C++
#endif

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
#include <softqam/device/keep_macros.h>
#include <softqam/softqam_cuda.h>

namespace softqam
{

/* Private. */
namespace internal
{
#include <softqam/device/count.cuh>
#include <softqam/device/device_codeword.h>
#include <softqam/device/gold.cuh>
#include <softqam/device/joint_symbol.cuh>
#include <softqam/device/soft_element.cuh>

static __device__ __forceinline__ const device_codeword &open(const softqam_device_codeword &codeword)
{
    return reinterpret_cast<const device_codeword &>(codeword);
}

static __device__ __forceinline__ llr_rules rules_of(const device_codeword &codeword)
{
    return {codeword.placement.steps_per_nat, codeword.noise_is_inverse != 0, codeword.limit};
}

static __device__ __forceinline__ float2 components_of(float2 symbol) { return symbol; }
static __device__ __forceinline__ float2 components_of(__half2 symbol) { return __half22float2(symbol); }

/* Adds the numbers of those threads of a warp that call it together. */
static __device__ __forceinline__ void add_together(uint64_t *to, uint64_t number)
{
#if __CUDA_ARCH__ >= 800
    const unsigned here = __activemask();
    uint64_t sum = 0;
#pragma unroll
    for (int shift = 0; shift < 64; shift += 16)
        sum += static_cast<uint64_t>(__reduce_add_sync(here, static_cast<unsigned>(number >> shift) & 0xffff)) << shift;
    number = warp_lane() == static_cast<unsigned>(__ffs(static_cast<int>(here))) - 1 ? sum : 0;
#endif
    if (number != 0)
        atomicAdd(reinterpret_cast<unsigned long long *>(to), static_cast<unsigned long long>(number));
}
} // namespace internal

/** Copies a description, such as to shared memory. All threads of a block must call it; a barrier must follow.
 * @param to         receives it
 * @param from       description
 * @param thread     this thread's number in the block
 * @param n_threads  threads of the block */
static __device__ __forceinline__ void copy_codeword(softqam_device_codeword &to, const softqam_device_codeword &from,
                                                     unsigned thread, unsigned n_threads)
{
    for (unsigned k = thread; k < sizeof to.words / sizeof to.words[0]; k += n_threads)
        to.words[k] = from.words[k];
}

/** Returns BITS <= 32 bits of the scrambling sequence to each thread of a warp: N Qm for its N symbols, which
 * follow those of the thread before.
 * @param codeword  description
 * @param first     number of the warp's first symbol
 * @return the bits, the first one lowest, those above undefined; 0 without descrambling */
template <int BITS>
static __device__ __forceinline__ uint32_t warp_sequence(const softqam_device_codeword &codeword, uint32_t first)
{
    const internal::device_codeword &described = internal::open(codeword);
    const auto modulation = static_cast<softqam_modulation>(described.placement.modulation);
    if (!described.placement.is_descrambled)
        return 0;
    internal::is_in_global_memory(described.gold_tables);
    return internal::warp_sequence<BITS>(
        *static_cast<const internal::gold_tables *>(described.gold_tables), described.placement.c_init,
        (described.placement.scrambled_symbol + first) * internal::softqam_symbol_bits(modulation));
}

/** Returns BITS <= 32 bits of a sequence that softqam_gold_sequence() wrote from symbol 0 on.
 * @param words  the sequence, with one readable word after that of the last bit
 * @param bit    the first bit: the symbol's number times Qm
 * @return as warp_sequence() */
template <int BITS> static __device__ __forceinline__ uint32_t memory_sequence(const uint32_t *words, uint64_t bit)
{
    static_assert(BITS <= 32, "The bits must fit in a word");
    return __funnelshift_r(words[bit / 32], words[bit / 32 + 1], static_cast<unsigned>(bit % 32));
}

/** A symbol's place in its code block. */
struct place {
    uint32_t code_block; /**< r; n_code_blocks beyond the codeword's end */
    uint32_t symbol;     /**< its number there */
    uint32_t n_symbols;  /**< the code block's: E_r / Qm */
};

/** Returns a symbol's place. The symbol's bit k is LLR k * place.n_symbols + place.symbol of the code block.
 * @param codeword  description
 * @param symbol    the symbol's number
 * @return its place */
static __device__ __forceinline__ place place_of(const softqam_device_codeword &codeword, uint32_t symbol)
{
    const internal::softqam_code_block found =
        internal::softqam_code_block_at(&internal::open(codeword).placement.blocks, symbol);
    return {found.r, symbol - found.first, found.n_symbols};
}

/** Noise value and gain, as in softqam_layer. */
struct noise_and_gain {
    float noise; /**< noise value */
    float gain;  /**< gain */
};

/** A layer of a pair, as layers[k] of a segment with cross_gain. */
using joint_layer = internal::joint_layer; /* { float2 symbol; float noise; float gain; } */

/** A thread's statistics, which a demapper's functions count in registers. */
class statistics
{
  public:
    /** Adds them atomically, and clears them.
     *  @param to  device memory, aligned to 8 bytes */
    __device__ __forceinline__ void flush(softqam_statistics *to)
    {
#pragma unroll
        for (int k = 0; k < internal::N_COUNTS; k++)
            internal::add_together(reinterpret_cast<uint64_t *>(to) + k, all[k]);
        *this = {};
    }

  private:
    template <softqam_output_format FORMAT, softqam_modulation MODULATION> friend struct demapper;

    uint64_t all[internal::N_COUNTS] = {};

    /* Adds a symbol of the codeword, unless it goes nowhere. */
    template <softqam_output_format FORMAT, int M, bool HAS_ENERGIES>
    __device__ __forceinline__ void add(const softqam_device_codeword &codeword, uint32_t symbol,
                                        const internal::packed_values<internal::symbol_size<FORMAT, M>::WORDS> &llrs,
                                        const float (&components)[2], bool is_erasure)
    {
        const internal::device_codeword &described = internal::open(codeword);
        const internal::packed_values<internal::symbol_size<FORMAT, M>::WORDS> values[1] = {llrs};
        if (symbol >= described.n_symbols)
            return;
        if (described.placement.block_buffers) {
            const internal::softqam_code_block block =
                internal::softqam_code_block_at(&described.placement.blocks, symbol);
            if (!internal::softqam_code_block_values(&described.placement, &block))
                return;
        }
        internal::thread_counts one = {};
        if (internal::softqam_is_sampled(symbol) && !is_erasure)
            internal::add_samples<FORMAT, M, HAS_ENERGIES, false>(
                one, values, components, 1, internal::bins_per_unit_of(FORMAT, described.placement.steps_per_nat),
                internal::information_of_bins.of_bins);
        const uint32_t limited =
            internal::count_limited<FORMAT, internal::symbol_size<FORMAT, M>::NBYTES>(llrs, described.limit, 0);
        const uint32_t added[] = {1,
                                  is_erasure,
                                  limited / internal::LIMITED_UNIT,
                                  one.n_sampled,
                                  one.error_energy,
                                  one.symbol_energy,
                                  one.information};
#pragma unroll
        for (int k = 0; k < internal::N_COUNTS; k++)
            all[k] += added[k];
    }
};

/** Passed as `sequence`, this makes functions count their symbols too. */
struct counted {
    uint32_t sequence;  /**< the bits */
    uint32_t symbol;    /**< number of the first symbol, as for target */
    statistics &counts; /**< adds to these */
};

/** Functions for one modulation and output format. If the codeword's differ, target::open() and fill() end the kernel
 * with cudaErrorLaunchFailure; other functions compute wrong LLRs. */
template <softqam_output_format FORMAT, softqam_modulation MODULATION> struct demapper {
    /** Bits an axis; 0: BPSK. */
    static constexpr int AXIS_BITS =
        MODULATION < SOFTQAM_MODULATION_QPSK ? 0 : static_cast<int>(MODULATION) - SOFTQAM_MODULATION_QPSK + 1;
    /** Qm. */
    static constexpr int BITS = internal::symbol_size<FORMAT, AXIS_BITS>::BITS;
    /** Bytes of an LLR. */
    static constexpr int VALUE_NBYTES = internal::symbol_size<FORMAT, AXIS_BITS>::VALUE_NBYTES;
    static_assert(FORMAT != SOFTQAM_OUTPUT_U8 && MODULATION != SOFTQAM_MODULATION_PI2_BPSK &&
                      MODULATION != SOFTQAM_MODULATION_DEFAULT,
                  "Device functions lack u8 and pi/2-BPSK, and need a modulation");

    /** A symbol's LLRs, packed: word[0] has b0 in its lowest byte. */
    using llrs = internal::packed_values<internal::symbol_size<FORMAT, AXIS_BITS>::WORDS>;

    /** Shared memory of a block: up to 256 bytes; 1024QAM: 6 KiB. */
    using table = internal::llr_table_memory<AXIS_BITS>;

    /** Writes the table. All threads of a block must call it; a barrier must follow.
     *  @param to         the table
     *  @param thread     number in the block
     *  @param n_threads  threads of the block */
    static __device__ __forceinline__ void load_table(table &to, unsigned thread, unsigned n_threads)
    {
        to.copy(thread, n_threads);
    }

    /** Computes the LLRs of N symbols.
     *  @param to        receives them
     *  @param from      the table
     *  @param codeword  description
     *  @param symbols   float2 or __half2; without input_scale
     *  @param noise     float, for these symbols, as noise_form says; or noise_and_gain
     *  @param sequence  N Qm <= 32 bits of the scrambling sequence, or 0; or a `counted` with these */
    template <int N, typename Symbol, typename Noise, typename Sequence>
    static __device__ __forceinline__ void demap(llrs (&to)[N], const table &from,
                                                 const softqam_device_codeword &codeword, const Symbol (&symbols)[N],
                                                 const Noise (&noise)[N], const Sequence &sequence)
    {
        constexpr bool HAS_GAINS = std::is_same_v<Noise, noise_and_gain>;
        internal::symbols_in_registers<N> inputs;
#pragma unroll
        for (int n = 0; n < N; n++) {
            const float2 components = internal::components_of(symbols[n]);
            inputs.components[2 * n] = components.x;
            inputs.components[2 * n + 1] = components.y;
            if constexpr (HAS_GAINS) {
                inputs.noise[n] = noise[n].noise;
                inputs.gains[n] = noise[n].gain;
            } else {
                inputs.noise[n] = noise[n];
            }
        }
        inputs.sequence = bits_of(sequence);
        internal::demap_symbols<FORMAT, AXIS_BITS, HAS_GAINS, N>(to, from.read({}), inputs,
                                                                 internal::rules_of(internal::open(codeword)));
        if constexpr (std::is_same_v<Sequence, counted>)
#pragma unroll
            for (int n = 0; n < N; n++) {
                const float components[2] = {inputs.components[2 * n], inputs.components[2 * n + 1]};
                sequence.counts.template add<FORMAT, AXIS_BITS, true>(codeword, sequence.symbol + n, to[n], components,
                                                                      inputs.erased >> n & 1);
            }
    }

    /** Computes the LLRs of two layers jointly, without input_scale. Four layers are two pairs with a target<2> each;
     *  the second has sequence >> 2 Qm.
     *  @param to          receives them
     *  @param codeword    description
     *  @param layers      an even layer and the next one
     *  @param cross_gain  conj(h) of the first times h of the second
     *  @param sequence    as for demap(), 2 Qm bits */
    template <typename Sequence>
    static __device__ __forceinline__ void demap_pair(llrs (&to)[2], const softqam_device_codeword &codeword,
                                                      const joint_layer (&layers)[2], float2 cross_gain,
                                                      const Sequence &sequence)
    {
        const float2 conjugate = {cross_gain.x, -cross_gain.y};
        demap_jointly<MODULATION>(to[0], codeword, internal::joint_inputs_of(layers[0], layers[1], cross_gain, true),
                                  sequence);
        demap_jointly<MODULATION>(to[1], codeword, internal::joint_inputs_of(layers[1], layers[0], conjugate, true),
                                  next_of(sequence));
    }

    /** Computes the LLRs of a layer whose partner is another codeword's. The partner's noise value does not matter.
     *  @param to          receives them
     *  @param codeword    description
     *  @param layer       the wanted layer
     *  @param partner     the other one
     *  @param cross_gain  conj(h) of the layer times h of its partner
     *  @param sequence    as for demap(), Qm bits */
    template <softqam_modulation PARTNER, typename Sequence>
    static __device__ __forceinline__ void demap_beside(llrs &to, const softqam_device_codeword &codeword,
                                                        const joint_layer &layer, const joint_layer &partner,
                                                        float2 cross_gain, const Sequence &sequence)
    {
        demap_jointly<PARTNER>(to, codeword, internal::joint_inputs_of(layer, partner, cross_gain, false), sequence);
    }

    /** Places of N symbols in soft buffers. N is 1, 2 or 4, and divides N_L; N values have at most 8 bytes. */
    template <int N> class target
    {
      public:
        /** Finds the places. LLRs after the codeword's end go nowhere.
         *  @param codeword  description
         *  @param symbol    number of the first symbol, a multiple of N */
        __device__ __forceinline__ void open(const softqam_device_codeword &codeword, uint32_t symbol)
        {
            require(codeword);
            first_symbol = symbol;
            element.open(internal::open(codeword).placement, symbol);
        }

        /** With combine 1: prefetches for load(), even before the wait for the kernel that writes there.
         *  @param codeword  description */
        __device__ __forceinline__ void prefetch(const softqam_device_codeword &codeword) const
        {
            if (internal::open(codeword).placement.combines)
                element.prefetch();
        }

        /** With combine 1: loads what store() adds to. Must be called before store(); earlier is faster.
         *  @param codeword  description */
        __device__ __forceinline__ void load(const softqam_device_codeword &codeword)
        {
            element.load(internal::open(codeword).placement.combines && is_aligned(codeword));
        }

        /** Stores the LLRs, or adds them, as codeword.combine says.
         *  @param codeword  description
         *  @param values    LLRs */
        __device__ __forceinline__ void store(const softqam_device_codeword &codeword, const llrs (&values)[N]) const
        {
            const internal::device_codeword &described = internal::open(codeword);
            if (is_aligned(codeword)) {
                put(described, element, values);
                return;
            }
            llrs left[N];
#pragma unroll
            for (int n = 0; n < N; n++)
                left[n] = values[n];
#pragma unroll 1
            for (int n = 0; n < N; n++) { /* registers have no index, so values are shifted */
                internal::soft_element<FORMAT, AXIS_BITS, 1> one;
                one.open(described.placement, first_symbol + n);
                one.load(described.placement.combines);
                put(described, one, {left[0]});
#pragma unroll
                for (int k = 1; k < N; k++)
                    left[k - 1] = left[k];
            }
        }

      private:
        static_assert((N == 1 || N == 2 || N == 4) && N * VALUE_NBYTES <= 8,
                      "A target takes 1, 2 or 4 symbols and at most 8 bytes of a bit's values");
        internal::soft_element<FORMAT, AXIS_BITS, N> element;
        uint32_t first_symbol;

        static __device__ __forceinline__ bool is_aligned(const softqam_device_codeword &codeword)
        {
            return N == 1 || internal::open(codeword).neighbours % N == 0;
        }

        template <int COUNT>
        static __device__ __forceinline__ void put(const internal::device_codeword &described,
                                                   const internal::soft_element<FORMAT, AXIS_BITS, COUNT> &to,
                                                   const llrs (&values)[COUNT])
        {
            if (!described.placement.combines) {
                to.store(values);
                return;
            }
            internal::soft_sum<FORMAT> sum;
            sum.open(described.limit.llr);
            to.add(values, sum);
        }
    };

    /** Calls open(), load() and store() of a target<N>.
     *  @param codeword  description
     *  @param symbol    as for open()
     *  @param values    LLRs */
    template <int N>
    static __device__ __forceinline__ void store(const softqam_device_codeword &codeword, uint32_t symbol,
                                                 const llrs (&values)[N])
    {
        target<N> to;
        to.open(codeword, symbol);
        to.load(codeword);
        to.store(codeword, values);
    }

    /** With combine 0: writes zeros and fillers of a range of symbols. All threads of a warp must call it.
     *  @param codeword  description
     *  @param symbol    the first symbol's number
     *  @param end       the last symbol's number plus 1 */
    static __device__ __forceinline__ void fill(const softqam_device_codeword &codeword, uint32_t symbol, uint32_t end)
    {
        const internal::device_codeword &described = internal::open(codeword);
        require(codeword);
        if (!described.placement.combines)
            internal::fill_for_symbols<FORMAT>(described.placement, symbol, min(end, described.n_symbols),
                                               described.n_symbols, [] {});
    }

    /** Stores a symbol's LLRs in symbol order, for UCI.
     *  @param out     receives them, aligned to a value
     *  @param values  LLRs */
    static __device__ __forceinline__ void store_symbol(void *out, const llrs &values)
    {
#pragma unroll
        for (int k = 0; k < BITS; k++)
            internal::store_value<VALUE_NBYTES>(static_cast<unsigned char *>(out) + k * VALUE_NBYTES,
                                                internal::value_at<VALUE_NBYTES>(values, k));
    }

  private:
    static __device__ __forceinline__ void require(const softqam_device_codeword &codeword)
    {
        const internal::device_codeword &described = internal::open(codeword);
        if (described.output_format != FORMAT || described.placement.modulation != MODULATION)
            __trap();
    }

    static __device__ __forceinline__ uint32_t bits_of(uint32_t sequence) { return sequence; }
    static __device__ __forceinline__ uint32_t bits_of(const counted &sequence) { return sequence.sequence; }

    /* Returns the next symbol's sequence. */
    static __device__ __forceinline__ uint32_t next_of(uint32_t sequence) { return sequence >> BITS; }
    static __device__ __forceinline__ counted next_of(const counted &sequence)
    {
        return {sequence.sequence >> BITS, sequence.symbol + 1, sequence.counts};
    }

    template <softqam_modulation PARTNER, typename Sequence>
    static __device__ __forceinline__ void demap_jointly(llrs &to, const softqam_device_codeword &codeword,
                                                         const internal::joint_inputs &inputs, const Sequence &sequence)
    {
        constexpr bool IS_QPSK = PARTNER == SOFTQAM_MODULATION_QPSK;
        const internal::llr_rules rules = internal::rules_of(internal::open(codeword));
        static_assert(AXIS_BITS > 0 && PARTNER >= SOFTQAM_MODULATION_QPSK, "BPSK is not demapped jointly");
        constexpr internal::softqam_joint_table pair =
            internal::joint_table_of(AXIS_BITS, static_cast<int>(PARTNER) - SOFTQAM_MODULATION_QPSK + 1);
        bool is_erasure;
        to = internal::joint_llrs_of<FORMAT, AXIS_BITS>(inputs, pair, IS_QPSK, bits_of(sequence) & ((1u << BITS) - 1),
                                                        rules, is_erasure);
        if constexpr (std::is_same_v<Sequence, counted>)
            sequence.counts.template add<FORMAT, AXIS_BITS, false>(codeword, sequence.symbol, to, {}, is_erasure);
    }
};

} // namespace softqam

#include <softqam/device/restore_macros.h>

#endif
