/* SPDX-License-Identifier: MIT */
/* A fixed set of threads that work through the parts of one job at a time. Threads without work sleep. */
#ifndef SOFTQAM_THREAD_POOL_H
#define SOFTQAM_THREAD_POOL_H

#include <sched.h>
#include <stddef.h>

#include <softqam/softqam.h>

typedef struct softqam_pool softqam_pool;
typedef void softqam_pool_task(void *context, size_t part);

/* Where and how the threads run. */
typedef struct softqam_pool_scheduling {
    cpu_set_t cpus; /* none: wherever the creating thread may run */
    int priority;   /* 0: SCHED_OTHER, else SCHED_FIFO with this priority */
} softqam_pool_scheduling;

/* A pool of n_threads >= 1 threads, the caller of softqam_pool_run() being one of them. The others block all signals.
 * They are started by softqam_pool_start(), or when a call is first worth them. */
softqam_status softqam_pool_create(softqam_pool **pool, unsigned n_threads, const softqam_pool_scheduling *scheduling);
softqam_status softqam_pool_start(softqam_pool *pool);

/* Joins the threads. NULL is ignored. */
void softqam_pool_destroy(softqam_pool *pool);

/* Of NULL, 1. */
unsigned softqam_pool_n_threads(const softqam_pool *pool);

/* For a call that is large enough for the threads: the pool, its threads started, or NULL where there are none, or
 * while another thread starts them. */
softqam_pool *softqam_pool_for_call(softqam_pool *pool);

/* Runs task(context, part) once for each part 0 .. n_parts - 1, in any order and on any of the started threads; returns
 * when all are done. Any number of callers at once: while the threads work for one, the others do their own parts
 * alone, as does the caller with a pool of NULL. Takes no lock. */
void softqam_pool_run(softqam_pool *pool, softqam_pool_task *task, void *context, size_t n_parts);

#endif
