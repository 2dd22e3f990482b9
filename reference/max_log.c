/* SPDX-License-Identifier: MIT */
#include "max_log.h"

#include <float.h>
#include <math.h>
#include <string.h>

int max_log_rows(const nr_constellation *constellation) { return 1 << (constellation->axis_bits - 1); }

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

/* (v - x)^2 - v^2: the term that all points have in common is left out, since it cancels in every LLR and with it would
 * go the digits that matter. */
static double relative_distance(double v, double x) { return x * (x - 2 * v); }

/* |r - x|^2 - |r|^2 for all points, by their bits. */
static void measure_points(const nr_constellation *constellation, const float symbol[2], uint64_t position,
                           exact_sum distances[])
{
    for (int bits = 0; bits < 1 << constellation->n_bits; bits++) {
        double point[2];
        nr_point(constellation, bits, position, point);
        distances[bits] =
            add_exactly(relative_distance((double)symbol[0], point[0]), relative_distance((double)symbol[1], point[1]));
    }
}

/* The least distance of the points whose bit b is `value`: by its rounded sum, then, among equals, by what that leaves.
 */
static exact_sum least(const nr_constellation *constellation, const exact_sum distances[], int b, int value)
{
    const int stride = 1 << (constellation->n_bits - 1 - b), n_points = 1 << constellation->n_bits;
    exact_sum best = {INFINITY, INFINITY};
    for (int first = value * stride; first < n_points; first += 2 * stride)
        for (int point = first; point < first + stride; point++)
            best.high = distances[point].high < best.high ? distances[point].high : best.high;
    for (int first = value * stride; first < n_points; first += 2 * stride)
        for (int point = first; point < first + stride; point++)
            if (distances[point].high == best.high && distances[point].low < best.low)
                best.low = distances[point].low;
    return best;
}

/* a - b, where what they have in common cancels without error. */
static double difference(exact_sum a, exact_sum b) { return (a.high - b.high) + (a.low - b.low); }

void max_log_metrics_of_points(const nr_constellation *constellation, const float symbol[2], uint64_t position,
                               double metrics[])
{
    exact_sum distances[NR_MAX_POINTS] = {{0, 0}};
    measure_points(constellation, symbol, position, distances);
    for (int b = 0; b < constellation->n_bits; b++)
        metrics[b] = difference(least(constellation, distances, b, 1), least(constellation, distances, b, 0));
}

/* The two points are x and -x, so that it is 4 (I x_I + Q x_Q), with x_I and x_Q the same but for their signs. I and Q
 * may cancel to their last digit, and their sum is exact. */
static double bpsk_metric(const nr_constellation *constellation, const float symbol[2], uint64_t position)
{
    double point[2];
    nr_point(constellation, 0, position, point);
    const exact_sum sum =
        add_exactly(copysign(1, point[0]) * (double)symbol[0], copysign(1, point[1]) * (double)symbol[1]);
    return 4 * fabs(point[0]) * sum.high + 4 * fabs(point[0]) * sum.low;
}

/* The coordinates of an axis, by their labels. */
typedef struct axis_coordinates {
    int n_bits;
    double of[1 << NR_MAX_AXIS_BITS];
} axis_coordinates;

static axis_coordinates list_coordinates(const nr_constellation *constellation)
{
    axis_coordinates axis = {.n_bits = constellation->axis_bits};
    for (int label = 0; label < 1 << axis.n_bits; label++)
        axis.of[label] = nr_coordinate(constellation, label);
    return axis;
}

/* The nearest one whose bit at a place is `value`. */
static double nearest_coordinate(const axis_coordinates *axis, double v, int place, int value)
{
    const int stride = 1 << (axis->n_bits - 1 - place);
    double nearest = INFINITY, least_distance = INFINITY;
    for (int first = value * stride; first < 1 << axis->n_bits; first += 2 * stride) {
        for (int label = first; label < first + stride; label++) {
            const double distance = relative_distance(v, axis->of[label]);
            nearest = distance < least_distance ? axis->of[label] : nearest;
            least_distance = fmin(distance, least_distance);
        }
    }
    return nearest;
}

/* The bit's two nearest points differ on its own axis only: what the other one adds to both is the same. The difference
 * of the squares (v - one)^2 and (v - zero)^2 is factored, which for QPSK leaves a tiny v its digits. */
static double axis_metric(const axis_coordinates *axis, double v, int place)
{
    const double zero = nearest_coordinate(axis, v, place, 0);
    const double one = nearest_coordinate(axis, v, place, 1);
    return (one - zero) * (one + zero - 2 * v);
}

void max_log_metrics(const nr_constellation *constellation, const float symbol[2], uint64_t position, double metrics[])
{
    if (nr_is_bpsk(constellation)) {
        metrics[0] = bpsk_metric(constellation, symbol, position);
        return;
    }
    const axis_coordinates axis = list_coordinates(constellation);
    for (int b = 0; b < constellation->n_bits; b++)
        metrics[b] = axis_metric(&axis, (double)symbol[b % 2], b / 2);
}

max_log_line max_log_line_at(const nr_constellation *constellation, int row, int place)
{
    /* The nearest coordinates with either value of the bit are the same on all of a row, so those of its middle serve.
     */
    const double middle = (2 * row + 1) / sqrt(constellation->energy);
    const axis_coordinates axis = list_coordinates(constellation);
    const double zero = nearest_coordinate(&axis, middle, place, 0);
    const double one = nearest_coordinate(&axis, middle, place, 1);
    return (max_log_line){2 * (zero - one), one * one - zero * zero};
}

