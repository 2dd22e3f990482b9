/* SPDX-License-Identifier: MIT */
/* A segment with every default filled in, which the CPU's stages, the kernels and the host pipeline read. Plain data,
 * for C, C++ and CUDA. What a zero of softqam_segment stands for is said here; checks call these functions, too. */
#ifndef SOFTQAM_RESOLVED_SEGMENT_H
#define SOFTQAM_RESOLVED_SEGMENT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "params.h"
#include "soft_buffer.h"

/* Says where one layer's symbols, noise values and gains lie. */
typedef struct softqam_source_layer {
    const void *symbols;
    const void *symbols_q;  /* NULL: I and Q lie side by side */
    const float *noise_var; /* NULL: softqam_source.noise_value */
    const float *gain;      /* NULL: no layer has gains */
} softqam_source_layer;

/* Says where a segment's symbols come from. Symbol i is symbol i / n_layers of layer i % n_layers. */
typedef struct softqam_source {
    softqam_source_layer layers[SOFTQAM_MAX_LAYERS]; /* n_layers of them are set */
    size_t symbol_stride;                            /* at least 1 */
    size_t noise_stride;                             /* 0: one value for each layer */
    size_t gain_stride;                              /* likewise */
    float input_scale;
    float noise_value; /* used if noise_var is NULL; softqam_segment_resolve() sets it to 0 */
    uint8_t n_layers;  /* 1 also if the layers are interleaved: then all symbols lie side by side */
    uint8_t symbol_nbytes;
    uint8_t noise_is_inverse;
    uint8_t has_gains;
    uint8_t is_split;           /* some layer has I and Q in separate arrays */
    uint8_t joint_layers;       /* layers of a resource element, if some are demapped jointly; else 0 */
    uint8_t partner_modulation; /* for kernels: modulation of layers[joint_layers], if their number is odd */
    uint8_t is_contiguous; /* one layer, stride 1, I and Q side by side; noise values likewise or one; gains likewise */
} softqam_source;

/* Says where a segment's LLRs go, with which scale and which signs. Without code blocks they go to `out`, else to the
 * buffers of the code blocks, which softqam_destination_open() finds. */
typedef struct softqam_placement {
    /* Kernels read these members before they have copied a segment, so they come first, next to the end of
     * softqam_source. */
    uint64_t scrambled_symbol; /* first symbol in the scrambling sequence and for pi/2-BPSK's parity */
    uint32_t c_init;
    float steps_per_nat; /* negative if a positive LLR means bit 1 */
    uint8_t modulation;  /* softqam_modulation */
    uint8_t value_nbytes;
    uint8_t is_descrambled;
    uint8_t has_code_blocks;  /* LLRs go to code blocks that do not lie one after the other in symbol order */
    uint8_t has_soft_buffers; /* these are circular soft buffers */
    uint8_t is_deinterleaved; /* each code block is */
    uint8_t combines;         /* soft buffers: LLRs are added to what is there */
    uint8_t is_repeated; /* soft buffers: a code block has more LLRs than positions, so the order of adding counts */
    /* The next members are for code blocks. */
    softqam_code_blocks blocks;
    uint32_t codeword_symbol;   /* number of the segment's first symbol in the codeword */
    softqam_soft_buffer buffer; /* with soft buffers; n_data is 0 if LLRs go nowhere */
    float filler_value;
    void *const *block_buffers; /* NULL, or each code block's buffer */
    uint64_t block_stride;      /* in values; 0: transmitted code blocks follow each other without gaps */
    /* The next members are for all segments. */
    unsigned char *out;  /* the segment's first value; with code blocks the first of all buffers */
    size_t plane_stride; /* in values; 0: symbol order. 0 with code blocks */
} softqam_placement;

/* Returns whether LLRs go to bit planes rather than in symbol order. One bit a symbol is a plane by itself. */
HOST_AND_DEVICE static inline bool softqam_placement_has_planes(const softqam_placement *placement)
{
    return (placement->plane_stride != 0 || placement->is_deinterleaved) &&
           placement->modulation >= SOFTQAM_MODULATION_QPSK;
}

/* Returns the bytes from a symbol's first value to the next symbol's. */
HOST_AND_DEVICE static inline size_t softqam_placement_symbol_nbytes(const softqam_placement *placement)
{
    const bool has_planes = softqam_placement_has_planes(placement);
    const unsigned n_bits = softqam_symbol_bits((softqam_modulation)placement->modulation);
    return (size_t)placement->value_nbytes * (has_planes ? 1 : n_bits);
}

