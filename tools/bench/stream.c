/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

/* One loop a width: the registers of 16 symbols, of their noise variances, and a step of the two kinds of stores. */
#define DEFINE_STREAM(name, isa, vector, width, load, store, stream_store, mix)                                        \
    __attribute__((target(isa))) static void name(const struct stream *s)                                              \
    {                                                                                                                  \
        enum { N = 128 / (width) };                                                                                    \
        const unsigned char *in = s->symbols, *noise = (const unsigned char *)s->noise_var;                            \
        unsigned char *out = s->out;                                                                                   \
        for (size_t left = s->n_symbols / 16; left > 0; left--, in += 128, out += 128) {                               \
            for (int k = 0; k < N; k++) {                                                                              \
                vector a = load((const void *)(in + k * (width)));                                                     \
                if (noise)                                                                                             \
                    a = mix(a, load((const void *)(noise + k % (N / 2) * (width))));                                   \
                if (s->streaming)                                                                                      \
                    stream_store((void *)(out + k * (width)), a);                                                      \
                else                                                                                                   \
                    store((void *)(out + k * (width)), a);                                                             \
            }                                                                                                          \
            if (noise)                                                                                                 \
                noise += 64;                                                                                           \
        }                                                                                                              \
        _mm_sfence();                                                                                                  \
    }

DEFINE_STREAM(stream_64, "avx512f", __m512i, 64, _mm512_load_si512, _mm512_store_si512, _mm512_stream_si512,
              _mm512_xor_si512)
DEFINE_STREAM(stream_32, "avx2", __m256i, 32, _mm256_load_si256, _mm256_store_si256, _mm256_stream_si256,
              _mm256_xor_si256)
DEFINE_STREAM(stream_16, "sse2", __m128i, 16, _mm_load_si128, _mm_store_si128, _mm_stream_si128, _mm_xor_si128)

bool stream_can_stream(void)
{
    return true;
}

static void run_part(const struct stream *stream)
{
    if (__builtin_cpu_supports("avx512f"))
        stream_64(stream);
    else if (__builtin_cpu_supports("avx2"))
        stream_32(stream);
    else
        stream_16(stream);
}
#else
typedef uint64_t words __attribute__((vector_size(16), may_alias));

bool stream_can_stream(void)
{
    return false;
}

static void run_part(const struct stream *s)
{
    const words *in = (const void *)s->symbols, *noise = (const void *)s->noise_var;
    words *out = (void *)s->out;
    for (size_t left = s->n_symbols / 16; left > 0; left--, in += 8, out += 8) {
        for (int k = 0; k < 8; k++)
            out[k] = noise ? in[k] ^ noise[k % 4] : in[k];
        noise += noise ? 4 : 0;
    }
}
#endif

static void *run_part_of_thread(void *argument)
{
    run_part(argument);
    return NULL;
}

bool stream_run(const struct stream *stream, unsigned n_threads)
{
    enum { MAX_THREADS = 256, UNIT = 16 };
    pthread_t threads[MAX_THREADS];
    struct stream parts[MAX_THREADS];
    unsigned n_started = 0;
    n_threads = n_threads < MAX_THREADS ? n_threads : MAX_THREADS;
    const size_t part = stream->n_symbols / n_threads / UNIT * UNIT;
    for (unsigned k = 0; k < n_threads; k++) {
        parts[k] = *stream;
        parts[k].symbols += 8 * k * part;
        parts[k].noise_var += stream->noise_var ? k * part : 0;
        parts[k].out += 8 * k * part;
        parts[k].n_symbols = k + 1 < n_threads ? part : stream->n_symbols - k * part;
    }
    for (; n_started + 1 < n_threads; n_started++)
        if (pthread_create(&threads[n_started], NULL, run_part_of_thread, &parts[n_started]) != 0)
            break;
    const bool all = n_started + 1 == n_threads;
    if (all)
        run_part(&parts[n_threads - 1]);
    for (unsigned k = 0; k < n_started; k++)
        pthread_join(threads[k], NULL);
    return all;
}
