/* SPDX-License-Identifier: MIT */
#include "max_log.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Returns the coordinate of an axis nearest to v whose bit at a place is `value`. Distances leave out v^2, which
 * cancels in every LLR and would cost the digits that matter. */
static double nearest_coordinate(const double coordinates[], int n_bits, double v, int place, int value)
{
    double nearest = INFINITY, least_distance = INFINITY;
    for (int label = 0; label < 1 << n_bits; label++) {
        const double x = coordinates[label], distance = x * (x - 2 * v);
        if ((label >> (n_bits - 1 - place) & 1) == value && distance < least_distance) {
            nearest = x;
            least_distance = distance;
        }
    }
    return nearest;
}

static void list_coordinates(const nr_constellation *constellation, double coordinates[])
{
    for (int label = 0; label < 1 << constellation->axis_bits; label++)
        coordinates[label] = nr_coordinate(constellation, label);
}

void max_log_metrics(const nr_constellation *constellation, const float symbol[2], uint64_t position, double metrics[])
{
    double coordinates[1 << NR_MAX_AXIS_BITS], point[2];
    const int n = constellation->axis_bits;
    nr_point(constellation, 0, position, point);
    if (nr_is_bpsk(constellation)) { /* the points are x and -x; the sum is rounded once, even if its terms cancel */
        metrics[0] = 4 * fabs(point[0]) *
                     (copysign(1, point[0]) * (double)symbol[0] + copysign(1, point[1]) * (double)symbol[1]);
        return;
    }
    /* A bit's two nearest points differ on its own axis only. The difference of the squares (v - one)^2 and
     * (v - zero)^2 is factored, which for QPSK leaves a tiny v its digits. */
    list_coordinates(constellation, coordinates);
    for (int b = 0; b < constellation->n_bits; b++) {
        const double v = (double)symbol[b % 2];
        const double zero = nearest_coordinate(coordinates, n, v, b / 2, 0);
        const double one = nearest_coordinate(coordinates, n, v, b / 2, 1);
        metrics[b] = (one - zero) * (one + zero - 2 * v);
    }
}

/* 2^-24, plus 2^-20 of it for products of errors and for this file's own roundings in double. */
static const double unit = 0x1p-24 * (1 + 0x1p-20);

max_log_error max_log_error_of(const nr_constellation *constellation)
{
    const double half = 1 << (constellation->axis_bits - 1), energy = constellation->energy;
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
    /* The metric overflows, although its product with a small weight would not: the result is the largest number, with
     * its sign. */
    if (fabs(metric) >= FLT_MAX * (1 + 0x1p-20))
        llr.value = llr.low = llr.high = copysign(FLT_MAX, metric);
    else if (fabs(metric) >= FLT_MAX * (1 - 0x1p-20))
        *(metric < 0 ? &llr.low : &llr.high) = copysign(FLT_MAX, metric);
    return llr;
}

/* Returns scale / N0, or 0 if that is unknown. */
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
