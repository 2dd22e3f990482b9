/* SPDX-License-Identifier: MIT */
/* The vector loops of layers that are demapped jointly: CMakeLists.txt compiles this for each instruction set (simd.h)
 * and each AXIS_BITS of the wanted layer but 0. A register holds a value for each of LANES symbols.
 *
 * A loop takes some symbols at a time: joint_batch(), the same for all formats, computes their metrics and weights, and
 * finish_batch() makes LLRs of them. */
#include "joint_loops.h"

#include "llr_constants.h"
#include "llr_stores.h"

#define JOINT_UNROLL _Pragma("GCC unroll 16")
#include "joint_arithmetic.h"

/* A batch's memory is 1.5 (QPSK) to 5.5 KiB (1024QAM) of a call's stack. With a quarter as many symbols QPSK takes 10 %
 * longer; with twice as many QPSK takes 5 % less, and 256QAM as long. */
enum { JOINT_BATCH_SYMBOLS = 128 };

/* A batch's metrics, by bit of the axis, I and Q of each symbol alternating; and its weights, NaN for erasures. */
typedef struct joint_batch_memory {
    float metrics[M][2 * JOINT_BATCH_SYMBOLS];
    float weights[JOINT_BATCH_SYMBOLS];
} joint_batch_memory;

/* Returns the elements of LANES symbols from `first` on, as the symbols' layers see them. */
VEC joint_element load_element(const softqam_joint_call *call, size_t first)
{
    const float *symbols = call->symbols + 2 * first, *cross = call->cross + 2 * first;
    const vec_f32 a = vec_load_f32(symbols), b = vec_load_f32(symbols + LANES);
    joint_element element;
    element.wanted_i = vec_evens(a, b);
    element.wanted_q = vec_odds(a, b);
    element.wanted_gain = vec_load_f32(call->gains + first);
    if (!call->partners) {
        const vec_f32 c = vec_load_f32(call->cross + first);
        element.partner_i = vec_swap_pairs(element.wanted_i);
        element.partner_q = vec_swap_pairs(element.wanted_q);
        element.partner_gain = vec_swap_pairs(element.wanted_gain);
        element.cross_r = vec_firsts_twice(c);
        element.cross_i = vec_flip(vec_seconds_twice(c), vec_splat_pair(0, 0x80000000u));
        return element;
    }
    const float *partners = call->partners + 2 * first;
    const vec_f32 partner_a = vec_load_f32(partners), partner_b = vec_load_f32(partners + LANES);
    const vec_f32 cross_a = vec_load_f32(cross), cross_b = vec_load_f32(cross + LANES);
    element.partner_i = vec_evens(partner_a, partner_b);
    element.partner_q = vec_odds(partner_a, partner_b);
    element.partner_gain = vec_load_f32(call->partner_gains + first);
    element.cross_r = vec_evens(cross_a, cross_b);
    element.cross_i = vec_odds(cross_a, cross_b);
    return element;
}

/* Returns the weights of LANES symbols from `first` on, by their noise values and their partners'. */
VEC vec_f32 load_joint_weights(const softqam_joint_call *call, vec_f32 two_scales, vec_f32 one_weight, size_t first)
{
    const int is_inverse = call->is_noise_inverse;
    const vec_f32 bound = vec_splat(call->rules.noise_bound);
    if (call->has_one_noise)
        return one_weight;
    const vec_f32 weight = joint_weight(two_scales, vec_load_f32(call->noise + first), is_inverse, bound);
    vec_f32 of_partner = vec_splat(0.0f);
    if (!call->partners)
        of_partner = vec_swap_pairs(weight);
    else if (call->partner_noise)
        of_partner = joint_weight(two_scales, vec_load_f32(call->partner_noise + first), is_inverse, bound);
    return vec_fma(of_partner, vec_splat(0.0f), weight);
}

/* Computes metrics and weights of n >= LANES symbols from `first` on. The last iteration goes back to be a whole one.
 */
VEC void joint_batch(bool is_qpsk, const softqam_joint_call *call, size_t first, size_t n, joint_batch_memory *to)
{
    const softqam_joint_table table = *call->table;
    const float two_scales = 2.0f * call->rules.steps_per_nat;
    const vec_f32 scales = vec_splat(two_scales);
    const vec_f32 one_weight =
        joint_weight(scales, vec_splat(call->noise[0]), call->is_noise_inverse, vec_splat(call->rules.noise_bound));
    for (size_t k = 0;; k = k + 2 * LANES <= n ? k + LANES : n - LANES) {
        const joint_element element = load_element(call, first + k);
        const joint_terms terms = joint_terms_of(is_qpsk, &table, &element);
        const vec_f32 weight = load_joint_weights(call, scales, one_weight, first + k);
        vec_f32 of_i[M], of_q[M];
        vec_store_f32(to->weights + k, joint_valid_weight(weight, &element, &terms));
        joint_metrics(M, is_qpsk, &table, &terms, of_i, of_q);
        VEC_UNROLL
        for (int bit = 0; bit < M; bit++) {
            vec_store_f32(to->metrics[bit] + 2 * k, vec_in_turns_lower(of_i[bit], of_q[bit]));
            vec_store_f32(to->metrics[bit] + 2 * k + LANES, vec_in_turns_upper(of_i[bit], of_q[bit]));
        }
        if (k + LANES == n)
            return;
    }
}

