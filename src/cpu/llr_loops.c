/* SPDX-License-Identifier: MIT */
/* The loops of LLRs of one modulation for vectors of any number of quads (128 bits): CMakeLists.txt compiles this
 * for each instruction set (simd.h) and each AXIS_BITS.
 *
 * LLRs are computed from components as they lie in memory, since no axis needs the other. An iteration takes LANES
 * symbols, which are two registers of components, or, of de-interleaved s8, twice as many; the last iteration goes back
 * to be a whole one. A call of fewer symbols is one iteration of its own, or passes through padded_loops.c.
 *
 * Symbols are taken in batches that stay in the L1 cache. A batch is computed on the fast path, which notes the
 * ranges of its values; if these say that an LLR may not be exact, it is computed again on the exact path. So no branch
 * within an iteration depends on a symbol. */
#include "llr_constants.h"
#include "llr_stores.h"
#include "llr_weights.h"

/* Symbols of a batch, whose inputs take 12 KiB. After a batch that had to be exact, the next ones are exact, too, but
 * every batch whose number is a multiple of BATCHES_BEFORE_RETRY tries the fast path again; then it has only
 * LLR_RETRY_SYMBOLS, so that a try in vain adds less than 1 %. */
enum { LLR_BATCH_SYMBOLS = 1024, BATCHES_BEFORE_RETRY = 16, LLR_RETRY_SYMBOLS = 64 };

/* Returns the position n symbols further; n may be negative. */
VEC llr_position llr_position_after(llr_kind kind, llr_position position, ptrdiff_t n)
{
    position.components += 2 * n;
    position.noise += n * (ptrdiff_t)position.noise_stride;
    position.out += n * (ptrdiff_t)symbol_nbytes(kind);
    position.bit += (size_t)n * SYMBOL_BITS;
    position.is_odd ^= (unsigned)n & 1;
    return position;
}

/* Moves one iteration further; the last one goes back to be a whole one. False if there are no more symbols. */
VEC bool next_iteration(llr_kind kind, llr_position *position, size_t *n_left)
{
    const size_t n = iteration_symbols(kind);
    *n_left -= n;
    if (__builtin_expect(*n_left == 0, 0))
        return false;
    *position = llr_position_after(kind, *position, (ptrdiff_t)n);
    if (__builtin_expect(*n_left < n, 0)) {
        *position = llr_position_after(kind, *position, (ptrdiff_t)*n_left - (ptrdiff_t)n);
        *n_left = n;
    }
    return true;
}

/* Holds what an iteration's LLRs are computed from. It has two registers of components, of its first LANES / 2 symbols
 * and of the others, or, BPSK's, its I and its Q; a double iteration has four, by vec_plane_components(), and weights
 * for each half. */
typedef struct iteration_inputs {
    vec_f32 components[4];
    iteration_weights of_halves[2];
    vec_f32 weights[4]; /* weights of the registers */
    vec_llr_row rows[4];
} iteration_inputs;

/* Makes an LLR of the fast path; for s8 and s16 the sum. Packing alone limits s8. */
VEC vec_f32 fast_llr(softqam_output_format output, const llr_constants *constants, vec_f32 metric, vec_f32 weight,
                     vec_f32 addend)
{
    const vec_f32 llr = llr_sum(metric, weight, addend);
    return output == SOFTQAM_OUTPUT_S16 ? vec_min(vec_max(llr, constants->min_sum), constants->max_sum) : llr;
}

VEC void limit_f16(softqam_output_format output, const llr_constants *constants, vec_f32 llrs[], int n)
{
    if (!is_limited_f16(output, constants))
        return;
    VEC_UNROLL
    for (int k = 0; k < n; k++)
        llrs[k] = vec_limit(llrs[k], constants->limit);
}

