/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <errno.h>
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
static struct measurement *report_open(struct report *report, const char *what, size_t n_symbols, size_t nbytes)
{
    struct measurement *grown =
        realloc(report->measurements, (report->n_measurements + 1) * sizeof *report->measurements);
    if (!grown)
        return NULL;
    report->measurements = grown;
    struct measurement *m = &grown[report->n_measurements];
    *m = (struct measurement){.n_symbols = n_symbols, .nbytes = nbytes, .limit = -1};
    snprintf(m->what, sizeof m->what, "%s", what);
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

int report_measure(struct report *report, const char *what, size_t n_symbols, size_t nbytes, int limit, bench_run *run,
                   void *context)
{
    struct measurement *m = report_open(report, what, n_symbols, nbytes);
    if (!m)
        return give_up(report, what);
    m->limit = limit;
    bool good = run(context) >= 0;
    while (good && m->n_samples < report->n_samples)
        good = take_sample(m, run, context);
    if (!good) {
        free(m->seconds);
        return give_up(report, what);
    }
    qsort(m->seconds, m->n_samples, sizeof *m->seconds, by_value);
    return (int)report->n_measurements++;
}

int report_measure_in_turns(struct report *report, const struct contender *contenders, size_t n_contenders,
                            size_t n_symbols, size_t nbytes, bench_run *run)
{
    const size_t first = report->n_measurements;
    bool good = true;
    for (size_t k = 0; k < n_contenders && good; k++) {
        good = report_open(report, contenders[k].what, n_symbols, nbytes) != NULL;
        report->n_measurements += good;
    }
    for (size_t sample = 0; sample < report->n_samples && good; sample++) {
        for (size_t turn = 0; turn < n_contenders && good; turn++) {
            const size_t k = sample % 2 == 0 ? turn : n_contenders - 1 - turn;
            good = run(contenders[k].context) >= 0 &&
                   take_sample(&report->measurements[first + k], run, contenders[k].context);
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

void report_set_limit(struct report *report, int index, int limit)
{
    report->measurements[index].limit = limit;
}

void report_fact(struct report *report, const char *name, const char *text)
{
    if (report->n_facts == sizeof report->facts / sizeof report->facts[0])
        return;
    struct report_entry *entry = &report->facts[report->n_facts++];
    entry->name = name;
    snprintf(entry->text, sizeof entry->text, "%s", text);
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

void report_add_cost(struct report *report, const struct cost *cost)
{
    struct cost *grown = realloc(report->costs, (report->n_costs + 1) * sizeof *report->costs);
    if (!grown) {
        give_up(report, cost->what);
        return;
    }
    report->costs = grown;
    grown[report->n_costs++] = *cost;
}

static void print_costs(const struct report *report)
{
    printf("\n%-48s %11s %11s %11s %11s %11s\n", "time of the step, and what all so far takes", "us", "threads",
           "heap KiB", "resident KiB", "device KiB");
    for (size_t k = 0; k < report->n_costs; k++) {
        const struct cost *cost = &report->costs[k];
        printf("%-48s %11.1f %11.0f %11.1f %11.0f ", cost->what, 1e6 * cost->seconds, cost->n_threads,
               cost->heap_nbytes / 1024, cost->resident_nbytes / 1024);
        if (cost->has_device)
            printf("%11.0f\n", cost->device_nbytes / 1024);
        else
            printf("%11s\n", "-");
    }
}

static void print_measurements(const struct report *report)
{
    printf("%-48s %11s %11s %9s %9s %9s %9s %7s\n", "what", "symbols", "median us", "p1 us", "p99 us", "Msym/s", "GB/s",
           "limit");
    for (size_t k = 0; k < report->n_measurements; k++) {
        const struct measurement *m = &report->measurements[k];
        const double median = quantile(m, 0.5);
        printf("%-48s %11zu %11.3f %9.3f %9.3f %9.1f %9.1f ", m->what, m->n_symbols, 1e6 * median,
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
    if (report->n_costs > 0)
        print_costs(report);
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

static cJSON *cost_to_json(const struct cost *cost)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "what", cost->what);
    cJSON_AddNumberToObject(object, "median_s", cost->seconds);
    cJSON_AddNumberToObject(object, "threads", cost->n_threads);
    cJSON_AddNumberToObject(object, "heap_bytes", cost->heap_nbytes);
    cJSON_AddNumberToObject(object, "resident_bytes", cost->resident_nbytes);
    if (cost->has_device)
        cJSON_AddNumberToObject(object, "device_bytes", cost->device_nbytes);
    return object;
}

bool report_write_json(const struct report *report, const char *path)
{
    cJSON *root = cJSON_CreateObject();
    for (size_t k = 0; k < report->n_facts; k++)
        cJSON_AddStringToObject(root, report->facts[k].name, report->facts[k].text);
    cJSON *list = cJSON_AddArrayToObject(root, "measurements");
    for (size_t k = 0; k < report->n_measurements; k++)
        cJSON_AddItemToArray(list, measurement_to_json(report, &report->measurements[k]));
    list = cJSON_AddArrayToObject(root, "costs");
    for (size_t k = 0; k < report->n_costs; k++)
        cJSON_AddItemToArray(list, cost_to_json(&report->costs[k]));
    char *text = cJSON_Print(root);
    cJSON_Delete(root);

    FILE *file = text ? fopen(path, "w") : NULL;
    bool good = file && fputs(text, file) >= 0 && fputc('\n', file) >= 0;
    if (file && fclose(file) != 0)
        good = false;
    if (!good)
        message_print_errno(path);
    cJSON_free(text);
    return good;
}

void report_free(struct report *report)
{
    for (size_t k = 0; k < report->n_measurements; k++)
        free(report->measurements[k].seconds);
    free(report->measurements);
    free(report->costs);
}
