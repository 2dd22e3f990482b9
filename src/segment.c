/* SPDX-License-Identifier: MIT */
#include "segment.h"

#include <stdint.h>
#include <string.h>

softqam_segment softqam_segment_at(const softqam_segment_list *list, size_t k)
{
    const softqam_params *params = list->params;
    softqam_segment segment = list->segments[k];
    if (segment.symbol_stride == 0)
        segment.symbol_stride = 1;
    if (segment.n_layers == 0)
        segment.n_layers = 1;
    if (segment.modulation == SOFTQAM_MODULATION_DEFAULT)
        segment.modulation = params->modulation;
    if (segment.noise_form == SOFTQAM_NOISE_FORM_DEFAULT)
        segment.noise_form = params->noise_form;
    if (softqam_is_zero(segment.input_scale))
        segment.input_scale = params->input_scale;
    if (softqam_is_zero(segment.llr_scale))
        segment.llr_scale = params->llr_scale;
    if (softqam_segment_has_codeword(&segment) && softqam_codeword_is_contiguous(&segment.codeword)) {
        segment.out = (unsigned char *)segment.codeword.buffers +
                      segment.first_symbol * softqam_params_output_nbytes(params, segment.modulation);
        segment.codeword = (softqam_codeword){0};
    }
    return segment;
}

/* Bytes from one of a layer's symbols to its next. */
static size_t symbol_step(const softqam_params *params, const softqam_segment *segment, const softqam_layer *layer)
{
    const size_t stride = segment->symbol_stride ? segment->symbol_stride : 1;
    return stride * (layer->symbols_q ? params->input_nbytes / 2 : params->input_nbytes);
}

/* The layers of a span from symbol `first` on: the first is the one that its first symbol lies in. */
static void layers_at(const softqam_params *params, const softqam_segment *segment, size_t first,
                      softqam_layer layers[SOFTQAM_MAX_LAYERS])
{
    const size_t n_layers = segment->n_layers;
    for (size_t k = 0; k < n_layers; k++) {
        softqam_layer *layer = &layers[k];
        *layer = segment->layers[(first + k) % n_layers];
        const size_t element = (first + k) / n_layers, step = symbol_step(params, segment, layer);
        layer->symbols = (const unsigned char *)layer->symbols + element * step;
        if (layer->symbols_q)
            layer->symbols_q = (const unsigned char *)layer->symbols_q + element * step;
        if (layer->noise_var)
            layer->noise_var += element * segment->noise_stride;
        if (layer->gain)
            layer->gain += element * segment->noise_stride;
    }
}

void softqam_segment_blocks(softqam_code_blocks *blocks, const softqam_params *params, const softqam_segment *segment)
{
    softqam_code_blocks_make(blocks, &segment->codeword,
                             softqam_symbol_bits(softqam_segment_modulation(params, segment)),
                             segment->n_layers ? segment->n_layers : 1);
}

softqam_code_block softqam_segment_block_at(const softqam_code_blocks *blocks, const softqam_segment *segment,
                                            size_t first)
{
    return softqam_code_block_at(blocks, (uint32_t)(segment->first_symbol + first));
}

softqam_destination softqam_segment_destination(const softqam_params *params, const softqam_segment *segment,
                                                const softqam_code_block *block, size_t first)
{
    const softqam_codeword *codeword = &segment->codeword;
    const size_t symbol_nbytes = softqam_params_output_nbytes(params, softqam_segment_modulation(params, segment));
    const size_t symbol = (size_t)segment->first_symbol + first;
    softqam_destination to = {segment->out, segment->plane_stride, segment->n_symbols - first};
    size_t into = first; /* symbols before this one at `out` */
    if (softqam_segment_has_blocks(segment)) {
        const size_t left = block->first + (size_t)block->n_symbols - symbol;
        to.out = softqam_block_values(params, codeword, block, (unsigned)(symbol_nbytes / params->value_nbytes));
        to.plane_stride = codeword->deinterleave ? block->n_symbols : 0;
        to.n_symbols = left < to.n_symbols ? left : to.n_symbols;
        into = codeword->n_cb ? 0 : symbol - block->first; /* a soft buffer is entered plane by plane */
    } else if (softqam_segment_has_codeword(segment)) {
        to.out = codeword->buffers;
        into = symbol;
    }
    if (to.out)
        to.out += into * (to.plane_stride ? params->value_nbytes : symbol_nbytes);
    return to;
}

/* The run of symbols. */

