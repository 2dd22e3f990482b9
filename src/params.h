/* SPDX-License-Identifier: MIT */
/* A checked configuration in the form that loops and kernels take it. */
#ifndef SOFTQAM_PARAMS_H
#define SOFTQAM_PARAMS_H

#if __SIZEOF_POINTER__ != 8 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "softqam is for 64-bit, little-endian processors"
#endif

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "formats.h"
#include "host_device.h"
#include "tables.h"

/* From QPSK on each has one more bit an axis. */
static_assert(MAX_AXIS_BITS == N_MODULATIONS - SOFTQAM_MODULATION_QPSK + 1, "tables, loops and kernels for each");

/* Where the reserved fields of a segment are. What takes every field of a segment asserts it: a field that takes the
 * place of a reserved one stops the build there. */
#define SEGMENT_RESERVED                                                                                               \
    (offsetof(softqam_segment, reserved_word) + offsetof(softqam_segment, reserved) +                                  \
     offsetof(softqam_layer, reserved) + offsetof(softqam_codeword, reserved))

/* How a metric becomes an LLR in the output format. Plain data, for kernels too. */
typedef struct softqam_llr_scale {
    float steps_per_nat; /* with the sign of the LLRs: negative where positive means 1 */
    float limit;         /* largest magnitude */
} softqam_llr_scale;

typedef struct softqam_params {
    softqam_modulation modulation; /* of segments that name none */
    softqam_input_format input_format;
    softqam_output_format output_format;
    softqam_sign sign;
    softqam_noise noise;
    softqam_noise_form noise_form;
    size_t input_nbytes;                      /* of a symbol */
    size_t value_nbytes;                      /* of a soft bit or LLR */
    uint8_t output_nbytes[N_MODULATIONS + 1]; /* of a symbol's, by modulation */
    float input_scale;
    float llr_scale; /* steps per nat */
    float llr_limit;
    float sum_limit;              /* largest magnitude of a sum in a soft buffer */
    softqam_soft_table soft_bits; /* for u8 */
    softqam_soft_linear soft_linear;
    const softqam_llr_table *llrs[MAX_AXIS_BITS + 1]; /* for the others, by bits an axis */
} softqam_params;

/* From a configuration that softqam_demodulator_config_resolve() has passed. */
void softqam_params_make(softqam_params *params, const softqam_demodulator_config *config);

/* By its bits: with subnormal numbers flushed, as a caller may have them, == takes those for 0 too. */
static inline bool softqam_is_zero(float a)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    return bits << 1 == 0;
}

/* Bits an axis of a modulation; 0 stands for BPSK and pi/2-BPSK, whose one bit rides on both. */
HOST_AND_DEVICE static inline int softqam_axis_bits(softqam_modulation modulation)
{
    return modulation < SOFTQAM_MODULATION_QPSK ? 0 : (int)modulation - (int)SOFTQAM_MODULATION_QPSK + 1;
}

/* Bits a symbol. */
HOST_AND_DEVICE static inline unsigned softqam_symbol_bits(softqam_modulation modulation)
{
    return modulation < SOFTQAM_MODULATION_QPSK ? 1 : 2 * (unsigned)softqam_axis_bits(modulation);
}

/* Whether a modulation has so many bits a symbol. */
static inline bool softqam_is_symbol_bits(unsigned n)
{
    return n >= 1 && n <= MAX_SYMBOL_BITS && (n == 1 || n % 2 == 0);
}

/* Whether the output is LLRs, which noise scales. */
static inline bool softqam_params_have_llrs(const softqam_params *params)
{
    return params->output_format != SOFTQAM_OUTPUT_U8;
}

/* Bytes of a symbol's values. */
static inline size_t softqam_params_output_nbytes(const softqam_params *params, softqam_modulation modulation)
{
    return params->output_nbytes[modulation];
}

/* How the LLRs of a segment are scaled. */
static inline softqam_llr_scale softqam_params_llr_scale(const softqam_params *params, const softqam_segment *segment)
{
    const float steps = segment->llr_scale != 0.0f ? segment->llr_scale : params->llr_scale;
    const softqam_llr_scale scale = {params->sign == SOFTQAM_SIGN_POSITIVE_IS_1 ? -steps : steps, params->llr_limit};
    return scale;
}

#endif
