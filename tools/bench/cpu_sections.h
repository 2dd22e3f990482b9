/* SPDX-License-Identifier: MIT */
/* The CPU sections, each a function. */
#ifndef SOFTQAM_TOOLS_BENCH_CPU_SECTIONS_H
#define SOFTQAM_TOOLS_BENCH_CPU_SECTIONS_H

#include "cpu_case.h"

/* Every variant, one thread, one slot and large, in every format of LLRs, beside loops that move as many bytes. */
void cpu_section_variants(struct cpu_bench *bench);

/* All modulations at a slot, by the fastest variant. */
void cpu_section_modulations(struct cpu_bench *bench);

void cpu_section_slow(struct cpu_bench *bench);
void cpu_section_formats(struct cpu_bench *bench);
void cpu_section_threads(struct cpu_bench *bench);
void cpu_section_sizes(struct cpu_bench *bench);
void cpu_section_calls(struct cpu_bench *bench);

#endif
