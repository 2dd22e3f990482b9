/* SPDX-License-Identifier: MIT */
/* Divides symbols by their gains, and makes a weight for each, before a loop of LLRs takes them: for 1024QAM, and if
 * the fast path of llr_loops.c is not exact. CMakeLists.txt compiles this for each instruction set (simd.h). */
#include "float_environment.h"
#include "loops.h"
#include "simd.h"

#include "arithmetic_fast.h"

/* Symbols are divided DIVIDED_SYMBOLS at a time. Fewer than MAX_SYMBOLS are divided at once, so that no rest is shorter
 * than an iteration of the loop, which takes up to 2 LANES. */
enum { DIVIDED_SYMBOLS = 256, MAX_SYMBOLS = DIVIDED_SYMBOLS + 2 * LANES };

typedef struct divided_symbols {
    float components[2 * MAX_SYMBOLS];
    float weights[MAX_SYMBOLS]; /* 0 for an erasure */
    uint32_t min_weight;        /* the bits of the smallest weight's magnitude, erasures aside */
} divided_symbols;

/* Says which symbols are divided, and by what. */
typedef struct division {
    const float *components;
    const float *noise;
    const float *gains;
    size_t n_symbols;
    float scale;
    float noise_bound;
    bool is_n0;
} division;

/* The ways to divide, the fastest first. Each handles all cases of the one before it, and more. */
typedef enum division_way { WITHOUT_ERASURES, WITH_ERASURES, IN_OTHER_UNITS, WITH_ANY_GAINS } division_way;

/* Exponents of powers of two that bring gains and noise values near 1. */
typedef struct noise_and_gain_units {
    int gain;
    int noise; /* even */
} noise_and_gain_units;

/* Returns where the next LANES symbols begin. The last iteration goes back to be a whole one. */
VEC size_t place_of(const division *from, size_t done)
{
    return from->n_symbols - done < LANES ? from->n_symbols - LANES : done;
}

/* Returns gains or noise values with 1 in place of what is not positive and finite. */
VEC vec_f32 positive_or_one(vec_f32 a) { return vec_choose(vec_is_positive(a), a, vec_splat(1.0f)); }

VEC uint32_t smallest(vec_u32 a) { return ~vec_largest_u32(~a); }

/* Loads noise values, bounded. */
VEC vec_f32 load_bounded_noise(const division *from, size_t k)
{
    const vec_f32 noise = vec_load_f32(from->noise + k), bound = vec_splat(from->noise_bound);
    return from->is_n0 ? llr_bounded_noise(noise, false, bound) : llr_bounded_noise(noise, true, bound);
}

/* Returns minus the exponent of a positive number, limited. */
static int opposite_exponent(float number, int limit)
{
    const int opposite = 127 - (int)(float_bits(number) >> 23);
    return opposite < -limit ? -limit : opposite > limit ? limit : opposite;
}

static bool is_positive(float a) { return float_bits(a) - 1 < float_bits(INFINITY) - 1; }

/* Chooses units by the first symbol that is no erasure. */
static noise_and_gain_units units_of(const division *from)
{
    size_t k = 0;
    while (k < from->n_symbols - 1 && !(is_positive(from->gains[k]) && is_positive(from->noise[k])))
        k++;
    /* With these limits no inverse of a gain is subnormal, nor is a power of two that divide() makes. */
    return (noise_and_gain_units){.gain = opposite_exponent(from->gains[k], 66),
                                  .noise = opposite_exponent(from->noise[k], 120) / 2 * 2};
}

VEC vec_f32 power(int n) { return power_of_two(vec_splat((float)n)); }

/* Returns a component with 0 of its sign in place of a subnormal number, as arithmetic.h has it with gains. Processors
 * that flush such numbers need it not, but NEON's loops do: the inverse of a gain may be so large that a subnormal
 * component would count. */
VEC vec_f32 without_subnormal(vec_f32 component)
{
    return vec_flip(vec_flush(vec_abs(component), vec_splat(LEAST_NORMAL)), vec_bits(component));
}

