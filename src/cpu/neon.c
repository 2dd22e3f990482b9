/* SPDX-License-Identifier: MIT */
/* 4 symbols at a time, on AArch64. */
#include "vec_neon.h"

#include "arithmetic_shortcuts.h"

#include "the loops"

void softqam_cpu_loop_neon(const softqam_plan *plan, const void *symbols, const float *noise_var, size_t noise_stride,
                           size_t n_symbols, void *out)
{
    loop_any(plan, (llr_place){symbols, noise_var, out}, noise_stride, n_symbols);
}
