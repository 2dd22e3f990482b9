/* SPDX-License-Identifier: MIT */
/* The codewords of a slot: which layers and subcarriers each has, in all OFDM symbols, its modulation, its scrambling
 * and its code blocks. */
#ifndef SOFTQAM_TOOLS_RECEIVER_LAYOUT_H
#define SOFTQAM_TOOLS_RECEIVER_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "code_block.h"
#include "numerology.h"

enum {
    MAX_MODULATIONS = 16,
    MAX_LAYER_CODEWORDS = 64,
    MAX_CODEWORDS = LAYERS * MAX_LAYER_CODEWORDS,
    MAX_CODE_BLOCKS = 512 /* 202 of 1024QAM, and one that is not full for each codeword */
};

struct codeword {
    softqam_modulation modulation;
    unsigned n_bits; /* of a symbol */
    unsigned n_layers;
    uint32_t first_layer;
    uint32_t c_init;
    size_t first_subcarrier;
    size_t n_subcarriers;
    size_t n_symbols;    /* of all layers: first those of the first resource element, subcarrier after subcarrier */
    size_t first_symbol; /* of the slot's, codeword after codeword */
    size_t first_llr;    /* likewise; a multiple of 8 */
    size_t n_code_blocks;
};

struct layout {
    size_t n_codewords;
    size_t n_code_blocks;
    size_t n_llrs;
    struct codeword codewords[MAX_CODEWORDS];
    struct code_block code_blocks[MAX_CODE_BLOCKS];
};

/* The layers in groups of n_layers, the resource blocks of each group divided among so many codewords; the modulations
 * go to all codewords in turns. */
void layout_init(struct layout *layout, size_t n_layers, size_t layer_codewords, const softqam_modulation *modulations,
                 size_t n_modulations);

/* What a slot's LLRs come out as, codeword after codeword. */
enum llr_order {
    SYMBOL_ORDER,  /* as they are demodulated, scrambled */
    CODEWORD_ORDER /* descrambled, each code block in bit planes: what a rate recovery takes */
};

/* Where a slot lies, in host or device memory: codeword after codeword, and of each its layers one after the other,
 * with the subcarriers of one OFDM symbol after the other. */
struct slot_places {
    float *symbols;   /* I and Q */
    float *noise_var; /* of each symbol */
    int8_t *llrs;
};

/* The segments of a slot, one for each codeword. */
void layout_lay_out(const struct layout *layout, enum llr_order order, const struct slot_places *places,
                    softqam_segment *segments);

#endif
