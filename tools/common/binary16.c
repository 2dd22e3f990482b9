/* SPDX-License-Identifier: MIT */
#include "binary16.h"

#include <math.h>

/* A sign bit, five of exponent, ten of fraction. Numbers below 2^MIN_EXPONENT are subnormal. */
enum { FRACTION_BITS = 10, HIDDEN_BIT = 1 << FRACTION_BITS, MIN_EXPONENT = -14 };

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
