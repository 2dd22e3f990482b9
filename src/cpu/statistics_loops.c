/* SPDX-License-Identifier: MIT */
/* The statistics of a tile. This is compiled for each instruction set, whose vectors the compiler uses, and in portable
 * C. All results are whole numbers, so that they depend on neither vectors nor cuts. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "error.h"
#include "float_environment.h"
#include "weight.h"
#include "widen_half.h"

/* Symbols of a group, which is sampled as a whole; groups of which one is sampled. */
enum { GROUP = 64, SAMPLED = 8 };

/* A group's symbols, n of them. */
typedef struct group {
    const softqam_counted_call *counted;
    size_t first; /* in the call */
    size_t n;
    uint64_t erased; /* bit k: symbol k is an erasure */
} group;

/* The caller's memory may lie anyhow. */
typedef float loose_float __attribute__((aligned(1), may_alias));
typedef int16_t loose_int16 __attribute__((aligned(1), may_alias));

/* Erasures. */

/* Within these limits no noise value, gain or component makes an erasure. */
typedef struct usual_range {
    float least_noise;
    float most_noise;
} usual_range;

#define USUAL_END     0x1p30f
#define USUAL_BEGIN   0x1p-30f
#define COMPONENT_END 0x1p90f

static usual_range usual_range_of(const softqam_loop_call *call)
{
    const bool is_n0 = softqam_is_noise_n0(call->noise_kind);
    const float bound = call->scale.noise_bound;
    usual_range range = {USUAL_BEGIN, USUAL_END};
    if (is_n0 && bound > 0.0f)
        range.least_noise = -INFINITY;
    else if (!is_n0 && bound < INFINITY)
        range.most_noise = INFINITY;
    return range;
}

/* Returns whether some symbol of a group may be an erasure. */
static bool may_have_erasures(const group *of, usual_range range)
{
    const softqam_loop_call *call = of->counted->call;
    const loose_float *components = (const loose_float *)call->components + 2 * of->first;
    int n_usual = 0;
    for (size_t k = 0; k < 2 * of->n; k++)
        n_usual += (components[k] > -COMPONENT_END) & (components[k] < COMPONENT_END);
    if (call->noise_kind == SOFTQAM_ONE_WEIGHT)
        return n_usual < (int)(2 * of->n) || !isfinite(call->noise[0]);
    const float *noise = call->noise + of->first, *gains = call->gains + of->first;
    for (size_t k = 0; k < of->n; k++)
        n_usual += (noise[k] >= range.least_noise) & (noise[k] <= range.most_noise);
    for (size_t k = 0; softqam_has_gains(call->noise_kind) && k < of->n; k++)
        n_usual -= !((gains[k] >= USUAL_BEGIN) & (gains[k] <= USUAL_END));
    return n_usual < (int)(3 * of->n);
}

/* Finds a group's erasures. */
static __attribute__((noinline)) uint64_t find_erasures(const group *of)
{
    ENDED_BY(softqam_float_leave) const softqam_float_environment environment = softqam_float_enter();
    const softqam_loop_call *call = of->counted->call;
    uint64_t erased = 0;
    for (size_t k = 0; k < of->n; k++) {
        float symbol[2];
        memcpy(symbol, (const float *)call->components + 2 * (of->first + k), sizeof symbol);
        const float weight = weight_of(call, of->first + k, symbol);
        if (!isfinite(weight) || !isfinite(symbol[0]) || !isfinite(symbol[1]))
            erased |= (uint64_t)1 << k;
    }
    return erased;
}

/* LLRs at the limit. */

#if defined(__AVX512BW__)
enum { VECTOR_NBYTES = 64 };
#elif defined(__AVX2__)
enum { VECTOR_NBYTES = 32 };
#else
enum { VECTOR_NBYTES = 16 };
#endif

/* Defines a function that counts the values whose magnitude, of which `mask` has the bits, is the limit's. */
#define DEFINE_COUNT(name, type, magnitude)                                                                            \
    static uint64_t name(const unsigned char *values, size_t n, type limit)                                            \
    {                                                                                                                  \
        typedef type vector __attribute__((vector_size(VECTOR_NBYTES)));                                               \
        enum { LANES_OF = VECTOR_NBYTES / sizeof(type), MOST = 127 };                                                  \
        uint64_t count = 0;                                                                                            \
        while (n >= LANES_OF) {                                                                                        \
            vector counts = {0};                                                                                       \
            for (int k = 0; k < MOST && n >= LANES_OF; k++, n -= LANES_OF, values += VECTOR_NBYTES) {                  \
                vector value;                                                                                          \
                memcpy(&value, values, sizeof value);                                                                  \
                counts -= (vector)((magnitude) == limit);                                                              \
            }                                                                                                          \
            for (size_t k = 0; k < LANES_OF; k++)                                                                      \
                count += (uint64_t)counts[k];                                                                          \
        }                                                                                                              \
        for (; n > 0; n--, values += sizeof(type)) {                                                                   \
            type value;                                                                                                \
            memcpy(&value, values, sizeof value);                                                                      \
            count += (type)(magnitude) == limit;                                                                       \
        }                                                                                                              \
        return count;                                                                                                  \
    }
