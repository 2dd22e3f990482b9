/* SPDX-License-Identifier: MIT */
/* The loops that add LLRs to a soft buffer: CMakeLists.txt compiles this for each instruction set (simd.h). */
#include "loops.h"
#include "simd.h"

#include "arithmetic.h"

typedef struct add_constants {
    float limit;
    vec_f32 max;
    vec_f32 max_end; /* the next float after max */
    vec_bytes min_steps;
    vec_bytes max_steps;
} add_constants;

VEC add_constants load_add_constants(softqam_output_format output, float limit)
{
    const int steps = softqam_is_in_steps(output) ? (int)limit : 0;
    add_constants constants;
    constants.limit = limit;
    constants.max = vec_splat(limit);
    constants.max_end = vec_splat(float_of_bits(float_bits(limit) + 1));
    constants.min_steps = output == SOFTQAM_OUTPUT_S8 ? vec_splat_u8(-steps) : vec_splat_s16(-steps);
    constants.max_steps = output == SOFTQAM_OUTPUT_S8 ? vec_splat_u8(steps) : vec_splat_s16(steps);
    return constants;
}

/* Bytes of the values to which LLRs are added at once: a register of bytes, of s16 or of f32, or two of f16. */
enum { ADDED_NBYTES = 4 * LANES };

/* Does llr_combined() for s8, in saturating bytes. */
VEC vec_bytes sum_of_s8(const add_constants *constants, vec_bytes values, vec_bytes llrs)
{
    const vec_bytes min = constants->min_steps, max = constants->max_steps;
    const vec_bytes sum = vec_min_s8(vec_max_s8(vec_add_saturated_s8(values, llrs), min), max);
    const vec_bytes limited = vec_min_s8(vec_max_s8(values, min), max);
    return vec_choose_bytes((vec_bytes)((vec_lanes_u8)limited == (vec_lanes_u8)values), sum, values);
}

/* Does llr_combined() for s16, in saturating words. */
VEC vec_bytes sum_of_s16(const add_constants *constants, vec_bytes values, vec_bytes llrs)
{
    const vec_bytes min = constants->min_steps, max = constants->max_steps;
    const vec_bytes sum = vec_min_s16(vec_max_s16(vec_add_saturated_s16(values, llrs), min), max);
    const vec_bytes limited = vec_min_s16(vec_max_s16(values, min), max);
    return vec_choose_bytes((vec_bytes)((vec_lanes_u16)limited == (vec_lanes_u16)values), sum, values);
}

/* Does llr_combined() for two registers of f16. If a value is beyond the limit, which is rare, it calls the portable
 * loop, because a NaN would not keep its bits. */
VEC void add_two_f16(const add_constants *constants, unsigned char *values, const unsigned char *llrs)
{
    const vec_f32 a = vec_load_f16(values), b = vec_load_f16(values + 2 * LANES);
    const vec_u32 largest = vec_max_u32(vec_bits(vec_abs(a)), vec_bits(vec_abs(b)));
    if (__builtin_expect(vec_any_from(largest, vec_bits(constants->max_end)), 0)) {
        softqam_soft_add_of(SOFTQAM_OUTPUT_F16)(values, llrs, constants->limit, 2 * LANES);
        return;
    }
    const vec_f32 of_a = vec_load_f16(llrs), of_b = vec_load_f16(llrs + 2 * LANES), zero = vec_splat(0.0f);
    const vec_f32 sum_a = vec_limit(vec_add(a, of_a), constants->max),
                  sum_b = vec_limit(vec_add(b, of_b), constants->max);
    vec_store_16(false, values, vec_choose(vec_is_less(zero, vec_abs(of_a)), sum_a, a));
    vec_store_16(false, values + 2 * LANES, vec_choose(vec_is_less(zero, vec_abs(of_b)), sum_b, b));
}

/* Returns a register of sums; not for f16. */
VEC vec_bytes sum_of(softqam_output_format output, const add_constants *constants, vec_bytes values, vec_bytes llrs)
{
    if (output == SOFTQAM_OUTPUT_S8)
        return sum_of_s8(constants, values, llrs);
    if (output == SOFTQAM_OUTPUT_S16)
        return sum_of_s16(constants, values, llrs);
    return vec_as_bytes(llr_combined((vec_f32)values, (vec_f32)llrs, constants->max, constants->max_end));
}

VEC void add_values(softqam_output_format output, void *values, const void *llrs, float limit, size_t nbytes)
{
    const add_constants constants = load_add_constants(output, limit);
    const bool is_f16 = output == SOFTQAM_OUTPUT_F16;
    unsigned char *to = values;
    const unsigned char *from = llrs;
    for (; nbytes >= ADDED_NBYTES; nbytes -= ADDED_NBYTES, to += ADDED_NBYTES, from += ADDED_NBYTES)
        if (is_f16)
            add_two_f16(&constants, to, from);
        else
            vec_store(to, sum_of(output, &constants, vec_load_bytes(to), vec_load_bytes(from)));
    if (nbytes == 0)
        return;
    const bool is_at_end = crosses_page(to, sizeof(vec_bytes));
    vec_bytes last = vec_splat_u8(0), added = vec_load_first(from, nbytes, last);
    if (is_at_end)
        memcpy(&last, to, nbytes);
    else
        last = vec_load_first(to, nbytes, last);
    if (is_f16)
        add_two_f16(&constants, (unsigned char *)&last, (const unsigned char *)&added);
    else
        last = sum_of(output, &constants, last, added);
    if (is_at_end)
        memcpy(to, &last, nbytes);
    else
        vec_store_first(to, last, nbytes);
}

#define DEFINE_ADD(name, output, type)                                                                                 \
    static void name(void *values, const void *llrs, float limit, size_t n)                                            \
    {                                                                                                                  \
        add_values(output, values, llrs, limit, n * sizeof(type));                                                     \
    }
DEFINE_ADD(add_s8, SOFTQAM_OUTPUT_S8, int8_t)
DEFINE_ADD(add_s16, SOFTQAM_OUTPUT_S16, int16_t)
DEFINE_ADD(add_f16, SOFTQAM_OUTPUT_F16, uint16_t)
DEFINE_ADD(add_f32, SOFTQAM_OUTPUT_F32, float)

_Static_assert(N_OUTPUT_FORMATS == 5, "Give the format its DEFINE_ADD, and list it below");
softqam_soft_add *const SIMD_NAME(softqam_add_loops)[N_OUTPUT_FORMATS] = {[SOFTQAM_OUTPUT_S8] = add_s8,
                                                                          [SOFTQAM_OUTPUT_S16] = add_s16,
                                                                          [SOFTQAM_OUTPUT_F16] = add_f16,
                                                                          [SOFTQAM_OUTPUT_F32] = add_f32};
