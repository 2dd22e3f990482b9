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

/* Neither creation, nor a small call, nor preparation of anything else starts threads. A large call or their own
 * preparation starts all at once, and destruction ends them. */
HARNESS_TEST(test_started_when_needed)
{
    harness_setup setup = cpu_setup();
    for (int k = 0; k < 4; k++) {
        setup.context.n_threads = k < 2 ? N_THREADS : 1;
        const size_t before_start = tasks_now().n, all = before_start + setup.context.n_threads - 1;
        softqam_context *context = harness_create_context(&setup);
        softqam_demodulator *demodulator = api_create_in(context);
        api_assert_works(demodulator, 1000);
        const unsigned all_else = SOFTQAM_PREPARE_ALL & ~(unsigned)SOFTQAM_PREPARE_THREADS;
        assert_int_equal(softqam_context_prepare(context, all_else), SOFTQAM_OK);
        assert_int_equal(tasks_count(before_start), before_start);
        if (k % 2)
            assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_THREADS), SOFTQAM_OK);
        else
            api_assert_works(demodulator, LARGE_SYMBOLS);
        assert_int_equal(tasks_count(all), all);
        assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_ALL), SOFTQAM_OK);
        softqam_context_destroy(context);
        api_assert_works(demodulator, LARGE_SYMBOLS);
        assert_int_equal(tasks_count(all), all);
        softqam_demodulator_destroy(demodulator);
        assert_int_equal(tasks_count(before_start), before_start);
    }
}

static cpu_set_t affinity_of(pid_t task)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(task, sizeof set, &set), 0);
    return set;
}

static void check_affinity(const task_list *tasks, int n, const cpu_set_t *expected)
{
    assert_int_equal(tasks->n, n);
    for (size_t k = 0; k < tasks->n; k++) {
        const cpu_set_t set = affinity_of(tasks->ids[k]);
        assert_true(CPU_EQUAL(&set, expected));
    }
}

/* If threads cannot be started, their preparation fails with a status, and a call does its work alone. */
static void check_refused(const harness_setup *setup)
{
    const task_list before = tasks_now();
    scoped_context *context = harness_create_context(setup);
    scoped_demodulator *demodulator = api_create_in(context);
    for (int k = 0; k < 2; k++) {
        api_assert_works(demodulator, LARGE_SYMBOLS);
        assert_int_equal(tasks_count(before.n), before.n);
        assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_ALL), SOFTQAM_ERROR_SYSTEM);
        assert_non_null(strstr(softqam_error_message(), "thread 2 of 4 could not be started: "));
        assert_non_null(strstr(softqam_backend_detail(demodulator), ", 4 threads")); /* the number configured */
    }
}

/* By default there is one thread for each CPU of the creating thread, on those CPUs, even if the thread that starts
 * them has fewer by then. Else they are where the configuration says, which must exist. */
HARNESS_TEST(test_cpus)
{
    const cpu_set_t usual = affinity_of(0);
    unsigned cpu = CPU_SETSIZE - 1;
    while (!CPU_ISSET(cpu, &usual))
        cpu--;
    cpu_set_t narrow;
    CPU_ZERO(&narrow);
    CPU_SET(cpu, &narrow);
    harness_setup setup = cpu_setup();
    setup.context.n_threads = 0;
    const task_list before = tasks_now();
    softqam_context *context = harness_create_context(&setup);
    assert_int_equal(sched_setaffinity(0, sizeof narrow, &narrow), 0);
    const softqam_status status = softqam_context_prepare(context, SOFTQAM_PREPARE_THREADS);
    scoped_demodulator *on_one_cpu = harness_create(&setup);
    assert_int_equal(sched_setaffinity(0, sizeof usual, &usual), 0);
    assert_int_equal(status, SOFTQAM_OK);
    const task_list now = tasks_now(), ours = tasks_new(&before, &now);
    check_affinity(&ours, CPU_COUNT(&usual) - 1, &usual);
    softqam_context_destroy(context);
    assert_non_null(strstr(softqam_backend_detail(on_one_cpu), ", 1 thread"));
    setup = cpu_setup();
    setup.context.cpus = &cpu;
    setup.context.n_cpus = 1;
    const started self = start(&setup);
    check_affinity(&self.tasks, N_THREADS - 1, &narrow);
    check_affinity(&(task_list){{0}, 1}, 1, &usual); /* this thread's */
    softqam_context_destroy(self.context);
    cpu = NO_SUCH_CPU;
    if (!CPU_ISSET(NO_SUCH_CPU, &usual))
        check_refused(&setup);
}

/* False if this process may not have that scheduling class. */
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
        const int wanted = rows[i].wanted_priority;
        harness_setup setup = cpu_setup();
        setup.context.thread_priority = wanted;
        if (!set_class(rows[i].own_policy, rows[i].own_priority)) {
            print_message("this process may not have policy %d\n", rows[i].own_policy);
        } else if (wanted > 0 && !may_be_real_time) {
            check_refused(&setup);
        } else {
            const started self = start(&setup);
            assert_int_equal(sched_getscheduler(0), rows[i].own_policy);
            assert_int_equal(self.tasks.n, N_THREADS - 1);
            for (size_t k = 0; k < self.tasks.n; k++) {
                struct sched_param parameters;
                assert_int_equal(sched_getscheduler(self.tasks.ids[k]), wanted > 0 ? SCHED_FIFO : SCHED_OTHER);
                assert_int_equal(sched_getparam(self.tasks.ids[k], &parameters), 0);
                assert_int_equal(parameters.sched_priority, wanted);
            }
            assert_true(set_class(SCHED_OTHER, 0));
            softqam_context_destroy(self.context);
        }
        assert_true(set_class(SCHED_OTHER, 0));
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

/* The library's threads block all signals that can be blocked: all but SIGKILL, SIGSTOP and two of the C library's own.
 * The caller's mask does not change. */
HARNESS_TEST(test_signals_are_blocked)
{
    const unsigned long long unblockable = 1ULL << (SIGKILL - 1) | 1ULL << (SIGSTOP - 1) | 3ULL << 31;
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
        assert_int_equal(blocked_signals(self.tasks.ids[k]) | unblockable, ~0ULL);
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
    scoped_demodulator *demodulator = api_create_in(self.context);
    softqam_context_destroy(self.context);
    fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        api_assert_works(demodulator, LARGE_SYMBOLS);
        softqam_demodulator_destroy(demodulator);
        const started own = start(&setup);
        softqam_context_destroy(own.context);
        _exit(own.tasks.n == N_THREADS - 1 ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    api_assert_works(demodulator, LARGE_SYMBOLS);
}
