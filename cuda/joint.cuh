/* SPDX-License-Identifier: MIT */
/* Layers that are demapped in pairs: a thread computes the LLRs of a symbol, from the symbol and its partner as they
 * lie in memory. The arithmetic is joint_arithmetic.h's; what is kept of the costs differs, since registers are few. */
#ifndef SOFTQAM_JOINT_CUH
#define SOFTQAM_JOINT_CUH

#include "thread_symbols.cuh"

#define JOINT_UNROLL _Pragma("unroll")
#include "joint_arithmetic.h"

/* Columns of points that a thread has in registers. 1024QAM's are two such groups. */
enum { JOINT_COLUMNS = 16 };

/* The least costs of points with each value of a bit, for the M bits of an axis. */
template <int M> struct least_costs {
    float zero[M];
    float one[M];

    __device__ __forceinline__ least_costs()
    {
#pragma unroll
        for (int k = 0; k < M; k++)
            zero[k] = one[k] = __int_as_float(0x7f800000);
    }

    /* Takes the least cost of the points of a level. */
    __device__ __forceinline__ void take(int level, float cost)
    {
#pragma unroll
        for (int k = 0; k < M; k++) {
            const bool is_one = axis_bit(level, M, k) != 0;
            zero[k] = is_one ? zero[k] : vec_min(cost, zero[k]);
            one[k] = is_one ? vec_min(cost, one[k]) : one[k];
        }
    }
};

/* Goes through points from column `first` on, as joint_metrics() does. */
template <int M, bool IS_QPSK>
static __device__ __forceinline__ void take_columns(const softqam_joint_table &table, const joint_terms &terms,
                                                    int first, least_costs<M> &of_i, least_costs<M> &of_q)
{
    constexpr int LEVELS = 1 << M, COLUMNS = LEVELS < JOINT_COLUMNS ? LEVELS : JOINT_COLUMNS + 0;
    float columns[COLUMNS];
    float bases[COLUMNS];
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) {
        const float b = static_cast<float>(axis_amplitude(first + j, M));
        bases[j] = vec_mul(b, vec_fma(terms.gain, b, -terms.q));
        columns[j] = __int_as_float(0x7f800000);
    }
#pragma unroll(M <= 2 ? LEVELS : 1)
    for (int i = 0; i < LEVELS; i++) {
        const float a = static_cast<float>(axis_amplitude(i, M));
        const float base = vec_fma(a, vec_fma(terms.gain, a, -terms.i), 0.0f);
        const float v_i = vec_fma(-a, terms.cross_r, terms.partner_i);
        const float v_q = vec_fma(a, terms.cross_i, terms.partner_q);
        float row = __int_as_float(0x7f800000);
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            const float minus_b = static_cast<float>(-axis_amplitude(first + j, M));
            float cost = joint_add_partner(IS_QPSK, &table, &terms, vec_fma(minus_b, terms.cross_i, v_i), bases[j]);
            cost = joint_add_partner(IS_QPSK, &table, &terms, vec_fma(minus_b, terms.cross_r, v_q), cost);
            row = vec_min(cost, row);
            columns[j] = vec_min(vec_add(cost, base), columns[j]);
        }
        of_i.take(i, vec_add(row, base));
    }
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
        of_q.take(first + j, columns[j]);
}

/* Computes a symbol's metrics, b0 first. */
template <int M, bool IS_QPSK>
static __device__ __forceinline__ void joint_metrics_of(const softqam_joint_table &table, const joint_terms &terms,
                                                        float (&metrics)[2 * M])
{
    least_costs<M> of_i, of_q;
#pragma unroll
    for (int first = 0; first < 1 << M; first += JOINT_COLUMNS)
        take_columns<M, IS_QPSK>(table, terms, first, of_i, of_q);
#pragma unroll
    for (int k = 0; k < M; k++) {
        metrics[2 * k] = vec_sub(of_i.one[k], of_i.zero[k]);
        metrics[2 * k + 1] = vec_sub(of_q.one[k], of_q.zero[k]);
    }
}

/* Returns the table for a partner of any modulation. */
template <int M> static __device__ __forceinline__ softqam_joint_table joint_table_for(unsigned partner)
{
    static_assert(MAX_AXIS_BITS == 5, "a case for each");
    constexpr softqam_joint_table qpsk = joint_table_of(M, 1), qam16 = joint_table_of(M, 2),
                                  qam64 = joint_table_of(M, 3), qam256 = joint_table_of(M, 4),
                                  qam1024 = joint_table_of(M, 5);
    switch (partner) {
    case SOFTQAM_MODULATION_QPSK:
        return qpsk;
    case SOFTQAM_MODULATION_16QAM:
        return qam16;
    case SOFTQAM_MODULATION_64QAM:
        return qam64;
    case SOFTQAM_MODULATION_256QAM:
        return qam256;
    default:
        return qam1024;
    }
}