/* The arithmetic that the bound is for, in QPSK and more bits: with u = |v|, e = 2^-24 and fl() one rounding to
 * binary32,
 *
 *     t = fma(s, u, c), w = fl(scale / N0) or fl(scale * (1/N0)), llr = fl(t * w)
 *
 * where s and c are fl() of the exact slope S and intercept C of the row that u lies in, so T = S u + C is the exact
 * N0 * LLR and W the exact scale / N0.
 *
 * - Table: |s - S| <= e |S| and |c - C| <= e |C|. fma: e |s u + c|. Together |t - T| <= e (|S| u + |C| + |T|).
 * - The row is fl(u * fl(sqrt(E) / 2)), whose two roundings misplace a boundary B between rows by 2 e B at most. Beside
 *   it the line of the neighbouring row, S', is taken instead, which meets this one in B and so is wrong by
 *   |S' - S| |u - B| <= 2 e B |S' - S|.
 *
 * With m bits an axis, a = 1/sqrt(E) and h = 2^(m-1), the sum of both over all bits and rows is at most
 *
 *     e (constant + slope u), slope = 8 h a, constant = 2 ((h + 1)^2 - 1) a^2, and 0 for QPSK
 *
 * - The first bit of an axis, u in [2 k a, 2 (k + 1) a], k = 0 .. h - 1: S = 4 (k + 1) a, C = -4 k (k + 1) a^2 and
 *   T >= 0, so table and fma are 2 e S u = 8 (k + 1) a e u, at most slope e u, with equality in the last row: no
 * smaller slope does. The boundary at B = 2 k a adds 8 a e B. Together they pass slope e B by 16 k (k + 2 - h) a^2 e,
 * which is largest at k = h - 1: 16 (h - 1) a^2 e, at most the constant.
 * - The second bit is C = ((h + 1)^2 - 1) a^2 at u = 0 and nothing else: the constant, with equality.
 * - All others are less. The test of this looks at every row of every bit.
 *
 * Weight: |w - W| <= e W. Product: e |t w|. Nothing is subnormal, for |v| >= 2^-63 and 2^-40 <= scale / N0.
 *
 * BPSK: t = fl(fl(I + Q) * fl(2 sqrt(2))), three roundings: |t - T| <= 3 e |T|.
 *
 * int8 rounds the product t * w once, to an integer. The product itself lies in the interval, which has room for a
 * rounding of it, and rounding keeps the order.
 *
 * e is taken 2^-20 of itself larger, for the products of errors and for this file's own roundings in double. */
static const double unit = 0x1p-24 * (1 + 0x1p-20);

max_log_error max_log_error_of(const nr_constellation *constellation)
{
    const double half = max_log_rows(constellation), energy = constellation->energy;
    const bool one_row = constellation->axis_bits == 1;
    return (max_log_error){one_row ? 0 : 2 * ((half + 1) * (half + 1) - 1) / energy, 8 * half / sqrt(energy)};
}

double max_log_bound(const nr_constellation *constellation, double component, double metric, double weight)
{
    const max_log_error error = max_log_error_of(constellation);
    const double metric_error =
        unit * (nr_is_bpsk(constellation) ? 3 * fabs(metric) : error.constant + error.slope * fabs(component));
    return metric_error * weight + 2 * unit * (fabs(metric) + metric_error) * weight;
}

static double limit_to_float(double x) { return fmin(fmax(x, -FLT_MAX), FLT_MAX); }

static max_log_llr make_llr(const nr_constellation *constellation, double component, double metric, double weight)
{
    const double value = metric * weight, bound = max_log_bound(constellation, component, metric, weight);
    max_log_llr llr = {value, limit_to_float(value - bound), limit_to_float(value + bound)};
    /* t overflows before the product with a small w brings it back: then the largest number, with t's sign, comes out.
     */
    if (fabs(metric) >= FLT_MAX * (1 + 0x1p-20))
        llr.value = llr.low = llr.high = copysign(FLT_MAX, metric);
    else if (fabs(metric) >= FLT_MAX * (1 - 0x1p-20))
        *(metric < 0 ? &llr.low : &llr.high) = copysign(FLT_MAX, metric);
    return llr;
}

/* scale / N0, or 0 where that is unknown. */
static double weight_of(nr_noise noise, float scale)
{
    const double value = (double)noise.value;
    if (!isfinite(value) || !(value > 0))
        return 0;
    return noise.is_inverse ? (double)scale * fmin(fmax(value, 0x1p-40), 0x1p100)
                            : (double)scale / fmin(fmax(value, 0x1p-100), 0x1p40);
}

void max_log_llrs(const nr_constellation *constellation, const float symbol[2], nr_noise noise, float scale,
                  uint64_t position, max_log_llr llrs[])
{
    memset(llrs, 0, (size_t)constellation->n_bits * sizeof *llrs);
    const double weight = weight_of(noise, scale);
    if (!isfinite(symbol[0]) || !isfinite(symbol[1]) || weight == 0)
        return;
    float components[2];
    for (int axis = 0; axis < 2; axis++)
        components[axis] = fabsf(symbol[axis]) < 0x1p-63F ? 0 : symbol[axis];
    double metrics[NR_MAX_BITS] = {0};
    max_log_metrics(constellation, components, position, metrics);
    for (int b = 0; b < constellation->n_bits; b++)
        llrs[b] = make_llr(constellation, (double)components[b % 2], metrics[b], weight);
}

int max_log_to_s8(double llr, int limit) { return (int)fmin(fmax(rint(llr), -limit), limit); }
