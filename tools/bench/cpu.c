/* SPDX-License-Identifier: MIT */
/* The CPU's sections of softqam-bench: memory, instruction sets, order. */
#include "cpu.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"

/* The instruction sets that may be in a build, the fastest first; the last one is for processors without the others. */
static const char *const variants[] = {"avx512", "avx2", "neon", "portable"};

enum { N_VARIANTS = sizeof variants / sizeof variants[0], N_FAST = N_VARIANTS - 1 };

static bool runs_here(const char *variant)
{
    softqam_context *context;
    softqam_context_config config = bench_context_config(SOFTQAM_BACKEND_CPU, 1);
    config.cpu_variant = variant;
    const bool runs = softqam_context_create(&context, &config) == SOFTQAM_OK;
    softqam_context_destroy(context);
    return runs;
}

static bool allocate(struct cpu_bench *bench, const struct bench_options *options)
{
    /* Large runs are those of this section. */
    const bool is_large = options->sections & 1u << BENCH_FORMATS;
    const size_t n_bits = is_large ? modulation_get(options->modulation)->n_bits : MODULATION_MAX_BITS;
    const size_t large = n_bits * sizeof(float) * (is_large ? options->n_symbols : 0);
    const size_t least = MODULATION_MAX_BITS * sizeof(float) * CPU_VERIFY_SYMBOLS;
    bench->out = aligned_alloc(64, (large > least ? large : least) / 64 * 64 + 64);
    bench->expected = aligned_alloc(64, least);
    bench->other = calloc(1, COLD_NBYTES);
    return bench->out && bench->expected && bench->other;
}

/* Tables of one thread with every instruction set, those that are not about that with the fastest one. */
static void measure_tables(struct cpu_bench *bench, const struct bench_options *options, const char *variant,
                           bool is_fastest)
{
    char name[32];
    struct bench_options its = *options;
    if (!is_fastest)
        its.sections &= ~(1u << BENCH_CALLS);
    snprintf(name, sizeof name, "cpu: %s, ", variant);
    bench_measure_tables(bench->report, &its, &(struct bench_backend){name, variant, cpu_add, bench});
}

void bench_cpu(struct report *report, const struct bench_options *options)
{
    struct cpu_bench bench = {.report = report};
    if (allocate(&bench, options)) {
        bool is_fastest = true;
        for (size_t k = 0; k < N_VARIANTS; k++) {
            if ((k >= N_FAST && !is_fastest) || !runs_here(variants[k]))
                continue;
            measure_tables(&bench, options, variants[k], is_fastest);
            is_fastest = false;
        }
    } else {
        message_print("cpu", "out of memory");
        report->failed = true;
    }
    bench_pool_free(&bench.pool);
    free(bench.out);
    free(bench.expected);
    free(bench.other);
}
