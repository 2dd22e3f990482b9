/* SPDX-License-Identifier: MIT */
/* A context's threads, as the kernel lists them: when they start, on which CPUs they run, in which scheduling class,
 * with which signals. */
#define _GNU_SOURCE /* sched_getaffinity, SCHED_BATCH */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api_fixture.h"

enum { N_THREADS = 4, LARGE_SYMBOLS = 200000, NO_SUCH_CPU = 1023 };

/* Signals that pthread_sigmask() cannot block: SIGKILL and SIGSTOP, and two of the C library's own. */
#define UNBLOCKABLE (1ULL << (SIGKILL - 1) | 1ULL << (SIGSTOP - 1) | 3ULL << 31)

static harness_setup cpu_setup(void) { return (harness_setup){.context = {.device = -1, .n_threads = N_THREADS}}; }

/* The threads that a context has started, by settings. */
typedef struct started {
    softqam_context *context;
    task_list tasks;
} started;

static started start(const harness_setup *setup)
{
    const task_list before = tasks_now();
    started self = {.context = harness_create_context(setup)};
    assert_int_equal(softqam_context_prepare(self.context, SOFTQAM_PREPARE_THREADS), SOFTQAM_OK);
    const task_list after = tasks_now();
    self.tasks = tasks_new(&before, &after);
    return self;
}

static cpu_set_t affinity_of(pid_t task)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(task, sizeof set, &set), 0);
    return set;
}

static void set_affinity(const cpu_set_t *set) { assert_int_equal(sched_setaffinity(0, sizeof *set, set), 0); }

/* Returns a set of one CPU, the one with the highest number. */
static cpu_set_t last_of(const cpu_set_t *set, unsigned *cpu)
{
    cpu_set_t alone;
    CPU_ZERO(&alone);
    for (*cpu = CPU_SETSIZE - 1; !CPU_ISSET(*cpu, set);)
        --*cpu;
    CPU_SET(*cpu, &alone);
    return alone;
}

/* Neither creation, nor a small call, nor preparation of anything else starts threads. A large call or their own
 * preparation starts all at once, and destruction ends them. */
HARNESS_TEST(test_started_when_needed)
{
    harness_setup setup = cpu_setup();
    for (int k = 0; k < 4; k++) {
        setup.context.n_threads = k < 2 ? N_THREADS : 1;
        const size_t without = tasks_now().n, with = without + setup.context.n_threads - 1;
        softqam_context *context = harness_create_context(&setup);
        softqam_demodulator *demodulator = api_create_in(context);
        api_assert_works(demodulator, 1000);
        const unsigned all_else = SOFTQAM_PREPARE_ALL & ~(unsigned)SOFTQAM_PREPARE_THREADS;
        assert_int_equal(softqam_context_prepare(context, all_else), SOFTQAM_OK);
        assert_int_equal(tasks_count(without), without);
        if (k % 2)
            assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_THREADS), SOFTQAM_OK);
        else
            api_assert_works(demodulator, LARGE_SYMBOLS);
        assert_int_equal(tasks_count(with), with);
        api_assert_works(demodulator, LARGE_SYMBOLS);
        assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_ALL), SOFTQAM_OK);
        assert_int_equal(tasks_count(with), with);
        softqam_context_destroy(context);
        assert_int_equal(tasks_count(with), with);
        softqam_demodulator_destroy(demodulator);
        assert_int_equal(tasks_count(without), without);
    }
}

static void check_affinity(const task_list *tasks, int n, const cpu_set_t *expected)
{
    assert_int_equal(tasks->n, n);
    for (size_t k = 0; k < tasks->n; k++) {
        const cpu_set_t set = affinity_of(tasks->ids[k]);
        assert_true(CPU_EQUAL(&set, expected));
    }
}

/* By default there is one thread for each CPU of the creating thread, on those CPUs, even if the thread that starts
 * them has fewer by then. */
HARNESS_TEST(test_cpus_of_the_creator)
{
    unsigned cpu;
    const cpu_set_t usual = affinity_of(0), narrow = last_of(&usual, &cpu);
    harness_setup setup = cpu_setup();
    setup.context.n_threads = 0;
    const task_list before = tasks_now();
    softqam_context *context = harness_create_context(&setup);
    set_affinity(&narrow);
    const softqam_status status = softqam_context_prepare(context, SOFTQAM_PREPARE_THREADS);
    scoped_context *of_one = harness_create_context(&setup);
    set_affinity(&usual);
    assert_int_equal(status, SOFTQAM_OK);
    const task_list now = tasks_now(), ours = tasks_new(&before, &now);
    check_affinity(&ours, CPU_COUNT(&usual) - 1, &usual);
    softqam_context_destroy(context);
    /* A creator with one CPU has one thread. */
    scoped_demodulator *demodulator = api_create_in(of_one);
    assert_non_null(strstr(softqam_backend_detail(demodulator), ", 1 thread"));
}

