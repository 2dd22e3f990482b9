/* SPDX-License-Identifier: MIT */
/* The CPU's side of softqam-bench: how a case is verified and timed, its limit, instruction sets, order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "common/clock.h"
#include "common/message.h"
#include "common/modulation.h"
#include "stream.h"

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

/* What runs a case, or its limit. */
struct cpu_run {
    struct bench_job job;
    const struct cpu_bench *bench;
    const struct bench_samples *samples;
    const float *noise_var; /* NULL: soft bits, which have none */
    softqam_demodulator *demodulator;
    struct stream stream;
    size_t n_repeats; /* of a sample, for the clock's sake */
    size_t n_calls;   /* so far */
    softqam_segment segments[BENCH_MOST_SEGMENTS];
    size_t n_segments;
};

static size_t count_repeats(const struct bench_case *c)
{
    enum { SAMPLE_SYMBOLS = 1 << 18, MOST_REPEATS = 1 << 12 };
    const size_t n = c->n_symbols < SAMPLE_SYMBOLS ? SAMPLE_SYMBOLS / c->n_symbols : 1;
    return c->how & BENCH_COLD ? 1 : n < MOST_REPEATS ? n : MOST_REPEATS;
}

static size_t lay_out(struct cpu_run *run, size_t call, void *out)
{
    return bench_case_segments(&run->job.c, call, run->samples->symbols, run->noise_var, out, run->segments);
}

