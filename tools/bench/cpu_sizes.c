/* SPDX-License-Identifier: MIT */
/* Formats, threads, and calls of every size. */
#include <stdio.h>

#include "common/sample_format.h"
#include "cpu_sections.h"
#include "input.h"
#include "machine.h"

/* All formats; the last column is the rate in bytes relative to that of cf32 to s8. */
void cpu_section_formats(struct cpu_bench *bench)
{
    static const char *const inputs[] = {"cf32", "cs16", "cs8", "cf16"};
    const bool has_soft_bits = bench->modulation == SOFTQAM_MODULATION_256QAM;
    struct cpu_case c = cpu_case_of(bench, NULL, SLOT_SYMBOLS);
    c.what = "cf32 to s8";
    cpu_case_set_llrs(bench, &c, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_CALL, SOFTQAM_NOISE_FORM_N0);
    const int usual = cpu_measure(bench, &c, -1);
    c.symbols = bench->other;
    for (int input = 0; input < 4; input++) {
        c.input = (softqam_input_format)input;
        c.input_scale = bench_input_scale(c.input);
        bench_fill(bench->modulation, bench->other, SLOT_SYMBOLS, 28.0, c.input, c.input_scale);
        for (int output = has_soft_bits ? SOFTQAM_OUTPUT_U8 : SOFTQAM_OUTPUT_S8; output <= SOFTQAM_OUTPUT_F32;
             output++) {
            char what[32];
            snprintf(what, sizeof what, "%s to %s", inputs[input], sample_format_name((enum output_kind)output));
            c.what = what;
            c.output = (softqam_output_format)output;
            c.noise_var = output == SOFTQAM_OUTPUT_U8 ? NULL : bench->noise_var;
            cpu_measure(bench, &c, usual);
        }
    }
}

/* What the memory allows so many threads, relative to what one thread demodulates. */
static void measure_memory(struct cpu_bench *bench, const struct cpu_case *c, int one)
{
    const int n_kinds = stream_can_stream() ? 2 : 1;
    for (int streaming = 0; streaming < n_kinds; streaming++) {
        struct cpu_run run = cpu_limit_of(bench, c, c->n_threads, streaming);
        const struct contender contender = cpu_limit_contender(&run);
        const int index = report_measure_in_turns(bench->report, &contender, 1);
        if (index >= 0)
            report_set_limit(bench->report, index, one);
    }
}

/* The last column is relative to one thread. */
void cpu_section_threads(struct cpu_bench *bench)
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

void cpu_section_sizes(struct cpu_bench *bench)
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
