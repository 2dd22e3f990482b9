/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <math.h>
#include <sched.h>
#include <string.h>

#include "common/arguments.h"
#include "common/message.h"
#include "common/modulation.h"
#include "common/sample_format.h"
#include "common/sigmf.h"
#include "common/sigmf_name.h"

enum { MAX_THREADS = 1024, DEFAULT_SYMBOLS = 1000000 };

/* As many symbols as leave the size of every file a 64-bit signed number. */
#define MAX_SYMBOLS ((uint64_t)INT64_MAX / MODULATION_MAX_BITS)

const char gen_help[] = "Usage: softqam-gen [options] OUTPUT\n"
                        "\n"
                        "Writes random symbols of 5G NR (3GPP TS 38.211 clause 5.1, unit mean energy)\n"
                        "with white Gaussian noise to OUTPUT; \"-\" is standard output. The same seed\n"
                        "gives the same file on every machine and for every number of threads; a longer\n"
                        "file starts with the symbols of a shorter one.\n"
                        "\n"
                        "  -m, --modulation NAME bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam;\n"
                        "                        default: 256qam\n"
                        "      --c-init N        scramble the bits with the sequence of this c_init, 0 to\n"
                        "                        2147483647, decimal or 0x.. (3GPP TS 38.211 clause\n"
                        "                        5.2.1), which begins at the first bit\n"
                        "      --symbols N       how many; default: 1000000\n"
                        "      --snr-db X        Es/N0 in dB, -200 to 200, with N0 the variance of the\n"
                        "                        complex noise (N0/2 a component); default: no noise\n"
                        "      --seed S          0 to 2^64 - 1; default: 1\n"
                        "  -o, --output-format FORMAT\n"
                        "                        cf32, cs16, cs8 or cf16, see below; default: by OUTPUT's\n"
                        "                        suffix; cf32 for \"-\" and a name without a suffix\n"
                        "      --output-scale X  what a sample of 1 stands for, a number or a fraction\n"
                        "                        A/B: softqam-demod's --input-scale; default: 1 (cf32,\n"
                        "                        cf16), 1/8192 (cs16), 1/64 (cs8), which leave room for\n"
                        "                        the outer points and noise\n"
                        "      --bits FILE       the bits that were sent, before scrambling, one byte (0\n"
                        "                        or 1) each, b0 first\n"
                        "      --threads N       1 to 1024; default: one per CPU\n"
                        "      --no-sync         do not wait until the files are on the disk\n"
                        "  -q, --quiet           print only failures on standard error\n"
                        "  -h, --help            this text\n"
                        "  -V, --version         the version\n"
                        "\n"
                        "Formats of OUTPUT, for each symbol I then Q in this machine's byte order:\n"
                        "  cf32  two 32-bit floats; .cf32 .fc32 .cfile\n"
                        "  cs16  two 16-bit integers; .cs16 .sc16 .ci16\n"
                        "  cs8   two 8-bit integers; .cs8 .sc8 .ci8\n"
                        "  cf16  two 16-bit floats; .cf16\n"
                        "\n"
                        "An OUTPUT that ends in .sigmf-meta or .sigmf-data becomes a SigMF recording, of\n"
                        "cf32 unless --output-format names cs16 or cs8; its metadata have the scale.\n"
                        "\n"
                        "An OUTPUT with any other suffix is refused without --output-format. A suffix is\n"
                        "what follows the last dot of a name; dots at its start do not count. Suffixes\n"
                        "are names of formats too: -o sc16. OUTPUT and FILE appear complete or not at\n"
                        "all, and may not be the same file.\n"
                        "\n"
                        "Exit status:\n"
                        "  0  done\n"
                        "  1  a file failed\n"
                        "  2  the command was wrong\n";

enum {
    OPTION_C_INIT = 256,
    OPTION_SYMBOLS,
    OPTION_SNR_DB,
    OPTION_SEED,
    OPTION_OUTPUT_SCALE,
    OPTION_BITS,
    OPTION_THREADS,
    OPTION_NO_SYNC
};

static const char short_options[] = ":m:o:qhV";

static const struct option long_options[] = {{"modulation", required_argument, NULL, 'm'},
                                             {"c-init", required_argument, NULL, OPTION_C_INIT},
                                             {"symbols", required_argument, NULL, OPTION_SYMBOLS},
                                             {"snr-db", required_argument, NULL, OPTION_SNR_DB},
                                             {"seed", required_argument, NULL, OPTION_SEED},
                                             {"output-format", required_argument, NULL, 'o'},
                                             {"output-scale", required_argument, NULL, OPTION_OUTPUT_SCALE},
                                             {"bits", required_argument, NULL, OPTION_BITS},
                                             {"threads", required_argument, NULL, OPTION_THREADS},
                                             {"no-sync", no_argument, NULL, OPTION_NO_SYNC},
                                             {"quiet", no_argument, NULL, 'q'},
                                             {"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, 'V'},
                                             {NULL, 0, NULL, 0}};

static unsigned count_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return 1;
    const int n = CPU_COUNT(&set);
    return n < MAX_THREADS ? (unsigned)n : MAX_THREADS;
}

