/* SPDX-License-Identifier: MIT */
/* 8 symbols at a time. CMakeLists.txt gives this file alone the flags for it, and it is used only where the
 * processor has the instructions. */
#include "simd_avx2.h"
#include "vector_loops.h"

const softqam_cpu_variant softqam_cpu_avx2 =
    VECTOR_VARIANT(.name = "avx2", .runs_here = softqam_has_avx2, .flushes_subnormals = true, .short_symbols = 8192);
