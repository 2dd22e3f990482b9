/* SPDX-License-Identifier: MIT */
/* A symbol of any input format as two floats, in portable C. After vec_scalar.h. */
#ifndef SOFTQAM_LOAD_SYMBOL_H
#define SOFTQAM_LOAD_SYMBOL_H

#include <softqam/softqam.h>

#include "vec_scalar.h"

typedef struct loaded_symbol {
    float i;
    float q;
} loaded_symbol;

/* Binary16 to binary32, exactly. */
static inline float widen_half(uint16_t half)
{
    const uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
    /* Infinities and NaNs have the largest exponent in both formats; the bias of all others differs by 112, and a
     * multiplication by 2^112 mends it for subnormals too. */
    const uint32_t bits =
        magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : vec_bits(vec_from_bits(magnitude) * 0x1p112f);
    return vec_from_bits(bits | (uint32_t)(half & 0x8000) << 16);
}

/* One symbol; memcpy because the caller's memory may lie anyhow. */
static inline loaded_symbol load_symbol(softqam_input_format format, const unsigned char *from)
{
    float cf32[2];
    int16_t cs16[2];
    int8_t cs8[2];
    uint16_t cf16[2];
    switch (format) {
    case SOFTQAM_INPUT_CF32:
        memcpy(cf32, from, sizeof cf32);
        return (loaded_symbol){cf32[0], cf32[1]};
    case SOFTQAM_INPUT_CS16:
        memcpy(cs16, from, sizeof cs16);
        return (loaded_symbol){cs16[0], cs16[1]};
    case SOFTQAM_INPUT_CS8:
        memcpy(cs8, from, sizeof cs8);
        return (loaded_symbol){cs8[0], cs8[1]};
    case SOFTQAM_INPUT_CF16:
        memcpy(cf16, from, sizeof cf16);
        return (loaded_symbol){widen_half(cf16[0]), widen_half(cf16[1])};
    }
    return (loaded_symbol){0.0f, 0.0f};
}

#endif
