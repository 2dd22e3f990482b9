/* SPDX-License-Identifier: MIT */
/**
 * @file softqam_device.cuh
 * softqam inside your own kernel: an equaliser's kernel turns its symbols, which it has in registers, into LLRs and
 * puts them where the LDPC decoder reads them, with the bytes of softqam_cuda_demodulate_segments(). CUDA C++17, from
 * compute capability 7.5 on, with any compiler flags; if these flush subnormal numbers, so are LLRs of pairs. Include
 * it from an installed build with CUDA or from the include/ of its build folder, and link the library.
 *
 * The host makes a description of a codeword, softqam_device_codeword_init() (softqam_cuda.h), and passes it to the
 * kernel: as a __grid_constant__ argument, in constant or in device memory. In the kernel:
 *
 *     using demapper = softqam::demapper<SOFTQAM_OUTPUT_S8, SOFTQAM_MODULATION_256QAM>;
 *     __shared__ demapper::table table;
 *     demapper::load_table(table, threadIdx.x, blockDim.x);                 // all threads; then a barrier
 *     const uint32_t bits = softqam::warp_sequence<4 * 8>(codeword, first); // a warp; its symbols follow each other
 *     demapper::target<4> target;
 *     target.open(codeword, first + 4 * lane);                              // one resource element, 4 layers
 *     __syncthreads();
 *     ...                                                                   // the equaliser
 *     target.load(codeword);                                                // as early as the kernel may read
 *     demapper::llrs llrs[4];
 *     demapper::demap<4>(llrs, table, codeword, symbols, noise, bits);
 *     target.store(codeword, llrs);                                         // or adds, as codeword.combine says
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
#include <softqam/softqam_cuda.h>

namespace softqam
{

/* The library's own definitions. Only what is declared below is the interface. */
namespace internal
{
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
} // namespace internal

/** Copies a description, all threads of a block together: this is thread number `thread` of n_threads. A barrier must
 * follow. A kernel whose description lies in device memory should read such a copy in shared memory. */
static __device__ __forceinline__ void copy_codeword(softqam_device_codeword &to, const softqam_device_codeword &from,
                                                     unsigned thread, unsigned n_threads)
{
    for (unsigned k = thread; k < sizeof to.words / sizeof to.words[0]; k += n_threads)
        to.words[k] = from.words[k];
}

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
    internal::is_in_global_memory(of.gold_tables);
    return internal::warp_sequence<BITS>(*static_cast<const internal::gold_tables *>(of.gold_tables),
                                         of.placement.c_init,
                                         (of.placement.position + first) * internal::softqam_symbol_bits(modulation));
}

/** Returns BITS bits, at most 32, of a scrambling sequence in memory, as softqam_gold_sequence() writes it from bit
 * 0 of the codeword's symbol 0 on. Any thread may call it.
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

/** The noise value and the gain of a symbol that was not divided by its gain: y = gain x + n, and the noise value is
 * that of n. */
struct noise_and_gain {
    float noise;
    float gain;
};

/** One of two layers that are demapped at once: the matched filter's output, the noise value at the antennas and the
 * gain, as in layers[k] of a segment with cross_gain (softqam.h). */
using joint_layer = internal::joint_layer; /* { float2 symbol; float noise; float gain; } */

