/* SPDX-License-Identifier: MIT */
#include "hard_bits.h"

#include <string.h>

void hard_bits_decide(softqam_output_format format, softqam_sign sign, const void *values, size_t n, uint8_t *bits)
{
    const unsigned char *bytes = values;
    const unsigned positive = sign == SOFTQAM_SIGN_POSITIVE_IS_1;
    for (size_t i = 0; i < n; i++) {
        uint16_t half;
        int16_t steps;
        float single;
        int order = 0; /* of the value to the one that says nothing */
        switch (format) {
        case SOFTQAM_OUTPUT_U8:
            order = (int)bytes[i] - 127;
            break;
        case SOFTQAM_OUTPUT_S8:
            order = (bytes[i] ^ 0x80) - 0x80;
            break;
        case SOFTQAM_OUTPUT_S16:
            memcpy(&steps, bytes + i * sizeof steps, sizeof steps);
            order = steps;
            break;
        case SOFTQAM_OUTPUT_F16:
            memcpy(&half, bytes + i * sizeof half, sizeof half);
            order = (half & 0x7fff) == 0 ? 0 : half & 0x8000 ? -1 : 1;
            break;
        case SOFTQAM_OUTPUT_F32:
            memcpy(&single, bytes + i * sizeof single, sizeof single);
            order = (single > 0) - (single < 0);
            break;
        }
        bits[i] = (uint8_t)(order > 0 ? positive : order < 0 ? !positive : 0);
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
