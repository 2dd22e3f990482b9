/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "common/message.h"

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The sample that a share of the samples does not exceed. */
static double quantile(const struct measurement *m, double share)
{
    size_t k = (size_t)(share * (double)m->n_samples);
    return m->seconds[k < m->n_samples ? k : m->n_samples - 1];
}

/* Room for one more measurement and its samples, which counts once it is kept. */
static struct measurement *report_open(struct report *report, const struct contender *c)
{
    struct measurement *grown =
        realloc(report->measurements, (report->n_measurements + 1) * sizeof *report->measurements);
    if (!grown)
        return NULL;
    report->measurements = grown;
    struct measurement *m = &grown[report->n_measurements];
    *m = (struct measurement){.n_symbols = c->n_symbols, .nbytes = c->nbytes, .limit = -1};
    snprintf(m->what, sizeof m->what, "%s", c->what);
    m->seconds = malloc(report->n_samples * sizeof *m->seconds);
    return m->seconds ? m : NULL;
}

static bool take_sample(struct measurement *m, bench_run *run, void *context)
{
    const double seconds = run(context);
    if (seconds < 0)
        return false;
    m->seconds[m->n_samples++] = seconds;
    return true;
}

static int give_up(struct report *report, const char *what)
{
    message_print(what, "could not be measured");
    report->failed = true;
    return -1;
}

int report_measure_in_turns(struct report *report, const struct contender *contenders, size_t n_contenders)
{
    const size_t first = report->n_measurements;
    bool good = true;
    for (size_t k = 0; k < n_contenders && good; k++) {
        good = report_open(report, &contenders[k]) != NULL;
        report->n_measurements += good;
    }
    for (size_t sample = 0; sample < report->n_samples && good; sample++) {
        for (size_t turn = 0; turn < n_contenders && good; turn++) {
            const size_t k = sample % 2 == 0 ? turn : n_contenders - 1 - turn;
            const struct contender *c = &contenders[k];
            good = ((n_contenders == 1 && sample > 0) || c->run(c->context) >= 0) &&
                   take_sample(&report->measurements[first + k], c->run, c->context);
        }
    }
    for (size_t k = first; k < report->n_measurements; k++)
        if (good)
            qsort(report->measurements[k].seconds, report->n_samples, sizeof(double), by_value);
        else
            free(report->measurements[k].seconds);
    if (good)
        return (int)first;
    report->n_measurements = first;
    return give_up(report, contenders[0].what);
}

int report_measure(struct report *report, const char *what, size_t n_symbols, size_t nbytes, int limit, bench_run *run,
                   void *context)
{
    const struct contender alone = {what, run, context, n_symbols, nbytes};
    const int index = report_measure_in_turns(report, &alone, 1);
    if (index >= 0)
        report_set_limit(report, index, limit);
    return index;
}

void report_set_limit(struct report *report, int index, int limit)
{
    report->measurements[index].limit = limit;
}

/* False where there is one of that name, or no room. */
static bool add_entry(struct report_entry *entries, size_t *n, const char *name, const char *text)
{
    for (size_t k = 0; k < *n; k++)
        if (strcmp(entries[k].name, name) == 0)
            return false;
    if (*n == REPORT_ENTRIES)
        return false;
    struct report_entry *entry = &entries[(*n)++];
    snprintf(entry->name, sizeof entry->name, "%s", name);
    snprintf(entry->text, sizeof entry->text, "%s", text);
    return true;
}

void report_fact(struct report *report, const char *name, const char *text)
{
    (void)add_entry(report->facts, &report->n_facts, name, text);
}

void report_note(struct report *report, const char *what, const char *text)
{
    if (add_entry(report->notes, &report->n_notes, what, text))
        message_print(what, "%s", text);
}

static double byte_rate(const struct measurement *m)
{
    return (double)m->nbytes / quantile(m, 0.5);
}

int report_faster(const struct report *report, int a, int b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    return byte_rate(&report->measurements[a]) < byte_rate(&report->measurements[b]) ? b : a;
}

/* Bytes a second, relative to the limit's. */
static double share_of_limit(const struct report *report, const struct measurement *m)
{
    const struct measurement *limit = &report->measurements[m->limit];
    return byte_rate(m) / byte_rate(limit);
}

double report_median(const struct report *report, int index)
{
    return index < 0 ? (double)NAN : quantile(&report->measurements[index], 0.5);
}

double report_share(const struct report *report, int index)
{
    if (index < 0 || report->measurements[index].limit < 0)
        return (double)NAN;
    return share_of_limit(report, &report->measurements[index]);
}

void report_table(struct report *report, const char *title, const char *const columns[])
{
    struct table *grown = realloc(report->tables, (report->n_tables + 1) * sizeof *report->tables);
    if (!grown) {
        give_up(report, title);
        return;
    }
    report->tables = grown;
    struct table *table = &grown[report->n_tables++];
    *table = (struct table){.n_columns = 0};
    snprintf(table->title, sizeof table->title, "%s", title);
    for (size_t k = 0; k < TABLE_COLUMNS && columns[k]; k++)
        snprintf(table->columns[table->n_columns++], sizeof table->columns[0], "%s", columns[k]);
}

