/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/message.h"
#include "common/modulation.h"
#include "common/normal.h"
#include "rules.h"

/* Ranges that softqam.h gives. */
enum {
    MAX_THREADS = 1024,
    MAX_DEVICES = 64,
    MAX_STREAMS = 64,
    MAX_CHUNK_SYMBOLS = 1 << 28,
    MAX_LLR_LIMIT = 127,
    MAX_PLANE_SYMBOLS = 1 << 22, /* each block that is read holds that many at least */
    MAX_SHARDS = 1000000
};

/* As many as leave the size of every file a 64-bit signed number. */
#define MAX_SYMBOLS ((uint64_t)INT64_MAX / FILE_SYMBOL_MAX_NBYTES)

static const double min_llr_scale = 1.0 / 1024, max_llr_scale = 1048576;

/* What options without a letter return. */
enum {
    OPTION_C_INIT = 256,
    OPTION_PLANES,
    OPTION_INPUT_SCALE,
    OPTION_SKIP,
    OPTION_COUNT,
    OPTION_PARTIAL,
    OPTION_COMPARE,
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
    OPTION_NO_SYNC,
    OPTION_NO_HASH
};

static const char short_options[] = ":m:i:o:qhV";

static const struct option long_options[] = {{"modulation", required_argument, NULL, 'm'},
                                             {"c-init", required_argument, NULL, OPTION_C_INIT},
                                             {"planes", required_argument, NULL, OPTION_PLANES},
                                             {"input-format", required_argument, NULL, 'i'},
                                             {"output-format", required_argument, NULL, 'o'},
                                             {"input-scale", required_argument, NULL, OPTION_INPUT_SCALE},
                                             {"skip", required_argument, NULL, OPTION_SKIP},
                                             {"count", required_argument, NULL, OPTION_COUNT},
                                             {"partial", required_argument, NULL, OPTION_PARTIAL},
                                             {"compare", required_argument, NULL, OPTION_COMPARE},
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
                                             {"no-sync", no_argument, NULL, OPTION_NO_SYNC},
                                             {"verify", no_argument, NULL, OPTION_VERIFY},
                                             {"stats", optional_argument, NULL, OPTION_STATS},
                                             {"progress", required_argument, NULL, OPTION_PROGRESS},
                                             {"quiet", no_argument, NULL, 'q'},
                                             {"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, 'V'},
                                             {"shard", required_argument, NULL, OPTION_SHARD},
                                             {"no-hash", no_argument, NULL, OPTION_NO_HASH},
                                             {NULL, 0, NULL, 0}};

/* At the end of the list: those that softqam-demod-mpi does not have. */
enum { N_PLAIN_OPTIONS = 2, N_OPTIONS = sizeof long_options / sizeof long_options[0] - 1 };

static const char *const backend_names[] = {"auto", "cpu", "cuda", NULL}; /* in the order of softqam_backend */
static const char *const sign_names[] = {"0", "1", NULL};                 /* in the order of softqam_sign */
static const char *const partial_names[] = {"error", "ignore", NULL};
static const char *const progress_names[] = {"auto", "always", "never", NULL}; /* in the order of demod_progress */

/* The devices of a list, which has commas between them: how many, or 0 for a wrong list. */
static unsigned parse_device_list(const char *text, int devices[MAX_DEVICES])
{
    static const char option[] = "--device";
    unsigned n = 0;
    char one[ARGUMENTS_NAME_NBYTES];
    for (const char *rest = text; arguments_next_name(&rest, one); n++) {
        uint64_t device = 0;
        if (!arguments_parse_count(option, one, 0, INT_MAX, &device))
            return 0;
        if (n == MAX_DEVICES) {
            message_print(option, "more than %d devices", MAX_DEVICES);
            return 0;
        }
        for (unsigned k = 0; k < n; k++) {
            if (devices[k] == (int)device) {
                message_print(option, "'%s' names device %d twice", text, devices[k]);
                return 0;
            }
        }
        devices[n] = (int)device;
    }
    return n;
}

/* A number, numbers with commas between them, or "all". */
static bool parse_devices(const char *text, softqam_context_config *config)
{
    static int devices[MAX_DEVICES];
    config->device = -1;
    config->devices = NULL;
    config->n_devices = 0;
    if (!strcmp(text, "all")) {
        config->n_devices = SOFTQAM_ALL_DEVICES;
        return true;
    }
    const unsigned n = parse_device_list(text, devices);
    if (n == 1)
        config->device = devices[0];
    if (n > 1) {
        config->devices = devices;
        config->n_devices = n;
    }
    return n > 0;
}

static bool parse_scale(const char *text, struct demod_options *options)
{
    double scale = 0;
    if (!arguments_parse_ratio_or("--input-scale", text, "auto", &scale))
        return false;
    options->scale_auto = scale == 0;
    options->config.input_scale = (float)scale;
    return true;
}

static bool parse_backend(const char *text, softqam_context_config *config)
{
    int backend = 0;
    if (!arguments_parse_choice("--backend", text, backend_names, &backend))
        return false;
    config->backend = (softqam_backend)backend;
    return true;
}

/* The options that say where the library does its work. */
static bool parse_context_option(int option, const char *text, softqam_context_config *config)
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
                         struct demod_raw_options *raw)
{
    if (raw->noise_option && strcmp(raw->noise_option, option) != 0) {
        message_print(option, "contradicts %s: noise variances come from one of the two", raw->noise_option);
        return false;
    }
    raw->noise_option = option;
    options->noise = kind;
    return true;
}

