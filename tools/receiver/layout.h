/* SPDX-License-Identifier: MIT */
/* The codewords of a slot: which layer and subcarriers each has, in all OFDM symbols, and its modulation. */
#ifndef SOFTQAM_TOOLS_RECEIVER_LAYOUT_H
#define SOFTQAM_TOOLS_RECEIVER_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "numerology.h"

enum { MAX_MODULATIONS = 16, MAX_LAYER_CODEWORDS = 64, MAX_CODEWORDS = LAYERS * MAX_LAYER_CODEWORDS };

struct codeword {
    softqam_modulation modulation;
    unsigned n_bits; /* of a symbol */
    uint32_t layer;
    size_t first_subcarrier;
    size_t n_subcarriers;
    size_t n_symbols;    /* OFDM_SYMBOLS times as many; its first symbols are those of the first OFDM symbol */
    size_t first_symbol; /* of the slot's, codeword after codeword; even */
    size_t first_llr;    /* of the slot's, likewise */
};

struct layout {
    size_t n_codewords;
    size_t n_segments; /* one for each OFDM symbol of each codeword */
    size_t n_llrs;
    struct codeword codewords[MAX_CODEWORDS];
};

/* The resource blocks of each layer go to so many codewords, the modulations to all codewords in turns. */
void layout_init(struct layout *layout, size_t layer_codewords, const softqam_modulation *modulations,
                 size_t n_modulations);

/* The segments of a slot, wherever the pointers point: symbols are I and Q, [LAYERS][OFDM_SYMBOLS][SUBCARRIERS], noise
 * variances [LAYERS][SUBCARRIERS], LLRs lie codeword after codeword. */
void layout_lay_out(const struct layout *layout, softqam_segment *segments, float *symbols, float *noise_var,
                    int8_t *llrs);

#endif
