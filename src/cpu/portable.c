/* SPDX-License-Identifier: MIT */
/* The definition of correct: one symbol after the other, in portable C. */
#include <stdint.h>
#include <string.h>

#include "gold.h"
#include "simd_scalar.h"
#include "variant.h"
#include "weight.h"
#include "widen_half.h"

#define JOINT_UNROLL
#include "joint_arithmetic.h"

/* Stores. */

/* Formats are constants where these are inlined. */
#define ALWAYS_INLINED static inline __attribute__((always_inline))

/* Says where LLRs are written; the last three are softqam_loop_call's. */
typedef struct portable_output {
    float limit;
    unsigned char *out;
    const unsigned char *sequence;
    const ptrdiff_t *planes;
} portable_output;

/* Writes one LLR; an erasure's, whose weight is not finite, is 0. */
ALWAYS_INLINED void store_llr(softqam_output_format format, float metric, float weight, float limit, unsigned char *to)
{
    const vec_mask valid = vec_is_finite(weight);
    _Static_assert(N_OUTPUT_FORMATS == 5, "Give the format its case in store_llr()");
    if (softqam_is_in_steps(format)) {
        const float sum = llr_rounded(metric, weight, ROUNDING_CONSTANT - limit, ROUNDING_CONSTANT + limit);
        const uint32_t steps = vec_bits(vec_keep(valid, sum)); /* in its lowest bytes */
        memcpy(to, &steps, softqam_value_nbytes(format));
        return;
    }
    const float llr = vec_keep(valid, llr_scaled(metric, weight, limit));
    const uint16_t half = (uint16_t)vec_to_f16(llr);
    if (format == SOFTQAM_OUTPUT_F16)
        memcpy(to, &half, sizeof half);
    else
        memcpy(to, &llr, sizeof llr);
}

/* Writes the LLRs of symbol k, whose metrics are given, b0's first; the scrambling sequence changes their signs. */
ALWAYS_INLINED void store_symbol(softqam_output_format format, size_t n_bits, portable_output to, size_t k,
                                 const float metrics[], float weight)
{
    const size_t nbytes = softqam_value_nbytes(format);
    unsigned char *out = to.out + k * (to.planes ? nbytes : n_bits * nbytes);
    for (size_t bit = 0, n = k * n_bits; bit < n_bits; bit++, n++) {
        const bool is_flipped = to.sequence && to.sequence[n / 8] >> n % 8 & 1;
        store_llr(format, is_flipped ? -metrics[bit] : metrics[bit], weight, to.limit,
                  out + (to.planes ? to.planes[bit] : (ptrdiff_t)(bit * nbytes)));
    }
}

/* Inputs and soft bits. */

/* Uses memcpy() because the caller's memory may be unaligned. */
#define DEFINE_CONVERT(name, type, to_float)                                                                           \
    static void name(const void *components, float scale, size_t n_components, float *to)                              \
    {                                                                                                                  \
        for (size_t k = 0; k < n_components; k++) {                                                                    \
            type component;                                                                                            \
            memcpy(&component, (const unsigned char *)components + k * sizeof component, sizeof component);            \
            to[k] = to_float(component) * scale;                                                                       \
        }                                                                                                              \
    }
DEFINE_CONVERT(convert_cf32, float, (float))
DEFINE_CONVERT(convert_cs16, int16_t, (float))
DEFINE_CONVERT(convert_cs8, int8_t, (float))
DEFINE_CONVERT(convert_cf16, uint16_t, widen_half)

/* Moves bytes 0 1 2 3 to 0 2 4 6. */
static inline uint64_t spread_bytes(uint32_t bytes)
{
    uint64_t word = bytes;
    word = (word | word << 16) & 0x0000ffff0000ffffu;
    return (word | word << 8) & 0x00ff00ff00ff00ffu;
}

static void u8_loop(const softqam_loop_call *call)
{
    const softqam_u8_table *table = &call->params->u8_table;
    for (size_t k = 0; k < call->n_symbols; k++) {
        float symbol[2];
        memcpy(symbol, (const float *)call->components + 2 * k, sizeof symbol);
        const symbol_distances distances = symbol_distances_of(table, symbol[0], symbol[1]);
        const u8_bits bits = u8_bits_from_distances(table, &distances);
        const uint64_t bytes = spread_bytes(vec_u8_bytes(table, bits.i.low, bits.i.high, bits.i.row, bits.valid)) |
                               spread_bytes(vec_u8_bytes(table, bits.q.low, bits.q.high, bits.q.row, bits.valid)) << 8;
        memcpy(call->out + 8 * k, &bytes, sizeof bytes);
    }
}

