/* SPDX-License-Identifier: MIT */
/* What a real-time thread relies on: once all is prepared, a call allocates nothing, starts no thread, reads no clock
 * and takes no lock; on one thread it makes no system call; it needs little stack. The linker's --wrap counts the
 * library's calls of the C library, and the kernel ends a process that makes a system call. */
#define _GNU_SOURCE /* SYS_exit */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api_fixture.h"

enum { STREAM_SYMBOLS = 1, N_SYMBOLS = 1000, LARGE_SYMBOLS = 150000, HUGE_SYMBOLS = 4 * LARGE_SYMBOLS };

/* Counting, in all threads. */

enum { LOCK, SLEEP, ALLOCATION, THREAD, CLOCK, N_KINDS };

static atomic_bool counting;
static atomic_ulong counts[N_KINDS];

static void count(int kind)
{
    if (atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add(&counts[kind], 1);
}

static void start_counting(void)
{
    for (int kind = 0; kind < N_KINDS; kind++)
        atomic_store(&counts[kind], 0);
    atomic_store(&counting, true);
}

#define WRAP(kind, type, name, parameters, arguments)                                                                  \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        count(kind);                                                                                                   \
        return __real_##name arguments;                                                                                \
    }

WRAP(LOCK, int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
WRAP(LOCK, int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
WRAP(LOCK, int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *end), (mutex, end))
WRAP(LOCK, int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
WRAP(LOCK, int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
WRAP(LOCK, int, pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
WRAP(LOCK, int, pthread_once, (pthread_once_t * once, void (*function)(void)), (once, function))
WRAP(LOCK, int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex))
WRAP(SLEEP, int, sem_wait, (sem_t * semaphore), (semaphore))
WRAP(SLEEP, int, sem_trywait, (sem_t * semaphore), (semaphore))
WRAP(SLEEP, int, sem_timedwait, (sem_t * semaphore, const struct timespec *end), (semaphore, end))
WRAP(SLEEP, int, sem_post, (sem_t * semaphore), (semaphore))
WRAP(ALLOCATION, void *, malloc, (size_t nbytes), (nbytes))
WRAP(ALLOCATION, void *, calloc, (size_t n, size_t nbytes), (n, nbytes))
WRAP(ALLOCATION, void *, realloc, (void *memory, size_t nbytes), (memory, nbytes))
WRAP(ALLOCATION, void *, aligned_alloc, (size_t alignment, size_t nbytes), (alignment, nbytes))
WRAP(ALLOCATION, int, posix_memalign, (void **memory, size_t alignment, size_t nbytes), (memory, alignment, nbytes))
WRAP(ALLOCATION, void, free, (void *memory), (memory))
WRAP(THREAD, int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument),
     (thread, attributes, start, argument))
WRAP(CLOCK, int, clock_gettime, (clockid_t clock, struct timespec *now), (clock, now))

/* Calls. */

/* Demodulators of every format on a context, and what each makes of some symbols. */
typedef struct work {
    softqam_context *context;
    size_t n_symbols, n_rounds;
    float *symbols, *noise_var;
    softqam_demodulator *demodulators[HARNESS_N_OUTPUT_FORMATS];
    uint8_t *expected[HARNESS_N_OUTPUT_FORMATS];
    uint8_t *out;
    bool is_wrong, without_system_calls;
} work;

static work open_work(unsigned n_threads, size_t n_symbols, size_t n_rounds)
{
    harness_setup context_setup = harness_default_setup();
    context_setup.context.n_threads = n_threads;
    work self = {.context = harness_create_context(&context_setup), .n_symbols = n_symbols, .n_rounds = n_rounds};
    self.symbols = harness_alloc(n_symbols * 2 * sizeof(float));
    self.noise_var = harness_alloc(n_symbols * sizeof(float));
    self.out = harness_alloc(harness_output_nbytes(SOFTQAM_OUTPUT_F32, n_symbols));
    harness_random random = harness_random_stream(STREAM_SYMBOLS);
    harness_fill_mixture(&random, n_symbols, self.symbols);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, n_symbols, self.noise_var);
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++) {
        harness_setup setup = harness_format_setup((softqam_output_format)format, SOFTQAM_NOISE_PER_SYMBOL);
        setup.context.backend = SOFTQAM_BACKEND_CPU;
        setup.context.n_threads = 1;
        self.expected[format] =
            harness_answer(&setup, self.symbols, format == SOFTQAM_OUTPUT_U8 ? NULL : self.noise_var, n_symbols);
        setup.demodulator.context = self.context;
        self.demodulators[format] = harness_create(&setup);
    }
    return self;
}

