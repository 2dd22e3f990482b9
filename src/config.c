/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "params.h"

enum {
    MAX_THREADS = 1024,
    MAX_CPUS = 1024,
    MAX_PRIORITY = 99,
    MAX_DEVICES = 64,
    MAX_STREAMS = 64,
    MAX_CHUNK_SYMBOLS = 1 << 28
};
enum { DEFAULT_STREAMS = 3, DEFAULT_CHUNK_SYMBOLS = 1 << 20 };

/* What an output format takes for llr_scale, in steps per nat, and llr_limit. Scales are far wider than of use, and
 * narrow enough that scale / N0 never vanishes. Formats in nats have a scale of 1. f16's limit is that of sums in soft
 * buffers. */
typedef struct llr_settings {
    float default_scale;
    float min_scale;
    float max_scale;
    const char *scales; /* for messages */
    int max_limit;      /* the default; 0: there is none */
} llr_settings;

static llr_settings llr_settings_of(softqam_output_format format)
{
    switch (format) {
    case SOFTQAM_OUTPUT_S8:
        return (llr_settings){6.0f, 0x1p-10f, 0x1p20f, "2^-10 to 2^20", 127};
    case SOFTQAM_OUTPUT_S16:
        return (llr_settings){64.0f, 0x1p-10f, 0x1p14f, "2^-10 to 2^14", 32767};
    case SOFTQAM_OUTPUT_F16:
        return (llr_settings){1.0f, 1.0f, 1.0f, "1, the only scale of this output format", 65504};
    case SOFTQAM_OUTPUT_F32:
    case SOFTQAM_OUTPUT_U8:
        break;
    }
    return (llr_settings){1.0f, 1.0f, 1.0f, "1, the only scale of this output format", 0};
}

_Static_assert(sizeof(softqam_demodulator_config) == 112 && offsetof(softqam_demodulator_config, llr_limit) == 40 &&
                   offsetof(softqam_demodulator_config, reserved) == 48,
               "softqam_demodulator_config's layout is a promise");
_Static_assert(sizeof(softqam_context_config) == 128 && offsetof(softqam_context_config, devices) == 32 &&
                   offsetof(softqam_context_config, reserved) == 64,
               "softqam_context_config's layout is a promise");

void softqam_demodulator_config_init(softqam_demodulator_config *config)
{
    if (config)
        *config = (softqam_demodulator_config){
            .modulation = SOFTQAM_MODULATION_256QAM,
            .noise_form = SOFTQAM_NOISE_FORM_N0,
        };
}

void softqam_context_config_init(softqam_context_config *config)
{
    if (config)
        *config = (softqam_context_config){.device = -1};
}

static softqam_status check_reserved(uint32_t reserved_word, const uint64_t *reserved, size_t n)
{
    if (reserved_word != 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.reserved_word is %u, not 0",
                            (unsigned)reserved_word);
    for (size_t k = 0; k < n; k++)
        if (reserved[k] != 0)
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.reserved is not 0");
    return SOFTQAM_OK;
}

/* A demodulator's. */

softqam_status softqam_check_modulation(const char *field, softqam_modulation modulation, softqam_output_format format)
{
    if (softqam_bits_per_symbol(modulation) == 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is %d", field, (int)modulation);
    if (modulation != SOFTQAM_MODULATION_256QAM && format == SOFTQAM_OUTPUT_U8)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is %s: u8 soft bits are those of 256QAM alone", field,
                            softqam_modulation_name(modulation));
    return SOFTQAM_OK;
}

softqam_status softqam_check_input_scale(const char *field, float input_scale)
{
    if (!(input_scale >= 0.0f && isfinite(input_scale)))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is %g, not finite and positive", field,
                            (double)input_scale);
    return SOFTQAM_OK;
}

softqam_status softqam_check_llr_scale(const char *field, float llr_scale, softqam_output_format format)
{
    const llr_settings settings = llr_settings_of(format);
    if (llr_scale == 0.0f || (llr_scale >= settings.min_scale && llr_scale <= settings.max_scale))
        return SOFTQAM_OK;
    return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is %g, not %s", field, (double)llr_scale, settings.scales);
}

static softqam_status check_formats(const softqam_demodulator_config *config)
{
    if (!softqam_input_name(config->input_format))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.input_format is %d", (int)config->input_format);
    if (!softqam_output_name(config->output_format))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.output_format is %d", (int)config->output_format);
    const softqam_status status = softqam_check_input_scale("config.input_scale", config->input_scale);
    return status == SOFTQAM_OK
               ? softqam_check_modulation("config.modulation", config->modulation, config->output_format)
               : status;
}

/* Whether an integer has at most 11 significant bits. */
static bool is_half(int value) { return value == 0 || value >> __builtin_ctz((unsigned)value) < 1 << 11; }

static softqam_status check_llrs(const softqam_demodulator_config *config)
{
    const int max_limit = llr_settings_of(config->output_format).max_limit;
    if ((unsigned)config->sign > SOFTQAM_SIGN_POSITIVE_IS_1)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.sign is %d", (int)config->sign);
    if ((unsigned)config->noise > SOFTQAM_NOISE_PER_CALL)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.noise is %d", (int)config->noise);
    if ((unsigned)config->noise_form > SOFTQAM_NOISE_FORM_INVERSE)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.noise_form is %d", (int)config->noise_form);
    if (max_limit == 0 && config->llr_limit != 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                            "config.llr_limit is %d, not 0, as this output format has none", config->llr_limit);
    if (config->llr_limit < 0 || config->llr_limit > max_limit)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.llr_limit is %d, not 1 to %d", config->llr_limit,
                            max_limit);
    if (config->output_format == SOFTQAM_OUTPUT_F16 && !is_half(config->llr_limit))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.llr_limit is %d, which is no binary16 number",
                            config->llr_limit);
    return softqam_check_llr_scale("config.llr_scale", config->llr_scale, config->output_format);
}

