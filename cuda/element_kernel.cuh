/* SPDX-License-Identifier: MIT */
/* The kernels of the most frequent soft buffers: segments of cf32 or cf16 with interleaved layers and a noise value for
 * each symbol, all of one modulation, and soft buffers aligned so that the values of a resource element are stored at
 * once. They use shared memory for the table and for statistics only. */
#ifndef SOFTQAM_ELEMENT_KERNEL_CUH
#define SOFTQAM_ELEMENT_KERNEL_CUH

#include "count.cuh"
#include "gold.cuh"
#include "kernel_list.h"
#include "segment_block.cuh"
#include "soft_element.cuh"

/* Loads N symbols that lie side by side, and their noise values. */
template <typename Component, int N>
static __device__ __forceinline__ void load_element(symbols_in_registers<N> &to, const softqam_source &source,
                                                    uint32_t symbol)
{
    enum { NBYTES = 2 * N * sizeof(Component) };
    struct alignas(NBYTES < 16 ? NBYTES : 16) symbol_components {
        Component item[2 * N];
    };
    struct alignas(4 * N) noise_values {
        float item[N];
    };
    const auto *symbols = static_cast<const symbol_components *>(source.layers[0].symbols);
    const auto *values = reinterpret_cast<const noise_values *>(source.layers[0].noise_var);
    is_in_global_memory(symbols);
    is_in_global_memory(values);
    const symbol_components loaded = symbols[symbol / N];
    const noise_values loaded_noise = values[symbol / N];
#pragma unroll
    for (int k = 0; k < 2 * N; k++)
        to.components[k] = convert(loaded.item[k], source.input_scale);
#pragma unroll
    for (int n = 0; n < N; n++)
        to.noise[n] = loaded_noise.item[n];
}

/* Writes, by a warp, the zeros and fillers for share `number` of the segment, of_warp symbols. Calls begin_stores()
 * before it stores any. */
template <softqam_output_format FORMAT, typename Function>
static __device__ __forceinline__ void fill_for_elements(const softqam_resolved_segment &segment, uint32_t number,
                                                         uint32_t of_warp, const Function &begin_stores)
{
    const softqam_placement &placement = segment.placement;
    const auto n_symbols = static_cast<uint32_t>(segment.n_symbols);
    const uint32_t symbol = number * of_warp;
    fill_for_symbols<FORMAT>(placement, placement.codeword_symbol + symbol,
                             placement.codeword_symbol + min(symbol + of_warp, n_symbols),
                             placement.codeword_symbol + n_symbols, begin_stores);
}

/* Demodulates the symbols of a segment's thread block `number`. A thread has N symbols of one resource element; a
 * warp's symbols follow each other. Statistics may be NULL. */
template <softqam_output_format FORMAT, int M, int N, bool MAY_COUNT>
static __device__ __forceinline__ void demodulate_elements(llr_table_memory<M> &memory,
                                                           const softqam_common_argument &common,
                                                           const softqam_resolved_segment &segment, uint32_t number,
                                                           bool combines, softqam_statistics *statistics)
{
    enum { BITS = symbol_size<FORMAT, M>::BITS, OF_WARP = WARP_THREADS * N };
    const bool counts = MAY_COUNT && statistics;
    const softqam_source &source = segment.source;
    const softqam_placement &placement = segment.placement;
    const auto n_symbols = static_cast<uint32_t>(segment.n_symbols);
    const unsigned thread = own_thread();
    const uint32_t warp_symbol = (number * BLOCK_THREADS + thread) / WARP_THREADS * OF_WARP;
    memory.template store<BLOCK_THREADS>(llr_table_memory<M>::template load<BLOCK_THREADS>({}));
    if (counts)
        open_counts<FORMAT>(placement.steps_per_nat);
    const uint32_t symbol = min(warp_symbol + thread % WARP_THREADS * N, n_symbols - N);
    const bool is_mine = warp_symbol + thread % WARP_THREADS * N < n_symbols;
    symbols_in_registers<N> symbols;
    symbols.sequence = 0;
    if (placement.is_descrambled)
        symbols.sequence = warp_sequence<BITS * N>(tables_of_gold, placement.c_init,
                                                   (placement.scrambled_symbol + warp_symbol) * BITS);
    soft_element<FORMAT, M, N> element;
    element.open(placement, placement.codeword_symbol + symbol);
    wait_for_previous_kernel();
    let_next_kernel_begin();
    if (common.input_format == SOFTQAM_INPUT_CF32)
        load_element<float>(symbols, source, symbol);
    else
        load_element<__half>(symbols, source, symbol);
    element.load(combines);
    wait_for_symbol_threads(); /* the tables are written; the warp that fills is not waited for */
    packed_values<symbol_size<FORMAT, M>::WORDS> values[N];
    demap_symbols<FORMAT, M, false, N>(values, memory.read({}), symbols,
                                       {placement.steps_per_nat, source.noise_is_inverse != 0, common.limit});
    if (!counts && !is_mine)
        return;
    if (is_mine && !combines)
        element.store(values);
    if (is_mine && combines) {
        soft_sum<FORMAT> sum;
        sum.open(common.limit.llr);
        element.add(values, sum);
    }
    if (counts) {
        symbol_counter<FORMAT, M, true, false> counter = {common.limit, placement.steps_per_nat};
        counter.count(values, symbols.components, symbols.erased, is_mine && element.values,
                      placement.codeword_symbol + symbol);
        counter.close();
        wait_for_symbol_threads();
        add_counts_to(statistics);
    }
}