/* Divides by gains that need not be split. Returns `way` if the result is right, else the next one. */
VEC division_way divide(const division *from, division_way way, divided_symbols *to)
{
    const bool has_erasures = way != WITHOUT_ERASURES, has_units = way == IN_OTHER_UNITS;
    const noise_and_gain_units units = has_units ? units_of(from) : (noise_and_gain_units){0, 0};
    const vec_f32 gain_unit = power(units.gain), inverse_gain_unit = power(-units.gain),
                  noise_unit = power(units.noise), enlarged_unit = power(units.noise > 0 ? units.noise - 126 : -126),
                  half_weight_unit = power((from->is_n0 ? units.noise : -units.noise) / 2 - units.gain);
    const vec_f32 scale = vec_abs(vec_splat(from->scale)), bound = vec_splat(from->noise_bound);
    const vec_u32 sign = vec_bits(vec_splat(from->scale));
    vec_u32 max_gain = vec_splat_u32(0), max_weight = vec_splat_u32(0), min_weight = vec_splat_u32(0xffffffffu),
            min_stored = vec_splat_u32(0xffffffffu);
    for (size_t done = 0; done < from->n_symbols; done += LANES) {
        const size_t k = place_of(from, done);
        vec_f32 a = vec_load_f32(from->components + 2 * k), b = vec_load_f32(from->components + 2 * k + LANES);
        vec_f32 gain = vec_load_f32(from->gains + k), noise = vec_load_f32(from->noise + k);
        const vec_f32 inverse_gain = fast_inverse_gain(has_erasures ? positive_or_one(gain) : gain);
        vec_f32 inverse_in_units = inverse_gain;
        noise = has_erasures  ? load_bounded_noise(from, k)
                : from->is_n0 ? vec_at_least(noise, bound)
                              : vec_at_most(noise, bound);
        vec_mask valid = vec_both(vec_is_positive(gain), vec_is_positive(noise));
        if (has_units) {
            a = without_subnormal(a);
            b = without_subnormal(b);
            const vec_mask is_subnormal = vec_is_less(vec_abs(noise), vec_splat(LEAST_NORMAL));
            const vec_f32 enlarged = vec_mul(enlarged_subnormal(noise), enlarged_unit);
            /* A noise value that is subnormal in these units has lost bits: 0 makes the checks below fail. */
            noise = vec_flush(vec_choose(is_subnormal, enlarged, vec_mul(noise, noise_unit)), vec_splat(LEAST_NORMAL));
            gain = vec_mul(gain, gain_unit);
            inverse_in_units = vec_keep(valid, vec_mul(inverse_gain, inverse_gain_unit));
        }
        if (has_erasures) {
            gain = vec_choose(valid, gain, vec_splat(1.0f));
            noise = vec_choose(valid, noise, vec_splat(1.0f));
        }
        vec_f32 weight = fast_weight(llr_scale_of_gain(scale, gain), noise, !from->is_n0);
        vec_store_f32(to->components + 2 * k, vec_mul(a, vec_duplicate_lower(inverse_gain)));
        vec_store_f32(to->components + 2 * k + LANES, vec_mul(b, vec_duplicate_upper(inverse_gain)));
        max_gain = vec_max_u32(vec_max_u32(max_gain, vec_bits(inverse_in_units)), vec_bits(gain));
        max_weight = vec_max_u32(max_weight, vec_bits(weight)); /* as bits, a negative one is larger */
        min_weight = vec_min_u32(min_weight, vec_bits(weight));
        if (has_units) {
            weight = vec_mul(vec_mul(weight, half_weight_unit), half_weight_unit);
            weight = vec_flush(vec_min(weight, vec_splat(LARGEST_FLOAT)), vec_splat(MIN_WEIGHT));
            valid = vec_both(valid, vec_is_positive(weight));
            min_stored = vec_min_u32(min_stored, vec_bits(weight));
        }
        const vec_f32 signed_weight = vec_flip(weight, sign);
        vec_store_f32(to->weights + k, has_erasures ? vec_keep(valid, signed_weight) : signed_weight);
    }
    to->min_weight = smallest(has_units ? min_stored : min_weight);
    const bool is_right = vec_largest_u32(max_gain) <= float_bits(fast_max_gain(from->is_n0)) &&
                          vec_largest_u32(max_weight) < float_bits(INFINITY) &&
                          smallest(min_weight) >= float_bits(MIN_WEIGHT);
    return is_right ? way : way + 1;
}

#define DEFINE_DIVIDE(name, way)                                                                                       \
    NOT_INLINED division_way name(const division *from, divided_symbols *to) { return divide(from, way, to); }