/* Makes register q's LLRs on the fast path. */
VEC llr_registers fast_llrs(llr_kind kind, const llr_constants *constants, const iteration_inputs *inputs, int q,
                            vec_u32 flips, batch_ranges *ranges)
{
    const vec_f32 components = inputs->components[q];
    const vec_f32 addend = inputs->of_halves[0].addends[is_double(kind) ? 0 : q];
    /* Flipping the component instead of the first metric saves an operation. */
    const bool is_first_flipped = M > 2 && !vec_has_signed_rows(M);
    const vec_u32 sign = is_first_flipped ? vec_shift_left(flips, 31) : vec_splat_u32(0);
    const vec_f32 first = vec_from_bits(vec_xor_u32(vec_bits(components), sign));
    vec_f32 metrics[AXIS_VALUES];
    llr_registers llrs;
    fast_metrics(M, &constants->lines, components, first, inputs->rows[q], metrics);
    track_metric(kind.output, ranges, metrics[0]);
    VEC_UNROLL
    for (int k = 0; k < M; k++) {
        if (k > 0 || !is_first_flipped)
            metrics[k] = flipped(kind, metrics[k], flips, k);
        llrs.bits[k] = fast_llr(kind.output, constants, metrics[k], inputs->weights[q], addend);
    }
    limit_f16(kind.output, constants, llrs.bits, M);
    return llrs;
}

/* Makes an LLR of any value; for s8 and s16 the sum. An erasure's is 0. */
VEC vec_f32 exact_llr(softqam_output_format output, const llr_constants *constants, vec_mask valid, vec_f32 metric,
                      vec_f32 weight)
{
    const vec_f32 sum = vec_mul(llr_sum(metric, weight, vec_splat(ROUNDING_CONSTANT)), vec_splat(metric_scale(output)));
    if (output == SOFTQAM_OUTPUT_S8) /* packing limits what is too large, but a sum below zero has bits out of order */
        return vec_choose(valid, vec_max(sum, constants->min_sum), constants->addend);
    if (output == SOFTQAM_OUTPUT_S16)
        return vec_choose(valid, vec_min(vec_max(sum, constants->min_sum), constants->max_sum), constants->addend);
    return vec_keep(valid, llr_scaled(metric, weight, constants->limit));
}

/* Makes register q's LLRs on the exact path. */
VEC llr_registers exact_llrs(llr_kind kind, const llr_constants *constants, const iteration_inputs *inputs, int q,
                             vec_u32 flips)
{
    vec_f32 numbers[4], metrics[AXIS_VALUES];
    llr_registers llrs;
    const int n = n_registers(kind);
    /* Zero times a number that is not finite is NaN, and so is the weight of an erasure. */
    VEC_UNROLL
    for (int k = 0; k < n; k++)
        numbers[k] = vec_fma(inputs->components[k], vec_splat(0.0f), inputs->weights[k]);
    const vec_f32 of_other_axis = is_double(kind) ? vec_other_plane(numbers, q) : vec_swap_pairs(numbers[q]);
    const vec_mask valid = vec_are_numbers(numbers[q], of_other_axis);
    axis_metrics(M, &constants->lines.table, inputs->components[q], metrics);
    VEC_UNROLL
    for (int k = 0; k < M; k++)
        llrs.bits[k] =
            exact_llr(kind.output, constants, valid, flipped(kind, metrics[k], flips, k), inputs->weights[q]);
    return llrs;
}

VEC llr_registers register_llrs(llr_kind kind, const llr_constants *constants, const iteration_inputs *inputs, int q,
                                vec_u32 flips, batch_ranges *ranges)
{
    return kind.is_exact ? exact_llrs(kind, constants, inputs, q, flips)
                         : fast_llrs(kind, constants, inputs, q, flips, ranges);
}

VEC void load_all_weights(llr_kind kind, const llr_constants *constants, llr_position position,
                          iteration_inputs *inputs, batch_ranges *ranges)
{
    const int n_halves = is_double(kind) ? 2 : 1;
    VEC_UNROLL
    for (int k = 0; k < n_halves; k++)
        inputs->of_halves[k] = load_weights(kind, constants, position, k, ranges);
}

/* Returns the symbols' values in the order of register q's components. `by_load`: use a load, for iterations that have
 * time to wait for it. */
VEC vec_f32 register_values(llr_kind kind, bool by_load, const vec_f32 values[2], int q)
{
    if (is_double(kind))
        return vec_plane_weights(by_load, values, q);
    return M == 0 ? values[0] : q == 0 ? vec_duplicate_lower(values[0]) : vec_duplicate_upper(values[0]);
}

