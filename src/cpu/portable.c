/* SPDX-License-Identifier: MIT */
/* The definition of correct: one symbol after the other, in portable C. */
#include <stdint.h>
#include <string.h>

#include "generic.h"
#include "simd_scalar.h"
#include "variant.h"
#include "widen_half.h"

#include "arithmetic.h"

/* memcpy because the caller's memory may lie anyhow. */
static void convert_cf32(const void *components, float scale, size_t n_components, float *to, bool streaming)
{
    (void)streaming;
    for (size_t k = 0; k < n_components; k++) {
        float component;
        memcpy(&component, (const unsigned char *)components + k * sizeof component, sizeof component);
        to[k] = component * scale;
    }
}

static void convert_cs16(const void *components, float scale, size_t n_components, float *to, bool streaming)
{
    (void)streaming;
    for (size_t k = 0; k < n_components; k++) {
        int16_t component;
        memcpy(&component, (const unsigned char *)components + k * sizeof component, sizeof component);
        to[k] = (float)component * scale;
    }
}

static void convert_cs8(const void *components, float scale, size_t n_components, float *to, bool streaming)
{
    (void)streaming;
    for (size_t k = 0; k < n_components; k++)
        to[k] = (float)((const int8_t *)components)[k] * scale;
}

static void convert_cf16(const void *components, float scale, size_t n_components, float *to, bool streaming)
{
    (void)streaming;
    for (size_t k = 0; k < n_components; k++) {
        uint16_t component;
        memcpy(&component, (const unsigned char *)components + k * sizeof component, sizeof component);
        to[k] = widen_half(component) * scale;
    }
}

/* Bytes 0 1 2 3 to places 0 2 4 6. */
static inline uint64_t spread_bytes(uint32_t bytes)
{
    uint64_t word = bytes;
    word = (word | word << 16) & 0x0000ffff0000ffffu;
    return (word | word << 8) & 0x00ff00ff00ff00ffu;
}

static void soft_bits_of_symbols(const softqam_params *params, softqam_llr_scale scale, const float *components,
                                 const float *noise, size_t n_symbols, unsigned char *out, bool streaming)
{
    (void)scale;
    (void)noise;
    (void)streaming;
    const softqam_soft_table *table = &params->soft_bits;
    for (size_t k = 0; k < n_symbols; k++) {
        float symbol[2];
        memcpy(symbol, components + 2 * k, sizeof symbol);
        const symbol_distances distances = symbol_distances_of(table, symbol[0], symbol[1]);
        const soft_bits bits = soft_bits_from_distances(table, &distances);
        const uint64_t bytes = spread_bytes(vec_soft_bytes(table, bits.i.low, bits.i.high, bits.i.row, bits.valid)) |
                               spread_bytes(vec_soft_bytes(table, bits.q.low, bits.q.high, bits.q.row, bits.valid))
                                   << 8;
        memcpy(out + 8 * k, &bytes, sizeof bytes);
    }
}

/* One LLR in memory. */
static inline void store_llr(softqam_output_format format, float metric, float weight, float limit, vec_mask valid,
                             unsigned char *to)
{
    if (format == SOFTQAM_OUTPUT_S8) {
        const float sum = llr_rounded(metric, weight, ROUNDING_CONSTANT - limit, ROUNDING_CONSTANT + limit);
        *to = (unsigned char)vec_bits(vec_keep(valid, sum));
    } else {
        const float llr = vec_keep(valid, llr_scaled(metric, weight, limit));
        const uint16_t half = (uint16_t)vec_to_f16(llr);
        if (format == SOFTQAM_OUTPUT_F16)
            memcpy(to, &half, sizeof half);
        else
            memcpy(to, &llr, sizeof llr);
    }
}

static inline void llr_loop(int m, softqam_output_format format, softqam_noise_kind kind,
                            const softqam_llr_table *table, softqam_llr_scale scale, const float *components,
                            const float *noise, size_t n_symbols, unsigned char *out)
{
    const size_t nbytes = format == SOFTQAM_OUTPUT_F32 ? 4 : format == SOFTQAM_OUTPUT_F16 ? 2 : 1;
    for (size_t k = 0; k < n_symbols; k++) {
        float symbol[2], metrics[2][MAX_AXIS_BITS];
        memcpy(symbol, components + 2 * k, sizeof symbol);
        const float weight = kind == SOFTQAM_ONE_WEIGHT
                                 ? noise[0]
                                 : llr_weight(scale.steps_per_nat, noise[k], kind == SOFTQAM_NOISE_INVERSE);
        const vec_mask valid =
            vec_both(vec_is_finite(weight), vec_both(vec_is_finite(symbol[0]), vec_is_finite(symbol[1])));
        axis_metrics(m, table, symbol[0], metrics[0]);
        axis_metrics(m, table, symbol[1], metrics[1]);
        for (int bit = 0; bit < 2 * m; bit++, out += nbytes)
            store_llr(format, metrics[bit % 2][bit / 2], weight, scale.limit, valid, out);
    }
}

#define DEFINE_LLR_LOOP(name, m, format, kind)                                                                         \
    static void name(const softqam_params *params, softqam_llr_scale scale, const float *components,                   \
                     const float *noise, size_t n_symbols, unsigned char *out, bool streaming)                         \
    {                                                                                                                  \
        (void)streaming;                                                                                               \
        llr_loop(m, format, kind, &params->llrs, scale, components, noise, n_symbols, out);                            \
    }
#define DEFINE_LLR_LOOPS(name, m, format)                                                                              \
    DEFINE_LLR_LOOP(name##_one_weight, m, format, SOFTQAM_ONE_WEIGHT)                                                  \
    DEFINE_LLR_LOOP(name##_n0, m, format, SOFTQAM_NOISE_N0)                                                            \
    DEFINE_LLR_LOOP(name##_inverse, m, format, SOFTQAM_NOISE_INVERSE)

DEFINE_LLR_LOOPS(loop_256qam_s8, 4, SOFTQAM_OUTPUT_S8)
DEFINE_LLR_LOOPS(loop_256qam_f16, 4, SOFTQAM_OUTPUT_F16)
DEFINE_LLR_LOOPS(loop_256qam_f32, 4, SOFTQAM_OUTPUT_F32)

/* In the order of softqam_noise_kind. */
#define LLR_LOOPS(name)                                                                                                \
    {                                                                                                                  \
        name##_one_weight, name##_n0, name##_inverse                                                                   \
    }

static const softqam_llr_loops llr_loops = {.s8_full = LLR_LOOPS(loop_256qam_s8),
                                            .s8 = LLR_LOOPS(loop_256qam_s8),
                                            .f16 = LLR_LOOPS(loop_256qam_f16),
                                            .f32 = LLR_LOOPS(loop_256qam_f32)};

const softqam_cpu_variant softqam_cpu_portable = {
    .name = "portable",
    .runs_here = softqam_runs_everywhere,
    .convert = {convert_cf32, convert_cs16, convert_cs8, convert_cf16},
    .soft_bits = {soft_bits_of_symbols},
    .llrs_256qam = &llr_loops,
    .min_symbols = 1,
    .short_symbols = 256,
};

const softqam_cpu_variant softqam_cpu_generic = {
    .name = "generic",
    .runs_here = softqam_runs_everywhere,
    .convert = {convert_cf32, convert_cs16, convert_cs8, convert_cf16},
    .soft_bits = {softqam_generic_soft_bits},
    .llrs_256qam = &llr_loops,
    .min_symbols = 1,
    .short_symbols = 1024,
};
