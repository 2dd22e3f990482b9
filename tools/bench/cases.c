/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/modulation.h"
#include "common/sample_format.h"

/* Appends to a name. */
static void append(char name[WHAT_NBYTES], const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char name[WHAT_NBYTES], const char *format, ...)
{
    const size_t length = strlen(name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name + length, WHAT_NBYTES - length, format, arguments);
    va_end(arguments);
}

static unsigned count_layers(const struct bench_case *c) { return c->n_layers > 0 ? c->n_layers : 1; }

void bench_case_name(const struct bench_case *c, enum bench_run run, char name[WHAT_NBYTES])
{
    static const char *const runs[] = {
        [BENCH_NONE] = "", [BENCH_LIBRARY] = "", [BENCH_LIMIT] = "copy of ", [BENCH_EMPTY] = "nothing but "};
    static const char *const noises[] = {"N0 a symbol", "1/N0 a symbol", "one N0"};
    static const char *const hows[] = {
        "descrambled",  "planes",   "codewords",  "elsewhere", "next", "cold", "descriptors on the device",
        "soft buffers", "combined", "a call each"};
    static const char *const launches[] = {"",       "",        "call", "graph", "chain", "chain that overlaps",
                                           "pinned", "pageable"};
    name[0] = '\0';
    append(name, "%s: %s%s %s to %s", c->variant || c->on_cpu ? "cpu" : "cuda", runs[run],
           modulation_get(c->modulation)->name, bench_input_name(c->input), sample_format_output_name(c->output));
    if (c->output != SOFTQAM_OUTPUT_U8)
        append(name, ", %s", noises[c->noise]);
    append(name, ", ");
    bench_input_describe(&c->data, name + strlen(name), WHAT_NBYTES - strlen(name));
    if (c->stride > 0)
        append(name, ", %u of %u layers", count_layers(c), c->stride);
    else if (c->n_layers > 1)
        append(name, ", %u layers", c->n_layers);
    if (c->n_segments > 0)
        append(name, ", %u segments", c->n_segments);
    for (size_t k = 0; k < sizeof hows / sizeof hows[0]; k++)
        if (c->how & 1u << k)
            append(name, ", %s", hows[k]);
    if (launches[c->launch][0] != '\0')
        append(name, ", %s", launches[c->launch]);
    if (c->variant)
        append(name, ", %s", c->variant);
    if (c->n_threads > 0 && (c->variant || c->launch >= BENCH_PINNED))
        append(name, ", %u thread%s", c->n_threads, PLURAL(c->n_threads));
    else if (c->n_threads == 0)
        append(name, ", all threads");
}

softqam_context_config bench_context_config(softqam_backend backend, unsigned n_threads)
{
    softqam_context_config config;
    softqam_context_config_init(&config);
    config.backend = backend;
    config.n_threads = n_threads;
    return config;
}

softqam_status bench_create(softqam_demodulator **demodulator, softqam_context_config context_config,
                            const softqam_demodulator_config *config)
{
    softqam_demodulator_config with_context = *config;
    *demodulator = NULL;
    softqam_status status = softqam_context_create(&with_context.context, &context_config);
    if (status == SOFTQAM_OK)
        status = softqam_demodulator_create(demodulator, &with_context);
    softqam_context_destroy(with_context.context);
    return status;
}

const char *bench_input_name(softqam_input_format format) { return sample_format_input_name((enum file_format)format); }

softqam_demodulator_config bench_case_config(const struct bench_case *c)
{
    softqam_demodulator_config config;
    softqam_demodulator_config_init(&config);
    config.modulation = c->modulation;
    config.input_format = c->input;
    config.output_format = c->output;
    config.noise = c->noise == BENCH_ONE_N0 ? SOFTQAM_NOISE_PER_CALL : SOFTQAM_NOISE_PER_SYMBOL;
    config.noise_form = c->noise == BENCH_INVERSE ? SOFTQAM_NOISE_FORM_INVERSE : SOFTQAM_NOISE_FORM_N0;
    config.input_scale = bench_input_scale(c->input);
    return config;
}

