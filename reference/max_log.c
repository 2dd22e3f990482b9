/* SPDX-License-Identifier: MIT */
#include "max_log.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { N_BITS = 8, N_LEVELS = 16, N_POINTS = 256 };

double max_log_coordinate(int label)
{
    const int first = 1 - 2 * (label >> 3 & 1);
    const int second = 1 - 2 * (label >> 2 & 1);
    const int third = 1 - 2 * (label >> 1 & 1);
    const int fourth = 1 - 2 * (label & 1);
    return first * (8 - second * (4 - third * (2 - fourth))) / sqrt(170);
}

/* A point's number is I's label, then Q's. Numbers that differ in 3GPP's bit b only are this far apart. */
static int bit_stride(int b)
{
    return (b % 2 == 0 ? N_POINTS / 2 : N_LEVELS / 2) >> (b / 2);
}

max_log_segment max_log_segment_at(int number, int place)
{
    /* The nearest levels with either value of the bit are the same on all of a segment, so those of its middle serve.
     */
    const double middle = (2 * number + 1) / sqrt(170);
    double nearest[2] = {INFINITY, INFINITY};
    for (int label = 0; label < N_LEVELS; label++) {
        double *best = &nearest[label >> (3 - place) & 1];
        const double x = max_log_coordinate(label);
        *best = fabs(middle - x) < fabs(middle - *best) ? x : *best;
    }
    return (max_log_segment){2 * (nearest[0] - nearest[1]), nearest[1] * nearest[1] - nearest[0] * nearest[0]};
}

/* An unevaluated sum: `high` is it rounded, `low` what that leaves. An outlier's squared distance on one axis would
 * otherwise swallow the other axis's. */
typedef struct exact_sum {
    double high;
    double low;
} exact_sum;

/* D. E. Knuth's TwoSum: no error, whichever of the two is larger. */
static exact_sum add_exactly(double a, double b)
{
    const double high = a + b;
    const double b_part = high - a;
    return (exact_sum){high, (a - (high - b_part)) + (b - b_part)};
}

/* |r - x|^2 - |r|^2 for all points: the term that all have in common is left out, since it cancels in every LLR and
 * with it would go the digits that matter. */
