/* SPDX-License-Identifier: MIT */
#include "contract.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"

static float limit_to(float x, float low, float high) { return fmaxf(low, fminf(x, high)); }

static bool is_positive(float x) { return x > 0 && isfinite(x); }

/* Applies the floor: an N0 below it counts as the floor, a 1/N0 above its inverse as that. A NaN is neither. */
static nr_noise with_floor(nr_noise noise)
{
    const float least = fmaxf(noise.floor, FLT_MIN);
    if (noise.floor > 0 && !noise.is_inverse && noise.value < least)
        noise.value = least;
    if (noise.floor > 0 && noise.is_inverse && noise.value > 1 / least)
        noise.value = 1 / least;
    return noise;
}

/* Returns w; 0 for an erasure. With a gain, the range of floats limits the result only, because intermediate values are
 * doubles. Rounding a quotient of floats to double and then to float gives the same as rounding it to float at once. */
static float weight_of(nr_noise noise, float scale)
{
    double weight;
    if (noise.has_gain) {
        int exponent;
        const float significand = 2 * frexpf(noise.gain, &exponent), of_gain = scale * significand * significand;
        const double value = (double)noise.value;
        weight = ldexp(noise.is_inverse ? (double)of_gain * value : (double)of_gain / value, 2 * (exponent - 1));
    } else {
        weight = noise.is_inverse ? (double)(scale * limit_to(noise.value, 0x1p-40F, 0x1p100F))
                                  : (double)(scale / limit_to(noise.value, 0x1p-100F, 0x1p40F));
    }
    weight = (double)(float)fmax(-(double)FLT_MAX, fmin(weight, (double)FLT_MAX));
    return fabs(weight) < 0x1p-120 && noise.has_gain ? 0 : (float)weight;
}

/* Returns a component divided by the symbol's gain, if there is one. The range of floats limits the result only. */
static float divided(float component, nr_noise noise)
{
    int exponent;
    if (!noise.has_gain)
        return component;
    if (fabsf(component) < FLT_MIN)
        return copysignf(0, component);
    const float inverse = 1 / (2 * frexpf(noise.gain, &exponent));
    return (float)ldexp((double)component * (double)inverse, 1 - exponent);
}

/* Finds, for each bit of an axis and each value of the bit, the level with that bit that is nearest to an odd integer.
 * No two are equally near. */
static void nearest_levels(const nr_constellation *constellation, int middle, int nearest[NR_MAX_AXIS_BITS][2])
{
    for (int place = 0; place < constellation->axis_bits; place++)
        nearest[place][0] = nearest[place][1] = 1 << 20;
    for (int label = 0; label < 1 << constellation->axis_bits; label++) {
        const int level = nr_level(constellation, label);
        for (int place = 0; place < constellation->axis_bits; place++) {
            int *found = &nearest[place][label >> (constellation->axis_bits - 1 - place) & 1];
            if (abs(level - middle) < abs(*found - middle))
                *found = level;
        }
    }
}

/* Computes t for the bits of one axis. In row r the nearest levels are those of 2 r + 1, and (v - one)^2 - (v - zero)^2
 * = 2 (zero - one) v + one^2 - zero^2. */
static void axis_metrics(const nr_constellation *constellation, float v, float metrics[NR_MAX_AXIS_BITS])
{
    const double energy = constellation->energy;
    const int n_rows = 1 << (constellation->axis_bits - 1);
    const float rows_per_unit = (float)(sqrt(energy) / 2), magnitude = fabsf(v);
    const int row = (int)fminf(magnitude * rows_per_unit, (float)(n_rows - 1));
    int nearest[NR_MAX_AXIS_BITS][2];
    nearest_levels(constellation, 2 * row + 1, nearest);
    for (int place = 0; place < constellation->axis_bits; place++) {
        const int zero = nearest[place][0], one = nearest[place][1];
        const float slope = (float)(2 * (zero - one) / sqrt(energy));
        const float intercept = (float)((one * one - zero * zero) / energy);
        const float metric = fmaf(slope, magnitude, intercept);
        metrics[place] = place == 0 && signbit(v) ? -metric : metric;
    }
}

