/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <math.h>
#include <stdarg.h>
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

void report_init(struct report *report, size_t n_samples)
{
    *report = (struct report){.facts = cJSON_CreateObject(), .tables = cJSON_CreateArray(), .n_samples = n_samples};
}

/* Appends a measurement with room for its samples. */
static bool open_measurement(struct report *report, const struct contender *c)
{
    struct measurement *grown =
        realloc(report->measurements, (report->n_measurements + 1) * sizeof *report->measurements);
    if (!grown)
        return false;
    report->measurements = grown;
    struct measurement *m = &grown[report->n_measurements];
    *m = (struct measurement){
        .n_symbols = c->n_symbols, .nbytes = c->nbytes, .limit = -1, .n_samples = report->n_samples};
    snprintf(m->what, sizeof m->what, "%s", c->what);
    m->seconds = malloc(report->n_samples * sizeof *m->seconds);
    report->n_measurements += m->seconds != NULL;
    return m->seconds != NULL;
}

static void give_up(struct report *report, const char *what)
{
    message_print(what, "could not be measured");
    report->failed = true;
}

/* Every sample of all contenders, whose measurements begin at `first`. */
static bool take_samples(const struct turns *turns, struct measurement *first)
{
    const size_t n = turns->n;
    for (size_t sample = 0; sample < turns->report->n_samples; sample++) {
        for (size_t turn = 0; turn < n; turn++) {
            const size_t k = sample % 2 == 0 ? turn : n - 1 - turn;
            struct contender *c = turns->contenders[k];
            const bool is_warm = c->is_cold || (n == 1 && sample > 0) || c->run(c) >= 0;
            first[k].seconds[sample] = is_warm ? c->run(c) : -1;
            if (first[k].seconds[sample] < 0)
                return false;
        }
    }
    return true;
}

int report_measure_in_turns(struct turns *turns)
{
    struct report *report = turns->report;
    const size_t first = report->n_measurements;
    bool good = !turns->failed && !turns->skipped && turns->n > 0;
    const bool is_tried = good;
    report->failed = report->failed || turns->failed;
    for (size_t k = 0; k < turns->n && good; k++)
        good = open_measurement(report, turns->contenders[k]);
    good = good && take_samples(turns, &report->measurements[first]);
    for (size_t k = first; k < report->n_measurements; k++)
        if (good)
            qsort(report->measurements[k].seconds, report->n_samples, sizeof(double), by_value);
        else
            free(report->measurements[k].seconds);
    if (!good)
        report->n_measurements = first;
    if (is_tried && !good)
        give_up(report, turns->contenders[0]->what);
    for (size_t k = 0; k < turns->n; k++)
        turns->contenders[k]->close(turns->contenders[k]);
    return good ? (int)first : -1;
}

void report_fact(struct report *report, const char *name, const char *text)
{
    cJSON_AddStringToObject(report->facts, name, text);
}

int report_fastest(const struct report *report, int first, int end)
{
    int fastest = first;
    for (int k = first + 1; k < end; k++)
        if (report_quantile(report, k, 0.5) < report_quantile(report, fastest, 0.5))
            fastest = k;
    return fastest;
}

double report_spread(const struct report *report, int first)
{
    double spread = 0;
    for (size_t k = (size_t)first; k < report->n_measurements; k++) {
        const struct measurement *m = &report->measurements[k];
        spread = fmax(spread, (quantile(m, 0.9) - quantile(m, 0.1)) / 2 / quantile(m, 0.5));
    }
    return spread;
}

double report_quantile(const struct report *report, int index, double share)
{
    return quantile(&report->measurements[index], share);
}

void report_table(struct report *report, const char *const columns[], const char *title, ...)
{
    va_list arguments;
    va_start(arguments, title);
    vsnprintf(report->title, sizeof report->title, title, arguments);
    va_end(arguments);
    report->rows = NULL;
    for (report->n_columns = 0; report->n_columns <= TABLE_COLUMNS && columns[report->n_columns]; report->n_columns++)
        snprintf(report->columns[report->n_columns], sizeof report->columns[0], "%s", columns[report->n_columns]);
}

