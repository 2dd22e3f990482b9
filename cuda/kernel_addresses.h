/* SPDX-License-Identifier: MIT */
/* The kernels for the launcher, and their arguments, for C and CUDA. */
#ifndef SOFTQAM_KERNEL_ADDRESSES_H
#define SOFTQAM_KERNEL_ADDRESSES_H

#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BLOCK_THREADS = 128,
    SMALL_BLOCK_THREADS = 256, /* of the kernels of small plain calls */
    WARP_THREADS = 32,
    BLOCK_WARPS = BLOCK_THREADS / WARP_THREADS
};

/* Steps that a warp of segment_kernel.cuh takes at most: so many that the begin of a block costs little. */
enum { MOST_WARP_STEPS = 16 };

/* Symbols that a warp takes at a time in segment_kernel.cuh: whole resource elements, so that each thread stays with
 * one layer. */
HOST_AND_DEVICE static inline unsigned softqam_step_symbols(unsigned n_layers)
{
    return n_layers == 3 ? 30 : WARP_THREADS; /* a division would take as long as a load */
}

/* What LLRs are limited to. Those of s8 and s16 are first computed with the limit added. */
typedef struct softqam_llr_limit {
    float llr;                /* f32 */
    int32_t steps;            /* s8, s16 */
    int32_t two_limits;       /* twice that */
    uint32_t two_limits_each; /* the same in each byte or half of a word */
    uint32_t to_middle_each;  /* from the limit to the middle of what a byte or half holds */
} softqam_llr_limit;

/* Symbols that a block's warps take of a segment, in so many steps each. Of segments in device memory, whose layers a
 * block does not look at before it has found its own, as many as of three layers. */
HOST_AND_DEVICE static inline unsigned softqam_block_symbols(unsigned block_steps, unsigned n_layers, bool is_in_device)
{
    return block_steps * softqam_step_symbols(is_in_device ? 3 : n_layers);
}

/* Of plain_kernel.cuh, before the table of soft bits. */
typedef struct softqam_plain_segment {
    const void *symbols;
    const float *noise; /* NULL: noise_value, of the whole segment */
    void *out;
    size_t n_symbols;
    float input_scale;
    float steps_per_nat;
    softqam_llr_limit limit;
    float noise_value;
    unsigned groups_per_block; /* of symbols */
    uint32_t pi2_sign;         /* pi/2-BPSK: of I of the first symbol and every other one, in bit 31 */
    uint32_t other_pi2_sign;   /* of those between */
    bool has_noise_each;
    bool noise_is_inverse;
} softqam_plain_segment;

/* The same, of a codeword. */
typedef struct softqam_codeword_segment {
    softqam_plain_segment plain; /* of a layer: its first one */
    softqam_kernel_layer layers[SOFTQAM_MAX_LAYERS];
    unsigned n_layers; /* 1, 2 or 4; of several, each symbol has a noise value */
    int symbol_step;   /* from a symbol of a group to that of the group BLOCK_THREADS after it, in its layer */
    bool is_descrambled;
    bool is_deinterleaved; /* in bit planes: each code block, or all symbols, plane_nbytes from one plane to the next */
    uint32_t c_init;
    size_t plane_nbytes;
    uint64_t first_symbol;
    /* Of code blocks, each of whole groups, that lie where groups are aligned. */
    softqam_blocks blocks; /* of which none is transmitted: there are none */
    uint32_t codeword_symbol;
    uint64_t block_stride;
} softqam_codeword_segment;

/* Of segment_kernel.cuh and soft_kernel.cuh, before the segments: what all of a launch share. */
typedef struct softqam_segment_launch {
    const softqam_segment *device_segments; /* in device memory; NULL: the segments are arguments */
    const unsigned *n_device_segments;
    unsigned n_segments;   /* with device_segments: at most */
    unsigned block_steps;  /* that a block's warps take, each the same number of them */
    unsigned per_block;    /* with device_segments: the least integer above 2^32 / softqam_block_symbols() */
    unsigned input_format; /* softqam_input_format */
    softqam_llr_limit limit;
    softqam_kernel_defaults defaults; /* of device_segments */
    float sum_limit;                  /* of values in soft buffers */
} softqam_segment_launch;

/* The kernels of plain calls. */
typedef struct softqam_plain_kernel {
    const void *address;
    const void *small;       /* for calls of which the device holds all blocks at once */
    const void *codeword;    /* for large ones of layers, descrambled or in bit planes; NULL: none */
    unsigned group_symbols;  /* that a thread takes side by side */
    unsigned small_symbols;  /* the same of `small` */
    unsigned most_tiles;     /* of BLOCK_THREADS groups, that a block takes one after the other */
    unsigned codeword_tiles; /* the same of a codeword */
} softqam_plain_kernel;

/* By input format; axis_bits as softqam_axis_bits() has them. */
typedef softqam_plain_kernel softqam_plain_kernels(softqam_output_format format, int axis_bits);
softqam_plain_kernels softqam_plain_kernels_cf32;
softqam_plain_kernels softqam_plain_kernels_cs16;
softqam_plain_kernels softqam_plain_kernels_cs8;
softqam_plain_kernels softqam_plain_kernels_cf16;

/* The kernel of up to FEW_SEGMENTS segments, or of MANY_SEGMENTS, without soft buffers. */
const void *softqam_segment_kernel(softqam_output_format format, bool many);

/* The kernel of up to FEW_SEGMENTS segments, some with soft buffers, and of segments in device memory. */
const void *softqam_soft_kernel(softqam_output_format format);

#ifdef __cplusplus
}
#endif

#endif
