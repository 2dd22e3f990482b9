/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <float.h>

static float largest_llr(const softqam_config *config)
{
    switch (config->output_format) {
    case SOFTQAM_OUTPUT_F16:
        return 65504.0f;
    case SOFTQAM_OUTPUT_F32:
        return FLT_MAX;
    default:
        return (float)config->llr_limit;
    }
}

void softqam_plan_make(softqam_plan *plan, const softqam_config *config)
{
    plan->input_format = config->input_format;
    plan->output_format = config->output_format;
    plan->input_nbytes = softqam_input_symbol_nbytes(config->input_format);
    plan->output_nbytes = softqam_output_symbol_nbytes(config->output_format);
    plan->input_scale = config->input_scale;
    plan->noise = config->noise;
    softqam_axis_table_build(&plan->soft_bits, config->sign);
    softqam_llr_table_build(&plan->llrs);
    softqam_columns_build(&plan->columns, &plan->soft_bits, &plan->llrs);
    plan->llr_scale.steps_per_nat = config->llr_scale;
    plan->llr_scale.limit = largest_llr(config);
    plan->llr_scale.signs = config->sign == SOFTQAM_SIGN_POSITIVE_IS_1 ? 0x80000000u : 0;
}

softqam_block softqam_plan_block(const softqam_plan *plan, const void *symbols, const float *noise_var,
                                 size_t n_symbols, void *out)
{
    return (softqam_block){
        .n_symbols = n_symbols,
        .symbols = symbols,
        .noise_var = noise_var,
        .noise_stride = plan->noise == SOFTQAM_NOISE_PER_SYMBOL ? 1 : 0,
        .out = out,
    };
}
