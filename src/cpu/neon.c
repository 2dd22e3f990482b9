/* SPDX-License-Identifier: MIT */
/* 4 symbols at a time, on AArch64. */
#include "simd_neon.h"

#include "arithmetic_fast.h"

#include "combine_loops.h"
#include "convert_loops.h"
#include "gain_loops.h"
#include "gather_loops.h"
#include "gold_loops.h"
#include "llr_loops.h"
#include "soft_bit_loops.h"

const softqam_cpu_variant softqam_cpu_neon = {
    .name = "neon",
    .runs_here = softqam_runs_everywhere,
    .convert = CONVERT_LOOPS,
    .soft_bits = {soft_bits_of_symbols},
    .soft_bits_convert = true,
    .llrs = llr_loops,
    .gold = {gold_jump, gold_take},
    .gather = gather,
    .divide_by_gains = divide_by_gains,
    .add = COMBINE_LOOPS,
    .min_symbols = LANES,
    .flushes_subnormals = false,
    .short_symbols = 4096,
};