/* Loads the components of an iteration whose weights are loaded. */
VEC void load_components(llr_kind kind, llr_position position, iteration_inputs *inputs, batch_ranges *ranges)
{
    const vec_f32 inverses[2] = {inputs->of_halves[0].inverse_gain, inputs->of_halves[is_double(kind)].inverse_gain};
    const int n = n_registers(kind), n_tracked = kind.is_exact ? 0 : n;
    vec_f32 from[4];
    VEC_UNROLL
    for (int k = 0; k < n; k++)
        from[k] = kind.is_few ? vec_load_few(position.components, 2 * position.n_few, (size_t)k * LANES, 0.0f)
                              : vec_load_f32(position.components + k * LANES);
    VEC_UNROLL
    for (int q = 0; q < n; q++) {
        vec_f32 components = from[q];
        if (is_double(kind))
            components = vec_plane_components(from, q);
        else if (M == 0)
            components = q == 0 ? vec_evens(from[0], from[1]) : vec_odds(from[0], from[1]);
        if (softqam_has_gains(kind.noise))
            components = vec_mul(components, register_values(kind, M > 1, inverses, q));
        inputs->components[q] = components;
    }
    if (!kind.is_few)
        prefetch_inputs(position.components, (size_t)n * LANES * sizeof(float));
    VEC_UNROLL
    for (int q = 0; q < n_tracked; q += 2)
        track_components(kind.output, ranges, inputs->components[q], inputs->components[q + 1]);
}

/* Finds register q's weights and rows. */
VEC void prepare_register(llr_kind kind, const llr_constants *constants, iteration_inputs *inputs, int q)
{
    const vec_f32 weights[2] = {inputs->of_halves[0].weight, inputs->of_halves[is_double(kind)].weight};
    const bool by_load = M > (softqam_has_gains(kind.noise) ? 1 : 2);
    inputs->weights[q] = register_values(kind, by_load, weights, q);
    inputs->rows[q] = fast_row_of(M, &constants->lines.table, inputs->components[q]);
}

VEC void prepare_registers(llr_kind kind, const llr_constants *constants, iteration_inputs *inputs)
{
    const int n = n_registers(kind);
    VEC_UNROLL
    for (int q = 0; q < n; q++)
        prepare_register(kind, constants, inputs, q);
}

VEC void bpsk_iteration(llr_kind kind, const llr_constants *constants, llr_position position,
                        const iteration_inputs *inputs, batch_ranges *ranges)
{
    const vec_u32 flips = flips_at(kind, constants, position.bit), i_flip = constants->i_flips[position.is_odd];
    const vec_f32 i = inputs->components[0], q = inputs->components[1], weight = inputs->weights[0];
    vec_f32 metric, llr;
    if (kind.is_exact) {
        const vec_f32 zero = vec_splat(0.0f);
        const vec_mask valid = vec_are_numbers(vec_fma(i, zero, weight), vec_fma(q, zero, weight));
        metric = flipped(kind, bpsk_metric(&constants->lines.table, i, q, i_flip), flips, 0);
        llr = exact_llr(kind.output, constants, valid, metric, weight);
    } else {
        metric = fast_bpsk_metric(&constants->lines, i, q, i_flip);
        track_metric(kind.output, ranges, metric);
        llr =
            fast_llr(kind.output, constants, flipped(kind, metric, flips, 0), weight, inputs->of_halves[0].addends[0]);
        limit_f16(kind.output, constants, &llr, 1);
    }
    store_bit(kind, constants, position.out, llr);
}

