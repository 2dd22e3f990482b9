/* SPDX-License-Identifier: MIT */
/* What a real-time thread relies on, once all is prepared: a call allocates nothing, starts nothing, looks at no clock
 * and takes no lock; on one thread it makes no system call; it needs little stack. The library's calls of the C library
 * are counted (the linker's --wrap), and the kernel ends a process that makes a system call. Long, since all of it
 * needs the counters, the crowd of callers or the kernel's filter. */
#define _GNU_SOURCE /* SYS_exit */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
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

enum { STREAM_SYMBOLS = 1, STREAM_NOISE, N_CALLERS = 16, N_CALLS = 200, N_SYMBOLS = 1000, LARGE_SYMBOLS = 150000 };

/* Counting. */

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

static void stop_counting(void) { atomic_store(&counting, false); }

static void assert_none_but(unsigned allowed, const char *what)
{
    for (int kind = 0; kind < N_KINDS; kind++)
        if (!(allowed >> kind & 1) && atomic_load(&counts[kind]) > 0)
            fail_msg("%s: %lu locks, %lu waits and posts, %lu allocations, %lu threads, %lu looks at a clock", what,
                     counts[LOCK], counts[SLEEP], counts[ALLOCATION], counts[THREAD], counts[CLOCK]);
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

/* A demodulator, and what it makes of some symbols. */
typedef struct work {
    softqam_demodulator *demodulator;
    size_t n_symbols;
    size_t out_nbytes;
    float *symbols;
    float *noise_var; /* NULL for u8 */
    uint8_t *expected;
} work;

static work open_work(softqam_context *context, softqam_output_format format, size_t n_symbols)
{
    work self = {.n_symbols = n_symbols};
    harness_setup setup = harness_format_setup(format, SOFTQAM_NOISE_PER_SYMBOL);
    setup.context.backend = SOFTQAM_BACKEND_CPU;
    setup.context.n_threads = 1;
    self.out_nbytes = harness_output_nbytes(format, n_symbols);
    self.symbols = harness_alloc(n_symbols * 2 * sizeof(float));
    harness_random random = harness_random_stream(STREAM_SYMBOLS);
    harness_fill_mixture(&random, n_symbols, self.symbols);
    if (format != SOFTQAM_OUTPUT_U8) {
        self.noise_var = harness_alloc(n_symbols * sizeof(float));
        random = harness_random_stream(STREAM_NOISE);
        harness_fill_noise(&random, HARNESS_NOISE_ANY, n_symbols, self.noise_var);
    }
    self.expected = harness_answer(&setup, self.symbols, self.noise_var, n_symbols);
    setup.demodulator.context = context;
    self.demodulator = harness_create(&setup);
    return self;
}

static void close_work(work *self)
{
    softqam_demodulator_destroy(self->demodulator);
    free(self->symbols);
    free(self->noise_var);
    free(self->expected);
}

static softqam_context *open_context(unsigned n_threads)
{
    softqam_context_config config = api_context_config();
    config.n_threads = n_threads;
    return api_create_context(&config);
}

/* One way of calling after the other, with memory that the caller has; true where all bytes are right. */
static bool call_in_all_ways(const work *self, uint8_t *out)
{
    const size_t n = self->n_symbols, out_nbytes = self->out_nbytes / n;
    bool good = softqam_demodulate(self->demodulator, self->symbols, self->noise_var, n, out) == SOFTQAM_OK &&
                memcmp(out, self->expected, self->out_nbytes) == 0;
    softqam_segment segments[3];
    for (size_t k = 0; k < 3; k++) {
        const size_t first = k * (n / 3);
        segments[k] = harness_segment(self->symbols + 2 * first, self->noise_var ? self->noise_var + first : NULL,
                                      self->noise_var != NULL, k < 2 ? n / 3 : n - first, out + first * out_nbytes);
    }
    good = good && softqam_demodulate_segments(self->demodulator, segments, 3) == SOFTQAM_OK &&
           memcmp(out, self->expected, self->out_nbytes) == 0;
    /* Gathered, converted, and too few for a loop. */
    segments[0].n_symbols = n / 4;
    segments[0].symbol_stride = 2;
    segments[0].input_scale = 0.5F;
    segments[0].noise_stride *= 3;
    segments[1].n_symbols = 3;
    good = good && softqam_demodulate_segments(self->demodulator, segments, 2) == SOFTQAM_OK;
    /* A codeword of several code blocks, and four layers in bit planes. */
    softqam_segment whole = harness_segment(self->symbols, self->noise_var, 1, n / 2, NULL);
    whole.descramble = 1;
    whole.c_init = 7;
    whole.codeword = (softqam_codeword){
        .n_bits = n / 2 * 8, .n_code_blocks = 5, .n_cbg = 3, .cbgti = 5, .buffers = out, .deinterleave = 1};
    softqam_segment planes = harness_segment(self->symbols, self->noise_var, 1, n, out);
    for (planes.n_layers = 1; planes.n_layers < 4; planes.n_layers++)
        planes.layers[planes.n_layers] = planes.layers[0];
    planes.plane_stride = n;
    planes.descramble = 1;
    if (self->noise_var)
        good = good && softqam_demodulate_segments(self->demodulator, &whole, 1) == SOFTQAM_OK &&
               softqam_demodulate_segments(self->demodulator, &planes, 1) == SOFTQAM_OK;
    /* A refusal. */
    segments[0].n_layers = 5;
    return good && softqam_demodulate_segments(self->demodulator, segments, 1) == SOFTQAM_ERROR_INVALID_ARGUMENT;
}

/* Threads that wait for each other without the functions that are counted. */
typedef struct crowd {
    work works[HARNESS_N_OUTPUT_FORMATS];
    atomic_uint n_ready, n_done;
    atomic_bool go, over;
    atomic_bool failed;
    unsigned n_callers;
    size_t n_calls;
    size_t stack_nbytes; /* 0: the usual */
    bool without_system_calls;
} crowd;

static bool forbid_system_calls(void);

static void *call_in_crowd(void *argument)
{
    crowd *self = argument;
    const unsigned number = atomic_fetch_add(&self->n_ready, 1);
    const work *mine = &self->works[number % HARNESS_N_OUTPUT_FORMATS];
    scoped_memory uint8_t *out = harness_alloc(mine->out_nbytes);
    memset(out, 0x80, mine->out_nbytes);
    while (!atomic_load(&self->go))
        sched_yield();
    bool good = !self->without_system_calls || forbid_system_calls();
    for (size_t k = 0; k < self->n_calls && good; k++)
        good = call_in_all_ways(mine, out);
    if (!good)
        atomic_store(&self->failed, true);
    atomic_fetch_add(&self->n_done, 1);
    if (self->without_system_calls) /* ended without the C library, which makes several on the way */
        syscall(SYS_exit, 0);
    while (!atomic_load(&self->over))
        sched_yield();
    return NULL;
}

static void run_crowd(crowd *self, pthread_t *threads)
{
    pthread_attr_t attributes;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    if (self->stack_nbytes > 0)
        assert_int_equal(pthread_attr_setstacksize(&attributes, self->stack_nbytes), 0);
    for (unsigned k = 0; k < self->n_callers; k++)
        assert_int_equal(pthread_create(&threads[k], &attributes, call_in_crowd, self), 0);
    pthread_attr_destroy(&attributes);
    while (atomic_load(&self->n_ready) < self->n_callers)
        sched_yield();
    start_counting();
    atomic_store(&self->go, true);
    while (atomic_load(&self->n_done) < self->n_callers)
        sched_yield();
    stop_counting();
    atomic_store(&self->over, true);
}

static void join_crowd(crowd *self, const pthread_t *threads)
{
    for (unsigned k = 0; k < self->n_callers; k++)
        assert_int_equal(pthread_join(threads[k], NULL), 0);
    assert_false(atomic_load(&self->failed));
}

static void open_crowd(crowd *self, softqam_context *context, unsigned n_callers, size_t n_symbols, size_t n_calls)
{
    *self = (crowd){.n_callers = n_callers, .n_calls = n_calls};
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++)
        self->works[format] = open_work(context, (softqam_output_format)format, n_symbols);
}