/* Returns where a code block's values begin; NULL if they go nowhere. r is n_code_blocks beyond the codeword's end. */
HOST_AND_DEVICE static inline unsigned char *softqam_code_block_values(const softqam_placement *placement,
                                                                       const softqam_code_block *block)
{
    if (block->r >= placement->blocks.n_code_blocks || (placement->has_soft_buffers && placement->buffer.n_data == 0))
        return NULL;
    if (placement->block_buffers)
        return (unsigned char *)placement->block_buffers[block->r];
    uint64_t n_before = block->r * placement->block_stride;
    if (placement->block_stride == 0)
        n_before = placement->has_soft_buffers
                       ? (uint64_t)block->j * softqam_soft_buffer_size(&placement->buffer)
                       : (uint64_t)block->first * softqam_symbol_bits((softqam_modulation)placement->modulation);
    return placement->out + n_before * placement->value_nbytes;
}

typedef struct softqam_resolved_segment {
    size_t n_symbols;
    softqam_source source;
    softqam_placement placement;
} softqam_resolved_segment;

static_assert(sizeof(softqam_source) == 168 && sizeof(softqam_placement) == 112 &&
                  sizeof(softqam_resolved_segment) == 288,
              "Kernels take many of these as arguments, 4 KiB in all: see MAX_SEGMENTS in cuda/kernels.h; "
              "cuda/segment_block.cuh and cuda/prepared_segment.h add up what they take");

/* Returns whether a codeword's values lie one after the other as transmitted, so that code blocks do not matter. */
HOST_AND_DEVICE static inline bool softqam_codeword_is_contiguous(const softqam_codeword *codeword)
{
    return !codeword->deinterleave && codeword->block_stride == 0 && !codeword->block_buffers;
}

static_assert(
    sizeof(softqam_segment) == 448 && offsetof(softqam_segment, reserved) == 424 && sizeof(softqam_layer) == 48 &&
        offsetof(softqam_layer, reserved) == 32 && sizeof(softqam_codeword) == 104 &&
        offsetof(softqam_codeword, reserved_word) == 76,
    "A segment, layer or codeword has a new field: give softqam_source or softqam_placement a member and fill "
    "it in below; check the field in segment_check.c or codeword.c; if it points to values of symbols, move it in "
    "softqam_segment_advance(); let cpu_demodulate.c and the kernels use it, or demodulate_at_once(), "
    "find_large_call() and softqam_element_neighbours() leave such segments to others. Until this file and the "
    "trials of tests/llr name the field, the test `lists` fails. Fields must not move: programs built against 1.0 run");

/* These return defaults that checks need before a segment is resolved. More than SOFTQAM_MAX_LAYERS layers count as
 * that many. */
HOST_AND_DEVICE static inline unsigned softqam_segment_layers(const softqam_segment *segment)
{
    const unsigned n = segment->n_layers;
    return n <= 1 ? 1 : n < SOFTQAM_MAX_LAYERS ? n : SOFTQAM_MAX_LAYERS;
}

/* Returns how many layers are read: if their number is odd and the last one has a cross gain, its partner too. */
HOST_AND_DEVICE static inline unsigned softqam_segment_layers_read(const softqam_segment *segment)
{
    const unsigned n = softqam_segment_layers(segment);
    return n + (n % 2 != 0 && segment->cross_gain[n / 2]);
}

HOST_AND_DEVICE static inline size_t softqam_segment_stride(const softqam_segment *segment)
{
    return segment->symbol_stride + (segment->symbol_stride == 0);
}

HOST_AND_DEVICE static inline size_t softqam_segment_gain_stride(const softqam_segment *segment)
{
    return segment->gain_stride ? segment->gain_stride : segment->noise_stride;
}

HOST_AND_DEVICE static inline size_t softqam_segment_cross_stride(const softqam_segment *segment)
{
    return segment->cross_stride + (segment->cross_stride == 0);
}

HOST_AND_DEVICE static inline unsigned softqam_segment_modulation(const softqam_segment *segment,
                                                                  const softqam_segment_defaults *defaults)
{
    return segment->modulation ? (unsigned)segment->modulation : defaults->modulation;
}

/* Copies the layers after the first one. Returns whether all are interleaved, [resource element][layer], as equalisers
 * write them, with noise values that are interleaved too or one value of all: everything then lies as if there were one
 * layer. */
