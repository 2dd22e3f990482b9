/* SPDX-License-Identifier: MIT */
/* Every variant's loops that add LLRs give the portable loops' bytes: s8 for all pairs of values, s16 and f16 for all
 * values and some LLRs, f32 for random bits. */
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "harness.h"

enum { N_VALUES = 1 << 16, N_OTHERS = 24 };

/* Adds each of the LLRs, n of which fill a call, to all values. */
static void check_sums(softqam_output_format format, const softqam_cpu_variant *variant, const void *values,
                       const void *llrs, float limit)
{
    const size_t nbytes = N_VALUES * softqam_value_nbytes(format);
    scoped_memory unsigned char *expected = harness_alloc(nbytes), *got = harness_alloc(nbytes);
    memcpy(expected, values, nbytes);
    memcpy(got, values, nbytes);
    softqam_soft_add_of(format)(expected, llrs, limit, N_VALUES);
    variant->add[format](got, llrs, limit, N_VALUES - 1); /* and a last register that is not whole */
    variant->add[format](got + nbytes - nbytes / N_VALUES, (const char *)llrs + nbytes - nbytes / N_VALUES, limit, 1);
    for (size_t k = 0; k < nbytes; k++)
        if (got[k] != expected[k])
            fail_msg("%s, format %d, limit %g: byte %zu is %d, not %d", variant->name, format, (double)limit, k, got[k],
                     expected[k]);
}

static void check_variant(const softqam_cpu_variant *variant, harness_random *random)
{
    static const float limits[][2] = {{127, 1}, {32767, 120}, {65504, 100}, {3.4028234663852886e38F, 2}};
    scoped_memory uint8_t *bytes = harness_alloc(N_VALUES), *other_bytes = harness_alloc(N_VALUES);
    scoped_memory uint16_t *words = harness_alloc(N_VALUES * 2), *other_words = harness_alloc(N_VALUES * 2);
    scoped_memory uint32_t *floats = harness_alloc(N_VALUES * 4), *other_floats = harness_alloc(N_VALUES * 4);
    for (size_t k = 0; k < N_VALUES; k++) {
        bytes[k] = (uint8_t)k;
        other_bytes[k] = (uint8_t)(k >> 8);
        words[k] = (uint16_t)k;
    }
    for (int n = 0; n < N_OTHERS; n++) {
        const uint16_t word = (uint16_t)(n < 4 ? (n & 1) << 15 | (n & 2) * 0x3dff : harness_random_u32(random));
        for (size_t k = 0; k < N_VALUES; k++) { /* no LLR is infinite or NaN */
            other_words[k] = (word & 0x7c00) == 0x7c00 ? word ^ 0x4000 : word;
            floats[k] = harness_random_u32(random);
            other_floats[k] = harness_random_u32(random) & 0xbfffffff;
        }
        for (int which = 0; which < 2; which++) {
            check_sums(SOFTQAM_OUTPUT_S8, variant, bytes, other_bytes, n < 4 ? limits[0][which] : (float)(5 * n));
            check_sums(SOFTQAM_OUTPUT_S16, variant, words, other_words, limits[1][which]);
            check_sums(SOFTQAM_OUTPUT_F16, variant, words, other_words, limits[2][which]);
            check_sums(SOFTQAM_OUTPUT_F32, variant, floats, other_floats, limits[3][which]);
        }
    }
}

HARNESS_TEST(test_sums)
{
    harness_random random = harness_random_named(__func__);
    for (size_t k = 0; k < softqam_n_cpu_variants; k++)
        if (softqam_cpu_variants[k]->add && softqam_cpu_variants[k]->runs_here())
            check_variant(softqam_cpu_variants[k], &random);
}
