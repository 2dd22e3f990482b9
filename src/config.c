/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "error.h"

enum {
    MAX_THREADS = 1024,
    MAX_CPUS = 1024,
    MAX_PRIORITY = 99,
    MAX_DEVICES = 64,
    MAX_STREAMS = 64,
    MAX_CHUNK_SYMBOLS = 1 << 28,
    MAX_LLR_LIMIT = 127
};
enum { DEFAULT_STREAMS = 3, DEFAULT_CHUNK_SYMBOLS = 1 << 20 };

/* Far wider than of use, and narrow enough that scale / N0 never vanishes. */
#define MIN_LLR_SCALE 0x1p-10f
#define MAX_LLR_SCALE 0x1p20f

/* Steps per nat. */
#define DEFAULT_LLR_SCALE 6.0f

/* Sizes of the first versions' structures: what every caller has. */
#define MIN_CONFIG_NBYTES         (offsetof(softqam_config, llr_limit) + sizeof(int))
#define MIN_CONTEXT_CONFIG_NBYTES (offsetof(softqam_context_config, cpu_variant) + sizeof(char *))

/* Larger than any version will be: a structure that was never filled. */
#define MAX_CONFIG_NBYTES 4096

/* A newer caller's structure may be larger than ours; fields that are unknown here default to zero. */
static void fill(void *config, size_t struct_nbytes, const void *defaults, size_t defaults_nbytes)
{
    memset(config, 0, struct_nbytes);
    memcpy(config, defaults, struct_nbytes < defaults_nbytes ? struct_nbytes : defaults_nbytes);
}

void softqam_config_init_nbytes(softqam_config *config, size_t struct_nbytes)
{
    const softqam_config defaults = {
        .struct_nbytes = struct_nbytes,
        .modulation = SOFTQAM_MODULATION_256QAM,
        .input_format = SOFTQAM_INPUT_CF32,
        .output_format = SOFTQAM_OUTPUT_U8,
        .noise_form = SOFTQAM_NOISE_FORM_N0,
    };
    if (config)
        fill(config, struct_nbytes, &defaults, sizeof defaults);
}

void softqam_context_config_init_nbytes(softqam_context_config *config, size_t struct_nbytes)
{
    const softqam_context_config defaults = {
        .struct_nbytes = struct_nbytes,
        .backend = SOFTQAM_BACKEND_AUTO,
        .device = -1,
    };
    if (config)
        fill(config, struct_nbytes, &defaults, sizeof defaults);
}

/* Takes over a caller's structure of struct_nbytes, which may be an older or a newer version's, into one of ours that
 * is filled with the defaults. */
static softqam_status read_structure(void *config, size_t nbytes, const void *from, size_t struct_nbytes,
                                     size_t min_nbytes, const char *init)
{
    const unsigned char *bytes = from;
    /* An older version's structure ends where a field does, and so at a multiple of the alignment. */
    if (struct_nbytes < min_nbytes || struct_nbytes > MAX_CONFIG_NBYTES ||
        (struct_nbytes < nbytes && struct_nbytes % _Alignof(size_t) != 0))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                            "config.struct_nbytes is %zu: use %s() to fill a configuration", struct_nbytes, init);
    for (size_t k = nbytes; k < struct_nbytes; k++)
        if (bytes[k] != 0)
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                                "the configuration sets a field that version " SOFTQAM_VERSION " does not know");
    memcpy(config, from, struct_nbytes < nbytes ? struct_nbytes : nbytes);
    return SOFTQAM_OK;
}

/* A demodulator's. */

softqam_status softqam_check_modulation(const char *field, softqam_modulation modulation, softqam_output_format format)
{
    static const char *const names[] = {"", "BPSK", "pi/2-BPSK", "QPSK", "16QAM", "64QAM", "256QAM", "1024QAM"};
    if (softqam_bits_per_symbol(modulation) == 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is %d", field, (int)modulation);
    if (modulation != SOFTQAM_MODULATION_256QAM && format == SOFTQAM_OUTPUT_U8)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is %s: u8 soft bits are those of 256QAM alone", field,
                            names[modulation]);
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
    if (llr_scale == 0.0f)
        return SOFTQAM_OK;
    if (format != SOFTQAM_OUTPUT_S8)
        return llr_scale == 1.0f
                   ? SOFTQAM_OK
                   : softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                                  "%s is %g, not 1, the only scale of this output format", field, (double)llr_scale);
    if (!(llr_scale >= MIN_LLR_SCALE && llr_scale <= MAX_LLR_SCALE))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is %g, not 2^-10 to 2^20", field, (double)llr_scale);
    return SOFTQAM_OK;
}

static softqam_status check_formats(const softqam_config *config)
{
    if (softqam_input_symbol_nbytes(config->input_format) == 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.input_format is %d", (int)config->input_format);
    if ((unsigned)config->output_format > SOFTQAM_OUTPUT_F32)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.output_format is %d", (int)config->output_format);
    const softqam_status status = softqam_check_input_scale("config.input_scale", config->input_scale);
    return status == SOFTQAM_OK
               ? softqam_check_modulation("config.modulation", config->modulation, config->output_format)
               : status;
}

static softqam_status check_llrs(const softqam_config *config)
{
    const bool steps = config->output_format == SOFTQAM_OUTPUT_S8;
    if ((unsigned)config->sign > SOFTQAM_SIGN_POSITIVE_IS_1)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.sign is %d", (int)config->sign);
    if ((unsigned)config->noise > SOFTQAM_NOISE_PER_SYMBOL)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.noise is %d", (int)config->noise);
    if ((unsigned)config->noise_form > SOFTQAM_NOISE_FORM_INVERSE)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.noise_form is %d", (int)config->noise_form);
    if (config->llr_limit < 0 || config->llr_limit > (steps ? MAX_LLR_LIMIT : 0))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.llr_limit is %d, not %s", config->llr_limit,
                            steps ? "1 to 127" : "0, as this output format has none");
    return softqam_check_llr_scale("config.llr_scale", config->llr_scale, config->output_format);
}

/* Puts values for the zeros that stand for a default. */
static void complete_config(softqam_config *config)
{
    if (config->noise_form == SOFTQAM_NOISE_FORM_DEFAULT)
        config->noise_form = SOFTQAM_NOISE_FORM_N0;
    if (config->input_scale == 0.0f)
        config->input_scale = softqam_input_default_scale(config->input_format);
    if (config->llr_scale == 0.0f)
        config->llr_scale = config->output_format == SOFTQAM_OUTPUT_S8 ? DEFAULT_LLR_SCALE : 1.0f;
    if (config->llr_limit == 0)
        config->llr_limit = MAX_LLR_LIMIT;
}

softqam_status softqam_config_resolve(softqam_config *config, const softqam_config *from)
{
    softqam_config_init(config);
    softqam_status status = SOFTQAM_OK;
    if (from)
        status =
            read_structure(config, sizeof *config, from, from->struct_nbytes, MIN_CONFIG_NBYTES, "softqam_config_init");
    if (config->modulation == SOFTQAM_MODULATION_DEFAULT)
        config->modulation = SOFTQAM_MODULATION_256QAM;
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
    if ((unsigned)config->backend > SOFTQAM_BACKEND_CUDA)
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
    softqam_status status = SOFTQAM_OK;
    if (from)
        status = read_structure(config, sizeof *config, from, from->struct_nbytes, MIN_CONTEXT_CONFIG_NBYTES,
                                "softqam_context_config_init");
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
