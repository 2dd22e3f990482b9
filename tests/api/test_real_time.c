/* SPDX-License-Identifier: MIT */
/* A real-time thread relies on this: once all is prepared, a call allocates nothing, starts no thread, reads no clock
 * and takes no lock; on one thread it makes no system call; it needs little stack. The linker's --wrap notes the
 * library's calls of the C library, and the kernel ends a process that makes a system call. The random harness makes
 * the calls. */
#define _GNU_SOURCE /* syscall */
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trial.h"

enum { N_SYMBOLS = 1000, LARGE_SYMBOLS = 100000, N_TRIALS = 400 };

/* The first function that was called while the test watched, in any thread, and the first of semaphores. */
static atomic_bool watching;
static _Atomic(const char *) called, slept;

static void note(_Atomic(const char *) *to, const char *name)
{
    const char *none = NULL;
    if (atomic_load_explicit(&watching, memory_order_relaxed))
        atomic_compare_exchange_strong(to, &none, name);
}

static void watch(void)
{
    atomic_store(&called, NULL);
    atomic_store(&slept, NULL);
    atomic_store(&watching, true);
}

#define WRAP(to, type, name, parameters, arguments)                                                                    \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        note(&(to), #name);                                                                                            \
        return __real_##name arguments;                                                                                \
    }