static softqam_status call_library(struct cpu_run *run)
{
    const struct bench_case *c = &run->job.c;
    if (bench_case_is_plain(c))
        return softqam_demodulate(run->demodulator, run->samples->symbols, run->noise_var, c->n_symbols,
                                  run->bench->out);
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
static void fill_caches(const struct cpu_bench *bench)
{
    enum { LINE_NBYTES = 64 };
    for (size_t k = 0; k < COLD_NBYTES; k += LINE_NBYTES)
        bench->other[k]++;
    __asm__ volatile("" ::: "memory");
}

static double run_case(void *context)
{
    struct cpu_run *run = context;
    bool good = true;
    if (run->job.c.how & BENCH_COLD)
        fill_caches(run->bench);
    const double start = clock_seconds();
    for (size_t k = 0; k < run->n_repeats && good; k++)
        if (run->demodulator)
            good = call_library(run) == SOFTQAM_OK;
        else
            stream_run(&run->stream);
    return good ? (clock_seconds() - start) / (double)run->n_repeats : -1;
}

static bool make(const struct cpu_run *run, const char *variant, unsigned n_threads, softqam_demodulator **demodulator)
{
    const softqam_demodulator_config config = bench_case_config(&run->job.c);
    softqam_context_config context_config = bench_context_config(SOFTQAM_BACKEND_CPU, n_threads);
    context_config.cpu_variant = variant;
    if (bench_create(demodulator, context_config, &config) == SOFTQAM_OK)
        return true;
    message_print("cpu", "%s", softqam_error_message());
    return false;
}

/* The portable loop's bytes of so many symbols from the first-th on. */
static bool expect_plain(const struct cpu_run *run, softqam_demodulator *portable, size_t first, size_t n)
{
    const struct bench_case *c = &run->job.c;
    const unsigned char *symbols = run->samples->symbols;
    const float *noise_var = run->noise_var;
    if (noise_var && c->noise != BENCH_ONE_N0)
        noise_var += first;
    return softqam_demodulate(portable, symbols + first * softqam_input_symbol_nbytes(c->input), noise_var, n,
                              run->bench->expected) == SOFTQAM_OK &&
           memcmp(run->bench->expected, run->bench->out + softqam_output_nbytes(c->output, c->modulation, first),
                  softqam_output_nbytes(c->output, c->modulation, n)) == 0;
}

/* All of a call's segments, what lies between their outputs included. */
static bool expect_segments(struct cpu_run *run, softqam_demodulator *portable)
{
    const size_t nbytes = bench_case_out_nbytes(&run->job.c), last_call = run->n_calls > 0 ? run->n_calls - 1 : 0;
    memset(run->bench->expected, 1, nbytes);
    const size_t n = lay_out(run, last_call, run->bench->expected);
    const bool good = softqam_demodulate_segments(portable, run->segments, n) == SOFTQAM_OK &&
                      memcmp(run->bench->expected, run->bench->out, nbytes) == 0;
    run->n_segments = lay_out(run, 0, run->bench->out);
    return good;
}

/* Two calls, of which the second one may begin where the first one ended; then the bytes of the second. */
static bool verify(struct cpu_run *run)
{
    const struct bench_case *c = &run->job.c;
    const size_t n = c->n_symbols < CPU_VERIFY_SYMBOLS ? c->n_symbols : CPU_VERIFY_SYMBOLS;
    softqam_demodulator *portable;
    bool good = make(run, "portable", 1, &portable);
    run->n_segments = bench_case_is_plain(c) ? 0 : lay_out(run, 0, run->bench->out);
    for (int k = 0; k < 2 && good; k++) {
        memset(run->bench->out, 1, bench_case_out_nbytes(c));
        good = call_library(run) == SOFTQAM_OK;
    }
    if (!bench_case_is_plain(c))
        good = good && expect_segments(run, portable);
    else
        /* The second stretch begins at an even symbol, where pi/2-BPSK is as at the first. */
        good = good && expect_plain(run, portable, 0, n) &&
               expect_plain(run, portable, (c->n_symbols - n + 1) / 2 * 2, n / 2);
    softqam_demodulator_destroy(portable);
    if (!good)
        message_print(run->job.contender.what, "wrong bytes");
    return good;
}

static void close_run(void *context)
{
    struct cpu_run *run = context;
    softqam_demodulator_destroy(run->demodulator);
    free(run);
}

/* NULL where that failed, as the turns then have. */
static struct cpu_run *add_run(struct cpu_bench *bench, struct turns *turns, const struct bench_case *c,
                               enum bench_run what)
{
    struct cpu_run *run = bench_add(turns, sizeof *run, c, what, run_case, close_run);
    if (!run)
        return NULL;
    run->bench = bench;
    run->n_repeats = count_repeats(c);
    run->samples = bench_samples_get(&bench->pool, &c->data, c->modulation, c->input, bench_case_span(c));
    if (!run->samples) {
        message_print("cpu", "out of memory");
        turns->failed = true;
        return NULL;
    }
    if (c->output != SOFTQAM_OUTPUT_U8)
        run->noise_var = c->noise == BENCH_INVERSE ? run->samples->inverse : run->samples->noise_var;
    return run;
}

static void add_library(struct cpu_bench *bench, struct turns *turns, const struct bench_case *c)
{
    struct cpu_run *run = add_run(bench, turns, c, BENCH_LIBRARY);
    if (run && (!make(run, c->variant, c->n_threads, &run->demodulator) || !verify(run)))
        turns->failed = true;
}

static void add_limit(struct cpu_bench *bench, struct turns *turns, const struct bench_case *c, bool streaming)
{
    struct cpu_run *run = add_run(bench, turns, c, BENCH_LIMIT);
    if (!run)
        return;
    run->stream = (struct stream){.symbols = run->samples->symbols,
                                  .symbol_nbytes = softqam_input_symbol_nbytes(c->input),
                                  .noise_var = c->noise == BENCH_ONE_N0 ? NULL : run->noise_var,
                                  .out = bench->out,
                                  .out_nbytes = softqam_output_nbytes(c->output, c->modulation, 1),
                                  .n_symbols = c->n_symbols,
                                  .adds = c->how & BENCH_COMBINE,
                                  .streaming = streaming};
    if (c->how & BENCH_SOFT && !run->stream.adds)
        run->stream.n_more = bench_case_out_nbytes(c) - c->n_symbols * run->stream.out_nbytes;
}

/* The library's loop, or one that moves the same bytes. */
static void cpu_add(void *context, struct turns *turns, const struct bench_case *c, enum bench_run run)
{
    enum { LARGE_SYMBOLS = 1 << 20 };
    if (c->modulation == SOFTQAM_MODULATION_PI2_BPSK && c->n_layers > 1)
        turns->skipped = true;
    else if (run == BENCH_LIBRARY)
        add_library(context, turns, c);
    else
        add_limit(context, turns, c, false);
    if (run == BENCH_LIMIT && c->n_symbols >= LARGE_SYMBOLS && stream_can_stream() && !turns->failed)
        add_limit(context, turns, c, true);
}

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