static void close_crowd(crowd *self)
{
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++)
        close_work(&self->works[format]);
}

/* Tests. */

/* That what is looked for would be seen: making all this does what calls must not. */
HARNESS_TEST(test_counting_counts)
{
    start_counting();
    scoped_context *context = open_context(3);
    SCOPED(close_work) work self = open_work(context, SOFTQAM_OUTPUT_U8, LARGE_SYMBOLS);
    scoped_memory uint8_t *out = harness_alloc(self.out_nbytes);
    harness_demodulate(self.demodulator, self.symbols, self.n_symbols, out);
    stop_counting();
    assert_true(counts[LOCK] > 0 && counts[SLEEP] > 0 && counts[ALLOCATION] > 0);
    assert_true(counts[THREAD] >= 2);
}

/* Of the context and its callers; and the kinds of which some may be counted, a bit each. */
typedef struct conditions {
    unsigned n_threads;
    bool prepares;
    size_t stack_nbytes;
    unsigned allowed;
} conditions;

/* Threads that call demodulators of every format. */
static void check_calls(unsigned n_callers, size_t n_symbols, size_t n_calls, const conditions *under)
{
    crowd self;
    pthread_t threads[N_CALLERS];
    scoped_context *context = open_context(under->n_threads);
    open_crowd(&self, context, n_callers, n_symbols, n_calls);
    self.stack_nbytes = under->stack_nbytes;
    if (under->prepares)
        assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_ALL), SOFTQAM_OK);
    run_crowd(&self, threads);
    assert_none_but(under->allowed, under->prepares ? "prepared calls" : "calls");
    join_crowd(&self, threads);
    close_crowd(&self);
}

