/* SPDX-License-Identifier: MIT */
#include "half.h"

#include <math.h>

enum { LEAST_EXPONENT = -14 };

uint16_t half_from_double(double x)
{
    const double magnitude = fmin(fabs(x), 65504);
    const int exponent = magnitude < 0x1p-14 ? LEAST_EXPONENT : ilogb(magnitude);
    /* The magnitude in units of the last place is below 2^10 for a subnormal number. Rounding up to the next power of
     * two carries into the exponent, as it should. */
    const int units = (int)rint(ldexp(magnitude, 10 - exponent));
    return (uint16_t)((signbit(x) ? 0x8000 : 0) + units + (exponent - LEAST_EXPONENT) * (1 << 10));
}

double half_to_double(uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    double magnitude = exponent == 0 ? ldexp(fraction, LEAST_EXPONENT - 10) : ldexp(fraction + 1024, exponent - 25);
    if (exponent == 31)
        magnitude = fraction ? NAN : INFINITY;
    return half & 0x8000 ? -magnitude : magnitude;
}
