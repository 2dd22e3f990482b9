/* SPDX-License-Identifier: MIT */
/* softqam-bench: how fast each backend is on this machine, beside limits measured in the same run. */
#include "bench.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <softqam/softqam.h>

#include "common/file_name.h"
#include "common/message.h"
#include "common/modulation.h"
#include "common/option_table.h"
#include "common/output_file.h"

struct options {
    int backend;
    struct bench_options bench;
    uint64_t n_samples;
    const char *json;
};

enum {
    BENCH_OF_ALL = (1 << N_BENCH_SECTIONS) - 1,
    BENCH_OF_RECEIVERS = (1 << BENCH_FORMATS) - 1,
    BENCH_OF_CPU = ((1 << BENCH_HOST) - 1) & ~(1 << BENCH_IN_CHAIN)
};

enum { BACKEND_ALL, BACKEND_CPU, BACKEND_CUDA };
static const char *const backends[] = {"all", "cpu", "cuda", NULL};
static const char *const sections[] = {"fading",  "layers", "calls",  "buffers", "chain", "erasures",
                                       "formats", "host",   "choice", "all",     NULL};

static bool take_sections(const struct option_call *call)
{
    unsigned *chosen = &((struct options *)call->target)->bench.sections;
    const char *list = call->text;
    char name[ARGUMENTS_NAME_NBYTES];
    int section;
    *chosen = 0;
    while (arguments_next_name(&list, name)) {
        if (!arguments_parse_choice(call->row->name, name, sections, &section))
            return false;
        *chosen |= section == N_BENCH_SECTIONS ? (unsigned)BENCH_OF_ALL : 1u << section;
    }
    return true;
}

static bool take_quick(const struct option_call *call)
{
    struct options *options = call->target;
    options->n_samples = 5;
    options->bench.n_symbols = options->bench.n_largest = 1 << 20;
    options->bench.n_device_symbols = 1 << 24;
    return true;
}

#define TO(member) .offset = offsetof(struct options, member)

/* clang-format off */
static const struct option_row rows[] = {
    OPTION_TEXT("Usage: softqam-bench [options]"),
    OPTION_TEXT("Measures how fast this machine demodulates what receivers have: symbols that went through a fading channel, layers "
         "interleaved, an OFDM symbol a call. Bytes are verified before they are timed. What stands in one row of a table is "
         "measured in turns with its limit: a loop or kernel that only reads and writes the same bytes. Figures are medians; "
         "\"spread\" is half of the way from the first decile to the ninth, over the median, of the row's noisiest "
         "measurement."),
    OPTION_TEXT("Options:"),
    {"--modulation", "NAME",
     "bpsk, pi2-bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam; of tables that are of one modulation; default: 256qam",
     option_take_modulation, TO(bench.modulation), .letter = 'm'},
    {"--backend", "NAME", "all, cpu or cuda; default: all", option_take_choice, TO(backend), .names = backends},
    {"--section", "LIST",
     "some of fading, layers, calls, buffers, chain, erasures, formats, host, choice; with no space between "
     "them; or all; default: the first six",
     .take = take_sections},
    {"--symbols", "N", "symbols of the large CPU runs; default: 16777216", option_take_count, TO(bench.n_symbols),
     SLOT_ELEMENTS, UINT32_MAX},
    {"--largest", "N", "symbols of the largest of the CUDA backend's host runs; default: 67108864", option_take_count,
     TO(bench.n_largest), 1, UINT32_MAX},
    {"--device-symbols", "N", "symbols of the runs on device memory; default: 67108864", option_take_count,
     TO(bench.n_device_symbols), 1, UINT32_MAX},
    {"--samples", "N", "runs of each measurement; default: 25", option_take_count, TO(n_samples), 1, 100000},
    {"--quick", NULL, "5 samples, large runs of 1 Mi symbols, on the device 16 Mi, unless given after it", .take = take_quick},
    {"--json", "FILE", "write all of it: medians, other quantiles, tables and the facts of the machine", option_take_text, TO(json)},
    {"--help", NULL, "this text", .letter = 'h'},
    {"--version", NULL, "the version", .letter = 'V'},
    OPTION_TEXT("Sections, what a receiver has first:"),
    OPTION_TEXT("  fading    a slot of each modulation: N0 as it comes out of an equaliser, at\n"
         "            every mean SNR where the modulation works, and one N0 at 28 dB; on\n"
         "            the device large launches with N0 in several ranges\n"
         "  layers    layers interleaved by resource element, some of those that are, and\n"
         "            layers apart: descrambled, de-interleaved, in codewords, relative\n"
         "            to the same number of symbols in one layer\n"
         "  calls     an OFDM symbol or less a call, where the scrambling sequence begins\n"
         "            anywhere or where the last call ended, caches hot and cold; what a\n"
         "            further segment takes; CUDA: from launch to synchronisation\n"
         "  buffers   a codeword to the soft buffers of a decoder, new or added, relative to\n"
         "            bit planes alone; CPU: an OFDM symbol a call; CUDA: in a graph, and\n"
         "            from launch to synchronisation\n"
         "  chain     CUDA: a slot and four slots between two kernels, data in the second\n"
         "            cache, neighbours that overlap and neighbours that do not\n"
         "  erasures  a slot with erased symbols, relative to the rate without\n"
         "  formats   all inputs and outputs, a slot and, on the CPU, large; CUDA: in a\n"
         "            graph with its data from memory\n"
         "  host      CUDA: host to host: pinned, pageable by 1 to 16 threads, one slot\n"
         "  choice    1, 4, 16 ... symbols to --largest: CPU, and CUDA relative to it"),
    OPTION_TEXT("Exit status:"),
    OPTION_TEXT("  0  measured\n"
         "  1  something failed or gave wrong bytes\n"
         "  2  the command was wrong"),
    {.name = NULL},
};
/* clang-format on */

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* What the build was configured from, where that was a git repository. */
#ifndef BENCH_COMMIT
#define BENCH_COMMIT "unknown"
#endif

