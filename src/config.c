/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* sched_getaffinity */
#include "config.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "cpu_variant.h"
#include "error.h"

enum { MAX_THREADS = 1024, MAX_DEVICES = 64, MAX_STREAMS = 64, MAX_CHUNK_SYMBOLS = 1 << 28, MAX_LLR_LIMIT = 127 };
enum { DEFAULT_STREAMS = 3, DEFAULT_CHUNK_SYMBOLS = 1 << 20 };

/* Far wider than of use, and narrow enough that scale / N0 never vanishes. */
#define MIN_LLR_SCALE 0x1p-10f
#define MAX_LLR_SCALE 0x1p20f

/* Steps per nat. */
#define DEFAULT_LLR_SCALE 6.0f

/* Size of the first version's structure: what every caller has. */
#define MIN_CONFIG_NBYTES (offsetof(softqam_config, chunk_symbols) + sizeof(size_t))

/* Larger than any version will be: a structure that was never filled. */
#define MAX_CONFIG_NBYTES 4096

void softqam_config_init_nbytes(softqam_config *config, size_t struct_nbytes)
{
    if (!config)
        return;
    softqam_config defaults = {
        .struct_nbytes = struct_nbytes,
        .backend = SOFTQAM_BACKEND_AUTO,
        .constellation = SOFTQAM_CONSTELLATION_256QAM,
        .input_format = SOFTQAM_INPUT_CF32,
        .output_format = SOFTQAM_OUTPUT_U8,
        .device = -1,
    };
    /* A newer caller's structure may be larger; fields unknown here default to zero. */
    memset(config, 0, struct_nbytes);
    memcpy(config, &defaults, struct_nbytes < sizeof defaults ? struct_nbytes : sizeof defaults);
}

static unsigned cpus_of_this_thread(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    const int n = CPU_COUNT(&set);
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

/* Takes over the caller's configuration, whose structure may be an older or a newer version's. */
static softqam_status read_config(softqam_config *config, const softqam_config *from)
{
    softqam_config_init(config);
    if (!from)
        return SOFTQAM_OK;
    /* An older version's structure ends where a field does, and so at a multiple of the alignment. */
    if (from->struct_nbytes < MIN_CONFIG_NBYTES || from->struct_nbytes > MAX_CONFIG_NBYTES ||
        (from->struct_nbytes < sizeof *config && from->struct_nbytes % _Alignof(softqam_config) != 0))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                            "config.struct_nbytes is %zu: use softqam_config_init() to fill a configuration",
                            from->struct_nbytes);
    const unsigned char *bytes = (const unsigned char *)from;
    for (size_t k = sizeof *config; k < from->struct_nbytes; k++) {
        if (bytes[k] != 0)
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                                "the configuration sets a field that version " SOFTQAM_VERSION " does not know");
    }
    memcpy(config, from, from->struct_nbytes < sizeof *config ? from->struct_nbytes : sizeof *config);
    config->struct_nbytes = sizeof *config;
    return SOFTQAM_OK;
}

static softqam_status check_formats(const softqam_config *config)
{
    if ((unsigned)config->backend > SOFTQAM_BACKEND_CUDA)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.backend is %d", (int)config->backend);
    if (config->constellation != SOFTQAM_CONSTELLATION_256QAM)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.constellation is %d", (int)config->constellation);
    if (softqam_input_symbol_nbytes(config->input_format) == 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.input_format is %d", (int)config->input_format);
    if (softqam_output_symbol_nbytes(config->output_format) == 0)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.output_format is %d", (int)config->output_format);
    if (!(config->input_scale >= 0.0f && isfinite(config->input_scale)))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.input_scale is %g, not finite and positive",
                            (double)config->input_scale);
    return SOFTQAM_OK;
}

static softqam_status check_llrs(const softqam_config *config)
{
    const bool steps = config->output_format == SOFTQAM_OUTPUT_S8;
    if ((unsigned)config->sign > SOFTQAM_SIGN_POSITIVE_IS_1)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.sign is %d", (int)config->sign);
    if ((unsigned)config->noise > SOFTQAM_NOISE_PER_SYMBOL)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.noise is %d", (int)config->noise);
    if (!(config->llr_scale == 0.0f || (steps ? config->llr_scale >= MIN_LLR_SCALE && config->llr_scale <= MAX_LLR_SCALE
                                              : config->llr_scale == 1.0f)))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.llr_scale is %g, not %s", (double)config->llr_scale,
                            steps ? "2^-10 to 2^20" : "1, the only scale of this output format");
    if (config->llr_limit < 0 || config->llr_limit > (steps ? MAX_LLR_LIMIT : 0))
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.llr_limit is %d, not %s", config->llr_limit,
                            steps ? "1 to 127" : "0, as this output format has none");
    return SOFTQAM_OK;
}

static softqam_status check_devices(const softqam_config *config)
{
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

/* Also puts the name of the variant that is meant for the one given, which is the caller's. */
static softqam_status check_resources(softqam_config *config)
{
    if (config->n_threads > MAX_THREADS)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.n_threads is %u, more than %d", config->n_threads,
                            MAX_THREADS);
    if (config->device < -1)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.device is %d", config->device);
    const softqam_status devices = check_devices(config);
    if (devices != SOFTQAM_OK)
        return devices;
    if (config->n_streams > MAX_STREAMS)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.n_streams is %u, more than %d", config->n_streams,
                            MAX_STREAMS);
    if (config->chunk_symbols > MAX_CHUNK_SYMBOLS)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.chunk_symbols is %zu, more than %d",
                            config->chunk_symbols, MAX_CHUNK_SYMBOLS);
    const softqam_cpu_variant *variant;
    const softqam_status status = softqam_cpu_variant_choose(&variant, config->cpu_variant);
    if (status == SOFTQAM_OK)
        config->cpu_variant = variant->name;
    return status;
}

/* Puts numbers for the zeros that stand for a default. */
static void complete_config(softqam_config *config)
{
    if (config->input_scale == 0.0f)
        config->input_scale = softqam_input_default_scale(config->input_format);
    if (config->n_threads == 0)
        config->n_threads = cpus_of_this_thread();
    if (config->llr_scale == 0.0f)
        config->llr_scale = config->output_format == SOFTQAM_OUTPUT_S8 ? DEFAULT_LLR_SCALE : 1.0f;
    if (config->llr_limit == 0)
        config->llr_limit = MAX_LLR_LIMIT;
    if (config->n_streams == 0)
        config->n_streams = DEFAULT_STREAMS;
    if (config->chunk_symbols == 0)
        config->chunk_symbols = DEFAULT_CHUNK_SYMBOLS;
}

softqam_status softqam_config_resolve(softqam_config *config, const softqam_config *from)
{
    softqam_status status = read_config(config, from);
    if (status == SOFTQAM_OK)
        status = check_formats(config);
    if (status == SOFTQAM_OK)
        status = check_llrs(config);
    if (status == SOFTQAM_OK)
        status = check_resources(config);
    if (status == SOFTQAM_OK)
        complete_config(config);
    return status;
}