static bool parse_noise_var(const char *text, struct demod_options *options, struct demod_raw_options *raw)
{
    static const char option[] = "--noise-var";
    return arguments_parse_ratio_or(option, text, "auto", &options->noise_var) &&
           choose_noise(option, options->noise_var > 0 ? NOISE_VALUE : NOISE_AUTO, options, raw);
}

static bool parse_snr_db(const char *text, struct demod_options *options, struct demod_raw_options *raw)
{
    double snr_db = 0;
    if (!arguments_parse_snr_db(text, &snr_db))
        return false;
    options->noise_var = normal_power_ratio(-snr_db);
    return choose_noise("--snr-db", NOISE_VALUE, options, raw);
}

static bool parse_llr_scale(const char *text, softqam_config *config, struct demod_raw_options *raw)
{
    double scale = 0;
    raw->llr_option = "--llr-scale";
    if (!arguments_parse_ratio_in(raw->llr_option, text, min_llr_scale, max_llr_scale, &scale))
        return false;
    config->llr_scale = (float)scale;
    return true;
}

static bool parse_llr_limit(const char *text, softqam_config *config, struct demod_raw_options *raw)
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

static bool parse_planes(const char *text, struct demod_options *options)
{
    uint64_t n_symbols = 0;
    if (!arguments_parse_count("--planes", text, 1, MAX_PLANE_SYMBOLS, &n_symbols))
        return false;
    options->plane_symbols = (size_t)n_symbols;
    return true;
}

/* The options that say what the numbers in OUTPUT mean. */
static bool parse_meaning_option(int option, const char *text, struct demod_options *options,
                                 struct demod_raw_options *raw)
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
    case OPTION_PLANES:
        return parse_planes(text, options);
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

/* The options that say what is read of INPUT, and how. */
static bool parse_input_option(int option, const char *text, struct demod_options *options)
{
    int partial = 0;
    switch (option) {
    case OPTION_INPUT_SCALE:
        return parse_scale(text, options);
    case OPTION_SKIP:
        return arguments_parse_count("--skip", text, 0, MAX_SYMBOLS, &options->skip);
    case OPTION_COUNT:
        return arguments_parse_count("--count", text, 0, MAX_SYMBOLS, &options->count);
    case OPTION_SHARD:
        return parse_shard(text, options);
    case OPTION_COMPARE:
        options->compared_bits = text;
        return true;
    case OPTION_C_INIT:
        options->descrambles = true;
        return arguments_parse_c_init(text, &options->c_init);
    default:
        if (!arguments_parse_choice("--partial", text, partial_names, &partial))
            return false;
        options->ignore_partial = partial != 0;
        return true;
    }
}

/* The options that say what OUTPUT is made as, none of which has a value. */
static bool parse_output_option(int option, struct demod_options *options, struct demod_raw_options *raw)
{
    if (option == OPTION_SIGMF)
        raw->sigmf = SIGMF_YES;
    else if (option == OPTION_NO_SIGMF)
        raw->sigmf = SIGMF_NO;
    else if (option == OPTION_NO_HASH)
        options->hash = false;
    else
        options->sync = false;
    return true;
}

/* Nothing, NULL, or json. */
static bool parse_stats(const char *text, struct demod_options *options)
{
    static const char *const names[] = {"json", NULL};
    int json = -1;
    options->stats = true;
    options->stats_json = text != NULL;
    return !text || arguments_parse_choice("--stats", text, names, &json);
}

static bool parse_option(int option, struct demod_options *options, struct demod_raw_options *raw)
{
    switch (option) {
    case 'm':
        return modulation_parse(optarg, &options->config.modulation);
    case 'i':
        raw->input_format = optarg;
        return true;
    case 'o':
        raw->output_format = optarg;
        return true;
    case OPTION_SIGMF:
    case OPTION_NO_SIGMF:
    case OPTION_NO_HASH:
    case OPTION_NO_SYNC:
        return parse_output_option(option, options, raw);
    case OPTION_SHARD:
    case OPTION_INPUT_SCALE:
    case OPTION_SKIP:
    case OPTION_COUNT:
    case OPTION_PARTIAL:
    case OPTION_COMPARE:
    case OPTION_C_INIT:
        return parse_input_option(option, optarg, options);
    case OPTION_VERIFY:
        options->verify = true;
        return true;
    case OPTION_STATS:
        return parse_stats(optarg, options);
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
    case OPTION_PLANES:
    case OPTION_SIGN:
        return parse_meaning_option(option, optarg, options, raw);
    case '?':
        return false;
    default:
        return parse_context_option(option, optarg, &options->context_config);
    }
}

size_t demod_options_output_bits(const struct demod_options *options)
{
    const softqam_config *config = &options->config;
    const size_t n_bits = softqam_bits_per_symbol(config->modulation);
    if (options->output_kind == OUTPUT_BITS)
        return n_bits;
    if (options->output_kind == OUTPUT_HARD)
        return 8 * n_bits;
    return 8 * softqam_output_nbytes(config->output_format, config->modulation, 1);
}

enum demod_action demod_options_parse(int argc, char *const argv[], bool is_mpi, struct demod_options *options)
{
    struct demod_raw_options raw = {0};
    struct option known[N_OPTIONS + 1] = {{NULL, 0, NULL, 0}};
    memcpy(known, long_options, (size_t)(N_OPTIONS - (is_mpi ? N_PLAIN_OPTIONS : 0)) * sizeof known[0]);
    memset(options, 0, sizeof *options);
    options->hash = !is_mpi;
    options->sync = true;
    options->count = UINT64_MAX;
    softqam_config_init(&options->config);
    softqam_context_config_init(&options->context_config);
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
    return demod_rules_complete(options, &raw) ? DEMOD_RUN : DEMOD_WRONG;
}
