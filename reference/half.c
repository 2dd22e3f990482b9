/* SPDX-License-Identifier: MIT */
#include "half.h"

#include <math.h>

enum {
    FRACTION_BITS = 10,
    EXPONENT_BIAS = 15,
    EXPONENT_SPECIAL = 31, /* infinities and NaN */
    LEAST_EXPONENT = 1 - EXPONENT_BIAS
};

static const double largest = 65504;

uint16_t half_from_double(double x)
{
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    const double magnitude = fmin(fabs(x), largest);
    int exponent = magnitude > 0 ? ilogb(magnitude) : LEAST_EXPONENT;
    exponent = exponent < LEAST_EXPONENT ? LEAST_EXPONENT : exponent;
    /* In units of the last place: below 2^10 for a subnormal number. Rounding up to the next power of two carries into
     * the exponent, as it should. */
    const int units = (int)rint(ldexp(magnitude, FRACTION_BITS - exponent));
    return (uint16_t)(sign + units + (exponent - LEAST_EXPONENT) * (1 << FRACTION_BITS));
}

double half_to_double(uint16_t half)
{
    const int exponent = half >> FRACTION_BITS & EXPONENT_SPECIAL, fraction = half & ((1 << FRACTION_BITS) - 1);
    double magnitude;
    if (exponent == EXPONENT_SPECIAL)
        magnitude = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        magnitude = ldexp(fraction, LEAST_EXPONENT - FRACTION_BITS);
    else
        magnitude = ldexp(fraction + (1 << FRACTION_BITS), exponent - EXPONENT_BIAS - FRACTION_BITS);
    return half & 0x8000 ? -magnitude : magnitude;
}
