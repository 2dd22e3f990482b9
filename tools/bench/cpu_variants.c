/* SPDX-License-Identifier: MIT */
/* Variants and modulations, each beside a loop that moves as many bytes. All that stands in one row of a table is
 * measured in turns. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/modulation.h"
#include "cpu.h"
#include "stream.h"

enum { N_NOISES = 3 };

/* How LLRs get their noise. */
static const struct noise {
    const char *what;
    softqam_noise noise;
    softqam_noise_form form;
} noises[N_NOISES] = {{"N0 a symbol", SOFTQAM_NOISE_PER_SYMBOL, SOFTQAM_NOISE_FORM_N0},
                      {"1/N0 a symbol", SOFTQAM_NOISE_PER_SYMBOL, SOFTQAM_NOISE_FORM_INVERSE},
                      {"one N0", SOFTQAM_NOISE_PER_CALL, SOFTQAM_NOISE_FORM_N0}};

static void set_output(const struct cpu_bench *bench, struct cpu_case *c, softqam_output_format output,
                       const struct noise *noise)
{
    snprintf(c->what, sizeof c->what, "%s, %s", sample_format_output_name(output), noise->what);
    cpu_case_set_output(bench, c, output, noise->noise, noise->form);
}

static double millions(size_t n_symbols, double seconds)
{
    return 1e-6 * (double)n_symbols / seconds;
}

/* Spare variants only at a slot, and for two rows. */
static bool is_measured(const struct cpu_bench *bench, const struct cpu_case *c)
{
    const softqam_demodulator_config *config = &c->config;
    const bool is_main = config->output_format == SOFTQAM_OUTPUT_U8 ||
                         (config->output_format == SOFTQAM_OUTPUT_S8 && bench_has_noise(config) &&
                          config->noise_form == SOFTQAM_NOISE_FORM_N0);
    return !cpu_is_spare(bench, c->variant) || (is_main && c->n_symbols == SLOT_SYMBOLS);
}

/* A row: the limit with ordinary and with streaming stores, of which the faster one counts, and every variant. */
static void measure_row(struct cpu_bench *bench, struct cpu_case c)
{
    struct turns turns = {.report = bench->report};
    double values[TABLE_COLUMNS];
    int indices[TABLE_COLUMNS / 2]; /* of the variants, among the contenders; -1: not measured */
    const int n_limits = stream_can_stream() ? 2 : 1;
    for (int k = 0; k < n_limits; k++)
        cpu_add_limit(bench, &turns, &c, k > 0);
    for (int v = 0; v < TABLE_COLUMNS / 2 && bench->variants[v]; v++) {
        c.variant = bench->variants[v];
        indices[v] = is_measured(bench, &c) ? (int)turns.n : -1;
        if (indices[v] >= 0)
            cpu_add_case(bench, &turns, &c);
    }
    const int first = report_measure_in_turns(&turns);
    if (first < 0)
        return;
    const int limit = n_limits > 1 ? report_faster(bench->report, first, first + 1) : first;
    for (int v = 0; v < TABLE_COLUMNS / 2 && bench->variants[v]; v++) {
        const int index = indices[v] < 0 ? -1 : first + indices[v];
        report_set_limit(bench->report, index, limit);
        values[2 * v] = millions(c.n_symbols, report_median(bench->report, index));
        values[2 * v + 1] = report_share(bench->report, index);
    }
    report_row(bench->report, c.what, values);
}

static void begin_table(struct cpu_bench *bench, size_t n_symbols)
{
    char names[TABLE_COLUMNS][24];
    const char *columns[TABLE_COLUMNS + 1] = {NULL};
    for (int v = 0; v < TABLE_COLUMNS / 2 && bench->variants[v]; v++) {
        snprintf(names[2 * v], sizeof names[0], "%s Msym/s", bench->variants[v]);
        snprintf(names[2 * v + 1], sizeof names[0], "%s share", bench->variants[v]);
        columns[2 * v] = names[2 * v];
        columns[2 * v + 1] = names[2 * v + 1];
    }
    report_table(bench->report, columns, "cpu: %s, %zu symbols, share of moving the bytes",
                 modulation_get(bench->modulation)->name, n_symbols);
}

