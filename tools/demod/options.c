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
    MAX_PLANE_SYMBOLS = 1 << 22, /* each block that is read holds that many at least */
    MAX_SHARDS = 1000000
};

/* As many as leave the size of every file a 64-bit signed number. */
#define MAX_SYMBOLS ((uint64_t)INT64_MAX / FILE_SYMBOL_MAX_NBYTES)

/* What is known while options are parsed, the last of which is `option`, such as "--skip". */
struct parser {
    const char *option;
    const char *text; /* its value; NULL for none */
    struct demod_options *options;
    struct demod_raw_options raw;
    enum demod_action action; /* DEMOD_HELP and DEMOD_VERSION end the parsing */
};

static bool take_modulation(struct parser *p)
{
    return modulation_parse(p->text, &p->options->config.modulation);
}

static bool take_c_init(struct parser *p)
{
    p->options->c_init_given = true;
    p->options->descrambles = strcmp(p->text, "none") != 0;
    return !p->options->descrambles || arguments_parse_c_init(p->text, &p->options->c_init);
}

/* A whole number from 1 to max. */
static bool parse_number(const struct parser *p, unsigned max, unsigned *number)
{
    uint64_t count = 0;
    const bool good = arguments_parse_count(p->option, p->text, 1, max, &count);
    *number = (unsigned)count;
    return good;
}

static bool take_planes(struct parser *p)
{
    unsigned n_symbols;
    const bool good = parse_number(p, MAX_PLANE_SYMBOLS, &n_symbols);
    p->options->plane_symbols = n_symbols;
    return good;
}

static bool take_input_format(struct parser *p)
{
    p->raw.input_format = p->text;
    return true;
}

static bool take_output_format(struct parser *p)
{
    p->raw.output_format = p->text;
    return true;
}

static bool take_input_scale(struct parser *p)
{
    double scale = 0;
    if (!arguments_parse_ratio_or(p->option, p->text, "auto", &scale))
        return false;
    p->options->scale_auto = scale == 0;
    p->options->config.input_scale = (float)scale;
    return true;
}

static bool take_skip(struct parser *p)
{
    return arguments_parse_count(p->option, p->text, 0, MAX_SYMBOLS, &p->options->skip);
}

static bool take_count(struct parser *p)
{
    return arguments_parse_count(p->option, p->text, 0, MAX_SYMBOLS, &p->options->count);
}

static bool take_partial(struct parser *p)
{
    static const char *const names[] = {"error", "ignore", NULL};
    int partial = 0;
    const bool good = arguments_parse_choice(p->option, p->text, names, &partial);
    p->options->ignore_partial = partial != 0;
    return good;
}

static bool take_compare(struct parser *p)
{
    p->options->compared_bits = p->text;
    return true;
}

/* Takes over an option that says where the noise variances come from. The same one again counts as it does last, like
 * all options. */
static bool choose_noise(struct parser *p, enum noise_kind kind)
{
    if (p->raw.noise_option && strcmp(p->raw.noise_option, p->option) != 0) {
        message_print(p->option, "contradicts %s: noise variances come from one of the two", p->raw.noise_option);
        return false;
    }
    p->raw.noise_option = p->option;
    p->options->noise = kind;
    return true;
}

static bool take_noise_var(struct parser *p)
{
    return arguments_parse_ratio_or(p->option, p->text, "auto", &p->options->noise_var) &&
           choose_noise(p, p->options->noise_var > 0 ? NOISE_VALUE : NOISE_AUTO);
}

static bool take_snr_db(struct parser *p)
{
    double snr_db = 0;
    if (!arguments_parse_snr_db(p->text, &snr_db))
        return false;
    p->options->noise_var = normal_power_ratio(-snr_db);
    return choose_noise(p, NOISE_VALUE);
}

static bool take_noise_file(struct parser *p)
{
    p->options->noise_file = p->text;
    return choose_noise(p, NOISE_FILE);
}

static bool take_llr_scale(struct parser *p)
{
    p->raw.llr_scale = p->text;
    return true;
}

static bool take_llr_limit(struct parser *p)
{
    p->raw.llr_limit = p->text;
    return true;
}

static bool take_sign(struct parser *p)
{
    static const char *const names[] = {"0", "1", NULL};
    static const softqam_sign signs[] = {SOFTQAM_SIGN_POSITIVE_IS_0, SOFTQAM_SIGN_POSITIVE_IS_1};
    int place = 0;
    const bool good = arguments_parse_choice(p->option, p->text, names, &place);
    p->options->config.sign = signs[place];
    return good;
}

static bool take_backend(struct parser *p)
{
    static const char *const names[] = {"auto", "cpu", "cuda", NULL};
    static const softqam_backend backends[] = {SOFTQAM_BACKEND_AUTO, SOFTQAM_BACKEND_CPU, SOFTQAM_BACKEND_CUDA};
    int place = 0;
    const bool good = arguments_parse_choice(p->option, p->text, names, &place);
    p->options->context_config.backend = backends[place];
    return good;
}

