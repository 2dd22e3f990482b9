/* SPDX-License-Identifier: MIT */
#include "params.h"

void softqam_params_make(softqam_params *params, const softqam_demodulator_config *config)
{
    const softqam_output_kind *output = softqam_output_kind_of(config->output_format);
    params->modulation = config->modulation;
    params->input_format = config->input_format;
    params->output_format = config->output_format;
    params->sign = config->sign;
    params->noise = config->noise;
    params->noise_form = config->noise_form;
    params->input_nbytes = softqam_input_symbol_nbytes(config->input_format);
    params->value_nbytes = output->value_nbytes;
    for (int k = 0; k <= N_MODULATIONS; k++)
        params->output_nbytes[k] = (uint8_t)softqam_output_nbytes(config->output_format, (softqam_modulation)k, 1);
    params->input_scale = config->input_scale;
    params->llr_scale = config->llr_scale;
    params->sum_limit = (float)config->llr_limit;
    params->llr_limit = softqam_is_zero(output->largest_llr) ? params->sum_limit : output->largest_llr;
    if (config->llr_limit == 0)
        params->sum_limit = params->llr_limit;
    softqam_soft_table_build(&params->soft_bits, &params->soft_linear, config->sign);
    for (int axis_bits = 0; axis_bits <= MAX_AXIS_BITS; axis_bits++)
        params->llrs[axis_bits] = softqam_llr_table_of(axis_bits);
}
