/* SPDX-License-Identifier: MIT */
/* 16 symbols at a time. CMakeLists.txt gives this file alone the flags for it, and it is used only where the
 * processor has the instructions. */
#include "gold_clmul.h"
#include "simd_avx512.h"

#include "arithmetic_fast.h"

#include "combine_loops.h"
#include "convert_loops.h"
#include "gather_loops.h"
#include "gold_loops.h"
#include "llr_loops.h"
#include "soft_bit_loops.h"

const softqam_cpu_variant softqam_cpu_avx512 = {
    .name = "avx512",
    .runs_here = softqam_has_avx512,
    .convert = CONVERT_LOOPS,
    .soft_bits = {soft_bits_of_symbols},
    .llrs = llr_loops,
    .gold = {gold_jump, gold_take},
    .gather = gather,
    .add = COMBINE_LOOPS,
    .min_symbols = LANES,
    .flushes_subnormals = true,
    .short_symbols = 16384,
};