bool bench_case_is_plain(const struct bench_case *c)
{
    return c->n_segments == 0 && c->n_layers <= 1 && c->stride <= 1 && !c->has_soft_buffers &&
           (c->how & ~(unsigned)BENCH_COLD) == 0;
}

size_t bench_case_span(const struct bench_case *c)
{
    return c->stride > 0 ? c->n_symbols / count_layers(c) * c->stride : c->n_symbols;
}

/* Where the k-th segment begins: at multiples of 16 symbols, where all pointers are aligned as is fastest; OFDM symbols
 * that go to soft buffers begin where they do. */
static size_t segment_first(const struct bench_case *c, size_t k)
{
    const size_t n = c->n_segments > 0 ? c->n_segments : 1;
    const size_t unit = c->has_soft_buffers ? count_layers(c) : 16;
    return k == n ? c->n_symbols : k * c->n_symbols / n / unit * unit;
}

static size_t segment_out_nbytes(const struct bench_case *c, size_t k)
{
    return softqam_output_nbytes(c->output, c->modulation, segment_first(c, k + 1) - segment_first(c, k));
}

/* Code blocks of base graph 1 with Zc 384, whose rate is such that each has some 0.43 of its soft buffer's values. */
enum {
    LIFTING = 384,
    N_CB = 66 * LIFTING,
    N_FILLERS = 240,
    FIRST_FILLER = 20 * LIFTING - N_FILLERS,
    K0_OF_RV_2 = 33 * LIFTING
};

static size_t count_soft_blocks(const struct bench_case *c)
{
    const double n_bits = (double)(c->n_symbols * softqam_bits_per_symbol(c->modulation));
    return (size_t)(n_bits / (0.43 * N_CB) + 0.5);
}

/* The codeword of all segments: in its soft buffers, or in bit planes at the same places. */
static softqam_codeword soft_codeword(const struct bench_case *c, void *buffers)
{
    softqam_codeword codeword = {.n_bits = c->n_symbols * softqam_bits_per_symbol(c->modulation),
                                 .buffers = buffers,
                                 .block_stride = N_CB,
                                 .n_code_blocks = (uint32_t)count_soft_blocks(c),
                                 .deinterleave = 1};
    if (c->how & BENCH_SOFT) {
        codeword.n_cb = N_CB;
        codeword.first_filler = FIRST_FILLER;
        codeword.n_fillers = N_FILLERS;
        codeword.filler_value = 127;
        codeword.combine = c->how & BENCH_COMBINE ? 1 : 0;
        codeword.k0 = c->how & BENCH_COMBINE ? K0_OF_RV_2 : 0;
    }
    return codeword;
}

size_t bench_case_out_nbytes(const struct bench_case *c)
{
    size_t nbytes = 0;
    if (c->has_soft_buffers)
        return count_soft_blocks(c) * N_CB * softqam_output_nbytes(c->output, SOFTQAM_MODULATION_BPSK, 1);
    for (size_t k = 0; k < (c->n_segments > 0 ? c->n_segments : 1); k++)
        nbytes += (segment_out_nbytes(c, k) + 15) / 16 * 16;
    return c->n_segments > 1 ? nbytes : segment_out_nbytes(c, 0);
}

size_t bench_case_nbytes(const struct bench_case *c)
{
    const bool has_noise = c->output != SOFTQAM_OUTPUT_U8 && c->noise != BENCH_ONE_N0;
    const size_t llrs_nbytes = softqam_output_nbytes(c->output, c->modulation, c->n_symbols);
    return c->n_symbols * (softqam_input_symbol_nbytes(c->input) + (has_noise ? sizeof(float) : 0)) +
           (c->how & BENCH_COMBINE                          ? 2 * llrs_nbytes
            : c->has_soft_buffers && !(c->how & BENCH_SOFT) ? llrs_nbytes
                                                            : bench_case_out_nbytes(c));
}

/* Places of the scrambling sequence that have nothing to do with each other, or one after the other. */
uint64_t bench_case_first_symbol(const struct bench_case *c, size_t call)
{
    enum { PLACES = 1013 };
    const uint64_t number = c->how & BENCH_ELSEWHERE ? call * 379 % PLACES : c->how & BENCH_NEXT ? call : 0;
    return number * c->n_symbols;
}

