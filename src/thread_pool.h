/* SPDX-License-Identifier: MIT */
/* A fixed set of threads that work through the parts of one job at a time. Threads without work sleep. */
#ifndef SOFTQAM_THREAD_POOL_H
#define SOFTQAM_THREAD_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include <softqam/softqam.h>

typedef struct softqam_pool softqam_pool;

typedef void softqam_pool_task(void *context, size_t part);

/* Where and how the threads run. */
typedef struct softqam_pool_scheduling {
    const unsigned *cpus; /* NULL: wherever the creating thread may run */
    unsigned n_cpus;
    int priority; /* 0: SCHED_OTHER, else SCHED_FIFO with this priority */
} softqam_pool_scheduling;

/* A pool of n_threads >= 1 threads, the caller of softqam_pool_run() being one of them: n_threads - 1 are started here.
 * They block all signals. */
softqam_status softqam_pool_create(softqam_pool **pool, unsigned n_threads, const softqam_pool_scheduling *scheduling);

/* Joins the threads. NULL is ignored. */
void softqam_pool_destroy(softqam_pool *pool);

/* Of NULL, 1. */
unsigned softqam_pool_n_threads(const softqam_pool *pool);

/* Runs task(context, part) once for each part 0 .. n_parts - 1, in any order and on any of the threads; returns when
 * all are done. Any number of callers at once: while the threads work for one, the others do their own parts alone, as
 * does the caller with a pool of NULL. Takes no lock. */
void softqam_pool_run(softqam_pool *pool, softqam_pool_task *task, void *context, size_t n_parts);

/* Threads that are started when a call is first worth them. */
typedef struct softqam_threads {
    unsigned n; /* the caller's included */
    softqam_pool_scheduling scheduling;
    pthread_mutex_t mutex;        /* held while they are started */
    _Atomic(softqam_pool *) pool; /* NULL: not started */
    atomic_bool failed;           /* calls do not try again */
} softqam_threads;

void softqam_threads_init(softqam_threads *threads, unsigned n, const softqam_pool_scheduling *scheduling);
void softqam_threads_destroy(softqam_threads *threads);

/* Starts them now. */
softqam_status softqam_threads_start(softqam_threads *threads);

/* Those for a call that is large enough for them; NULL where there are none, or while another thread starts them. */
softqam_pool *softqam_threads_pool(softqam_threads *threads);

#endif
