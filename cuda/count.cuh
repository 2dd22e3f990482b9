/* SPDX-License-Identifier: MIT */
/* Statistics: a thread block computes the LLRs of its symbols once more and counts them, whatever kernel has stored
 * them. The numbers are those of src/cpu/statistics.c. */
#ifndef SOFTQAM_COUNT_CUH
#define SOFTQAM_COUNT_CUH

#include "joint.cuh"

#include "arithmetic_energies.h"

/* softqam_params.information, which the compiler computes. */
struct information_values {
    uint32_t of_places[LAST_PLACE + 1];

    /* log(1 + x), for x from 0 to 1. */
    static constexpr double log_of_one_more(double x)
    {
        const double z = x / (2 + x);
        double power = z, sum = 0;
        for (int k = 1; power > 1e-25; k += 2, power *= z * z)
            sum += power / k;
        return 2 * sum;
    }

    constexpr information_values() : of_places{}
    {
        constexpr double STEP = 0.939413062813475786119710825, LOG_2 = 0.693147180559945309417232121; /* exp(-1 / 16) */
        double x = 1;
        for (int k = 0; k <= LAST_PLACE; k++, x *= STEP) {
            const double entropy = (log_of_one_more(x) + k / 16.0 * x / (1 + x)) / LOG_2;
            of_places[k] = static_cast<uint32_t>(WHOLE_INFORMATION * (1 - entropy) + 0.5);
        }
    }
};
static __device__ const information_values information_of = information_values();

enum { N_COUNTS = sizeof(softqam_statistics) / sizeof(uint64_t) };

/* A thread's counts, in the order of softqam_statistics. */
union thread_counts {
    softqam_statistics statistics;
    unsigned long long each[N_COUNTS];
};

/* The bytes of a symbol's word w that are values. */
template <int NBYTES> static __device__ __forceinline__ constexpr uint32_t used_bytes(int w)
{
    return NBYTES - 4 * w >= 4 ? 0xffffffffu : (1u << 8 * (NBYTES % 4)) - 1;
}

/* Counts a symbol's values at the limit; of soft bits those of 0 and 255. */
template <softqam_output_format FORMAT, int M>
static __device__ __forceinline__ unsigned count_limited(const packed_values<symbol_size<FORMAT, M>::WORDS> &values,
                                                         const softqam_llr_limit &limit)
{
    enum { NBYTES = symbol_size<FORMAT, M>::NBYTES };
    const auto steps = static_cast<uint32_t>(limit.steps);
    unsigned n = 0;
#pragma unroll
    for (int w = 0; w < symbol_size<FORMAT, M>::WORDS; w++) {
        const uint32_t word = values.word[w] & used_bytes<NBYTES>(w);
        if (FORMAT == SOFTQAM_OUTPUT_S8)
            n += __popc(__vcmpeq4(__vabs4(word), steps * 0x01010101)) / 8;
        else if (FORMAT == SOFTQAM_OUTPUT_S16)
            n += __popc(__vcmpeq2(__vabs2(word), steps * 0x10001)) / 16;
        else if (FORMAT == SOFTQAM_OUTPUT_F16)
            n += __popc(__vcmpeq2(word & 0x7fff7fff, __half_as_ushort(__float2half_rn(limit.llr)) * 0x10001u)) / 16;
        else if (FORMAT == SOFTQAM_OUTPUT_F32)
            n += (word & 0x7fffffff) == __float_as_uint(limit.llr);
        else
            n += __popc(__vcmpeq4(word, 0) | __vcmpeq4(word, 0xffffffffu)) / 8;
    }
    return n;
}

/* Returns the magnitude of LLR k in units of the format. */
template <softqam_output_format FORMAT, int WORDS>
static __device__ __forceinline__ float magnitude_of(const packed_values<WORDS> &values, int k)
{
    if (FORMAT == SOFTQAM_OUTPUT_F32)
        return fabsf(__uint_as_float(values.word[k]));
    const uint32_t word = value_at < FORMAT == SOFTQAM_OUTPUT_S8 ? 1 : 2 > (values, k);
    if (FORMAT == SOFTQAM_OUTPUT_F16)
        return fabsf(__half2float(__ushort_as_half(static_cast<uint16_t>(word))));
    return fabsf(static_cast<float>(FORMAT == SOFTQAM_OUTPUT_S8 ? static_cast<int8_t>(word) + 0
                                                                : static_cast<int16_t>(word) + 0));
}

