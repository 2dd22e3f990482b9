/* SPDX-License-Identifier: MIT */
#include "params.h"

#include <float.h>

static float largest_llr(const softqam_demodulator_config *config)
{
    switch (config->output_format) {
    case SOFTQAM_OUTPUT_S8:
    case SOFTQAM_OUTPUT_S16:
        return (float)config->llr_limit;
    case SOFTQAM_OUTPUT_F16:
        return 65504.0f;
    case SOFTQAM_OUTPUT_F32:
        return FLT_MAX;
    case SOFTQAM_OUTPUT_U8: /* has none */
        break;
    }
    return 0.0f;
}

void softqam_params_make(softqam_params *params, const softqam_demodulator_config *config)
{
    params->modulation = config->modulation;
    params->input_format = config->input_format;
    params->output_format = config->output_format;
    params->sign = config->sign;
    params->noise = config->noise;
    params->noise_form = config->noise_form;
    params->input_nbytes = softqam_input_symbol_nbytes(config->input_format);
    params->value_nbytes = softqam_output_nbytes(config->output_format, SOFTQAM_MODULATION_BPSK, 1);
    for (int k = 0; k <= N_MODULATIONS; k++)
        params->output_nbytes[k] = (uint8_t)softqam_output_nbytes(config->output_format, (softqam_modulation)k, 1);
    params->input_scale = config->input_scale;
    params->llr_scale = config->llr_scale;
    params->llr_limit = largest_llr(config);
    params->sum_limit = config->output_format == SOFTQAM_OUTPUT_F16 ? (float)config->llr_limit : params->llr_limit;
    softqam_soft_table_build(&params->soft_bits, &params->soft_linear, config->sign);
    for (int axis_bits = 0; axis_bits <= MAX_AXIS_BITS; axis_bits++)
        params->llrs[axis_bits] = softqam_llr_table_of(axis_bits);
}
