/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <softqam/softqam.h>

#include "create.h"

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
static void read_cpu(char *cpu, size_t nbytes)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(cpu, nbytes, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(cpu, nbytes, "%.100s", value + 1 + strspn(value + 1, " "));
        break;
    }
    if (file)
        fclose(file);
}

void bench_machine_report(struct report *report)
{
    struct utsname names;
    softqam_demodulator *demodulator;
    char text[256];
    report_fact(report, "softqam", softqam_version());
    report_fact(report, "commit", BENCH_COMMIT);
    read_cpu(text, sizeof text);
    report_fact(report, "cpu", text);
    snprintf(text, sizeof text, "unknown");
    if (uname(&names) == 0)
        snprintf(text, sizeof text, "%.64s %.64s %.64s", names.sysname, names.release, names.machine);
    report_fact(report, "kernel", text);
    report_fact(report, "compiler", COMPILER);
    (void)bench_create(&demodulator, bench_context_config(SOFTQAM_BACKEND_CPU, 0), NULL);
    report_fact(report, "cpu_loop", softqam_backend_detail(demodulator)); /* its own choice, and its threads */
    softqam_demodulator_destroy(demodulator);
}
