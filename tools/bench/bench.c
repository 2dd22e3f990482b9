/* SPDX-License-Identifier: MIT */
/* softqam-bench: how fast each backend is on this machine, beside limits measured in the same run. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <softqam/softqam.h>

#include "common/arguments.h"
#include "common/file_name.h"
#include "common/message.h"
#include "common/modulation.h"
#include "common/output_file.h"
#include "create.h"
#include "machine.h"
#include "sections.h"

static const char help[] = "Usage: softqam-bench [options]\n"
                           "\n"
                           "Measures how fast this machine demodulates what receivers have: symbols that went\n"
                           "through a fading channel, layers interleaved, an OFDM symbol a call. Bytes are\n"
                           "verified before they are timed. What stands in one row of a table is measured in\n"
                           "turns with its limit: a loop or kernel that only reads and writes the same bytes.\n"
                           "Figures are medians; \"spread\" is half of the way from the first decile to the\n"
                           "ninth, over the median, of the row's most restless measurement.\n"
                           "\n"
                           "  -m, --modulation NAME   bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam, 1024qam or\n"
                           "                          all; of tables that are of one modulation; default:\n"
                           "                          256qam\n"
                           "      --backend NAME      all, cpu or cuda; default: all\n"
                           "      --section LIST      some of fading, layers, calls, chain, erasures, formats,\n"
                           "                          threads, objects, segments, host, choice, devices; with\n"
                           "                          no space between them; or all; default: the first five\n"
                           "      --symbols N         symbols of the large CPU runs; default: 16777216\n"
                           "      --largest N         symbols of the largest of the CUDA backend's host runs;\n"
                           "                          default: 67108864\n"
                           "      --device-symbols N  symbols of the runs on device memory;\n"
                           "                          default: 67108864\n"
                           "      --samples N         runs of each measurement; default: 25\n"
                           "      --quick             5 samples, large runs of 1 Mi symbols, on the device\n"
                           "                          16 Mi, unless given after it\n"
                           "      --json FILE         write all of it, every sample and the facts of the\n"
                           "                          machine\n"
                           "  -h, --help              this text\n"
                           "  -V, --version           the version\n"
                           "\n"
                           "Sections, what a receiver has first:\n"
                           "  fading    a slot of each modulation: N0 as it comes out of an equaliser, at every\n"
                           "            mean SNR where the modulation works, and one N0 at 28 dB; on the device\n"
                           "            large launches with N0 in several ranges\n"
                           "  layers    layers interleaved by resource element, some of those that are, and\n"
                           "            layers apart: descrambled, de-interleaved, in codewords, relative to the\n"
                           "            same memory declared as one layer\n"
                           "  calls     an OFDM symbol or less a call, where the scrambling sequence begins\n"
                           "            anywhere or where the last call ended, caches hot and cold; what a\n"
                           "            segment more takes; CUDA: from launch to synchronisation\n"
                           "  chain     CUDA: a slot and four slots between two kernels, data in the second\n"
                           "            cache, neighbours that overlap and neighbours that do not\n"
                           "  erasures  a slot with erased symbols, relative to the rate without\n"
                           "  formats   all inputs and outputs, a slot and large; CUDA: one launch, and a slot\n"
                           "            in a graph with its data from memory\n"
                           "  threads   1, 2, 4 ... threads of the CPU; soft bits (u8) by one and by all, and\n"
                           "            liquid-dsp's\n"
                           "  objects   time, threads and memory of a context with one and with six\n"
                           "            demodulators; up to 16 threads on one demodulator\n"
                           "  segments  CUDA: a slot as segments in a launch, and one large call\n"
                           "  host      CUDA: host to host: pinned, pageable by 1 to 16 threads, one slot\n"
                           "  choice    1, 4, 16 ... symbols to --largest: CPU, and CUDA relative to it\n"
                           "  devices   1, 2, 4 ... GPUs, where there are several\n"
                           "\n"
                           "Exit status:\n"
                           "  0  measured\n"
                           "  1  something failed or gave wrong bytes\n"
                           "  2  the command was wrong\n";

struct options {
    int backend;
    bool all_modulations;
    struct bench_options bench;
    uint64_t n_samples;
    const char *json;
};

enum { BENCH_ALL, BENCH_CPU, BENCH_CUDA };
static const char *const backends[] = {"all", "cpu", "cuda", NULL};
static const char *const sections[] = {"fading",  "layers",   "calls", "chain",  "erasures", "formats", "threads",
                                       "objects", "segments", "host",  "choice", "devices",  "all",     NULL};

enum {
    OPTION_BACKEND = 256,
    OPTION_SECTION,
    OPTION_SYMBOLS,
    OPTION_LARGEST,
    OPTION_DEVICE_SYMBOLS,
    OPTION_SAMPLES,
    OPTION_QUICK,
    OPTION_JSON
};
static const struct option long_options[] = {{"modulation", required_argument, NULL, 'm'},
                                             {"backend", required_argument, NULL, OPTION_BACKEND},
                                             {"section", required_argument, NULL, OPTION_SECTION},
                                             {"symbols", required_argument, NULL, OPTION_SYMBOLS},
                                             {"largest", required_argument, NULL, OPTION_LARGEST},
                                             {"device-symbols", required_argument, NULL, OPTION_DEVICE_SYMBOLS},
                                             {"samples", required_argument, NULL, OPTION_SAMPLES},
                                             {"quick", no_argument, NULL, OPTION_QUICK},
                                             {"json", required_argument, NULL, OPTION_JSON},
                                             {"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, 'V'},
                                             {NULL, 0, NULL, 0}};

static bool parse_sections(const char *list, unsigned *chosen)
{
    char name[ARGUMENTS_NAME_NBYTES];
    int section;
    *chosen = 0;
    while (arguments_next_name(&list, name)) {
        if (!arguments_parse_choice("--section", name, sections, &section))
            return false;
        *chosen |= section == N_BENCH_SECTIONS ? (unsigned)BENCH_OF_ALL : 1u << section;
    }
    return true;
}

static bool take_option(struct options *options, int option)
{
    switch (option) {
    case 'm':
        options->all_modulations = strcmp(optarg, "all") == 0;
        return options->all_modulations || modulation_parse(optarg, &options->bench.modulation);
    case OPTION_BACKEND:
        return arguments_parse_choice("--backend", optarg, backends, &options->backend);
    case OPTION_SECTION:
        return parse_sections(optarg, &options->bench.sections);
    case OPTION_SYMBOLS:
        return arguments_parse_count("--symbols", optarg, SLOT_SYMBOLS, UINT32_MAX, &options->bench.n_symbols);
    case OPTION_LARGEST:
        return arguments_parse_count("--largest", optarg, 1, UINT32_MAX, &options->bench.n_largest);
    case OPTION_DEVICE_SYMBOLS:
        return arguments_parse_count("--device-symbols", optarg, 1, UINT32_MAX, &options->bench.n_device_symbols);
    case OPTION_SAMPLES:
        return arguments_parse_count("--samples", optarg, 1, 100000, &options->n_samples);
    case OPTION_QUICK:
        options->n_samples = 5;
        options->bench.n_symbols = options->bench.n_largest = 1 << 20;
        options->bench.n_device_symbols = 1 << 24;
        return true;
    case OPTION_JSON:
        options->json = optarg;
        return true;
    default:
        return false;
    }
}

static unsigned sections_of_cpu(const struct options *options)
{
    return options->backend == BENCH_CUDA ? 0 : options->bench.sections & BENCH_OF_CPU;
}

static unsigned sections_of_cuda(const struct options *options)
{
    return options->backend == BENCH_CPU ? 0 : options->bench.sections & BENCH_OF_CUDA;
}

/* All sections with the modulation that was chosen; or with each, those again that depend on it. */
static void measure(struct report *report, const struct options *options)
{
    const unsigned of_cpu = sections_of_cpu(options), of_cuda = sections_of_cuda(options);
    struct bench_options chosen = options->bench;
    const softqam_modulation last = options->all_modulations ? SOFTQAM_MODULATION_1024QAM : chosen.modulation;
    if (options->all_modulations)
        chosen.modulation = SOFTQAM_MODULATION_BPSK;
    for (; chosen.modulation <= last; chosen.modulation++, chosen.is_first = false) {
        chosen.sections = of_cpu;
        if (chosen.sections != 0)
            bench_cpu(report, &chosen);
        chosen.sections = of_cuda;
        if (chosen.sections != 0)
            bench_cuda(report, &chosen);
    }
}

