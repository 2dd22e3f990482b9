/* SPDX-License-Identifier: MIT */
/* One call on device memory, from launch to synchronisation on the host's clock, beside an empty kernel's. */
#include <math.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/modulation.h"
#include "gpu_case.h"

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
              gpu_good(bench, cudaStreamSynchronize(bench->streams[0]), "cudaStreamSynchronize");
    return all ? (clock_seconds() - start) / N_CALLS : -1;
}

static void report_calls(struct gpu_bench *bench, const struct gpu_work works[N_WORKS], int first)
{
    static const char *const columns[] = {"us", "us beyond", NULL};
    const double empty = 1e6 * report_median(bench->report, first);
    report_table(bench->report, "cuda: a call, launch to synchronise, beyond an empty kernel's", columns);
    for (int k = 0; k < N_WORKS; k++) {
        const double us = 1e6 * report_median(bench->report, first + k);
        const double values[] = {us, us - empty};
        report_row(bench->report, works[k].name, values);
    }
}

void gpu_bench_calls(struct gpu_bench *bench)
{
    const struct gpu_case cases[] = {
        {bench->modulation, SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8, SOFTQAM_NOISE_PER_SYMBOL},
        {bench->modulation, SOFTQAM_INPUT_CF16, SOFTQAM_OUTPUT_F16, SOFTQAM_NOISE_PER_SYMBOL}};
    struct gpu_work works[N_WORKS] = {{.bench = bench, .name = "cuda: empty kernel"}};
    struct contender contenders[N_WORKS];
    bool all = bench->n_device_symbols >= SLOT_SYMBOLS;
    int n_open = 1;
    contenders[0] = (struct contender){works[0].name, run_call, &works[0], 0, 0};
    for (; n_open < N_WORKS && all; n_open++) {
        struct gpu_work *work = &works[n_open];
        all = gpu_work_open(bench, &cases[(n_open - 1) / N_SIZES], sizes[(n_open - 1) % N_SIZES], work);
        contenders[n_open] = gpu_work_contender(work);
        contenders[n_open].run = run_call;
        if (all) {
            char name[WHAT_NBYTES];
            gpu_case_name(&work->what, name);
            snprintf(work->name, sizeof work->name, "cuda: call, %.40s, %zu symbol%s", name, work->n_symbols,
                     work->n_symbols == 1 ? "" : "s");
        }
    }
    const int first = all ? report_measure_in_turns(bench->report, contenders, N_WORKS) : -1;
    if (first >= 0)
        report_calls(bench, works, first);
    for (int k = 1; k < n_open; k++)
        gpu_work_close(&works[k]);
}
