/* SPDX-License-Identifier: MIT */
/* What depends on more than one option, and on the names of files. */
#include <inttypes.h>
#include <unistd.h>

#include "common/arguments.h"
#include "common/file_name.h"
#include "common/message.h"
#include "common/modulation.h"
#include "common/sample_format.h"
#include "common/sigmf.h"
#include "common/verify.h"
#include "options.h"

/* What softqam.h says of llr_scale and llr_limit: the ranges, and what a 0 stands for; all 0 where there are none. */
struct llr_settings {
    double max_scale; /* the least is 1/1024 */
    float default_scale;
    unsigned max_limit; /* the default */
};

static struct llr_settings llr_settings_of(softqam_output_format format)
{
    switch (format) {
    case SOFTQAM_OUTPUT_S8:
        return (struct llr_settings){1048576, 6, 127};
    case SOFTQAM_OUTPUT_S16:
        return (struct llr_settings){16384, 64, 32767};
    case SOFTQAM_OUTPUT_F16:
    case SOFTQAM_OUTPUT_F32:
    case SOFTQAM_OUTPUT_U8:
        break;
    }
    return (struct llr_settings){0, 0, 0};
}

static bool is_same_descriptor(const char *path, const char *other)
{
    const int fd = file_name_descriptor(path, STDIN_FILENO);
    return fd >= 0 && fd == file_name_descriptor(other, STDIN_FILENO);
}

static bool is_decisions(enum output_kind kind) { return kind == OUTPUT_HARD || kind == OUTPUT_BITS; }

static bool is_llrs(enum output_kind kind) { return kind != OUTPUT_U8 && !is_decisions(kind); }

static bool check_noise(const struct demod_options *options)
{
    const char *format = sample_format_name(options->output_kind);
    const bool takes_noise = is_llrs(options->output_kind);
    if (!takes_noise && options->raw.noise_option)
        message_print(options->raw.noise_option, "only for LLRs; %s takes no noise variance", format);
    else if (takes_noise && !options->raw.noise_option)
        message_print(NULL, "output format %s needs a noise variance: --noise-var, --snr-db or --noise-file", format);
    else if (options->noise == NOISE_FILE && is_same_descriptor(options->noise_file, options->input))
        message_print("--noise-file", "'%s' is INPUT as well", options->noise_file);
    else if (options->compared_bits && is_same_descriptor(options->compared_bits, options->input))
        message_print("--compare", "'%s' is INPUT as well", options->compared_bits);
    else if (options->compared_bits && options->noise == NOISE_FILE &&
             is_same_descriptor(options->compared_bits, options->noise_file))
        message_print("--compare", "'%s' is --noise-file as well", options->compared_bits);
    else
        return true;
    return false;
}

static bool check_sign(const struct demod_options *options)
{
    if (is_decisions(options->output_kind) && options->config.sign != SOFTQAM_SIGN_POSITIVE_IS_0)
        message_print("--sign", "only for soft bits and LLRs; %s is bits", sample_format_name(options->output_kind));
    else
        return true;
    return false;
}

/* A code block begins at every so many symbols of INPUT and of what --skip leaves. */
static bool check_planes(const struct demod_options *options)
{
    if (options->plane_symbols == 0 || options->skip % options->plane_symbols == 0)
        return true;
    message_print("--planes", "--skip %" PRIu64 " is not a multiple of the %" PRIu64 " symbols of a code block",
                  options->skip, options->plane_symbols);
    return false;
}

static bool check_verify(bool wanted)
{
    if (!wanted || verify_is_available())
        return true;
    message_print("--verify", "this softqam-demod was built without the reference, which liquid-dsp is part of");
    return false;
}

/* The scale and the limit of LLRs that are integers: as given, or the default. */
static bool choose_llr_steps(struct demod_options *options)
{
    static const char scale_option[] = "--llr-scale", limit_option[] = "--llr-limit";
    const struct llr_settings settings = llr_settings_of(options->config.output_format);
    double scale = (double)settings.default_scale;
    uint64_t limit = settings.max_limit;
    if (settings.max_limit == 0 && (options->raw.llr_scale || options->raw.llr_limit)) {
        message_print(options->raw.llr_scale ? scale_option : limit_option, "only for output formats s8 and s16");
        return false;
    }
    if ((options->raw.llr_scale &&
         !arguments_parse_ratio_in(scale_option, options->raw.llr_scale, 1.0 / 1024, settings.max_scale, &scale)) ||
        (options->raw.llr_limit &&
         !arguments_parse_count(limit_option, options->raw.llr_limit, 1, settings.max_limit, &limit)))
        return false;
    options->config.llr_scale = (float)scale;
    options->config.llr_limit = (int)limit;
    return true;
}

