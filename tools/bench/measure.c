/* SPDX-License-Identifier: MIT */
/* Measures the jobs of a row in turn, and makes tables of figures from them, printed and as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "bench.h"

/* The table that is measured. */
struct table {
    const struct bench_table *about;
    struct bench_report *report;
    const char *variant;
    bool (*open)(struct bench_job *job);
    char title[BENCH_NAME_NBYTES];
    int width;   /* width of its rows' names as printed */
    cJSON *rows; /* NULL before the first row: an empty table is neither printed nor in the JSON */
};

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Measures the jobs from the first to the last, then from the last to the first, and so on, so that a drift of the
 * machine affects all, and no job always follows the same one. A run of the same job warms up before each sample,
 * unless caches are to be cold. */
static bool take_samples(struct bench_row *row, size_t n_samples)
{
    for (size_t sample = 0; sample < n_samples; sample++)
        for (size_t turn = 0; turn < row->n; turn++) {
            struct bench_job *job = &row->jobs[sample % 2 == 0 ? turn : row->n - 1 - turn];
            const bool is_warm = job->c.how & BENCH_COLD || job->measure(job) >= 0;
            job->seconds[sample] = is_warm ? job->measure(job) : -1;
            if (job->seconds[sample] < 0)
                return false;
        }
    for (size_t k = 0; k < row->n; k++)
        qsort(row->jobs[k].seconds, n_samples, sizeof(double), by_value);
    return true;
}

/* Returns a quantile of a job's samples, such as 0.5 for the median. */
static double quantile(const struct table *table, const struct bench_job *job, double share)
{
    return job->seconds[(size_t)(share * (double)(table->report->n_samples - 1) + 0.5)];
}

static double value_of(const struct bench_figure *figure, const struct bench_case *c, const double seconds[])
{
    const double mine = seconds[figure->cell], other = seconds[figure->other];
    switch (figure->kind) {
    case BENCH_MSYM:
        return 1e-6 * (double)c->n_symbols / mine;
    case BENCH_GSYM:
        return 1e-9 * (double)c->n_symbols / mine;
    case BENCH_MELEM:
        return 1e-6 * (double)c->n_elements / mine;
    case BENCH_OPERATIONS:
        return bench_case_operations(c);
    case BENCH_GOPS:
        return 1e-9 * bench_case_operations(c) * (double)c->n_elements / mine;
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
    }
    return (double)NAN;
}

/* Begins a table with its first row. */
static void begin_rows(struct table *table)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "title", table->title);
    table->rows = cJSON_AddArrayToObject(object, "rows");
    cJSON_AddItemToArray(table->report->tables, object);
    printf("\n%-*s", table->width, table->title);
    for (const struct bench_figure *figure = table->about->figures; figure->name; figure++)
        printf(" %9s", figure->name);
    printf(" %9s\n", "spread");
}

/* Adds a figure to a row and prints it, in a column as wide as its name. */
static void report_figure(cJSON *row, const char *name, double value)
{
    const double size = fabs(value);
    cJSON_AddNumberToObject(row, name, value);
    printf(" %*.*f", (int)fmax(9, (double)strlen(name)), size >= 1000 ? 0 : size >= 100 ? 1 : 3, value);
}

/* Returns half of the distance from the first decile to the ninth, over the median, of the noisiest job. */
static double spread_of(const struct table *table, const struct bench_row *row)
{
    double spread = 0;
    for (const struct bench_job *job = row->jobs; job < row->jobs + row->n; job++)
        spread = fmax(spread, (quantile(table, job, 0.9) - quantile(table, job, 0.1)) / 2 / quantile(table, job, 0.5));
    return spread;
}

/* Reports a row. Its figures are made from the median of each cell's fastest job. */
static void report_row(struct table *table, const char *name, const struct bench_row *row)
{
    double seconds[BENCH_MOST_CELLS];
    cJSON *object = cJSON_CreateObject();
    for (size_t k = 0; k < BENCH_MOST_CELLS; k++)
        seconds[k] = (double)INFINITY;
    for (const struct bench_job *job = row->jobs; job < row->jobs + row->n; job++)
        seconds[job->cell] = fmin(seconds[job->cell], quantile(table, job, 0.5));
    if (!table->rows)
        begin_rows(table);
    cJSON_AddStringToObject(object, "what", name);
    printf("%-*s", table->width, name);
    for (const struct bench_figure *figure = table->about->figures; figure->name; figure++)
        report_figure(object, figure->name, value_of(figure, &row->jobs[0].c, seconds));
    report_figure(object, "spread", spread_of(table, row));
    putchar('\n');
    fflush(stdout);
    cJSON_AddItemToArray(table->rows, object);
}

/* Returns whether a limit is also measured with is_long. The faster of the two counts. */
static bool has_long(const struct bench_case *c)
{
    return c->launch == BENCH_BY_CPU ? c->n_symbols > LARGE_SYMBOLS : c->launch < BENCH_PINNED;
}

/* Makes a cell's jobs. */
static void open_jobs(struct table *table, struct bench_row *row, const struct bench_case *c, size_t cell)
{
    const enum bench_run run = table->about->cells[cell].run;
    const size_t n = run == BENCH_LIMIT && has_long(c) ? 2 : 1;
    for (size_t k = 0; k < n && !row->failed; k++) {
        struct bench_job *job = &row->jobs[row->n++];
        *job = (struct bench_job){
            .row = row, .variant = table->variant, .c = *c, .run = run, .cell = cell, .is_long = k == 1};
        row->failed = !table->open(job);
    }
}

static void measure_row(struct table *table, const struct bench_case *change)
{
    const size_t n_samples = table->report->n_samples;
    struct bench_row row = {.n = 0};
    struct bench_case cases[BENCH_MOST_CELLS];
    size_t span = 0;
    for (size_t k = 0; k < BENCH_MOST_CELLS; k++) {
        cases[k] = bench_case_of(table->about, change, k, table->report->largest);
        span = bench_case_span(&cases[k]) > span ? bench_case_span(&cases[k]) : span;
    }
    snprintf(row.name, sizeof row.name, "%s: %s", table->title, change->name);
    row.failed = !bench_row_fill(&row, &cases[0], span);
    for (size_t k = 0; k < BENCH_MOST_CELLS && table->about->cells[k].run != BENCH_NONE; k++)
        open_jobs(table, &row, &cases[k], k);
    double *seconds = malloc((row.n + 1) * n_samples * sizeof *seconds);
    for (size_t k = 0; k < row.n && seconds; k++)
        row.jobs[k].seconds = seconds + k * n_samples;
    row.failed = row.failed || !seconds || !take_samples(&row, n_samples);
    if (!row.failed)
        report_row(table, change->name, &row);
    table->report->failed = table->report->failed || row.failed;
    for (size_t k = 0; k < row.n; k++)
        row.jobs[k].close(&row.jobs[k]);
    free(row.symbols);
    free(row.noise_var);
    free(seconds);
}

void bench_measure_tables(struct bench_report *report, const char *name, const char *variant,
                          bool (*open)(struct bench_job *job))
{
    for (const struct bench_table *about = bench_tables; about->title; about++) {
        struct table table = {.about = about, .report = report, .variant = variant, .open = open};
        const int length = snprintf(table.title, sizeof table.title, "%s%s", name, about->title);
        table.width = length > 44 ? length : 44;
        if (report->sections & 1u << about->section && (about->base.launch == BENCH_BY_CPU) == (variant != NULL))
            for (const struct bench_case *row = about->rows; row->name; row++)
                measure_row(&table, row);
    }
}
