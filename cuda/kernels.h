/* SPDX-License-Identifier: MIT */
/* The kernels and their arguments, for C and CUDA. */
#ifndef SOFTQAM_KERNELS_H
#define SOFTQAM_KERNELS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" { /* src/'s headers too are of C */
#endif

#include "params.h"
#include "resolved_segment.h"

/* Where one layer's symbols and noise lie, as a kernel takes it. */
typedef struct softqam_kernel_layer {
    const void *symbols;
    const void *symbols_q; /* NULL: I and Q side by side */
    const float *noise_var;
} softqam_kernel_layer;

/* A segment as a kernel takes it, complete: no field stands for a default. */
typedef struct softqam_kernel_segment {
    size_t n_symbols;
    uint64_t first_symbol; /* of the scrambling sequence and of pi/2-BPSK's parity */
    void *out;             /* with a codeword, its buffers */
    size_t plane_stride;   /* 0 with a codeword */
    size_t symbol_stride;
    size_t noise_stride;
    softqam_kernel_layer layers[SOFTQAM_MAX_LAYERS]; /* noise_var NULL: noise_value, of the whole segment */
    float input_scale;
    float steps_per_nat;
    float noise_value;
    uint32_t c_init;
    uint8_t modulation;
    uint8_t n_layers; /* 1 where layers are interleaved: their symbols are one run; `blocks` has the number of layers */
    uint8_t noise_is_inverse;
    uint8_t is_descrambled;
    uint8_t has_codeword;
    uint8_t is_deinterleaved; /* each code block, with a codeword */
    uint8_t is_iq_with_noise; /* I and Q side by side, each symbol with a noise value, no gains */
    /* With a codeword. */
    uint32_t codeword_symbol; /* of the segment's first symbol */
    softqam_code_blocks blocks;
    uint64_t block_stride;
    void *const *block_buffers;
    const float *gains[SOFTQAM_MAX_LAYERS]; /* with noise_stride; of layer 0 NULL: there are none */
} softqam_kernel_segment;

/* The soft buffers of a segment's codeword. */
typedef struct softqam_kernel_soft {
    softqam_soft_buffer buffer; /* n_data 0: LLRs go nowhere */
    float filler_value;
    uint8_t is_used; /* else the segment has no soft buffers */
    uint8_t combines;
    uint8_t is_repeated; /* some code block has more LLRs than positions, so that the order of adding matters */
    /* Of an argument. */
    uint32_t first_block;  /* the first code block's number among those transmitted */
    uint32_t block_parts;  /* thread blocks that share a code block */
    uint32_t per_part;     /* 2^32 / block_parts, rounded up; 0 if block_parts is 1 */
    uint32_t part_symbols; /* that each of these takes */
} softqam_kernel_soft;

/* What the zeros of a segment stand for. */
typedef struct softqam_kernel_defaults {
    float input_scale;
    float llr_scale;
    unsigned modulation;
    unsigned noise_form;
    unsigned symbol_nbytes; /* of the input */
    bool is_negative;       /* LLRs: positive means 1 */
} softqam_kernel_defaults;

static inline softqam_kernel_defaults softqam_kernel_defaults_of(const softqam_params *params)
{
    return (softqam_kernel_defaults){
        .input_scale = params->input_scale,
        .llr_scale = params->llr_scale,
        .modulation = params->modulation,
        .noise_form = params->noise_form,
        .symbol_nbytes = (unsigned)params->input_nbytes,
        .is_negative = params->sign == SOFTQAM_SIGN_POSITIVE_IS_1,
    };
}

static_assert(SEGMENT_RESERVED == 764,
              "the two functions below take the new field, and find_plain_kernel() in launch.c asks for it");

HOST_AND_DEVICE static inline void softqam_kernel_codeword_make(softqam_kernel_segment *to, const softqam_segment *from)
{
    const softqam_codeword *codeword = &from->codeword;
    to->has_codeword = codeword->n_code_blocks != 0;
    to->is_deinterleaved = codeword->deinterleave != 0;
    to->codeword_symbol = (uint32_t)from->first_symbol;
    to->block_stride = codeword->block_stride;
    to->block_buffers = codeword->block_buffers;
    if (!to->has_codeword)
        return;
    to->out = codeword->buffers;
    to->plane_stride = 0;
    softqam_code_blocks_make(&to->blocks, codeword, softqam_symbol_bits((softqam_modulation)to->modulation),
                             to->n_layers);
}

