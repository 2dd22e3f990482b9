/* SPDX-License-Identifier: MIT */
/* A call's segments: checked, completed, and seen as one long run of symbols that can be cut anywhere. */
#ifndef SOFTQAM_SEGMENT_H
#define SOFTQAM_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>

#include <softqam/softqam.h>

#include "params.h"
#include "resolved_segment.h"
#include "soft_buffer.h"

/* A caller's array. Zeros in it stand for defaults. */
typedef struct softqam_segment_list {
    const softqam_params *params;
    const softqam_segment *segments;
    size_t n_segments;
    /* Of all segments; softqam_segment_list_check() counts them. */
    size_t n_symbols;
    size_t out_nbytes;
    bool has_gains;
    bool has_block_buffers;
    bool adds;                 /* to what stands in soft buffers */
    bool repeats;              /* adds several LLRs to one value, in an order that matters */
    const size_t *checkpoints; /* softqam_segment_list_add_checkpoints()'s, or NULL */
} softqam_segment_list;

static inline softqam_segment_list softqam_segment_list_of(const softqam_params *params,
                                                           const softqam_segment *segments, size_t n_segments)
{
    return (softqam_segment_list){.params = params, .segments = segments, .n_segments = n_segments};
}

static inline bool softqam_segment_has_codeword(const softqam_segment *segment)
{
    return segment->codeword.n_code_blocks != 0;
}

static inline softqam_modulation softqam_segment_modulation(const softqam_params *params,
                                                            const softqam_segment *segment)
{
    return segment->modulation ? segment->modulation : params->modulation;
}

/* Checks all segments and counts their symbols: SOFTQAM_OK, or SOFTQAM_ERROR_INVALID_ARGUMENT and why. Pointers may be
 * to host or to device memory. */
softqam_status softqam_segment_list_check(softqam_segment_list *list);

/* Checks that a checked list's block_buffers, which are host memory, do not overlap its inputs. */
softqam_status softqam_segment_list_check_block_buffers(const softqam_segment_list *list);

/* Segment k of a checked list, with the demodulator's values for the zeros that stand for a default. A codeword whose
 * values lie side by side becomes `out`. */
softqam_segment softqam_segment_at(const softqam_segment_list *list, size_t k);

/* A call without segments as one, with the demodulator's noise layout. */
static inline softqam_segment softqam_segment_of_call(const softqam_params *params, const void *symbols,
                                                      const float *noise_var, size_t n_symbols, void *out)
{
    return (softqam_segment){
        .n_symbols = n_symbols,
        .out = out,
        .noise_stride = params->noise == SOFTQAM_NOISE_PER_SYMBOL ? 1 : 0,
        .layers = {{.symbols = symbols, .noise_var = noise_var}},
    };
}

/* Where the values of a segment's symbols go, from one symbol on. */
typedef struct softqam_destination {
    unsigned char *out;  /* NULL: nowhere, the code block is dropped. Of a soft buffer, its beginning */
    size_t plane_stride; /* 0: symbol order */
    size_t n_symbols;    /* from that symbol on to the end of the code block, or of the segment */
} softqam_destination;

/* How the codeword of a checked segment is divided, and the code block of its symbol `first`. */
void softqam_segment_blocks(softqam_code_blocks *blocks, const softqam_params *params, const softqam_segment *segment);
softqam_code_block softqam_segment_block_at(const softqam_code_blocks *blocks, const softqam_segment *segment,
                                            size_t first);

/* Whether a segment is cut at the code blocks of a codeword. */
static inline bool softqam_segment_has_blocks(const softqam_segment *segment)
{
    return softqam_segment_has_codeword(segment) && !softqam_codeword_is_contiguous(&segment->codeword);
}

/* Where a code block's values begin; NULL: nowhere. */
static inline unsigned char *softqam_block_values(const softqam_params *params, const softqam_codeword *codeword,
                                                  const softqam_code_block *block, unsigned bits_per_symbol)
{
    if (codeword->block_buffers)
        return codeword->block_buffers[block->r];
    uint64_t at = block->r * codeword->block_stride;
    if (codeword->block_stride == 0)
        at = codeword->n_cb ? (uint64_t)block->j * codeword->n_cb : (uint64_t)block->first * bits_per_symbol;
    return (unsigned char *)codeword->buffers + at * params->value_nbytes;
}

/* Of the segment's symbol `first`, which lies in `block` if the segment has blocks. */
softqam_destination softqam_segment_destination(const softqam_params *params, const softqam_segment *segment,
                                                const softqam_code_block *block, size_t first);

/* Notes how many symbols of a checked list, of at least so many segments, stand before each of its parts: cursors then
 * begin at a part. The checkpoints must live as long as the list. */
enum { SOFTQAM_CHECKPOINTS = 64 };
void softqam_segment_list_add_checkpoints(softqam_segment_list *list, size_t checkpoints[SOFTQAM_CHECKPOINTS]);

/* A place in the run of a checked list. */
typedef struct softqam_cursor {
    const softqam_segment_list *list;
    size_t segment;
    size_t offset; /* into that segment */
} softqam_cursor;

/* The cursor at symbol `first` of the run. */
softqam_cursor softqam_cursor_at(const softqam_segment_list *list, size_t first);

/* Takes the next symbols, at most n_symbols > 0, all of one segment and code block, as a completed segment; the run
 * must have some left. `out` is NULL where the code block is dropped. It has a codeword only if that has soft buffers:
 * `out` is the code block's then. */
softqam_segment softqam_cursor_take(softqam_cursor *cursor, size_t n_symbols);

/* Copies n symbols of a segment, from symbol `first` on, side by side in the order of the codeword, or their noise
 * values or gains. A symbol_stride or n_layers of 0 counts as 1. */
void softqam_segment_gather_symbols(const softqam_params *params, const softqam_segment *segment, size_t first,
                                    size_t n, void *symbols);
void softqam_segment_gather_floats(const softqam_segment *segment, bool gains, size_t first, size_t n, float *floats);

#endif
