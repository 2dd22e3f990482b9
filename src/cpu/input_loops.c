/* SPDX-License-Identifier: MIT */
/* The loops that turn components of the input formats into floats, and that gather items which do not lie side by side:
 * CMakeLists.txt compiles this for each instruction set (simd.h). */
#include "loops.h"
#include "simd.h"

VEC vec_f32 load_components(softqam_input_format format, const unsigned char *components)
{
    switch (format) {
    case SOFTQAM_INPUT_CF32:
        break;
    case SOFTQAM_INPUT_CS16:
        return vec_load_s16(components);
    case SOFTQAM_INPUT_CS8:
        return vec_load_s8(components);
    case SOFTQAM_INPUT_CF16:
        return vec_load_f16(components);
    }
    return vec_load_f32(components);
}

/* Copies bytes beside a page's end. Not inlined: an array would bring every conversion a stack frame. */
NOT_INLINED vec_bytes copied(const unsigned char *from, size_t nbytes)
{
    vec_bytes copy = vec_splat_u8(0);
    memcpy(&copy, from, nbytes);
    return copy;
}

/* Loads n components, an even number of them that is less than a register's; zeros follow. */
VEC vec_f32 load_last(softqam_input_format format, size_t nbytes, const unsigned char *from, size_t n)
{
    const bool is_at_end = __builtin_expect(crosses_page(from, sizeof(vec_bytes)), 0);
    /* n / 2 * 2 tells the compiler that n is even. */
    const vec_bytes last =
        is_at_end ? copied(from, n * nbytes) : vec_load_first(from, n / 2 * 2 * nbytes, vec_splat_u8(0));
    return load_components(format, (const unsigned char *)&last);
}

/* From two registers on, the last one goes back to be a whole one. A loop takes less at once: there, its loads of two
 * registers that overlap would wait for the stores of both, so zeros fill the last one. */
VEC void convert(softqam_input_format format, size_t nbytes, const unsigned char *from, float scale, size_t n,
                 float *to)
{
    enum { LINE_NBYTES = 64 };
    const vec_f32 factor = vec_splat(scale);
    const size_t per_line = LINE_NBYTES / nbytes;
    size_t k = 0;
    for (; k + per_line <= n; k += per_line) {
        VEC_UNROLL
        for (size_t j = 0; j < per_line; j += LANES)
            vec_store_f32(to + k + j, vec_mul(load_components(format, from + (k + j) * nbytes), factor));
    }
    for (; k + LANES <= n; k += LANES)
        vec_store_f32(to + k, vec_mul(load_components(format, from + k * nbytes), factor));
    if (k == n)
        return;
    if (n >= 2 * LANES)
        vec_store_f32(to + n - LANES, vec_mul(load_components(format, from + (n - LANES) * nbytes), factor));
    else
        vec_store_f32(to + k, vec_mul(load_last(format, nbytes, from + k * nbytes, n - k), factor));
}

#define DEFINE_CONVERT(name, format, nbytes)                                                                           \
    static void name(const void *components, float scale, size_t n_components, float *to)                              \
    {                                                                                                                  \
        convert(format, nbytes, components, scale, n_components, to);                                                  \
    }
DEFINE_CONVERT(convert_cf32, SOFTQAM_INPUT_CF32, 4)
DEFINE_CONVERT(convert_cs16, SOFTQAM_INPUT_CS16, 2)
DEFINE_CONVERT(convert_cs8, SOFTQAM_INPUT_CS8, 1)
DEFINE_CONVERT(convert_cf16, SOFTQAM_INPUT_CF16, 2)

/* Layers, I and Q, strides: the compiler vectorises these. */

VEC void gather_rounds(const unsigned char *const restrict from[], size_t n_sources, size_t nbytes,
                       size_t stride_nbytes, size_t n, unsigned char *restrict to)
{
#pragma GCC unroll 2 /* unrolled 8 times, these loops take 90 kB */
    for (size_t k = 0; k < n; k++)
        for (size_t source = 0; source < n_sources; source++)
            memcpy(to + (n_sources * k + source) * nbytes, from[source] + k * stride_nbytes, nbytes);
}

/* Gathers 16 bytes of one source at a time, because storing each item takes twice as long. */
#define DEFINE_STRIDED(name, type, ...)                                                                                \
    static void name(const unsigned char *from, size_t stride_nbytes, size_t n, unsigned char *to)                     \
    {                                                                                                                  \
        typedef type items __attribute__((vector_size(16)));                                                           \
        typedef type item __attribute__((aligned(1), may_alias));                                                      \
        enum { N = sizeof(items) / sizeof(item) };                                                                     \
        for (; n >= N; n -= N, from += N * stride_nbytes, to += sizeof(items)) {                                       \
            const items some = {__VA_ARGS__};                                                                          \
            memcpy(to, &some, sizeof some);                                                                            \
        }                                                                                                              \
        gather_rounds(&from, 1, sizeof(item), stride_nbytes, n, to);                                                   \
    }
