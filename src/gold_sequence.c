/* SPDX-License-Identifier: MIT */
/* The public call for the scrambling sequence. */
#include <stdatomic.h>
#include <string.h>

#include <softqam/softqam.h>

#include "cpu/variant.h"
#include "error.h"
#include "gold_polynomials.h"

/* Those of the variant that contexts have where nothing else is said; found once. */
static softqam_gold_loops default_loops(void)
{
    static _Atomic(const softqam_cpu_variant *) found;
    const softqam_cpu_variant *variant = atomic_load_explicit(&found, memory_order_relaxed);
    if (!variant) {
        const char *ignored;
        (void)softqam_cpu_variant_choose(&variant, NULL, &ignored); /* cannot fail without a name */
        atomic_store_explicit(&found, variant, memory_order_relaxed);
    }
    return variant->gold;
}

softqam_status softqam_gold_sequence(uint32_t c_init, uint64_t first_bit, size_t n_bits, void *bits)
{
    if (c_init > GOLD_PERIOD)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "c_init is %u, more than 2^31 - 1", (unsigned)c_init);
    if (n_bits == 0)
        return SOFTQAM_OK;
    if (!bits)
        return softqam_fail(SOFTQAM_ERROR_INVALID_ARGUMENT, "bits is NULL");
    const softqam_gold_loops loops = default_loops();
    const size_t n_windows = n_bits / GOLD_WINDOW_BITS, n_left = n_bits % GOLD_WINDOW_BITS;
    softqam_gold_windows windows;
    uint32_t words[GOLD_WINDOW];
    softqam_gold_prepare();
    loops.jump(&windows, c_init, first_bit, n_bits < GOLD_WINDOW_BITS ? n_bits : GOLD_WINDOW_BITS);
    if (n_windows > 0)
        loops.take(&windows, n_windows, bits);
    if (n_left == 0)
        return SOFTQAM_OK;
    softqam_gold_front(&windows, 0, n_left, words);
    if (n_left % 32)
        words[n_left / 32] &= ~(~(uint32_t)0 << n_left % 32);
    memcpy((unsigned char *)bits + n_windows * sizeof words, words, (n_left + 7) / 8);
    return SOFTQAM_OK;
}
