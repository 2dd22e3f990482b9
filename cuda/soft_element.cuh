/* SPDX-License-Identifier: MIT */
/* Stores from registers straight to a soft buffer. E_r is a multiple of N_L Qm, so the values of each bit of a resource
 * element are neighbours there. A warp writes the zeros and fillers. */
#ifndef SOFTQAM_SOFT_ELEMENT_CUH
#define SOFTQAM_SOFT_ELEMENT_CUH

#include "resolved_segment.h"
#include "soft_values.cuh"

/* The values of one bit of N symbols, side by side. */
template <int VALUE, int N> struct neighbours {
    enum { NBYTES = VALUE * N, WORDS = (NBYTES + 3) / 4, PER_WORD = 4 / VALUE };
    uint32_t word[WORDS];

    __device__ __forceinline__ void load(const unsigned char *from)
    {
        if constexpr (NBYTES == 8) {
            const uint2 both = *reinterpret_cast<const uint2 *>(from);
            word[0] = both.x;
            word[1] = both.y;
        } else {
            word[0] = load_value<NBYTES>(from);
        }
    }

    __device__ __forceinline__ void store(unsigned char *to) const
    {
        if constexpr (NBYTES == 8)
            *reinterpret_cast<uint2 *>(to) = make_uint2(word[0], word[1]);
        else
            store_value<NBYTES>(to, word[0]);
    }

    template <typename Sum> __device__ __forceinline__ void add_to(const neighbours &old_values, const Sum &sum)
    {
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            word[w] = sum.add(old_values.word[w], word[w]);
    }

    /* Takes bit k's values from those of each symbol. */
    template <int SYMBOL_WORDS>
    __device__ __forceinline__ void take(const packed_values<SYMBOL_WORDS> (&symbols)[N], int k)
    {
        const int w = k / PER_WORD, part = k % PER_WORD;
        if constexpr (N == 1 || VALUE == 4) {
#pragma unroll
            for (int n = 0; n < N; n++)
                word[n] = value_at<VALUE>(symbols[n], k);
        } else {
            const unsigned pick = VALUE == 1 ? 0x40 + 0x11 * part : part == 0 ? 0x5410 : 0x7632;
            uint32_t pairs[N / 2];
#pragma unroll
            for (int n = 0; n < N; n += 2)
                pairs[n / 2] = __byte_perm(symbols[n].word[w], symbols[n + 1].word[w], pick);
            word[0] = pairs[0];
            if constexpr (WORDS == 2)
                word[1] = pairs[1];
            else if constexpr (N == 4)
                word[0] = __byte_perm(pairs[0], pairs[1], 0x5410);
        }
    }
};

/* The values of a thread's N symbols of one resource element, on their way to a soft buffer with the alignment that
 * softqam_neighbours() has found. */
template <softqam_output_format FORMAT, int M, int N> struct soft_element {
    enum { BITS = symbol_size<FORMAT, M>::BITS, VALUE = symbol_size<FORMAT, M>::VALUE_NBYTES };
    typedef packed_values<symbol_size<FORMAT, M>::WORDS> packed;

    unsigned char *values;                 /* the code block's soft buffer; NULL: LLRs go nowhere */
    uint32_t position[BITS];               /* where each bit's first value goes */
    neighbours<VALUE, N> old_values[BITS]; /* the soft buffer's, if LLRs are added to them */

    /* Finds the positions of a symbol of the codeword and of those that follow it. */
    __device__ __forceinline__ void open(const softqam_placement &placement, uint32_t symbol)
    {
        const softqam_code_block found = softqam_code_block_at(&placement.blocks, symbol);
        const softqam_soft_buffer buffer = placement.buffer;
        values = softqam_code_block_values(&placement, &found);
#pragma unroll
        for (int k = 0; k < BITS; k++)
            position[k] = softqam_soft_run_at(&buffer, k * found.n_symbols + symbol - found.first).first;
    }

    __device__ __forceinline__ unsigned char *place(int k) const
    {
        unsigned char *address = values + size_t{position[k]} * VALUE;
        is_in_global_memory(address);
        return address;
    }

    /* If LLRs are added, loads the values that they are added to, early and all at once. Else sets these to zero: a
     * value that some path leaves unset would keep its register through the caller's whole loop. */
    __device__ __forceinline__ void load(bool combines)
    {
#pragma unroll
        for (int k = 0; k < BITS; k++)
            old_values[k] = {};
        if (!values || !combines)
            return;
#pragma unroll
        for (int k = 0; k < BITS; k++)
            old_values[k].load(place(k));
    }

    /* Stores the symbols' values, or adds them to those that have been loaded. */
    __device__ __forceinline__ void store(const packed (&symbols)[N]) const
    {
        if (!values)
            return;
#pragma unroll
        for (int k = 0; k < BITS; k++) {
            neighbours<VALUE, N> llrs;
            llrs.take(symbols, k);
            llrs.store(place(k));
        }
    }

    __device__ __forceinline__ void add(const packed (&symbols)[N], const soft_sum<FORMAT> &sum) const
    {
        if (!values)
            return;
#pragma unroll
        for (int k = 0; k < BITS; k++) {
            neighbours<VALUE, N> llrs;
            llrs.take(symbols, k);
            llrs.add_to(old_values[k], sum);
            llrs.store(place(k));
        }
    }

    /* Prefetches into the L2 cache what load() will load. */
    __device__ __forceinline__ void prefetch() const
    {
        if (values)
#pragma unroll
            for (int k = 0; k < BITS; k++)
                asm volatile("prefetch.global.L2 [%0];" ::"l"(place(k)));
    }
};

/* Writes, by a warp, the zeros and fillers of new data that belong to the codeword's symbols from `symbol` to before
 * `end`. All symbols that the segment, which ends at `segment_end`, has of a code block share its zeros and fillers, if
 * the segment has the code block's first symbol; else it writes none of them. Calls begin_stores() before it stores
 * any. */
template <softqam_output_format FORMAT, typename Function>
static __device__ __forceinline__ void fill_for_symbols(const softqam_placement &placement, uint32_t symbol,
                                                        uint32_t end, uint32_t segment_end,
                                                        const Function &begin_stores)
{
    const unsigned bits = softqam_symbol_bits(static_cast<softqam_modulation>(placement.modulation));
    const softqam_soft_buffer buffer = placement.buffer;
#pragma unroll 1
    while (symbol < end) {
        const softqam_code_block found = softqam_code_block_at(&placement.blocks, symbol);
        const uint32_t next = min(end, found.first + found.n_symbols);
        unsigned char *values = softqam_code_block_values(&placement, &found);
        if (values && placement.codeword_symbol <= found.first) {
            soft_fill fill = {found.n_symbols * bits, 0, buffer.n_fill, placement.filler_value};
            fill.n_zeros = buffer.n_data - fill.first_zero;
            const fill_share share = fill_share_of(buffer, fill, symbol - found.first, next - found.first,
                                                   min(found.n_symbols, segment_end - found.first));
            begin_stores();
            fill_positions<FORMAT>(buffer, values, fill, share);
        }
        symbol = next;
    }
}

#endif
