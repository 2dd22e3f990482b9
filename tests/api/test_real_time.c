/* SPDX-License-Identifier: MIT */
/* A real-time thread relies on this: once all is prepared, a call allocates nothing, starts no thread, reads no clock
 * and takes no lock; on one thread it makes no system call; it needs little stack. The linker's --wrap notes the
 * library's calls of the C library, and the kernel ends a process that makes a system call. */
#define _GNU_SOURCE /* syscall */
#include <linux/seccomp.h>
#include <math.h>
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

#include "api_fixture.h"

enum { N_SYMBOLS = 1000, LARGE_SYMBOLS = 150000 };

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

/* Calls. */

/* Demodulators of every format on a context, and memory for their calls. */
typedef struct work {
    softqam_context *context;
    size_t n_symbols;
    float *symbols, *noise_var;
    softqam_demodulator *demodulators[HARNESS_N_OUTPUT_FORMATS];
    uint8_t *out;
    bool is_wrong;
    uintptr_t stack; /* an address in the calling thread's stack, above which its own data lie */
} work;

static work open_work(unsigned n_threads, size_t n_symbols, const char *cpu_variant)
{
    harness_setup setup = harness_default_setup();
    setup.context.n_threads = n_threads;
    setup.context.cpu_variant = cpu_variant;
    work self = {.context = harness_create_context(&setup), .n_symbols = n_symbols};
    self.symbols = harness_alloc(n_symbols * 2 * sizeof(float));
    self.noise_var = harness_alloc(n_symbols * sizeof(float));
    self.out = harness_alloc(harness_output_nbytes(SOFTQAM_OUTPUT_F32, n_symbols));
    harness_random random = harness_random_named(__func__);
    harness_fill_mixture(&random, n_symbols, self.symbols);
    harness_fill_noise(&random, HARNESS_NOISE_ANY, n_symbols, self.noise_var);
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++) {
        setup = harness_format_setup((softqam_output_format)format, SOFTQAM_NOISE_PER_SYMBOL);
        setup.demodulator.context = self.context;
        self.demodulators[format] = harness_create(&setup);
    }
    return self;
}

static void close_work(work *self)
{
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++)
        softqam_demodulator_destroy(self->demodulators[format]);
    softqam_context_destroy(self->context);
    free(self->symbols);
    free(self->noise_var);
    free(self->out);
}

static void demodulate(work *self, const softqam_demodulator *demodulator, const softqam_segment *segments, size_t n,
                       softqam_status expected)
{
    self->is_wrong |= softqam_demodulate_segments(demodulator, segments, n) != expected;
}

/* Makes calls of all symbols, plain and in segments, one of which is gathered and one too short for a loop. A refusal
 * counts too. */
static void call_plainly(work *self, softqam_output_format format)
{
    const softqam_demodulator *demodulator = self->demodulators[format];
    const size_t n = self->n_symbols, third = n / 3 * harness_output_nbytes(format, 1);
    const float *noise = format == SOFTQAM_OUTPUT_U8 ? NULL : self->noise_var;
    softqam_segment segments[] = {harness_segment(self->symbols, noise, noise != NULL, n / 4, self->out),
                                  harness_segment(self->symbols, noise, noise != NULL, 3, self->out + third),
                                  harness_segment(self->symbols, noise, noise != NULL, n / 3, self->out + 2 * third)};
    self->is_wrong |= softqam_demodulate(demodulator, self->symbols, noise, n, self->out) != SOFTQAM_OK;
    demodulate(self, demodulator, segments, HARNESS_COUNT(segments), SOFTQAM_OK);
    segments[0].symbol_stride = 2;
    segments[0].input_scale = 0.5F;
    demodulate(self, demodulator, segments, HARNESS_COUNT(segments), SOFTQAM_OK);
    segments[0].n_layers = 5;
    demodulate(self, demodulator, segments, 1, SOFTQAM_ERROR_INVALID_ARGUMENT);
}

/* Makes the calls that need most: interleaved layers and all else that is gathered, gains, cross gains, scrambling,
 * statistics, bit planes, whole code blocks, new and added, of symbols that are finite, NaN and infinite; and too few
 * of them for a loop. */
static void call_deeply(work *self, softqam_output_format format)
{
    enum { N = 200, KINDS = 14 };
    const float specials[] = {0.5F, NAN, INFINITY};
    softqam_statistics statistics = {0};
    for (size_t k = 0; k < HARNESS_COUNT(specials) * HARNESS_N_MODULATIONS * KINDS * 2; k++) {
        const size_t kind = k % KINDS, buffers = kind % 7;
        const unsigned n_layers = 1 + k / KINDS % 2;
        softqam_segment call = harness_segment(self->symbols, self->noise_var, 2, N, NULL);
        call.modulation = (softqam_modulation)(1 + k / KINDS / 2 % HARNESS_N_MODULATIONS);
        self->symbols[6] = specials[k / KINDS / 2 / HARNESS_N_MODULATIONS];
        call.n_layers = call.modulation == SOFTQAM_MODULATION_PI2_BPSK ? 1 : n_layers;
        call.n_symbols = k % 2 ? 2 * call.n_layers : N;
        call.symbol_stride = 2;
        call.layers[0].gain = call.layers[1].gain = self->noise_var;
        call.layers[1].symbols = self->symbols + 2;
        call.layers[1].noise_var = self->noise_var + 1;
        call.descramble = 1;
        call.statistics = &statistics;
        if (buffers < 3)
            call.out = self->out;
        else
            call.codeword = (softqam_codeword){.n_bits = call.n_symbols * softqam_bits_per_symbol(call.modulation),
                                               .n_code_blocks = 2,
                                               .buffers = self->out,
                                               .deinterleave = 1,
                                               .n_cb = buffers < 5 ? 0 : 3000,
                                               .combine = buffers == 6};
        if (buffers == 2)
            call.plane_stride = N;
        if (kind >= KINDS / 2 && call.n_layers == 2 && call.modulation >= SOFTQAM_MODULATION_QPSK)
            call.cross_gain[0] = self->symbols;
        demodulate(self, self->demodulators[format], &call, 1, SOFTQAM_OK);
    }
}

