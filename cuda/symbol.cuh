/* SPDX-License-Identifier: MIT */
/* Every kernel's work on a symbol: from components as they lie in memory to packed values. */
#ifndef SOFTQAM_SYMBOL_CUH
#define SOFTQAM_SYMBOL_CUH

#include <type_traits>

#include <cuda_fp16.h>

#include "kernel_tables.cuh"
#include "kernels.h"
#include "memory.cuh"
#include "simd_cuda.cuh"

#include "arithmetic.h"

static_assert(N_OUTPUT_FORMATS == 5, "Give the new format its case in metrics_of() and llrs_of()");

/* Sizes of a symbol with M bits an axis; 0 stands for BPSK and pi/2-BPSK. */
template <softqam_output_format FORMAT, int M> struct symbol_size {
    enum {
        BITS = M == 0 ? 1 : 2 * M,
        VALUE_NBYTES = softqam_value_nbytes(FORMAT),
        NBYTES = BITS * VALUE_NBYTES,
        WORDS = (NBYTES + 3) / 4
    };
};

template <int M> using axis_bits_of = std::integral_constant<int, M>;

/* Calls a function with a modulation's bits an axis as a constant: ONLY, if that is known. */
template <softqam_output_format FORMAT, int ONLY = ANY_AXIS_BITS, typename Function>
static __device__ __forceinline__ void with_axis_bits(unsigned modulation, const Function &function)
{
    static_assert(N_MODULATIONS == 7, "Give the new modulation its case below");
    if constexpr (FORMAT == SOFTQAM_OUTPUT_U8)
        return function(axis_bits_of<4>());
    else if constexpr (ONLY != ANY_AXIS_BITS)
        return function(axis_bits_of<ONLY>());
    else
        switch (modulation) {
        case SOFTQAM_MODULATION_BPSK:
        case SOFTQAM_MODULATION_PI2_BPSK:
            return function(axis_bits_of<0>());
        case SOFTQAM_MODULATION_QPSK:
            return function(axis_bits_of<1>());
        case SOFTQAM_MODULATION_16QAM:
            return function(axis_bits_of<2>());
        case SOFTQAM_MODULATION_64QAM:
            return function(axis_bits_of<3>());
        case SOFTQAM_MODULATION_256QAM:
            return function(axis_bits_of<4>());
        case SOFTQAM_MODULATION_1024QAM:
            return function(axis_bits_of<5>());
        }
}

/* Converts a component to a float and multiplies it by the scale. Floats are multiplied, too: a scale of 1 does not
 * change them. */
template <typename Component> static __device__ __forceinline__ float convert(Component sample, float scale)
{
    return __fmul_rn(static_cast<float>(sample), scale);
}

/* Reads the lowest bits of a word as a component. */
template <typename Component> static __device__ __forceinline__ Component component_of(uint32_t word)
{
    return static_cast<Component>(word);
}
template <> __device__ __forceinline__ float component_of<float>(uint32_t word) { return __uint_as_float(word); }
template <> __device__ __forceinline__ __half component_of<__half>(uint32_t word)
{
    return __ushort_as_half(static_cast<uint16_t>(word));
}

/* Applies the noise floor. */
static __device__ __forceinline__ float bounded_noise(float noise, bool is_inverse, const softqam_llr_limit &limit)
{
#if __CUDA_ARCH__ >= 800 /* One instruction does what llr_bounded_noise() does: NaN stays NaN. */
    float bounded;
    if (is_inverse)
        asm("min.NaN.f32 %0, %1, %2;" : "=f"(bounded) : "f"(noise), "f"(limit.max_inverse_noise));
    else
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(bounded) : "f"(noise), "f"(limit.min_noise));
    return bounded;
#else
    return is_inverse ? llr_bounded_noise(noise, 1, limit.max_inverse_noise)
                      : llr_bounded_noise(noise, 0, limit.min_noise);
#endif
}