/* "model name : ..." of the first processor, where the kernel tells. */
static void read_cpu(char *cpu)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "model name : %100[^\n]", cpu) != 1)
        ;
    if (file)
        fclose(file);
}

/* The facts without which a measurement says nothing: the program, its build and the CPU. */
static void report_machine(struct bench_report *report)
{
    struct utsname names;
    softqam_demodulator *demodulator;
    char text[256] = "unknown";
    bench_report_fact(report, "softqam", softqam_version());
    bench_report_fact(report, "commit", BENCH_COMMIT);
    read_cpu(text);
    bench_report_fact(report, "cpu", text);
    snprintf(text, sizeof text, "unknown");
    if (uname(&names) == 0)
        snprintf(text, sizeof text, "%.64s %.64s %.64s", names.sysname, names.release, names.machine);
    bench_report_fact(report, "kernel", text);
    bench_report_fact(report, "compiler", COMPILER);
    (void)bench_create(&demodulator, &(struct bench_case){.n_symbols = 0}, SOFTQAM_BACKEND_CPU, NULL, 0);
    bench_report_fact(report, "cpu_loop", softqam_backend_detail(demodulator)); /* its own choice, and its threads */
    softqam_demodulator_destroy(demodulator);
}

/* The sections that a backend has. */
static struct bench_options options_of(const struct options *options, int backend)
{
    struct bench_options chosen = options->bench;
    if (backend == BACKEND_CPU)
        chosen.sections &= BENCH_OF_CPU;
    if (options->backend != BACKEND_ALL && options->backend != backend)
        chosen.sections = 0;
    return chosen;
}

static int run_bench(const struct options *options)
{
    const struct bench_options of_cpu = options_of(options, BACKEND_CPU), of_cuda = options_of(options, BACKEND_CUDA);
    struct bench_report report;
    struct output_file json = {.fd = -1};
    if (!of_cpu.sections && !of_cuda.sections) {
        message_print("--section", "none of them is measured with --backend %s", backends[options->backend]);
        return EXIT_COMMAND;
    }
    if (options->json && !output_file_open(&json, options->json, OUTPUT_FILE_SYNC))
        return EXIT_FAILED;
    bench_report_begin(&report, options->n_samples);
    report_machine(&report);
    if (of_cpu.sections)
        bench_cpu(&report, &of_cpu);
#ifdef BENCH_CUDA
    if (of_cuda.sections)
        bench_cuda(&report, &of_cuda);
#else
    if (of_cuda.sections)
        message_print("cuda", "not measured: this build has no CUDA backend");
#endif
    const bool good = bench_report_end(&report, options->json ? &json : NULL);
    output_file_discard(&json);
    return good ? message_end_stdout() : EXIT_FAILED;
}

int main(int argc, char *argv[])
{
    struct options options = {.backend = BACKEND_ALL,
                              .bench = {BENCH_OF_RECEIVERS, SOFTQAM_MODULATION_256QAM, 1 << 24, 1 << 26, 1 << 26},
                              .n_samples = 25};
    message_start("softqam-bench");
    const enum option_result action = option_table_parse(rows, argc, argv, &options);
    if (action != OPTIONS_RUN)
        return option_table_answer(action, rows);
    if (!arguments_count_operands(argc, 0, NULL))
        return EXIT_COMMAND;
    if (options.json && file_name_descriptor(options.json, STDOUT_FILENO) == STDOUT_FILENO) {
        message_print("--json", "'%s' is where the tables go; give it a file", options.json);
        return EXIT_COMMAND;
    }
    return run_bench(&options);
}
