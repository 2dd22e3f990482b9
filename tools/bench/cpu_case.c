/* SPDX-License-Identifier: MIT */
/* How a case of the CPU is made, verified and timed, and its limit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/modulation.h"
#include "cpu.h"
#include "stream.h"

/* Small sizes are repeated, for the clock's sake, to so many symbols a sample. */
enum { SAMPLE_SYMBOLS = 1 << 20, MOST_REPEATS = 1 << 15 };

static size_t repeats_of(size_t n_symbols)
{
    const size_t n = n_symbols > 0 && n_symbols < SAMPLE_SYMBOLS ? SAMPLE_SYMBOLS / n_symbols : 1;
    return n < MOST_REPEATS ? n : MOST_REPEATS;
}

bool cpu_is_spare(const struct cpu_bench *bench, const char *variant)
{
    return strcmp(variant, bench->variants[0]) != 0 &&
           (strcmp(variant, "generic") == 0 || strcmp(variant, "portable") == 0);
}

struct cpu_case cpu_case_of(const struct cpu_bench *bench, const char *variant, size_t n_symbols)
{
    const bool has_soft_bits = bench->modulation == SOFTQAM_MODULATION_256QAM;
    struct cpu_case c = {.variant = variant, .n_threads = 1, .symbols = bench->symbols, .n_symbols = n_symbols};
    snprintf(c.what, sizeof c.what, "%s", has_soft_bits ? "u8" : "s8, N0 a symbol");
    c.config = bench_config(bench->modulation, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8, SOFTQAM_NOISE_PER_CALL);
    if (!has_soft_bits)
        cpu_case_set_output(bench, &c, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL, SOFTQAM_NOISE_FORM_N0);
    return c;
}

void cpu_case_set_output(const struct cpu_bench *bench, struct cpu_case *c, softqam_output_format output,
                         softqam_noise noise, softqam_noise_form form)
{
    c->config.output_format = output;
    c->config.noise = noise;
    c->config.noise_form = form;
    c->noise_var = output == SOFTQAM_OUTPUT_U8          ? NULL
                   : form == SOFTQAM_NOISE_FORM_INVERSE ? bench->inverse
                                                        : bench->noise_var;
}

/* What runs a case, or its limit. */
struct cpu_run {
    const struct cpu_bench *bench;
    struct cpu_case what;
    char name[WHAT_NBYTES]; /* in the report */
    softqam_demodulator *demodulator;
    softqam_segment *segments;
    struct stream stream; /* of a limit */
    size_t n_repeats;
};

static const unsigned char *symbols_from(const struct cpu_case *c, size_t first)
{
    return (const unsigned char *)c->symbols + first * softqam_input_symbol_nbytes(c->config.input_format);
}

static const float *noise_from(const struct cpu_case *c, size_t first)
{
    return bench_has_noise(&c->config) ? c->noise_var + first : c->noise_var;
}

static double run_copy(void *context)
{
    const struct cpu_run *run = context;
    const double start = clock_seconds();
    for (size_t k = 0; k < run->n_repeats; k++) {
        memcpy(run->bench->out, run->bench->symbols, 8 * run->what.n_symbols);
        __asm__ volatile("" ::: "memory");
    }
    return (clock_seconds() - start) / (double)run->n_repeats;
}

static double run_stream(void *context)
{
    const struct cpu_run *run = context;
    const double start = clock_seconds();
    for (size_t k = 0; k < run->n_repeats; k++)
        if (!stream_run(&run->stream, run->what.n_threads))
            return -1;
    return (clock_seconds() - start) / (double)run->n_repeats;
}

static double run_case(void *context)
{
    const struct cpu_run *run = context;
    const struct cpu_case *c = &run->what;
    softqam_status status = SOFTQAM_OK;
    const double start = clock_seconds();
    if (c->n_segments > 0)
        for (size_t k = 0; k < run->n_repeats && status == SOFTQAM_OK; k++)
            status = softqam_demodulate_segments(run->demodulator, run->segments, c->n_segments);
    else
        for (size_t k = 0; k < run->n_repeats && status == SOFTQAM_OK; k++)
            status = softqam_demodulate(run->demodulator, c->symbols, c->noise_var, c->n_symbols, run->bench->out);
    return status == SOFTQAM_OK ? (clock_seconds() - start) / (double)run->n_repeats : -1;
}

static bool make(struct cpu_bench *bench, const struct cpu_case *c, const char *variant,
                 softqam_demodulator **demodulator)
{
    softqam_context_config context_config = bench_context_config(SOFTQAM_BACKEND_CPU, c->n_threads);
    context_config.cpu_variant = variant;
    if (bench_create(demodulator, context_config, &c->config) == SOFTQAM_OK)
        return true;
    message_print("cpu", "%s", softqam_error_message());
    bench->report->failed = true;
    return false;
}

