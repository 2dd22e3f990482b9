/* SPDX-License-Identifier: MIT */
/* A call's segments: checked, completed, and seen as one long run of symbols that can be cut anywhere. */
#ifndef SOFTQAM_SEGMENT_H
#define SOFTQAM_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <softqam/softqam.h>

#include "params.h"

/* A caller's array, whose elements may be of an older or newer version of the structure. */
typedef struct softqam_segment_list {
    const softqam_params *params;
    const unsigned char *first;
    size_t n_segments;
    size_t segment_nbytes;
    /* Of all segments; softqam_segment_list_check() finds them out. */
    size_t n_symbols;
    size_t out_nbytes;
    const size_t *marks; /* softqam_segment_list_mark()'s, or NULL */
} softqam_segment_list;

static inline softqam_segment_list softqam_segment_list_of(const softqam_params *params,
                                                           const softqam_segment *segments, size_t n_segments,
                                                           size_t segment_nbytes)
{
    return (softqam_segment_list){
        .params = params,
        .first = (const unsigned char *)segments,
        .n_segments = n_segments,
        .segment_nbytes = segment_nbytes,
    };
}

/* Segment k as the caller wrote it: in place, or, of an older version's structure, in *copy. Zeros stand for defaults.
 */
static inline const softqam_segment *softqam_segment_read(const softqam_segment_list *list, size_t k,
                                                          softqam_segment *copy)
{
    const unsigned char *at = list->first + k * list->segment_nbytes;
    if (list->segment_nbytes >= sizeof *copy)
        return (const softqam_segment *)(const void *)at;
    memset(copy, 0, sizeof *copy);
    memcpy(copy, at, list->segment_nbytes);
    return copy;
}

/* Checks all segments and counts their symbols: SOFTQAM_OK, or SOFTQAM_ERROR_INVALID_ARGUMENT and why. Pointers may be
 * to host or to device memory. */
softqam_status softqam_segment_list_check(softqam_segment_list *list);

/* The same of softqam_segment_of_call()'s segment, all of the list. */
softqam_status softqam_segment_list_check_call(softqam_segment_list *list, const softqam_segment *segment);

/* The same of the structure's size alone, and of the fields and pointers of the first segment, which need not hold its
 * output: what a segment is cut of. */
softqam_status softqam_segment_list_check_size(const softqam_segment_list *list);
softqam_status softqam_segment_list_check_range(const softqam_segment_list *list);

/* Whether a segment with symbols, whose fields and pointers are right, lies in memory, its inputs apart from its output
 * unless they may overlap. */
softqam_status softqam_segment_check_memory(const softqam_params *params, const softqam_segment *segment,
                                            bool may_overlap);

/* Segment k of a checked list, with the demodulator's values for the zeros that stand for a default. */
softqam_segment softqam_segment_at(const softqam_segment_list *list, size_t k);

/* A call with the demodulator's noise layout as one segment. */
softqam_segment softqam_segment_of_call(const softqam_params *params, const void *symbols, const float *noise_var,
                                        size_t n_symbols, void *out);

/* n_symbols > 0 symbols of a completed segment, from symbol `first` on, which may lie in any layer. */
softqam_segment softqam_segment_span(const softqam_params *params, const softqam_segment *segment, size_t first,
                                     size_t n_symbols);

/* That span's layers: the first is the one that its first symbol lies in. Those that it has not are left alone. */
void softqam_segment_layers_at(const softqam_params *params, const softqam_segment *segment, size_t first,
                               softqam_layer layers[SOFTQAM_MAX_LAYERS]);

/* Notes how many symbols of a checked list, of at least so many segments, stand before each of its parts: cursors then
 * begin at a part. The marks must live as long as the list. */
enum { SOFTQAM_MARKS = 64 };
void softqam_segment_list_mark(softqam_segment_list *list, size_t marks[SOFTQAM_MARKS]);

/* A place in the run of a checked list. */
typedef struct softqam_cursor {
    const softqam_segment_list *list;
    size_t segment;
    size_t offset; /* into that segment */
} softqam_cursor;

/* The cursor at symbol `first` of the run. */
softqam_cursor softqam_cursor_at(const softqam_segment_list *list, size_t first);

/* Takes the next symbols, all of one segment and at most n_symbols > 0 of them; the run must have some left. */
softqam_segment softqam_cursor_take(softqam_cursor *cursor, size_t n_symbols);

/* Whether a segment's symbols lie side by side, in one layer, I and Q together. */
bool softqam_segment_is_contiguous(const softqam_segment *segment);

/* Copies n symbols of a segment, from symbol `first` on, side by side in the order of the codeword, or their noise
 * values. A symbol_stride or n_layers of 0 counts as 1. */
void softqam_segment_gather_symbols(const softqam_params *params, const softqam_segment *segment, size_t first,
                                    size_t n, void *symbols);
void softqam_segment_gather_noise(const softqam_segment *segment, size_t first, size_t n, float *noise);

#endif
