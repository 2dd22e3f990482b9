/* SPDX-License-Identifier: MIT */
/* The loop that brings layers together, for vectors: included by the file of each instruction set after its SIMD
 * header, whose compiler options it is vectorised for. */
#ifndef SOFTQAM_CPU_INTERLEAVE_LOOPS_H
#define SOFTQAM_CPU_INTERLEAVE_LOOPS_H

#include "loops.h"

/* At any address. */
typedef uint64_t __attribute__((aligned(1), may_alias)) item_8;
typedef uint32_t __attribute__((aligned(1), may_alias)) item_4;
typedef uint16_t __attribute__((aligned(1), may_alias)) item_2;

#define DEFINE_INTERLEAVE(type)                                                                                        \
    static void interleave_##type(const unsigned char *const from[], size_t n_layers, size_t n, void *to)              \
    {                                                                                                                  \
        const type *restrict a = (const void *)from[0], *restrict b = (const void *)from[1];                           \
        const type *restrict c = (const void *)from[n_layers > 2 ? 2 : 0];                                             \
        const type *restrict d = (const void *)from[n_layers > 3 ? 3 : 0];                                             \
        typedef type item;                                                                                             \
        item *restrict out = to;                                                                                       \
        if (n_layers == 2)                                                                                             \
            for (size_t k = 0; k < n; k++) {                                                                           \
                out[2 * k] = a[k];                                                                                     \
                out[2 * k + 1] = b[k];                                                                                 \
            }                                                                                                          \
        else if (n_layers == 3)                                                                                        \
            for (size_t k = 0; k < n; k++) {                                                                           \
                out[3 * k] = a[k];                                                                                     \
                out[3 * k + 1] = b[k];                                                                                 \
                out[3 * k + 2] = c[k];                                                                                 \
            }                                                                                                          \
        else                                                                                                           \
            for (size_t k = 0; k < n; k++) {                                                                           \
                out[4 * k] = a[k];                                                                                     \
                out[4 * k + 1] = b[k];                                                                                 \
                out[4 * k + 2] = c[k];                                                                                 \
                out[4 * k + 3] = d[k];                                                                                 \
            }                                                                                                          \
    }
DEFINE_INTERLEAVE(item_8)
DEFINE_INTERLEAVE(item_4)
DEFINE_INTERLEAVE(item_2)

static void interleave(const unsigned char *const from[], size_t n_layers, size_t nbytes, size_t n, void *to)
{
    if (nbytes == 8)
        interleave_item_8(from, n_layers, n, to);
    else if (nbytes == 4)
        interleave_item_4(from, n_layers, n, to);
    else
        interleave_item_2(from, n_layers, n, to);
}

#endif