/* Both registers are prepared before the LLRs of either: preparing them one after the other takes 3 to 10 % longer. */
VEC void single_iteration(llr_kind kind, bool is_prepared, const llr_constants *constants, llr_position position,
                          iteration_inputs *inputs, batch_ranges *ranges)
{
    if (!is_prepared)
        prepare_registers(kind, constants, inputs);
    if (M == 0) {
        bpsk_iteration(kind, constants, position, inputs, ranges);
        return;
    }
    shifted_bits shifted;
    const unsigned char *flips = byte_flips_at(kind, constants, position.bit, &shifted);
    const vec_u32 flips_a = flips_at(kind, constants, position.bit),
                  flips_b = flips_at(kind, constants, position.bit + LANES * (size_t)M);
    const llr_registers of_a = register_llrs(kind, constants, inputs, 0, flips_a, ranges);
    if (is_stored_alone(kind))
        store_alone(kind, constants, (llr_destination){position.out, flips}, &of_a);
    const llr_registers of_b = register_llrs(kind, constants, inputs, 1, flips_b, ranges);
    const size_t half = LANES / 2;
    if (is_stored_alone(kind))
        store_alone(
            kind, constants,
            (llr_destination){position.out + half * symbol_nbytes(kind), flips ? flips + half * SYMBOL_BITS / 8 : NULL},
            &of_b);
    else if (is_in_planes(kind))
        store_planes(kind, constants, position.out, &of_a, &of_b);
    else
        store_both(kind, constants, (llr_destination){position.out, flips}, &of_a, &of_b);
}

VEC void double_iteration(llr_kind kind, bool is_prepared, const llr_constants *constants, llr_position position,
                          iteration_inputs *inputs, batch_ranges *ranges)
{
    shifted_bits shifted;
    llr_registers llrs[4];
    if (kind.is_exact)
        prepare_registers(kind, constants, inputs);
    VEC_UNROLL
    for (int q = 0; q < 4; q++) {
        if (!is_prepared && !kind.is_exact)
            prepare_register(kind, constants, inputs, q);
        llrs[q] = register_llrs(kind, constants, inputs, q, vec_splat_u32(0), ranges);
    }
    store_s8_planes(kind, constants,
                    (llr_destination){position.out, byte_flips_at(kind, constants, position.bit, &shifted)}, llrs);
}

/* Returns the ranges before the first iteration. */
VEC batch_ranges empty_ranges(llr_kind kind, const llr_constants *constants)
{
    batch_ranges ranges = {vec_splat_u32(0), vec_splat_u32(0xffffffffu), vec_splat_u32(0), vec_splat_u32(0)};
    if (kind.noise == SOFTQAM_ONE_WEIGHT)
        ranges.max_weight = vec_sub_u32(vec_bits(constants->weight), constants->weight_base);
    return ranges;
}

/* Returns inputs with the weight of all symbols. Without gains the last argument is unused. */
VEC iteration_inputs empty_inputs(const llr_constants *constants)
{
    return (iteration_inputs){.of_halves = {weights_with_addend(constants, constants->weight, constants->weight)}};
}

/* Software pipelining. LLRs wait long for their weights and rows, so gain weights are loaded one iteration ahead, and
 * on AVX-512 all inputs of s8, except in the shortest iterations. The last iteration loads its own inputs again,
 * unused. */
VEC batch_ranges llr_batch(llr_kind kind, const llr_constants *constants, llr_position position, size_t n_symbols)
{
    const bool is_ahead =
        LOADS_AHEAD && !kind.is_exact && kind.output == SOFTQAM_OUTPUT_S8 && (M > 2 || is_double(kind));
    const bool has_weights_ahead = is_ahead || softqam_has_gains(kind.noise);
    batch_ranges ranges = empty_ranges(kind, constants);
    iteration_inputs ahead = empty_inputs(constants);
    llr_position next = position;
    bool has_next = true;
    next.noise_stride = position.noise_stride = kind.noise != SOFTQAM_ONE_WEIGHT;
    if (has_weights_ahead)
        load_all_weights(kind, constants, position, &ahead, &ranges);
    if (is_ahead) {
        load_components(kind, position, &ahead, &ranges);
        prepare_registers(kind, constants, &ahead);
    }
    do {
        iteration_inputs inputs = ahead;
        if (has_weights_ahead) {
            has_next = next_iteration(kind, &next, &n_symbols);
            load_all_weights(kind, constants, next, &ahead, &ranges);
        } else {
            load_all_weights(kind, constants, position, &inputs, &ranges);
        }
        if (is_ahead) {
            load_components(kind, next, &ahead, &ranges);
            prepare_registers(kind, constants, &ahead);
        } else {
            load_components(kind, position, &inputs, &ranges);
        }
        if (is_double(kind))
            double_iteration(kind, is_ahead, constants, position, &inputs, &ranges);
        else
            single_iteration(kind, is_ahead, constants, position, &inputs, &ranges);
        if (!has_weights_ahead)
            has_next = next_iteration(kind, &next, &n_symbols);
        position = next;
    } while (has_next);
    return ranges;
}

