/* SPDX-License-Identifier: MIT */
#include "thread_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

struct softqam_pool {
    unsigned n_threads;
    unsigned n_started; /* workers that run, the caller not counted */

    pthread_mutex_t mutex; /* guards what follows, down to next_part */
    pthread_cond_t job_posted;
    pthread_cond_t workers_done;
    unsigned long job;  /* counts the jobs, so that a worker takes part in each once */
    bool open;          /* the job may be joined */
    unsigned n_working; /* workers that have joined it and not finished */
    unsigned n_to_wake; /* workers that it wants still */
    bool stopping;
    softqam_pool_task *task;
    void *context;
    size_t n_parts;

    atomic_size_t next_part;
    pthread_t workers[];
};

static void work_through_parts(softqam_pool *pool)
{
    for (;;) {
        const size_t part = atomic_fetch_add_explicit(&pool->next_part, 1, memory_order_relaxed);
        if (part >= pool->n_parts)
            return;
        pool->task(pool->context, part);
    }
}

/* Waking a thread takes microseconds, so nobody wakes them all: whoever is awake wakes two more. With the mutex held,
 * which is released. */
static void wake_two_and_unlock(softqam_pool *pool)
{
    const unsigned n = pool->n_to_wake < 2 ? pool->n_to_wake : 2;
    pool->n_to_wake -= n;
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned k = 0; k < n; k++)
        pthread_cond_signal(&pool->job_posted);
}

static void *worker_main(void *argument)
{
    softqam_pool *pool = argument;
    unsigned long last_job = 0;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->stopping && !(pool->open && pool->job != last_job))
            pthread_cond_wait(&pool->job_posted, &pool->mutex);
        if (pool->stopping)
            break;
        last_job = pool->job;
        pool->n_working++;
        wake_two_and_unlock(pool);
        work_through_parts(pool);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->n_working == 0)
            pthread_cond_signal(&pool->workers_done);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

softqam_status softqam_pool_create(softqam_pool **out, unsigned n_threads)
{
    softqam_pool *pool = calloc(1, sizeof *pool + (n_threads - 1) * sizeof pool->workers[0]);
    if (!pool)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a pool of %u threads", n_threads);
    pool->n_threads = n_threads;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->job_posted, NULL);
    pthread_cond_init(&pool->workers_done, NULL);
    for (; pool->n_started < n_threads - 1; pool->n_started++) {
        const int error = pthread_create(&pool->workers[pool->n_started], NULL, worker_main, pool);
        if (error) {
            const softqam_status status = softqam_fail(SOFTQAM_ERROR_SYSTEM, "thread %u of %u could not be started: %s",
                                                       pool->n_started + 2, n_threads, strerror(error));
            softqam_pool_destroy(pool);
            return status;
        }
    }
    *out = pool;
    return SOFTQAM_OK;
}

void softqam_pool_destroy(softqam_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->job_posted);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned k = 0; k < pool->n_started; k++)
        pthread_join(pool->workers[k], NULL);
    pthread_cond_destroy(&pool->workers_done);
    pthread_cond_destroy(&pool->job_posted);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

unsigned softqam_pool_n_threads(const softqam_pool *pool)
{
    return pool->n_threads;
}

void softqam_pool_run(softqam_pool *pool, softqam_pool_task *task, void *context, size_t n_parts)
{
    if (pool->n_threads == 1 || n_parts <= 1) {
        for (size_t part = 0; part < n_parts; part++)
            task(context, part);
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->task = task;
    pool->context = context;
    pool->n_parts = n_parts;
    atomic_store_explicit(&pool->next_part, 0, memory_order_relaxed);
    pool->n_to_wake = n_parts - 1 < pool->n_threads - 1 ? (unsigned)(n_parts - 1) : pool->n_threads - 1;
    pool->open = true;
    pool->job++;
    wake_two_and_unlock(pool);

    work_through_parts(pool);

    /* All parts are taken. Workers that wake up now come too late, and are not waited for. */
    pthread_mutex_lock(&pool->mutex);
    pool->open = false;
    pool->n_to_wake = 0;
    while (pool->n_working > 0)
        pthread_cond_wait(&pool->workers_done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}