/* Puts values for the zeros that stand for a default. */
static void complete_config(softqam_demodulator_config *config)
{
    const llr_settings settings = llr_settings_of(config->output_format);
    if (config->noise_form == SOFTQAM_NOISE_FORM_DEFAULT)
        config->noise_form = SOFTQAM_NOISE_FORM_N0;
    if (config->input_scale == 0.0f)
        config->input_scale = softqam_input_default_scale(config->input_format);
    if (config->llr_scale == 0.0f)
        config->llr_scale = settings.default_scale;
    if (config->llr_limit == 0)
        config->llr_limit = settings.max_limit;
}

softqam_status softqam_demodulator_config_resolve(softqam_demodulator_config *config,
                                                  const softqam_demodulator_config *from)
{
    softqam_demodulator_config_init(config);
    if (from)
        *config = *from;
    if (config->modulation == SOFTQAM_MODULATION_DEFAULT)
        config->modulation = SOFTQAM_MODULATION_256QAM;
    softqam_status status =
        check_reserved(config->reserved_word, config->reserved, sizeof config->reserved / sizeof config->reserved[0]);
    if (status == SOFTQAM_OK)
        status = check_formats(config);
    if (status == SOFTQAM_OK)
        status = check_llrs(config);
    if (status == SOFTQAM_OK)
        complete_config(config);
    return status;
}

/* A context's. */

static softqam_status check_device_list(const softqam_context_config *config)
{
    for (unsigned k = 0; k < config->n_devices; k++) {
        if (config->devices[k] < 0)
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.devices[%u] is %d", k, config->devices[k]);
        for (unsigned other = 0; other < k; other++) {
            if (config->devices[other] == config->devices[k])
                return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.devices names device %d twice",
                                    config->devices[k]);
        }
    }
    return SOFTQAM_OK;
}

static softqam_status check_devices(const softqam_context_config *config)
{
    if (config->device < -1)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.device is %d", config->device);
    if (config->n_devices == 0)
        return config->devices ? softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.devices needs config.n_devices")
                               : SOFTQAM_OK;
    if (config->device != -1)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.device and config.n_devices exclude each other");
    if (config->n_devices == SOFTQAM_ALL_DEVICES)
        return config->devices ? softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                                              "config.devices is given, but config.n_devices means all devices")
                               : SOFTQAM_OK;
    if (!config->devices || config->n_devices > MAX_DEVICES)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.n_devices is %u, %s", config->n_devices,
                            config->devices ? "more than 64" : "but config.devices is NULL");
    return check_device_list(config);
}

static softqam_status check_threads(const softqam_context_config *config)
{
    if (config->n_threads > MAX_THREADS)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.n_threads is %u, more than %d", config->n_threads,
                            MAX_THREADS);
    if (!config->cpus != !config->n_cpus)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.n_cpus is %u, but config.cpus is %s",
                            config->n_cpus, config->cpus ? "not NULL" : "NULL");
    if (config->n_cpus > MAX_CPUS)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.n_cpus is %u, more than %d", config->n_cpus,
                            MAX_CPUS);
    for (unsigned k = 0; k < config->n_cpus; k++)
        if (config->cpus[k] >= MAX_CPUS)
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.cpus[%u] is %u, not 0 to %d", k,
                                config->cpus[k], MAX_CPUS - 1);
    if (config->thread_priority < 0 || config->thread_priority > MAX_PRIORITY)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.thread_priority is %d, not 0 to %d",
                            config->thread_priority, MAX_PRIORITY);
    return SOFTQAM_OK;
}

static softqam_status check_backend(const softqam_context_config *config)
{
    if ((unsigned)config->backend > SOFTQAM_BACKEND_AUTO)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.backend is %d", (int)config->backend);
    if (config->n_streams > MAX_STREAMS)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.n_streams is %u, more than %d", config->n_streams,
                            MAX_STREAMS);
    if (config->chunk_symbols > MAX_CHUNK_SYMBOLS)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.chunk_symbols is %zu, more than %d",
                            config->chunk_symbols, MAX_CHUNK_SYMBOLS);
    return SOFTQAM_OK;
}

softqam_status softqam_context_config_resolve(softqam_context_config *config, const softqam_context_config *from)
{
    softqam_context_config_init(config);
    if (from)
        *config = *from;
    softqam_status status =
        check_reserved(config->reserved_word, config->reserved, sizeof config->reserved / sizeof config->reserved[0]);
    if (status == SOFTQAM_OK)
        status = check_backend(config);
    if (status == SOFTQAM_OK)
        status = check_threads(config);
    if (status == SOFTQAM_OK)
        status = check_devices(config);
    if (config->n_streams == 0)
        config->n_streams = DEFAULT_STREAMS;
    if (config->chunk_symbols == 0)
        config->chunk_symbols = DEFAULT_CHUNK_SYMBOLS;
    return status;
}