static void measure_points(const float symbol[2], exact_sum metrics[N_POINTS])
{
    double axes[2][N_LEVELS];
    for (int label = 0; label < N_LEVELS; label++) {
        const double x = max_log_coordinate(label);
        axes[0][label] = x * (x - 2 * (double)symbol[0]);
        axes[1][label] = x * (x - 2 * (double)symbol[1]);
    }
    for (int point = 0; point < N_POINTS; point++)
        metrics[point] = add_exactly(axes[0][point / N_LEVELS], axes[1][point % N_LEVELS]);
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* The least metric of the points whose bit b is `value`: by its rounded sum, then, among equals, by what that leaves.
 */
static exact_sum least(const exact_sum metrics[N_POINTS], int b, int value)
{
    const int stride = bit_stride(b);
    exact_sum best = {INFINITY, INFINITY};
    for (int first = value * stride; first < N_POINTS; first += 2 * stride)
        for (int point = first; point < first + stride; point++)
            best.high = smaller(metrics[point].high, best.high);
    for (int first = value * stride; first < N_POINTS; first += 2 * stride)
        for (int point = first; point < first + stride; point++)
            best.low = smaller(metrics[point].high == best.high ? metrics[point].low : INFINITY, best.low);
    return best;
}

/* a - b, where what they have in common cancels without error. */
static double difference(exact_sum a, exact_sum b)
{
    return (a.high - b.high) + (a.low - b.low);
}

/* The arithmetic that the bound is for, src's: with u = |v|, e = 2^-24 and fl() one rounding to binary32,
 *
 *     t = fma(s, u, c), w = min(fl(scale / N0), FLT_MAX), llr = fl(t * w)
 *
 * where s and c are fl() of the exact slope S and intercept C of the segment that u lies on, so T = S u + C is the
 * exact N0 * LLR and W = min(scale / N0, FLT_MAX) its exact weight.
 *
 * - Table: |s - S| <= e |S| and |c - C| <= e |C|. fma: e |s u + c|. Together |t - T| <= e (|S| u + |C| + |T|).
 * - The segment is chosen by fl(u * fl(sqrt(170) / 2)), whose two roundings misplace a break B by 2 e B at most.
 *   Beside it the neighbouring segment is taken instead, which meets this one in B and so is wrong by
 *   |S' - S| |u - B| <= 2 e B |S' - S|.
 *
 * With a = 1/sqrt(170), the sum of both over all bits and segments is below e (1 + 5 u):
 *
 * - b0 b1, u in [2 k a, 2 (k + 1) a], k = 0..7: S = 4 (k + 1) a, C = -4 k (k + 1) a^2, and T >= 0, so the first is
 *   2 e S u = 8 (k + 1) a e u, at most 64 a e u = 4.909 e u; the second is 8 a e B for B = 2 k a. Together at a break
 *   16 (k + 1)^2 a^2 e - 16 a^2 e, at most 5.93 e where e (1 + 5 u) is 6.37 e.
 * - b2 b3: the first is 2 e max(C, |S| u) <= 160 a^2 e = 0.941 e inside 8 a and 32 a e u = 2.455 e u outside; the
 *   second is at most 112 a^2 e.
 * - b4 b5: less, but at u = 8 a the slope turns from 8 a to -8 a: 128 a^2 e + 256 a^2 e = 2.26 e of 4.07 e.
 * - b6 b7: less again.
 *
 * Weight: |w - W| <= e W, or 2^-150 where it is subnormal. Product: e |t w|, or 2^-150.
 *
 * Subnormal results of the fma are wrong by 2^-150 instead, which e (1 + 5 u) holds a thousand times over.
 *
 * So |llr - T W| <= e (1 + 5 u) W + 2 e |T| W but for products of errors and subnormal numbers. e is taken 2^-20 of
 * itself larger, for those products and for this file's own roundings in double. */
double max_log_bound(double component, double metric, double weight)
{
    const double unit = 0x1p-24 * (1 + 0x1p-20), least_step = 0x1p-150;
    const double metric_error = unit * (1 + 5 * fabs(component));
    const double weight_error = fmax(unit * weight, least_step);
    const double product = (fabs(metric) + metric_error) * (weight + weight_error);
    return metric_error * weight + (fabs(metric) + metric_error) * weight_error + fmax(unit * product, least_step);
}

static double limit_to_float(double x)
{
    return fmin(fmax(x, -FLT_MAX), FLT_MAX);
}

static max_log_llr make_llr(double component, double metric, double weight)
{
    const double value = metric * weight, bound = max_log_bound(component, metric, weight);
    max_log_llr llr = {value, limit_to_float(value - bound), limit_to_float(value + bound)};
    /* t overflows before the product with a small w brings it back: then the largest number, with t's sign, comes out.
     */
    if (fabs(metric) * (1 + 0x1p-20) >= FLT_MAX) {
        llr.low = metric < 0 ? -FLT_MAX : llr.low;
        llr.high = metric > 0 ? FLT_MAX : llr.high;
    }
    return llr;
}

void max_log_llrs(const float symbol[2], float noise_var, float scale, max_log_llr llrs[8])
{
    memset(llrs, 0, N_BITS * sizeof *llrs);
    if (!isfinite(symbol[0]) || !isfinite(symbol[1]) || !isfinite(noise_var) || !(noise_var > 0))
        return;
    exact_sum metrics[N_POINTS];
    measure_points(symbol, metrics);
    const double weight = fmin((double)scale / (double)noise_var, FLT_MAX);
    for (int b = 0; b < N_BITS; b++) {
        const double metric = difference(least(metrics, b, 1), least(metrics, b, 0));
        llrs[b] = make_llr((double)symbol[b % 2], metric, weight);
    }
}

int max_log_to_s8(double llr, int limit)
{
    return (int)fmin(fmax(rint(llr), -limit), limit);
}

void log_map_llrs(const float symbol[2], double noise_var, double llrs[8])
{
    exact_sum metrics[N_POINTS];
    measure_points(symbol, metrics);
    for (int b = 0; b < N_BITS; b++) {
        /* Each sum is relative to its largest term, so that none but negligible terms underflow. */
        const exact_sum best[2] = {least(metrics, b, 0), least(metrics, b, 1)};
        double sums[2] = {0, 0};
        for (int point = 0; point < N_POINTS; point++) {
            const int value = point / bit_stride(b) % 2;
            sums[value] += exp(difference(best[value], metrics[point]) / noise_var);
        }
        llrs[b] = difference(best[1], best[0]) / noise_var + log(sums[0] / sums[1]);
    }
}
