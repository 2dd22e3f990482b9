/* SPDX-License-Identifier: MIT */
/* The facts without which a measurement says nothing. */
#ifndef SOFTQAM_TOOLS_BENCH_MACHINE_H
#define SOFTQAM_TOOLS_BENCH_MACHINE_H

#include "report.h"

/* The program, its build and the CPU. */
void bench_machine_report(struct report *report);

#endif
