/* SPDX-License-Identifier: MIT */
/* softqam-bench: measures how fast each backend is on this machine, and limits in the same run. */
#include "bench.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "common/file.h"
#include "common/message.h"
#include "common/option_table.h"

struct options {
    int backend;
    const char *json;
    struct bench_report report;
};

enum { BACKEND_ALL, BACKEND_CPU, BACKEND_CUDA };
static const char *const backends[] = {"all", "cpu", "cuda", NULL};
static const char *const sections[] = {"fading", "layers", "calls", "buffers", "joint", "formats", "host", "all", NULL};

enum {
    SECTIONS = (1 << N_BENCH_SECTIONS) - 1,
    SECTIONS_OF_CPU = (1 << BENCH_HOST) - 1,
    SECTIONS_OF_CUDA = SECTIONS & ~(1 << BENCH_FORMATS)
};

static bool take_sections(const struct option_call *call)
{
    unsigned *chosen = &((struct options *)call->target)->report.sections;
    size_t length = 0;
    *chosen = 0;
    for (const char *rest = call->text; rest; rest = rest[length] ? rest + length + 1 : NULL) {
        char name[32];
        int section;
        length = strcspn(rest, ",");
        snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : (int)sizeof name, rest);
        if (!arguments_parse_choice(call->row->name, name, sections, &section))
            return false;
        *chosen |= section == N_BENCH_SECTIONS ? (unsigned)SECTIONS : 1u << section;
    }
    return true;
}

#define TO(member) .offset = offsetof(struct options, member)

/* clang-format off */
static const struct option_row rows[] = {
    OPTION_TEXT("Usage: softqam-bench [options]"),
    OPTION_TEXT("Measures how fast this machine demodulates what receivers have: symbols that went through a fading channel, layers "
         "interleaved, an OFDM symbol a call. Bytes are verified before they are timed. Measurements of a table's row "
         "alternate with those of its limit, a loop or kernel that only reads and writes the same bytes. Figures are medians; "
         "\"spread\" is half of the distance from the first decile to the ninth, over the median, for the row's noisiest "
         "measurement."),
    OPTION_TEXT("Options:"),
    {"--backend", "NAME", "all, cpu or cuda; default: all", option_take_choice, TO(backend), .names = backends},
    {"--section", "LIST", "some of fading, layers, calls, buffers, joint, formats, host; with no space between them; or all; "
     "default: all", .take = take_sections},
    {"--largest", "N", "symbols of the largest calls; default: 67108864", option_take_count, TO(report.largest), 1, UINT32_MAX},
    {"--samples", "N", "runs of each measurement; default: 25", option_take_count, TO(report.n_samples), 1, 100000},
    {"--json", "FILE", "write the tables and the facts of the machine", option_take_text, TO(json)},
    {"--help", NULL, "this text", .letter = 'h'},
    {"--version", NULL, "the version", .letter = 'V'},
    OPTION_TEXT("Sections:"),
    OPTION_TEXT("  fading   a slot of each modulation; CUDA: large launches too\n"
         "  layers   all or some of the layers interleaved by resource element, and\n"
         "           layers in arrays of their own: the time over that of one layer\n"
         "           with as many symbols\n"
         "  calls    an OFDM symbol or less; CUDA: from launch to synchronisation\n"
         "  buffers  a codeword to the soft buffers of a decoder, new or added\n"
         "  joint    two layers jointly, from a matched filter; CUDA: to soft buffers too\n"
         "  formats  CPU: all inputs and outputs, a slot and a large call\n"
         "  host     CUDA: from host memory, pinned and pageable, beside all CPU threads"),
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

/* CMakeLists.txt defines this if the build was configured in a git repository. */
#ifndef BENCH_COMMIT
#define BENCH_COMMIT "unknown"
#endif

/* Reports the machine, the compiler and the commit. */
static void report_machine(cJSON *json)
{
    char line[256], cpu[128] = "unknown";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "model name : %100[^\n]", cpu) != 1)
        ;
    if (file)
        fclose(file);
    cJSON_AddStringToObject(json, "softqam", softqam_version());
    cJSON_AddStringToObject(json, "commit", BENCH_COMMIT);
    cJSON_AddStringToObject(json, "cpu", cpu);
    cJSON_AddStringToObject(json, "compiler", COMPILER);
}

static bool write_json(const cJSON *json, struct output_file *file)
{
    char *text = cJSON_Print(json);
    if (!text)
        message_print(file->name, "out of memory");
    const bool good = text && output_file_write(file, text, strlen(text)) && output_file_write(file, "\n", 1) &&
                      output_file_finish(file) && output_file_publish(file);
    cJSON_free(text);
    return good;
}

static int run_bench(const struct options *options)
{
    struct bench_report report = options->report;
    const unsigned of_cpu = options->backend == BACKEND_CUDA ? 0 : report.sections & SECTIONS_OF_CPU;
    const unsigned of_cuda = options->backend == BACKEND_CPU ? 0 : report.sections & SECTIONS_OF_CUDA;
    struct output_file file = {.fd = -1};
    if (!of_cpu && !of_cuda) {
        message_print("--section", "none of them is measured with --backend %s", backends[options->backend]);
        return EXIT_COMMAND;
    }
    if (options->json && !output_file_open(&file, options->json, false))
        return EXIT_FAILED;
    report.json = cJSON_CreateObject();
    report_machine(report.json);
    report.tables = cJSON_AddArrayToObject(report.json, "tables");
    report.sections = of_cpu;
    if (of_cpu)
        bench_cpu(&report);
    report.sections = of_cuda;
#ifdef BENCH_CUDA
    if (of_cuda)
        bench_cuda(&report);
#else
    if (of_cuda)
        message_print("cuda", "not measured: this build has no CUDA backend");
#endif
    const bool has_any = cJSON_GetArraySize(report.tables) > 0;
    const bool written = has_any && (!options->json || write_json(report.json, &file));
    cJSON_Delete(report.json);
    output_file_end(&file, written);
    return written && !report.failed ? message_end_stdout() : EXIT_FAILED;
}

int main(int argc, char *argv[])
{
    struct options options = {.report = {.n_samples = 25, .largest = 1 << 26, .sections = SECTIONS}};
    message_start("softqam-bench");
    const enum option_result action = option_table_parse(rows, argc, argv, &options, 0, NULL);
    if (action != OPTIONS_RUN)
        return option_table_answer(action, rows);
    if (options.json && file_name_descriptor(options.json, STDOUT_FILENO) == STDOUT_FILENO) {
        message_print("--json", "'%s' is where the tables go; give it a file", options.json);
        return EXIT_COMMAND;
    }
    return run_bench(&options);
}