/* The outputs of a stretch of symbols against those of the portable loop. */
static bool verify_stretch(struct cpu_bench *bench, const struct cpu_case *c, softqam_demodulator *portable,
                           size_t first, size_t n)
{
    const unsigned char *got = bench->out + bench_out_nbytes(&c->config, first);
    if (softqam_demodulate(portable, symbols_from(c, first), noise_from(c, first), n, bench->expected) == SOFTQAM_OK &&
        memcmp(bench->expected, got, bench_out_nbytes(&c->config, n)) == 0)
        return true;
    message_print(c->what, "wrong bytes");
    bench->report->failed = true;
    return false;
}

static bool verify(struct cpu_bench *bench, struct cpu_run *run)
{
    const struct cpu_case *c = &run->what;
    const size_t n = c->n_symbols < CPU_VERIFY_SYMBOLS ? c->n_symbols : CPU_VERIFY_SYMBOLS;
    softqam_demodulator *portable;
    memset(bench->out, 1, bench_out_nbytes(&c->config, c->n_symbols));
    if (run_case(run) < 0 || !make(bench, c, "portable", &portable))
        return false;
    /* The second one begins at an even place, where pi/2-BPSK is as at the first. */
    const bool good = verify_stretch(bench, c, portable, 0, n) &&
                      verify_stretch(bench, c, portable, (c->n_symbols - n + 1) / 2 * 2, n / 2);
    softqam_demodulator_destroy(portable);
    return good;
}

/* As many symbols to each as to the others. */
static bool make_segments(struct cpu_run *run)
{
    const struct cpu_case *c = &run->what;
    if (c->n_segments == 0)
        return true;
    run->segments = calloc(c->n_segments, sizeof *run->segments);
    const size_t n = c->n_symbols / c->n_segments;
    for (size_t k = 0; run->segments && k < c->n_segments; k++)
        run->segments[k] = (softqam_segment){
            .n_symbols = n,
            .first_symbol = k * n,
            .layers[0] = {.symbols = symbols_from(c, k * n), .noise_var = noise_from(c, k * n)},
            .noise_stride = bench_has_noise(&c->config),
            .out = run->bench->out + bench_out_nbytes(&c->config, k * n),
        };
    return run->segments != NULL;
}

static void close_run(void *context)
{
    struct cpu_run *run = context;
    softqam_demodulator_destroy(run->demodulator);
    free(run->segments);
    free(run);
}

/* NULL where the turns have failed already. */
static struct cpu_run *add_run(struct cpu_bench *bench, struct turns *turns, const struct cpu_case *c, bench_run *run)
{
    struct cpu_run *added = turns->failed ? NULL : calloc(1, sizeof *added);
    if (!added) {
        turns->failed = bench->report->failed = true;
        return NULL;
    }
    *added = (struct cpu_run){.bench = bench, .what = *c, .n_repeats = 1};
    turns->contenders[turns->n++] = (struct contender){
        added->name, run, added, close_run, c->n_symbols, c->n_symbols * bench_symbol_nbytes(&c->config)};
    return added;
}

void cpu_add_case(struct cpu_bench *bench, struct turns *turns, const struct cpu_case *c)
{
    struct cpu_run *run = add_run(bench, turns, c, run_case);
    const bool is_soft_bits = c->config.output_format == SOFTQAM_OUTPUT_U8;
    if (!run)
        return;
    if (!make_segments(run) || !make(bench, c, c->variant, &run->demodulator) || !verify(bench, run)) {
        turns->failed = bench->report->failed = true;
        return;
    }
    snprintf(run->name, sizeof run->name, "cpu: %s%s%s, %s",
             is_soft_bits ? "" : modulation_get(c->config.modulation)->name, is_soft_bits ? "" : " ", c->what,
             softqam_backend_detail(run->demodulator));
    run->n_repeats = repeats_of(c->n_symbols);
}

void cpu_add_limit(struct cpu_bench *bench, struct turns *turns, const struct cpu_case *c, bool streaming)
{
    struct cpu_run *run = add_run(bench, turns, c, run_stream);
    const bool has_noise = bench_has_noise(&c->config);
    if (!run)
        return;
    run->n_repeats = repeats_of(c->n_symbols);
    run->stream = (struct stream){.symbols = (const unsigned char *)bench->symbols,
                                  .noise_var = has_noise ? c->noise_var : NULL,
                                  .out = bench->out,
                                  .out_nbytes = bench_out_nbytes(&c->config, 1),
                                  .n_symbols = c->n_symbols,
                                  .streaming = streaming};
    snprintf(run->name, sizeof run->name, "cpu: read %d write %zu%s, %u thread%s", has_noise ? 12 : 8,
             run->stream.out_nbytes, streaming ? ", streaming stores" : "", c->n_threads, PLURAL(c->n_threads));
}

int cpu_measure(struct cpu_bench *bench, const struct cpu_case *c, int limit)
{
    struct turns turns = {.report = bench->report};
    cpu_add_case(bench, &turns, c);
    return report_set_limit(bench->report, report_measure_in_turns(&turns), limit);
}

int cpu_measure_copy(struct cpu_bench *bench, size_t n_symbols)
{
    struct cpu_run run = {.bench = bench, .what = {.n_symbols = n_symbols}, .n_repeats = repeats_of(n_symbols)};
    return report_measure(bench->report, "cpu: memcpy", n_symbols, 16 * n_symbols, -1, run_copy, &run);
}
