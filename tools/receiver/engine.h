/* SPDX-License-Identifier: MIT */
/* The receiver's use of the library: where the symbols of a few slots lie, and the call that demodulates one. */
#ifndef SOFTQAM_TOOLS_RECEIVER_ENGINE_H
#define SOFTQAM_TOOLS_RECEIVER_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "layout.h"
#include "numerology.h"

/* Host memory, as the front end leaves it and as a decoder takes it, as layout.h has them. */
struct slot_memory {
    float *symbols;
    int8_t *values;    /* those of the slot before, if this one is added to it */
    size_t n_received; /* transmissions that `values` hold; 0: some other number */
};

/* Each failing function has said why. */
struct engine {
    char counted[160];        /* what a call does */
    softqam_context *context; /* a receiver has one, whatever number of demodulators and threads */
    softqam_demodulator *demodulator;
    const struct layout *layout;
    softqam_segment *segments; /* a slot's, one a codeword; filled by each call, as a receiver's would be */
    size_t n_slots;
    struct slot_memory *slots;
    float *noise_var; /* of a slot's symbols, the same in all slots */
    struct device *device;
    /* A slot to its soft buffers, by the library: engine_demodulate() calls it. */
    bool (*demodulate)(struct engine *engine, size_t slot);
};

/* Memory from softqam_host_alloc(), on a backend of the library's. What the calls need is made here, before time
 * counts: `prepare` is for softqam_context_prepare(). The layout stays the caller's. */
bool engine_open_host(struct engine *engine, const struct layout *layout, const softqam_context_config *config,
                      unsigned prepare, size_t n_slots);

/* A front end and a decoder on the GPU: memory and a stream of the receiver's own. Host memory is filled before
 * engine_upload(), and has the soft buffers after engine_download(). */
bool engine_open_device(struct engine *engine, const struct layout *layout, size_t n_slots);

/* A slot to its soft buffers: new data, or added to what the slot before has left there. */
bool engine_demodulate(struct engine *engine, size_t slot);

/* To the device and back, where there is one; else nothing. Uploading fills soft buffers with -128, which no LLR is. */
bool engine_upload(struct engine *engine);
bool engine_download(struct engine *engine);

/* Memory from softqam_host_alloc(). */
bool engine_allocate(struct engine *engine, size_t nbytes, void **memory);

void engine_close(struct engine *engine);

/* Of engine_device.c, or of engine_no_device.c where there is no CUDA. */
void engine_close_device(struct engine *engine);

#endif
