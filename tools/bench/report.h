/* SPDX-License-Identifier: MIT */
/* What softqam-bench has measured: samples, the limit they are held against, costs, tables and JSON of them all. */
#ifndef SOFTQAM_TOOLS_BENCH_REPORT_H
#define SOFTQAM_TOOLS_BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

/* Runs of one thing. */
struct measurement {
    char what[64];
    size_t n_symbols;
    size_t nbytes; /* that one run must read and write */
    int limit;     /* index of the measurement of the same bytes without the work; -1: this is a limit itself */
    size_t n_samples;
    double *seconds; /* sorted */
};

/* Something about the machine or the build that the JSON says. */
struct report_entry {
    const char *name; /* a literal */
    char text[256];
};

/* What something costs the process beyond what it had before. */
struct cost {
    char what[64];
    double seconds;
    double n_threads;
    double heap_nbytes;     /* allocated by malloc() */
    double resident_nbytes; /* of all memory of the host */
    double device_nbytes;
    bool has_device; /* whether the last one is known */
};

struct report {
    size_t n_facts;
    struct report_entry facts[16];
    size_t n_measurements;
    struct measurement *measurements;
    size_t n_costs;
    struct cost *costs;
    size_t n_samples; /* wanted of each measurement */
    bool failed;      /* something could not be measured, or gave wrong bytes */
};

/* One run, timed by whoever knows the clock: the seconds it took, or a negative number when it failed. */
typedef double bench_run(void *context);

/* Measures: one run to warm up, then as many as the report wants. Returns the measurement's index, -1 when a run
 * failed. */
int report_measure(struct report *report, const char *what, size_t n_symbols, size_t nbytes, int limit, bench_run *run,
                   void *context);

/* One of several ways to do the same. */
struct contender {
    const char *what;
    void *context;
};

/* Measures several ways in turns, from the first to the last, then back from the last to the first, and so on, so that
 * whatever changes while they are measured changes for all, and none always comes after the same one. Each sample
 * follows a run of its own to warm up. Appends one measurement each; returns the first one's index, -1 when a run
 * failed. */
int report_measure_in_turns(struct report *report, const struct contender *contenders, size_t n_contenders,
                            size_t n_symbols, size_t nbytes, bench_run *run);

/* Holds a measurement against another one after all. */
void report_set_limit(struct report *report, int index, int limit);

/* Of two measurements the one of more bytes a second; -1 is none. */
int report_faster(const struct report *report, int a, int b);

/* Adds a cost, whose numbers are medians already. */
void report_add_cost(struct report *report, const struct cost *cost);

/* The table, one line a measurement, on standard output; and where there are costs another one of them. */
void report_print(const struct report *report);

/* Adds a fact; the name lives as long as the report. */
void report_fact(struct report *report, const char *name, const char *text);

/* All of it with every sample. Returns false, having said why, when the file could not be written. */
bool report_write_json(const struct report *report, const char *path);

void report_free(struct report *report);

#endif
