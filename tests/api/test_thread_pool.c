/* SPDX-License-Identifier: MIT */
/* The thread pool by itself: every part once, and callers that find it busy do their parts alone. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "thread_pool.h"

enum { MAX_PARTS = 200, N_CALLERS = 6, N_ROUNDS = 200 };

static softqam_pool *open_pool(unsigned n_threads)
{
    const softqam_pool_scheduling anywhere = {0};
    softqam_pool *pool = NULL;
    assert_int_equal(softqam_pool_create(&pool, n_threads, &anywhere), SOFTQAM_OK);
    assert_int_equal(softqam_pool_start(pool), SOFTQAM_OK);
    assert_int_equal(softqam_pool_n_threads(pool), n_threads);
    return pool;
}

/* A job that counts how often each of its parts is done, and by whom. */
typedef struct job {
    atomic_int done[MAX_PARTS];
    pthread_t owner;
    atomic_int n_by_others;
} job;

static void count_part(void *context, size_t part)
{
    job *self = context;
    atomic_fetch_add(&self->done[part], 1);
    if (!pthread_equal(pthread_self(), self->owner))
        atomic_fetch_add(&self->n_by_others, 1);
}

static bool each_part_once(const job *self, size_t n_parts)
{
    for (size_t k = 0; k < MAX_PARTS; k++)
        if (atomic_load(&self->done[k]) != (k < n_parts))
            return false;
    return true;
}

HARNESS_TEST(test_every_part_once)
{
    for (unsigned n_threads = 0; n_threads <= 5; n_threads++) {
        softqam_pool *pool = n_threads ? open_pool(n_threads) : NULL;
        for (size_t n_parts = 0; n_parts <= MAX_PARTS; n_parts++) {
            job now = {.owner = pthread_self()};
            softqam_pool_run(pool, count_part, &now, n_parts);
            assert_true(each_part_once(&now, n_parts));
        }
        softqam_pool_destroy(pool);
    }
    assert_int_equal(softqam_pool_n_threads(NULL), 1);
}

/* A job whose parts wait until they are let go. */
typedef struct held_job {
    softqam_pool *pool;
    atomic_int n_begun;
    atomic_bool released;
} held_job;

static void hold_part(void *context, size_t part)
{
    (void)part;
    held_job *self = context;
    atomic_fetch_add(&self->n_begun, 1);
    while (!atomic_load(&self->released))
        sched_yield();
}

static void *run_held(void *argument)
{
    held_job *self = argument;
    softqam_pool_run(self->pool, hold_part, self, 8);
    return NULL;
}

/* While all the threads are at work for one caller, another comes to its end, with parts that only it has done. */
HARNESS_TEST(test_second_caller_does_not_wait)
{
    held_job held = {.pool = open_pool(3)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_held, &held), 0);
    while (atomic_load(&held.n_begun) < 3)
        sched_yield();
    for (size_t n_parts = 0; n_parts <= MAX_PARTS; n_parts++) {
        job now = {.owner = pthread_self()};
        softqam_pool_run(held.pool, count_part, &now, n_parts);
        assert_true(each_part_once(&now, n_parts));
        assert_int_equal(atomic_load(&now.n_by_others), 0);
    }
    assert_int_equal(atomic_load(&held.n_begun), 3);
    atomic_store(&held.released, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&held.n_begun), 8);
    /* Free again, it helps again: the caller alone would wait for ever at the first of these. */
    held_job both = {.pool = held.pool};
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, run_held, &both), 0);
    while (atomic_load(&both.n_begun) < 3)
        sched_yield();
    atomic_store(&both.released, true);
    assert_int_equal(pthread_join(other, NULL), 0);
    softqam_pool_destroy(held.pool);
}

/* A job of two parts, of which another thread has one until it is let go. */
typedef struct cancelled_job {
    softqam_pool *pool;
    pthread_t owner;
    atomic_int n_begun_by_others, n_done;
    atomic_bool released, ended;
} cancelled_job;