/* No LLR is -128 or -32768: the square root of a square without a branch. */
#define STEPS_MAGNITUDE(bits) ((value ^ (value >> ((bits)-1))) - (value >> ((bits)-1)))
DEFINE_COUNT(count_s8, int8_t, STEPS_MAGNITUDE(8))
DEFINE_COUNT(count_s16, int16_t, STEPS_MAGNITUDE(16))
DEFINE_COUNT(count_f16, int16_t, value & 0x7fff)
DEFINE_COUNT(count_f32, int32_t, value & 0x7fffffff)

static uint64_t count_limited(softqam_output_format format, const unsigned char *values, size_t n, float limit)
{
    if (format == SOFTQAM_OUTPUT_S8)
        return count_s8(values, n, (int8_t)limit);
    if (format == SOFTQAM_OUTPUT_S16)
        return count_s16(values, n, (int16_t)limit);
    if (format == SOFTQAM_OUTPUT_F16)
        return count_f16(values, n, (int16_t)vec_to_f16(limit));
    return count_f32(values, n, (int32_t)vec_bits(limit));
}

/* Sampled groups. */

/* A symbol's energies, in units of 2^-24. */
#define ENERGY_UNIT 0x1p24f
#define MOST_ENERGY 16.0f

static inline uint32_t energy_of(float i, float q)
{
    const float energy = i * i + q * q;
    return (uint32_t)(int32_t)rintf((energy < MOST_ENERGY ? energy : MOST_ENERGY) * ENERGY_UNIT);
}

/* Returns a component's distance from the nearest level, of which `level` is the least positive one. */
static inline float distance_of(float component, const softqam_llr_table *table, float level)
{
    const float magnitude = fabsf(component), place = magnitude * table->row_scale;
    const int row = (int)(place < table->last_row ? place : table->last_row);
    return magnitude - (float)(2 * row + 1) * level;
}

/* Sets the energies of n symbols that are divided by their gains, in units of 2^-24: those of the errors and those of
 * the symbols. BPSK, whose I changes its sign by i_flips, has two points. */
static void set_energies(const softqam_counted_call *counted, const float symbols[], size_t first, size_t n,
                         uint32_t errors[], uint32_t energies[])
{
    const softqam_loop_call *call = counted->call;
    const int m = counted->axis_bits;
    const int E = m == 0 ? 2 : 2 * ((1 << 2 * m) - 1) / 3;
    const float level = (float)(1.0 / sqrt((double)E));
    for (size_t k = 0; k < n; k++)
        energies[k] = energy_of(symbols[2 * k], symbols[2 * k + 1]);
    for (size_t k = 0; m > 0 && k < n; k++)
        errors[k] = energy_of(distance_of(symbols[2 * k], call->table, level),
                              distance_of(symbols[2 * k + 1], call->table, level));
    for (size_t k = 0; m == 0 && k < n; k++) {
        const float i = vec_flip(symbols[2 * k], call->i_flips[(first + k) % 2]), q = symbols[2 * k + 1];
        const float point = i + q < 0.0f ? -level : level;
        errors[k] = energy_of(i - point, q - point);
    }
}

/* Adds the information of n LLRs that lie side by side: first finds their places in the table, in vectors. */
static uint64_t information_of_run(const softqam_params *params, float places_per_unit, const unsigned char *from,
                                   size_t n)
{
    int places[GROUP];
    uint64_t sums[2] = {0, 0};
    for (size_t done = 0; done < n; done += GROUP) {
        const size_t taken = n - done < GROUP ? n - done : GROUP, nbytes = params->defaults.value_nbytes;
        const unsigned char *at = from + done * nbytes;
        float llrs[GROUP] = {0};
        for (size_t k = 0; params->output_format == SOFTQAM_OUTPUT_S8 && k < taken; k++)
            llrs[k] = (float)(int8_t)at[k];
        for (size_t k = 0; params->output_format == SOFTQAM_OUTPUT_S16 && k < taken; k++)
            llrs[k] = (float)((const loose_int16 *)(const void *)at)[k];
        for (size_t k = 0; params->output_format == SOFTQAM_OUTPUT_F16 && k < taken; k++)
            llrs[k] = widen_half((uint16_t)((const loose_int16 *)(const void *)at)[k]);
        if (params->output_format == SOFTQAM_OUTPUT_F32)
            memcpy(llrs, at, taken * sizeof *llrs);
        for (size_t k = 0; k < taken; k++) {
            const float place = fabsf(llrs[k]) * places_per_unit;
            places[k] = (int)rintf(place < 255.0f ? place : 255.0f);
        }
        for (size_t k = 0; k < taken / 2; k++) {
            sums[0] += params->information[places[2 * k]];
            sums[1] += params->information[places[2 * k + 1]];
        }
        if (taken % 2)
            sums[0] += params->information[places[taken - 1]];
    }
    return sums[0] + sums[1];
}

