/* SPDX-License-Identifier: MIT */
/* What a call takes beyond its symbols' share of a slot, and what each further segment of a call adds. */
#include <math.h>
#include <stdio.h>

#include "common/modulation.h"
#include "common/sample_format.h"
#include "cpu_sections.h"
#include "input.h"

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
        snprintf(what, sizeof what, "%zu symbol%s", cases[k].n_symbols, k == 1 ? "" : "s");
        report_row(report, what, values);
    }
    const double one = report_median(report, first + ONE_SEGMENT), many = report_median(report, first + MANY_SEGMENTS);
    const double values[] = {1e9 * many / SEGMENTS, 1e9 * (many - one) / (SEGMENTS - 1), cases[MANY_SEGMENTS].goal};
    report_row(report, "each of 64 segments of 64 symbols in a call", values);
}

static void measure_output(struct cpu_bench *bench, softqam_output_format output)
{
    static const char *const columns[] = {"ns", "ns beyond", "goal", NULL};
    struct cpu_run runs[N_CASES];
    struct contender contenders[N_CASES];
    char title[128];
    int n_open = 0;
    bool all = true;
    for (; n_open < N_CASES && all; n_open++) {
        struct cpu_case c = cpu_case_of(bench, NULL, cases[n_open].n_symbols);
        char what[64];
        snprintf(what, sizeof what, "%s%s", sample_format_name((enum output_kind)output),
                 n_open == MANY_SEGMENTS ? ", 64 segments"
                 : n_open == ONE_SEGMENT ? ", a segment"
                                         : "");
        c.what = what;
        c.n_segments = cases[n_open].n_segments;
        if (output != SOFTQAM_OUTPUT_U8)
            cpu_case_set_llrs(bench, &c, output, SOFTQAM_NOISE_PER_SYMBOL, SOFTQAM_NOISE_FORM_N0);
        all = cpu_open(bench, &c, &runs[n_open]);
        contenders[n_open] = cpu_contender(&runs[n_open]);
    }
    const int first = all ? report_measure_in_turns(bench->report, contenders, N_CASES) : -1;
    for (int k = 0; k < n_open; k++)
        cpu_close(&runs[k]);
    if (first < 0)
        return;
    snprintf(title, sizeof title, "cpu: %s to %s, a call beyond its share of a slot",
             modulation_get(bench->modulation)->name, sample_format_name((enum output_kind)output));
    report_table(bench->report, title, columns);
    report_calls(bench->report, first);
}

void cpu_section_calls(struct cpu_bench *bench)
{
    for (int output = SOFTQAM_OUTPUT_U8; output <= SOFTQAM_OUTPUT_F32; output++)
        if (output != SOFTQAM_OUTPUT_U8 || bench->modulation == SOFTQAM_MODULATION_256QAM)
            measure_output(bench, (softqam_output_format)output);
}
