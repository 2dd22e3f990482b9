/* SPDX-License-Identifier: MIT */
/* The library called from host memory, how that is verified and timed; the CPU's limit, instruction sets, order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "common/clock.h"
#include "common/message.h"
#include "common/modulation.h"

enum { COLD_NBYTES = 48 << 20, LARGE_SYMBOLS = 1 << 20 };

/* Of the CPU's tables: outputs, aligned to 64 bytes; memory that a call does not touch, COLD_NBYTES, and that caches
 * are filled with. */
static unsigned char *outputs, *other;

/* What runs a case, or its limit. */
struct host_run {
    struct bench_job job;
    const unsigned char *symbols;
    const float *noise_var; /* NULL: soft bits, which have none */
    unsigned char *out;
    unsigned char *memory;            /* of its own: symbols and outputs; NULL: in the samples and outputs */
    softqam_demodulator *demodulator; /* NULL: the limit */
    struct bench_copy copy;
    size_t n_repeats; /* of a sample, for the clock's sake */
    size_t n_calls;   /* so far */
    softqam_segment segments[BENCH_MOST_SEGMENTS];
    size_t n_segments;
};

static size_t count_repeats(const struct bench_case *c)
{
    enum { SAMPLE_SYMBOLS = 1 << 18, MOST_REPEATS = 1 << 12 };
    const size_t n = c->n_symbols < SAMPLE_SYMBOLS ? SAMPLE_SYMBOLS / c->n_symbols : 1;
    if (c->launch != BENCH_BY_CPU)
        return 1 + 512 / c->n_symbols;
    return c->how & BENCH_COLD ? 1 : n < MOST_REPEATS ? n : MOST_REPEATS;
}

static softqam_status call_library(struct host_run *run)
{
    const struct bench_case *c = &run->job.c;
    if (bench_case_is_plain(c))
        return softqam_demodulate(run->demodulator, run->symbols, run->noise_var, c->n_symbols, run->out);
    /* Only the position in the sequence changes. */
    if (c->how & (BENCH_ELSEWHERE | BENCH_NEXT))
        run->segments[0].first_symbol = bench_case_first_symbol(c, run->n_calls++);
    if (c->how & BENCH_CALL_EACH) {
        softqam_status status = SOFTQAM_OK;
        for (size_t k = 0; k < run->n_segments && status == SOFTQAM_OK; k++)
            status = softqam_demodulate_segments(run->demodulator, &run->segments[k], 1);
        return status;
    }
    return softqam_demodulate_segments(run->demodulator, run->segments, run->n_segments);
}

/* Puts other data into every cache. */
static void fill_caches(void)
{
    enum { LINE_NBYTES = 64 };
    for (size_t k = 0; k < COLD_NBYTES; k += LINE_NBYTES)
        other[k]++;
    __asm__ volatile("" ::: "memory");
}

static double measure(void *job)
{
    struct host_run *run = job;
    softqam_status status = SOFTQAM_OK;
    if (run->job.c.how & BENCH_COLD)
        fill_caches();
    const double start = clock_seconds();
    for (size_t k = 0; k < run->n_repeats && status == SOFTQAM_OK; k++)
        if (run->demodulator)
            status = call_library(run);
        else
            bench_stream(&run->copy);
    const double end = clock_seconds();
    if (status != SOFTQAM_OK)
        bench_say(&run->job, softqam_error_message());
    return status == SOFTQAM_OK ? (end - start) / (double)run->n_repeats : -1;
}

static void close_run(void *job)
{
    struct host_run *run = job;
    softqam_demodulator_destroy(run->demodulator);
    if (run->job.c.launch == BENCH_PAGEABLE)
        free(run->memory);
    else
        softqam_host_free(run->memory);
    free(run);
}

/* Two calls, of which the second one may begin where the first one ended; then the bytes of the second. */
static bool verify(struct host_run *run)
{
    const struct bench_case *c = &run->job.c;
    run->n_segments =
        bench_case_is_plain(c) ? 0 : bench_case_segments(c, 0, run->symbols, run->noise_var, run->out, run->segments);
    for (int k = 0; k < 2; k++) {
        memset(run->out, BENCH_POISON, bench_case_out_nbytes(c));
        if (call_library(run) != SOFTQAM_OK) {
            bench_say(&run->job, softqam_error_message());
            return false;
        }
    }
    return bench_verify(c, run->n_calls > 0 ? run->n_calls - 1 : 0, run->symbols, run->noise_var, c->n_symbols,
                        run->out);
}

static bool create(struct host_run *run, softqam_backend backend)
{
    const struct bench_case *c = &run->job.c;
    softqam_status status = bench_create(&run->demodulator, c, backend, c->variant, c->n_threads);
    if (status == SOFTQAM_OK)
        status = softqam_context_prepare(softqam_demodulator_context(run->demodulator), SOFTQAM_PREPARE_ALL);
    if (status != SOFTQAM_OK)
        bench_say(&run->job, softqam_error_message());
    return status == SOFTQAM_OK;
}

