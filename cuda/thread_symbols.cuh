/* SPDX-License-Identifier: MIT */
/* A thread's symbols of a segment, from memory to values: any layers and strides, I and Q side by side or apart, one
 * noise value or one for each symbol, gains, descrambling. */
#ifndef SOFTQAM_THREAD_SYMBOLS_CUH
#define SOFTQAM_THREAD_SYMBOLS_CUH

#include "count.cuh"
#include "segment_block.cuh"

/* A symbol as it lies in memory, its noise value and its gain. Components of two bytes or one both lie in x, I lowest.
 */
struct raw_symbol {
    uint2 components;
    float noise;
    float gain;
};

/* The input that a thread's loop is compiled for: any without gains; cf32 or cf16, I and Q side by side, with a noise
 * value for each symbol; or any with a noise value and a gain for each symbol, or with layers that are demapped jointly
 * (joint.cuh). */
enum source_kind { ANY_SOURCE, FLOAT_SOURCE, GAIN_SOURCE, JOINT_SOURCE };

static __device__ __forceinline__ constexpr bool is_of_any_layout(source_kind kind)
{
    return kind == ANY_SOURCE || kind == GAIN_SOURCE;
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

/* The place of a thread's symbols. */
template <source_kind KIND> struct thread_source {
    const unsigned char *i;
    const unsigned char *q; /* NULL: Q follows I */
    const float *noise;
    const float *gain;    /* GAIN_SOURCE */
    size_t symbol_stride; /* from one symbol to the next, in bytes */
    size_t noise_stride;
    size_t gain_stride; /* GAIN_SOURCE */

    /* Begins at a symbol of a source. `stride`: from a warp's iteration to its next one, in iterations. */
    __device__ __forceinline__ void open(const softqam_source &source, unsigned input_format, size_t symbol,
                                         unsigned stride)
    {
        const symbol_index index = symbol_index_of(source.n_layers, symbol);
        open(source, input_format, index.element, index.layer, stride);
    }

    /* Begins at a layer of a resource element. */
    __device__ __forceinline__ void open(const softqam_source &source, unsigned input_format, size_t element,
                                         unsigned number, unsigned stride)
    {
        const unsigned n_layers = source.n_layers;
        const softqam_source_layer &layer = source.layers[number];
        static_assert(N_INPUT_FORMATS == 4, "Give the new format its case in load() and convert()");
        const size_t nbytes =
            source.symbol_stride * (layer.symbols_q ? source.symbol_nbytes / 2 : source.symbol_nbytes);
        const unsigned elements = n_layers == 3 ? 10 : WARP_THREADS >> n_layers / 2; /* elements of an iteration */
        i = static_cast<const unsigned char *>(layer.symbols) + element * nbytes;
        q = layer.symbols_q ? static_cast<const unsigned char *>(layer.symbols_q) + element * nbytes : nullptr;
        noise = layer.noise_var ? layer.noise_var + element * source.noise_stride : nullptr;
        symbol_stride = stride * elements * nbytes;
        noise_stride = stride * elements * source.noise_stride;
        is_in_global_memory(i);
        is_in_global_memory(q);
        is_in_global_memory(noise);
        if (KIND == GAIN_SOURCE) {
            gain = layer.gain + element * source.gain_stride;
            gain_stride = stride * elements * source.gain_stride;
            is_in_global_memory(gain);
        }
    }

    /* Loads I and Q as one number, whether or not Q follows I. */
    template <typename Component, typename Symbol> __device__ __forceinline__ Symbol load_components() const
    {
        if (!q)
            return *reinterpret_cast<const Symbol *>(i);
        return static_cast<Symbol>(*reinterpret_cast<const Component *>(i)) |
               static_cast<Symbol>(*reinterpret_cast<const Component *>(q)) << 8 * sizeof(Component);
    }

    /* Loads the next symbol. */
    __device__ __forceinline__ raw_symbol load(unsigned input_format, bool has_noise_each)
    {
        raw_symbol raw = {};
        if (KIND == FLOAT_SOURCE && input_format == SOFTQAM_INPUT_CF32) {
            raw.components = *reinterpret_cast<const uint2 *>(i);
        } else if (KIND == FLOAT_SOURCE) {
            raw.components.x = *reinterpret_cast<const uint32_t *>(i);
        } else if (input_format == SOFTQAM_INPUT_CF32) {
            const uint64_t both = load_components<uint32_t, uint64_t>();
            raw.components = make_uint2(static_cast<uint32_t>(both), static_cast<uint32_t>(both >> 32));
        } else if (input_format == SOFTQAM_INPUT_CS8) {
            raw.components.x = load_components<uint8_t, uint16_t>();
        } else {
            raw.components.x = load_components<uint16_t, uint32_t>();
        }
        if (has_noise_each)
            raw.noise = *noise;
        if (KIND == GAIN_SOURCE)
            raw.gain = *gain;
        return raw;
    }

    __device__ __forceinline__ void advance()
    {
        i += symbol_stride;
        if (is_of_any_layout(KIND))
            q = q ? q + symbol_stride : nullptr;
        noise += noise_stride;
        if (KIND == GAIN_SOURCE)
            gain += gain_stride;
    }
};

template <source_kind KIND>
static __device__ __forceinline__ float2 convert(const raw_symbol &raw, unsigned input_format, float scale)
{
    const uint32_t x = raw.components.x;
    if (input_format == SOFTQAM_INPUT_CF32)
        return make_float2(convert(__uint_as_float(x), scale), convert(__uint_as_float(raw.components.y), scale));
    if (is_of_any_layout(KIND) && input_format == SOFTQAM_INPUT_CS8)
        return make_float2(convert(static_cast<int8_t>(x), scale), convert(static_cast<int8_t>(x >> 8), scale));
    if (is_of_any_layout(KIND) && input_format == SOFTQAM_INPUT_CS16)
        return make_float2(convert(static_cast<int16_t>(x), scale), convert(static_cast<int16_t>(x >> 16), scale));
    return make_float2(convert(component_of<__half>(x), scale), convert(component_of<__half>(x >> 16), scale));
}

template <source_kind KIND> using source_of = std::integral_constant<source_kind, KIND>;

/* Says which segments a kernel takes: those without layers that are demapped jointly, all, or those that have some. */
enum segment_set { NO_JOINT, ANY_SEGMENTS, ONLY_JOINT };

/* Calls a function with the kind of a segment's input as a constant. */
template <softqam_output_format FORMAT, segment_set SEGMENTS, typename Function>
static __device__ __forceinline__ void with_source(const segment_memory &shared, const Function &function)
{
    const softqam_source &source = shared.segment.source;
    if constexpr (SEGMENTS == ONLY_JOINT)
        return function(source_of<JOINT_SOURCE>());
    if constexpr (SEGMENTS == ANY_SEGMENTS && FORMAT != SOFTQAM_OUTPUT_U8)
        if (source.joint_layers != 0)
            return function(source_of<JOINT_SOURCE>());
    const bool has_gains = FORMAT != SOFTQAM_OUTPUT_U8 && source.has_gains;
    const bool is_iq_with_noise =
        FORMAT != SOFTQAM_OUTPUT_U8 && !has_gains && !source.is_split && source.noise_stride != 0;
    if (is_iq_with_noise && (shared.input_format == SOFTQAM_INPUT_CF32 || shared.input_format == SOFTQAM_INPUT_CF16))
        return function(source_of<FLOAT_SOURCE>());
    if (has_gains)
        function(source_of<GAIN_SOURCE>());
    else
        function(source_of<ANY_SOURCE>());
}

/* A thread's symbols of the thread block's segment, which may be descrambled with IS_DESCRAMBLED. */
template <softqam_output_format FORMAT, int M, source_kind KIND, bool IS_DESCRAMBLED> struct thread_symbols {
    typedef symbol_size<FORMAT, M> size;
    enum { BITS = size::BITS };
    typedef packed_values<size::WORDS> values;

    const segment_memory &shared;
    thread_source<KIND> source;
    raw_symbol next;
    symbol_scale scale;
    float weight_scale;
    float input_scale;
    unsigned input_format;
    bool has_noise_each;
    bool noise_is_inverse;
    bool is_descrambled;
    unsigned bit;        /* the next symbol's first bit in the block's sequence */
    float components[2]; /* the symbol demodulated last, divided by its gain */
    bool is_erasure;     /* the symbol before */

    /* Begins at a symbol of the segment, which is n_before symbols into the block's sequence. */
    __device__ __forceinline__ void open(size_t symbol, unsigned n_before, unsigned stride)
    {
        const softqam_source &segment_source = shared.segment.source;
        const softqam_placement &placement = shared.segment.placement;
        input_format = shared.input_format;
        has_noise_each = FORMAT != SOFTQAM_OUTPUT_U8 && (KIND != ANY_SOURCE || segment_source.noise_stride != 0);
        noise_is_inverse = segment_source.noise_is_inverse;
        is_descrambled = IS_DESCRAMBLED && placement.is_descrambled;
        weight_scale = weight_scale_of(FORMAT, placement.steps_per_nat);
        input_scale = segment_source.input_scale;
        bit = n_before * BITS;
        scale = {};
        /* A stride is even, so I changes its sign in all of a thread's symbols or in none. */
        if (M == 0 && placement.modulation == SOFTQAM_MODULATION_PI2_BPSK)
            scale.pi2_sign = static_cast<uint32_t>(placement.scrambled_symbol + symbol) << 31;
        source.open(segment_source, input_format, symbol, stride);
    }

    __device__ __forceinline__ void load(bool has_symbol)
    {
        if (has_symbol)
            next = source.load(input_format, has_noise_each);
    }

    /* Sets the weight of a segment with one noise value. */
    __device__ __forceinline__ void set_noise(const float *noise, const softqam_llr_limit &limit)
    {
        if (FORMAT != SOFTQAM_OUTPUT_U8 && !has_noise_each)
            scale.set_noise(weight_scale, noise ? *noise : shared.segment.source.noise_value, noise_is_inverse, limit);
    }

    /* Computes the values of the symbol that has been loaded, and loads the next one, `stride` symbols further. */
    template <typename Table>
    __device__ __forceinline__ values demodulate(const Table &table, const softqam_llr_limit &limit, bool has_next,
                                                 unsigned stride)
    {
        const raw_symbol raw = next;
        source.advance();
        load(has_next);
        std::conditional_t<KIND == GAIN_SOURCE, gain_scale, symbol_scale> scales[] = {{scale}};
        const float2 symbol = convert<KIND>(raw, input_format, input_scale);
        components[0] = symbol.x;
        components[1] = symbol.y;
        if constexpr (KIND == GAIN_SOURCE)
            scales[0].set_gain(FORMAT, weight_scale, bounded_noise(raw.noise, noise_is_inverse, limit),
                               noise_is_inverse, raw.gain, components);
        else if (has_noise_each)
            scales[0].set_noise(weight_scale, raw.noise, noise_is_inverse, limit);
        if (is_descrambled) {
            gold_bits<BITS> sequence;
            sequence.open(shared.sequence, bit);
            scales[0].flips = sequence.read(0);
            bit += stride * BITS;
        }
        values packed[1];
        values_of<FORMAT, M, IS_DESCRAMBLED, 1>(packed, table, components, scales, limit);
        if (M == 0)
            components[0] = vec_flip(components[0], scale.pi2_sign);
        is_erasure =
            FORMAT == SOFTQAM_OUTPUT_U8 ? !(isfinite(components[0]) && isfinite(components[1])) : scales[0].valid == 0;
        return packed[0];
    }
};

#endif
