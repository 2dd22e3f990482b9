/* SPDX-License-Identifier: MIT */
/* Formats, threads, and calls of every size. */
#include <stdio.h>

#include "cpu.h"
#include "machine.h"
#include "stream.h"

static void measure_formats(struct cpu_bench *bench, struct cpu_case c, softqam_output_format output, int usual)
{
    snprintf(c.what, sizeof c.what, "%s to %s", bench_input_name(c.config.input_format),
             sample_format_output_name(output));
    cpu_case_set_output(bench, &c, output, SOFTQAM_NOISE_PER_CALL, SOFTQAM_NOISE_FORM_N0);
    cpu_measure(bench, &c, usual);
}

/* All formats; the last column is the rate in bytes relative to that of cf32 to s8. */
void cpu_bench_formats(struct cpu_bench *bench)
{
    struct cpu_case c = cpu_case_of(bench, NULL, SLOT_SYMBOLS);
    snprintf(c.what, sizeof c.what, "cf32 to s8");
    cpu_case_set_output(bench, &c, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_CALL, SOFTQAM_NOISE_FORM_N0);
    const int usual = cpu_measure(bench, &c, -1);
    c.symbols = bench->other;
    for (int k = SOFTQAM_INPUT_CF32; k <= SOFTQAM_INPUT_CF16; k++) {
        const softqam_input_format input = (softqam_input_format)k;
        c.config.input_format = input;
        c.config.input_scale = bench_input_scale(input);
        bench_fill(bench->modulation, bench->other, SLOT_SYMBOLS, 28.0, input);
        if (bench->modulation == SOFTQAM_MODULATION_256QAM)
            measure_formats(bench, c, SOFTQAM_OUTPUT_U8, usual);
        for (int j = 0; j < BENCH_N_LLR_FORMATS; j++)
            measure_formats(bench, c, bench_llr_formats[j], usual);
    }
}

/* What the memory allows so many threads, relative to what one thread demodulates. */
static void measure_memory(struct cpu_bench *bench, const struct cpu_case *c, int one)
{
    const int n_kinds = stream_can_stream() ? 2 : 1;
    for (int streaming = 0; streaming < n_kinds; streaming++) {
        struct turns turns = {.report = bench->report};
        cpu_add_limit(bench, &turns, c, streaming);
        report_set_limit(bench->report, report_measure_in_turns(&turns), one);
    }
}

/* The last column is relative to one thread. */
void cpu_bench_threads(struct cpu_bench *bench)
{
    const unsigned n_cpus = bench_count_cpus();
    const size_t sizes[] = {SLOT_SYMBOLS, bench->n_symbols};
    for (size_t s = 0; s < 2; s++) {
        int one = -1;
        for (unsigned n = 1; n <= n_cpus; n = n < n_cpus && 2 * n > n_cpus ? n_cpus : 2 * n) {
            struct cpu_case c = cpu_case_of(bench, NULL, sizes[s]);
            c.n_threads = n;
            const int index = cpu_measure(bench, &c, one);
            one = n == 1 ? index : one;
            if (s == 1)
                measure_memory(bench, &c, one);
        }
    }
}

void cpu_bench_sizes(struct cpu_bench *bench)
{
    for (size_t n = 1; n <= bench->n_largest; n *= n < 1024 ? 2 : 4) {
        struct cpu_case c = cpu_case_of(bench, NULL, n);
        const int limit = cpu_measure_copy(bench, n);
        cpu_measure(bench, &c, limit);
        c.n_threads = bench_count_cpus();
        if (c.n_threads > 1)
            cpu_measure(bench, &c, limit);
    }
}