HOST_AND_DEVICE static inline bool softqam_layers_resolve(softqam_source *to, const softqam_segment *segment,
                                                          unsigned n_layers)
{
    const softqam_source_layer *first = &to->layers[0];
    const size_t noise_distance = segment->noise_stride != 0; /* from one layer's noise value to the next layer's */
    bool is_interleaved = segment->symbol_stride == n_layers && !first->symbols_q &&
                          (segment->noise_stride == n_layers || segment->noise_stride == 0) &&
                          (!first->gain || softqam_segment_gain_stride(segment) == n_layers);
    for (unsigned k = 1; k < n_layers; k++) {
        softqam_source_layer *layer = &to->layers[k];
        layer->symbols = segment->layers[k].symbols;
        layer->symbols_q = segment->layers[k].symbols_q;
        layer->noise_var = segment->layers[k].noise_var;
        layer->gain = first->gain ? segment->layers[k].gain : NULL;
        to->is_split |= layer->symbols_q != NULL;
        is_interleaved = is_interleaved && !layer->symbols_q &&
                         layer->noise_var == first->noise_var + k * noise_distance &&
                         layer->symbols == (const unsigned char *)first->symbols + k * to->symbol_nbytes &&
                         (!first->gain || layer->gain == first->gain + k);
    }
    return is_interleaved;
}

/* The members of a segment that only some kernels read. */
typedef struct softqam_extras {
    const float *cross_gain[SOFTQAM_MAX_LAYERS / 2]; /* NULL: the layers of this pair are demapped one by one */
    size_t stride;                                   /* in pairs of floats, at least 1 */
    softqam_statistics *statistics;                  /* NULL, or what any segment is counted in */
} softqam_extras;

HOST_AND_DEVICE static inline void softqam_extras_resolve(softqam_extras *to, const softqam_segment *segment)
{
    to->cross_gain[0] = segment->cross_gain[0];
    to->cross_gain[1] = segment->cross_gain[1];
    to->stride = softqam_segment_cross_stride(segment);
    to->statistics = segment->statistics;
}

/* Fills in a source's members for pairs. Values that no host could check, because they lie in device memory, are made
 * harmless. */
HOST_AND_DEVICE static inline void softqam_partner_resolve(softqam_source *to, const softqam_segment *segment,
                                                           const softqam_segment_defaults *defaults)
{
    const unsigned n = softqam_segment_layers(segment), modulation = softqam_segment_modulation(segment, defaults);
    const unsigned partner = (unsigned)segment->partner_modulation;
    if (!to->has_gains || modulation < SOFTQAM_MODULATION_QPSK || modulation > N_MODULATIONS)
        return;
    to->joint_layers = (uint8_t)n;
    to->partner_modulation =
        (uint8_t)(partner >= SOFTQAM_MODULATION_QPSK && partner <= N_MODULATIONS ? partner : modulation);
    if (softqam_segment_layers_read(segment) > n) {
        softqam_source_layer *layer = &to->layers[n];
        layer->symbols = segment->layers[n].symbols;
        layer->symbols_q = segment->layers[n].symbols_q;
        layer->noise_var = NULL;
        layer->gain = segment->layers[n].gain;
        to->is_split |= layer->symbols_q != NULL;
    }
}

HOST_AND_DEVICE static inline void softqam_source_resolve(softqam_source *to, const softqam_segment *segment,
                                                          const softqam_segment_defaults *defaults)
{
    const unsigned noise_form = segment->noise_form ? (unsigned)segment->noise_form : defaults->noise_form;
    const softqam_layer *layer = &segment->layers[0];
    const bool has_noise = layer->noise_var != NULL, has_gains = has_noise && layer->gain; /* u8 has neither */
    size_t symbol_stride = softqam_segment_stride(segment), noise_stride = has_noise ? segment->noise_stride : 0;
    size_t gain_stride = has_gains ? softqam_segment_gain_stride(segment) : 0;
    unsigned n_layers = 1;
    to->layers[0].symbols = layer->symbols;
    to->layers[0].symbols_q = layer->symbols_q;
    to->layers[0].noise_var = layer->noise_var;
    to->layers[0].gain = has_gains ? layer->gain : NULL;
    to->input_scale = softqam_is_zero(segment->input_scale) ? defaults->input_scale : segment->input_scale;
    to->noise_value = 0.0f;
    to->symbol_nbytes = defaults->symbol_nbytes;
    to->noise_is_inverse = noise_form == SOFTQAM_NOISE_FORM_INVERSE;
    to->has_gains = has_gains;
    to->is_split = layer->symbols_q != NULL;
    if (segment->n_layers > 1) {
        n_layers = softqam_segment_layers(segment);
        /* A partner of the last layer has the layers' strides. */
        if (softqam_layers_resolve(to, segment, n_layers) && softqam_segment_layers_read(segment) == n_layers)
            n_layers = 1, symbol_stride = 1, noise_stride = noise_stride != 0, gain_stride = has_gains;
    }
    to->joint_layers = 0;
    if (segment->cross_gain[0] || segment->cross_gain[1])
        softqam_partner_resolve(to, segment, defaults);
    to->n_layers = (uint8_t)n_layers;
    to->symbol_stride = symbol_stride;
    to->noise_stride = noise_stride;
    to->gain_stride = gain_stride;
    to->is_contiguous = n_layers == 1 && symbol_stride == 1 && !to->is_split &&
                        (has_gains ? noise_stride == 1 && gain_stride == 1 : noise_stride <= 1);
}

