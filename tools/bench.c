/* SPDX-License-Identifier: MIT */
/* softqam-bench: how fast each backend is on this machine, beside limits measured in the same run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam.h>

#include "arguments.h"
#include "bench_sections.h"
#include "message.h"
#include "transmitter.h"

static const char help[] =
    "Usage: softqam-bench [options]\n"
    "\n"
    "Measures how fast this machine demodulates, beside limits measured in the same run: memcpy by one thread,\n"
    "device-to-device memcpy, both directions of the bus together. Bytes are verified before they count. Prints a\n"
    "table; the last column is the rate in bytes relative to the limit's.\n"
    "\n"
    "  --backend all|cpu|cuda    what is measured (default all)\n"
    "  --symbols N               symbols of the large host runs (default 67108864)\n"
    "  --device-symbols N        symbols of the runs on device memory (default 268435456)\n"
    "  --samples N               runs of each measurement (default 25)\n"
    "  --json FILE               all of it with every sample\n"
    "  -h, --help                this text\n"
    "  -V, --version             the version\n"
    "\n"
    "Exit code: 0 measured, 1 something failed or gave wrong bytes, 2 the command was wrong.\n";

struct options {
    int backend;
    uint64_t n_symbols;
    uint64_t n_device_symbols;
    uint64_t n_samples;
    const char *json;
};

enum { BENCH_ALL, BENCH_CPU, BENCH_CUDA };
static const char *const backends[] = {"all", "cpu", "cuda", NULL};

enum { OPTION_BACKEND = 256, OPTION_SYMBOLS, OPTION_DEVICE_SYMBOLS, OPTION_SAMPLES, OPTION_JSON };
static const struct option long_options[] = {{"backend", required_argument, NULL, OPTION_BACKEND},
                                             {"symbols", required_argument, NULL, OPTION_SYMBOLS},
                                             {"device-symbols", required_argument, NULL, OPTION_DEVICE_SYMBOLS},
                                             {"samples", required_argument, NULL, OPTION_SAMPLES},
                                             {"json", required_argument, NULL, OPTION_JSON},
                                             {"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, 'V'},
                                             {NULL, 0, NULL, 0}};

static bool take_option(struct options *options, int option)
{
    switch (option) {
    case OPTION_BACKEND:
        return arguments_parse_choice("--backend", optarg, backends, &options->backend);
    case OPTION_SYMBOLS:
        return arguments_parse_count("--symbols", optarg, SLOT_SYMBOLS, UINT32_MAX, &options->n_symbols);
    case OPTION_DEVICE_SYMBOLS:
        return arguments_parse_count("--device-symbols", optarg, 1, UINT32_MAX, &options->n_device_symbols);
    case OPTION_SAMPLES:
        return arguments_parse_count("--samples", optarg, 1, 100000, &options->n_samples);
    case OPTION_JSON:
        options->json = optarg;
        return true;
    default:
        return false;
    }
}

static bool make_input(struct bench_input *input)
{
    struct transmitter transmitter;
    softqam_config config;
    softqam_demodulator *demodulator = NULL;
    input->symbols = malloc(8 * input->n_symbols);
    input->expected = malloc(8 * input->n_symbols);
    if (!input->symbols || !input->expected) {
        message_print(NULL, "no memory for %zu symbols", input->n_symbols);
        return false;
    }
    transmitter_init(&transmitter, 1, 28.0, SOFTQAM_INPUT_CF32, 1.0);
    transmitter_generate(&transmitter, 0, input->n_symbols, input->symbols, NULL);
    softqam_config_init(&config);
    config.backend = SOFTQAM_BACKEND_CPU;
    softqam_status status = softqam_create(&demodulator, &config);
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
    struct bench_input input = {.n_symbols = options->n_symbols};
    bool good = make_input(&input);
    report_fact(&report, "softqam", softqam_version());
    if (good && options->backend != BENCH_CUDA)
        bench_cpu(&report, &input);
    if (good && options->backend != BENCH_CPU)
        bench_cuda(&report, &input, options->n_device_symbols);
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
    struct options options = {.backend = BENCH_ALL, .n_symbols = 1 << 26, .n_device_symbols = 1 << 28, .n_samples = 25};
    message_start("softqam-bench");
    int option;
    while ((option = arguments_next(argc, argv, ":hV", long_options)) != -1) {
        if (option == 'h')
            return message_to_stdout(help);
        if (option == 'V') {
            char version[64];
            snprintf(version, sizeof version, "softqam-bench %s\n", softqam_version());
            return message_to_stdout(version);
        }
        if (!take_option(&options, option))
            return EXIT_COMMAND;
    }
    if (!arguments_count_operands(argc, 0, "no operand"))
        return EXIT_COMMAND;
    return run_bench(&options);
}