/* The scale and the signs of a symbol's LLRs. */
struct symbol_scale {
    float weight;      /* the LLRs' weight; if they are in steps, times LLR_STEP; NaN: an erasure */
    uint32_t pi2_sign; /* pi/2-BPSK: bit 31 is set if I changes its sign */
    uint32_t flips;    /* bit k is set if LLR k changes its sign; the bits above a symbol's are 0 */
    vec_mask valid;    /* f16 and f32: zero if the symbol is an erasure */

    /* Sets the weight from a noise value; `scale` is weight_scale_of(). */
    __device__ __forceinline__ void set_noise(float scale, float given_noise, bool is_inverse,
                                              const softqam_llr_limit &limit)
    {
        const float noise = bounded_noise(given_noise, is_inverse, limit);
        weight = is_inverse ? llr_weight(scale, noise, 1) : llr_weight(scale, noise, 0);
    }
};

/* Returns whether a value lies from `least` to before `end`, both positive; false for NaN. */
static __device__ __forceinline__ bool is_between(float value, float least, float end)
{
    return __float_as_uint(value) - __float_as_uint(least) < __float_as_uint(end) - __float_as_uint(least);
}

/* The factors of a symbol with a gain, and of its metrics. */
struct any_gain {
    gain_divisor divisor;
    float weight;
    bool has_small_weight;
};

/* With gains a weight may be as small as MIN_WEIGHT. Times LLR_STEP it would be subnormal, and no longer exact. A
 * weight below SMALL_WEIGHT matters only if its metric is beyond 2^78, so the metric is multiplied by a power of two,
 * and the weight by its inverse. */
#define SMALL_WEIGHT        0x1p-80f
#define SMALL_WEIGHT_METRIC 0x1p-40f

/* Handles any gain and noise value; `scale` is weight_scale_of(). It is seldom needed, so it is not inlined. */
static __device__ __noinline__ any_gain any_gain_of(float scale, float noise, bool is_inverse, float gain,
                                                    bool is_in_steps)
{
    const float scale_in_steps = is_in_steps ? vec_mul(scale, 1.0f / LLR_STEP) : scale;
    any_gain any = {};
    any.divisor = gain_divisor_of(gain);
    any.weight = llr_weight_of_any_gain(scale_in_steps, noise, is_inverse, gain);
    if (is_in_steps) {
        any.has_small_weight = fabsf(any.weight) < SMALL_WEIGHT;
        any.weight = vec_mul(any.weight, any.has_small_weight ? LLR_STEP / SMALL_WEIGHT_METRIC : LLR_STEP);
    }
    return any;
}

/* The scale and the signs of the LLRs of a symbol with a gain. */
struct gain_scale : symbol_scale {
    bool has_small_weight; /* s8 and s16: `weight` is for a metric times SMALL_WEIGHT_METRIC */

    /* Sets the weight from a bounded noise value and a gain, and divides the components by the gain. If neither is tiny
     * or huge the weight is far from overflow and underflow, so this is llr_weight_of_gain() without its last steps. */
    __device__ __forceinline__ void set_gain(softqam_output_format format, float scale, float noise, bool is_inverse,
                                             float gain, float (&components)[2])
    {
        if (__builtin_expect(!(is_between(gain, 0x1p-20f, 0x1p20f) && is_between(noise, 0x1p-40f, 0x1p40f)), 0)) {
            const any_gain any = any_gain_of(scale, noise, is_inverse, gain, softqam_is_in_steps(format));
            weight = any.weight;
            has_small_weight = any.has_small_weight;
            components[0] = divided_by_gain(components[0], any.divisor);
            components[1] = divided_by_gain(components[1], any.divisor);
            return;
        }
        const float scale_of_gain = llr_scale_of_gain(scale, gain);
        weight = is_inverse ? vec_mul(scale_of_gain, noise) : vec_div(scale_of_gain, noise);
        has_small_weight = false;
        const float inverse_gain = vec_div(1.0f, gain);
        components[0] = vec_mul(components[0], inverse_gain);
        components[1] = vec_mul(components[1], inverse_gain);
    }
};