/* Fills in the code blocks and soft buffers of a codeword. Values that no host could check, because they lie in device
 * memory, are made as harmless as possible. */
HOST_AND_DEVICE static inline void softqam_codeword_resolve(softqam_placement *to, const softqam_segment *segment)
{
    const softqam_codeword *codeword = &segment->codeword;
    const unsigned n_bits = softqam_symbol_bits((softqam_modulation)to->modulation);
    softqam_code_blocks_make(&to->blocks, codeword, n_bits, softqam_segment_layers(segment));
    to->block_buffers = codeword->block_buffers;
    to->block_stride = codeword->block_stride;
    to->out = (unsigned char *)codeword->buffers;
    to->plane_stride = 0;
    to->has_code_blocks = 1;
    to->is_deinterleaved = codeword->deinterleave != 0;
    to->has_soft_buffers = codeword->n_cb != 0;
    if (softqam_codeword_is_contiguous(codeword) && to->blocks.n_transmitted > 0 &&
        segment->first_symbol + segment->n_symbols <= codeword->n_bits / n_bits) {
        to->out += segment->first_symbol * n_bits * to->value_nbytes;
        to->has_code_blocks = to->has_soft_buffers = 0;
    }
    if (!to->has_soft_buffers)
        return;
    const bool has_positions = codeword->first_filler <= codeword->n_cb &&
                               codeword->n_fillers <= codeword->n_cb - codeword->first_filler &&
                               codeword->k0 < codeword->n_cb;
    to->buffer = softqam_soft_buffer_of(codeword);
    if (!has_positions)
        to->buffer.n_data = 0;
    to->filler_value = codeword->filler_value;
    to->combines = codeword->combine != 0;
    to->is_repeated =
        softqam_soft_is_repeated(&to->buffer, (uint64_t)softqam_code_blocks_longest(&to->blocks) * n_bits);
}

HOST_AND_DEVICE static inline void softqam_placement_resolve(softqam_placement *to, const softqam_segment *segment,
                                                             const softqam_segment_defaults *defaults)
{
    const unsigned modulation = softqam_segment_modulation(segment, defaults);
    const float llr_scale = softqam_is_zero(segment->llr_scale) ? defaults->llr_scale : segment->llr_scale;
    to->out = (unsigned char *)segment->out;
    to->plane_stride = segment->plane_stride;
    to->scrambled_symbol = segment->first_symbol + segment->scrambling_offset;
    to->codeword_symbol = (uint32_t)segment->first_symbol;
    to->steps_per_nat = defaults->is_negative ? -llr_scale : llr_scale;
    to->c_init = segment->c_init & 0x7fffffff;
    to->modulation = (uint8_t)(modulation <= N_MODULATIONS ? modulation : 0);
    to->value_nbytes = defaults->value_nbytes;
    to->is_descrambled = segment->descramble != 0;
    to->has_code_blocks = to->has_soft_buffers = to->is_deinterleaved = to->combines = to->is_repeated = 0;
    if (segment->codeword.n_code_blocks != 0)
        softqam_codeword_resolve(to, segment);
}

/* Fills in the demodulator's values for a segment's zeros. The segment has passed softqam_segment_list_check(), or lies
 * in device memory; one there whose modulation is unknown gets no symbols. */
HOST_AND_DEVICE static inline void softqam_segment_resolve(softqam_resolved_segment *to, const softqam_segment *segment,
                                                           const softqam_segment_defaults *defaults)
{
    softqam_source_resolve(&to->source, segment, defaults);
    softqam_placement_resolve(&to->placement, segment, defaults);
    to->n_symbols = to->placement.modulation != 0 ? segment->n_symbols : 0;
}

#endif
