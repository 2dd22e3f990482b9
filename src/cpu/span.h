/* SPDX-License-Identifier: MIT */
/* Spans: what is to be done with a run of a segment's symbols, and by which loop. Included by cpu_demodulate.c. */
#ifndef SOFTQAM_CPU_SPAN_H
#define SOFTQAM_CPU_SPAN_H

#include <stddef.h>
#include <stdint.h>

#include "loops.h"
#include "params.h"
#include "segment.h"
#include "simd_scalar.h"
#include "soft_buffer.h"

#include "arithmetic.h"

/* Stages that not every call needs work on tiles, which stay in the first cache: symbols that must be gathered or
 * converted, noise that must be gathered, LLRs that are stored past the caches. */
enum {
    TILE_SYMBOLS = 1024,
    STREAMED_SYMBOLS = 512,
    STAGED_NBYTES = 1 << 11, /* of a plane on the way to a soft buffer */
    WORTH_RUN_SYMBOLS = 64,  /* that a loop stores to a soft buffer itself */
    MAX_INPUT_NBYTES = 8,
    MAX_OUTPUT_NBYTES = MAX_SYMBOL_BITS * sizeof(float),
    DESCRAMBLED_SYMBOLS = 4096, /* at once, for which the sequence is made before */
    SEQUENCE_WORDS = DESCRAMBLED_SYMBOLS * MAX_SYMBOL_BITS / 32 + 2 * GOLD_WINDOW,
    SEQUENCE_SLACK = 16,                                           /* words behind it that loops read */
    SHIFTED_WORDS = DESCRAMBLED_SYMBOLS * MAX_SYMBOL_BITS / 64 + 8 /* whole lines */
};

/* A run of symbols of one segment, for one thread, with the demodulator's values for the zeros that stand for them. */
typedef struct span {
    const softqam_params *params;
    const softqam_cpu_loops *loops;
    const softqam_segment *segment;
    softqam_code_blocks blocks; /* of the segment's codeword, and the current one */
    softqam_code_block block;
    size_t first; /* of the segment's symbols */
    size_t n_symbols;
    size_t out_first;             /* symbol of the span that `out` is of */
    size_t out_end;               /* symbol where the code block, or the span, ends */
    size_t min_symbols;           /* that its loop takes */
    const unsigned char *symbols; /* unless they are gathered */
    const float *noise;           /* likewise */
    const float *gains;           /* likewise; NULL: none */
    unsigned char *out;           /* NULL: nowhere, the code block is dropped */
    softqam_loop *loop;
    softqam_loop_call call; /* what it is to do: the same for all tiles, and of the current one */
    float weight;           /* of all symbols, with SOFTQAM_ONE_WEIGHT */
    unsigned n_layers;      /* 1 where interleaved layers are as one */
    size_t symbol_stride;
    size_t noise_stride;
    unsigned n_bits;                   /* of a symbol */
    size_t out_nbytes;                 /* from one symbol's first value to the next one's */
    size_t plane_nbytes;               /* from one plane to the next; 0: symbol order */
    ptrdiff_t planes[MAX_SYMBOL_BITS]; /* softqam_loop_call's */
    softqam_soft_block soft;           /* if has_soft_buffer: the code block's */
    bool has_soft_buffer;
    bool is_staged; /* the tile's LLRs go to a tile, and from there to the soft buffer */
    bool is_pi2_bpsk;
    bool is_gathered;  /* symbols must be gathered */
    bool is_converted; /* and scaled */
    float input_scale;
    bool is_noise_gathered;        /* noise must be gathered, and gains */
    bool is_streamed;              /* past the caches, through a tile */
    size_t tile_symbols;           /* at most */
    const unsigned char *sequence; /* of the span's symbols from sequence_first on, before sequence_end */
    size_t sequence_first;
    size_t sequence_end;
} span;

_Static_assert(SEGMENT_RESERVED == 764, "set_noise() and open_span() take the new field");

/* What a loop is to know of the noise and gains of a segment's symbols from `first` on, as they lie: with is_one one
 * weight, which is put to *weight. */
static inline void set_noise(softqam_loop_call *call, const softqam_params *params, const softqam_segment *segment,
                             size_t first, bool is_one, float *weight)
{
    const softqam_layer *layer = &segment->layers[0];
    const bool inverse = (segment->noise_form ? segment->noise_form : params->noise_form) == SOFTQAM_NOISE_FORM_INVERSE;
    call->scale = softqam_params_llr_scale(params, segment);
    call->noise_kind = inverse ? SOFTQAM_NOISE_INVERSE : SOFTQAM_NOISE_N0;
    call->noise = layer->noise_var + first;
    call->gains = NULL;
    if (layer->gain) {
        call->noise_kind = inverse ? SOFTQAM_GAINS_INVERSE : SOFTQAM_GAINS_N0;
        call->gains = layer->gain + first;
    } else if (is_one) {
        *weight = llr_weight(call->scale.steps_per_nat, *layer->noise_var, inverse);
        call->noise_kind = SOFTQAM_ONE_WEIGHT;
        call->noise = weight;
    }
}

static void set_planes(span *s, size_t plane_nbytes)
{
    s->plane_nbytes = plane_nbytes;
    for (size_t k = 0; plane_nbytes > 0 && k < s->n_bits; k++)
        s->planes[k] = (ptrdiff_t)(k * plane_nbytes);
}