static bool check_device(const struct demod_options *options)
{
    const softqam_context_config *config = &options->context_config;
    if (config->backend != SOFTQAM_BACKEND_CPU || (config->device < 0 && config->n_devices == 0))
        return true;
    message_print("--device", "contradicts --backend cpu");
    return false;
}

/* An INPUT whose format is named is plain samples, which of SigMF's files only the data are. */
static bool choose_sigmf(struct demod_options *options)
{
    const char *unsupported = sigmf_name_unsupported(options->input);
    options->input_is_sigmf = !options->raw.input_format && sigmf_name_is_recording(options->input);
    if (unsupported)
        message_print(options->input, "%s; give the .sigmf-meta of a recording", unsupported);
    else if (options->raw.input_format && sigmf_name_is_metadata(options->input))
        message_print(options->input, "metadata of SigMF, not samples; give the .sigmf-data, or drop --input-format");
    else
        return true;
    return false;
}

/* A recording's is in its metadata, whatever suffix its name has. */
static bool choose_input_format(struct demod_options *options)
{
    if (options->input_is_sigmf)
        return true;
    const int format =
        sample_format_choose(FILE_SYMBOLS_IN, "--input-format", options->raw.input_format, options->input);
    if (format < 0)
        return false;
    options->input_format = (enum file_format)format;
    options->config.input_format = file_format_library(options->input_format);
    return true;
}

static bool choose_output_format(struct demod_options *options)
{
    const int kind =
        sample_format_choose(FILE_SOFT_BITS, "--output-format", options->raw.output_format, options->output);
    if (kind < 0)
        return false;
    options->output_kind = (enum output_kind)kind;
    options->config.output_format = sample_format_library(options->output_kind);
    /* The signs of LLRs are the same for any noise. */
    if (is_decisions(options->output_kind) && !options->raw.noise_option)
        options->noise = NOISE_UNIT;
    return true;
}

bool demod_rules_check_format(const struct demod_options *options, softqam_modulation modulation, bool descrambles,
                              const char *modulation_subject, const char *c_init_subject)
{
    static const char cause[] = "has no soft bits u8; choose LLRs, hard or bits with --output-format";
    if (options->output_kind != OUTPUT_U8)
        return true;
    if (modulation != SOFTQAM_MODULATION_DEFAULT && modulation != SOFTQAM_MODULATION_256QAM)
        message_print(modulation_subject, "%s %s", modulation_get(modulation)->option, cause);
    else if (descrambles)
        message_print(c_init_subject, "what is descrambled %s", cause);
    else if (options->plane_symbols > 0)
        message_print("--planes", "what comes out as bit planes %s", cause);
    else
        return true;
    return false;
}

bool demod_rules_complete(struct demod_options *options)
{
    softqam_demodulator_config *config = &options->config;
    if (!choose_sigmf(options) || !choose_input_format(options) || !choose_output_format(options) ||
        !demod_rules_check_format(options, config->modulation, options->descrambles, "--modulation", "--c-init") ||
        !check_planes(options) || !choose_llr_steps(options) || !check_noise(options) || !check_sign(options) ||
        !check_verify(options->verify) || !check_device(options))
        return false;
    options->ignore_partial = options->raw.partial != 0;
    if (config->input_scale == 0 && !options->input_is_sigmf)
        config->input_scale = file_format_default_scale(options->input_format);
    config->noise = options->noise == NOISE_FILE ? SOFTQAM_NOISE_PER_SYMBOL : SOFTQAM_NOISE_PER_CALL;
    options->show_progress = options->raw.progress == PROGRESS_ALWAYS ||
                             (options->raw.progress == PROGRESS_AUTO && !options->quiet && isatty(STDERR_FILENO));
    return true;
}
