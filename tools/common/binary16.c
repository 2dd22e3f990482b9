/* SPDX-License-Identifier: MIT */
#include "binary16.h"

#include <math.h>

/* A sign bit, five of exponent, ten of fraction. Numbers below 2^MIN_EXPONENT are subnormal and share its unit. */
enum {
    FRACTION_BITS = 10,
    HIDDEN_BIT = 1 << FRACTION_BITS,
    MIN_EXPONENT = -14,
    SPECIAL = 31 /* the exponent field of infinities and NaN */
};

float binary16_to_float(uint16_t half)
{
    const int field = half >> FRACTION_BITS & 0x1f, fraction = half & (HIDDEN_BIT - 1);
    float magnitude;
    if (field == SPECIAL)
        magnitude = fraction ? NAN : INFINITY;
    else if (field == 0)
        magnitude = ldexpf((float)fraction, MIN_EXPONENT - FRACTION_BITS);
    else
        magnitude = ldexpf((float)(HIDDEN_BIT + fraction), field - 1 + MIN_EXPONENT - FRACTION_BITS);
    return half & 0x8000 ? -magnitude : magnitude;
}

uint16_t binary16_from_double(double x)
{
    const int sign = signbit(x) ? 0x8000 : 0;
    const double magnitude = fabs(x);
    if (magnitude >= BINARY16_OVERFLOW)
        return (uint16_t)(sign | BINARY16_LARGEST);
    const int exponent = magnitude >= ldexp(1, MIN_EXPONENT) ? ilogb(magnitude) : MIN_EXPONENT;
    const int units = (int)rint(ldexp(magnitude, FRACTION_BITS - exponent));
    /* The hidden bit of a normal number, and the carry of one that was rounded up, count in the exponent field. */
    return (uint16_t)(sign | (units + (exponent - MIN_EXPONENT) * HIDDEN_BIT));
}
