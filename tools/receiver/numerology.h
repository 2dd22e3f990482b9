/* SPDX-License-Identifier: MIT */
/* One slot of a 100 MHz carrier of 5G NR: 273 resource blocks at a subcarrier spacing of 30 kHz, normal cyclic prefix
 * (3GPP TS 38.211 clauses 4.3 and 5.3.1), sampled at 122.88 MHz. */
#ifndef SOFTQAM_TOOLS_RECEIVER_NUMEROLOGY_H
#define SOFTQAM_TOOLS_RECEIVER_NUMEROLOGY_H

enum {
    LAYERS = 4,
    SUBCARRIERS = 273 * 12,
    OFDM_SYMBOLS = 14,
    FFT_LENGTH = 4096,
    PREFIX_LENGTH = 288,
    FIRST_PREFIX_LENGTH = 352, /* of a slot's first OFDM symbol */
    SLOT_SAMPLES = OFDM_SYMBOLS * (FFT_LENGTH + PREFIX_LENGTH) + FIRST_PREFIX_LENGTH - PREFIX_LENGTH,
    SLOT_NANOSECONDS = 500000,
    LAYER_SYMBOLS = OFDM_SYMBOLS * SUBCARRIERS,
    SLOT_SYMBOLS = LAYERS * LAYER_SYMBOLS,
    SYMBOL_BITS = 8
};

_Static_assert(SLOT_SAMPLES == 61440, "0.5 ms at 122.88 MHz");

#endif
