/* SPDX-License-Identifier: MIT */
/* How a thread loads a segment's symbols and noise values: of any layer, at any stride, I and Q side by
 * side or apart. */
#ifndef SOFTQAM_SEGMENT_LOADS_CUH
#define SOFTQAM_SEGMENT_LOADS_CUH

#include "segment_block.cuh"

/* A symbol as it lies in memory, its noise value and its gain. Samples of two bytes and of one lie in the lower parts
 * of x. */
struct raw_symbol {
    uint2 components;
    float noise;
    float gain;
};

/* Says so of a pointer that was read from shared memory, so that accesses need not find out. */
static __device__ __forceinline__ void is_in_global_memory(const void *pointer)
{
    __builtin_assume(__isGlobal(pointer) != 0);
}

/* What is known to the compiler of a segment's input: nothing but that it has no gains, or that it is floats or halves,
 * I and Q side by side, each symbol with a noise value; or that each symbol has a noise value and a gain. */
enum source_kind { ANY_SOURCE, CF32_SOURCE, CF16_SOURCE, GAIN_SOURCE };

static __device__ __forceinline__ constexpr bool is_of_any_layout(source_kind kind)
{
    return kind == ANY_SOURCE || kind == GAIN_SOURCE;
}

/* Where a thread's symbols lie. */
template <source_kind KIND> struct thread_source {
    const unsigned char *i;
    const unsigned char *q; /* NULL: behind i */
    const float *noise;
    const float *gain;  /* GAIN_SOURCE */
    size_t step_nbytes; /* from one symbol to the next */
    size_t noise_step;

    /* From a symbol of a segment on; `stride`: from a step of the warp to its next one. */
    __device__ __forceinline__ void open(const softqam_kernel_segment &segment, unsigned input_format, size_t symbol,
                                         unsigned stride)
    {
        const unsigned n_layers = segment.n_layers;
        const size_t element = n_layers == 1   ? symbol
                               : n_layers == 2 ? symbol / 2
                               : n_layers == 3 ? symbol / 3
                                               : symbol / 4;
        const unsigned of_element = static_cast<unsigned>(symbol - element * n_layers);
        const softqam_kernel_layer &layer = segment.layers[of_element];
        static_assert(N_INPUT_FORMATS == 4, "each has its bytes");
        const unsigned component_nbytes = input_format == SOFTQAM_INPUT_CF32  ? 4
                                          : input_format == SOFTQAM_INPUT_CS8 ? 1
                                                                              : 2;
        const size_t nbytes = segment.symbol_stride * (layer.symbols_q ? component_nbytes : 2 * component_nbytes);
        const unsigned elements = n_layers == 3 ? 10 : WARP_THREADS >> n_layers / 2; /* of a step */
        i = static_cast<const unsigned char *>(layer.symbols) + element * nbytes;
        q = layer.symbols_q ? static_cast<const unsigned char *>(layer.symbols_q) + element * nbytes : nullptr;
        noise = layer.noise_var ? layer.noise_var + element * segment.noise_stride : nullptr;
        step_nbytes = stride * elements * nbytes;
        noise_step = stride * elements * segment.noise_stride;
        is_in_global_memory(i);
        is_in_global_memory(q);
        is_in_global_memory(noise);
        if (KIND == GAIN_SOURCE) {
            gain = segment.gains[of_element] + element * segment.noise_stride;
            is_in_global_memory(gain);
        }
    }

    /* The bytes of I and Q, apart or behind each other. */
    template <typename Component, typename Symbol> __device__ __forceinline__ Symbol load_components() const
    {
        if (!q)
            return *reinterpret_cast<const Symbol *>(i);
        return static_cast<Symbol>(*reinterpret_cast<const Component *>(i)) |
               static_cast<Symbol>(*reinterpret_cast<const Component *>(q)) << 8 * sizeof(Component);
    }

    /* The next symbol. */
    __device__ __forceinline__ raw_symbol load(unsigned input_format, bool has_noise_each)
    {
        raw_symbol raw = {};
        if (KIND == CF32_SOURCE) {
            raw.components = *reinterpret_cast<const uint2 *>(i);
        } else if (KIND == CF16_SOURCE) {
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
        i += step_nbytes;
        if (is_of_any_layout(KIND))
            q = q ? q + step_nbytes : nullptr;
        noise += noise_step;
        if (KIND == GAIN_SOURCE)
            gain += noise_step;
    }
};

template <source_kind KIND>
static __device__ __forceinline__ float2 convert(const raw_symbol &raw, unsigned input_format, float scale)
{
    const uint32_t x = raw.components.x;
    if (KIND == CF32_SOURCE || (is_of_any_layout(KIND) && input_format == SOFTQAM_INPUT_CF32))
        return make_float2(convert(__uint_as_float(x), scale), convert(__uint_as_float(raw.components.y), scale));
    if (is_of_any_layout(KIND) && input_format == SOFTQAM_INPUT_CS8)
        return make_float2(convert(static_cast<int8_t>(x), scale), convert(static_cast<int8_t>(x >> 8), scale));
    if (is_of_any_layout(KIND) && input_format == SOFTQAM_INPUT_CS16)
        return make_float2(convert(static_cast<int16_t>(x), scale), convert(static_cast<int16_t>(x >> 16), scale));
    return make_float2(convert(component_of<__half>(x), scale), convert(component_of<__half>(x >> 16), scale));
}

#endif
