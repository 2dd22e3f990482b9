/* SPDX-License-Identifier: MIT */
#include "options.h"

#include "common/arguments.h"
#include "common/message.h"
#include "common/modulation.h"

static const char help[] = "Usage: softqam-receiver [options]\n"
                           "\n"
                           "A receiver in miniature: slots of 4 layers, 14 OFDM symbols and 273 resource\n"
                           "blocks of 5G NR, each layer through a channel with several paths and noise,\n"
                           "transformed, equalised with one tap a subcarrier, and demodulated to 8-bit LLRs\n"
                           "with the noise variance of each symbol: all codewords of a slot, whatever\n"
                           "their modulations, in one call. The LLRs come out in the soft buffers of an LDPC\n"
                           "decoder: descrambled, de-interleaved, each code block's in its circular buffer.\n"
                           "Of four slots the second sends the code blocks of the first again, with another\n"
                           "redundancy version, which is added. A slot arrives every 0.5 ms. Only that call\n"
                           "counts: the slots are made before, and come again and again.\n"
                           "\n"
                           "      --backend NAME  cpu, cuda or device; cpu and cuda: host memory; device:\n"
                           "                      symbols and LLRs in device memory, in a stream of the\n"
                           "                      receiver's own; default: cpu\n"
                           "  -m, --modulation LIST\n"
                           "                      modulations of the codewords in turns, some of bpsk,\n"
                           "                      pi2-bpsk, qpsk, 16qam, 64qam, 256qam, 1024qam, with no\n"
                           "                      space between them; default: 256qam\n"
                           "      --layers N      layers of a codeword, 1, 2 or 4; default: 4, with pi2-bpsk,\n"
                           "                      which has one, 1\n"
                           "      --codewords N   codewords among which the resource blocks of these layers\n"
                           "                      are divided, 1 to 64; default: as few as give every\n"
                           "                      modulation one\n"
                           "      --slots N       slots that are timed; default: 20000, which are 10 s\n"
                           "      --snr-db X      mean Es/N0 before equalisation, 0 to 60; default: 28\n"
                           "      --seed S        of bits, channels and noise; default: 1\n"
                           "      --different N   slots that are made, 1 to 1000; default: 8\n"
                           "      --threads N     CPU threads of the library, 1 to 1024; default: 1\n"
                           "      --spin          wait for a slot by reading the clock, not by sleeping\n"
                           "      --real-time     the receiver's thread is SCHED_FIFO\n"
                           "      --require X     fail unless this share of the slots, 0 to 1, is done\n"
                           "                      within 0.5 ms of its arrival\n"
                           "  -h, --help          this text\n"
                           "  -V, --version       the version\n"
                           "\n"
                           "Exit status:\n"
                           "  0  done\n"
                           "  1  something failed, was wrong or too late\n"
                           "  2  the command was wrong\n";

static const char *const backends[] = {"cpu", "cuda", "device", NULL};