/* From a caller's segment in device memory, which a kernel may read there. What no host could check is made harmless as
 * far as it can be. */
HOST_AND_DEVICE static inline void softqam_kernel_segment_make(softqam_kernel_segment *to, const softqam_segment *from,
                                                               const softqam_kernel_defaults *defaults)
{
    const unsigned modulation = from->modulation ? (unsigned)from->modulation : defaults->modulation;
    const unsigned noise_form = from->noise_form ? (unsigned)from->noise_form : defaults->noise_form;
    const float llr_scale = from->llr_scale != 0.0f ? from->llr_scale : defaults->llr_scale;
    const unsigned n_layers = from->n_layers < SOFTQAM_MAX_LAYERS ? from->n_layers : SOFTQAM_MAX_LAYERS;
    to->n_symbols = from->n_symbols;
    to->first_symbol = from->first_symbol + from->scrambling_offset;
    to->out = from->out;
    to->plane_stride = from->plane_stride;
    to->symbol_stride = from->symbol_stride ? from->symbol_stride : 1;
    to->noise_stride = from->layers[0].noise_var ? from->noise_stride : 0;
    to->input_scale = from->input_scale != 0.0f ? from->input_scale : defaults->input_scale;
    to->steps_per_nat = defaults->is_negative ? -llr_scale : llr_scale;
    to->noise_value = 0.0f;
    to->c_init = from->c_init & 0x7fffffff;
    to->modulation = (uint8_t)(modulation <= N_MODULATIONS ? modulation : 0);
    to->n_layers = (uint8_t)(n_layers ? n_layers : 1);
    to->noise_is_inverse = noise_form == SOFTQAM_NOISE_FORM_INVERSE;
    to->is_descrambled = from->descramble != 0;
    to->is_iq_with_noise = to->noise_stride != 0 && !from->layers[0].gain;
    for (unsigned k = 0; k < SOFTQAM_MAX_LAYERS; k++) {
        to->is_iq_with_noise &= k >= to->n_layers || !from->layers[k].symbols_q;
        to->layers[k].symbols = from->layers[k].symbols;
        to->layers[k].symbols_q = from->layers[k].symbols_q;
        to->layers[k].noise_var = from->layers[k].noise_var;
        to->gains[k] = from->layers[0].noise_var ? from->layers[k].gain : NULL;
    }
    softqam_kernel_codeword_make(to, from);
    if (softqam_layers_are_interleaved(from, to->n_layers, defaults->symbol_nbytes)) {
        to->n_layers = 1;
        to->symbol_stride = 1;
        to->noise_stride = 1;
    }
}

HOST_AND_DEVICE static inline bool softqam_segment_has_soft_buffers(const softqam_segment *segment)
{
    return segment->codeword.n_code_blocks != 0 && segment->codeword.n_cb != 0;
}

/* The same for soft buffers, once the kernel's segment has been made. */
HOST_AND_DEVICE static inline void softqam_kernel_soft_make(softqam_kernel_soft *to, const softqam_segment *from,
                                                            const softqam_kernel_segment *segment)
{
    const softqam_codeword *codeword = &from->codeword;
    const bool has_positions = codeword->first_filler <= codeword->n_cb &&
                               codeword->n_fillers <= codeword->n_cb - codeword->first_filler &&
                               codeword->k0 < codeword->n_cb;
    to->is_used = softqam_segment_has_soft_buffers(from);
    if (!to->is_used)
        return;
    to->buffer = softqam_soft_buffer_of(codeword);
    if (!has_positions)
        to->buffer.n_data = 0;
    to->filler_value = codeword->filler_value;
    to->combines = codeword->combine != 0;
    to->is_repeated =
        softqam_soft_is_repeated(&to->buffer, (uint64_t)softqam_code_blocks_longest(&segment->blocks) *
                                                  softqam_symbol_bits((softqam_modulation)segment->modulation));
}

