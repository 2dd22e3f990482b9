/* SPDX-License-Identifier: MIT */
/* A fixed set of threads that work through the parts of one job at a time. Threads without work sleep. */
#ifndef SOFTQAM_THREAD_POOL_H
#define SOFTQAM_THREAD_POOL_H

#include <stddef.h>

#include <softqam/softqam.h>

typedef struct softqam_pool softqam_pool;
typedef void softqam_pool_task(void *context, size_t part);

/* Makes a pool of config->n_threads threads, for 0 as many as CPUs, one of which is the caller of softqam_pool_run().
 * The others block all signals. softqam_pool_start() starts them, or the first softqam_pool_for_call(). */
softqam_status softqam_pool_create(softqam_pool **pool, const softqam_context_config *config);
softqam_status softqam_pool_start(softqam_pool *pool);

/* Joins the threads. NULL is ignored. */
void softqam_pool_destroy(softqam_pool *pool);

/* Returns 1 for NULL. */
unsigned softqam_pool_n_threads(const softqam_pool *pool);

/* Starts the threads for a call that is large enough for them, and returns the pool; NULL if there are no threads, or
 * while another thread starts them. */
softqam_pool *softqam_pool_for_call(softqam_pool *pool);

/* Runs task(context, part) once for each part 0 .. n_parts - 1, in any order and on any of the started threads; returns
 * when all are done. Any number of threads may call it at once: while the pool's threads work for one caller, the
 * others do their parts alone, as does a caller without a pool (NULL). Takes no lock. */
void softqam_pool_run(softqam_pool *pool, softqam_pool_task *task, void *context, size_t n_parts);

#endif
