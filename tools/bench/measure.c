/* SPDX-License-Identifier: MIT */
/* The jobs of a row, measured in turns; tables of figures made of them, printed and as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "bench.h"
#include "common/message.h"
#include "common/modulation.h"

/* The table that is measured. */
struct table {
    const struct bench_table *about;
    struct bench_report *report;
    const struct bench_backend *backend;
    char title[128];
    int width; /* of its rows' names where it is printed */
    size_t n_samples;
    cJSON *rows; /* NULL: none yet; then it is neither printed nor in the JSON */
};

void *bench_add(struct bench_turns *turns, size_t nbytes, const struct bench_case *c, enum bench_run run,
                double (*measure)(void *), void (*close)(void *))
{
    struct bench_job *job = turns->failed || turns->n == BENCH_MOST_JOBS ? NULL : calloc(1, nbytes);
    if (!job) {
        turns->failed = true;
        return NULL;
    }
    *job = (struct bench_job){.c = *c, .run = run, .measure = measure, .close = close};
    turns->jobs[turns->n++] = job;
    return job;
}

void bench_say(const struct bench_job *job, const char *what)
{
    char name[BENCH_NAME_NBYTES];
    bench_case_name(&job->c, job->run, name);
    message_print(name, "%s", what);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* From the first job to the last, then back from the last to the first, and so on, so that whatever changes while they
 * are measured changes for all, and none always comes after the same one. Each sample follows a run of its own to warm
 * up, but where caches are to be cold. */
static bool take_samples(const struct bench_turns *turns, size_t n_samples)
{
    const size_t n = turns->n;
    for (size_t sample = 0; sample < n_samples; sample++) {
        for (size_t turn = 0; turn < n; turn++) {
            struct bench_job *job = turns->jobs[sample % 2 == 0 ? turn : n - 1 - turn];
            const bool is_warm = job->c.how & BENCH_COLD || (n == 1 && sample > 0) || job->measure(job) >= 0;
            job->seconds[sample] = is_warm ? job->measure(job) : -1;
            if (job->seconds[sample] < 0)
                return false;
        }
    }
    for (size_t k = 0; k < n; k++)
        qsort(turns->jobs[k]->seconds, n_samples, sizeof(double), by_value);
    return true;
}

/* The sample that a share of a job's samples does not exceed. */
static double quantile(const struct table *table, const struct bench_job *job, double share)
{
    const size_t k = (size_t)(share * (double)table->n_samples);
    return job->seconds[k < table->n_samples ? k : table->n_samples - 1];
}

/* A column's figure, from the job that was the fastest in each cell. */
static double figure(const struct table *table, const struct bench_figure *f, struct bench_job *const fastest[])
{
    const struct bench_job *job = fastest[f->cell];
    const double n_symbols = (double)job->c.n_symbols;
    const double mine = quantile(table, job, 0.5), other = quantile(table, fastest[f->other], 0.5);
    const double before = f->cell > 0 ? quantile(table, fastest[f->cell - 1], 0.5) : 0;
    switch (f->kind) {
    case BENCH_MSYM:
        return 1e-6 * n_symbols / mine;
    case BENCH_GSYM:
        return 1e-9 * n_symbols / mine;
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
        return (other - before) / (mine - before);
    case BENCH_A_SEGMENT:
        return 1e9 * (mine - other) / (job->c.n_segments - 1);
    case BENCH_P99:
        return 1e6 * quantile(table, job, 0.99);
    }
    return (double)NAN;
}

static void report_job(const struct table *table, const struct bench_job *job)
{
    cJSON *object = cJSON_CreateObject();
    char name[BENCH_NAME_NBYTES];
    bench_case_name(&job->c, job->run, name);
    cJSON_AddStringToObject(object, "what", name);
    cJSON_AddNumberToObject(object, "symbols", (double)job->c.n_symbols);
    cJSON_AddNumberToObject(object, "bytes", (double)bench_case_nbytes(&job->c));
    cJSON_AddNumberToObject(object, "samples", (double)table->n_samples);
    cJSON_AddNumberToObject(object, "p10_s", quantile(table, job, 0.1));
    cJSON_AddNumberToObject(object, "median_s", quantile(table, job, 0.5));
    cJSON_AddNumberToObject(object, "p90_s", quantile(table, job, 0.9));
    cJSON_AddNumberToObject(object, "p99_s", quantile(table, job, 0.99));
    if (job->limit) {
        bench_case_name(&job->limit->c, job->limit->run, name);
        cJSON_AddStringToObject(object, "limit", name);
        cJSON_AddNumberToObject(object, "share_of_limit", quantile(table, job->limit, 0.5) / quantile(table, job, 0.5));
    }
    cJSON_AddItemToArray(table->report->measurements, object);
}

/* Begins a table with its first row. */
static void begin_rows(struct table *table)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "title", table->title);
    table->rows = cJSON_AddArrayToObject(object, "rows");
    cJSON_AddItemToArray(table->report->tables, object);
    printf("\n%-*s", table->width, table->title);
    for (const struct bench_figure *f = table->about->figures; f->name; f++)
        printf(" %9s", f->name);
    printf(" %9s\n", "spread");
}

/* Adds a figure to a row and prints it, in a column as wide as its name. */
static void report_figure(cJSON *row, const char *name, double value)
{
    const int width = strlen(name) > 9 ? (int)strlen(name) : 9;
    const double size = fabs(value);
    cJSON_AddNumberToObject(row, name, value); /* NAN: null */
    if (isnan(value))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, size >= 1000 ? 0 : size >= 100 ? 1 : 3, value);
}

