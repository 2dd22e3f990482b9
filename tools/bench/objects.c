/* SPDX-License-Identifier: MIT */
#include "objects.h"

#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/message.h"
#include "create.h"

enum { N_OBJECTS = 6, MAX_SAMPLES = 9, CALL_SYMBOLS = 1 << 17 };

static const struct {
    softqam_input_format input;
    softqam_output_format output;
} formats[N_OBJECTS] = {
    {SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_U8},  {SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_S8},
    {SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_F16}, {SOFTQAM_INPUT_CF32, SOFTQAM_OUTPUT_F32},
    {SOFTQAM_INPUT_CS16, SOFTQAM_OUTPUT_S8},  {SOFTQAM_INPUT_CS8, SOFTQAM_OUTPUT_S8},
};

enum stage { STAGE_CONTEXT, STAGE_FIRST, STAGE_FURTHER, STAGE_PREPARE, STAGE_CALLS, N_STAGES };

static const char *const stage_names[N_STAGES] = {"a context", "the first demodulator", "each further demodulator",
                                                  "all prepared", "a first call of each"};

/* What is measured after each stage. */
enum amount { SECONDS, THREADS, HEAP, RESIDENT, DEVICE, N_AMOUNTS };

/* As columns of a table, and what a unit there is. */
static const char *const columns[] = {"us", "threads", "heap KiB", "resident KiB", "device KiB", NULL};
static const double units[N_AMOUNTS] = {1e6, 1, 0x1p-10, 0x1p-10, 0x1p-10};

struct objects {
    const struct objects_use *use;
    size_t n; /* demodulators */
    softqam_context *context;
    softqam_demodulator *demodulators[N_OBJECTS];
};

/* Of the calls on host memory. */
static unsigned char symbols[8 * CALL_SYMBOLS], out[32 * CALL_SYMBOLS];

/* The number behind a name such as "Rss:" in a file of /proc; 0 where there is none. Allocates nothing. */
static double read_number(const char *path, const char *name)
{
    char text[4096];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *found = strstr(text, name);
    return found ? strtod(found + strlen(name), NULL) : 0;
}

static double heap_nbytes(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 info = mallinfo2();
    return (double)info.uordblks + (double)info.hblkhd;
#else
    return 0;
#endif
}

/* What the process has now; DEVICE is what all processes of the device have. */
static void take_amounts(const struct objects_use *use, double amounts[N_AMOUNTS])
{
    amounts[THREADS] = read_number("/proc/self/status", "\nThreads:");
    amounts[HEAP] = heap_nbytes();
    amounts[RESIDENT] = 1024 * read_number("/proc/self/smaps_rollup", "\nRss:");
    amounts[DEVICE] = use->device_nbytes ? (double)use->device_nbytes(use->context) : 0;
}

/* The demodulators from `first` to before `end`. */
static softqam_status create(struct objects *objects, size_t first, size_t end)
{
    softqam_status status = SOFTQAM_OK;
    for (size_t k = first; k < end && status == SOFTQAM_OK; k++) {
        softqam_demodulator_config config =
            bench_config(SOFTQAM_MODULATION_256QAM, formats[k].input, formats[k].output, SOFTQAM_NOISE_PER_CALL);
        config.context = objects->context;
        status = softqam_demodulator_create(&objects->demodulators[k], &config);
    }
    return status;
}

static softqam_status call(struct objects *objects, size_t k)
{
    static const float noise_var = 0.001f;
    const struct objects_use *use = objects->use;
    const softqam_output_format output = formats[k].output;
    if (use->call)
        return use->call(use->context, objects->demodulators[k], output);
    return softqam_demodulate(objects->demodulators[k], symbols, output == SOFTQAM_OUTPUT_U8 ? NULL : &noise_var,
                              CALL_SYMBOLS, out);
}

static softqam_status run_stage(struct objects *objects, enum stage stage)
{
    const softqam_context_config config = bench_context_config(objects->use->backend, 0);
    softqam_status status = SOFTQAM_OK;
    switch (stage) {
    case STAGE_CONTEXT:
        return softqam_context_create(&objects->context, &config);
    case STAGE_FIRST:
        return create(objects, 0, 1);
    case STAGE_FURTHER:
        return create(objects, 1, objects->n);
    case STAGE_PREPARE:
        return softqam_context_prepare(objects->context, objects->use->prepare);
    default:
        for (size_t k = 0; k < objects->n && status == SOFTQAM_OK; k++)
            status = call(objects, k);
        return status;
    }
}

/* From nothing to a call of each demodulator; the amounts are those beyond what the process had before. */
static bool make_once(const struct objects_use *use, size_t n, double amounts[N_STAGES][N_AMOUNTS])
{
    struct objects objects = {.use = use, .n = n};
    double before[N_AMOUNTS];
    bool all = true;
    malloc_trim(0);
    take_amounts(use, before);
    for (int stage = 0; stage < N_STAGES && all; stage++) {
        const double start = clock_seconds();
        all = run_stage(&objects, (enum stage)stage) == SOFTQAM_OK;
        const double seconds = clock_seconds() - start;
        if (!all)
            message_print(use->name, "%s", softqam_error_message());
        take_amounts(use, amounts[stage]);
        for (int amount = THREADS; amount < N_AMOUNTS; amount++)
            amounts[stage][amount] -= before[amount];
        amounts[stage][SECONDS] = stage == STAGE_FURTHER && n > 1 ? seconds / (double)(n - 1) : seconds;
    }
    for (size_t k = 0; k < n; k++)
        softqam_demodulator_destroy(objects.demodulators[k]);
    softqam_context_destroy(objects.context);
    return all;
}

static void add_costs(struct report *report, const struct objects_use *use, size_t n,
                      double samples[][N_STAGES][N_AMOUNTS], size_t n_samples)
{
    for (int stage = 0; stage < N_STAGES; stage++) {
        double values[N_AMOUNTS];
        char what[WHAT_NBYTES];
        if (stage == STAGE_FURTHER && n == 1)
            continue;
        for (int amount = 0; amount < N_AMOUNTS; amount++) {
            double of_samples[MAX_SAMPLES];
            for (size_t k = 0; k < n_samples; k++)
                of_samples[k] = samples[k][stage][amount];
            values[amount] = units[amount] * report_sort(of_samples, n_samples);
        }
        if (!use->device_nbytes)
            values[DEVICE] = (double)NAN;
        snprintf(what, sizeof what, "%s, %s: %s", use->name, n == 1 ? "one" : "six", stage_names[stage]);
        report_row(report, what, values);
    }
}

void bench_objects(struct report *report, const struct objects_use *use)
{
    /* One demodulator and six in turns. */
    static const size_t counts[] = {1, N_OBJECTS};
    static double samples[2][MAX_SAMPLES][N_STAGES][N_AMOUNTS];
    const size_t n_samples = report->n_samples < MAX_SAMPLES ? report->n_samples : MAX_SAMPLES;
    memset(symbols, 0x3b, sizeof symbols);
    memset(out, 1, sizeof out);
    bool all = make_once(use, N_OBJECTS, samples[1][0]); /* warms up */
    for (size_t k = 0; k < n_samples && all; k++)
        for (size_t turn = k; turn < k + 2 && all; turn++)
            all = make_once(use, counts[turn % 2], samples[turn % 2][k]);
    if (!all) {
        report->failed = true;
        return;
    }
    report_table(report, columns, "time of the step, and what all so far takes");
    for (size_t k = 0; k < 2; k++)
        add_costs(report, use, counts[k], samples[k], n_samples);
}