static void symbol_metrics(const nr_constellation *constellation, float i, float q, uint64_t position,
                           float metrics[NR_MAX_BITS])
{
    if (nr_is_bpsk(constellation)) {
        metrics[0] = (constellation->rotates && position % 2 ? q + -i : i + q) * (float)(2 * sqrt(2));
        return;
    }
    float on_i[NR_MAX_AXIS_BITS], on_q[NR_MAX_AXIS_BITS];
    axis_metrics(constellation, i, on_i);
    axis_metrics(constellation, q, on_q);
    for (int place = 0; place < constellation->axis_bits; place++) {
        metrics[2 * place] = on_i[place];
        metrics[2 * place + 1] = on_q[place];
    }
}

/* Computes t and w, with its sign, for each bit; all are 0 for an erasure. */
static void factors(const nr_constellation *constellation, const float symbol[2], nr_noise noise, uint64_t position,
                    uint32_t flipped, float scale, float metrics[NR_MAX_BITS], float weights[NR_MAX_BITS])
{
    float components[2];
    memset(metrics, 0, NR_MAX_BITS * sizeof *metrics);
    memset(weights, 0, NR_MAX_BITS * sizeof *weights);
    noise = with_floor(noise);
    if (!is_positive(noise.value) || (noise.has_gain && !is_positive(noise.gain)))
        return;
    const float weight = weight_of(noise, scale);
    if (weight == 0)
        return;
    for (int axis = 0; axis < 2; axis++) {
        components[axis] = divided(symbol[axis], noise);
        if (!isfinite(components[axis]))
            return;
        if (fabsf(components[axis]) < 0x1p-63F)
            components[axis] = copysignf(0, components[axis]);
    }
    symbol_metrics(constellation, components[0], components[1], position, metrics);
    for (int b = 0; b < constellation->n_bits; b++)
        weights[b] = (flipped >> b & 1 ? -1.0F : 1.0F) * weight;
}

void contract_f32(const nr_constellation *constellation, const float symbol[2], nr_noise noise, uint64_t position,
                  uint32_t flipped, float llrs[])
{
    float metrics[NR_MAX_BITS], weights[NR_MAX_BITS];
    factors(constellation, symbol, noise, position, flipped, 1, metrics, weights);
    for (int b = 0; b < constellation->n_bits; b++)
        llrs[b] = limit_to(metrics[b] * weights[b], -FLT_MAX, FLT_MAX);
}

void contract_f16(const nr_constellation *constellation, const float symbol[2], nr_noise noise, uint64_t position,
                  uint32_t flipped, int limit, uint16_t llrs[])
{
    float exact[NR_MAX_BITS];
    contract_f32(constellation, symbol, noise, position, flipped, exact);
    for (int b = 0; b < constellation->n_bits; b++)
        llrs[b] = half_from_double((double)limit_to(exact[b], (float)-limit, (float)limit));
}

/* Rounds and limits for int8 and int16. Numbers from 2^23 to 2^24 are the integers, so adding 1.5 * 2^23 rounds to one.
 */
static int product_to_steps(float metric, float weight, int limit)
{
    const float magic = 12582912, largest = (float)limit, product = metric * weight;
    if (fabsf(product) >= largest + 1)
        return (int)copysignf(largest, product);
    return (int)limit_to(fmaf(metric, weight, magic) - magic, -largest, largest);
}

void contract_s16(const nr_constellation *constellation, const float symbol[2], nr_noise noise, uint64_t position,
                  uint32_t flipped, float scale, int limit, int16_t llrs[])
{
    float metrics[NR_MAX_BITS], weights[NR_MAX_BITS];
    factors(constellation, symbol, noise, position, flipped, scale, metrics, weights);
    for (int b = 0; b < constellation->n_bits; b++)
        llrs[b] = (int16_t)product_to_steps(metrics[b], weights[b], limit);
}

void contract_s8(const nr_constellation *constellation, const float symbol[2], nr_noise noise, uint64_t position,
                 uint32_t flipped, float scale, int limit, int8_t llrs[])
{
    int16_t steps[NR_MAX_BITS];
    contract_s16(constellation, symbol, noise, position, flipped, scale, limit, steps);
    for (int b = 0; b < constellation->n_bits; b++)
        llrs[b] = (int8_t)steps[b];
}
