/* SPDX-License-Identifier: MIT */
#include "normal.h"

#include <math.h>
#include <string.h>

/* ln 2 in two parts: the first ends with 21 zero bits, so that its product with an exponent is exact. */
static const double ln2_high = 0x1.62e42fee00000p-1;
static const double ln2_low = 0x1.a39ef35793c76p-33;
static const double ln10 = 0x1.26bb1bbb55516p+1;
static const double sqrt2 = 0x1.6a09e667f3bcdp+0;

/* Splits x = m * 2^e with m in [sqrt(1/2), sqrt(2)), and ln m = 2 atanh(s) = 2 (s + s^3/3 + s^5/5 + ...), s =
 * (m-1)/(m+1). |s| <= 0.172, so that the first term left out, s^25/25, is below 2^-60 of the sum. */
double normal_log(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3ff0000000000000);
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m >= sqrt2) {
        m *= 0.5;
        exponent++;
    }
    const double s = (m - 1) / (m + 1), square = s * s;
    double series = 0;
    for (int k = 23; k >= 3; k -= 2)
        series = (series + 1.0 / k) * square;
    return exponent * ln2_high + (exponent * ln2_low + 2 * s * series + 2 * s);
}

/* Computes 10^(db/10) = 2^k * e^r with |r| <= ln(2)/2; the first term left out, r^18/18!, is below 2^-80. */
double normal_power_ratio(double db)
{
    const double exponent = db / 10 * ln10;
    const double k = floor(exponent / (ln2_high + ln2_low) + 0.5);
    const double r = exponent - k * ln2_high - k * ln2_low;
    double sum = 1;
    for (int i = 17; i >= 1; i--)
        sum = 1 + sum * r / i;
    return ldexp(sum, (int)k);
}

double normal_uniform(uint64_t random) { return (double)((random >> 12 << 1) + 1) * 0x1p-53; }

/* Numerator and denominator of degree 7, lowest coefficient first. */
struct rational {
    double numerator[8];
    double denominator[8];
};

/* The letters A to F are Wichura's. */
static const struct rational central = {
    /* A, B: |p - 1/2| <= 0.425, in 0.425^2 - (p - 1/2)^2 */
    {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
     4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3, 2.1213794301586595867e+4,
     3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}};

static const struct rational tail = {
    /* C, D: r = sqrt(-ln p) <= 5, in r - 1.6 */
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1,
     1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};

static const struct rational outer_tail = {
    /* E, F: r > 5, in r - 5 */
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4,
     1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}};

static double evaluate(const struct rational *function, double x)
{
    double numerator = function->numerator[7], denominator = function->denominator[7];
    for (int i = 6; i >= 0; i--) {
        numerator = numerator * x + function->numerator[i];
        denominator = denominator * x + function->denominator[i];
    }
    return numerator / denominator;
}

double normal_quantile(double p)
{
    const double q = p - 0.5;
    if (q >= -0.425 && q <= 0.425)
        return q * evaluate(&central, 0.180625 - q * q);
    const double r = sqrt(-normal_log(q < 0 ? p : 1 - p));
    const double magnitude = r <= 5 ? evaluate(&tail, r - 1.6) : evaluate(&outer_tail, r - 5);
    return q < 0 ? -magnitude : magnitude;
}
