/* SPDX-License-Identifier: MIT */
/* The weight of one symbol, in portable C. */
#ifndef SOFTQAM_CPU_WEIGHT_H
#define SOFTQAM_CPU_WEIGHT_H

#include "loops.h"
#include "simd_scalar.h"

#include "arithmetic.h"

static inline bool is_middle_gain(float gain) { return gain >= MIN_GAIN && gain <= MAX_GAIN; }

static inline void divide_by_gain(float gain, float symbol[2])
{
    const gain_divisor divisor = is_middle_gain(gain) ? (gain_divisor){1.0f / gain, 1.0f} : gain_divisor_of(gain);
    for (int axis = 0; axis < 2; axis++)
        symbol[axis] = is_middle_gain(gain) ? symbol[axis] * divisor.first : divided_by_gain(symbol[axis], divisor);
}

/* Returns the weight of symbol k, which has a gain, and divides the symbol by it. */
static __attribute__((noinline)) float weight_of_gain(const softqam_loop_call *call, size_t k, float symbol[2])
{
    const int is_inverse = call->noise_kind == SOFTQAM_GAINS_INVERSE;
    const float scale = call->rules.steps_per_nat, gain = call->gains[k],
                noise = llr_bounded_noise(call->noise[k], is_inverse, call->rules.noise_bound);
    divide_by_gain(gain, symbol);
    return is_middle_gain(gain) ? llr_weight_of_gain(scale, noise, is_inverse, gain)
                                : llr_weight_of_any_gain(scale, noise, is_inverse, gain);
}

/* Returns the weight of symbol k, and divides the symbol by its gain if it has one. */
static inline float weight_of(const softqam_loop_call *call, size_t k, float symbol[2])
{
    if (call->noise_kind == SOFTQAM_ONE_WEIGHT)
        return call->noise[0];
    if (softqam_has_gains(call->noise_kind))
        return weight_of_gain(call, k, symbol);
    const int is_inverse = call->noise_kind == SOFTQAM_EACH_INVERSE;
    return llr_weight(call->rules.steps_per_nat, llr_bounded_noise(call->noise[k], is_inverse, call->rules.noise_bound),
                      is_inverse);
}

#endif
