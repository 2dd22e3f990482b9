/* SPDX-License-Identifier: MIT */
/* 16 symbols at a time. CMakeLists.txt gives this file alone the flags for it, and it is used only where the
 * processor has the instructions. */
#include "simd_avx512.h"
#include "vector_loops.h"

const softqam_cpu_variant softqam_cpu_avx512 = VECTOR_VARIANT(.name = "avx512", .runs_here = softqam_has_avx512,
                                                              .flushes_subnormals = true, .short_symbols = 16384);
