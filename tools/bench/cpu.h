/* SPDX-License-Identifier: MIT */
/* What the CPU's sections share: memory, cases, and loops that move as many bytes. */
#ifndef SOFTQAM_TOOLS_BENCH_CPU_H
#define SOFTQAM_TOOLS_BENCH_CPU_H

#include <softqam/softqam.h>

#include "cases.h"

struct cpu_bench {
    struct report *report;
    struct bench_pool pool;
    unsigned char *out; /* aligned to 64 bytes */
    unsigned char *expected;
    unsigned char *other; /* memory that a call does not touch, COLD_NBYTES, and that caches are filled with */
};

enum {
    COLD_NBYTES = 48 << 20,
    CPU_VERIFY_SYMBOLS = 1 << 18 /* outputs of so many symbols are compared, at the beginning and at the end */
};

/* A bench_backend's: the library's loop, or one that moves the same bytes. */
void cpu_add(void *bench, struct turns *turns, const struct bench_case *c, enum bench_run run);

#endif