size_t bench_case_segments(const struct bench_case *c, size_t call, const void *symbols, const float *noise_var,
                           void *out, softqam_segment segments[BENCH_MOST_SEGMENTS])
{
    enum { CODE_BLOCK_BITS = 9784 }; /* 150 in a slot of 4 layers of 256QAM */
    const size_t n_segments = c->n_segments > 0 ? c->n_segments : 1,
                 symbol_nbytes = softqam_input_symbol_nbytes(c->input);
    const unsigned n_layers = count_layers(c);
    const bool has_noise = c->output != SOFTQAM_OUTPUT_U8, descramble = c->how & BENCH_DESCRAMBLE;
    unsigned char *to = out;
    for (size_t k = 0; k < n_segments; k++) {
        const size_t first = segment_first(c, k), n = segment_first(c, k + 1) - first;
        const size_t n_bits = n * softqam_bits_per_symbol(c->modulation);
        softqam_segment *s = &segments[k];
        *s = (softqam_segment){.n_symbols = n,
                               .first_symbol = first + bench_case_first_symbol(c, call),
                               .modulation = c->modulation,
                               .n_layers = n_layers,
                               .symbol_stride = c->stride,
                               .noise_stride = !has_noise || c->noise == BENCH_ONE_N0 ? 0
                                               : c->stride > 0                        ? c->stride
                                                                                      : 1,
                               .plane_stride = c->how & BENCH_PLANES ? n : 0,
                               .descramble = descramble,
                               .c_init = descramble ? 12345 : 0,
                               .out = to};
        if (c->has_soft_buffers) {
            s->out = NULL;
            s->codeword = soft_codeword(c, out);
        } else if (c->how & BENCH_CODEWORD) {
            s->out = NULL;
            s->codeword = (softqam_codeword){.n_bits = n_bits,
                                             .buffers = to,
                                             .n_code_blocks = (uint32_t)(n_bits / CODE_BLOCK_BITS + 1),
                                             .deinterleave = 1};
        }
        for (unsigned layer = 0; layer < n_layers; layer++) {
            const size_t at = c->stride > 0 ? first / n_layers * c->stride + layer : first + layer * (n / n_layers);
            s->layers[layer].symbols = (const unsigned char *)symbols + at * symbol_nbytes;
            s->layers[layer].noise_var = has_noise ? noise_var + (c->noise == BENCH_ONE_N0 ? 0 : at) : NULL;
        }
        to += (segment_out_nbytes(c, k) + 15) / 16 * 16;
    }
    return n_segments;
}

void *bench_add(struct turns *turns, size_t nbytes, const struct bench_case *c, enum bench_run what,
                double (*run)(void *), void (*close)(void *))
{
    struct bench_job *job = turns->failed ? NULL : calloc(1, nbytes);
    if (!job) {
        turns->failed = true;
        return NULL;
    }
    *job = (struct bench_job){.contender = {.run = run,
                                            .close = close,
                                            .n_symbols = c->n_symbols,
                                            .nbytes = bench_case_nbytes(c),
                                            .is_cold = c->how & BENCH_COLD},
                              .c = *c};
    bench_case_name(c, what, job->contender.what);
    turns->contenders[turns->n++] = &job->contender;
    return job;
}

/* A column's figure, from the seconds that each cell took. */
static double figure(const struct bench_figure *f, const struct bench_case *c, const double seconds[BENCH_MOST_CELLS])
{
    const double mine = seconds[f->cell], other = seconds[f->other];
    switch (f->kind) {
    case BENCH_MSYM:
        return 1e-6 * (double)c->n_symbols / mine;
    case BENCH_GSYM:
        return 1e-9 * (double)c->n_symbols / mine;
    case BENCH_NS:
        return 1e9 * mine;
    case BENCH_US:
        return 1e6 * mine;
    case BENCH_SHARE:
        return other / mine;
    case BENCH_RATIO:
        return mine / other;
    case BENCH_ADDS:
        return 1e6 * (mine - other);
    case BENCH_ADDED_SHARE:
        return (other - seconds[f->cell - 1]) / (mine - seconds[f->cell - 1]);
    case BENCH_A_SEGMENT:
        return 1e9 * (mine - other) / (c->n_segments - 1);
    case BENCH_P99:
        break; /* of samples, not of medians */
    }
    return (double)NAN;
}