/* Half of the way from the first decile to the ninth, over the median: of the noisiest job. */
static double spread_of(const struct table *table, const struct bench_turns *turns)
{
    double spread = 0;
    for (size_t k = 0; k < turns->n; k++) {
        const struct bench_job *job = turns->jobs[k];
        spread = fmax(spread, (quantile(table, job, 0.9) - quantile(table, job, 0.1)) / 2 / quantile(table, job, 0.5));
    }
    return spread;
}

/* The jobs of a cell are ends[cell - 1] to before ends[cell]. */
static void report_row(struct table *table, const char *name, const struct bench_turns *turns, const size_t ends[])
{
    struct bench_job *fastest[BENCH_MOST_CELLS] = {NULL};
    cJSON *row = cJSON_CreateObject();
    for (size_t k = 0, cell = 0; k < turns->n; k++) {
        for (; k == ends[cell]; cell++)
            ;
        if (!fastest[cell] || quantile(table, turns->jobs[k], 0.5) < quantile(table, fastest[cell], 0.5))
            fastest[cell] = turns->jobs[k];
    }
    if (!table->rows)
        begin_rows(table);
    cJSON_AddStringToObject(row, "what", name);
    printf("%-*s", table->width, name);
    for (const struct bench_figure *f = table->about->figures; f->name; f++) {
        report_figure(row, f->name, figure(table, f, fastest));
        if ((f->kind == BENCH_SHARE || f->kind == BENCH_RATIO) && !fastest[f->cell]->limit)
            fastest[f->cell]->limit = fastest[f->other];
    }
    report_figure(row, "spread", spread_of(table, turns));
    putchar('\n');
    fflush(stdout);
    cJSON_AddItemToArray(table->rows, row);
    for (size_t k = 0; k < turns->n; k++)
        report_job(table, turns->jobs[k]);
}

static void measure_row(struct table *table, const struct bench_case *row)
{
    struct bench_turns turns = {.n = 0};
    size_t ends[BENCH_MOST_CELLS] = {0};
    for (size_t k = 0; k < BENCH_MOST_CELLS && table->about->cells[k].run != BENCH_NONE; k++) {
        struct bench_case c = *row;
        bench_change_case(&c, &table->about->cells[k].change);
        if (!turns.failed && !turns.skipped)
            table->backend->add(&turns, &c, table->about->cells[k].run);
        ends[k] = turns.n;
    }
    double *seconds = malloc((turns.n + 1) * table->n_samples * sizeof *seconds);
    for (size_t k = 0; seconds && k < turns.n; k++)
        turns.jobs[k]->seconds = seconds + k * table->n_samples;
    if (turns.n > 0 && !turns.failed && !turns.skipped) {
        turns.failed = !seconds || !take_samples(&turns, table->n_samples);
        if (turns.failed)
            bench_say(turns.jobs[0], "could not be measured");
        else
            report_row(table, row->name, &turns, ends);
    }
    table->report->failed = table->report->failed || turns.failed;
    for (size_t k = 0; k < turns.n; k++)
        turns.jobs[k]->close(turns.jobs[k]);
    free(seconds);
}

static void measure_table(struct table *table, const struct bench_options *options)
{
    const struct bench_case first = {
        .options = options, .modulation = options->modulation, .variant = table->backend->variant, .n_threads = 1};
    struct bench_case c = first;
    const int length = snprintf(table->title, sizeof table->title, "%s%s%s%s", table->backend->name,
                                table->about->of_modulation ? modulation_get(options->modulation)->name : "",
                                table->about->of_modulation ? ", " : "", table->about->title);
    table->width = length > 44 ? length : 44;
    table->n_samples = table->report->n_samples;
    if (table->about->n_samples > table->n_samples && table->n_samples > 1)
        table->n_samples = table->about->n_samples;
    for (size_t k = 0; bench_table_row(table->about, k, &c); k++, c = first)
        if (!c.is_none)
            measure_row(table, &c);
}

void bench_measure_tables(struct bench_report *report, const struct bench_options *options,
                          const struct bench_backend *backend)
{
    for (size_t k = 0; k < bench_n_tables; k++) {
        struct table table = {.about = &bench_tables[k], .report = report, .backend = backend};
        if (options->sections & 1u << table.about->section &&
            (table.about->base.launch == BENCH_BY_CPU) == (backend->variant != NULL))
            measure_table(&table, options);
    }
}

void bench_report_fact(struct bench_report *report, const char *name, const char *text)
{
    cJSON_AddStringToObject(report->facts, name, text);
}

void bench_report_begin(struct bench_report *report, size_t n_samples)
{
    *report = (struct bench_report){n_samples, cJSON_CreateObject(), cJSON_CreateArray(), cJSON_CreateArray(), false};
}

static bool write_json(struct bench_report *report, struct output_file *file)
{
    char *text = cJSON_Print(report->facts);
    if (!text)
        message_print(file->name, "out of memory");
    const bool good = text && output_file_write(file, text, strlen(text)) && output_file_write(file, "\n", 1) &&
                      output_file_finish(file) && output_file_publish(file);
    if (good)
        output_file_release(file);
    cJSON_free(text);
    return good;
}

bool bench_report_end(struct bench_report *report, struct output_file *json)
{
    const bool has_any = cJSON_GetArraySize(report->measurements) > 0;
    cJSON_AddItemToObject(report->facts, "measurements", report->measurements);
    cJSON_AddItemToObject(report->facts, "tables", report->tables);
    const bool good = has_any && (!json || write_json(report, json)) && !report->failed;
    cJSON_Delete(report->facts);
    return good;
}