/* Counts the symbols of a span, `stride` apart. */
template <softqam_output_format FORMAT, int M, source_kind KIND> struct symbol_counter {
    enum { BITS = symbol_size<FORMAT, M>::BITS };
    typedef packed_values<symbol_size<FORMAT, M>::WORDS> packed;

    segment_block &block;
    const softqam_llr_limit &limit;
    thread_counts &counts;
    uint32_t code_block_end;
    bool is_dropped;

    /* Returns whether a symbol's code block is demodulated. */
    __device__ __forceinline__ bool is_kept(uint32_t symbol)
    {
        const softqam_placement &placement = block.segment.placement;
        if (!placement.has_code_blocks || symbol < code_block_end)
            return !is_dropped;
        const softqam_code_block found = softqam_code_block_at(&placement.blocks, symbol);
        is_dropped = !softqam_code_block_values(&placement, &found);
        code_block_end = found.first + found.n_symbols;
        return !is_dropped;
    }

    /* Computes the LLRs of a symbol of a layer that is demapped in a pair. Returns whether it is no erasure. */
    __device__ __forceinline__ bool demodulate_pair(const symbol_index &index, packed &values) const
    {
        const pair_source pair = load_pair(block, index);
        const bool is_qpsk = pair.partner_modulation == SOFTQAM_MODULATION_QPSK;
        const softqam_joint_table table = joint_table_for<M>(pair.partner_modulation);
        const joint_terms terms = joint_terms_of(is_qpsk, &table, &pair.inputs.element);
        const llr_rules rules = {block.segment.placement.steps_per_nat, block.segment.source.noise_is_inverse != 0,
                                 limit};
        values = demodulate_in_pair<FORMAT, M>(block, limit, index, 0);
        return isfinite(joint_weight_of(pair.inputs, terms, rules));
    }

    /* Computes a symbol's values. Returns whether it is no erasure. */
    __device__ __forceinline__ bool demodulate(size_t symbol, const u8_table_argument<FORMAT> &u8_table,
                                               float (&components)[2], packed &values) const
    {
        constexpr bool HAS_GAIN = KIND == GAIN_SOURCE || KIND == PAIR_SOURCE;
        const softqam_source &source = block.segment.source;
        const softqam_placement &placement = block.segment.placement;
        const float weights = weight_scale(FORMAT, placement.steps_per_nat);
        joint_layer layer;
        if constexpr (KIND == PAIR_SOURCE) {
            const symbol_index index = symbol_index_of(source.joint_layers, symbol);
            if constexpr (M > 0)
                if (block.pairs.cross_gain[index.layer / 2])
                    return demodulate_pair(index, values);
            layer = load_joint_layer(source, block.input_format, index.element, index.layer);
        } else {
            const symbol_index index = symbol_index_of(source.n_layers, symbol);
            thread_source<KIND> from;
            from.open(source, block.input_format, index.element, index.layer, 0);
            const raw_symbol raw = from.load(block.input_format, from.noise != nullptr);
            layer = {convert<KIND>(raw, block.input_format, source.input_scale),
                     from.noise ? raw.noise : source.noise_value, raw.gain};
        }
        std::conditional_t<HAS_GAIN, gain_scale, symbol_scale> scales[1] = {};
        components[0] = layer.symbol.x;
        components[1] = layer.symbol.y;
        if (M == 0 && placement.modulation == SOFTQAM_MODULATION_PI2_BPSK)
            scales[0].pi2_sign = static_cast<uint32_t>(placement.position + symbol) << 31;
        if constexpr (HAS_GAIN)
            scales[0].set_gain(FORMAT, weights, bounded_noise(layer.noise, source.noise_is_inverse, limit),
                               source.noise_is_inverse, layer.gain, components);
        else if (FORMAT != SOFTQAM_OUTPUT_U8)
            scales[0].set_noise(weights, layer.noise, source.noise_is_inverse, limit);
        const bool is_valid = isfinite(components[0]) && isfinite(components[1]) && isfinite(scales[0].weight);
        packed all[1];
        float copied[2] = {components[0], components[1]};
        values_of<FORMAT, M, false, 1>(all, block.table<FORMAT, M>().read(u8_table), copied, scales, limit);
        values = all[0];
        if (M == 0)
            components[0] = vec_flip(components[0], scales[0].pi2_sign);
        return is_valid;
    }

    __device__ __forceinline__ void add_energies(const float (&components)[2])
    {
        enum { AXIS_BITS = M == 0 ? 1 : M };
        const softqam_levels levels = softqam_levels_of(M, llr_row_scale(AXIS_BITS), llr_last_row(AXIS_BITS));
        const float i = components[0], q = components[1], sum = vec_add(i, q);
        const float error = M == 0 ? energy_of(bpsk_distance(&levels, i, sum), bpsk_distance(&levels, q, sum))
                                   : energy_of(level_distance(&levels, i), level_distance(&levels, q));
        counts.statistics.error_energy += __float2uint_rn(error);
        counts.statistics.symbol_energy += __float2uint_rn(energy_of(i, q));
    }

    __device__ __forceinline__ void add_information(const packed &values)
    {
        const float steps = is_in_steps(FORMAT) ? fabsf(block.segment.placement.steps_per_nat) : 1.0f;
        const float places_per_unit = vec_div(16.0f, steps);
        unsigned sum = 0;
#pragma unroll
        for (int k = 0; k < BITS; k++) {
            const float place = vec_mul(magnitude_of<FORMAT>(values, k), places_per_unit);
            sum += information_of.of_places[__float2uint_rn(vec_min(place, static_cast<float>(LAST_PLACE)))];
        }
        counts.statistics.information += sum;
    }

    __device__ __forceinline__ void count(size_t first, unsigned n, const u8_table_argument<FORMAT> &u8_table)
    {
        const uint32_t of_segment = block.segment.placement.codeword_symbol;
#pragma unroll 1
        for (unsigned k = threadIdx.x; k < n; k += BLOCK_THREADS) {
            const uint32_t position = of_segment + static_cast<uint32_t>(first + k);
            if (!is_kept(position))
                continue;
            float components[2] = {};
            packed values = {};
            const bool is_valid = demodulate(first + k, u8_table, components, values);
            counts.statistics.n_symbols++;
            counts.statistics.n_erased += !is_valid;
            counts.statistics.n_limited += count_limited<FORMAT, M>(values, limit);
            if (FORMAT == SOFTQAM_OUTPUT_U8 || !is_valid || position / GROUP_SYMBOLS % SAMPLED_GROUPS != 0)
                continue;
            counts.statistics.n_sampled++;
            if (KIND != PAIR_SOURCE)
                add_energies(components);
            add_information(values);
        }
    }
};