#define ITEM(k) *(const item *)(from + (k)*stride_nbytes)
DEFINE_STRIDED(gather_strided_4, uint32_t, ITEM(0), ITEM(1), ITEM(2), ITEM(3))
DEFINE_STRIDED(gather_strided_8, uint64_t, ITEM(0), ITEM(1))

/* Gathers with the number of sources as a constant. */
VEC void gather_sources(const unsigned char *const restrict from[], size_t n_sources, size_t nbytes,
                        size_t stride_nbytes, size_t n, unsigned char *restrict to)
{
    if (n_sources == 1 && nbytes == 4)
        gather_strided_4(from[0], stride_nbytes, n, to);
    else if (n_sources == 1 && nbytes == 8)
        gather_strided_8(from[0], stride_nbytes, n, to);
    else if (n_sources == 1)
        gather_rounds(from, 1, nbytes, stride_nbytes, n, to);
    else if (n_sources == 2)
        gather_rounds(from, 2, nbytes, stride_nbytes, n, to);
    else if (n_sources == 3)
        gather_rounds(from, 3, nbytes, stride_nbytes, n, to);
    else
        gather_rounds(from, 4, nbytes, stride_nbytes, n, to);
}

/* Makes the items' size, and a stride of one item, constants. */
#define DEFINE_GATHER(nbytes)                                                                                          \
    static void gather_##nbytes(const unsigned char *const restrict from[], size_t n_sources, size_t stride_nbytes,    \
                                size_t n, unsigned char *restrict to)                                                  \
    {                                                                                                                  \
        if (stride_nbytes == (nbytes))                                                                                 \
            gather_sources(from, n_sources, nbytes, nbytes, n, to);                                                    \
        else                                                                                                           \
            gather_sources(from, n_sources, nbytes, stride_nbytes, n, to);                                             \
    }
DEFINE_GATHER(1)
DEFINE_GATHER(2)
DEFINE_GATHER(4)
DEFINE_GATHER(8)
DEFINE_GATHER(16)
DEFINE_GATHER(32)

typedef void gather_of_size(const unsigned char *const restrict from[], size_t n_sources, size_t stride_nbytes,
                            size_t n, unsigned char *restrict to);
static gather_of_size *const gathers[] = {gather_1, gather_2, gather_4, gather_8, gather_16, gather_32};

static softqam_gather_loop gather;

/* Gathers symbols of which layer k's I and Q are sources 2 k and 2 k + 1. */
static void gather_split(const unsigned char *const from[], size_t n_layers, size_t nbytes, size_t stride, size_t n,
                         unsigned char *to)
{
    enum { ROUNDS = 64, SYMBOL_NBYTES = 8 };
    _Alignas(64) unsigned char symbols[SOFTQAM_MAX_LAYERS][ROUNDS * SYMBOL_NBYTES];
    const unsigned char *const layers[SOFTQAM_MAX_LAYERS] = {symbols[0], symbols[1], symbols[2], symbols[3]};
    for (size_t done = 0, some; done < n; done += some) {
        const size_t offset = done * stride * nbytes;
        some = n - done < ROUNDS ? n - done : ROUNDS;
        for (size_t k = 0; k < n_layers; k++) {
            const unsigned char *const parts[] = {from[2 * k] + offset, from[2 * k + 1] + offset};
            gather(parts, 2, nbytes, stride, some, symbols[k]);
        }
        gather(layers, n_layers, 2 * nbytes, 1, some, to + done * n_layers * 2 * nbytes);
    }
}

/* Sources that are neighbours in memory, such as two of four interleaved layers, are one source of larger items. */
static void gather(const unsigned char *const from[], size_t n_sources, size_t nbytes, size_t stride, size_t n,
                   void *to)
{
    const size_t stride_nbytes = stride * nbytes;
    if (n_sources > SOFTQAM_MAX_LAYERS) { /* three or four layers with separate I and Q: joins these to symbols first */
        gather_split(from, n_sources / 2, nbytes, stride, n, to);
        return;
    }
    bool are_neighbours = n_sources == 2 || n_sources == 4;
    for (size_t k = 1; k < n_sources; k++)
        are_neighbours = are_neighbours && from[k] == from[0] + k * nbytes;
    if (are_neighbours) {
        nbytes *= n_sources;
        n_sources = 1;
    }
    gathers[__builtin_ctzl(nbytes)](from, n_sources, stride_nbytes, n, to);
}

_Static_assert(N_INPUT_FORMATS == 4, "Give the format its DEFINE_CONVERT, and list it below");
const softqam_input_loops SIMD_NAME(softqam_input_loops) = {
    .convert = {[SOFTQAM_INPUT_CF32] = convert_cf32,
                [SOFTQAM_INPUT_CS16] = convert_cs16,
                [SOFTQAM_INPUT_CS8] = convert_cs8,
                [SOFTQAM_INPUT_CF16] = convert_cf16},
    .gather = gather,
};