/* Segments of a launch at most: a kernel's arguments are limited to 4 KiB. */
enum { MAX_SEGMENTS = 12 };

/* Kernels, and what else they take. */

enum {
    BLOCK_THREADS = 128,
    SMALL_BLOCK_THREADS = 256, /* of the kernels of small plain calls */
    WARP_THREADS = 32,
    BLOCK_WARPS = BLOCK_THREADS / WARP_THREADS
};

/* Iterations of a warp of segment_warp.cuh, at most: enough that the begin of a thread block costs little. */
enum { MOST_WARP_ITERATIONS = 16 };

/* Symbols that a warp takes at a time in segment_warp.cuh: whole resource elements, so that each thread stays with
 * one layer. */
HOST_AND_DEVICE static inline unsigned softqam_warp_symbols(unsigned n_layers)
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

/* Symbols that a thread block takes of a segment in so many iterations of all its warps together. For segments in
 * device memory, whose layers a thread block does not know before it has found its own, as many as of three layers. */
HOST_AND_DEVICE static inline unsigned softqam_block_symbols(unsigned block_iterations, unsigned n_layers,
                                                             bool is_in_device)
{
    return block_iterations * softqam_warp_symbols(is_in_device ? 3 : n_layers);
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
    int symbol_stride; /* from a symbol of a group to that of the group BLOCK_THREADS after it, in its layer */
    bool is_descrambled;
    bool is_deinterleaved; /* in bit planes: each code block, or all symbols, plane_nbytes from one plane to the next */
    uint32_t c_init;
    size_t plane_nbytes;
    uint64_t first_symbol;
    /* Of code blocks, each of whole groups, that lie where groups are aligned. */
    softqam_code_blocks blocks; /* of which none is transmitted: there are none */
    uint32_t codeword_symbol;
    uint64_t block_stride;
} softqam_codeword_segment;

/* Of segment_kernels.cu and soft_kernel.cuh, before the segments: what all of a launch share. */
typedef struct softqam_segment_launch {
    const softqam_segment *device_segments; /* in device memory; NULL: the segments are arguments */
    const unsigned *n_device_segments;
    unsigned n_segments;       /* with device_segments: at most */
    unsigned block_iterations; /* of all warps of a thread block together, each the same number */
    unsigned input_format;     /* softqam_input_format */
    softqam_llr_limit limit;
    softqam_kernel_defaults defaults; /* of device_segments */
    float sum_limit;                  /* of values in soft buffers */
} softqam_segment_launch;

typedef struct softqam_kernel {
    const void *address;
    unsigned threads; /* of a block */
    /* Of plain_kernel.cuh. */
    unsigned group_symbols; /* that a thread takes side by side */
    unsigned most_tiles;    /* of a group a thread, that a block takes one after the other */
} softqam_kernel;

/* The kernels of plain_kernel.cuh. */
typedef enum softqam_plain_kind {
    LARGE_CALL,
    SMALL_CALL,    /* of which the device holds all blocks at once: a thread has one group */
    CODEWORD_CALL, /* a large one of layers, descrambled or in bit planes; its address is NULL: there is none */
    N_PLAIN_KINDS
} softqam_plain_kind;

/* By input format; axis_bits as softqam_axis_bits() has them. */
typedef softqam_kernel softqam_plain_kernels(softqam_output_format format, int axis_bits, softqam_plain_kind kind);
softqam_plain_kernels softqam_plain_kernels_cf32;
softqam_plain_kernels softqam_plain_kernels_cs16;
softqam_plain_kernels softqam_plain_kernels_cs8;
softqam_plain_kernels softqam_plain_kernels_cf16;

/* The kernel of segments without soft buffers; those of segments of which some have them, and of segments in device
 * memory: of s8, s16 and u8, and of f16 and f32. */
const void *softqam_segment_kernel(softqam_output_format format);
const void *softqam_soft_kernel_integers(softqam_output_format format);
const void *softqam_soft_kernel_floats(softqam_output_format format);

#ifdef __cplusplus
}
#endif

#endif
