/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <pthread.h>
#include <stdint.h>

enum { UNIT = 64 }; /* symbols of a step: whole vectors, whatever an output has */

#define INLINE static inline __attribute__((always_inline))
#if defined(__x86_64__)
#define TARGET(isa) __attribute__((target(isa)))
#else
#define TARGET(isa)
#endif

/* One loop a width, for outputs of so many bytes a symbol: n_out vectors for N_IN of symbols and n_noise of noise
 * variances. All that is read goes into what is written. */
#define DEFINE_STEPS(name, isa, vector, stream_store)                                                                  \
    typedef vector name##_vector;                                                                                      \
    INLINE TARGET(isa) void name##_steps(const struct stream *s, const size_t nbytes, const bool has_noise,            \
                                         const bool streaming)                                                         \
    {                                                                                                                  \
        enum { N_IN = 8 * UNIT / sizeof(name##_vector), N_NOISE = 4 * UNIT / sizeof(name##_vector) };                  \
        const size_t n_out = nbytes * UNIT / sizeof(name##_vector), n_noise = has_noise ? N_NOISE : 0;                 \
        const name##_vector *in = (const void *)s->symbols, *noise = (const void *)s->noise_var;                       \
        name##_vector *restrict out = (void *)s->out;                                                                  \
        for (size_t left = s->n_symbols / UNIT; left > 0; left--, in += N_IN, noise += n_noise, out += n_out) {        \
            _Pragma("GCC unroll 8") for (size_t k = 0; k < n_out; k++)                                                 \
            {                                                                                                          \
                name##_vector all = in[k % N_IN];                                                                      \
                for (size_t j = k + n_out; j < N_IN; j += n_out)                                                       \
                    all ^= in[j];                                                                                      \
                for (size_t j = n_noise ? k % n_noise : 0; j < n_noise; j += n_out)                                    \
                    all ^= noise[j];                                                                                   \
                if (streaming)                                                                                         \
                    stream_store((void *)(out + k), all);                                                              \
                else                                                                                                   \
                    out[k] = all;                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    DEFINE_CHOICE(name, isa)

/* With the counts known the compiler writes the loops out. */
#define CASE_OF(name, n)                                                                                               \
    case (n):                                                                                                          \
        if (s->noise_var && s->streaming)                                                                              \
            name##_steps(s, (n), true, true);                                                                          \
        else if (s->noise_var)                                                                                         \
            name##_steps(s, (n), true, false);                                                                         \
        else if (s->streaming)                                                                                         \
            name##_steps(s, (n), false, true);                                                                         \
        else                                                                                                           \
            name##_steps(s, (n), false, false);                                                                        \
        return true

#define DEFINE_CHOICE(name, isa)                                                                                       \
    TARGET(isa) static bool name(const struct stream *s)                                                               \
    {                                                                                                                  \
        switch (s->out_nbytes) {                                                                                       \
            CASE_OF(name, 1);                                                                                          \
            CASE_OF(name, 2);                                                                                          \
            CASE_OF(name, 4);                                                                                          \
            CASE_OF(name, 6);                                                                                          \
            CASE_OF(name, 8);                                                                                          \
            CASE_OF(name, 10);                                                                                         \
            CASE_OF(name, 12);                                                                                         \
            CASE_OF(name, 16);                                                                                         \
            CASE_OF(name, 20);                                                                                         \
            CASE_OF(name, 24);                                                                                         \
            CASE_OF(name, 32);                                                                                         \
            CASE_OF(name, 40);                                                                                         \
        default:                                                                                                       \
            return false;                                                                                              \
        }                                                                                                              \
    }

#if defined(__x86_64__)
#include <immintrin.h>

DEFINE_STEPS(stream_64, "avx512f", __m512i, _mm512_stream_si512)
DEFINE_STEPS(stream_32, "avx2", __m256i, _mm256_stream_si256)
DEFINE_STEPS(stream_16, "sse2", __m128i, _mm_stream_si128)

bool stream_can_stream(void)
{
    return true;
}

static bool run_part(const struct stream *stream)
{
    const bool done = __builtin_cpu_supports("avx512f") ? stream_64(stream)
                      : __builtin_cpu_supports("avx2")  ? stream_32(stream)
                                                        : stream_16(stream);
    _mm_sfence();
    return done;
}
#else
typedef uint64_t words __attribute__((vector_size(16), may_alias));

static inline void store(void *out, words all)
{
    *(words *)out = all;
}

DEFINE_STEPS(stream_16, "", words, store)

bool stream_can_stream(void)
{
    return false;
}

static bool run_part(const struct stream *stream)
{
    return stream_16(stream);
}
#endif

static void *run_part_of_thread(void *argument)
{
    return run_part(argument) ? argument : NULL;
}

bool stream_run(const struct stream *stream, unsigned n_threads)
{
    enum { MAX_THREADS = 256 };
    pthread_t threads[MAX_THREADS];
    struct stream parts[MAX_THREADS];
    unsigned n_started = 0;
    n_threads = n_threads < MAX_THREADS ? n_threads : MAX_THREADS;
    const size_t part = stream->n_symbols / n_threads / UNIT * UNIT;
    for (unsigned k = 0; k < n_threads; k++) {
        parts[k] = *stream;
        parts[k].symbols += 8 * k * part;
        parts[k].noise_var += stream->noise_var ? k * part : 0;
        parts[k].out += stream->out_nbytes * k * part;
        parts[k].n_symbols = k + 1 < n_threads ? part : stream->n_symbols - k * part;
    }
    for (; n_started + 1 < n_threads; n_started++)
        if (pthread_create(&threads[n_started], NULL, run_part_of_thread, &parts[n_started]) != 0)
            break;
    bool all = n_started + 1 == n_threads;
    if (all)
        all = run_part(&parts[n_threads - 1]);
    for (unsigned k = 0; k < n_started; k++) {
        void *done;
        pthread_join(threads[k], &done);
        all = all && done;
    }
    return all;
}