/* Returns the factor that turns noise values into weights. LLR_STEP is a power of two, so it does not change how
 * quotients and products are rounded. */
static __device__ __forceinline__ float weight_scale_of(softqam_output_format format, float steps_per_nat)
{
    return softqam_is_in_steps(format) ? __fmul_rn(steps_per_nat, LLR_STEP) : steps_per_nat;
}

/* Soft bits. */
static __device__ __forceinline__ packed_values<2> u8_bytes_of(const vec_u8_table &table, float i, float q)
{
    const symbol_distances distances = symbol_distances_of(&table, i, q);
    const u8_bits bits = u8_bits_from_distances(&table, &distances);
    const uint32_t of_i = vec_u8_bytes(bits.i.low, bits.i.high, bits.i.row, bits.valid);
    const uint32_t of_q = vec_u8_bytes(bits.q.low, bits.q.high, bits.q.row, bits.valid);
    return {{__byte_perm(of_i, of_q, 0x5140), __byte_perm(of_i, of_q, 0x7362)}};
}

/* LLRs. */

/* True if a symbol is finite, is no erasure, and has a weight so small that components below TINY_COMPONENT make LLRs
 * of zero without being flushed: (|i| + |q| + 1) times the weight is below 2^30. It is false for NaN and infinity. */
static __device__ __forceinline__ bool is_regular(float i, float q, const symbol_scale &scale)
{
    const float magnitude = __fadd_rn(fabsf(i), fabsf(q));
    return fabsf(__fmaf_rn(magnitude, scale.weight, scale.weight)) < 0x1p30f;
}

/* Changes a symbol that is not regular so that the operations for regular symbols give its LLRs. */
static __device__ __forceinline__ void regularize(float &i, float &q, symbol_scale &scale)
{
    const vec_mask valid = vec_both(vec_both(vec_is_finite(i), vec_is_finite(q)), vec_is_finite(scale.weight));
    i = vec_keep(valid, vec_flip(vec_flush(vec_abs(i), TINY_COMPONENT), vec_bits(i)));
    q = vec_keep(valid, vec_flip(vec_flush(vec_abs(q), TINY_COMPONENT), vec_bits(q)));
    scale.weight = vec_keep(valid, scale.weight);
    scale.valid = valid;
}

/* Computes the metrics of a regular symbol, b0 first, even bits on I. */
template <softqam_output_format FORMAT, int M>
static __device__ __forceinline__ void metrics_of(const vec_llr_table &table, float i, float q,
                                                  const symbol_scale &scale, float metrics[])
{
    float of_i[MAX_AXIS_BITS];
    float of_q[MAX_AXIS_BITS];
    if (M == 0) {
        metrics[0] = bpsk_metric(&table, i, q, scale.pi2_sign);
        return;
    }
    if (FORMAT == SOFTQAM_OUTPUT_F32) { /* f32 LLRs of tiny components are not zero by themselves */
        axis_metrics(M, &table, i, of_i);
        axis_metrics(M, &table, q, of_q);
    } else {
        magnitude_metrics(M, &table, vec_abs(i), i, of_i);
        magnitude_metrics(M, &table, vec_abs(q), q, of_q);
    }
#pragma unroll
    for (int k = 0; k < M; k++) {
        metrics[2 * k] = of_i[k];
        metrics[2 * k + 1] = of_q[k];
    }
}