/* The devices of a list, which has commas between them: how many, or 0 for a wrong list. */
static unsigned parse_device_list(const struct parser *p, int devices[MAX_DEVICES])
{
    unsigned n = 0;
    char one[ARGUMENTS_NAME_NBYTES];
    for (const char *rest = p->text; arguments_next_name(&rest, one); n++) {
        uint64_t device = 0;
        if (!arguments_parse_count(p->option, one, 0, INT_MAX, &device))
            return 0;
        if (n == MAX_DEVICES) {
            message_print(p->option, "more than %d devices", MAX_DEVICES);
            return 0;
        }
        for (unsigned k = 0; k < n; k++) {
            if (devices[k] == (int)device) {
                message_print(p->option, "'%s' names device %d twice", p->text, devices[k]);
                return 0;
            }
        }
        devices[n] = (int)device;
    }
    return n;
}

/* A number, numbers with commas between them, or "all". */
static bool take_device(struct parser *p)
{
    static int devices[MAX_DEVICES];
    softqam_context_config *config = &p->options->context_config;
    config->device = -1;
    config->devices = NULL;
    config->n_devices = 0;
    if (!strcmp(p->text, "all")) {
        config->n_devices = SOFTQAM_ALL_DEVICES;
        return true;
    }
    const unsigned n = parse_device_list(p, devices);
    if (n == 1)
        config->device = devices[0];
    if (n > 1) {
        config->devices = devices;
        config->n_devices = n;
    }
    return n > 0;
}

static bool take_threads(struct parser *p)
{
    return parse_number(p, MAX_THREADS, &p->options->context_config.n_threads);
}

static bool take_streams(struct parser *p)
{
    return parse_number(p, MAX_STREAMS, &p->options->context_config.n_streams);
}

static bool take_chunk(struct parser *p)
{
    unsigned n_symbols;
    const bool good = parse_number(p, MAX_CHUNK_SYMBOLS, &n_symbols);
    p->options->context_config.chunk_symbols = n_symbols;
    return good;
}

static bool take_sigmf(struct parser *p)
{
    p->raw.sigmf = SIGMF_YES;
    return true;
}

static bool take_no_sigmf(struct parser *p)
{
    p->raw.sigmf = SIGMF_NO;
    return true;
}

static bool take_no_sync(struct parser *p)
{
    p->options->sync = false;
    return true;
}

static bool take_no_hash(struct parser *p)
{
    p->options->hash = false;
    return true;
}

static bool take_verify(struct parser *p)
{
    p->options->verify = true;
    return true;
}

/* Nothing, NULL, or json. */
static bool take_stats(struct parser *p)
{
    static const char *const names[] = {"json", NULL};
    int json = -1;
    p->options->stats = true;
    p->options->stats_json = p->text != NULL;
    return !p->text || arguments_parse_choice(p->option, p->text, names, &json);
}

static bool take_progress(struct parser *p)
{
    static const char *const names[] = {
        [PROGRESS_AUTO] = "auto", [PROGRESS_ALWAYS] = "always", [PROGRESS_NEVER] = "never", NULL};
    return arguments_parse_choice(p->option, p->text, names, &p->raw.progress);
}

static bool take_quiet(struct parser *p)
{
    p->options->quiet = true;
    return true;
}

static bool take_strict(struct parser *p)
{
    p->options->strict = true;
    return true;
}

static bool take_help(struct parser *p)
{
    p->action = DEMOD_HELP;
    return true;
}

static bool take_version(struct parser *p)
{
    p->action = DEMOD_VERSION;
    return true;
}

/* K/N, 1 <= K <= N. */
static bool take_shard(struct parser *p)
{
    static const char digits[] = "0123456789";
    const size_t length = strspn(p->text, digits);
    char *end;
    const unsigned long shard = strtoul(p->text, &end, 10);
    const unsigned long n_shards = *end == '/' ? strtoul(end + 1, NULL, 10) : 0;
    if (length > 0 && p->text[length] == '/' && p->text[length + 1] &&
        !p->text[length + 1 + strspn(p->text + length + 1, digits)] && shard >= 1 && shard <= n_shards &&
        n_shards <= MAX_SHARDS) {
        p->options->shard = (unsigned)shard;
        p->options->n_shards = (unsigned)n_shards;
        return true;
    }
    message_print(p->option, "'%s' is not K/N with whole numbers K from 1 to N and N up to %d", p->text, MAX_SHARDS);
    return false;
}