enum {
    OPTION_BACKEND = 256,
    OPTION_LAYERS,
    OPTION_CODEWORDS,
    OPTION_SLOTS,
    OPTION_SNR_DB,
    OPTION_SEED,
    OPTION_DIFFERENT,
    OPTION_THREADS,
    OPTION_SPIN,
    OPTION_REAL_TIME,
    OPTION_REQUIRE
};
static const struct option long_options[] = {{"backend", required_argument, NULL, OPTION_BACKEND},
                                             {"modulation", required_argument, NULL, 'm'},
                                             {"layers", required_argument, NULL, OPTION_LAYERS},
                                             {"codewords", required_argument, NULL, OPTION_CODEWORDS},
                                             {"slots", required_argument, NULL, OPTION_SLOTS},
                                             {"snr-db", required_argument, NULL, OPTION_SNR_DB},
                                             {"seed", required_argument, NULL, OPTION_SEED},
                                             {"different", required_argument, NULL, OPTION_DIFFERENT},
                                             {"threads", required_argument, NULL, OPTION_THREADS},
                                             {"spin", no_argument, NULL, OPTION_SPIN},
                                             {"real-time", no_argument, NULL, OPTION_REAL_TIME},
                                             {"require", required_argument, NULL, OPTION_REQUIRE},
                                             {"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, 'V'},
                                             {NULL, 0, NULL, 0}};

static bool parse_modulations(struct options *options, const char *list)
{
    char name[ARGUMENTS_NAME_NBYTES];
    options->n_modulations = 0;
    while (arguments_next_name(&list, name)) {
        if (options->n_modulations == MAX_MODULATIONS) {
            message_print("--modulation", "more than %d modulations", MAX_MODULATIONS);
            return false;
        }
        if (!modulation_parse(name, &options->modulations[options->n_modulations++]))
            return false;
    }
    return true;
}

static bool take_option(struct options *options, int option)
{
    switch (option) {
    case OPTION_BACKEND:
        return arguments_parse_choice("--backend", optarg, backends, &options->backend);
    case 'm':
        return parse_modulations(options, optarg);
    case OPTION_LAYERS:
        return arguments_parse_count("--layers", optarg, 1, LAYERS, &options->n_layers);
    case OPTION_CODEWORDS:
        return arguments_parse_count("--codewords", optarg, 1, MAX_LAYER_CODEWORDS, &options->layer_codewords);
    case OPTION_SLOTS:
        return arguments_parse_count("--slots", optarg, 1, 100000000, &options->n_slots);
    case OPTION_SNR_DB:
        return arguments_parse_real("--snr-db", optarg, 0, 60, &options->snr_db);
    case OPTION_SEED:
        return arguments_parse_count("--seed", optarg, 0, UINT64_MAX, &options->seed);
    case OPTION_DIFFERENT:
        return arguments_parse_count("--different", optarg, 1, 1000, &options->n_different);
    case OPTION_THREADS:
        return arguments_parse_count("--threads", optarg, 1, 1024, &options->n_threads);
    case OPTION_SPIN:
        options->spin = true;
        return true;
    case OPTION_REAL_TIME:
        options->real_time = true;
        return true;
    case OPTION_REQUIRE:
        return arguments_parse_real("--require", optarg, 0, 1, &options->required);
    default:
        return false;
    }
}

static bool choose_layers(struct options *options)
{
    bool is_single = false;
    for (size_t k = 0; k < options->n_modulations; k++)
        is_single = is_single || options->modulations[k] == SOFTQAM_MODULATION_PI2_BPSK;
    if (options->n_layers == 0)
        options->n_layers = is_single ? 1 : LAYERS;
    if (LAYERS % options->n_layers != 0) {
        message_print("--layers", "%d layers are not in groups of %d", LAYERS, (int)options->n_layers);
        return false;
    }
    if (is_single && options->n_layers > 1) {
        message_print("--layers", "pi2-bpsk has 1 layer, not %d", (int)options->n_layers);
        return false;
    }
    return true;
}

static bool choose_codewords(struct options *options)
{
    const uint64_t n_groups = LAYERS / options->n_layers;
    const uint64_t fewest = (options->n_modulations + n_groups - 1) / n_groups;
    if (options->layer_codewords == 0)
        options->layer_codewords = fewest;
    if (options->layer_codewords >= fewest)
        return true;
    const int n_codewords = (int)(options->layer_codewords * n_groups);
    message_print("--codewords", "%d codeword%s for %zu modulations: too few", n_codewords, PLURAL(n_codewords),
                  options->n_modulations);
    return false;
}

bool options_parse(struct options *options, int argc, char *argv[], int *status)
{
    int option;
    *options = (struct options){.modulations = {SOFTQAM_MODULATION_256QAM},
                                .n_modulations = 1,
                                .n_slots = 20000,
                                .n_different = 8,
                                .seed = 1,
                                .n_threads = 1,
                                .snr_db = 28};
    *status = EXIT_COMMAND;
    while ((option = arguments_next(argc, argv, ":m:hV", long_options)) != -1) {
        if (option == 'h' || option == 'V') {
            *status = option == 'h' ? message_to_stdout(help) : message_version_to_stdout();
            return false;
        }
        if (!take_option(options, option))
            return false;
    }
    return arguments_count_operands(argc, 0, NULL) && choose_layers(options) && choose_codewords(options);
}
