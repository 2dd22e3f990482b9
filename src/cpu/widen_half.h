/* SPDX-License-Identifier: MIT */
/* Binary16 to binary32, exactly. After simd_scalar.h. */
#ifndef SOFTQAM_CPU_WIDEN_HALF_H
#define SOFTQAM_CPU_WIDEN_HALF_H

#include "simd_scalar.h"

static inline float widen_half(uint16_t half)
{
    const uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
    /* Infinities and NaNs have the largest exponent in both formats; the bias of all others differs by 112, and a
     * multiplication by 2^112 mends it for subnormals too. */
    const uint32_t bits =
        magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : vec_bits(vec_from_bits(magnitude) * 0x1p112f);
    return vec_from_bits(bits | (uint32_t)(half & 0x8000) << 16);
}

#endif
