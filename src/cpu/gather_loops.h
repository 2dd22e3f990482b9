/* SPDX-License-Identifier: MIT */
/* The loop that gathers items which do not lie side by side: layers, I and Q, strides. Included by the file of each
 * instruction set, whose compiler options it is vectorised for. */
#ifndef SOFTQAM_CPU_GATHER_LOOPS_H
#define SOFTQAM_CPU_GATHER_LOOPS_H

#include "loops.h"

/* At any address. */
typedef uint64_t __attribute__((aligned(1), may_alias)) item_8;
typedef uint32_t __attribute__((aligned(1), may_alias)) item_4;
typedef uint16_t __attribute__((aligned(1), may_alias)) item_2;
typedef uint8_t item_1;

/* The number of sources, and a stride of 1, as constants. */
#define GATHER_OF(type, n_sources, stride)                                                                             \
    for (size_t k = 0; k < n; k++)                                                                                     \
        for (size_t source = 0; source < (n_sources); source++)                                                        \
            ((type *)to)[(n_sources)*k + source] = ((const type *)from[source])[k * (stride)];
#define GATHER_SOURCES(type, stride)                                                                                   \
    switch (n_sources) {                                                                                               \
    case 1:                                                                                                            \
        GATHER_OF(type, 1, stride)                                                                                     \
        break;                                                                                                         \
    case 2:                                                                                                            \
        GATHER_OF(type, 2, stride)                                                                                     \
        break;                                                                                                         \
    case 3:                                                                                                            \
        GATHER_OF(type, 3, stride)                                                                                     \
        break;                                                                                                         \
    case 4:                                                                                                            \
        GATHER_OF(type, 4, stride)                                                                                     \
        break;                                                                                                         \
    default:                                                                                                           \
        GATHER_OF(type, n_sources, stride)                                                                             \
    }
#define DEFINE_GATHER(type)                                                                                            \
    static void gather_##type(const unsigned char *const restrict from[], size_t n_sources, size_t stride, size_t n,   \
                              void *restrict to)                                                                       \
    {                                                                                                                  \
        if (stride == 1)                                                                                               \
            GATHER_SOURCES(type, 1)                                                                                    \
        else                                                                                                           \
            GATHER_SOURCES(type, stride)                                                                               \
    }
DEFINE_GATHER(item_8)
DEFINE_GATHER(item_4)
DEFINE_GATHER(item_2)
DEFINE_GATHER(item_1)

/* What is one row of interleaved sources, such as some of eight layers: the first source in memory, and how many items
 * further each one is. */
typedef struct interleaved_row {
    const unsigned char *first;
    unsigned offsets[SOFTQAM_MAX_SOURCES];
} interleaved_row;

static bool is_interleaved_row(interleaved_row *row, const unsigned char *const from[], size_t n_sources, size_t nbytes,
                               size_t stride)
{
    row->first = from[0];
    for (size_t k = 1; k < n_sources; k++)
        row->first = (uintptr_t)from[k] < (uintptr_t)row->first ? from[k] : row->first;
    for (size_t k = 0; k < n_sources; k++) {
        const size_t distance = (size_t)(from[k] - row->first);
        if (distance % nbytes != 0 || distance / nbytes >= stride)
            return false;
        row->offsets[k] = (unsigned)(distance / nbytes);
    }
    return true;
}

static void gather(const unsigned char *const from[], size_t n_sources, size_t nbytes, size_t stride, size_t n,
                   void *to)
{
    const unsigned char *left[SOFTQAM_MAX_SOURCES];
    unsigned char *out = to;
    interleaved_row row;
    size_t n_done = 0;
    if (stride > 1 && stride <= MAX_ROW_ITEMS && is_interleaved_row(&row, from, n_sources, nbytes, stride))
        n_done = vec_gather_rows(row.first, row.offsets, n_sources, nbytes, stride, n, to);
    for (size_t k = 0; k < n_sources; k++)
        left[k] = from[k] + n_done * stride * nbytes;
    out += n_done * n_sources * nbytes;
    n -= n_done;
    switch (nbytes) {
    case 8:
        gather_item_8(left, n_sources, stride, n, out);
        break;
    case 4:
        gather_item_4(left, n_sources, stride, n, out);
        break;
    case 2:
        gather_item_2(left, n_sources, stride, n, out);
        break;
    default:
        gather_item_1(left, n_sources, stride, n, out);
    }
}

#endif