static bool parse_threads(const char *text, struct gen_options *options)
{
    uint64_t count = 0;
    if (!arguments_parse_count("--threads", text, 1, MAX_THREADS, &count))
        return false;
    options->n_threads = (unsigned)count;
    return true;
}

static bool parse_option(int option, struct gen_options *options, const char **format)
{
    switch (option) {
    case 'm':
        return modulation_parse(optarg, &options->modulation);
    case OPTION_C_INIT:
        options->scrambles = true;
        return arguments_parse_c_init(optarg, &options->c_init);
    case OPTION_SYMBOLS:
        return arguments_parse_count("--symbols", optarg, 0, MAX_SYMBOLS, &options->n_symbols);
    case OPTION_SNR_DB:
        return arguments_parse_snr_db(optarg, &options->snr_db);
    case OPTION_SEED:
        return arguments_parse_count("--seed", optarg, 0, UINT64_MAX, &options->seed);
    case OPTION_OUTPUT_SCALE:
        options->scale_text = optarg;
        return arguments_parse_ratio("--output-scale", optarg, &options->scale);
    case OPTION_BITS:
        options->bits = optarg;
        return true;
    case OPTION_THREADS:
        return parse_threads(optarg, options);
    case 'o':
        *format = optarg;
        return true;
    case OPTION_NO_SYNC:
        options->sync = false;
        return true;
    case 'q':
        options->quiet = true;
        return true;
    default:
        return false;
    }
}

/* A recording's name says nothing of its format; without one it is cf32. */
static bool choose_format(struct gen_options *options, const char *format)
{
    options->is_sigmf = sigmf_name_is_explicit(options->output);
    if (!format && options->is_sigmf)
        format = "cf32";
    if (!format && sigmf_name_unsupported(options->output)) {
        message_print(options->output, "not the name of a recording; OUTPUT.sigmf-meta is");
        return false;
    }
    if (!sample_format_for_symbols("--output-format", format, options->output, &options->format))
        return false;
    if (options->is_sigmf && !sigmf_is_available())
        message_print(options->output, "SigMF, but this softqam-gen was built without cJSON or libcrypto");
    else if (options->is_sigmf && !sigmf_samples_check(options->format))
        message_print("--output-format", "%s has no datatype in SigMF; choose another", format);
    else
        return true;
    return false;
}

/* Room for 4 (cs16) and 2 (cs8) where the outermost component of 1024QAM is 31/sqrt(682) = 1.19: at softqam-demod's own
 * default, where full scale is 1, it would be clipped. */
static void choose_scale(struct gen_options *options)
{
    static const struct {
        double scale;
        const char *text;
    } defaults[] = {[SOFTQAM_INPUT_CF32] = {1, "1"},
                    [SOFTQAM_INPUT_CS16] = {1.0 / 8192, "1/8192"},
                    [SOFTQAM_INPUT_CS8] = {1.0 / 64, "1/64"},
                    [SOFTQAM_INPUT_CF16] = {1, "1"}};
    if (options->scale_text)
        return;
    options->scale = defaults[options->format].scale;
    options->scale_text = defaults[options->format].text;
}

enum gen_action gen_options_parse(int argc, char *const argv[], struct gen_options *options)
{
    const char *format = NULL;
    *options = (struct gen_options){.modulation = SOFTQAM_MODULATION_256QAM,
                                    .n_symbols = DEFAULT_SYMBOLS,
                                    .seed = 1,
                                    .snr_db = (double)INFINITY,
                                    .n_threads = count_cpus(),
                                    .sync = true};
    for (;;) {
        const int option = arguments_next(argc, argv, short_options, long_options);
        if (option == -1)
            break;
        if (option == 'h')
            return GEN_HELP;
        if (option == 'V')
            return GEN_VERSION;
        if (!parse_option(option, options, &format))
            return GEN_WRONG;
    }
    if (!arguments_count_operands(argc, 1, "OUTPUT"))
        return GEN_WRONG;
    options->output = argv[optind];
    if (!choose_format(options, format))
        return GEN_WRONG;
    choose_scale(options);
    return GEN_RUN;
}