static void close_work(work *self)
{
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++) {
        softqam_demodulator_destroy(self->demodulators[format]);
        free(self->expected[format]);
    }
    softqam_context_destroy(self->context);
    free(self->symbols);
    free(self->noise_var);
    free(self->out);
}

/* Calls in every way with memory that the caller has; true if all bytes are right. */
static bool call_in_all_ways(const work *self, softqam_output_format format)
{
    const softqam_demodulator *demodulator = self->demodulators[format];
    const size_t n = self->n_symbols, nbytes = harness_output_nbytes(format, 1);
    const float *noise = format == SOFTQAM_OUTPUT_U8 ? NULL : self->noise_var;
    bool good = softqam_demodulate(demodulator, self->symbols, noise, n, self->out) == SOFTQAM_OK &&
                memcmp(self->out, self->expected[format], n * nbytes) == 0;
    softqam_segment segments[3];
    for (size_t k = 0; k < 3; k++) {
        const size_t first = k * (n / 3);
        segments[k] = harness_segment(self->symbols + 2 * first, noise ? noise + first : NULL, noise != NULL,
                                      k < 2 ? n / 3 : n - first, self->out + first * nbytes);
    }
    good = good && softqam_demodulate_segments(demodulator, segments, 3) == SOFTQAM_OK &&
           memcmp(self->out, self->expected[format], n * nbytes) == 0;
    /* Gathered, converted, and too few for a loop. */
    segments[0].n_symbols = n / 4;
    segments[0].symbol_stride = 2;
    segments[0].input_scale = 0.5F;
    segments[0].noise_stride *= 3;
    segments[1].n_symbols = 3;
    good = good && softqam_demodulate_segments(demodulator, segments, 2) == SOFTQAM_OK;
    /* A codeword of several code blocks, and four layers in bit planes. */
    softqam_segment whole = harness_segment(self->symbols, noise, 1, n / 2, NULL);
    whole.descramble = 1;
    whole.c_init = 7;
    whole.codeword = (softqam_codeword){
        .n_bits = n / 2 * 8, .n_code_blocks = 5, .n_cbg = 3, .cbgti = 5, .buffers = self->out, .deinterleave = 1};
    softqam_segment planes = harness_segment(self->symbols, noise, 1, n, self->out);
    for (planes.n_layers = 1; planes.n_layers < 4; planes.n_layers++)
        planes.layers[planes.n_layers] = planes.layers[0];
    planes.plane_stride = n;
    planes.descramble = 1;
    if (noise)
        good = good && softqam_demodulate_segments(demodulator, &whole, 1) == SOFTQAM_OK &&
               softqam_demodulate_segments(demodulator, &planes, 1) == SOFTQAM_OK;
    /* A refusal counts too. */
    segments[0].n_layers = 5;
    return good && softqam_demodulate_segments(demodulator, segments, 1) == SOFTQAM_ERROR_INVALID_ARGUMENT;
}