static void hold_part_of_others(void *context, size_t part)
{
    (void)part;
    cancelled_job *self = context;
    if (pthread_equal(pthread_self(), self->owner)) {
        while (atomic_load(&self->n_begun_by_others) == 0)
            sched_yield();
    } else {
        atomic_fetch_add(&self->n_begun_by_others, 1);
        while (!atomic_load(&self->released))
            sched_yield();
    }
    atomic_fetch_add(&self->n_done, 1);
}

static void note_end(void *argument) { atomic_store(&((cancelled_job *)argument)->ended, true); }

static void *run_cancelled(void *argument)
{
    cancelled_job *self = argument;
    self->owner = pthread_self();
    pthread_cleanup_push(note_end, self);
    softqam_pool_run(self->pool, hold_part_of_others, self, 2);
    pthread_cleanup_pop(1);
    return NULL;
}

/* A caller that is cancelled while it waits for the others ends when they have done with its memory. */
HARNESS_TEST(test_cancelled_caller_waits)
{
    enum { SOON_US = 50000 };
    cancelled_job held = {.pool = open_pool(2)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_cancelled, &held), 0);
    while (atomic_load(&held.n_done) < 1)
        sched_yield();
    usleep(SOON_US);
    assert_int_equal(pthread_cancel(thread), 0);
    usleep(SOON_US);
    assert_false(atomic_load(&held.ended));
    atomic_store(&held.released, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&held.n_done), 2);
    softqam_pool_destroy(held.pool);
}

/* Parts that each run a job of their own on the same pool. */
typedef struct nested_jobs {
    softqam_pool *pool;
    job jobs[4];
} nested_jobs;

static void run_nested(void *context, size_t part)
{
    nested_jobs *self = context;
    self->jobs[part].owner = pthread_self();
    softqam_pool_run(self->pool, count_part, &self->jobs[part], MAX_PARTS);
}

HARNESS_TEST(test_jobs_within_jobs)
{
    nested_jobs nested = {.pool = open_pool(3)};
    softqam_pool_run(nested.pool, run_nested, &nested, HARNESS_COUNT(nested.jobs));
    for (size_t k = 0; k < HARNESS_COUNT(nested.jobs); k++) {
        assert_true(each_part_once(&nested.jobs[k], MAX_PARTS));
        assert_int_equal(atomic_load(&nested.jobs[k].n_by_others), 0);
    }
    softqam_pool_destroy(nested.pool);
}

/* Many callers at once, with jobs of all sizes. */
typedef struct caller {
    softqam_pool *pool;
    unsigned number;
    bool failed;
    int n_helped; /* jobs that other threads had a part in */
} caller;

static void *call_often(void *argument)
{
    caller *self = argument;
    for (size_t round = 0; round < N_ROUNDS; round++) {
        const size_t n_parts = (round * 7 + self->number * 31) % MAX_PARTS;
        job now = {.owner = pthread_self()};
        softqam_pool_run(self->pool, count_part, &now, n_parts);
        self->failed = self->failed || !each_part_once(&now, n_parts);
        self->n_helped += atomic_load(&now.n_by_others) > 0;
    }
    return NULL;
}

HARNESS_TEST(test_many_callers)
{
    softqam_pool *pool = open_pool(4);
    caller callers[N_CALLERS];
    pthread_t threads[N_CALLERS];
    for (unsigned k = 0; k < N_CALLERS; k++) {
        callers[k] = (caller){.pool = pool, .number = k};
        assert_int_equal(pthread_create(&threads[k], NULL, call_often, &callers[k]), 0);
    }
    int n_helped = 0;
    for (unsigned k = 0; k < N_CALLERS; k++) {
        assert_int_equal(pthread_join(threads[k], NULL), 0);
        assert_false(callers[k].failed);
        n_helped += callers[k].n_helped;
    }
    print_message("%d of %d jobs were helped with\n", n_helped, N_CALLERS * N_ROUNDS);
    softqam_pool_destroy(pool);
}