void report_row(struct report *report, const char *what, const double values[])
{
    struct table *table = report->n_tables > 0 ? &report->tables[report->n_tables - 1] : NULL;
    struct table_row *grown = table ? realloc(table->rows, (table->n_rows + 1) * sizeof *table->rows) : NULL;
    if (!grown) {
        give_up(report, what);
        return;
    }
    table->rows = grown;
    struct table_row *row = &grown[table->n_rows++];
    snprintf(row->what, sizeof row->what, "%s", what);
    memcpy(row->values, values, table->n_columns * sizeof *values);
}

enum { WHAT_WIDTH = 56, COLUMN_WIDTH = 15 };

static void print_figure(double value)
{
    if (isnan(value))
        printf(" %*s", COLUMN_WIDTH, "-");
    else
        printf(" %*.*f", COLUMN_WIDTH, fabs(value) >= 1000 ? 0 : fabs(value) >= 100 ? 1 : 3, value);
}

static void print_table(const struct table *table)
{
    if (table->n_rows == 0)
        return;
    printf("\n%-*s", WHAT_WIDTH, table->title);
    for (size_t k = 0; k < table->n_columns; k++)
        printf(" %*s", COLUMN_WIDTH, table->columns[k]);
    putchar('\n');
    for (size_t r = 0; r < table->n_rows; r++) {
        printf("%-*s", WHAT_WIDTH, table->rows[r].what);
        for (size_t k = 0; k < table->n_columns; k++)
            print_figure(table->rows[r].values[k]);
        putchar('\n');
    }
}

static void print_measurements(const struct report *report)
{
    printf("%-*s %11s %11s %9s %9s %9s %9s %7s\n", WHAT_WIDTH, "what", "symbols", "median us", "p1 us", "p99 us",
           "Msym/s", "GB/s", "limit");
    for (size_t k = 0; k < report->n_measurements; k++) {
        const struct measurement *m = &report->measurements[k];
        const double median = quantile(m, 0.5);
        printf("%-*s %11zu %11.3f %9.3f %9.3f %9.1f %9.1f ", WHAT_WIDTH, m->what, m->n_symbols, 1e6 * median,
               1e6 * quantile(m, 0.01), 1e6 * quantile(m, 0.99), 1e-6 * (double)m->n_symbols / median,
               1e-9 * byte_rate(m));
        if (m->limit >= 0)
            printf("%7.3f\n", share_of_limit(report, m));
        else
            printf("%7s\n", "-");
    }
}

void report_print(const struct report *report)
{
    print_measurements(report);
    for (size_t k = 0; k < report->n_tables; k++)
        print_table(&report->tables[k]);
    fflush(stdout);
}

static cJSON *measurement_to_json(const struct report *report, const struct measurement *m)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "what", m->what);
    cJSON_AddNumberToObject(object, "symbols", (double)m->n_symbols);
    cJSON_AddNumberToObject(object, "bytes", (double)m->nbytes);
    cJSON_AddNumberToObject(object, "median_s", quantile(m, 0.5));
    if (m->limit >= 0) {
        cJSON_AddStringToObject(object, "limit", report->measurements[m->limit].what);
        cJSON_AddNumberToObject(object, "share_of_limit", share_of_limit(report, m));
    }
    cJSON_AddItemToObject(object, "sorted_samples_s", cJSON_CreateDoubleArray(m->seconds, (int)m->n_samples));
    return object;
}

static cJSON *table_to_json(const struct table *table)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "title", table->title);
    cJSON *rows = cJSON_AddArrayToObject(object, "rows");
    for (size_t r = 0; r < table->n_rows; r++) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "what", table->rows[r].what);
        for (size_t k = 0; k < table->n_columns; k++)
            cJSON_AddNumberToObject(row, table->columns[k], table->rows[r].values[k]); /* NAN: null */
        cJSON_AddItemToArray(rows, row);
    }
    return object;
}

bool report_write_json(const struct report *report, struct output_file *file)
{
    cJSON *root = cJSON_CreateObject();
    for (size_t k = 0; k < report->n_facts; k++)
        cJSON_AddStringToObject(root, report->facts[k].name, report->facts[k].text);
    cJSON *list = cJSON_AddArrayToObject(root, "measurements");
    for (size_t k = 0; k < report->n_measurements; k++)
        cJSON_AddItemToArray(list, measurement_to_json(report, &report->measurements[k]));
    list = cJSON_AddArrayToObject(root, "tables");
    for (size_t k = 0; k < report->n_tables; k++)
        if (report->tables[k].n_rows > 0)
            cJSON_AddItemToArray(list, table_to_json(&report->tables[k]));
    list = cJSON_AddObjectToObject(root, "notes");
    for (size_t k = 0; k < report->n_notes; k++)
        cJSON_AddStringToObject(list, report->notes[k].name, report->notes[k].text);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);

    struct output_file none = {.fd = -1};
    if (!text)
        message_print(file->name, "out of memory");
    const bool good = text && output_file_write(file, text, strlen(text)) && output_file_write(file, "\n", 1) &&
                      output_file_finish(file) && output_file_publish(file, &none);
    if (good)
        output_file_release(file);
    cJSON_free(text);
    return good;
}

void report_free(struct report *report)
{
    for (size_t k = 0; k < report->n_measurements; k++)
        free(report->measurements[k].seconds);
    free(report->measurements);
    for (size_t k = 0; k < report->n_tables; k++)
        free(report->tables[k].rows);
    free(report->tables);
}