/* Makes the kernel trap every later system call of this thread except exits and write(); false if it cannot. */
static bool forbid_system_calls(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {HARNESS_COUNT(filter), filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* The calls of a thread. */
static void *call(void *argument)
{
    work *self = argument;
    if (self->without_system_calls && !forbid_system_calls())
        self->is_wrong = true;
    for (size_t k = 0; k < self->n_rounds * HARNESS_N_OUTPUT_FORMATS; k++)
        if (!call_in_all_ways(self, (softqam_output_format)(k % HARNESS_N_OUTPUT_FORMATS)))
            self->is_wrong = true;
    return NULL;
}

/* Calls on a context with n_threads and fails if anything was counted but the kinds in `allowed`, one bit each. */
static void check_counts(unsigned n_threads, size_t n_symbols, bool prepares, unsigned allowed)
{
    SCOPED(close_work) work self = open_work(n_threads, n_symbols, 3);
    if (prepares)
        assert_int_equal(softqam_context_prepare(self.context, SOFTQAM_PREPARE_ALL), SOFTQAM_OK);
    start_counting();
    call(&self);
    atomic_store(&counting, false);
    assert_false(self.is_wrong);
    for (int kind = 0; kind < N_KINDS; kind++)
        if (!(allowed >> kind & 1) && counts[kind] > 0)
            fail_msg("%lu locks, %lu waits and posts, %lu allocations, %lu threads, %lu looks at a clock", counts[LOCK],
                     counts[SLEEP], counts[ALLOCATION], counts[THREAD], counts[CLOCK]);
}

/* Creating contexts and demodulators does all that calls must not do, so the counts would show it. */
HARNESS_TEST(test_counting_counts)
{
    start_counting();
    SCOPED(close_work) work self = open_work(3, LARGE_SYMBOLS, 1);
    call(&self);
    atomic_store(&counting, false);
    assert_true(counts[LOCK] > 0 && counts[SLEEP] > 0 && counts[ALLOCATION] > 0);
    assert_true(counts[THREAD] >= 2);
}

HARNESS_TEST(test_one_thread_takes_no_lock) { check_counts(1, N_SYMBOLS, true, 0); }

/* With one thread there is nothing to prepare. */
HARNESS_TEST(test_small_calls_need_no_preparation) { check_counts(1, N_SYMBOLS, false, 0); }

/* The context's threads sleep and are woken, and nothing else is counted. */
HARNESS_TEST(test_many_threads_take_no_lock)
{
    if (harness_backend() != SOFTQAM_BACKEND_CPU && harness_cuda_is_usable())
        skip(); /* CUDA may have a part in such calls */
    check_counts(4, LARGE_SYMBOLS, true, 1U << SLEEP);
}

enum { QUIET = 0, CALLED_THE_SYSTEM = 3, NO_SECCOMP = 4, WRONG_BYTES = 5 };

static void tell_system_call(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    char text[40];
    const int n = snprintf(text, sizeof text, "system call number %d\n", info->si_syscall);
    (void)!write(STDERR_FILENO, text, (size_t)n);
    _exit(CALLED_THE_SYSTEM);
}

/* Makes these calls, or one of getppid(), in a child that may make no system calls, and returns one of the values
 * above. */
static int status_without_system_calls(work *calls)
{
    fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct sigaction trap = {.sa_sigaction = tell_system_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
        sigaction(SIGSYS, &trap, NULL);
        if (!calls)
            _exit(!forbid_system_calls() ? NO_SECCOMP : getppid() > 0 ? QUIET : WRONG_BYTES);
        calls->without_system_calls = true;
        call(calls);
        _exit(calls->is_wrong ? WRONG_BYTES : QUIET);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        fail_msg("ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* Skips without seccomp, and under sanitizers, which make system calls themselves. */
static void check_no_system_calls(size_t n_symbols, size_t n_rounds)
{
    const int status = HARNESS_SANITIZED ? NO_SECCOMP : status_without_system_calls(NULL);
    if (status == NO_SECCOMP) {
        print_message("a sanitizer makes system calls, or this system has no seccomp\n");
        skip();
    }
    assert_int_equal(status, CALLED_THE_SYSTEM);
    SCOPED(close_work) work self = open_work(1, n_symbols, n_rounds);
    assert_int_equal(softqam_context_prepare(self.context, SOFTQAM_PREPARE_ALL), SOFTQAM_OK);
    assert_int_equal(status_without_system_calls(&self), QUIET);
}

HARNESS_TEST(test_one_thread_makes_no_system_call) { check_no_system_calls(N_SYMBOLS, 20); }

/* Large enough to be stored past the caches. */
HARNESS_TEST(test_large_calls_make_no_system_call)
{
    if (harness_backend() != SOFTQAM_BACKEND_CPU && harness_cuda_is_usable())
        skip(); /* CUDA may have a part in such calls */
    check_no_system_calls(HUGE_SYMBOLS, 1);
}

/* A thread on the test's stack, and an address in it, above which the thread's own data lie. */
typedef struct stack_user {
    work *of;
    uintptr_t begin;
} stack_user;

static void *call_on_stack(void *data)
{
    stack_user *self = data;
    self->begin = (uintptr_t)__builtin_frame_address(0);
    return call(self->of);
}

HARNESS_TEST(test_calls_need_little_stack)
{
    enum { CALL_NBYTES = 64 << 10, STACK_NBYTES = 256 << 10, UNTOUCHED = 0xa5 };
    if (HARNESS_SANITIZED || harness_backend() != SOFTQAM_BACKEND_CPU) {
        print_message("for the CPU's own code: not for a sanitizer's, nor for CUDA's\n");
        skip();
    }
    SCOPED(close_work) work self = open_work(1, N_SYMBOLS, 1);
    scoped_memory unsigned char *stack = aligned_alloc(4096, STACK_NBYTES);
    assert_non_null(stack);
    memset(stack, UNTOUCHED, STACK_NBYTES);
    stack_user user = {.of = &self};
    pthread_attr_t attributes;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK_NBYTES), 0);
    assert_int_equal(pthread_create(&thread, &attributes, call_on_stack, &user), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    assert_false(self.is_wrong);
    size_t lowest = 0;
    while (stack[lowest] == UNTOUCHED)
        lowest++;
    const size_t nbytes = user.begin - (uintptr_t)(stack + lowest);
    print_message("%zu bytes of stack\n", nbytes);
    assert_true(nbytes > CALL_NBYTES / 2 && nbytes <= CALL_NBYTES);
}
