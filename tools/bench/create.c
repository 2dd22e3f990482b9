/* SPDX-License-Identifier: MIT */
#include "create.h"

#include "common/sample_format.h"

softqam_context_config bench_context_config(softqam_backend backend, unsigned n_threads)
{
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = backend;
    config.n_threads = n_threads;
    return config;
}

softqam_demodulator_config bench_config(softqam_modulation modulation, softqam_input_format input,
                                        softqam_output_format output, softqam_noise noise)
{
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.modulation = modulation;
    config.input_format = input;
    config.output_format = output;
    config.noise = noise;
    return config;
}

softqam_status bench_create(softqam_demodulator **demodulator, softqam_context_config context_config,
                            const softqam_demodulator_config *config)
{
    softqam_demodulator_config with_context =
        config ? *config
               : bench_config(SOFTQAM_MODULATION_256QAM, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL);
    softqam_context *context;
    *demodulator = NULL;
    softqam_status status = softqam_context_create(&context, &context_config);
    if (status != SOFTQAM_OK)
        return status;
    with_context.context = context;
    status = softqam_demodulator_create(demodulator, &with_context);
    softqam_context_destroy(context);
    return status;
}

const char *bench_input_name(softqam_input_format format) { return sample_format_input_name((enum file_format)format); }

float bench_input_scale(softqam_input_format format)
{
    const float scale = softqam_input_default_scale(format);
    return scale < 1 ? 2 * scale : scale;
}
