/* SPDX-License-Identifier: MIT */
/* The facts without which a measurement says nothing. */
#ifndef SOFTQAM_TOOLS_BENCH_MACHINE_H
#define SOFTQAM_TOOLS_BENCH_MACHINE_H

#if defined(__clang__)
#define BENCH_COMPILER "clang " __clang_version__
#else
#define BENCH_COMPILER "gcc " __VERSION__
#endif

/* What the build was configured from, where that was a git repository. */
#ifndef BENCH_COMMIT
#define BENCH_COMMIT "unknown"
#endif

struct bench_machine {
    char cpu[128];
    char kernel[256];
    char loop[128]; /* the CPU backend's own choice, and its threads */
};

/* CPUs that this process may run on. */
unsigned bench_count_cpus(void);

void bench_machine_read(struct bench_machine *machine);

#endif