NOT_INLINED void qpsk_partner_batch(const softqam_joint_call *call, size_t first, size_t n, joint_batch_memory *to)
{
    joint_batch(true, call, first, n, to);
}

NOT_INLINED void any_partner_batch(const softqam_joint_call *call, size_t first, size_t n, joint_batch_memory *to)
{
    joint_batch(false, call, first, n, to);
}

/* Makes LLRs of a register of metrics; s8's and s16's are sums with ROUNDING_CONSTANT. */
VEC llr_registers joint_llrs(llr_kind kind, const llr_constants *constants, const joint_batch_memory *from, size_t k,
                             vec_f32 weight, size_t bit)
{
    const vec_mask valid = vec_are_numbers(weight, weight);
    const vec_u32 flips = constants->sequence ? sequence_bits_at(constants, bit) : vec_splat_u32(0);
    llr_registers llrs;
    VEC_UNROLL
    for (int n = 0; n < M; n++) {
        vec_f32 metric = vec_load_f32(from->metrics[n] + k);
        if (kind.layout != SOFTQAM_LLRS_IN_ORDER)
            metric = vec_flip(metric, vec_shift_left(flips, 31 - 2 * n));
        const vec_f32 sum = llr_rounded(metric, weight, constants->min_sum, constants->max_sum);
        llrs.bits[n] = softqam_is_in_steps(kind.output) ? vec_choose(valid, sum, constants->addend)
                                                        : vec_keep(valid, llr_scaled(metric, weight, constants->limit));
    }
    return llrs;
}

/* Makes LLRs of a batch's n >= LANES symbols, the first of which is symbol `first` of the call. */
VEC void finish_batch(llr_kind kind, const llr_constants *constants, const softqam_joint_call *call, size_t first,
                      size_t n, const joint_batch_memory *from)
{
    for (size_t k = 0;; k = k + 2 * LANES <= n ? k + LANES : n - LANES) {
        const vec_f32 weights = vec_load_f32(from->weights + k);
        const size_t bit = (first + k) * SYMBOL_BITS;
        unsigned char *out = call->out + (first + k) * symbol_nbytes(kind);
        const llr_registers a = joint_llrs(kind, constants, from, 2 * k, vec_duplicate_lower(weights), bit);
        const llr_registers b =
            joint_llrs(kind, constants, from, 2 * k + LANES, vec_duplicate_upper(weights), bit + LANES * (size_t)M);
        if (is_in_planes(kind)) {
            store_planes(kind, constants, out, &a, &b);
        } else if (is_stored_alone(kind)) {
            store_alone(kind, constants, (llr_destination){out, NULL}, &a);
            store_alone(kind, constants, (llr_destination){out + LANES / 2 * symbol_nbytes(kind), NULL}, &b);
        } else {
            store_both(kind, constants, (llr_destination){out, NULL}, &a, &b);
        }
        if (k + LANES == n)
            return;
    }
}

/* Sets the bits of a batch's erasures, which are rare. */
static void find_joint_erasures(const softqam_joint_call *call, size_t first, size_t n, const float weights[])
{
    uint32_t most = 0;
    for (size_t k = 0; k < n; k++) {
        const uint32_t bits = float_bits(weights[k]) & 0x7fffffff;
        most = bits > most ? bits : most;
    }
    for (size_t k = 0; most >= float_bits(INFINITY) && k < n; k++)
        if (!isfinite(weights[k]))
            call->erased[(first + k) / 64] |= (uint64_t)1 << (first + k) % 64;
}

VEC void joint_loop(llr_kind kind, const softqam_joint_call *call)
{
    joint_batch_memory memory;
    llr_constants constants;
    load_output_constants(&constants, kind, call->rules.limit, 1.0f);
    load_destination(&constants, kind, call->sequence, call->planes);
    for (size_t first = 0, n; first < call->n_symbols; first += n) {
        n = call->n_symbols - first < JOINT_BATCH_SYMBOLS ? call->n_symbols - first : JOINT_BATCH_SYMBOLS;
        if (n < LANES) {
            first = call->n_symbols - LANES;
            n = LANES;
        }
        (call->is_partner_qpsk ? qpsk_partner_batch : any_partner_batch)(call, first, n, &memory);
        if (call->erased)
            find_joint_erasures(call, first, n, memory.weights);
        finish_batch(kind, &constants, call, first, n, &memory);
    }
}

#define DEFINE_JOINT_LOOP(format, name, output, layout)                                                                \
    static void name(const softqam_joint_call *call)                                                                   \
    {                                                                                                                  \
        joint_loop((llr_kind){output, layout, SOFTQAM_ONE_WEIGHT, .is_exact = true, .is_few = false}, call);           \
    }
DEFINE_LOOPS(DEFINE_JOINT_LOOP)

const softqam_joint_loops SIMD_NAME(EXPANDED_NAME(softqam_joint_loops, AXIS_BITS)) = {ALL_LOOPS};