/* LLRs. */

/* Computes the metrics of a symbol's bits, b0 first; m is 0 for BPSK. */
ALWAYS_INLINED void symbol_metrics(int m, const softqam_llr_table *table, const float symbol[2], uint32_t i_flip,
                                   float metrics[2 * MAX_AXIS_BITS])
{
    if (m == 0) {
        metrics[0] = bpsk_metric(table, symbol[0], symbol[1], i_flip);
        return;
    }
    float of_i[MAX_AXIS_BITS], of_q[MAX_AXIS_BITS];
    axis_metrics(m, table, symbol[0], of_i);
    axis_metrics(m, table, symbol[1], of_q);
    for (int k = 0; k < m; k++) {
        metrics[2 * k] = of_i[k];
        metrics[2 * k + 1] = of_q[k];
    }
}

ALWAYS_INLINED void llr_loop(int m, softqam_output_format format, const softqam_loop_call *call)
{
    const portable_output output = {call->rules.limit, call->out, call->sequence, call->planes};
    for (size_t k = 0; k < call->n_symbols; k++) {
        float symbol[2], metrics[2 * MAX_AXIS_BITS];
        memcpy(symbol, (const float *)call->components + 2 * k, sizeof symbol);
        const float weight = weight_of(call, k, symbol);
        const vec_mask valid = vec_both(vec_is_finite(symbol[0]), vec_is_finite(symbol[1]));
        symbol_metrics(m, call->table, symbol, call->i_flips[k % 2], metrics);
        store_symbol(format, m == 0 ? 1 : 2 * (size_t)m, output, k, metrics, vec_choose(valid, weight, NAN));
    }
}

/* Layers that are demapped jointly. */

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
    const float two_scales = 2.0f * call->rules.steps_per_nat, bound = call->rules.noise_bound;
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

ALWAYS_INLINED void joint_loop(int m, softqam_output_format format, const softqam_joint_call *call)
{
    const portable_output output = {call->rules.limit, call->out, call->sequence, call->planes};
    for (size_t k = 0; k < call->n_symbols; k++) {
        const joint_element element = element_at(call, k);
        const joint_terms terms = joint_terms_of(call->is_partner_qpsk, call->table, &element);
        const float weight = joint_valid_weight(weight_at(call, k), &element, &terms);
        float of_i[MAX_AXIS_BITS], of_q[MAX_AXIS_BITS], metrics[MAX_SYMBOL_BITS];
        if (call->erased && !vec_is_finite(weight))
            call->erased[k / 64] |= (uint64_t)1 << k % 64;
        joint_metrics(m, call->is_partner_qpsk, call->table, &terms, of_i, of_q);
        for (int bit = 0; bit < m; bit++) {
            metrics[2 * bit] = of_i[bit];
            metrics[2 * bit + 1] = of_q[bit];
        }
        store_symbol(format, 2 * (size_t)m, output, k, metrics, weight);
    }
}

/* The scrambling sequence. */

/* Each round writes a window and makes the next one. */
static void gold_take(softqam_gold_windows *windows, size_t n, void *words)
{
    uint32_t x1[2 * GOLD_WINDOW], x2[2 * GOLD_WINDOW], sum[GOLD_WINDOW];
    memcpy(x1, windows->x1, sizeof windows->x1);
    memcpy(x2, windows->x2, sizeof windows->x2);
    for (unsigned char *out = words; n > 0; n--, out += sizeof sum) {
        for (size_t k = 0; k < GOLD_WINDOW; k++)
            sum[k] = x1[k] ^ x2[k];
        memcpy(out, sum, sizeof sum);
        for (size_t k = 0; k < GOLD_WINDOW; k++)
            x1[k + GOLD_WINDOW] = x1[k + 8] ^ x1[k + 2];
        for (size_t k = 0; k < GOLD_WINDOW; k++)
            x2[k + GOLD_WINDOW] = x2[k + 8] ^ x2[k + 6] ^ x2[k + 4] ^ x2[k + 2];
        memcpy(x1, x1 + GOLD_WINDOW, sizeof windows->x1);
        memcpy(x2, x2 + GOLD_WINDOW, sizeof windows->x2);
    }
    memcpy(windows->x1, x1, sizeof windows->x1);
    memcpy(windows->x2, x2, sizeof windows->x2);
}