void cpu_bench_variants(struct cpu_bench *bench)
{
    const size_t sizes[] = {SLOT_SYMBOLS, bench->n_symbols};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct cpu_case c = cpu_case_of(bench, NULL, sizes[s]);
        cpu_measure_copy(bench, sizes[s]);
        begin_table(bench, sizes[s]);
        if (c.config.output_format == SOFTQAM_OUTPUT_U8)
            measure_row(bench, c);
        for (int output = 0; output < BENCH_N_LLR_FORMATS; output++) {
            for (int k = 0; k < N_NOISES; k++) {
                set_output(bench, &c, bench_llr_formats[output], &noises[k]);
                measure_row(bench, c);
            }
        }
    }
    if (bench->modulation == SOFTQAM_MODULATION_256QAM)
        cpu_measure_liquid(bench);
}

/* What an AVX-512 loop should reach, cf32 with N0 a symbol to s8, as a share of moving the bytes; 1024QAM as many LLRs
 * a second as 256QAM. */
static const double goals[] = {0.22, 0.22, 0.28, 0.34, 0.29, 0.295, (double)NAN};

/* One modulation, a slot to s8: the limits with and without noise variances, and each way to give those. */
static void measure_modulation(struct cpu_bench *bench, const char *variant, softqam_modulation modulation)
{
    enum { N_LIMITS = 2 };
    struct turns turns = {.report = bench->report};
    struct cpu_case cases[N_NOISES];
    bench_fill(modulation, bench->other, SLOT_SYMBOLS, 28.0, SOFTQAM_INPUT_CF32);
    for (int k = 0; k < N_NOISES; k++) {
        cases[k] = cpu_case_of(bench, variant, SLOT_SYMBOLS);
        cases[k].config.modulation = modulation;
        cases[k].symbols = bench->other;
        set_output(bench, &cases[k], SOFTQAM_OUTPUT_S8, &noises[k]);
    }
    cpu_add_limit(bench, &turns, &cases[0], false);
    cpu_add_limit(bench, &turns, &cases[N_NOISES - 1], false); /* has no noise variances to read */
    for (int k = 0; k < N_NOISES; k++)
        cpu_add_case(bench, &turns, &cases[k]);
    const int first = report_measure_in_turns(&turns);
    if (first < 0)
        return;
    double rates[N_NOISES], shares[N_NOISES];
    for (int k = 0; k < N_NOISES; k++) {
        const int index = first + N_LIMITS + k;
        report_set_limit(bench->report, index, first + (k == N_NOISES - 1));
        rates[k] = millions(SLOT_SYMBOLS, report_median(bench->report, index));
        shares[k] = report_share(bench->report, index);
    }
    const struct modulation *m = modulation_get(modulation);
    const double goal = strcmp(variant, "avx512") == 0 ? goals[modulation - SOFTQAM_MODULATION_BPSK] : (double)NAN;
    const double values[] = {rates[0], 1e-3 * rates[0] * m->n_bits, shares[0], goal, rates[1], shares[1], rates[2],
                             shares[2]};
    report_row(bench->report, m->name, values);
}

void cpu_bench_modulations(struct cpu_bench *bench)
{
    static const char *const columns[] = {"Msym/s",     "GLLR/s",        "share",        "goal", "1/N0 Msym/s",
                                          "1/N0 share", "one N0 Msym/s", "one N0 share", NULL};
    for (int v = 0; bench->variants[v]; v++) {
        if (cpu_is_spare(bench, bench->variants[v]))
            continue;
        report_table(bench->report, columns, "cpu: %s, a slot, cf32 and N0 a symbol to s8", bench->variants[v]);
        for (int m = SOFTQAM_MODULATION_BPSK; m <= SOFTQAM_MODULATION_1024QAM; m++)
            measure_modulation(bench, bench->variants[v], (softqam_modulation)m);
    }
}
