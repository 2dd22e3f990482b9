/* SPDX-License-Identifier: MIT */
/* A part of a segment whose layers are demapped jointly, on its way to the loops of joint_loops.h. */
#ifndef SOFTQAM_CPU_JOINT_H
#define SOFTQAM_CPU_JOINT_H

#include "joint_loops.h"
#include "segment.h"

/* Symbols of a tile, whole resource elements: if inputs are gathered, of one to four layers; if loops take them where
 * they lie, of one or two. */
enum { JOINT_GATHERED_SYMBOLS = 192, JOINT_SYMBOLS = 256 };

/* Memory for a tile. */
typedef struct softqam_joint_memory {
    float symbols[2 * JOINT_GATHERED_SYMBOLS];
    float partners[2 * JOINT_GATHERED_SYMBOLS];
    float gains[JOINT_GATHERED_SYMBOLS];
    float partner_gains[JOINT_GATHERED_SYMBOLS];
    float noise[JOINT_GATHERED_SYMBOLS];
    float partner_noise[JOINT_GATHERED_SYMBOLS];
    float cross[2 * JOINT_GATHERED_SYMBOLS];
    unsigned char raw[JOINT_GATHERED_SYMBOLS * 8]; /* symbols before they are converted */
    unsigned char out[JOINT_GATHERED_SYMBOLS * MAX_SYMBOL_BITS * sizeof(float)];
} softqam_joint_memory;

/* The layers of a segment that are demapped jointly. */
typedef struct softqam_joint {
    const softqam_params *params;
    const softqam_cpu_loops *loops;
    softqam_source source;   /* the whole segment's */
    softqam_source partners; /* if has_partners: each layer's partner, with noise values where they matter */
    const float *cross_gain[SOFTQAM_MAX_LAYERS]; /* arrays of the cross gain c, taken in turn */
    size_t n_cross;
    size_t cross_stride;
    size_t first; /* the part's first symbol, counted from the segment's */
    unsigned n_layers;
    softqam_modulation modulation;
    bool has_partners; /* else the partners are neighbours among the symbols */
    bool has_one_noise;
    bool is_direct; /* loops take all inputs where they lie */
    /* By bits of an axis of the partner's modulation: bit k says that layer k has such a partner. Index 0: the layers
     * that are demapped one by one. */
    uint8_t layers_by_partner[MAX_AXIS_BITS + 1];
} softqam_joint;

/* Opens the part of a segment that begins at symbol `first`, the first one of a resource element. */
void softqam_joint_open(softqam_joint *joint, const softqam_params *params, const softqam_cpu_loops *loops,
                        const softqam_segment *from, size_t first);

/* Demaps to->n_symbols symbols, whole resource elements, from the part's symbol `first` on, to to->out; at most
 * JOINT_GATHERED_SYMBOLS unless the part is direct. LLRs of layers that are demapped one by one are there already.
 * `erased` is NULL or a bit for each symbol; it sets those of erasures among the other layers. */
void softqam_joint_demodulate(const softqam_joint *joint, softqam_joint_memory *memory, size_t first,
                              const softqam_loop_call *to, uint64_t *erased);

#endif
