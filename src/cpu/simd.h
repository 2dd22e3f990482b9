/* SPDX-License-Identifier: MIT */
/* The operations of the instruction set that an object is compiled for: CMakeLists.txt defines SIMD, its name, and
 * SIMD_HEADER. */
#ifndef SOFTQAM_CPU_SIMD_H
#define SOFTQAM_CPU_SIMD_H

#include SIMD_HEADER

#include "simd_common.h"

#define SIMD_FAST
#define SIMD_VECTORS
#include "simd_check.h"

/* Each name that an object exports has the instruction set's name at its end. */
#define JOINED_NAME(name, simd)   name##_##simd
#define EXPANDED_NAME(name, simd) JOINED_NAME(name, simd)
#define SIMD_NAME(name)           EXPANDED_NAME(name, SIMD)

/* A function that all loops share: neither inlined nor, by gcc, copied for the constants of each. */
#ifdef __clang__
#define NOT_INLINED static __attribute__((noinline))
#else
#define NOT_INLINED static __attribute__((noinline, noclone))
#endif

/* Asks for the input of a later iteration, if the symbols are in the second cache. Addresses after the last symbol do
 * no harm. */
VEC void prefetch_inputs(const void *symbols, size_t nbytes)
{
    enum { TO_FIRST = 3, NEAR_NBYTES = 2048, LINE_NBYTES = 64 };
    for (size_t k = 0; k < nbytes; k += LINE_NBYTES)
        __builtin_prefetch((const void *)((uintptr_t)symbols + NEAR_NBYTES + k), 0, TO_FIRST);
}

VEC uint32_t float_bits(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

VEC float float_of_bits(uint32_t bits)
{
    float a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

#endif