/* Packs the LLRs of a symbol; bit k of `flips` changes the sign of LLR k. An erasure, whose weight is NaN, is 0. */
template <softqam_output_format FORMAT, int M>
static __device__ __forceinline__ packed_values<symbol_size<FORMAT, M>::WORDS>
joint_values(const float (&metrics)[2 * M], float weight, uint32_t flips, const softqam_llr_limit &limit)
{
    enum { VALUE = symbol_size<FORMAT, M>::VALUE_NBYTES, EACH = 4 / VALUE };
    const vec_mask valid = vec_is_finite(weight);
    packed_values<symbol_size<FORMAT, M>::WORDS> values = {};
#pragma unroll
    for (int k = 0; k < 2 * M; k++) {
        const float metric = vec_flip(metrics[k], flips << (31 - k));
        uint32_t value;
        if (is_in_steps(FORMAT)) {
            const float most = static_cast<float>(limit.steps);
            const float sum = llr_rounded(metric, weight, ROUNDING_CONSTANT - most, ROUNDING_CONSTANT + most);
            value = valid & (vec_bits(sum) - vec_bits(ROUNDING_CONSTANT));
        } else if (FORMAT == SOFTQAM_OUTPUT_F16) {
            value = valid & __half_as_ushort(__float2half_rn(llr_scaled(metric, weight, limit.llr)));
        } else {
            value = valid & vec_bits(llr_scaled(metric, weight, limit.llr));
        }
        const uint32_t mask = VALUE == 4 ? 0xffffffffu : (1u << 8 * (VALUE % 4)) - 1;
        values.word[k / EACH] |= (value & mask) << 8 * VALUE * (k % EACH);
    }
    return values;
}

/* A layer's symbol, noise value and gain. */
struct joint_layer {
    float2 symbol;
    float noise;
    float gain;
};

/* Loads a layer of a resource element. Interleaved layers lie as if they were one. */
static __device__ __forceinline__ joint_layer load_joint_layer(const softqam_source &source, unsigned input_format,
                                                               size_t element, unsigned layer)
{
    const bool is_folded = source.n_layers == 1 && layer < source.joint_layers;
    thread_source<GAIN_SOURCE> at;
    at.open(source, input_format, is_folded ? element * source.joint_layers + layer : element, is_folded ? 0 : layer,
            0);
    const raw_symbol raw = at.load(input_format, at.noise != nullptr);
    return {convert<ANY_SOURCE>(raw, input_format, source.input_scale), raw.noise, raw.gain};
}

/* The place of a symbol among a segment's layers. */
struct symbol_index {
    size_t element;
    unsigned layer;
};

static __device__ __forceinline__ symbol_index symbol_index_of(unsigned n_layers, size_t symbol)
{
    const size_t element = n_layers == 1   ? symbol
                           : n_layers == 2 ? symbol / 2
                           : n_layers == 3 ? symbol / 3
                                           : symbol / 4;
    return {element, static_cast<unsigned>(symbol - element * n_layers)};
}

/* Returns the LLRs of a symbol of the block's segment, some of whose layers are demapped in pairs: of a layer that is.
 */