/* Demodulates a thread block's part of a segment, whose number is blockIdx.y. With new data the block has one more
 * warp, which writes the zeros and fillers meanwhile. */
template <softqam_output_format FORMAT, int M, int N, bool COMBINES, bool HAS_COUNTS>
static __device__ __forceinline__ void demodulate_element_block(const softqam_common_argument &common,
                                                                const segment_arguments &segments,
                                                                softqam_statistics *statistics)
{
    __shared__ llr_table_memory<M> memory;
    const softqam_resolved_segment &segment = segments.item[blockIdx.y];
    if (blockIdx.x * BLOCK_THREADS * N >= static_cast<uint32_t>(segment.n_symbols))
        return;
    if (!COMBINES && threadIdx.x >= BLOCK_THREADS) {
        wait_for_previous_kernel();
        let_next_kernel_begin();
        return fill_for_elements<FORMAT>(segment, blockIdx.x, BLOCK_THREADS * N, [] {});
    }
    demodulate_elements<FORMAT, M, N, HAS_COUNTS>(memory, common, segment, blockIdx.x, COMBINES, statistics);
}

template <softqam_output_format FORMAT, int M, int N, bool COMBINES>
static __global__ void __launch_bounds__(BLOCK_THREADS + (COMBINES ? 0 : WARP_THREADS))
    element_kernel(const __grid_constant__ softqam_common_argument common,
                   const __grid_constant__ segment_arguments segments)
{
    demodulate_element_block<FORMAT, M, N, COMBINES, false>(common, segments, nullptr);
}

/* Does the same, and counts statistics. */
template <softqam_output_format FORMAT, int M, int N, bool COMBINES>
static __global__ void __launch_bounds__(BLOCK_THREADS + (COMBINES ? 0 : WARP_THREADS))
    counting_element_kernel(const __grid_constant__ softqam_common_argument common,
                            const __grid_constant__ segment_arguments segments,
                            const __grid_constant__ array_of<softqam_statistics *> statistics)
{
    demodulate_element_block<FORMAT, M, N, COMBINES, true>(common, segments, statistics.item[blockIdx.y]);
}

/* Returns a kernel of an output format. Other kernels take 1024QAM, four symbols of which have more bits than a word.
 */
template <softqam_output_format FORMAT> static softqam_kernel element_kernel_of(softqam_kernel_key key)
{
    return find_kernel<FORMAT, ELEMENT_KERNEL, ARGUMENT_KERNEL>(
        key,
        [](auto number, auto axis_bits) -> softqam_kernel {
            constexpr int M = axis_bits(), N = 1 << number() / 4;
            constexpr bool COMBINES = number() / 2 % 2, HAS_COUNTS = number() % 2;
            const unsigned n_threads = BLOCK_THREADS + (COMBINES ? 0 : WARP_THREADS);
            if constexpr (M < 1 || M > 4)
                return {};
            else if constexpr (HAS_COUNTS)
                return {reinterpret_cast<const void *>(counting_element_kernel<FORMAT, M, N, COMBINES>), n_threads};
            else
                return {reinterpret_cast<const void *>(element_kernel<FORMAT, M, N, COMBINES>), n_threads};
        });
}

#endif
