/* SPDX-License-Identifier: MIT */
/* What a call takes beyond its symbols' share of a slot, and what each further segment of a call adds. */
#include <math.h>
#include <stdio.h>

#include "common/message.h"
#include "common/modulation.h"
#include "cpu.h"

/* The slot tells what a symbol takes; the last two are the same symbols as one segment and as many. */
enum { N_CALLS = 4, ONE_SEGMENT = 1 + N_CALLS, MANY_SEGMENTS, N_CASES, SEGMENTS = 64, SEGMENT_SYMBOLS = 64 };

static const struct {
    size_t n_symbols;
    size_t n_segments;
    double goal; /* nanoseconds */
} cases[N_CASES] = {{SLOT_SYMBOLS, 0, (double)NAN},
                    {1, 0, 100},
                    {10, 0, (double)NAN},
                    {100, 0, 150},
                    {1000, 0, (double)NAN},
                    {SEGMENTS * SEGMENT_SYMBOLS, 1, (double)NAN},
                    {SEGMENTS * SEGMENT_SYMBOLS, SEGMENTS, 30}};

static void report_calls(struct report *report, int first)
{
    const double symbol_ns = 1e9 * report_median(report, first) / SLOT_SYMBOLS;
    for (int k = 1; k <= N_CALLS; k++) {
        const double ns = 1e9 * report_median(report, first + k);
        const double values[] = {ns, ns - symbol_ns * (double)cases[k].n_symbols, cases[k].goal};
        char what[32];
        snprintf(what, sizeof what, "%zu symbol%s", cases[k].n_symbols, PLURAL(cases[k].n_symbols));
        report_row(report, what, values);
    }
    const double one = report_median(report, first + ONE_SEGMENT), many = report_median(report, first + MANY_SEGMENTS);
    const double values[] = {1e9 * many / SEGMENTS, 1e9 * (many - one) / (SEGMENTS - 1), cases[MANY_SEGMENTS].goal};
    report_row(report, "each of 64 segments of 64 symbols in a call", values);
}

static void measure_output(struct cpu_bench *bench, softqam_output_format output)
{
    static const char *const columns[] = {"ns", "ns beyond", "goal", NULL};
    static const char *const endings[N_CASES] = {[ONE_SEGMENT] = ", a segment", [MANY_SEGMENTS] = ", 64 segments"};
    struct turns turns = {.report = bench->report};
    for (int k = 0; k < N_CASES; k++) {
        struct cpu_case c = cpu_case_of(bench, NULL, cases[k].n_symbols);
        snprintf(c.what, sizeof c.what, "%s%s", sample_format_output_name(output), endings[k] ? endings[k] : "");
        c.n_segments = cases[k].n_segments;
        cpu_case_set_output(bench, &c, output, SOFTQAM_NOISE_PER_SYMBOL, SOFTQAM_NOISE_FORM_N0);
        cpu_add_case(bench, &turns, &c);
    }
    const int first = report_measure_in_turns(&turns);
    if (first < 0)
        return;
    report_table(bench->report, columns, "cpu: %s to %s, a call beyond its share of a slot",
                 modulation_get(bench->modulation)->name, sample_format_output_name(output));
    report_calls(bench->report, first);
}

void cpu_bench_calls(struct cpu_bench *bench)
{
    if (bench->modulation == SOFTQAM_MODULATION_256QAM)
        measure_output(bench, SOFTQAM_OUTPUT_U8);
    for (int k = 0; k < BENCH_N_LLR_FORMATS; k++)
        measure_output(bench, bench_llr_formats[k]);
}