enum { NAME_WIDTH = 44, FIGURE_WIDTH = 9 };

static int column_width(const struct report *report, size_t k)
{
    const int length = (int)strlen(report->columns[k]);
    return length > FIGURE_WIDTH ? length : FIGURE_WIDTH;
}

/* The line above a table's rows. */
static void print_head(struct report *report)
{
    const int length = (int)strlen(report->title);
    report->width = length > NAME_WIDTH ? length : NAME_WIDTH;
    printf("\n%-*s", report->width, report->title);
    for (size_t k = 0; k < report->n_columns; k++)
        printf(" %*s", column_width(report, k), report->columns[k]);
    putchar('\n');
}

static void print_row(const struct report *report, const char *what, const double values[])
{
    printf("%-*s", report->width, what);
    for (size_t k = 0; k < report->n_columns; k++) {
        const double size = fabs(values[k]);
        if (isnan(values[k]))
            printf(" %*s", column_width(report, k), "-");
        else
            printf(" %*.*f", column_width(report, k), size >= 1000 ? 0 : size >= 100 ? 1 : 3, values[k]);
    }
    putchar('\n');
    fflush(stdout);
}

void report_row(struct report *report, const char *what, const double values[])
{
    if (!report->rows) {
        cJSON *table = cJSON_CreateObject();
        cJSON_AddStringToObject(table, "title", report->title);
        report->rows = cJSON_AddArrayToObject(table, "rows");
        cJSON_AddItemToArray(report->tables, table);
        print_head(report);
    }
    cJSON *row = cJSON_CreateObject();
    bool good = report->rows && cJSON_AddStringToObject(row, "what", what);
    for (size_t k = 0; k < report->n_columns && good; k++)
        good = cJSON_AddNumberToObject(row, report->columns[k], values[k]); /* NAN: null */
    cJSON_AddItemToArray(report->rows, row);
    print_row(report, what, values);
    if (!good)
        give_up(report, what);
}

static cJSON *measurement_to_json(const struct report *report, int index)
{
    const struct measurement *m = &report->measurements[index];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "what", m->what);
    cJSON_AddNumberToObject(object, "symbols", (double)m->n_symbols);
    cJSON_AddNumberToObject(object, "bytes", (double)m->nbytes);
    cJSON_AddNumberToObject(object, "samples", (double)m->n_samples);
    cJSON_AddNumberToObject(object, "p10_s", quantile(m, 0.1));
    cJSON_AddNumberToObject(object, "median_s", quantile(m, 0.5));
    cJSON_AddNumberToObject(object, "p90_s", quantile(m, 0.9));
    cJSON_AddNumberToObject(object, "p99_s", quantile(m, 0.99));
    if (m->limit >= 0) {
        const struct measurement *limit = &report->measurements[m->limit];
        cJSON_AddStringToObject(object, "limit", limit->what);
        cJSON_AddNumberToObject(object, "share_of_limit",
                                quantile(limit, 0.5) * (double)m->n_symbols /
                                    (quantile(m, 0.5) * (double)limit->n_symbols));
    }
    return object;
}

bool report_write_json(struct report *report, struct output_file *file)
{
    cJSON *list = cJSON_AddArrayToObject(report->facts, "measurements");
    for (size_t k = 0; k < report->n_measurements; k++)
        cJSON_AddItemToArray(list, measurement_to_json(report, (int)k));
    cJSON_AddItemReferenceToObject(report->facts, "tables", report->tables);
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

void report_free(struct report *report)
{
    for (size_t k = 0; k < report->n_measurements; k++)
        free(report->measurements[k].seconds);
    free(report->measurements);
    cJSON_Delete(report->facts);
    cJSON_Delete(report->tables);
}