/* Packs N LLRs of a symbol, from LLR k on, into a word. */
template <softqam_output_format FORMAT, int N, bool IS_DESCRAMBLED>
static __device__ __forceinline__ uint32_t word_of_steps(const float metrics[], int k, const symbol_scale &scale,
                                                         const softqam_llr_limit &limit)
{
    uint32_t steps[4] = {};
    uint32_t word;
#pragma unroll
    for (int j = 0; j < N; j++)
        steps[j] = vec_limited_steps(metrics[k + j], scale.weight, limit.steps, limit.two_limits);
    if (FORMAT == SOFTQAM_OUTPUT_S16)
        word = N == 1 ? steps[0] : __byte_perm(steps[0], steps[1], 0x5410);
    else
        word = N == 1 ? steps[0]
                      : vec_packed_bytes(steps[0], steps[1], N > 2 ? vec_packed_bytes(steps[2], steps[3], 0) : 0);
    if (IS_DESCRAMBLED) {
        const uint32_t masks =
            FORMAT == SOFTQAM_OUTPUT_S16 ? vec_half_masks(scale.flips, k) : vec_byte_masks(N, scale.flips, k);
        word = ((limit.two_limits_each - word) & masks) | (word & ~masks);
    }
    return (word + limit.to_middle_each) ^ (FORMAT == SOFTQAM_OUTPUT_S16 ? 0x80008000 : 0x80808080);
}

/* Limits two LLRs of f16. */
static __device__ __forceinline__ uint32_t limited_halves(uint32_t halves, float limit)
{
    __half2 both;
    memcpy(&both, &halves, sizeof both);
    const __half2 limits = __float2half2_rn(limit);
    both = __hmin2(__hmax2(both, __hneg2(limits)), limits);
    memcpy(&halves, &both, sizeof halves);
    return halves;
}

/* Computes the LLRs of a regular symbol. With IS_DESCRAMBLED scale.flips is applied. */
template <softqam_output_format FORMAT, int M, bool IS_DESCRAMBLED, typename Scale>
static __device__ __forceinline__ packed_values<symbol_size<FORMAT, M>::WORDS>
llrs_of(const vec_llr_table &table, float i, float q, const Scale &scale, const softqam_llr_limit &limit)
{
    enum {
        BITS = symbol_size<FORMAT, M>::BITS,
        WORDS = symbol_size<FORMAT, M>::WORDS,
        EACH = 4 / symbol_size<FORMAT, M>::VALUE_NBYTES, /* values of a word */
        LAST = BITS - (WORDS - 1) * EACH
    };
    packed_values<WORDS> packed;
    float metrics[BITS + BITS % 2] = {};
    metrics_of<FORMAT, M>(table, i, q, scale, metrics);
    if constexpr (std::is_same_v<Scale, gain_scale> && softqam_is_in_steps(FORMAT)) {
        if (scale.has_small_weight) {
#pragma unroll
            for (int k = 0; k < BITS; k++)
                metrics[k] = vec_mul(metrics[k], SMALL_WEIGHT_METRIC);
        }
    }
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        const int k = w * EACH;
        if constexpr (softqam_is_in_steps(FORMAT)) {
            packed.word[w] = w < WORDS - 1 ? word_of_steps<FORMAT, EACH, IS_DESCRAMBLED>(metrics, k, scale, limit)
                                           : word_of_steps<FORMAT, LAST, IS_DESCRAMBLED>(metrics, k, scale, limit);
        } else if constexpr (FORMAT == SOFTQAM_OUTPUT_F16) {
            const uint32_t signs = IS_DESCRAMBLED ? vec_half_signs(scale.flips, k) : 0;
            const uint32_t halves =
                vec_halves(vec_mul(metrics[k], scale.weight), vec_mul(metrics[k + 1], scale.weight));
            packed.word[w] =
                scale.valid & ((limit.llr < LARGEST_HALF ? limited_halves(halves, limit.llr) : halves) ^ signs);
        } else {
            const float weight = IS_DESCRAMBLED ? vec_flip(scale.weight, scale.flips << (31 - k)) : scale.weight;
            packed.word[w] = scale.valid & vec_bits(llr_scaled(metrics[k], weight, limit.llr));
        }
    }
    return packed;
}

/* Computes the values, soft bits or LLRs, of N symbols, whose components alternate between I and Q. All of them take
 * the same branch, so that the instructions of one symbol hide the latency of another. Returns false if some may be
 * erasures. */