/* Computes a batch on the fast path. The assignment tells the compiler that there are gains. */
VEC batch_ranges fast_batch(llr_kind kind, const llr_constants *constants, llr_position position, size_t n_symbols)
{
    kind.noise = constants->noise_kind;
    if (FUSES_GAINS && softqam_has_gains(kind.noise)) {
        kind.noise = kind.noise == SOFTQAM_GAINS_N0 ? SOFTQAM_GAINS_N0 : SOFTQAM_GAINS_INVERSE;
        return llr_batch(kind, constants, position, n_symbols);
    }
    return llr_batch(kind, constants, position, n_symbols);
}

/* Computes a batch on the fast path if iterations are short: by a loop for each frequent kind of noise, because a
 * branch in each iteration would cost up to 20 %. */
VEC batch_ranges short_batch(llr_kind kind, const llr_constants *constants, llr_position position, size_t n_symbols)
{
    kind.noise = constants->noise_kind;
    if (softqam_has_gains(kind.noise)) {
        kind.noise = kind.noise == SOFTQAM_GAINS_N0 ? SOFTQAM_GAINS_N0 : SOFTQAM_GAINS_INVERSE;
        return llr_batch(kind, constants, position, n_symbols);
    }
    if (kind.noise == SOFTQAM_EACH_N0) {
        kind.noise = SOFTQAM_EACH_N0; /* a constant for the compiler */
        return llr_batch(kind, constants, position, n_symbols);
    }
    if (kind.noise == SOFTQAM_ONE_WEIGHT) {
        kind.noise = SOFTQAM_ONE_WEIGHT;
        return llr_batch(kind, constants, position, n_symbols);
    }
    return llr_batch(kind, constants, position, n_symbols);
}

typedef batch_ranges fast_batch_function(llr_kind kind, const llr_constants *constants, llr_position position,
                                         size_t n_symbols);

/* Computes a call's batch on the exact path. A format has one function for all layouts, except that s8's planes have
 * their own iteration. It loads constants of its own: those of the fast path stay in registers if no pointer to them
 * leaves. */
VEC void exact_batch(softqam_output_format output, softqam_llr_layout layout, const softqam_loop_call *call,
                     llr_position position, size_t n_symbols)
{
    softqam_llr_table negated;
    llr_kind kind = {output, layout, call->noise_kind, .is_exact = true};
    llr_constants constants;
    if (softqam_has_gains(kind.noise))
        __builtin_unreachable(); /* symbols have been divided by their gains */
    load_llr_constants(&constants, kind, call, &negated);
    if (output == SOFTQAM_OUTPUT_S8 && layout == SOFTQAM_LLRS_IN_PLANES) {
        kind.layout = SOFTQAM_LLRS_IN_PLANES; /* a constant for the compiler */
        llr_batch(kind, &constants, position, n_symbols);
        return;
    }
    if (output == SOFTQAM_OUTPUT_S8 || M == 0)
        kind.layout = SOFTQAM_LLRS_DESCRAMBLED; /* likewise; in order there is no sequence */
    llr_batch(kind, &constants, position, n_symbols);
}

typedef void exact_batch_function(softqam_llr_layout layout, const softqam_loop_call *call, llr_position position,
                                  size_t n_symbols);

#define DEFINE_EXACT_BATCH(name, output)                                                                               \
    NOT_INLINED void name(softqam_llr_layout layout, const softqam_loop_call *call, llr_position position,             \
                          size_t n_symbols)                                                                            \
    {                                                                                                                  \
        exact_batch(output, layout, call, position, n_symbols);                                                        \
    }
DEFINE_EXACT_BATCH(exact_batch_s8, SOFTQAM_OUTPUT_S8)
DEFINE_EXACT_BATCH(exact_batch_s16, SOFTQAM_OUTPUT_S16)
DEFINE_EXACT_BATCH(exact_batch_f16, SOFTQAM_OUTPUT_F16)
DEFINE_EXACT_BATCH(exact_batch_f32, SOFTQAM_OUTPUT_F32)

