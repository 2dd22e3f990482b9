/* SPDX-License-Identifier: MIT */
/* Layers that are demapped jointly: a thread computes the LLRs of a symbol, from the symbol and its partner as they lie
 * in memory. */
#ifndef SOFTQAM_JOINT_CUH
#define SOFTQAM_JOINT_CUH

#include "joint_symbol.cuh"
#include "thread_symbols.cuh"

/* Returns the table for a partner of any modulation. */
template <int M> static __device__ __forceinline__ softqam_joint_table joint_table_for(unsigned partner)
{
    static_assert(MAX_AXIS_BITS == 5, "Give partners of more bits a table and a case below");
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

/* Loads a layer of a resource element. Interleaved layers lie as if they were one. */
static __device__ __forceinline__ joint_layer load_joint_layer(const softqam_source &source, unsigned input_format,
                                                               size_t element, unsigned layer)
{
    const bool is_folded = source.n_layers == 1 && layer < source.joint_layers;
    thread_source<GAIN_SOURCE> place;
    place.open(source, input_format, is_folded ? element * source.joint_layers + layer : element, is_folded ? 0 : layer,
               0);
    const raw_symbol raw = place.load(input_format, place.noise != nullptr);
    return {convert<ANY_SOURCE>(raw, input_format, source.input_scale), raw.noise, raw.gain};
}

/* The inputs of the LLRs of a symbol of a pair. */
struct joint_source {
    joint_inputs inputs;
    unsigned partner_modulation;
};

static __device__ __forceinline__ joint_source load_joint(const segment_memory &shared, const symbol_index &index)
{
    const softqam_source &source = shared.segment.source;
    const unsigned partner_layer = index.layer ^ 1;
    const bool is_wanted = partner_layer < source.joint_layers; /* the partner's LLRs are wanted, too */
    const joint_layer wanted = load_joint_layer(source, shared.input_format, index.element, index.layer);
    const joint_layer partner = load_joint_layer(source, shared.input_format, index.element, partner_layer);
    const float *cross_gain = shared.extras.cross_gain[index.layer / 2] + 2 * index.element * shared.extras.stride;
    is_in_global_memory(cross_gain);
    const float2 cross = {cross_gain[0], index.layer % 2 != 0 ? -cross_gain[1] : cross_gain[1]};
    return {joint_inputs_of(wanted, partner, cross, is_wanted),
            is_wanted ? shared.segment.placement.modulation + 0u : source.partner_modulation + 0u};
}

/* The LLRs of a symbol, and whether it is an erasure. */
template <softqam_output_format FORMAT, int M> struct joint_llrs {
    packed_values<symbol_size<FORMAT, M>::WORDS> values;
    bool is_erasure;
};

/* Computes the LLRs of a symbol of the block's segment whose layer is demapped jointly. */
template <softqam_output_format FORMAT, int M>
static __device__ __noinline__ joint_llrs<FORMAT, M> demodulate_joint(const segment_memory &shared,
                                                                      const softqam_llr_limit &limit,
                                                                      const symbol_index &index, uint32_t flips)
{
    const joint_source joint = load_joint(shared, index);
    joint_llrs<FORMAT, M> llrs;
    llrs.values = joint_llrs_of<FORMAT, M>(
        joint.inputs, joint_table_for<M>(joint.partner_modulation), joint.partner_modulation == SOFTQAM_MODULATION_QPSK,
        flips, {shared.segment.placement.steps_per_nat, shared.segment.source.noise_is_inverse != 0, limit},
        llrs.is_erasure);
    return llrs;
}

/* Computes the LLRs of a symbol whose layer is demapped alone, in a segment that also has pairs. */
template <softqam_output_format FORMAT, int M>
static __device__ __noinline__ joint_llrs<FORMAT, M>
demodulate_alone(segment_memory &shared, const softqam_llr_limit &limit, const symbol_index &index, uint32_t flips)
{
    const softqam_source &source = shared.segment.source;
    const joint_layer layer = load_joint_layer(source, shared.input_format, index.element, index.layer);
    symbols_in_registers<1> symbols = {{layer.symbol.x, layer.symbol.y}, {layer.noise}, {layer.gain}, flips};
    packed_values<symbol_size<FORMAT, M>::WORDS> values[1];
    demap_symbols<FORMAT, M, true, 1>(values, shared.table<FORMAT, M>().read({}), symbols,
                                      {shared.segment.placement.steps_per_nat, source.noise_is_inverse != 0, limit});
    return {values[0], symbols.erased != 0};
}

/* A thread's symbols of a segment that has pairs of layers. */
template <softqam_output_format FORMAT, int M, bool IS_DESCRAMBLED>
struct thread_symbols<FORMAT, M, JOINT_SOURCE, IS_DESCRAMBLED> {
    typedef symbol_size<FORMAT, M> size;
    enum { BITS = size::BITS };
    typedef packed_values<size::WORDS> values;

    segment_memory &shared;
    struct {
        const float *noise; /* unused */
    } source;
    size_t symbol;   /* the next one */
    bool has_symbol; /* the next symbol is this thread's */
    bool is_descrambled;
    unsigned bit;        /* the next symbol's first bit in the block's sequence */
    float components[2]; /* unused */
    bool is_erasure;     /* the symbol demodulated last */

    __device__ __forceinline__ void open(size_t first, unsigned n_before, unsigned)
    {
        symbol = first;
        is_descrambled = IS_DESCRAMBLED && shared.segment.placement.is_descrambled;
        bit = n_before * BITS;
        source.noise = nullptr;
    }

    __device__ __forceinline__ void load(bool has) { has_symbol = has; }
    __device__ __forceinline__ void set_noise(const float *, const softqam_llr_limit &) {}

    /* Computes the LLRs of the next symbol, if it is this thread's, and moves on by `stride` symbols. */
    template <typename Table>
    __device__ __forceinline__ values demodulate(const Table &, const softqam_llr_limit &limit, bool has_next,
                                                 unsigned stride)
    {
        joint_llrs<FORMAT, M> llrs = {};
        if constexpr (M > 0) {
            uint32_t flips = 0;
            if (is_descrambled) {
                gold_bits<BITS> sequence;
                sequence.open(shared.sequence, bit);
                flips = sequence.read(0);
            }
            const symbol_index index = symbol_index_of(shared.segment.source.joint_layers, symbol);
            if (has_symbol && shared.extras.cross_gain[index.layer / 2])
                llrs = demodulate_joint<FORMAT, M>(shared, limit, index, flips);
            else if (has_symbol)
                llrs = demodulate_alone<FORMAT, M>(shared, limit, index, flips);
        }
        symbol += stride;
        bit += stride * BITS;
        load(has_next);
        is_erasure = llrs.is_erasure;
        return llrs.values;
    }
};

#endif