/* Measures a row; the measurements of a cell's ways are first + ends[cell - 1] to before first + ends[cell]. */
static int measure_cells(struct report *report, const struct bench_table *table, const struct bench_case *row,
                         const struct bench_backend *backend, size_t ends[BENCH_MOST_CELLS])
{
    enum { MOST_WAYS = 4 }; /* of one cell */
    struct turns turns = {.report = report};
    for (size_t k = 0; k < BENCH_MOST_CELLS && table->cells[k].run != BENCH_NONE; k++) {
        struct bench_case c = *row;
        if (turns.n > TURNS_MOST - MOST_WAYS) {
            message_print(table->title, "too many cells");
            turns.failed = true;
        }
        const struct bench_cell *cell = &table->cells[k];
        if (cell->output != SOFTQAM_OUTPUT_S8)
            c.output = cell->output;
        c.how |= cell->how;
        if (cell->setup)
            cell->setup(&c);
        if (!turns.failed && !turns.skipped)
            backend->add(backend->context, &turns, &c, cell->run);
        ends[k] = turns.n;
    }
    return report_measure_in_turns(&turns);
}

static void measure_row(struct report *report, const struct bench_table *table, const struct bench_case *row,
                        const struct bench_backend *backend)
{
    size_t ends[BENCH_MOST_CELLS] = {0};
    int indices[BENCH_MOST_CELLS] = {0};
    double seconds[BENCH_MOST_CELLS] = {0}, values[TABLE_COLUMNS + 1];
    size_t n = 0;
    const int first = measure_cells(report, table, row, backend, ends);
    if (first < 0)
        return;
    for (size_t k = 0; k < BENCH_MOST_CELLS && table->cells[k].run != BENCH_NONE; k++) {
        indices[k] = report_fastest(report, first + (int)(k > 0 ? ends[k - 1] : 0), first + (int)ends[k]);
        seconds[k] = report_quantile(report, indices[k], 0.5);
    }
    for (; n < TABLE_COLUMNS && table->figures[n].name; n++) {
        const struct bench_figure *f = &table->figures[n];
        values[n] =
            f->kind == BENCH_P99 ? 1e6 * report_quantile(report, indices[f->cell], 0.99) : figure(f, row, seconds);
        if ((f->kind == BENCH_SHARE || f->kind == BENCH_RATIO) && report->measurements[indices[f->cell]].limit < 0)
            report->measurements[indices[f->cell]].limit = indices[f->other];
    }
    values[n] = report_spread(report, first);
    report_row(report, row->name, values);
}

static void measure_table(struct report *report, const struct bench_options *options, const struct bench_table *table,
                          const struct bench_backend *backend)
{
    const char *columns[TABLE_COLUMNS + 2] = {NULL};
    size_t n = 0;
    for (; n < TABLE_COLUMNS && table->figures[n].name; n++)
        columns[n] = table->figures[n].name;
    columns[n] = "spread";
    report_table(report, columns, "%s%s%s%s", backend->name,
                 table->of_modulation ? modulation_get(options->modulation)->name : "",
                 table->of_modulation ? ", " : "", table->title);
    struct bench_case c = {.options = options,
                           .launch = table->launch,
                           .modulation = options->modulation,
                           .variant = backend->variant,
                           .n_threads = 1};
    const struct bench_case first = c;
    const size_t n_samples = report->n_samples;
    if (table->n_samples > n_samples && n_samples > 1)
        report->n_samples = table->n_samples;
    for (size_t k = 0; table->row(k, &c); k++, c = first) {
        bench_complete_row(&c);
        measure_row(report, table, &c, backend);
    }
    report->n_samples = n_samples;
}

void bench_measure_tables(struct report *report, const struct bench_options *options,
                          const struct bench_backend *backend)
{
    for (const struct bench_table *table = bench_tables; table < bench_tables + bench_n_tables; table++)
        if (options->sections & 1u << table->section && (table->launch == BENCH_BY_CPU) == (backend->variant != NULL))
            measure_table(report, options, table, backend);
}