/* Leaves segments that are used up. */
static void settle(softqam_cursor *cursor)
{
    while (cursor->segment < cursor->list->n_segments) {
        const size_t n_symbols = cursor->list->segments[cursor->segment].n_symbols;
        if (cursor->offset < n_symbols)
            return;
        cursor->offset -= n_symbols;
        cursor->segment++;
    }
}

void softqam_segment_list_add_checkpoints(softqam_segment_list *list, size_t checkpoints[SOFTQAM_CHECKPOINTS])
{
    const size_t n_between = list->n_segments / SOFTQAM_CHECKPOINTS;
    size_t n_symbols = 0;
    for (size_t checkpoint = 0; checkpoint < SOFTQAM_CHECKPOINTS; checkpoint++) {
        checkpoints[checkpoint] = n_symbols;
        for (size_t k = checkpoint * n_between; k < (checkpoint + 1) * n_between; k++)
            n_symbols += list->segments[k].n_symbols;
    }
    list->checkpoints = checkpoints;
}

softqam_cursor softqam_cursor_at(const softqam_segment_list *list, size_t first)
{
    softqam_cursor cursor = {list, 0, first};
    size_t checkpoint = list->checkpoints ? SOFTQAM_CHECKPOINTS - 1 : 0;
    while (checkpoint > 0 && list->checkpoints[checkpoint] > first)
        checkpoint--;
    if (checkpoint > 0)
        cursor = (softqam_cursor){list, checkpoint * (list->n_segments / SOFTQAM_CHECKPOINTS),
                                  first - list->checkpoints[checkpoint]};
    settle(&cursor);
    return cursor;
}

softqam_segment softqam_cursor_take(softqam_cursor *cursor, size_t n_symbols)
{
    const softqam_params *params = cursor->list->params;
    const softqam_segment segment = softqam_segment_at(cursor->list, cursor->segment);
    softqam_code_blocks blocks;
    softqam_code_block block = {0};
    if (softqam_segment_has_blocks(&segment)) {
        softqam_segment_blocks(&blocks, params, &segment);
        block = softqam_segment_block_at(&blocks, &segment, cursor->offset);
    }
    const softqam_destination to = softqam_segment_destination(params, &segment, &block, cursor->offset);
    const size_t n = n_symbols < to.n_symbols ? n_symbols : to.n_symbols;
    softqam_segment span = segment;
    span.n_symbols = n;
    span.first_symbol += cursor->offset;
    layers_at(params, &segment, cursor->offset, span.layers);
    span.out = to.out;
    span.plane_stride = to.plane_stride;
    if (segment.codeword.n_cb == 0)
        span.codeword = (softqam_codeword){0};
    cursor->offset += n;
    settle(cursor);
    return span;
}

/* Bringing together what does not lie side by side. */

void softqam_segment_gather_symbols(const softqam_params *params, const softqam_segment *segment, size_t first,
                                    size_t n, void *symbols)
{
    const size_t n_layers = segment->n_layers ? segment->n_layers : 1;
    const size_t nbytes = params->input_nbytes, half = nbytes / 2;
    for (size_t k = 0; k < n_layers && k < n; k++) {
        const softqam_layer *layer = &segment->layers[(first + k) % n_layers];
        const size_t step = symbol_step(params, segment, layer), offset = (first + k) / n_layers * step;
        const unsigned char *i = (const unsigned char *)layer->symbols + offset;
        const unsigned char *q = layer->symbols_q ? (const unsigned char *)layer->symbols_q + offset : i + half;
        unsigned char *to = symbols;
        if (!layer->symbols_q && step == nbytes && n_layers == 1) {
            memcpy(to, i, n * nbytes);
            return;
        }
        for (size_t j = k; j < n; j += n_layers, i += step, q += step) {
            memcpy(to + j * nbytes, i, half);
            memcpy(to + j * nbytes + half, q, half);
        }
    }
}

void softqam_segment_gather_floats(const softqam_segment *segment, bool gains, size_t first, size_t n, float *floats)
{
    const size_t n_layers = segment->n_layers ? segment->n_layers : 1;
    for (size_t k = 0; k < n_layers && k < n; k++) {
        const softqam_layer *layer = &segment->layers[(first + k) % n_layers];
        const float *from = gains ? layer->gain : layer->noise_var;
        size_t at = (first + k) / n_layers * segment->noise_stride;
        for (size_t j = k; j < n; j += n_layers, at += segment->noise_stride)
            floats[j] = from[at];
    }
}