HARNESS_TEST(test_one_thread_takes_no_lock)
{
    check_calls(N_CALLERS, N_SYMBOLS, N_CALLS / 4, &(conditions){.n_threads = 1, .prepares = true});
}

/* With one thread there is nothing to prepare, for calls that no GPU is looked for. */
HARNESS_TEST(test_small_calls_need_no_preparation)
{
    check_calls(N_CALLERS, N_SYMBOLS, 3, &(conditions){.n_threads = 1});
}

/* With threads of the context's: those sleep and are woken, and that is all. */
HARNESS_TEST(test_many_threads_take_no_lock)
{
    if (harness_backend() != SOFTQAM_BACKEND_CPU && harness_cuda_is_usable())
        skip(); /* CUDA may have a part in such calls */
    check_calls(4, LARGE_SYMBOLS, 4, &(conditions){.n_threads = 4, .prepares = true, .allowed = 1U << SLEEP});
}

/* From here on every system call of this thread but exits and write() is trapped. False where that cannot be had. */
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

enum { QUIET = 0, CALLED_THE_SYSTEM = 3, NO_SECCOMP = 4, WRONG_BYTES = 5 };

static void tell_system_call(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    char text[] = "system call number ....\n";
    int number = info->si_syscall;
    for (size_t k = sizeof text - 3; k > sizeof text - 7; k--, number /= 10)
        text[k] = (char)('0' + number % 10);
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(CALLED_THE_SYSTEM);
}

/* What `calls` does in a process of its own that may make no system calls: one of the values above. */
static int status_without_system_calls(int (*calls)(void *argument), void *argument)
{
    fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct sigaction trap = {.sa_sigaction = tell_system_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
        sigaction(SIGSYS, &trap, NULL);
        _exit(calls(argument));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        fail_msg("ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

static int make_system_call(void *argument)
{
    (void)argument;
    if (!forbid_system_calls())
        return NO_SECCOMP;
    return getppid() > 0 ? QUIET : WRONG_BYTES;
}

static int call_in_many_threads(void *argument)
{
    pthread_t threads[N_CALLERS];
    crowd *self = argument;
    run_crowd(self, threads);
    return atomic_load(&self->failed) ? WRONG_BYTES : QUIET;
}

/* Whether the kernel tells; else, and under sanitizers, which make calls of their own, a skip. */
static void require_seccomp(void)
{
    if (HARNESS_SANITIZED) {
        print_message("not under a sanitizer, which makes system calls of its own\n");
        skip();
    }
    const int status = status_without_system_calls(make_system_call, NULL);
    if (status == NO_SECCOMP) {
        print_message("this system lets no process forbid itself system calls (seccomp)\n");
        skip();
    }
    assert_int_equal(status, CALLED_THE_SYSTEM);
}

static void check_no_system_calls(unsigned n_callers, size_t n_symbols, size_t n_calls)
{
    require_seccomp();
    SCOPED(close_crowd) crowd self;
    scoped_context *context = open_context(1);
    open_crowd(&self, context, n_callers, n_symbols, n_calls);
    self.without_system_calls = true;
    assert_int_equal(softqam_context_prepare(context, SOFTQAM_PREPARE_ALL), SOFTQAM_OK);
    assert_int_equal(status_without_system_calls(call_in_many_threads, &self), QUIET);
}

HARNESS_TEST(test_one_thread_makes_no_system_call) { check_no_system_calls(N_CALLERS, N_SYMBOLS, N_CALLS / 10); }

/* Large enough to be stored past the caches. */
HARNESS_TEST(test_large_calls_make_no_system_call)
{
    if (harness_backend() != SOFTQAM_BACKEND_CPU && harness_cuda_is_usable())
        skip(); /* CUDA may have a part in such calls */
    check_no_system_calls(HARNESS_N_OUTPUT_FORMATS, LARGE_SYMBOLS * 4, 3);
}

HARNESS_TEST(test_calls_need_little_stack)
{
    enum { CALL_NBYTES = 64 << 10, THREAD_NBYTES = 16 << 10 /* for what a thread has of its own */ };
    if (HARNESS_SANITIZED || harness_backend() != SOFTQAM_BACKEND_CPU) {
        print_message("for the CPU's own code: not for a sanitizer's, nor for CUDA's\n");
        skip();
    }
    check_calls(HARNESS_N_OUTPUT_FORMATS, N_SYMBOLS, 1, &(conditions){1, true, CALL_NBYTES + THREAD_NBYTES, ~0U});
}
