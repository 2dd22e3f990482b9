/* SPDX-License-Identifier: MIT */
/* 4 symbols at a time, on AArch64. */
#include "gold_jump.h"
#include "simd_neon.h"

#include "arithmetic_fast.h"

#include "combine_loops.h"
#include "convert_loops.h"
#include "gather_loops.h"

/* Not every processor multiplies polynomials of 64 bits. */
VEC void gold_parts_at(uint32_t c_init, uint64_t position, size_t n_bits, vec_part x1[2], vec_part x2[2])
{
    const gold_first_bits first = first_bits_at(c_init, position);
    (void)n_bits; /* all */
    for (int part = 0; part < 2; part++) {
        x1[part] = vec_part_of(first.x1[2 * part], first.x1[2 * part + 1]);
        x2[part] = vec_part_of(first.x2[2 * part], first.x2[2 * part + 1]);
    }
}

#include "gold_loops.h"
#include "llr_loops.h"
#include "soft_bit_loops.h"

const softqam_cpu_variant softqam_cpu_neon = {
    .name = "neon",
    .runs_here = softqam_runs_everywhere,
    .convert = CONVERT_LOOPS,
    .soft_bits = {soft_bits_of_symbols},
    .llrs = llr_loops,
    .gold = {gold_jump, gold_take},
    .gather = gather,
    .add = COMBINE_LOOPS,
    .min_symbols = LANES,
    .flushes_subnormals = false,
    .short_symbols = 4096,
};
