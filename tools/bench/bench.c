/* SPDX-License-Identifier: MIT */
/* softqam-bench: how fast each backend is on this machine, beside limits measured in the same run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam.h>

#include "common/arguments.h"
#include "common/message.h"
#include "common/transmitter.h"
#include "create.h"
#include "machine.h"
#include "sections.h"

static const char help[] = "Usage: softqam-bench [options]\n"
                           "\n"
                           "Measures how fast this machine demodulates, beside limits measured in the same\n"
                           "run: memcpy, loops that only read and write as many bytes, device-to-device\n"
                           "memcpy, both directions of the bus together. Bytes are verified before they\n"
                           "count. Prints a table; the last column is the rate in bytes relative to the\n"
                           "limit's, or to that of the line that a section says below.\n"
                           "\n"
                           "      --backend NAME      all, cpu or cuda; default: all\n"
                           "      --section LIST      some of variants, worst, formats, threads, sizes,\n"
                           "                          overhead, objects, device, graph, host, streams,\n"
                           "                          choice, devices; with no space between them;\n"
                           "                          default: all\n"
                           "      --symbols N         symbols of the large CPU runs; default: 16777216\n"
                           "      --largest N         symbols of the largest of the sizes, and of the\n"
                           "                          CUDA backend's host runs; default: 67108864\n"
                           "      --device-symbols N  symbols of the runs on device memory;\n"
                           "                          default: 268435456\n"
                           "      --samples N         runs of each measurement; default: 25\n"
                           "      --quick             5 samples, a large run of 1 Mi symbols, sizes to\n"
                           "                          1 Mi, unless given after it\n"
                           "      --json FILE         all of it with every sample and the facts of the\n"
                           "                          machine\n"
                           "  -h, --help              this text\n"
                           "  -V, --version           the version\n"
                           "\n"
                           "Sections of the CPU's measurements:\n"
                           "  variants  every instruction set, one thread, one slot and large; liquid-dsp\n"
                           "  worst     zeros, boundaries, 5 dB, NaN, subnormal and the smallest normal\n"
                           "            components relative to 28 dB\n"
                           "  formats   all inputs and outputs, bytes a second relative to cf32 to s8\n"
                           "  threads   1, 2, 4 ... threads relative to one\n"
                           "  sizes     1, 2, 4 ... symbols to --largest, by one thread and by all\n"
                           "  overhead  calls with 1 and 100 symbols\n"
                           "  objects   a table of its own: what a context with one and with six\n"
                           "            demodulators takes: time, threads, memory; and up to 16 threads\n"
                           "            with calls of 1000 symbols on one demodulator, relative to as\n"
                           "            many contexts\n"
                           "\n"
                           "Sections of CUDA's:\n"
                           "  objects   the same with AUTO, with CUDA, and for device memory alone\n"
                           "  device    data on the device, all inputs and outputs, a peer, a baseline\n"
                           "  graph     slots on the device as a CUDA graph\n"
                           "  host      host to host: pinned, pageable by 1 to 16 threads, one slot\n"
                           "  streams   1 to 8 streams, either order of issue, relative to one stream\n"
                           "  choice    1, 4, 16 ... symbols to --largest: CPU, CUDA, and AUTO relative to\n"
                           "            the better of the two\n"
                           "  devices   1, 2, 4 ... GPUs, where there are several\n"
                           "\n"
                           "Exit status:\n"
                           "  0  measured\n"
                           "  1  something failed or gave wrong bytes\n"
                           "  2  the command was wrong\n";

struct options {
    int backend;
    uint64_t n_symbols;
    uint64_t n_largest;
    uint64_t n_device_symbols;
    uint64_t n_samples;
    unsigned sections;
    const char *json;
};

enum { BENCH_ALL, BENCH_CPU, BENCH_CUDA };
static const char *const backends[] = {"all", "cpu", "cuda", NULL};
static const char *const sections[] = {"variants", "worst", "formats", "threads", "sizes",  "overhead", "objects",
                                       "device",   "graph", "host",    "streams", "choice", "devices",  NULL};

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
static const struct option long_options[] = {{"backend", required_argument, NULL, OPTION_BACKEND},
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
    *chosen = 0;
    for (;;) {
        char name[32];
        int section;
        const size_t length = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), list);
        if (!arguments_parse_choice("--section", name, sections, &section))
            return false;
        *chosen |= 1u << section;
        if (!list[length])
            return true;
        list += length + 1;
    }
}

static bool take_option(struct options *options, int option)
{
    switch (option) {
    case OPTION_BACKEND:
        return arguments_parse_choice("--backend", optarg, backends, &options->backend);
    case OPTION_SECTION:
        return parse_sections(optarg, &options->sections);
    case OPTION_SYMBOLS:
        return arguments_parse_count("--symbols", optarg, SLOT_SYMBOLS, UINT32_MAX, &options->n_symbols);
    case OPTION_LARGEST:
        return arguments_parse_count("--largest", optarg, 1, UINT32_MAX, &options->n_largest);
    case OPTION_DEVICE_SYMBOLS:
        return arguments_parse_count("--device-symbols", optarg, 1, UINT32_MAX, &options->n_device_symbols);
    case OPTION_SAMPLES:
        return arguments_parse_count("--samples", optarg, 1, 100000, &options->n_samples);
    case OPTION_QUICK:
        options->n_samples = 5;
        options->n_symbols = 1 << 20;
        options->n_largest = 1 << 20;
        options->n_device_symbols = 1 << 24;
        return true;
    case OPTION_JSON:
        options->json = optarg;
        return true;
    default:
        return false;
    }
}

void bench_fill(void *symbols, size_t n_symbols, double snr_db, softqam_input_format format, float scale)
{
    struct transmitter transmitter;
    transmitter_init(&transmitter, SOFTQAM_MODULATION_256QAM, 1, snr_db, format, (double)scale);
    transmitter_generate(&transmitter, 0, n_symbols, symbols, NULL);
}

static bool make_input(struct bench_input *input)
{
    softqam_demodulator *demodulator = NULL;
    const softqam_context_config config = bench_context_config(SOFTQAM_BACKEND_CPU, 0);
    input->symbols = malloc(8 * input->n_symbols);
    input->expected = malloc(8 * input->n_symbols);
    if (!input->symbols || !input->expected) {
        message_print(NULL, "no memory for %zu symbols", input->n_symbols);
        return false;
    }
    bench_fill(input->symbols, input->n_symbols, 28.0, SOFTQAM_INPUT_CF32, 1.0f);
    softqam_status status = bench_create(&demodulator, &config, NULL);
    if (status == SOFTQAM_OK)
        status = softqam_demodulate(demodulator, input->symbols, NULL, input->n_symbols, input->expected);
    if (status != SOFTQAM_OK)
        message_print(NULL, "%s", softqam_error_message());
    softqam_destroy(demodulator);
    return status == SOFTQAM_OK;
}

static int run_bench(const struct options *options)
{
    struct report report = {.n_samples = options->n_samples};
    const bool cpu = options->backend != BENCH_CUDA && (options->sections & BENCH_OF_CPU) != 0;
    const bool cuda = options->backend != BENCH_CPU && (options->sections & BENCH_OF_CUDA) != 0;
    struct bench_input input = {.n_symbols = options->n_symbols};
    if (cuda && options->n_largest > input.n_symbols)
        input.n_symbols = options->n_largest;
    const struct bench_options sizes = {options->sections, options->n_largest, options->n_device_symbols};
    struct bench_machine machine;
    bench_machine_read(&machine);
    bool good = make_input(&input);
    const struct bench_input large = {input.symbols, options->n_symbols, input.expected};
    report_fact(&report, "softqam", softqam_version());
    report_fact(&report, "commit", BENCH_COMMIT);
    report_fact(&report, "cpu", machine.cpu);
    report_fact(&report, "kernel", machine.kernel);
    report_fact(&report, "compiler", BENCH_COMPILER);
    report_fact(&report, "cpu_loop", machine.loop);
    if (good && cpu)
        bench_cpu(&report, &large, &sizes);
    if (good && cuda)
        bench_cuda(&report, &input, &sizes);
    if (good)
        report_print(&report);
    if (good && options->json)
        good = report_write_json(&report, options->json);
    free(input.symbols);
    free(input.expected);
    report_free(&report);
    return good && !report.failed ? EXIT_DONE : EXIT_FAILED;
}

int main(int argc, char *argv[])
{
    struct options options = {.backend = BENCH_ALL,
                              .n_symbols = 1 << 24,
                              .n_largest = 1 << 26,
                              .n_device_symbols = 1 << 28,
                              .n_samples = 25,
                              .sections = BENCH_OF_ALL};
    message_start("softqam-bench");
    int option;
    while ((option = arguments_next(argc, argv, ":hV", long_options)) != -1) {
        if (option == 'h')
            return message_to_stdout(help);
        if (option == 'V')
            return message_version_to_stdout();
        if (!take_option(&options, option))
            return EXIT_COMMAND;
    }
    if (!arguments_count_operands(argc, 0, "no operand"))
        return EXIT_COMMAND;
    return run_bench(&options);
}
