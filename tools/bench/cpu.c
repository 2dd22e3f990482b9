/* SPDX-License-Identifier: MIT */
/* The CPU sections of softqam-bench: their buffers and their order. */
#include "cpu.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam.h>

#include "common/message.h"
#include "common/modulation.h"
#include "objects.h"
#include "sections.h"
#include "slow_inputs.h"

/* The instruction sets that may be in a build, and here; the fastest first. */
static const char *const variants[] = {"avx512", "avx2", "neon", "generic", "portable"};

enum { N_VARIANTS = sizeof variants / sizeof variants[0], MOST_OUT_NBYTES = MODULATION_MAX_BITS * sizeof(float) };

static bool runs_here(const char *variant)
{
    softqam_context *context;
    softqam_context_config config = bench_context_config(SOFTQAM_BACKEND_CPU, 1);
    config.cpu_variant = variant;
    const bool runs = softqam_context_create(&context, &config) == SOFTQAM_OK;
    softqam_context_destroy(context);
    return runs;
}

static void section_objects(struct cpu_bench *bench)
{
    const struct objects_use use = {.name = "cpu", .backend = SOFTQAM_BACKEND_CPU, .prepare = SOFTQAM_PREPARE_ALL};
    bench_objects(bench->report, &use);
    bench_sharing(bench->report);
}

static void *allocate(size_t nbytes)
{
    return aligned_alloc(64, (nbytes + 63) / 64 * 64);
}

static void release(struct cpu_bench *bench)
{
    free(bench->symbols);
    free(bench->noise_var);
    free(bench->inverse);
    free(bench->out);
    free(bench->expected);
    free(bench->other);
    free(bench->other_noise);
}

static bool prepare(struct cpu_bench *bench, unsigned sections)
{
    const size_t slot = SLOT_SYMBOLS, n = bench->n_largest > bench->n_symbols ? bench->n_largest : bench->n_symbols;
    /* Large runs to wide formats are those of one section. */
    const size_t n_wide = sections & 1u << BENCH_VARIANTS ? bench->n_symbols : slot;
    const size_t narrow = MODULATION_MAX_BITS * n, wide = MOST_OUT_NBYTES * n_wide;
    const size_t out_nbytes = narrow > wide ? narrow : wide;
    bench->symbols = allocate(8 * n);
    bench->noise_var = allocate(sizeof(float) * n);
    bench->inverse = allocate(sizeof(float) * n);
    bench->out = allocate(out_nbytes);
    bench->expected = allocate(MOST_OUT_NBYTES * (size_t)CPU_VERIFY_SYMBOLS);
    bench->other = allocate(N_SLOW_SYMBOLS * 8 * slot);
    bench->other_noise = allocate(N_SLOW_INPUTS * sizeof(float) * slot);
    if (!bench->symbols || !bench->noise_var || !bench->inverse || !bench->out || !bench->expected || !bench->other ||
        !bench->other_noise)
        return false;
    bench_fill_large(bench->modulation, bench->symbols, n);
    slow_input_fill_noise(SLOW_NONE, bench->noise_var, n);
    for (size_t k = 0; k < n; k++)
        bench->inverse[k] = 1 / bench->noise_var[k];
    memset(bench->out, 1, out_nbytes);
    return true;
}

void bench_cpu(struct report *report, const struct bench_options *options)
{
    static void (*const sections[BENCH_DEVICE])(struct cpu_bench *) = {
        [BENCH_VARIANTS] = cpu_bench_variants, [BENCH_MODULATIONS] = cpu_bench_modulations,
        [BENCH_SLOW] = cpu_bench_slow,         [BENCH_FORMATS] = cpu_bench_formats,
        [BENCH_THREADS] = cpu_bench_threads,   [BENCH_SIZES] = cpu_bench_sizes,
        [BENCH_CALLS] = cpu_bench_calls,       [BENCH_OBJECTS] = section_objects,
    };
    const char *here[N_VARIANTS + 1] = {NULL};
    for (size_t k = 0, n = 0; k < N_VARIANTS; k++)
        if (runs_here(variants[k]))
            here[n++] = variants[k];
    struct cpu_bench bench = {.report = report,
                              .modulation = options->modulation,
                              .variants = here,
                              .n_symbols = options->n_symbols,
                              .n_largest = options->sections & 1u << BENCH_SIZES ? options->n_largest : 0};
    if (prepare(&bench, options->sections)) {
        for (unsigned k = 0; k < BENCH_DEVICE; k++)
            if (options->sections & 1u << k)
                sections[k](&bench);
    } else {
        message_print("cpu", "out of memory");
        report->failed = true;
    }
    release(&bench);
}