/* What can be found wrong with the command before hours of measuring. */
static bool check_options(const struct options *options)
{
    if (options->json && file_name_descriptor(options->json, STDOUT_FILENO) == STDOUT_FILENO)
        message_print("--json", "'%s' is where the tables go; give it a file", options->json);
    else if (!sections_of_cpu(options) && !sections_of_cuda(options))
        message_print("--section", "none of them is measured with --backend %s", backends[options->backend]);
    else
        return true;
    return false;
}

static int run_bench(const struct options *options)
{
    struct output_file json = {.fd = -1};
    if (options->json && !output_file_open(&json, options->json, OUTPUT_FILE_SYNC))
        return EXIT_FAILED;
    struct report report;
    report_init(&report, options->n_samples);
    bench_machine_report(&report);
    measure(&report, options);
    const bool good = !options->json || report_write_json(&report, &json);
    output_file_discard(&json);
    report_free(&report);
    return good && !report.failed && report.n_measurements > 0 ? message_end_stdout() : EXIT_FAILED;
}

int main(int argc, char *argv[])
{
    struct options options = {.backend = BENCH_ALL,
                              .bench = {BENCH_OF_RECEIVERS, true, SOFTQAM_MODULATION_256QAM, 1 << 24, 1 << 26, 1 << 26},
                              .n_samples = 25};
    message_start("softqam-bench");
    int option;
    while ((option = arguments_next(argc, argv, ":m:hV", long_options)) != -1) {
        if (option == 'h')
            return message_to_stdout(help);
        if (option == 'V')
            return message_version_to_stdout();
        if (!take_option(&options, option))
            return EXIT_COMMAND;
    }
    if (!arguments_count_operands(argc, 0, NULL) || !check_options(&options))
        return EXIT_COMMAND;
    return run_bench(&options);
}
