/* SPDX-License-Identifier: MIT */
/* The receiver in miniature: the library's use (engine.c), the slots that arrive (slots.c), and what is checked and
 * timed (receiver.c). Functions that fail have printed a message. */
#ifndef SOFTQAM_TOOLS_RECEIVER_RECEIVER_H
#define SOFTQAM_TOOLS_RECEIVER_RECEIVER_H

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

/* Slots of a 100 MHz carrier of 5G NR, 273 resource blocks at a subcarrier spacing of 30 kHz (3GPP TS 38.211 clause
 * 4.3), with the noise variance of each symbol. */
enum {
    LAYERS = 4,
    RESOURCE_BLOCKS = 273,
    SUBCARRIERS = 12 * RESOURCE_BLOCKS,
    OFDM_SYMBOLS = 14,
    SLOT_NANOSECONDS = 500000,
    SLOT_SYMBOLS = LAYERS * OFDM_SYMBOLS * SUBCARRIERS,
    SLOTS = 8, /* different slots, which repeat */
    MAX_CODEWORDS = 64,
    COUPLED = 2 /* layers 0 and 1 with --coupled, and the antennas that receive both */
};

/* A codeword has all layers and some subcarriers of all OFDM symbols. Its symbols lie as [resource element][layer]. */
struct codeword {
    uint32_t c_init;
    size_t first_subcarrier, n_subcarriers;
    size_t first_symbol, n_symbols; /* in the slot's symbols of all layers */
    size_t first_value, n_values;   /* in the slot's soft buffers */
    softqam_ldpc ldpc;
    softqam_codeword transmissions[2]; /* rv 0, and the retransmission with rv 2; without buffers */
};

struct layout {
    softqam_modulation modulation;
    unsigned bits_per_symbol;
    size_t n_codewords;
    size_t n_code_blocks, n_values; /* a slot's code blocks, and the values of their soft buffers */
    struct codeword codewords[MAX_CODEWORDS];
    bool is_coupled; /* layers 0 and 1 share their resource elements; else each layer is alone */
};

/* Returns 1 for a slot that retransmits the code blocks of the slot before: the second of four. Else 0. */
static inline size_t slot_is_again(size_t slot) { return slot % 4 == 1; }

/* Memory of all slots, as the front end leaves it and a decoder takes it. */
struct memory {
    float complex *symbols;    /* symbols of all slots */
    float complex *cross_gain; /* c of layers 0 and 1 at each resource element, the same in all slots, if coupled */
    float *gain, *noise_var;   /* a value for each symbol, the same in all slots; `gain` is read if coupled */
    int8_t *values;            /* soft buffers of all slots; a retransmission uses those of the slot before */
};

/* slots.c */

/* Makes all inputs of a receiver, with this mean Es/N0 at an antenna, and the bits of all slots, each a byte at the
 * position of its LLR in the soft buffers. Coupled layers, whose channels to an antenna have this correlation, are
 * outputs of a matched filter; the others are divided by their channel. */
bool slots_make(const struct layout *layout, double snr_db, double correlation, const struct memory *memory,
                uint8_t *coded);

/* Replaces the coupled layers' matched-filter outputs by those of an LMMSE equaliser. */
void slots_equalise(const struct memory *memory);

/* Returns `position` or, if it is a filler or beyond the end, the next position that bit selection visits. */
size_t next_position(const softqam_codeword *transmission, size_t position);

/* engine.c */

/* The library's objects, and the call that demodulates a slot. */
struct engine {
    softqam_context *context; /* one, for any number of demodulators and threads */
    softqam_demodulator *demodulator;
    const struct layout *layout;
    softqam_segment segments[MAX_CODEWORDS]; /* one for each codeword, filled in before each call */
    bool is_joint;                           /* demaps coupled layers jointly, else each one alone */
    struct memory host;
    bool on_device;
    struct memory device;
    struct CUstream_st *stream;
};

/* Opens a receiver on a backend of the library, and creates all that calls need. With `on_device` symbols and soft
 * buffers are in device memory, as for a front end and a decoder on the GPU; engine_upload() and engine_download() copy
 * them. The layout must outlive the engine. */
bool engine_open(struct engine *engine, const struct layout *layout, const softqam_context_config *config,
                 bool on_device);

/* Copies the host's inputs of an engine to another one. */
void engine_copy_inputs(struct engine *destination, const struct engine *source);

/* Returns a slot's soft buffers on the host. */
int8_t *engine_values(const struct engine *engine, size_t slot);

/* Demodulates a slot: stores new data in its soft buffers, or adds a retransmission to those of the slot before. */
bool engine_demodulate(struct engine *engine, size_t slot);

/* Copy the memory to the device and back, unless calls work on host memory. engine_upload() also fills the soft buffers
 * with -128, which is no LLR. */
bool engine_upload(struct engine *engine);
bool engine_download(struct engine *engine);

void engine_close(struct engine *engine);

#endif
