/* SPDX-License-Identifier: MIT */
#include "variant.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* A variant of vector loops, by the names that simd.h makes. Modulations of more than VECTOR_MAX_AXIS_BITS have none.
 */
#define VECTOR_VARIANT(simd, ...)                                                                                      \
    extern const softqam_input_loops softqam_input_loops_##simd;                                                       \
    extern softqam_loop softqam_u8_loop_##simd;                                                                        \
    extern const softqam_llr_loops softqam_llr_loops_0_##simd, softqam_llr_loops_1_##simd, softqam_llr_loops_2_##simd, \
        softqam_llr_loops_3_##simd, softqam_llr_loops_4_##simd, softqam_llr_loops_5_##simd;                            \
    extern const softqam_joint_loops softqam_joint_loops_1_##simd, softqam_joint_loops_2_##simd,                       \
        softqam_joint_loops_3_##simd, softqam_joint_loops_4_##simd, softqam_joint_loops_5_##simd;                      \
    extern softqam_soft_add *const softqam_add_loops_##simd[N_OUTPUT_FORMATS];                                         \
    extern const softqam_gold_loops softqam_gold_loops_##simd;                                                         \
    extern const softqam_count_loops softqam_count_loops_##simd;                                                       \
    static const softqam_cpu_variant softqam_cpu_##simd = {                                                            \
        .name = #simd,                                                                                                 \
        .input = &softqam_input_loops_##simd,                                                                          \
        .u8 = softqam_u8_loop_##simd,                                                                                  \
        .llrs = {&softqam_llr_loops_0_##simd, &softqam_llr_loops_1_##simd, &softqam_llr_loops_2_##simd,                \
                 &softqam_llr_loops_3_##simd, &softqam_llr_loops_4_##simd, &softqam_llr_loops_5_##simd},               \
        .joint = {NULL, &softqam_joint_loops_1_##simd, &softqam_joint_loops_2_##simd, &softqam_joint_loops_3_##simd,   \
                  &softqam_joint_loops_4_##simd, &softqam_joint_loops_5_##simd},                                       \
        .add = softqam_add_loops_##simd,                                                                               \
        .gold = &softqam_gold_loops_##simd,                                                                            \
        .count = &softqam_count_loops_##simd,                                                                          \
        __VA_ARGS__}

#if defined(__x86_64__) && !defined(SOFTQAM_WITHOUT_VECTOR_LOOPS)
#include <cpuid.h>

/* __builtin_cpu_supports() also checks that the operating system saves the registers. */
static bool has_avx2(void)
{
    /* Not every compiler's __builtin_cpu_supports() knows F16C. */
    unsigned a, b, c, d;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("pclmul") &&
           __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
}

VECTOR_VARIANT(avx2, .runs_here = has_avx2, .min_joint_symbols = 8, .flushes_subnormals = true, .short_symbols = 8192);
VECTOR_VARIANT(avx512, .runs_here = has_avx512, .min_joint_symbols = 16, .flushes_subnormals = true,
               .short_symbols = 16384);
#define VECTOR_VARIANTS &softqam_cpu_avx512, &softqam_cpu_avx2,
#elif defined(__aarch64__) && !defined(SOFTQAM_WITHOUT_VECTOR_LOOPS)
VECTOR_VARIANT(neon, .runs_here = softqam_runs_everywhere, .min_joint_symbols = 4, .short_symbols = 4096);
#define VECTOR_VARIANTS &softqam_cpu_neon,
#else
#define VECTOR_VARIANTS
#endif

const softqam_cpu_variant *const softqam_cpu_variants[] = {
    VECTOR_VARIANTS & softqam_cpu_portable, /* runs everywhere */
};

const size_t softqam_n_cpu_variants = sizeof softqam_cpu_variants / sizeof softqam_cpu_variants[0];

/* Asks the processor once. Threads that ask at the same time get the same answer. */
static const softqam_cpu_variant *fastest(void)
{
    static _Atomic(const softqam_cpu_variant *) found;
    const softqam_cpu_variant *variant = atomic_load_explicit(&found, memory_order_relaxed);
    if (!variant) {
        size_t k = 0;
        while (k + 1 < softqam_n_cpu_variants && !softqam_cpu_variants[k]->runs_here())
            k++;
        variant = softqam_cpu_variants[k];
        atomic_store_explicit(&found, variant, memory_order_relaxed);
    }
    return variant;
}

/* Writes names such as "avx512, avx2, portable", for messages. */
static void list_names(char *text, size_t nbytes)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t k = 0; k < softqam_n_cpu_variants && length < nbytes; k++)
        length +=
            (size_t)snprintf(text + length, nbytes - length, "%s%s", k ? ", " : "", softqam_cpu_variants[k]->name);
}

/* Returns NULL if no variant of this build has that name. */
static const softqam_cpu_variant *find(const char *name)
{
    for (size_t k = 0; k < softqam_n_cpu_variants; k++)
        if (strcmp(name, softqam_cpu_variants[k]->name) == 0)
            return softqam_cpu_variants[k];
    return NULL;
}

softqam_status softqam_cpu_variant_choose(const softqam_cpu_variant **chosen, const char *name, const char **ignored)
{
    *ignored = NULL;
    if (name && *name) {
        *chosen = find(name);
        if (!*chosen) {
            char names[64];
            list_names(names, sizeof names);
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "config.cpu_variant is \"%s\", not one of %s", name,
                                names);
        }
        if (!(*chosen)->runs_here())
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                                "config.cpu_variant is \"%s\", which this processor does not run; the fastest that it "
                                "does is \"%s\"",
                                name, fastest()->name);
        return SOFTQAM_OK;
    }
    *chosen = fastest();
    name = getenv("SOFTQAM_CPU_VARIANT");
    if (name && *name) {
        const softqam_cpu_variant *named = find(name);
        if (named && named->runs_here())
            *chosen = named;
        else
            *ignored = name;
    }
    return SOFTQAM_OK;
}

static softqam_loop *const *loops_of(const softqam_cpu_variant *variant, const softqam_params *params, int axis_bits)
{
    if (!softqam_params_have_llrs(params))
        return &variant->u8;
    const softqam_llr_loops *loops = variant->llrs[axis_bits];
    return (loops ? loops : softqam_cpu_portable.llrs[axis_bits])->by_format[params->output_format];
}

void softqam_cpu_loops_choose(softqam_cpu_loops *loops, const softqam_cpu_variant *variant,
                              const softqam_params *params)
{
    loops->convert = variant->input->convert[params->input_format];
    loops->gold = *variant->gold;
    loops->gather = variant->input->gather;
    loops->count = variant->count;
    loops->add = softqam_soft_add_of(params->output_format);
    if (softqam_params_have_llrs(params) && variant->add)
        loops->add = variant->add[params->output_format];
    loops->min_joint_symbols = variant->min_joint_symbols;
    loops->flushes_subnormals =
        variant->flushes_subnormals && softqam_params_have_llrs(params) &&
        softqam_is_scale_for_flushing(params->input_format, params->defaults.input_scale, false);
    for (int axis_bits = 0; axis_bits <= MAX_AXIS_BITS; axis_bits++) {
        loops->by_layout[axis_bits] = loops_of(variant, params, axis_bits);
        loops->is_vector[axis_bits] = variant != &softqam_cpu_portable && variant->llrs[axis_bits];
        loops->joint[axis_bits] =
            variant->joint[axis_bits] ? variant->joint[axis_bits] : softqam_joint_portable[axis_bits];
    }
}
