/* SPDX-License-Identifier: MIT */
/* The host's functions for a call's segments: they check them, take them piece by piece, and put LLRs in their
 * places. */
#ifndef SOFTQAM_SEGMENT_H
#define SOFTQAM_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <softqam/softqam.h>

#include "cpu/loops.h"
#include "params.h"
#include "resolved_segment.h"
#include "soft_buffer.h"

/* A caller's array of segments. softqam_segment_list_check() fills in what follows n_segments. */
typedef struct softqam_segment_list {
    const softqam_params *params;
    const softqam_segment *segments;
    size_t n_segments;
    size_t n_symbols;
    size_t out_nbytes;
    size_t most_symbol_nbytes; /* the most bytes that a symbol has in the output */
    bool has_gains;
    bool has_block_buffers;
    bool has_statistics;
    bool is_joint; /* some layers are demapped jointly */
    bool adds;     /* some LLRs are added to what is in a soft buffer */
    bool repeats;  /* several LLRs are added to one value, in an order that counts */
} softqam_segment_list;

static inline softqam_segment_list softqam_segment_list_of(const softqam_params *params,
                                                           const softqam_segment *segments, size_t n_segments)
{
    return (softqam_segment_list){.params = params, .segments = segments, .n_segments = n_segments};
}

/* Checks all segments and counts their symbols. Returns SOFTQAM_OK, or SOFTQAM_ERROR_INVALID_ARGUMENT with a message.
 * Pointers may be to host or to device memory. */
softqam_status softqam_segment_list_check(softqam_segment_list *list);

/* Checks a codeword that has code blocks, but for its buffers and filler_value. `blocks` are what
 * softqam_code_blocks_make() makes of it. */
softqam_status softqam_codeword_check(const softqam_codeword *codeword, const softqam_code_blocks *blocks,
                                      unsigned bits_per_symbol);

/* Checks that a checked list's block_buffers, which are host memory, do not overlap its inputs. */
softqam_status softqam_segment_list_check_block_buffers(const softqam_segment_list *list);

/* Returns whether a segment has layers that are demapped jointly. */
static inline bool softqam_segment_is_joint(const softqam_segment *segment)
{
    return segment->cross_gain[0] || segment->cross_gain[1];
}

/* Returns the segment of a call without segments. */
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

/* Makes symbol n of a segment its first one. */
void softqam_segment_advance(softqam_resolved_segment *segment, size_t n);

/* Says where the values of a segment's symbols go, from some symbol on to the end of the code block. */
typedef struct softqam_destination {
    unsigned char *out;       /* the first symbol's first value, or a soft buffer's; NULL: the code block is dropped */
    size_t plane_stride;      /* in values; 0: symbol order */
    size_t n_symbols;         /* SIZE_MAX without code blocks */
    softqam_code_block block; /* if the segment has code blocks */
} softqam_destination;

/* Fills in where the values of a segment's symbol `first` go. If the segment has code blocks, to->block is the symbol's
 * already. */
void softqam_destination_open(softqam_destination *to, const softqam_placement *placement, size_t first);

/* A place among a checked list's symbols. */
typedef struct softqam_cursor {
    const softqam_segment_list *list;
    size_t segment;
    size_t offset; /* symbols before the place, from that segment on */
} softqam_cursor;

/* Returns the cursor at symbol `first` of a list. */
static inline softqam_cursor softqam_cursor_at(const softqam_segment_list *list, size_t first)
{
    return (softqam_cursor){list, 0, first};
}

/* Moves a cursor by n symbols, and past segments that are used up. */
static inline void softqam_cursor_skip(softqam_cursor *cursor, size_t n)
{
    const softqam_segment_list *list = cursor->list;
    cursor->offset += n;
    while (cursor->segment < list->n_segments && cursor->offset >= list->segments[cursor->segment].n_symbols)
        cursor->offset -= list->segments[cursor->segment++].n_symbols;
}

/* Returns the segment of the next symbol, of which cursor->offset symbols are used up; some symbol must be left. */
static inline const softqam_segment *softqam_cursor_segment(softqam_cursor *cursor)
{
    const softqam_segment *segment = &cursor->list->segments[cursor->segment];
    for (; cursor->offset >= segment->n_symbols; segment++, cursor->segment++)
        cursor->offset -= segment->n_symbols;
    return segment;
}

/* Takes the next symbols, at most n_symbols > 0, all of one segment; some must be left. */
static inline void softqam_cursor_next(softqam_cursor *cursor, size_t n_symbols, softqam_resolved_segment *segment)
{
    const softqam_segment *current = softqam_cursor_segment(cursor);
    softqam_segment_resolve(segment, current, &cursor->list->params->defaults);
    if (cursor->offset > 0)
        softqam_segment_advance(segment, cursor->offset);
    if (segment->n_symbols > n_symbols)
        segment->n_symbols = n_symbols;
    cursor->offset += segment->n_symbols;
}

/* Takes the next symbols likewise, all of one code block, and finds where they go. */
void softqam_cursor_next_code_block(softqam_cursor *cursor, size_t n_symbols, softqam_resolved_segment *segment,
                                    softqam_destination *to);

/* Gather n symbols of a source, their noise values or their gains, side by side in the order of the codeword, from
 * symbol `first` on. */
void softqam_source_gather_symbols(const softqam_source *source, softqam_gather_loop *gather, size_t first, size_t n,
                                   void *to);
void softqam_source_gather_noise(const softqam_source *source, softqam_gather_loop *gather, size_t first, size_t n,
                                 float *to);
void softqam_source_gather_gains(const softqam_source *source, softqam_gather_loop *gather, size_t first, size_t n,
                                 float *to);

#endif
