/* SPDX-License-Identifier: MIT */
/* The receiver's use of the library: the memory of a few slots, and the call that demodulates one. */
#ifndef SOFTQAM_TOOLS_RECEIVER_ENGINE_H
#define SOFTQAM_TOOLS_RECEIVER_ENGINE_H

#include "front_end.h"

/* Host memory, as the front end leaves it and a decoder takes it. */
struct slot_memory {
    float complex *symbols;
    int8_t *values;    /* soft buffers; those of the slot before for a retransmission */
    size_t n_received; /* transmissions that `values` hold; 0: unknown */
};

/* All functions that fail have printed a message. */
struct engine {
    char counted[160];        /* what a call does */
    softqam_context *context; /* one, for any number of demodulators and threads */
    softqam_demodulator *demodulator;
    const struct layout *layout;
    softqam_segment *segments; /* one a codeword, filled for each call */
    size_t n_slots;
    struct slot_memory *slots;
    float *noise_var;      /* of each symbol, the same in all slots */
    struct device *device; /* NULL: host memory */
};

/* On a backend of the library, in memory from softqam_host_alloc(). Everything that calls need is created here:
 * `prepare` is for softqam_context_prepare(). The layout stays the caller's. */
bool engine_open_host(struct engine *engine, const struct layout *layout, const softqam_context_config *config,
                      unsigned prepare, size_t n_slots);

/* A front end and a decoder on the GPU: device memory and a stream of the receiver's own. The host memory is uploaded
 * by engine_upload() and has the soft buffers after engine_download(). */
bool engine_open_device(struct engine *engine, const struct layout *layout, size_t n_slots);

/* A slot to its soft buffers: new data, or added to those of the slot before. */
bool engine_demodulate(struct engine *engine, size_t slot);

/* To the device and back; nothing without one. The upload fills soft buffers with -128, which is no LLR. */
bool engine_upload(struct engine *engine);
bool engine_download(struct engine *engine);

void engine_close(struct engine *engine);

#endif
