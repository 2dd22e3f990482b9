/* SPDX-License-Identifier: MIT */
/* What softqam-bench has measured: samples and the limit they are held against, tables of figures made of them, and the
 * JSON of it all. */
#ifndef SOFTQAM_TOOLS_BENCH_REPORT_H
#define SOFTQAM_TOOLS_BENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/output_file.h"

enum { WHAT_NBYTES = 176 };

/* Runs of one thing. */
struct measurement {
    char what[WHAT_NBYTES];
    size_t n_symbols;
    size_t nbytes; /* that one run must read and write */
    int limit;     /* index of the measurement of the same bytes without the work; -1: this is a limit itself */
    size_t n_samples;
    double *seconds; /* sorted */
};

enum { TABLE_COLUMNS = 9 };

struct report {
    size_t n_measurements;
    struct measurement *measurements;
    /* As the JSON has them: what it says of the machine, the build and the run; tables. */
    struct cJSON *facts, *tables;
    /* The table that was begun last; it is among the tables once it has a row. */
    char title[128];
    char columns[TABLE_COLUMNS + 1][24];
    size_t n_columns;
    int width; /* of its rows' names where it is printed */
    struct cJSON *rows;
    size_t n_samples; /* wanted of each measurement */
    bool failed;      /* something could not be measured, or gave wrong bytes */
};

/* What is run, and how much it does; the beginning of what a backend knows of it, which its functions get. */
struct contender {
    char what[WHAT_NBYTES];
    double (*run)(void *contender); /* seconds, by whoever knows the clock; negative when it failed */
    void (*close)(void *contender); /* frees it too */
    size_t n_symbols;
    size_t nbytes; /* that it must read and write */
    bool is_cold;  /* no run to warm up goes before a sample */
};

enum { TURNS_MOST = 16 };

/* Contenders that are measured together, or not at all. */
struct turns {
    struct report *report;
    bool failed;  /* one could not be made, which has been said */
    bool skipped; /* one cannot be, which is no failure */
    size_t n;
    struct contender *contenders[TURNS_MOST];
};

void report_init(struct report *report, size_t n_samples);

/* Measures several things in turns, from the first to the last, then back from the last to the first, and so on, so
 * that whatever changes while they are measured changes for all, and none always comes after the same one. Each sample
 * follows a run of its own to warm up. Appends one measurement each, and closes the contenders in any case. Returns the
 * first one's index; -1 when a run failed, one could not be made, or there are none. */
int report_measure_in_turns(struct turns *turns);

/* Of measurements from first to before end the one whose median is shortest. */
int report_fastest(const struct report *report, int first, int end);

/* Of all measurements from first on the largest spread: half of the way from the first decile to the ninth, over the
 * median. */
double report_spread(const struct report *report, int first);

/* Seconds that a share of a measurement's samples do not exceed. */
double report_quantile(const struct report *report, int index, double share);

/* Begins a table; up to TABLE_COLUMNS + 1 names of columns, then NULL, and its title. Without a row it is not in the
 * report. */
void report_table(struct report *report, const char *const columns[], const char *title, ...)
    __attribute__((format(printf, 3, 4)));

/* A row of the table that was begun last, with a value for each of its columns; NAN where there is none. Prints it. */
void report_row(struct report *report, const char *what, const double values[]);

/* Adds a fact of the machine or the build. */
void report_fact(struct report *report, const char *name, const char *text);

/* All of it, after which nothing may be added, to an open file, which then takes its name. Returns
 * false, having said why, when that could not be written. */
bool report_write_json(struct report *report, struct output_file *file);

void report_free(struct report *report);

#endif