/** Functions for symbols of one modulation, and LLRs of one output format: s8, s16, f16 or f32. A kernel that opens a
 * target or fills with a description of another modulation or format ends with cudaErrorLaunchFailure. */
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

    /** A thread block has one in shared memory: up to 256 bytes; of 1024QAM 4.2 KiB. */
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
     * @param symbols   I and Q as float2 or __half2, at unit mean energy: input_scale is not applied
     * @param noise     each symbol's N0 or 1/N0, as segment.noise_form of the description says, as float; or, of
     * symbols that were not divided by their gains, noise_and_gain
     * @param sequence  N Qm bits of the scrambling sequence, N Qm <= 32; 0 if the codeword is not scrambled */
    template <int N, typename Symbol, typename Noise>
    static __device__ __forceinline__ void demap(llrs (&to)[N], const table &from,
                                                 const softqam_device_codeword &codeword, const Symbol (&symbols)[N],
                                                 const Noise (&noise)[N], uint32_t sequence)
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
        inputs.sequence = sequence;
        internal::demap_symbols<FORMAT, AXIS_BITS, HAS_GAINS, N>(to, from.read({}), inputs,
                                                                 internal::rules_of(internal::open(codeword)));
    }

    /** Computes the LLRs of two layers at once, which follow each other in the codeword, from an even layer on. It
     * needs no table, and applies no input_scale. Four layers are two pairs with a target<2> each; the second one has
     * sequence >> 2 Qm.
     * @param to          receives both symbols' LLRs
     * @param codeword    the description
     * @param layers      both layers
     * @param cross_gain  conj(h) of the first layer times h of the second one
     * @param sequence    2 Qm bits of the scrambling sequence; 0 if the codeword is not scrambled */
    static __device__ __forceinline__ void demap_pair(llrs (&to)[2], const softqam_device_codeword &codeword,
                                                      const joint_layer (&layers)[2], float2 cross_gain,
                                                      uint32_t sequence)
    {
        const float2 conjugate = {cross_gain.x, -cross_gain.y};
        demap_jointly<MODULATION>(to[0], codeword, internal::joint_inputs_of(layers[0], layers[1], cross_gain, true),
                                  sequence);
        demap_jointly<MODULATION>(to[1], codeword, internal::joint_inputs_of(layers[1], layers[0], conjugate, true),
                                  sequence >> BITS);
    }

    /** Computes the LLRs of one of two layers. The other one, of the modulation PARTNER, is another codeword's; its
     * noise value does not matter.
     * @param to          receives the symbol's LLRs
     * @param codeword    the description
     * @param layer       the wanted layer
     * @param partner     the other one
     * @param cross_gain  conj(h) of the wanted layer times h of its partner
     * @param sequence    Qm bits of the scrambling sequence; 0 if the codeword is not scrambled */
    template <softqam_modulation PARTNER>
    static __device__ __forceinline__ void demap_beside(llrs &to, const softqam_device_codeword &codeword,
                                                        const joint_layer &layer, const joint_layer &partner,
                                                        float2 cross_gain, uint32_t sequence)
    {
        demap_jointly<PARTNER>(to, codeword, internal::joint_inputs_of(layer, partner, cross_gain, false), sequence);
    }

    /** The places in the soft buffers of a thread's N symbols, which follow each other in the codeword. N is 1, 2 or 4,
     * and divides N_L; N values have at most 8 bytes. With N > 1 the values of a bit are one access, if the buffers are
     * aligned to N values and positions are as even; else values are stored one by one. */
    template <int N> class target
    {
      public:
        /** Finds the places, which needs some 100 instructions and only the description.
         * @param codeword  the description
         * @param symbol    number of the first symbol in the codeword, a multiple of N; LLRs of symbols after the
         *                  codeword's end go nowhere */
        __device__ __forceinline__ void open(const softqam_device_codeword &codeword, uint32_t symbol)
        {
            require(codeword);
            first_symbol = symbol;
            element.open(internal::open(codeword).placement, symbol);
        }

        /** With combine 1: tells the second cache what load() will read. It may come before the wait for a kernel that
         * writes there (programmatic dependent launch). */
        __device__ __forceinline__ void prefetch(const softqam_device_codeword &codeword) const
        {
            if (internal::open(codeword).placement.combines)
                element.prefetch();
        }

        /** With combine 1: loads the values that store() adds to, and must be called before; the earlier, the less
         * store() waits. */
        __device__ __forceinline__ void load(const softqam_device_codeword &codeword)
        {
            if (internal::open(codeword).placement.combines && is_aligned(codeword))
                element.load();
        }

        /** Puts the LLRs of demap() into the soft buffers; with combine 1 adds them. */
        __device__ __forceinline__ void store(const softqam_device_codeword &codeword, const llrs (&values)[N]) const
        {
            const internal::device_codeword &of = internal::open(codeword);
            if (is_aligned(codeword)) {
                put(of, element, values);
                return;
            }
            llrs left[N];
#pragma unroll
            for (int n = 0; n < N; n++)
                left[n] = values[n];
#pragma unroll 1
            for (int n = 0; n < N; n++) { /* the first one of those left; registers have no index */
                internal::soft_element<FORMAT, AXIS_BITS, 1> one;
                one.open(of.placement, first_symbol + n);
                if (of.placement.combines)
                    one.load();
                put(of, one, {left[0]});
#pragma unroll
                for (int k = 1; k < N; k++)
                    left[k - 1] = left[k];
            }
        }

      private:
        static_assert((N == 1 || N == 2 || N == 4) && N * VALUE_NBYTES <= 8, "no access has so many bytes");
        internal::soft_element<FORMAT, AXIS_BITS, N> element;
        uint32_t first_symbol;

        static __device__ __forceinline__ bool is_aligned(const softqam_device_codeword &codeword)
        {
            return N == 1 || internal::open(codeword).neighbours % N == 0;
        }

        template <int COUNT>
        static __device__ __forceinline__ void put(const internal::device_codeword &of,
                                                   const internal::soft_element<FORMAT, AXIS_BITS, COUNT> &to,
                                                   const llrs (&values)[COUNT])
        {
            if (!of.placement.combines) {
                to.store(values);
                return;
            }
            internal::soft_sum<FORMAT> sum;
            sum.open(of.limit.llr);
            to.add(values, sum);
        }
    };

    /** Puts the LLRs of N symbols into the soft buffers: all of target<N> at once. */
    template <int N>
    static __device__ __forceinline__ void store(const softqam_device_codeword &codeword, uint32_t symbol,
                                                 const llrs (&values)[N])
    {
        target<N> to;
        to.open(codeword, symbol);
        to.load(codeword);
        to.store(codeword, values);
    }

    /** Writes the zeros and fillers that belong to symbols of the codeword, from `symbol` to before `end`: a warp
     * together, each thread with the same arguments. With combine 1 there are none.
     * @param codeword  the description
     * @param symbol    number of a symbol in the codeword
     * @param end       number of the symbol after the last one; those after the codeword's end do not count */
    static __device__ __forceinline__ void fill(const softqam_device_codeword &codeword, uint32_t symbol, uint32_t end)
    {
        const internal::device_codeword &of = internal::open(codeword);
        require(codeword);
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
    static __device__ __forceinline__ void require(const softqam_device_codeword &codeword)
    {
        const internal::device_codeword &of = internal::open(codeword);
        if (of.output_format != FORMAT || of.placement.modulation != MODULATION)
            __trap();
    }

    template <softqam_modulation PARTNER>
    static __device__ __forceinline__ void demap_jointly(llrs &to, const softqam_device_codeword &codeword,
                                                         const internal::joint_inputs &inputs, uint32_t sequence)
    {
        static_assert(AXIS_BITS > 0 && PARTNER >= SOFTQAM_MODULATION_QPSK, "BPSK is not demapped jointly");
        constexpr internal::softqam_joint_table pair =
            internal::joint_table_of(AXIS_BITS, static_cast<int>(PARTNER) - SOFTQAM_MODULATION_QPSK + 1);
        to = internal::joint_llrs_of<FORMAT, AXIS_BITS>(inputs, pair, PARTNER == SOFTQAM_MODULATION_QPSK,
                                                        sequence & ((1u << BITS) - 1),
                                                        internal::rules_of(internal::open(codeword)));
    }
};

} // namespace softqam

#include <softqam/device/undefine.h>

#endif
