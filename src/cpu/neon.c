/* SPDX-License-Identifier: MIT */
/* 4 symbols at a time, on AArch64. */
#include "simd_neon.h"
#include "vector_loops.h"

const softqam_cpu_variant softqam_cpu_neon =
    VECTOR_VARIANT(.name = "neon", .runs_here = softqam_runs_everywhere, .short_symbols = 4096);
