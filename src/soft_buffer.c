/* SPDX-License-Identifier: MIT */
#include "soft_buffer.h"

#include "cpu/widen_half.h"
#include "simd_scalar.h"

#include "arithmetic.h"

/* Values in a caller's memory, of any alignment. */
typedef int8_t memory_s8 __attribute__((may_alias));
typedef int16_t memory_s16 __attribute__((aligned(1), may_alias));
typedef uint16_t memory_f16 __attribute__((aligned(1), may_alias));
typedef float memory_f32 __attribute__((aligned(1), may_alias));

/* Values beyond the limit are not written back: a NaN would not keep its bits.
 * NOLINTBEGIN(bugprone-macro-parentheses) */
#define DEFINE_ADD(name, type, to_float, from_float)                                                                   \
    static void name(void *values, const void *llrs, float limit, size_t n)                                            \
    {                                                                                                                  \
        const float limit_end = vec_from_bits(vec_bits(limit) + 1); /* the next float */                               \
        type *to = values;                                                                                             \
        const type *from = llrs;                                                                                       \
        for (size_t k = 0; k < n; k++) {                                                                               \
            const float value = to_float(to[k]);                                                                       \
            if (vec_is_less(vec_abs(value), limit_end))                                                                \
                to[k] = (type)from_float(llr_combined(value, to_float(from[k]), limit, limit_end));                    \
        }                                                                                                              \
    }
DEFINE_ADD(add_s8, memory_s8, (float), (int))
DEFINE_ADD(add_s16, memory_s16, (float), (int))
DEFINE_ADD(add_f16, memory_f16, widen_half, vec_to_f16)
DEFINE_ADD(add_f32, memory_f32, (float), (float))
/* NOLINTEND(bugprone-macro-parentheses) */

_Static_assert(N_OUTPUT_FORMATS == 5, "Give the format its DEFINE_ADD, and list it below");

softqam_soft_add *softqam_soft_add_of(softqam_output_format format)
{
    static softqam_soft_add *const loops[N_OUTPUT_FORMATS] = {[SOFTQAM_OUTPUT_S8] = add_s8,
                                                              [SOFTQAM_OUTPUT_S16] = add_s16,
                                                              [SOFTQAM_OUTPUT_F16] = add_f16,
                                                              [SOFTQAM_OUTPUT_F32] = add_f32};
    return loops[format];
}