/* NULL where that failed, as the turns then have. */
static struct host_run *add_run(struct bench_turns *turns, const struct bench_case *c, enum bench_run what)
{
    struct host_run *run = bench_add(turns, sizeof *run, c, what, measure, close_run);
    const struct bench_samples *samples = run ? bench_samples_get(c, bench_case_span(c)) : NULL;
    if (!samples) {
        turns->failed = true;
        return NULL;
    }
    run->n_repeats = count_repeats(c);
    run->symbols = samples->symbols;
    run->out = outputs;
    if (c->output != SOFTQAM_OUTPUT_U8)
        run->noise_var = c->noise == BENCH_INVERSE ? samples->inverse : samples->noise_var;
    return run;
}

/* The cases are of soft bits, which have no noise. */
void bench_host_add(softqam_context *context, struct bench_turns *turns, const struct bench_case *c)
{
    const size_t out_nbytes = bench_case_out_nbytes(c), in_nbytes = bench_case_nbytes(c) - out_nbytes;
    struct host_run *run = add_run(turns, c, BENCH_LIBRARY);
    void *memory = NULL;
    if (!run)
        return;
    if (c->launch == BENCH_PAGEABLE)
        memory = malloc(in_nbytes + out_nbytes);
    else if (softqam_host_alloc(context, in_nbytes + out_nbytes, &memory) != SOFTQAM_OK)
        bench_say(&run->job, softqam_error_message());
    run->memory = memory;
    if (memory) {
        run->symbols = memcpy(memory, run->symbols, in_nbytes);
        run->out = run->memory + in_nbytes;
    }
    if (!memory || !create(run, c->on_cpu ? SOFTQAM_BACKEND_CPU : SOFTQAM_BACKEND_CUDA) || !verify(run))
        turns->failed = true;
}

/* The library's loop, or one that moves the same bytes. */
static void cpu_add(struct bench_turns *turns, const struct bench_case *c, enum bench_run what)
{
    /* Large limits are measured once more with stores that stream. */
    const int n_ways = what == BENCH_LIMIT && c->n_symbols >= LARGE_SYMBOLS && bench_can_stream() ? 2 : 1;
    turns->skipped = c->modulation == SOFTQAM_MODULATION_PI2_BPSK && c->n_layers > 1;
    for (int way = 0; way < n_ways && !turns->failed && !turns->skipped; way++) {
        struct host_run *run = add_run(turns, c, what);
        if (!run)
            return;
        run->copy = bench_case_copy(c, run->symbols, run->noise_var, run->out);
        run->copy.streams = way == 1;
        turns->failed = what == BENCH_LIBRARY && (!create(run, SOFTQAM_BACKEND_CPU) || !verify(run));
    }
}

/* The instruction sets that may be in a build, the fastest first; the last one is for processors without the others. */
static const char *const variants[] = {"avx512", "avx2", "neon", "portable"};

enum { N_VARIANTS = sizeof variants / sizeof variants[0], N_FAST = N_VARIANTS - 1 };

static bool runs_here(const char *variant)
{
    softqam_demodulator *demodulator;
    const bool runs =
        bench_create(&demodulator, &(struct bench_case){.n_symbols = 0}, SOFTQAM_BACKEND_CPU, variant, 1) == SOFTQAM_OK;
    softqam_demodulator_destroy(demodulator);
    return runs;
}

/* Tables of one thread with every instruction set, those that are not about that with the fastest one. */
static void measure_tables(struct bench_report *report, struct bench_options options)
{
    char name[32];
    for (size_t k = 0, n_measured = 0; k < N_VARIANTS; k++) {
        if ((k >= N_FAST && n_measured > 0) || !runs_here(variants[k]))
            continue;
        snprintf(name, sizeof name, "cpu: %s, ", variants[k]);
        bench_measure_tables(report, &options, &(struct bench_backend){name, variants[k], cpu_add});
        options.sections &= ~(1u << BENCH_CALLS);
        n_measured++;
    }
}

void bench_cpu(struct bench_report *report, const struct bench_options *options)
{
    /* Large runs are those of this section. */
    const bool is_large = options->sections & 1u << BENCH_FORMATS;
    const size_t n_bits = is_large ? modulation_get(options->modulation)->n_bits : MODULATION_MAX_BITS;
    const size_t large = n_bits * sizeof(float) * (is_large ? options->n_symbols : 0);
    const size_t least = MODULATION_MAX_BITS * sizeof(float) * (1 << 18); /* four layers of a slot */
    outputs = aligned_alloc(64, (large > least ? large : least) / 64 * 64 + 64);
    other = calloc(1, COLD_NBYTES);
    if (outputs && other) {
        measure_tables(report, *options);
    } else {
        message_print("cpu", "out of memory");
        report->failed = true;
    }
    bench_samples_free();
    free(outputs);
    free(other);
}
