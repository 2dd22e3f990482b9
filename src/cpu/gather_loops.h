/* SPDX-License-Identifier: MIT */
/* The loop that gathers items which do not lie side by side: layers, I and Q, strides. Included by the file of each
 * instruction set, whose compiler options it is vectorised for. */
#ifndef SOFTQAM_CPU_GATHER_LOOPS_H
#define SOFTQAM_CPU_GATHER_LOOPS_H

#include "loops.h"

VEC void gather_rounds(const unsigned char *const restrict from[], size_t n_sources, size_t nbytes,
                       size_t stride_nbytes, size_t n, unsigned char *restrict to)
{
#pragma GCC unroll 2 /* 8 times, all of these take 90 kB */
    for (size_t k = 0; k < n; k++)
        for (size_t source = 0; source < n_sources; source++)
            memcpy(to + (n_sources * k + source) * nbytes, from[source] + k * stride_nbytes, nbytes);
}

/* The number of sources as a constant. */
VEC void gather_sources(const unsigned char *const restrict from[], size_t n_sources, size_t nbytes,
                        size_t stride_nbytes, size_t n, unsigned char *restrict to)
{
    switch (n_sources) {
    case 1:
        gather_rounds(from, 1, nbytes, stride_nbytes, n, to);
        break;
    case 2:
        gather_rounds(from, 2, nbytes, stride_nbytes, n, to);
        break;
    case 3:
        gather_rounds(from, 3, nbytes, stride_nbytes, n, to);
        break;
    case 4:
        gather_rounds(from, 4, nbytes, stride_nbytes, n, to);
        break;
    default:
        gather_rounds(from, n_sources, nbytes, stride_nbytes, n, to);
    }
}

/* The items' size as a constant, and a stride of one item. */
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

/* Sources that are neighbours in memory, such as two of four interleaved layers, are one source of larger items. */
static void gather(const unsigned char *const from[], size_t n_sources, size_t nbytes, size_t stride, size_t n,
                   void *to)
{
    const size_t stride_nbytes = stride * nbytes;
    bool are_neighbours = n_sources == 2 || n_sources == 4;
    for (size_t k = 1; k < n_sources; k++)
        are_neighbours = are_neighbours && from[k] == from[0] + k * nbytes;
    if (are_neighbours) {
        nbytes *= n_sources;
        n_sources = 1;
    }
    if (nbytes == 1)
        gather_1(from, n_sources, stride_nbytes, n, to);
    else if (nbytes == 2)
        gather_2(from, n_sources, stride_nbytes, n, to);
    else if (nbytes == 4)
        gather_4(from, n_sources, stride_nbytes, n, to);
    else if (nbytes == 8)
        gather_8(from, n_sources, stride_nbytes, n, to);
    else if (nbytes == 16)
        gather_16(from, n_sources, stride_nbytes, n, to);
    else
        gather_32(from, n_sources, stride_nbytes, n, to);
}

#endif
