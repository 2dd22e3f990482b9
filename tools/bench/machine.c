/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <softqam/softqam.h>

#include "create.h"

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

unsigned bench_count_cpus(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

void bench_machine_read(struct bench_machine *machine)
{
    struct utsname names;
    softqam_demodulator *demodulator;
    const softqam_context_config config = bench_context_config(SOFTQAM_BACKEND_CPU, 0);
    read_cpu(machine->cpu, sizeof machine->cpu);
    snprintf(machine->kernel, sizeof machine->kernel, "unknown");
    if (uname(&names) == 0)
        snprintf(machine->kernel, sizeof machine->kernel, "%.64s %.64s %.64s", names.sysname, names.release,
                 names.machine);
    (void)bench_create(&demodulator, &config, NULL);
    snprintf(machine->loop, sizeof machine->loop, "%.100s", softqam_backend_detail(demodulator));
    softqam_destroy(demodulator);
}
