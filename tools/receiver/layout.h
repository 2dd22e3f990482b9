/* SPDX-License-Identifier: MIT */
/* The codewords of a slot: which layers and subcarriers each has, in all OFDM symbols, its modulation, its scrambling
 * and its soft buffers. */
#ifndef SOFTQAM_TOOLS_RECEIVER_LAYOUT_H
#define SOFTQAM_TOOLS_RECEIVER_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "numerology.h"

enum { MAX_MODULATIONS = 16, MAX_LAYER_CODEWORDS = 64, MAX_CODEWORDS = LAYERS * MAX_LAYER_CODEWORDS };

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
    size_t first_value;  /* of the slot's soft buffers, likewise */
    size_t n_values;
    softqam_ldpc ldpc;
    softqam_codeword transmissions[2]; /* the first one, rv 0, and the one that is added to it, rv 2; without buffers */
};

struct layout {
    size_t n_codewords;
    size_t n_code_blocks;
    size_t n_llrs;
    size_t n_values; /* of the soft buffers */
    struct codeword codewords[MAX_CODEWORDS];
};

/* The layers in groups of n_layers, the resource blocks of each group divided among so many codewords; the modulations
 * go to all codewords in turns. Each transport block has the highest code rate, and soft buffers that are limited as
 * those of the largest one are. False, having said why, where there is no such code. */
bool layout_init(struct layout *layout, size_t n_layers, size_t layer_codewords, const softqam_modulation *modulations,
                 size_t n_modulations);

/* Of four slots the second one sends the code blocks of the first one again: 0, or 1 for such a slot. */
static inline size_t slot_is_again(size_t slot)
{
    return slot % 4 == 1;
}

/* Where a slot lies, in host or device memory: codeword after codeword, and of each its layers one after the other,
 * with the subcarriers of one OFDM symbol after the other. */
struct slot_places {
    float *symbols;   /* I and Q */
    float *noise_var; /* of each symbol */
    int8_t *values;   /* soft buffers, codeword after codeword */
};

/* The segments of a slot, one for each codeword. */
void layout_lay_out(const struct layout *layout, bool again, const struct slot_places *places,
                    softqam_segment *segments);

#endif