template <softqam_output_format FORMAT, int M>
static __device__ __noinline__ packed_values<symbol_size<FORMAT, M>::WORDS>
demodulate_in_pair(const segment_block &block, const softqam_llr_limit &limit, const symbol_index &index,
                   uint32_t flips)
{
    const softqam_source &source = block.segment.source;
    const softqam_placement &placement = block.segment.placement;
    const unsigned partner_layer = index.layer ^ 1;
    const bool is_wanted = partner_layer < source.joint_layers; /* the partner */
    const unsigned partner_modulation = is_wanted ? placement.modulation : source.partner_modulation;
    const joint_layer wanted = load_joint_layer(source, block.input_format, index.element, index.layer);
    const joint_layer partner = load_joint_layer(source, block.input_format, index.element, partner_layer);
    const float *cross = block.pairs.cross_gain[index.layer / 2] + 2 * index.element * block.pairs.stride;
    is_in_global_memory(cross);
    const joint_element element = {
        wanted.symbol.x,  wanted.symbol.y, wanted.gain, partner.symbol.x,
        partner.symbol.y, partner.gain,    cross[0],    index.layer % 2 != 0 ? -cross[1] : cross[1]};
    const float two_scales = __fmul_rn(2.0f, placement.steps_per_nat);
    const bool is_inverse = source.noise_is_inverse;
    const float bound = is_inverse ? limit.most_inverse_noise : limit.least_noise;
    float weight = joint_weight(two_scales, wanted.noise, is_inverse, bound);
    if (is_wanted)
        weight = vec_fma(joint_weight(two_scales, partner.noise, is_inverse, bound), 0.0f, weight);
    const softqam_joint_table table = joint_table_for<M>(partner_modulation);
    const bool is_qpsk = partner_modulation == SOFTQAM_MODULATION_QPSK;
    const joint_terms terms = joint_terms_of(is_qpsk, &table, &element);
    weight = joint_valid_weight(weight, &element, &terms);
    float metrics[2 * M];
    if (is_qpsk)
        joint_metrics_of<M, true>(table, terms, metrics);
    else
        joint_metrics_of<M, false>(table, terms, metrics);
    return joint_values<FORMAT, M>(metrics, weight, flips, limit);
}

/* Returns the LLRs of a symbol of a layer that is demapped alone, in such a segment. */
template <softqam_output_format FORMAT, int M>
static __device__ __noinline__ packed_values<symbol_size<FORMAT, M>::WORDS>
demodulate_alone(segment_block &block, const softqam_llr_limit &limit, const symbol_index &index, uint32_t flips)
{
    const softqam_source &source = block.segment.source;
    const joint_layer layer = load_joint_layer(source, block.input_format, index.element, index.layer);
    const float weights = weight_scale(FORMAT, block.segment.placement.steps_per_nat);
    gain_scale scales[1] = {};
    scales[0].descramble = flips;
    float components[2] = {layer.symbol.x, layer.symbol.y};
    scales[0].set_gain(FORMAT, weights, bounded_noise(layer.noise, source.noise_is_inverse, limit),
                       source.noise_is_inverse, layer.gain, components);
    packed_values<symbol_size<FORMAT, M>::WORDS> values[1];
    const auto table = block.table<FORMAT, M>().read({});
    values_of<FORMAT, M, true, 1>(values, table, components, scales, limit);
    return values[0];
}

/* A thread's symbols of a segment some of whose layers are demapped in pairs. */
template <softqam_output_format FORMAT, int M, bool IS_DESCRAMBLED>
struct thread_symbols<FORMAT, M, PAIR_SOURCE, IS_DESCRAMBLED> {
    typedef symbol_size<FORMAT, M> size;
    enum { BITS = size::BITS };
    typedef packed_values<size::WORDS> values;

    segment_block &block;
    struct {
        const float *noise; /* unused */
    } source;
    raw_symbol next; /* unused */
    size_t symbol;   /* the next one */
    bool has_symbol; /* it is this thread's */
    bool is_descrambled;
    unsigned bit; /* the next symbol's first bit in the block's sequence */

    __device__ __forceinline__ void open(size_t first, unsigned before, unsigned)
    {
        symbol = first;
        is_descrambled = IS_DESCRAMBLED && block.segment.placement.is_descrambled;
        bit = before * BITS;
        source.noise = nullptr;
    }

    __device__ __forceinline__ void load(bool has) { has_symbol = has; }
    __device__ __forceinline__ void set_noise(const float *, const softqam_llr_limit &) {}

    /* Computes the LLRs of the next symbol, if it is this thread's, and goes `stride` symbols further. */
    template <typename Table>
    __device__ __forceinline__ values demodulate(const Table &, const softqam_llr_limit &limit, bool has_next,
                                                 unsigned stride)
    {
        values llrs = {};
        const softqam_source &from = block.segment.source;
        if constexpr (M > 0) {
            uint32_t flips = 0;
            if (is_descrambled) {
                gold_bits<BITS> sequence;
                sequence.open(block.sequence, bit);
                flips = sequence.read(0);
            }
            const symbol_index index = symbol_index_of(from.joint_layers, symbol);
            if (has_symbol && block.pairs.cross_gain[index.layer / 2])
                llrs = demodulate_in_pair<FORMAT, M>(block, limit, index, flips);
            else if (has_symbol)
                llrs = demodulate_alone<FORMAT, M>(block, limit, index, flips);
        }
        symbol += stride;
        bit += stride * BITS;
        load(has_next);
        return llrs;
    }
};

#endif
