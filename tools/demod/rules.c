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
static const struct {
    double max_scale; /* the least is 1/1024 */
    float default_scale;
    unsigned max_limit; /* the default */
} llr_settings[N_LIBRARY_FORMATS] = {
    [SOFTQAM_OUTPUT_S8] = {1048576, 6, 127}, [SOFTQAM_OUTPUT_S16] = {16384, 64, 32767}};
_Static_assert(N_LIBRARY_FORMATS == 5, "those of integers");

static bool is_same_descriptor(const char *path, const char *other)
{
    const int fd = file_name_descriptor(path, STDIN_FILENO);
    return fd >= 0 && fd == file_name_descriptor(other, STDIN_FILENO);
}

static bool is_decisions(enum output_kind kind) { return kind == OUTPUT_HARD || kind == OUTPUT_BITS; }

static bool is_llrs(enum output_kind kind) { return kind != OUTPUT_U8 && !is_decisions(kind); }

static bool check_noise(const struct demod_options *options)
{
    const char *format = sample_format_name(options->output_kind), *option = options->raw.noise_option;
    const char *noise = options->noise == NOISE_FILE ? options->noise_file : NULL, *bits = options->compared_bits;
    const bool takes_noise = is_llrs(options->output_kind);
    if (!takes_noise && option)
        return message_print(option, "only for LLRs; %s takes no noise variance", format);
    if (takes_noise && !option)
        return message_print(NULL, "output format %s needs a noise variance: --noise-var, --snr-db or --noise-file",
                             format);
    if (noise && is_same_descriptor(noise, options->input))
        return message_print("--noise-file", "'%s' is INPUT as well", noise);
    if (bits && is_same_descriptor(bits, options->input))
        return message_print("--compare", "'%s' is INPUT as well", bits);
    return !bits || !noise || !is_same_descriptor(bits, noise) ||
           message_print("--compare", "'%s' is --noise-file as well", bits);
}

/* What an option says that does not go with another one, or with this build. */
static bool check_combinations(const struct demod_options *options)
{
    const softqam_context_config *context = &options->context_config;
    if (is_decisions(options->output_kind) && options->config.sign != SOFTQAM_SIGN_POSITIVE_IS_0)
        return message_print("--sign", "only for soft bits and LLRs; %s is bits",
                             sample_format_name(options->output_kind));
    /* A code block begins at every so many symbols of INPUT and of what --skip leaves. */
    if (options->plane_symbols > 0 && options->skip % options->plane_symbols != 0)
        return message_print("--planes",
                             "--skip %" PRIu64 " is not a multiple of the %" PRIu64 " symbols of a code block",
                             options->skip, options->plane_symbols);
    if (options->verify && !verify_is_available())
        return message_print("--verify",
                             "this softqam-demod was built without the reference, which liquid-dsp is part of");
    return context->backend != SOFTQAM_BACKEND_CPU || (context->device < 0 && context->n_devices == 0) ||
           message_print("--device", "contradicts --backend cpu");
}

/* The scale and the limit of LLRs that are integers: as given, or the default. */
static bool choose_llr_steps(struct demod_options *options)
{
    static const char scale_option[] = "--llr-scale", limit_option[] = "--llr-limit";
    const softqam_output_format format = options->config.output_format;
    const unsigned max_limit = llr_settings[format].max_limit;
    double scale = (double)llr_settings[format].default_scale;
    uint64_t limit = max_limit;
    if (max_limit == 0 && (options->raw.llr_scale || options->raw.llr_limit))
        return message_print(options->raw.llr_scale ? scale_option : limit_option,
                             "only for output formats s8 and s16");
    if ((options->raw.llr_scale && !arguments_parse_ratio_in(scale_option, options->raw.llr_scale, 1.0 / 1024,
                                                             llr_settings[format].max_scale, &scale)) ||
        (options->raw.llr_limit && !arguments_parse_count(limit_option, options->raw.llr_limit, 1, max_limit, &limit)))
        return false;
    options->config.llr_scale = (float)scale;
    options->config.llr_limit = (int)limit;
    return true;
}

/* An INPUT whose format is named is plain samples, which of SigMF's files only the data are. A recording's format is in
 * its metadata, whatever suffix its name has. */
static bool choose_input_format(struct demod_options *options)
{
    const char *unsupported = sigmf_name_unsupported(options->input), *named = options->raw.input_format;
    options->input_is_sigmf = !named && sigmf_name_is_recording(options->input);
    if (unsupported)
        return message_print(options->input, "%s; give the .sigmf-meta of a recording", unsupported);
    if (named && sigmf_name_is_metadata(options->input))
        return message_print(options->input,
                             "metadata of SigMF, not samples; give the .sigmf-data, or drop --input-format");
    if (options->input_is_sigmf)
        return true;
    const int format = sample_format_choose(FILE_SYMBOLS_IN, "--input-format", named, options->input);
    if (format < 0)
        return false;
    options->input_format = (enum file_format)format;
    options->config.input_format = file_format_library(options->input_format);
    if (options->config.input_scale == 0)
        options->config.input_scale = file_format_default_scale(options->input_format);
    return true;
}

static bool choose_output_format(struct demod_options *options)
{
    const int kind =
        sample_format_choose(FILE_SOFT_BITS, "--output-format", options->raw.output_format, options->output);
    if (kind < 0)
        return false;
    options->output_kind = (enum output_kind)kind;
    options->config.output_format = (softqam_output_format)kind;
    if (!is_decisions(options->output_kind))
        return true;
    /* The signs of LLRs are the same in all formats, and for any noise. */
    options->config.output_format = SOFTQAM_OUTPUT_F32;
    if (!options->raw.noise_option)
        options->noise = NOISE_UNIT;
    return true;
}

bool demod_rules_check_format(const struct demod_options *options, softqam_modulation modulation, bool descrambles,
                              const char *subject)
{
    static const char cause[] = "has no soft bits u8; choose LLRs, hard or bits with --output-format";
    if (options->output_kind != OUTPUT_U8)
        return true;
    if (modulation != SOFTQAM_MODULATION_DEFAULT && modulation != SOFTQAM_MODULATION_256QAM)
        return message_print(subject ? subject : "--modulation", "%s %s", modulation_get(modulation)->option, cause);
    if (descrambles)
        return message_print(subject ? subject : "--c-init", "what is descrambled %s", cause);
    return options->plane_symbols == 0 || message_print("--planes", "what comes out as bit planes %s", cause);
}

bool demod_rules_complete(struct demod_options *options)
{
    softqam_demodulator_config *config = &options->config;
    if (!choose_input_format(options) || !choose_output_format(options) ||
        !demod_rules_check_format(options, config->modulation, options->descrambles, NULL) ||
        !choose_llr_steps(options) || !check_noise(options) || !check_combinations(options))
        return false;
    config->noise = options->noise == NOISE_FILE ? SOFTQAM_NOISE_PER_SYMBOL : SOFTQAM_NOISE_PER_CALL;
    options->show_progress = options->raw.progress == PROGRESS_ALWAYS ||
                             (options->raw.progress == PROGRESS_AUTO && !options->quiet && isatty(STDERR_FILENO));
    return true;
}
