/* SPDX-License-Identifier: MIT */
/* One call on device memory, from launch to synchronisation on the host's clock, beside an empty kernel's. */
#include <stdio.h>

#include "common/clock.h"
#include "common/message.h"
#include "gpu.h"

enum { N_CALLS = 50, N_SIZES = 4, N_WORKS = 1 + 2 * N_SIZES };

static const size_t sizes[N_SIZES] = {1, 100, 1000, SLOT_SYMBOLS};

/* Without a demodulator: the empty kernel. */
static double run_call(void *context)
{
    const struct gpu_work *work = context;
    struct gpu_bench *bench = work->bench;
    bool all = true;
    const double start = clock_seconds();
    for (int k = 0; k < N_CALLS && all; k++)
        all = (work->demodulator ? gpu_work_enqueue(work, 0)
                                 : gpu_good(bench, bench_empty_kernel(bench->streams[0]), "empty kernel")) &&
              gpu_synchronise(bench);
    return all ? (clock_seconds() - start) / N_CALLS : -1;
}

static void report_calls(struct gpu_bench *bench, const struct gpu_work works[N_WORKS], int first)
{
    static const char *const columns[] = {"us", "us beyond", NULL};
    const double empty = 1e6 * report_median(bench->report, first);
    report_table(bench->report, columns, "cuda: a call, launch to synchronise, beyond an empty kernel's");
    for (int k = 0; k < N_WORKS; k++) {
        const double us = 1e6 * report_median(bench->report, first + k);
        const double values[] = {us, us - empty};
        report_row(bench->report, works[k].name, values);
    }
}

void gpu_bench_calls(struct gpu_bench *bench)
{
    const softqam_demodulator_config configs[] = {
        bench_config(bench->modulation, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL),
        bench_config(bench->modulation, SOFTQAM_INPUT_CF16, SOFTQAM_OUTPUT_F16, SOFTQAM_NOISE_PER_SYMBOL)};
    struct gpu_work works[N_WORKS] = {{.bench = bench, .name = "cuda: empty kernel"}};
    struct turns turns = {.report = bench->report, .failed = bench->n_device_symbols < SLOT_SYMBOLS};
    gpu_work_add(&turns, &works[0]);
    for (int k = 1; k < N_WORKS && !turns.failed; k++) {
        struct gpu_work *work = &works[k];
        const size_t n = sizes[(k - 1) % N_SIZES];
        char name[WHAT_NBYTES];
        turns.failed = !gpu_work_open(bench, configs[(k - 1) / N_SIZES], n, work);
        gpu_work_add(&turns, work);
        gpu_config_name(&work->config, name);
        snprintf(work->name, sizeof work->name, "cuda: call, %.40s, %zu symbol%s", name, n, PLURAL(n));
    }
    for (size_t k = 0; k < turns.n; k++)
        turns.contenders[k].run = run_call;
    const int first = report_measure_in_turns(&turns);
    if (first >= 0)
        report_calls(bench, works, first);
}
