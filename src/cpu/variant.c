/* SPDX-License-Identifier: MIT */
#include "cpu_variant.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

static bool always(void)
{
    return true;
}

#if defined(__x86_64__)
#include <cpuid.h>

/* __builtin_cpu_supports() asks the operating system too, whether it saves the registers. */
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static bool has_avx2(void)
{
    /* Not every compiler's __builtin_cpu_supports() knows F16C. */
    unsigned a, b, c, d;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __get_cpuid(1, &a, &b, &c, &d) &&
           (c & bit_F16C);
}
#endif

/* Fastest first; the last one runs everywhere. */
const softqam_cpu_variant softqam_cpu_variants[] = {
#if defined(__x86_64__)
    {"avx512", has_avx512, softqam_cpu_loop_avx512, softqam_cpu_stream_avx512, 16384},
    {"avx2", has_avx2, softqam_cpu_loop_avx2, softqam_cpu_stream_avx2, 8192},
#endif
#if defined(__aarch64__)
    {"neon", always, softqam_cpu_loop_neon, NULL, 4096},
#endif
    {"generic", always, softqam_cpu_loop_generic, NULL, 1024},
    {"portable", always, softqam_cpu_loop_portable, NULL, 256},
};

const size_t softqam_n_cpu_variants = sizeof softqam_cpu_variants / sizeof softqam_cpu_variants[0];

/* The processor is asked once. Threads that ask at the same time find the same. */
static const softqam_cpu_variant *fastest(void)
{
    static _Atomic(const softqam_cpu_variant *) found;
    const softqam_cpu_variant *variant = atomic_load_explicit(&found, memory_order_relaxed);
    if (!variant) {
        variant = softqam_cpu_variants;
        while (!variant->runs_here())
            variant++;
        atomic_store_explicit(&found, variant, memory_order_relaxed);
    }
    return variant;
}

/* "avx512, avx2, generic, portable", for messages. */
static void list_names(char *text, size_t nbytes)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t k = 0; k < softqam_n_cpu_variants && length < nbytes; k++)
        length += (size_t)snprintf(text + length, nbytes - length, "%s%s", k ? ", " : "", softqam_cpu_variants[k].name);
}

softqam_status softqam_cpu_variant_choose(const softqam_cpu_variant **chosen, const char *name)
{
    const char *source = "config.cpu_variant";
    if (!name) {
        source = "SOFTQAM_CPU_VARIANT";
        name = getenv(source);
    }
    *chosen = fastest();
    if (!name || !*name)
        return SOFTQAM_OK;
    for (size_t k = 0; k < softqam_n_cpu_variants; k++) {
        if (strcmp(name, softqam_cpu_variants[k].name) != 0)
            continue;
        *chosen = &softqam_cpu_variants[k];
        if (!softqam_cpu_variants[k].runs_here())
            return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT,
                                "%s is \"%s\", which this processor does not run; the fastest that it does is \"%s\"",
                                source, name, fastest()->name);
        return SOFTQAM_OK;
    }
    char names[64];
    list_names(names, sizeof names);
    return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "%s is \"%s\", not one of %s", source, name, names);
}
