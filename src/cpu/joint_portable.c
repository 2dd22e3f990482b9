/* SPDX-License-Identifier: MIT */
/* The definition of correct for layers that are demapped in pairs: one symbol after the other, in portable C. */
#include <string.h>

#include "portable.h"
#include "variant.h"

#define JOINT_UNROLL
#include "joint_arithmetic.h"

static inline joint_element element_at(const softqam_joint_call *call, size_t k)
{
    const bool has_partners = call->partners;
    const size_t partner = has_partners ? k : k ^ 1;
    const float *cross = call->cross + (has_partners ? 2 * k : k / 2 * 2);
    float symbol[2], of_partner[2]; /* copied, because the caller's memory may be unaligned */
    memcpy(symbol, call->symbols + 2 * k, sizeof symbol);
    memcpy(of_partner, (has_partners ? call->partners : call->symbols) + 2 * partner, sizeof of_partner);
    return (joint_element){
        .wanted_i = symbol[0],
        .wanted_q = symbol[1],
        .wanted_gain = call->gains[k],
        .partner_i = of_partner[0],
        .partner_q = of_partner[1],
        .partner_gain = (has_partners ? call->partner_gains : call->gains)[partner],
        .cross_r = cross[0],
        .cross_i = !has_partners && k % 2 ? -cross[1] : cross[1],
    };
}

/* Returns the weight of a symbol; NaN if its noise value, or its partner's, is not positive and finite. */
static inline float weight_at(const softqam_joint_call *call, size_t k)
{
    const float two_scales = 2.0f * call->scale.steps_per_nat, bound = call->scale.noise_bound;
    if (call->has_one_noise)
        return joint_weight(two_scales, call->noise[0], call->is_noise_inverse, bound);
    const float weight = joint_weight(two_scales, call->noise[k], call->is_noise_inverse, bound);
    float of_partner = 0.0f;
    if (!call->partners)
        of_partner = joint_weight(two_scales, call->noise[k ^ 1], call->is_noise_inverse, bound);
    else if (call->partner_noise)
        of_partner = joint_weight(two_scales, call->partner_noise[k], call->is_noise_inverse, bound);
    return vec_fma(of_partner, 0.0f, weight);
}

bool softqam_joint_is_erased(const softqam_joint_call *call, size_t k)
{
    const joint_element element = element_at(call, k);
    const joint_terms terms = joint_terms_of(call->is_partner_qpsk, call->table, &element);
    return !vec_is_finite(joint_valid_weight(weight_at(call, k), &element, &terms));
}

static inline void joint_loop(int m, softqam_output_format format, const softqam_joint_call *call)
{
    const portable_output output = {call->scale.limit, call->out, call->sequence, call->planes};
    for (size_t k = 0; k < call->n_symbols; k++) {
        const joint_element element = element_at(call, k);
        const joint_terms terms = joint_terms_of(call->is_partner_qpsk, call->table, &element);
        const float weight = joint_valid_weight(weight_at(call, k), &element, &terms);
        float of_i[MAX_AXIS_BITS], of_q[MAX_AXIS_BITS], metrics[MAX_SYMBOL_BITS];
        joint_metrics(m, call->is_partner_qpsk, call->table, &terms, of_i, of_q);
        for (int bit = 0; bit < m; bit++) {
            metrics[2 * bit] = of_i[bit];
            metrics[2 * bit + 1] = of_q[bit];
        }
        store_symbol(format, 2 * (size_t)m, output, k, metrics, weight);
    }
}

/* One loop serves all layouts. */
#define DEFINE_JOINT_LOOP(name, m, format)                                                                             \
    static void name(const softqam_joint_call *call) { joint_loop(m, format, call); }
#define ALL_LAYOUTS(name)                                                                                              \
    {                                                                                                                  \
        name, name, name                                                                                               \
    }
#define DEFINE_MODULATION(name, m)                                                                                     \
    DEFINE_JOINT_LOOP(name##_s8, m, SOFTQAM_OUTPUT_S8)                                                                 \
    DEFINE_JOINT_LOOP(name##_s16, m, SOFTQAM_OUTPUT_S16)                                                               \
    DEFINE_JOINT_LOOP(name##_f16, m, SOFTQAM_OUTPUT_F16)                                                               \
    DEFINE_JOINT_LOOP(name##_f32, m, SOFTQAM_OUTPUT_F32)                                                               \
    static const softqam_joint_loops name = {{[SOFTQAM_OUTPUT_S8] = ALL_LAYOUTS(name##_s8),                            \
                                              [SOFTQAM_OUTPUT_S16] = ALL_LAYOUTS(name##_s16),                          \
                                              [SOFTQAM_OUTPUT_F16] = ALL_LAYOUTS(name##_f16),                          \
                                              [SOFTQAM_OUTPUT_F32] = ALL_LAYOUTS(name##_f32)}};

_Static_assert(SOFTQAM_LLR_LAYOUTS == 3, "loops for each");
DEFINE_MODULATION(qpsk, 1)
DEFINE_MODULATION(qam16, 2)
DEFINE_MODULATION(qam64, 3)
DEFINE_MODULATION(qam256, 4)
DEFINE_MODULATION(qam1024, 5)

_Static_assert(MAX_AXIS_BITS == 5, "every modulation but BPSK has portable loops");
const softqam_joint_loops *const softqam_joint_portable[MAX_AXIS_BITS + 1] = {NULL,   &qpsk,   &qam16,
                                                                              &qam64, &qam256, &qam1024};
