/* SPDX-License-Identifier: MIT */
/* The loop that divides symbols by their gains and makes their weights: included by avx512.c, avx2.c and neon.c after
 * their SIMD header and arithmetic.h. */
#ifndef SOFTQAM_CPU_GAIN_LOOPS_H
#define SOFTQAM_CPU_GAIN_LOOPS_H

#include "loops.h"

VEC void gain_step(float steps_per_nat, bool is_inverse, const unsigned char *components, const float *noise,
                   const float *gains, float *to, float *weights)
{
    const vec_f32 gain = vec_load_f32(gains), values = vec_load_f32(noise), scale = vec_splat(steps_per_nat);
    const vec_f32 a = vec_load_f32(components), b = vec_load_f32(components + LANES * sizeof(float));
    const vec_f32 inverse = llr_inverse_gain(vec_load_for_twice(gains));
    vec_store_f32(to, vec_mul(a, vec_twice_lower(inverse)));
    vec_store_f32(to + LANES, vec_mul(b, vec_twice_upper(inverse)));
    vec_store_f32(weights, is_inverse ? llr_weight_of_gain(scale, values, true, gain)
                                      : llr_weight_of_gain(scale, values, false, gain));
}

static void divide_by_gains(const softqam_gain_call *call)
{
    const unsigned char *components = call->components;
    size_t k = 0;
    for (; call->n_symbols - k >= LANES; k += LANES)
        gain_step(call->steps_per_nat, call->is_inverse, components + 2 * k * sizeof(float), call->noise + k,
                  call->gains + k, call->to + 2 * k, call->weights + k);
    if (k < call->n_symbols) {
        const size_t n = call->n_symbols - k;
        float last[2 * LANES] = {0}, noise[LANES] = {0}, gains[LANES] = {0}, weights[LANES];
        memcpy(last, components + 2 * k * sizeof(float), 2 * n * sizeof last[0]);
        memcpy(noise, call->noise + k, n * sizeof noise[0]);
        memcpy(gains, call->gains + k, n * sizeof gains[0]);
        gain_step(call->steps_per_nat, call->is_inverse, (const unsigned char *)last, noise, gains, last, weights);
        memcpy(call->to + 2 * k, last, 2 * n * sizeof last[0]);
        memcpy(call->weights + k, weights, n * sizeof weights[0]);
    }
}

#endif
