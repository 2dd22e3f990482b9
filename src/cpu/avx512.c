/* SPDX-License-Identifier: MIT */
/* 16 symbols at a time. CMakeLists.txt gives this file alone the flags for it, and cpu_variant.c calls it only where
 * the processor has the instructions. */
#include "vec_avx512.h"

#include "arithmetic_shortcuts.h"

#include "the loops"

void softqam_cpu_loop_avx512(const softqam_plan *plan, const void *symbols, const float *noise_var, size_t noise_stride,
                             size_t n_symbols, void *out)
{
    loop_any(plan, (llr_place){symbols, noise_var, out}, noise_stride, n_symbols);
}

void softqam_cpu_stream_avx512(const softqam_plan *plan, const void *symbols, const float *noise_var,
                               size_t noise_stride, size_t n_symbols, void *out)
{
    loop_streaming(plan, (llr_place){symbols, noise_var, out}, noise_stride, n_symbols);
}
