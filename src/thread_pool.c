/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* sched_getaffinity, pthread_setaffinity_np */
#include "thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "float_environment.h"
#include "signals.h"

/* Each worker sleeps on its own semaphore, and no thread works while it holds a lock: a thread that woke up to a taken
 * lock would have to sleep and be woken again. */
typedef struct pool_worker {
    softqam_pool *pool;
    pthread_t thread;
    sem_t wake;
} pool_worker;

struct softqam_pool {
    unsigned n_threads;
    int priority;          /* 0: SCHED_OTHER, else SCHED_FIFO with this priority */
    cpu_set_t cpus;        /* empty: wherever the creating thread may run */
    pthread_mutex_t mutex; /* held while workers are started */
    atomic_bool started;
    atomic_bool failed; /* starting failed; calls do not try again */
    pid_t process;      /* the process that has the threads: a child that it forks does not */
    unsigned n_workers; /* workers that run, without the caller */
    atomic_bool stopping;
    atomic_flag busy; /* a caller has the threads; other callers work alone */

    /* The job: written by the caller that holds `busy`, before any worker can join. */
    softqam_pool_task *task;
    void *context;
    size_t n_parts;
    unsigned n_wanted; /* workers that the job has parts for */
    atomic_uint next_to_wake;
    atomic_size_t next_part;

    /* OPEN while workers may join the job, plus the number of those that have joined and not left. */
    atomic_uint state;
    sem_t done; /* posted by the last worker that leaves a job that is no longer open */
    pool_worker workers[];
};

#define OPEN 0x80000000u

/* Tells the processor that this thread waits. */
static void let_sibling_run(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void sleep_until_posted(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0) {
        /* a signal's handler interrupted it */
    }
}

static void work_through_parts(softqam_pool *pool)
{
    size_t part;
    while ((part = atomic_fetch_add_explicit(&pool->next_part, 1, memory_order_relaxed)) < pool->n_parts)
        pool->task(pool->context, part);
}

/* Waking a thread takes a microsecond or two, and ten to a hundred pass until it runs. So no thread wakes all: each
 * that is awake wakes four more, which takes it less time than they need to run, and 20 run after two such waits. */
static void wake_some(softqam_pool *pool)
{
    enum { SOME = 4 };
    const unsigned first = atomic_fetch_add_explicit(&pool->next_to_wake, SOME, memory_order_relaxed);
    for (unsigned k = first; k < first + SOME && k < pool->n_wanted; k++)
        sem_post(&pool->workers[k].wake);
}

