/* SPDX-License-Identifier: MIT */
/* Times, and how they are distributed. */
#ifndef SOFTQAM_TOOLS_RECEIVER_LATENCY_H
#define SOFTQAM_TOOLS_RECEIVER_LATENCY_H

#include <stddef.h>
#include <stdint.h>

struct latency {
    size_t n;
    int64_t *nanoseconds; /* sorted by latency_sort() */
};

void latency_sort(struct latency *latency);

/* The smallest time that at least this share of all does not exceed; sorted. */
int64_t latency_percentile(const struct latency *latency, double share);

/* How many are at most so long; sorted. */
size_t latency_count_within(const struct latency *latency, int64_t nanoseconds);

/* p50, p99, p99.9 and the longest, in microseconds, on one line of standard output; sorted. */
void latency_print(const struct latency *latency, const char *what);

/* How many took how long, a line for each twentieth of the budget from the first that is not empty. Sorted. */
void latency_print_histogram(const struct latency *latency, int64_t budget_nanoseconds);

#endif