/* Adds the counts of a thread block's threads to a structure. */
static __device__ __forceinline__ void add_counts(segment_block &block, thread_counts &counts,
                                                  softqam_statistics *statistics)
{
    if (threadIdx.x < N_COUNTS)
        block.counts[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < N_COUNTS; k++) {
#pragma unroll
        for (int distance = WARP_THREADS / 2; distance > 0; distance /= 2)
            counts.each[k] += __shfl_xor_sync(0xffffffffu, counts.each[k], distance);
        if (threadIdx.x % WARP_THREADS == 0)
            atomicAdd(&block.counts[k], counts.each[k]);
    }
    __syncthreads();
    if (threadIdx.x < N_COUNTS && block.counts[threadIdx.x] != 0)
        atomicAdd(reinterpret_cast<unsigned long long *>(statistics) + threadIdx.x, block.counts[threadIdx.x]);
    __syncthreads(); /* LLRs take the counts' place */
}

/* Counts a thread block's symbols of its segment, of which tables are written. All threads call it. */
template <softqam_output_format FORMAT>
static __device__ __noinline__ void count_block(segment_block &block, const softqam_llr_limit &limit,
                                                const block_span &span, const u8_table_argument<FORMAT> &u8_table,
                                                softqam_statistics *statistics)
{
    __builtin_assume(__isShared(&block) != 0);
    thread_counts counts = {};
    wait_for_previous_kernel();
    __syncthreads(); /* the table is written */
    const softqam_source &source = block.segment.source;
    with_axis_bits<FORMAT>(block.segment.placement.modulation, [&](auto axis_bits) {
        constexpr bool HAS_LLRS = FORMAT != SOFTQAM_OUTPUT_U8;
        constexpr int M = decltype(axis_bits)::value;
        const auto count = [&](auto kind) {
            symbol_counter<FORMAT, M, decltype(kind)::value> counter = {block, limit, counts};
            counter.count(span.first, span.n_symbols, u8_table);
        };
        if constexpr (HAS_LLRS) {
            if (source.joint_layers != 0)
                return count(source_of<PAIR_SOURCE>());
            if (source.has_gains)
                return count(source_of<GAIN_SOURCE>());
        }
        count(source_of<ANY_SOURCE>());
    });
    add_counts(block, counts, statistics);
}

#endif