static void gather(const unsigned char *const from[], size_t n_sources, size_t nbytes, size_t stride, size_t n,
                   void *to)
{
    for (size_t k = 0; k < n * n_sources; k++)
        memcpy((unsigned char *)to + k * nbytes, from[k % n_sources] + k / n_sources * stride * nbytes, nbytes);
}

typedef softqam_loop_call softqam_llr_call; /* DEFINE_LOOP makes this name from `llr` */

/* Define the loops of a modulation, of `kind` llr or joint. One serves all layouts of a format. */
#define DEFINE_LOOP(kind, name, m, format)                                                                             \
    static void name(const softqam_##kind##_call *call) { kind##_loop(m, format, call); }
#define ALL_LAYOUTS(name)                                                                                              \
    {                                                                                                                  \
        name, name, name                                                                                               \
    }
#define DEFINE_MODULATION(kind, name, m)                                                                               \
    DEFINE_LOOP(kind, name##_s8, m, SOFTQAM_OUTPUT_S8)                                                                 \
    DEFINE_LOOP(kind, name##_s16, m, SOFTQAM_OUTPUT_S16)                                                               \
    DEFINE_LOOP(kind, name##_f16, m, SOFTQAM_OUTPUT_F16)                                                               \
    DEFINE_LOOP(kind, name##_f32, m, SOFTQAM_OUTPUT_F32)                                                               \
    static const softqam_##kind##_loops name = {{[SOFTQAM_OUTPUT_S8] = ALL_LAYOUTS(name##_s8),                         \
                                                 [SOFTQAM_OUTPUT_S16] = ALL_LAYOUTS(name##_s16),                       \
                                                 [SOFTQAM_OUTPUT_F16] = ALL_LAYOUTS(name##_f16),                       \
                                                 [SOFTQAM_OUTPUT_F32] = ALL_LAYOUTS(name##_f32)}};

_Static_assert(SOFTQAM_LLR_LAYOUTS == 3 && N_OUTPUT_FORMATS == 5,
               "Give a layout its name in ALL_LAYOUTS, a format its loop in DEFINE_MODULATION");
DEFINE_MODULATION(llr, bpsk, 0)
DEFINE_MODULATION(llr, qpsk, 1)
DEFINE_MODULATION(llr, qam16, 2)
DEFINE_MODULATION(llr, qam64, 3)
DEFINE_MODULATION(llr, qam256, 4)
DEFINE_MODULATION(llr, qam1024, 5)
DEFINE_MODULATION(joint, joint_qpsk, 1)
DEFINE_MODULATION(joint, joint_qam16, 2)
DEFINE_MODULATION(joint, joint_qam64, 3)
DEFINE_MODULATION(joint, joint_qam256, 4)
DEFINE_MODULATION(joint, joint_qam1024, 5)

static const softqam_gold_loops gold_loops = {softqam_gold_jump, gold_take};
static const softqam_input_loops input_loops = {
    .convert = {[SOFTQAM_INPUT_CF32] = convert_cf32,
                [SOFTQAM_INPUT_CS16] = convert_cs16,
                [SOFTQAM_INPUT_CS8] = convert_cs8,
                [SOFTQAM_INPUT_CF16] = convert_cf16},
    .gather = gather,
};

bool softqam_runs_everywhere(void) { return true; }

_Static_assert(MAX_AXIS_BITS == 5, "Give the modulation its DEFINE_MODULATION, and list it below");
const softqam_cpu_variant softqam_cpu_portable = {
    .name = "portable",
    .runs_here = softqam_runs_everywhere,
    .input = &input_loops,
    .u8 = u8_loop,
    .llrs = {&bpsk, &qpsk, &qam16, &qam64, &qam256, &qam1024},
    .gold = &gold_loops,
    .count = &softqam_count_portable,
    .short_symbols = 256,
};

const softqam_joint_loops *const softqam_joint_portable[MAX_AXIS_BITS + 1] = {
    NULL, &joint_qpsk, &joint_qam16, &joint_qam64, &joint_qam256, &joint_qam1024};
