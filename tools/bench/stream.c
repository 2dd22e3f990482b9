/* SPDX-License-Identifier: MIT */
/* Loops of the CPU that move bytes, one a width of accesses. */
#include <stdint.h>
#include <string.h>

#include "bench.h"

enum { UNIT = 64 }; /* symbols of a step: whole vectors, whatever an output has */

#define INLINE static inline __attribute__((always_inline))
#if defined(__x86_64__)
#define TARGET(isa) __attribute__((target(isa)))
#else
#define TARGET(isa)
#endif

/* One loop a width. Steps of 64 symbols: what is read goes into one vector, which is written as often as the output has
 * vectors. What is left over goes by the byte. */
#define DEFINE_STREAM(name, isa, vector, stream_store)                                                                 \
    typedef vector name##_vector;                                                                                      \
    INLINE TARGET(isa) void name##_steps(const struct bench_copy *s, const size_t in_nbytes, const bool has_noise,     \
                                         const bool streaming, const bool adds)                                        \
    {                                                                                                                  \
        const size_t n_in = in_nbytes * UNIT / sizeof(name##_vector),                                                  \
                     n_noise = has_noise ? 4 * UNIT / sizeof(name##_vector) : 0;                                       \
        const size_t n_out = s->out_nbytes * UNIT / sizeof(name##_vector);                                             \
        const name##_vector *in = (const void *)s->in, *noise = (const void *)s->noise_var;                            \
        name##_vector *restrict out = (void *)s->out;                                                                  \
        for (size_t left = s->n_symbols / UNIT; left > 0; left--, in += n_in, noise += n_noise, out += n_out) {        \
            name##_vector some[4] = {{0}};                                                                             \
            _Pragma("GCC unroll 32") for (size_t k = 0; k < n_in; k++) some[k % 4] ^= in[k];                           \
            _Pragma("GCC unroll 32") for (size_t k = 0; k < n_noise; k++) some[k % 4] ^= noise[k];                     \
            const name##_vector all = (some[0] ^ some[1]) ^ (some[2] ^ some[3]);                                       \
            for (size_t k = 0; k < n_out; k++)                                                                         \
                if (streaming)                                                                                         \
                    stream_store((void *)(out + k), all);                                                              \
                else if (adds)                                                                                         \
                    out[k] ^= all;                                                                                     \
                else                                                                                                   \
                    out[k] = all;                                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    TARGET(isa) static void name(const struct bench_copy *s)                                                           \
    {                                                                                                                  \
        if (s->adds)                                                                                                   \
            name##_steps(s, 8, true, false, true);                                                                     \
        else if (s->streams && s->in_nbytes == 8)                                                                      \
            s->noise_var ? name##_steps(s, 8, true, true, false) : name##_steps(s, 8, false, true, false);             \
        else if (s->in_nbytes == 8)                                                                                    \
            s->noise_var ? name##_steps(s, 8, true, false, false) : name##_steps(s, 8, false, false, false);           \
        else if (s->in_nbytes == 4)                                                                                    \
            s->noise_var ? name##_steps(s, 4, true, false, false) : name##_steps(s, 4, false, false, false);           \
        else                                                                                                           \
            s->noise_var ? name##_steps(s, 2, true, false, false) : name##_steps(s, 2, false, false, false);           \
    }

/* Fewer than UNIT symbols. */
static void move_rest(const struct bench_copy *s)
{
    const size_t first = s->n_symbols / UNIT * UNIT, n = s->n_symbols - first;
    const unsigned char *in = (const unsigned char *)s->in + first * s->in_nbytes;
    unsigned char *restrict out = (unsigned char *)s->out + first * s->out_nbytes;
    uint64_t all = 0, word;
    for (size_t k = 0; k + sizeof word <= n * s->in_nbytes; k += sizeof word) {
        memcpy(&word, in + k, sizeof word);
        all ^= word;
    }
    for (size_t k = 0; k < n && s->noise_var; k++) {
        uint32_t noise;
        memcpy(&noise, s->noise_var + first + k, sizeof noise);
        all ^= noise;
    }
    const size_t nbytes = n * s->out_nbytes;
    size_t k = 0;
    for (; k + sizeof all <= nbytes; k += sizeof all)
        memcpy(out + k, &all, sizeof all);
    for (; k < nbytes; k++)
        out[k] = (unsigned char)all;
    memset(out + nbytes, 0, s->n_more);
}

#if defined(__x86_64__)
#include <immintrin.h>

DEFINE_STREAM(stream_64, "avx512f", __m512i, _mm512_stream_si512)
DEFINE_STREAM(stream_32, "avx2", __m256i, _mm256_stream_si256)
DEFINE_STREAM(stream_16, "sse2", __m128i, _mm_stream_si128)

bool bench_can_stream(void) { return true; }

void bench_stream(const struct bench_copy *copy)
{
    if (__builtin_cpu_supports("avx512f"))
        stream_64(copy);
    else if (__builtin_cpu_supports("avx2"))
        stream_32(copy);
    else
        stream_16(copy);
    if (copy->streams)
        _mm_sfence();
    move_rest(copy);
}
#else
typedef uint64_t words __attribute__((vector_size(16), may_alias));

static inline void store(void *out, words all) { *(words *)out = all; }

DEFINE_STREAM(stream_16, "", words, store)

bool bench_can_stream(void) { return false; }

void bench_stream(const struct bench_copy *copy)
{
    stream_16(copy);
    move_rest(copy);
}
#endif
