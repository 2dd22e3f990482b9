/* SPDX-License-Identifier: MIT */
/* The thread pool by itself: callers that find it busy do their parts alone, and one that is cancelled waits. That each
 * part is done once shows in every test with threads; test_load.c has many callers at once. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "harness.h"
#include "thread_pool.h"

enum { MAX_PARTS = 200, SOON_US = 50000 };

/* The parts that wait until they are released; with HOLDS_OTHERS the owner waits only until another thread has begun.
 */
typedef enum holding { HOLDS_NONE, HOLDS_OTHERS, HOLDS_ALL } holding;

/* A job that counts how often each of its parts is done, and by whom. */
typedef struct job {
    softqam_pool *pool;
    size_t n_parts;
    pthread_t owner;
    _Atomic(holding) holds;
    atomic_int n_begun, n_by_others, n_done, done[MAX_PARTS];
    atomic_bool ended;
} job;

static void do_part(void *context, size_t part)
{
    job *self = context;
    const bool is_owner = pthread_equal(pthread_self(), self->owner);
    atomic_fetch_add(&self->n_begun, 1);
    atomic_fetch_add(&self->n_by_others, !is_owner);
    while (atomic_load(&self->holds) == HOLDS_ALL ||
           (atomic_load(&self->holds) == HOLDS_OTHERS && (!is_owner || atomic_load(&self->n_by_others) == 0)))
        sched_yield();
    atomic_fetch_add(&self->done[part], 1);
    atomic_fetch_add(&self->n_done, 1);
}

static void note_end(void *argument) { atomic_store(&((job *)argument)->ended, true); }

/* Runs the job in this thread; it is also a thread's function. */
static void *run(void *argument)
{
    job *self = argument;
    self->owner = pthread_self();
    pthread_cleanup_push(note_end, self);
    softqam_pool_run(self->pool, do_part, self, self->n_parts);
    pthread_cleanup_pop(1);
    return NULL;
}

/* Runs a job in a thread of its own, and waits until n parts have begun or are done. */
static pthread_t start(job *self, atomic_int *count, int n)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run, self), 0);
    while (atomic_load(count) < n)
        sched_yield();
    return thread;
}

static void release(job *self, pthread_t thread)
{
    atomic_store(&self->holds, HOLDS_NONE);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (size_t k = 0; k < MAX_PARTS; k++)
        assert_int_equal(self->done[k], k < self->n_parts);
}

static softqam_pool *open_pool(unsigned n_threads)
{
    softqam_pool *pool;
    assert_int_equal(softqam_pool_create(&pool, &(softqam_context_config){.n_threads = n_threads}), SOFTQAM_OK);
    assert_int_equal(softqam_pool_start(pool), SOFTQAM_OK);
    return pool;
}

/* While all the threads are at work for one caller, another comes to its end, with parts that only it has done. Once
 * they are free they help again: the caller alone would wait for ever at the first part. */
HARNESS_TEST(test_second_caller_does_not_wait)
{
    softqam_pool *pool = open_pool(3);
    for (int round = 0; round < 2; round++) {
        job held = {.pool = pool, .n_parts = 8, .holds = HOLDS_ALL};
        const pthread_t thread = start(&held, &held.n_begun, 3);
        for (size_t n_parts = 0; n_parts <= MAX_PARTS; n_parts++) {
            job now = {.pool = pool, .n_parts = n_parts};
            run(&now);
            assert_true(now.n_done == (int)n_parts && now.n_by_others == 0);
        }
        assert_int_equal(held.n_begun, 3);
        release(&held, thread);
    }
    softqam_pool_destroy(pool);
}

/* A caller that is cancelled while it waits for the others ends when they have done with its memory. */
HARNESS_TEST(test_cancelled_caller_waits)
{
    job held = {.pool = open_pool(2), .n_parts = 2, .holds = HOLDS_OTHERS};
    const pthread_t thread = start(&held, &held.n_done, 1);
    usleep(SOON_US);
    assert_int_equal(pthread_cancel(thread), 0);
    usleep(SOON_US);
    assert_false(held.ended);
    release(&held, thread);
    softqam_pool_destroy(held.pool);
}