/* Symbol of the code block that a symbol of the span is. */
static uint32_t symbol_of_block(const span *s, size_t first)
{
    return (uint32_t)(s->segment->first_symbol + s->first + first) - s->block.first;
}

/* The soft buffer of the current code block, whose fillers and zeros are written. */
static void open_soft_buffer(span *s, size_t first)
{
    const softqam_codeword *codeword = &s->segment->codeword;
    s->soft = softqam_soft_block_of(s->params, codeword, &s->block, s->n_bits, s->out);
    s->soft.add = s->loops->add;
    set_planes(s, 0); /* each tile sets its own */
    if (s->out && !codeword->combine && symbol_of_block(s, first) == 0)
        softqam_soft_block_begin(&s->soft, s->params, codeword);
}

/* Where the values of the span's symbols from `first` on go, to the end of their code block. */
static void open_destination(span *s, size_t first)
{
    const softqam_segment *segment = s->segment;
    const softqam_params *params = s->params;
    const size_t left = s->n_symbols - first;
    s->out_first = first;
    if (segment->codeword.n_code_blocks == 0) {
        s->out = (unsigned char *)segment->out + (s->first + first) * s->out_nbytes;
        s->out_end = s->n_symbols;
        set_planes(s, s->n_bits > 1 ? segment->plane_stride * params->value_nbytes : 0);
        return;
    }
    const softqam_destination to = softqam_segment_destination(params, segment, &s->block, s->first + first);
    s->out = to.out;
    s->out_end = first + (to.n_symbols < left ? to.n_symbols : left);
    if (s->has_soft_buffer)
        open_soft_buffer(s, first);
    else
        set_planes(s, s->n_bits > 1 ? to.plane_stride * params->value_nbytes : 0);
}

/* What is to be done with a segment's symbols from `first` on, and the loop for it. */
static void open_span(span *s, const softqam_segment *segment, size_t first, size_t n_symbols, bool streaming)
{
    const softqam_params *params = s->params;
    const softqam_cpu_loops *loops = s->loops;
    const softqam_modulation modulation = segment->modulation ? segment->modulation : params->modulation;
    const int axis_bits = softqam_axis_bits(modulation);
    const bool has_planes = axis_bits > 0 && (segment->plane_stride != 0 || segment->codeword.deinterleave);
    const bool is_interleaved =
        segment->n_layers > 1 && softqam_layers_are_interleaved(segment, segment->n_layers, params->input_nbytes);
    const bool has_llrs = softqam_params_have_llrs(params);
    const float input_scale = segment->input_scale != 0.0f ? segment->input_scale : params->input_scale;
    s->segment = segment;
    s->first = first;
    s->n_symbols = n_symbols;
    s->min_symbols = loops->min_symbols << has_planes;
    s->has_soft_buffer = segment->codeword.n_cb != 0;
    s->is_staged = false;
    s->n_layers = segment->n_layers > 1 && !is_interleaved ? segment->n_layers : 1;
    s->symbol_stride = segment->symbol_stride > 1 && !is_interleaved ? segment->symbol_stride : 1;
    s->noise_stride = is_interleaved ? 1 : segment->noise_stride;
    s->n_bits = axis_bits > 0 ? 2 * (unsigned)axis_bits : 1;
    s->out_nbytes = has_planes ? params->value_nbytes : softqam_params_output_nbytes(params, modulation);
    if (softqam_segment_has_blocks(segment)) {
        softqam_segment_blocks(&s->blocks, params, segment);
        s->block = softqam_segment_block_at(&s->blocks, segment, first);
    }
    open_destination(s, 0);
    s->is_streamed = streaming && !has_planes;
    /* Flags that are read together soon after they are stored one by one wait for the stores. */
    const bool is_converted = params->input_format != SOFTQAM_INPUT_CF32 || input_scale != 1.0f;
    const bool is_gathered = s->n_layers > 1 || segment->layers[0].symbols_q || s->symbol_stride > 1;
    s->is_converted = is_converted;
    s->is_gathered = is_gathered;
    s->symbols = (const unsigned char *)segment->layers[0].symbols + first * params->input_nbytes;
    s->call.noise = s->call.gains = NULL;
    s->call.noise_kind = SOFTQAM_ONE_WEIGHT;
    s->call.table = params->llrs[axis_bits];
    s->call.i_flips[0] = s->call.i_flips[1] = 0;
    s->input_scale = input_scale;
    s->call.sequence = NULL;
    s->sequence_first = s->sequence_end = 0;
    if (has_llrs)
        set_noise(&s->call, params, segment, first, s->noise_stride == 0 && s->n_layers == 1, &s->weight);
    s->noise = s->call.noise;
    s->gains = s->call.gains;
    s->is_noise_gathered = has_llrs && (s->n_layers > 1 || s->noise_stride > 1 || (s->gains && s->noise_stride == 0));
    s->tile_symbols = s->is_streamed                                        ? STREAMED_SYMBOLS
                      : s->is_noise_gathered || is_gathered || is_converted ? TILE_SYMBOLS
                      : segment->descramble                                 ? DESCRAMBLED_SYMBOLS
                                                                            : SIZE_MAX;
    s->loop = loops->by_layout[axis_bits][has_planes            ? SOFTQAM_LLRS_IN_PLANES
                                          : segment->descramble ? SOFTQAM_LLRS_DESCRAMBLED
                                                                : SOFTQAM_LLRS_IN_ORDER];
    s->is_pi2_bpsk = modulation == SOFTQAM_MODULATION_PI2_BPSK;
}

#endif