/* Returns how many symbols the next batch has: no batch is shorter than an iteration. f16 and f32 begin with a short
 * batch, since 64 symbols usually show whether the call needs limits or erasure masks. */
VEC size_t batch_symbols(llr_kind kind, bool is_retry, bool is_first, size_t n_left)
{
    const bool is_short = is_retry || (is_first && !softqam_is_in_steps(kind.output) && n_left > LLR_BATCH_SYMBOLS);
    const size_t n = is_short ? LLR_RETRY_SYMBOLS : LLR_BATCH_SYMBOLS;
    return n_left < n + iteration_symbols(kind) ? n_left : n;
}

softqam_divided_loop SIMD_NAME(softqam_divided_loop);

/* Demodulates a call's symbols. `self` is this loop, `fast` its fast path from 64QAM on, `exact` its format's exact
 * path.
 */
VEC void llr_loop(llr_kind kind, const softqam_loop_call *call, softqam_loop *self, fast_batch_function *fast,
                  exact_batch_function *exact)
{
    softqam_llr_table negated;
    llr_constants constants;
    load_llr_constants(&constants, kind, call, &negated);
    const bool has_gains = softqam_has_gains(call->noise_kind);
    size_t n_symbols = call->n_symbols;
    bool is_exact = call->begins_exact;
    kind.noise = call->noise_kind;
    const softqam_divided_call divided = {self, call, constants.scale, SYMBOL_BITS, symbol_nbytes(kind)};
    softqam_division_ways ways = {0, 0};
    if (has_gains && !FUSES_GAINS) {
        SIMD_NAME(softqam_divided_loop)(&divided, &ways, 0, n_symbols);
        return;
    }
    /* Every member: the compiler would set the others to zero by vectors, and loads of a member wait for these. */
    llr_position position = {.components = call->components,
                             .noise = call->noise,
                             .out = call->out,
                             .bit = 0,
                             .is_odd = 0,
                             .n_few = 0,
                             .noise_stride = call->noise_kind != SOFTQAM_ONE_WEIGHT};
    for (unsigned number = 0;; number++) {
        const bool is_retry = is_exact && number % BATCHES_BEFORE_RETRY == 0;
        const size_t n = batch_symbols(kind, is_retry, number == 0, n_symbols);
        is_exact = is_exact && !is_retry;
        if (!is_exact) {
            ways.next = 0;
            const batch_ranges ranges =
                M <= 2 ? short_batch(kind, &constants, position, n) : fast(kind, &constants, position, n);
            const batch_verdict verdict = verdict_of(kind, &constants, call, &ranges, &position, n);
            /* Repeat this batch with erasure masks or f16 limits; they stay on for the rest of the call. */
            if (asks_for_more(kind.output, verdict, &constants))
                continue;
            is_exact = verdict != BATCH_IS_EXACT;
        }
        if (is_exact && call->left_fast_path)
            *call->left_fast_path = true;
        if (is_exact && has_gains)
            SIMD_NAME(softqam_divided_loop)(&divided, &ways, call->n_symbols - n_symbols, n);
        else if (is_exact)
            exact(kind.layout, call, position, n);
        n_symbols -= n;
        if (n_symbols == 0)
            return;
        position = llr_position_after(kind, position, (ptrdiff_t)n);
    }
}

/* Computes symbols that are fewer than an iteration takes, on the fast path. */
VEC batch_ranges few_llrs(llr_kind kind, const llr_constants *constants, llr_position position)
{
    batch_ranges ranges = empty_ranges(kind, constants);
    iteration_inputs inputs = empty_inputs(constants);
    load_all_weights(kind, constants, position, &inputs, &ranges);
    load_components(kind, position, &inputs, &ranges);
    if (is_double(kind))
        double_iteration(kind, false, constants, position, &inputs, &ranges);
    else
        single_iteration(kind, false, constants, position, &inputs, &ranges);
    return ranges;
}

