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
#include "passes.h"

/* Host memory, as the front end leaves it and as a rate recovery takes it. */
struct slot_memory {
    float *symbols; /* as layout.h has them */
    int8_t *llrs;   /* codeword after codeword, in codeword order */
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
    float *noise_var;     /* of a slot's symbols, the same in all slots */
    int8_t *symbol_order; /* a slot's LLRs between the passes */
    uint8_t *sequence;    /* a slot's, for the passes */
    struct device *device;
    /* A slot's LLRs in codeword order, by the library. */
    bool (*demodulate)(struct engine *engine, size_t slot);
    /* The same by passes, or the first ones of them. */
    bool (*demodulate_in_passes)(struct engine *engine, size_t slot, enum pass last);
};

/* Memory from softqam_host_alloc(), on a backend of the library's. What the calls need is made here, before time
 * counts: `prepare` is for softqam_context_prepare(). The layout stays the caller's. */
bool engine_open_host(struct engine *engine, const struct layout *layout, const softqam_context_config *config,
                      unsigned prepare, size_t n_slots);

/* A front end and a decoder on the GPU: memory and a stream of the receiver's own. Host memory is filled before
 * engine_upload(), and has the LLRs after engine_download(). */
bool engine_open_device(struct engine *engine, const struct layout *layout, size_t n_slots);

/* To the device and back, where there is one; else nothing. Uploading fills the LLRs with -128, which no LLR is. */
bool engine_upload(struct engine *engine);
bool engine_download(struct engine *engine);

/* Memory from softqam_host_alloc(). */
bool engine_allocate(struct engine *engine, size_t nbytes, void **memory);

void engine_close(struct engine *engine);

/* Of engine_device.c, or of engine_no_device.c where there is no CUDA. */
void engine_close_device(struct engine *engine);

#endif
