/* SPDX-License-Identifier: MIT */
#include "hard_bits.h"

#include "sample_format.h"

void hard_bits_decide(softqam_output_format format, softqam_sign sign, const void *values, size_t n, uint8_t *bits)
{
    const unsigned positive = sign == SOFTQAM_SIGN_POSITIVE_IS_1;
    const double neutral = format == SOFTQAM_OUTPUT_U8 ? 127 : 0;
    for (size_t i = 0; i < n; i++) {
        const double value = sample_format_value(format, values, i);
        bits[i] = (uint8_t)(value > neutral ? positive : value < neutral ? !positive : 0);
    }
}

size_t hard_bits_pack(struct bit_packer *packer, const uint8_t *bits, size_t n, uint8_t *bytes)
{
    size_t n_bytes = 0;
    for (size_t i = 0; i < n; i++) {
        packer->byte = packer->byte << 1 | bits[i];
        if (++packer->n_bits < 8)
            continue;
        bytes[n_bytes++] = (uint8_t)packer->byte;
        *packer = (struct bit_packer){0, 0};
    }
    return n_bytes;
}

size_t hard_bits_flush(struct bit_packer *packer, uint8_t *bytes)
{
    if (packer->n_bits == 0)
        return 0;
    *bytes = (uint8_t)(packer->byte << (8 - packer->n_bits));
    *packer = (struct bit_packer){0, 0};
    return 1;
}
