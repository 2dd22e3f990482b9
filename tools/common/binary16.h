/* SPDX-License-Identifier: MIT */
/* IEEE-754 binary16, for which C11 has no type. */
#ifndef SOFTQAM_TOOLS_COMMON_BINARY16_H
#define SOFTQAM_TOOLS_COMMON_BINARY16_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The midpoint of the largest number, 65504, and the next that the format would have. */
#define BINARY16_OVERFLOW 65520.0

/* The bits of +65504. */
#define BINARY16_LARGEST 0x7bff

/* Exact; NaN gives some NaN. */
static inline float binary16_to_float(uint16_t half)
{
    const uint16_t field = half & 0x7fff, infinite = 0x7c00;
    const uint32_t bits = (uint32_t)field << 13; /* as the fields of binary32, whose bias is larger by 112 */
    float magnitude;
    memcpy(&magnitude, &bits, sizeof magnitude);
    magnitude *= 0x1p112F;
    if (field >= infinite)
        magnitude = field > infinite ? NAN : INFINITY;
    return half & 0x8000 ? -magnitude : magnitude;
}

/* The nearest, ties to even; from BINARY16_OVERFLOW on 65504, infinity included, with its sign. Not for NaN. */
uint16_t binary16_from_double(double x);

#endif
