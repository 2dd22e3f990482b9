/* SPDX-License-Identifier: MIT */
/* All loops for vectors, and the variant that they are: included by avx512.c, avx2.c and neon.c after their SIMD
 * header.
 */
#ifndef SOFTQAM_CPU_VECTOR_LOOPS_H
#define SOFTQAM_CPU_VECTOR_LOOPS_H

#include "simd_common.h"

#include "arithmetic_fast.h"

#include "combine_loops.h"
#include "convert_loops.h"
#include "gather_loops.h"
#include "gold_loops.h"
#include "llr_loops.h"
#include "u8_loops.h"

/* With the members that an instruction set has of its own. */
#define VECTOR_VARIANT(...)                                                                                            \
    {                                                                                                                  \
        .convert = CONVERT_LOOPS, .u8 = {u8_loop}, .llrs = llr_loops, .gold = {gold_jump, gold_take},                  \
        .gather = gather, .add = COMBINE_LOOPS, .min_symbols = LANES, __VA_ARGS__                                      \
    }

#endif
