/* SPDX-License-Identifier: MIT */
/* What an equaliser hands over: slots of a 100 MHz carrier of 5G NR, 273 resource blocks at a subcarrier spacing of
 * 30 kHz (3GPP TS 38.211 clause 4.3), with the noise variance of each symbol. */
#ifndef SOFTQAM_TOOLS_RECEIVER_FRONT_END_H
#define SOFTQAM_TOOLS_RECEIVER_FRONT_END_H

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

enum {
    LAYERS = 4,
    RESOURCE_BLOCKS = 273,
    SUBCARRIERS = 12 * RESOURCE_BLOCKS,
    OFDM_SYMBOLS = 14,
    SLOT_NANOSECONDS = 500000,
    SLOT_SYMBOLS = LAYERS * OFDM_SYMBOLS * SUBCARRIERS,
    MAX_MODULATIONS = 16,
    MAX_LAYER_CODEWORDS = 64,
    MAX_CODEWORDS = LAYERS * MAX_LAYER_CODEWORDS
};

/* A codeword has some layers and subcarriers of all OFDM symbols. Its symbols lie as [resource element][layer]. */
struct codeword {
    softqam_modulation modulation;
    unsigned bits_per_symbol;
    unsigned n_layers;
    unsigned first_layer;
    uint32_t c_init;
    size_t first_subcarrier;
    size_t n_subcarriers;
    size_t n_symbols;    /* of all layers */
    size_t first_symbol; /* offset in the slot's symbols */
    size_t first_value;  /* offset in the slot's soft buffers */
    size_t n_values;
    softqam_ldpc ldpc;
    softqam_codeword transmissions[2]; /* rv 0, and the retransmission with rv 2; without buffers */
};

struct layout {
    size_t n_codewords;
    size_t n_code_blocks;
    size_t n_llrs;
    size_t n_values; /* of the soft buffers */
    struct codeword codewords[MAX_CODEWORDS];
};

/* Groups the layers by n_layers and divides the resource blocks of each group among layer_codewords codewords, whose
 * modulations cycle through the list. Transport blocks have the highest code rate and limited soft buffers. False after
 * a message if there is no such code. */
bool layout_init(struct layout *layout, size_t n_layers, size_t layer_codewords, const softqam_modulation *modulations,
                 size_t n_modulations);

/* 1 for a slot that retransmits the code blocks of the slot before: the second of four. Else 0. */
static inline size_t slot_is_again(size_t slot) { return slot % 4 == 1; }

/* Each layer's channel: constant paths and white Gaussian noise, after a zero-forcing equaliser. */
struct carrier {
    uint64_t seed;
    float noise_var[LAYERS][SUBCARRIERS]; /* N0 / |response|^2 */
};

void carrier_init(struct carrier *carrier, uint64_t seed, double snr_db);

/* The noise variance of each symbol of a slot. */
void slot_noise_var(const struct carrier *carrier, const struct layout *layout, float *noise_var);

/* Makes slot number `index`: equalised symbols of coded bits, which it draws unless the slot is a retransmission. A bit
 * is a byte, at the position that its LLR has in the soft buffers. False without memory. */
bool slot_make(const struct carrier *carrier, const struct layout *layout, uint32_t index, float complex *symbols,
               uint8_t *coded);

/* The position of a soft buffer that bit selection visits, given the one after the last: skips fillers and wraps. */
size_t next_position(const softqam_codeword *transmission, size_t position);

/* The exact bit error rate of hard decisions on a codeword. */
double carrier_bit_error_rate(const struct carrier *carrier, const struct codeword *codeword);

#endif
