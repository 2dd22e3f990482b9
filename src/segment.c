/* SPDX-License-Identifier: MIT */
#include "segment.h"

#include <stdint.h>
#include <string.h>

/* Returns an address in or after an array; NULL for NULL. After the last element strides may lead beyond memory. */
static const void *bytes_after(const void *first, size_t nbytes)
{
    return first ? (const void *)((uintptr_t)first + nbytes) : NULL;
}

/* Moves a source on by n symbols. The first layer becomes the one that the new first symbol lies in. */
static void advance_source(softqam_source *source, size_t n)
{
    const softqam_source old = *source;
    const size_t n_layers = source->n_layers;
    for (size_t k = 0; k < n_layers; k++) {
        const softqam_source_layer *from = &old.layers[(n + k) % n_layers];
        softqam_source_layer *to = &source->layers[k];
        const size_t n_elements = (n + k) / n_layers;
        const size_t nbytes = n_elements * source->symbol_stride * (source->symbol_nbytes >> (from->symbols_q != NULL));
        const size_t noise_nbytes = n_elements * source->noise_stride * sizeof(float);
        to->symbols = bytes_after(from->symbols, nbytes);
        to->symbols_q = bytes_after(from->symbols_q, nbytes);
        to->noise_var = bytes_after(from->noise_var, noise_nbytes);
        to->gain = bytes_after(from->gain, n_elements * source->gain_stride * sizeof(float));
    }
}

void softqam_segment_advance(softqam_resolved_segment *segment, size_t n)
{
    softqam_placement *placement = &segment->placement;
    advance_source(&segment->source, n);
    if (!placement->has_code_blocks)
        placement->out += n * softqam_placement_symbol_nbytes(placement);
    placement->scrambled_symbol += n;
    placement->codeword_symbol += (uint32_t)n;
    segment->n_symbols -= n;
}

void softqam_destination_open(softqam_destination *to, const softqam_placement *placement, size_t first)
{
    const softqam_code_block *block = &to->block;
    size_t n_before = first;
    to->out = placement->out;
    to->plane_stride = placement->plane_stride;
    to->n_symbols = SIZE_MAX;
    if (placement->has_code_blocks) {
        const size_t block_symbol = placement->codeword_symbol + first - block->first;
        to->out = softqam_code_block_values(placement, block);
        to->plane_stride = placement->is_deinterleaved ? block->n_symbols : 0;
        to->n_symbols = block->n_symbols - block_symbol;
        n_before =
            placement->has_soft_buffers ? 0 : block_symbol; /* in soft buffers each plane has a position of its own */
    }
    if (to->out)
        to->out += n_before * softqam_placement_symbol_nbytes(placement);
}

void softqam_cursor_next_code_block(softqam_cursor *cursor, size_t n_symbols, softqam_resolved_segment *segment,
                                    softqam_destination *to)
{
    const softqam_placement *placement = &segment->placement;
    softqam_cursor_next(cursor, n_symbols, segment);
    if (placement->has_code_blocks)
        to->block = softqam_code_block_at(&placement->blocks, placement->codeword_symbol);
    softqam_destination_open(to, placement, 0);
    if (segment->n_symbols > to->n_symbols) {
        cursor->offset -= segment->n_symbols - to->n_symbols;
        segment->n_symbols = to->n_symbols;
    }
}

/* Gathering what does not lie side by side. */

/* The arrays that items of a source come from in turn, and what they have in common. */
typedef struct item_arrays {
    const void *arrays[SOFTQAM_MAX_SOURCES];
    size_t n_arrays;
    size_t nbytes; /* size of an item */
    size_t stride; /* in items */
} item_arrays;

/* Gathers n items side by side, from item `first` on; item i is of array i modulo n_arrays. */
static void gather_items(const item_arrays *items, softqam_gather_loop *gather, size_t first, size_t n, void *to)
{
    const unsigned char *from[SOFTQAM_MAX_SOURCES] = {NULL};
    const size_t n_arrays = items->n_arrays, nbytes = items->nbytes, stride_nbytes = items->stride * nbytes;
    if (n_arrays == 0) /* there is a layer */
        __builtin_unreachable();
    const size_t n_rounds = n / n_arrays;
    for (size_t k = 0; k < n_arrays; k++)
        from[k] = bytes_after(items->arrays[(first + k) % n_arrays], (first + k) / n_arrays * stride_nbytes);
    gather(from, n_arrays, nbytes, items->stride, n_rounds, to);
    for (size_t k = n_rounds * n_arrays; k < n; k++)
        memcpy((unsigned char *)to + k * nbytes, from[k % n_arrays] + n_rounds * stride_nbytes, nbytes);
}

/* Gathers symbols of layers of which only some have I and Q in separate arrays. */
static void gather_mixed_symbols(const softqam_source *source, size_t first, size_t n, unsigned char *to)
{
    const size_t nbytes = source->symbol_nbytes, half = nbytes / 2;
    for (size_t k = first; k < first + n; k++, to += nbytes) {
        const softqam_source_layer *layer = &source->layers[k % source->n_layers];
        const size_t offset = k / source->n_layers * source->symbol_stride * (layer->symbols_q ? half : nbytes);
        const unsigned char *i = bytes_after(layer->symbols, offset);
        memcpy(to, i, half);
        memcpy(to + half, layer->symbols_q ? bytes_after(layer->symbols_q, offset) : i + half, half);
    }
}

void softqam_source_gather_symbols(const softqam_source *source, softqam_gather_loop *gather, size_t first, size_t n,
                                   void *to)
{
    const unsigned is_split = source->is_split;
    item_arrays items = {.n_arrays = (size_t)source->n_layers << is_split,
                         .nbytes = source->symbol_nbytes >> is_split,
                         .stride = source->symbol_stride};
    for (size_t k = 0; k < source->n_layers; k++) {
        const softqam_source_layer *layer = &source->layers[k];
        if (is_split && !layer->symbols_q) {
            gather_mixed_symbols(source, first, n, to);
            return;
        }
        items.arrays[k << is_split] = layer->symbols;
        if (is_split)
            items.arrays[2 * k + 1] = layer->symbols_q;
    }
    gather_items(&items, gather, first << is_split, n << is_split, to);
}

void softqam_source_gather_noise(const softqam_source *source, softqam_gather_loop *gather, size_t first, size_t n,
                                 float *to)
{
    item_arrays items = {.n_arrays = source->n_layers, .nbytes = sizeof *to, .stride = source->noise_stride};
    for (size_t k = 0; k < source->n_layers; k++)
        items.arrays[k] = source->layers[k].noise_var;
    gather_items(&items, gather, first, n, to);
}

void softqam_source_gather_gains(const softqam_source *source, softqam_gather_loop *gather, size_t first, size_t n,
                                 float *to)
{
    item_arrays items = {.n_arrays = source->n_layers, .nbytes = sizeof *to, .stride = source->gain_stride};
    for (size_t k = 0; k < source->n_layers; k++)
        items.arrays[k] = source->layers[k].gain;
    gather_items(&items, gather, first, n, to);
}
