/* SPDX-License-Identifier: MIT */
#include "create.h"

#include <string.h>

#include "common/transmitter.h"

#define LLR_FORMAT(value, name) SOFTQAM_OUTPUT_##value,
const softqam_output_format bench_llr_formats[BENCH_N_LLR_FORMATS] = {LLR_FORMAT_LIST(LLR_FORMAT)};

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

bool bench_has_noise(const softqam_demodulator_config *config)
{
    return config->output_format != SOFTQAM_OUTPUT_U8 && config->noise == SOFTQAM_NOISE_PER_SYMBOL;
}

size_t bench_out_nbytes(const softqam_demodulator_config *config, size_t n_symbols)
{
    return softqam_output_nbytes(config->output_format, config->modulation, n_symbols);
}

size_t bench_symbol_nbytes(const softqam_demodulator_config *config)
{
    return softqam_input_symbol_nbytes(config->input_format) + bench_out_nbytes(config, 1) +
           (bench_has_noise(config) ? sizeof(float) : 0);
}

const char *bench_input_name(softqam_input_format format)
{
    static const char *const names[] = {[SOFTQAM_INPUT_CF32] = "cf32",
                                        [SOFTQAM_INPUT_CS16] = "cs16",
                                        [SOFTQAM_INPUT_CS8] = "cs8",
                                        [SOFTQAM_INPUT_CF16] = "cf16"};
    return names[format];
}

float bench_input_scale(softqam_input_format format)
{
    const float scale = softqam_input_default_scale(format);
    return scale < 1 ? 2 * scale : scale;
}

void bench_fill(softqam_modulation modulation, void *symbols, size_t n_symbols, double snr_db,
                softqam_input_format format)
{
    struct transmitter transmitter;
    transmitter_init(&transmitter, modulation, 1, snr_db, format, (double)bench_input_scale(format));
    transmitter_generate(&transmitter, 0, n_symbols, symbols, NULL);
}

void bench_fill_large(softqam_modulation modulation, float *symbols, size_t n_symbols)
{
    enum { DIFFERENT = 1 << 22 }; /* an even number, for pi/2-BPSK */
    bench_fill(modulation, symbols, n_symbols < DIFFERENT ? n_symbols : DIFFERENT, 28.0, SOFTQAM_INPUT_CF32);
    for (size_t first = DIFFERENT; first < n_symbols; first += DIFFERENT)
        memcpy(symbols + 2 * first, symbols, 8 * (n_symbols - first < DIFFERENT ? n_symbols - first : DIFFERENT));
}
