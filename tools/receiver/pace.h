/* SPDX-License-Identifier: MIT */
/* The receiver's thread: a slot arrives every half millisecond, whether the one before is done or not. One that finds
 * the thread busy waits its turn, and is dropped when its time is over before that comes. */
#ifndef SOFTQAM_TOOLS_RECEIVER_PACE_H
#define SOFTQAM_TOOLS_RECEIVER_PACE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine.h"
#include "latency.h"

struct pace {
    struct engine *engine;
    size_t n_slots;   /* that count */
    size_t n_warm_up; /* before those */
    bool spin;        /* wait for a slot by reading the clock, as receivers with a core of their own do */
    bool real_time;   /* ask for SCHED_FIFO */
    /* What comes out; the caller's arrays have room for n_slots. */
    size_t n_dropped;
    struct latency service;  /* of the call alone */
    struct latency response; /* from the arrival of the slot until its LLRs are there */
};

/* Runs a thread until all slots are through. False, having said why, when one failed. */
bool pace_run(struct pace *pace);

#endif