static const struct known_option {
    const char *name;
    int letter;    /* 0 for none */
    int has_value; /* as getopt_long() takes it */
    bool (*take)(struct parser *);
    bool is_plain; /* softqam-demod-mpi does not have it */
} known_options[] = {
    {"--modulation", 'm', required_argument, take_modulation, false},
    {"--c-init", 0, required_argument, take_c_init, false},
    {"--planes", 0, required_argument, take_planes, false},
    {"--input-format", 'i', required_argument, take_input_format, false},
    {"--output-format", 'o', required_argument, take_output_format, false},
    {"--input-scale", 0, required_argument, take_input_scale, false},
    {"--skip", 0, required_argument, take_skip, false},
    {"--count", 0, required_argument, take_count, false},
    {"--partial", 0, required_argument, take_partial, false},
    {"--compare", 0, required_argument, take_compare, false},
    {"--noise-var", 0, required_argument, take_noise_var, false},
    {"--snr-db", 0, required_argument, take_snr_db, false},
    {"--noise-file", 0, required_argument, take_noise_file, false},
    {"--llr-scale", 0, required_argument, take_llr_scale, false},
    {"--llr-limit", 0, required_argument, take_llr_limit, false},
    {"--sign", 0, required_argument, take_sign, false},
    {"--backend", 0, required_argument, take_backend, false},
    {"--device", 0, required_argument, take_device, false},
    {"--threads", 0, required_argument, take_threads, false},
    {"--streams", 0, required_argument, take_streams, false},
    {"--chunk", 0, required_argument, take_chunk, false},
    {"--sigmf", 0, no_argument, take_sigmf, false},
    {"--no-sigmf", 0, no_argument, take_no_sigmf, false},
    {"--no-sync", 0, no_argument, take_no_sync, false},
    {"--verify", 0, no_argument, take_verify, false},
    {"--stats", 0, optional_argument, take_stats, false},
    {"--progress", 0, required_argument, take_progress, false},
    {"--strict", 0, no_argument, take_strict, false},
    {"--quiet", 'q', no_argument, take_quiet, false},
    {"--help", 'h', no_argument, take_help, false},
    {"--version", 'V', no_argument, take_version, false},
    {"--shard", 0, required_argument, take_shard, true},
    {"--no-hash", 0, no_argument, take_no_hash, true},
};

/* Values that getopt_long() returns for options without a letter: from this one on, by their places. */
enum { N_OPTIONS = sizeof known_options / sizeof known_options[0], FIRST_VALUE = 256 };

static int value_of(const struct known_option *known)
{
    return known->letter ? known->letter : FIRST_VALUE + (int)(known - known_options);
}

/* The options as getopt_long() takes them. */
static void list_options(bool is_mpi, char letters[2 * N_OPTIONS + 2], struct option list[N_OPTIONS + 1])
{
    *letters++ = ':';
    for (const struct known_option *known = known_options; known < known_options + N_OPTIONS; known++) {
        if (is_mpi && known->is_plain)
            continue;
        *list++ = (struct option){known->name + 2, known->has_value, NULL, value_of(known)};
        if (known->letter)
            *letters++ = (char)known->letter;
        if (known->letter && known->has_value == required_argument)
            *letters++ = ':';
    }
    *letters = '\0';
    *list = (struct option){NULL, 0, NULL, 0};
}

static bool parse_option(struct parser *p, int value)
{
    for (const struct known_option *known = known_options; known < known_options + N_OPTIONS; known++) {
        if (value != value_of(known))
            continue;
        p->option = known->name;
        p->text = optarg;
        return known->take(p);
    }
    return false; /* a wrong one, of which has been told */
}

enum demod_action demod_options_parse(int argc, char *const argv[], bool is_mpi, struct demod_options *options)
{
    struct parser parser = {.options = options, .action = DEMOD_RUN};
    char letters[2 * N_OPTIONS + 2];
    struct option list[N_OPTIONS + 1];
    int value;
    list_options(is_mpi, letters, list);
    memset(options, 0, sizeof *options);
    options->hash = !is_mpi;
    options->sync = true;
    options->count = UINT64_MAX;
    softqam_demodulator_config_init(&options->config);
    options->config.modulation = SOFTQAM_MODULATION_DEFAULT;
    softqam_context_config_init(&options->context_config);
    options->context_config.backend = SOFTQAM_BACKEND_AUTO;
    while ((value = arguments_next(argc, argv, letters, list)) != -1) {
        if (!parse_option(&parser, value))
            return DEMOD_WRONG;
        if (parser.action != DEMOD_RUN)
            return parser.action;
    }
    if (!arguments_count_operands(argc, 2, "INPUT and OUTPUT"))
        return DEMOD_WRONG;
    options->input = argv[optind];
    options->output = argv[optind + 1];
    return demod_rules_complete(options, &parser.raw) ? DEMOD_RUN : DEMOD_WRONG;
}
