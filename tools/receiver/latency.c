/* SPDX-License-Identifier: MIT */
#include "latency.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BINS = 20, BAR_LENGTH = 50 };

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void latency_sort(struct latency *latency)
{
    qsort(latency->nanoseconds, latency->n, sizeof *latency->nanoseconds, compare);
}

int64_t latency_percentile(const struct latency *latency, double share)
{
    const size_t rank = (size_t)ceil(share * (double)latency->n);
    return latency->n == 0 ? 0 : latency->nanoseconds[rank > 0 ? rank - 1 : 0];
}

size_t latency_count_within(const struct latency *latency, int64_t nanoseconds)
{
    size_t low = 0, high = latency->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (latency->nanoseconds[middle] <= nanoseconds)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void latency_print(const struct latency *latency, const char *what)
{
    printf("%-28s", what);
    static const double shares[] = {0.5, 0.99, 0.999, 1};
    for (size_t k = 0; k < sizeof shares / sizeof *shares; k++)
        printf(" %9.1f", 1e-3 * (double)latency_percentile(latency, shares[k]));
    putchar('\n');
}

/* One line: `n` of all. */
static void print_bar(const struct latency *latency, size_t n)
{
    const int length = (int)ceil((double)n / (double)latency->n * BAR_LENGTH);
    printf(" %-*.*s %zu\n", BAR_LENGTH, length, "##################################################", n);
}

void latency_print_histogram(const struct latency *latency, int64_t budget_nanoseconds)
{
    size_t before = 0;
    for (int64_t bin = 0; bin < BINS && before < latency->n; bin++) {
        const int64_t from = bin * budget_nanoseconds / BINS, to = (bin + 1) * budget_nanoseconds / BINS;
        const size_t within = latency_count_within(latency, to);
        if (within > 0) {
            printf("%5.0f to %3.0f us", 1e-3 * (double)from, 1e-3 * (double)to);
            print_bar(latency, within - before);
        }
        before = within;
    }
    if (before < latency->n) {
        printf(" more than it ");
        print_bar(latency, latency->n - before);
    }
}