/* Prepared, they fail with a status; a call does its work alone, and tries only once. */
static void check_refused(const harness_setup *setup)
{
    const task_list before = tasks_now();
    scoped_context *context = harness_create_context(setup);
    scoped_demodulator *demodulator = api_create_in(context);
    api_assert_works(demodulator, LARGE_SYMBOLS);
    assert_int_equal(tasks_count(before.n), before.n);
    assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_ALL), SOFTQAM_ERROR_SYSTEM);
    api_assert_one_line(softqam_error_message());
    assert_non_null(strstr(softqam_error_message(), "thread 2 of 4 could not be started: "));
    assert_int_equal(tasks_count(before.n), before.n);
    api_assert_works(demodulator, LARGE_SYMBOLS);
}

/* One CPU exists, the other does not. */
HARNESS_TEST(test_cpus_named)
{
    unsigned cpu;
    const cpu_set_t usual = affinity_of(0), wanted = last_of(&usual, &cpu);
    harness_setup setup = cpu_setup();
    setup.context.cpus = &cpu;
    setup.context.n_cpus = 1;
    const started self = start(&setup);
    check_affinity(&self.tasks, N_THREADS - 1, &wanted);
    const cpu_set_t mine = affinity_of(0);
    assert_true(CPU_EQUAL(&mine, &usual));
    softqam_context_destroy(self.context);
    cpu = NO_SUCH_CPU;
    if (!CPU_ISSET(NO_SUCH_CPU, &usual))
        check_refused(&setup);
}

/* False where this process may not have that scheduling class. */
static bool set_class(int policy, int priority)
{
    return sched_setscheduler(0, policy, &(struct sched_param){.sched_priority = priority}) == 0;
}

/* The usual class, whatever class the thread has that starts them; or, with the right to it, the priority asked for.
 * Without it they are not started with another. */
HARNESS_TEST(test_scheduling_classes)
{
    static const struct {
        int own_policy, own_priority, wanted_priority;
    } rows[] = {{SCHED_OTHER, 0, 0}, {SCHED_BATCH, 0, 0}, {SCHED_FIFO, 1, 0}, {SCHED_OTHER, 0, 2}};
    const bool may_be_real_time = set_class(SCHED_FIFO, 2);
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        harness_setup setup = cpu_setup();
        setup.context.thread_priority = rows[i].wanted_priority;
        assert_true(set_class(SCHED_OTHER, 0));
        if (rows[i].wanted_priority > 0 && !may_be_real_time) {
            check_refused(&setup);
            continue;
        }
        if (!set_class(rows[i].own_policy, rows[i].own_priority)) {
            print_message("this process may not have policy %d\n", rows[i].own_policy);
            continue;
        }
        const started self = start(&setup);
        assert_int_equal(sched_getscheduler(0), rows[i].own_policy);
        assert_true(set_class(SCHED_OTHER, 0));
        assert_int_equal(self.tasks.n, N_THREADS - 1);
        for (size_t k = 0; k < self.tasks.n; k++) {
            struct sched_param parameters;
            assert_int_equal(sched_getscheduler(self.tasks.ids[k]),
                             rows[i].wanted_priority > 0 ? SCHED_FIFO : SCHED_OTHER);
            assert_int_equal(sched_getparam(self.tasks.ids[k], &parameters), 0);
            assert_int_equal(parameters.sched_priority, rows[i].wanted_priority);
        }
        scoped_demodulator *demodulator = api_create_in(self.context);
        api_assert_works(demodulator, LARGE_SYMBOLS);
        softqam_context_destroy(self.context);
    }
}

static unsigned long long blocked_signals(pid_t task)
{
    char path[64], line[256];
    unsigned long long blocked = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)task);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file))
        found = sscanf(line, "SigBlk: %llx", &blocked) == 1;
    fclose(file);
    assert_true(found);
    return blocked;
}

/* The library's threads block all signals; the caller's mask does not change. */
HARNESS_TEST(test_signals_are_blocked)
{
    const harness_setup setup = cpu_setup();
    sigset_t one, usual;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &one, &usual), 0);
    const unsigned long long before = blocked_signals(getpid());
    const started self = start(&setup);
    assert_int_equal(blocked_signals(getpid()), before);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &usual, NULL), 0);
    assert_int_equal(self.tasks.n, N_THREADS - 1);
    usleep(50000); /* the C library blocks all of them itself until a thread has begun */
    for (size_t k = 0; k < self.tasks.n; k++)
        assert_int_equal(blocked_signals(self.tasks.ids[k]) | UNBLOCKABLE, ~0ULL);
    softqam_context_destroy(self.context);
}

/* A forked child has no threads of the library and works without them, in an old context and in a new one that starts
 * its own. */
HARNESS_TEST(test_child_of_fork)
{
    if (HARNESS_SANITIZED) {
        print_message("not under a sanitizer: TSan ends a forked child that starts threads\n");
        skip();
    }
    const harness_setup setup = cpu_setup();
    const started self = start(&setup);
    softqam_demodulator *demodulator = api_create_in(self.context);
    fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        api_assert_works(demodulator, LARGE_SYMBOLS);
        softqam_demodulator_destroy(demodulator);
        softqam_context_destroy(self.context);
        const started own = start(&setup);
        const bool has_own = own.tasks.n == N_THREADS - 1;
        softqam_context_destroy(own.context);
        _exit(has_own ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    api_assert_works(demodulator, LARGE_SYMBOLS);
    softqam_demodulator_destroy(demodulator);
    softqam_context_destroy(self.context);
}