/* CMakeLists.txt reads the names. */
WRAP(called, int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
WRAP(called, int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
WRAP(called, int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *end), (mutex, end))
WRAP(called, int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
WRAP(called, int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
WRAP(called, int, pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
WRAP(called, int, pthread_once, (pthread_once_t * once, void (*function)(void)), (once, function))
WRAP(called, int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex))
WRAP(slept, int, sem_wait, (sem_t * semaphore), (semaphore))
WRAP(slept, int, sem_trywait, (sem_t * semaphore), (semaphore))
WRAP(slept, int, sem_timedwait, (sem_t * semaphore, const struct timespec *end), (semaphore, end))
WRAP(slept, int, sem_post, (sem_t * semaphore), (semaphore))
WRAP(called, void *, malloc, (size_t nbytes), (nbytes))
WRAP(called, void *, calloc, (size_t n, size_t nbytes), (n, nbytes))
WRAP(called, void *, realloc, (void *memory, size_t nbytes), (memory, nbytes))
WRAP(called, void *, aligned_alloc, (size_t alignment, size_t nbytes), (alignment, nbytes))
WRAP(called, int, posix_memalign, (void **memory, size_t alignment, size_t nbytes), (memory, alignment, nbytes))
WRAP(called, void, free, (void *memory), (memory))
WRAP(called, int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument),
     (thread, attributes, start, argument))
WRAP(called, int, clock_gettime, (clockid_t clock, struct timespec *now), (clock, now))

/* Makes a call without looking on. */
static llr_demodulate *usual_call;

/* Makes the random harness's calls in another way: plain ones of n_symbols, and others that need all there is. */
static void check_calls(llr_demodulate *call, const llr_contexts *contexts, size_t n_symbols)
{
    harness_random random = harness_random_named(__func__);
    usual_call = llr_calls.demodulate;
    llr_calls.demodulate = call;
    trial_check_all(&random, contexts, n_symbols, N_TRIALS);
    llr_calls.demodulate = usual_call;
}

static bool may_sleep, has_slept;

/* Notes what a call calls, and a refusal. */
static void call_watched(const softqam_demodulator_config *config, const softqam_demodulator *demodulator,
                         const softqam_segment *segments, size_t n_segments)
{
    softqam_segment refused = segments[0];
    refused.n_layers = 5;
    watch();
    usual_call(config, demodulator, segments, n_segments);
    const softqam_status status = softqam_demodulate_segments(demodulator, &refused, 1);
    atomic_store(&watching, false);
    assert_int_equal(status, SOFTQAM_ERROR_INVALID_ARGUMENT);
    if (called || (slept && !may_sleep))
        fail_msg("%s calls %s, %s", softqam_backend_detail(demodulator), called, slept);
    has_slept = has_slept || slept;
}

/* On one thread nothing is called, prepared or not, for there is nothing to prepare. On several threads semaphores
 * send them to work. What makes contexts and demodulators does all of it, so that the watch is seen to work. */
HARNESS_TEST(test_what_is_called)
{
    for (int kind = 0; kind < 3; kind++) {
        watch();
        SCOPED(llr_close_contexts) llr_contexts contexts = llr_open_contexts(kind == 2 ? 4 : 1, 0, 0);
        assert_non_null(called);
        for (size_t k = 0; k < contexts.n && kind > 0; k++)
            assert_int_equal(softqam_context_prepare(contexts.items[k], SOFTQAM_PREPARE_ALL), SOFTQAM_OK);
        may_sleep = kind == 2;
        has_slept = false;
        check_calls(call_watched, &contexts, kind == 2 ? LARGE_SYMBOLS : N_SYMBOLS);
        assert_int_equal(has_slept, kind == 2);
    }
}

/* Makes a call, and the same in a child that is killed by its first system call; or without a demodulator one of
 * getppid(). Returns the child's status. */
static int status_without_system_calls(const softqam_demodulator_config *config, const softqam_demodulator *demodulator,
                                       const softqam_segment *segments, size_t n_segments)
{
    fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
            _exit(EXIT_FAILURE);
        if (demodulator)
            usual_call(config, demodulator, segments, n_segments);
        else
            (void)getppid();
        syscall(SYS_exit, EXIT_SUCCESS);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void call_without_system_calls(const softqam_demodulator_config *config, const softqam_demodulator *demodulator,
                                      const softqam_segment *segments, size_t n_segments)
{
    assert_int_equal(status_without_system_calls(config, demodulator, segments, n_segments), 0);
    usual_call(config, demodulator, segments, n_segments);
}

LLR_TEST(test_one_thread_makes_no_system_call)
{
    if (HARNESS_SANITIZED || !WIFSIGNALED(status_without_system_calls(NULL, NULL, NULL, 0))) {
        print_message("a sanitizer makes system calls, or this system has no seccomp\n");
        skip();
    }
    check_calls(call_without_system_calls, *state, LARGE_SYMBOLS);
}

/* A call, and an address in the stack of the thread that makes it, above which are the thread's own data. */
typedef struct stacked_call {
    const softqam_demodulator_config *config;
    const softqam_demodulator *demodulator;
    const softqam_segment *segments;
    size_t n_segments;
    uintptr_t stack;
} stacked_call;

static void *run(void *argument)
{
    stacked_call *self = argument;
    self->stack = (uintptr_t)__builtin_frame_address(0);
    usual_call(self->config, self->demodulator, self->segments, self->n_segments);
    return NULL;
}

/* The most bytes of stack that a call has taken. */
static size_t deepest;

static void call_on_a_stack(const softqam_demodulator_config *config, const softqam_demodulator *demodulator,
                            const softqam_segment *segments, size_t n_segments)
{
    enum { STACK_NBYTES = 256 << 10, UNTOUCHED = 0xa5 };
    stacked_call self = {config, demodulator, segments, n_segments, 0};
    scoped_memory unsigned char *stack = aligned_alloc(4096, STACK_NBYTES);
    assert_non_null(stack);
    memset(stack, UNTOUCHED, STACK_NBYTES);
    pthread_attr_t attributes;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK_NBYTES), 0);
    assert_int_equal(pthread_create(&thread, &attributes, run, &self), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    size_t lowest = 0;
    while (stack[lowest] == UNTOUCHED)
        lowest++;
    const size_t nbytes = self.stack - (uintptr_t)(stack + lowest);
    deepest = nbytes > deepest ? nbytes : deepest;
}

LLR_TEST(test_calls_need_little_stack)
{
    enum { CALL_NBYTES = 64 << 10 };
    const llr_contexts *all = *state;
    if (HARNESS_SANITIZED) {
        print_message("for the library's own code, not for a sanitizer's\n");
        skip();
    }
    for (size_t k = 0; k < all->n; k++) {
        const llr_contexts one = {1, {all->names[k]}, {all->items[k]}};
        deepest = 0;
        check_calls(call_on_a_stack, &one, N_SYMBOLS);
        print_message("%s: %zu bytes of stack\n", one.names[0], deepest);
        assert_true(deepest > CALL_NBYTES / 2 && deepest <= CALL_NBYTES);
    }
}
