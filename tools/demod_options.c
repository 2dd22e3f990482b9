/* SPDX-License-Identifier: MIT */
#include "demod_options.h"

#include "arguments.h"
#include "file_name.h"
#include "message.h"
#include "normal.h"
#include "sample_format.h"
#include "sigmf.h"
#include "sigmf_name.h"
#include "verify.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Ranges that softqam.h gives. */
enum {
    MAX_THREADS = 1024,
    MAX_DEVICES = 64,
    MAX_STREAMS = 64,
    MAX_CHUNK_SYMBOLS = 1 << 28,
    MAX_LLR_LIMIT = 127,
    MAX_SHARDS = 1000000
};

static const double min_llr_scale = 1.0 / 1024, max_llr_scale = 1048576;

/* What softqam.h says a 0 in the configuration stands for. */
static const float default_llr_scale = 6;

/* What options without a letter return. */
enum {
    OPTION_INPUT_SCALE = 256,
    OPTION_BACKEND,
    OPTION_DEVICE,
    OPTION_THREADS,
    OPTION_STREAMS,
    OPTION_CHUNK,
    OPTION_VERIFY,
    OPTION_STATS,
    OPTION_PROGRESS,
    OPTION_NOISE_VAR,
    OPTION_SNR_DB,
    OPTION_NOISE_FILE,
    OPTION_LLR_SCALE,
    OPTION_LLR_LIMIT,
    OPTION_SIGN,
    OPTION_SHARD,
    OPTION_SIGMF,
    OPTION_NO_SIGMF,
    OPTION_NO_HASH
};

static const char short_options[] = ":i:o:qhV";

