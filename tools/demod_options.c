/* SPDX-License-Identifier: MIT */
#include "demod_options.h"

#include "arguments.h"
#include "message.h"
#include "sample_format.h"
#include "verify.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ranges that softqam.h gives. */
enum {
    MAX_THREADS = 1024,
    MAX_STREAMS = 64,
    MAX_CHUNK_SYMBOLS = 1 << 28
};

const char demod_help[] = "usage: softqam-demod [options] INPUT OUTPUT\n"
                          "\n"
                          "Demodulates the 256QAM symbols of 5G NR (3GPP TS 38.211 clause 5.1.6) in INPUT\n"
                          "to eight soft bits each, b0 first, in OUTPUT. \"-\" is standard input or output.\n"
                          "\n"
                          "Sign: above the midpoint means bit 0. A soft bit of format u8 is 255 for a\n"
                          "sure 0, 0 for a sure 1, and 127 when nothing is known; from 127 on, the hard\n"
                          "decision is 0.\n"
                          "\n"
                          "Files:\n"
                          "  -i, --input-format FORMAT   symbols, I then Q, in this machine's byte order:\n"
                          "                                cf32  two 32-bit floats    .cf32 .fc32 .cfile\n"
                          "                                cs16  two 16-bit integers  .cs16 .sc16\n"
                          "                                cs8   two 8-bit integers   .cs8 .sc8\n"
                          "                              default: by INPUT's suffix, else cf32\n"
                          "  -o, --output-format FORMAT  soft bits:\n"
                          "                                u8    one byte a bit: liquid-dsp's bytes  .u8\n"
                          "                              default: by OUTPUT's suffix, else u8\n"
                          "      --input-scale X         factor that brings samples to unit mean symbol\n"
                          "                              energy, a number or a fraction A/B;\n"
                          "                              default: 1 (cf32), 1/32768 (cs16), 1/128 (cs8)\n"
                          "\n"
                          "Machine (the bytes are the same with all of these):\n"
                          "      --backend NAME          auto, cpu or cuda; default: auto\n"
                          "      --device N              ordinal of the CUDA device; default: CUDA's choice\n"
                          "      --threads N             CPU threads, 1 to 1024; default: one per CPU\n"
                          "      --streams N             CUDA: chunks in flight, 1 to 64; default: 4\n"
                          "      --chunk SYMBOLS         CUDA: symbols in a chunk, 1 to 268435456;\n"
                          "                              default: 1048576\n"
                          "\n"
                          "Reports, on standard error:\n"
                          "      --verify                check the soft bits against liquid-dsp: all of the\n"
                          "                              first 16777216 symbols, then one in 256\n"
                          "      --stats                 symbols, rates, backend, saturated soft bits,\n"
                          "                              erased symbols, estimated EVM\n"
                          "      --progress WHEN         auto (on a terminal, the default), always or\n"
                          "                              never\n"
                          "  -q, --quiet                 nothing but failures and what --stats and\n"
                          "                              --progress always ask for\n"
                          "  -h, --help                  this text\n"
                          "  -V, --version               the version\n"
                          "\n"
                          "A symbol that is NaN or infinite is erased: its eight soft bits are 127. OUTPUT\n"
                          "appears complete or not at all; an older file of that name stays until then.\n"
                          "\n"
                          "Exit: 0 done; 1 the data, the file or the device failed; 2 the command was\n"
                          "wrong.\n";

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
    OPTION_LLR_LIMIT
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
                                             {"backend", required_argument, NULL, OPTION_BACKEND},
                                             {"device", required_argument, NULL, OPTION_DEVICE},
                                             {"threads", required_argument, NULL, OPTION_THREADS},
                                             {"streams", required_argument, NULL, OPTION_STREAMS},
                                             {"chunk", required_argument, NULL, OPTION_CHUNK},
                                             {"verify", no_argument, NULL, OPTION_VERIFY},
                                             {"stats", no_argument, NULL, OPTION_STATS},
                                             {"progress", required_argument, NULL, OPTION_PROGRESS},
                                             {"quiet", no_argument, NULL, 'q'},
                                             {"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, 'V'},
                                             {NULL, 0, NULL, 0}};

/* Options whose values wait until all options are known. */
struct raw_options {
    const char *input_format;
    const char *output_format;
    int progress; /* place in progress_names */
};

static const char *const backend_names[] = {"auto", "cpu", "cuda", NULL}; /* in the order of softqam_backend */
static const char *const progress_names[] = {"auto", "always", "never", NULL};
enum {
    PROGRESS_AUTO,
    PROGRESS_ALWAYS
};

static bool parse_device(const char *text, softqam_config *config)
{
    static const char option[] = "--device";
    uint64_t device = 0;
    if (!strcmp(text, "all") || (strchr(text, ',') && !text[strspn(text, "0123456789,")])) {
        message_print(option, "'%s' names more than one device, and this version works on one; give a single number",
                      text);
        return false;
    }
    if (!arguments_parse_count(option, text, 0, INT_MAX, &device))
        return false;
    config->device = (int)device;
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
        return parse_device(text, config);
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

static bool refuse_llr_option(int option)
{
    const struct option *known = long_options;
    while (known->val != option)
        known++;
    message_print(NULL, "--%s: only for output formats s8, f16 and f32, which this version does not have", known->name);
    return false;
}

static bool check_verify(bool wanted)
{
    if (!wanted || verify_is_available())
        return true;
    message_print("--verify", "this softqam-demod was built without liquid-dsp, the reference");
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
        return refuse_llr_option(option);
    case '?':
        return false;
    default:
        return parse_machine_option(option, optarg, &options->config);
    }
}

/* What depends on more than one option. */
static bool complete(struct demod_options *options, const struct raw_options *raw)
{
    softqam_config *config = &options->config;
    if (!sample_format_for_symbols("--input-format", raw->input_format, options->input, &config->input_format) ||
        !sample_format_for_soft_bits("--output-format", raw->output_format, options->output, &config->output_format) ||
        !check_verify(options->verify))
        return false;
    if (config->input_scale == 0)
        config->input_scale = softqam_input_default_scale(config->input_format);
    options->show_progress = raw->progress == PROGRESS_ALWAYS ||
                             (raw->progress == PROGRESS_AUTO && !options->quiet && isatty(STDERR_FILENO));
    return true;
}

enum demod_action demod_options_parse(int argc, char *const argv[], struct demod_options *options)
{
    struct raw_options raw = {0};
    memset(options, 0, sizeof *options);
    softqam_config_init(&options->config);
    for (;;) {
        const int option = arguments_next(argc, argv, short_options, long_options);
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
