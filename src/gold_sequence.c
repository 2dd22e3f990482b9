/* SPDX-License-Identifier: MIT */
/* The public call for the scrambling sequence. */
#include <inttypes.h>
#include <string.h>

#include <softqam/softqam.h>

#include "cpu/variant.h"
#include "error.h"
#include "gold_polynomials.h"

softqam_status softqam_gold_sequence(uint32_t c_init, uint64_t first_bit, size_t n_bits, void *bits)
{
    const softqam_cpu_variant *variant;
    const char *ignored;
    REFUSE_IF(c_init > GOLD_PERIOD, "c_init is %u, more than 2^31 - 1", c_init);
    if (n_bits == 0)
        return SOFTQAM_OK;
    REFUSE_IF(!bits, "bits is NULL");
    REFUSE_IF(n_bits - 1 > UINT64_MAX - first_bit, "first_bit is %" PRIu64 ", from which on there are no %zu bits",
              first_bit, n_bits);
    (void)softqam_cpu_variant_choose(&variant, NULL, &ignored); /* cannot fail without a name */
    const size_t n_windows = n_bits / GOLD_WINDOW_BITS, n_left = n_bits % GOLD_WINDOW_BITS;
    softqam_gold_windows windows;
    uint32_t words[GOLD_WINDOW];
    softqam_gold_prepare();
    variant->gold->jump(&windows, c_init, first_bit, n_bits < GOLD_WINDOW_BITS ? n_bits : GOLD_WINDOW_BITS);
    if (n_windows > 0)
        variant->gold->take(&windows, n_windows, bits);
    if (n_left == 0)
        return SOFTQAM_OK;
    softqam_gold_front(&windows, 0, n_left, words);
    if (n_left % 32)
        words[n_left / 32] &= ~(~(uint32_t)0 << n_left % 32);
    memcpy((unsigned char *)bits + n_windows * sizeof words, words, (n_left + 7) / 8);
    return SOFTQAM_OK;
}