/* Returns the information of a group's LLRs. An erasure's are 0, whose information is 0. */
static uint64_t information_of_group(const group *of, size_t n_bits)
{
    const softqam_loop_call *call = of->counted->call;
    const softqam_params *params = call->params;
    const size_t nbytes = params->defaults.value_nbytes;
    const bool are_steps = params->output_format == SOFTQAM_OUTPUT_S8 || params->output_format == SOFTQAM_OUTPUT_S16;
    const float places_per_unit = are_steps ? 16.0f / fabsf(call->scale.steps_per_nat) : 16.0f;
    uint64_t information = 0;
    if (!call->planes)
        return information_of_run(params, places_per_unit, call->out + of->first * n_bits * nbytes, of->n * n_bits);
    for (size_t bit = 0; bit < n_bits; bit++)
        information += information_of_run(params, places_per_unit,
                                          call->out + call->planes[bit] + (ptrdiff_t)(of->first * nbytes), of->n);
    return information;
}

static void add_sampled(const group *of, size_t n_bits, softqam_statistics *to)
{
    const softqam_loop_call *call = of->counted->call;
    float symbols[2 * GROUP] = {0};
    uint32_t errors[GROUP] = {0}, energies[GROUP] = {0};
    memcpy(symbols, (const float *)call->components + 2 * of->first, 2 * of->n * sizeof *symbols);
    for (size_t k = 0; softqam_has_gains(call->noise_kind) && k < of->n; k++)
        (void)weight_of(call, of->first + k, symbols + 2 * k);
    for (size_t k = 0; of->erased != 0 && k < of->n; k++)
        if (of->erased >> k & 1) /* no number may be other than that */
            symbols[2 * k] = symbols[2 * k + 1] = 0.0f;
    set_energies(of->counted, symbols, of->first, of->n, errors, energies);
    for (size_t k = 0; k < of->n; k++)
        if (!(of->erased >> k & 1)) {
            to->error_energy += errors[k];
            to->symbol_energy += energies[k];
            to->n_sampled++;
        }
    to->information += information_of_group(of, n_bits);
}

/* Counts erasures and the ends of the range among soft bits. */
static void count_soft_bits(const softqam_loop_call *call, softqam_statistics *to)
{
    for (size_t k = 0; k < call->n_symbols; k++) {
        float symbol[2];
        memcpy(symbol, (const float *)call->components + 2 * k, sizeof symbol);
        to->n_erased += !isfinite(symbol[0]) || !isfinite(symbol[1]);
    }
    for (size_t k = 0; k < 8 * call->n_symbols; k++)
        to->n_limited += call->out[k] == 0 || call->out[k] == 255;
}

static void count(const softqam_counted_call *counted, softqam_statistics *to)
{
    const softqam_loop_call *call = counted->call;
    const softqam_output_format format = call->params->output_format;
    const size_t n_bits = counted->axis_bits == 0 ? 1 : 2 * (size_t)counted->axis_bits, n = call->n_symbols;
    const usual_range range = usual_range_of(call);
    to->n_symbols += n;
    if (format == SOFTQAM_OUTPUT_U8) {
        count_soft_bits(call, to);
        return;
    }
    for (size_t bit = 0; call->planes && bit < n_bits; bit++)
        to->n_limited += count_limited(format, call->out + call->planes[bit], n, call->scale.limit);
    if (!call->planes)
        to->n_limited += count_limited(format, call->out, n * n_bits, call->scale.limit);
    group of = {.counted = counted};
    for (; of.first < n; of.first += of.n) {
        const uint32_t position = counted->position + (uint32_t)of.first;
        const size_t left = n - of.first, of_group = GROUP - position % GROUP;
        of.n = left < of_group ? left : of_group;
        of.erased = may_have_erasures(&of, range) ? find_erasures(&of) : 0;
        to->n_erased += (uint64_t)__builtin_popcountll(of.erased);
        if (position / GROUP % SAMPLED == 0)
            add_sampled(&of, n_bits, to);
    }
}

#ifdef SIMD
#define JOINED_NAME(name, simd)   name##_##simd
#define EXPANDED_NAME(name, simd) JOINED_NAME(name, simd)
softqam_count EXPANDED_NAME(softqam_count, SIMD);
void EXPANDED_NAME(softqam_count, SIMD)(const softqam_counted_call *counted, softqam_statistics *to)
#else
softqam_count softqam_count_portable;
void softqam_count_portable(const softqam_counted_call *counted, softqam_statistics *to)
#endif
{
    count(counted, to);
}