/* Demodulates symbols that are fewer than an iteration takes. Returns false if that is not exact. */
VEC bool demodulate_few(llr_kind kind, const softqam_loop_call *call)
{
    _Alignas(64) unsigned char llrs[SYMBOL_BITS * FEW_PLANE_NBYTES];
    softqam_llr_table negated;
    llr_constants constants;
    batch_ranges ranges;
    const llr_position position = {.components = call->components,
                                   .noise = call->noise,
                                   .out = llrs,
                                   .bit = 0,
                                   .is_odd = 0,
                                   .n_few = call->n_symbols,
                                   .noise_stride = 0};
    load_llr_constants(&constants, kind, call, &negated);
    if (kind.output == SOFTQAM_OUTPUT_S8 && is_in_planes(kind)) {
        kind.layout = SOFTQAM_LLRS_IN_PLANES; /* a constant for the compiler */
        ranges = few_llrs(kind, &constants, position);
    } else {
        if (kind.output == SOFTQAM_OUTPUT_S8 || M == 0)
            kind.layout = SOFTQAM_LLRS_DESCRAMBLED; /* likewise; in order there is no sequence */
        ranges = few_llrs(kind, &constants, position);
    }
    if (verdict_of(kind, &constants, call, &ranges, &position, call->n_symbols) != BATCH_IS_EXACT)
        return false;
    store_few(kind, call, llrs);
    return true;
}

/* Returns whether loads of an iteration touch the page after an array's first symbol. */
VEC bool do_loads_cross_page(const softqam_loop_call *call, size_t n_iteration)
{
    const size_t nbytes = n_iteration * sizeof(float);
    return crosses_page(call->components, 2 * nbytes) ||
           (call->noise_kind != SOFTQAM_ONE_WEIGHT && crosses_page(call->noise, nbytes)) ||
           (softqam_has_gains(call->noise_kind) && crosses_page(call->gains, nbytes));
}

softqam_padded_loop SIMD_NAME(softqam_padded_loop);

/* Demodulates symbols that are fewer than an iteration takes. `self` is the loop that takes more of them. As for
 * exact_batch(), a format has one function. */
VEC void few_loop(softqam_output_format output, softqam_llr_layout layout, const softqam_loop_call *call,
                  softqam_loop *self)
{
    const llr_kind kind = {output, layout, call->noise_kind, .is_few = true};
    const size_t n_iteration = iteration_symbols(kind);
    if (do_loads_cross_page(call, n_iteration) || !demodulate_few(kind, call))
        SIMD_NAME(softqam_padded_loop)(call, self, n_iteration, SYMBOL_BITS, softqam_value_nbytes(output));
}

#define DEFINE_FEW(name, output)                                                                                       \
    NOT_INLINED void name(softqam_llr_layout layout, const softqam_loop_call *call, softqam_loop *self)                \
    {                                                                                                                  \
        few_loop(output, layout, call, self);                                                                          \
    }
DEFINE_FEW(few_s8, SOFTQAM_OUTPUT_S8)
DEFINE_FEW(few_s16, SOFTQAM_OUTPUT_S16)
DEFINE_FEW(few_f16, SOFTQAM_OUTPUT_F16)
DEFINE_FEW(few_f32, SOFTQAM_OUTPUT_F32)

/* A loop is two functions: a call of few symbols need not open the stack frame of one that takes more. */
#define DEFINE_LOOP(format, name, output, layout)                                                                      \
    NOT_INLINED void name##_of_many(const softqam_loop_call *call)                                                     \
    {                                                                                                                  \
        const llr_kind kind = {output, layout, SOFTQAM_ONE_WEIGHT, .is_exact = false, .is_few = false};                \
        llr_loop(kind, call, name##_of_many, M < 5 && (output) == SOFTQAM_OUTPUT_S8 ? short_batch : fast_batch,        \
                 exact_batch_##format);                                                                                \
    }                                                                                                                  \
    static void name(const softqam_loop_call *call)                                                                    \
    {                                                                                                                  \
        if (call->n_symbols < iteration_symbols((llr_kind){output, layout, SOFTQAM_ONE_WEIGHT, false, false}))         \
            few_##format(layout, call, name##_of_many);                                                                \
        else                                                                                                           \
            name##_of_many(call);                                                                                      \
    }
DEFINE_LOOPS(DEFINE_LOOP)

const softqam_llr_loops SIMD_NAME(EXPANDED_NAME(softqam_llr_loops, AXIS_BITS)) = {ALL_LOOPS};
