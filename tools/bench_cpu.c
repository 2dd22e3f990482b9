/* SPDX-License-Identifier: MIT */
#include "bench_sections.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <softqam/softqam.h>

#include "message.h"

struct cpu_run {
    softqam_demodulator *demodulator; /* NULL: copy instead */
    const void *symbols;
    size_t n_symbols;
    unsigned char *out;
    size_t n_repeats; /* small sizes are repeated, for the clock's sake */
};

static double run_cpu(void *context)
{
    const struct cpu_run *run = context;
    softqam_status status = SOFTQAM_OK;
    const double start = bench_seconds();
    for (size_t k = 0; k < run->n_repeats && status == SOFTQAM_OK; k++) {
        if (run->demodulator)
            status = softqam_demodulate(run->demodulator, run->symbols, NULL, run->n_symbols, run->out);
        else
            memcpy(run->out, run->symbols, 8 * run->n_symbols);
    }
    return status == SOFTQAM_OK ? (bench_seconds() - start) / (double)run->n_repeats : -1;
}

/* One size: the copy of the same bytes by one thread, then the backend with one thread and with all. */
static void measure_size(struct report *report, const struct bench_input *input, size_t n_symbols, unsigned char *out)
{
    struct cpu_run run = {NULL, input->symbols, n_symbols, out, 1 + (1 << 22) / n_symbols};
    const size_t nbytes = 16 * n_symbols;
    const int limit = report_measure(report, "cpu: memcpy, 1 thread", n_symbols, nbytes, -1, run_cpu, &run);
    for (unsigned all = 0; all <= 1 && limit >= 0; all++) {
        softqam_config config;
        softqam_config_init(&config);
        config.backend = SOFTQAM_BACKEND_CPU;
        config.n_threads = all ? 0 : 1;
        if (softqam_create(&run.demodulator, &config) != SOFTQAM_OK) {
            message_print("cpu", "%s", softqam_error_message());
            report->failed = true;
            return;
        }
        char what[64];
        snprintf(what, sizeof what, "cpu: cf32 to u8, %s", softqam_backend_detail(run.demodulator));
        memset(out, 1, 8 * n_symbols);
        report_measure(report, what, n_symbols, nbytes, limit, run_cpu, &run);
        softqam_destroy(run.demodulator);
        if (memcmp(out, input->expected, 8 * n_symbols) != 0) {
            message_print(what, "wrong bytes");
            report->failed = true;
        }
    }
}

void bench_cpu(struct report *report, const struct bench_input *input)
{
    unsigned char *out = malloc(8 * input->n_symbols);
    if (!out) {
        message_print("cpu", "out of memory");
        report->failed = true;
        return;
    }
    measure_size(report, input, SLOT_SYMBOLS, out);
    measure_size(report, input, input->n_symbols, out);
    free(out);
}
