/* SPDX-License-Identifier: MIT */
/* The loops that change LLRs' signs by a scrambling sequence, for vectors: included by the file of each instruction set
 * after its SIMD header. */
#ifndef SOFTQAM_CPU_DESCRAMBLE_LOOPS_H
#define SOFTQAM_CPU_DESCRAMBLE_LOOPS_H

#include "loops.h"

/* LLRs for as many bits of the sequence as an integer holds. */
enum { FLIPPED_AT_ONCE = 64 };

VEC vec_bytes flip(size_t nbytes, vec_bytes llrs, uint64_t bits)
{
    return nbytes == 1 ? vec_flip_s8(llrs, bits) : nbytes == 2 ? vec_flip_f16(llrs, bits) : vec_flip_f32(llrs, bits);
}

VEC void flip_64(size_t nbytes, const unsigned char *llrs, uint64_t bits, unsigned char *out, bool streaming)
{
    VEC_UNROLL
    for (size_t k = 0; k < FLIPPED_AT_ONCE * nbytes; k += 4 * LANES)
        vec_store(out + k, flip(nbytes, vec_load_bytes(llrs + k), bits >> k / nbytes), streaming);
}

VEC void descramble(size_t nbytes, const unsigned char *llrs, const uint32_t *words, size_t n, unsigned char *out,
                    bool streaming)
{
    const size_t step = FLIPPED_AT_ONCE * nbytes;
    uint64_t bits;
    for (; n >= FLIPPED_AT_ONCE; n -= FLIPPED_AT_ONCE, words += 2, llrs += step, out += step) {
        memcpy(&bits, words, sizeof bits);
        flip_64(nbytes, llrs, bits, out, streaming);
    }
    if (n > 0) {
        unsigned char few[FLIPPED_AT_ONCE * 4] = {0};
        memcpy(few, llrs, n * nbytes);
        memcpy(&bits, words, sizeof bits);
        flip_64(nbytes, few, bits, few, false);
        memcpy(out, few, n * nbytes);
    }
}

#define DEFINE_DESCRAMBLE(name, nbytes)                                                                                \
    static void name(const unsigned char *llrs, const uint32_t *words, size_t n, unsigned char *out, bool streaming)   \
    {                                                                                                                  \
        descramble(nbytes, llrs, words, n, out, streaming);                                                            \
    }
DEFINE_DESCRAMBLE(descramble_s8, 1)
DEFINE_DESCRAMBLE(descramble_f16, 2)
DEFINE_DESCRAMBLE(descramble_f32, 4)

#endif