DEFINE_DIVIDE(divide_without_erasures, WITHOUT_ERASURES)
DEFINE_DIVIDE(divide_with_erasures, WITH_ERASURES)
DEFINE_DIVIDE(divide_in_other_units, IN_OTHER_UNITS)

/* Divides by gains of any size. */
NOT_INLINED division_way divide_by_any_gains(const division *from, divided_symbols *to)
{
    vec_u32 min_weight = vec_splat_u32(0xffffffffu);
    for (size_t done = 0; done < from->n_symbols; done += LANES) {
        const size_t k = place_of(from, done);
        const vec_f32 gain = vec_load_f32(from->gains + k), noise = load_bounded_noise(from, k);
        const gain_divisor divisor = gain_divisor_of(positive_or_one(gain));
        const gain_divisor of_a = {vec_duplicate_lower(divisor.first), vec_duplicate_lower(divisor.second)},
                           of_b = {vec_duplicate_upper(divisor.first), vec_duplicate_upper(divisor.second)};
        const vec_f32 a = vec_load_f32(from->components + 2 * k), b = vec_load_f32(from->components + 2 * k + LANES);
        const vec_f32 weight = llr_weight_of_any_gain(vec_splat(from->scale), noise, !from->is_n0, gain);
        vec_store_f32(to->components + 2 * k, divided_by_gain(a, of_a));
        vec_store_f32(to->components + 2 * k + LANES, divided_by_gain(b, of_b));
        vec_store_f32(to->weights + k, vec_keep(vec_are_numbers(weight, weight), weight));
        min_weight = vec_min_u32(min_weight, vec_bits(vec_abs(weight))); /* a NaN is larger */
    }
    to->min_weight = smallest(min_weight);
    return WITH_ANY_GAINS;
}

softqam_divided_loop SIMD_NAME(softqam_divided_loop);

void SIMD_NAME(softqam_divided_loop)(const softqam_divided_call *divided, softqam_division_ways *kept, size_t first,
                                     size_t n_symbols)
{
    static division_way (*const ways[])(const division *, divided_symbols *) = {
        [WITHOUT_ERASURES] = divide_without_erasures,
        [WITH_ERASURES] = divide_with_erasures,
        [IN_OTHER_UNITS] = divide_in_other_units,
        [WITH_ANY_GAINS] = divide_by_any_gains,
    };
    softqam_float_environment environment = softqam_float_enter();
    const softqam_loop_call *call = divided->call;
    /* Subnormal numbers slow the loop, so they are flushed, unless LLRs may be subnormal: f32's with small weights. */
    const float flushed_weight = call->params->output_format == SOFTQAM_OUTPUT_F32 ? fast_range_f32.min_weight : 0.0f;
    division_way way = (division_way)kept->next;
    divided_symbols symbols;
    bool left_fast_path = false;
    softqam_loop_call of_some = *call;
    of_some.left_fast_path = &left_fast_path;
    of_some.components = symbols.components;
    of_some.noise = symbols.weights;
    for (size_t end = first + n_symbols; first < end; first += of_some.n_symbols) {
        of_some.n_symbols = end - first < MAX_SYMBOLS ? end - first : DIVIDED_SYMBOLS;
        const division from = {
            .components = (const float *)call->components + 2 * first,
            .noise = call->noise + first,
            .gains = call->gains + first,
            .n_symbols = of_some.n_symbols,
            .scale = divided->scale,
            .noise_bound = call->rules.noise_bound,
            .is_n0 = softqam_is_noise_n0(call->noise_kind),
        };
        softqam_float_flush(&environment, true);
        division_way tried;
        do {
            tried = way;
            way = ways[tried](&from, &symbols);
        } while (way != tried);
        of_some.noise_kind = way == WITHOUT_ERASURES ? SOFTQAM_WEIGHTS : SOFTQAM_ERASED_WEIGHTS;
        of_some.out = call->out + first * divided->symbol_nbytes;
        if (call->sequence)
            of_some.sequence = call->sequence + first * divided->n_bits / 8;
        softqam_float_flush(&environment, symbols.min_weight >= float_bits(flushed_weight));
        of_some.begins_exact = left_fast_path;
        divided->loop(&of_some);
    }
    if (left_fast_path && call->left_fast_path)
        *call->left_fast_path = true;
    /* If two batches in a row needed this way, the next one begins with it. */
    kept->next = kept->last == way ? way : WITHOUT_ERASURES;
    kept->last = way;
    softqam_float_leave(&environment);
}
