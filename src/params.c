/* SPDX-License-Identifier: MIT */
#include "params.h"

#include <float.h>
#include <math.h>

#define INPUT_ROW(value, ...)        [SOFTQAM_INPUT_##value] = {__VA_ARGS__},
#define INPUT_CASE(value, ...)       case SOFTQAM_INPUT_##value:
#define OUTPUT_ROW(value, ...)       [SOFTQAM_OUTPUT_##value] = {__VA_ARGS__},
#define OUTPUT_CASE(value, ...)      case SOFTQAM_OUTPUT_##value:
#define MODULATION_NAME(value, name) [SOFTQAM_MODULATION_##value] = (name),
#define MODULATION_CASE(value, name) case SOFTQAM_MODULATION_##value:

/* By switches, which the compiler holds against the enumerations. */

const softqam_input_kind *softqam_input_kind_of(softqam_input_format format)
{
    static const softqam_input_kind kinds[] = {INPUT_FORMAT_LIST(INPUT_ROW)};
    switch (format) {
        INPUT_FORMAT_LIST(INPUT_CASE)
        return &kinds[format];
    }
    return NULL;
}

const softqam_output_kind *softqam_output_kind_of(softqam_output_format format)
{
    static const softqam_output_kind kinds[] = {OUTPUT_FORMAT_LIST(OUTPUT_ROW)};
    switch (format) {
        OUTPUT_FORMAT_LIST(OUTPUT_CASE)
        return &kinds[format];
    }
    return NULL;
}

const char *softqam_modulation_name(softqam_modulation modulation)
{
    static const char *const names[] = {MODULATION_LIST(MODULATION_NAME)};
    switch (modulation) {
        MODULATION_LIST(MODULATION_CASE)
        return names[modulation];
    case SOFTQAM_MODULATION_DEFAULT:
        break;
    }
    return NULL;
}

unsigned softqam_bits_per_symbol(softqam_modulation modulation)
{
    if (modulation == SOFTQAM_MODULATION_DEFAULT)
        modulation = SOFTQAM_MODULATION_256QAM;
    return softqam_modulation_name(modulation) ? softqam_symbol_bits(modulation) : 0;
}

size_t softqam_input_symbol_nbytes(softqam_input_format format)
{
    const softqam_input_kind *kind = softqam_input_kind_of(format);
    return kind ? kind->symbol_nbytes : 0;
}

float softqam_input_default_scale(softqam_input_format format)
{
    const softqam_input_kind *kind = softqam_input_kind_of(format);
    return kind ? kind->default_scale : 0.0f;
}

size_t softqam_output_nbytes(softqam_output_format format, softqam_modulation modulation, size_t n_symbols)
{
    const softqam_output_kind *kind = softqam_output_kind_of(format);
    size_t nbytes;
    if (!kind || __builtin_mul_overflow(n_symbols, softqam_bits_per_symbol(modulation) * kind->value_nbytes, &nbytes))
        return 0;
    return nbytes;
}

void softqam_params_make(softqam_params *params, const softqam_demodulator_config *config)
{
    const softqam_output_kind *output = softqam_output_kind_of(config->output_format);
    const float limit = (float)config->llr_limit;
    *params = (softqam_params){
        .modulation = config->modulation,
        .input_format = config->input_format,
        .output_format = config->output_format,
        .sign = config->sign,
        .noise = config->noise,
        .noise_form = config->noise_form,
        .input_nbytes = softqam_input_symbol_nbytes(config->input_format),
        .value_nbytes = output->value_nbytes,
        .input_scale = config->input_scale,
        .llr_scale = config->llr_scale,
        .llr_limit = softqam_is_zero(output->largest_llr) ? limit : output->largest_llr,
        .sum_limit = config->llr_limit ? limit : output->largest_llr,
    };
    for (int k = 0; k <= N_MODULATIONS; k++)
        params->output_nbytes[k] = (uint8_t)softqam_output_nbytes(config->output_format, (softqam_modulation)k, 1);
    softqam_soft_table_build(&params->soft_bits, &params->soft_linear, config->sign);
    for (int axis_bits = 0; axis_bits <= MAX_AXIS_BITS; axis_bits++)
        params->llrs[axis_bits] = softqam_llr_table_of(axis_bits);
}