template <softqam_output_format FORMAT, int M, bool IS_DESCRAMBLED, int N, typename Table, typename Scale>
static __device__ __forceinline__ bool values_of(packed_values<symbol_size<FORMAT, M>::WORDS> (&values)[N],
                                                 const Table &table, float (&components)[2 * N], Scale (&scales)[N],
                                                 const softqam_llr_limit &limit)
{
    if constexpr (FORMAT == SOFTQAM_OUTPUT_U8) {
#pragma unroll
        for (int n = 0; n < N; n++)
            values[n] = u8_bytes_of(table, components[2 * n], components[2 * n + 1]);
        return true;
    } else {
        bool are_regular = true;
#pragma unroll
        for (int n = 0; n < N; n++) {
            scales[n].valid = 0xffffffffu;
            are_regular &= is_regular(components[2 * n], components[2 * n + 1], scales[n]);
        }
        if (__builtin_expect(!are_regular, 0))
#pragma unroll
            for (int n = 0; n < N; n++)
                regularize(components[2 * n], components[2 * n + 1], scales[n]);
#pragma unroll
        for (int n = 0; n < N; n++)
            values[n] =
                llrs_of<FORMAT, M, IS_DESCRAMBLED>(table, components[2 * n], components[2 * n + 1], scales[n], limit);
        return are_regular;
    }
}

/* The settings that all LLRs of a segment share. */
struct llr_rules {
    float steps_per_nat;
    bool noise_is_inverse;
    const softqam_llr_limit &limit;
};

/* N symbols of a thread that follow each other in the codeword. */
template <int N> struct symbols_in_registers {
    float components[2 * N];
    float noise[N];
    float gains[N];    /* if the symbols have gains */
    uint32_t sequence; /* their bits of the scrambling sequence, those of the first symbol lowest, at most 32; or 0 */
    uint32_t erased;   /* demap_symbols() sets bit n if symbol n is an erasure */
};

/* Sets the scales of symbols in registers, and divides their components by their gains. */
template <softqam_output_format FORMAT, bool IS_INVERSE, int N, typename Scale>
static __device__ __forceinline__ void set_scales(Scale (&scales)[N], symbols_in_registers<N> &symbols,
                                                  const llr_rules &rules)
{
    const float weight_scale = weight_scale_of(FORMAT, rules.steps_per_nat);
#pragma unroll
    for (int n = 0; n < N; n++) {
        if constexpr (std::is_same_v<Scale, gain_scale>) {
            float components[2] = {symbols.components[2 * n], symbols.components[2 * n + 1]};
            scales[n].set_gain(FORMAT, weight_scale, bounded_noise(symbols.noise[n], IS_INVERSE, rules.limit),
                               IS_INVERSE, symbols.gains[n], components);
            symbols.components[2 * n] = components[0];
            symbols.components[2 * n + 1] = components[1];
        } else {
            scales[n].set_noise(weight_scale, symbols.noise[n], IS_INVERSE, rules.limit);
        }
    }
}

/* Computes the LLRs of symbols in registers. */
template <softqam_output_format FORMAT, int M, bool HAS_GAINS, int N, typename Table>
static __device__ __forceinline__ void demap_symbols(packed_values<symbol_size<FORMAT, M>::WORDS> (&values)[N],
                                                     const Table &table, symbols_in_registers<N> &symbols,
                                                     const llr_rules &rules)
{
    enum { BITS = symbol_size<FORMAT, M>::BITS };
    static_assert(N * BITS <= 32, "The bits must fit in a word");
    std::conditional_t<HAS_GAINS, gain_scale, symbol_scale> scales[N] = {};
    if (rules.noise_is_inverse)
        set_scales<FORMAT, true>(scales, symbols, rules);
    else
        set_scales<FORMAT, false>(scales, symbols, rules);
#pragma unroll
    for (int n = 0; n < N; n++)
        scales[n].flips = symbols.sequence >> n * BITS & ((1u << BITS) - 1);
    values_of<FORMAT, M, true, N>(values, table, symbols.components, scales, rules.limit);
    symbols.erased = 0;
#pragma unroll
    for (int n = 0; n < N; n++)
        symbols.erased |= scales[n].valid ? 0 : 1u << n;
}

#endif
