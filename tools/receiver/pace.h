/* SPDX-License-Identifier: MIT */
/* A slot arrives every half millisecond. One that finds the thread busy waits, and is dropped
 * once the next has arrived. And the distribution of the times. */
#ifndef SOFTQAM_TOOLS_RECEIVER_PACE_H
#define SOFTQAM_TOOLS_RECEIVER_PACE_H

#include "engine.h"

struct times {
    size_t n;
    int64_t *nanoseconds; /* sorted by pace_run() */
};

struct pace {
    struct engine *engine;
    size_t n_slots;   /* that are timed */
    size_t n_warm_up; /* before those */
    bool spin;        /* wait for a slot by reading the clock */
    /* Results; the caller's arrays have room for n_slots. */
    size_t n_dropped;
    struct times service;  /* of the call */
    struct times response; /* from a slot's arrival until its soft buffers are complete */
};

/* Runs until all slots have arrived. False after a message. */
bool pace_run(struct pace *pace);

/* How many times are at most so long. */
size_t times_count_within(const struct times *times, int64_t nanoseconds);

/* Prints p50, p99, p99.9 and the longest, in microseconds, on one line. */
void times_print(const struct times *times, const char *what);

#endif
