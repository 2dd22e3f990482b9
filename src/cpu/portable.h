/* SPDX-License-Identifier: MIT */
/* The LLRs of a symbol leave the portable loops here. */
#ifndef SOFTQAM_CPU_PORTABLE_H
#define SOFTQAM_CPU_PORTABLE_H

#include "loops.h"
#include "simd_scalar.h"

#include "arithmetic.h"

/* Formats are constants where these are inlined. */
#define ALWAYS_INLINED static inline __attribute__((always_inline))

/* Says where LLRs are written; the last three are softqam_loop_call's. */
typedef struct portable_output {
    float limit;
    unsigned char *out;
    const unsigned char *sequence;
    const ptrdiff_t *planes;
} portable_output;

/* Writes one LLR; an erasure's, whose weight is not finite, is 0. */
ALWAYS_INLINED void store_llr(softqam_output_format format, float metric, float weight, float limit, unsigned char *to)
{
    const vec_mask valid = vec_is_finite(weight);
    _Static_assert(N_OUTPUT_FORMATS == 5, "each format but u8");
    if (format == SOFTQAM_OUTPUT_S8 || format == SOFTQAM_OUTPUT_S16) {
        const float sum = llr_rounded(metric, weight, ROUNDING_CONSTANT - limit, ROUNDING_CONSTANT + limit);
        const uint32_t steps = vec_bits(vec_keep(valid, sum)); /* in its lowest bytes */
        memcpy(to, &steps, format == SOFTQAM_OUTPUT_S8 ? 1 : 2);
        return;
    }
    const float llr = vec_keep(valid, llr_scaled(metric, weight, limit));
    const uint16_t half = (uint16_t)vec_to_f16(llr);
    if (format == SOFTQAM_OUTPUT_F16)
        memcpy(to, &half, sizeof half);
    else
        memcpy(to, &llr, sizeof llr);
}

/* Writes the LLRs of symbol k, whose metrics are given, b0's first; the scrambling sequence changes their signs. */
ALWAYS_INLINED void store_symbol(softqam_output_format format, size_t n_bits, portable_output to, size_t k,
                                 const float metrics[], float weight)
{
    const size_t nbytes = format == SOFTQAM_OUTPUT_F32 ? 4 : format == SOFTQAM_OUTPUT_S8 ? 1 : 2;
    unsigned char *out = to.out + k * (to.planes ? nbytes : n_bits * nbytes);
    for (size_t bit = 0, n = k * n_bits; bit < n_bits; bit++, n++) {
        const bool is_flipped = to.sequence && to.sequence[n / 8] >> n % 8 & 1;
        store_llr(format, is_flipped ? -metrics[bit] : metrics[bit], weight, to.limit,
                  out + (to.planes ? to.planes[bit] : (ptrdiff_t)(bit * nbytes)));
    }
}

#endif