/* The calls of a thread. */
static void *call(void *argument)
{
    work *self = argument;
    self->stack = (uintptr_t)__builtin_frame_address(0);
    for (int format = 0; format < HARNESS_N_OUTPUT_FORMATS; format++) {
        call_plainly(self, (softqam_output_format)format);
        if (format != SOFTQAM_OUTPUT_U8)
            call_deeply(self, (softqam_output_format)format);
    }
    return NULL;
}

static bool cuda_may_have_a_part(void) { return harness_backend() != SOFTQAM_BACKEND_CPU && harness_cuda_is_usable(); }

/* On one thread nothing is called, prepared or not, for there is nothing to prepare. On several threads semaphores
 * send them to work. What makes contexts and demodulators does all of it, so that the watch is seen to work. */
HARNESS_TEST(test_what_is_called)
{
    for (int kind = 0; kind < (cuda_may_have_a_part() ? 2 : 3); kind++) {
        watch();
        SCOPED(close_work) work self = open_work(kind == 2 ? 4 : 1, kind == 2 ? LARGE_SYMBOLS : N_SYMBOLS, NULL);
        assert_non_null(called);
        if (kind > 0)
            assert_int_equal(softqam_context_prepare(self.context, SOFTQAM_PREPARE_ALL), SOFTQAM_OK);
        watch();
        call(&self);
        atomic_store(&watching, false);
        assert_false(self.is_wrong);
        if (called || (slept != NULL) != (kind == 2))
            fail_msg("with %s: %s, %s", kind == 2 ? "4 threads" : "1 thread", called, slept);
    }
}

/* Returns the status of a child that makes these calls, or one of getppid(), and is killed by its first system call. */
static int status_without_system_calls(work *calls)
{
    fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
            _exit(EXIT_FAILURE);
        if (calls)
            call(calls);
        else
            (void)getppid();
        syscall(SYS_exit, calls && calls->is_wrong ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

HARNESS_TEST(test_one_thread_makes_no_system_call)
{
    if (HARNESS_SANITIZED || cuda_may_have_a_part() || !WIFSIGNALED(status_without_system_calls(NULL))) {
        print_message("a sanitizer or CUDA makes system calls, or this system has no seccomp\n");
        skip();
    }
    SCOPED(close_work) work self = open_work(1, LARGE_SYMBOLS, NULL);
    assert_int_equal(status_without_system_calls(&self), 0);
}

/* Returns how many bytes of stack a thread's calls take. */
static size_t stack_of(work *self)
{
    enum { STACK_NBYTES = 256 << 10, UNTOUCHED = 0xa5 };
    scoped_memory unsigned char *stack = aligned_alloc(4096, STACK_NBYTES);
    assert_non_null(stack);
    memset(stack, UNTOUCHED, STACK_NBYTES);
    pthread_attr_t attributes;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK_NBYTES), 0);
    assert_int_equal(pthread_create(&thread, &attributes, call, self), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    assert_false(self->is_wrong);
    size_t lowest = 0;
    while (stack[lowest] == UNTOUCHED)
        lowest++;
    return self->stack - (uintptr_t)(stack + lowest);
}

HARNESS_TEST(test_calls_need_little_stack)
{
    enum { CALL_NBYTES = 64 << 10 };
    static const char *const variants[] = {NULL, "portable", "avx2", "avx512", "neon"};
    if (HARNESS_SANITIZED || harness_backend() != SOFTQAM_BACKEND_CPU) {
        print_message("for the CPU's own code: not for a sanitizer's, nor for CUDA's\n");
        skip();
    }
    for (size_t k = 0; k < HARNESS_COUNT(variants); k++) {
        const softqam_context_config config = {.n_threads = 1, .device = -1, .cpu_variant = variants[k]};
        softqam_context *context;
        if (softqam_context_create(&context, &config) != SOFTQAM_OK)
            continue; /* does not run here */
        softqam_context_destroy(context);
        SCOPED(close_work) work self = open_work(1, N_SYMBOLS, variants[k]);
        const size_t nbytes = stack_of(&self);
        print_message("%s: %zu bytes of stack\n", variants[k] ? variants[k] : "default", nbytes);
        assert_true(nbytes > CALL_NBYTES / 2 && nbytes <= CALL_NBYTES);
    }
}