static const struct option long_options[] = {{"input-format", required_argument, NULL, 'i'},
                                             {"output-format", required_argument, NULL, 'o'},
                                             {"input-scale", required_argument, NULL, OPTION_INPUT_SCALE},
                                             {"noise-var", required_argument, NULL, OPTION_NOISE_VAR},
                                             {"snr-db", required_argument, NULL, OPTION_SNR_DB},
                                             {"noise-file", required_argument, NULL, OPTION_NOISE_FILE},
                                             {"llr-scale", required_argument, NULL, OPTION_LLR_SCALE},
                                             {"llr-limit", required_argument, NULL, OPTION_LLR_LIMIT},
                                             {"sign", required_argument, NULL, OPTION_SIGN},
                                             {"backend", required_argument, NULL, OPTION_BACKEND},
                                             {"device", required_argument, NULL, OPTION_DEVICE},
                                             {"threads", required_argument, NULL, OPTION_THREADS},
                                             {"streams", required_argument, NULL, OPTION_STREAMS},
                                             {"chunk", required_argument, NULL, OPTION_CHUNK},
                                             {"sigmf", no_argument, NULL, OPTION_SIGMF},
                                             {"no-sigmf", no_argument, NULL, OPTION_NO_SIGMF},
                                             {"verify", no_argument, NULL, OPTION_VERIFY},
                                             {"stats", no_argument, NULL, OPTION_STATS},
                                             {"progress", required_argument, NULL, OPTION_PROGRESS},
                                             {"quiet", no_argument, NULL, 'q'},
                                             {"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, 'V'},
                                             {"shard", required_argument, NULL, OPTION_SHARD},
                                             {"no-hash", no_argument, NULL, OPTION_NO_HASH},
                                             {NULL, 0, NULL, 0}};

/* At the end of the list: those that softqam-demod-mpi does not have. */
enum { N_PLAIN_OPTIONS = 2, N_OPTIONS = sizeof long_options / sizeof long_options[0] - 1 };

/* Options whose values wait until all options are known. */
struct raw_options {
    const char *input_format;
    const char *output_format;
    const char *noise_option; /* that says where the noise variances come from, as the user knows it; NULL for none */
    const char *llr_option;   /* the same for an option that is for s8 only */
    int sigmf_option;         /* OPTION_SIGMF or OPTION_NO_SIGMF; 0 for neither */
    int progress;             /* place in progress_names */
};

static const char *const backend_names[] = {"auto", "cpu", "cuda", NULL}; /* in the order of softqam_backend */
static const char *const sign_names[] = {"0", "1", NULL};                 /* in the order of softqam_sign */
static const char *const progress_names[] = {"auto", "always", "never", NULL};
enum { PROGRESS_AUTO, PROGRESS_ALWAYS };

/* A number, numbers with commas between them, or "all". */
static bool parse_devices(const char *text, softqam_config *config)
{
    static const char option[] = "--device";
    static int devices[MAX_DEVICES];
    config->device = -1;
    config->devices = NULL;
    config->n_devices = 0;
    if (!strcmp(text, "all")) {
        config->n_devices = SOFTQAM_ALL_DEVICES;
        return true;
    }
    unsigned n = 0;
    for (const char *rest = text; rest; n++) {
        char one[16];
        uint64_t device = 0;
        const size_t length = strcspn(rest, ",");
        snprintf(one, sizeof one, "%.*s", (int)(length < sizeof one ? length : sizeof one), rest);
        if (!arguments_parse_count(option, one, 0, INT_MAX, &device))
            return false;
        if (n == MAX_DEVICES) {
            message_print(option, "more than %d devices", MAX_DEVICES);
            return false;
        }
        for (unsigned k = 0; k < n; k++) {
            if (devices[k] == (int)device) {
                message_print(option, "'%s' names device %d twice", text, devices[k]);
                return false;
            }
        }
        devices[n] = (int)device;
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    if (n == 1) {
        config->device = devices[0];
        return true;
    }
    config->devices = devices;
    config->n_devices = n;
    return true;
}

static bool parse_scale(const char *text, softqam_config *config)
{
    double scale = 0;
    if (!arguments_parse_ratio("--input-scale", text, &scale))
        return false;
    config->input_scale = (float)scale;
    return true;
}

static bool parse_backend(const char *text, softqam_config *config)
{
    int backend = 0;
    if (!arguments_parse_choice("--backend", text, backend_names, &backend))
        return false;
    config->backend = (softqam_backend)backend;
    return true;
}

/* The options that configure the library's work on the machine. */
static bool parse_machine_option(int option, const char *text, softqam_config *config)
{
    uint64_t count = 0;
    switch (option) {
    case OPTION_BACKEND:
        return parse_backend(text, config);
    case OPTION_DEVICE:
        return parse_devices(text, config);
    case OPTION_THREADS:
        if (!arguments_parse_count("--threads", text, 1, MAX_THREADS, &count))
            return false;
        config->n_threads = (unsigned)count;
        return true;
    case OPTION_STREAMS:
        if (!arguments_parse_count("--streams", text, 1, MAX_STREAMS, &count))
            return false;
        config->n_streams = (unsigned)count;
        return true;
    default:
        if (!arguments_parse_count("--chunk", text, 1, MAX_CHUNK_SYMBOLS, &count))
            return false;
        config->chunk_symbols = (size_t)count;
        return true;
    }
}

/* Takes over an option that says where the noise variances come from. The same one again counts as it does last, like
 * all options. */
static bool choose_noise(const char *option, enum noise_kind kind, struct demod_options *options,
                         struct raw_options *raw)
{
    if (raw->noise_option && strcmp(raw->noise_option, option) != 0) {
        message_print(option, "contradicts %s: noise variances come from one of the two", raw->noise_option);
        return false;
    }
    raw->noise_option = option;
    options->noise = kind;
    return true;
}

static bool parse_noise_var(const char *text, struct demod_options *options, struct raw_options *raw)
{
    static const char option[] = "--noise-var";
    return arguments_parse_ratio_or(option, text, "auto", &options->noise_var) &&
           choose_noise(option, options->noise_var > 0 ? NOISE_VALUE : NOISE_AUTO, options, raw);
}

static bool parse_snr_db(const char *text, struct demod_options *options, struct raw_options *raw)
{
    double snr_db = 0;
    if (!arguments_parse_snr_db(text, &snr_db))
        return false;
    options->noise_var = normal_power_ratio(-snr_db);
    return choose_noise("--snr-db", NOISE_VALUE, options, raw);
}

static bool parse_llr_scale(const char *text, softqam_config *config, struct raw_options *raw)
{
    double scale = 0;
    raw->llr_option = "--llr-scale";
    if (!arguments_parse_real(raw->llr_option, text, min_llr_scale, max_llr_scale, &scale))
        return false;
    config->llr_scale = (float)scale;
    return true;
}

static bool parse_llr_limit(const char *text, softqam_config *config, struct raw_options *raw)
{
    uint64_t limit = 0;
    raw->llr_option = "--llr-limit";
    if (!arguments_parse_count(raw->llr_option, text, 1, MAX_LLR_LIMIT, &limit))
        return false;
    config->llr_limit = (int)limit;
    return true;
}

static bool parse_sign(const char *text, softqam_config *config)
{
    int sign = 0;
    if (!arguments_parse_choice("--sign", text, sign_names, &sign))
        return false;
    config->sign = (softqam_sign)sign;
    return true;
}

/* The options that say what the numbers in OUTPUT mean. */
static bool parse_meaning_option(int option, const char *text, struct demod_options *options, struct raw_options *raw)
{
    switch (option) {
    case OPTION_NOISE_VAR:
        return parse_noise_var(text, options, raw);
    case OPTION_SNR_DB:
        return parse_snr_db(text, options, raw);
    case OPTION_NOISE_FILE:
        options->noise_file = text;
        return choose_noise("--noise-file", NOISE_FILE, options, raw);
    case OPTION_LLR_SCALE:
        return parse_llr_scale(text, &options->config, raw);
    case OPTION_LLR_LIMIT:
        return parse_llr_limit(text, &options->config, raw);
    default:
        return parse_sign(text, &options->config);
    }
}

/* K/N, 1 <= K <= N. */
static bool parse_shard(const char *text, struct demod_options *options)
{
    static const char digits[] = "0123456789";
    const size_t length = strspn(text, digits);
    char *end;
    const unsigned long shard = strtoul(text, &end, 10);
    const unsigned long n_shards = *end == '/' ? strtoul(end + 1, NULL, 10) : 0;
    if (length > 0 && text[length] == '/' && text[length + 1] &&
        !text[length + 1 + strspn(text + length + 1, digits)] && shard >= 1 && shard <= n_shards &&
        n_shards <= MAX_SHARDS) {
        options->shard = (unsigned)shard;
        options->n_shards = (unsigned)n_shards;
        return true;
    }
    message_print("--shard", "'%s' is not K/N with whole numbers K from 1 to N and N up to %d", text, MAX_SHARDS);
    return false;
}

static bool check_verify(bool wanted)
{
    if (!wanted || verify_is_available())
        return true;
    message_print("--verify", "this softqam-demod was built without the reference, which liquid-dsp is part of");
    return false;
}

static bool parse_option(int option, struct demod_options *options, struct raw_options *raw)
{
    switch (option) {
    case 'i':
        raw->input_format = optarg;
        return true;
    case 'o':
        raw->output_format = optarg;
        return true;
    case OPTION_SIGMF:
    case OPTION_NO_SIGMF:
        raw->sigmf_option = option;
        return true;
    case OPTION_NO_HASH:
        options->hash = false;
        return true;
    case OPTION_SHARD:
        return parse_shard(optarg, options);
    case OPTION_INPUT_SCALE:
        return parse_scale(optarg, &options->config);
    case OPTION_VERIFY:
        options->verify = true;
        return true;
    case OPTION_STATS:
        options->stats = true;
        return true;
    case OPTION_PROGRESS:
        return arguments_parse_choice("--progress", optarg, progress_names, &raw->progress);
    case 'q':
        options->quiet = true;
        return true;
    case OPTION_NOISE_VAR:
    case OPTION_SNR_DB:
    case OPTION_NOISE_FILE:
    case OPTION_LLR_SCALE:
    case OPTION_LLR_LIMIT:
    case OPTION_SIGN:
        return parse_meaning_option(option, optarg, options, raw);
    case '?':
        return false;
    default:
        return parse_machine_option(option, optarg, &options->config);
    }
}

static bool is_same_descriptor(const char *path, const char *other)
{
    const int fd = file_name_descriptor(path, STDIN_FILENO);
    return fd >= 0 && fd == file_name_descriptor(other, STDIN_FILENO);
}

static bool check_noise(const struct demod_options *options, const struct raw_options *raw)
{
    const softqam_output_format format = options->config.output_format;
    if (format == SOFTQAM_OUTPUT_U8 && raw->noise_option)
        message_print(raw->noise_option, "only for output formats s8, f16 and f32; u8 takes no noise variance");
    else if (format != SOFTQAM_OUTPUT_U8 && !raw->noise_option)
        message_print(NULL, "output format %s needs a noise variance: --noise-var, --snr-db or --noise-file",
                      sample_format_name(format));
    else if (options->noise == NOISE_FILE && is_same_descriptor(options->noise_file, options->input))
        message_print("--noise-file", "'%s' is INPUT as well", options->noise_file);
    else
        return true;
    return false;
}

static bool check_llr_options(const struct demod_options *options, const struct raw_options *raw)
{
    if (!raw->llr_option || options->config.output_format == SOFTQAM_OUTPUT_S8)
        return true;
    message_print(raw->llr_option, "only for output format s8");
    return false;
}

/* Puts numbers for the zeros that stand for a default of s8. */
static void complete_llr_config(softqam_config *config)
{
    if (config->output_format != SOFTQAM_OUTPUT_S8)
        return;
    if (config->llr_scale == 0)
        config->llr_scale = default_llr_scale;
    if (config->llr_limit == 0)
        config->llr_limit = MAX_LLR_LIMIT;
}

/* By default a recording becomes a recording, unless OUTPUT's name says that it is something else. */
static bool is_sigmf_output(const struct demod_options *options, const struct raw_options *raw)
{
    if (raw->sigmf_option)
        return raw->sigmf_option == OPTION_SIGMF;
    if (sigmf_name_is_explicit(options->output))
        return true;
    struct stat status;
    return options->input_is_sigmf && options->n_shards <= 1 &&
           file_name_descriptor(options->output, STDOUT_FILENO) < 0 &&
           !sample_format_is_soft_bit_suffix(options->output) &&
           (stat(options->output, &status) || S_ISREG(status.st_mode));
}

/* An INPUT whose format is named is plain samples, whatever its name. */
static bool choose_sigmf(struct demod_options *options, const struct raw_options *raw)
{
    const char *unsupported = raw->input_format ? NULL : sigmf_name_unsupported(options->input);
    options->input_is_sigmf = !raw->input_format && sigmf_name_is_recording(options->input);
    options->output_is_sigmf = is_sigmf_output(options, raw);
    const char *option = sigmf_name_is_explicit(options->output) ? options->output : "--sigmf";
    if (unsupported)
        message_print(options->input, "%s of SigMF, not a recording; unpack it and give its .sigmf-meta", unsupported);
    else if (options->output_is_sigmf && options->n_shards > 1)
        message_print(option, "a shard is no recording; join plain shards, or use softqam-demod-mpi");
    else if (options->output_is_sigmf && file_name_descriptor(options->output, STDOUT_FILENO) >= 0)
        message_print(option, "a recording is two files, and OUTPUT is '%s'", options->output);
    else if ((options->input_is_sigmf || options->output_is_sigmf) && !sigmf_is_available())
        message_print(options->input_is_sigmf ? options->input : option,
                      "SigMF, but this softqam-demod was built without cJSON or libcrypto");
    else
        return true;
    return false;
}

/* What depends on more than one option. */
static bool complete(struct demod_options *options, const struct raw_options *raw)
{
    softqam_config *config = &options->config;
    if (!choose_sigmf(options, raw) ||
        !sample_format_for_symbols("--input-format", raw->input_format, options->input, &config->input_format) ||
        !sample_format_for_soft_bits("--output-format", raw->output_format, options->output, &config->output_format) ||
        !check_noise(options, raw) || !check_llr_options(options, raw) || !check_verify(options->verify))
        return false;
    if (config->input_scale == 0 && !options->input_is_sigmf)
        config->input_scale = softqam_input_default_scale(config->input_format);
    complete_llr_config(config);
    config->noise = options->noise == NOISE_FILE ? SOFTQAM_NOISE_PER_SYMBOL : SOFTQAM_NOISE_PER_CALL;
    options->show_progress = raw->progress == PROGRESS_ALWAYS ||
                             (raw->progress == PROGRESS_AUTO && !options->quiet && isatty(STDERR_FILENO));
    return true;
}

enum demod_action demod_options_parse(int argc, char *const argv[], bool is_mpi, struct demod_options *options)
{
    struct raw_options raw = {0};
    struct option known[N_OPTIONS + 1] = {{NULL, 0, NULL, 0}};
    memcpy(known, long_options, (size_t)(N_OPTIONS - (is_mpi ? N_PLAIN_OPTIONS : 0)) * sizeof known[0]);
    memset(options, 0, sizeof *options);
    options->hash = !is_mpi;
    softqam_config_init(&options->config);
    for (;;) {
        const int option = arguments_next(argc, argv, short_options, known);
        if (option == -1)
            break;
        if (option == 'h')
            return DEMOD_HELP;
        if (option == 'V')
            return DEMOD_VERSION;
        if (!parse_option(option, options, &raw))
            return DEMOD_WRONG;
    }
    if (!arguments_count_operands(argc, 2, "INPUT and OUTPUT"))
        return DEMOD_WRONG;
    options->input = argv[optind];
    options->output = argv[optind + 1];
    return complete(options, &raw) ? DEMOD_RUN : DEMOD_WRONG;
}