/* Returns false if the job is no longer open. */
static bool join_job(softqam_pool *pool)
{
    unsigned state = atomic_load_explicit(&pool->state, memory_order_relaxed);
    while (state & OPEN)
        if (atomic_compare_exchange_weak_explicit(&pool->state, &state, state + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

static void *worker_main(void *argument)
{
    pool_worker *worker = argument;
    softqam_pool *pool = worker->pool;
    (void)softqam_float_enter(); /* a thread begins in the environment of the one that starts it */
    for (;;) {
        sleep_until_posted(&worker->wake);
        if (atomic_load_explicit(&pool->stopping, memory_order_relaxed))
            return NULL;
        if (!join_job(pool))
            continue;
        wake_some(pool);
        work_through_parts(pool);
        if (atomic_fetch_sub_explicit(&pool->state, 1, memory_order_acq_rel) == 1)
            sem_post(&pool->done);
    }
}

/* The last parts take microseconds. Sleeping and being woken takes as long, and several times as long on a virtual
 * machine, so the caller polls first: 500 polls take 25 us or less. */
static void wait_for_workers(softqam_pool *pool)
{
    enum { LOOKS = 500 };
    for (int k = 0; k < LOOKS; k++) {
        if (sem_trywait(&pool->done) == 0)
            return;
        let_sibling_run();
    }
    /* sem_wait() is a cancellation point, but workers still use the caller's memory. */
    int old_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old_state);
    sleep_until_posted(&pool->done);
    pthread_setcancelstate(old_state, &old_state);
}

/* Sets what a worker does not inherit from the thread that starts it. Calls take 64 KiB of stack; a worker that stages
 * memory for CUDA also calls the driver. */
static int set_attributes(pthread_attr_t *attributes, int priority)
{
    enum { STACK_NBYTES = 1 << 20 };
    const struct sched_param parameters = {.sched_priority = priority};
    int error = pthread_attr_setstacksize(attributes, STACK_NBYTES);
    if (!error)
        error = pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
    if (!error)
        error = pthread_attr_setschedpolicy(attributes, priority ? SCHED_FIFO : SCHED_OTHER);
    return error ? error : pthread_attr_setschedparam(attributes, &parameters);
}

/* Starts the pool's next worker; returns an error of the system, or 0. A worker that runs, but on the wrong CPUs,
 * counts in n_workers. */
static int start_worker(softqam_pool *pool)
{
    pool_worker *worker = &pool->workers[pool->n_workers];
    const cpu_set_t *cpus = &pool->cpus;
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    worker->pool = pool;
    sem_init(&worker->wake, 0, 0);
    error = set_attributes(&attributes, pool->priority);
    ENDED_BY(softqam_signals_restore) const sigset_t caller_mask = softqam_signals_block();
    if (!error)
        error = pthread_create(&worker->thread, &attributes, worker_main, worker);
    pthread_attr_destroy(&attributes);
    if (error) {
        sem_destroy(&worker->wake);
        return error;
    }
    pool->n_workers++;
    return CPU_COUNT(cpus) > 0 ? pthread_setaffinity_np(worker->thread, sizeof *cpus, cpus) : 0;
}

static void stop_workers(softqam_pool *pool)
{
    const bool has_threads = pool->process == getpid();
    atomic_store_explicit(&pool->stopping, true, memory_order_relaxed);
    for (unsigned k = 0; k < pool->n_workers; k++)
        sem_post(&pool->workers[k].wake);
    for (unsigned k = 0; k < pool->n_workers; k++) {
        if (has_threads)
            pthread_join(pool->workers[k].thread, NULL);
        sem_destroy(&pool->workers[k].wake);
    }
    pool->n_workers = 0;
    atomic_store_explicit(&pool->stopping, false, memory_order_relaxed);
}

/* Starts workers; the caller holds the mutex. */
static softqam_status start(softqam_pool *pool)
{
    unsigned number = 1;
    int error = 0;
    if (atomic_load(&pool->started))
        return SOFTQAM_OK;
    pool->process = getpid();
    for (; !error && number < pool->n_threads; number++)
        error = start_worker(pool);
    atomic_store(&pool->started, !error);
    atomic_store(&pool->failed, error != 0);
    if (!error)
        return SOFTQAM_OK;
    stop_workers(pool);
    return softqam_fail(SOFTQAM_ERROR_SYSTEM, "thread %u of %u could not be started: %s", number, pool->n_threads,
                        strerror(error));
}

softqam_status softqam_pool_start(softqam_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    const softqam_status status = start(pool);
    pthread_mutex_unlock(&pool->mutex);
    return status;
}

/* Sets the CPUs of a configuration or, if it names none, those that the calling thread may run on; returns how many.
 * There are 0 if the system does not say. */
static unsigned list_cpus(cpu_set_t *cpus, const softqam_context_config *config)
{
    CPU_ZERO(cpus);
    if (!config->cpus)
        return sched_getaffinity(0, sizeof *cpus, cpus) == 0 ? (unsigned)CPU_COUNT(cpus) : 0;
    for (unsigned k = 0; k < config->n_cpus; k++)
        CPU_SET(config->cpus[k], cpus);
    return config->n_cpus;
}

softqam_status softqam_pool_create(softqam_pool **out, const softqam_context_config *config)
{
    cpu_set_t cpus;
    const unsigned n_cpus = list_cpus(&cpus, config);
    const unsigned n_threads = config->n_threads ? config->n_threads : n_cpus ? n_cpus : 1;
    softqam_pool *pool = calloc(1, sizeof *pool + (n_threads - 1) * sizeof pool->workers[0]);
    if (!pool)
        return softqam_fail(SOFTQAM_ERROR_OUT_OF_MEMORY, "no memory for a pool of %u threads", n_threads);
    pool->n_threads = n_threads;
    pool->priority = config->thread_priority;
    pool->cpus = cpus;
    pthread_mutex_init(&pool->mutex, NULL);
    atomic_flag_clear(&pool->busy);
    sem_init(&pool->done, 0, 0);
    *out = pool;
    return SOFTQAM_OK;
}

void softqam_pool_destroy(softqam_pool *pool)
{
    if (!pool)
        return;
    stop_workers(pool);
    sem_destroy(&pool->done);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

unsigned softqam_pool_n_threads(const softqam_pool *pool) { return pool ? pool->n_threads : 1; }

softqam_pool *softqam_pool_for_call(softqam_pool *pool)
{
    if (pool->n_threads == 1)
        return NULL;
    if (!atomic_load(&pool->started) && !atomic_load(&pool->failed) && pthread_mutex_trylock(&pool->mutex) == 0) {
        const softqam_error_note note = softqam_error_note_take();
        (void)start(pool);
        softqam_error_note_restore(&note);
        pthread_mutex_unlock(&pool->mutex);
    }
    return atomic_load(&pool->started) ? pool : NULL;
}

/* Runs with workers; the caller holds `busy`. */
static void run_with_workers(softqam_pool *pool, softqam_pool_task *task, void *context, size_t n_parts)
{
    pool->task = task;
    pool->context = context;
    pool->n_parts = n_parts;
    pool->n_wanted = n_parts - 1 < pool->n_workers ? (unsigned)(n_parts - 1) : pool->n_workers;
    atomic_store_explicit(&pool->next_part, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->next_to_wake, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->state, OPEN, memory_order_release);
    wake_some(pool);

    work_through_parts(pool);

    /* All parts are taken. Workers that wake up only now find the job closed; the caller does not wait for them. */
    if (atomic_fetch_and_explicit(&pool->state, ~OPEN, memory_order_acq_rel) != OPEN)
        wait_for_workers(pool);
}

void softqam_pool_run(softqam_pool *pool, softqam_pool_task *task, void *context, size_t n_parts)
{
    const bool has_workers = pool && pool->n_workers > 0 && n_parts > 1 &&
                             !atomic_flag_test_and_set_explicit(&pool->busy, memory_order_acquire);
    if (has_workers) {
        run_with_workers(pool, task, context, n_parts);
        atomic_flag_clear_explicit(&pool->busy, memory_order_release);
        return;
    }
    for (size_t part = 0; part < n_parts; part++)
        task(context, part);
}
