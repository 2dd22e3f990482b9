/* SPDX-License-Identifier: MIT */
#include "cpu_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/modulation.h"
#include "create.h"

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
    struct cpu_case c = {.what = "u8",
                         .variant = variant,
                         .n_threads = 1,
                         .modulation = bench->modulation,
                         .input = SOFTQAM_INPUT_CF32,
                         .input_scale = 1,
                         .output = SOFTQAM_OUTPUT_U8,
                         .symbols = bench->symbols,
                         .n_symbols = n_symbols};
    if (bench->modulation != SOFTQAM_MODULATION_256QAM) {
        c.what = "s8, N0 a symbol";
        cpu_case_set_llrs(bench, &c, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL, SOFTQAM_NOISE_FORM_N0);
    }
    return c;
}

void cpu_case_set_llrs(const struct cpu_bench *bench, struct cpu_case *c, softqam_output_format output,
                       softqam_noise noise, softqam_noise_form form)
{
    c->output = output;
    c->noise = noise;
    c->noise_form = form;
    c->noise_var = form == SOFTQAM_NOISE_FORM_INVERSE ? bench->inverse : bench->noise_var;
}

static bool has_noise_per_symbol(const struct cpu_case *c)
{
    return c->noise_var && c->noise == SOFTQAM_NOISE_PER_SYMBOL;
}

static size_t out_nbytes_of(const struct cpu_case *c, size_t n_symbols)
{
    return softqam_output_nbytes(c->output, c->modulation, n_symbols);
}

size_t cpu_case_out_nbytes(const struct cpu_case *c)
{
    return out_nbytes_of(c, 1);
}

size_t cpu_case_nbytes(const struct cpu_case *c)
{
    return out_nbytes_of(c, c->n_symbols) +
           c->n_symbols * (softqam_input_symbol_nbytes(c->input) + (has_noise_per_symbol(c) ? sizeof(float) : 0));
}

static double run_copy(void *context)
{
    const struct cpu_run *run = context;
    const double start = clock_seconds();
    for (size_t k = 0; k < run->n_repeats; k++) {
        memcpy(run->stream.out, run->stream.symbols, 8 * run->stream.n_symbols);
        __asm__ volatile("" ::: "memory");
    }
    return (clock_seconds() - start) / (double)run->n_repeats;
}

static double run_stream(void *context)
{
    const struct cpu_run *run = context;
    const double start = clock_seconds();
    for (size_t k = 0; k < run->n_repeats; k++)
        if (!stream_run(&run->stream, run->n_streams))
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
    softqam_config config;
    softqam_config_init(&config);
    context_config.cpu_variant = variant;
    config.modulation = c->modulation;
    config.input_format = c->input;
    config.input_scale = c->input_scale;
    config.output_format = c->output;
    config.noise = c->noise;
    config.noise_form = c->noise_form;
    if (bench_create(demodulator, &context_config, &config) == SOFTQAM_OK)
        return true;
    message_print("cpu", "%s", softqam_error_message());
    bench->report->failed = true;
    return false;
}

/* The outputs of a stretch of symbols against those of the portable loop. */
static bool verify_stretch(struct cpu_bench *bench, const struct cpu_case *c, softqam_demodulator *portable,
                           size_t first, size_t n)
{
    const unsigned char *symbols = (const unsigned char *)c->symbols + first * softqam_input_symbol_nbytes(c->input);
    const float *noise_var = has_noise_per_symbol(c) ? c->noise_var + first : c->noise_var;
    if (softqam_demodulate(portable, symbols, noise_var, n, bench->expected) == SOFTQAM_OK &&
        memcmp(bench->expected, bench->out + out_nbytes_of(c, first), out_nbytes_of(c, n)) == 0)
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
    memset(bench->out, 1, out_nbytes_of(c, c->n_symbols));
    if (run_case(run) < 0 || !make(bench, c, "portable", &portable))
        return false;
    /* The second one begins at an even place, where pi/2-BPSK is as at the first. */
    const bool good = verify_stretch(bench, c, portable, 0, n) &&
                      verify_stretch(bench, c, portable, (c->n_symbols - n + 1) / 2 * 2, n / 2);
    softqam_destroy(portable);
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
            .layers[0].symbols = (const unsigned char *)c->symbols + k * n * softqam_input_symbol_nbytes(c->input),
            .layers[0].noise_var = has_noise_per_symbol(c) ? c->noise_var + k * n : c->noise_var,
            .noise_stride = has_noise_per_symbol(c),
            .out = run->bench->out + out_nbytes_of(c, k * n),
        };
    return run->segments != NULL;
}

bool cpu_open(struct cpu_bench *bench, const struct cpu_case *c, struct cpu_run *run)
{
    *run = (struct cpu_run){.bench = bench, .what = *c, .n_repeats = 1};
    if (!make_segments(run) || !make(bench, c, c->variant, &run->demodulator) || !verify(bench, run))
        return false;
    snprintf(run->name, sizeof run->name, "cpu: %s%s%s, %s",
             c->output == SOFTQAM_OUTPUT_U8 ? "" : modulation_get(c->modulation)->name,
             c->output == SOFTQAM_OUTPUT_U8 ? "" : " ", c->what, softqam_backend_detail(run->demodulator));
    run->n_repeats = repeats_of(c->n_symbols);
    return true;
}

void cpu_close(struct cpu_run *run)
{
    softqam_destroy(run->demodulator);
    free(run->segments);
}

struct cpu_run cpu_limit_of(const struct cpu_bench *bench, const struct cpu_case *c, unsigned n_threads, bool streaming)
{
    struct cpu_run run = {.bench = bench, .what = *c, .n_streams = n_threads, .n_repeats = repeats_of(c->n_symbols)};
    run.stream = (struct stream){.symbols = bench->symbols,
                                 .noise_var = has_noise_per_symbol(c) ? c->noise_var : NULL,
                                 .out = bench->out,
                                 .out_nbytes = cpu_case_out_nbytes(c),
                                 .n_symbols = c->n_symbols,
                                 .streaming = streaming};
    snprintf(run.name, sizeof run.name, "cpu: read %d write %zu%s, %u thread%s", has_noise_per_symbol(c) ? 12 : 8,
             run.stream.out_nbytes, streaming ? ", streaming stores" : "", n_threads, n_threads == 1 ? "" : "s");
    return run;
}

struct contender cpu_contender(struct cpu_run *run)
{
    return (struct contender){run->name, run_case, run, run->what.n_symbols, cpu_case_nbytes(&run->what)};
}

struct contender cpu_limit_contender(struct cpu_run *limit)
{
    return (struct contender){limit->name, run_stream, limit, limit->what.n_symbols, cpu_case_nbytes(&limit->what)};
}

int cpu_measure(struct cpu_bench *bench, const struct cpu_case *c, int limit)
{
    struct cpu_run run;
    int index = -1;
    if (cpu_open(bench, c, &run)) {
        const struct contender contender = cpu_contender(&run);
        index = report_measure_in_turns(bench->report, &contender, 1);
    }
    if (index >= 0)
        report_set_limit(bench->report, index, limit);
    cpu_close(&run);
    return index;
}

int cpu_measure_copy(struct cpu_bench *bench, size_t n_symbols)
{
    struct cpu_run run = {.bench = bench, .n_repeats = repeats_of(n_symbols)};
    run.stream = (struct stream){.symbols = bench->symbols, .out = bench->out, .n_symbols = n_symbols};
    return report_measure(bench->report, "cpu: memcpy", n_symbols, 16 * n_symbols, -1, run_copy, &run);
}
